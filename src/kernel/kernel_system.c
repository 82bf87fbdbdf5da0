/*
 * Products with K by block, whatever form the kernel has, and the direct solvers; the primal is in
 * kernel_primal.c, the iterative one in kernel_cg.c. Where constants are free the direction K1 is taken out
 * first, so that a large common offset of the features does not cancel against everything else.
 */
#include "kernel/kernel_system_impl.h"

#include <math.h>
#include <string.h>

#include "core/ranks.h"
#include "linalg/factor.h"
#include "linalg/lowrank.h"

enum { STORED_UP_TO = 20000 }; /* samples whose kernel matrix the iterations keep; above, they form it block by block */

const char *plx__system_solver_name(plx__system_solver solver)
{
    static const char *const names[] = {"auto", "dense", "cg", "primal"};
    return names[solver];
}

plx_cmat plx__block_part(plx_cmat m, const plx__system_block *b)
{
    return plx__csub(m, b->offset, 0, b->count, m.cols);
}
plx_mat plx__block_part_of(plx_mat m, const plx__system_block *b)
{
    return plx__sub(m, b->offset, 0, b->count, m.cols);
}

plx__slab_rows plx__block_whose(const plx__kernel_system *s, const plx__system_block *b)
{
    plx_index n = s->coupling_part ? s->samples : b->count;
    return (plx__slab_rows){plx__slabs_cut(n, PLX__PANE_ROWS), b->count, n == b->count ? NULL : b->sample};
}

/* m -= p (p'm) / norm: takes the direction p out of the columns of m. */
void plx__block_project(plx_mat m, const double *p, double norm, double *work)
{
    memset(work, 0, (size_t)m.cols * sizeof *work);
    for (plx_index i = 0; i < m.rows; i++) plx__axpy(work, p[i], m.data + i * m.ld, m.cols);
    for (plx_index i = 0; i < m.rows; i++) plx__axpy(m.data + i * m.ld, -p[i] / norm, work, m.cols);
}

/* ---- products with one kernel ---- */

/* Rows of K y formed block by block: nothing count x count is kept. */
static plx_status times_formed(const plx__system_block *b, plx_context *ctx, plx_cmat y, plx_mat out)
{
    enum { BLOCK = 512 };
    for (plx_index at = 0; at < b->count; at += BLOCK) {
        plx__mark mark = plx__arena_mark(plx__scratch(ctx));
        plx_index end = plx__min(b->count, at + BLOCK);
        plx_mat k;
        PLX_TRY(plx__arena_mat(&k, plx__scratch(ctx), end - at, b->count));
        PLX_TRY(plx__expansion_between(ctx, b->x, plx__points_range(b->rows, at, end), b->rows, k));
        PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(k), PLX__N, y, PLX__N, 0.0, plx__sub(out, at, 0, end - at, out.cols)));
        plx__arena_rewind(plx__scratch(ctx), mark);
    }
    return PLX_OK;
}

/* X'y, a sum over the rows, which processes divide; transposed copies serve sparse rows faster. */
plx_status plx__block_features(const plx__system_block *b, plx_context *ctx, plx_cmat y, plx_mat w)
{
    return plx__row_passes_times_t(&b->passes, ctx, y, w);
}

static plx_status times_features(const plx__system_block *b, plx_context *ctx, plx_cmat y, plx_mat out)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat w;
    PLX_TRY(plx__arena_mat(&w, plx__scratch(ctx), plx__points_cols(b->rows), y.cols));
    PLX_TRY(plx__block_features(b, ctx, y, w));
    PLX_TRY(plx__row_passes_times(&b->passes, ctx, plx__cmat(w), out));
    PLX_TRY(plx__row_passes_share(&b->passes, ctx, out));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

static plx_status times_kernel(const plx__system_block *b, plx_context *ctx, plx_cmat y, plx_mat out)
{
    if (b->gram.data) return plx__gemm(ctx, 1.0, plx__cmat(b->gram), PLX__N, y, PLX__N, 0.0, out);
    return plx__block_linear(b) ? times_features(b, ctx, y, out) : times_formed(b, ctx, y, out);
}

