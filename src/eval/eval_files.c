/*
 * plx_eval_files: check which inputs were given, read them, run what they allow, keep what was asked for.
 */
#include <string.h>

#include "core/json.h"
#include "core/number.h"
#include "eval/label_files.h"
#include "io/label_source.h"
#include "eval/metrics_store.h"

typedef struct session {
    plx_context *ctx;
    plx__arena *arena; /* what was read from the files */
    plx_metrics *metrics;
    const plx_eval_options *o;
    plx__label_list truth;        /* labels NULL: not given */
    const char *const *truth_ids; /* NULL: none */
} session;

/* ---- which inputs ---- */

static plx_status take_options(plx_eval_options *o, plx_context *ctx, const plx_eval_options *given)
{
    *o = (plx_eval_options)PLX_EVAL_OPTIONS_INIT;
    return plx__take_options(o, sizeof *o, ctx, given, "PLX_EVAL_OPTIONS_INIT");
}

static plx_status check_needs(plx_context *ctx, const plx_eval_options *o)
{
    const struct {
        bool given, there;
        const char *option, *needs;
    } rules[] = {
        {o->pred, o->truth, "pred", "truth"},
        {o->scores, o->truth, "scores", "truth"},
        {o->truth, o->pred || o->scores || o->views, "truth", "pred, scores or views"},
        {o->positive, o->scores || o->pred, "positive", "scores"},
        {o->multilabel, o->pred || o->scores, "multilabel", "pred or scores"},
        {o->hierarchy, o->multilabel && o->pred, "hierarchy", "multilabel and pred"},
        {o->clusters, o->pred, "clusters", "pred"},
        {o->noise, o->clusters, "noise", "clusters"},
        {o->truth_column, o->truth, "truth_column", "truth"},
        {o->topn, o->gold, "topn", "gold"},
        {o->gold, o->topn, "gold", "topn"},
        {o->top, o->topn, "top", "topn"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].given && !rules[i].there)
            PLX_FAIL(ctx, PLX_E_ARG, "eval: %s needs %s as well", rules[i].option, rules[i].needs);
    return PLX_OK;
}

static plx_status check_options(plx_context *ctx, const plx_eval_options *o)
{
    static const char *const noise[] = {"keep", "drop"};
    char hint[160];
    if (!o->truth && !o->pred && !o->scores && !o->topn && !o->gold && !o->views && !o->table)
        PLX_FAIL(ctx, PLX_E_ARG,
                 "eval: nothing to evaluate; give truth with pred, scores or views, or topn with gold, or a table");
    PLX_TRY(check_needs(ctx, o));
    if (o->multilabel && o->clusters) PLX_FAIL(ctx, PLX_E_ARG, "eval: multilabel and clusters exclude each other");
    if (o->noise && strcmp(o->noise, "keep") != 0 && strcmp(o->noise, "drop") != 0)
        PLX_FAIL(ctx, PLX_E_ARG, "eval: noise = %s: must be keep or drop%s", o->noise,
                 plx__suggest(hint, sizeof hint, o->noise, noise, 2));
    if (o->higher_better != 0 && o->higher_better != 1)
        PLX_FAIL(ctx, PLX_E_ARG, "eval: higher_better = %d: must be 0 or 1", o->higher_better);
    return PLX_OK;
}

static plx_status same_length(const session *s, const char *path, plx_index rows, const char *what)
{
    if (s->truth.count == rows) return PLX_OK;
    PLX_FAIL(s->ctx, PLX_E_DATA, "%s has %lld labels but %s has %lld %s; they must have one per sample each",
             s->o->truth, (long long)s->truth.count, path, (long long)rows, what);
}

/* ---- truth ---- */

