/*
 * plx_predict: the method's rule for new samples on data put into the model's terms.
 */
#include <string.h>

#include "api/api_args.h"
#include "api/merge_rows.h"
#include "api/portfolio_impl.h"
#include "api/predict_parts.h"
#include "core/ranks.h"
#include "data/divided.h"
#include "device/device_session.h"
#include "run/problem.h"

plx_status plx__prediction_create(plx_prediction **out, plx_context *ctx, const plx__method *method)
{
    plx_prediction *p = plx__alloc(ctx, sizeof *p);
    if (!p) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory");
    *p = (plx_prediction){.method = method};
    plx__arena_init(&p->arena, ctx);
    plx__store_init(&p->store, &p->arena);
    *out = p;
    return PLX_OK;
}

/* The checks see a used view in the place of every unused one: those are missing for everybody, which is no fault. */
static plx_status check_used(plx_context *ctx, const plx_model *m, const plx__problem *p)
{
    plx__problem shown = *p;
    plx__view *views = NULL;
    const uint8_t *used = NULL;
    plx_index first = 0;
    PLX_TRY(plx__used_views(&used, ctx, &m->store, m->n_views));
    if (!used) return plx__problem_check(ctx, m->method, p, false);
    while (first < p->n_views - 1 && !used[first]) first++;
    PLX_TRY(PLX__ARENA_NEW(&views, plx__scratch(ctx), p->n_views));
    for (plx_index v = 0; v < p->n_views; v++) views[v] = p->views[used[v] ? v : first];
    shown.views = views;
    return plx__problem_check(ctx, m->method, &shown, false);
}

typedef struct request {
    plx_context *ctx;
    const plx_model *m;
    const char *const *wanted;
    plx_index n_wanted;
} request;

static plx_status run_method(const request *r, plx__problem *p, plx__store *store, plx__outcome *outcome)
{
    plx__facts ignored = {0};
    const plx_model *m = r->m;
    p->classes = m->classes;
    p->n_classes = m->n_classes;
    p->hierarchy = m->hierarchy;
    p->directory = ".";
    plx__run run = {.ctx = r->ctx,
                    .method = m->method,
                    .problem = p,
                    .settings = m->settings,
                    .params = m->params,
                    .fitted = &m->store,
                    .out = store,
                    .outcome = outcome,
                    .info = &ignored,
                    .wanted = r->wanted,
                    .n_wanted = r->n_wanted};
    PLX_TRY(check_used(r->ctx, m, p));
    if (m->method->memory)
        PLX_TRY(plx__need_memory(r->ctx, m->method->memory(&run), m->method->name,
                                 "predict fewer samples at a time or raise the memory limit"));
    PLX_TRY(plx__device_require(r->ctx));
    return m->method->predict(&run);
}

/* ---- samples without any view ---- */

static plx_status bare_rows(plx_index **out, plx_index *count, const request *r, const plx__problem *p)
{
    bool refused = false;
    plx__prior prior;
    PLX_TRY(plx__uncovered_samples(out, count, r->ctx, p));
    if (!*count) return PLX_OK;
    PLX_TRY(plx__uncovered_refused(&refused, r->ctx, r->m->method, r->m->settings));
    if (refused)
        PLX_FAIL(r->ctx, PLX_E_DATA, "%s: sample %s has none of the model's views; remove it or set uncovered=prior",
                 r->m->method->name, p->ids[(*out)[0]]);
    PLX_TRY(plx__prior_read(&prior, r->ctx, r->m, &r->m->store));
    if (r->m->method->uncovered == PLX__UNCOVERED_OWN || !prior.label) {
        plx__warn_uncovered(r->ctx, r->m->method, *count, p->ids[(*out)[0]], PLX__NO_EVIDENCE);
        *count = 0;
    }
    return PLX_OK;
}

/* Nobody has a view: the prior is all there is. */
static plx_status nothing_but_prior(plx_prediction *out, const request *r, plx_index n, const plx__prior *prior)
{
    plx__outcome *o = &out->outcome;
    plx_index k = prior->shares ? prior->n_classes : 0;
    const char **columns = NULL;
    *o = (plx__outcome){.n = n};
    PLX_TRY(PLX__ARENA_NEW(&o->label, &out->arena, n));
    for (plx_index i = 0; i < n; i++) PLX_TRY(plx__arena_text(&o->label[i], &out->arena, prior->label));
    if (!k) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&columns, &out->arena, k));
    for (plx_index c = 0; c < k; c++) PLX_TRY(plx__arena_text(&columns[c], &out->arena, r->m->classes[c]));
    o->columns = columns;
    PLX_TRY(plx__arena_mat(&o->scores, &out->arena, n, k));
    for (plx_index i = 0; i < n; i++) memcpy(o->scores.data + i * k, prior->shares, (size_t)k * sizeof(double));
    return r->m->method->prior_array ? plx__store_put(&out->store, r->m->method->prior_array, plx__cmat(o->scores))
                                     : PLX_OK;
}

