/*
 * Cholesky factorisation in fixed tiles (right-looking), the jitter policy, and the inverse.
 *
 * Row-major lower is LAPACK's column-major upper, so no matrix is ever transposed: A = L L' here is
 * A = U'U there with U = L'.
 */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/blas.h"
#include "linalg/factor.h"

enum {
    PANEL = 192, /* columns factored at once */
    TRAIL = 384  /* side of a tile of the trailing update */
};

typedef struct chol_job {
    plx_mat a;
    plx_index k0, k1; /* panel columns */
} chol_job;

static double *at(plx_mat m, plx_index i, plx_index j) { return m.data + i * m.ld + j; }

static plx_status bad_pivot_at(plx__bad_pivot *bad, plx_index index, double value)
{
    if (bad) *bad = (plx__bad_pivot){index, value};
    return PLX_E_NUMERIC;
}

static plx_status factor_diagonal(plx_context *ctx, plx_mat a, plx_index k0, plx_index k1, plx__bad_pivot *bad)
{
    int info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', plx__blas_int(k1 - k0), at(a, k0, k0), plx__blas_int(a.ld));
    if (info < 0) return plx__lapack_fault(ctx, "dpotrf", info);
    if (info > 0) return bad_pivot_at(bad, k0 + info - 1, *at(a, k0 + info - 1, k0 + info - 1));
    for (plx_index k = k0; k < k1; k++) /* a NaN slips through LAPACK's test */
        if (!isfinite(*at(a, k, k))) return bad_pivot_at(bad, k, *at(a, k, k));
    return PLX_OK;
}

/* Rows below the panel: L21 = A21 L11^-T. */
static plx_status solve_panel(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const chol_job *job = arg;
    (void)ctx, (void)worker;
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, plx__blas_int(end - begin),
                plx__blas_int(job->k1 - job->k0), 1.0, at(job->a, job->k0, job->k0), plx__blas_int(job->a.ld),
                at(job->a, job->k1 + begin, job->k0), plx__blas_int(job->a.ld));
    return PLX_OK;
}

/* One tile of A22 -= L21 L21', lower triangle; tiles are counted row by row. */
static void update_tile(const chol_job *job, plx_index t)
{
    plx_index i = 0, n = job->a.rows;
    while ((i + 1) * (i + 2) / 2 <= t) i++;
    plx_index row = job->k1 + i * TRAIL, col = job->k1 + (t - i * (i + 1) / 2) * TRAIL;
    int rows = plx__blas_int(plx__min(TRAIL, n - row)), cols = plx__blas_int(plx__min(TRAIL, n - col));
    int inner = plx__blas_int(job->k1 - job->k0), ld = plx__blas_int(job->a.ld);
    const double *left = at(job->a, row, job->k0), *right = at(job->a, col, job->k0);
    if (row == col)
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, rows, inner, -1.0, left, ld, 1.0, at(job->a, row, col),
                    ld);
    else
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, cols, inner, -1.0, left, ld, right, ld, 1.0,
                    at(job->a, row, col), ld);
}

static plx_status update_trailing(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    (void)ctx, (void)worker;
    for (plx_index t = begin; t < end; t++) update_tile(arg, t);
    return PLX_OK;
}

/* Leaves the strict upper triangle alone. */
static plx_status factor_tiles(plx_context *ctx, plx_mat a, plx__bad_pivot *bad)
{
    chol_job job = {.a = a};
    plx_index width = a.rows <= 2 * PANEL ? plx__max(a.rows, 1) : PANEL;
    for (job.k0 = 0; job.k0 < a.rows; job.k0 = job.k1) {
        job.k1 = plx__min(a.rows, job.k0 + width);
        PLX_TRY(factor_diagonal(ctx, a, job.k0, job.k1, bad));
        plx_index rest = a.rows - job.k1, tiles = rest / TRAIL + (rest % TRAIL != 0);
        PLX_TRY(plx__parallel_for(ctx, rest, PANEL, solve_panel, &job));
        PLX_TRY(plx__parallel_for(ctx, tiles * (tiles + 1) / 2, 1, update_trailing, &job));
    }
    return PLX_OK;
}

static plx_status factor_pinned(plx_context *ctx, plx_mat a, plx__bad_pivot *bad)
{
    if (bad) *bad = (plx__bad_pivot){-1, 0.0};
    PLX_ASSERT(a.rows == a.cols);
    PLX_TRY(plx__blas_fits(ctx, a.rows, a.cols, a.ld));
    plx__blas_scope scope = plx__blas_enter();
    plx_status st = factor_tiles(ctx, a, bad);
    plx__blas_leave(scope);
    return st;
}

