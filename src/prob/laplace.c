#include "prob/laplace.h"

#include <math.h>

#include "core/parallel.h"
#include "linalg/factor.h"

enum { MAX_NEWTON = 100, MAX_HALVINGS = 30 };

/* ---- the logistic function ---- */

static double sigmoid(double z)
{
    if (z >= 0) return 1.0 / (1.0 + exp(-z));
    double e = exp(z);
    return e / (1.0 + e);
}

static double log_sigmoid(double z) { return z >= 0 ? -log1p(exp(-z)) : z - log1p(exp(z)); }

/* ---- the mode ---- */

typedef struct newton {
    plx__laplace *at;
    plx_cmat k;
    const double *y;
    const char *what;
    const plx_index *samples;
    double *a, *next_a, *next_f, *b, *product; /* f = K a throughout */
    double psi;
} newton;

static double psi_of(const newton *s, const double *a, const double *f)
{
    double likelihood = 0;
    for (plx_index i = 0; i < s->at->n; i++) likelihood += log_sigmoid(s->y[i] * f[i]);
    return likelihood - 0.5 * plx__dot(a, f, s->at->n);
}

static void derivatives(newton *s)
{
    plx__laplace *at = s->at;
    for (plx_index i = 0; i < at->n; i++) {
        double up = sigmoid(at->mode[i]), down = sigmoid(-at->mode[i]);
        at->weight[i] = up * down;
        at->root[i] = sqrt(at->weight[i]);
        at->slope[i] = s->y[i] > 0 ? down : -up;
        at->turn[i] = down - up;
    }
}

typedef struct product_job {
    plx_mat out;
    plx_cmat k;
    const double *root;
} product_job;

static plx_status product_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const product_job *job = arg;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++) {
        const double *k = job->k.data + i * job->k.ld;
        double *b = job->out.data + i * job->out.ld, root = job->root[i];
        for (plx_index j = 0; j < job->out.cols; j++) b[j] = root * k[j] * job->root[j];
        b[i] += 1.0;
    }
    return PLX_OK;
}

/* L of B = I + W^1/2 K W^1/2 at the present mode. */
static plx_status factorise(newton *s, plx_context *ctx)
{
    plx__laplace *at = s->at;
    product_job job = {at->factor, s->k, at->root};
    double jitter = 0;
    derivatives(s);
    PLX_TRY(plx__parallel_for(ctx, at->n, plx__max(1, 16384 / plx__max(1, at->n)), product_rows, &job));
    PLX_TRY(plx__cholesky_jitter(ctx, at->factor, &jitter, s->what, s->samples, NULL));
    at->jitter = fmax(at->jitter, jitter);
    return PLX_OK;
}

/* a' = b - W^1/2 B^-1 W^1/2 K b with b = W f + g, and f' = K a'. */
static plx_status newton_target(newton *s, plx_context *ctx)
{
    plx__laplace *at = s->at;
    for (plx_index i = 0; i < at->n; i++) s->b[i] = at->weight[i] * at->mode[i] + at->slope[i];
    PLX_TRY(plx__gemv(ctx, 1.0, s->k, PLX__N, s->b, 0.0, s->product));
    for (plx_index i = 0; i < at->n; i++) s->product[i] *= at->root[i];
    PLX_TRY(plx__chol_solve_vec(ctx, plx__cmat(at->factor), s->product));
    for (plx_index i = 0; i < at->n; i++) s->next_a[i] = s->b[i] - at->root[i] * s->product[i];
    return plx__gemv(ctx, 1.0, s->k, PLX__N, s->next_a, 0.0, s->next_f);
}

/* Halve the step while psi falls; f stays K a because both are halved. Returns psi there. */
static double shorten(newton *s)
{
    double psi = psi_of(s, s->next_a, s->next_f), lowest = s->psi - 1e-14 * (1.0 + fabs(s->psi));
    for (int t = 0; t < MAX_HALVINGS && !(psi >= lowest); t++) {
        for (plx_index i = 0; i < s->at->n; i++) {
            s->next_a[i] = s->a[i] + 0.5 * (s->next_a[i] - s->a[i]);
            s->next_f[i] = s->at->mode[i] + 0.5 * (s->next_f[i] - s->at->mode[i]);
        }
        psi = psi_of(s, s->next_a, s->next_f);
    }
    return psi;
}

static void accept(newton *s)
{
    for (plx_index i = 0; i < s->at->n; i++) {
        s->a[i] = s->next_a[i];
        s->at->mode[i] = s->next_f[i];
    }
}

static plx_status find_mode(newton *s, plx_context *ctx)
{
    plx__laplace *at = s->at;
    s->psi = psi_of(s, s->a, at->mode);
    while (at->iterations < MAX_NEWTON && !at->converged) {
        PLX_TRY(factorise(s, ctx));
        PLX_TRY(newton_target(s, ctx));
        double psi = shorten(s);
        if (!isfinite(psi))
            PLX_FAIL(ctx, PLX_E_NUMERIC,
                     "%s is too large for the Laplace approximation; scale the view or lower the amplitude", s->what);
        at->converged = fabs(psi - s->psi) <= 1e-12 * (1.0 + fabs(s->psi));
        s->psi = psi;
        accept(s);
        at->iterations++;
    }
    return factorise(s, ctx);
}

