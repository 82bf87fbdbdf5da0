/*
 * The weight-space form of bct over rows that several processes divide: what is made of a row stays with its process,
 * p x p products are summed over slabs of the covered samples (core/slabs.h). A view has rows for some of the covered
 * samples; they go by the samples they stand for, so that all views of a sample are with one process.
 */
#include <string.h>

#include "methods/bct/bct.h"

/* ---- rows ---- */

plx_status plx__bct_own_rows(plx_mat *out, bct *b, const bct_view *v, plx_index cols)
{
    plx_index begin = b->begin, end = b->end;
    if (v) plx__slab_rows_mine(&begin, &end, b->ctx, &v->rows);
    PLX_TRY(plx__arena_mat(out, plx__scratch(b->ctx), end - begin, cols));
    out->rows = v ? v->n : b->n_cov;
    if (begin) out->data = plx__rows_at(out->data, begin, cols);
    return PLX_OK;
}

typedef struct block_job {
    bct *b;
    plx_index most;
    plx__bct_block_fn fn;
    void *arg;
} block_job;

static plx_status visit_pane(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const block_job *job = arg;
    (void)ctx, (void)table;
    for (plx_index at = begin; at < end; at += job->most)
        PLX_TRY(job->fn(job->arg, job->b, at, plx__min(end, at + job->most)));
    return PLX_OK;
}

plx_status plx__bct_each_block(bct *b, plx_index most, plx__bct_block_fn fn, void *arg)
{
    return plx__slabs_each(b->ctx, b->cut, visit_pane, &(block_job){b, most, fn, arg});
}

plx_status plx__bct_labelled_of(bct *b, plx_cmat from, plx_mat out)
{
    plx__slab_rows rows = {b->cut, b->targets.n, b->labelled};
    plx_index begin = 0, end = 0;
    plx__slab_rows_mine(&begin, &end, b->ctx, &rows);
    for (plx_index i = begin; i < end; i++)
        memcpy(out.data + i * out.ld, from.data + b->labelled[i] * from.ld, (size_t)out.cols * sizeof(double));
    return plx__slab_rows_share(b->ctx, &rows, out.data, (size_t)out.ld * sizeof(double));
}

/* ---- products with the rows of one view ---- */

typedef struct view_pass {
    bct *b;
    const bct_view *v;
    plx_cmat a, y;
    plx_mat to;
    double factor;
} view_pass;

/* A slab's table starts at zero, so that its first pane may overwrite. */
static double keep_of(const bct *b, plx_index begin) { return begin % b->cut.rows == 0 ? 0.0 : 1.0; }

static plx_status add_products(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const view_pass *q = arg;
    plx_index first = plx__slab_row(&q->v->rows, begin), rows = plx__slab_row(&q->v->rows, end) - first;
    plx_cmat x = plx__csub(q->v->x, first, 0, rows, q->v->x.cols), y = plx__csub(q->y, first, 0, rows, q->y.cols);
    plx_mat to = plx__mat_of(table, x.cols, y.cols);
    if (!rows) return PLX_OK;
    if (x.data == y.data) return plx__syrk(ctx, 1.0, x, PLX__T, keep_of(q->b, begin), to);
    return plx__gemm(ctx, 1.0, x, PLX__T, y, PLX__N, keep_of(q->b, begin), to);
}

plx_status plx__bct_times_t(bct *b, const bct_view *v, plx_cmat y, plx_mat out)
{
    view_pass q = {.b = b, .v = v, .y = y};
    PLX_ASSERT(out.ld == out.cols);
    return plx__slabs_sum(b->ctx, b->cut, out.rows * out.cols, add_products, &q, out.data);
}

static plx_status add_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const view_pass *q = arg;
    plx_index first = plx__slab_row(&q->v->rows, begin), rows = plx__slab_row(&q->v->rows, end) - first;
    (void)table;
    return plx__gemm(ctx, q->factor, plx__csub(q->v->x, first, 0, rows, q->v->x.cols), PLX__N, q->y, PLX__N, 1.0,
                     plx__sub(q->to, first, 0, rows, q->to.cols));
}

