/*
 * Smooth minimisation without bounds: libLBFGS, with our callback, progress, cancelling and the best point
 * kept, so that the result is never worse than the start. Boxes go to the projected method in lbfgs_box.c.
 */
#include "optim/lbfgs_run.h"

#include <lbfgs.h>
#include <math.h>
#include <string.h>

#include "optim/lbfgs_box.h"

enum { OUR_STOP = 77 }; /* returned by progress(): one of our rules was met */

typedef struct run {
    plx_context *ctx;
    plx__objective_fn f;
    void *arg;
    const plx__lbfgs_options *o;
    plx__lbfgs_result *result;
    double *best; /* best point so far, its value in result->value */
    double last;  /* value at the end of the last iteration */
    plx_status status;
} run;

static double largest_of(const double *x, plx_index n)
{
    double largest[4] = {0};
    for (plx_index i = 0; i < n; i++) {
        double size = fabs(x[i]), *to = &largest[i & 3];
        if (!(size <= *to)) *to = size; /* NaN too */
    }
    return fmax(fmax(largest[0], largest[1]), fmax(largest[2], largest[3]));
}

static double wanted_at(const run *r, const double *x, plx_index n)
{
    return r->o->gradient_tol * (r->o->relative ? fmax(1.0, largest_of(x, n)) : 1.0);
}

static double evaluate(void *run_, const double *x, double *gradient, const int n, const double step)
{
    run *r = run_;
    double value = INFINITY;
    (void)step;
    if (r->status != PLX_OK) { /* after a failure: let the library wind down */
        memset(gradient, 0, (size_t)n * sizeof *gradient);
        return r->last;
    }
    r->status = r->f(r->arg, r->ctx, x, n, &value, gradient);
    r->result->evaluations++;
    if (r->status != PLX_OK) return r->last;
    if (!isfinite(value)) return 1e300; /* worse than anything: the search steps back */
    if (value < r->result->value) {
        r->result->value = value;
        r->result->gradient_max = largest_of(gradient, n);
        memcpy(r->best, x, (size_t)n * sizeof *x);
    }
    return value;
}

static int progress(void *run_, const double *x, const double *gradient, const double value, const double xnorm,
                    const double gnorm, const double step, int n, int iteration, int trials)
{
    run *r = run_;
    (void)xnorm, (void)gnorm, (void)step, (void)trials;
    r->result->iterations = iteration;
    if (r->status == PLX_OK) r->status = plx__report(r->ctx, r->o->phase, iteration, r->o->max_iter, value);
    if (r->status != PLX_OK || plx__out_of_time(r->ctx)) return OUR_STOP;
    double change = fabs(r->last - value);
    r->last = value;
    r->result->converged =
        largest_of(gradient, n) <= wanted_at(r, x, n) || change <= r->o->change_tol * fmax(1.0, fabs(value));
    return r->result->converged ? OUR_STOP : 0;
}

static plx_status value_at_start(run *r, plx_index n, const double *x, double *gradient)
{
    double value = 0;
    PLX_TRY(r->f(r->arg, r->ctx, x, n, &value, gradient));
    if (!isfinite(value))
        PLX_FAIL(r->ctx, PLX_E_NUMERIC, "%s: the objective is not finite at the starting point", r->o->phase);
    r->result->value = r->last = value;
    r->result->evaluations = 1;
    r->result->gradient_max = largest_of(gradient, n);
    memcpy(r->best, x, (size_t)n * sizeof *x);
    return PLX_OK;
}

static plx_status refuse(plx_context *ctx, plx_index n)
{
    PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory for an optimiser of %lld variables; raise the memory limit",
             (long long)n);
}

/* libLBFGS wants memory of its own kind for x. Codes below zero are failed line searches and the like:
 * the best point stands, not converged. */
static plx_status run_library(run *r, plx_index n, const double *x)
{
    lbfgs_parameter_t p;
    lbfgs_parameter_init(&p);
    p.m = (int)plx__min(r->o->memory, 1000);
    p.epsilon = 0; /* our rules decide, in progress() */
    p.max_iterations = (int)plx__min(r->o->max_iter, INT32_MAX);
    p.linesearch = LBFGS_LINESEARCH_BACKTRACKING_STRONG_WOLFE;
    p.max_linesearch = 40;
    size_t vectors = 2 * (size_t)p.m + 6,
           foreign = vectors * (size_t)n * sizeof(double); /* pairs, x, gradients, step */
    if (!plx__count_foreign(r->ctx, foreign)) return refuse(r->ctx, n);
    double *own = lbfgs_malloc((int)n), value = 0;
    int code = LBFGSERR_OUTOFMEMORY;
    if (own) {
        memcpy(own, x, (size_t)n * sizeof *x);
        code = lbfgs((int)n, own, &value, evaluate, progress, r, &p);
        lbfgs_free(own);
    }
    plx__uncount_foreign(r->ctx, foreign);
    if (r->status != PLX_OK) return r->status;
    if (code == LBFGSERR_OUTOFMEMORY) return refuse(r->ctx, n);
    if (code == LBFGS_SUCCESS || code == LBFGS_ALREADY_MINIMIZED) r->result->converged = true;
    return PLX_OK;
}

static plx_status minimise_free(plx_context *ctx, plx_index n, double *x, plx__objective_fn f, void *arg,
                                const plx__lbfgs_options *o, plx__lbfgs_result *result)
{
    run r = {.ctx = ctx, .f = f, .arg = arg, .o = o, .result = result};
    double *gradient = NULL;
    if (n > INT32_MAX / 2) PLX_FAIL(ctx, PLX_E_NOMEM, "%lld variables are too many", (long long)n);
    PLX_TRY(plx__arena_f64(&r.best, plx__scratch(ctx), n, 1));
    PLX_TRY(plx__arena_f64(&gradient, plx__scratch(ctx), n, 1));
    PLX_TRY(value_at_start(&r, n, x, gradient));
    result->converged = result->gradient_max <= wanted_at(&r, x, n);
    if (!result->converged) PLX_TRY(run_library(&r, n, x));
    memcpy(x, r.best, (size_t)n * sizeof *x);
    result->converged = result->converged || result->gradient_max <= wanted_at(&r, x, n);
    return PLX_OK;
}

plx_status plx__lbfgs(plx_context *ctx, plx_index n, double *x, plx__objective_fn f, void *arg,
                      const plx__lbfgs_options *options, plx__lbfgs_result *result)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx__lbfgs_options o = options ? *options : (plx__lbfgs_options){0};
    plx__lbfgs_result out = {0};
    if (o.max_iter == 0) o.max_iter = 200;
    if (o.memory == 0) o.memory = 10;
    if (o.gradient_tol == 0) o.gradient_tol = 1e-5;
    if (o.change_tol == 0) o.change_tol = 1e-11;
    if (!o.phase) o.phase = "lbfgs";
    if (n > 0) PLX_TRY((o.lower ? plx__lbfgs_box : minimise_free)(ctx, n, x, f, arg, &o, &out));
    if (result) *result = out;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
