/*
 * Projected L-BFGS (Bertsekas' two-metric projection): variables held at a bound by the gradient are fixed,
 * the others take a quasi-Newton step from the two-loop recursion, projected back into the box. The search along the
 * projection arc halves the step until it gains enough (Armijo) and doubles a first step that is too short (the slope
 * has hardly changed), so that regions of negative curvature are crossed. A step whose free part has no positive
 * curvature says that the remembered pairs belong to another region: they are forgotten.
 */
#include "optim/lbfgs_box.h"

#include <math.h>
#include <string.h>

#include "linalg/dense.h"

enum { MAX_BACKTRACK = 40, MAX_STRETCH = 30 };
static const double ARMIJO = 1e-4, CURVATURE = 0.9;

typedef struct box {
    plx_context *ctx;
    plx__objective_fn f;
    void *arg;
    const plx__lbfgs_options *o;
    plx_index n, stored, newest;
    double *x, *g, *trial, *trial_g, *far, *far_g, *d, *alpha; /* far: a longer step that is being tried */
    double *s, *y, *rho;                                       /* memory x n, memory x n, memory: rings */
    uint8_t *held;
    double value;
    double trial_value; /* at the trial point */
    double promised;    /* first-order gain of the last search's first step */
} box;

static double clip(const box *b, plx_index i, double v)
{
    return v < b->o->lower[i] ? b->o->lower[i] : v > b->o->upper[i] ? b->o->upper[i] : v;
}

/* Largest |x - P(x - g)|: zero exactly at a stationary point of the box. */
static double projected_gradient(const box *b)
{
    double largest = 0;
    for (plx_index i = 0; i < b->n; i++) largest = fmax(largest, fabs(b->x[i] - clip(b, i, b->x[i] - b->g[i])));
    return largest;
}

static void mark_held(box *b)
{
    for (plx_index i = 0; i < b->n; i++)
        b->held[i] = (b->x[i] <= b->o->lower[i] && b->g[i] > 0) || (b->x[i] >= b->o->upper[i] && b->g[i] < 0);
}

static double dot_free(const box *b, const double *p, const double *q)
{
    double sum = 0;
    for (plx_index i = 0; i < b->n; i++)
        if (!b->held[i]) sum += p[i] * q[i];
    return sum;
}

/* d = -H g over the free variables (two-loop recursion); held ones stay. Pairs whose curvature vanishes
 * on the free variables are passed over. */
static void direction(box *b)
{
    plx_index m = b->o->memory;
    double scale = 1.0;
    for (plx_index i = 0; i < b->n; i++) b->d[i] = b->held[i] ? 0.0 : -b->g[i];
    for (plx_index t = 0; t < b->stored; t++) {
        plx_index k = (b->newest - t + m) % m;
        const double *s = b->s + k * b->n, *y = b->y + k * b->n;
        double sy = dot_free(b, s, y);
        b->rho[k] = sy > 1e-14 * sqrt(dot_free(b, s, s) * dot_free(b, y, y)) ? 1.0 / sy : 0.0;
        if (b->rho[k] == 0) continue;
        if (scale == 1.0) scale = sy / dot_free(b, y, y);
        b->alpha[k] = b->rho[k] * dot_free(b, s, b->d);
        for (plx_index i = 0; i < b->n; i++) b->d[i] -= b->held[i] ? 0.0 : b->alpha[k] * y[i];
    }
    plx__scale(b->d, scale, b->n);
    for (plx_index t = b->stored; t-- > 0;) {
        plx_index k = (b->newest - t + m) % m;
        if (b->rho[k] == 0) continue;
        const double *s = b->s + k * b->n, *y = b->y + k * b->n;
        double beta = b->rho[k] * dot_free(b, y, b->d);
        for (plx_index i = 0; i < b->n; i++) b->d[i] += b->held[i] ? 0.0 : (b->alpha[k] - beta) * s[i];
    }
}

/* Without memory, or when the recursion gives no descent: the negative gradient of length at most 1. */
static double start_step(box *b)
{
    double slope = plx__dot(b->d, b->g, b->n);
    if (b->stored > 0 && slope < 0 && isfinite(slope)) return 1.0;
    b->stored = 0;
    for (plx_index i = 0; i < b->n; i++) b->d[i] = b->held[i] ? 0.0 : -b->g[i];
    double length = plx__norm(b->d, b->n);
    return length > 1 ? 1.0 / length : 1.0;
}

/* The point at `step` along the arc with its value and gradient; *gain: what the first order promises. */
static plx_status evaluate(box *b, plx__lbfgs_result *result, double step, double *to, double *gradient, double *gain,
                           double *value)
{
    *gain = 0;
    *value = INFINITY;
    for (plx_index i = 0; i < b->n; i++) {
        to[i] = clip(b, i, b->x[i] + step * b->d[i]);
        *gain += b->g[i] * (b->x[i] - to[i]);
    }
    result->evaluations++;
    return b->f(b->arg, b->ctx, to, b->n, value, gradient);
}

static bool gains_enough(const box *b, double value, double gain)
{
    return isfinite(value) && value < b->value && value <= b->value - ARMIJO * gain;
}

/* Is the trial point still on the way down, in what the box leaves free? */
static bool is_short(const box *b)
{
    double before = 0, after = 0;
    for (plx_index i = 0; i < b->n; i++) {
        if (b->trial[i] <= b->o->lower[i] || b->trial[i] >= b->o->upper[i]) continue;
        before += b->d[i] * b->g[i];
        after += b->d[i] * b->trial_g[i];
    }
    return after < CURVATURE * before;
}

