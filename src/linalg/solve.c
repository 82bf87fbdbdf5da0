/*
 * Solves: triangular and Cholesky systems in blocks of right-hand sides; LU and Bunch-Kaufman through
 * LAPACK on transposed right-hand sides (the matrix itself is never transposed).
 */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>

#include "core/parallel.h"
#include "linalg/blas.h"
#include "linalg/factor.h"

enum { RHS_BLOCK = 128 }; /* most right-hand sides at once: BLAS packs the whole triangle for each block */

typedef struct tri_job {
    plx_cmat l;
    plx_mat b;
    CBLAS_SIDE side;
    CBLAS_TRANSPOSE trans;
} tri_job;

static plx_status solve_block(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const tri_job *job = arg;
    (void)ctx, (void)worker;
    bool left = job->side == CblasLeft;
    int rows = plx__blas_int(left ? job->l.rows : end - begin), cols = plx__blas_int(left ? end - begin : job->l.rows);
    double *b = left ? job->b.data + begin : job->b.data + begin * job->b.ld;
    cblas_dtrsm(CblasRowMajor, job->side, CblasLower, job->trans, CblasNonUnit, rows, cols, 1.0, job->l.data,
                plx__blas_int(job->l.ld), b, plx__blas_int(job->b.ld));
    return PLX_OK;
}

/* Blocks of equal size, in whole registers, instead of a small one at the end. */
static plx_index even_block(plx_index count)
{
    plx_index blocks = (count + RHS_BLOCK - 1) / RHS_BLOCK;
    return ((count + blocks - 1) / blocks + 7) / 8 * 8;
}

static plx_status tri_solve(plx_context *ctx, plx_cmat l, plx__trans tl, plx_mat b, CBLAS_SIDE side)
{
    tri_job job = {l, b, side, tl == PLX__N ? CblasNoTrans : CblasTrans};
    PLX_ASSERT(l.rows == l.cols && l.rows == (side == CblasLeft ? b.rows : b.cols));
    PLX_TRY(plx__blas_fits(ctx, l.rows, b.cols, plx__max(l.ld, b.ld)));
    if (b.rows == 0 || b.cols == 0) return PLX_OK;
    plx_index count = side == CblasLeft ? b.cols : b.rows;
    plx__blas_scope scope = plx__blas_enter();
    plx_status st = plx__parallel_for(ctx, count, even_block(count), solve_block, &job);
    plx__blas_leave(scope);
    return st;
}

plx_status plx__tri_solve(plx_context *ctx, plx_cmat l, plx__trans tl, plx_mat b)
{
    return tri_solve(ctx, l, tl, b, CblasLeft);
}

plx_status plx__tri_solve_right(plx_context *ctx, plx_cmat l, plx__trans tl, plx_mat b)
{
    return tri_solve(ctx, l, tl, b, CblasRight);
}

static plx_status tri_solve_serial(plx_context *ctx, plx_cmat l, plx__trans tl, plx_mat b, CBLAS_SIDE side)
{
    tri_job job = {l, b, side, tl == PLX__N ? CblasNoTrans : CblasTrans};
    PLX_TRY(plx__blas_fits(ctx, l.rows, b.cols, plx__max(l.ld, b.ld)));
    if (b.rows == 0 || b.cols == 0) return PLX_OK;
    plx__blas_scope scope = plx__blas_enter();
    plx_status st = solve_block(&job, ctx, 0, side == CblasLeft ? b.cols : b.rows, 0);
    plx__blas_leave(scope);
    return st;
}

plx_status plx__tri_solve_serial(plx_context *ctx, plx_cmat l, plx__trans tl, plx_mat b)
{
    return tri_solve_serial(ctx, l, tl, b, CblasLeft);
}

plx_status plx__tri_solve_right_serial(plx_context *ctx, plx_cmat l, plx__trans tl, plx_mat b)
{
    return tri_solve_serial(ctx, l, tl, b, CblasRight);
}

plx_status plx__tri_solve_vec(plx_context *ctx, plx_cmat l, plx__trans tl, double *x)
{
    PLX_TRY(plx__blas_fits(ctx, l.rows, l.cols, l.ld));
    if (l.rows == 0) return PLX_OK;
    plx__blas_scope scope = plx__blas_enter();
    cblas_dtrsv(CblasRowMajor, CblasLower, tl == PLX__N ? CblasNoTrans : CblasTrans, CblasNonUnit,
                plx__blas_int(l.rows), l.data, plx__blas_int(l.ld), x, 1);
    plx__blas_leave(scope);
    return PLX_OK;
}

