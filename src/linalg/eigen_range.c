/*
 * Some eigenpairs of a dense symmetric matrix, in steps between which a cancel is heard.
 *
 * The steps are those of LAPACK's dsyevr for a range, with the same block size: panels reduce the matrix to a tridiagonal
 * one (dlatrd and a rank-2k update, which is what dsytrd does), bisection and inverse iteration find the wanted pairs of
 * that (bisection.c, or dstebz where the matrix splits; dstein), and the reflections are applied to them in pieces (dormtr). The reduction is nearly all of the
 * work and takes seconds at order 4,000. LAPACK's columns are our rows: our lower triangle is its upper one.
 */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>

#include "linalg/blas.h"
#include "linalg/eigen.h"
#include "linalg/eigen_lapack.h"

enum { PANEL = 32, CROSSOVER = 32, COLUMNS_AT_A_TIME = 64 }; /* the first two as in dsytrd */

/* Reduces the last `nb` columns of the leading n x n matrix; not in lapacke.h. The last argument is the length of the
 * first, as Fortran passes it. */
extern void dlatrd_(const char *uplo, const int *n, const int *nb, double *a, const int *lda, double *e, double *tau,
                    double *w, const int *ldw, size_t uplo_length);

typedef struct range_job {
    plx_context *ctx;
    plx_mat a;
    int n, ld, first, last, found; /* first and last count from 1 */
    double *d, *e, *tau, *work;    /* diagonal, off-diagonal, reflections; n x PANEL and more */
    double *values, *z;            /* found ones in LAPACK's order; z: count x n for us; NULL: values only */
    int *block, *split, *failed, *iwork;
    double scale;
} range_job;

/* Values whose squares leave the range of numbers are brought to it by a power of two. */
static void bring_into_range(range_job *r)
{
    double largest = 0;
    int exponent = 0;
    for (int i = 0; i < r->n; i++)
        for (int j = 0; j <= i; j++) largest = fmax(largest, fabs(r->a.data[(size_t)i * (size_t)r->ld + (size_t)j]));
    r->scale = 1;
    if (largest == 0 || (largest > 1e-120 && largest < 1e70)) return;
    frexp(largest, &exponent);
    exponent = exponent < -1000 ? -1000 : exponent;
    r->scale = ldexp(1, -exponent);
    for (int i = 0; i < r->n; i++) plx__scale(r->a.data + (size_t)i * (size_t)r->ld, r->scale, i + 1);
}

static plx_status reduce(range_job *r)
{
    const int nb = PANEL;
    int rest = r->n > CROSSOVER ? r->n - (r->n - CROSSOVER + nb - 1) / nb * nb : r->n;
    for (int i = r->n - nb; i >= rest; i -= nb) {
        int m = i + nb;
        double *column = r->a.data + (size_t)i * (size_t)r->ld;
        dlatrd_("U", &m, &nb, r->a.data, &r->ld, r->e, r->tau, r->work, &r->n, 1);
        cblas_dsyr2k(CblasColMajor, CblasUpper, CblasNoTrans, i, nb, -1.0, column, r->ld, r->work, r->n, 1.0, r->a.data,
                     r->ld);
        for (int j = i; j < m; j++, column += r->ld) {
            if (j > 0) column[j - 1] = r->e[j - 1];
            r->d[j] = column[j];
        }
        PLX_TRY(plx__poll(r->ctx));
    }
    int info = LAPACKE_dsytrd_work(LAPACK_COL_MAJOR, 'U', rest, r->a.data, r->ld, r->d, r->e, r->tau, r->work, 1);
    return plx__eigen_outcome(r->ctx, "dsytrd", info);
}

/* All values wanted, of one block where the matrix does not split. */
static plx_status tridiagonal_values(range_job *r)
{
    int splits = 0;
    if (!plx__tridiagonal_splits(r->d, r->e, r->n)) {
        r->found = r->last - r->first + 1;
        for (int j = 0; j < r->found; j++) r->block[j] = 1;
        r->split[0] = r->n;
        return plx__tridiagonal_values(r->ctx, r->d, r->e, r->n, r->first - 1, r->found, r->values);
    }
    int info = LAPACKE_dstebz_work('I', r->z ? 'B' : 'E', r->n, 0, 0, r->first, r->last, 0.0, r->d, r->e, &r->found,
                                   &splits, r->values, r->block, r->split, r->work, r->iwork);
    PLX_TRY(plx__eigen_outcome(r->ctx, "dstebz", info));
    if (r->found != r->last - r->first + 1)
        PLX_FAIL(r->ctx, PLX_E_NUMERIC, "dstebz found %d of %d eigenvalues", r->found, r->last - r->first + 1);
    return PLX_OK;
}

