/*
 * Left-looking supernodal Cholesky. Supernode s, a dense panel of L, is A's columns less what earlier supernodes d with
 * rows among its columns contribute, A_s -= L_d L_d', then a dense Cholesky factorisation of its diagonal block and a
 * triangular solve for the rows below.
 *
 * Threads share the rows of one panel: blocks of rows that depend on its shape only, each taking the contributions of
 * the earlier supernodes in the same order, so the bytes do not depend on who does it.
 */
#include "linalg/sparse_chol.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/blas.h"
#include "linalg/csr.h"
#include "linalg/factor.h"
#include "linalg/supernodes.h"

struct plx__sparse_chol {
    plx__supernodes x;
    double *values; /* of all panels */
};

enum {
    BLOCK_ROWS = 192, /* rows of a panel that one thread brings up to date at once */
    BLOCK_COLS = 256, /* columns of a contribution computed at once: with the rows, what fits into the cache */
    SMALL_WORK = 512, /* multiplications up to which a plain loop beats a call of BLAS */
    SOLVE_COLS = 32   /* right-hand sides that one thread solves at once */
};

/* Rows lo..hi-1 of supernode d's list are columns of the supernode being computed. */
typedef struct contribution {
    int32_t d;
    int64_t lo, hi;
} contribution;

typedef struct factor_job {
    const plx__supernodes *x;
    double *values;
    plx_index s;
    int32_t *head, *next;        /* per supernode: list of the earlier ones that contribute to it next */
    int64_t *reached;            /* per supernode: how many of its rows have been columns of somebody already */
    contribution *contributions; /* to s */
    plx_index n_contributions;
    int32_t *position; /* per row: its place in the panel of s */
    double *work;      /* per worker: BLOCK_ROWS x BLOCK_COLS */
} factor_job;

/* ---- panels ---- */

static double *panel_of(const plx__supernodes *x, double *values, plx_index s) { return values + x->panel[s]; }

static const int32_t *rows_of(const plx__supernodes *x, plx_index s) { return x->row + x->row_ptr[s]; }

/* Number of entries of the ascending list that are smaller than `value`. */
static int64_t smaller_than(const int32_t *list, int64_t begin, int64_t end, int32_t value)
{
    while (begin < end) {
        int64_t middle = begin + (end - begin) / 2;
        if (list[middle] < value) begin = middle + 1;
        else end = middle;
    }
    return begin;
}

/* The lower triangle of P A P' into the panels, which are zero. */
static void scatter_matrix(const plx__supernodes *x, double *values, plx_ccsr a)
{
    for (plx_index i = 0; i < a.rows; i++)
        for (int64_t p = a.ptr[i]; p < a.ptr[i + 1] && a.col[p] <= i; p++) {
            int32_t r = x->place[i], c = x->place[a.col[p]];
            int32_t row = r > c ? r : c, col = r > c ? c : r, s = x->of[col];
            int64_t cols = plx__super_cols(x, s), at = row - x->first[s];
            if (at >= cols) at = cols + smaller_than(rows_of(x, s), 0, plx__super_rows(x, s), row);
            values[x->panel[s] + at * cols + (col - x->first[s])] = a.val[p];
        }
}

/* ---- contributions of earlier supernodes ---- */

/* to -= L_rows L_cols' entry by entry, for few numbers. */
static void subtract_small(const factor_job *job, double *to, const contribution *c, int64_t r0, int64_t r1,
                           int64_t cols)
{
    plx_index width = plx__super_cols(job->x, job->s), inner = plx__super_cols(job->x, c->d);
    const int32_t *row = rows_of(job->x, c->d);
    const double *below = job->values + job->x->panel[c->d] + inner * inner;
    int32_t first = job->x->first[job->s];
    for (int64_t i = r0; i < r1; i++) {
        double *line = to + job->position[row[i]] * width;
        for (int64_t j = c->lo; j < c->lo + cols; j++) {
            double sum = 0;
            for (plx_index k = 0; k < inner; k++) sum += below[i * inner + k] * below[j * inner + k];
            line[row[j] - first] -= sum;
        }
    }
}

/* The same through BLAS, BLOCK_COLS columns at a time. */
static void subtract_product(const factor_job *job, double *to, const contribution *c, int64_t r0, int64_t r1,
                             int64_t cols, double *work)
{
    plx_index width = plx__super_cols(job->x, job->s), inner = plx__super_cols(job->x, c->d);
    const int32_t *row = rows_of(job->x, c->d);
    const double *below = job->values + job->x->panel[c->d] + inner * inner;
    int32_t first = job->x->first[job->s];
    for (int64_t j0 = c->lo; j0 < c->lo + cols; j0 += BLOCK_COLS) {
        int64_t some = plx__min(BLOCK_COLS, c->lo + cols - j0);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, plx__blas_int(r1 - r0), plx__blas_int(some),
                    plx__blas_int(inner), 1.0, below + r0 * inner, plx__blas_int(inner), below + j0 * inner,
                    plx__blas_int(inner), 0.0, work, BLOCK_COLS);
        for (int64_t i = r0; i < r1; i++) {
            double *line = to + job->position[row[i]] * width;
            const double *from = work + (i - r0) * BLOCK_COLS;
            for (int64_t j = 0; j < some; j++) line[row[j0 + j] - first] -= from[j];
        }
    }
}

