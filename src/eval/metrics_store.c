/*
 * The list of metrics: names in order of arrival, a map for look-up, warnings, JSON.
 */
#include "eval/metrics_store.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/json.h"

/* ---- life ---- */

plx_status plx__metrics_new(plx_metrics **out, plx_context *ctx)
{
    *out = NULL;
    plx_metrics *m = plx__alloc(ctx, sizeof *m);
    if (!m) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory for a list of metrics");
    *m = (plx_metrics){.ctx = ctx};
    plx__arena_init(&m->arena, ctx);
    plx_status st = plx__map_init(&m->index, &m->arena, 64);
    if (st != PLX_OK) {
        plx__metrics_destroy(m);
        return st;
    }
    *out = m;
    return PLX_OK;
}

void plx__metrics_destroy(plx_metrics *metrics)
{
    if (!metrics) return;
    plx_context *ctx = metrics->ctx;
    plx__arena_free(&metrics->arena);
    plx__release(ctx, metrics, sizeof *metrics);
}

/* ---- adding ---- */

/* Room for one more in an array of `size`-byte items; the old copy stays in the arena. */
static plx_status make_room(void **items, plx__arena *arena, plx_index count, plx_index *capacity, size_t size)
{
    if (count < *capacity) return PLX_OK;
    plx_index wanted = *capacity ? 2 * *capacity : 16;
    void *bigger = NULL;
    PLX_TRY(plx__arena_bytes(&bigger, arena, wanted, size));
    if (count) memcpy(bigger, *items, (size_t)count * size);
    *items = bigger;
    *capacity = wanted;
    return PLX_OK;
}

static plx_status format_name(const char **out, plx_metrics *m, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    char *text = NULL;
    plx_status st = len < 0 ? plx__fail(m->ctx, PLX_E_INTERNAL, "bad format '%s'", fmt) : PLX_OK;
    if (st == PLX_OK) st = plx__arena_bytes((void **)&text, &m->arena, (plx_index)len + 1, 1);
    if (st == PLX_OK) vsnprintf(text, (size_t)len + 1, fmt, again);
    va_end(again);
    *out = st == PLX_OK ? text : NULL;
    return st;
}

static plx_status put(plx_metrics *m, const char *name, double value)
{
    plx_index at = plx__map_get(&m->index, name);
    if (at >= 0) {
        m->items[at].value = value;
        return PLX_OK;
    }
    PLX_TRY(make_room((void **)&m->items, &m->arena, m->count, &m->capacity, sizeof *m->items));
    PLX_TRY(plx__map_add(&m->index, name, m->count, &at));
    m->items[m->count++] = (plx__metric_item){name, value};
    return PLX_OK;
}

static plx_status put_warning(plx_metrics *m, const char *metric, const char *text)
{
    PLX_TRY(make_room((void **)&m->warnings, &m->arena, m->n_warnings, &m->warnings_capacity, sizeof *m->warnings));
    m->warnings[m->n_warnings++] = (plx__metric_warning){metric, text};
    return PLX_OK;
}

plx_status plx__metrics_add(plx_metrics *metrics, double value, const char *fmt, ...)
{
    const char *name = NULL;
    va_list args;
    va_start(args, fmt);
    plx_status st = format_name(&name, metrics, fmt, args);
    va_end(args);
    PLX_TRY(st);
    if (isnan(value)) PLX_FAIL(metrics->ctx, PLX_E_INTERNAL, "metric %s came out as NaN", name);
    return put(metrics, name, value);
}

plx_status plx__metrics_undefined(plx_metrics *metrics, const char *reason, const char *fmt, ...)
{
    const char *name = NULL, *text = NULL;
    va_list args;
    va_start(args, fmt);
    plx_status st = format_name(&name, metrics, fmt, args);
    va_end(args);
    PLX_TRY(st);
    PLX_TRY(plx__arena_printf(&text, &metrics->arena, "%s is undefined: %s", name, reason));
    PLX_TRY(put(metrics, name, NAN));
    return put_warning(metrics, name, text);
}

plx_status plx__metrics_warn(plx_metrics *metrics, const char *fmt, ...)
{
    const char *text = NULL;
    va_list args;
    va_start(args, fmt);
    plx_status st = format_name(&text, metrics, fmt, args);
    va_end(args);
    PLX_TRY(st);
    return put_warning(metrics, NULL, text);
}

void plx__metrics_log_warnings(plx_metrics *metrics, plx_index from)
{
    for (plx_index i = from; i < metrics->n_warnings; i++) plx__warn(metrics->ctx, "%s", metrics->warnings[i].text);
}

plx_status plx__names_differ(plx_context *ctx, const char *const *names, plx_index count, const char *what)
{
    plx__map seen;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    PLX_TRY(plx__map_init(&seen, plx__scratch(ctx), count));
    for (plx_index i = 0; i < count; i++) {
        plx_index before = -1;
        if (!names[i]) PLX_FAIL(ctx, PLX_E_ARG, "the name of %s %lld is NULL", what, (long long)i);
        PLX_TRY(plx__map_add(&seen, names[i], i, &before));
        if (before >= 0)
            PLX_FAIL(ctx, PLX_E_DATA, "%s '%s' comes twice (columns %lld and %lld); names must differ", what, names[i],
                     (long long)before + 1, (long long)i + 1);
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- JSON ---- */

static plx_status fill_object(json_t *object, plx_metrics *m)
{
    for (plx_index i = 0; i < m->count; i++) {
        const char *name = NULL;
        plx__mark mark = plx__arena_mark(plx__scratch(m->ctx));
        PLX_TRY(plx__utf8(&name, plx__scratch(m->ctx), m->items[i].name));
        int bad = json_object_set_new(object, name, plx__json_real(m->items[i].value));
        plx__arena_rewind(plx__scratch(m->ctx), mark);
        if (bad) PLX_FAIL(m->ctx, PLX_E_NOMEM, "out of memory while writing metrics as JSON");
    }
    return PLX_OK;
}

plx_status plx__metrics_json(const char **text, plx_metrics *metrics)
{
    json_t *object = json_object();
    plx_status st = object ? fill_object(object, metrics)
                           : plx__fail(metrics->ctx, PLX_E_NOMEM, "out of memory while writing metrics as JSON");
    if (st == PLX_OK) st = plx__json_print(text, &metrics->arena, object);
    json_decref(object);
    return st;
}
