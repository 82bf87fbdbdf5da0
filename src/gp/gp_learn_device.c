/*
 * Evaluations of the evidence and predictions with everything of order n^2 on the device.
 */
#include <math.h>

#include "gp/gp_device.h"

enum { BLOCK_ROWS = 4096 }; /* samples predicted at once */

static const char REMEDY[] = "use fewer labelled samples, or set device to cpu or auto";

/* ---- evaluations ---- */

/* A problem of an evaluation takes two factorisations and an inverse: n^3/3 twice, and 2 n^3/3. Without its start nobody
 * knows how many evaluations there will be; ten are few. */
plx__device_work plx__gp_learn_work(const plx__gp_learner *g, plx_index max_iter)
{
    double n = (double)g->targets.n, evaluations = max_iter > 0 ? fmin(10.0, (double)max_iter) : 1.0;
    plx__device_work work = {.what = g->run->method->name};
    work.flops = evaluations * (double)g->targets.q * 4.0 / 3.0 * n * n * n;
    work.moved = 8 * n * n * (double)g->targets.q;
    return work;
}

static double needed_bytes(const plx__gp_learner *g, plx__device *dev)
{
    double n = (double)g->targets.n, square = 8 * n * n, rows = 0;
    plx_index order = g->targets.n;
    double work = fmax(plx__device_workspace(dev, PLX_DEVICE_OP_POTRF, order, 0, 0),
                       plx__device_workspace(dev, PLX_DEVICE_OP_POTRI, order, 0, 0));
    work = fmax(work, plx__device_workspace(dev, PLX_DEVICE_OP_KERNEL, order, order, 0));
    for (plx_index k = 0; k < g->count; k++) rows += plx__device_reference_bytes(dev, &g->kernels[k], &g->refs[k]);
    return square * (double)(g->count + 3 + (g->targets.q > 1)) + 24 * n + rows + work;
}

plx_status plx__gp_device_reserve(plx__gp_learner *g, plx__device *dev)
{
    plx_index n = g->targets.n;
    plx__gp_device *on = NULL;
    plx_device_mat *square[] = {NULL, NULL, NULL, NULL}, *column[] = {NULL, NULL, NULL};
    PLX_TRY(plx__device_need(dev, needed_bytes(g, dev), g->run->method->name, REMEDY));
    PLX_TRY(PLX__ARENA_NEW(&on, plx__scratch(g->ctx), 1));
    PLX_TRY(PLX__ARENA_NEW(&on->base, plx__scratch(g->ctx), g->count));
    on->at.dev = dev;
    square[0] = &on->at.k, square[1] = &on->at.factor, square[2] = &on->at.m, square[3] = &on->at.inverse;
    column[0] = &on->at.x, column[1] = &on->at.y, column[2] = &on->at.z;
    for (int i = 0; i < 3 + (g->targets.q > 1); i++) PLX_TRY(plx__device_mat(square[i], dev, n, n));
    for (int i = 0; i < 3; i++) PLX_TRY(plx__device_mat(column[i], dev, n, 1));
    for (plx_index k = 0; k < g->count; k++) {
        PLX_TRY(plx__device_mat(&on->base[k], dev, n, n));
        PLX_TRY(plx__device_kernel_base(dev, &g->kernels[k], &g->refs[k], on->base[k]));
    }
    g->on = on;
    return PLX_OK;
}

static plx_status trace(double *out, plx__gp_learner *g)
{
    const plx__laplace_device *on = &g->on->at;
    plx__mark mark = plx__arena_mark(plx__scratch(g->ctx));
    double *diagonal = NULL;
    PLX_TRY(plx__arena_f64(&diagonal, plx__scratch(g->ctx), on->m.rows, 1));
    PLX_TRY(plx__device_diagonal(on->dev, on->m, on->x));
    PLX_TRY(plx__device_read_vec(on->dev, diagonal, on->x));
    *out = 0;
    for (plx_index i = 0; i < on->m.rows; i++) *out += diagonal[i];
    plx__arena_rewind(plx__scratch(g->ctx), mark);
    return PLX_OK;
}

/* <M, dK> by the logarithms of amplitudes and widths, and of the noise. */
static plx_status gradient_of(plx__gp_learner *g, double *gradient)
{
    plx_index at = 0;
    for (plx_index k = 0; k < g->count; k++) {
        const plx__kernel *kernel = &g->kernels[k].kernel;
        double sums[2];
        PLX_TRY(plx__device_kernel_gradient(g->on->at.dev, kernel, g->on->base[k], g->on->at.m, sums));
        gradient[at++] = sums[0];
        if (kernel->kind == PLX__KERNEL_RBF) gradient[at++] = sums[1] / (kernel->width * kernel->width);
    }
    if (!g->targets.regression) return PLX_OK;
    PLX_TRY(trace(&gradient[at], g));
    gradient[at] *= g->targets.noise;
    return PLX_OK;
}

