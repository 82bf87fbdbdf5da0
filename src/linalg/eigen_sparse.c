/*
 * Thick-restart Lanczos. With V the orthonormal basis (rows here), T = V A V' and r the residual of its last vector,
 * A V' = V' T + r e'. The eigenpairs T s = theta s give Ritz vectors V' s with |A v - theta v| = |r| |last entry of s|.
 * A restart keeps some of them: T becomes their diagonal, bordered by the couplings |r| s_last to the next vector.
 */
#include "linalg/eigen_sparse.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/rng.h"
#include "linalg/csr.h"
#include "linalg/eigen.h"

enum {
    DENSE_ORDER = 200,
    LEAST_STEPS = 6 /* vectors of a cycle before convergence is looked for */
};

static const double EARLY = 1e-4; /* share of the tolerance that ends a cycle before the basis is full */

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

/* ---- the basis ---- */

typedef struct lanczos {
    plx__operator a;
    plx_index n, k, basis; /* basis: vectors of a full cycle */
    plx__end which;
    double tol, below;
    uint64_t stream, draws;
    plx_mat v;    /* basis + 1 rows of length n */
    plx_mat t;    /* basis x basis */
    double *w;    /* n: the next vector */
    double *dots; /* basis + 1 */
    double beta;  /* length of the residual of the last vector */
    plx_index m;  /* vectors in use; row m of v is the next one */
    double *theta;
    plx_mat s; /* eigenpairs of t, in the order wanted */
} lanczos;

static plx_index basis_size(plx_index n, plx_index k, plx_index asked)
{
    return plx__min(n - 1, plx__max(k + 2, asked > k ? asked : plx__max(2 * k + 1, 20)));
}

static plx_status prepare(plx_context *ctx, lanczos *z, const plx__eigen_options *o)
{
    plx__arena *scratch = plx__scratch(ctx);
    z->basis = basis_size(z->n, z->k, o->basis);
    z->tol = o->tol > 0 ? o->tol : DBL_EPSILON;
    z->below = o->below;
    z->stream = o->stream ? o->stream : PLX__STREAM('e', 'i', 'g', 'n', 0);
    PLX_TRY(plx__arena_mat(&z->v, scratch, z->basis + 1, z->n));
    PLX_TRY(plx__arena_mat(&z->t, scratch, z->basis, z->basis));
    PLX_TRY(plx__arena_mat(&z->s, scratch, z->basis, z->basis));
    PLX_TRY(plx__arena_f64(&z->theta, scratch, z->basis, 1));
    PLX_TRY(plx__arena_f64(&z->dots, scratch, z->basis + 1, 1));
    return plx__arena_f64(&z->w, scratch, z->n, 1);
}

/* w -= V'(V w) over the first `count` vectors; the products are added to `sum` (NULL: dropped). */
static plx_status project_out(plx_context *ctx, lanczos *z, plx_index count, double *sum)
{
    plx_cmat v = plx__csub(plx__cmat(z->v), 0, 0, count, z->n);
    if (!count) return PLX_OK;
    PLX_TRY(plx__gemv(ctx, 1.0, v, PLX__N, z->w, 0.0, z->dots));
    PLX_TRY(plx__gemv(ctx, -1.0, v, PLX__T, z->dots, 1.0, z->w));
    for (plx_index i = 0; sum && i < count; i++) sum[i] += z->dots[i];
    return PLX_OK;
}

/* Row `at` of the basis from w, which has this length. */
static void place(lanczos *z, plx_index at, double length)
{
    double *row = z->v.data + at * z->v.ld;
    for (plx_index i = 0; i < z->n; i++) row[i] = z->w[i] / length;
}

/* A direction that the basis does not have yet: at the start, and when the Krylov space is exhausted. */
static plx_status draw(plx_context *ctx, lanczos *z, plx_index at)
{
    double length = 0;
    for (int attempt = 0; attempt < 5 && !(length > 0); attempt++) {
        for (plx_index i = 0; i < z->n; i++)
            z->w[i] = plx__rng_normal(ctx->seed, z->stream, z->draws * (uint64_t)z->n + (uint64_t)i);
        z->draws++;
        double before = plx__norm(z->w, z->n);
        for (int pass = 0; pass < 2; pass++) PLX_TRY(project_out(ctx, z, at, NULL));
        length = plx__norm(z->w, z->n);
        if (length <= 1e-12 * before) length = 0;
    }
    place(z, at, length > 0 ? length : 1.0);
    return PLX_OK;
}

