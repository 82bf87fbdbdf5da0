/*
 * Newton's iteration of Rasmussen and Williams (2006), algorithm 3.1, on a with f = K a, steps halved while
 * the objective falls; the gradient is that of algorithm 5.1 written as one matrix M, so that any kernel can
 * use it.
 *
 * B changes little from step to step, so a large one is factorised at the first step and at the mode only; between them
 * the factor is the preconditioner of conjugate gradients, which are as precise as the step deserves.
 */
#include "gp/laplace.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/factor.h"
#include "optim/klr.h"

enum {
    MAX_NEWTON = 100,
    MAX_HALVINGS = 30,
    LARGE = 256,   /* order from which a factor serves several steps */
    MAX_INNER = 12 /* conjugate gradients before a new factor is cheaper */
};

/* ---- the mode ---- */

typedef struct newton {
    plx__laplace *at;
    plx_cmat k;                    /* or, data NULL: diag(c) + Z Z' */
    const plx__laplace_device *on; /* or K on a device; NULL: neither of it is there */
    plx_cmat z;
    const double *c; /* n; NULL: 0 */
    const double *y;
    const char *what;
    const plx_index *samples;
    double *a, *next_a, *next_f, *b, *product; /* f = K a throughout */
    double *direction;                         /* of conjugate gradients */
    plx_mat thin;                              /* n x p: E^1/2 Z */
    double *w;                                 /* p */
    double psi;
    plx__laplace_start start;
} newton;

static double psi_of(const newton *s, const double *a, const double *f)
{
    double likelihood = 0;
    for (plx_index i = 0; i < s->at->n; i++) likelihood += plx__log_sigmoid(s->y[i] * f[i]);
    return likelihood - 0.5 * plx__dot(a, f, s->at->n);
}

static void derivatives(newton *s)
{
    plx__laplace *at = s->at;
    for (plx_index i = 0; i < at->n; i++) {
        double up = plx__sigmoid(at->mode[i]), down = plx__sigmoid(-at->mode[i]);
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

static double spare(const newton *s, plx_index i) { return s->c ? s->c[i] : 0.0; }

static plx_status scaled_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const newton *s = arg;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++) {
        double root = s->at->root[i] / sqrt(1.0 + s->at->weight[i] * spare(s, i)), *to = s->thin.data + i * s->z.cols;
        const double *from = s->z.data + i * s->z.ld;
        for (plx_index j = 0; j < s->z.cols; j++) to[j] = root * from[j];
    }
    return PLX_OK;
}

static plx_index row_grain(plx_index cols) { return plx__max(1, 16384 / plx__max(1, cols)); }

/* B = I + W^1/2 K W^1/2, or A = I + Z'EZ. */
static plx_status system_matrix(newton *s, plx_context *ctx)
{
    plx__laplace *at = s->at;
    product_job job = {at->factor, s->k, at->root};
    if (s->k.data) return plx__parallel_for(ctx, at->n, row_grain(at->n), product_rows, &job);
    PLX_TRY(plx__parallel_for(ctx, at->n, row_grain(s->z.cols), scaled_rows, s));
    PLX_TRY(plx__syrk(ctx, 1.0, plx__cmat(s->thin), PLX__T, 0.0, at->factor));
    plx__mat_add_diag(at->factor, 1.0);
    return PLX_OK;
}

static plx_status factorise_there(newton *s, double *jitter)
{
    const plx__laplace_device *on = s->on;
    plx__device_terms b = {.alpha = 1, .a = on->k, .l = on->x, .r = on->x, .shift = 1};
    PLX_TRY(plx__device_write_vec(on->dev, on->x, s->at->root));
    PLX_TRY(plx__device_combine(on->dev, on->factor, &b));
    return plx__device_cholesky_jitter(on->dev, on->factor, on->y, jitter, s->what, s->samples, NULL);
}

