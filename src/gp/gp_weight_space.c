/*
 * The matrix inversion lemma applied throughout: every n x n system becomes the p x p system A = I + Z'EZ,
 * and log determinants add the diagonal part.
 */
#include "gp/gp_weight_space.h"

#include <math.h>
#include <string.h>

#include "linalg/factor.h"
#include "gp/laplace.h"

typedef struct parts {
    plx_mat alpha, factor, root, weights;
} parts;

static double spare(const double *c, plx_index i) { return c ? c[i] : 0.0; }

/* ---- regression ---- */

/* A = I + Z'EZ with E = 1/(noise + c), factorised. */
static plx_status regression_system(plx__gp_state *s, const parts *p, plx_context *ctx, plx_cmat z, const double *c,
                                    const plx__gp_targets *t)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat scaled;
    PLX_TRY(plx__mat_clone(&scaled, plx__scratch(ctx), z));
    for (plx_index i = 0; i < s->n; i++)
        plx__scale(scaled.data + i * scaled.ld, 1.0 / sqrt(t->noise + spare(c, i)), z.cols);
    PLX_TRY(plx__syrk(ctx, 1.0, plx__cmat(scaled), PLX__T, 0.0, p->factor));
    plx__mat_add_diag(p->factor, 1.0);
    PLX_TRY(plx__cholesky_jitter(ctx, p->factor, &s->jitter, t->what, NULL, NULL));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* <M, z z'> = ((z.alpha)^2 - (I - A^-1)_zz)/2, tr M = (alpha.alpha - tr G^-1)/2 with n - tr(I - A^-1) = noise tr
 * G^-1. */
static plx_status regression_gradient(const plx__gp_state *s, plx_context *ctx, plx_cmat z, double noise,
                                      plx__weight_space_gradient *out)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat inverse;
    double told = 0;
    PLX_TRY(plx__arena_mat(&inverse, plx__scratch(ctx), z.cols, z.cols));
    PLX_TRY(plx__chol_inverse(ctx, inverse, s->factor));
    PLX_TRY(plx__gemv(ctx, 1.0, z, PLX__T, s->alpha.data, 0.0, out->column));
    for (plx_index j = 0; j < z.cols; j++) {
        double share = 1.0 - inverse.data[j * inverse.ld + j];
        told += share;
        out->column[j] = 0.5 * (out->column[j] * out->column[j] - share);
    }
    out->trace = 0.5 * (plx__norm_sq(s->alpha.data, s->n) - ((double)s->n - told) / noise);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* w = A^-1 Z'Ey, alpha = E (y - Zw). */
static plx_status fit_regression(plx__gp_state *s, const parts *p, plx_context *ctx, plx_cmat z, const double *c,
                                 const plx__gp_targets *t, plx__weight_space_gradient *gradient)
{
    double *alpha = p->alpha.data, logs = 0;
    PLX_TRY(regression_system(s, p, ctx, z, c, t));
    for (plx_index i = 0; i < s->n; i++) {
        alpha[i] = t->y.data[i] / (t->noise + spare(c, i));
        logs += log(t->noise + spare(c, i));
        p->root.data[i] = 1.0 / sqrt(t->noise);
    }
    PLX_TRY(plx__gemv(ctx, 1.0, z, PLX__T, alpha, 0.0, p->weights.data));
    PLX_TRY(plx__chol_solve_vec(ctx, s->factor, p->weights.data));
    PLX_TRY(plx__gemv(ctx, 1.0, z, PLX__N, p->weights.data, 0.0, alpha));
    for (plx_index i = 0; i < s->n; i++) alpha[i] = (t->y.data[i] - alpha[i]) / (t->noise + spare(c, i));
    s->evidence = -0.5 * plx__dot(t->y.data, alpha, s->n) - 0.5 * (logs + plx__chol_logdet(s->factor)) -
                  0.5 * (double)s->n * log(2.0 * acos(-1.0));
    return gradient ? regression_gradient(s, ctx, z, t->noise, gradient) : PLX_OK;
}

/* ---- classification ---- */

