/*
 * Dense eigen, singular value and QR problems through LAPACK, with what mathematics leaves free fixed.
 *
 * LAPACK's columns are our rows. A symmetric matrix is its own transpose; for the SVD the factors of A'
 * come out exactly where the factors of A are wanted; eigenvectors are turned round once at the end.
 */
#include "linalg/eigen.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>

#include "linalg/blas.h"
#include "linalg/eigen_lapack.h"
#include "linalg/factor.h"

enum { LARGEST_FULL = 32000 };        /* dsyevd's workspace of 2 n^2 must be countable in 32 bits */
static const double TIE = 1.0 - 1e-9; /* entries this close to the largest count as equal to it */

static void negate_column(plx_mat m, plx_index j)
{
    for (plx_index i = 0; m.data && i < m.rows; i++) m.data[i * m.ld + j] = -m.data[i * m.ld + j];
}

int plx__leading_sign(const double *x, plx_index n, plx_index stride)
{
    double big = 0;
    for (plx_index i = 0; i < n; i++) big = fmax(big, fabs(x[i * stride]));
    for (plx_index i = 0; i < n; i++)
        if (fabs(x[i * stride]) >= TIE * big) return x[i * stride] < 0 ? -1 : 1;
    return 1;
}

void plx__fix_sign(plx_mat v, plx_index j, plx_mat partner)
{
    if (plx__leading_sign(v.data + j, v.rows, v.ld) > 0) return;
    negate_column(v, j);
    negate_column(partner, j);
}

static const plx_mat NONE = {NULL, 0, 0, 0};

plx_status plx__eigen_input(plx_context *ctx, plx_mat a)
{
    PLX_TRY(plx__blas_fits(ctx, a.rows, a.cols, a.ld));
    if (plx__all_finite(plx__cmat(a))) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_NUMERIC, "a matrix to be decomposed holds a value that is not finite");
}

plx_status plx__eigen_outcome(plx_context *ctx, const char *routine, int info)
{
    if (info < 0) return plx__lapack_fault(ctx, routine, info);
    if (info > 0) PLX_FAIL(ctx, PLX_E_NUMERIC, "the iteration of %s did not converge (%d)", routine, info);
    return PLX_OK;
}

static int workspace_ints(double size) { return size < 2147483647.0 ? (int)size : 2147483647; }

/* dsyevd leaves the eigenvectors in the columns it sees: the rows of `a`. */
static plx_status run_syevd(plx_context *ctx, plx_mat a, double *values, char job, int *info)
{
    int n = plx__blas_int(a.rows), ld = plx__blas_int(a.ld), isize = 0, *iwork = NULL;
    double size = 0, *work = NULL;
    *info = LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, job, 'U', n, a.data, ld, values, &size, -1, &isize, -1);
    if (*info) return PLX_OK;
    PLX_TRY(plx__arena_bytes((void **)&work, plx__scratch(ctx), (plx_index)size, sizeof(double)));
    PLX_TRY(plx__arena_bytes((void **)&iwork, plx__scratch(ctx), isize, sizeof(int)));
    *info = LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, job, 'U', n, a.data, ld, values, work, workspace_ints(size), iwork,
                                isize);
    return PLX_OK;
}

plx_status plx__sym_eigen(plx_context *ctx, plx_mat a, double *values, plx_mat vectors)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    int info = 0;
    PLX_ASSERT(a.rows == a.cols);
    if (a.rows == 0) return PLX_OK;
    if (a.rows > LARGEST_FULL)
        PLX_FAIL(ctx, PLX_E_NOMEM, "all eigenvectors of a matrix of order %lld are out of reach", (long long)a.rows);
    PLX_TRY(plx__eigen_input(ctx, a));
    plx__blas_scope scope = plx__blas_enter_factor(ctx);
    plx_status st = run_syevd(ctx, a, values, vectors.data ? 'V' : 'N', &info);
    plx__blas_leave(scope);
    PLX_TRY(st);
    PLX_TRY(plx__eigen_outcome(ctx, "dsyevd", info));
    plx__arena_rewind(plx__scratch(ctx), mark);
    if (!vectors.data) return PLX_OK;
    plx__mat_transpose(vectors, plx__cmat(a));
    for (plx_index j = 0; j < a.rows; j++) plx__fix_sign(vectors, j, NONE);
    return PLX_OK;
}

