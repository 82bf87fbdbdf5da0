/*
 * Kernel systems by iteration: with x = Gamma^1/2 alpha the system (Gamma + B K) alpha = R reads
 *
 *     (I + Gamma^-1/2 B Gamma^-1/2 K) x = Gamma^-1/2 R,
 *
 * which is self-adjoint in the inner product x'Ky (Gamma commutes with K block by block): linalg/iterative.h.
 *
 * The recurrence of that iteration drifts from the truth on ill-conditioned systems, and its norm does not see what K
 * does not see. What counts is the residual of the system itself. It is computed anew after every run, for the
 * coefficients found and for those recovered from their values, alpha = (R - B K x) / gamma = x + rest / gamma, and what
 * the best of all leaves is the next right-hand side, as long as that halves it.
 */
#include <math.h>

#include "kernel/kernel_system_impl.h"

typedef struct kernel_cg {
    plx__kernel_system *s;
    plx_cmat r;
    plx_mat best, left, x, work; /* coefficients so far, what they leave of R, the next ones */
    plx_index limit;
    plx__iter_result *result; /* residual: of `best` */
} kernel_cg;

/* y = Gamma^-1/2 y, blockwise. */
static void scale_blocks(const plx__kernel_system *s, plx_mat y)
{
    for (plx_index v = 0; v < s->n_blocks; v++)
        plx__mat_scale(plx__block_part_of(y, &s->block[v]), 1.0 / sqrt(s->block[v].gamma));
}

/* y += x, or y += Gamma^-1 x. */
static void add_blocks(const plx__kernel_system *s, plx_mat y, plx_mat x, bool over_gamma)
{
    for (plx_index v = 0; v < s->n_blocks; v++) {
        const plx__system_block *b = &s->block[v];
        for (plx_index i = b->offset; i < b->offset + b->count; i++)
            plx__axpy(y.data + i * y.ld, over_gamma ? 1.0 / b->gamma : 1.0, x.data + i * x.ld, y.cols);
    }
}

static plx_status apply_scaled_coupling(void *arg, plx_context *ctx, plx_cmat x, plx_mat y)
{
    const kernel_cg *g = arg;
    plx__mat_copy(g->work, x);
    scale_blocks(g->s, g->work);
    PLX_TRY(g->s->coupling(g->s->arg, ctx, plx__cmat(g->work), y));
    scale_blocks(g->s, y);
    return PLX_OK;
}

static plx_status apply_kernel(void *arg, plx_context *ctx, plx_cmat x, plx_mat y)
{
    return plx__system_times(((const kernel_cg *)arg)->s, ctx, x, y);
}

/* left = R - (Gamma + B K) alpha. */
static plx_status find_left(kernel_cg *g, plx_context *ctx, plx_mat alpha)
{
    PLX_TRY(plx__system_times(g->s, ctx, plx__cmat(alpha), g->work));
    PLX_TRY(g->s->coupling(g->s->arg, ctx, plx__cmat(g->work), g->left));
    for (plx_index v = 0; v < g->s->n_blocks; v++) {
        const plx__system_block *b = &g->s->block[v];
        for (plx_index i = b->offset; i < b->offset + b->count; i++)
            for (plx_index c = 0; c < g->r.cols; c++) {
                double *to = &g->left.data[i * g->left.ld + c];
                *to = g->r.data[i * g->r.ld + c] - *to - b->gamma * alpha.data[i * alpha.ld + c];
            }
    }
    return PLX_OK;
}

/* Length of the worst column of `left` relative to that of R. */
static double worst_left(const kernel_cg *g)
{
    double worst = 0;
    for (plx_index c = 0; c < g->r.cols; c++) {
        double left = 0, whole = 0;
        for (plx_index i = 0; i < g->r.rows; i++) {
            left += g->left.data[i * g->left.ld + c] * g->left.data[i * g->left.ld + c];
            whole += g->r.data[i * g->r.ld + c] * g->r.data[i * g->r.ld + c];
        }
        if (whole > 0) worst = fmax(worst, isfinite(left) ? sqrt(left / whole) : INFINITY);
    }
    return worst;
}

/* Keeps `alpha` where it leaves less than the best so far. */
static plx_status consider(kernel_cg *g, plx_context *ctx, plx_mat alpha)
{
    PLX_TRY(find_left(g, ctx, alpha));
    double now = worst_left(g);
    if (!(now < g->result->residual)) return PLX_OK;
    plx__mat_copy(g->best, plx__cmat(alpha));
    g->result->residual = now;
    return PLX_OK;
}

/* One run of the iteration towards what the best coefficients leave. */
static plx_status improve(kernel_cg *g, plx_context *ctx)
{
    plx__iter_result run;
    plx__iter_options o = {
        .tol = g->s->tol, .max_iter = g->limit - g->result->iterations, .inner = {g->r.rows, apply_kernel, g}};
    PLX_TRY(find_left(g, ctx, g->best));
    scale_blocks(g->s, g->left);
    plx__mat_fill(g->x, 0.0);
    PLX_TRY(plx__cg_block(ctx, (plx__block_operator){g->r.rows, apply_scaled_coupling, g}, plx__cmat(g->left), g->x, &o,
                          &run));
    g->result->iterations += run.iterations;
    scale_blocks(g->s, g->x);
    add_blocks(g->s, g->x, g->best, false);
    PLX_TRY(consider(g, ctx, g->x));
    add_blocks(g->s, g->x, g->left, true);
    return consider(g, ctx, g->x);
}

/* The start is the given alpha or 0, which leaves R. */
static plx_status begin(kernel_cg *g, plx_context *ctx, plx_mat alpha)
{
    plx_mat *const all[] = {&g->best, &g->left, &g->x, &g->work};
    for (int i = 0; i < 4; i++) PLX_TRY(plx__arena_mat(all[i], plx__scratch(ctx), g->r.rows, g->r.cols));
    PLX_TRY(consider(g, ctx, g->x));
    return consider(g, ctx, alpha);
}

plx_status plx__system_solve_cg(plx__kernel_system *s, plx_context *ctx, plx_cmat r, plx_mat alpha, plx_mat f,
                                plx__iter_result *result)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    kernel_cg g = {.s = s, .r = r, .limit = s->max_iter ? s->max_iter : plx__max(1000, 10 * r.rows), .result = result};
    *result = (plx__iter_result){.residual = INFINITY};
    PLX_TRY(begin(&g, ctx, alpha));
    for (bool better = true; better && result->residual > s->tol;) {
        double before = result->residual;
        PLX_TRY(improve(&g, ctx));
        better = result->residual < 0.5 * before && result->iterations < g.limit && !plx__out_of_time(ctx);
    }
    result->converged = result->residual <= s->tol;
    plx__mat_copy(alpha, plx__cmat(g.best));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return plx__system_times(s, ctx, plx__cmat(alpha), f);
}
