/*
 * Sweeps over the active samples in random order; a sample held by its bound by a margin rests until the
 * active ones have converged, then all are checked again. Sweeps are quick to find which samples are free (0 < a_i < C)
 * and slow to finish, so that conjugate gradients solve for the free ones as soon as sweeps have come near.
 */
#include "optim/svm_linear.h"

#include <math.h>
#include <string.h>

#include "core/rng.h"

enum { MOST_SWEEPS = 20000, MOST_STEPS = 60, FEW_SWEEPS = 3 };

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
    plx_index *face, free;        /* the free samples */
    double *step, *rest, *p, *qp; /* of them: change of a, residual, direction, its product */
    double *u;                    /* d: direction in the space of w */
} descent;

/* Four sums at a time: a single one would wait for every addition. */
static double row_dot(const descent *s, plx_index i, const double *w)
{
    if (!plx__points_sparse(s->x)) return plx__dot(s->x.dense.data + i * s->x.dense.ld, w, s->d);
    plx_index count = s->x.csr.ptr[i + 1] - s->x.csr.ptr[i], p = 0;
    const double *val = s->x.csr.val + s->x.csr.ptr[i];
    const int32_t *col = s->x.csr.col + s->x.csr.ptr[i];
    double sum[4] = {0};
    for (; p + 4 <= count; p += 4)
        for (int t = 0; t < 4; t++) sum[t] += val[p + t] * w[col[p + t]];
    for (; p < count; p++) sum[0] += val[p] * w[col[p]];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Rows are met in random order; memory is told of one some rows ahead. */
static void expect(const descent *s, plx_index at)
{
    if (at >= s->active || !plx__points_sparse(s->x)) return;
    plx_index i = s->order[at], end = s->x.csr.ptr[i + 1];
    for (plx_index p = s->x.csr.ptr[i]; p < end; p += 16) __builtin_prefetch(s->x.csr.col + p);
    for (plx_index p = s->x.csr.ptr[i]; p < end; p += 8) __builtin_prefetch(s->x.csr.val + p);
}

/* w += t x_i. */
static void add_row(const descent *s, plx_index i, double t, double *w)
{
    if (!plx__points_sparse(s->x)) {
        plx__axpy(w, t, s->x.dense.data + i * s->x.dense.ld, s->d);
        return;
    }
    for (plx_index p = s->x.csr.ptr[i]; p < s->x.csr.ptr[i + 1]; p++) w[s->x.csr.col[p]] += t * s->x.csr.val[p];
}

/* a_i y_i += t. */
static void move(descent *s, plx_index i, double t)
{
    s->b += s->rho * t;
    add_row(s, i, t, s->w);
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
        expect(s, at + 3);
        double gradient = s->y[i] * (row_dot(s, i, s->w) + s->b) - 1.0, pg = projected(s, i, gradient, &shrink);
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

/* Sweeps until the spread over all samples is at most eps, at most `few` of them. */
static plx_status descend(descent *s, double eps, plx_index few)
{
    plx_index last = few < s->most - s->sweeps ? s->sweeps + few : s->most;
    wake_all(s);
    while (s->sweeps < last && !plx__out_of_time(s->ctx)) {
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
    for (plx_index i = 0; i < s->l; i++) s->e[i] = s->y[i] - row_dot(s, i, s->w);
    return balance;
}

/* ---- conjugate gradients on the free samples ----
 *
 * With the others held, the dual is a quadratic function of the free a with the matrix Q_ij = y_i y_j x_i'x_j; with a bias
 * their changes must bring sum a y to 0, which the first step does, and keep it there: residuals are projected along y. */

static void project(const descent *s, double *r)
{
    double sum = 0;
    if (!(s->rho > 0)) return;
    for (plx_index t = 0; t < s->free; t++) sum += s->y[s->face[t]] * r[t];
    for (plx_index t = 0; t < s->free; t++) r[t] -= s->y[s->face[t]] * sum / (double)s->free;
}

/* out = Q v. */
static void face_product(const descent *s, const double *v, double *out)
{
    memset(s->u, 0, (size_t)s->d * sizeof *s->u);
    for (plx_index t = 0; t < s->free; t++) add_row(s, s->face[t], s->y[s->face[t]] * v[t], s->u);
    for (plx_index t = 0; t < s->free; t++) out[t] = s->y[s->face[t]] * row_dot(s, s->face[t], s->u);
}

/* False when a face of this kind would cost more than it brings: products touch all of w. */
static bool find_face(descent *s)
{
    plx_index entries = 0;
    s->free = 0;
    for (plx_index i = 0; i < s->l; i++) {
        if (!(s->a[i] > 0 && s->a[i] < s->cost)) continue;
        s->face[s->free++] = i;
        entries += plx__points_sparse(s->x) ? s->x.csr.ptr[i + 1] - s->x.csr.ptr[i] : s->d;
    }
    return s->free > 1 && s->d <= 4 * entries;
}

/* Minimises over the face, to residuals of at most `part` of the first ones; e is up to date. */
static plx_status solve_face(descent *s, double balance, double part)
{
    double first = 0, now = 0;
    for (plx_index t = 0; t < s->free; t++)
        s->step[t] = s->rho > 0 ? -s->y[s->face[t]] * balance / (double)s->free : 0.0;
    face_product(s, s->step, s->rest);
    for (plx_index t = 0; t < s->free; t++) s->rest[t] = s->y[s->face[t]] * s->e[s->face[t]] - s->rest[t];
    project(s, s->rest);
    memcpy(s->p, s->rest, (size_t)s->free * sizeof *s->p);
    first = now = plx__norm_sq(s->rest, s->free);
    for (int step = 0; step < MOST_STEPS && now > part * part * first; step++) {
        PLX_TRY(plx__poll(s->ctx));
        face_product(s, s->p, s->qp);
        double curvature = plx__dot(s->p, s->qp, s->free), last = now;
        if (!(curvature > 0)) break;
        plx__axpy(s->step, now / curvature, s->p, s->free);
        project(s, s->qp);
        plx__axpy(s->rest, -last / curvature, s->qp, s->free);
        now = plx__norm_sq(s->rest, s->free);
        for (plx_index t = 0; t < s->free; t++) s->p[t] = s->rest[t] + now / last * s->p[t];
    }
    return PLX_OK;
}

/* Takes the step as far as the bounds allow, and the offset that suits what is still free. */
static void leave_face(descent *s)
{
    double sum = 0, count = 0;
    for (plx_index t = 0; t < s->free; t++) {
        plx_index i = s->face[t];
        double next = fmin(fmax(s->a[i] + s->step[t], 0.0), s->cost);
        move(s, i, s->y[i] * (next - s->a[i]));
        s->a[i] = next;
    }
    for (plx_index t = 0; t < s->free && s->rho > 0; t++) {
        plx_index i = s->face[t];
        if (!(s->a[i] > 0 && s->a[i] < s->cost)) continue;
        sum += s->y[i] - row_dot(s, i, s->w);
        count++;
    }
    if (count > 0) s->b = sum / count;
}

static plx_status open_descent(descent *s)
{
    plx__arena *scratch = plx__scratch(s->ctx);
    double mean = 0;
    PLX_TRY(plx__arena_f64(&s->w, scratch, s->d, 1));
    PLX_TRY(plx__arena_f64(&s->e, scratch, s->l, 1));
    PLX_TRY(plx__arena_f64(&s->curvature, scratch, s->l, 1));
    PLX_TRY(plx__arena_i64(&s->order, scratch, s->l));
    PLX_TRY(plx__arena_i64(&s->face, scratch, s->l));
    PLX_TRY(plx__arena_f64(&s->step, scratch, s->l, 1));
    PLX_TRY(plx__arena_f64(&s->rest, scratch, s->l, 1));
    PLX_TRY(plx__arena_f64(&s->p, scratch, s->l, 1));
    PLX_TRY(plx__arena_f64(&s->qp, scratch, s->l, 1));
    PLX_TRY(plx__arena_f64(&s->u, scratch, s->d, 1));
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
    double tol = options->tol > 0 ? options->tol : 1e-8, eps = 0.3;
    s.rho = options->bias ? 1.0 : 0.0;
    s.most = options->max_iter > 0 ? options->max_iter : MOST_SWEEPS;
    plx_index few = s.most;
    s.a = a;
    *result = (plx__svm_result){0};
    PLX_TRY(open_descent(&s));
    for (;;) {
        PLX_TRY(descend(&s, eps, few));
        double balance = refresh(&s), before = result->violation;
        plx__svm_values(result, y, a, s.e, s.l, options);
        result->converged = result->violation <= tol && fabs(s.rho * balance) <= tol;
        bool more = plx__svm_tighten(result, options, &tol);
        if (result->converged || s.sweeps >= s.most || !more || plx__out_of_time(ctx)) break;
        eps = fmax(0.1 * tol, fmin(0.3 * eps, 0.1 * fabs(s.rho * balance)));
        bool slow = few < s.most && result->violation > 0.5 * before; /* the face keeps changing: sweep longer */
        if (!find_face(&s)) few = s.most;
        else {
            few = few == s.most ? FEW_SWEEPS : slow ? 2 * few : few;
            PLX_TRY(solve_face(&s, balance, fmin(0.1, fmax(result->violation, 0.1 * tol / result->violation))));
            leave_face(&s);
        }
    }
    result->iterations = s.sweeps;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

double plx__svm_linear_bytes(double l, double cols) { return 8.0 * (8.0 * l + 2.0 * cols); }
