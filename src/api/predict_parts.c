/*
 * Every rank predicts its slabs by itself, with nobody to wait for. Then the ranks tell each other what their results
 * look like (a rank may have no samples, or bare ones only), and what they have to warn of.
 */
#include "api/predict_parts.h"

#include <stdlib.h>
#include <string.h>

#include "core/ranks.h"
#include "core/tally.h"
#include "data/divided.h"
#include "run/problem.h"

typedef struct answer {
    const char *name;
    plx_mat values; /* q->rows of them */
} answer;

/* The results of all parts so far. What they look like is what the first part has. */
typedef struct answers {
    plx__parts *q;
    plx__arena *keep; /* of the prediction */
    plx__arena aside; /* what is not needed afterwards */
    bool known;
    plx__outcome_kind kind;
    const char **columns; /* NULL: no scores */
    plx_mat scores;
    answer *array;
    plx_index n_arrays, next_bare;
    const char **label; /* q->rows */
    plx__map names;     /* texts of labels */
    plx__tally tally;
} answers;

/* ---- whose samples ---- */

plx_status plx__parts_open(plx__parts *q, plx__problem *whole, plx__arena *keep)
{
    int rank = plx__rank(q->ctx);
    plx_index *bound = NULL;
    plx__view *views = NULL;
    PLX_TRY(plx__arena_i64(&bound, keep, plx__ranks(q->ctx) + 1));
    q->cut = plx__slabs_cut(whole->n, PLX__PANE_ROWS);
    plx__slabs_bounds(bound, q->ctx, q->cut);
    PLX_TRY(PLX__ARENA_NEW(&views, plx__scratch(q->ctx), whole->n_views));
    for (plx_index v = 0; v < whole->n_views; v++) {
        views[v] = whole->views[v];
        PLX_TRY(plx__view_regroup(&views[v], q->ctx, plx__scratch(q->ctx), whole->n, bound));
    }
    whole->views = views;
    q->whole = whole;
    q->bound = bound;
    q->begin = bound[rank];
    q->end = bound[rank + 1];
    q->first = q->divided ? q->begin : 0;
    q->rows = q->divided ? q->end - q->begin : whole->n;
    return PLX_OK;
}

/* ---- room ---- */

static plx_status open_scores(answers *a, const plx__outcome *o)
{
    if (!o->columns) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&a->columns, a->keep, o->scores.cols));
    for (plx_index j = 0; j < o->scores.cols; j++) PLX_TRY(plx__arena_text(&a->columns[j], a->keep, o->columns[j]));
    return plx__arena_mat(&a->scores, a->keep, a->q->rows, o->scores.cols);
}

/* Rows of these results, in bytes; numbers are a text for every sample. */
static double row_bytes(const plx__store *store, const plx__outcome *o)
{
    enum { TEXT_BYTES = 64 };
    double bytes = sizeof(char *) + (o->columns ? 8.0 * (double)o->scores.cols : 0);
    if (o->kind == PLX__OUTCOME_NUMBERS) bytes += TEXT_BYTES;
    for (const plx__array *x = store->first; x; x = x->next) bytes += 8.0 * (double)x->dense.cols;
    return bytes;
}

static bool by_sample(const answers *a, const plx__array *x)
{
    return !x->sparse && plx__array_by_sample(plx__array_spec_find(a->q->method, x->name), 0);
}

/* The first part tells what there will be; arrays that are not over samples are those of this part. */
static plx_status open_answers(answers *a, const plx__store *store, const plx__outcome *o)
{
    plx_index rows = a->q->rows;
    PLX_TRY(plx__need_memory(a->q->ctx, (double)rows * row_bytes(store, o), a->q->method->name,
                             "predict fewer samples at a time or raise the memory limit"));
    a->kind = o->kind;
    PLX_TRY(open_scores(a, o));
    PLX_TRY(PLX__ARENA_NEW(&a->array, a->keep, store->count));
    for (const plx__array *x = store->first; x; x = x->next) {
        answer *to = &a->array[a->n_arrays];
        if (!by_sample(a, x)) continue;
        PLX_TRY(plx__arena_text(&to->name, a->keep, x->name));
        PLX_TRY(plx__arena_mat(&to->values, a->keep, rows, x->dense.cols));
        a->n_arrays++;
    }
    a->known = true;
    return PLX_OK;
}

