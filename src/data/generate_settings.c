/*
 * Settings of the generators: tables of params/param.h, read once, looked up by name while a data set is made.
 */
#include <string.h>

#include "data/generate_impl.h"

static const plx__param_spec COMMON[] = {
    PLX__GEN_ROW("missing", REAL, "0", 0, 1, NULL, "Share of rows removed from every view, never a sample's last one."),
    PLX__GEN_ROW("ids", BOOL, "0", 0, 1, NULL, "1: samples get ids s0000, s0001, ..."),
    PLX__GEN_ROW("names", BOOL, "0", 0, 1, NULL, "1: columns get names."), PLX__PARAM_END};

void plx__gen_tables(plx__param_table tables[3], const plx__generator *g)
{
    tables[0] = g->params;
    tables[1] = COMMON;
    tables[2] = NULL;
}

static plx_status read_setting(plx_params *params, plx_context *ctx, const char *setting)
{
    const char *key = NULL, *equals = setting ? strchr(setting, '=') : NULL;
    if (!equals) PLX_FAIL(ctx, PLX_E_ARG, "setting '%s': expected key=value", setting ? setting : "");
    PLX_TRY(plx__arena_textn(&key, plx__scratch(ctx), setting, (size_t)(equals - setting)));
    return plx__params_set(params, ctx, key, equals + 1);
}

plx_status plx__gen_read_settings(plx__gen_settings *out, plx_context *ctx, const plx__generator *g,
                                  const char *const *settings, plx_index count)
{
    const char *title = NULL;
    out->name = g->name;
    plx__gen_tables(out->tables, g);
    PLX_TRY(plx__arena_printf(&title, plx__scratch(ctx), "generator %s", g->name));
    PLX_TRY(plx__params_create(&out->params, ctx, title, out->tables));
    for (plx_index s = 0; s < count; s++) PLX_TRY(read_setting(out->params, ctx, settings[s]));
    plx_index total = plx__param_count(out->tables);
    PLX_TRY(PLX__ARENA_NEW(&out->values, plx__scratch(ctx), total));
    for (plx_index k = 0; k < total; k++)
        PLX_TRY(plx__view_value(&out->values[k], ctx, out->params, plx__param_at(out->tables, k)->name, NULL));
    return PLX_OK;
}

static const plx__value *value_of(const plx__gen_settings *s, const char *name)
{
    const plx__param_spec *spec;
    for (plx_index k = 0; (spec = plx__param_at(s->tables, k)); k++)
        if (strcmp(spec->name, name) == 0) return &s->values[k];
    PLX_ASSERT(false); /* a setting that is not in the generator's table */
    return &s->values[0];
}

double plx__gen_real(const plx__gen_settings *s, const char *name) { return value_of(s, name)->number; }
plx_index plx__gen_int(const plx__gen_settings *s, const char *name) { return (plx_index)plx__gen_real(s, name); }
bool plx__gen_flag(const plx__gen_settings *s, const char *name) { return plx__gen_real(s, name) != 0; }
const char *plx__gen_text(const plx__gen_settings *s, const char *name) { return value_of(s, name)->text; }
plx_index plx__gen_count(const plx__gen_settings *s, const char *name) { return value_of(s, name)->n_list; }

bool plx__gen_is(const plx__gen_settings *s, const char *name, const char *text)
{
    return strcmp(plx__gen_text(s, name), text) == 0;
}

double plx__gen_at(const plx__gen_settings *s, const char *name, plx_index k)
{
    const plx__value *v = value_of(s, name);
    return v->n_list ? v->list[plx__min(k, v->n_list - 1)] : 0.0;
}
