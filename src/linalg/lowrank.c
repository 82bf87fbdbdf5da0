/*
 * Partial Gram-Schmidt of a kernel: Cholesky with complete pivoting, columns formed on demand.
 *
 * residual = diag K; p = arg max residual; z = (K[:,p] - Z Z[p,:]') / sqrt(residual_p); residual -= z o z.
 */
#include "linalg/lowrank.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"

enum { ROW_GRAIN = 4096, FIRST_CAPACITY = 64 };

typedef struct pivot_job {
    plx_index n, rank, capacity;
    plx_mat z; /* n x capacity, columns filled up to rank */
    double *residual, *column;
    double root; /* sqrt of the pivot's residual */
    plx_index pivot;
    plx_index *pivots;
    plx__arena *work; /* where growing copies of z live */
} pivot_job;

plx_index plx__largest_residual(const double *residual, plx_index n, double first)
{
    double top = residual[0];
    plx_index best = 0;
    for (plx_index i = 1; i < n; i++) top = fmax(top, residual[i]);
    double ties = top - 1e-12 * top - 1e-15 * first;
    while (top > 0 && best + 1 < n && !(residual[best] > 0 && residual[best] >= ties)) best++;
    return best;
}

plx_status plx__check_diagonal(plx_context *ctx, const double *diagonal, plx_index n, plx_index step, double *sum,
                               double *top)
{
    *sum = *top = 0;
    for (plx_index i = 0; i < n; i++) {
        *sum += diagonal[i * step];
        *top = fmax(*top, diagonal[i * step]);
    }
    if (!isfinite(*sum))
        PLX_FAIL(ctx, PLX_E_NUMERIC, "a kernel matrix holds values that are not finite; scale the views");
    return PLX_OK;
}

static plx_status new_column(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    pivot_job *job = arg;
    (void)ctx, (void)worker;
    const double *of_pivot = job->z.data + job->pivot * job->z.ld;
    for (plx_index i = begin; i < end; i++) {
        double *row = job->z.data + i * job->z.ld;
        double value = (job->column[i] - plx__dot(row, of_pivot, job->rank)) / job->root;
        job->column[i] = value;
        job->residual[i] -= value * value;
    }
    return PLX_OK;
}

/* Double the columns of z; the old copy stays in scratch until the caller rewinds. */
static plx_status grow(pivot_job *job)
{
    plx_mat wider;
    plx_index capacity = plx__min(job->n, 2 * job->capacity);
    PLX_TRY(plx__arena_mat(&wider, job->work, job->n, capacity));
    plx__mat_copy(plx__sub(wider, 0, 0, job->n, job->rank), plx__csub(plx__cmat(job->z), 0, 0, job->n, job->rank));
    job->z = wider;
    job->capacity = capacity;
    return PLX_OK;
}

static plx_status add_pivot(plx_context *ctx, pivot_job *job, plx__column_fn column, void *arg)
{
    if (job->rank == job->capacity) PLX_TRY(grow(job));
    PLX_TRY(column(arg, ctx, job->pivot, job->column));
    job->root = sqrt(job->residual[job->pivot]);
    PLX_TRY(plx__parallel_for(ctx, job->n, ROW_GRAIN, new_column, job));
    for (plx_index i = 0; i < job->n; i++) job->z.data[i * job->z.ld + job->rank] = job->column[i];
    for (plx_index k = 0; k < job->rank; k++) /* exact zeros: pivot rows are lower triangular */
        job->z.data[job->pivots[k] * job->z.ld + job->rank] = 0.0;
    job->residual[job->pivot] = 0.0;
    for (plx_index k = 0; k < job->rank; k++) job->residual[job->pivots[k]] = 0.0;
    job->pivots[job->rank++] = job->pivot;
    return PLX_OK;
}

static plx_status prepare(plx_context *ctx, pivot_job *job, const double *diagonal, plx_index limit)
{
    job->work = plx__scratch(ctx);
    job->capacity = plx__max(1, plx__min(limit, FIRST_CAPACITY));
    PLX_TRY(plx__arena_f64(&job->residual, job->work, job->n, 1));
    PLX_TRY(plx__arena_f64(&job->column, job->work, job->n, 1));
    PLX_TRY(plx__arena_i64(&job->pivots, job->work, limit));
    PLX_TRY(plx__arena_mat(&job->z, job->work, job->n, job->capacity));
    if (job->n) memcpy(job->residual, diagonal, (size_t)job->n * sizeof *diagonal);
    return PLX_OK;
}

static bool small_enough(const pivot_job *job, const plx__pivot_options *o, double first_max, double first_sum)
{
    double top = job->residual[job->pivot];
    if (!(top > 0)) return true;
    if (o->stop == PLX__STOP_MAX) return top <= o->threshold * first_max;
    double sum = 0;
    for (plx_index i = 0; i < job->n; i++) sum += job->residual[i];
    return sum <= o->threshold * first_sum;
}

static plx_status hand_over(plx__pivoted *out, plx__arena *arena, const pivot_job *job)
{
    out->rank = job->rank;
    out->residual = 0;
    for (plx_index i = 0; i < job->n; i++) out->residual += job->residual[i] > 0 ? job->residual[i] : 0.0;
    PLX_TRY(plx__arena_i64(&out->pivot, arena, job->rank));
    if (job->rank) memcpy(out->pivot, job->pivots, (size_t)job->rank * sizeof *out->pivot);
    return plx__mat_clone(&out->z, arena, plx__csub(plx__cmat(job->z), 0, 0, job->n, job->rank));
}

plx_status plx__pivoted_cholesky(plx__pivoted *out, plx__arena *arena, plx_context *ctx, const double *diagonal,
                                 plx_index n, plx__column_fn column, void *arg, const plx__pivot_options *options)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index limit = options->max_rank > 0 ? plx__min(options->max_rank, n) : n;
    pivot_job job = {.n = n};
    double sum = 0, top = 0;
    *out = (plx__pivoted){{NULL, n, 0, 0}, NULL, 0, 0};
    PLX_TRY(plx__check_diagonal(ctx, diagonal, n, 1, &sum, &top));
    PLX_TRY(prepare(ctx, &job, diagonal, limit));
    while (job.rank < limit) {
        job.pivot = plx__largest_residual(job.residual, n, top);
        if (small_enough(&job, options, top, sum)) break;
        PLX_TRY(add_pivot(ctx, &job, column, arg));
        PLX_TRY(plx__report(ctx, "pivots", job.rank, limit, job.residual[plx__largest_residual(job.residual, n, top)]));
    }
    PLX_TRY(hand_over(out, arena, &job));
    if (arena != plx__scratch(ctx)) plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