/* ---- one part ---- */

static answer *find(const answers *a, const char *name, plx_index cols)
{
    for (plx_index k = 0; k < a->n_arrays; k++)
        if (strcmp(a->array[k].name, name) == 0 && a->array[k].values.cols == cols) return &a->array[k];
    return NULL;
}

static void put_rows(const answers *a, plx_mat to, plx_cmat from, const plx_index *sample)
{
    for (plx_index i = 0; i < from.rows; i++) {
        plx__breathe(a->q->ctx, i);
        memcpy(to.data + (sample[i] - a->q->first) * to.ld, from.data + i * from.ld,
               (size_t)from.cols * sizeof(double));
    }
}

/* Few labels are many samples': classes and clusters are kept once each. */
static plx_status keep_label(const char **out, answers *a, const char *label)
{
    plx_index known = -1, existing = -1;
    if (a->kind == PLX__OUTCOME_NUMBERS) return plx__arena_text(out, a->keep, label);
    known = plx__map_get(&a->names, label);
    if (known < 0) {
        known = a->names.count;
        PLX_TRY(plx__arena_text(out, a->keep, label));
        return plx__map_add(&a->names, *out, known, &existing);
    }
    *out = a->names.keys[known];
    return PLX_OK;
}

static plx_status take_part(answers *a, const plx__store *store, const plx__outcome *o, const plx_index *sample)
{
    if (!a->known) PLX_TRY(open_answers(a, store, o));
    for (const plx__array *x = store->first; x; x = x->next) {
        const answer *to = x->sparse ? NULL : find(a, x->name, x->dense.cols);
        if (to) put_rows(a, to->values, plx__cmat(x->dense), sample);
    }
    if (a->columns && o->scores.cols == a->scores.cols) put_rows(a, a->scores, plx__cmat(o->scores), sample);
    for (plx_index i = 0; i < o->n; i++)
        if (o->label[i]) PLX_TRY(keep_label(&a->label[sample[i] - a->q->first], a, o->label[i]));
    return PLX_OK;
}

/* Those of begin .. end-1 that the method sees. */
static plx_status list_samples(plx_index **out, plx_index *count, answers *a, plx_index begin, plx_index end)
{
    const plx__parts *q = a->q;
    *count = 0;
    PLX_TRY(plx__arena_i64(out, plx__scratch(q->ctx), end - begin));
    while (a->next_bare < q->n_bare && q->bare[a->next_bare] < begin) a->next_bare++;
    for (plx_index i = begin; i < end; i++) {
        if (a->next_bare < q->n_bare && q->bare[a->next_bare] == i) a->next_bare++;
        else (*out)[(*count)++] = i;
    }
    return PLX_OK;
}

static plx_status predict_part(answers *a, plx_index begin, plx_index end)
{
    plx__parts *q = a->q;
    plx__problem part;
    plx__arena own;
    plx__store store;
    plx__outcome outcome = {0};
    plx_index *sample = NULL, count = 0;
    plx_status st = PLX_OK;
    PLX_TRY(list_samples(&sample, &count, a, begin, end));
    if (!count) return PLX_OK;
    plx__arena_init(&own, q->ctx);
    plx__store_init(&store, &own);
    PLX_GOTO(plx__problem_part(&part, q->ctx, q->whole, sample, count));
    PLX_GOTO(q->predict(q->arg, &part, &store, &outcome));
    PLX_GOTO(take_part(a, &store, &outcome, sample));
done:
    plx__arena_free(&own);
    return st;
}

static plx_status predict_own(answers *a)
{
    plx__parts *q = a->q;
    for (plx_index at = q->begin; at < q->end; at += q->cut.rows) {
        plx__mark mark = plx__arena_mark(plx__scratch(q->ctx));
        PLX_TRY(plx__poll(q->ctx));
        PLX_TRY(predict_part(a, at, plx__min(q->end, at + q->cut.rows)));
        plx__arena_rewind(plx__scratch(q->ctx), mark);
    }
    return PLX_OK;
}

/* ---- among the ranks ---- */

/* What a rank tells, and the texts behind it: columns, arrays ("COLS NAME"), and of every warning its number of samples,
 * the first one's name and its text. */
enum { KNOWN, KIND, HAS_SCORES, COLUMNS, ARRAYS, NOTES, TOLD };
enum { NOTE_TEXTS = 3 };

