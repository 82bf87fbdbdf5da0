/*
 * Gradients are <M, dK> with the M of gp_posterior.h, formed tile by tile over the lower triangle: no
 * derivative matrix is ever stored. Linear kernels with fewer columns than rows go through
 * gp_weight_space.c.
 */
#include "gp/gp_learn.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/csr.h"
#include "gp/evidence.h"
#include "gp/gp_device.h"
#include "gp/gp_pivots.h"
#include "gp/gp_weight_space.h"

enum { STRETCH = 512 };

/* ---- hyper-parameters ---- */

static bool has_width(const plx__gp_learner *g, plx_index k) { return g->kernels[k].kernel.kind == PLX__KERNEL_RBF; }

static void set_hyper(plx__gp_learner *g, const double *hyper)
{
    plx_index at = 0;
    for (plx_index k = 0; k < g->count; k++) {
        g->kernels[k].kernel.amplitude = hyper[at++];
        if (has_width(g, k)) g->kernels[k].kernel.width = hyper[at++];
    }
    if (at < g->n_hyper) g->targets.noise = hyper[at];
}

plx_status plx__gp_open_hyper(plx__gp_learner *g, plx_cmat known, double noise)
{
    plx_index at = 0;
    bool regression = g->targets.regression;
    g->n_hyper = g->count + regression;
    for (plx_index k = 0; k < g->count; k++) g->n_hyper += has_width(g, k);
    PLX_TRY(plx__arena_f64(&g->hyper, plx__scratch(g->ctx), g->n_hyper, 1));
    for (plx_index k = 0; k < g->count && !known.data; k++) {
        g->hyper[at++] = g->kernels[k].kernel.amplitude;
        if (has_width(g, k)) g->hyper[at++] = g->kernels[k].kernel.width;
    }
    if (regression && !known.data) g->hyper[at] = noise;
    if (known.data && known.rows * known.cols != g->n_hyper)
        PLX_FAIL(g->ctx, PLX_E_FORMAT, "the model has %lld hyper-parameters, not %lld",
                 (long long)(known.rows * known.cols), (long long)g->n_hyper);
    for (plx_index i = 0; i < g->n_hyper && known.data; i++) {
        g->hyper[i] = known.data[i];
        if (!(g->hyper[i] > 0)) PLX_FAIL(g->ctx, PLX_E_FORMAT, "the model's hyper-parameters are not > 0");
    }
    set_hyper(g, g->hyper);
    return PLX_OK;
}

/* ---- covariance of the labelled samples ---- */

static plx_index row_grain(const plx__gp_learner *g) { return plx__max(1, 16384 / plx__max(1, g->k.rows)); }

/* Rows of the lower triangle of K = sum of the kernels. */
static plx_status covariance_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const plx__gp_learner *g = arg;
    double value[STRETCH];
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++) {
        double *row = g->k.data + i * g->k.ld;
        plx__kernel_of_base(&g->kernels[0].kernel, g->base[0].data + i * g->base[0].ld, i + 1, row);
        for (plx_index k = 1; k < g->count; k++)
            for (plx_index at = 0; at <= i; at += STRETCH) {
                plx_index width = plx__min(STRETCH, i + 1 - at);
                plx__kernel_of_base(&g->kernels[k].kernel, g->base[k].data + i * g->base[k].ld + at, width, value);
                for (plx_index j = 0; j < width; j++) row[at + j] += value[j];
            }
    }
    return PLX_OK;
}

/* <M, dK> of kernel k over columns at..at+width-1 of row i: pairs count twice, the diagonal once. */
static void add_products(const plx__gp_learner *g, plx_index k, plx_index i, plx_index at, plx_index width,
                         double *partial)
{
    const plx__kernel *kernel = &g->kernels[k].kernel;
    const double *base = g->base[k].data + i * g->base[k].ld + at, *m = g->m.data + i * g->m.ld + at;
    const double *ready = g->k.data + i * g->k.ld + at;
    double value[STRETCH];
    if (g->count > 1) plx__kernel_of_base(kernel, base, width, value);
    else memcpy(value, ready, (size_t)width * sizeof *value);
    for (plx_index j = 0; j < width; j++) value[j] *= (at + j < i ? 2.0 : 1.0) * m[j];
    for (plx_index j = 0; j < width; j++) partial[2 * k] += value[j];
    if (kernel->kind == PLX__KERNEL_RBF) partial[2 * k + 1] += plx__dot(value, base, width);
}

