/*
 * The fitted part is a data set of its own that shares its values with the caller's. After the fit the
 * others are predicted through the method's own predict, and merge_rows.c puts all rows back in the caller's
 * order.
 */
#include "api/heldout.h"

#include <string.h>

#include "api/merge_rows.h"
#include "core/ranks.h"
#include "run/problem.h"

static plx_status split(plx__heldout *held, plx_context *ctx, const plx_dataset *data, const uint8_t *flags)
{
    plx_index out = 0, in = 0;
    for (plx_index i = 0; i < data->n; i++) out += flags[i];
    if (out == 0) return PLX_OK;
    if (out == data->n) PLX_FAIL(ctx, PLX_E_DATA, "heldout marks every sample; nothing is left to fit");
    PLX_TRY(plx__arena_i64(&held->row, plx__scratch(ctx), data->n - out));
    PLX_TRY(plx__arena_i64(&held->rest_row, plx__scratch(ctx), out));
    out = 0;
    for (plx_index i = 0; i < data->n; i++) {
        if (flags[i]) held->rest_row[out++] = i;
        else held->row[in++] = i;
    }
    PLX_TRY(plx__dataset_select(&held->subset, ctx, data, held->row, in));
    PLX_TRY(plx__dataset_select(&held->rest, ctx, data, held->rest_row, out));
    held->fitted = held->subset;
    held->any = true;
    return PLX_OK;
}

plx_status plx__heldout_open(plx__heldout *held, plx_context *ctx, const plx_model *model, const plx_dataset *data,
                             const char *directory)
{
    plx__value value;
    uint8_t *flags = NULL;
    *held = (plx__heldout){.fitted = data};
    if (!plx__param_find(model->method->params, "heldout")) return PLX_OK;
    PLX_TRY(plx__view_value(&value, ctx, model->settings, "heldout", NULL));
    if (!value.text[0]) return PLX_OK;
    PLX_TRY(plx__read_flags(&flags, ctx, plx__scratch(ctx), directory, value.text, data->n, "heldout"));
    return split(held, ctx, data, flags);
}

/* Samples without any view: refused, or taken away like held-out ones; then only the rest is fitted. */
plx_status plx__heldout_uncovered(plx__heldout *held, plx_context *ctx, const plx_model *model, const plx__problem *p)
{
    plx_index *bare = NULL, *keep = NULL, kept = 0, next = 0;
    plx_dataset *covered = NULL;
    bool refused = false;
    PLX_TRY(plx__uncovered_samples(&bare, &held->n_bare, ctx, p));
    if (!held->n_bare) return PLX_OK;
    PLX_TRY(plx__uncovered_refused(&refused, ctx, model->method, model->settings));
    if (refused)
        PLX_FAIL(ctx, PLX_E_DATA, "%s: sample %s has no view; remove it, give it at least one or set uncovered=prior",
                 model->method->name, p->ids[bare[0]]);
    if (model->method->uncovered == PLX__UNCOVERED_OWN || held->n_bare == p->n) {
        plx__warn_uncovered(ctx, model->method, held->n_bare, p->ids[bare[0]], PLX__NO_EVIDENCE);
        held->n_bare = 0;
        return PLX_OK;
    }
    PLX_TRY(plx__arena_i64(&keep, plx__scratch(ctx), p->n));
    PLX_TRY(plx__arena_i64(&held->bare_row, plx__scratch(ctx), held->n_bare));
    held->bare_id = p->ids[bare[0]];
    for (plx_index i = 0; i < p->n; i++) {
        if (next < held->n_bare && bare[next] == i) held->bare_row[next++] = p->row[i];
        else keep[kept++] = i;
    }
    PLX_TRY(plx__dataset_select(&covered, ctx, held->fitted, keep, kept));
    plx_dataset_destroy(held->subset);
    held->fitted = held->subset = covered;
    for (plx_index i = 0; i < kept; i++) keep[i] = p->row[keep[i]];
    held->row = keep;
    held->any = true;
    return PLX_OK;
}

void plx__heldout_free(plx__heldout *held)
{
    plx_dataset_destroy(held->subset);
    plx_dataset_destroy(held->rest);
    held->subset = held->rest = NULL;
}

/* What was asked for, and what tells how good the model is. */
static plx_status wanted_arrays(const char ***out, plx_index *count, plx_context *ctx, const plx__method *method,
                                const plx_fit_options *o)
{
    plx_index room = o->n_arrays;
    for (const plx__array_spec *s = method->arrays; s->name; s++) room++;
    PLX_TRY(PLX__ARENA_NEW(out, plx__scratch(ctx), room));
    for (*count = 0; *count < o->n_arrays; ++*count) (*out)[*count] = o->arrays[*count];
    for (const plx__array_spec *s = method->arrays; s->name; s++)
        if (s->flags & PLX__MEASURED) (*out)[(*count)++] = s->name;
    return PLX_OK;
}

