/*
 * Newton's method for kernel logistic regression. Kernel values may be large (1e8 and more): the Hessian is brought to a
 * unit diagonal before it is factorised, gains of the objective are compared relative to it, and a gradient that is
 * nothing but rounding counts as zero.
 */
#include "optim/klr.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/factor.h"

enum { MAX_STEPS = 200, MAX_HALVINGS = 40, MAX_STALLS = 4 };

double plx__sigmoid(double t) { return t >= 0 ? 1.0 / (1.0 + exp(-t)) : exp(t) / (1.0 + exp(t)); }
double plx__log_sigmoid(double t) { return t >= 0 ? -log1p(exp(-t)) : t - log1p(exp(t)); }

typedef struct newton {
    plx_context *ctx;
    plx_cmat k;
    const double *y;
    double ridge;
    plx_index l;
    double *w, *f;           /* 1 + l, l */
    double *gradient, *step; /* 1 + l */
    double *trial, *trial_f;
    double *error, *curvature; /* l */
    double *scale;             /* 1 + l: root of the Hessian's diagonal, inverted */
    plx_mat phi, hessian;      /* l x (1 + l) weighted rows; (1 + l)^2 */
} newton;

static plx_status open_newton(newton *n)
{
    plx__arena *scratch = plx__scratch(n->ctx);
    plx_index l = n->l;
    PLX_TRY(plx__arena_f64(&n->f, scratch, l, 1));
    PLX_TRY(plx__arena_f64(&n->gradient, scratch, l + 1, 1));
    PLX_TRY(plx__arena_f64(&n->step, scratch, l + 1, 1));
    PLX_TRY(plx__arena_f64(&n->trial, scratch, l + 1, 1));
    PLX_TRY(plx__arena_f64(&n->trial_f, scratch, l, 1));
    PLX_TRY(plx__arena_f64(&n->error, scratch, l, 1));
    PLX_TRY(plx__arena_f64(&n->curvature, scratch, l, 1));
    PLX_TRY(plx__arena_f64(&n->scale, scratch, l + 1, 1));
    PLX_TRY(plx__arena_mat(&n->phi, scratch, l, l + 1));
    return plx__arena_mat(&n->hessian, scratch, l + 1, l + 1);
}

plx_status plx__klr_apply(plx_context *ctx, plx_cmat k, const double *w, double *f)
{
    PLX_TRY(plx__gemv(ctx, 1.0, k, PLX__N, w + 1, 0.0, f));
    for (plx_index i = 0; i < k.rows; i++) f[i] += w[0];
    return PLX_OK;
}

static double objective(const newton *n, const double *w, const double *f)
{
    double sum = 0;
    for (plx_index i = 0; i < n->l; i++) sum += plx__log_sigmoid(n->y[i] * f[i]);
    return sum - 0.5 * n->ridge * plx__norm_sq(w + 1, n->l);
}

/* Gradient at f; its largest entry. */
static plx_status find_gradient(newton *n, double *largest)
{
    for (plx_index i = 0; i < n->l; i++) {
        double p = plx__sigmoid(n->f[i]);
        n->error[i] = n->y[i] > 0 ? plx__sigmoid(-n->f[i]) : -p; /* (y + 1)/2 - p without cancellation */
        n->curvature[i] = p * plx__sigmoid(-n->f[i]);
    }
    n->gradient[0] = plx__sum(n->error, n->l);
    PLX_TRY(plx__gemv(n->ctx, 1.0, n->k, PLX__T, n->error, 0.0, n->gradient + 1));
    plx__axpy(n->gradient + 1, -n->ridge, n->w + 1, n->l);
    *largest = plx__max_abs(n->gradient, n->l + 1);
    return PLX_OK;
}

/* What rounding alone may leave of the gradient: its largest sum of absolute terms, each with the error that the
 * rounding of f brings into it. */
static double rounding(const newton *n)
{
    double largest = 0;
    for (plx_index i = 0; i < n->l; i++) {
        double size = fabs(n->w[0]);
        for (plx_index j = 0; j < n->l; j++) size += fabs(n->k.data[i * n->k.ld + j] * n->w[j + 1]);
        n->trial_f[i] = fabs(n->error[i]) + n->curvature[i] * size;
    }
    for (plx_index j = 0; j < n->l; j++) {
        double sum = n->ridge * fabs(n->w[j + 1]);
        for (plx_index i = 0; i < n->l; i++) sum += fabs(n->k.data[i * n->k.ld + j]) * n->trial_f[i];
        largest = fmax(largest, sum);
    }
    return 4 * DBL_EPSILON * largest;
}

