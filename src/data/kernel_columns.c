/*
 * Columns are found by name once, when the view is made; rows and columns of samples that lack the view are
 * cleared there, so that later code may multiply without asking.
 */
#include "data/kernel_columns.h"

#include <math.h>
#include <string.h>

plx_status plx__kernel_columns_find(plx__kernel_columns *out, plx_context *ctx, const char *const *features,
                                    plx_index cols, const char *const *ids, plx_index n)
{
    *out = (plx__kernel_columns){0};
    PLX_TRY(plx__arena_i64(&out->own, plx__scratch(ctx), n));
    for (plx_index i = 0; i < n; i++) out->own[i] = cols == n ? i : -1;
    if (!features || !ids) return PLX_OK;
    plx__map known;
    plx_index existing = -1;
    PLX_TRY(plx__map_init(&known, plx__scratch(ctx), cols));
    for (plx_index j = 0; j < cols; j++) PLX_TRY(plx__map_add(&known, features[j], j, &existing));
    for (plx_index i = 0; i < n && !out->by_name; i++) out->by_name = plx__map_get(&known, ids[i]) >= 0;
    for (plx_index i = 0; i < n && out->by_name; i++) out->own[i] = plx__map_get(&known, ids[i]);
    return PLX_OK;
}

/* ---- samples without the view ---- */

static void count_value(plx__view *view, plx_index row, plx_index col, double x)
{
    if (!isnan(x)) view->nonzeros += x != 0;
    else if (!view->missing_values++) {
        view->nan_row = row;
        view->nan_col = col;
    }
}

void plx__view_recount(plx__view *v, plx_index n)
{
    v->nonzeros = v->missing_values = 0;
    for (plx_index i = 0; i < n; i++) {
        if (v->sparse)
            for (int64_t p = v->csr.ptr[i]; p < v->csr.ptr[i + 1]; p++) count_value(v, i, v->csr.col[p], v->csr.val[p]);
        else
            for (plx_index j = 0; j < v->cols; j++) count_value(v, i, j, v->dense.data[i * v->dense.ld + j]);
    }
}

static void clear_dense(plx_mat a, const uint8_t *gone)
{
    for (plx_index i = 0; i < a.rows; i++)
        for (plx_index j = 0; j < a.cols; j++)
            if (gone[j] && isnan(a.data[i * a.ld + j])) a.data[i * a.ld + j] = 0;
}

static void clear_sparse(plx_csr a, const uint8_t *gone)
{
    int64_t to = 0, from = 0;
    for (plx_index i = 0; i < a.rows; i++) {
        for (int64_t end = a.ptr[i + 1]; from < end; from++) {
            if (gone[a.col[from]] && isnan(a.val[from])) continue;
            a.col[to] = a.col[from];
            a.val[to++] = a.val[from];
        }
        a.ptr[i + 1] = to;
    }
}

plx_status plx__kernel_clear_nan(plx__view *view, plx_context *ctx, plx_mat dense, plx_csr csr, const char *const *ids,
                                 plx_index n)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx__kernel_columns columns;
    uint8_t *gone = NULL;
    if (view->present_count == n || !view->missing_values) return PLX_OK;
    PLX_TRY(plx__kernel_columns_find(&columns, ctx, view->features, view->cols, ids, n));
    PLX_TRY(plx__arena_u8(&gone, plx__scratch(ctx), view->cols));
    for (plx_index i = 0; i < n; i++)
        if (!view->present[i] && columns.own[i] >= 0) gone[columns.own[i]] = 1;
    if (view->sparse) clear_sparse(csr, gone);
    else clear_dense(dense, gone);
    plx__view_recount(view, n);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- names ---- */

plx_status plx__kernel_sample_names(const char *const **out, plx_context *ctx, const plx_dataset *data)
{
    const char **numbers = NULL;
    bool any = false;
    *out = data->ids;
    for (plx_index v = 0; v < data->n_views && !*out; v++) {
        if (data->views[v].kind != PLX_VIEW_KERNEL || data->views[v].cols != data->n) continue;
        any = true;
        *out = data->views[v].features;
    }
    if (*out || !any) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&numbers, plx__scratch(ctx), data->n));
    for (plx_index i = 0; i < data->n; i++)
        PLX_TRY(plx__arena_printf(&numbers[i], plx__scratch(ctx), "%lld", (long long)i));
    *out = numbers;
    return PLX_OK;
}