/* out = K0 y: K y - p (p'y) / norm with p = K 1. */
static plx_status times_block(const plx__system_block *b, plx_context *ctx, plx_cmat y, plx_mat out)
{
    PLX_TRY(times_kernel(b, ctx, y, out));
    if (!b->pull || b->gram.data) return PLX_OK; /* a stored matrix is centred itself */
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *along = NULL;
    PLX_TRY(plx__arena_f64(&along, plx__scratch(ctx), y.cols, 1));
    for (plx_index i = 0; i < y.rows; i++) plx__axpy(along, b->pull[i], y.data + i * y.ld, y.cols);
    for (plx_index i = 0; i < y.rows; i++) plx__axpy(out.data + i * out.ld, -b->pull[i] / b->pull_norm, along, y.cols);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__system_times(const plx__kernel_system *s, plx_context *ctx, plx_cmat y, plx_mat out)
{
    for (plx_index v = 0; v < s->n_blocks; v++)
        PLX_TRY(
            times_block(&s->block[v], ctx, plx__block_part(y, &s->block[v]), plx__block_part_of(out, &s->block[v])));
    return PLX_OK;
}

/* ---- making the blocks ready ---- */

static plx_status kernel_trace(double *out, const plx__system_block *b, plx_context *ctx)
{
    double *norm = NULL;
    *out = 0;
    if (b->gram.data) {
        *out = plx__mat_trace(plx__cmat(b->gram));
        return PLX_OK;
    }
    PLX_TRY(plx__arena_f64(&norm, plx__scratch(ctx), b->count, 1));
    plx_index begin = b->own ? b->passes.begin : 0, end = b->own ? b->passes.end : b->count;
    PLX_TRY(plx__points_norms_sq(ctx, plx__points_range(b->rows, begin, end), norm + begin));
    if (b->own) PLX_TRY(plx__slab_rows_share(ctx, &b->passes.whose, norm, sizeof *norm));
    const plx__kernel *k = &b->x->data.kernel;
    for (plx_index i = 0; i < b->count; i++)
        *out += plx__block_linear(b) ? norm[i] : k->kind == PLX__KERNEL_RBF ? 1.0 : pow(norm[i] + k->coef0, k->degree);
    return PLX_OK;
}

/* Finds K 1 (or X'1 in the primal) and 1'K1; takes the direction out of a stored matrix. Functions that sum to zero
 * already (1'K1 <= 1e-12 n trace K) are left alone. */
static plx_status centre_block(plx__system_block *b, plx_context *ctx, bool primal)
{
    plx_mat ones;
    double trace = 0, *pull = NULL, sum = 0;
    plx_index length = primal ? plx__points_cols(b->rows) : b->count;
    if (!b->centred) return PLX_OK;
    PLX_TRY(plx__arena_mat(&ones, plx__scratch(ctx), b->count, 1));
    PLX_TRY(plx__arena_f64(&pull, plx__scratch(ctx), length, 1));
    plx__mat_fill(ones, 1.0);
    PLX_TRY(kernel_trace(&trace, b, ctx));
    if (primal) PLX_TRY(plx__block_features(b, ctx, plx__cmat(ones), plx__mat_of(pull, length, 1)));
    else PLX_TRY(times_kernel(b, ctx, plx__cmat(ones), plx__mat_of(pull, length, 1)));
    for (plx_index i = 0; i < length; i++) sum += primal ? pull[i] * pull[i] : pull[i];
    if (sum <= 1e-12 * (double)b->count * trace) return PLX_OK;
    b->pull = pull;
    b->pull_norm = sum;
    for (plx_index i = 0; b->gram.data && i < b->count; i++)
        plx__axpy(b->gram.data + i * b->gram.ld, -pull[i] / sum, pull, b->count);
    return PLX_OK;
}

/* `own`: the rows of this process's passes are enough. */
static plx_status begin_block(const plx__kernel_system *s, plx__system_block *b, plx_context *ctx,
                              plx__system_solver solver, bool own)
{
    plx__slab_rows whose = plx__block_whose(s, b);
    bool precomputed = b->x->data.kernel.kind == PLX__KERNEL_PRECOMPUTED, primal = solver == PLX__SYSTEM_PRIMAL;
    bool linear = plx__block_linear(b);
    b->gram = b->factor = (plx_mat){0};
    b->pull = b->mean = NULL;
    b->own = own && (b->features.data ? plx__ranks(ctx) > 1 : b->x->data.bound != NULL);
    if (b->features.data) b->rows = plx__points_dense(b->features);
    else if (b->own) PLX_TRY(plx__expansion_rows_for(&b->rows, ctx, b->x, b->sample, &whose));
    else if (!precomputed) PLX_TRY(plx__expansion_rows(&b->rows, ctx, b->x, b->sample, b->count));
    if (linear) PLX_TRY(plx__row_passes_open_for(&b->passes, ctx, b->rows, solver != PLX__SYSTEM_DENSE, &whose));
    if (solver == PLX__SYSTEM_DENSE || (!linear && (precomputed || b->count <= STORED_UP_TO))) {
        PLX_TRY(plx__arena_mat(&b->gram, plx__scratch(ctx), b->count, b->count));
        PLX_TRY(plx__expansion_gram(ctx, b->x, b->sample, b->count, b->gram));
    }
    return centre_block(b, ctx, primal);
}

/* ---- LU: kernels with negative eigenvalues ---- */

static plx_status solve_lu(plx__kernel_system *s, plx_context *ctx, plx_cmat r, plx_mat alpha, plx_mat f)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index size = r.rows;
    plx_mat k = s->block[0].gram, a;
    PLX_TRY(plx__arena_mat(&a, plx__scratch(ctx), size, size));
    if (s->n_blocks > 1) {
        PLX_TRY(plx__arena_mat(&k, plx__scratch(ctx), size, size));
        for (plx_index v = 0; v < s->n_blocks; v++) {
            const plx__system_block *b = &s->block[v];
            plx__mat_copy(plx__sub(k, b->offset, b->offset, b->count, b->count), plx__cmat(b->gram));
        }
    }
    PLX_TRY(s->coupling(s->arg, ctx, plx__cmat(k), a));
    for (plx_index v = 0; v < s->n_blocks; v++) {
        const plx__system_block *b = &s->block[v];
        plx__mat_add_diag(plx__sub(a, b->offset, b->offset, b->count, b->count), b->gamma);
    }
    plx__mat_copy(alpha, r);
    PLX_TRY(plx__lu_solve(ctx, a, alpha, s->what));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return plx__system_times(s, ctx, plx__cmat(alpha), f);
}