static void scale_hessian(newton *n)
{
    plx_mat h = n->hessian;
    for (plx_index a = 0; a < h.rows; a++) {
        double diagonal = h.data[a * (h.ld + 1)];
        n->scale[a] = diagonal > 0 ? 1.0 / sqrt(diagonal) : 1.0;
    }
    for (plx_index a = 0; a < h.rows; a++)
        for (plx_index b = 0; b < h.cols; b++) h.data[a * h.ld + b] *= n->scale[a] * n->scale[b];
}

/* (Phi' W Phi + ridge on all but the bias) step = gradient. */
static plx_status find_step(newton *n)
{
    plx_index l = n->l;
    for (plx_index i = 0; i < l; i++) {
        double root = sqrt(n->curvature[i]), *row = n->phi.data + i * n->phi.ld;
        row[0] = root;
        for (plx_index j = 0; j < l; j++) row[j + 1] = root * n->k.data[i * n->k.ld + j];
    }
    PLX_TRY(plx__syrk(n->ctx, 1.0, plx__cmat(n->phi), PLX__T, 0.0, n->hessian));
    for (plx_index a = 1; a <= l; a++) n->hessian.data[a * (n->hessian.ld + 1)] += n->ridge;
    scale_hessian(n);
    for (plx_index a = 0; a <= l; a++) n->step[a] = n->scale[a] * n->gradient[a];
    PLX_TRY(plx__cholesky_jitter(n->ctx, n->hessian, NULL, "kernel logistic regression: the Hessian", NULL,
                                 "increase ridge or scale the features"));
    PLX_TRY(plx__chol_solve_vec(n->ctx, plx__cmat(n->hessian), n->step));
    for (plx_index a = 0; a <= l; a++) n->step[a] *= n->scale[a];
    return PLX_OK;
}

/* The longest of 1, 1/2, 1/4, ... steps that does not lower the objective beyond rounding; false: there is none. */
static plx_status move(newton *n, double *value, bool *moved)
{
    double scale = 1;
    *moved = false;
    for (int halving = 0; halving < MAX_HALVINGS && !*moved; halving++, scale *= 0.5) {
        memcpy(n->trial, n->w, (size_t)(n->l + 1) * sizeof *n->trial);
        plx__axpy(n->trial, scale, n->step, n->l + 1);
        PLX_TRY(plx__klr_apply(n->ctx, n->k, n->trial, n->trial_f));
        double next = objective(n, n->trial, n->trial_f);
        if (!(next >= *value - 1e-13 * fabs(*value))) continue;
        *value = next;
        *moved = true;
    }
    if (!*moved) return PLX_OK;
    memcpy(n->w, n->trial, (size_t)(n->l + 1) * sizeof *n->w);
    memcpy(n->f, n->trial_f, (size_t)n->l * sizeof *n->f);
    return PLX_OK;
}

plx_status plx__klr_fit(plx_context *ctx, plx_cmat k, const double *y, double ridge, double *w, plx__klr_result *result)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    newton n = {.ctx = ctx, .k = k, .y = y, .ridge = ridge, .l = k.rows, .w = w};
    bool moved = true;
    *result = (plx__klr_result){0};
    PLX_TRY(open_newton(&n));
    memset(w, 0, (size_t)(n.l + 1) * sizeof *w);
    result->objective = objective(&n, w, n.f);
    PLX_TRY(find_gradient(&n, &result->gradient));
    double tolerance = 1e-10 * (1.0 + (double)n.l), best = result->gradient;
    int stalls = 0; /* steps in a row that gained nothing, by value or by gradient */
    while (result->gradient > tolerance && result->iterations < MAX_STEPS && moved && stalls < MAX_STALLS) {
        double before = result->objective;
        PLX_TRY(find_step(&n));
        PLX_TRY(move(&n, &result->objective, &moved));
        PLX_TRY(find_gradient(&n, &result->gradient));
        PLX_TRY(plx__report(ctx, "logistic", ++result->iterations, MAX_STEPS, result->objective));
        bool gained = result->objective - before > 1e-12 * fabs(before) || result->gradient < 0.9 * best;
        stalls = gained ? 0 : stalls + 1;
        best = fmin(best, result->gradient);
    }
    result->converged = result->gradient <= fmax(tolerance, rounding(&n));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
