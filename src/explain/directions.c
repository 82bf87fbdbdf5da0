/*
 * Rows that are there are packed without copying the values of a sparse view, centred implicitly, and decomposed.
 */
#include "explain/directions.h"

#include <string.h>

#include "linalg/lowrank.h"

plx_status plx__scaled_view(plx__view *out, plx_context *ctx, const plx__view *view)
{
    plx__scale_kind kind = plx__scale_auto(view, NULL);
    plx__scaler scaler;
    plx__view dense;
    if (kind == PLX__SCALE_ZSCORE && view->sparse) {
        PLX_TRY(plx__view_dense(&dense, plx__scratch(ctx), view));
        view = &dense;
    }
    PLX_TRY(plx__scaler_fit(&scaler, ctx, plx__scratch(ctx), kind, view, NULL));
    return plx__scaler_apply(out, ctx, plx__scratch(ctx), &scaler, view);
}

/* The present rows one after the other; of a sparse view only the beginnings of the rows are new. */
static plx_status pack_rows(plx__rsvd_input *out, plx_context *ctx, const plx__view *v, plx_index n)
{
    plx_index row = 0;
    int64_t *ptr = NULL;
    plx_mat dense;
    if (v->sparse) {
        PLX_TRY(plx__arena_i64(&ptr, plx__scratch(ctx), v->present_count + 1));
        for (plx_index i = 0; i < n; i++)
            if (v->present[i]) ptr[++row] = v->csr.ptr[i + 1]; /* rows in between are empty */
        out->csr = v->csr;
        out->csr.rows = v->present_count;
        out->csr.ptr = ptr;
        return PLX_OK;
    }
    PLX_TRY(plx__arena_mat(&dense, plx__scratch(ctx), v->present_count, v->cols));
    for (plx_index i = 0; i < n; i++)
        if (v->present[i])
            memcpy(dense.data + row++ * dense.ld, v->dense.data + i * v->dense.ld, (size_t)v->cols * sizeof(double));
    out->dense = plx__cmat(dense);
    return PLX_OK;
}

/* Means of the columns, and the sum of squares about them. */
static plx_status mean_of(double **mean, double *total, plx_context *ctx, const plx__rsvd_input *in, plx_index rows,
                          plx_index cols)
{
    double squares = 0;
    PLX_TRY(plx__arena_f64(mean, plx__scratch(ctx), cols, 1));
    for (plx_index i = 0; i < rows; i++) {
        if (in->csr.ptr)
            for (int64_t e = in->csr.ptr[i]; e < in->csr.ptr[i + 1]; e++) {
                (*mean)[in->csr.col[e]] += in->csr.val[e];
                squares += in->csr.val[e] * in->csr.val[e];
            }
        else
            for (plx_index j = 0; j < cols; j++) {
                double x = in->dense.data[i * in->dense.ld + j];
                (*mean)[j] += x;
                squares += x * x;
            }
    }
    for (plx_index j = 0; j < cols; j++) {
        (*mean)[j] /= (double)plx__max(rows, 1);
        squares -= (double)rows * (*mean)[j] * (*mean)[j];
    }
    *total = squares;
    return PLX_OK;
}

plx_status plx__view_directions(plx__directions *out, plx_context *ctx, const plx__view *scaled, plx_index n,
                                plx_index most)
{
    plx_index rows = scaled->present_count, k = plx__min(most, plx__min(scaled->cols, rows - 1)), row = 0;
    double *mean = NULL;
    plx_mat u, vt;
    plx__rsvd_input in = {.mean = NULL};
    *out = (plx__directions){.present = rows};
    if (k < 1) return PLX_OK;
    PLX_TRY(pack_rows(&in, ctx, scaled, n));
    PLX_TRY(mean_of(&mean, &out->total, ctx, &in, rows, scaled->cols));
    in.mean = mean;
    PLX_TRY(plx__arena_mat(&out->u, plx__scratch(ctx), n, k));
    PLX_TRY(plx__arena_mat(&u, plx__scratch(ctx), rows, k));
    PLX_TRY(plx__arena_mat(&vt, plx__scratch(ctx), k, scaled->cols));
    PLX_TRY(plx__arena_f64(&out->strength, plx__scratch(ctx), k, 1));
    PLX_TRY(plx__rsvd(ctx, in, k, NULL, u, out->strength, vt));
    for (plx_index i = 0; i < n; i++)
        if (scaled->present[i]) memcpy(out->u.data + i * out->u.ld, u.data + row++ * u.ld, (size_t)k * sizeof(double));
    while (k > 0 && !(out->strength[k - 1] > 1e-9 * out->strength[0])) k--; /* directions of nothing */
    out->u.cols = k;
    return PLX_OK;
}
