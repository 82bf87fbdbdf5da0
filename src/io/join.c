/*
 * Views of files of their own, joined by sample id.
 */
#include "io/join.h"

#include <string.h>

#include "data/dataset_impl.h"
#include "data/divided.h"
#include "data/kernel_columns.h"
#include "linalg/csr.h"
#include "linalg/dense.h"

plx__loose_view plx__loose_from(const plx_dataset *data, plx_index view, const char *file, const char *name)
{
    const plx__view *v = &data->views[view];
    plx__loose_view out = {.name = name ? name : v->name, .file = file, .kind = v->kind, .ids = data->ids};
    out.borrowed = true;
    out.present = v->present;
    out.cost = v->cost;
    out.text = v->text;
    out.table = (plx__table){.sparse = v->sparse, .col_names = v->features};
    out.table.divided = v->divided;
    out.table.begin = v->begin;
    out.table.end = v->end;
    if (v->sparse)
        out.table.csr = (plx_csr){v->csr.rows, v->csr.cols, (int64_t *)(uintptr_t)v->csr.ptr,
                                  (int32_t *)(uintptr_t)v->csr.col, (double *)(uintptr_t)v->csr.val};
    else out.table.dense = (plx_mat){(double *)(uintptr_t)v->dense.data, v->dense.rows, v->dense.cols, v->dense.ld};
    return out;
}

/* ---- samples ---- */