static plx_status predict_rest(plx_prediction **out, const plx__heldout *held, plx_context *ctx, const plx_model *m,
                               plx_index rows, const plx_fit_options *o)
{
    const char **wanted = NULL;
    plx_index count = 0;
    if (!held->rest) return PLX_OK;
    PLX_TRY(wanted_arrays(&wanted, &count, ctx, m->method, o));
    return plx__predict(out, ctx, m, held->rest, held->rest_row, rows, wanted, count);
}

/* The trace is in the arena of the fit too. */
static plx_status keep_trace(plx_model *m)
{
    double *copy = NULL;
    if (!m->facts.n_trace) return PLX_OK;
    PLX_TRY(plx__arena_f64(&copy, &m->arena, m->facts.n_trace, 1));
    memcpy(copy, m->facts.trace, (size_t)m->facts.n_trace * sizeof *copy);
    m->facts.trace = copy;
    return PLX_OK;
}

static plx_status warn_bare(plx_context *ctx, const plx__method *method, const plx__heldout *held, const char *label)
{
    const char *answer = "no answer is given there";
    if (label) PLX_TRY(plx__arena_printf(&answer, plx__scratch(ctx), PLX__MOST_FREQUENT, label));
    plx__warn_uncovered(ctx, method, held->n_bare, held->bare_id, answer);
    return PLX_OK;
}

/* Where every rank keeps the results of its own samples: the rows of the caller's data from the first of them to the first
 * of the next rank, those without any view among them. */
static plx_status merge_own(plx__merge *merge, plx__outcome *o, plx_context *ctx, plx__arena *arena)
{
    const plx_index *kept = merge->outcome->bound;
    plx_index *bound = NULL, *row = NULL, *bare = NULL, n_bare = 0;
    int rank = plx__rank(ctx), ranks = plx__ranks(ctx);
    PLX_TRY(plx__arena_i64(&bound, arena, ranks + 1));
    for (int r = 1; r <= ranks; r++) bound[r] = kept[r] < kept[ranks] ? merge->row[kept[r]] : merge->n;
    plx_index first = bound[rank], count = kept[rank + 1] - kept[rank];
    PLX_TRY(plx__arena_i64(&row, plx__scratch(ctx), count));
    PLX_TRY(plx__arena_i64(&bare, plx__scratch(ctx), merge->n_bare));
    for (plx_index i = 0; i < count; i++) row[i] = merge->row[kept[rank] + i] - first;
    for (plx_index i = 0; i < merge->n_bare; i++)
        if (merge->bare[i] >= first && merge->bare[i] < bound[rank + 1]) bare[n_bare++] = merge->bare[i] - first;
    merge->n = bound[rank + 1] - first;
    merge->row = row;
    merge->bare = bare;
    merge->n_bare = n_bare;
    o->first = first;
    o->bound = bound;
    return PLX_OK;
}

plx_status plx__heldout_close(plx__heldout *held, plx_context *ctx, plx_model *m, const plx_dataset *data,
                              plx__store *fitted, const plx_fit_options *o)
{
    plx_prediction *rest = NULL;
    plx__outcome outcome = m->fitted.outcome;
    plx__merge merge = {.method = m->method,
                        .n = data->n,
                        .row = held->row,
                        .store = fitted,
                        .outcome = &outcome,
                        .rest_row = held->rest_row,
                        .bare = held->bare_row,
                        .n_bare = held->n_bare};
    plx_status st = PLX_OK;
    m->store = *fitted; /* what predict works from */
    PLX_GOTO(predict_rest(&rest, held, ctx, m, data->n, o));
    PLX_GOTO(plx__prior_read(&merge.prior, ctx, m, fitted));
    merge.rest = rest;
    if (held->n_bare) PLX_GOTO(warn_bare(ctx, m->method, held, merge.prior.label));
    plx__store_init(&m->store, &m->arena);
    if (outcome.bound) PLX_GOTO(merge_own(&merge, &m->fitted.outcome, ctx, &m->arena));
    PLX_GOTO(plx__merge_rows(&m->store, &m->fitted.outcome, ctx, &merge));
    if (m->method->complete) PLX_GOTO(m->method->complete(ctx, &m->store));
    PLX_GOTO(keep_trace(m));
done:
    plx_prediction_destroy(rest);
    return st;
}