static plx_status tridiagonal_pairs(range_job *r)
{
    PLX_TRY(tridiagonal_values(r));
    PLX_TRY(plx__poll(r->ctx));
    if (!r->z) return PLX_OK;
    int info = LAPACKE_dstein_work(LAPACK_COL_MAJOR, r->n, r->d, r->e, r->found, r->values, r->block, r->split, r->z,
                                   r->n, r->work, r->iwork, r->failed);
    return plx__eigen_outcome(r->ctx, "dstein", info);
}

/* From eigenvectors of the tridiagonal matrix to those of `a`. */
static plx_status turn_back(range_job *r)
{
    for (int j = 0; r->z && j < r->found; j += COLUMNS_AT_A_TIME) {
        int count = r->found - j < COLUMNS_AT_A_TIME ? r->found - j : COLUMNS_AT_A_TIME;
        int info = LAPACKE_dormtr_work(LAPACK_COL_MAJOR, 'L', 'U', 'N', r->n, count, r->a.data, r->ld, r->tau,
                                       r->z + (size_t)j * (size_t)r->n, r->n, r->work, r->n * PANEL);
        PLX_TRY(plx__eigen_outcome(r->ctx, "dormtr", info));
        PLX_TRY(plx__poll(r->ctx));
    }
    return PLX_OK;
}

static plx_status find_pairs(range_job *r)
{
    PLX_TRY(reduce(r));
    PLX_TRY(tridiagonal_pairs(r));
    return turn_back(r);
}

/* dstebz numbers the values block by block of the tridiagonal matrix; ours ascend. */
static void sort_into(const range_job *r, double *values, plx_mat vectors)
{
    for (int k = 0; k < r->found; k++) {
        int rank = 0;
        for (int j = 0; j < r->found; j++)
            rank += r->values[j] < r->values[k] || (r->values[j] == r->values[k] && j < k);
        values[rank] = r->values[k] / r->scale;
        for (int i = 0; r->z && i < r->n; i++)
            vectors.data[(size_t)i * (size_t)vectors.ld + (size_t)rank] = r->z[(size_t)k * (size_t)r->n + (size_t)i];
    }
}

static plx_status open_range(range_job *r, plx_index count, bool vectors)
{
    plx__arena *scratch = plx__scratch(r->ctx);
    int **const lists[] = {&r->block, &r->split, &r->failed, &r->iwork};
    PLX_TRY(plx__arena_f64(&r->d, scratch, r->n, 1));
    PLX_TRY(plx__arena_f64(&r->e, scratch, r->n, 1));
    PLX_TRY(plx__arena_f64(&r->tau, scratch, r->n, 1));
    PLX_TRY(plx__arena_f64(&r->values, scratch, r->n, 1));
    PLX_TRY(plx__arena_f64(&r->work, scratch, r->n, PANEL));
    for (int k = 0; k < 4; k++) PLX_TRY(plx__arena_bytes((void **)lists[k], scratch, 3 * r->n, sizeof(int)));
    return vectors ? plx__arena_f64(&r->z, scratch, count, r->n) : PLX_OK;
}

plx_status plx__sym_eigen_range(plx_context *ctx, plx_mat a, plx_index first, plx_index count, double *values,
                                plx_mat vectors)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    PLX_ASSERT(a.rows == a.cols && first >= 0 && count >= 0 && first + count <= a.rows);
    if (count == 0) return PLX_OK;
    PLX_TRY(plx__eigen_input(ctx, a));
    range_job r = {.ctx = ctx, .a = a, .n = plx__blas_int(a.rows), .ld = plx__blas_int(a.ld)};
    r.first = plx__blas_int(first + 1);
    r.last = plx__blas_int(first + count);
    PLX_TRY(open_range(&r, count, vectors.data));
    bring_into_range(&r);
    plx__blas_scope scope = plx__blas_enter_factor(ctx);
    plx_status st = find_pairs(&r);
    plx__blas_leave(scope);
    PLX_TRY(st);
    sort_into(&r, values, vectors);
    for (plx_index j = 0; vectors.data && j < count; j++) plx__fix_sign(vectors, j, (plx_mat){0});
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
