/*
 * A few eigenpairs by ARPACK's reverse communication (dsaupd, dseupd), started from our own random vector.
 */
#include "linalg/eigen_sparse.h"

#include <arpack/arpack.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "core/rng.h"
#include "linalg/blas.h"
#include "linalg/csr.h"
#include "linalg/eigen.h"

enum { DENSE_ORDER = 200, DENSE_RESCUE = 3000, IPARAM = 11, IPNTR = 11 };

static pthread_mutex_t arpack_turn = PTHREAD_MUTEX_INITIALIZER;

plx_status plx__csr_apply(void *arg, plx_context *ctx, double *y, const double *x)
{
    return plx__spmv(ctx, 1.0, *(const plx_ccsr *)arg, x, 0.0, y);
}

/* ---- dense path ---- */

static plx_status form_matrix(plx_context *ctx, plx__operator a, plx_mat m)
{
    double *unit = NULL;
    PLX_TRY(plx__arena_f64(&unit, plx__scratch(ctx), a.n, 1));
    for (plx_index j = 0; j < a.n; j++) { /* row j = A e_j, by symmetry */
        unit[j] = 1.0;
        PLX_TRY(a.apply(a.arg, ctx, m.data + j * m.ld, unit));
        unit[j] = 0.0;
    }
    return PLX_OK;
}

static void reverse_columns(double *values, plx_mat v, plx_index k)
{
    for (plx_index j = 0; j < k / 2; j++) {
        double t = values[j];
        values[j] = values[k - 1 - j];
        values[k - 1 - j] = t;
        for (plx_index i = 0; v.data && i < v.rows; i++) {
            double *row = v.data + i * v.ld;
            t = row[j];
            row[j] = row[k - 1 - j];
            row[k - 1 - j] = t;
        }
    }
}

static plx_status solve_densely(plx_context *ctx, plx__operator a, plx_index k, plx__end which, double *values,
                                plx_mat vectors)
{
    plx_mat m;
    PLX_TRY(plx__arena_mat(&m, plx__scratch(ctx), a.n, a.n));
    PLX_TRY(form_matrix(ctx, a, m));
    PLX_TRY(plx__sym_eigen_range(ctx, m, which == PLX__LARGEST ? a.n - k : 0, k, values, vectors));
    if (which == PLX__LARGEST) reverse_columns(values, vectors, k);
    return PLX_OK;
}

/* ---- ARPACK ---- */

typedef struct lanczos {
    plx__operator a;
    int n, k, basis, iparam[IPARAM], ipntr[IPNTR], info;
    const char *which;
    double tol;
    double *start, *v, *workd, *workl; /* n; basis x n for us; 3 n; basis (basis + 8) */
    double *image;                     /* last product, to notice a breakdown */
    int lworkl, *select;
    bool broke_down;
} lanczos;

static plx_index default_basis(plx_index n, plx_index k) { return plx__min(n, plx__max(2 * k + 1, 20)); }

static plx_status prepare(plx_context *ctx, lanczos *z, const plx__eigen_options *o)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx_index basis = o->basis > z->k ? plx__min(o->basis, z->n) : default_basis(z->n, z->k);
    plx_index restarts = o->max_iter ? o->max_iter : plx__max(300, 10 * (plx_index)z->n / z->k);
    PLX_TRY(plx__blas_fits(ctx, basis * (basis + 8), basis, z->n));
    z->basis = plx__blas_int(basis);
    z->lworkl = plx__blas_int(basis * (basis + 8));
    z->iparam[0] = 1; /* exact shifts */
    z->iparam[2] = plx__blas_int(plx__min(restarts, INT32_MAX));
    z->iparam[6] = 1; /* A x = lambda x */
    z->info = 1;      /* start vector given */
    z->tol = o->tol;
    PLX_TRY(plx__arena_f64(&z->start, scratch, z->n, 1));
    PLX_TRY(plx__arena_f64(&z->v, scratch, z->basis, z->n));
    PLX_TRY(plx__arena_f64(&z->workd, scratch, z->n, 3));
    PLX_TRY(plx__arena_f64(&z->workl, scratch, z->lworkl, 1));
    PLX_TRY(plx__arena_i32(&z->select, scratch, z->basis));
    PLX_TRY(plx__arena_f64(&z->image, scratch, z->n, 1));
    uint64_t stream = o->stream ? o->stream : PLX__STREAM('e', 'i', 'g', 'n', 0);
    for (plx_index i = 0; i < z->n; i++) z->start[i] = plx__rng_normal(ctx->seed, stream, (uint64_t)i);
    return PLX_OK;
}

/* The next Lanczos vector is what is new in the last product. When it has nothing of it, the Krylov space was
 * exhausted (few distinct eigenvalues) and ARPACK has drawn the vector from its own generator, whose state
 * depends on earlier calls in the process. */
static bool drawn_by_arpack(const lanczos *z, const double *next)
{
    return fabs(plx__dot(next, z->image, z->n)) <= 1e-12 * plx__norm(z->image, z->n);
}

