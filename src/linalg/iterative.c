/*
 * Conjugate gradients (Hestenes and Stiefel) with an optional Jacobi preconditioner, and LSQR
 * (Paige and Saunders 1982, the algorithm of their section 4 with the damping of section 6).
 */
#include "linalg/iterative.h"

#include <math.h>
#include <string.h>

typedef struct cg_state {
    plx__operator a;
    const double *inverse; /* 1 / diagonal, or NULL */
    double *x, *r, *z, *p, *q;
} cg_state;

static plx__iter_options filled(const plx__iter_options *given, plx_index n, const char *phase)
{
    plx__iter_options o = given ? *given : (plx__iter_options){0};
    if (o.tol == 0) o.tol = 1e-10;
    if (o.max_iter == 0) o.max_iter = plx__max(100, 10 * n);
    if (!o.phase) o.phase = phase;
    return o;
}

static void precondition(const cg_state *s)
{
    plx_index n = s->a.n;
    if (!s->inverse) memcpy(s->z, s->r, (size_t)n * sizeof(double));
    else
        for (plx_index i = 0; i < n; i++) s->z[i] = s->inverse[i] * s->r[i];
}

static plx_status cg_start(plx_context *ctx, cg_state *s, const double *b, const double *diagonal)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx_index n = s->a.n;
    double *inverse = NULL;
    PLX_TRY(plx__arena_f64(&s->r, scratch, n, 1));
    PLX_TRY(plx__arena_f64(&s->z, scratch, n, 1));
    PLX_TRY(plx__arena_f64(&s->p, scratch, n, 1));
    PLX_TRY(plx__arena_f64(&s->q, scratch, n, 1));
    if (diagonal) {
        PLX_TRY(plx__arena_f64(&inverse, scratch, n, 1));
        for (plx_index i = 0; i < n; i++) inverse[i] = diagonal[i] > 0 ? 1.0 / diagonal[i] : 1.0;
        s->inverse = inverse;
    }
    PLX_TRY(s->a.apply(s->a.arg, ctx, s->q, s->x));
    for (plx_index i = 0; i < n; i++) s->r[i] = b[i] - s->q[i];
    precondition(s);
    memcpy(s->p, s->z, (size_t)n * sizeof(double));
    return PLX_OK;
}

/* One step; *rz is r.z. False when the direction has no positive curvature left: nothing more to gain. */
static plx_status cg_step(plx_context *ctx, cg_state *s, double *rz, bool *moved)
{
    plx_index n = s->a.n;
    PLX_TRY(s->a.apply(s->a.arg, ctx, s->q, s->p));
    double curvature = plx__dot(s->p, s->q, n);
    *moved = curvature > 0 && isfinite(curvature);
    if (!*moved) return PLX_OK;
    double alpha = *rz / curvature;
    plx__axpy(s->x, alpha, s->p, n);
    plx__axpy(s->r, -alpha, s->q, n);
    precondition(s);
    double next = plx__dot(s->r, s->z, n), beta = next / *rz;
    for (plx_index i = 0; i < n; i++) s->p[i] = s->z[i] + beta * s->p[i];
    *rz = next;
    return PLX_OK;
}

plx_status plx__cg(plx_context *ctx, plx__operator a, const double *b, double *x, const plx__iter_options *options,
                   plx__iter_result *result)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx__iter_options o = filled(options, a.n, "cg");
    plx__iter_result out = {0, 0.0, true};
    double size = plx__norm(b, a.n);
    if (size == 0) memset(x, 0, (size_t)a.n * sizeof *x);
    if (size > 0) {
        cg_state s = {.a = a, .x = x};
        PLX_TRY(cg_start(ctx, &s, b, o.diagonal));
        double rz = plx__dot(s.r, s.z, a.n);
        bool moved = true;
        out.residual = plx__norm(s.r, a.n) / size;
        while (moved && out.residual > o.tol && out.iterations < o.max_iter && !plx__out_of_time(ctx)) {
            PLX_TRY(cg_step(ctx, &s, &rz, &moved));
            out.iterations += moved;
            out.residual = plx__norm(s.r, a.n) / size;
            PLX_TRY(plx__report(ctx, o.phase, out.iterations, o.max_iter, out.residual));
        }
        out.converged = out.residual <= o.tol;
    }
    if (result) *result = out;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__cg_many(plx_context *ctx, plx__operator a, plx_cmat b, plx_mat x, const plx__iter_options *options,
                        plx__iter_result *result)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat bt, xt;
    plx__iter_result worst = {0, 0.0, true}, one;
    PLX_TRY(plx__arena_mat(&bt, plx__scratch(ctx), b.cols, b.rows));
    PLX_TRY(plx__arena_mat(&xt, plx__scratch(ctx), b.cols, b.rows));
    plx__mat_transpose(bt, b);
    plx__mat_transpose(xt, plx__cmat(x));
    for (plx_index j = 0; j < b.cols; j++) {
        PLX_TRY(plx__cg(ctx, a, bt.data + j * bt.ld, xt.data + j * xt.ld, options, &one));
        worst.iterations = plx__max(worst.iterations, one.iterations);
        worst.residual = fmax(worst.residual, one.residual);
        worst.converged = worst.converged && one.converged;
    }
    plx__mat_transpose(x, plx__cmat(xt));
    if (result) *result = worst;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- LSQR ---- */

