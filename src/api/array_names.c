/*
 * The shape in a method's table says what the rows and columns of an array stand for: "n x K", "d x k", "V x 1",
 * "1 x 2: first, second".
 */
#include "api/array_names.h"

#include <string.h>

#include "api/api_args.h"
#include "io/matrix_file.h"
#include "core/ranks.h"

plx_status plx__feature_name(const char **out, plx_context *ctx, const plx__view_card *card, plx_index j)
{
    if (card->features && j < card->cols) {
        *out = card->features[j];
        return PLX_OK;
    }
    return plx__arena_printf(out, plx__scratch(ctx), "%lld", (long long)j);
}

/* The part of a shape before or behind " x ". */
static plx_status token_of(const char **out, plx_context *ctx, const plx_model *m, const char *array, int dimension)
{
    const plx__array_spec *spec = plx__array_spec_find(m->method, array);
    const char *cross = spec ? strstr(spec->shape, " x ") : NULL;
    *out = "";
    if (!cross) return PLX_OK;
    if (dimension == 0) return plx__arena_textn(out, plx__scratch(ctx), spec->shape, (size_t)(cross - spec->shape));
    return plx__arena_textn(out, plx__scratch(ctx), cross + 3, strcspn(cross + 3, ":"));
}

static bool is_one_of(const char *token, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(token, *list) == 0) return true;
    return false;
}

/* View at the end of an array's name, behind the last dot. */
static const plx__view_card *card_of(const plx_model *m, const char *array)
{
    const char *dot = strrchr(array, '.');
    for (plx_index v = 0; dot && v < m->n_views; v++)
        if (strcmp(m->views[v].name, dot + 1) == 0) return &m->views[v];
    return NULL;
}

typedef struct name_list {
    const char **name;
    plx_index count;
} name_list;

static plx_status name_samples(name_list *n, plx_context *ctx, const plx_dataset *data)
{
    for (plx_index i = 0; i < n->count; i++) {
        if (data && data->ids && data->n == n->count) n->name[i] = data->ids[i];
        else PLX_TRY(plx__arena_printf(&n->name[i], plx__scratch(ctx), "%lld", (long long)i));
    }
    return PLX_OK;
}

/* Twice as many as the view has: the second half stands for "low" (infobottleneck). */
static plx_status name_features(name_list *n, plx_context *ctx, const plx__view_card *card)
{
    for (plx_index j = 0; j < n->count; j++) {
        const char *own = NULL;
        PLX_TRY(plx__feature_name(&own, ctx, card, j % card->cols));
        n->name[j] = own;
        if (j >= card->cols) PLX_TRY(plx__arena_printf(&n->name[j], plx__scratch(ctx), "1-%s", own));
    }
    return PLX_OK;
}

static plx_status name_numbers(name_list *n, plx_context *ctx)
{
    for (plx_index i = 0; i < n->count; i++)
        PLX_TRY(plx__arena_printf(&n->name[i], plx__scratch(ctx), "%lld", (long long)i));
    return PLX_OK;
}

/* Classes, or what the scores of the fit are about. */
static const char *const *groups_of(const plx_model *m, plx_index count)
{
    if (m->fitted.outcome.scores.cols == count && m->fitted.outcome.columns) return m->fitted.outcome.columns;
    return m->n_classes == count ? m->classes : NULL;
}

/* Names of columns behind the colon of a shape; *found says whether there are as many as columns. */
static plx_status name_by_shape(bool *found, name_list *n, plx_context *ctx, const plx_model *m, const char *array)
{
    const plx__array_spec *spec = plx__array_spec_find(m->method, array);
    const char *at = spec ? strchr(spec->shape, ':') : NULL;
    plx_index count = 0;
    *found = false;
    while (at && *at && count < n->count) {
        at += strspn(at, ":, ");
        size_t length = strcspn(at, ",");
        PLX_TRY(plx__arena_textn(&n->name[count++], plx__scratch(ctx), at, length));
        at += length;
    }
    *found = at && !*at && count == n->count;
    return PLX_OK;
}

/* ---- features of several views side by side ---- */

plx_index plx__first_column(const plx_model *m, const char *parameter, plx_index view)
{
    const char *text = plx_model_param(m, parameter), *at = text;
    plx_index first = 0;
    if (!text || strcmp(text, "all") == 0) {
        for (plx_index v = 0; v < view; v++) first += m->views[v].cols;
        return first;
    }
    while (*at) {
        size_t length = strcspn(at, "+");
        for (plx_index v = 0; v < m->n_views; v++) {
            if (strlen(m->views[v].name) != length || strncmp(m->views[v].name, at, length) != 0) continue;
            if (v == view) return first;
            first += m->views[v].cols;
        }
        at += length + (at[length] == '+');
    }
    return -1;
}