plx_status plx__gp_device_evaluate(plx__gp_learner *g, plx__gp_state *state, bool factors, double *gradient)
{
    const plx__laplace_device *on = &g->on->at;
    for (plx_index k = 0; k < g->count; k++)
        PLX_TRY(plx__device_kernel_of_base(on->dev, &g->kernels[k].kernel, g->on->base[k], k > 0, on->k));
    PLX_TRY(plx__gp_device_fit(state, plx__scratch(g->ctx), g->ctx, on, &g->targets, true, factors,
                               factors ? g->keep : NULL));
    return gradient_of(g, gradient);
}

/* ---- predictions ---- */

typedef struct scorer {
    plx__gp_learner *g;
    const plx__gp_state *s;
    plx__device *dev;
    plx__device_reference *refs;
    plx_device_mat alpha, root, factor;  /* factor: of one problem */
    plx_index loaded;                    /* which */
    plx_device_mat k, more, mean, norms; /* room for a block */
} scorer;

static double block_bytes(plx__gp_learner *g, plx__device *dev, plx_index rows, plx_index l)
{
    double bytes = 8 * (double)rows * (double)l * 3;
    for (plx_index v = 0; v < g->count; v++)
        bytes += plx__device_reference_bytes(dev, &g->kernels[v], &g->refs[v]) +
                 plx__device_rows_bytes(dev, plx__points_range(g->kernels[v].rows, 0, rows), 0);
    return bytes + plx__device_workspace(dev, PLX_DEVICE_OP_KERNEL, rows, l, 0);
}

static plx_status open_scorer(scorer *w, plx_index rows)
{
    const plx__gp_state *s = w->s;
    double bytes = block_bytes(w->g, w->dev, rows, s->n) + 8 * (double)s->n * (double)(s->n + 2 * s->q);
    PLX_TRY(plx__device_need(w->dev, bytes, w->g->run->method->name, REMEDY));
    PLX_TRY(PLX__ARENA_NEW(&w->refs, plx__scratch(w->g->ctx), w->g->count));
    for (plx_index v = 0; v < w->g->count; v++)
        PLX_TRY(plx__device_put_reference(&w->refs[v], w->dev, &w->g->kernels[v], &w->g->refs[v]));
    PLX_TRY(plx__device_put(&w->alpha, w->dev, s->alpha));
    PLX_TRY(plx__device_put(&w->root, w->dev, s->root));
    PLX_TRY(plx__device_mat(&w->factor, w->dev, s->n, s->n));
    PLX_TRY(plx__device_mat(&w->k, w->dev, rows, s->n));
    PLX_TRY(plx__device_mat(&w->more, w->dev, rows, s->n));
    PLX_TRY(plx__device_mat(&w->mean, w->dev, rows, s->q));
    return plx__device_mat(&w->norms, w->dev, rows, 1);
}

/* The first rows of a matrix that has room for a whole block. */
static plx_device_mat top(plx_device_mat m, plx_index rows) { return plx__device_sub(m, 0, 0, rows, m.cols); }

static plx_status covariances(scorer *w, plx_index begin, plx_index end)
{
    plx__device_terms add = {.beta = 1, .alpha = 1, .a = top(w->more, end - begin)};
    for (plx_index v = 0; v < w->g->count; v++) {
        PLX_TRY(plx__device_view_values(w->dev, &w->g->kernels[v], begin, end, &w->g->refs[v], &w->refs[v],
                                        top(v ? w->more : w->k, end - begin)));
        if (v) PLX_TRY(plx__device_combine(w->dev, top(w->k, end - begin), &add));
    }
    return PLX_OK;
}

/* Which rows of the block have a variance that came with the gradient; the others go to `rows`. */
static plx_index unknown_rows(const scorer *w, plx_index c, plx_index begin, plx_index end, const plx_index *own,
                              plx_mat variance, plx_index *rows)
{
    plx_index count = 0;
    for (plx_index i = begin; i < end; i++) {
        double *to = variance.data + i * variance.ld + c;
        *to = own[i] >= 0 && w->s->spread.data ? w->s->spread.data[c * w->s->n + own[i]] : NAN;
        if (isnan(*to)) rows[count++] = i - begin;
    }
    return count;
}

static plx_status load_factor(scorer *w, plx_index c)
{
    if (w->loaded == c) return PLX_OK;
    w->loaded = c;
    return plx__device_write(w->dev, w->factor, plx__csub(w->s->factor, c * w->s->n, 0, w->s->n, w->s->n));
}

