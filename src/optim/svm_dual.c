/*
 * Sequential minimal optimisation with second-order choice of the working set (Fan, Chen and Lin 2005), in the variables
 * u_i = y_i a_i. Moving u_i by t changes f by t K_i, so e = y - f is all the state there is, and the KKT conditions are
 * max{e_i : u_i may grow} <= b <= min{e_i : u_i may shrink} (b = 0 without bias, where single variables move).
 *
 * Small steps converge slowly once the right samples are free. So whenever the set of free samples has settled, one step
 * solves the linear system of those samples exactly and goes as far towards its solution as the box allows: that is how
 * a violation of 1e-8 is reached on ill-conditioned matrices too.
 */
#include "optim/svm_dual.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "linalg/factor.h"

enum { MOST_FREE = 1000 }; /* samples of an exact step: memory and cubic time */

typedef struct smo {
    plx_context *ctx;
    plx_cmat k;
    const double *y, *outside;
    double cost;
    bool bias;
    plx_index l;
    double *a, *e, *best;            /* best: a of the smallest violation so far */
    plx_index *free_set, *last_free; /* of the exact step: now, and when last looked at */
    plx_index n_free, n_last;
} smo;

typedef struct extremes { /* of e over the samples whose u may grow (up) or shrink (low) */
    double up, low;
    plx_index at_up, at_low; /* -1: there is none */
} extremes;

static bool may_grow(const smo *s, plx_index i) { return s->y[i] > 0 ? s->a[i] < s->cost : s->a[i] > 0; }
static bool may_shrink(const smo *s, plx_index i) { return s->y[i] > 0 ? s->a[i] > 0 : s->a[i] < s->cost; }

static extremes find_extremes(const smo *s)
{
    extremes x = {-INFINITY, INFINITY, -1, -1};
    for (plx_index i = 0; i < s->l; i++) {
        if (s->e[i] > x.up && may_grow(s, i)) x.up = s->e[i], x.at_up = i;
        if (s->e[i] < x.low && may_shrink(s, i)) x.low = s->e[i], x.at_low = i;
    }
    return x;
}

static double violation_of(const smo *s, extremes x)
{
    if (!s->bias) return fmax(0.0, fmax(x.at_up >= 0 ? x.up : 0.0, x.at_low >= 0 ? -x.low : 0.0));
    return x.at_up < 0 || x.at_low < 0 ? 0.0 : fmax(0.0, x.up - x.low);
}

static double entry(const smo *s, plx_index i, plx_index j) { return s->k.data[i * s->k.ld + j]; }

/* How far u_i may move in the direction of `sign`. */
static double room(const smo *s, plx_index i, double sign) { return sign * s->y[i] > 0 ? s->cost - s->a[i] : s->a[i]; }

/* u_i += t, with |t| = room landing on the bound exactly. */
static void move(smo *s, plx_index i, double t)
{
    double way = room(s, i, t);
    if (fabs(t) >= way) s->a[i] = s->y[i] * t > 0 ? s->cost : 0.0;
    else s->a[i] += s->y[i] * t;
}

/* ---- steps of one or two variables ---- */

static void step_pair(smo *s, extremes x)
{
    plx_index i = x.at_up, best = -1;
    const double *row = s->k.data + i * s->k.ld;
    double gain = 0, curvature = 1;
    for (plx_index j = 0; j < s->l; j++) {
        double drop = x.up - s->e[j];
        if (!(drop > 0) || !may_shrink(s, j)) continue;
        double q = fmax(row[i] + entry(s, j, j) - 2 * row[j], 1e-12);
        if (drop * drop > gain * q) gain = drop * drop / q, curvature = q, best = j;
    }
    if (best < 0) best = x.at_low;
    double t = fmin((x.up - s->e[best]) / curvature, fmin(room(s, i, 1), room(s, best, -1)));
    const double *other = s->k.data + best * s->k.ld;
    move(s, i, t);
    move(s, best, -t);
    for (plx_index j = 0; j < s->l; j++) s->e[j] -= t * (row[j] - other[j]);
}

