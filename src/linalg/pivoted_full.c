/*
 * Partial Gram-Schmidt of a kernel matrix that is at hand.
 *
 * Right-looking by blocks: the lower triangle of K holds K - Z Z' of all finished blocks, restricted to the rows that
 * are not pivots yet; inside a block a column is corrected by the columns of this block only; at its end K is updated by
 * one product. The rows keep their order, so ties go to the smallest index as in plx__pivoted_cholesky.
 */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/lowrank.h"

enum { BLOCK = 48, ROW_GRAIN = 16384 }; /* a column of a block is little work: threads pay for many rows only */

typedef struct full_job {
    plx_mat k;        /* alive x alive residual of the finished blocks, lower triangle */
    plx_mat block;    /* BLOCK x alive: columns of the running block, one after the other */
    plx_index *alive; /* index of every row of k and block */
    plx_index n_alive, width, rank;
    plx_mat z;        /* n x capacity */
    double *residual; /* alive */
    plx_index pivot;  /* row of k */
    double root;
    plx_index *pivots;
} full_job;

/* Row or column `pivot` of the symmetric k. */
static void take_column(const full_job *job, plx_index begin, plx_index end, double *out)
{
    plx_index p = job->pivot, ld = job->k.ld;
    for (plx_index i = begin; i < plx__min(end, p); i++) out[i] = job->k.data[p * ld + i];
    for (plx_index i = plx__max(begin, p); i < end; i++) out[i] = job->k.data[i * ld + p];
}

static plx_status new_column(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    full_job *job = arg;
    plx_index ld = job->block.ld, t = 0, n = end - begin;
    const double *block = job->block.data, *of_pivot = block + job->pivot;
    double *out = job->block.data + job->width * ld;
    (void)ctx, (void)worker;
    take_column(job, begin, end, out);
    for (; t + 4 <= job->width; t += 4) {
        const double *at = of_pivot + t * ld, factor[4] = {-at[0], -at[ld], -at[2 * ld], -at[3 * ld]};
        plx__axpy4(out + begin, factor, block + t * ld + begin, ld, n);
    }
    for (; t < job->width; t++) plx__axpy(out + begin, -of_pivot[t * ld], block + t * ld + begin, n);
    for (plx_index i = begin; i < end; i++) {
        double value = i == job->pivot ? job->root : out[i] / job->root;
        out[i] = job->residual[i] < 0 ? 0.0 : value; /* a pivot of this block: its row is finished */
        if (job->residual[i] >= 0) job->residual[i] = fmax(job->residual[i] - value * value, 0.0);
    }
    return PLX_OK;
}

static plx_status add_column(plx_context *ctx, full_job *job)
{
    job->root = sqrt(job->residual[job->pivot]);
    PLX_TRY(plx__parallel_for(ctx, job->n_alive, ROW_GRAIN, new_column, job));
    job->residual[job->pivot] = -1.0;
    job->pivots[job->rank++] = job->alive[job->pivot];
    job->width++;
    return PLX_OK;
}

/* The columns of the block, at the rows of Z they belong to. */
static void store_block(const full_job *job)
{
    for (plx_index i = 0; i < job->n_alive; i++) {
        double *to = job->z.data + job->alive[i] * job->z.ld + job->rank - job->width;
        for (plx_index t = 0; t < job->width; t++) to[t] = job->block.data[t * job->block.ld + i];
    }
}

/* The first `width` entries of a row without those of the pivots of the block, which are at `gone`, ascending. */
static void close_gaps(double *to, const double *from, plx_index width, const plx_index *gone, plx_index count)
{
    plx_index at = 0, begin = 0;
    for (plx_index g = 0; g <= count && begin < width; g++) {
        plx_index end = g < count ? plx__min(gone[g], width) : width;
        memmove(to + at, from + begin, (size_t)(end - begin) * sizeof *to);
        at += end - begin;
        begin = end + 1;
    }
}

