/*
 * Fits: exact regression, or a Laplace approximation per class, as gp_posterior.c has them.
 */
#include "gp/gp_device.h"

#include <math.h>
#include <string.h>

/* The state while it is made. */
typedef struct parts {
    plx_mat alpha, factor, root, spread;
} parts;

/* Not cleared: all of it is written. */
static plx_status factor_room(plx_mat *out, plx__arena *arena, plx_index rows, plx_index cols)
{
    void *data = NULL;
    plx_index count = 0;
    if (__builtin_mul_overflow(rows, cols, &count)) return PLX_E_NOMEM;
    PLX_TRY(plx__arena_bytes(&data, arena, count, sizeof(double)));
    *out = plx__mat_of(data, rows, cols);
    return PLX_OK;
}

/* The factor of problem c comes back, with zeros above the diagonal. */
static plx_status fetch_factor(const parts *p, const plx__laplace_device *on, plx_index c)
{
    plx_index n = on->k.rows;
    if (!p->factor.data) return PLX_OK;
    PLX_TRY(plx__device_triangle(on->dev, on->factor, PLX_DEVICE_CLEAR_UPPER));
    return plx__device_read(on->dev, plx__sub(p->factor, c * n, 0, n, n), on->factor);
}

/* G = K + noise I = L L', alpha = G^-1 y, M = (alpha alpha' - G^-1)/2. */
static plx_status fit_regression(plx__gp_state *s, const parts *p, const plx__laplace_device *on,
                                 const plx__gp_targets *t, bool gradient)
{
    plx__device_terms g = {.alpha = 1, .a = on->k, .shift = t->noise};
    plx__device_terms m = {.alpha = -0.5, .a = on->m, .gamma = 0.25, .u = on->x, .v = on->x};
    double logdet = 0;
    PLX_TRY(plx__device_combine(on->dev, on->factor, &g));
    PLX_TRY(plx__device_cholesky_jitter(on->dev, on->factor, on->y, &s->jitter, t->what, t->sample, NULL));
    PLX_TRY(plx__device_write_vec(on->dev, on->x, t->y.data));
    PLX_TRY(plx__device_chol_solve(on->dev, on->factor, on->x));
    PLX_TRY(plx__device_read_vec(on->dev, p->alpha.data, on->x));
    PLX_TRY(plx__device_chol_logdet(&logdet, on->dev, on->factor, on->y));
    s->evidence =
        -0.5 * plx__dot(t->y.data, p->alpha.data, s->n) - 0.5 * logdet - 0.5 * (double)s->n * log(2.0 * acos(-1.0));
    for (plx_index i = 0; i < s->n; i++) p->root.data[i] = 1.0;
    if (gradient) {
        PLX_TRY(plx__device_copy(on->dev, on->m, on->factor));
        PLX_TRY(plx__device_chol_inverse(on->dev, on->m));
        PLX_TRY(plx__device_combine(on->dev, on->m, &m));
    }
    return fetch_factor(p, on, 0);
}

static plx_status fit_class(plx__gp_state *s, const parts *p, plx_context *ctx, const plx__laplace_device *on,
                            const plx__gp_targets *t, plx_index c)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx__laplace at;
    double *y = NULL;
    PLX_TRY(plx__arena_f64(&y, plx__scratch(ctx), s->n, 1));
    for (plx_index i = 0; i < s->n; i++) y[i] = t->y.data[i * t->y.ld + c];
    plx__laplace_start start = {.a = t->near.data ? t->near.data + c * s->n : NULL};
    PLX_TRY(plx__laplace_fit_device(&at, plx__scratch(ctx), ctx, on, y, t->what, t->sample, &start));
    if (p->spread.data) PLX_TRY(plx__laplace_gradient_device(ctx, &at, on, c > 0, p->spread.data + c * s->n));
    if (t->near.data) memcpy(t->near.data + c * s->n, at.slope, (size_t)s->n * sizeof(double));
    memcpy(p->root.data + c * s->n, at.root, (size_t)s->n * sizeof(double));
    for (plx_index i = 0; i < s->n; i++) p->alpha.data[i * s->q + c] = at.slope[i];
    s->evidence += at.evidence;
    s->jitter = fmax(s->jitter, at.jitter);
    s->converged &= at.converged;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return fetch_factor(p, on, c);
}

plx_status plx__gp_device_fit(plx__gp_state *out, plx__arena *arena, plx_context *ctx, const plx__laplace_device *on,
                              const plx__gp_targets *targets, bool gradient, bool factors, plx__arena *keep)
{
    *out = (plx__gp_state){.n = targets->n, .q = targets->q, .converged = true};
    parts p = {0};
    PLX_TRY(plx__arena_mat(&p.alpha, arena, out->n, out->q));
    if (factors) PLX_TRY(factor_room(&p.factor, keep ? keep : arena, out->q * out->n, out->n));
    if (keep) out->kept = p.factor;
    PLX_TRY(plx__arena_mat(&p.root, arena, out->q, out->n));
    out->alpha = plx__cmat(p.alpha);
    out->factor = plx__cmat(p.factor);
    out->root = plx__cmat(p.root);
    if (targets->regression) return fit_regression(out, &p, on, targets, gradient);
    if (gradient) PLX_TRY(plx__arena_mat(&p.spread, arena, out->q, out->n));
    out->spread = plx__cmat(p.spread);
    for (plx_index c = 0; c < out->q; c++) PLX_TRY(fit_class(out, &p, ctx, on, targets, c));
    return PLX_OK;
}