static void step_single(smo *s)
{
    double gain = 0, move_by = 0;
    plx_index best = -1;
    for (plx_index i = 0; i < s->l; i++) {
        double e = s->e[i], q = fmax(entry(s, i, i), 1e-12);
        if (!(e > 0 ? may_grow(s, i) : may_shrink(s, i))) continue;
        double t = fmin(fabs(e) / q, room(s, i, e)), won = t * (fabs(e) - 0.5 * q * t);
        if (won > gain) gain = won, move_by = copysign(t, e), best = i;
    }
    if (best < 0) return;
    const double *row = s->k.data + best * s->k.ld;
    move(s, best, move_by);
    plx__axpy(s->e, -move_by, row, s->l);
}

/* ---- the exact step on the free samples ---- */

static bool is_free(const smo *s, plx_index i) { return s->a[i] > 0 && s->a[i] < s->cost; }

/* Collects the free samples; n_free = 0 when there are too many. True when they are what they were at the last look. */
static bool free_settled(smo *s)
{
    plx_index count = 0;
    for (plx_index i = 0; i < s->l; i++) {
        if (!is_free(s, i)) continue;
        if (count < MOST_FREE) s->free_set[count] = i;
        count++;
    }
    s->n_free = count <= MOST_FREE ? count : 0;
    size_t bytes = (size_t)s->n_free * sizeof *s->free_set;
    bool same = s->n_free == s->n_last && memcmp(s->free_set, s->last_free, bytes) == 0;
    memcpy(s->last_free, s->free_set, bytes);
    s->n_last = s->n_free;
    return same;
}

/* d with K_FF d + beta 1 = e_F and 1'd = 0 (beta = 0 without bias), column 0 of `solved`; false when K_FF is singular. */
static plx_status free_direction(bool *ok, smo *s, plx_mat solved)
{
    plx_index m = s->n_free;
    plx_mat kff;
    double ones = 0, sum = 0;
    PLX_TRY(plx__arena_mat(&kff, plx__scratch(s->ctx), m, m));
    for (plx_index p = 0; p < m; p++) {
        for (plx_index q = 0; q < m; q++) kff.data[p * m + q] = entry(s, s->free_set[p], s->free_set[q]);
        solved.data[p * 2] = s->e[s->free_set[p]];
        solved.data[p * 2 + 1] = 1.0;
    }
    plx__mat_add_diag(kff, 1e-13 * plx__mat_trace(plx__cmat(kff)) / (double)m);
    plx_status st = plx__cholesky(s->ctx, kff, NULL);
    *ok = st == PLX_OK;
    if (st != PLX_OK) return st == PLX_E_NUMERIC ? PLX_OK : st;
    PLX_TRY(plx__chol_solve(s->ctx, plx__cmat(kff), solved));
    if (!s->bias) return PLX_OK;
    for (plx_index p = 0; p < m; p++) sum += solved.data[p * 2], ones += solved.data[p * 2 + 1];
    *ok = ones > 0;
    for (plx_index p = 0; p < m && *ok; p++) solved.data[p * 2] -= sum / ones * solved.data[p * 2 + 1];
    return PLX_OK;
}

/* The share of the direction that stays in the box and does not pass the minimum along it. */
static double step_length(const smo *s, plx_cmat d, const double *change)
{
    double slope = 0, curvature = 0, t = 1;
    for (plx_index p = 0; p < s->n_free; p++) {
        slope += d.data[p * 2] * s->e[s->free_set[p]];
        curvature += d.data[p * 2] * change[s->free_set[p]];
    }
    if (!(slope > 0)) return 0;
    if (curvature > 0) t = fmin(t, slope / curvature);
    for (plx_index p = 0; p < s->n_free; p++) {
        double way = d.data[p * 2];
        if (way != 0) t = fmin(t, room(s, s->free_set[p], way) / fabs(way));
    }
    return t;
}