/* Leave the pivots of the block out of k, block and residual, then take the block's part off k. */
static plx_status end_block(plx_context *ctx, full_job *job)
{
    plx_index kept = 0, gone[BLOCK], count = 0;
    store_block(job);
    for (plx_index i = 0; i < job->n_alive; i++)
        if (job->residual[i] < 0) gone[count++] = i;
    for (plx_index i = 0; i < job->n_alive; i++) {
        if (job->residual[i] < 0) continue;
        close_gaps(job->k.data + kept * job->k.ld, job->k.data + i * job->k.ld, i + 1, gone, count);
        job->alive[kept] = job->alive[i];
        job->residual[kept++] = job->residual[i];
    }
    for (plx_index t = 0; t < job->width; t++) {
        double *row = job->block.data + t * job->block.ld;
        close_gaps(row, row, job->n_alive, gone, count);
    }
    job->n_alive = kept;
    plx_mat rest = plx__sub(job->k, 0, 0, kept, kept);
    plx_cmat block = plx__csub(plx__cmat(job->block), 0, 0, job->width, kept);
    job->width = 0;
    if (!kept) return PLX_OK;
    return plx__syrk_lower(ctx, -1.0, block, PLX__T, 1.0, rest);
}

static double left_over(const full_job *job)
{
    double sum = 0;
    for (plx_index i = 0; i < job->n_alive; i++) sum += fmax(job->residual[i], 0.0);
    return sum;
}

static bool small_enough(const full_job *job, const plx__pivot_options *o, double first_max, double first_sum)
{
    double top = job->residual[job->pivot];
    if (!(top > 0)) return true;
    if (o->stop == PLX__STOP_MAX) return top <= o->threshold * first_max;
    return left_over(job) <= o->threshold * first_sum;
}

static plx_status prepare(full_job *job, plx__arena *scratch, plx_mat k, plx_index limit)
{
    *job = (full_job){.k = k, .n_alive = k.rows};
    PLX_TRY(plx__arena_mat(&job->block, scratch, BLOCK, k.rows));
    PLX_TRY(plx__arena_mat(&job->z, scratch, k.rows, limit));
    PLX_TRY(plx__arena_f64(&job->residual, scratch, k.rows, 1));
    PLX_TRY(plx__arena_i64(&job->alive, scratch, k.rows));
    PLX_TRY(plx__arena_i64(&job->pivots, scratch, limit));
    for (plx_index i = 0; i < k.rows; i++) {
        job->residual[i] = fmax(k.data[i * k.ld + i], 0.0);
        job->alive[i] = i;
    }
    return PLX_OK;
}

static plx_status hand_over(plx__pivoted *out, plx__arena *arena, const full_job *job)
{
    out->rank = job->rank;
    out->residual = left_over(job);
    PLX_TRY(plx__arena_i64(&out->pivot, arena, job->rank));
    if (job->rank) memcpy(out->pivot, job->pivots, (size_t)job->rank * sizeof *out->pivot);
    return plx__mat_clone(&out->z, arena, plx__csub(plx__cmat(job->z), 0, 0, job->z.rows, job->rank));
}

plx_status plx__pivoted_cholesky_full(plx__pivoted *out, plx__arena *arena, plx_context *ctx, plx_mat k,
                                      const plx__pivot_options *options)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index limit = options->max_rank > 0 ? plx__min(options->max_rank, k.rows) : k.rows;
    full_job job;
    double sum = 0, top = 0;
    *out = (plx__pivoted){.z = {NULL, k.rows, 0, 0}};
    PLX_TRY(plx__check_diagonal(ctx, k.data, k.rows, k.ld + 1, &sum, &top));
    PLX_TRY(prepare(&job, plx__scratch(ctx), k, limit));
    while (job.rank < limit && job.n_alive > 0) {
        job.pivot = plx__largest_residual(job.residual, job.n_alive, top);
        if (small_enough(&job, options, top, sum)) break;
        PLX_TRY(add_column(ctx, &job));
        if (job.width < BLOCK) continue;
        PLX_TRY(end_block(ctx, &job));
        PLX_TRY(plx__report(ctx, "pivots", job.rank, limit, left_over(&job)));
    }
    store_block(&job);
    PLX_TRY(hand_over(out, arena, &job));
    if (arena != plx__scratch(ctx)) plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
