/*
 * Partial Gram-Schmidt of a kernel: Cholesky with complete pivoting, columns formed on demand.
 *
 * residual = diag K; p = arg max residual; z = (K[:,p] - Z Z[p,:]') / sqrt(residual_p); residual -= z o z.
 */
#include "linalg/lowrank.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/ranks.h"

enum { ROW_GRAIN = 4096, FIRST_CAPACITY = 64 };

typedef struct pivot_job {
    plx__slab_rows rows;
    bool together;        /* several processes */
    plx_index begin, end; /* rows of this one */
    plx_index rank, capacity;
    plx_mat z;                 /* own rows x capacity, columns filled up to rank */
    double *residual, *column; /* of the own rows */
    plx_index pivot;           /* the row that is next, and */
    double *of_pivot;          /* its residual, then its row of z */
    plx_index *pivots;
    double *each; /* a number of every process */
    size_t *offset;
    plx__column_fn fn;
    plx__pivot_row_fn hand_round;
    void *arg;
    plx__arena *work; /* where growing copies of z live */
} pivot_job;

/* ---- residuals ---- */

static double largest(const double *residual, plx_index n)
{
    double top = -INFINITY;
    for (plx_index i = 0; i < n; i++) top = fmax(top, residual[i]);
    return top;
}

/* The first that ties with `top`; n: none does. */
static plx_index first_tie(const double *residual, plx_index n, double top, double first)
{
    double ties = top - 1e-12 * top - 1e-15 * first;
    plx_index i = 0;
    while (i < n && !(residual[i] > 0 && residual[i] >= ties)) i++;
    return i;
}

plx_index plx__largest_residual(const double *residual, plx_index n, double first)
{
    double top = largest(residual, n);
    return top > 0 ? plx__min(first_tie(residual, n, top, first), n - 1) : 0;
}

static plx_status require_finite(plx_context *ctx, double sum)
{
    if (isfinite(sum)) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_NUMERIC, "a kernel matrix holds values that are not finite; scale the views");
}

plx_status plx__check_diagonal(plx_context *ctx, const double *diagonal, plx_index n, plx_index step, double *sum,
                               double *top)
{
    *sum = *top = 0;
    for (plx_index i = 0; i < n; i++) {
        *sum += diagonal[i * step];
        *top = fmax(*top, diagonal[i * step]);
    }
    return require_finite(ctx, *sum);
}

typedef struct residual_pass {
    const pivot_job *job;
    const double *of; /* the own rows */
    bool positive;    /* only what is above 0 */
} residual_pass;

static plx_status add_residuals(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const residual_pass *q = arg;
    plx_index last = plx__slab_row(&q->job->rows, end);
    (void)ctx;
    for (plx_index i = plx__slab_row(&q->job->rows, begin); i < last; i++) {
        double own = q->of[i - q->job->begin];
        *table += own > 0 || !q->positive ? own : 0.0;
    }
    return PLX_OK;
}

static plx_status sum_of(double *out, plx_context *ctx, const pivot_job *job, const double *of, bool positive)
{
    return plx__slabs_sum(ctx, job->rows.cut, 1, add_residuals, &(residual_pass){job, of, positive}, out);
}

/* ---- what processes tell each other ---- */

/* The largest of the numbers of all processes. */
static plx_status agree(double *number, plx_context *ctx, const pivot_job *job)
{
    if (!job->together) return PLX_OK;
    job->each[plx__rank(ctx)] = *number;
    for (int r = 0; r <= plx__ranks(ctx); r++) job->offset[r] = (size_t)r * sizeof *number;
    PLX_TRY(plx__peers_share(ctx, job->each, job->offset));
    for (int r = 0; r < plx__ranks(ctx); r++) *number = fmax(*number, job->each[r]);
    return PLX_OK;
}

/* The pivot's residual and its row of z, from the process that has them. */
static plx_status share_pivot(plx_context *ctx, pivot_job *job)
{
    plx_index i = job->pivot - job->begin;
    if (job->pivot >= job->begin && job->pivot < job->end) {
        job->of_pivot[0] = job->residual[i];
        memcpy(job->of_pivot + 1, job->z.data + i * job->z.ld, (size_t)job->rank * sizeof *job->of_pivot);
    }
    if (!job->together) return PLX_OK;
    int owner = plx__slab_row_owner(ctx, &job->rows, job->pivot);
    for (int r = 0; r <= plx__ranks(ctx); r++)
        job->offset[r] = r > owner ? (size_t)(job->rank + 1) * sizeof *job->of_pivot : 0;
    return plx__peers_share(ctx, job->of_pivot, job->offset);
}