/* Its factor at the present mode. */
static plx_status factorise(newton *s, plx_context *ctx)
{
    plx__laplace *at = s->at;
    double jitter = 0;
    derivatives(s);
    if (s->on) PLX_TRY(factorise_there(s, &jitter));
    else {
        PLX_TRY(system_matrix(s, ctx));
        PLX_TRY(plx__cholesky_jitter(ctx, at->factor, &jitter, s->what, s->samples, NULL));
    }
    at->jitter = fmax(at->jitter, jitter);
    return PLX_OK;
}

static plx_status times_there(const plx__laplace_device *on, plx_device_mat a, const double *x, double *y)
{
    PLX_TRY(plx__device_write_vec(on->dev, on->x, x));
    PLX_TRY(plx__device_gemm(on->dev, 1.0, a, PLX__N, on->x, PLX__N, 0.0, on->y));
    return plx__device_read_vec(on->dev, y, on->y);
}

/* y = K x of a K that is stored, wherever it is. */
static plx_status k_times(newton *s, plx_context *ctx, const double *x, double *y)
{
    if (s->on) return times_there(s->on, s->on->k, x, y);
    return plx__gemv(ctx, 1.0, s->k, PLX__N, x, 0.0, y);
}

/* The same, half of K read. */
static plx_status k_times_lower(newton *s, plx_context *ctx, const double *x, double *y)
{
    if (s->on) return times_there(s->on, s->on->k, x, y);
    return plx__symv(ctx, s->k, x, y);
}

/* x = B^-1 x by the factor at hand. */
static plx_status solve(newton *s, plx_context *ctx, double *x)
{
    if (!s->on) return plx__chol_solve_vec(ctx, plx__cmat(s->at->factor), x);
    PLX_TRY(plx__device_write_vec(s->on->dev, s->on->x, x));
    PLX_TRY(plx__device_chol_solve(s->on->dev, s->on->factor, s->on->x));
    return plx__device_read_vec(s->on->dev, x, s->on->x);
}

static bool stored(const newton *s) { return s->on || s->k.data; }

/* (I + W K) a' = b with K = diag(c) + Z Z': A w = Z'(b/(1 + W c)), a' = (b - W Z w)/(1 + W c), f' = c a' + Z w. */
static plx_status thin_target(newton *s, plx_context *ctx)
{
    const plx__laplace *at = s->at;
    for (plx_index i = 0; i < at->n; i++) s->product[i] = s->b[i] / (1.0 + at->weight[i] * spare(s, i));
    PLX_TRY(plx__gemv(ctx, 1.0, s->z, PLX__T, s->product, 0.0, s->w));
    PLX_TRY(plx__chol_solve_vec(ctx, plx__cmat(at->factor), s->w));
    PLX_TRY(plx__gemv(ctx, 1.0, s->z, PLX__N, s->w, 0.0, s->next_f));
    for (plx_index i = 0; i < at->n; i++) {
        s->next_a[i] = (s->b[i] - at->weight[i] * s->next_f[i]) / (1.0 + at->weight[i] * spare(s, i));
        s->next_f[i] += spare(s, i) * s->next_a[i];
    }
    return PLX_OK;
}

/* a' = b - W^1/2 B^-1 W^1/2 K b with b = W f + g, and f' = K a'. */
static plx_status newton_target(newton *s, plx_context *ctx)
{
    plx__laplace *at = s->at;
    for (plx_index i = 0; i < at->n; i++) s->b[i] = at->weight[i] * at->mode[i] + at->slope[i];
    if (!stored(s)) return thin_target(s, ctx);
    PLX_TRY(k_times(s, ctx, s->b, s->product));
    for (plx_index i = 0; i < at->n; i++) s->product[i] *= at->root[i];
    PLX_TRY(solve(s, ctx, s->product));
    for (plx_index i = 0; i < at->n; i++) s->next_a[i] = s->b[i] - at->root[i] * s->product[i];
    return k_times(s, ctx, s->next_a, s->next_f);
}

