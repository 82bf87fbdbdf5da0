/*
 * Right-looking by panels, as linalg/pivoted_full.c: the device finds the pivots of a panel and corrects its columns by
 * those of the panel (`pivots`), then one product takes the panel off the whole matrix. Rows of pivots stay where they
 * are, with zeros in all later columns.
 */
#include "kernel/pivots_device.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "device/device_session.h"
#include "kernel/device_kernel.h"

/* Columns of a panel: the product costs as much memory traffic for few as for many. Of few columns of many rows the CPU
 * forms no matrix; a device does up to FEW_ROWS. */
enum { PANEL = 64, BLOCK_ROWS = 512, FEW_ROWS = 16384 };

typedef struct pivot_job {
    plx_context *ctx;
    plx__device *dev;
    const plx__pivots_there *of;
    const plx__pivot_options *options;
    plx_index n, limit, rank;
    plx_device_mat k;                 /* n x n */
    plx_device_mat panel;             /* PANEL x n: columns across */
    plx_device_mat unit;              /* PANEL x PANEL: a product with it transposes the panel */
    plx_device_mat z;                 /* n x limit */
    plx_device_mat residual, u, ones; /* n x 1 */
    double *mean, *diagonal, *clamped;
    double grand, first, sum, left;
    plx_index *pivots;
} pivot_job;

/* ---- the matrix ---- */

static plx_status put_values(pivot_job *job)
{
    plx__mark mark = plx__arena_mark(plx__scratch(job->ctx));
    plx_mat block;
    PLX_TRY(plx__arena_mat(&block, plx__scratch(job->ctx), plx__min(BLOCK_ROWS, job->n), job->n));
    for (plx_index at = 0; at < job->n; at += BLOCK_ROWS) {
        plx_index last = plx__min(job->n, at + BLOCK_ROWS);
        plx_mat part = plx__sub(block, 0, 0, last - at, job->n);
        PLX_TRY(job->of->values(job->of->arg, job->ctx, at, last, part));
        PLX_TRY(plx__device_write(job->dev, plx__device_sub(job->k, at, 0, last - at, job->n), plx__cmat(part)));
    }
    plx__arena_rewind(plx__scratch(job->ctx), mark);
    return PLX_OK;
}

static plx_status make_values(pivot_job *job)
{
    plx_device_rows rows;
    if (job->of->given) return put_values(job);
    PLX_TRY(plx__device_put_rows(&rows, job->dev, job->of->rows, 0));
    return plx__device_kernel_values(job->dev, job->of->kernel, rows, rows, NULL, NULL, job->k);
}

/* K_ij - mean_i - mean_j + grand, with half of the last in each mean. */
static plx_status centre(pivot_job *job)
{
    plx__device_terms off = {.beta = 1, .gamma = -1, .u = job->u, .v = job->ones};
    PLX_TRY(plx__device_fill(job->dev, job->ones, 1.0));
    PLX_TRY(plx__device_gemm(job->dev, 1.0 / (double)job->n, job->k, PLX__N, job->ones, PLX__N, 0.0, job->u));
    PLX_TRY(plx__device_read_vec(job->dev, job->mean, job->u));
    job->grand = plx__sum(job->mean, job->n) / (double)job->n;
    for (plx_index i = 0; i < job->n; i++) job->clamped[i] = job->mean[i] - 0.5 * job->grand;
    PLX_TRY(plx__device_write_vec(job->dev, job->u, job->clamped));
    return plx__device_combine(job->dev, job->k, &off);
}

static plx_status take_diagonal(pivot_job *job)
{
    PLX_TRY(plx__device_diagonal(job->dev, job->k, job->residual));
    PLX_TRY(plx__device_read_vec(job->dev, job->diagonal, job->residual));
    PLX_TRY(plx__check_diagonal(job->ctx, job->diagonal, job->n, 1, &job->sum, &job->first));
    for (plx_index i = 0; i < job->n; i++) job->clamped[i] = fmax(job->diagonal[i], 0.0);
    return plx__device_write_vec(job->dev, job->residual, job->clamped);
}

/* ---- panels ---- */

static plx_status find_panel(pivot_job *job, plx_index most, int64_t *found)
{
    bool all = job->options->stop == PLX__STOP_SUM;
    plx_device_pivots step = {.struct_size = sizeof step, .k = job->k, .residual = job->residual, .first = job->first};
    step.columns = plx__device_sub(job->panel, 0, 0, most, job->n);
    step.least = all ? 0.0 : job->options->threshold * job->first;
    step.least_sum = all ? job->options->threshold * job->sum : -1.0;
    step.pivot = job->pivots + job->rank;
    step.found = found;
    step.left = &job->left;
    PLX_TRY(plx__poll(job->ctx));
    return plx__device_did(job->dev, plx__device_table(job->dev)->pivots(plx__device_handle(job->dev), &step),
                           "pivots");
}

/* Its columns go to where they belong, and off the matrix where more are to follow. */
static plx_status end_panel(pivot_job *job, plx_index found, bool more)
{
    plx_device_mat panel = plx__device_sub(job->panel, 0, 0, found, job->n);
    plx_device_mat unit = plx__device_sub(job->unit, 0, 0, found, found);
    plx_device_mat columns = plx__device_sub(job->z, 0, job->rank, job->n, found);
    job->rank += found;
    if (found > 0) PLX_TRY(plx__device_gemm(job->dev, 1.0, panel, PLX__T, unit, PLX__N, 0.0, columns));
    return more ? plx__device_gemm(job->dev, -1.0, panel, PLX__T, panel, PLX__N, 1.0, job->k) : PLX_OK;
}

