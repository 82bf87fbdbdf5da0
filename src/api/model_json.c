/*
 * The result of a fit as JSON: everything needed to repeat it, and how good it is.
 */
#include <math.h>
#include <string.h>

#include "api/api_args.h"
#include "api/portfolio_impl.h"
#include "core/json.h"
#include "eval/metrics_store.h"
#include "parallax/version.h"

static plx_status put(plx_context *ctx, json_t *object, const char *key, json_t *value)
{
    const char *safe = NULL;
    plx_status st = plx__utf8(&safe, plx__scratch(ctx), key);
    if (st != PLX_OK) {
        json_decref(value);
        return st;
    }
    if (json_object_set_new(object, safe, value) == 0) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory while writing JSON");
}

/* A value as JSON: numbers as numbers, the rest as text. */
static json_t *value_json(const plx__param_spec *spec, const plx__value *v)
{
    bool whole = spec->kind == PLX_PARAM_INT || spec->kind == PLX_PARAM_INT_OR_WORD;
    if (v->word >= 0 || !v->text[0] || isnan(v->number)) return json_string(v->text);
    if (spec->kind == PLX_PARAM_BOOL) return json_boolean(v->number != 0);
    return whole ? json_integer((json_int_t)v->number) : plx__json_real(v->number);
}

static plx_status put_parameters(plx_context *ctx, json_t *root, const plx_model *m)
{
    json_t *object = json_object();
    PLX_TRY(put(ctx, root, "parameters", object));
    plx_index count = plx__param_count(m->method->params);
    for (plx_index i = 0; i < count; i++) {
        const plx__param_spec *spec = plx__param_at(m->method->params, i);
        plx__value v;
        PLX_TRY(plx__view_value(&v, ctx, m->settings, spec->name, NULL));
        PLX_TRY(put(ctx, object, spec->name, value_json(spec, &v)));
    }
    for (const plx__setting *s = m->settings->first; s; s = s->next) {
        const char *key = NULL;
        if (!s->view) continue;
        PLX_TRY(plx__view_key(&key, ctx, s->spec->name, s->view));
        PLX_TRY(put(ctx, object, key, value_json(s->spec, &s->value)));
    }
    return PLX_OK;
}

static plx_status put_run(plx_context *ctx, json_t *root, const plx_model *m)
{
    const plx__facts *f = &m->facts;
    PLX_TRY(put(ctx, root, "seed", json_integer((json_int_t)m->seed)));
    PLX_TRY(put(ctx, root, "samples", json_integer((json_int_t)(m->rows ? m->rows : m->n_fitted))));
    PLX_TRY(put(ctx, root, "fitted_samples", json_integer((json_int_t)m->n_fitted)));
    PLX_TRY(put(ctx, root, "seconds", plx__json_real(m->seconds)));
    if (m->processor_seconds > 0) PLX_TRY(put(ctx, root, "processor_seconds", plx__json_real(m->processor_seconds)));
    PLX_TRY(put(ctx, root, "iterations", json_integer((json_int_t)f->iterations)));
    PLX_TRY(put(ctx, root, "converged", f->converged < 0 ? json_true() : json_boolean(f->converged)));
    PLX_TRY(put(ctx, root, "objective", plx__json_real(f->objective)));
    if (m->method->scores) PLX_TRY(put(ctx, root, "scores_are", json_string(m->method->scores)));
    json_t *trace = json_array();
    PLX_TRY(put(ctx, root, "objective_trace", trace));
    for (plx_index i = 0; i < f->n_trace; i++) json_array_append_new(trace, plx__json_real(f->trace[i]));
    return PLX_OK;
}

static plx_status append_text(plx_context *ctx, json_t *list, const char *text)
{
    const char *safe = NULL;
    PLX_TRY(plx__utf8(&safe, plx__scratch(ctx), text));
    if (json_array_append_new(list, json_string(safe)) == 0) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory while writing JSON");
}

static plx_status put_list(plx_context *ctx, json_t *root, const char *key, const char *const *texts, plx_index count)
{
    json_t *list = json_array();
    PLX_TRY(put(ctx, root, key, list));
    for (plx_index i = 0; i < count; i++) PLX_TRY(append_text(ctx, list, texts[i]));
    return PLX_OK;
}

