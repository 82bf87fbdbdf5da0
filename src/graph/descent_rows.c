/*
 * Rows of the approximate search in single precision: moved to their mean and scaled by a power of two (Euclid), or of
 * unit length, where |x - z|^2 = 2 (1 - cos). Sparse rows stay where they are; only their order is kept here.
 */
#include <math.h>
#include <string.h>

#include "graph/descent_impl.h"
#include "linalg/blas.h"

enum { GRAIN = 1024 };

/* ---- which rows ---- */

static plx_status count_rows(plx__descent_rows *out, plx_context *ctx, const uint8_t *present)
{
    plx_index all = plx__points_rows(out->source);
    plx__arena *scratch = plx__scratch(ctx);
    int32_t *row = NULL;
    double *norm = NULL;
    PLX_TRY(plx__arena_i32(&row, scratch, all));
    PLX_TRY(plx__arena_f64(&norm, scratch, all, 1));
    PLX_TRY(plx__points_norms_sq(ctx, out->source, norm));
    for (plx_index i = 0; i < all; i++) {
        if ((present && !present[i]) || (out->metric == PLX__COSINE && !(norm[i] > 0))) continue;
        norm[out->n] = norm[i];
        row[out->n++] = (int32_t)i;
    }
    out->row = row;
    out->norm = norm;
    return PLX_OK;
}

/* ---- dense values ---- */

static plx_status copy_range(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const plx__descent_rows *r = arg;
    plx_cmat m = r->source.dense;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++) {
        const double *x = m.data + r->row[i] * m.ld;
        double factor = r->metric == PLX__COSINE ? 1.0 / sqrt(r->norm[i]) : r->scale;
        float *to = r->value + i * r->ld;
        for (plx_index t = 0; t < m.cols; t++) to[t] = (float)((x[t] - (r->mean ? r->mean[t] : 0.0)) * factor);
        for (plx_index t = m.cols; t < r->ld; t++) to[t] = 0.0f;
    }
    return PLX_OK;
}

/* Mean, and the power of two that brings the largest difference from it near 1. */
static plx_status find_spread(plx__descent_rows *r, plx_context *ctx)
{
    plx_cmat m = r->source.dense;
    double *mean = NULL, largest = 0;
    int exponent = 0;
    PLX_TRY(plx__arena_f64(&mean, plx__scratch(ctx), m.cols, 1));
    for (plx_index i = 0; i < r->n; i++) plx__axpy(mean, 1.0 / (double)r->n, m.data + r->row[i] * m.ld, m.cols);
    for (plx_index i = 0; i < r->n; i++)
        for (plx_index t = 0; t < m.cols; t++) largest = fmax(largest, fabs(m.data[r->row[i] * m.ld + t] - mean[t]));
    if (largest > 0 && isfinite(largest)) frexp(largest, &exponent);
    r->mean = mean;
    r->scale = ldexp(1.0, exponent < -1000 ? 1000 : -exponent);
    return PLX_OK;
}

plx_status plx__descent_rows_open(plx__descent_rows *out, plx_context *ctx, plx__points source, plx__metric metric,
                                  const uint8_t *present)
{
    plx_index count = 0;
    *out = (plx__descent_rows){.source = source, .metric = metric, .cols = plx__points_cols(source), .scale = 1.0};
    out->ld = (out->cols + PLX__DESCENT_LANES - 1) / PLX__DESCENT_LANES * PLX__DESCENT_LANES;
    PLX_TRY(count_rows(out, ctx, present));
    if (plx__points_sparse(source)) return PLX_OK;
    if (__builtin_mul_overflow(out->n, out->ld, &count)) count = -1;
    PLX_TRY(plx__arena_bytes((void **)&out->value, plx__scratch(ctx), count, sizeof(float)));
    if (metric == PLX__EUCLID) PLX_TRY(find_spread(out, ctx));
    return plx__parallel_for(ctx, out->n, GRAIN, copy_range, out);
}

/* ---- order ---- */

plx_status plx__descent_rows_sort(plx__descent_rows *rows, plx_context *ctx, const uint32_t *order)
{
    int32_t *row = NULL;
    double *norm = NULL;
    PLX_TRY(plx__arena_i32(&row, plx__scratch(ctx), rows->n));
    PLX_TRY(plx__arena_f64(&norm, plx__scratch(ctx), rows->n, 1));
    for (plx_index i = 0; i < rows->n; i++) {
        row[i] = rows->row[order[i]];
        norm[i] = rows->norm[order[i]];
    }
    rows->row = row;
    rows->norm = norm;
    if (plx__points_sparse(rows->source)) return PLX_OK;
    return plx__parallel_for(ctx, rows->n, GRAIN, copy_range, rows);
}

double plx__descent_rows_bytes(plx_index n, plx_index cols, bool sparse)
{
    double values = sparse ? 0.0 : (double)n * 4.0 * (double)(cols + PLX__DESCENT_LANES) + 8.0 * (double)cols;
    return values + 2 * 12.0 * (double)n;
}