/* One more vector: w = A v_m, orthogonalised twice; its products with the basis are row and column m of T. */
static plx_status extend(plx_context *ctx, lanczos *z)
{
    plx_index m = z->m;
    double *row = z->t.data + m * z->t.ld;
    PLX_TRY(z->a.apply(z->a.arg, ctx, z->w, z->v.data + m * z->v.ld));
    double before = plx__norm(z->w, z->n);
    memset(row, 0, (size_t)z->basis * sizeof *row);
    for (int pass = 0; pass < 2; pass++) PLX_TRY(project_out(ctx, z, m + 1, row));
    for (plx_index i = 0; i < m; i++) z->t.data[i * z->t.ld + m] = row[i];
    z->m++;
    z->beta = plx__norm(z->w, z->n);
    if (z->beta > 1e-14 * before) {
        place(z, z->m, z->beta);
        return PLX_OK;
    }
    z->beta = 0;
    return draw(ctx, z, z->m);
}

/* ---- Ritz pairs ---- */

/* Eigenpairs of T in the order wanted. */
static plx_status ritz(plx_context *ctx, lanczos *z)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat copy, s = plx__mat_of(z->s.data, z->m, z->m);
    PLX_TRY(plx__mat_clone(&copy, plx__scratch(ctx), plx__csub(plx__cmat(z->t), 0, 0, z->m, z->m)));
    PLX_TRY(plx__sym_eigen(ctx, copy, z->theta, s));
    if (z->which == PLX__LARGEST) reverse_columns(z->theta, s, z->m);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* An eigenvalue lies within the error of a Ritz value. */
static double ritz_error(const lanczos *z, plx_index j) { return z->beta * fabs(z->s.data[(z->m - 1) * z->m + j]); }

/* Relative to the eigenvalue; no residual is known better than to the rounding of the largest one. */
static plx_index count_converged(const lanczos *z, double tol)
{
    if (z->below != 0 && z->theta[0] + 2 * ritz_error(z, 0) < z->below) return z->k;
    double rounding = 10 * DBL_EPSILON * fmax(fabs(z->theta[0]), fabs(z->theta[z->m - 1]));
    plx_index count = 0;
    for (plx_index j = 0; j < z->k; j++) {
        count += ritz_error(z, j) <= fmax(tol * fabs(z->theta[j]), rounding);
    }
    return count;
}

/* The first `count` Ritz vectors as rows of `out`. */
static plx_status ritz_vectors(plx_context *ctx, const lanczos *z, plx_index count, plx_mat out)
{
    plx_cmat s = plx__csub(plx__cmat_of(z->s.data, z->m, z->m), 0, 0, z->m, count);
    return plx__gemm(ctx, 1.0, s, PLX__T, plx__csub(plx__cmat(z->v), 0, 0, z->m, z->n), PLX__N, 0.0, out);
}

/* Keeps the wanted pairs and some beside them, more as pairs converge, and the next vector with its couplings. */
static plx_status restart(plx_context *ctx, lanczos *z, plx_index converged)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index kept = plx__min(z->m - 1, z->k + plx__max(1, plx__max(converged, (z->m - z->k) / 3)));
    plx_mat vectors;
    kept = plx__max(1, plx__min(kept, z->basis - 1));
    PLX_TRY(plx__arena_mat(&vectors, plx__scratch(ctx), kept, z->n));
    PLX_TRY(ritz_vectors(ctx, z, kept, vectors));
    plx__mat_copy(plx__sub(z->v, 0, 0, kept, z->n), plx__cmat(vectors));
    memmove(z->v.data + kept * z->v.ld, z->v.data + z->m * z->v.ld, (size_t)z->n * sizeof(double));
    plx__mat_fill(z->t, 0.0);
    for (plx_index j = 0; j < kept; j++) z->t.data[j * (z->t.ld + 1)] = z->theta[j];
    z->m = kept;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK; /* the couplings come back with the products of the next vector */
}