static plx_index texts_told(const int64_t *told) { return told[COLUMNS] + told[ARRAYS] + NOTE_TEXTS * told[NOTES]; }

static plx_status list_texts(const char *const **out, const answers *a, plx_index count)
{
    const char **text = NULL;
    plx__arena *scratch = plx__scratch(a->q->ctx);
    plx_index at = 0;
    PLX_TRY(PLX__ARENA_NEW(&text, scratch, count));
    for (plx_index j = 0; a->columns && j < a->scores.cols; j++) text[at++] = a->columns[j];
    for (plx_index k = 0; k < a->n_arrays; k++, at++)
        PLX_TRY(plx__arena_printf(&text[at], scratch, "%lld %s", (long long)a->array[k].values.cols, a->array[k].name));
    for (const plx__tally_note *note = a->tally.notes; note; note = note->next) {
        PLX_TRY(plx__arena_printf(&text[at++], scratch, "%lld", (long long)note->count));
        text[at++] = note->first;
        text[at++] = note->text;
    }
    *out = text;
    return PLX_OK;
}

/* The results look like those of another rank: its arrays, of which some may be here. */
static plx_status take_form(answers *a, const int64_t *told, const char *const *text)
{
    answers own = *a;
    a->kind = (plx__outcome_kind)told[KIND];
    a->n_arrays = told[ARRAYS];
    if (told[HAS_SCORES] && (!own.columns || own.scores.cols != told[COLUMNS])) {
        PLX_TRY(PLX__ARENA_NEW(&a->columns, a->keep, told[COLUMNS]));
        for (plx_index j = 0; j < told[COLUMNS]; j++) PLX_TRY(plx__arena_text(&a->columns[j], a->keep, text[j]));
        PLX_TRY(plx__arena_mat(&a->scores, a->keep, a->q->rows, told[COLUMNS]));
    } else if (!told[HAS_SCORES]) a->columns = NULL;
    PLX_TRY(PLX__ARENA_NEW(&a->array, a->keep, a->n_arrays));
    for (plx_index k = 0; k < a->n_arrays; k++) {
        char *name = NULL;
        plx_index cols = (plx_index)strtoll(text[told[COLUMNS] + k], &name, 10);
        const answer *mine = find(&own, name + 1, cols);
        if (mine) a->array[k] = *mine;
        else PLX_TRY(plx__arena_text(&a->array[k].name, a->keep, name + 1));
        if (!mine) PLX_TRY(plx__arena_mat(&a->array[k].values, a->keep, a->q->rows, cols));
    }
    a->known = true;
    return PLX_OK;
}

/* The warnings of all ranks, in their order. */
static void join_notes(plx__tally *to, int ranks, const int64_t *all, const char *const *text)
{
    for (int r = 0; r < ranks; r++) {
        const int64_t *told = all + r * TOLD;
        const char *const *note = text + told[COLUMNS] + told[ARRAYS];
        for (plx_index k = 0; k < told[NOTES]; k++, note += NOTE_TEXTS)
            plx__tally_add(to, note[2], note[1], strtoll(note[0], NULL, 10));
        text += texts_told(told);
    }
}

/* All ranks take the lowest one that has predicted a sample for how results look. */
static plx_status agree(answers *a)
{
    plx_context *ctx = a->q->ctx;
    int ranks = plx__ranks(ctx), from = 0;
    const int64_t mine[TOLD] = {a->known,    a->kind,       a->columns != NULL, a->columns ? a->scores.cols : 0,
                                a->n_arrays, a->tally.count};
    int64_t *all = NULL;
    plx_index *bound = NULL;
    const char *const *text = NULL;
    if (ranks == 1) return PLX_OK;
    PLX_TRY(plx__peers_tell(ctx, mine, TOLD, &all));
    PLX_TRY(plx__arena_i64(&bound, plx__scratch(ctx), ranks + 1));
    for (int r = 0; r < ranks; r++) bound[r + 1] = bound[r] + texts_told(all + r * TOLD);
    PLX_TRY(list_texts(&text, a, texts_told(mine)));
    PLX_TRY(plx__share_texts(&text, ctx, plx__scratch(ctx), bound));
    plx__tally_open(&a->tally, &a->aside);
    join_notes(&a->tally, ranks, all, text);
    while (from < ranks && !all[from * TOLD + KNOWN]) from++;
    if (from == ranks || from == plx__rank(ctx)) return PLX_OK;
    return take_form(a, all + from * TOLD, text + bound[from]);
}