const char *plx__function_name(const plx_model *m, plx_index f, plx_index functions)
{
    return functions == 1 && m->n_classes == 2 ? m->classes[1] : f < m->n_classes ? m->classes[f] : "";
}

/* Column j of the views a parameter names; with more than one view behind the name of its view. *out stays where there
 * is no such column. */
static plx_status side_name(const char **out, plx_context *ctx, const plx_model *m, const char *parameter, double j)
{
    for (plx_index v = 0; v < m->n_views; v++) {
        plx_index first = plx__first_column(m, parameter, v);
        const char *own = NULL;
        if (first < 0 || !(j >= (double)first && j < (double)(first + m->views[v].cols))) continue;
        PLX_TRY(plx__feature_name(&own, ctx, &m->views[v], (plx_index)j - first));
        *out = own;
        if (m->n_views > 1) PLX_TRY(plx__arena_printf(out, plx__scratch(ctx), "%s.%s", m->views[v].name, own));
    }
    return PLX_OK;
}

/* What the entries of an array over features side by side are about: the columns listed in another array, or all
 * (chosen NULL) of the views that a parameter names; parameter NULL: it is no such array. */
typedef struct side_list {
    const char *parameter;
    const plx__array *chosen;
} side_list;

static side_list side_of(const plx_model *m, const char *array, int dimension)
{
    const plx__profiles *p = &m->method->profiles;
    const plx__array_spec *spec = plx__array_spec_find(m->method, array);
    const char *cross = spec ? strstr(spec->shape, " x ") : NULL;
    if (!p->columns || !cross) return (side_list){0};
    bool weights = dimension == 1 && strcmp(cross, " x (features + 1)") == 0;
    if (weights && strcmp(array, p->array) == 0) return (side_list){p->views, plx__store_lookup(&m->store, p->columns)};
    if (weights && strcmp(array, "weights_pattern") == 0)
        return (side_list){p->pattern_views, plx__store_lookup(&m->store, p->pattern)};
    if (weights && strcmp(array, "weights_local") == 0) return (side_list){"local_view", NULL};
    if (dimension == 1) return (side_list){0};
    if (strcmp(array, p->columns) == 0) return (side_list){p->views, plx__store_lookup(&m->store, array)};
    if (p->pattern && strcmp(array, p->pattern) == 0)
        return (side_list){p->pattern_views, plx__store_lookup(&m->store, array)};
    return strcmp(spec->shape, "d x 1") == 0 ? (side_list){p->pattern_views, NULL} : (side_list){0};
}

/* Names where the array is over features side by side, the bias of weights last; *found says whether it is. */
static plx_status name_side_by_side(bool *found, name_list *n, plx_context *ctx, const plx_model *m, const char *array,
                                    int dimension)
{
    side_list side = side_of(m, array, dimension);
    plx_index listed = n->count - (dimension == 1);
    *found = side.parameter != NULL && (!side.chosen || side.chosen->dense.rows == listed);
    for (plx_index k = 0; *found && k < listed; k++) {
        double j = side.chosen ? side.chosen->dense.data[k * side.chosen->dense.ld] : (double)k;
        PLX_TRY(plx__arena_printf(&n->name[k], plx__scratch(ctx), "%lld", (long long)k));
        PLX_TRY(side_name(&n->name[k], ctx, m, side.parameter, j));
    }
    if (*found && dimension == 1) n->name[listed] = "bias";
    return PLX_OK;
}

plx_status plx__array_names(const char *const **out, plx_context *ctx, const plx_model *m, const plx_dataset *data,
                            const char *array, int dimension, plx_index count)
{
    static const char *const groups[] = {"K", "k", "c", "C", "Z", "m", "Q", NULL}, *const views[] = {"V", "m", NULL};
    const plx__view_card *card = card_of(m, array);
    const char *token = NULL, *const *texts = groups_of(m, count);
    name_list n = {.count = count};
    PLX_TRY(PLX__ARENA_NEW(&n.name, plx__scratch(ctx), count));
    PLX_TRY(token_of(&token, ctx, m, array, dimension));
    *out = n.name;
    bool found = false;
    if (dimension == 1) PLX_TRY(name_by_shape(&found, &n, ctx, m, array));
    if (!found) PLX_TRY(name_side_by_side(&found, &n, ctx, m, array, dimension));
    if (found) return PLX_OK;
    if (strcmp(token, "functions") == 0) {
        for (plx_index f = 0; f < count; f++) n.name[f] = plx__function_name(m, f, count);
        return PLX_OK;
    }
    if (strcmp(token, "n") == 0) return name_samples(&n, ctx, data);
    if (strcmp(token, "d") == 0 && card && (count == card->cols || count == 2 * card->cols))
        return name_features(&n, ctx, card);
    bool by_view = strcmp(token, "V") == 0 || strncmp(array, "view_", 5) == 0;
    if (by_view && is_one_of(token, views) && count == m->n_views) {
        for (plx_index v = 0; v < count; v++) n.name[v] = m->views[v].name;
        return PLX_OK;
    }
    if (is_one_of(token, groups) && texts) {
        *out = texts;
        return PLX_OK;
    }
    if (dimension == 1 && count == 1) {
        n.name[0] = array;
        return PLX_OK;
    }
    return name_numbers(&n, ctx);
}

