/*
 * plx_eval_dataset: a file of predictions against the truth of a data set.
 *
 * Rows of a predictions.csv find their sample by id, so a file in another order, or of some samples only, is fine.
 */
#include <string.h>

#include "api/api_args.h"
#include "core/text.h"
#include "data/dataset_impl.h"
#include "eval/label_files.h"
#include "eval/metrics_store.h"
#include "eval/rule_check.h"
#include "parallax/metrics.h"

typedef struct pairing {
    plx_context *ctx;
    plx__arena *arena;
    const plx_dataset *data;
    const plx_eval_options *o;
    plx__prediction_file pred;
    const char **truth; /* per predicted row */
    plx_index *sample;  /* per predicted row */
} pairing;

static plx_status map_samples(plx__map *map, pairing *p)
{
    plx_index existing;
    PLX_TRY(plx__map_init(map, p->arena, p->data->n));
    for (plx_index i = 0; i < p->data->n; i++) {
        const char *id = p->data->ids ? p->data->ids[i] : NULL;
        if (!id) PLX_TRY(plx__arena_printf(&id, p->arena, "%lld", (long long)i));
        PLX_TRY(plx__map_add(map, id, i, &existing));
    }
    return PLX_OK;
}

/* Sample of every predicted row, by its id. */
static plx_status match_ids(plx_index *sample, pairing *p)
{
    plx__map map;
    uint8_t *used = NULL;
    PLX_TRY(map_samples(&map, p));
    PLX_TRY(plx__arena_u8(&used, p->arena, p->data->n));
    for (plx_index i = 0; i < p->pred.list.count; i++) {
        const char *id = p->pred.ids[i];
        sample[i] = plx__map_get(&map, id);
        if (sample[i] < 0)
            PLX_FAIL(p->ctx, PLX_E_DATA, "%s: line %lld: the data set '%s' has no sample '%s'", p->o->pred,
                     plx__table_line(i), p->data->name, id);
        if (used[sample[i]]++)
            PLX_FAIL(p->ctx, PLX_E_DATA, "%s: line %lld: duplicate sample '%s'", p->o->pred, plx__table_line(i), id);
    }
    return PLX_OK;
}

static plx_status pair_up(pairing *p, bool unlabelled_only)
{
    bool by_id = p->pred.ids != NULL;
    plx_index *sample = NULL, n = p->pred.list.count, counted = 0;
    if (!by_id && n != p->data->n)
        PLX_FAIL(p->ctx, PLX_E_DATA, "%s has %lld labels but the data set has %lld samples; they must be as many",
                 p->o->pred, (long long)n, (long long)p->data->n);
    if (!by_id && p->data->ids)
        plx__warn(p->ctx, "%s has no columns id and label: its labels are taken in the order of the samples of '%s'",
                  p->o->pred, p->data->name);
    PLX_TRY(plx__arena_i64(&sample, p->arena, n));
    PLX_TRY(PLX__ARENA_NEW(&p->truth, p->arena, n));
    for (plx_index i = 0; i < n; i++) sample[i] = i;
    if (by_id) PLX_TRY(match_ids(sample, p));
    p->sample = sample;
    if (!p->data->truth) return PLX_OK;
    for (plx_index i = 0; i < n; i++) {
        bool seen = unlabelled_only && p->data->labels && p->data->labels[sample[i]];
        p->truth[i] = p->data->truth[sample[i]] && !seen ? p->data->truth[sample[i]] : "?";
        counted += strcmp(p->truth[i], "?") != 0;
    }
    if (!counted)
        PLX_FAIL(p->ctx, PLX_E_DATA, "%s: no predicted sample is to be counted: none has a truth%s", p->o->pred,
                 unlabelled_only ? " and no label" : "");
    if (n < p->data->n)
        plx__warn(p->ctx, "%lld of %lld samples have no prediction and are left out", (long long)(p->data->n - n),
                  (long long)p->data->n);
    return PLX_OK;
}

static bool any_sets(const char *const *labels, plx_index n)
{
    for (plx_index i = 0; i < n; i++)
        if (strchr(labels[i], '|')) return true;
    return false;
}

static plx_status measure_sets(plx_metrics *metrics, pairing *p)
{
    const plx__hierarchy *tree = p->data->hierarchy;
    plx_metrics_hierarchy h;
    if (tree) PLX_TRY(plx__metrics_hierarchy(&h, p->arena, tree));
    return plx__metrics_multilabel(metrics, p->truth, p->pred.list.labels, p->pred.list.count, tree ? &h : NULL);
}

/* The columns a Gaussian process writes; the same rule as for plx_eval_files(). */
static bool is_regression(const plx__number_table *scores)
{
    return scores->values.cols == 2 && strcmp(scores->header[0], "mean") == 0 &&
           strcmp(scores->header[1], "variance") == 0;
}