/* ---- all of it ---- */

static plx_status give_up(plx_context *ctx, const lanczos *z, plx_index converged, plx_index restarts, const char *what)
{
    PLX_FAIL(ctx, PLX_E_NUMERIC, "%s: only %lld of %lld eigenvalues converged in %lld restarts; ask for fewer", what,
             (long long)converged, (long long)z->k, (long long)restarts);
}

/* Is it time to look? A look costs an eigenproblem of order m, so looks become rarer as m grows; the first few vectors
 * of a cycle tell little. */
static bool worth_a_look(const lanczos *z, plx_index fresh)
{
    return z->m == z->basis || (z->m > 2 * z->k && fresh >= LEAST_STEPS && fresh % plx__max(1, z->m / 8) == 0);
}

/* One cycle: the basis is filled, or all wanted pairs have converged before it is, and well: a cycle that ends early
 * does not leave the vectors less precise than a full one would. *late when the time limit came first. */
static plx_status fill_basis(plx_context *ctx, lanczos *z, plx_index *steps, plx_index *converged, bool *late,
                             const char *what)
{
    for (plx_index fresh = 1;; fresh++) {
        *late = z->m > z->k && plx__out_of_time(ctx);
        if (!*late && z->m < z->basis) {
            PLX_TRY(extend(ctx, z));
            PLX_TRY(plx__report(ctx, what, ++*steps, 0, NAN));
        }
        if (!*late && !worth_a_look(z, fresh)) continue;
        PLX_TRY(ritz(ctx, z));
        *converged = count_converged(z, z->m == z->basis || *late ? z->tol : EARLY * z->tol);
        if (*late || z->m == z->basis || *converged == z->k) return PLX_OK;
    }
}

/* Cycles until all wanted pairs have converged; *late when the time limit came first. */
static plx_status iterate(plx_context *ctx, lanczos *z, plx_index restarts, bool *late, const char *what)
{
    plx_index steps = 0, converged = 0;
    PLX_TRY(draw(ctx, z, 0));
    for (plx_index cycle = 0;; cycle++) {
        PLX_TRY(fill_basis(ctx, z, &steps, &converged, late, what));
        if (converged == z->k) *late = false;
        if (converged == z->k || *late) return PLX_OK;
        if (cycle + 1 >= restarts) return give_up(ctx, z, converged, restarts, what);
        PLX_TRY(restart(ctx, z, converged));
    }
}

static plx_status solve_by_lanczos(plx_context *ctx, lanczos *z, const plx__eigen_options *o, double *values,
                                   plx_mat vectors, const char *what)
{
    bool late = false;
    plx_mat rows;
    PLX_TRY(prepare(ctx, z, o));
    PLX_TRY(iterate(ctx, z, o->max_iter ? o->max_iter : plx__max(300, 10 * z->n / z->k), &late, what));
    if (late && o->converged) *o->converged = false;
    memcpy(values, z->theta, (size_t)z->k * sizeof *values);
    if (!vectors.data) return PLX_OK;
    PLX_TRY(plx__arena_mat(&rows, plx__scratch(ctx), z->k, z->n));
    PLX_TRY(ritz_vectors(ctx, z, z->k, rows));
    plx__mat_transpose(vectors, plx__cmat(rows));
    for (plx_index j = 0; j < z->k; j++) plx__fix_sign(vectors, j, (plx_mat){NULL, 0, 0, 0});
    return PLX_OK;
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
    } else {
        lanczos z = {.a = a, .n = a.n, .k = k, .which = which};
        PLX_TRY(solve_by_lanczos(ctx, &z, options ? options : &defaults, values, vectors, what));
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

double plx__eigen_few_bytes(plx_index n, plx_index k, plx_index basis)
{
    double b = (double)basis_size(n, k, basis);
    return 8.0 * ((double)n * (b + 2 + fmax(b, (double)k)) + 4 * b * b);
}
