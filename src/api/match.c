/*
 * New data in a model's terms. Views and columns are found by name: a file whose columns come in another order,
 * with some more or some fewer, gives the same prediction or a clear refusal, never a silent mix-up.
 */
#include <stdio.h>
#include <string.h>

#include "api/model_impl.h"

/* Where each column of the new view goes in the model's view; -1: the model does not know it. */
typedef struct column_map {
    int32_t *target;
    plx_index matched, unknown, missing;
    bool identity;
    const char *first_missing, *first_unknown;
} column_map;

static plx_status column_name(const char **out, plx_context *ctx, const char *const *names, plx_index j)
{
    if (names) {
        *out = names[j];
        return PLX_OK;
    }
    return plx__arena_printf(out, plx__scratch(ctx), "%lld", (long long)j);
}

static bool same_names(const plx__view_card *card, const plx__view *v)
{
    if (card->cols != v->cols || !card->features != !v->features) return false;
    for (plx_index j = 0; card->features && j < v->cols; j++)
        if (strcmp(card->features[j], v->features[j]) != 0) return false;
    return true;
}

static plx_status map_columns(column_map *map, plx_context *ctx, const plx__view_card *card, const plx__view *v)
{
    *map = (column_map){.identity = same_names(card, v)};
    if (map->identity) return PLX_OK;
    plx__map known;
    plx_index existing = -1;
    uint8_t *found = NULL;
    const char *name = NULL;
    PLX_TRY(plx__map_init(&known, plx__scratch(ctx), card->cols));
    PLX_TRY(plx__arena_u8(&found, plx__scratch(ctx), card->cols));
    PLX_TRY(plx__arena_i32(&map->target, plx__scratch(ctx), v->cols));
    for (plx_index j = 0; j < card->cols; j++) {
        PLX_TRY(column_name(&name, ctx, card->features, j));
        PLX_TRY(plx__map_add(&known, name, j, &existing));
    }
    for (plx_index j = 0; j < v->cols; j++) {
        PLX_TRY(column_name(&name, ctx, v->features, j));
        map->target[j] = (int32_t)plx__map_get(&known, name);
        if (map->target[j] >= 0) {
            found[map->target[j]] = 1;
            map->matched++;
        } else if (!map->unknown++) map->first_unknown = name;
    }
    for (plx_index j = 0; j < card->cols; j++)
        if (!found[j] && !map->missing++) PLX_TRY(column_name(&map->first_missing, ctx, card->features, j));
    return PLX_OK;
}

/* Missing columns read as zero where zero means "did not occur"; elsewhere they are an error. */
static plx_status judge(plx_context *ctx, const column_map *map, const plx__view_card *card, const plx__view *v)
{
    if (map->identity) return PLX_OK;
    if (!map->matched)
        PLX_FAIL(ctx, PLX_E_DATA,
                 "view '%s': none of its %lld features is among the %lld the model was fitted with (e.g. '%s'); %s",
                 v->name, (long long)v->cols, (long long)card->cols, map->first_missing,
                 !v->features != !card->features ? "give the features the same names"
                                                 : "check that it is the same view");
    bool zero_is_absence = card->kind == PLX_VIEW_COUNTS || card->kind == PLX_VIEW_BINARY;
    if (map->missing && !zero_is_absence)
        PLX_FAIL(ctx, PLX_E_DATA, "view '%s' lacks %lld of the %lld features the model was fitted with, e.g. '%s'",
                 v->name, (long long)map->missing, (long long)card->cols, map->first_missing);
    if (map->missing)
        plx__info(ctx, "view '%s': %lld features of the model do not occur and count as zero", v->name,
                  (long long)map->missing);
    if (map->unknown)
        plx__warn(ctx, "view '%s': %lld features are unknown to the model and ignored, e.g. '%s'", v->name,
                  (long long)map->unknown, map->first_unknown);
    return PLX_OK;
}

