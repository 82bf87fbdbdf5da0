/*
 * Discretisation of an embedding by rotation (Yu and Shi 2003): find an orthogonal R for which the rows of H R point
 * along the axes. Alternates labels (argmax of the rows) and R (the nearest rotation, from an SVD).
 */
#include <math.h>
#include <string.h>

#include "linalg/eigen.h"
#include "methods/transductive/local.h"

/* Columns of R: rows of h that are as orthogonal as possible, from row 0. */
static plx_status first_rotation(plx_context *ctx, plx_cmat h, plx_mat r)
{
    plx_index n = h.rows, k = h.cols, row = 0;
    double *closeness = NULL;
    PLX_TRY(plx__arena_f64(&closeness, plx__scratch(ctx), n, 1));
    for (plx_index c = 0; c < k; c++) {
        for (plx_index j = 0; j < k; j++) r.data[j * r.ld + c] = h.data[row * h.ld + j];
        const double *last = h.data + row * h.ld;
        double least = INFINITY;
        for (plx_index i = 0; i < n; i++) {
            closeness[i] += fabs(plx__dot(h.data + i * h.ld, last, k));
            if (closeness[i] < least) least = closeness[i], row = i;
        }
    }
    return PLX_OK;
}

int32_t plx__rotated_label(const double *row, plx_cmat r, double *spare)
{
    int32_t best = 0;
    memset(spare, 0, (size_t)r.cols * sizeof *spare);
    for (plx_index j = 0; j < r.rows; j++) plx__axpy(spare, row[j], r.data + j * r.ld, r.cols);
    for (plx_index c = 1; c < r.cols; c++)
        if (spare[c] > spare[best]) best = (int32_t)c;
    return best;
}

/* SVD of T'H = U S V'; R = V U'. Returns the sum of the singular values. */
static plx_status nearest_rotation(double *phi, plx_context *ctx, plx_cmat h, const int32_t *label, plx_mat r)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index k = h.cols;
    double *s = NULL;
    plx_mat sums, u, vt;
    PLX_TRY(plx__arena_mat(&sums, plx__scratch(ctx), k, k));
    PLX_TRY(plx__arena_mat(&u, plx__scratch(ctx), k, k));
    PLX_TRY(plx__arena_mat(&vt, plx__scratch(ctx), k, k));
    PLX_TRY(plx__arena_f64(&s, plx__scratch(ctx), k, 1));
    for (plx_index i = 0; i < h.rows; i++) plx__axpy(sums.data + label[i] * k, 1.0, h.data + i * h.ld, k);
    PLX_TRY(plx__svd(ctx, sums, u, s, vt));
    *phi = 0;
    for (plx_index j = 0; j < k; j++) *phi += s[j];
    PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(vt), PLX__T, plx__cmat(u), PLX__T, 0.0, r));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

static void number_labels(int32_t *label, plx_index n, double *number, plx_index k)
{
    double next = 0;
    for (plx_index c = 0; c < k; c++) number[c] = -1;
    for (plx_index i = 0; i < n; i++) {
        if (number[label[i]] < 0) number[label[i]] = next++;
        label[i] = (int32_t)number[label[i]];
    }
    for (plx_index c = 0; c < k; c++)
        if (number[c] < 0) number[c] = next++;
}

plx_status plx__rotate(int32_t *label, plx_context *ctx, plx_cmat h, plx_mat r, double *number)
{
    enum { MOST_ROUNDS = 100 };
    double phi = 0, before = INFINITY, *spare = NULL;
    plx_mat unit, next;
    PLX_TRY(plx__mat_clone(&unit, plx__scratch(ctx), h));
    PLX_TRY(plx__arena_f64(&spare, plx__scratch(ctx), h.cols, 1));
    PLX_TRY(plx__arena_mat(&next, plx__scratch(ctx), h.cols, h.cols));
    plx__unit_rows(unit);
    PLX_TRY(first_rotation(ctx, plx__cmat(unit), r));
    for (plx_index round = 0; round < MOST_ROUNDS; round++) {
        for (plx_index i = 0; i < h.rows; i++)
            label[i] = plx__rotated_label(unit.data + i * unit.ld, plx__cmat(r), spare);
        PLX_TRY(nearest_rotation(&phi, ctx, plx__cmat(unit), label, next));
        if (fabs(phi - before) < 1e-12) break;
        before = phi;
        plx__mat_copy(r, plx__cmat(next));
    }
    number_labels(label, h.rows, number, h.cols);
    return PLX_OK;
}
