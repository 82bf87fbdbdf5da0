/*
 * Cholesky factors only; the inverse appears nowhere but inside M, where the evidence needs its trace
 * against dK.
 */
#include "gp/gp_posterior.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/factor.h"
#include "gp/laplace.h"

/* The state while it is made. */
typedef struct parts {
    plx_mat alpha, factor, root, spread;
} parts;

/* ---- regression ---- */

typedef struct outer_job {
    plx_mat m; /* G^-1 on entry */
    const double *alpha;
} outer_job;

/* M = (alpha alpha' - G^-1)/2. */
static plx_status outer_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const outer_job *job = arg;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++) {
        double *m = job->m.data + i * job->m.ld;
        for (plx_index j = 0; j < job->m.cols; j++) m[j] = 0.5 * (job->alpha[i] * job->alpha[j] - m[j]);
    }
    return PLX_OK;
}

/* G = K + noise I = L L', alpha = G^-1 y. */
static plx_status fit_regression(plx__gp_state *s, const parts *p, plx_context *ctx, plx_cmat k,
                                 const plx__gp_targets *t, plx_mat gradient)
{
    plx_index n = s->n;
    plx__mat_copy(p->factor, k);
    plx__mat_add_diag(p->factor, t->noise);
    PLX_TRY(plx__cholesky_jitter(ctx, p->factor, &s->jitter, t->what, t->sample, NULL));
    memcpy(p->alpha.data, t->y.data, (size_t)n * sizeof(double));
    PLX_TRY(plx__chol_solve_vec(ctx, s->factor, p->alpha.data));
    s->evidence = -0.5 * plx__dot(t->y.data, p->alpha.data, n) - 0.5 * plx__chol_logdet(s->factor) -
                  0.5 * (double)n * log(2.0 * acos(-1.0));
    for (plx_index i = 0; i < n; i++) p->root.data[i] = 1.0;
    if (!gradient.data) return PLX_OK;
    outer_job job = {gradient, p->alpha.data};
    PLX_TRY(plx__chol_inverse(ctx, gradient, s->factor));
    return plx__parallel_for(ctx, n, plx__max(1, 16384 / plx__max(1, n)), outer_rows, &job);
}

/* ---- classification ---- */

static plx_status fit_class(plx__gp_state *s, const parts *p, plx_context *ctx, plx_cmat k, const plx__gp_targets *t,
                            plx_index c, plx_mat gradient)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx__laplace at;
    double *y = NULL;
    PLX_TRY(plx__arena_f64(&y, plx__scratch(ctx), s->n, 1));
    for (plx_index i = 0; i < s->n; i++) y[i] = t->y.data[i * t->y.ld + c];
    plx__laplace_start start = {t->near.data ? t->near.data + c * s->n : NULL,
                                plx__sub(p->factor, c * s->n, 0, s->n, s->n)};
    PLX_TRY(plx__laplace_fit(&at, plx__scratch(ctx), ctx, k, y, t->what, t->sample, &start));
    if (gradient.data) PLX_TRY(plx__laplace_gradient(ctx, &at, k, c > 0, gradient, p->spread.data + c * s->n));
    if (t->near.data) memcpy(t->near.data + c * s->n, at.slope, (size_t)s->n * sizeof(double));
    memcpy(p->root.data + c * s->n, at.root, (size_t)s->n * sizeof(double));
    for (plx_index i = 0; i < s->n; i++) p->alpha.data[i * s->q + c] = at.slope[i];
    s->evidence += at.evidence;
    s->jitter = fmax(s->jitter, at.jitter);
    s->converged &= at.converged;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__gp_fit(plx__gp_state *out, plx__arena *arena, plx_context *ctx, plx_cmat k,
                       const plx__gp_targets *targets, plx_mat gradient)
{
    *out = (plx__gp_state){.n = targets->n, .q = targets->q, .converged = true};
    parts p;
    PLX_TRY(plx__arena_mat(&p.alpha, arena, out->n, out->q));
    PLX_TRY(plx__arena_mat(&p.factor, arena, out->q * out->n, out->n));
    PLX_TRY(plx__arena_mat(&p.root, arena, out->q, out->n));
    out->alpha = plx__cmat(p.alpha);
    out->factor = plx__cmat(p.factor);
    out->root = plx__cmat(p.root);
    if (gradient.data && !targets->regression) {
        PLX_TRY(plx__arena_mat(&p.spread, arena, out->q, out->n));
        out->spread = plx__cmat(p.spread);
    }
    if (targets->regression) return fit_regression(out, &p, ctx, k, targets, gradient);
    for (plx_index c = 0; c < out->q; c++) PLX_TRY(fit_class(out, &p, ctx, k, targets, c, gradient));
    return PLX_OK;
}

/* ---- prediction ---- */

plx_status plx__gp_explained(plx_context *ctx, const plx__gp_state *s, plx_index c, plx_mat k)
{
    const double *root = s->root.data + c * s->root.ld;
    for (plx_index i = 0; i < k.rows; i++)
        for (plx_index j = 0; j < k.cols; j++) k.data[i * k.ld + j] *= root[j];
    return plx__tri_solve_right(ctx, plx__csub(s->factor, c * s->n, 0, s->n, s->n), PLX__T, k);
}

/* The rows whose variance of problem c is not known yet, copied to the front of `work`; the others are written. */
static plx_index unknown_rows(const plx__gp_state *s, plx_index c, plx_cmat k, const plx_index *own, plx_mat variance,
                              plx_mat work, plx_index *rows)
{
    plx_index count = 0;
    for (plx_index i = 0; i < k.rows; i++) {
        bool known = own && own[i] >= 0 && s->spread.data;
        double *to = variance.data + i * variance.ld + c;
        *to = known ? s->spread.data[c * s->n + own[i]] : NAN;
        if (!isnan(*to)) continue;
        memmove(work.data + count * work.ld, k.data + i * k.ld, (size_t)k.cols * sizeof(double));
        rows[count++] = i;
    }
    return count;
}

plx_status plx__gp_predict(plx_context *ctx, const plx__gp_state *s, plx_mat k, const double *self,
                           const plx_index *own, plx_mat mean, plx_mat variance)
{
    plx_mat work = k;
    plx_index *rows = NULL;
    PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(k), PLX__N, s->alpha, PLX__N, 0.0, mean));
    PLX_TRY(plx__arena_i64(&rows, plx__scratch(ctx), k.rows));
    if (s->q > 1) PLX_TRY(plx__arena_mat(&work, plx__scratch(ctx), k.rows, k.cols));
    for (plx_index c = 0; c < s->q; c++) {
        plx_mat some = plx__sub(work, 0, 0, unknown_rows(s, c, plx__cmat(k), own, variance, work, rows), k.cols);
        PLX_TRY(plx__gp_explained(ctx, s, c, some));
        for (plx_index t = 0; t < some.rows; t++)
            variance.data[rows[t] * variance.ld + c] =
                fmax(0.0, self[rows[t]] - plx__norm_sq(some.data + t * some.ld, k.cols));
    }
    return PLX_OK;
}