/* A table has several columns, or a single one under its name. */
static plx_status is_truth_table(bool *out, session *s)
{
    static const char *const names[] = {"label", "labels", "truth", "class"};
    plx__label_list first;
    *out = s->o->truth_column != NULL;
    if (*out || !plx__is_named_table(s->o->truth)) return PLX_OK;
    PLX_TRY(plx__first_fields(&first, s->arena, s->o->truth));
    *out = first.count > 1;
    for (size_t k = 0; first.count == 1 && k < sizeof names / sizeof *names; k++)
        *out = *out || strcmp(first.labels[0], names[k]) == 0;
    return PLX_OK;
}

static plx_status read_truth(session *s)
{
    plx__label_source from = {.file = s->o->truth, .column = s->o->truth_column};
    const char *const *texts = NULL;
    const char **labels = NULL;
    bool table = plx__ends_with(s->o->truth, ".h5mu") || plx__ends_with(s->o->truth, ".h5ad");
    if (!table) PLX_TRY(is_truth_table(&table, s));
    if (!table) return plx__label_list_read(&s->truth, s->arena, s->o->truth, s->o->multilabel != 0);
    PLX_TRY(plx__label_source_rows(&texts, &s->truth_ids, &s->truth.count, s->ctx, s->arena, &from));
    PLX_TRY(PLX__ARENA_NEW(&labels, s->arena, s->truth.count));
    for (plx_index i = 0; i < s->truth.count; i++) labels[i] = texts[i] ? texts[i] : "?";
    s->truth.labels = labels;
    return PLX_OK;
}

/* The truth in the order of the predictions, where both have ids. */
static plx_status join_truth(session *s, const plx__prediction_file *pred)
{
    plx__map place;
    plx_index existing = -1, unknown = 0;
    const char **labels = NULL;
    if (!s->truth_ids || !pred->ids) return PLX_OK;
    PLX_TRY(plx__map_init(&place, s->arena, s->truth.count));
    for (plx_index i = 0; i < s->truth.count; i++) {
        PLX_TRY(plx__map_add(&place, s->truth_ids[i], i, &existing));
        if (existing >= 0) PLX_FAIL(s->ctx, PLX_E_DATA, "%s: duplicate id '%s'", s->o->truth, s->truth_ids[i]);
    }
    PLX_TRY(PLX__ARENA_NEW(&labels, s->arena, pred->list.count));
    for (plx_index i = 0; i < pred->list.count; i++) {
        plx_index row = plx__map_get(&place, pred->ids[i]);
        labels[i] = row < 0 ? "?" : s->truth.labels[row];
        unknown += row < 0;
    }
    if (unknown == pred->list.count)
        PLX_FAIL(s->ctx, PLX_E_DATA, "%s and %s have no id in common, e.g. '%s'", s->o->truth, s->o->pred,
                 pred->ids[0]);
    if (unknown)
        plx__warn(s->ctx, "%lld of %lld predictions have no row in %s and are not counted", (long long)unknown,
                  (long long)pred->list.count, s->o->truth);
    s->truth = (plx__label_list){labels, pred->list.count};
    return PLX_OK;
}

/* ---- predictions ---- */

/* The names of a list of strings under `key`; pairs are flattened. */
static plx_status json_names(const char ***out, plx_index *count, session *s, const json_t *array, plx_index per_item)
{
    const char **names = NULL;
    plx_index items = (plx_index)json_array_size(array);
    PLX_TRY(PLX__ARENA_NEW(&names, s->arena, items * per_item));
    for (plx_index i = 0; i < items * per_item; i++) {
        const json_t *item = json_array_get(array, (size_t)(i / per_item));
        bool fits = per_item == 1 || (plx_index)json_array_size(item) == per_item;
        if (per_item > 1) item = json_array_get(item, (size_t)(i % per_item));
        if (!fits || !json_is_string(item))
            PLX_FAIL(s->ctx, PLX_E_FORMAT, "%s: entry %lld must be %s", s->o->hierarchy, (long long)(i / per_item) + 1,
                     per_item == 1 ? "a class name" : "a pair of class names");
        PLX_TRY(plx__arena_text(&names[i], s->arena, json_string_value(item)));
    }
    *out = names;
    *count = items;
    return PLX_OK;
}