static plx_status find_clusters(bool *out, pairing *p)
{
    plx__prediction_kind kind;
    PLX_TRY(plx__prediction_kind_of(&kind, p->arena, p->truth, p->pred.list.labels, p->pred.list.count));
    *out = kind == PLX__PREDICTS_CLUSTERS;
    if (*out) plx__warn(p->ctx, "%s holds clusters and is measured as such", p->o->pred);
    return PLX_OK;
}

static plx_status measure(plx_metrics *metrics, pairing *p)
{
    const plx_eval_options *o = p->o;
    const char *const *labels = p->pred.list.labels;
    plx_index n = p->pred.list.count;
    bool sets = o->multilabel || p->data->hierarchy || any_sets(p->truth, n) || any_sets(labels, n);
    bool clusters = o->clusters;
    if (!clusters && !sets && !o->metrics) PLX_TRY(find_clusters(&clusters, p));
    if (clusters)
        return plx__metrics_clustering(metrics, p->truth, labels, n, o->noise && strcmp(o->noise, "drop") == 0);
    if (is_regression(&p->pred.scores) && !sets) return plx__metrics_regression(metrics, p->truth, labels, n);
    if (sets) PLX_TRY(measure_sets(metrics, p));
    else PLX_TRY(plx__metrics_classification(metrics, p->truth, labels, n));
    if (!p->pred.scores.values.cols) return PLX_OK;
    return plx__metrics_ranking(metrics, p->truth, plx__cmat(p->pred.scores.values), p->pred.scores.header, o->positive,
                                sets);
}

/* Indices that need no truth; samples without a prediction are left out. */
static plx_status measure_internal(plx_metrics *metrics, pairing *p)
{
    const char **cluster = NULL;
    bool named = true;
    for (plx_index i = 0; i < p->pred.list.count; i++) named = named && plx__is_cluster_name(p->pred.list.labels[i]);
    if (!p->data->truth && !p->o->clusters && !p->o->internal && !named)
        PLX_FAIL(p->ctx, PLX_E_DATA,
                 "the data set '%s' has no truth to measure against; only clusters can be measured without one",
                 p->data->name);
    PLX_TRY(PLX__ARENA_NEW(&cluster, p->arena, p->data->n));
    for (plx_index i = 0; i < p->data->n; i++) cluster[i] = "?";
    for (plx_index i = 0; i < p->pred.list.count; i++) cluster[p->sample[i]] = p->pred.list.labels[i];
    return plx__metrics_internal(metrics, p->data, cluster, p->o->noise && strcmp(p->o->noise, "drop") == 0);
}

static plx_status check_options(plx_eval_options *o, plx_context *ctx, const plx_eval_options *given)
{
    *o = (plx_eval_options)PLX_EVAL_OPTIONS_INIT;
    PLX_TRY(plx__take_options(o, sizeof *o, ctx, given, "PLX_EVAL_OPTIONS_INIT"));
    if (!o->pred) PLX_FAIL(ctx, PLX_E_ARG, "eval: a file of predictions is missing");
    if (o->truth)
        PLX_FAIL(ctx, PLX_E_ARG,
                 "eval: a data set brings its own truth; leave out truth, or the data set to measure by '%s'",
                 o->truth);
    if (o->scores || o->hierarchy || o->topn || o->gold || o->views || o->table)
        PLX_FAIL(ctx, PLX_E_ARG,
                 "eval: a data set brings its own truth and hierarchy; leave out scores, hierarchy, topn, gold, views "
                 "and table");
    if (o->multilabel && o->clusters) PLX_FAIL(ctx, PLX_E_ARG, "eval: multilabel and clusters exclude each other");
    return PLX_OK;
}

static plx_status eval_dataset(plx_metrics **out, plx_context *ctx, const plx_dataset *data,
                               const plx_eval_options *given, bool unlabelled_only)
{
    plx_eval_options o;
    plx_metrics *metrics = NULL;
    plx__arena files;
    pairing p = {.ctx = ctx, .arena = &files, .data = data, .o = &o};
    plx_status st = PLX_OK;
    plx__arena_init(&files, ctx);
    PLX_GOTO(check_options(&o, ctx, given));
    PLX_GOTO(plx__prediction_file_read(&p.pred, p.arena, o.pred, true));
    PLX_GOTO(pair_up(&p, unlabelled_only));
    PLX_GOTO(plx__metrics_new(&metrics, ctx));
    if (data->truth) PLX_GOTO(measure(metrics, &p));
    if (o.internal || !data->truth) PLX_GOTO(measure_internal(metrics, &p));
    if (o.metrics) PLX_GOTO(plx__metrics_filter(metrics, o.metrics));
    plx__metrics_log_warnings(metrics, 0);
    *out = metrics;
    metrics = NULL;
done:
    plx_metrics_destroy(metrics);
    plx__arena_free(&files);
    return st;
}

plx_status plx_eval_dataset(plx_metrics **out, plx_context *ctx, const plx_dataset *data,
                            const plx_eval_options *options, int unlabelled_only)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, eval_dataset(out, ctx, data, options, unlabelled_only != 0), PLX__ARG(out), PLX__ARG(data),
              PLX__ARG(options));
}
