/*
 * Public face of descriptors and parameters.
 */
#include <string.h>

#include "api/api_args.h"
#include "api/describe.h"
#include "api/portfolio_impl.h"
#include "methods/registry.h"

plx_index plx_method_count(void) { return plx__method_count(); }

const char *plx_method_name(plx_index i)
{
    const plx__method *m = plx__method_at(i);
    return m ? m->name : NULL;
}

const char *plx_method_nearest(const char *name)
{
    if (!name) return NULL;
    const char *names[256];
    plx_index count = plx__min(plx__method_count(), 256);
    for (plx_index i = 0; i < count; i++) names[i] = plx__method_at(i)->name;
    return plx__nearest(name, names, count);
}

static plx_index array_count(const plx__method *m)
{
    plx_index count = 0;
    while (m->arrays[count].name) count++;
    return count;
}

/* Copies as much of a struct as the caller's version of it has. */
static plx_status hand_out(void *to, size_t wanted, const void *from, size_t size)
{
    if (wanted == 0 || wanted > size) return PLX_E_ARG;
    memcpy(to, from, wanted);
    memcpy(to, &wanted, sizeof wanted);
    return PLX_OK;
}

/* By the bits of plx__method.ranks. */
static const char *ranks_text(const plx__method *m)
{
    static const char *const words[] = {"-",       "sums",           "systems",           "sums + systems",
                                        "spectra", "sums + spectra", "systems + spectra", "sums + systems + spectra"};
    return words[m->ranks];
}

plx_status plx_method_describe(plx_method_info *info, const char *method)
{
    const plx__method *m = method ? plx__any_method(method) : NULL;
    if (!m || !info) return PLX_E_ARG;
    plx_method_info full = {sizeof full,    m->name,         m->title,     m->summary,   m->citation,
                            m->task,        m->capabilities, m->min_views, m->max_views, plx__param_count(m->params),
                            array_count(m), m->transform,    m->scores,    m->growth,    ranks_text(m)};
    return hand_out(info, info->struct_size, &full, sizeof full);
}

/* Ranges are made from the table on demand: a few per thread stay valid. */
static const char *range_text(const plx__param_spec *spec)
{
    enum { SLOTS = 64, BYTES = 192 };
    static _Thread_local char slots[SLOTS][BYTES];
    static _Thread_local unsigned next;
    return plx__param_range(slots[next++ % SLOTS], BYTES, spec);
}

plx_status plx__describe_param(plx_param_info *info, const plx__method *m, plx_index i)
{
    const plx__param_spec *s = m ? plx__param_at(m->params, i) : NULL;
    if (!s || !info) return PLX_E_ARG;
    plx_param_info full = {sizeof full, s->name,       s->kind, (s->flags & PLX__PER_VIEW) != 0,
                           s->def,      range_text(s), s->help};
    return hand_out(info, info->struct_size, &full, sizeof full);
}

plx_status plx_method_param(plx_param_info *info, const char *method, plx_index i)
{
    return plx__describe_param(info, method ? plx__any_method(method) : NULL, i);
}

plx_status plx__describe_array(plx_array_info *info, const plx__method *m, plx_index i)
{
    if (!m || !info || i < 0 || i >= array_count(m)) return PLX_E_ARG;
    const plx__array_spec *a = &m->arrays[i];
    plx_array_info full = {sizeof full, a->name, a->shape, (a->flags & PLX__ON_REQUEST) != 0, a->help};
    return hand_out(info, info->struct_size, &full, sizeof full);
}

plx_status plx_method_array(plx_array_info *info, const char *method, plx_index i)
{
    return plx__describe_array(info, method ? plx__any_method(method) : NULL, i);
}

/* ---- parameters ---- */

static plx_status params_create(plx_params **out, plx_context *ctx, const char *method)
{
    const plx__method *m = NULL;
    PLX_TRY(plx__any_method_require(&m, ctx, method));
    return plx__params_create(out, ctx, m->name, m->params);
}

plx_status plx_params_create(plx_params **out, plx_context *ctx, const char *method)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, params_create(out, ctx, method), PLX__ARG(out), PLX__ARG(method));
}

void plx_params_destroy(plx_params *params) { plx__params_destroy(params); }

plx_status plx_params_set(plx_params *params, plx_context *ctx, const char *key, const char *value)
{
    PLX__CALL(ctx, plx__params_set(params, ctx, key, value), PLX__ARG(params), PLX__ARG(key), PLX__ARG(value));
}

static plx_status set_real(plx_params *params, plx_context *ctx, const char *key, double value)
{
    plx__textbuf text;
    const char *number = NULL;
    plx__textbuf_init(&text, plx__scratch(ctx));
    plx__textbuf_double(&text, value);
    PLX_TRY(plx__textbuf_done(&number, &text));
    return plx__params_set(params, ctx, key, number);
}

plx_status plx_params_set_real(plx_params *params, plx_context *ctx, const char *key, double value)
{
    PLX__CALL(ctx, set_real(params, ctx, key, value), PLX__ARG(params), PLX__ARG(key));
}

plx_status plx_params_set_int(plx_params *params, plx_context *ctx, const char *key, int64_t value)
{
    return plx_params_set_real(params, ctx, key, (double)value);
}

const char *plx_params_get(const plx_params *p, const char *key)
{
    const char *view = NULL;
    if (!p || !key) return NULL;
    const plx__param_spec *spec = plx__param_locate(p->tables, key, &view);
    for (const plx__setting *s = p->first; s; s = s->next)
        if (s->spec == spec && (view ? s->view && strcmp(s->view, view) == 0 : !s->view)) return s->value.text;
    return spec && !view ? spec->def : NULL;
}