/* Rows begin..end-1 of the panel of s. Entries right of the diagonal are not needed. */
static plx_status update_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const factor_job *job = arg;
    const plx__supernodes *x = job->x;
    plx_index width = plx__super_cols(x, job->s);
    const int32_t *own = rows_of(x, job->s);
    double *to = panel_of(x, job->values, job->s), *work = job->work + (int64_t)worker * BLOCK_ROWS * BLOCK_COLS;
    int32_t first = x->first[job->s], from = begin < width ? first + (int32_t)begin : own[begin - width],
            last = end - 1 < width ? first + (int32_t)(end - 1) : own[end - 1 - width];
    (void)ctx;
    for (plx_index q = 0; q < job->n_contributions; q++) {
        const contribution *c = &job->contributions[q];
        const int32_t *row = rows_of(x, c->d);
        int64_t rows = plx__super_rows(x, c->d), r0 = smaller_than(row, c->lo, rows, from),
                r1 = smaller_than(row, r0, rows, last + 1), cols = plx__min(c->hi, r1) - c->lo;
        if (r0 == r1) continue;
        if ((r1 - r0) * cols * plx__super_cols(x, c->d) <= SMALL_WORK) subtract_small(job, to, c, r0, r1, cols);
        else subtract_product(job, to, c, r0, r1, cols, work);
    }
    return PLX_OK;
}

/* Put d into the list of the supernode that its next row belongs to. */
static void wait_for_next(factor_job *job, int32_t d)
{
    if (job->reached[d] == plx__super_rows(job->x, d)) return;
    int32_t s = job->x->of[rows_of(job->x, d)[job->reached[d]]];
    job->next[d] = job->head[s];
    job->head[s] = d;
}

static void collect_contributions(factor_job *job)
{
    const plx__supernodes *x = job->x;
    int32_t end = x->first[job->s + 1];
    job->n_contributions = 0;
    for (int32_t d = job->head[job->s]; d != -1;) {
        int32_t after = job->next[d];
        int64_t lo = job->reached[d], hi = lo, rows = plx__super_rows(x, d);
        const int32_t *row = rows_of(x, d);
        while (hi < rows && row[hi] < end) hi++;
        job->contributions[job->n_contributions++] = (contribution){d, lo, hi};
        job->reached[d] = hi;
        wait_for_next(job, d);
        d = after;
    }
}

static void locate_rows(factor_job *job)
{
    const plx__supernodes *x = job->x;
    plx_index width = plx__super_cols(x, job->s), rows = plx__super_rows(x, job->s);
    const int32_t *row = rows_of(x, job->s);
    for (plx_index j = 0; j < width; j++) job->position[x->first[job->s] + j] = (int32_t)j;
    for (plx_index i = 0; i < rows; i++) job->position[row[i]] = (int32_t)(width + i);
}

/* ---- factorisation ---- */

static plx_status not_definite(plx_context *ctx, const char *what, plx_index column)
{
    PLX_FAIL(ctx, PLX_E_NUMERIC, "%s is not positive definite (column %lld)", what, (long long)column);
}

static plx_status factor_supernode(factor_job *job, plx_context *ctx, const char *what)
{
    const plx__supernodes *x = job->x;
    plx_index width = plx__super_cols(x, job->s), rows = plx__super_rows(x, job->s);
    plx_mat diagonal = {panel_of(x, job->values, job->s), width, width, width};
    plx_mat below = {diagonal.data + width * width, rows, width, width};
    plx__bad_pivot bad;
    collect_contributions(job);
    if (job->n_contributions > 0) {
        locate_rows(job);
        PLX_TRY(plx__parallel_for(ctx, width + rows, BLOCK_ROWS, update_rows, job));
    }
    plx_status st = plx__cholesky(ctx, diagonal, &bad);
    if (st == PLX_E_NUMERIC && bad.index >= 0) return not_definite(ctx, what, x->order[x->first[job->s] + bad.index]);
    PLX_TRY(st);
    PLX_TRY(plx__tri_solve_right(ctx, plx__cmat(diagonal), PLX__T, below));
    wait_for_next(job, (int32_t)job->s);
    return PLX_OK;
}

