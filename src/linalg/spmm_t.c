/*
 * Products that scatter: A'B, and inner products of sparse rows.
 *
 * A'B adds row i of B to the rows of C named by row i of A. The rows of A are cut into a fixed number of
 * slabs, each with a C of its own, and the columns of B into panels; slabs are added up in order.
 */
#include <string.h>

#include "core/parallel.h"
#include "linalg/csr.h"
#include "linalg/dense.h"

enum { MAX_SLABS = 8, PANEL_COLS = 32, GRAM_ROWS = 32 };
static const double PARTIAL_BYTES = 268435456.0;

typedef struct scatter_job {
    double alpha, beta;
    plx_ccsr a;
    plx_cmat b;
    plx_mat c;
    plx_index slabs, slab_rows, panels;
    double *partial; /* slabs x cols(A) x cols(B) */
} scatter_job;

/* A slab must bring several entries per row of C to pay for the adding up. */
static plx_index slab_count(plx_ccsr a, plx_index width)
{
    plx_index entries = a.ptr[a.rows] - a.ptr[0], slabs = MAX_SLABS;
    while (slabs > 1 && ((double)slabs * 4.0 * (double)a.cols > (double)entries ||
                         (double)slabs * 8.0 * (double)a.cols * (double)width > PARTIAL_BYTES))
        slabs /= 2;
    return slabs;
}

static void scatter_rows(const scatter_job *job, plx_index begin, plx_index end, plx_index j0, plx_index j1, double *to)
{
    plx_index ld = job->b.cols, width = j1 - j0;
    for (plx_index i = begin; i < end; i++) {
        const double *row = job->b.data + i * job->b.ld + j0;
        for (int64_t p = job->a.ptr[i]; p < job->a.ptr[i + 1]; p++) {
            double *sum = to + (plx_index)job->a.col[p] * ld + j0, x = job->a.val[p];
            for (plx_index j = 0; j < width; j++) sum[j] += x * row[j];
        }
    }
}

static plx_status scatter_tasks(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const scatter_job *job = arg;
    (void)ctx, (void)worker;
    for (plx_index t = begin; t < end; t++) {
        plx_index slab = t / job->panels, j0 = t % job->panels * PANEL_COLS, first = slab * job->slab_rows;
        scatter_rows(job, first, plx__min(job->a.rows, first + job->slab_rows), j0,
                     plx__min(job->b.cols, j0 + PANEL_COLS), job->partial + slab * job->a.cols * job->b.cols);
    }
    return PLX_OK;
}

static plx_status add_slabs(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const scatter_job *job = arg;
    plx_index width = job->b.cols, step = job->a.cols * width;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++)
        for (plx_index j = 0; j < width; j++) {
            double sum = 0, *c = job->c.data + i * job->c.ld + j;
            for (plx_index s = 0; s < job->slabs; s++) sum += job->partial[s * step + i * width + j];
            *c = job->beta == 0 ? job->alpha * sum : job->alpha * sum + job->beta * *c;
        }
    return PLX_OK;
}

plx_status plx__spmm_t(plx_context *ctx, double alpha, plx_ccsr a, plx_cmat b, double beta, plx_mat c)
{
    PLX_ASSERT(a.rows == b.rows && a.cols == c.rows && b.cols == c.cols);
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    scatter_job job = {.alpha = alpha, .beta = beta, .a = a, .b = b, .c = c, .slabs = slab_count(a, b.cols)};
    job.slab_rows = a.rows / job.slabs + 1;
    job.panels = b.cols / PANEL_COLS + (b.cols % PANEL_COLS != 0);
    PLX_TRY(plx__arena_f64(&job.partial, plx__scratch(ctx), job.slabs * a.cols, b.cols));
    PLX_TRY(plx__parallel_for(ctx, job.slabs * job.panels, 1, scatter_tasks, &job));
    PLX_TRY(plx__parallel_for(ctx, a.cols, 256, add_slabs, &job));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- inner products of rows ---- */

typedef struct gram_job {
    plx_ccsr a, postings; /* postings: B' */
    plx_mat g;
} gram_job;

/* Each product is met in ascending order of the shared column, as in plx__csr_row_dot. */
static plx_status gram_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const gram_job *job = arg;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++) {
        double *row = job->g.data + i * job->g.ld;
        memset(row, 0, (size_t)job->g.cols * sizeof *row);
        for (int64_t p = job->a.ptr[i]; p < job->a.ptr[i + 1]; p++) {
            double x = job->a.val[p];
            plx_index c = job->a.col[p];
            for (int64_t q = job->postings.ptr[c]; q < job->postings.ptr[c + 1]; q++)
                row[job->postings.col[q]] += x * job->postings.val[q];
        }
    }
    return PLX_OK;
}

plx_status plx__csr_gram(plx_context *ctx, plx_ccsr a, plx_ccsr b, plx_mat g)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_csr postings;
    PLX_ASSERT(a.cols == b.cols && g.rows == a.rows && g.cols == b.rows);
    if (g.cols == 0) return PLX_OK;
    PLX_TRY(plx__csr_transpose(&postings, plx__scratch(ctx), b));
    gram_job job = {a, plx__ccsr(postings), g};
    PLX_TRY(plx__parallel_for(ctx, a.rows, GRAM_ROWS, gram_rows, &job));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