/* Doubles the accepted step while that pays. */
static plx_status stretch(box *b, plx__lbfgs_result *result, double step)
{
    for (int t = 0; t < MAX_STRETCH && is_short(b); t++) {
        double gain = 0, value = INFINITY;
        step *= 2;
        PLX_TRY(evaluate(b, result, step, b->far, b->far_g, &gain, &value));
        if (!(value < b->trial_value) || !gains_enough(b, value, gain)) return PLX_OK;
        double *point = b->trial, *gradient = b->trial_g;
        b->trial = b->far;
        b->trial_g = b->far_g;
        b->far = point;
        b->far_g = gradient;
        b->trial_value = value;
    }
    return PLX_OK;
}

/* A step along the arc that gains enough; *moved false: none did. */
static plx_status search(box *b, plx__lbfgs_result *result, double step, bool *moved)
{
    *moved = false;
    for (int t = 0; t < MAX_BACKTRACK && !*moved; t++, step *= 0.5) {
        double gain = 0;
        PLX_TRY(evaluate(b, result, step, b->trial, b->trial_g, &gain, &b->trial_value));
        if (t == 0) b->promised = gain;
        *moved = gains_enough(b, b->trial_value, gain);
        if (*moved && t == 0) PLX_TRY(stretch(b, result, step));
    }
    if (*moved) b->value = b->trial_value;
    return PLX_OK;
}

/* s'y over the variables that the step did not bring to a bound. */
static double free_curvature(const box *b, const double *s, const double *y)
{
    double sum = 0;
    for (plx_index i = 0; i < b->n; i++)
        if (b->trial[i] > b->o->lower[i] && b->trial[i] < b->o->upper[i]) sum += s[i] * y[i];
    return sum;
}

static void remember(box *b)
{
    plx_index k = b->stored ? (b->newest + 1) % b->o->memory : 0;
    double *s = b->s + k * b->n, *y = b->y + k * b->n;
    for (plx_index i = 0; i < b->n; i++) {
        s[i] = b->trial[i] - b->x[i];
        y[i] = b->trial_g[i] - b->g[i];
    }
    bool curved = free_curvature(b, s, y) > 0;
    memcpy(b->x, b->trial, (size_t)b->n * sizeof *b->x);
    memcpy(b->g, b->trial_g, (size_t)b->n * sizeof *b->g);
    b->newest = k;
    b->stored = curved ? plx__min(b->stored + 1, b->o->memory) : 0;
}

static plx_status prepare(box *b, plx__lbfgs_result *result)
{
    plx__arena *scratch = plx__scratch(b->ctx);
    double **vectors[] = {&b->g, &b->trial, &b->trial_g, &b->far, &b->far_g, &b->d};
    for (size_t v = 0; v < sizeof vectors / sizeof *vectors; v++) PLX_TRY(plx__arena_f64(vectors[v], scratch, b->n, 1));
    PLX_TRY(plx__arena_f64(&b->s, scratch, b->o->memory, b->n));
    PLX_TRY(plx__arena_f64(&b->y, scratch, b->o->memory, b->n));
    PLX_TRY(plx__arena_f64(&b->rho, scratch, b->o->memory, 1));
    PLX_TRY(plx__arena_f64(&b->alpha, scratch, b->o->memory, 1));
    PLX_TRY(plx__arena_u8(&b->held, scratch, b->n));
    for (plx_index i = 0; i < b->n; i++) b->x[i] = clip(b, i, b->x[i]);
    PLX_TRY(b->f(b->arg, b->ctx, b->x, b->n, &b->value, b->g));
    result->evaluations = 1;
    if (isfinite(b->value)) return PLX_OK;
    PLX_FAIL(b->ctx, PLX_E_NUMERIC, "%s: the objective is not finite at the starting point", b->o->phase);
}

/* One iteration. A search that finds nothing is tried once more from the plain gradient. */
static plx_status iterate(box *b, plx__lbfgs_result *result, bool *moved)
{
    mark_held(b);
    direction(b);
    double step = start_step(b);
    PLX_TRY(search(b, result, step, moved));
    if (!*moved && b->stored > 0) {
        b->stored = 0;
        step = start_step(b);
        PLX_TRY(search(b, result, step, moved));
    }
    if (*moved) remember(b);
    return PLX_OK;
}

/* The gradient is small, the value changes too little, or there is less to gain than rounding shows. */
static bool finished(const box *b, bool moved, double before)
{
    double scale = fmax(1.0, fabs(b->value));
    if (projected_gradient(b) <= b->o->gradient_tol) return true;
    return moved ? before - b->value <= b->o->change_tol * scale : b->promised <= fmax(b->o->change_tol, 1e-14) * scale;
}

plx_status plx__lbfgs_box(plx_context *ctx, plx_index n, double *x, plx__objective_fn f, void *arg,
                          const plx__lbfgs_options *options, plx__lbfgs_result *result)
{
    box b = {.ctx = ctx, .f = f, .arg = arg, .o = options, .n = n, .x = x};
    PLX_ASSERT(options->lower && options->upper);
    PLX_TRY(prepare(&b, result));
    bool moved = true;
    result->converged = projected_gradient(&b) <= options->gradient_tol;
    while (!result->converged && moved && result->iterations < options->max_iter && !plx__out_of_time(ctx)) {
        double before = b.value;
        PLX_TRY(iterate(&b, result, &moved));
        result->iterations += moved;
        PLX_TRY(plx__report(ctx, options->phase, result->iterations, options->max_iter, b.value));
        result->converged = finished(&b, moved, before);
    }
    result->value = b.value;
    result->gradient_max = projected_gradient(&b);
    return PLX_OK;
}
