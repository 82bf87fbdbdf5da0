#include "io/join.h"

#include <string.h>

#include "data/dataset_impl.h"

static plx_index table_rows(const plx__table *t) { return t->sparse ? t->csr.rows : t->dense.rows; }

/* ---- samples ---- */

static plx_status check_distinct(plx_context *ctx, const plx__loose_view *v)
{
    plx__map seen;
    plx_index existing = -1, rows = table_rows(&v->table);
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    PLX_TRY(plx__map_init(&seen, plx__scratch(ctx), rows));
    for (plx_index i = 0; i < rows; i++) {
        if (!v->ids[i][0]) PLX_FAIL(ctx, PLX_E_DATA, "%s: row %lld has an empty id", v->file, (long long)i + 1);
        PLX_TRY(plx__map_add(&seen, v->ids[i], i, &existing));
        if (existing >= 0)
            PLX_FAIL(ctx, PLX_E_DATA, "%s: duplicate id '%s' in rows %lld and %lld; ids must be distinct", v->file,
                     v->ids[i], (long long)existing + 1, (long long)i + 1);
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

static plx_status given_list(plx__sample_list *out, plx_context *ctx, plx__arena *arena, const char *const *ids,
                             plx_index n)
{
    plx_index existing = -1;
    out->n = n;
    out->ids = ids;
    PLX_TRY(plx__map_init(&out->index, arena, n));
    for (plx_index i = 0; i < n; i++) {
        PLX_TRY(plx__map_add(&out->index, ids[i], i, &existing));
        if (existing >= 0)
            PLX_FAIL(ctx, PLX_E_DATA, "duplicate id '%s' (lines %lld and %lld of the ids); ids must be distinct",
                     ids[i], (long long)existing + 1, (long long)i + 1);
    }
    return PLX_OK;
}

/* Ids in order of appearance, each with the number of views that have it. */
static plx_status appearance(const char ***names, plx_index **views_with, plx_index *count, plx_context *ctx,
                             plx__arena *arena, const plx__loose_view *views, plx_index n_views)
{
    plx__map map;
    plx_index most = 0, existing = -1;
    for (plx_index v = 0; v < n_views; v++) most += views[v].ids ? table_rows(&views[v].table) : 0;
    PLX_TRY(PLX__ARENA_NEW(names, arena, most));
    PLX_TRY(plx__arena_i64(views_with, arena, most));
    PLX_TRY(plx__map_init(&map, plx__scratch(ctx), most));
    *count = 0;
    for (plx_index v = 0; v < n_views; v++) {
        if (!views[v].ids) continue;
        for (plx_index i = 0; i < table_rows(&views[v].table); i++) {
            PLX_TRY(plx__map_add(&map, views[v].ids[i], *count, &existing));
            if (existing < 0) (*names)[(*count)++] = views[v].ids[i];
            (*views_with)[existing < 0 ? *count - 1 : existing]++;
        }
    }
    return PLX_OK;
}

plx_status plx__join_samples(plx__sample_list *out, plx_context *ctx, plx__arena *arena, const plx__loose_view *views,
                             plx_index n_views, const char *const *ids, plx_index n_ids, plx_join join)
{
    plx_index with_ids = 0, count = 0, kept = 0;
    const char **names = NULL;
    plx_index *views_with = NULL;
    *out = (plx__sample_list){0};
    for (plx_index v = 0; v < n_views; v++) {
        if (!views[v].ids) continue;
        with_ids++;
        PLX_TRY(check_distinct(ctx, &views[v]));
    }
    if (ids) return given_list(out, ctx, arena, ids, n_ids);
    if (!with_ids) {
        out->n = n_views ? table_rows(&views[0].table) : 0;
        return PLX_OK;
    }
    for (plx_index v = 0; v < n_views; v++)
        if (!views[v].ids)
            PLX_FAIL(ctx, PLX_E_DATA,
                     "view '%s' has no sample ids while others have; give it ids or list the ids of the data set",
                     views[v].name);
    PLX_TRY(appearance(&names, &views_with, &count, ctx, arena, views, n_views));
    for (plx_index i = 0; i < count; i++)
        if (join == PLX_JOIN_UNION || views_with[i] == with_ids) names[kept++] = names[i];
    if (!kept) PLX_FAIL(ctx, PLX_E_DATA, "no sample id occurs in every view; nothing is left (join: union keeps all)");
    return given_list(out, ctx, arena, names, kept);
}

/* ---- views ---- */

/* Sample of every row of the view, -1 for rows that are left out. */
static plx_status targets(plx_index **out, plx_context *ctx, const plx__loose_view *v, const plx__sample_list *samples)
{
    plx_index rows = table_rows(&v->table), dropped = 0;
    PLX_TRY(plx__arena_i64(out, plx__scratch(ctx), rows));
    for (plx_index i = 0; i < rows; i++) {
        (*out)[i] = plx__map_get(&samples->index, v->ids[i]);
        dropped += (*out)[i] < 0;
    }
    if (dropped)
        plx__warn(ctx, "view '%s': %lld rows belong to samples that are not in the data set and are left out", v->name,
                  (long long)dropped);
    return PLX_OK;
}

static plx_status scatter_dense(plx_mat *out, plx_context *ctx, const plx__loose_view *v, const plx_index *target,
                                plx_index n)
{
    plx_cmat from = plx__cmat(v->table.dense);
    PLX_TRY(plx__arena_mat(out, plx__scratch(ctx), n, from.cols));
    for (plx_index i = 0; i < from.rows; i++)
        if (target[i] >= 0)
            memcpy(out->data + target[i] * out->ld, from.data + i * from.ld, (size_t)from.cols * sizeof(double));
    return PLX_OK;
}

static plx_status scatter_sparse(plx_csr *out, plx_context *ctx, const plx__loose_view *v, const plx_index *target,
                                 plx_index n)
{
    plx_ccsr from = plx__ccsr(v->table.csr);
    PLX_TRY(plx__arena_csr(out, plx__scratch(ctx), n, from.cols, from.ptr[from.rows]));
    for (plx_index i = 0; i < from.rows; i++)
        if (target[i] >= 0) out->ptr[target[i] + 1] = from.ptr[i + 1] - from.ptr[i];
    for (plx_index i = 0; i < n; i++) out->ptr[i + 1] += out->ptr[i];
    for (plx_index i = 0; i < from.rows; i++) {
        if (target[i] < 0) continue;
        size_t len = (size_t)(from.ptr[i + 1] - from.ptr[i]);
        if (len) memcpy(out->col + out->ptr[target[i]], from.col + from.ptr[i], len * sizeof *out->col);
        if (len) memcpy(out->val + out->ptr[target[i]], from.val + from.ptr[i], len * sizeof *out->val);
    }
    return PLX_OK;
}

static plx_status add_scattered(plx_dataset *data, plx_context *ctx, const plx__loose_view *v,
                                const plx__sample_list *samples)
{
    plx_index *target = NULL;
    uint8_t *present = NULL;
    PLX_TRY(targets(&target, ctx, v, samples));
    PLX_TRY(plx__arena_u8(&present, plx__scratch(ctx), samples->n));
    for (plx_index i = 0; i < table_rows(&v->table); i++)
        if (target[i] >= 0) present[target[i]] = !v->present || v->present[i];
    if (v->table.sparse) {
        plx_csr all;
        PLX_TRY(scatter_sparse(&all, ctx, v, target, samples->n));
        return plx__dataset_add_sparse(data, ctx, v->name, v->kind, plx__ccsr(all), v->table.col_names, present);
    }
    plx_mat all;
    PLX_TRY(scatter_dense(&all, ctx, v, target, samples->n));
    return plx__dataset_add_dense(data, ctx, v->name, v->kind, plx__cmat(all), v->table.col_names, present);
}

plx_status plx__join_add(plx_dataset *data, plx_context *ctx, const plx__loose_view *v, const plx__sample_list *samples)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    if (v->ids) PLX_TRY(add_scattered(data, ctx, v, samples));
    else if (v->table.sparse)
        PLX_TRY(plx__dataset_add_sparse(data, ctx, v->name, v->kind, plx__ccsr(v->table.csr), v->table.col_names,
                                        v->present));
    else
        PLX_TRY(plx__dataset_add_dense(data, ctx, v->name, v->kind, plx__cmat(v->table.dense), v->table.col_names,
                                       v->present));
    PLX_TRY(plx__dataset_set_view_cost(data, ctx, data->n_views - 1, v->cost));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