static void clear_upper(plx_mat a)
{
    for (plx_index i = 0; i + 1 < a.rows; i++) memset(at(a, i, i + 1), 0, (size_t)(a.cols - i - 1) * sizeof(double));
}

plx_status plx__cholesky(plx_context *ctx, plx_mat a, plx__bad_pivot *bad)
{
    PLX_TRY(factor_pinned(ctx, a, bad));
    clear_upper(a);
    return PLX_OK;
}

plx_status plx__cholesky_serial(plx_context *ctx, plx_mat a, plx__bad_pivot *bad)
{
    if (bad) *bad = (plx__bad_pivot){-1, 0.0};
    PLX_TRY(plx__blas_fits(ctx, a.rows, a.cols, a.ld));
    if (a.rows == 0) return PLX_OK;
    plx__blas_scope scope = plx__blas_enter();
    plx_status st = factor_diagonal(ctx, a, 0, a.rows, bad);
    plx__blas_leave(scope);
    if (st == PLX_OK) clear_upper(a);
    return st;
}

/* ---- jitter ---- */

/* The upper triangle still holds the matrix: copy it down and set the diagonal. */
static void restore(plx_mat a, const double *diagonal, double shift)
{
    for (plx_index i = 0; i < a.rows; i++) {
        for (plx_index j = 0; j < i; j++) *at(a, i, j) = *at(a, j, i);
        *at(a, i, i) = diagonal[i] + shift;
    }
}

const double plx__jitter_steps[PLX__JITTER_STEPS] = {0, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6};

plx_status plx__not_definite(plx_context *ctx, plx__bad_pivot bad, const char *what, const plx_index *samples,
                             const char *remedy)
{
    long long sample = (long long)(samples ? samples[bad.index] : bad.index);
    char value[48] = "";
    if (!isnan(bad.value)) snprintf(value, sizeof value, "smallest pivot %.3g ", bad.value);
    PLX_FAIL(ctx, PLX_E_NUMERIC, "%s is not positive definite (%sat sample %lld); %s", what, value, sample,
             remedy ? remedy : "increase view_variance/noise or check the kernel");
}

plx_status plx__cholesky_jitter(plx_context *ctx, plx_mat a, double *relative, const char *what,
                                const plx_index *samples, const char *remedy)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx__bad_pivot bad = {-1, 0.0};
    double *diagonal = NULL, mean = a.rows ? plx__mat_trace(plx__cmat(a)) / (double)a.rows : 0.0;
    if (relative) *relative = 0;
    PLX_TRY(plx__arena_f64(&diagonal, plx__scratch(ctx), a.rows, 1));
    for (plx_index i = 0; i < a.rows; i++) diagonal[i] = *at(a, i, i);
    for (int s = 0; s < PLX__JITTER_STEPS; s++) {
        if (s > 0) restore(a, diagonal, plx__jitter_steps[s] * mean);
        plx_status st = factor_pinned(ctx, a, &bad);
        if (st == PLX_E_NUMERIC && bad.index >= 0) continue;
        PLX_TRY(st);
        if (relative) *relative = plx__jitter_steps[s];
        clear_upper(a);
        plx__arena_rewind(plx__scratch(ctx), mark);
        return PLX_OK;
    }
    return plx__not_definite(ctx, bad, what, samples, remedy);
}

/* ---- determinant and inverse ---- */

double plx__chol_logdet(plx_cmat l)
{
    double sum = 0;
    for (plx_index i = 0; i < l.rows; i++) sum += log(l.data[i * l.ld + i]);
    return 2.0 * sum;
}

typedef struct inverse_job {
    plx_cmat l;
    plx_mat x, out;
} inverse_job;

enum { INVERSE_TILE = 192 };

/* Columns begin..end-1 of L^-1: zero above row `begin`, so the solve starts there. */
static plx_status invert_columns(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const inverse_job *job = arg;
    (void)ctx, (void)worker;
    plx_index n = job->l.rows;
    for (plx_index j = begin; j < end; j++) *at(job->x, j, j) = 1.0;
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, plx__blas_int(n - begin),
                plx__blas_int(end - begin), 1.0, job->l.data + begin * job->l.ld + begin, plx__blas_int(job->l.ld),
                at(job->x, begin, begin), plx__blas_int(job->x.ld));
    return PLX_OK;
}