typedef struct lsqr_state {
    plx__operator2 a;
    double *x, *u, *v, *w, *next_u, *next_v;
    double alpha, beta, phi, rho, damp;
    double norm_a_sq, damped_sq; /* |A|_F^2 estimate; part of the residual due to damping */
    double residual, gradient;   /* |r| and |A'r| */
} lsqr_state;

/* v /= |v|, returning |v|; 0 stays 0. */
static double normalise(double *v, plx_index n)
{
    double length = plx__norm(v, n);
    if (length > 0) plx__scale(v, 1.0 / length, n);
    return length;
}

static plx_status lsqr_start(plx_context *ctx, lsqr_state *s, const double *b)
{
    plx__arena *scratch = plx__scratch(ctx);
    PLX_TRY(plx__arena_f64(&s->u, scratch, s->a.rows, 1));
    PLX_TRY(plx__arena_f64(&s->next_u, scratch, s->a.rows, 1));
    PLX_TRY(plx__arena_f64(&s->v, scratch, s->a.cols, 1));
    PLX_TRY(plx__arena_f64(&s->next_v, scratch, s->a.cols, 1));
    PLX_TRY(plx__arena_f64(&s->w, scratch, s->a.cols, 1));
    memset(s->x, 0, (size_t)s->a.cols * sizeof *s->x);
    memcpy(s->u, b, (size_t)s->a.rows * sizeof *b);
    s->beta = normalise(s->u, s->a.rows);
    PLX_TRY(s->a.adjoint(s->a.arg, ctx, s->v, s->u));
    s->alpha = normalise(s->v, s->a.cols);
    memcpy(s->w, s->v, (size_t)s->a.cols * sizeof *s->w);
    s->phi = s->residual = s->beta;
    s->rho = s->alpha;
    s->gradient = s->alpha * s->beta;
    return PLX_OK;
}

/* Continue the bidiagonalisation: beta u = A v - alpha u, alpha v = A'u - beta v. */
static plx_status bidiagonalise(plx_context *ctx, lsqr_state *s)
{
    PLX_TRY(s->a.forward(s->a.arg, ctx, s->next_u, s->v));
    for (plx_index i = 0; i < s->a.rows; i++) s->u[i] = s->next_u[i] - s->alpha * s->u[i];
    s->beta = normalise(s->u, s->a.rows);
    s->norm_a_sq += s->alpha * s->alpha + s->beta * s->beta + s->damp * s->damp;
    PLX_TRY(s->a.adjoint(s->a.arg, ctx, s->next_v, s->u));
    for (plx_index j = 0; j < s->a.cols; j++) s->v[j] = s->next_v[j] - s->beta * s->v[j];
    s->alpha = normalise(s->v, s->a.cols);
    return PLX_OK;
}

/* Two plane rotations: one takes the damping in, one removes the subdiagonal. */
static void rotate_and_update(lsqr_state *s)
{
    double rho_damped = hypot(s->rho, s->damp), cos_damp = s->rho / rho_damped, sin_damp = s->damp / rho_damped;
    double psi = sin_damp * s->phi;
    s->phi *= cos_damp;
    double rho = hypot(rho_damped, s->beta), c = rho_damped / rho, sn = s->beta / rho;
    double theta = sn * s->alpha, phi = c * s->phi;
    s->rho = -c * s->alpha;
    s->phi *= sn;
    plx__axpy(s->x, phi / rho, s->w, s->a.cols);
    for (plx_index j = 0; j < s->a.cols; j++) s->w[j] = s->v[j] - theta / rho * s->w[j];
    s->damped_sq += psi * psi;
    s->residual = sqrt(s->phi * s->phi + s->damped_sq);
    s->gradient = s->alpha * fabs(sn * phi);
}

static double lsqr_measure(const lsqr_state *s, double size)
{
    double of_residual = s->residual / size;
    double scale = sqrt(s->norm_a_sq) * s->residual;
    double of_gradient = scale > 0 ? s->gradient / scale : 0.0;
    return fmin(of_residual, of_gradient);
}

plx_status plx__lsqr(plx_context *ctx, plx__operator2 a, const double *b, double damp, double *x,
                     const plx__iter_options *options, plx__iter_result *result)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx__iter_options o = filled(options, a.cols, "lsqr");
    plx__iter_result out = {0, 0.0, true};
    lsqr_state s = {.a = a, .x = x, .damp = fabs(damp)};
    PLX_TRY(lsqr_start(ctx, &s, b));
    double size = s.beta;
    out.residual = s.gradient > 0 ? 1.0 : 0.0;
    while (out.residual > o.tol && out.iterations < o.max_iter && !plx__out_of_time(ctx)) {
        PLX_TRY(bidiagonalise(ctx, &s));
        rotate_and_update(&s);
        out.iterations++;
        out.residual = lsqr_measure(&s, size);
        PLX_TRY(plx__report(ctx, o.phase, out.iterations, o.max_iter, s.residual));
    }
    out.converged = out.residual <= o.tol;
    if (result) *result = out;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