/* gamma alpha = R - B f: exact for exact f, and right where K sees nothing of alpha. */
plx_status plx__system_coefficients(const plx__kernel_system *s, plx_context *ctx, plx_cmat r, plx_cmat f,
                                    plx_mat alpha)
{
    PLX_TRY(s->coupling(s->arg, ctx, f, alpha));
    for (plx_index v = 0; v < s->n_blocks; v++) {
        const plx__system_block *b = &s->block[v];
        for (plx_index i = b->offset; i < b->offset + b->count; i++)
            for (plx_index c = 0; c < r.cols; c++) {
                double *to = &alpha.data[i * alpha.ld + c];
                *to = (r.data[i * r.ld + c] - *to) / b->gamma;
            }
    }
    return PLX_OK;
}

/* ---- dense ---- */

/* gram = factor factor' to rounding; false for a matrix with negative eigenvalues. */
static plx_status factorise_block(bool *good, plx__system_block *b, plx_context *ctx)
{
    plx__pivoted z;
    plx__pivot_options options = {.threshold = 0.0};
    plx_mat copy, back;
    double trace = plx__mat_trace(plx__cmat(b->gram)), worst = 0;
    PLX_TRY(plx__mat_clone(&copy, plx__scratch(ctx), plx__cmat(b->gram)));
    PLX_TRY(plx__pivoted_cholesky_full(&z, plx__scratch(ctx), ctx, copy, &options));
    b->factor = z.z;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    PLX_TRY(plx__mat_clone(&back, plx__scratch(ctx), plx__cmat(b->gram)));
    PLX_TRY(plx__gemm(ctx, -1.0, plx__cmat(z.z), PLX__N, plx__cmat(z.z), PLX__T, 1.0, back));
    for (plx_index i = 0; i < back.rows; i++)
        for (plx_index j = 0; j < back.cols; j++) worst = fmax(worst, fabs(back.data[i * back.ld + j]));
    plx__arena_rewind(plx__scratch(ctx), mark);
    *good = worst <= 1e-12 * trace && z.rank > 0;
    return PLX_OK;
}

