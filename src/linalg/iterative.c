/*
 * One recurrence serves three uses. With z = M r (M = I, Jacobi's diag(A)^-1, or the K of an inner product), the step
 * along the direction d with image e = M d is t = r'z / d's, where
 *
 *     plain and Jacobi:   x += t e,  s = A e,      r -= t s      (d is not kept)
 *     inner product K:    x += t d,  s = d + A e,  r -= t s
 *
 * and the next direction is d = r + beta d, e = z + beta e with beta = r'z / (r'z before). The second form is the first
 * for the unknown K x and the matrix K^-1 + A, preconditioned by K: K^-1 e = d is known, so K is never inverted.
 */
#include "linalg/iterative.h"

#include <math.h>
#include <string.h>

#include "linalg/csr.h"

typedef struct block_cg {
    plx__block_operator a;
    const plx__iter_options *o;
    plx_mat x, r, z, d, e, s;                 /* d.data NULL: no inner product */
    double *inverse;                          /* 1 / diagonal, or NULL */
    double *energy, *step, *whole, *residual; /* per column: r'z; step, then beta; |b|; |r| / |b| */
} block_cg;

/* ---- columns ---- */

static void column_dots(double *out, plx_cmat a, plx_cmat b)
{
    memset(out, 0, (size_t)a.cols * sizeof *out);
    if (a.cols == 1 && a.ld == 1 && b.ld == 1) out[0] = plx__dot(a.data, b.data, a.rows);
    else
        for (plx_index i = 0; i < a.rows; i++)
            for (plx_index c = 0; c < a.cols; c++) out[c] += a.data[i * a.ld + c] * b.data[i * b.ld + c];
}

/* y += sign x diag(t). */
static void add_columns(plx_mat y, double sign, plx_mat x, const double *t)
{
    for (plx_index i = 0; i < y.rows; i++)
        for (plx_index c = 0; c < y.cols; c++) y.data[i * y.ld + c] += sign * t[c] * x.data[i * x.ld + c];
}

/* y = x + y diag(t). */
static void extend_columns(plx_mat y, plx_mat x, const double *t)
{
    for (plx_index i = 0; i < y.rows; i++)
        for (plx_index c = 0; c < y.cols; c++)
            y.data[i * y.ld + c] = x.data[i * x.ld + c] + t[c] * y.data[i * y.ld + c];
}

/* ---- one system ---- */

static plx__iter_options filled(const plx__iter_options *given, plx_index n)
{
    plx__iter_options o = given ? *given : (plx__iter_options){0};
    if (o.tol == 0) o.tol = 1e-10;
    if (o.max_iter == 0) o.max_iter = plx__max(100, 10 * n);
    if (!o.phase) o.phase = "cg";
    return o;
}

static plx_status precondition(block_cg *g, plx_context *ctx)
{
    if (g->o->inner.apply) return g->o->inner.apply(g->o->inner.arg, ctx, plx__cmat(g->r), g->z);
    plx__mat_copy(g->z, plx__cmat(g->r));
    for (plx_index i = 0; g->inverse && i < g->z.rows; i++)
        plx__scale(g->z.data + i * g->z.ld, g->inverse[i], g->z.cols);
    return PLX_OK;
}

/* s = A e, or d + A e. */
static plx_status apply_system(block_cg *g, plx_context *ctx)
{
    PLX_TRY(g->a.apply(g->a.arg, ctx, plx__cmat(g->e), g->s));
    for (plx_index i = 0; g->d.data && i < g->s.rows; i++)
        plx__axpy(g->s.data + i * g->s.ld, 1.0, g->d.data + i * g->d.ld, g->s.cols);
    return PLX_OK;
}

static plx_status allocate(block_cg *g, plx_context *ctx, plx_index n, plx_index m)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx_mat *const all[] = {&g->r, &g->z, &g->e, &g->s};
    double **const columns[] = {&g->energy, &g->step, &g->whole, &g->residual};
    for (int i = 0; i < 4; i++) PLX_TRY(plx__arena_mat(all[i], scratch, n, m));
    for (int i = 0; i < 4; i++) PLX_TRY(plx__arena_f64(columns[i], scratch, m, 1));
    if (g->o->inner.apply) PLX_TRY(plx__arena_mat(&g->d, scratch, n, m));
    if (!g->o->diagonal) return PLX_OK;
    PLX_TRY(plx__arena_f64(&g->inverse, scratch, n, 1));
    for (plx_index i = 0; i < n; i++) g->inverse[i] = g->o->diagonal[i] > 0 ? 1.0 / g->o->diagonal[i] : 1.0;
    return PLX_OK;
}

/* |r| (in the inner product: z = K r) relative to |b|; false as soon as all columns have converged. */
static bool measure(block_cg *g, double *worst)
{
    if (g->o->inner.apply) memcpy(g->residual, g->energy, (size_t)g->r.cols * sizeof *g->residual);
    else column_dots(g->residual, plx__cmat(g->r), plx__cmat(g->r));
    *worst = 0;
    for (plx_index c = 0; c < g->r.cols; c++) {
        g->residual[c] = g->whole[c] > 0 ? sqrt(fmax(0.0, g->residual[c])) / g->whole[c] : 0.0;
        *worst = fmax(*worst, isfinite(g->residual[c]) ? g->residual[c] : INFINITY);
    }
    return *worst > g->o->tol;
}