/* What they get, and a line about them. */
static plx_status settle_prior(plx__prior *prior, const request *r, const plx__problem *p, const plx_index *bare,
                               plx_index n_bare)
{
    const char *answer = NULL;
    PLX_TRY(plx__prior_read(prior, r->ctx, r->m, &r->m->store));
    PLX_TRY(plx__arena_printf(&answer, plx__scratch(r->ctx), PLX__MOST_FREQUENT, prior->label));
    plx__warn_uncovered(r->ctx, r->m->method, n_bare, p->ids[bare[0]], answer);
    return PLX_OK;
}

/* The method sees the others; these get the prior. */
static plx_status predict_covered(plx_prediction *out, const request *r, const plx__problem_source *from,
                                  const plx__problem *all, const plx_index *bare, plx_index n_bare,
                                  plx__arena *temporary, plx_dataset **owned)
{
    plx_context *ctx = r->ctx;
    plx_index *keep = NULL, *row = NULL, kept = 0, next = 0;
    plx__problem_source source = *from;
    plx__problem p;
    plx__store store;
    plx__outcome outcome = {0};
    plx__merge merge = {
        .method = r->m->method, .n = all->n, .store = &store, .outcome = &outcome, .bare = bare, .n_bare = n_bare};
    PLX_TRY(settle_prior(&merge.prior, r, all, bare, n_bare));
    if (n_bare == all->n) return nothing_but_prior(out, r, all->n, &merge.prior);
    PLX_TRY(plx__arena_i64(&keep, plx__scratch(ctx), all->n));
    PLX_TRY(plx__arena_i64(&row, plx__scratch(ctx), all->n));
    for (plx_index i = 0; i < all->n; i++) {
        if (next < n_bare && bare[next] == i) next++;
        else keep[kept++] = i;
    }
    for (plx_index i = 0; i < kept; i++) row[i] = all->row[keep[i]];
    PLX_TRY(plx__dataset_select(owned, ctx, from->data, keep, kept));
    source.data = *owned;
    source.row = row;
    merge.row = keep;
    plx__store_init(&store, temporary);
    PLX_TRY(plx__problem_build(&p, ctx, temporary, &source));
    PLX_TRY(run_method(r, &p, &store, &outcome));
    return plx__merge_rows(&out->store, &out->outcome, ctx, &merge);
}

/* ---- part by part ---- */

/* Kernel views, and arrays that somebody asked for, may be about pairs of the new samples. */
static bool goes_by_parts(const request *r)
{
    const char *transform = r->m->method->transform;
    bool fine = r->m->method->predicts_apart;
    for (plx_index v = 0; v < r->m->n_views; v++) fine = fine && r->m->views[v].kind != PLX_VIEW_KERNEL;
    for (plx_index k = 0; k < r->n_wanted; k++) fine = fine && transform && strcmp(r->wanted[k], transform) == 0;
    return fine;
}

static plx_status predict_part(void *arg, plx__problem *part, plx__store *store, plx__outcome *outcome)
{
    return run_method(arg, part, store, outcome);
}

/* What is wrong with the samples is told as of all of them, before the first part. */
static plx_status predict_by_parts(plx_prediction *out, request *r, plx__problem *p, const plx_index *bare,
                                   plx_index n_bare, bool divided)
{
    plx__parts q = {.ctx = r->ctx,
                    .method = r->m->method,
                    .divided = divided,
                    .bare = bare,
                    .n_bare = n_bare,
                    .predict = predict_part,
                    .arg = r};
    PLX_TRY(check_used(r->ctx, r->m, p));
    PLX_TRY(plx__parts_open(&q, p, &out->arena));
    if (n_bare) PLX_TRY(settle_prior(&q.prior, r, p, bare, n_bare));
    if (n_bare < p->n) return plx__parts_predict(out, &q);
    PLX_TRY(nothing_but_prior(out, r, q.rows, &q.prior));
    out->outcome.first = q.first;
    if (divided) out->outcome.bound = q.bound;
    return PLX_OK;
}