static plx_status iterate(plx_context *ctx, lanczos *z, const char *what)
{
    int ido = 0;
    for (plx_index step = 0;; step++) {
        dsaupd_c(&ido, "I", z->n, z->which, z->k, z->tol, z->start, z->basis, z->v, z->n, z->iparam, z->ipntr, z->workd,
                 z->workl, z->lworkl, &z->info);
        if (ido != 1 && ido != -1) return PLX_OK;
        if (step % 16 == 0) PLX_TRY(plx__report(ctx, what, step, 0, NAN));
        double *x = z->workd + z->ipntr[0] - 1, *y = z->workd + z->ipntr[1] - 1;
        z->broke_down = step > 0 && z->n <= DENSE_RESCUE && drawn_by_arpack(z, x);
        if (z->broke_down) return PLX_OK;
        PLX_TRY(z->a.apply(z->a.arg, ctx, y, x));
        memcpy(z->image, y, (size_t)z->n * sizeof *y);
    }
}

static plx_status outcome(plx_context *ctx, const lanczos *z, const char *what)
{
    if (z->info == 1 || (z->info == 0 && z->iparam[4] < z->k) || z->info == 3)
        PLX_FAIL(ctx, PLX_E_NUMERIC, "%s: only %d of %d eigenvalues converged in %d restarts; ask for fewer", what,
                 z->iparam[4], z->k, z->iparam[2]);
    if (z->info == -9999)
        PLX_FAIL(ctx, PLX_E_NUMERIC, "%s: the Lanczos basis broke down; ask for fewer eigenvalues", what);
    if (z->info < 0) PLX_FAIL(ctx, PLX_E_INTERNAL, "%s: dsaupd failed (%d): please report this", what, z->info);
    return PLX_OK;
}

/* dseupd hands values over ascending; vectors are LAPACK columns, our rows. */
static plx_status extract(plx_context *ctx, lanczos *z, double *values, plx_mat vectors, const char *what)
{
    double *rows = NULL;
    int info = 0;
    PLX_TRY(plx__arena_f64(&rows, plx__scratch(ctx), z->k, z->n));
    dseupd_c(vectors.data != NULL, "A", z->select, values, rows, z->n, 0.0, "I", z->n, z->which, z->k, z->tol, z->start,
             z->basis, z->v, z->n, z->iparam, z->ipntr, z->workd, z->workl, z->lworkl, &info);
    if (info) PLX_FAIL(ctx, PLX_E_NUMERIC, "%s: no eigenvectors could be extracted (%d)", what, info);
    if (vectors.data) plx__mat_transpose(vectors, plx__cmat_of(rows, z->k, z->n));
    return PLX_OK;
}

/* Ascending for the smallest, descending for the largest, whatever order ARPACK left. */
static void order_pairs(double *values, plx_mat v, plx_index k, plx__end which)
{
    for (plx_index i = 1; i < k; i++)
        for (plx_index j = i; j > 0; j--) {
            bool wrong = which == PLX__LARGEST ? values[j] > values[j - 1] : values[j] < values[j - 1];
            if (!wrong) break;
            plx_mat pair = v.data ? plx__sub(v, 0, j - 1, v.rows, 2) : v;
            reverse_columns(values + j - 1, pair, 2);
        }
}

static plx_status solve_by_arpack(plx_context *ctx, lanczos *z, double *values, plx_mat vectors, const char *what)
{
    pthread_mutex_lock(&arpack_turn);
    plx__blas_scope scope = plx__blas_enter();
    plx_status st = iterate(ctx, z, what);
    if (st == PLX_OK && !z->broke_down) st = outcome(ctx, z, what);
    if (st == PLX_OK && !z->broke_down) st = extract(ctx, z, values, vectors, what);
    plx__blas_leave(scope);
    pthread_mutex_unlock(&arpack_turn);
    return st;
}

plx_status plx__eigen_few(plx_context *ctx, plx__operator a, plx_index k, plx__end which,
                          const plx__eigen_options *options, double *values, plx_mat vectors, const char *what)
{
    static const plx__eigen_options defaults = {0};
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    PLX_ASSERT(k >= 0 && k <= a.n);
    if (k == 0) return PLX_OK;
    if (a.n <= DENSE_ORDER || 2 * k + 1 >= a.n) {
        PLX_TRY(solve_densely(ctx, a, k, which, values, vectors));
        plx__arena_rewind(plx__scratch(ctx), mark);
        return PLX_OK;
    }
    PLX_TRY(plx__blas_fits(ctx, a.n, k, a.n));
    lanczos z = {.a = a, .n = plx__blas_int(a.n), .k = plx__blas_int(k), .which = which == PLX__LARGEST ? "LA" : "SA"};
    PLX_TRY(prepare(ctx, &z, options ? options : &defaults));
    PLX_TRY(solve_by_arpack(ctx, &z, values, vectors, what));
    if (z.broke_down) PLX_TRY(solve_densely(ctx, a, k, which, values, vectors));
    order_pairs(values, vectors, k, which);
    for (plx_index j = 0; vectors.data && j < k; j++) plx__fix_sign(vectors, j, (plx_mat){NULL, 0, 0, 0});
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