static plx_status gradient_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *partial)
{
    const plx__gp_learner *g = arg;
    (void)ctx;
    for (plx_index i = begin; i < end; i++)
        for (plx_index k = 0; k < g->count; k++)
            for (plx_index at = 0; at <= i; at += STRETCH)
                add_products(g, k, i, at, plx__min(STRETCH, i + 1 - at), partial);
    return PLX_OK;
}

static plx_status dense_gradient(plx__gp_learner *g, double *gradient)
{
    double *sum = NULL;
    plx_index at = 0, grain = plx__max(row_grain(g), g->k.rows / 64 + 1);
    PLX_TRY(plx__arena_f64(&sum, plx__scratch(g->ctx), 2 * g->count, 1));
    PLX_TRY(plx__parallel_sum(g->ctx, g->k.rows, grain, 2 * g->count, gradient_rows, g, sum));
    for (plx_index k = 0; k < g->count; k++) {
        double width = g->kernels[k].kernel.width;
        gradient[at++] = sum[2 * k];
        if (has_width(g, k)) gradient[at++] = sum[2 * k + 1] / (width * width);
    }
    if (g->targets.regression) gradient[at] = g->targets.noise * plx__mat_trace(plx__cmat(g->m));
    return PLX_OK;
}

/* ---- in weight space ---- */

bool plx__gp_in_weight_space(bool linear, double features, double labelled)
{
    return linear && 2 * features < labelled;
}

bool plx__weight_space(const plx__gp_learner *g)
{
    bool linear = true;
    double features = 0;
    if (g->most_pivots) return true;
    for (plx_index k = 0; k < g->count; k++) {
        linear &= g->kernels[k].kernel.kind == PLX__KERNEL_LINEAR;
        features += (double)plx__points_cols(g->kernels[k].rows);
    }
    return plx__gp_in_weight_space(linear, features, (double)g->targets.n);
}

/* Row i of out: the kernels' rows side by side, each times the root of its amplitude; 0 where the view is missing. */
static void fill_row(double *out, const plx__view_kernel *k, plx__points rows, plx_index i, bool there)
{
    double root = sqrt(k->kernel.amplitude);
    memset(out, 0, (size_t)plx__points_cols(rows) * sizeof *out);
    if (!there) return;
    if (!plx__points_sparse(rows)) plx__axpy(out, root, rows.dense.data + i * rows.dense.ld, rows.dense.cols);
    else
        for (int64_t e = rows.csr.ptr[i]; e < rows.csr.ptr[i + 1]; e++) out[rows.csr.col[e]] = root * rows.csr.val[e];
}

static void labelled_features(plx__gp_learner *g)
{
    if (g->most_pivots) {
        plx__gp_pivot_features(g, g->z);
        return;
    }
    for (plx_index i = 0; i < g->z.rows; i++)
        for (plx_index k = 0, at = 0; k < g->count; at += plx__points_cols(g->refs[k++].rows))
            fill_row(g->z.data + i * g->z.ld + at, &g->kernels[k], g->refs[k].rows, i,
                     !g->refs[k].present || g->refs[k].present[i]);
}

static plx_status thin_gradient(plx__gp_learner *g, const plx__weight_space_gradient *sums, double *gradient)
{
    plx_index to = 0;
    for (plx_index k = 0, at = 0; k < g->count; k++) {
        plx_index end = at + (g->most_pivots ? g->pivots[k].rank : plx__points_cols(g->refs[k].rows));
        for (gradient[to] = 0; at < end; at++) gradient[to] += sums->column[at];
        to++;
        if (has_width(g, k)) gradient[to++] = 0; /* pivots keep it */
    }
    if (g->targets.regression) gradient[to] = g->targets.noise * sums->trace;
    return PLX_OK;
}

/* ---- evaluation ---- */

/* `final`: the state is kept, not only its evidence. */
static plx_status evaluate(plx__gp_learner *g, const double *hyper, plx__gp_state *state, bool final, double *gradient)
{
    plx__weight_space_gradient sums = {0};
    set_hyper(g, hyper);
    if (g->thin) {
        labelled_features(g);
        PLX_TRY(plx__arena_f64(&sums.column, plx__scratch(g->ctx), g->z.cols, 1));
        PLX_TRY(plx__weight_space_fit(state, plx__scratch(g->ctx), g->ctx, plx__cmat(g->z), NULL, &g->targets, &sums));
        return thin_gradient(g, &sums, gradient);
    }
    if (g->on) return plx__gp_device_evaluate(g, state, final, gradient);
    PLX_TRY(plx__parallel_for(g->ctx, g->k.rows, row_grain(g), covariance_rows, g));
    plx__mirror_lower(g->k);
    PLX_TRY(plx__gp_fit(state, plx__scratch(g->ctx), g->ctx, plx__cmat(g->k), &g->targets, g->m));
    return dense_gradient(g, gradient);
}