typedef struct entry {
    int32_t col;
    double val;
} entry;

static void sort_entries(entry *e, plx_index n) /* insertion: rows are short or nearly sorted */
{
    for (plx_index i = 1; i < n; i++) {
        entry x = e[i];
        plx_index j = i;
        for (; j > 0 && e[j - 1].col > x.col; j--) e[j] = e[j - 1];
        e[j] = x;
    }
}

static plx_status remap_sparse(plx_csr *out, plx_context *ctx, const plx__view *v, plx_index n,
                               const plx__view_card *card, const column_map *map)
{
    plx_index longest = 0;
    entry *row = NULL;
    for (plx_index i = 0; i < n; i++) longest = plx__max(longest, v->csr.ptr[i + 1] - v->csr.ptr[i]);
    PLX_TRY(PLX__ARENA_NEW(&row, plx__scratch(ctx), longest));
    PLX_TRY(plx__arena_csr(out, plx__scratch(ctx), n, card->cols, v->csr.ptr[n]));
    for (plx_index i = 0; i < n; i++) {
        plx_index count = 0;
        for (int64_t k = v->csr.ptr[i]; k < v->csr.ptr[i + 1]; k++)
            if (map->target[v->csr.col[k]] >= 0) row[count++] = (entry){map->target[v->csr.col[k]], v->csr.val[k]};
        sort_entries(row, count);
        for (plx_index k = 0; k < count; k++) {
            out->col[out->ptr[i] + k] = row[k].col;
            out->val[out->ptr[i] + k] = row[k].val;
        }
        out->ptr[i + 1] = out->ptr[i] + count;
    }
    return PLX_OK;
}

static plx_status remap_dense(plx_mat *out, plx_context *ctx, const plx__view *v, plx_index n,
                              const plx__view_card *card, const column_map *map)
{
    PLX_TRY(plx__arena_mat(out, plx__scratch(ctx), n, card->cols));
    for (plx_index i = 0; i < n; i++)
        for (plx_index j = 0; j < v->cols; j++)
            if (map->target[j] >= 0) out->data[i * card->cols + map->target[j]] = v->dense.data[i * v->dense.ld + j];
    return PLX_OK;
}

/* The kinds must agree as far as methods care: a kernel is not a feature view. */
static plx_status check_kind(plx_context *ctx, const plx__view_card *card, const plx__view *v)
{
    if ((card->kind == PLX_VIEW_KERNEL) == (v->kind == PLX_VIEW_KERNEL)) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_DATA, "view '%s' is of kind %s, the model was fitted with kind %s", v->name,
             plx_view_kind_name(v->kind), plx_view_kind_name(card->kind));
}

