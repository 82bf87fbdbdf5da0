/*
 * Systems of linear kernels in the features: (Gamma + B X X') alpha = R by way of w = X'alpha.
 *
 * Several processes divide the products with X: of X w each has the rows of its own and gets all others, because B may
 * join samples; X'y is a sum over slabs of rows. B itself every process applies to all rows of X w. A matrix is formed of
 * all rows of X, or of own ones where B joins nothing but the rows of a sample (coupling_part).
 */
#include <math.h>
#include <string.h>

#include "kernel/kernel_system_impl.h"
#include "linalg/factor.h"
#include "linalg/lowrank.h"

/* ---- primal ---- */

static plx_mat weights_of(double *w, const plx__system_block *b, plx_index columns)
{
    return plx__mat_of(w + b->w_offset * columns, plx__points_cols(b->rows), columns);
}

/* Stacked f = X w; w of a centred block is taken to be orthogonal to X'1. */
static plx_status values_of(const plx__kernel_system *s, plx_context *ctx, const double *w, plx_mat f)
{
    for (plx_index v = 0; v < s->n_blocks; v++) {
        const plx__system_block *b = &s->block[v];
        plx_cmat own = plx__cmat_of(w + b->w_offset * f.cols, plx__points_cols(b->rows), f.cols);
        PLX_TRY(plx__row_passes_times(&b->passes, ctx, own, plx__block_part_of(f, b)));
        PLX_TRY(plx__row_passes_share(&b->passes, ctx, plx__block_part_of(f, b)));
    }
    return PLX_OK;
}