/* whole = |b|; the answer to a column that is 0 is 0. */
static plx_status measure_given(block_cg *g, plx_context *ctx, plx_cmat b)
{
    plx__mat_copy(g->r, b);
    if (g->o->inner.apply) PLX_TRY(precondition(g, ctx));
    column_dots(g->whole, b, plx__cmat(g->o->inner.apply ? g->z : g->r));
    for (plx_index c = 0; c < b.cols; c++) {
        g->whole[c] = sqrt(fmax(0.0, g->whole[c]));
        for (plx_index i = 0; g->whole[c] == 0 && i < b.rows; i++) g->x.data[i * g->x.ld + c] = 0;
    }
    return PLX_OK;
}

/* r = b - A x; the first direction is r itself. */
static plx_status start(block_cg *g, plx_context *ctx, plx_cmat b)
{
    PLX_TRY(measure_given(g, ctx, b));
    plx__mat_copy(g->e, plx__cmat(g->x));
    if (g->d.data) {
        plx__mat_copy(g->d, plx__cmat(g->x));
        PLX_TRY(g->o->inner.apply(g->o->inner.arg, ctx, plx__cmat(g->x), g->e));
    }
    PLX_TRY(apply_system(g, ctx));
    for (plx_index i = 0; i < b.rows; i++) plx__axpy(g->r.data + i * g->r.ld, -1.0, g->s.data + i * g->s.ld, b.cols);
    PLX_TRY(precondition(g, ctx));
    if (g->d.data) plx__mat_copy(g->d, plx__cmat(g->r));
    plx__mat_copy(g->e, plx__cmat(g->z));
    column_dots(g->energy, plx__cmat(g->r), plx__cmat(g->z));
    return PLX_OK;
}

/* One step of every column that has not converged and whose direction has positive curvature; *moved: of any. */
static plx_status step(block_cg *g, plx_context *ctx, bool *moved)
{
    plx_index m = g->r.cols;
    *moved = false;
    PLX_TRY(apply_system(g, ctx));
    column_dots(g->step, plx__cmat(g->e), plx__cmat(g->s));
    for (plx_index c = 0; c < m; c++) {
        bool go = g->step[c] > 0 && isfinite(g->step[c]) && g->residual[c] > g->o->tol;
        g->step[c] = go ? g->energy[c] / g->step[c] : 0.0;
        *moved = *moved || go;
    }
    if (!*moved) return PLX_OK;
    add_columns(g->x, 1.0, g->d.data ? g->d : g->e, g->step);
    add_columns(g->r, -1.0, g->s, g->step);
    PLX_TRY(precondition(g, ctx));
    for (plx_index c = 0; c < m; c++) g->step[c] = g->step[c] > 0 ? 1.0 / g->energy[c] : 0.0;
    column_dots(g->energy, plx__cmat(g->r), plx__cmat(g->z));
    for (plx_index c = 0; c < m; c++) g->step[c] *= fmax(0.0, g->energy[c]);
    if (g->d.data) extend_columns(g->d, g->r, g->step);
    extend_columns(g->e, g->z, g->step);
    return PLX_OK;
}

plx_status plx__cg_block(plx_context *ctx, plx__block_operator a, plx_cmat b, plx_mat x,
                         const plx__iter_options *options, plx__iter_result *result)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx__iter_options o = filled(options, a.n);
    plx__iter_result out = {0, 0.0, true};
    block_cg g = {.a = a, .o = &o, .x = x};
    bool moved = true;
    PLX_TRY(allocate(&g, ctx, b.rows, b.cols));
    PLX_TRY(start(&g, ctx, b));
    while (measure(&g, &out.residual) && moved && out.iterations < o.max_iter && !plx__out_of_time(ctx)) {
        PLX_TRY(step(&g, ctx, &moved));
        out.iterations += moved;
        PLX_TRY(plx__report(ctx, o.phase, out.iterations, o.max_iter, out.residual));
    }
    out.converged = out.residual <= o.tol;
    if (result) *result = out;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- one column ---- */

static plx_status apply_vector(void *arg, plx_context *ctx, plx_cmat x, plx_mat y)
{
    const plx__operator *a = arg;
    return a->apply(a->arg, ctx, y.data, x.data);
}

plx_status plx__cg(plx_context *ctx, plx__operator a, const double *b, double *x, const plx__iter_options *options,
                   plx__iter_result *result)
{
    return plx__cg_block(ctx, (plx__block_operator){a.n, apply_vector, &a}, plx__cmat_of(b, a.n, 1),
                         plx__mat_of(x, a.n, 1), options, result);
}

plx_status plx__csr_apply_block(void *arg, plx_context *ctx, plx_cmat x, plx_mat y)
{
    return plx__spmm(ctx, 1.0, *(const plx_ccsr *)arg, x, 0.0, y);
}