static plx_status evidence_at(void *arg, plx_context *ctx, const double *hyper, double *evidence, double *gradient)
{
    plx__gp_state state;
    (void)ctx;
    PLX_TRY(evaluate(arg, hyper, &state, false, gradient));
    *evidence = state.evidence;
    return PLX_OK;
}

plx_status plx__gp_amplitude_unit(double *out, plx_context *ctx, const plx__view_kernel *k)
{
    double mean = 0;
    PLX_TRY(plx__kernel_mean_diagonal(&mean, ctx, &k->kernel, k->rows, k->bound, k->present));
    *out = mean > 0 && isfinite(1.0 / mean) ? 1.0 / mean : 1.0;
    return PLX_OK;
}

static plx_status maximise(plx__gp_learner *g, plx_index max_iter, plx__lbfgs_result *result)
{
    uint8_t *is_width = NULL, *free = NULL;
    double *unit = NULL;
    plx_index at = 0;
    PLX_TRY(plx__arena_u8(&is_width, plx__scratch(g->ctx), g->n_hyper));
    PLX_TRY(plx__arena_u8(&free, plx__scratch(g->ctx), g->n_hyper));
    PLX_TRY(plx__arena_f64(&unit, plx__scratch(g->ctx), g->n_hyper, 1));
    for (plx_index i = 0; i < g->n_hyper; i++) unit[i] = 1.0;
    for (plx_index k = 0; k < g->count; k++) {
        PLX_TRY(plx__gp_amplitude_unit(&unit[at++], g->ctx, &g->kernels[k]));
        if (has_width(g, k)) is_width[at++] = 1;
    }
    for (plx_index i = 0; i < g->n_hyper; i++) free[i] = !g->most_pivots || !is_width[i];
    if (g->most_pivots && memchr(is_width, 1, (size_t)g->n_hyper))
        plx__info(g->ctx, "%s: with pivots the widths stay as they are", g->run->method->name);
    plx__evidence problem = {
        .count = g->n_hyper, .hyper = g->hyper, .free = free, .is_width = is_width, .unit = unit, .max_iter = max_iter};
    if (!g->targets.regression)
        PLX_TRY(plx__arena_mat(&g->targets.near, plx__scratch(g->ctx), g->targets.q, g->targets.n));
    return plx__evidence_maximise(g->ctx, &problem, evidence_at, g, result);
}

static plx_status reserve(plx__gp_learner *g, plx__device *dev)
{
    plx_index n = g->targets.n, p = 0;
    for (plx_index k = 0; k < g->count; k++) p += plx__points_cols(g->kernels[k].rows);
    g->on = NULL;
    if (dev) return plx__gp_device_reserve(g, dev);
    if (g->most_pivots) {
        PLX_TRY(plx__gp_find_pivots(g, g->divided));
        p = plx__gp_pivot_columns(g);
    }
    if (g->thin) return plx__arena_mat(&g->z, plx__scratch(g->ctx), n, p);
    PLX_TRY(PLX__ARENA_NEW(&g->base, plx__scratch(g->ctx), g->count));
    PLX_TRY(plx__arena_mat(&g->k, plx__scratch(g->ctx), n, n));
    PLX_TRY(plx__arena_mat(&g->m, plx__scratch(g->ctx), n, n));
    for (plx_index k = 0; k < g->count; k++) {
        PLX_TRY(plx__arena_mat(&g->base[k], plx__scratch(g->ctx), n, n));
        PLX_TRY(plx__view_kernel_base(g->ctx, &g->kernels[k], &g->refs[k], g->base[k]));
    }
    return PLX_OK;
}

static plx_status learn(plx__gp_learner *g, plx__device *dev, plx_index max_iter, plx__gp_state *state,
                        double *gradient, plx__lbfgs_result *result)
{
    *result = (plx__lbfgs_result){.converged = true};
    PLX_TRY(reserve(g, dev));
    if (max_iter > 0) PLX_TRY(maximise(g, max_iter, result));
    result->evaluations++;
    return evaluate(g, g->hyper, state, true, gradient);
}