static plx_status hierarchy_from(plx_metrics_hierarchy *h, session *s, const json_t *json)
{
    const char **classes = NULL, **subset = NULL, **mutex = NULL;
    const json_t *listed = json_object_get(json, "classes"), *pairs = json_object_get(json, "subset");
    const json_t *exclusive = json_object_get(json, "mutex");
    if (!json_is_array(listed))
        PLX_FAIL(s->ctx, PLX_E_FORMAT, "%s: expected an object with a list \"classes\"", s->o->hierarchy);
    if (pairs && !json_is_array(pairs))
        PLX_FAIL(s->ctx, PLX_E_FORMAT, "%s: \"subset\" must be a list of pairs", s->o->hierarchy);
    if (exclusive && !json_is_array(exclusive))
        PLX_FAIL(s->ctx, PLX_E_FORMAT, "%s: \"mutex\" must be a list of pairs", s->o->hierarchy);
    PLX_TRY(json_names(&classes, &h->n_classes, s, listed, 1));
    PLX_TRY(json_names(&subset, &h->n_subset, s, pairs, 2));
    PLX_TRY(json_names(&mutex, &h->n_mutex, s, exclusive, 2));
    h->classes = classes;
    h->subset = subset;
    h->mutex = mutex;
    return PLX_OK;
}

static plx_status read_hierarchy(plx_metrics_hierarchy *h, session *s)
{
    json_t *json = NULL;
    *h = (plx_metrics_hierarchy){.struct_size = sizeof *h};
    PLX_TRY(plx__json_read_file(&json, s->ctx, s->o->hierarchy));
    plx_status st = hierarchy_from(h, s, json);
    json_decref(json);
    return st;
}

static plx_status run_multilabel(session *s, const plx__label_list *pred)
{
    plx_metrics_hierarchy h;
    if (s->o->hierarchy) PLX_TRY(read_hierarchy(&h, s));
    return plx__metrics_multilabel(s->metrics, s->truth.labels, pred->labels, pred->count, s->o->hierarchy ? &h : NULL);
}

static bool is_regression(const plx__number_table *scores)
{
    return scores->values.cols == 2 && strcmp(scores->header[0], "mean") == 0 &&
           strcmp(scores->header[1], "variance") == 0;
}

static plx_status run_ranking(session *s, const char *path, const plx__number_table *scores)
{
    plx_status st = plx__metrics_ranking(s->metrics, s->truth.labels, plx__cmat(scores->values), scores->header,
                                         s->o->positive, s->o->multilabel != 0);
    return st == PLX_OK || st == PLX_E_CANCELLED ? st : plx__fail_prefix(s->ctx, st, "%s", path);
}

/* Clusters measured as classes would have accuracy 0; whoever names the metrics knows what they want. */
static plx_status find_clusters(bool *out, session *s, const plx__label_list *pred)
{
    plx__prediction_kind kind;
    PLX_TRY(plx__prediction_kind_of(&kind, s->arena, s->truth.labels, pred->labels, pred->count));
    *out = kind == PLX__PREDICTS_CLUSTERS && !s->o->metrics;
    if (*out) plx__warn(s->ctx, "%s holds clusters and is measured as such", s->o->pred);
    else if (kind != PLX__PREDICTS_CLASSES)
        plx__warn(s->ctx,
                  "%s: no prediction is a class of the truth; if they are clusters, they are measured as clusters",
                  s->o->pred);
    return PLX_OK;
}

