/*
 * Thin QR.
 *
 * Tall matrices: CholeskyQR2, Q = A R^-1 with R'R = A'A, done twice. All of it is products, so it runs on all threads;
 * the second pass brings Q to rounding when the condition of A is below about 1e8 (Yamamoto et al. 2015). Others, and
 * those whose Gram matrix tells that they are worse: Householder by LAPACK, which works on columns, so a transposed
 * copy is factored and turned back.
 */
#include <lapacke.h>
#include <math.h>

#include "core/parallel.h"
#include "linalg/blas.h"
#include "linalg/eigen.h"
#include "linalg/factor.h"

enum { TALL = 4, MIN_ROWS = 1000 };       /* rows per column, and rows, from which products pay */
static const double NEAR_IDENTITY = 1e-2; /* of Q'Q after the first pass: the second then reaches rounding */

/* ---- by products ---- */

/* Q'Q - I is at most this in every entry. */
static bool near_identity(plx_cmat g)
{
    for (plx_index i = 0; i < g.rows; i++)
        for (plx_index j = 0; j <= i; j++)
            if (!(fabs(g.data[i * g.ld + j] - (i == j)) <= NEAR_IDENTITY)) return false;
    return true;
}

/* One pass: l = Cholesky factor of A'A, A becomes A L^-T. *done = false: A is too near to singular and is unchanged.
 * second: A'A must be close to I. */
static plx_status cholesky_pass(plx_context *ctx, plx_mat a, plx_mat l, bool second, bool *done)
{
    plx__bad_pivot bad;
    *done = false;
    PLX_TRY(plx__syrk(ctx, 1.0, plx__cmat(a), PLX__T, 0.0, l));
    if (second && !near_identity(plx__cmat(l))) return PLX_OK;
    plx_status st = plx__cholesky(ctx, l, &bad);
    if (st == PLX_E_NUMERIC) return PLX_OK;
    PLX_TRY(st);
    PLX_TRY(plx__tri_solve_right(ctx, plx__cmat(l), PLX__T, a));
    *done = true;
    return PLX_OK;
}

/* R = L2' L1'. */
static plx_status take_product(plx_context *ctx, plx_mat r, plx_cmat l1, plx_cmat l2)
{
    if (!r.data) return PLX_OK;
    PLX_TRY(plx__gemm(ctx, 1.0, l2, PLX__T, l1, PLX__T, 0.0, r));
    for (plx_index i = 1; i < r.rows; i++)
        for (plx_index j = 0; j < i; j++) r.data[i * r.ld + j] = 0.0;
    return PLX_OK;
}

/* A = Q L': back to what it was, up to the rounding a QR makes anyway; row by row from the right. */
static plx_status undo_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const plx_mat *pair = arg, a = pair[0], l = pair[1];
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++)
        for (plx_index j = a.cols - 1; j >= 0; j--)
            a.data[i * a.ld + j] = plx__dot(a.data + i * a.ld, l.data + j * l.ld, j + 1);
    return PLX_OK;
}

static plx_status cholesky_qr(plx_context *ctx, plx_mat a, plx_mat r, bool *done)
{
    plx_mat l1, l2;
    PLX_TRY(plx__arena_mat(&l1, plx__scratch(ctx), a.cols, a.cols));
    PLX_TRY(plx__arena_mat(&l2, plx__scratch(ctx), a.cols, a.cols));
    PLX_TRY(cholesky_pass(ctx, a, l1, false, done));
    if (!*done) return PLX_OK;
    PLX_TRY(cholesky_pass(ctx, a, l2, true, done));
    if (*done) return take_product(ctx, r, plx__cmat(l1), plx__cmat(l2));
    plx_mat pair[] = {a, l1};
    return plx__parallel_for(ctx, a.rows, 64, undo_rows, pair);
}

/* ---- by reflections ---- */

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

static plx_status householder_qr(plx_context *ctx, plx_mat a, plx_mat r)
{
    plx_mat t;
    double *sign = NULL;
    int info = 0;
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
    return PLX_OK;
}

plx_status plx__qr(plx_context *ctx, plx_mat a, plx_mat r)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    bool done = false;
    PLX_ASSERT(a.rows >= a.cols);
    if (a.cols == 0) return PLX_OK;
    if (a.rows >= MIN_ROWS && a.rows >= TALL * a.cols) PLX_TRY(cholesky_qr(ctx, a, r, &done));
    plx__arena_rewind(plx__scratch(ctx), mark);
    if (!done) PLX_TRY(householder_qr(ctx, a, r));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