/* Stacked w = X'y, without the directions X'1 of centred blocks. */
static plx_status gather_features(const plx__kernel_system *s, plx_context *ctx, plx_cmat y, double *w)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *work = NULL;
    PLX_TRY(plx__arena_f64(&work, plx__scratch(ctx), y.cols, 1));
    for (plx_index v = 0; v < s->n_blocks; v++) {
        const plx__system_block *b = &s->block[v];
        plx_mat to = weights_of(w, b, y.cols);
        PLX_TRY(plx__block_features(b, ctx, plx__block_part(y, b), to));
        if (b->pull) plx__block_project(to, b->pull, b->pull_norm, work);
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

typedef struct primal_job {
    const plx__kernel_system *s;
    plx_mat f, bf; /* size x columns */
} primal_job;

/* w -> Gamma w + X' B X w. */
static plx_status apply_primal(void *arg, plx_context *ctx, plx_cmat w, plx_mat y)
{
    const primal_job *job = arg;
    const plx__kernel_system *s = job->s;
    PLX_TRY(values_of(s, ctx, w.data, job->f));
    PLX_TRY(s->coupling(s->arg, ctx, plx__cmat(job->f), job->bf));
    PLX_TRY(gather_features(s, ctx, plx__cmat(job->bf), y.data));
    for (plx_index v = 0; v < s->n_blocks; v++) {
        const plx__system_block *b = &s->block[v];
        plx_index at = b->w_offset * w.cols;
        plx__axpy(y.data + at, b->gamma, w.data + at, plx__points_cols(b->rows) * w.cols);
    }
    return PLX_OK;
}

/* Rows of a block that are here. */
static plx_index first_row(const plx__system_block *b) { return b->own ? b->passes.begin : 0; }
static plx_index rows_here(const plx__system_block *b) { return b->own ? b->passes.end - b->passes.begin : b->count; }

/* All columns of one block as a dense matrix, centred when asked. */
static plx_status dense_features(const plx__system_block *b, plx_context *ctx, plx_mat to)
{
    plx__points rows = plx__points_range(b->rows, first_row(b), first_row(b) + to.rows);
    double *along = NULL;
    if (plx__points_sparse(rows)) plx__csr_to_dense(to, rows.csr);
    else plx__mat_copy(to, rows.dense);
    if (!b->pull) return PLX_OK;
    PLX_TRY(plx__arena_f64(&along, plx__scratch(ctx), to.rows, 1));
    PLX_TRY(plx__points_times(ctx, rows, plx__cmat_of(b->pull, to.cols, 1), plx__mat_of(along, to.rows, 1)));
    for (plx_index i = 0; i < to.rows; i++) plx__axpy(to.data + i * to.ld, -along[i] / b->pull_norm, b->pull, to.cols);
    return PLX_OK;
}

static plx_index width_of(const plx__system_block *b)
{
    return b->factor.data ? b->factor.cols : plx__points_cols(b->rows);
}

/* Takes the mean row out of the features of a shifted block. */
static plx_status shift_features(plx__system_block *b, plx_context *ctx, plx_mat x)
{
    double *mean = NULL;
    if (!b->shifted) return PLX_OK;
    PLX_ASSERT(!b->own);
    PLX_TRY(plx__arena_f64(&mean, plx__scratch(ctx), x.cols, 1));
    for (plx_index i = 0; i < x.rows; i++) plx__axpy(mean, 1.0 / (double)x.rows, x.data + i * x.ld, x.cols);
    for (plx_index i = 0; i < x.rows; i++) plx__axpy(x.data + i * x.ld, -1.0, mean, x.cols);
    if (!b->factor.data) b->mean = mean; /* of a factor the caller knows nothing: there it is the mean of the kernel */
    return PLX_OK;
}

/* Features or factor of a block, dense: those that are here, in the place they have among all. */
static plx_status gather_block(plx_cmat *out, plx__system_block *b, plx_context *ctx)
{
    plx_mat own;
    if (b->features.data && !b->pull && !b->shifted) {
        *out = b->features;
        return PLX_OK;
    }
    PLX_TRY(plx__arena_mat(&own, plx__scratch(ctx), rows_here(b), width_of(b)));
    if (b->factor.data) plx__mat_copy(own, plx__cmat(b->factor));
    else PLX_TRY(dense_features(b, ctx, own));
    PLX_TRY(shift_features(b, ctx, own));
    *out = (plx_cmat){first_row(b) ? plx__rows_at(own.data, first_row(b), own.cols) : own.data, b->count, own.cols,
                      own.ld};
    return PLX_OK;
}

/* Passes over the features or factors of all blocks, each count x width: the stacked X is block diagonal and never
 * formed. */
static plx_status gather_blocks(plx__row_passes **out, plx__kernel_system *s, plx_context *ctx)
{
    PLX_TRY(PLX__ARENA_NEW(out, plx__scratch(ctx), s->n_blocks));
    for (plx_index v = 0; v < s->n_blocks; v++) {
        plx__slab_rows whose = plx__block_whose(s, &s->block[v]);
        plx_cmat x;
        PLX_TRY(gather_block(&x, &s->block[v], ctx));
        PLX_TRY(plx__row_passes_open_for(&(*out)[v], ctx, plx__points_dense(x), false, &whose));
    }
    return PLX_OK;
}

/* f = X w, block by block. */
static plx_status blocks_times(const plx__kernel_system *s, plx_context *ctx, const plx__row_passes *x, plx_cmat w,
                               plx_mat f)
{
    for (plx_index v = 0; v < s->n_blocks; v++) {
        plx_cmat own = plx__csub(w, s->block[v].w_offset, 0, plx__points_cols(x[v].x), w.cols);
        plx_mat to = plx__block_part_of(f, &s->block[v]);
        PLX_TRY(plx__row_passes_times(&x[v], ctx, own, to));
        PLX_TRY(plx__row_passes_share(&x[v], ctx, to));
    }
    return PLX_OK;
}

/* w = X'y of one block. */
static plx_status block_times_t(plx_context *ctx, const plx__row_passes *x, plx_cmat y, plx_mat w)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat whole = w;
    if (w.ld != w.cols) PLX_TRY(plx__arena_mat(&whole, plx__scratch(ctx), w.rows, w.cols));
    PLX_TRY(plx__row_passes_times_t(x, ctx, y, whole));
    if (w.ld != w.cols) plx__mat_copy(w, plx__cmat(whole));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* w = X'y, block by block. */
static plx_status blocks_times_t(const plx__kernel_system *s, plx_context *ctx, const plx__row_passes *x, plx_cmat y,
                                 plx_mat w)
{
    for (plx_index v = 0; v < s->n_blocks; v++) {
        plx_mat own = plx__sub(w, s->block[v].w_offset, 0, plx__points_cols(x[v].x), w.cols);
        PLX_TRY(block_times_t(ctx, &x[v], plx__block_part(y, &s->block[v]), own));
    }
    return PLX_OK;
}

/* h = X'B X, the columns of one block after the other: B of one block's features is all that is kept. */
static plx_status form_by_blocks(const plx__kernel_system *s, plx_context *ctx, const plx__row_passes *x,
                                 plx_index size, plx_mat h)
{
    for (plx_index u = 0; u < s->n_blocks; u++) {
        plx__mark mark = plx__arena_mark(plx__scratch(ctx));
        const plx__system_block *b = &s->block[u];
        plx_cmat in = x[u].x.dense;
        plx_mat out, all;
        if (s->n_blocks > 1) {
            PLX_TRY(plx__arena_mat(&all, plx__scratch(ctx), size, in.cols));
            plx__mat_copy(plx__block_part_of(all, b), in);
            in = plx__cmat(all);
        }
        PLX_TRY(plx__arena_mat(&out, plx__scratch(ctx), size, in.cols));
        PLX_TRY(s->coupling(s->arg, ctx, in, out));
        PLX_TRY(blocks_times_t(s, ctx, x, plx__cmat(out), plx__sub(h, 0, b->w_offset, h.rows, in.cols)));
        PLX_TRY(plx__report(ctx, "form the matrix", u + 1, s->n_blocks, NAN));
        plx__arena_rewind(plx__scratch(ctx), mark);
    }
    return PLX_OK;
}

typedef struct formed_pass {
    const plx__kernel_system *s;
    const plx__row_passes *x;
    plx_index size; /* of the matrix */
} formed_pass;

/* h += X'B X of the samples begin .. end-1, the blocks on and below the diagonal. */
static plx_status form_part(const formed_pass *q, plx_context *ctx, plx_index begin, plx_index end, plx_mat h)
{
    const plx__kernel_system *s = q->s;
    plx_index *first = NULL, *at = NULL;
    PLX_TRY(plx__arena_i64(&first, plx__scratch(ctx), s->n_blocks));
    PLX_TRY(plx__arena_i64(&at, plx__scratch(ctx), s->n_blocks + 1));
    for (plx_index v = 0; v < s->n_blocks; v++) {
        first[v] = plx__slab_row(&q->x[v].whose, begin);
        at[v + 1] = at[v] + plx__slab_row(&q->x[v].whose, end) - first[v];
    }
    for (plx_index u = 0; u < s->n_blocks; u++) {
        plx__mark mark = plx__arena_mark(plx__scratch(ctx));
        plx_cmat x = q->x[u].x.dense;
        plx_mat in, out;
        PLX_TRY(plx__arena_mat(&in, plx__scratch(ctx), at[s->n_blocks], x.cols));
        PLX_TRY(plx__arena_mat(&out, plx__scratch(ctx), at[s->n_blocks], x.cols));
        plx__mat_copy(plx__sub(in, at[u], 0, at[u + 1] - at[u], x.cols),
                      plx__csub(x, first[u], 0, at[u + 1] - at[u], x.cols));
        PLX_TRY(s->coupling_part(s->arg, ctx, begin, end, plx__cmat(in), out));
        for (plx_index v = u; v < s->n_blocks; v++) {
            plx_index rows = at[v + 1] - at[v], own = plx__points_cols(q->x[v].x);
            plx_mat to = plx__sub(h, s->block[v].w_offset, s->block[u].w_offset, own, x.cols);
            PLX_TRY(plx__gemm(ctx, 1.0, plx__csub(q->x[v].x.dense, first[v], 0, rows, own), PLX__T,
                              plx__csub(plx__cmat(out), at[v], 0, rows, x.cols), PLX__N, 1.0, to));
        }
        plx__arena_rewind(plx__scratch(ctx), mark);
    }
    return PLX_OK;
}

static plx_status add_formed(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const formed_pass *q = arg;
    for (plx_index from = begin; from < end; from += FORMED_AT_ONCE) {
        plx__mark mark = plx__arena_mark(plx__scratch(ctx));
        PLX_TRY(plx__poll(ctx));
        PLX_TRY(form_part(q, ctx, from, plx__min(end, from + FORMED_AT_ONCE), plx__mat_of(table, q->size, q->size)));
        plx__arena_rewind(plx__scratch(ctx), mark);
    }
    return PLX_OK;
}

/* h = X'B X: of samples by themselves where B joins no others, a sum over their slabs. */
static plx_status form_matrix(const plx__kernel_system *s, plx_context *ctx, const plx__row_passes *x, plx_index size,
                              plx_mat h)
{
    formed_pass q = {s, x, h.rows};
    if (!s->coupling_part) return form_by_blocks(s, ctx, x, size, h);
    return plx__slabs_sum(ctx, plx__slabs_cut(s->samples, PLX__PANE_ROWS), h.rows * h.cols, add_formed, &q, h.data);
}

/* rest = X'(R - B X w) - Gamma w; its largest entry. f and bf are work. */
static plx_status rest_of(const plx__kernel_system *s, plx_context *ctx, const plx__row_passes *x, plx_cmat r,
                          plx_mat w, plx_mat f, plx_mat bf, plx_mat rest, double *largest)
{
    PLX_TRY(blocks_times(s, ctx, x, plx__cmat(w), f));
    PLX_TRY(s->coupling(s->arg, ctx, plx__cmat(f), bf));
    for (plx_index i = 0; i < bf.rows; i++)
        for (plx_index c = 0; c < bf.cols; c++) bf.data[i * bf.ld + c] = r.data[i * r.ld + c] - bf.data[i * bf.ld + c];
    PLX_TRY(blocks_times_t(s, ctx, x, plx__cmat(bf), rest));
    *largest = 0;
    for (plx_index v = 0; v < s->n_blocks; v++) {
        const plx__system_block *b = &s->block[v];
        for (plx_index i = b->w_offset; i < b->w_offset + width_of(b); i++)
            for (plx_index c = 0; c < w.cols; c++) {
                double *to = &rest.data[i * rest.ld + c];
                *to -= b->gamma * w.data[i * w.ld + c];
                *largest = fmax(*largest, fabs(*to));
            }
    }
    return PLX_OK;
}

/* Refines w by the factor l of the (perhaps jittered, always rounded) matrix while that halves what is left. */
static plx_status refine(const plx__kernel_system *s, plx_context *ctx, const plx__row_passes *x, plx_cmat l,
                         plx_cmat r, plx_mat w, plx_mat f)
{
    enum { MOST = 20 };
    plx_mat bf, rest, next;
    double left = INFINITY, now = 0;
    PLX_TRY(plx__arena_mat(&bf, plx__scratch(ctx), r.rows, r.cols));
    PLX_TRY(plx__arena_mat(&rest, plx__scratch(ctx), w.rows, w.cols));
    PLX_TRY(plx__mat_clone(&next, plx__scratch(ctx), plx__cmat(w)));
    for (int step = 0; step < MOST; step++) {
        PLX_TRY(rest_of(s, ctx, x, r, next, f, bf, rest, &now));
        if (!(now < 0.5 * left)) break;
        left = now;
        plx__mat_copy(w, plx__cmat(next));
        PLX_TRY(plx__chol_solve(ctx, l, rest));
        for (plx_index i = 0; i < w.rows; i++) plx__axpy(next.data + i * next.ld, 1.0, rest.data + i * rest.ld, w.cols);
        PLX_TRY(plx__report(ctx, "refine", step, MOST, now));
    }
    return blocks_times(s, ctx, x, plx__cmat(w), f);
}

/* (Gamma + X'BX) w = X'R with the matrix formed, X blockdiag of features or factors; f = X w. */
plx_status plx__system_solve_formed(plx__kernel_system *s, plx_context *ctx, plx_cmat r, plx_mat w, plx_mat f,
                                    bool *doubtful)
{
    plx__row_passes *x = NULL;
    plx_mat h;
    double jitter = 0;
    PLX_TRY(gather_blocks(&x, s, ctx));
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    PLX_TRY(plx__arena_mat(&h, plx__scratch(ctx), w.rows, w.rows));
    PLX_TRY(form_matrix(s, ctx, x, r.rows, h));
    PLX_TRY(blocks_times_t(s, ctx, x, r, w));
    for (plx_index v = 0; v < s->n_blocks; v++) {
        plx_index at = s->block[v].w_offset, own = width_of(&s->block[v]);
        plx__mat_add_diag(plx__sub(h, at, at, own, own), s->block[v].gamma);
    }
    plx__mirror_lower(h);
    PLX_TRY(plx__cholesky_jitter(ctx, h, &jitter, s->what, NULL, "increase the weight of the norm"));
    *doubtful = plx__chol_doubtful(plx__cmat(h), jitter);
    PLX_TRY(plx__chol_solve(ctx, plx__cmat(h), w));
    PLX_TRY(refine(s, ctx, x, plx__cmat(h), r, w, f));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* Stacked columns of all blocks. */
plx_index plx__system_stack_features(plx__kernel_system *s)
{
    plx_index features = 0;
    for (plx_index v = 0; v < s->n_blocks; v++) {
        s->block[v].w_offset = features;
        features += width_of(&s->block[v]);
    }
    return features;
}

/* ---- primal with many features ---- */

static plx_status iterate_primal(const plx__kernel_system *s, plx_context *ctx, plx_index size, plx_mat w,
                                 plx__iter_result *result)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    primal_job job = {.s = s};
    plx__block_operator system = {w.rows, apply_primal, &job};
    plx__iter_options options = {.tol = s->tol, .max_iter = s->max_iter};
    plx_mat start;
    PLX_TRY(plx__arena_mat(&job.f, plx__scratch(ctx), size, w.cols));
    PLX_TRY(plx__arena_mat(&job.bf, plx__scratch(ctx), size, w.cols));
    PLX_TRY(plx__arena_mat(&start, plx__scratch(ctx), w.rows, w.cols));
    PLX_TRY(plx__cg_block(ctx, system, plx__cmat(w), start, &options, result));
    plx__mat_copy(w, plx__cmat(start));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* Stacked weights lie block after block, each cols x columns: the same bytes as one features x columns matrix. */
plx_status plx__system_solve_primal(plx__kernel_system *s, plx_context *ctx, plx_cmat r, plx_mat alpha, plx_mat f,
                                    bool *doubtful, plx__iter_result *result)
{
    plx_index features = plx__system_stack_features(s);
    plx_mat w;
    PLX_TRY(plx__arena_mat(&w, plx__scratch(ctx), features, r.cols));
    if (features <= FEW_FEATURES) {
        PLX_TRY(plx__system_solve_formed(s, ctx, r, w, f, doubtful));
    } else {
        PLX_TRY(gather_features(s, ctx, r, w.data));
        PLX_TRY(iterate_primal(s, ctx, r.rows, w, result));
        PLX_TRY(values_of(s, ctx, w.data, f));
    }
    for (plx_index v = 0; v < s->n_blocks; v++) s->block[v].weights = weights_of(w.data, &s->block[v], r.cols);
    return plx__system_coefficients(s, ctx, r, plx__cmat(f), alpha);
}