static plx_status check_distinct(plx_context *ctx, const plx__loose_view *v)
{
    plx__map seen;
    plx_index existing = -1, rows = plx__table_rows(&v->table);
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
    for (plx_index v = 0; v < n_views; v++) most += views[v].ids ? plx__table_rows(&views[v].table) : 0;
    PLX_TRY(PLX__ARENA_NEW(names, arena, most));
    PLX_TRY(plx__arena_i64(views_with, arena, most));
    PLX_TRY(plx__map_init(&map, plx__scratch(ctx), most));
    *count = 0;
    for (plx_index v = 0; v < n_views; v++) {
        if (!views[v].ids) continue;
        for (plx_index i = 0; i < plx__table_rows(&views[v].table); i++) {
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
        out->n = n_views ? plx__table_rows(&views[0].table) : 0;
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

/* ---- labels ---- */

plx_status plx__join_texts(const char **to, plx_context *ctx, const plx__sample_list *samples, const char *const *texts,
                           const char *const *ids, plx_index rows, const char *file, const char *what)
{
    plx_index unknown = 0;
    if (!ids && rows != samples->n)
        PLX_FAIL(ctx, PLX_E_DATA, "%s has %lld rows, the data set %lld samples; without ids they must be as many", file,
                 (long long)rows, (long long)samples->n);
    for (plx_index i = 0; i < rows; i++) {
        plx_index s = ids ? plx__map_get(&samples->index, ids[i]) : i;
        unknown += s < 0;
        if (s < 0 || !texts[i]) continue;
        if (to[s] && strcmp(to[s], texts[i]) != 0)
            PLX_FAIL(ctx, PLX_E_DATA, "%s: the %s '%s' of sample '%s' contradicts '%s', which it has already", file,
                     what, texts[i], ids ? ids[i] : "", to[s]);
        to[s] = texts[i];
    }
    if (unknown && unknown == rows)
        PLX_FAIL(ctx, PLX_E_DATA,
                 "%s: none of its %lld ids is an id of the data set, e.g. '%s'; say which column holds them", file,
                 (long long)rows, ids[0]);
    if (unknown) plx__warn(ctx, "%s: %lld ids are not in the data set and are left out", file, (long long)unknown);
    return PLX_OK;
}

/* ---- views ---- */

/* Sample of every row of the view, -1 for rows that are left out. */
static plx_status targets(plx_index **out, plx_context *ctx, const plx__loose_view *v, const plx__sample_list *samples)
{
    plx_index rows = plx__table_rows(&v->table), dropped = 0;
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

/* The columns of a kernel view in the order of its own rows follow the rows; afterwards they are the samples. */
static plx_status follow_rows(plx__table *table, plx_context *ctx, const plx__loose_view *v, const plx_index *target,
                              plx_index n)
{
    plx_index rows = plx__table_rows(table), cols = plx__table_cols(table);
    plx__kernel_columns columns;
    int32_t *to = NULL;
    if (v->kind != PLX_VIEW_KERNEL || cols != rows) return PLX_OK;
    PLX_TRY(plx__kernel_columns_find(&columns, ctx, table->col_names, cols, v->ids, rows));
    if (columns.by_name) return PLX_OK;
    table->col_names = NULL;
    PLX_TRY(plx__arena_i32(&to, plx__scratch(ctx), cols));
    for (plx_index j = 0; j < cols; j++) to[j] = (int32_t)target[j];
    if (table->sparse) {
        plx_csr moved;
        PLX_TRY(plx__csr_move_cols(&moved, plx__scratch(ctx), plx__ccsr(table->csr), to, n));
        table->csr = moved;
        return PLX_OK;
    }
    plx_mat moved;
    PLX_TRY(plx__mat_move_cols(&moved, plx__scratch(ctx), plx__cmat(table->dense), to, n));
    table->dense = moved;
    return PLX_OK;
}

static plx__view_source source_of(const plx__loose_view *v)
{
    return (plx__view_source){.name = v->name,
                              .kind = v->kind,
                              .sparse = v->table.sparse,
                              .dense = v->table.dense,
                              .csr = v->table.csr,
                              .features = v->table.col_names,
                              .features_in_block = true,
                              .present = v->present,
                              .divided = v->table.divided,
                              .begin = v->table.begin,
                              .end = v->table.end};
}

/* Every rank sends its rows to those that keep the samples. What a rank takes the view for by its own rows may not suit
 * those that come. */
static plx_status scatter_divided(plx_dataset *data, plx_context *ctx, const plx__loose_view *v,
                                  const plx_index *target, const uint8_t *present)
{
    plx__view_source from = source_of(v), moved;
    plx__arena arena;
    plx_status st = PLX_OK;
    plx__arena_init(&arena, ctx);
    PLX_GOTO(plx__share_kind(&from.kind, ctx, from.end - from.begin, v->name));
    PLX_GOTO(plx__share_scatter(&moved, ctx, &arena, &from, target, data->n));
    moved.present = present;
    moved.features_in_block = false;
    PLX_GOTO(plx__dataset_adopt_arena(data, ctx, &arena, &moved));
done:
    plx__arena_free(&arena);
    return st;
}

static plx_status add_scattered(plx_dataset *data, plx_context *ctx, const plx__loose_view *v,
                                const plx__sample_list *samples)
{
    plx__loose_view moved = *v;
    plx_index *target = NULL;
    uint8_t *present = NULL;
    PLX_TRY(targets(&target, ctx, v, samples));
    PLX_TRY(follow_rows(&moved.table, ctx, v, target, samples->n));
    PLX_TRY(plx__arena_u8(&present, plx__scratch(ctx), samples->n));
    for (plx_index i = 0; i < plx__table_rows(&v->table); i++)
        if (target[i] >= 0) present[target[i]] = !v->present || v->present[i];
    if (v->table.divided) return scatter_divided(data, ctx, v, target, present);
    if (v->table.sparse) {
        plx_csr all;
        PLX_TRY(scatter_sparse(&all, ctx, &moved, target, samples->n));
        return plx__dataset_add_sparse(data, ctx, v->name, v->kind, plx__ccsr(all), moved.table.col_names, present);
    }
    plx_mat all;
    PLX_TRY(scatter_dense(&all, ctx, &moved, target, samples->n));
    return plx__dataset_add_dense(data, ctx, v->name, v->kind, plx__cmat(all), moved.table.col_names, present);
}

static bool rows_stay(const plx__loose_view *v, const plx__sample_list *samples)
{
    plx_index rows = plx__table_rows(&v->table);
    bool stay = rows == samples->n && !(v->ids && v->kind == PLX_VIEW_KERNEL);
    for (plx_index i = 0; v->ids && stay && i < rows; i++) stay = plx__map_get(&samples->index, v->ids[i]) == i;
    return stay;
}

plx_status plx__join_hand_over(plx__shared **out, plx_context *ctx, plx__arena *arena, plx__loose_view *views,
                               plx_index count, const plx__sample_list *samples)
{
    bool all = true;
    *out = NULL;
    for (plx_index v = 0; all && v < count; v++) all = views[v].borrowed || rows_stay(&views[v], samples);
    if (!all) return PLX_OK;
    PLX_TRY(plx__shared_take(out, ctx, arena));
    for (plx_index v = 0; v < count; v++)
        if (!views[v].borrowed) views[v].block = *out;
    return PLX_OK;
}

static plx_status adopt(plx_dataset *data, plx_context *ctx, const plx__loose_view *v)
{
    plx__view_source source = source_of(v);
    return plx__dataset_adopt(data, ctx, v->block, &source);
}

/* Only some rows have values: a copy of those. */
static plx_status add_divided(plx_dataset *data, plx_context *ctx, const plx__loose_view *v)
{
    plx__view_source source = source_of(v), part;
    plx__arena arena;
    plx__arena_init(&arena, ctx);
    plx_status st = plx__share_of(&part, &arena, &source, source.begin, source.end);
    if (st == PLX_OK) st = plx__dataset_adopt_arena(data, ctx, &arena, &part);
    plx__arena_free(&arena);
    return st;
}

static plx_status add(plx_dataset *data, plx_context *ctx, const plx__loose_view *v, const plx__sample_list *samples)
{
    if (v->block) PLX_TRY(adopt(data, ctx, v));
    else if (v->table.divided && rows_stay(v, samples)) PLX_TRY(add_divided(data, ctx, v));
    else if (v->ids) PLX_TRY(add_scattered(data, ctx, v, samples));
    else if (v->table.sparse)
        PLX_TRY(plx__dataset_add_sparse(data, ctx, v->name, v->kind, plx__ccsr(v->table.csr), v->table.col_names,
                                        v->present));
    else
        PLX_TRY(plx__dataset_add_dense(data, ctx, v->name, v->kind, plx__cmat(v->table.dense), v->table.col_names,
                                       v->present));
    PLX_TRY(plx__dataset_set_view_cost(data, ctx, data->n_views - 1, v->cost));
    return v->text ? plx__arena_text(&data->views[data->n_views - 1].text, &data->arena, v->text) : PLX_OK;
}

/* Ranks that keep rows of their own add the views together: the first that cannot be added fails on all. */
plx_status plx__join_add(plx_dataset *data, plx_context *ctx, const plx__loose_view *v, const plx__sample_list *samples)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_status st = add(data, ctx, v, samples);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return plx__share_settle(ctx, st);
}