static plx_status run_predict(plx_prediction *out, request *r, const plx_dataset *matched, const plx_index *row,
                              plx_index rows)
{
    plx_context *ctx = r->ctx;
    bool divided = plx__dataset_divided(matched);
    plx__problem p;
    plx__problem_source from = {
        .method = r->m->method, .settings = r->m->settings, .data = matched, .row = row, .rows = rows};
    plx__arena temporary;
    plx_dataset *covered = NULL;
    plx_index *bare = NULL, n_bare = 0;
    plx_status st = PLX_OK;
    PLX_TRY(plx__scales_get(&from.scale, ctx, &r->m->store, r->m->n_views));
    PLX_TRY(plx__problem_build(&p, ctx, &out->arena, &from));
    PLX_TRY(plx__problem_warn(ctx, &from, &p));
    PLX_TRY(bare_rows(&bare, &n_bare, r, &p));
    if (goes_by_parts(r) && (divided || p.n > PLX__PANE_ROWS))
        return predict_by_parts(out, r, &p, bare, n_bare, divided);
    if (!n_bare) return run_method(r, &p, &out->store, &out->outcome);
    plx__arena_init(&temporary, ctx);
    st = predict_covered(out, r, &from, &p, bare, n_bare, &temporary, &covered);
    plx_dataset_destroy(covered);
    plx__arena_free(&temporary);
    return st;
}

static plx_status predict_here(plx_prediction **out, request *r, const plx_dataset *data, const plx_index *row,
                               plx_index rows)
{
    plx_context *ctx = r->ctx;
    plx_dataset *matched = NULL;
    plx_prediction *p = NULL;
    plx_status st = PLX_OK;
    PLX_GOTO(plx__match_data(&matched, ctx, r->m, data));
    PLX_GOTO(plx__prediction_create(&p, ctx, r->m->method));
    if (r->m->portfolio) PLX_GOTO(plx__portfolio_answer(p, ctx, r->m, matched));
    else PLX_GOTO(run_predict(p, r, matched, row, rows));
    PLX_GOTO(plx__take_notes(&p->warnings, &p->n_warnings, ctx, &p->arena));
    *out = p;
    p = NULL;
done:
    plx_prediction_destroy(p);
    plx_dataset_destroy(matched);
    return st;
}

plx_status plx__predict(plx_prediction **out, plx_context *ctx, const plx_model *m, const plx_dataset *data,
                        const plx_index *row, plx_index rows, const char *const *wanted, plx_index n_wanted)
{
    *out = NULL;
    if (!m->method->predict && !m->portfolio)
        PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "%s labels only the samples it was fitted to; it cannot predict new ones",
                 m->method->name);
    return predict_here(out, &(request){ctx, m, wanted, n_wanted}, data, row, rows);
}

/* ---- calls ---- */

/* A method that compares the new samples with each other: every rank gets all of them and predicts them by itself. */
static plx_status predict_by_itself(plx_prediction **out, const request *r, const plx_dataset *data)
{
    plx_dataset *whole = NULL;
    if (plx__dataset_divided(data)) PLX_TRY(plx__dataset_gather(&whole, r->ctx, data));
    plx__apart apart = plx__peers_leave(r->ctx);
    plx_status st = plx__predict(out, r->ctx, r->m, whole ? whole : data, NULL, data->n, r->wanted, r->n_wanted);
    plx__peers_return(r->ctx, &apart);
    plx_dataset_destroy(whole);
    st = plx__peers_settle(r->ctx, st);
    if (st == PLX_OK || !*out) return st;
    plx_prediction_destroy(*out); /* another rank failed */
    *out = NULL;
    return st;
}

static plx_status predict_call(plx_prediction **out, plx_context *ctx, const plx_model *m, const plx_dataset *data,
                               const char *const *wanted, plx_index n_wanted)
{
    request r = {ctx, m, wanted, n_wanted};
    if (plx__ranks(ctx) > 1 && (m->method->predict || m->portfolio) && !goes_by_parts(&r))
        return predict_by_itself(out, &r, data);
    return plx__predict(out, ctx, m, data, NULL, data->n, wanted, n_wanted);
}

plx_status plx_predict(plx_prediction **out, plx_context *ctx, const plx_model *model, const plx_dataset *data)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, predict_call(out, ctx, model, data, NULL, 0), PLX__ARG(out), PLX__ARG(model), PLX__ARG(data));
}

static plx_status transform(plx_prediction **out, plx_context *ctx, const plx_model *m, const plx_dataset *data)
{
    const char *array = m->method->transform;
    if (!array)
        PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "%s has nothing to transform samples to; use predict", m->method->name);
    return predict_call(out, ctx, m, data, &array, 1);
}

plx_status plx_transform(plx_prediction **out, plx_context *ctx, const plx_model *model, const plx_dataset *data)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, transform(out, ctx, model, data), PLX__ARG(out), PLX__ARG(model), PLX__ARG(data));
}
