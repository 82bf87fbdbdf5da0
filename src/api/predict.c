/*
 * plx_predict: the method's rule for new samples on data put into the model's terms.
 */
#include <string.h>

#include "api/api_args.h"
#include "api/model_impl.h"
#include "run/problem.h"

static plx_status create(plx_prediction **out, plx_context *ctx, const plx__method *method)
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

static plx_status run_predict(plx_prediction *out, plx_context *ctx, const plx_model *m, const plx_dataset *matched,
                              const plx_index *row, plx_index rows, const char *const *wanted, plx_index n_wanted)
{
    plx__problem p;
    plx__facts ignored = {0};
    PLX_TRY(plx__problem_build(&p, ctx, &out->arena, m->method, m->settings, matched, row, rows, false));
    p.classes = m->classes;
    p.n_classes = m->n_classes;
    p.hierarchy = m->hierarchy;
    p.directory = ".";
    plx__run run = {.ctx = ctx,
                    .method = m->method,
                    .problem = &p,
                    .settings = m->settings,
                    .params = m->params,
                    .fitted = &m->store,
                    .out = &out->store,
                    .outcome = &out->outcome,
                    .info = &ignored,
                    .wanted = wanted,
                    .n_wanted = n_wanted};
    PLX_TRY(check_used(ctx, m, &p));
    if (m->method->memory)
        PLX_TRY(plx__need_memory(ctx, m->method->memory(&run), m->method->name,
                                 "predict fewer samples at a time or raise the memory limit"));
    return m->method->predict(&run);
}

plx_status plx__predict(plx_prediction **out, plx_context *ctx, const plx_model *m, const plx_dataset *data,
                        const plx_index *row, plx_index rows, const char *const *wanted, plx_index n_wanted)
{
    *out = NULL;
    if (!m->method->predict)
        PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "%s labels only the samples it was fitted to; it cannot predict new ones",
                 m->method->name);
    plx_dataset *matched = NULL;
    plx_prediction *p = NULL;
    plx_status st = PLX_OK;
    PLX_GOTO(plx__match_data(&matched, ctx, m, data));
    PLX_GOTO(create(&p, ctx, m->method));
    PLX_GOTO(run_predict(p, ctx, m, matched, row, rows, wanted, n_wanted));
    PLX_GOTO(plx__take_notes(&p->warnings, &p->n_warnings, ctx, &p->arena));
    *out = p;
    p = NULL;
done:
    plx_prediction_destroy(p);
    plx_dataset_destroy(matched);
    return st;
}

plx_status plx_predict(plx_prediction **out, plx_context *ctx, const plx_model *model, const plx_dataset *data)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, plx__predict(out, ctx, model, data, NULL, data->n, NULL, 0), PLX__ARG(out), PLX__ARG(model),
              PLX__ARG(data));
}

static plx_status transform(plx_prediction **out, plx_context *ctx, const plx_model *m, const plx_dataset *data)
{
    const char *array = m->method->transform;
    if (!array)
        PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "%s has nothing to transform samples to; use predict", m->method->name);
    return plx__predict(out, ctx, m, data, NULL, data->n, &array, 1);
}

plx_status plx_transform(plx_prediction **out, plx_context *ctx, const plx_model *model, const plx_dataset *data)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, transform(out, ctx, model, data), PLX__ARG(out), PLX__ARG(model), PLX__ARG(data));
}