static plx_status factor(pivot_job *job)
{
    bool more = job->limit > 0;
    while (more) {
        int64_t found = 0;
        plx_index most = plx__min(PANEL, job->limit - job->rank);
        PLX_TRY(find_panel(job, most, &found));
        more = found == most && job->rank + found < job->limit;
        PLX_TRY(end_panel(job, found, more));
        PLX_TRY(plx__report(job->ctx, "pivots", job->rank, job->limit, job->left));
    }
    return PLX_OK;
}

/* ---- all of it ---- */

static double bytes_needed(const pivot_job *job)
{
    double n = (double)job->n, numbers = n * n + n * (double)job->limit + PANEL * (n + PANEL) + 3 * n;
    double rows = job->of->given ? 0 : plx__device_rows_bytes(job->dev, job->of->rows, 0);
    double own = plx__device_workspace(job->dev, PLX_DEVICE_OP_KERNEL, job->n, job->n, 0);
    return 8 * numbers + rows + own;
}

static plx_status take_rooms(pivot_job *job)
{
    plx__device *dev = job->dev;
    plx__arena *scratch = plx__scratch(job->ctx);
    plx__device_terms identity = {.shift = 1};
    PLX_TRY(plx__device_mat(&job->k, dev, job->n, job->n));
    PLX_TRY(plx__device_mat(&job->z, dev, job->n, job->limit));
    PLX_TRY(plx__device_mat(&job->panel, dev, PANEL, job->n));
    PLX_TRY(plx__device_mat(&job->unit, dev, PANEL, PANEL));
    PLX_TRY(plx__device_mat(&job->residual, dev, job->n, 1));
    PLX_TRY(plx__device_mat(&job->u, dev, job->n, 1));
    PLX_TRY(plx__device_mat(&job->ones, dev, job->n, 1));
    PLX_TRY(plx__device_combine(dev, job->unit, &identity));
    PLX_TRY(plx__arena_f64(&job->mean, scratch, job->n, 1));
    PLX_TRY(plx__arena_f64(&job->diagonal, scratch, job->n, 1));
    PLX_TRY(plx__arena_f64(&job->clamped, scratch, job->n, 1));
    return plx__arena_i64(&job->pivots, scratch, job->limit);
}

/* Nothing of the caller's is written before the columns are here. */
static plx_status hand_over(pivot_job *job, plx__pivoted *out, plx__arena *arena)
{
    plx__pivoted made = {.rank = job->rank, .residual = job->left};
    const plx__pivots_there *of = job->of;
    size_t bytes = (size_t)job->n * sizeof(double);
    PLX_TRY(plx__arena_i64(&made.pivot, arena, job->rank));
    PLX_TRY(plx__arena_mat(&made.z, arena, job->n, job->rank));
    if (job->rank) {
        memcpy(made.pivot, job->pivots, (size_t)job->rank * sizeof *made.pivot);
        PLX_TRY(plx__device_read(job->dev, made.z, plx__device_sub(job->z, 0, 0, job->n, job->rank)));
    }
    *out = made;
    memcpy(of->diagonal, job->diagonal, bytes);
    if (!of->subtract) return PLX_OK;
    memcpy(of->mean, job->mean, bytes);
    *of->grand = job->grand;
    return PLX_OK;
}

static plx_status on_device(pivot_job *job, plx__pivoted *out, plx__arena *arena)
{
    plx__mark mark = plx__arena_mark(arena);
    if (!plx__device_table(job->dev)->pivots) return plx__device_lacks(job->dev, "pivots");
    PLX_TRY(plx__device_need(job->dev, bytes_needed(job), "a kernel matrix and its columns",
                             "set gs_max, or set device to cpu or auto"));
    PLX_TRY(take_rooms(job));
    PLX_TRY(make_values(job));
    if (job->of->subtract) PLX_TRY(centre(job));
    PLX_TRY(take_diagonal(job));
    PLX_TRY(factor(job));
    plx_status st = hand_over(job, out, arena);
    if (st != PLX_OK) plx__arena_rewind(arena, mark);
    return st;
}

/* Columns of Z there may be: linear kernels have no more than features. */
static double likely_rank(const plx__pivots_there *of, plx_index limit)
{
    if (of->given || of->kernel->kind != PLX__KERNEL_LINEAR) return (double)limit;
    return (double)plx__min(limit, plx__points_cols(of->rows));
}

plx_status plx__pivots_on_device(bool *done, plx__pivoted *out, plx__arena *arena, plx_context *ctx,
                                 const plx__pivots_there *there, const plx__pivot_options *options)
{
    plx__session s;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index limit = options->max_rank > 0 ? plx__min(options->max_rank, there->n) : there->n;
    pivot_job job = {.ctx = ctx, .of = there, .options = options, .n = there->n, .limit = limit};
    double n = (double)there->n, r = likely_rank(there, limit), cols = (double)plx__points_cols(there->rows);
    plx__device_work work = {.what = "partial Gram-Schmidt", .flops = n * n * ((there->given ? 0 : cols) + r)};
    work.moved = 8 * n * ((there->given ? n : cols) + r);
    if (there->by_columns) work.traffic = 4 * n * r * r;
    *done = false;
    if (ctx->paging || (r < n / 4 && there->n > FEW_ROWS)) return PLX_OK;
    PLX_TRY(plx__session_open(&s, ctx, &work));
    if (s.dev) {
        job.dev = s.dev;
        PLX_TRY(plx__session_close(&s, on_device(&job, out, arena)));
    }
    *done = s.done;
    if (!s.done || arena != plx__scratch(ctx)) plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
