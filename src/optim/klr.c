#include "optim/klr.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/factor.h"

enum { MAX_STEPS = 100, MAX_HALVINGS = 40 };

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
    memcpy(n->step, n->gradient, (size_t)(l + 1) * sizeof *n->step);
    PLX_TRY(plx__cholesky_jitter(n->ctx, n->hessian, NULL, "kernel logistic regression: the Hessian", NULL,
                                 "increase ridge or scale the features"));
    return plx__chol_solve_vec(n->ctx, plx__cmat(n->hessian), n->step);
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
        if (!(next >= *value - 1e-13 * (1 + fabs(*value)))) continue;
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
    while (result->gradient > tolerance && result->iterations < MAX_STEPS && moved) {
        PLX_TRY(find_step(&n));
        PLX_TRY(move(&n, &result->objective, &moved));
        PLX_TRY(find_gradient(&n, &result->gradient));
        PLX_TRY(plx__report(ctx, "logistic", ++result->iterations, MAX_STEPS, result->objective));
        if (result->iterations > 20 && result->gradient >= best) break; /* no digits left to gain */
        best = fmin(best, result->gradient);
    }
    result->converged = result->gradient <= tolerance;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
