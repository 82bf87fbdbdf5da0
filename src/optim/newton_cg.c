/*
 * The inner accuracy follows the gradient (superlinear convergence); the Hessian is seen through products.
 */
#include "optim/newton_cg.h"

#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "linalg/iterative.h"

enum { HALVINGS = 40 };

static const double MOST_ACCURATE = 1e-10;

typedef struct newton {
    const plx__newton_problem *p;
    double *x, *trial, *gradient, *trial_gradient, *step, *minus;
    double f, norm, accuracy;
} newton;

static plx_status apply(void *arg, plx_context *ctx, double *y, const double *x)
{
    const plx__newton_problem *p = arg;
    return p->curve(p->arg, ctx, y, x);
}

/* H step = -gradient, more accurately the nearer the minimum: the outer convergence stays superlinear. */
static plx_status solve(plx_context *ctx, newton *s)
{
    plx__operator hessian = {s->p->n, apply, (void *)(uintptr_t)s->p};
    plx__iter_options options = {.tol = fmin(s->accuracy, sqrt(s->norm)), .phase = "newton"};
    plx__iter_result ignored;
    options.tol = fmax(options.tol, MOST_ACCURATE);
    memset(s->step, 0, (size_t)s->p->n * sizeof *s->step);
    for (plx_index i = 0; i < s->p->n; i++) s->minus[i] = -s->gradient[i];
    return plx__cg(ctx, hessian, s->minus, s->step, &options, &ignored);
}

/* Armijo's rule; where f is flat to rounding, a smaller gradient counts as progress. */
static bool better(const newton *s, double f, double norm, double slope, double length)
{
    if (!isfinite(f)) return false;
    if (f <= s->f + 1e-4 * length * slope) return true;
    return fabs(f - s->f) <= 1e-10 * fabs(s->f) && norm < s->norm;
}

static void accept(newton *s, double f, double norm)
{
    double *x = s->x, *g = s->gradient;
    memcpy(x, s->trial, (size_t)s->p->n * sizeof *x);
    s->gradient = s->trial_gradient;
    s->trial_gradient = g;
    s->f = f;
    s->norm = norm;
}

static plx_status search(plx_context *ctx, newton *s, bool *moved)
{
    plx_index n = s->p->n;
    double slope = plx__dot(s->gradient, s->step, n), length = 1, f = 0;
    *moved = false;
    for (int h = 0; h < HALVINGS && !*moved; h++, length *= 0.5) {
        memcpy(s->trial, s->x, (size_t)n * sizeof *s->trial);
        plx__axpy(s->trial, length, s->step, n);
        PLX_TRY(s->p->value(s->p->arg, ctx, s->trial, &f, s->trial_gradient));
        double norm = plx__norm(s->trial_gradient, n);
        *moved = better(s, f, norm, slope, length);
        if (*moved) accept(s, f, norm);
    }
    return PLX_OK;
}

static plx_status open(newton *s, plx_context *ctx)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx_index n = s->p->n;
    PLX_TRY(plx__arena_f64(&s->trial, scratch, n, 1));
    PLX_TRY(plx__arena_f64(&s->gradient, scratch, n, 1));
    PLX_TRY(plx__arena_f64(&s->trial_gradient, scratch, n, 1));
    PLX_TRY(plx__arena_f64(&s->step, scratch, n, 1));
    PLX_TRY(plx__arena_f64(&s->minus, scratch, n, 1));
    PLX_TRY(s->p->value(s->p->arg, ctx, s->x, &s->f, s->gradient));
    s->norm = plx__norm(s->gradient, n);
    if (!isfinite(s->f) || !isfinite(s->norm))
        PLX_FAIL(ctx, PLX_E_NUMERIC, "newton: the function is not finite at the start; scale the data");
    return PLX_OK;
}

plx_status plx__newton_cg(plx_context *ctx, const plx__newton_problem *p, double *x, double tol, plx_index max_iter,
                          plx__newton_result *result)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    newton s = {.p = p, .x = x, .accuracy = p->accuracy};
    plx_index it = 0;
    PLX_TRY(open(&s, ctx));
    while (it < max_iter && s.norm > tol && s.accuracy >= MOST_ACCURATE) {
        bool moved = false;
        PLX_TRY(solve(ctx, &s));
        PLX_TRY(search(ctx, &s, &moved));
        if (moved) it++;
        else s.accuracy *= 0.01; /* a coarse step may fail where a fine one gains */
    }
    if (result) *result = (plx__newton_result){it, s.f, s.norm};
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
