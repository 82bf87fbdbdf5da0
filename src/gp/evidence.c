/*
 * L-BFGS in a box over the logarithms: positive by construction, and a factor of two is the same step
 * wherever it starts.
 */
#include "gp/evidence.h"

#include <math.h>

typedef struct search {
    const plx__evidence *problem;
    plx__evidence_fn fn;
    void *arg;
    plx_index *place; /* of the free ones among all */
    double *hyper, *gradient;
    bool started; /* a failure at the start is the user's to know */
} search;

static plx_status negative_evidence(void *arg, plx_context *ctx, const double *x, plx_index n, double *value,
                                    double *gradient)
{
    search *s = arg;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    for (plx_index i = 0; i < n; i++) s->hyper[s->place[i]] = exp(x[i]);
    *value = INFINITY;
    plx_status st = s->fn(s->arg, ctx, s->hyper, value, s->gradient);
    if (st == PLX_E_NUMERIC && s->started) {
        plx__clear_error(ctx);
        *value = INFINITY;
        st = PLX_OK;
    }
    s->started = true;
    *value = isfinite(*value) ? -*value : INFINITY;
    for (plx_index i = 0; i < n; i++) gradient[i] = -s->gradient[s->place[i]];
    plx__arena_rewind(plx__scratch(ctx), mark);
    return st;
}

plx_status plx__evidence_maximise(plx_context *ctx, const plx__evidence *p, plx__evidence_fn fn, void *arg,
                                  plx__lbfgs_result *result)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    search s = {.problem = p, .fn = fn, .arg = arg};
    double *x = NULL, *lower = NULL, *upper = NULL;
    plx_index n = 0;
    PLX_TRY(plx__arena_i64(&s.place, plx__scratch(ctx), p->count));
    double **vectors[] = {&x, &lower, &upper, &s.hyper, &s.gradient};
    for (size_t v = 0; v < sizeof vectors / sizeof *vectors; v++)
        PLX_TRY(plx__arena_f64(vectors[v], plx__scratch(ctx), p->count, 1));
    for (plx_index i = 0; i < p->count; i++) {
        s.hyper[i] = p->hyper[i];
        if (p->free && !p->free[i]) continue;
        bool width = p->is_width && p->is_width[i];
        double start = log(p->hyper[i]), middle = width ? start : p->unit ? log(p->unit[i]) : 0.0;
        double reach = log(width ? 1e3 : 1e6);
        x[n] = start;
        lower[n] = fmin(start, middle - reach);
        upper[n] = fmax(start, middle + reach);
        s.place[n++] = i;
    }
    plx__lbfgs_options options = {.max_iter = p->max_iter, .lower = lower, .upper = upper, .phase = "evidence"};
    *result = (plx__lbfgs_result){.converged = true};
    if (n) PLX_TRY(plx__lbfgs(ctx, n, x, negative_evidence, &s, &options, result));
    for (plx_index i = 0; i < n; i++) p->hyper[s.place[i]] = exp(x[i]);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