static plx_status fit_class(plx__gp_state *s, const parts *p, plx_context *ctx, plx_cmat z, const double *c,
                            const plx__gp_targets *t, plx_index q, plx__weight_space_gradient *gradient)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx__laplace at;
    double *y = NULL, *w = NULL;
    PLX_TRY(plx__arena_f64(&y, plx__scratch(ctx), s->n, 1));
    PLX_TRY(plx__arena_f64(&w, plx__scratch(ctx), z.cols, 1));
    for (plx_index i = 0; i < s->n; i++) y[i] = t->y.data[i * t->y.ld + q];
    plx__laplace_start start = {t->near.data ? t->near.data + q * s->n : NULL,
                                plx__sub(p->factor, q * z.cols, 0, z.cols, z.cols)};
    PLX_TRY(plx__laplace_fit_weights(&at, plx__scratch(ctx), ctx, z, c, y, t->what, &start));
    if (gradient) PLX_TRY(plx__laplace_gradient_weights(ctx, &at, z, gradient->column));
    if (t->near.data) memcpy(t->near.data + q * s->n, at.slope, (size_t)s->n * sizeof(double));
    PLX_TRY(plx__gemv(ctx, 1.0, z, PLX__T, at.slope, 0.0, w));
    memcpy(p->root.data + q * s->n, at.root, (size_t)s->n * sizeof(double));
    for (plx_index i = 0; i < s->n; i++) p->alpha.data[i * s->q + q] = at.slope[i];
    for (plx_index j = 0; j < z.cols; j++) p->weights.data[j * s->q + q] = w[j];
    s->evidence += at.evidence;
    s->jitter = fmax(s->jitter, at.jitter);
    s->converged &= at.converged;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__weight_space_fit(plx__gp_state *out, plx__arena *arena, plx_context *ctx, plx_cmat z, const double *c,
                                 const plx__gp_targets *targets, plx__weight_space_gradient *gradient)
{
    parts p;
    *out = (plx__gp_state){.n = targets->n, .q = targets->q, .converged = true};
    PLX_TRY(plx__arena_mat(&p.alpha, arena, out->n, out->q));
    PLX_TRY(plx__arena_mat(&p.factor, arena, out->q * z.cols, z.cols));
    PLX_TRY(plx__arena_mat(&p.root, arena, out->q, out->n));
    PLX_TRY(plx__arena_mat(&p.weights, arena, z.cols, out->q));
    out->alpha = plx__cmat(p.alpha);
    out->factor = plx__cmat(p.factor);
    out->root = plx__cmat(p.root);
    out->weights = plx__cmat(p.weights);
    if (targets->regression) return fit_regression(out, &p, ctx, z, c, targets, gradient);
    if (gradient) {
        memset(gradient->column, 0, (size_t)z.cols * sizeof(double));
        gradient->trace = 0;
    }
    for (plx_index q = 0; q < out->q; q++) PLX_TRY(fit_class(out, &p, ctx, z, c, targets, q, gradient));
    return PLX_OK;
}

/* ---- prediction ---- */

plx_status plx__weight_space_predict(plx_context *ctx, const plx__gp_state *s, plx_mat z, const double *own,
                                     plx_mat mean, plx_mat variance)
{
    plx_mat work = z;
    PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(z), PLX__N, s->weights, PLX__N, 0.0, mean));
    if (s->q > 1) PLX_TRY(plx__arena_mat(&work, plx__scratch(ctx), z.rows, z.cols));
    for (plx_index c = 0; c < s->q; c++) {
        if (s->q > 1) plx__mat_copy(work, plx__cmat(z));
        PLX_TRY(plx__tri_solve_right(ctx, plx__csub(s->factor, c * z.cols, 0, z.cols, z.cols), PLX__T, work));
        for (plx_index i = 0; i < z.rows; i++)
            variance.data[i * variance.ld + c] = spare(own, i) + plx__norm_sq(work.data + i * work.ld, z.cols);
    }
    return PLX_OK;
}

/* E_i = W/(1 + W c): what the label of sample i weighs. */
static double weight_of(const plx__gp_state *s, plx_index q, plx_index i, double c)
{
    double root = s->root.data[q * s->root.ld + i];
    return root * root / (1.0 + root * root * c);
}

/* k'Rk = sum E k^2 - |L^-1 Z'E k|^2. Rows of k are overwritten by E k. */
static plx_status explain(plx_context *ctx, const plx__gp_state *s, plx_index q, plx_cmat z, const double *c, plx_mat k,
                          double *told)
{
    plx_mat t;
    PLX_TRY(plx__arena_mat(&t, plx__scratch(ctx), k.rows, z.cols));
    for (plx_index i = 0; i < k.rows; i++) {
        double *row = k.data + i * k.ld;
        told[i] = 0;
        for (plx_index j = 0; j < s->n; j++) {
            double weighed = weight_of(s, q, j, spare(c, j)) * row[j];
            told[i] += weighed * row[j];
            row[j] = weighed;
        }
    }
    PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(k), PLX__N, z, PLX__N, 0.0, t));
    PLX_TRY(plx__tri_solve_right(ctx, plx__csub(s->factor, q * z.cols, 0, z.cols, z.cols), PLX__T, t));
    for (plx_index i = 0; i < k.rows; i++) told[i] -= plx__norm_sq(t.data + i * t.ld, z.cols);
    return PLX_OK;
}

plx_status plx__weight_space_predict_from(plx_context *ctx, const plx__gp_state *s, plx_cmat z, const double *c,
                                          plx_mat k, const double *self, plx_mat mean, plx_mat variance)
{
    plx_mat work = k;
    double *told = NULL;
    PLX_TRY(plx__arena_f64(&told, plx__scratch(ctx), k.rows, 1));
    PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(k), PLX__N, s->alpha, PLX__N, 0.0, mean));
    if (s->q > 1) PLX_TRY(plx__arena_mat(&work, plx__scratch(ctx), k.rows, k.cols));
    for (plx_index q = 0; q < s->q; q++) {
        if (s->q > 1) plx__mat_copy(work, plx__cmat(k));
        PLX_TRY(explain(ctx, s, q, z, c, work, told));
        for (plx_index i = 0; i < k.rows; i++) variance.data[i * variance.ld + q] = fmax(0.0, self[i] - told[i]);
    }
    return PLX_OK;
}

void plx__weight_space_own(const plx__gp_state *s, plx_index i, double c, plx_mat mean, plx_mat variance, plx_index row)
{
    for (plx_index q = 0; q < s->q; q++) {
        double root = s->root.data[q * s->root.ld + i], keep = 1.0 / (1.0 + root * root * c);
        double *v = &variance.data[row * variance.ld + q];
        mean.data[row * mean.ld + q] += c * s->alpha.data[i * s->alpha.ld + q];
        *v = c * keep + (*v - c) * keep * keep;
    }
}
