/*
 * Systems of linear kernels in the features: (Gamma + B X X') alpha = R by way of w = X'alpha.
 *
 * Several processes divide the products with X: of X w each has the rows of its own and gets all others, because B joins
 * samples; X'y is a sum over slabs of rows. B itself every process applies to all rows.
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

/* All columns of one block as a dense matrix, centred when asked, into its place of the stacked block-diagonal X. */
static plx_status dense_features(const plx__system_block *b, plx_context *ctx, plx_mat to)
{
    double *along = NULL;
    if (plx__points_sparse(b->rows)) plx__csr_to_dense(to, b->rows.csr);
    else plx__mat_copy(to, b->rows.dense);
    if (!b->pull) return PLX_OK;
    PLX_TRY(plx__arena_f64(&along, plx__scratch(ctx), b->count, 1));
    PLX_TRY(plx__points_times(ctx, b->rows, plx__cmat_of(b->pull, to.cols, 1), plx__mat_of(along, b->count, 1)));
    for (plx_index i = 0; i < b->count; i++) plx__axpy(to.data + i * to.ld, -along[i] / b->pull_norm, b->pull, to.cols);
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
    PLX_TRY(plx__arena_f64(&mean, plx__scratch(ctx), x.cols, 1));
    for (plx_index i = 0; i < x.rows; i++) plx__axpy(mean, 1.0 / (double)x.rows, x.data + i * x.ld, x.cols);
    for (plx_index i = 0; i < x.rows; i++) plx__axpy(x.data + i * x.ld, -1.0, mean, x.cols);
    if (!b->factor.data) b->mean = mean; /* of a factor the caller knows nothing: there it is the mean of the kernel */
    return PLX_OK;
}

/* Features or factors of all blocks, each count x width: the stacked X is block diagonal and never formed. */
static plx_status gather_blocks(plx_mat **out, plx__kernel_system *s, plx_context *ctx)
{
    PLX_TRY(PLX__ARENA_NEW(out, plx__scratch(ctx), s->n_blocks));
    for (plx_index v = 0; v < s->n_blocks; v++) {
        plx__system_block *b = &s->block[v];
        plx_mat own;
        PLX_TRY(plx__arena_mat(&own, plx__scratch(ctx), b->count, width_of(b)));
        if (b->factor.data) plx__mat_copy(own, plx__cmat(b->factor));
        else PLX_TRY(dense_features(b, ctx, own));
        PLX_TRY(shift_features(b, ctx, own));
        (*out)[v] = own;
    }
    return PLX_OK;
}

/* f = X w for dense rows. */
static plx_status dense_times(plx_context *ctx, plx_cmat x, plx_cmat w, plx_mat f)
{
    plx__slabs cut = plx__slabs_cut(x.rows, PLX__PANE_ROWS);
    plx_index begin = 0, end = 0;
    plx__slabs_mine(&begin, &end, ctx, cut);
    for (plx_index at = begin; at < end; at += cut.pane) {
        plx_index rows = plx__min(end, at + cut.pane) - at;
        PLX_TRY(plx__gemm(ctx, 1.0, plx__csub(x, at, 0, rows, x.cols), PLX__N, w, PLX__N, 0.0,
                          plx__sub(f, at, 0, rows, f.cols)));
    }
    return plx__slabs_share(ctx, cut, f.data, (size_t)f.ld * sizeof *f.data, 1);
}

typedef struct dense_pass {
    plx_cmat x, y;
    plx__slabs cut;
} dense_pass;

static plx_status add_product(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const dense_pass *q = arg;
    double keep = begin % q->cut.rows == 0 ? 0.0 : 1.0; /* a slab's table starts at zero */
    return plx__gemm(ctx, 1.0, plx__csub(q->x, begin, 0, end - begin, q->x.cols), PLX__T,
                     plx__csub(q->y, begin, 0, end - begin, q->y.cols), PLX__N, keep,
                     plx__mat_of(table, q->x.cols, q->y.cols));
}

/* w = X'y for dense rows. */
static plx_status dense_times_t(plx_context *ctx, plx_cmat x, plx_cmat y, plx_mat w)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    dense_pass q = {x, y, plx__slabs_cut(x.rows, PLX__PANE_ROWS)};
    plx_mat whole = w;
    if (w.ld != w.cols) PLX_TRY(plx__arena_mat(&whole, plx__scratch(ctx), w.rows, w.cols));
    PLX_TRY(plx__slabs_sum(ctx, q.cut, w.rows * w.cols, add_product, &q, whole.data));
    if (w.ld != w.cols) plx__mat_copy(w, plx__cmat(whole));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* f = X w, block by block. */
static plx_status blocks_times(const plx__kernel_system *s, plx_context *ctx, const plx_mat *x, plx_cmat w, plx_mat f)
{
    for (plx_index v = 0; v < s->n_blocks; v++) {
        plx_cmat own = plx__csub(w, s->block[v].w_offset, 0, x[v].cols, w.cols);
        PLX_TRY(dense_times(ctx, plx__cmat(x[v]), own, plx__block_part_of(f, &s->block[v])));
    }
    return PLX_OK;
}

/* w = X' y, block by block. */
static plx_status blocks_times_t(const plx__kernel_system *s, plx_context *ctx, const plx_mat *x, plx_cmat y, plx_mat w)
{
    for (plx_index v = 0; v < s->n_blocks; v++) {
        plx_mat own = plx__sub(w, s->block[v].w_offset, 0, x[v].cols, w.cols);
        PLX_TRY(dense_times_t(ctx, plx__cmat(x[v]), plx__block_part(y, &s->block[v]), own));
    }
    return PLX_OK;
}

/* h = X'B X, the columns of one block after the other: B of one block's features is all that is kept. */
static plx_status form_matrix(const plx__kernel_system *s, plx_context *ctx, const plx_mat *x, plx_index size,
                              plx_mat h)
{
    for (plx_index u = 0; u < s->n_blocks; u++) {
        plx__mark mark = plx__arena_mark(plx__scratch(ctx));
        const plx__system_block *b = &s->block[u];
        plx_mat in = x[u], out;
        if (s->n_blocks > 1) {
            PLX_TRY(plx__arena_mat(&in, plx__scratch(ctx), size, x[u].cols));
            plx__mat_copy(plx__block_part_of(in, b), plx__cmat(x[u]));
        }
        PLX_TRY(plx__arena_mat(&out, plx__scratch(ctx), size, x[u].cols));
        PLX_TRY(s->coupling(s->arg, ctx, plx__cmat(in), out));
        PLX_TRY(blocks_times_t(s, ctx, x, plx__cmat(out), plx__sub(h, 0, b->w_offset, h.rows, x[u].cols)));
        PLX_TRY(plx__report(ctx, "form the matrix", u + 1, s->n_blocks, NAN));
        plx__arena_rewind(plx__scratch(ctx), mark);
    }
    return PLX_OK;
}

/* rest = X'(R - B X w) - Gamma w; its largest entry. f and bf are work. */
static plx_status rest_of(const plx__kernel_system *s, plx_context *ctx, const plx_mat *x, plx_cmat r, plx_mat w,
                          plx_mat f, plx_mat bf, plx_mat rest, double *largest)
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
static plx_status refine(const plx__kernel_system *s, plx_context *ctx, const plx_mat *x, plx_cmat l, plx_cmat r,
                         plx_mat w, plx_mat f)
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
    plx_mat *x = NULL, h;
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