/* *share tells how much of the way was gone: less than 1 when a sample came to a bound. */
static plx_status step_free(smo *s, double *share)
{
    plx__mark mark = plx__arena_mark(plx__scratch(s->ctx));
    plx_mat d;
    double *change = NULL;
    bool ok = false;
    *share = 0;
    if (!s->n_free) return PLX_OK;
    PLX_TRY(plx__arena_mat(&d, plx__scratch(s->ctx), s->n_free, 2));
    PLX_TRY(plx__arena_f64(&change, plx__scratch(s->ctx), s->l, 1));
    PLX_TRY(free_direction(&ok, s, d));
    if (ok) {
        for (plx_index p = 0; p < s->n_free; p++)
            plx__axpy(change, d.data[p * 2], s->k.data + s->free_set[p] * s->k.ld, s->l);
        double t = step_length(s, plx__cmat(d), change);
        for (plx_index p = 0; p < s->n_free && t > 0; p++) move(s, s->free_set[p], t * d.data[p * 2]);
        plx__axpy(s->e, -t, change, s->l);
        *share = t;
    }
    plx__arena_rewind(plx__scratch(s->ctx), mark);
    return PLX_OK;
}

/* ---- accounts ---- */

/* e = y - K u afresh: updates gather rounding. */
static void refresh(smo *s)
{
    for (plx_index i = 0; i < s->l; i++) s->e[i] = s->y[i] - (s->outside ? s->outside[i] : 0.0);
    for (plx_index i = 0; i < s->l; i++)
        if (s->a[i] > 0) plx__axpy(s->e, -s->y[i] * s->a[i], s->k.data + i * s->k.ld, s->l);
}

/* What rounding may leave in e: the smallest violation worth asking for. */
static double rounding(const smo *s)
{
    double diagonal = 0, mass = 0;
    for (plx_index i = 0; i < s->l; i++) {
        diagonal = fmax(diagonal, fabs(entry(s, i, i)));
        mass += s->a[i];
    }
    return 16 * DBL_EPSILON * fmax(1.0, diagonal * mass);
}

static double bias_of(const smo *s)
{
    double sum = 0;
    plx_index count = 0;
    if (!s->bias) return 0;
    for (plx_index i = 0; i < s->l; i++)
        if (is_free(s, i)) sum += s->e[i], count++;
    if (count) return sum / (double)count;
    extremes x = find_extremes(s);
    return 0.5 * (x.up + x.low);
}

static void fill_result(const smo *s, plx__svm_result *r)
{
    double mass = 0, norm = 0, loss = 0;
    r->bias = bias_of(s);
    for (plx_index i = 0; i < s->l; i++) {
        mass += s->a[i];
        norm += s->y[i] * s->a[i] * (s->y[i] - s->e[i]);
        loss += fmax(0.0, s->y[i] * (s->e[i] - r->bias));
    }
    r->dual = mass - 0.5 * norm;
    r->primal = 0.5 * norm + s->cost * loss;
    r->violation = violation_of(s, find_extremes(s));
}

/* Steps until the violation is at most tol or the limit is reached. */
static plx_status iterate(smo *s, double tol, plx_index limit, plx_index *done)
{
    plx_index period = s->l + 100, looks = 0;
    double share = 0;
    for (; *done < limit; ++*done) {
        extremes x = find_extremes(s);
        if (violation_of(s, x) <= tol) return PLX_OK;
        if (s->bias) step_pair(s, x);
        else step_single(s);
        if ((*done + 1) % period) continue;
        PLX_TRY(plx__poll(s->ctx));
        if (plx__out_of_time(s->ctx)) return PLX_OK;
        bool settled = free_settled(s);
        if (settled || ++looks % 10 == 0) PLX_TRY(step_free(s, &share));
    }
    return PLX_OK;
}

/* Keeps a better state, goes back to the best one otherwise; true when it was better. */
static bool keep_better(smo *s, double *least)
{
    refresh(s);
    double left = violation_of(s, find_extremes(s));
    bool better = left < *least;
    memcpy(better ? s->best : s->a, better ? s->a : s->best, (size_t)s->l * sizeof *s->a);
    if (better) *least = left;
    else refresh(s);
    return better;
}