/* Results of all samples to all. */
static plx_status share_rows(answers *a)
{
    const plx__parts *q = a->q;
    const char *const *label = a->label + q->begin;
    if (q->divided || plx__ranks(q->ctx) == 1) return PLX_OK;
    for (plx_index k = 0; k < a->n_arrays; k++)
        PLX_TRY(plx__bound_share(q->ctx, q->bound, a->array[k].values.data,
                                 (size_t)a->array[k].values.cols * sizeof(double)));
    if (a->columns)
        PLX_TRY(plx__bound_share(q->ctx, q->bound, a->scores.data, (size_t)a->scores.cols * sizeof(double)));
    PLX_TRY(plx__share_texts(&label, q->ctx, a->keep, q->bound));
    for (plx_index i = 0; i < q->rows; i++) a->label[i] = label[i];
    return PLX_OK;
}

/* ---- the end ---- */

static void show_prior(const answers *a, plx_mat to, const plx_index *bare, plx_index count)
{
    const plx__prior *prior = &a->q->prior;
    if (!prior->shares || to.cols != prior->n_classes) return;
    for (plx_index k = 0; k < count; k++)
        memcpy(to.data + (bare[k] - a->q->first) * to.ld, prior->shares, (size_t)to.cols * sizeof(double));
}

static plx_status put_prior(answers *a)
{
    const plx__parts *q = a->q;
    const plx_index *bare = q->bare;
    plx_index count = 0, left = q->n_bare;
    const char *label = NULL;
    for (; left && *bare < q->first; left--) bare++;
    while (count < left && bare[count] < q->first + q->rows) count++;
    if (!count) return PLX_OK;
    PLX_TRY(plx__arena_text(&label, a->keep, q->prior.label));
    for (plx_index k = 0; k < count; k++) a->label[bare[k] - q->first] = label;
    if (a->columns) show_prior(a, a->scores, bare, count);
    for (plx_index k = 0; q->method->prior_array && k < a->n_arrays; k++)
        if (strcmp(a->array[k].name, q->method->prior_array) == 0) show_prior(a, a->array[k].values, bare, count);
    return PLX_OK;
}

static plx_status finish(plx_prediction *out, answers *a)
{
    const plx__parts *q = a->q;
    plx__outcome *o = &out->outcome;
    PLX_TRY(put_prior(a));
    for (plx_index k = 0; k < a->n_arrays; k++)
        PLX_TRY(plx__store_adopt(&out->store, a->array[k].name, a->array[k].values));
    *o = (plx__outcome){.kind = a->kind, .n = q->rows, .label = a->label, .first = q->first};
    if (a->columns) {
        o->columns = a->columns;
        o->scores = a->scores;
    }
    if (q->divided) o->bound = q->bound;
    return PLX_OK;
}

/* The rank by itself; all end as the lowest that failed. */
static plx_status predict_alone(answers *a)
{
    plx_context *ctx = a->q->ctx;
    plx__apart apart = plx__peers_leave(ctx);
    ctx->tally = &a->tally;
    plx_status st = predict_own(a);
    ctx->tally = NULL;
    plx__peers_return(ctx, &apart);
    return plx__peers_settle(ctx, st);
}

static plx_status predict_all(plx_prediction *out, answers *a)
{
    plx_context *ctx = a->q->ctx;
    plx_status st = plx__map_init(&a->names, &a->aside, 16);
    if (st == PLX_OK) st = PLX__ARENA_NEW(&a->label, a->keep, a->q->rows);
    PLX_TRY(plx__peers_settle(ctx, st));
    PLX_TRY(predict_alone(a));
    st = agree(a);
    PLX_TRY(plx__peers_settle(ctx, st));
    plx__tally_tell(&a->tally, ctx);
    PLX_TRY(share_rows(a));
    return finish(out, a);
}

plx_status plx__parts_predict(plx_prediction *out, plx__parts *q)
{
    answers a = {.q = q, .keep = &out->arena};
    plx__arena_init(&a.aside, q->ctx);
    plx__tally_open(&a.tally, &a.aside);
    plx_status st = predict_all(out, &a);
    plx__arena_free(&a.aside);
    return st;
}