plx_status plx__chol_solve(plx_context *ctx, plx_cmat l, plx_mat b)
{
    PLX_TRY(plx__tri_solve(ctx, l, PLX__N, b));
    return plx__tri_solve(ctx, l, PLX__T, b);
}

plx_status plx__chol_solve_vec(plx_context *ctx, plx_cmat l, double *x)
{
    PLX_TRY(plx__tri_solve_vec(ctx, l, PLX__N, x));
    return plx__tri_solve_vec(ctx, l, PLX__T, x);
}

/* ---- LU and Bunch-Kaufman ---- */

static plx_status singular(plx_context *ctx, const char *what, int info)
{
    PLX_FAIL(ctx, PLX_E_NUMERIC, "%s is singular (pivot %d)", what, info - 1);
}

typedef struct general {
    plx_mat a;
    plx_mat rhs; /* B', so that LAPACK sees the columns of B */
    int *pivot;
} general;

static plx_status prepare(plx_context *ctx, general *g, plx_mat a, plx_mat b, const char *what)
{
    PLX_ASSERT(a.rows == a.cols && a.rows == b.rows);
    PLX_TRY(plx__blas_fits(ctx, a.rows, b.cols, a.ld));
    if (!plx__all_finite(plx__cmat(a))) PLX_FAIL(ctx, PLX_E_NUMERIC, "%s holds a value that is not finite", what);
    g->a = a;
    PLX_TRY(plx__arena_bytes((void **)&g->pivot, plx__scratch(ctx), a.rows, sizeof(int)));
    PLX_TRY(plx__arena_mat(&g->rhs, plx__scratch(ctx), b.cols, b.rows));
    plx__mat_transpose(g->rhs, plx__cmat(b));
    return PLX_OK;
}

/* Column-major LAPACK sees A': its transposed solve is ours. */
static int lu_factor_solve(const general *g)
{
    int n = plx__blas_int(g->a.rows), lda = plx__blas_int(g->a.ld), m = plx__blas_int(g->rhs.rows);
    int info = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, g->a.data, lda, g->pivot);
    if (info) return info;
    return LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'T', n, m, g->a.data, lda, g->pivot, g->rhs.data, n);
}

plx_status plx__lu_solve(plx_context *ctx, plx_mat a, plx_mat b, const char *what)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    general g;
    if (b.rows == 0 || b.cols == 0) return PLX_OK;
    PLX_TRY(prepare(ctx, &g, a, b, what));
    plx__blas_scope scope = plx__blas_enter_factor(ctx);
    int info = lu_factor_solve(&g);
    plx__blas_leave(scope);
    if (info < 0) return plx__lapack_fault(ctx, "dgetrf", info);
    if (info > 0) return singular(ctx, what, info);
    plx__mat_transpose(b, plx__cmat(g.rhs));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

static plx_status sym_factor_solve(plx_context *ctx, const general *g, int *info)
{
    int n = plx__blas_int(g->a.rows), lda = plx__blas_int(g->a.ld), m = plx__blas_int(g->rhs.rows);
    double size = 0, *work = NULL;
    *info = LAPACKE_dsytrf_work(LAPACK_COL_MAJOR, 'U', n, g->a.data, lda, g->pivot, &size, -1);
    if (*info) return PLX_OK;
    PLX_TRY(plx__arena_f64(&work, plx__scratch(ctx), (plx_index)size, 1));
    *info = LAPACKE_dsytrf_work(LAPACK_COL_MAJOR, 'U', n, g->a.data, lda, g->pivot, work, (int)size);
    if (*info == 0) *info = LAPACKE_dsytrs_work(LAPACK_COL_MAJOR, 'U', n, m, g->a.data, lda, g->pivot, g->rhs.data, n);
    return PLX_OK;
}

plx_status plx__sym_solve(plx_context *ctx, plx_mat a, plx_mat b, const char *what)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    general g;
    int info = 0;
    if (b.rows == 0 || b.cols == 0) return PLX_OK;
    PLX_TRY(prepare(ctx, &g, a, b, what));
    plx__blas_scope scope = plx__blas_enter_factor(ctx);
    plx_status st = sym_factor_solve(ctx, &g, &info);
    plx__blas_leave(scope);
    PLX_TRY(st);
    if (info < 0) return plx__lapack_fault(ctx, "dsytrf", info);
    if (info > 0) return singular(ctx, what, info);
    plx__mat_transpose(b, plx__cmat(g.rhs));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