/* The next pivot; its residual is 0 or less when there is none. */
static plx_status find_pivot(plx_context *ctx, pivot_job *job, double first)
{
    plx_index own = job->end - job->begin;
    double top = largest(job->residual, own), before = 0;
    PLX_TRY(agree(&top, ctx, job));
    job->of_pivot[0] = 0;
    if (!(top > 0)) return PLX_OK;
    plx_index tie = first_tie(job->residual, own, top, first);
    before = tie < own ? -(double)(job->begin + tie) : -INFINITY; /* the smallest row is the largest of these */
    PLX_TRY(agree(&before, ctx, job));
    job->pivot = (plx_index)-before;
    return share_pivot(ctx, job);
}

/* ---- columns ---- */

static plx_status kernel_pane(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const pivot_job *job = arg;
    plx_index first = plx__slab_row(&job->rows, begin), last = plx__slab_row(&job->rows, end);
    (void)table;
    return last > first ? job->fn(job->arg, ctx, job->pivot, first, last, job->column + first - job->begin) : PLX_OK;
}

static plx_status new_column(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    pivot_job *job = arg;
    double root = sqrt(job->of_pivot[0]);
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++) {
        double *row = job->z.data + i * job->z.ld;
        double value = (job->column[i] - plx__dot(row, job->of_pivot + 1, job->rank)) / root;
        row[job->rank] = value;
        job->residual[i] -= value * value;
    }
    return PLX_OK;
}

/* Double the columns of z; the old copy stays in scratch until the caller rewinds. */
static plx_status grow(pivot_job *job)
{
    plx_mat wider;
    plx_index own = job->end - job->begin, capacity = plx__min(job->rows.n, 2 * job->capacity);
    PLX_TRY(plx__arena_mat(&wider, job->work, own, capacity));
    plx__mat_copy(plx__sub(wider, 0, 0, own, job->rank), plx__csub(plx__cmat(job->z), 0, 0, own, job->rank));
    job->z = wider;
    job->capacity = capacity;
    return PLX_OK;
}

static plx_status add_pivot(plx_context *ctx, pivot_job *job)
{
    if (job->rank == job->capacity) PLX_TRY(grow(job));
    if (job->together && job->hand_round)
        PLX_TRY(job->hand_round(job->arg, ctx, job->pivot, plx__slab_row_owner(ctx, &job->rows, job->pivot)));
    PLX_TRY(plx__slabs_each(ctx, job->rows.cut, kernel_pane, job));
    PLX_TRY(plx__parallel_for(ctx, job->end - job->begin, ROW_GRAIN, new_column, job));
    job->pivots[job->rank] = job->pivot;
    for (plx_index k = 0; k <= job->rank; k++) {
        plx_index i = job->pivots[k] - job->begin;
        if (job->pivots[k] < job->begin || job->pivots[k] >= job->end) continue;
        job->residual[i] = 0.0;
        if (k < job->rank) job->z.data[i * job->z.ld + job->rank] = 0.0; /* pivot rows are lower triangular, exactly */
    }
    job->rank++;
    return PLX_OK;
}

/* ---- all of it ---- */

static plx_status prepare(plx_context *ctx, pivot_job *job, const double *diagonal, plx_index limit)
{
    plx_index own = job->end - job->begin;
    job->work = plx__scratch(ctx);
    job->capacity = plx__max(1, plx__min(limit, FIRST_CAPACITY));
    PLX_TRY(plx__arena_f64(&job->residual, job->work, own, 1));
    PLX_TRY(plx__arena_f64(&job->column, job->work, own, 1));
    PLX_TRY(plx__arena_f64(&job->of_pivot, job->work, limit + 1, 1));
    PLX_TRY(plx__arena_i64(&job->pivots, job->work, limit));
    PLX_TRY(plx__arena_f64(&job->each, job->work, plx__ranks(ctx), 1));
    PLX_TRY(PLX__ARENA_NEW(&job->offset, job->work, plx__ranks(ctx) + 1));
    PLX_TRY(plx__arena_mat(&job->z, job->work, own, job->capacity));
    if (own) memcpy(job->residual, diagonal + job->begin, (size_t)own * sizeof *diagonal);
    return PLX_OK;
}