/* Brings the violation far below tol where it can, so that results do not depend on the order of the samples: exact
 * steps, sample after sample coming to its bound, until one goes all the way; small steps for whoever is left. */
static plx_status refine(smo *s, plx_index limit, plx_index *done)
{
    enum { ROUNDS = 8, STEPS = 64 };
    double least = INFINITY, floor = rounding(s);
    (void)keep_better(s, &least);
    for (int round = 0; round < ROUNDS && least > floor; round++) {
        double share = 0.5;
        for (int step = 0; step < STEPS && share > 0 && share < 1; step++) {
            (void)free_settled(s);
            PLX_TRY(step_free(s, &share));
        }
        bool exact = keep_better(s, &least);
        if (least <= floor || *done >= limit) break;
        PLX_TRY(iterate(s, fmax(0.01 * least, floor), plx__min(limit, *done + 100 * s->l + 1000), done));
        if (!keep_better(s, &least) && !exact) break;
    }
    return PLX_OK;
}

/* Again with a smaller tolerance while rounding of e or the duality gap asks for it. */
static plx_status solve(smo *s, const plx__svm_options *o, plx__svm_result *r)
{
    enum { ATTEMPTS = 12 };
    double asked = o->tol > 0 ? o->tol : 1e-8, tol = asked;
    plx_index limit = o->max_iter > 0 ? o->max_iter : plx__max(10000000, 1000 * s->l);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        PLX_TRY(iterate(s, tol, limit, &r->iterations));
        PLX_TRY(refine(s, limit, &r->iterations));
        fill_result(s, r);
        double floor = rounding(s);
        r->converged = r->violation <= fmax(asked, floor) && plx__svm_closed(r, o);
        if (r->converged || r->iterations >= limit || plx__out_of_time(s->ctx)) break;
        if (r->violation <= tol) tol = fmax(0.1 * tol, floor);
    }
    return PLX_OK;
}

void plx__svm_values(plx__svm_result *result, const double *y, double *a, double *e, plx_index l,
                     const plx__svm_options *options)
{
    smo s = {.y = y, .cost = options->cost, .bias = options->bias, .l = l, .a = a, .e = e};
    fill_result(&s, result);
}

bool plx__svm_closed(const plx__svm_result *result, const plx__svm_options *options)
{
    return options->gap <= 0 || result->primal - result->dual <= options->gap * fabs(result->primal);
}

bool plx__svm_tighten(plx__svm_result *result, const plx__svm_options *options, double *tol)
{
    const double smallest = 1e-15; /* rounding of y f(x) */
    if (!result->converged || plx__svm_closed(result, options)) return true;
    result->converged = false;
    *tol *= 0.1;
    return *tol >= smallest;
}

plx_status plx__svm_dual(plx_context *ctx, plx_cmat k, const double *y, const plx__svm_options *options, double *a,
                         plx__svm_result *result)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    smo s = {.ctx = ctx,
             .k = k,
             .y = y,
             .outside = options->outside,
             .cost = options->cost,
             .bias = options->bias,
             .l = k.rows,
             .a = a};
    plx_index positive = 0;
    *result = (plx__svm_result){0};
    for (plx_index i = 0; i < s.l; i++) positive += y[i] > 0;
    if (s.bias && !s.outside && (positive == 0 || positive == s.l))
        PLX_FAIL(ctx, PLX_E_DATA, "%s: labelled samples are all of one class; label samples of another class too",
                 options->what);
    if (!s.outside) memset(a, 0, (size_t)s.l * sizeof *a);
    PLX_TRY(plx__arena_f64(&s.e, plx__scratch(ctx), s.l, 1));
    PLX_TRY(plx__arena_f64(&s.best, plx__scratch(ctx), s.l, 1));
    PLX_TRY(plx__arena_i64(&s.free_set, plx__scratch(ctx), MOST_FREE));
    PLX_TRY(plx__arena_i64(&s.last_free, plx__scratch(ctx), MOST_FREE));
    refresh(&s);
    PLX_TRY(solve(&s, options, result));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