static plx_status run_pred(session *s)
{
    const plx_eval_options *o = s->o;
    plx__prediction_file pred;
    PLX_TRY(plx__prediction_file_read(&pred, s->arena, o->pred, o->multilabel != 0));
    PLX_TRY(join_truth(s, &pred));
    PLX_TRY(same_length(s, o->pred, pred.list.count, "labels"));
    if (is_regression(&pred.scores) && !o->clusters && !o->multilabel)
        return plx__metrics_regression(s->metrics, s->truth.labels, pred.list.labels, pred.list.count);
    bool clusters = o->clusters;
    if (!clusters && !o->multilabel) PLX_TRY(find_clusters(&clusters, s, &pred.list));
    if (clusters)
        return plx__metrics_clustering(s->metrics, s->truth.labels, pred.list.labels, pred.list.count,
                                       o->noise && strcmp(o->noise, "drop") == 0);
    if (o->multilabel) PLX_TRY(run_multilabel(s, &pred.list));
    else PLX_TRY(plx__metrics_classification(s->metrics, s->truth.labels, pred.list.labels, pred.list.count));
    if (o->scores) return PLX_OK;
    if (pred.scores.values.cols > 0) return run_ranking(s, o->pred, &pred.scores);
    if (o->positive)
        PLX_FAIL(s->ctx, PLX_E_ARG, "eval: positive needs scores as well; %s has no score_ columns", o->pred);
    return PLX_OK;
}

static plx_status run_scores(session *s)
{
    plx__number_table scores;
    PLX_TRY(plx__number_table_read(&scores, s->arena, s->o->scores));
    PLX_TRY(same_length(s, s->o->scores, scores.values.rows, "rows of scores"));
    return run_ranking(s, s->o->scores, &scores);
}

/* ---- retrieval ---- */

static plx_status read_gold(plx_index **gold, plx_index *count, session *s, plx_index items)
{
    plx__label_list list;
    PLX_TRY(plx__label_list_read(&list, s->arena, s->o->gold, false));
    PLX_TRY(plx__arena_i64(gold, s->arena, list.count));
    *count = list.count;
    for (plx_index i = 0; i < list.count; i++) {
        (*gold)[i] = -1;
        if (strcmp(list.labels[i], "?") == 0) continue;
        if (!plx__parse_int64(&(*gold)[i], list.labels[i]) || (*gold)[i] < 0 || (*gold)[i] >= items)
            PLX_FAIL(s->ctx, PLX_E_DATA, "%s: line %lld: '%s' is no item; expected a number from 0 to %lld, or ?",
                     s->o->gold, (long long)i + 1, list.labels[i], (long long)items - 1);
    }
    return PLX_OK;
}

static plx_status read_top(plx_index **top, plx_index *count, session *s)
{
    const char *text = s->o->top ? s->o->top : "1,5,10";
    plx__label_list list;
    PLX_TRY(plx__text_list(&list, s->arena, "top", text));
    PLX_TRY(plx__arena_i64(top, s->arena, list.count));
    *count = list.count;
    for (plx_index i = 0; i < list.count; i++)
        if (!plx__parse_int64(&(*top)[i], list.labels[i]) || (*top)[i] < 1)
            PLX_FAIL(s->ctx, PLX_E_ARG, "eval: top = %s: '%s' is not a whole number of at least 1", text,
                     list.labels[i]);
    return PLX_OK;
}

static plx_status run_retrieval(session *s)
{
    plx__number_table scores;
    plx_index *gold = NULL, *top = NULL, queries = 0, n_top = 0;
    PLX_TRY(read_top(&top, &n_top, s));
    PLX_TRY(plx__number_table_read(&scores, s->arena, s->o->topn));
    PLX_TRY(read_gold(&gold, &queries, s, scores.values.cols));
    if (queries != scores.values.rows)
        PLX_FAIL(s->ctx, PLX_E_DATA, "%s has %lld queries but %s has %lld lines; they must have one per query each",
                 s->o->topn, (long long)scores.values.rows, s->o->gold, (long long)queries);
    plx_status st = plx__metrics_retrieval(s->metrics, plx__cmat(scores.values), gold, top, n_top);
    return st == PLX_E_DATA ? plx__fail_prefix(s->ctx, st, "%s", s->o->topn) : st;
}

/* ---- views and tables ---- */

