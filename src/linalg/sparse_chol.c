/*
 * CHOLMOD behind a small object. Our CSR of the lower triangle is CHOLMOD's compressed-column upper
 * triangle (stype = 1): the same numbers read the other way, so indices are copied, not transposed.
 */
#include "linalg/sparse_chol.h"

#include <cholmod.h>
#include <math.h>
#include <string.h>

#include "linalg/blas.h"
#include "linalg/csr.h"
#include "linalg/dense.h"

struct plx__sparse_chol {
    plx_context *owner;
    cholmod_common common;
    cholmod_factor *factor;
    plx_index n;
};

/* Column pointers and rows of the lower triangle, counted in 64 bits (the "l" interface). */
static cholmod_sparse *lower_part(plx_ccsr a, cholmod_common *common)
{
    size_t count = 0;
    for (plx_index i = 0; i < a.rows; i++)
        for (int64_t p = a.ptr[i]; p < a.ptr[i + 1]; p++) count += a.col[p] <= i;
    cholmod_sparse *s = cholmod_l_allocate_sparse((size_t)a.rows, (size_t)a.rows, count, 1, 1, 1, CHOLMOD_REAL, common);
    if (!s) return NULL;
    SuiteSparse_long *ptr = s->p, *row = s->i, to = 0;
    double *val = s->x;
    for (plx_index i = 0; i < a.rows; i++) {
        ptr[i] = to;
        for (int64_t p = a.ptr[i]; p < a.ptr[i + 1]; p++) {
            if (a.col[p] > i) continue;
            row[to] = a.col[p];
            val[to++] = a.val[p];
        }
    }
    ptr[a.rows] = to;
    return s;
}

static plx_status cholmod_outcome(plx_context *ctx, const plx__sparse_chol *f, const char *what)
{
    int status = f->common.status;
    if (status == CHOLMOD_OK || status == CHOLMOD_DSMALL) return PLX_OK;
    if (status == CHOLMOD_NOT_POSDEF) {
        SuiteSparse_long place = f->factor ? (SuiteSparse_long)f->factor->minor : 0;
        const SuiteSparse_long *perm = f->factor ? f->factor->Perm : NULL;
        if (perm && place < f->n) place = perm[place];
        PLX_FAIL(ctx, PLX_E_NUMERIC, "%s is not positive definite (column %lld)", what, (long long)place);
    }
    if (status == CHOLMOD_OUT_OF_MEMORY || status == CHOLMOD_TOO_LARGE)
        PLX_FAIL(ctx, PLX_E_NOMEM, "%s: out of memory in the sparse factorisation", what);
    PLX_FAIL(ctx, PLX_E_INTERNAL, "%s: sparse factorisation failed (%d): please report this", what, status);
}

static plx_status check_diagonal(plx_context *ctx, plx_ccsr a, const char *what)
{
    for (plx_index i = 0; i < a.rows; i++) {
        double d = plx__csr_get(a, i, i);
        if (!(d > 0) || !isfinite(d))
            PLX_FAIL(ctx, PLX_E_NUMERIC, "%s is not positive definite (column %lld)", what, (long long)i);
    }
    return PLX_OK;
}

/* The analysis is made once; numbers are filled in with BLAS on one thread, so they do not depend on threads. */
static plx_status factor_numbers(plx__sparse_chol *f, plx_context *ctx, plx_ccsr a, const char *what)
{
    PLX_TRY(check_diagonal(ctx, a, what));
    cholmod_sparse *s = lower_part(a, &f->common);
    plx__blas_scope scope = plx__blas_enter();
    if (s && !f->factor) f->factor = cholmod_l_analyze(s, &f->common);
    if (s && f->factor) cholmod_l_factorize(s, f->factor, &f->common);
    plx__blas_leave(scope);
    plx_status st = cholmod_outcome(ctx, f, what);
    if (s) cholmod_l_free_sparse(&s, &f->common);
    return st;
}