static plx_status factor_all(factor_job *job, plx_context *ctx, const char *what)
{
    for (job->s = 0; job->s < job->x->count; job->s++) {
        PLX_TRY(plx__poll(ctx));
        PLX_TRY(factor_supernode(job, ctx, what));
    }
    return PLX_OK;
}

static plx_status factor_numbers(plx__sparse_chol *f, plx__arena *work, const char *what)
{
    const plx__supernodes *x = &f->x;
    factor_job job = {.x = x, .values = f->values};
    PLX_TRY(plx__arena_i32(&job.head, work, x->count));
    PLX_TRY(plx__arena_i32(&job.next, work, x->count));
    PLX_TRY(plx__arena_i64(&job.reached, work, x->count));
    PLX_TRY(plx__arena_i32(&job.position, work, x->n));
    PLX_TRY(PLX__ARENA_NEW(&job.contributions, work, x->count));
    PLX_TRY(plx__arena_f64(&job.work, work, plx__workers(work->ctx), (plx_index)BLOCK_ROWS * BLOCK_COLS));
    for (plx_index s = 0; s < x->count; s++) job.head[s] = -1;
    plx__blas_scope scope = plx__blas_enter();
    plx_status st = factor_all(&job, work->ctx, what);
    plx__blas_leave(scope);
    return st;
}

/* Entries of L that no order could make positive definite; also keeps NaN and infinities out. */
static plx_status check_values(plx_context *ctx, plx_ccsr a, const char *what)
{
    for (plx_index i = 0; i < a.rows; i++) {
        double d = plx__csr_get(a, i, i);
        if (!(d > 0) || !isfinite(d)) return not_definite(ctx, what, i);
    }
    return PLX_OK;
}

plx_status plx__sparse_chol_create(plx__sparse_chol **out, plx__arena *arena, plx_ccsr a, const char *what)
{
    plx_context *ctx = arena->ctx;
    plx__sparse_chol *f = NULL;
    plx__arena work;
    *out = NULL;
    PLX_ASSERT(a.rows == a.cols);
    PLX_TRY(check_values(ctx, a, what));
    PLX_TRY(PLX__ARENA_NEW(&f, arena, 1));
    PLX_TRY(plx__supernodes_find(&f->x, arena, a));
    int64_t size = f->x.panel[f->x.count];
    PLX_TRY(plx__need_memory(ctx, 8.0 * (double)size, what, "use fewer neighbours or raise the memory limit"));
    PLX_TRY(plx__arena_f64(&f->values, arena, size, 1));
    scatter_matrix(&f->x, f->values, a);
    plx__arena_init(&work, ctx);
    plx_status st = factor_numbers(f, &work, what);
    plx__arena_free(&work);
    if (st == PLX_OK) *out = f;
    return st;
}

/* Order and tree: both triangles with a fifth more and eleven arrays of n in 64 bits, then lists in 32 bits; the factor
 * and the lists of rows at their worst; what the threads hold. */
double plx__sparse_chol_bytes(plx_index n, plx_index entries, int threads)
{
    double rows = (double)n, analysis = 8.0 * (2.4 * (double)entries + 16.0 * rows) + 8.0 * (double)entries;
    double factor = 8.0 * rows * rows + 64.0 * rows, work = 8.0 * BLOCK_ROWS * BLOCK_COLS * (double)threads;
    return analysis + factor + work + (1 << 20);
}

/* ---- solution ---- */

typedef struct solve_job {
    const plx__sparse_chol *f;
    plx_mat b;     /* rows in the order of elimination */
    double *below; /* per worker: most rows of a supernode x SOLVE_COLS */
    plx_index most_rows;
} solve_job;

static plx_index most_rows(const plx__supernodes *x)
{
    plx_index most = 0;
    for (plx_index s = 0; s < x->count; s++) most = plx__max(most, plx__super_rows(x, s));
    return most;
}

/* y = alpha op(L21) x + beta y, and x = op(L11)^-1 x, for a few columns. */
static void multiply(CBLAS_TRANSPOSE trans, double alpha, plx_cmat l, plx_cmat x, double beta, plx_mat y)
{
    int inner = plx__blas_int(trans == CblasTrans ? l.rows : l.cols), ld = plx__blas_int(l.ld);
    if (y.cols == 1)
        cblas_dgemv(CblasRowMajor, trans, plx__blas_int(l.rows), plx__blas_int(l.cols), alpha, l.data, ld, x.data,
                    plx__blas_int(x.ld), beta, y.data, plx__blas_int(y.ld));
    else
        cblas_dgemm(CblasRowMajor, trans, CblasNoTrans, plx__blas_int(y.rows), plx__blas_int(y.cols), inner, alpha,
                    l.data, ld, x.data, plx__blas_int(x.ld), beta, y.data, plx__blas_int(y.ld));
}