/* Tile (i,j), i >= j, of X'X: rows of X above row i of the lower triangle vanish. */
static plx_status multiply_tiles(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const inverse_job *job = arg;
    (void)ctx, (void)worker;
    plx_index n = job->l.rows;
    for (plx_index t = begin; t < end; t++) {
        plx_index i = 0;
        while ((i + 1) * (i + 2) / 2 <= t) i++;
        plx_index row = i * INVERSE_TILE, col = (t - i * (i + 1) / 2) * INVERSE_TILE;
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, plx__blas_int(plx__min(INVERSE_TILE, n - row)),
                    plx__blas_int(plx__min(INVERSE_TILE, n - col)), plx__blas_int(n - row), 1.0, at(job->x, row, row),
                    plx__blas_int(job->x.ld), at(job->x, row, col), plx__blas_int(job->x.ld), 0.0,
                    at(job->out, row, col), plx__blas_int(job->out.ld));
    }
    return PLX_OK;
}

plx_status plx__tri_inverse(plx_context *ctx, plx_mat out, plx_cmat l)
{
    inverse_job job = {.l = l, .x = out};
    PLX_TRY(plx__blas_fits(ctx, l.rows, l.cols, plx__max(l.ld, out.ld)));
    plx__mat_fill(out, 0.0);
    plx__blas_scope scope = plx__blas_enter();
    plx_status st = plx__parallel_for(ctx, l.rows, INVERSE_TILE, invert_columns, &job);
    plx__blas_leave(scope);
    return st;
}

typedef struct add_job {
    plx_cmat x; /* L^-1 */
    plx_mat to;
    const plx_index *place;
    double *tile; /* per worker: INVERSE_TILE x INVERSE_TILE */
} add_job;

static void add_tile(const add_job *job, plx_index row, plx_index col, double *tile)
{
    plx_index n = job->x.rows, rows = plx__min(INVERSE_TILE, n - row), cols = plx__min(INVERSE_TILE, n - col);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, plx__blas_int(rows), plx__blas_int(cols),
                plx__blas_int(n - row), 1.0, job->x.data + row * job->x.ld + row, plx__blas_int(job->x.ld),
                job->x.data + row * job->x.ld + col, plx__blas_int(job->x.ld), 0.0, tile, INVERSE_TILE);
    for (plx_index i = 0; i < rows; i++) {
        double *to = job->to.data + job->place[row + i] * job->to.ld;
        for (plx_index j = 0; j < cols && col + j <= row + i; j++)
            to[job->place[col + j]] += tile[i * INVERSE_TILE + j];
    }
}

static plx_status add_tiles(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const add_job *job = arg;
    (void)ctx;
    for (plx_index t = begin; t < end; t++) {
        plx_index i = 0;
        while ((i + 1) * (i + 2) / 2 <= t) i++;
        add_tile(job, i * INVERSE_TILE, (t - i * (i + 1) / 2) * INVERSE_TILE,
                 job->tile + (plx_index)worker * INVERSE_TILE * INVERSE_TILE);
    }
    return PLX_OK;
}

plx_status plx__chol_inverse_add(plx_context *ctx, plx_mat to, const plx_index *place, plx_cmat l, plx_mat work)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    add_job job = {.x = plx__cmat(work), .to = to, .place = place};
    plx_index tiles = l.rows / INVERSE_TILE + (l.rows % INVERSE_TILE != 0);
    PLX_TRY(plx__tri_inverse(ctx, work, l));
    PLX_TRY(plx__arena_f64(&job.tile, plx__scratch(ctx), plx__workers(ctx), (plx_index)INVERSE_TILE * INVERSE_TILE));
    plx__blas_scope scope = plx__blas_enter();
    plx_status st = plx__parallel_for(ctx, tiles * (tiles + 1) / 2, 1, add_tiles, &job);
    plx__blas_leave(scope);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return st;
}

plx_status plx__chol_inverse(plx_context *ctx, plx_mat out, plx_cmat l)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    inverse_job job = {.l = l, .out = out};
    PLX_TRY(plx__blas_fits(ctx, l.rows, l.cols, plx__max(l.ld, out.ld)));
    PLX_TRY(plx__arena_mat(&job.x, plx__scratch(ctx), l.rows, l.rows));
    plx_index tiles = l.rows / INVERSE_TILE + (l.rows % INVERSE_TILE != 0);
    plx__blas_scope scope = plx__blas_enter();
    plx_status st = plx__parallel_for(ctx, l.rows, INVERSE_TILE, invert_columns, &job);
    if (st == PLX_OK) st = plx__parallel_for(ctx, tiles * (tiles + 1) / 2, 1, multiply_tiles, &job);
    plx__blas_leave(scope);
    PLX_TRY(st);
    plx__mirror_lower(out);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

bool plx__chol_doubtful(plx_cmat l, double jitter)
{
    const double most = 1e11; /* condition */
    double least = INFINITY, largest = 0;
    for (plx_index i = 0; i < l.rows; i++) {
        least = fmin(least, l.data[i * l.ld + i]);
        largest = fmax(largest, l.data[i * l.ld + i]);
    }
    return jitter > 0 || largest * largest > most * least * least;
}
