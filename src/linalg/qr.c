/*
 * Thin QR. LAPACK works on columns, so a transposed copy is factored and turned back: cheap beside the
 * arithmetic, and tall matrices become short and wide rows for us.
 */
#include <lapacke.h>

#include "linalg/blas.h"
#include "linalg/eigen.h"

static int qr_in_columns(plx_mat t, double *tau, double *work, int lwork, bool make_q)
{
    int rows = plx__blas_int(t.cols), cols = plx__blas_int(t.rows), ld = plx__blas_int(t.ld);
    return make_q ? LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, rows, cols, cols, t.data, ld, tau, work, lwork)
                  : LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, rows, cols, t.data, ld, tau, work, lwork);
}

/* r(i,j) = t(j,i) for i <= j; rows of R and columns of Q take the sign that makes the diagonal >= 0. */
static void take_r(plx_mat r, plx_cmat t, double *sign)
{
    for (plx_index i = 0; i < t.rows; i++) sign[i] = t.data[i * t.ld + i] < 0 ? -1.0 : 1.0;
    for (plx_index i = 0; r.data && i < t.rows; i++)
        for (plx_index j = 0; j < t.rows; j++) r.data[i * r.ld + j] = j < i ? 0.0 : sign[i] * t.data[j * t.ld + i];
}

static plx_status factor(plx_context *ctx, plx_mat t, plx_mat r, double *sign, int *info)
{
    double *tau = NULL, *work = NULL, size = 0, size_q = 0;
    PLX_TRY(plx__arena_f64(&tau, plx__scratch(ctx), t.rows, 1));
    *info = qr_in_columns(t, tau, &size, -1, false);
    if (*info == 0) *info = qr_in_columns(t, tau, &size_q, -1, true);
    if (*info) return PLX_OK;
    int lwork = (int)(size > size_q ? size : size_q);
    PLX_TRY(plx__arena_f64(&work, plx__scratch(ctx), lwork, 1));
    *info = qr_in_columns(t, tau, work, lwork, false);
    if (*info) return PLX_OK;
    take_r(r, plx__cmat(t), sign);
    *info = qr_in_columns(t, tau, work, lwork, true);
    return PLX_OK;
}

plx_status plx__qr(plx_context *ctx, plx_mat a, plx_mat r)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat t;
    double *sign = NULL;
    int info = 0;
    PLX_ASSERT(a.rows >= a.cols);
    if (a.cols == 0) return PLX_OK;
    PLX_TRY(plx__blas_fits(ctx, a.rows, a.cols, a.ld));
    PLX_TRY(plx__arena_mat(&t, plx__scratch(ctx), a.cols, a.rows));
    PLX_TRY(plx__arena_f64(&sign, plx__scratch(ctx), a.cols, 1));
    plx__mat_transpose(t, plx__cmat(a));
    plx__blas_scope scope = plx__blas_enter_factor(ctx);
    plx_status st = factor(ctx, t, r, sign, &info);
    plx__blas_leave(scope);
    PLX_TRY(st);
    if (info) return plx__lapack_fault(ctx, "dgeqrf", info);
    for (plx_index j = 0; j < a.cols; j++) plx__scale(t.data + j * t.ld, sign[j], t.cols);
    plx__mat_transpose(a, plx__cmat(t));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