/* A method fitted to dense (sparse) rows gets dense (sparse) rows. */
static plx_status add_view(plx_dataset *to, plx_context *ctx, const plx__view_card *card, const plx__view *v,
                           plx_index n)
{
    column_map map;
    plx_cmat dense = v->dense;
    plx_ccsr csr = v->csr;
    PLX_TRY(check_kind(ctx, card, v));
    PLX_TRY(map_columns(&map, ctx, card, v));
    PLX_TRY(judge(ctx, &map, card, v));
    if (!map.identity && v->sparse) {
        plx_csr moved;
        PLX_TRY(remap_sparse(&moved, ctx, v, n, card, &map));
        csr = plx__ccsr(moved);
    } else if (!map.identity) {
        plx_mat moved;
        PLX_TRY(remap_dense(&moved, ctx, v, n, card, &map));
        dense = plx__cmat(moved);
    }
    if (card->sparse == v->sparse)
        return v->sparse ? plx__dataset_add_sparse(to, ctx, card->name, card->kind, csr, card->features, v->present)
                         : plx__dataset_add_dense(to, ctx, card->name, card->kind, dense, card->features, v->present);
    if (v->sparse) {
        plx_mat full;
        PLX_TRY(plx__arena_mat(&full, plx__scratch(ctx), n, card->cols));
        for (plx_index i = 0; i < n; i++)
            for (int64_t k = csr.ptr[i]; k < csr.ptr[i + 1]; k++) full.data[i * card->cols + csr.col[k]] = csr.val[k];
        return plx__dataset_add_dense(to, ctx, card->name, card->kind, plx__cmat(full), card->features, v->present);
    }
    plx_csr thin;
    plx_index nnz = 0;
    for (plx_index i = 0; i < n; i++)
        for (plx_index j = 0; j < card->cols; j++) nnz += dense.data[i * dense.ld + j] != 0;
    PLX_TRY(plx__arena_csr(&thin, plx__scratch(ctx), n, card->cols, nnz));
    nnz = 0;
    for (plx_index i = 0; i < n; i++) {
        for (plx_index j = 0; j < card->cols; j++) {
            double x = dense.data[i * dense.ld + j];
            if (x == 0) continue;
            thin.col[nnz] = (int32_t)j;
            thin.val[nnz++] = x;
        }
        thin.ptr[i + 1] = nnz;
    }
    return plx__dataset_add_sparse(to, ctx, card->name, card->kind, plx__ccsr(thin), card->features, v->present);
}

/* A view the new data do not have: there, but missing for everybody. */
static plx_status add_missing(plx_dataset *to, plx_context *ctx, const plx__view_card *card, plx_index n)
{
    uint8_t *none = NULL;
    PLX_TRY(plx__arena_u8(&none, plx__scratch(ctx), n));
    if (card->sparse) {
        plx_csr empty;
        PLX_TRY(plx__arena_csr(&empty, plx__scratch(ctx), n, card->cols, 0));
        return plx__dataset_add_sparse(to, ctx, card->name, card->kind, plx__ccsr(empty), card->features, none);
    }
    plx_mat zero;
    PLX_TRY(plx__arena_mat(&zero, plx__scratch(ctx), n, card->cols));
    return plx__dataset_add_dense(to, ctx, card->name, card->kind, plx__cmat(zero), card->features, none);
}

static plx_status fill(plx_dataset *to, plx_context *ctx, const plx_model *m, const plx_dataset *data)
{
    plx_index matched = 0;
    if (data->ids) PLX_TRY(plx__dataset_set_ids(to, ctx, data->ids));
    for (plx_index v = 0; v < m->n_views; v++) {
        plx__mark mark = plx__arena_mark(plx__scratch(ctx));
        plx_index w = plx_dataset_find_view(data, m->views[v].name);
        if (w >= 0) PLX_TRY(add_view(to, ctx, &m->views[v], &data->views[w], data->n));
        else PLX_TRY(add_missing(to, ctx, &m->views[v], data->n));
        matched += w >= 0;
        plx__arena_rewind(plx__scratch(ctx), mark);
    }
    if (!matched)
        PLX_FAIL(ctx, PLX_E_DATA, "the data set has none of the model's views (it knows '%s'%s)", m->views[0].name,
                 m->n_views > 1 ? " and others" : "");
    for (plx_index w = 0; w < data->n_views; w++) {
        bool known = false;
        for (plx_index v = 0; v < m->n_views; v++) known |= strcmp(m->views[v].name, data->views[w].name) == 0;
        if (!known) plx__warn(ctx, "view '%s' is unknown to the model and ignored", data->views[w].name);
    }
    return PLX_OK;
}

plx_status plx__match_data(plx_dataset **out, plx_context *ctx, const plx_model *m, const plx_dataset *data)
{
    plx_dataset *to = NULL;
    *out = NULL;
    PLX_TRY(plx__dataset_create(&to, ctx, data->name, data->n));
    plx_status st = fill(to, ctx, m, data);
    if (st == PLX_OK) *out = to;
    else plx_dataset_destroy(to);
    return st;
}