static plx_status put_lists(plx_context *ctx, json_t *root, const plx_model *m)
{
    const char **views = NULL;
    PLX_TRY(PLX__ARENA_NEW(&views, plx__scratch(ctx), m->n_views));
    for (plx_index v = 0; v < m->n_views; v++) views[v] = m->views[v].name;
    PLX_TRY(put_list(ctx, root, "classes", m->classes, m->n_classes));
    PLX_TRY(put_list(ctx, root, "views", views, m->n_views));
    return put_list(ctx, root, "warnings", m->fitted.warnings, m->fitted.n_warnings);
}

/* ---- members ---- */

static plx_status put_member(plx_context *ctx, json_t *list, const plx__member *m)
{
    const char *why = NULL;
    json_t *object = json_object();
    if (json_array_append_new(list, object) != 0) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory while writing JSON");
    if (m->reason) PLX_TRY(plx__utf8(&why, plx__scratch(ctx), m->reason));
    PLX_TRY(put(ctx, object, "method", json_string(m->method->name)));
    PLX_TRY(put(ctx, object, "agreement", plx__json_real(m->agreement)));
    return put(ctx, object, "left_out", why ? json_string(why) : json_null());
}

static plx_status put_members(plx_context *ctx, json_t *root, const plx__portfolio *p)
{
    json_t *list = json_array();
    PLX_TRY(put(ctx, root, "reason", json_string(p->reason)));
    PLX_TRY(put(ctx, root, "members", list));
    for (plx_index i = 0; i < p->n_members; i++) PLX_TRY(put_member(ctx, list, &p->member[i]));
    return PLX_OK;
}

/* ---- metrics ---- */

static plx_status put_metrics(plx_context *ctx, json_t *root, const plx_model *m, const plx_dataset *data)
{
    if (!data || !plx_model_prediction(m) || (!data->truth && !m->method->metrics)) return PLX_OK;
    plx_metrics *metrics = NULL;
    json_t *object = json_object();
    PLX_TRY(put(ctx, root, "metrics", object));
    PLX_TRY(plx__metrics_new(&metrics, ctx));
    plx_status st = plx__measure(metrics, ctx, &m->fitted, m, data);
    for (plx_index i = 0; st == PLX_OK && i < plx_metrics_count(metrics); i++)
        st = put(ctx, object, plx_metrics_name(metrics, i), plx__json_real(plx_metrics_value(metrics, i, NULL)));
    plx_metrics_destroy(metrics);
    return st;
}

static plx_status build(json_t *root, plx_context *ctx, const plx_model *m, const plx_dataset *data)
{
    PLX_TRY(put(ctx, root, "method", json_string(m->method->name)));
    PLX_TRY(put(ctx, root, "version", json_string(PLX_VERSION_STRING)));
    PLX_TRY(put_parameters(ctx, root, m));
    PLX_TRY(put_run(ctx, root, m));
    PLX_TRY(put_lists(ctx, root, m));
    if (m->portfolio) PLX_TRY(put_members(ctx, root, m->portfolio));
    PLX_TRY(put_metrics(ctx, root, m, data));
    if (m->facts.extra && json_object_update(root, m->facts.extra) != 0)
        PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory while writing JSON");
    return PLX_OK;
}

static plx_status model_json(const char **text, plx_context *ctx, plx_model *m, const plx_dataset *data)
{
    json_t *root = json_object();
    plx_status st = root ? build(root, ctx, m, data) : plx__fail(ctx, PLX_E_NOMEM, "out of memory while writing JSON");
    if (st == PLX_OK) {
        plx__arena_free(&m->json_arena);
        st = plx__json_print(text, &m->json_arena, root);
    }
    json_decref(root);
    return st;
}

plx_status plx_model_json(const char **text, plx_context *ctx, plx_model *model, const plx_dataset *data)
{
    if (text) *text = NULL;
    PLX__CALL(ctx, model_json(text, ctx, model, data), PLX__ARG(text), PLX__ARG(model));
}
