/*
 * Sweeps over the active samples in random order; a sample held by its bound by a margin rests until the
 * active ones have converged, then all are checked again.
 */
#include "optim/svm_linear.h"

#include <math.h>
#include <string.h>

#include "core/rng.h"

enum { MOST_SWEEPS = 20000 };

typedef struct descent {
    plx_context *ctx;
    plx__points x;
    const double *y;
    plx_index l, d;
    double cost, rho; /* rho: 0 without bias */
    double *a, *w, *e, *curvature;
    double b;
    plx_index *order, active;
    double high, low; /* extreme projected gradients of the last sweep: what shrinking goes by */
    plx__rng rng;
    plx_index sweeps, most;
} descent;

static double row_dot(const descent *s, plx_index i)
{
    double sum = 0;
    if (!plx__points_sparse(s->x)) return plx__dot(s->x.dense.data + i * s->x.dense.ld, s->w, s->d);
    for (plx_index p = s->x.csr.ptr[i]; p < s->x.csr.ptr[i + 1]; p++) sum += s->x.csr.val[p] * s->w[s->x.csr.col[p]];
    return sum;
}

/* u_i += t. */
static void move(descent *s, plx_index i, double t)
{
    s->b += s->rho * t;
    if (!plx__points_sparse(s->x)) {
        plx__axpy(s->w, t, s->x.dense.data + i * s->x.dense.ld, s->d);
        return;
    }
    for (plx_index p = s->x.csr.ptr[i]; p < s->x.csr.ptr[i + 1]; p++) s->w[s->x.csr.col[p]] += t * s->x.csr.val[p];
}

/* ---- one sweep over the active samples ---- */

/* Gradient of the dual in a_i, 0 where the bound holds it; *shrink when it stays there by a margin. */
static double projected(const descent *s, plx_index i, double gradient, bool *shrink)
{
    *shrink = (s->a[i] == 0 && gradient > s->high) || (s->a[i] == s->cost && gradient < s->low);
    if (s->a[i] == 0) return fmin(gradient, 0.0);
    return s->a[i] == s->cost ? fmax(gradient, 0.0) : gradient;
}

/* Returns the spread of the projected gradients. */
static double sweep(descent *s)
{
    double highest = -INFINITY, lowest = INFINITY;
    plx__shuffle(&s->rng, s->order, s->active);
    for (plx_index at = 0; at < s->active; at++) {
        plx_index i = s->order[at];
        bool shrink = false;
        double gradient = s->y[i] * (row_dot(s, i) + s->b) - 1.0, pg = projected(s, i, gradient, &shrink);
        if (shrink) {
            s->order[at--] = s->order[--s->active];
            s->order[s->active] = i;
            continue;
        }
        highest = fmax(highest, pg);
        lowest = fmin(lowest, pg);
        if (pg == 0 || !(s->curvature[i] > 0)) continue;
        double next = fmin(fmax(s->a[i] - gradient / s->curvature[i], 0.0), s->cost);
        move(s, i, s->y[i] * (next - s->a[i]));
        s->a[i] = next;
    }
    s->high = highest > 0 ? highest : INFINITY;
    s->low = lowest < 0 ? lowest : -INFINITY;
    s->sweeps++;
    return s->active ? fmax(0.0, highest - lowest) : 0.0;
}

static void wake_all(descent *s)
{
    s->active = s->l;
    s->high = INFINITY;
    s->low = -INFINITY;
}

/* Sweeps until the spread over all samples is at most eps. */
static plx_status descend(descent *s, double eps)
{
    wake_all(s);
    while (s->sweeps < s->most && !plx__out_of_time(s->ctx)) {
        double spread = sweep(s);
        PLX_TRY(plx__report(s->ctx, "sweeps", s->sweeps, s->most, spread));
        if (spread > eps) continue;
        if (s->active == s->l) break;
        wake_all(s);
    }
    return PLX_OK;
}

/* ---- proximal steps for the offset ---- */

/* w and e = y - X w afresh from a, while b goes on by rho sum a y, which is the proximal step; returns that sum. */
static double refresh(descent *s)
{
    double balance = 0;
    memset(s->w, 0, (size_t)s->d * sizeof *s->w);
    for (plx_index i = 0; i < s->l; i++) {
        if (s->a[i] > 0) move(s, i, s->y[i] * s->a[i]);
        balance += s->y[i] * s->a[i];
    }
    for (plx_index i = 0; i < s->l; i++) s->e[i] = s->y[i] - row_dot(s, i);
    return balance;
}

static plx_status open_descent(descent *s)
{
    plx__arena *scratch = plx__scratch(s->ctx);
    double mean = 0;
    PLX_TRY(plx__arena_f64(&s->w, scratch, s->d, 1));
    PLX_TRY(plx__arena_f64(&s->e, scratch, s->l, 1));
    PLX_TRY(plx__arena_f64(&s->curvature, scratch, s->l, 1));
    PLX_TRY(plx__arena_i64(&s->order, scratch, s->l));
    PLX_TRY(plx__points_norms_sq(s->ctx, s->x, s->curvature));
    for (plx_index i = 0; i < s->l; i++) {
        mean += s->curvature[i] / (double)s->l;
        s->order[i] = i;
        s->a[i] = 0;
    }
    if (s->rho > 0) s->rho = mean > 0 ? mean : 1.0;
    for (plx_index i = 0; i < s->l; i++) s->curvature[i] += s->rho;
    s->rng = plx__rng_start(0, PLX__STREAM('d', 'c', 'd', 's', 0));
    return PLX_OK;
}

plx_status plx__svm_linear(plx_context *ctx, plx__points x, const double *y, const plx__svm_options *options, double *a,
                           plx__svm_result *result)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    descent s = {.ctx = ctx, .x = x, .y = y, .l = plx__points_rows(x), .d = plx__points_cols(x), .cost = options->cost};
    double tol = options->tol > 0 ? options->tol : 1e-8, eps = 0.1;
    s.rho = options->bias ? 1.0 : 0.0;
    s.most = options->max_iter > 0 ? options->max_iter : MOST_SWEEPS;
    s.a = a;
    *result = (plx__svm_result){0};
    PLX_TRY(open_descent(&s));
    for (;;) {
        PLX_TRY(descend(&s, eps));
        double balance = refresh(&s);
        plx__svm_values(result, y, a, s.e, s.l, options);
        result->converged = result->violation <= tol && fabs(s.rho * balance) <= tol;
        bool more = plx__svm_tighten(result, options, &tol);
        if (result->converged || s.sweeps >= s.most || !more || plx__out_of_time(ctx)) break;
        eps = fmax(0.1 * tol, fmin(0.3 * eps, 0.1 * fabs(s.rho * balance)));
    }
    result->iterations = s.sweeps;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
