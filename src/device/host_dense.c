/*
 * Dense matrices of the host device: our own products and factorisations.
 */
#include "device/host_device.h"

#include <math.h>
#include <string.h>

#include "linalg/eigen.h"
#include "linalg/factor.h"
#include "linalg/lowrank.h"

static plx__trans trans(plx_device_trans t) { return t == PLX_DEVICE_TRANSPOSED ? PLX__T : PLX__N; }

int plx__host_gemm(plx_device *d, double alpha, plx_device_mat a, plx_device_trans ta, plx_device_mat b,
                   plx_device_trans tb, double beta, plx_device_mat c)
{
    PLX__HOST_CALL(d, plx__gemm(d->ctx, alpha, plx__host_cmat(a), trans(ta), plx__host_cmat(b), trans(tb), beta,
                                plx__host_mat(c)));
}

int plx__host_syrk(plx_device *d, double alpha, plx_device_mat a, plx_device_trans ta, double beta, plx_device_mat c)
{
    PLX__HOST_CALL(d, plx__syrk_lower(d->ctx, alpha, plx__host_cmat(a), trans(ta), beta, plx__host_mat(c)));
}

/* The library's factor has zeros above the diagonal, the table's leaves alone what is there. */
static plx_status factorise(plx_device *d, plx_mat a, int64_t *pivot)
{
    plx_mat l;
    plx__bad_pivot bad;
    PLX_TRY(plx__mat_clone(&l, plx__scratch(d->ctx), plx__cmat(a)));
    plx_status st = plx__cholesky(d->ctx, l, &bad);
    *pivot = bad.index;
    for (plx_index i = 0; i < a.rows; i++)
        memcpy(a.data + i * a.ld, l.data + i * l.ld, (size_t)(i + 1) * sizeof(double));
    if (st == PLX_E_NUMERIC) PLX_FAIL(d->ctx, st, "pivot %lld is not positive", (long long)bad.index);
    return st;
}

int plx__host_potrf(plx_device *d, plx_device_mat a, int64_t *pivot)
{
    *pivot = -1;
    PLX__HOST_CALL(d, factorise(d, plx__host_mat(a), pivot));
}

/* Solves of the library read the lower triangle only, as BLAS does. */
int plx__host_potrs(plx_device *d, plx_device_mat l, plx_device_mat b)
{
    PLX__HOST_CALL(d, plx__chol_solve(d->ctx, plx__host_cmat(l), plx__host_mat(b)));
}

static plx_status invert(plx_device *d, plx_mat l)
{
    plx_mat inverse;
    PLX_TRY(plx__arena_mat(&inverse, plx__scratch(d->ctx), l.rows, l.rows));
    PLX_TRY(plx__chol_inverse(d->ctx, inverse, plx__cmat(l)));
    for (plx_index i = 0; i < l.rows; i++)
        memcpy(l.data + i * l.ld, inverse.data + i * inverse.ld, (size_t)(i + 1) * sizeof(double));
    return PLX_OK;
}

int plx__host_potri(plx_device *d, plx_device_mat l) { PLX__HOST_CALL(d, invert(d, plx__host_mat(l))); }

int plx__host_trsm(plx_device *d, int right, plx_device_mat l, plx_device_trans tl, plx_device_mat b)
{
    plx_cmat factor = plx__host_cmat(l);
    PLX__HOST_CALL(d, right ? plx__tri_solve_right(d->ctx, factor, trans(tl), plx__host_mat(b))
                            : plx__tri_solve(d->ctx, factor, trans(tl), plx__host_mat(b)));
}

static plx_status eigenpairs(plx_device *d, plx_mat a, plx_index first, plx_index count, double *values,
                             plx_mat vectors)
{
    plx_mat columns = {0};
    if (vectors.data) PLX_TRY(plx__arena_mat(&columns, plx__scratch(d->ctx), a.rows, count));
    if (count == a.rows) PLX_TRY(plx__sym_eigen(d->ctx, a, values, columns));
    else PLX_TRY(plx__sym_eigen_range(d->ctx, a, first, count, values, columns));
    if (vectors.data) plx__mat_transpose(vectors, plx__cmat(columns));
    return PLX_OK;
}

int plx__host_sym_eigen(plx_device *d, plx_device_mat a, int64_t first, int64_t count, double *values,
                        plx_device_mat vectors)
{
    PLX__HOST_CALL(d, eigenpairs(d, plx__host_mat(a), first, count, values, plx__host_mat(vectors)));
}

/* ---- pivots ---- */

static double positive_sum(const double *residual, plx_index n)
{
    double sum = 0;
    for (plx_index i = 0; i < n; i++) sum += fmax(residual[i], 0.0);
    return sum;
}

static void pivot_column(const plx_device_pivots *step, plx_index t, plx_index p, double *residual)
{
    plx_cmat k = plx__host_cmat(step->k);
    plx_mat columns = plx__host_mat(step->columns);
    double root = sqrt(residual[p]), *out = columns.data + t * columns.ld;
    memcpy(out, k.data + p * k.ld, (size_t)k.cols * sizeof *out);
    for (plx_index u = 0; u < t; u++) {
        const double *before = columns.data + u * columns.ld;
        plx__axpy(out, -before[p], before, k.cols);
    }
    for (plx_index i = 0; i < k.cols; i++) {
        double value = i == p ? root : out[i] / root;
        out[i] = residual[i] < 0 ? 0.0 : value;
        if (residual[i] >= 0) residual[i] = fmax(residual[i] - value * value, 0.0);
    }
    residual[p] = -1.0;
}

int plx__host_pivots(plx_device *d, const plx_device_pivots *step)
{
    int code = plx__host_enter(d);
    double *residual = plx__host_data(step->residual);
    plx_index n = step->k.rows, found = 0;
    for (; code == PLX_DEVICE_OK && found < step->columns.rows; found++) {
        plx_index p = plx__largest_residual(residual, n, step->first);
        if (!(residual[p] > 0) || residual[p] <= step->least || positive_sum(residual, n) <= step->least_sum) break;
        pivot_column(step, found, p, residual);
        step->pivot[found] = p;
    }
    *step->found = found;
    *step->left = positive_sum(residual, n);
    return code;
}
