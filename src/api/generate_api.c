/*
 * Public face of the generators: the list of them, their settings, and making a data set.
 */
#include <string.h>

#include "api/api_args.h"
#include "data/generate_impl.h"

/* ---- listing ---- */

plx_index plx_generator_count(void)
{
    plx_index count = 0;
    while (plx__generator_at(count)) count++;
    return count;
}

const char *plx_generator_name(plx_index generator)
{
    const plx__generator *g = plx__generator_at(generator);
    return g ? g->name : NULL;
}

const char *plx_generator_summary(plx_index generator)
{
    const plx__generator *g = plx__generator_at(generator);
    return g ? g->summary : NULL;
}

plx_index plx_generator_param_count(plx_index generator)
{
    const plx__generator *g = plx__generator_at(generator);
    plx__param_table tables[3];
    if (!g) return 0;
    plx__gen_tables(tables, g);
    return plx__param_count(tables);
}

static const char *type_name(plx_param_kind kind)
{
    switch (kind) {
    case PLX_PARAM_INT: return "int";
    case PLX_PARAM_REAL: return "real";
    case PLX_PARAM_BOOL: return "flag";
    case PLX_PARAM_REALS: return "list";
    case PLX_PARAM_CHOICE: return "choice";
    default: return "text";
    }
}

plx_status plx_generator_param_info(plx_generator_param *info, plx_index generator, plx_index param)
{
    const plx__generator *g = plx__generator_at(generator);
    plx__param_table tables[3];
    if (!g || !info || info->struct_size == 0 || info->struct_size > sizeof *info) return PLX_E_ARG;
    plx__gen_tables(tables, g);
    const plx__param_spec *p = plx__param_at(tables, param);
    if (!p) return PLX_E_ARG;
    plx_generator_param full = {info->struct_size, p->name, type_name(p->kind), p->def, p->lo, p->hi,
                                p->words,          p->help};
    memcpy(info, &full, info->struct_size);
    return PLX_OK;
}

/* ---- making ---- */

plx_status plx_generate(plx_dataset **out, plx_context *ctx, const char *kind, const char *const *settings,
                        plx_index n_settings)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, plx__generate(out, ctx, kind, settings, n_settings), PLX__ARG(out), PLX__ARG(kind),
              PLX__COUNT(n_settings), PLX__ARG_IF(settings, n_settings));
}