/* Mean row of the kernel of a shifted block. */
static plx_status kernel_mean(plx__system_block *b, plx_context *ctx)
{
    if (!b->shifted) return PLX_OK;
    PLX_TRY(plx__arena_f64(&b->mean, plx__scratch(ctx), b->count, 1));
    for (plx_index i = 0; i < b->count; i++)
        plx__axpy(b->mean, 1.0 / (double)b->count, b->gram.data + i * b->gram.ld, b->count);
    return PLX_OK;
}

static plx_status solve_dense(plx__kernel_system *s, plx_context *ctx, plx_cmat r, plx_mat alpha, plx_mat f,
                              bool *doubtful)
{
    plx_mat w;
    bool good = true;
    for (plx_index v = 0; v < s->n_blocks && good; v++) {
        PLX_TRY(plx__report(ctx, "factorise", v, s->n_blocks, NAN));
        PLX_TRY(factorise_block(&good, &s->block[v], ctx));
    }
    if (!good) return solve_lu(s, ctx, r, alpha, f);
    PLX_TRY(plx__arena_mat(&w, plx__scratch(ctx), plx__system_stack_features(s), r.cols));
    PLX_TRY(plx__system_solve_formed(s, ctx, r, w, f, doubtful));
    for (plx_index v = 0; v < s->n_blocks; v++) PLX_TRY(kernel_mean(&s->block[v], ctx));
    return plx__system_coefficients(s, ctx, r, plx__cmat(f), alpha);
}

/* ---- all roads ---- */

/* Linear kernels of few features are solved in the features, by whatever name: their Gram matrix has the square of
 * their condition. */
static plx__system_solver best_road(const plx__kernel_system *s)
{
    plx_index features = 0;
    if (s->solver != PLX__SYSTEM_DENSE) return s->solver;
    for (plx_index v = 0; v < s->n_blocks; v++) {
        if (!s->block[v].x->linear || s->block[v].centred) return PLX__SYSTEM_DENSE;
        features += s->block[v].x->data.cols;
    }
    return features <= FEW_FEATURES ? PLX__SYSTEM_PRIMAL : PLX__SYSTEM_DENSE;
}

static plx_status begin_blocks(plx__kernel_system *s, plx_context *ctx, plx__system_solver road)
{
    plx_index at = 0, features = 0;
    for (plx_index v = 0; v < s->n_blocks; v++)
        features += s->block[v].features.data ? s->block[v].features.cols : s->block[v].x->data.cols;
    for (plx_index v = 0; v < s->n_blocks; v++) {
        s->block[v].offset = at;
        at += s->block[v].count;
        /* a matrix is formed of all rows where what is punished joins samples */
        bool own = s->coupling_part ? road != PLX__SYSTEM_DENSE : road == PLX__SYSTEM_PRIMAL && features > FEW_FEATURES;
        PLX_TRY(begin_block(s, &s->block[v], ctx, road, own));
    }
    return PLX_OK;
}