/* On a device where it pays; when that fails, here from the start that is kept. */
static plx_status learn_there(plx__session *s, plx__gp_learner *g, plx_index max_iter, plx__gp_state *state,
                              double *gradient, plx__lbfgs_result *result)
{
    plx__device_work work = plx__gp_learn_work(g, max_iter);
    plx__gp_learner before = *g;
    plx__mark kept = {0};
    double *hyper = NULL;
    if (g->keep) kept = plx__arena_mark(g->keep);
    PLX_TRY(plx__arena_f64(&hyper, plx__scratch(g->ctx), g->n_hyper, 1));
    memcpy(hyper, g->hyper, (size_t)g->n_hyper * sizeof *hyper);
    PLX_TRY(plx__session_open(s, g->ctx, &work));
    if (!s->dev) return PLX_OK;
    plx_status st = plx__session_close(s, learn(g, s->dev, max_iter, state, gradient, result));
    g->on = NULL;
    if (st != PLX_OK || s->done) return st;
    *g = before;
    if (g->keep) plx__arena_rewind(g->keep, kept);
    memcpy(g->hyper, hyper, (size_t)g->n_hyper * sizeof *hyper);
    set_hyper(g, g->hyper);
    return PLX_OK;
}

plx_status plx__gp_learn(plx__gp_learner *g, plx_index max_iter, plx__gp_state *state, double *gradient,
                         plx__lbfgs_result *result)
{
    plx__session s = {0};
    g->thin = plx__weight_space(g);
    if (!g->thin) PLX_TRY(learn_there(&s, g, max_iter, state, gradient, result));
    if (!s.done) PLX_TRY(learn(g, NULL, max_iter, state, gradient, result));
    if (!state->converged)
        plx__warn(g->ctx, "%s: the Laplace approximation stopped before reaching its mode; results are approximate",
                  g->run->method->name);
    return PLX_OK;
}

/* ---- prediction ---- */

static plx_status thin_score(plx__gp_learner *g, const plx__gp_state *s, plx_index begin, plx_index end, plx_mat mean,
                             plx_mat variance)
{
    plx_mat z;
    double *own = NULL;
    PLX_TRY(plx__arena_mat(&z, plx__scratch(g->ctx), end - begin, s->weights.rows));
    if (g->most_pivots) {
        PLX_TRY(plx__arena_f64(&own, plx__scratch(g->ctx), end - begin, 1));
        PLX_TRY(plx__gp_pivot_rows(g, begin, end, z, own));
        return plx__weight_space_predict(g->ctx, s, z, own, mean, variance);
    }
    for (plx_index i = begin; i < end; i++)
        for (plx_index k = 0, at = 0; k < g->count; at += plx__points_cols(g->kernels[k++].rows))
            fill_row(z.data + (i - begin) * z.ld + at, &g->kernels[k], g->kernels[k].rows, i,
                     !g->kernels[k].present || g->kernels[k].present[i]);
    return plx__weight_space_predict(g->ctx, s, z, NULL, mean, variance);
}

/* Which of the state's samples the samples begin..end-1 are, where these are the data it was fitted to. */
static void find_labelled(plx_index *own, const plx__gp_state *s, const plx__gp_targets *t, plx_index begin,
                          plx_index end)
{
    for (plx_index i = begin; i < end; i++) own[i - begin] = -1;
    for (plx_index l = 0; s->spread.data && l < s->n; l++)
        if (t->sample[l] >= begin && t->sample[l] < end) own[t->sample[l] - begin] = l;
}

static plx_status dense_score(plx__gp_learner *g, const plx__gp_state *s, plx_index begin, plx_index end, plx_mat mean,
                              plx_mat variance)
{
    plx_mat k;
    plx_index *own = NULL;
    double *self = NULL;
    PLX_TRY(plx__arena_mat(&k, plx__scratch(g->ctx), end - begin, s->n));
    PLX_TRY(plx__arena_f64(&self, plx__scratch(g->ctx), end - begin, 1));
    for (plx_index v = 0; v < g->count; v++) {
        PLX_TRY(plx__view_kernel_values(g->ctx, &g->kernels[v], begin, end, &g->refs[v], v > 0, k));
        PLX_TRY(plx__view_kernel_self(g->run, &g->kernels[v], begin, end, self));
    }
    PLX_TRY(plx__arena_i64(&own, plx__scratch(g->ctx), end - begin));
    find_labelled(own, s, &g->targets, begin, end);
    return plx__gp_predict(g->ctx, s, k, self, own, mean, variance);
}

plx_status plx__gp_score(plx__gp_learner *g, const plx__gp_state *s, plx_index begin, plx_index end, plx_mat mean,
                         plx_mat variance)
{
    plx__mark mark = plx__arena_mark(plx__scratch(g->ctx));
    plx_mat m = plx__sub(mean, begin, 0, end - begin, s->q), v = plx__sub(variance, begin, 0, end - begin, s->q);
    PLX_TRY(s->weights.data ? thin_score(g, s, begin, end, m, v) : dense_score(g, s, begin, end, m, v));
    plx__arena_rewind(plx__scratch(g->ctx), mark);
    return PLX_OK;
}