static plx_status run_views(session *s)
{
    plx__text_table table;
    PLX_TRY(plx__text_table_read(&table, s->arena, s->o->views));
    if (s->truth.labels) PLX_TRY(same_length(s, s->o->views, table.rows, "rows"));
    for (plx_index i = 0; i < table.rows * table.cols; i++)
        if (!*table.cells[i])
            PLX_FAIL(s->ctx, PLX_E_FORMAT,
                     "%s: line %lld, column '%s' is empty; expected a label, or ? where the view is missing",
                     s->o->views, plx__table_line(i / table.cols), table.header[i % table.cols]);
    plx_status st = plx__metrics_views(s->metrics, s->truth.labels, table.cells, table.rows, table.header, table.cols);
    return st == PLX_E_DATA ? plx__fail_prefix(s->ctx, st, "%s", s->o->views) : st;
}

/* A table without header would lose its first data set silently. */
static plx_status check_table_header(session *s, const plx__text_table *table)
{
    double number;
    if (table->cols < 2)
        PLX_FAIL(s->ctx, PLX_E_FORMAT, "%s: line 1 has one field; expected dataset,METHOD1,METHOD2,...", s->o->table);
    for (plx_index j = 1; j < table->cols; j++)
        if (!plx__parse_double(&number, table->header[j])) return PLX_OK;
    PLX_FAIL(s->ctx, PLX_E_FORMAT, "%s: line 1 holds numbers; expected the header dataset,METHOD1,METHOD2,...",
             s->o->table);
}

static plx_status run_table(session *s)
{
    plx__text_table table;
    plx_mat values;
    plx_index *columns = NULL;
    const char **datasets = NULL;
    PLX_TRY(plx__text_table_read(&table, s->arena, s->o->table));
    PLX_TRY(check_table_header(s, &table));
    PLX_TRY(plx__arena_i64(&columns, s->arena, table.cols - 1));
    PLX_TRY(PLX__ARENA_NEW(&datasets, s->arena, table.rows));
    for (plx_index j = 1; j < table.cols; j++) columns[j - 1] = j;
    for (plx_index i = 0; i < table.rows; i++) datasets[i] = table.cells[i * table.cols];
    PLX_TRY(plx__table_numbers(&values, s->arena, s->o->table, &table, columns, table.cols - 1));
    plx_status st =
        plx__metrics_table(s->metrics, plx__cmat(values), table.header + 1, datasets, s->o->higher_better != 0);
    return st == PLX_E_DATA || st == PLX_E_NUMERIC ? plx__fail_prefix(s->ctx, st, "%s", s->o->table) : st;
}

/* ---- all ---- */

static plx_status run_all(session *s)
{
    const plx_eval_options *o = s->o;
    if (o->truth) PLX_TRY(read_truth(s));
    if (o->pred) PLX_TRY(run_pred(s));
    if (o->scores) PLX_TRY(run_scores(s));
    if (o->topn) PLX_TRY(run_retrieval(s));
    if (o->views) PLX_TRY(run_views(s));
    if (o->table) PLX_TRY(run_table(s));
    if (o->metrics) PLX_TRY(plx__metrics_filter(s->metrics, o->metrics));
    plx__metrics_log_warnings(s->metrics, 0);
    return PLX_OK;
}

plx_status plx__eval_files(plx_metrics **out, plx_context *ctx, const plx_eval_options *given)
{
    plx_eval_options o;
    plx__arena files;
    session s = {.ctx = ctx, .arena = &files, .o = &o};
    PLX_TRY(take_options(&o, ctx, given));
    PLX_TRY(check_options(ctx, &o));
    PLX_TRY(plx__metrics_new(&s.metrics, ctx));
    plx__arena_init(&files, ctx);
    plx_status st = run_all(&s);
    plx__arena_free(&files);
    if (st != PLX_OK) {
        plx__metrics_destroy(s.metrics);
        return st;
    }
    *out = s.metrics;
    return PLX_OK;
}