/* B e = r by conjugate gradients with the factor at hand, to a share `tol` of |r|; e is in s->b, r in s->product.
 * *stale: it took too many steps, and the next ones deserve a factor of their own. */
static plx_status near_solution(newton *s, plx_context *ctx, double tol, bool *stale)
{
    plx_index n = s->at->n;
    double *e = s->b, *r = s->product, *z = s->next_a, *image = s->next_f, *p = s->direction, slope = 0;
    const double *root = s->at->root;
    double enough = tol * plx__norm(r, n);
    memset(e, 0, (size_t)n * sizeof *e);
    memset(p, 0, (size_t)n * sizeof *p);
    for (int t = 0; plx__norm(r, n) > enough; t++) {
        *stale = t >= MAX_INNER;
        if (t >= 2 * MAX_INNER) break;
        memcpy(z, r, (size_t)n * sizeof *z);
        PLX_TRY(solve(s, ctx, z));
        double next = plx__dot(r, z, n), turn = t ? next / slope : 0.0;
        for (plx_index i = 0; i < n; i++) p[i] = z[i] + turn * p[i];
        for (plx_index i = 0; i < n; i++) z[i] = root[i] * p[i];
        PLX_TRY(k_times_lower(s, ctx, z, image));
        for (plx_index i = 0; i < n; i++) image[i] = p[i] + root[i] * image[i];
        slope = next;
        double length = next / plx__dot(p, image, n);
        plx__axpy(e, length, p, n);
        plx__axpy(r, -length, image, n);
        PLX_TRY(plx__poll(ctx));
    }
    return PLX_OK;
}

/* The same target as a' = g - W^1/2 e with B e = W^1/2 (K g - f): the right-hand side goes to 0 with the step, so that
 * an approximate e is one of the step. */
