/*
 * Newton's method in the coefficients b. For the squared hinge the loss is quadratic on the rows within the
 * margin, so that one solve is exact once they are known.
 */
#include "optim/gram_models.h"

#include <math.h>
#include <string.h>

#include "linalg/factor.h"
#include "optim/klr.h"

enum { MOST_STEPS = 500, HALVINGS = 60, PATIENCE = 3 };

static const double GRADIENT_NORM = 1e-11;

typedef struct solver {
    plx_context *ctx;
    plx_cmat k;
    const double *t;
    plx__linear_learner learner;
    double lambda;
    plx_index l;
    double *b, *f, *step, *change; /* change = K step */
    double *slope;                 /* what b is at the optimum, given f */
    double *root;                  /* logistic: square roots of the curvatures */
    plx_index *inside;             /* svm: rows within the margin */
    plx_mat system;                /* l x l */
    const char *what;
} solver;

static double loss_at(const solver *s, double margin)
{
    double slack = fmax(0.0, 1.0 - margin);
    return s->learner == PLX__LEARN_SVM ? slack * slack / s->lambda : -plx__log_sigmoid(margin);
}

/* Functional at b + length step. */
static double value_at(const solver *s, double length)
{
    double ridge = s->learner == PLX__LEARN_SVM ? 0.5 : 0.5 * s->lambda, sum = 0;
    for (plx_index i = 0; i < s->l; i++) {
        double f = s->f[i] + length * s->change[i];
        sum += ridge * (s->b[i] + length * s->step[i]) * f + loss_at(s, s->t[i] * f);
    }
    return sum;
}

/* slope, and the norm of the gradient with respect to w: that of X'(b - slope). */
static plx_status gradient(solver *s, double *norm)
{
    for (plx_index i = 0; i < s->l; i++) {
        double margin = s->t[i] * s->f[i];
        double pull = s->learner == PLX__LEARN_SVM ? 2.0 * fmax(0.0, 1.0 - margin) : plx__sigmoid(-margin);
        s->slope[i] = s->t[i] * pull / s->lambda;
        s->step[i] = s->b[i] - s->slope[i];
    }
    PLX_TRY(plx__gemv(s->ctx, 1.0, s->k, PLX__N, s->step, 0.0, s->change));
    *norm = sqrt(fmax(0.0, plx__dot(s->step, s->change, s->l)));
    if (s->learner == PLX__LEARN_LOGISTIC) *norm *= s->lambda;
    return PLX_OK;
}

/* On the rows within the margin the loss is quadratic: (K + lambda/2) b = t there, b = 0 elsewhere. */
static plx_status svm_step(solver *s)
{
    plx_index count = 0;
    for (plx_index i = 0; i < s->l; i++)
        if (s->t[i] * s->f[i] < 1) s->inside[count++] = i;
    plx_mat a = plx__mat_of(s->system.data, count, count);
    for (plx_index i = 0; i < count; i++) {
        const double *row = s->k.data + s->inside[i] * s->k.ld;
        for (plx_index j = 0; j < count; j++) a.data[i * count + j] = row[s->inside[j]];
        a.data[i * count + i] += 0.5 * s->lambda;
        s->slope[i] = s->t[s->inside[i]];
    }
    PLX_TRY(plx__cholesky_jitter(s->ctx, a, NULL, s->what, s->inside, "increase reg or scale the views"));
    PLX_TRY(plx__chol_solve_vec(s->ctx, plx__cmat(a), s->slope));
    for (plx_index i = 0; i < s->l; i++) s->step[i] = -s->b[i];
    for (plx_index i = 0; i < count; i++) s->step[s->inside[i]] += s->slope[i];
    return PLX_OK;
}

/* (lambda + W K) step = lambda (slope - b), solved as (r - V (lambda + V K V)^-1 V K r) / lambda with V = sqrt(W); the
 * gradient left K (b - slope) in change. */
static plx_status logistic_step(solver *s)
{
    plx_index l = s->l;
    for (plx_index i = 0; i < l; i++) {
        double p = plx__sigmoid(s->f[i]);
        s->root[i] = sqrt(p * (1.0 - p));
    }
    for (plx_index i = 0; i < l; i++) {
        for (plx_index j = 0; j < l; j++)
            s->system.data[i * l + j] = s->root[i] * s->k.data[i * s->k.ld + j] * s->root[j];
        s->system.data[i * l + i] += s->lambda;
        s->change[i] = -s->root[i] * s->change[i];
    }
    PLX_TRY(plx__cholesky_jitter(s->ctx, s->system, NULL, s->what, NULL, "increase reg or scale the views"));
    PLX_TRY(plx__chol_solve_vec(s->ctx, plx__cmat(s->system), s->change));
    for (plx_index i = 0; i < l; i++) s->step[i] = (s->slope[i] - s->b[i]) - s->root[i] * s->change[i];
    return PLX_OK;
}

/* The longest of 1, 1/2, 1/4, ... that gains. Near the optimum the functional is flat to rounding where the gradient is
 * not: a whole step that does not lose is taken too. */
static bool advance(solver *s)
{
    double before = value_at(s, 0), length = 1, slack = 1e-13 * fabs(before);
    for (int h = 0; h < HALVINGS; h++, length *= 0.5, slack = 0) {
        if (!(value_at(s, length) < before + slack)) continue;
        plx__axpy(s->b, length, s->step, s->l);
        return true;
    }
    return false;
}

static plx_status open_solver(solver *s)
{
    plx__arena *scratch = plx__scratch(s->ctx);
    PLX_TRY(plx__arena_f64(&s->f, scratch, s->l, 1));
    PLX_TRY(plx__arena_f64(&s->step, scratch, s->l, 1));
    PLX_TRY(plx__arena_f64(&s->change, scratch, s->l, 1));
    PLX_TRY(plx__arena_f64(&s->slope, scratch, s->l, 1));
    PLX_TRY(plx__arena_f64(&s->root, scratch, s->l, 1));
    PLX_TRY(plx__arena_i64(&s->inside, scratch, s->l));
    return plx__arena_mat(&s->system, scratch, s->l, s->l);
}

plx_status plx__gram_fit(plx_context *ctx, plx_cmat k, const double *t, plx__linear_learner learner, double lambda,
                         double *b, const char *what)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    solver s = {.ctx = ctx, .k = k, .t = t, .learner = learner, .lambda = lambda, .l = k.rows, .b = b, .what = what};
    double best = INFINITY;
    PLX_TRY(open_solver(&s));
    for (int it = 0, idle = 0; it < MOST_STEPS && idle < PATIENCE; it++) {
        double norm = 0;
        PLX_TRY(plx__poll(ctx));
        PLX_TRY(plx__gemv(ctx, 1.0, k, PLX__N, b, 0.0, s.f));
        PLX_TRY(gradient(&s, &norm));
        if (!isfinite(norm)) PLX_FAIL(ctx, PLX_E_NUMERIC, "%s: values are too large; scale the views", what);
        if (norm <= GRADIENT_NORM) break;
        idle = norm < best || norm > 1e-6 ? 0 : idle + 1; /* rounding, not descent */
        best = fmin(best, norm);
        if (learner == PLX__LEARN_SVM) PLX_TRY(svm_step(&s));
        else PLX_TRY(logistic_step(&s));
        PLX_TRY(plx__gemv(ctx, 1.0, k, PLX__N, s.step, 0.0, s.change));
        if (!advance(&s)) break;
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