static plx_status small_enough(bool *out, plx_context *ctx, const pivot_job *job, const plx__pivot_options *o,
                               double first_max, double first_sum)
{
    double top = job->of_pivot[0], sum = 0;
    *out = !(top > 0) || (o->stop == PLX__STOP_MAX && top <= o->threshold * first_max);
    if (*out || o->stop == PLX__STOP_MAX) return PLX_OK;
    PLX_TRY(sum_of(&sum, ctx, job, job->residual, false));
    *out = sum <= o->threshold * first_sum;
    return PLX_OK;
}

/* Every process has some of the rows; the others add 0. */
static plx_status gather_corner(plx__pivoted *out, plx__arena *arena, plx_context *ctx, const pivot_job *job)
{
    PLX_TRY(plx__arena_mat(&out->corner, arena, job->rank, job->rank));
    for (plx_index r = 0; r < job->rank; r++) {
        if (job->pivots[r] < job->begin || job->pivots[r] >= job->end) continue;
        const double *row = job->z.data + (job->pivots[r] - job->begin) * job->z.ld;
        for (plx_index s = 0; s <= r; s++) out->corner.data[r * job->rank + s] = row[s] + 0.0; /* no -0, as in a sum */
    }
    return job->together ? plx__peers_add(ctx, out->corner.data, job->rank * job->rank) : PLX_OK;
}

static plx_status hand_over(plx__pivoted *out, plx__arena *arena, plx_context *ctx, const pivot_job *job)
{
    plx_index own = job->end - job->begin;
    out->rank = job->rank;
    PLX_TRY(sum_of(&out->residual, ctx, job, job->residual, true));
    PLX_TRY(plx__arena_i64(&out->pivot, arena, job->rank));
    if (job->rank) memcpy(out->pivot, job->pivots, (size_t)job->rank * sizeof *out->pivot);
    PLX_TRY(gather_corner(out, arena, ctx, job));
    PLX_TRY(plx__mat_clone(&out->z, arena, plx__csub(plx__cmat(job->z), 0, 0, own, job->rank)));
    out->z.rows = job->rows.n;
    if (job->begin) out->z.data = plx__rows_at(out->z.data, job->begin, job->rank);
    return PLX_OK;
}

static void open_job(pivot_job *job, plx_context *ctx, plx_index n, const plx__pivot_options *o)
{
    *job = (pivot_job){.rows = {plx__slabs_cut(n, plx__max(1, n)), n, NULL}};
    job->rows.cut.alone = true;
    if (o->rows) job->rows = *o->rows;
    PLX_ASSERT(job->rows.n == n);
    job->together = !job->rows.cut.alone && plx__ranks(ctx) > 1;
    plx__slab_rows_mine(&job->begin, &job->end, ctx, &job->rows);
}

plx_status plx__pivoted_cholesky(plx__pivoted *out, plx__arena *arena, plx_context *ctx, const double *diagonal,
                                 plx_index n, plx__column_fn column, void *arg, const plx__pivot_options *options)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index limit = options->max_rank > 0 ? plx__min(options->max_rank, n) : n;
    pivot_job job;
    double sum = 0, top = 0;
    bool enough = false;
    *out = (plx__pivoted){.z = {NULL, n, 0, 0}};
    open_job(&job, ctx, n, options);
    job.fn = column;
    job.hand_round = options->hand_round;
    job.arg = arg;
    PLX_TRY(prepare(ctx, &job, diagonal, limit));
    PLX_TRY(sum_of(&sum, ctx, &job, job.residual, false));
    PLX_TRY(require_finite(ctx, sum));
    top = fmax(0.0, largest(job.residual, job.end - job.begin));
    PLX_TRY(agree(&top, ctx, &job));
    PLX_TRY(find_pivot(ctx, &job, top));
    while (job.rank < limit) {
        PLX_TRY(small_enough(&enough, ctx, &job, options, top, sum));
        if (enough) break;
        PLX_TRY(add_pivot(ctx, &job));
        PLX_TRY(find_pivot(ctx, &job, top));
        PLX_TRY(plx__report(ctx, "pivots", job.rank, limit, job.of_pivot[0]));
    }
    PLX_TRY(hand_over(out, arena, ctx, &job));
    if (arena != plx__scratch(ctx)) plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