/* ---- singular values ---- */

typedef struct svd_job {
    plx_mat a, u, vt;
    double *s;
    int *iwork;
} svd_job;

/* LAPACK sees A' = V S U': its U is our Vt and its VT is our U, each in the layout we want. */
static int call_gesdd(const svd_job *j, double *work, int lwork)
{
    int rows = plx__blas_int(j->a.cols), cols = plx__blas_int(j->a.rows);
    int ldv = plx__blas_int(plx__max(1, j->vt.ld)), ldu = plx__blas_int(plx__max(1, j->u.ld));
    return LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, j->u.data ? 'S' : 'N', rows, cols, j->a.data, plx__blas_int(j->a.ld),
                               j->s, j->vt.data, ldv, j->u.data, ldu, work, lwork, j->iwork);
}

static int call_gesvd(const svd_job *j, double *work, int lwork)
{
    int rows = plx__blas_int(j->a.cols), cols = plx__blas_int(j->a.rows);
    int ldv = plx__blas_int(plx__max(1, j->vt.ld)), ldu = plx__blas_int(plx__max(1, j->u.ld));
    char job = j->u.data ? 'S' : 'N';
    return LAPACKE_dgesvd_work(LAPACK_COL_MAJOR, job, job, rows, cols, j->a.data, plx__blas_int(j->a.ld), j->s,
                               j->vt.data, ldv, j->u.data, ldu, work, lwork);
}

static plx_status run_svd(plx_context *ctx, const svd_job *j, int (*call)(const svd_job *, double *, int), int *info)
{
    double size = 0, *work = NULL;
    *info = call(j, &size, -1);
    if (*info) return PLX_OK;
    PLX_TRY(plx__arena_bytes((void **)&work, plx__scratch(ctx), (plx_index)size, sizeof(double)));
    *info = call(j, work, workspace_ints(size));
    return PLX_OK;
}

static void fix_svd_signs(plx_mat u, plx_mat vt)
{
    for (plx_index j = 0; u.data && j < u.cols; j++) {
        if (plx__leading_sign(u.data + j, u.rows, u.ld) > 0) continue;
        negate_column(u, j);
        plx__scale(vt.data + j * vt.ld, -1.0, vt.cols);
    }
}

/* Divide and conquer fails on rare matrices on which the slower QR iteration does not: keep a copy. */
static plx_status svd_with_fallback(plx_context *ctx, svd_job *job, int *info)
{
    plx_mat copy;
    PLX_TRY(plx__mat_clone(&copy, plx__scratch(ctx), plx__cmat(job->a)));
    PLX_TRY(run_svd(ctx, job, call_gesdd, info));
    if (*info <= 0) return PLX_OK;
    plx__mat_copy(job->a, plx__cmat(copy));
    return run_svd(ctx, job, call_gesvd, info);
}

plx_status plx__svd(plx_context *ctx, plx_mat a, plx_mat u, double *s, plx_mat vt)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index r = plx__min(a.rows, a.cols);
    svd_job job = {.a = a, .u = u, .vt = vt, .s = s};
    int info = 0;
    PLX_ASSERT(!u.data == !vt.data);
    if (r == 0) return PLX_OK;
    PLX_TRY(plx__eigen_input(ctx, a));
    PLX_TRY(plx__arena_bytes((void **)&job.iwork, plx__scratch(ctx), 8 * r, sizeof(int)));
    plx__blas_scope scope = plx__blas_enter_factor(ctx);
    plx_status st = svd_with_fallback(ctx, &job, &info);
    plx__blas_leave(scope);
    PLX_TRY(st);
    PLX_TRY(plx__eigen_outcome(ctx, "dgesdd", info));
    fix_svd_signs(u, vt);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