plx_status plx__laplace_fit(plx__laplace *out, plx__arena *arena, plx_context *ctx, plx_cmat k, const double *y,
                            const char *what, const plx_index *samples)
{
    newton s = {.at = out, .k = k, .y = y, .what = what, .samples = samples};
    double **kept[] = {&out->mode, &out->slope, &out->weight, &out->root, &out->turn};
    double **work[] = {&s.a, &s.next_a, &s.next_f, &s.b, &s.product};
    *out = (plx__laplace){.n = k.rows};
    for (size_t v = 0; v < sizeof kept / sizeof *kept; v++) PLX_TRY(plx__arena_f64(kept[v], arena, k.rows, 1));
    PLX_TRY(plx__arena_mat(&out->factor, arena, k.rows, k.rows));
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    for (size_t v = 0; v < sizeof work / sizeof *work; v++)
        PLX_TRY(plx__arena_f64(work[v], plx__scratch(ctx), k.rows, 1));
    PLX_TRY(find_mode(&s, ctx));
    out->evidence = s.psi - 0.5 * plx__chol_logdet(plx__cmat(out->factor));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- the gradient ---- */

typedef struct gradient_job {
    plx_mat m;
    plx_cmat inverse; /* B^-1 */
    const double *root, *slope, *side;
} gradient_job;

static plx_status gradient_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const gradient_job *job = arg;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++) {
        const double *b = job->inverse.data + i * job->inverse.ld;
        double *m = job->m.data + i * job->m.ld, root = job->root[i], slope = job->slope[i], side = job->side[i];
        for (plx_index j = 0; j < job->m.cols; j++)
            m[j] += 0.5 * (side * job->slope[j] + slope * job->side[j] - root * b[j] * job->root[j]);
    }
    return PLX_OK;
}

/* M = (g g' - R)/2 + sym[(I - R K) s2 g'] with R = W^1/2 B^-1 W^1/2. The posterior variance in s2 is
 * (1 - B^-1_ii) / W_ii, so that W cancels: s2 = -(1 - B^-1_ii)(1 - 2 pi)/2. */
plx_status plx__laplace_gradient(plx_context *ctx, const plx__laplace *at, plx_cmat k, plx_mat m)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index n = at->n;
    plx_mat inverse;
    double *s2 = NULL, *side = NULL, *product = NULL;
    PLX_TRY(plx__arena_mat(&inverse, plx__scratch(ctx), n, n));
    PLX_TRY(plx__arena_f64(&s2, plx__scratch(ctx), n, 1));
    PLX_TRY(plx__arena_f64(&side, plx__scratch(ctx), n, 1));
    PLX_TRY(plx__arena_f64(&product, plx__scratch(ctx), n, 1));
    PLX_TRY(plx__chol_inverse(ctx, inverse, plx__cmat(at->factor)));
    for (plx_index i = 0; i < n; i++) s2[i] = -0.5 * (1.0 - inverse.data[i * inverse.ld + i]) * at->turn[i];
    PLX_TRY(plx__gemv(ctx, 1.0, k, PLX__N, s2, 0.0, product));
    for (plx_index i = 0; i < n; i++) product[i] *= at->root[i];
    PLX_TRY(plx__gemv(ctx, 1.0, plx__cmat(inverse), PLX__N, product, 0.0, side));
    for (plx_index i = 0; i < n; i++) side[i] = 0.5 * at->slope[i] + s2[i] - at->root[i] * side[i];
    gradient_job job = {m, plx__cmat(inverse), at->root, at->slope, side};
    PLX_TRY(plx__parallel_for(ctx, n, plx__max(1, 16384 / plx__max(1, n)), gradient_rows, &job));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- probabilities ---- */

/* Trapezoid rule in u = (t - mean)/sd on [-12, 12]: 801 points up to sd = 20, more in proportion above. */
static double integrated(double mean, double sd)
{
    double intervals = 800.0 * fmin(fmax(1.0, ceil(sd / 20.0)), 1e5), step = 24.0 / intervals, sum = 0;
    for (double i = 0; i <= intervals; i++) {
        double u = -12.0 + i * step;
        sum += exp(-0.5 * u * u) * sigmoid(mean + sd * u);
    }
    return sum * step / sqrt(2.0 * acos(-1.0));
}

double plx__averaged_probability(plx__averaging how, double mean, double variance)
{
    variance = fmax(variance, 0.0);
    if (how == PLX__AVERAGE_MAP) return sigmoid(mean);
    if (how == PLX__AVERAGE_EXACT && variance > 0) return integrated(mean, sqrt(variance));
    return sigmoid(mean / sqrt(1.0 + acos(-1.0) * variance / 8.0));
}
