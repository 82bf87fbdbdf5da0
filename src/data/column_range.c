/*
 * Sparse columns are counted too: a column with fewer entries than rows holds zeros, and they take part in
 * its range.
 */
#include "data/column_range.h"

#include <math.h>

#include "core/arena.h"

static bool counts(const plx__view *v, const uint8_t *rows, plx_index i) { return v->present[i] && (!rows || rows[i]); }

static void widen(double *lo, double *hi, double x)
{
    *lo = fmin(*lo, x);
    *hi = fmax(*hi, x);
}

static void dense_range(double *lo, double *hi, const plx__view *v, plx_index n, const uint8_t *rows)
{
    for (plx_index i = 0; i < n; i++) {
        const double *x = v->dense.data + i * v->dense.ld;
        for (plx_index j = 0; counts(v, rows, i) && j < v->cols; j++) widen(&lo[j], &hi[j], x[j]);
    }
}

/* A column with fewer entries than rows has zeros too. */
static plx_status sparse_range(double *lo, double *hi, plx_context *ctx, const plx__view *v, plx_index n,
                               const uint8_t *rows)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    int64_t *entries = NULL;
    plx_index count = 0;
    PLX_TRY(plx__arena_i64(&entries, plx__scratch(ctx), v->cols));
    for (plx_index i = 0; i < n; i++) {
        if (!counts(v, rows, i)) continue;
        count++;
        for (int64_t p = v->csr.ptr[i]; p < v->csr.ptr[i + 1]; p++) {
            int32_t j = v->csr.col[p];
            entries[j]++;
            widen(&lo[j], &hi[j], v->csr.val[p]);
        }
    }
    for (plx_index j = 0; j < v->cols; j++)
        if (entries[j] < count) widen(&lo[j], &hi[j], 0);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__column_range(double *lo, double *hi, plx_context *ctx, const plx__view *v, plx_index n,
                             const uint8_t *rows)
{
    for (plx_index j = 0; j < v->cols; j++) {
        lo[j] = INFINITY;
        hi[j] = -INFINITY;
    }
    if (v->sparse) PLX_TRY(sparse_range(lo, hi, ctx, v, n, rows));
    else dense_range(lo, hi, v, n, rows);
    for (plx_index j = 0; j < v->cols; j++)
        if (lo[j] > hi[j]) lo[j] = hi[j] = 0;
    return PLX_OK;
}

double plx__within_range(double x, double lo, double hi, double constant)
{
    double span = 0.5 * hi - 0.5 * lo;
    return span > 0 ? fmin(fmax((0.5 * x - 0.5 * lo) / span, 0.0), 1.0) : constant;
}