bool plx__has_names(const plx_model *m, const plx_dataset *data)
{
    if (data && data->ids) return true;
    for (plx_index v = 0; v < m->n_views; v++)
        if (m->views[v].features && m->views[v].kind != PLX_VIEW_KERNEL) return true;
    return false;
}

/* ---- reading ---- */

static plx_status copy_names(const char *const **out, plx__arena *arena, const char *const *from, plx_index count)
{
    const char **copy = NULL;
    PLX_TRY(PLX__ARENA_NEW(&copy, arena, count));
    for (plx_index i = 0; i < count; i++) PLX_TRY(plx__arena_text(&copy[i], arena, from[i]));
    *out = copy;
    return PLX_OK;
}

static plx_status model_array_names(const char *const **names, plx_index *count, plx_context *ctx, plx_model *m,
                                    const plx_dataset *data, const char *array, int dimension)
{
    const plx__array *a = plx__store_lookup(&m->store, array);
    const char *const *found = NULL;
    if (!a) PLX_FAIL(ctx, PLX_E_ARG, "this %s model has no array '%s'", m->method->name, array);
    if (dimension != 0 && dimension != 1)
        PLX_FAIL(ctx, PLX_E_ARG, "dimension = %d: must be 0 (rows) or 1 (columns)", dimension);
    plx_index rows = a->sparse ? a->csr.rows : a->dense.rows, cols = a->sparse ? a->csr.cols : a->dense.cols;
    plx_index n = dimension == 0 ? rows : cols;
    PLX_TRY(plx__array_names(&found, ctx, m, data, array, dimension, n));
    plx__arena_free(&m->json_arena);
    PLX_TRY(copy_names(names, &m->json_arena, found, n));
    *count = n;
    return PLX_OK;
}

plx_status plx_model_array_names(const char *const **names, plx_index *count, plx_context *ctx, plx_model *model,
                                 const plx_dataset *data, const char *array, int dimension)
{
    if (names) *names = NULL;
    if (count) *count = 0;
    PLX__CALL(ctx, model_array_names(names, count, ctx, model, data, array, dimension), PLX__ARG(names),
              PLX__ARG(count), PLX__ARG(model), PLX__ARG(array));
}

/* ---- writing ---- */

static plx_status array_write(plx_context *ctx, const plx_model *m, const plx_dataset *data, const char *array,
                              const char *path)
{
    const plx__array *a = plx__store_lookup(&m->store, array);
    plx__table table = {0};
    if (!a) PLX_FAIL(ctx, PLX_E_ARG, "this %s model has no array '%s'", m->method->name, array);
    table.sparse = a->sparse;
    table.dense = a->dense;
    table.csr = a->csr;
    plx_index rows = plx__table_rows(&table), first = 0;
    if (m->fitted.outcome.bound && plx__array_by_sample(plx__array_spec_find(m->method, a->name), 0)) {
        rows = table.rows_in_all = plx__outcome_samples(ctx, &m->fitted.outcome);
        first = m->fitted.outcome.first;
    } else if (m->fitted.outcome.bound && plx__rank(ctx) > 0) return PLX_OK; /* the same on all ranks */
    if (plx__has_names(m, data)) {
        PLX_TRY(plx__array_names(&table.row_names, ctx, m, data, array, 0, rows));
        PLX_TRY(plx__array_names(&table.col_names, ctx, m, data, array, 1, plx__table_cols(&table)));
        table.row_names += first;
    }
    return plx__matrix_file_write(ctx, path, &table);
}

plx_status plx_model_array_write(plx_context *ctx, const plx_model *model, const plx_dataset *data, const char *array,
                                 const char *path)
{
    PLX__CALL(ctx, array_write(ctx, model, data, array, path), PLX__ARG(model), PLX__ARG(array), PLX__ARG(path));
}
