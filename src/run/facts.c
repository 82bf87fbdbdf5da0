/*
 * The one place where methods meet the JSON library.
 */
#include "run/facts.h"

#include <jansson.h>

#include "core/json.h"

/* Takes the reference to `value` over, NULL meaning that memory ran out. */
static plx_status put(plx__run *run, json_t *object, const char *key, json_t *value)
{
    const char *clean = NULL;
    plx_status st = plx__utf8(&clean, plx__scratch(run->ctx), key);
    if (st != PLX_OK) {
        json_decref(value);
        return st;
    }
    if (json_object_set_new(object, clean, value) != 0)
        PLX_FAIL(run->ctx, PLX_E_NOMEM, "out of memory while writing JSON");
    return PLX_OK;
}

static plx_status report(plx__run *run, const char *key, json_t *value)
{
    if (!run->info->extra) run->info->extra = json_object();
    return put(run, run->info->extra, key, value);
}

plx_status plx__report_count(plx__run *run, const char *key, plx_index value)
{
    return report(run, key, json_integer((json_int_t)value));
}

plx_status plx__report_number(plx__run *run, const char *key, double value)
{
    return report(run, key, json_real(value));
}

plx_status plx__report_text(plx__run *run, const char *key, const char *text)
{
    const char *clean = NULL;
    PLX_TRY(plx__utf8(&clean, plx__scratch(run->ctx), text));
    return report(run, key, json_string(clean));
}

plx_status plx__report_texts(plx__run *run, const char *key, const char *const *texts, plx_index count)
{
    json_t *list = json_array();
    PLX_TRY(report(run, key, list)); /* the object owns it now; what follows adds to it */
    for (plx_index i = 0; i < count; i++) {
        const char *clean = NULL;
        PLX_TRY(plx__utf8(&clean, plx__scratch(run->ctx), texts[i]));
        if (json_array_append_new(list, json_string(clean)) != 0)
            PLX_FAIL(run->ctx, PLX_E_NOMEM, "out of memory while writing JSON");
    }
    return PLX_OK;
}

/* Takes the reference to `value` over. */
static plx_status report_of(plx__run *run, const char *key, const char *name, json_t *value)
{
    json_t *object = run->info->extra ? json_object_get(run->info->extra, key) : NULL;
    if (!object) {
        object = json_object();
        plx_status st = report(run, key, object);
        if (st != PLX_OK) {
            json_decref(value);
            return st;
        }
    }
    return put(run, object, name, value);
}

plx_status plx__report_count_of(plx__run *run, const char *key, const char *name, plx_index value)
{
    return report_of(run, key, name, json_integer((json_int_t)value));
}

plx_status plx__report_number_of(plx__run *run, const char *key, const char *name, double value)
{
    return report_of(run, key, name, json_real(value));
}
