/*
 * A table as views. The words of new texts are matched with a model's by name, so what a model learned from its own
 * texts (which words are frequent) is not asked of new ones.
 */
#include "io/table_views.h"

#include <string.h>

#include "data/dataset_impl.h"
#include "io/matrix_kind.h"

plx_status plx__view_name(const char **out, plx__arena *arena, const char *text, size_t len)
{
    char *name = NULL;
    PLX_TRY(plx__arena_textn((const char **)&name, arena, len ? text : "view", len ? len : 4));
    for (char *p = name; *p; p++)
        if (strchr(".,:|+/=", *p) || (unsigned char)*p <= ' ') *p = '_';
    if (plx__reserved_view_name(name)) name[0] = (char)(name[0] - 'a' + 'A');
    *out = name;
    return PLX_OK;
}

/* ---- text ---- */

plx_status plx__text_recipe_for(plx__text_options *out, const char **as_text, plx_context *ctx, plx__arena *arena,
                                const plx__read_request *request, const char *view, const char *options)
{
    *as_text = options ? options : request && request->o.text_options ? request->o.text_options : "";
    bool asked = options || (request && request->o.text_options);
    for (plx_index k = 0; !asked && request && k < request->n_fitted; k++) {
        if (strcmp(request->fitted[k].view, view) != 0) continue;
        *as_text = request->fitted[k].options;
        PLX_TRY(plx__text_options_parse(out, ctx, arena, *as_text));
        out->min_df = (plx__df_bound){1, false};
        out->max_df = (plx__df_bound){1, true};
        out->max_features = 0;
        return PLX_OK;
    }
    return plx__text_options_parse(out, ctx, arena, *as_text);
}

static plx_status count_column(plx__loose_view *v, plx_context *ctx, plx__arena *arena, const plx__table *t,
                               plx_index column, const char *options, const plx__read_request *request)
{
    plx__text_options o;
    size_t *lens = NULL;
    plx_index rows = plx__table_rows(t);
    PLX_TRY(plx__text_recipe_for(&o, &v->text, ctx, arena, request, v->name, options));
    PLX_TRY(PLX__ARENA_NEW(&lens, arena, rows));
    for (plx_index i = 0; i < rows; i++) lens[i] = t->texts[column][i] ? strlen(t->texts[column][i]) : 0;
    plx_status st = plx__text_counts(&v->table, ctx, arena, t->texts[column], lens, rows, &o);
    return st == PLX_E_DATA ? plx__fail_prefix(ctx, st, "%s: column '%s'", v->file, v->name) : st;
}

/* ---- views ---- */

static bool is_taken(const plx__loose_view *views, plx_index count, const char *name)
{
    for (plx_index v = 0; v < count; v++)
        if (strcmp(views[v].name, name) == 0) return true;
    return false;
}

static plx_status text_name(const char **out, plx__arena *arena, const plx__table *t, plx_index column,
                            const char *prefix)
{
    const char *own = t->text_names[column];
    if (!own) PLX_TRY(plx__arena_printf(&own, arena, t->n_texts > 1 ? "text%lld" : "text", (long long)column + 1));
    if (prefix) PLX_TRY(plx__arena_printf(&own, arena, "%s_%s", prefix, own));
    return plx__view_name(out, arena, own, strlen(own));
}

plx_status plx__table_views(plx__loose_view *views, plx_index *count, plx_context *ctx, plx__arena *arena,
                            const plx__table *table, const char *file, const char *name, bool named,
                            const char *options, const plx__read_request *request)
{
    bool numbers = plx__table_cols(table) > 0, alone = !numbers && table->n_texts == 1;
    plx_index first = *count;
    if (numbers || !table->n_texts)
        views[(*count)++] =
            (plx__loose_view){.name = name, .file = file, .table = *table, .kind = plx__guess_kind(table)};
    for (plx_index k = 0; k < table->n_texts; k++) {
        plx__loose_view *v = &views[(*count)++];
        *v = (plx__loose_view){.name = name, .file = file, .kind = PLX_VIEW_COUNTS};
        if (!named || !alone) PLX_TRY(text_name(&v->name, arena, table, k, named ? name : NULL));
        if (numbers && !named && strcmp(v->name, views[first].name) == 0) views[first].name = "numbers";
        if (is_taken(views + first, *count - 1 - first, v->name))
            PLX_TRY(plx__arena_printf(&v->name, arena, "%s_text", v->name));
        PLX_TRY(count_column(v, ctx, arena, table, k, options, request));
    }
    for (plx_index v = first; v < *count; v++) {
        views[v].ids = table->row_names;
        views[v].cost = 1.0;
    }
    return PLX_OK;
}