static plx_status near_target(newton *s, plx_context *ctx, double tol, bool *stale)
{
    plx__laplace *at = s->at;
    derivatives(s);
    PLX_TRY(k_times_lower(s, ctx, at->slope, s->product));
    for (plx_index i = 0; i < at->n; i++) s->product[i] = at->root[i] * (s->product[i] - at->mode[i]);
    PLX_TRY(near_solution(s, ctx, tol, stale));
    for (plx_index i = 0; i < at->n; i++) s->next_a[i] = at->slope[i] - at->root[i] * s->b[i];
    return k_times_lower(s, ctx, s->next_a, s->next_f);
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

/* f = K a for the given a, unless f = 0 is better. */
static plx_status open_mode(newton *s, plx_context *ctx)
{
    plx_index n = s->at->n;
    double *f = s->at->mode, zero = s->psi;
    if (!s->start.a) return PLX_OK;
    memcpy(s->a, s->start.a, (size_t)n * sizeof *f);
    if (stored(s)) PLX_TRY(k_times(s, ctx, s->a, f));
    else {
        PLX_TRY(plx__gemv(ctx, 1.0, s->z, PLX__T, s->a, 0.0, s->w));
        PLX_TRY(plx__gemv(ctx, 1.0, s->z, PLX__N, s->w, 0.0, f));
        for (plx_index i = 0; i < n; i++) f[i] += spare(s, i) * s->a[i];
    }
    s->psi = psi_of(s, s->a, f);
    if (s->psi > zero) return PLX_OK;
    s->psi = zero;
    memset(s->a, 0, (size_t)n * sizeof *f);
    memset(f, 0, (size_t)n * sizeof *f);
    return PLX_OK;
}

static plx_status find_mode(newton *s, plx_context *ctx)
{
    plx__laplace *at = s->at;
    bool reuse = stored(s) && at->n >= LARGE, stale = true;
    double change = 1;
    s->psi = psi_of(s, s->a, at->mode);
    PLX_TRY(open_mode(s, ctx));
    while (at->iterations < MAX_NEWTON && !at->converged) {
        if (stale) {
            PLX_TRY(factorise(s, ctx));
            PLX_TRY(newton_target(s, ctx));
            stale = !reuse;
        } else PLX_TRY(near_target(s, ctx, fmax(1e-12, 1e-3 * fmin(1.0, change)), &stale));
        double psi = shorten(s);
        if (!isfinite(psi))
            PLX_FAIL(ctx, PLX_E_NUMERIC,
                     "%s is too large for the Laplace approximation; scale the view or lower the amplitude", s->what);
        change = fabs(psi - s->psi) / (1.0 + fabs(s->psi));
        at->converged = change <= 1e-12;
        s->psi = psi;
        accept(s);
        at->iterations++;
    }
    return factorise(s, ctx);
}

/* `order` is that of the matrix to be factorised. */
static plx_status fit(newton *s, plx__arena *arena, plx_context *ctx, plx_index n, plx_index order)
{
    plx__laplace *out = s->at;
    double **kept[] = {&out->mode, &out->slope, &out->weight, &out->root, &out->turn};
    double **work[] = {&s->a, &s->next_a, &s->next_f, &s->b, &s->product, &s->direction};
    *out = (plx__laplace){.n = n};
    for (size_t v = 0; v < sizeof kept / sizeof *kept; v++) PLX_TRY(plx__arena_f64(kept[v], arena, n, 1));
    out->factor = s->start.factor;
    if (!s->on && !out->factor.data) PLX_TRY(plx__arena_mat(&out->factor, arena, order, order));
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    for (size_t v = 0; v < sizeof work / sizeof *work; v++) PLX_TRY(plx__arena_f64(work[v], plx__scratch(ctx), n, 1));
    if (!stored(s)) {
        PLX_TRY(plx__arena_mat(&s->thin, plx__scratch(ctx), n, order));
        PLX_TRY(plx__arena_f64(&s->w, plx__scratch(ctx), order, 1));
    }
    PLX_TRY(find_mode(s, ctx));
    double logdet = 0;
    if (s->on) PLX_TRY(plx__device_chol_logdet(&logdet, s->on->dev, s->on->factor, s->on->y));
    else logdet = plx__chol_logdet(plx__cmat(out->factor));
    out->evidence = s->psi - 0.5 * logdet;
    for (plx_index i = 0; s->c && i < n; i++) out->evidence -= 0.5 * log1p(out->weight[i] * s->c[i]);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__laplace_fit(plx__laplace *out, plx__arena *arena, plx_context *ctx, plx_cmat k, const double *y,
                            const char *what, const plx_index *samples, const plx__laplace_start *start)
{
    newton s = {.at = out, .k = k, .y = y, .what = what, .samples = samples};
    if (start) s.start = *start;
    return fit(&s, arena, ctx, k.rows, k.rows);
}

plx_status plx__laplace_fit_device(plx__laplace *out, plx__arena *arena, plx_context *ctx,
                                   const plx__laplace_device *on, const double *y, const char *what,
                                   const plx_index *samples, const plx__laplace_start *start)
{
    newton s = {.at = out, .on = on, .y = y, .what = what, .samples = samples};
    if (start) s.start = *start;
    return fit(&s, arena, ctx, on->k.rows, on->k.rows);
}

plx_status plx__laplace_fit_weights(plx__laplace *out, plx__arena *arena, plx_context *ctx, plx_cmat z, const double *c,
                                    const double *y, const char *what, const plx__laplace_start *start)
{
    newton s = {.at = out, .z = z, .c = c, .y = y, .what = what};
    if (start) s.start = *start;
    return fit(&s, arena, ctx, z.rows, z.cols);
}

/* ---- the gradient ---- */

typedef struct gradient_job {
    plx_mat m;
    plx_cmat inverse; /* B^-1; m itself when nothing is added */
    bool add;
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
            m[j] = (job->add ? m[j] : 0.0) +
                   0.5 * (side * job->slope[j] + slope * job->side[j] - root * b[j] * job->root[j]);
    }
    return PLX_OK;
}

/* s2, and the posterior variances, from the diagonal of B^-1, whose entries are `stride` apart. */
static void open_gradient(const plx__laplace *at, const double *inverse, plx_index stride, double *s2, double *variance)
{
    static const double precise = 1e-3; /* 1 - B^-1_ii keeps so much that rounding is far below it */
    for (plx_index i = 0; i < at->n; i++) {
        double told = 1.0 - inverse[i * stride];
        s2[i] = -0.5 * told * at->turn[i];
        if (variance) variance[i] = told > precise ? told / at->weight[i] : NAN;
    }
}

/* M = (g g' - R)/2 + sym[(I - R K) s2 g'] with R = W^1/2 B^-1 W^1/2. The posterior variance in s2 is
 * (1 - B^-1_ii) / W_ii, so that W cancels: s2 = -(1 - B^-1_ii)(1 - 2 pi)/2. */
plx_status plx__laplace_gradient(plx_context *ctx, const plx__laplace *at, plx_cmat k, bool add, plx_mat m,
                                 double *variance)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index n = at->n;
    plx_mat inverse = m;
    double *s2 = NULL, *side = NULL, *product = NULL;
    if (add) PLX_TRY(plx__arena_mat(&inverse, plx__scratch(ctx), n, n));
    PLX_TRY(plx__arena_f64(&s2, plx__scratch(ctx), n, 1));
    PLX_TRY(plx__arena_f64(&side, plx__scratch(ctx), n, 1));
    PLX_TRY(plx__arena_f64(&product, plx__scratch(ctx), n, 1));
    PLX_TRY(plx__chol_inverse(ctx, inverse, plx__cmat(at->factor)));
    open_gradient(at, inverse.data, inverse.ld + 1, s2, variance);
    PLX_TRY(plx__gemv(ctx, 1.0, k, PLX__N, s2, 0.0, product));
    for (plx_index i = 0; i < n; i++) product[i] *= at->root[i];
    PLX_TRY(plx__gemv(ctx, 1.0, plx__cmat(inverse), PLX__N, product, 0.0, side));
    for (plx_index i = 0; i < n; i++) side[i] = 0.5 * at->slope[i] + s2[i] - at->root[i] * side[i];
    gradient_job job = {m, plx__cmat(inverse), add, at->root, at->slope, side};
    PLX_TRY(plx__parallel_for(ctx, n, plx__max(1, 16384 / plx__max(1, n)), gradient_rows, &job));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* M = (m +) (side g' + g side' - R)/2, R = W^1/2 B^-1 W^1/2, all there. */
static plx_status gradient_there(const plx__laplace *at, const plx__laplace_device *on, bool add,
                                 plx_device_mat inverse, const double *side)
{
    plx__device_terms m = {.beta = add, .alpha = -0.5, .a = inverse, .l = on->x, .r = on->x, .gamma = 0.5};
    m.u = on->y;
    m.v = on->z;
    PLX_TRY(plx__device_write_vec(on->dev, on->x, at->root));
    PLX_TRY(plx__device_write_vec(on->dev, on->y, at->slope));
    PLX_TRY(plx__device_write_vec(on->dev, on->z, side));
    return plx__device_combine(on->dev, on->m, &m);
}

plx_status plx__laplace_gradient_device(plx_context *ctx, const plx__laplace *at, const plx__laplace_device *on,
                                        bool add, double *variance)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index n = at->n;
    plx_device_mat inverse = add ? on->inverse : on->m;
    double *s2 = NULL, *side = NULL, *product = NULL;
    PLX_TRY(plx__arena_f64(&s2, plx__scratch(ctx), n, 1));
    PLX_TRY(plx__arena_f64(&side, plx__scratch(ctx), n, 1));
    PLX_TRY(plx__arena_f64(&product, plx__scratch(ctx), n, 1));
    PLX_TRY(plx__device_copy(on->dev, inverse, on->factor));
    PLX_TRY(plx__device_chol_inverse(on->dev, inverse));
    PLX_TRY(plx__device_diagonal(on->dev, inverse, on->y));
    PLX_TRY(plx__device_read_vec(on->dev, product, on->y));
    open_gradient(at, product, 1, s2, variance);
    PLX_TRY(times_there(on, on->k, s2, product));
    for (plx_index i = 0; i < n; i++) product[i] *= at->root[i];
    PLX_TRY(times_there(on, inverse, product, side));
    for (plx_index i = 0; i < n; i++) side[i] = 0.5 * at->slope[i] + s2[i] - at->root[i] * side[i];
    PLX_TRY(gradient_there(at, on, add, inverse, side));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* <M, z z'> of column z = ((z.g)^2 - (I - A^-1)_zz)/2 + (z.g)(z.h), because Z'RZ = I - A^-1; h = (I - R Z Z') s2 and
 * R Z = W Z A^-1, so h = s2 - W Z A^-1 Z's2. */
plx_status plx__laplace_gradient_weights(plx_context *ctx, const plx__laplace *at, plx_cmat z, double *column)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat inverse, rows;
    double *h = NULL, *t = NULL, *pull = NULL, *zh = NULL;
    PLX_TRY(plx__arena_mat(&inverse, plx__scratch(ctx), z.cols, z.cols));
    PLX_TRY(plx__arena_f64(&h, plx__scratch(ctx), at->n, 1));
    PLX_TRY(plx__arena_f64(&t, plx__scratch(ctx), at->n, 1));
    PLX_TRY(plx__arena_f64(&pull, plx__scratch(ctx), z.cols, 1));
    PLX_TRY(plx__arena_f64(&zh, plx__scratch(ctx), z.cols, 1));
    PLX_TRY(plx__mat_clone(&rows, plx__scratch(ctx), z));
    PLX_TRY(plx__tri_solve_right(ctx, plx__cmat(at->factor), PLX__T, rows));
    for (plx_index i = 0; i < at->n; i++)
        h[i] = -0.5 * plx__norm_sq(rows.data + i * rows.ld, z.cols) * at->weight[i] * at->turn[i];
    PLX_TRY(plx__gemv(ctx, 1.0, z, PLX__T, h, 0.0, zh));
    PLX_TRY(plx__chol_solve_vec(ctx, plx__cmat(at->factor), zh));
    PLX_TRY(plx__gemv(ctx, 1.0, z, PLX__N, zh, 0.0, t));
    for (plx_index i = 0; i < at->n; i++) h[i] -= at->weight[i] * t[i];
    PLX_TRY(plx__gemv(ctx, 1.0, z, PLX__T, h, 0.0, zh));
    PLX_TRY(plx__gemv(ctx, 1.0, z, PLX__T, at->slope, 0.0, pull));
    PLX_TRY(plx__chol_inverse(ctx, inverse, plx__cmat(at->factor)));
    for (plx_index j = 0; j < z.cols; j++)
        column[j] += 0.5 * (pull[j] * pull[j] - 1.0 + inverse.data[j * inverse.ld + j]) + pull[j] * zh[j];
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
        sum += exp(-0.5 * u * u) * plx__sigmoid(mean + sd * u);
    }
    return sum * step / sqrt(2.0 * acos(-1.0));
}

double plx__averaged_probability(plx__averaging how, double mean, double variance)
{
    variance = fmax(variance, 0.0);
    if (how == PLX__AVERAGE_MAP) return plx__sigmoid(mean);
    if (how == PLX__AVERAGE_EXACT && variance > 0) return integrated(mean, sqrt(variance));
    return plx__sigmoid(mean / sqrt(1.0 + acos(-1.0) * variance / 8.0));
}