plx_status plx__bct_add_times(bct *b, const bct_view *v, double factor, plx_cmat w, plx_mat y)
{
    view_pass q = {.b = b, .v = v, .y = w, .to = y, .factor = factor};
    return plx__slabs_each(b->ctx, b->cut, add_rows, &q);
}

static plx_status add_entries(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const view_pass *q = arg;
    plx_index last = plx__slab_row(&q->v->rows, end);
    (void)ctx;
    for (plx_index i = plx__slab_row(&q->v->rows, begin); i < last; i++)
        *table += plx__dot(q->a.data + i * q->a.ld, q->y.data + i * q->y.ld, q->a.cols);
    return PLX_OK;
}

plx_status plx__bct_inner_product(double *out, bct *b, const bct_view *v, plx_cmat a, plx_cmat y)
{
    return plx__slabs_sum(b->ctx, b->cut, 1, add_entries, &(view_pass){.b = b, .v = v, .a = a, .y = y}, out);
}

/* ---- blocks of M ---- */

typedef struct block_pass {
    bct *b;
    plx_index j, from;
} block_pass;

/* The sum over the other views of a sample, which D_i - 1/s_j would give with cancellation. */
static void other_precisions(double *out, const bct *b, plx_index j, plx_index begin, plx_index end)
{
    for (plx_index k = 0; k < b->m; k++) {
        const bct_view *v = &b->views[k];
        plx_index last = plx__slab_row(&v->rows, end);
        for (plx_index i = plx__slab_row(&v->rows, begin); i < last && k != j; i++)
            out[v->at[i] - begin] += 1.0 / v->variance;
    }
}

/* scaled = rows begin .. of the view's columns of Z times their weight in block (j, k). */
static void scale_rows(plx_mat scaled, const block_pass *q, plx_index k, plx_index begin, const double *other)
{
    const bct *b = q->b;
    double s = b->views[q->j].variance, s_k = b->views[k].variance;
    for (plx_index i = 0; i < scaled.rows; i++) {
        double c = b->weight.c[begin + i], weight = k == q->j ? other[i] / (s * c) : -1.0 / (s * s_k * c);
        const double *own = b->weight.z.data + (begin + i) * b->weight.z.ld + q->from;
        for (plx_index e = 0; e < scaled.cols; e++) scaled.data[i * scaled.ld + e] = weight * own[e];
    }
}

static plx_status add_blocks(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const block_pass *q = arg;
    bct *b = q->b;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index d = b->views[q->j].x.cols;
    plx_mat scaled;
    double *other = NULL;
    PLX_TRY(plx__arena_f64(&other, plx__scratch(ctx), end - begin, 1));
    PLX_TRY(plx__arena_mat(&scaled, plx__scratch(ctx), end - begin, d));
    other_precisions(other, b, q->j, begin, end);
    for (plx_index k = 0, to = 0; k <= q->j; to += b->views[k++].x.cols) {
        plx_index width = b->views[k].x.cols;
        scale_rows(scaled, q, k, begin, other);
        PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(scaled), PLX__T,
                          plx__csub(plx__cmat(b->weight.z), begin, to, end - begin, width), PLX__N, keep_of(b, begin),
                          plx__mat_of(table + d * to, d, width)));
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* M_jj = I + X_j' diag((D - 1/s_j)/(s_j D)) X_j (I comes later), M_jk = -X_j' diag(1/(s_j s_k D)) X_k. */
plx_status plx__bct_weight_blocks(bct *b, plx_index j, plx_index from)
{
    plx__mark mark = plx__arena_mark(plx__scratch(b->ctx));
    plx_index d = b->views[j].x.cols;
    double *table = NULL;
    PLX_TRY(plx__arena_f64(&table, plx__scratch(b->ctx), d, from + d));
    PLX_TRY(plx__slabs_sum(b->ctx, b->cut, d * (from + d), add_blocks, &(block_pass){b, j, from}, table));
    for (plx_index k = 0, to = 0; k <= j; to += b->views[k++].x.cols)
        plx__mat_copy(plx__sub(b->dense.lambda, from, to, d, b->views[k].x.cols),
                      plx__cmat_of(table + d * to, d, b->views[k].x.cols));
    plx__arena_rewind(plx__scratch(b->ctx), mark);
    return PLX_OK;
}