/* w = X'alpha of linear kernels. */
static plx_status find_weights(plx__system_block *b, plx_context *ctx, plx_cmat alpha)
{
    plx_mat plain;
    PLX_TRY(plx__arena_mat(&b->weights, plx__scratch(ctx), plx__points_cols(b->rows), alpha.cols));
    PLX_TRY(plx__mat_clone(&plain, plx__scratch(ctx), plx__block_part(alpha, b)));
    plx__system_plain(b, plain);
    return plx__block_features(b, ctx, plx__cmat(plain), b->weights);
}

/* A matrix that was formed knows nothing below the last digit of its largest entry, where the weight of the norm may
 * be. The iteration in the inner product of K does not form it: it goes on from what the factors gave. */
static plx_status solve_again(plx__kernel_system *s, plx_context *ctx, plx__system_solver road, plx_cmat r,
                              plx_mat alpha, plx_mat f, plx__iter_result *result)
{
    PLX_TRY(begin_blocks(s, ctx, PLX__SYSTEM_CG));
    PLX_TRY(plx__system_solve_cg(s, ctx, r, alpha, f, result));
    for (plx_index v = 0; v < s->n_blocks && road == PLX__SYSTEM_PRIMAL; v++)
        PLX_TRY(find_weights(&s->block[v], ctx, plx__cmat(alpha)));
    return PLX_OK;
}

static bool any_shifted(const plx__kernel_system *s)
{
    for (plx_index v = 0; v < s->n_blocks; v++)
        if (s->block[v].shifted) return true;
    return false;
}

plx_status plx__system_solve(plx__kernel_system *s, plx_context *ctx, plx_cmat r, plx_mat alpha, plx_mat f,
                             plx__iter_result *result)
{
    plx__system_solver road = best_road(s);
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    bool doubtful = false;
    *result = (plx__iter_result){.converged = true};
    PLX_TRY(begin_blocks(s, ctx, road));
    if (road == PLX__SYSTEM_CG) {
        plx__mat_fill(alpha, 0.0);
        return plx__system_solve_cg(s, ctx, r, alpha, f, result);
    }
    if (road == PLX__SYSTEM_PRIMAL) PLX_TRY(plx__system_solve_primal(s, ctx, r, alpha, f, &doubtful, result));
    else PLX_TRY(solve_dense(s, ctx, r, alpha, f, &doubtful));
    if (!doubtful || any_shifted(s)) return PLX_OK;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return solve_again(s, ctx, road, r, alpha, f, result);
}

void plx__system_plain(const plx__system_block *b, plx_mat alpha)
{
    if (!b->pull) return;
    for (plx_index c = 0; c < alpha.cols; c++) {
        double along = 0;
        for (plx_index i = 0; i < alpha.rows; i++) along += b->pull[i] * alpha.data[i * alpha.ld + c];
        for (plx_index i = 0; i < alpha.rows; i++) alpha.data[i * alpha.ld + c] -= along / b->pull_norm;
    }
}

double plx__system_bytes(plx__system_solver solver, bool linear, double size, double largest, double features,
                         double columns, double held)
{
    double each = 8 * size * columns;
    if (solver == PLX__SYSTEM_DENSE && linear && features <= FEW_FEATURES) solver = PLX__SYSTEM_PRIMAL; /* best_road */
    if (solver == PLX__SYSTEM_DENSE) return 8 * 6 * size * size + 4 * each;
    if (solver == PLX__SYSTEM_CG && !linear)
        return 10 * each + 8 * (largest <= STORED_UP_TO ? size * largest : 512 * largest);
    double whole = (size > largest ? 3 : 2) * largest, blocks = ceil(size / fmax(1, largest));
    double rows = held > 0 ? held + 2 * fmin(size, blocks * FORMED_AT_ONCE) : whole;
    double formed = features <= FEW_FEATURES ? 8 * features * (rows + 2 * features) : 0;
    return 10 * each + 8 * 6 * features * columns + (solver == PLX__SYSTEM_PRIMAL ? formed : 0);
}
