/*
 * The log evidence of gp and its derivatives by the logarithms of amplitude, width and noise. Squared distances (rbf)
 * or values at amplitude 1 are computed once; an evaluation is then one pass over them and the factorisations.
 */
#include <string.h>

#include "core/parallel.h"
#include "methods/gp/gp.h"
#include "prob/evidence.h"

void plx__gp_set_hyper(gp *g, const double *hyper)
{
    plx_index at = 0;
    for (plx_index k = 0; k < g->count; k++) {
        plx__kernel *kernel = &g->kernels[k].kernel;
        kernel->amplitude = hyper[at++];
        if (kernel->kind == PLX__KERNEL_RBF) kernel->width = hyper[at++];
    }
    if (g->regression) g->targets.noise = hyper[at];
}

/* ---- covariance ---- */

/* Rows of the lower triangle of K = sum of the kernels. */
static plx_status covariance_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const gp *g = arg;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++) {
        double *row = g->k.data + i * g->k.ld;
        memset(row, 0, (size_t)(i + 1) * sizeof *row);
        for (plx_index k = 0; k < g->count; k++) {
            const double *base = g->base[k].data + i * g->base[k].ld;
            for (plx_index j = 0; j <= i; j++) row[j] += plx__kernel_of_base(&g->kernels[k].kernel, base[j]);
        }
    }
    return PLX_OK;
}

static plx_index row_grain(const gp *g) { return plx__max(1, 16384 / plx__max(1, g->k.rows)); }

/* ---- gradient ---- */

/* <M, dK> by the lower triangle: pairs count twice, the diagonal once. */
static plx_status gradient_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *partial)
{
    const gp *g = arg;
    (void)ctx;
    for (plx_index i = begin; i < end; i++)
        for (plx_index k = 0; k < g->count; k++) {
            const plx__kernel *kernel = &g->kernels[k].kernel;
            const double *base = g->base[k].data + i * g->base[k].ld, *m = g->m.data + i * g->m.ld;
            double amplitude = 0, width = 0, scale = 1.0 / (kernel->width * kernel->width);
            for (plx_index j = 0; j <= i; j++) {
                double part = (j < i ? 2.0 : 1.0) * m[j] * plx__kernel_of_base(kernel, base[j]);
                amplitude += part;
                if (kernel->kind == PLX__KERNEL_RBF) width += part * base[j] * scale;
            }
            partial[2 * k] += amplitude;
            partial[2 * k + 1] += width;
        }
    return PLX_OK;
}

static plx_status gradient_of(gp *g, double *gradient)
{
    double *sum = NULL;
    plx_index at = 0, grain = plx__max(row_grain(g), g->k.rows / 64 + 1);
    PLX_TRY(plx__arena_f64(&sum, plx__scratch(g->ctx), 2 * g->count, 1));
    PLX_TRY(plx__parallel_sum(g->ctx, g->k.rows, grain, 2 * g->count, gradient_rows, g, sum));
    for (plx_index k = 0; k < g->count; k++) {
        gradient[at++] = sum[2 * k];
        if (g->kernels[k].kernel.kind == PLX__KERNEL_RBF) gradient[at++] = sum[2 * k + 1];
    }
    if (g->regression) gradient[at] = g->targets.noise * plx__mat_trace(plx__cmat(g->m));
    return PLX_OK;
}

/* ---- evaluation ---- */

static plx_status evaluate(gp *g, const double *hyper, plx__gp_state *state, double *gradient)
{
    plx__gp_set_hyper(g, hyper);
    PLX_TRY(plx__parallel_for(g->ctx, g->k.rows, row_grain(g), covariance_rows, g));
    plx__mirror_lower(g->k);
    PLX_TRY(plx__gp_fit(state, plx__scratch(g->ctx), g->ctx, plx__cmat(g->k), &g->targets, g->m));
    return gradient_of(g, gradient);
}

static plx_status evidence_at(void *arg, plx_context *ctx, const double *hyper, double *evidence, double *gradient)
{
    plx__gp_state state;
    (void)ctx;
    PLX_TRY(evaluate(arg, hyper, &state, gradient));
    *evidence = state.evidence;
    return PLX_OK;
}

static plx_status maximise(gp *g)
{
    uint8_t *is_width = NULL;
    plx_index at = 0;
    plx__lbfgs_result result;
    PLX_TRY(plx__arena_u8(&is_width, plx__scratch(g->ctx), g->n_hyper));
    for (plx_index k = 0; k < g->count; k++) {
        at++;
        if (g->kernels[k].kernel.kind == PLX__KERNEL_RBF) is_width[at++] = 1;
    }
    plx__evidence problem = {g->n_hyper, g->hyper, NULL, is_width, g->set->max_iter};
    PLX_TRY(plx__evidence_maximise(g->ctx, &problem, evidence_at, g, &result));
    return plx__finish(g->run, NULL, result.iterations, result.converged, -result.value);
}

plx_status plx__gp_learn(gp *g, plx__gp_state *state, double *gradient)
{
    plx_index n = g->targets.n;
    PLX_TRY(PLX__ARENA_NEW(&g->base, plx__scratch(g->ctx), g->count));
    PLX_TRY(plx__arena_mat(&g->k, plx__scratch(g->ctx), n, n));
    PLX_TRY(plx__arena_mat(&g->m, plx__scratch(g->ctx), n, n));
    for (plx_index k = 0; k < g->count; k++) {
        PLX_TRY(plx__arena_mat(&g->base[k], plx__scratch(g->ctx), n, n));
        PLX_TRY(plx__view_kernel_base(g->ctx, &g->kernels[k], &g->refs[k], g->base[k]));
    }
    if (g->set->optimize) PLX_TRY(maximise(g));
    PLX_TRY(evaluate(g, g->hyper, state, gradient));
    g->run->info->objective = state->evidence;
    if (!state->converged)
        plx__warn(g->ctx, "gp: the Laplace approximation stopped before reaching its mode; results are approximate");
    return PLX_OK;
}
