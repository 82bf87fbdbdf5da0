/*
 * Models and predictions as objects: making, freeing, reading.
 */
#include <math.h>
#include <string.h>

#include "api/portfolio_impl.h"
#include "core/json.h"

plx_status plx__model_create(plx_model **out, plx_context *ctx, const plx__method *method, const plx_params *settings)
{
    *out = NULL;
    plx_model *m = plx__alloc(ctx, sizeof *m);
    if (!m) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory");
    *m = (plx_model){.method = method, .seed = ctx->seed, .facts = {.converged = -1, .objective = NAN}};
    plx__arena_init(&m->arena, ctx);
    plx__arena_init(&m->json_arena, ctx);
    plx__arena_init(&m->fitted.arena, ctx);
    plx__store_init(&m->store, &m->arena);
    plx__store_init(&m->fitted.store, &m->arena);
    m->fitted.method = method;
    plx_status st = settings ? plx__params_copy(&m->settings, ctx, settings)
                             : plx__params_create(&m->settings, ctx, method->name, method->params);
    if (st == PLX_OK) st = plx__arena_zeroed(&m->params, &m->arena, 1, method->params_size ? method->params_size : 1);
    if (st == PLX_OK) st = plx__params_fill(m->params, ctx, &m->arena, m->settings);
    if (st == PLX_OK) *out = m;
    else plx_model_destroy(m);
    return st;
}

void plx_model_destroy(plx_model *m)
{
    if (!m) return;
    plx_context *ctx = m->arena.ctx;
    plx__portfolio_release(m->portfolio);
    plx_params_destroy(m->settings);
    json_decref(m->facts.extra);
    plx__arena_free(&m->json_arena);
    plx__arena_free(&m->fitted.arena);
    plx__arena_free(&m->arena);
    plx__release(ctx, m, sizeof *m);
}

void plx_prediction_destroy(plx_prediction *p)
{
    if (!p) return;
    plx_context *ctx = p->arena.ctx;
    plx__arena_free(&p->arena);
    plx__release(ctx, p, sizeof *p);
}

plx_status plx__take_notes(const char *const **out, plx_index *count, plx_context *ctx, plx__arena *arena)
{
    const char **texts = NULL;
    *count = 0;
    for (const plx__note *note = ctx->notes; note; note = note->next) ++*count;
    PLX_TRY(PLX__ARENA_NEW(&texts, arena, *count));
    plx_index i = 0;
    for (const plx__note *note = ctx->notes; note; note = note->next)
        PLX_TRY(plx__arena_text(&texts[i++], arena, note->text));
    *out = texts;
    return PLX_OK;
}

/* ---- array tables ---- */

const plx__array_spec *plx__array_spec_find(const plx__method *method, const char *name)
{
    for (const plx__array_spec *s = method->arrays; s->name; s++)
        if (strcmp(s->name, name) == 0) return s;
    for (const plx__array_spec *s = method->arrays; s->name; s++) {
        size_t len = strlen(s->name);
        if (len > 4 && strcmp(s->name + len - 4, "VIEW") == 0 && plx__same_array_name(name, s->name, len - 4)) return s;
    }
    return NULL;
}

bool plx__array_by_sample(const plx__array_spec *spec, int dimension)
{
    if (!spec) return false;
    const char *cross = strstr(spec->shape, " x ");
    if (dimension == 0) return cross && strncmp(spec->shape, "n x ", 4) == 0;
    return cross && strcmp(cross + 3, "n") == 0; /* names of columns, as in "n x 2: a, b", are not samples */
}

/* ---- reading a model ---- */

const char *plx_model_method(const plx_model *model) { return model ? model->method->name : ""; }
plx_index plx_model_arrays(const plx_model *model) { return model ? model->store.count : 0; }
plx_index plx_model_iterations(const plx_model *model) { return model ? model->facts.iterations : 0; }
int plx_model_converged(const plx_model *model) { return model ? model->facts.converged : 0; }
double plx_model_objective(const plx_model *model) { return model ? model->facts.objective : NAN; }

const char *plx_model_param(const plx_model *model, const char *key)
{
    return model ? plx_params_get(model->settings, key) : NULL;
}

plx_index plx_model_warnings(const plx_model *model) { return model ? model->fitted.n_warnings : 0; }

const char *plx_model_warning(const plx_model *model, plx_index i)
{
    return model ? plx_prediction_warning(&model->fitted, i) : NULL;
}

const plx_prediction *plx_model_prediction(const plx_model *model)
{
    return model && (model->fitted.outcome.n || model->fitted.outcome.bound) ? &model->fitted : NULL;
}

const char *plx_model_array_name(const plx_model *model, plx_index i)
{
    if (!model || i < 0) return NULL;
    for (const plx__array *a = model->store.first; a; a = a->next)
        if (i-- == 0) return a->name;
    return NULL;
}

static plx_status array_dense(plx_cmat *out, const plx__store *store, const char *name)
{
    if (!out) return PLX_E_ARG;
    const plx__array *a = store && name ? plx__store_lookup(store, name) : NULL;
    *out = (plx_cmat){0};
    if (!a || a->sparse) return PLX_E_ARG;
    *out = plx__cmat(a->dense);
    return PLX_OK;
}

plx_status plx_model_array(plx_cmat *out, const plx_model *model, const char *name)
{
    return array_dense(out, model ? &model->store : NULL, name);
}

plx_status plx_model_array_sparse(plx_ccsr *out, const plx_model *model, const char *name)
{
    if (!out) return PLX_E_ARG;
    const plx__array *a = model && name ? plx__store_lookup(&model->store, name) : NULL;
    *out = (plx_ccsr){0};
    if (!a || !a->sparse) return PLX_E_ARG;
    *out = plx__ccsr(a->csr);
    return PLX_OK;
}

/* ---- reading a prediction ---- */

plx_index plx_prediction_samples(const plx_prediction *p) { return p ? p->outcome.n : 0; }
int plx_prediction_divided(const plx_prediction *p) { return p && p->outcome.bound; }
plx_index plx_prediction_first(const plx_prediction *p) { return p ? p->outcome.first : 0; }
plx_cmat plx_prediction_scores(const plx_prediction *p) { return p ? plx__cmat(p->outcome.scores) : (plx_cmat){0}; }

plx_index plx_prediction_warnings(const plx_prediction *p) { return p ? p->n_warnings : 0; }

const char *plx_prediction_warning(const plx_prediction *p, plx_index i)
{
    return p && i >= 0 && i < p->n_warnings ? p->warnings[i] : NULL;
}

const char *plx_prediction_label(const plx_prediction *p, plx_index sample)
{
    if (!p || sample < 0 || sample >= p->outcome.n) return NULL;
    return p->outcome.label[sample] ? p->outcome.label[sample] : "?";
}

const char *plx_prediction_column(const plx_prediction *p, plx_index column)
{
    return p && column >= 0 && column < p->outcome.scores.cols ? p->outcome.columns[column] : NULL;
}

plx_status plx_prediction_array(plx_cmat *out, const plx_prediction *p, const char *name)
{
    return array_dense(out, p ? &p->store : NULL, name);
}

plx_status plx_prediction_transform(plx_cmat *out, const plx_prediction *p)
{
    if (!out || !p) return PLX_E_ARG;
    *out = (plx_cmat){0};
    if (!p->method->transform) return PLX_E_UNSUPPORTED;
    return array_dense(out, &p->store, p->method->transform);
}