static void solve_triangle(CBLAS_TRANSPOSE trans, plx_cmat l, plx_mat x)
{
    if (x.cols == 1)
        cblas_dtrsv(CblasRowMajor, CblasLower, trans, CblasNonUnit, plx__blas_int(l.rows), l.data, plx__blas_int(l.ld),
                    x.data, plx__blas_int(x.ld));
    else
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, trans, CblasNonUnit, plx__blas_int(x.rows),
                    plx__blas_int(x.cols), 1.0, l.data, plx__blas_int(l.ld), x.data, plx__blas_int(x.ld));
}

typedef struct solve_step {
    plx_cmat diagonal, below;
    plx_mat own;  /* the supernode's rows of B */
    plx_mat rest; /* work: the rows below */
    const int32_t *row;
} solve_step;

static solve_step step_of(const solve_job *job, plx_mat b, double *work, plx_index s)
{
    const plx__supernodes *x = &job->f->x;
    plx_index width = plx__super_cols(x, s), rows = plx__super_rows(x, s);
    const double *panel = job->f->values + x->panel[s];
    return (solve_step){{panel, width, width, width},
                        {panel + width * width, rows, width, width},
                        {b.data + x->first[s] * b.ld, width, b.cols, b.ld},
                        {work, rows, b.cols, b.cols},
                        rows_of(x, s)};
}

static void solve_forward(const solve_step *z, plx_mat b)
{
    solve_triangle(CblasNoTrans, z->diagonal, z->own);
    if (z->rest.rows == 0) return;
    multiply(CblasNoTrans, 1.0, z->below, plx__cmat(z->own), 0.0, z->rest);
    for (plx_index i = 0; i < z->rest.rows; i++) {
        double *to = b.data + z->row[i] * b.ld;
        for (plx_index j = 0; j < b.cols; j++) to[j] -= z->rest.data[i * b.cols + j];
    }
}

static void solve_backward(const solve_step *z, plx_mat b)
{
    for (plx_index i = 0; i < z->rest.rows; i++)
        memcpy(z->rest.data + i * b.cols, b.data + z->row[i] * b.ld, (size_t)b.cols * sizeof(double));
    if (z->rest.rows > 0) multiply(CblasTrans, -1.0, z->below, plx__cmat(z->rest), 1.0, z->own);
    solve_triangle(CblasTrans, z->diagonal, z->own);
}

static plx_status solve_columns(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const solve_job *job = arg;
    plx_mat b = {job->b.data + begin, job->b.rows, end - begin, job->b.ld};
    double *work = job->below + worker * job->most_rows * SOLVE_COLS;
    for (plx_index s = 0; s < job->f->x.count; s++) {
        PLX_TRY(plx__poll(ctx));
        solve_step z = step_of(job, b, work, s);
        solve_forward(&z, b);
    }
    for (plx_index s = job->f->x.count - 1; s >= 0; s--) {
        PLX_TRY(plx__poll(ctx));
        solve_step z = step_of(job, b, work, s);
        solve_backward(&z, b);
    }
    return PLX_OK;
}

static void copy_rows(plx_mat to, const int32_t *to_row, plx_mat from, const int32_t *from_row)
{
    for (plx_index i = 0; i < to.rows; i++)
        memcpy(to.data + (to_row ? to_row[i] : i) * to.ld, from.data + (from_row ? from_row[i] : i) * from.ld,
               (size_t)to.cols * sizeof(double));
}

plx_status plx__sparse_chol_solve(const plx__sparse_chol *f, plx_context *ctx, plx_mat b)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    solve_job job = {.f = f, .most_rows = most_rows(&f->x)};
    PLX_ASSERT(b.rows == f->x.n);
    if (b.rows == 0 || b.cols == 0) return PLX_OK;
    PLX_TRY(plx__blas_fits(ctx, b.rows, b.cols, b.ld));
    PLX_TRY(plx__arena_mat(&job.b, plx__scratch(ctx), b.rows, b.cols));
    PLX_TRY(plx__arena_f64(&job.below, plx__scratch(ctx), plx__workers(ctx) * job.most_rows, SOLVE_COLS));
    copy_rows(job.b, NULL, b, f->x.order);
    plx__blas_scope scope = plx__blas_enter();
    plx_status st = plx__parallel_for(ctx, b.cols, SOLVE_COLS, solve_columns, &job);
    plx__blas_leave(scope);
    if (st == PLX_OK) copy_rows(b, f->x.order, job.b, NULL);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return st;
}

double plx__sparse_chol_smallest_pivot(const plx__sparse_chol *f)
{
    double least = INFINITY;
    for (plx_index s = 0; s < f->x.count; s++) {
        plx_index width = plx__super_cols(&f->x, s);
        const double *panel = f->values + f->x.panel[s];
        for (plx_index j = 0; j < width; j++) least = fmin(least, panel[j * (width + 1)] * panel[j * (width + 1)]);
    }
    return least;
}