plx_status plx__sparse_chol_create(plx__sparse_chol **out, plx_context *ctx, plx_ccsr a, const char *what)
{
    *out = NULL;
    PLX_ASSERT(a.rows == a.cols);
    plx__sparse_chol *f = plx__alloc(ctx, sizeof *f);
    if (!f) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory for a sparse factorisation");
    memset(f, 0, sizeof *f);
    f->owner = ctx;
    f->n = a.rows;
    cholmod_l_start(&f->common);
    f->common.print = 0;
    f->common.try_catch = 1; /* no error handler, no printing */
    f->common.quick_return_if_not_posdef = 1;
    f->common.final_ll = 1;
    f->common.nmethods = 1; /* AMD only: METIS draws random numbers */
    f->common.method[0].ordering = CHOLMOD_AMD;
    plx_status st = factor_numbers(f, ctx, a, what);
    if (st != PLX_OK) {
        plx__sparse_chol_destroy(f);
        return st;
    }
    *out = f;
    return PLX_OK;
}

plx_status plx__sparse_chol_refactor(plx__sparse_chol *f, plx_context *ctx, plx_ccsr a, const char *what)
{
    PLX_ASSERT(a.rows == f->n);
    f->common.status = CHOLMOD_OK;
    return factor_numbers(f, ctx, a, what);
}

/* CHOLMOD wants columns: a transposed copy goes in and out. Solving only reads the factor, but CHOLMOD
 * writes counters into its common block: each solve uses a copy of it. */
plx_status plx__sparse_chol_solve(const plx__sparse_chol *f, plx_context *ctx, plx_mat b)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat t;
    PLX_ASSERT(b.rows == f->n);
    if (b.rows == 0 || b.cols == 0) return PLX_OK;
    PLX_TRY(plx__arena_mat(&t, plx__scratch(ctx), b.cols, b.rows));
    plx__mat_transpose(t, plx__cmat(b));
    cholmod_dense rhs = {.nrow = (size_t)b.rows,
                         .ncol = (size_t)b.cols,
                         .nzmax = (size_t)(b.rows * b.cols),
                         .d = (size_t)b.rows,
                         .x = t.data,
                         .xtype = CHOLMOD_REAL,
                         .dtype = CHOLMOD_DOUBLE};
    cholmod_common common;
    cholmod_l_start(&common);
    common.print = 0;
    common.try_catch = 1;
    plx__blas_scope scope = plx__blas_enter();
    cholmod_dense *x = cholmod_l_solve(CHOLMOD_A, f->factor, &rhs, &common);
    plx__blas_leave(scope);
    if (x) plx__mat_transpose(b, plx__cmat_of(x->x, b.cols, b.rows));
    bool ok = x != NULL;
    if (x) cholmod_l_free_dense(&x, &common);
    cholmod_l_finish(&common);
    if (!ok) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory in a sparse solve of %lld columns", (long long)b.cols);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* Pivots of a simplicial factor (LL' or LDL'), or of a supernodal one, whose supernode s holds columns super[s].. of a
 * dense trapezoid; handed to `see` one by one. */
static void each_pivot(const plx__sparse_chol *f, void (*see)(double *to, double pivot), double *to)
{
    const cholmod_factor *l = f->factor;
    const double *x = l->x;
    if (!l->is_super) {
        const SuiteSparse_long *ptr = l->p;
        for (plx_index j = 0; j < f->n; j++) see(to, l->is_ll ? x[ptr[j]] * x[ptr[j]] : x[ptr[j]]);
        return;
    }
    const SuiteSparse_long *super = l->super, *pi = l->pi, *px = l->px;
    for (size_t s = 0; s < l->nsuper; s++) {
        SuiteSparse_long cols = super[s + 1] - super[s], rows = pi[s + 1] - pi[s];
        for (SuiteSparse_long j = 0; j < cols; j++) {
            double d = x[px[s] + j * (rows + 1)];
            see(to, d * d);
        }
    }
}

static void add_log(double *to, double pivot) { *to += log(pivot); }
static void keep_smallest(double *to, double pivot) { *to = fmin(*to, pivot); }

double plx__sparse_chol_logdet(const plx__sparse_chol *f)
{
    double sum = 0;
    each_pivot(f, add_log, &sum);
    return sum;
}

double plx__sparse_chol_smallest_pivot(const plx__sparse_chol *f)
{
    double least = INFINITY;
    each_pivot(f, keep_smallest, &least);
    return least;
}

void plx__sparse_chol_destroy(plx__sparse_chol *f)
{
    if (!f) return;
    if (f->factor) cholmod_l_free_factor(&f->factor, &f->common);
    cholmod_l_finish(&f->common);
    plx__release(f->owner, f, sizeof *f);
}