/* Prior variances less the squared lengths of k' L^-T W^1/2. */
static plx_status variances(scorer *w, plx_index c, plx_index begin, const plx_index *rows, plx_index count,
                            const double *self, plx_mat variance)
{
    plx_context *ctx = w->g->ctx;
    plx_device_buffer *index = NULL;
    plx_device_mat some = top(w->more, count), norms = top(w->norms, count);
    plx_device_mat root = plx__device_sub(w->root, c, 0, 1, w->s->n);
    plx__device_terms scale = {.alpha = 1, .a = some, .r = root};
    double *length = NULL;
    if (count == 0) return PLX_OK;
    PLX_TRY(load_factor(w, c));
    PLX_TRY(plx__device_put_bytes(&index, w->dev, rows, count, sizeof *rows));
    PLX_TRY(plx__device_gather(w->dev, some, w->k, index, NULL));
    PLX_TRY(plx__device_combine(w->dev, some, &scale));
    PLX_TRY(plx__device_tri_solve_right(w->dev, w->factor, PLX__T, some));
    PLX_TRY(plx__device_row_norms_sq(w->dev, some, norms));
    PLX_TRY(plx__arena_f64(&length, plx__scratch(ctx), count, 1));
    PLX_TRY(plx__device_read_vec(w->dev, length, norms));
    for (plx_index t = 0; t < count; t++)
        variance.data[(begin + rows[t]) * variance.ld + c] = fmax(0.0, self[rows[t]] - length[t]);
    return PLX_OK;
}

static plx_status score_block(scorer *w, plx_index begin, plx_index end, const plx_index *own, plx_mat mean,
                              plx_mat variance)
{
    plx__gp_learner *g = w->g;
    double *self = NULL;
    plx_index *rows = NULL;
    PLX_TRY(plx__arena_f64(&self, plx__scratch(g->ctx), end - begin, 1));
    PLX_TRY(plx__arena_i64(&rows, plx__scratch(g->ctx), end - begin));
    for (plx_index v = 0; v < g->count; v++) PLX_TRY(plx__view_kernel_self(g->run, &g->kernels[v], begin, end, self));
    PLX_TRY(covariances(w, begin, end));
    PLX_TRY(plx__device_gemm(w->dev, 1.0, top(w->k, end - begin), PLX__N, w->alpha, PLX__N, 0.0,
                             top(w->mean, end - begin)));
    PLX_TRY(plx__device_read(w->dev, plx__sub(mean, begin, 0, end - begin, w->s->q), top(w->mean, end - begin)));
    for (plx_index c = 0; c < w->s->q; c++) {
        plx_index count = unknown_rows(w, c, begin, end, own, variance, rows);
        PLX_TRY(variances(w, c, begin, rows, count, self, variance));
    }
    return PLX_OK;
}

static plx_status score_all(scorer *w, plx_mat mean, plx_mat variance)
{
    plx__gp_learner *g = w->g;
    plx_index n = mean.rows, rows = plx__min(n, BLOCK_ROWS), *own = NULL;
    PLX_TRY(plx__arena_i64(&own, plx__scratch(g->ctx), n));
    for (plx_index i = 0; i < n; i++) own[i] = -1;
    for (plx_index l = 0; w->s->spread.data && l < w->s->n; l++) own[g->targets.sample[l]] = l;
    PLX_TRY(open_scorer(w, rows));
    for (plx_index at = 0; at < n; at += rows) {
        plx__mark mark = plx__arena_mark(plx__scratch(g->ctx));
        plx__session block; /* what a block needs there goes with it */
        plx__session_nest(&block, w->dev);
        PLX_TRY(plx__session_close(&block, score_block(w, at, plx__min(n, at + rows), own, mean, variance)));
        plx__arena_rewind(plx__scratch(g->ctx), mark);
        PLX_TRY(plx__report(g->ctx, "score", plx__min(n, at + rows), n, NAN));
    }
    return PLX_OK;
}

plx_status plx__gp_device_scores(bool *done, plx__gp_learner *g, const plx__gp_state *s, plx_mat mean, plx_mat variance)
{
    plx__session session;
    double n = (double)mean.rows, l = (double)s->n, q = (double)s->q;
    plx__device_work work = {.what = g->run->method->name, .flops = q * n * l * l, .moved = 8 * q * l * l};
    *done = false;
    if (s->weights.data) return PLX_OK;
    PLX_TRY(plx__session_open(&session, g->ctx, &work));
    scorer w = {.g = g, .s = s, .dev = session.dev, .loaded = -1};
    if (session.dev) PLX_TRY(plx__session_close(&session, score_all(&w, mean, variance)));
    *done = session.done;
    return PLX_OK;
}
