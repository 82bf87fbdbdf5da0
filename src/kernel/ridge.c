/*
 * The offset is eliminated by a second right-hand side of ones (dual) or by centring the residual (primal):
 * no bordered indefinite system is solved.
 */
#include "kernel/ridge.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "kernel/expansion.h"
#include "linalg/factor.h"

enum { FEW_COLUMNS = 2000 }; /* normal equations up to here: d^2 memory, l d^2 + d^3/3 time */

/* ---- dual ---- */

/* Right-hand sides [y, 1]: one factorisation serves the targets and the elimination of b. */
static plx_status with_ones(plx_mat *out, plx_context *ctx, plx_cmat y)
{
    PLX_TRY(plx__arena_mat(out, plx__scratch(ctx), y.rows, y.cols + 1));
    for (plx_index i = 0; i < y.rows; i++) {
        memcpy(out->data + i * out->ld, y.data + i * y.ld, (size_t)y.cols * sizeof(double));
        out->data[i * out->ld + y.cols] = 1.0;
    }
    return PLX_OK;
}

/* From S = (K + gamma l I)^-1 [y, 1]: 1'a = 0 gives b = 1'S_y / 1'S_1 and a = S_y - b S_1. `what` NULL: S is where an
 * iteration was cut short, perhaps still zero, and b stays 0 then. */
static plx_status eliminate_bias(plx_context *ctx, plx_cmat s, bool bias, plx_mat a, double *b, const char *what)
{
    plx_index c = a.cols;
    double ones = 0;
    memset(b, 0, (size_t)c * sizeof *b);
    for (plx_index i = 0; i < s.rows; i++) {
        ones += s.data[i * s.ld + c];
        for (plx_index j = 0; j < c; j++) b[j] += s.data[i * s.ld + j];
    }
    if (!what) bias = bias && fabs(ones) > 0;
    if (bias && !(fabs(ones) > 0))
        PLX_FAIL(ctx, PLX_E_NUMERIC, "%s is singular with bias=1; use bias=0 or a larger gamma_a", what);
    for (plx_index j = 0; j < c; j++) b[j] = bias ? b[j] / ones : 0.0;
    for (plx_index i = 0; i < s.rows; i++)
        for (plx_index j = 0; j < c; j++)
            a.data[i * a.ld + j] = s.data[i * s.ld + j] - (bias ? b[j] * s.data[i * s.ld + c] : 0.0);
    return PLX_OK;
}

plx_status plx__ridge_dense(plx_context *ctx, plx_mat k, plx_cmat y, const plx__ridge_options *o, plx_mat a, double *b)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat s, keep;
    double *diagonal = NULL;
    plx_index l = k.rows;
    PLX_TRY(with_ones(&s, ctx, y));
    PLX_TRY(plx__arena_f64(&diagonal, plx__scratch(ctx), l, 1));
    plx__mat_add_diag(k, o->gamma * (double)l);
    for (plx_index i = 0; i < l; i++) diagonal[i] = k.data[i * k.ld + i];
    plx_status st = plx__cholesky(ctx, k, NULL);
    if (st == PLX_OK) {
        PLX_TRY(plx__chol_solve(ctx, plx__cmat(k), s));
    } else if (st == PLX_E_NUMERIC) { /* indefinite kernel: the strict upper triangle is still as given */
        PLX_TRY(plx__arena_mat(&keep, plx__scratch(ctx), l, l));
        for (plx_index i = 0; i < l; i++)
            for (plx_index j = 0; j <= i; j++) keep.data[i * l + j] = i == j ? diagonal[i] : k.data[j * k.ld + i];
        plx__mirror_lower(keep);
        PLX_TRY(plx__sym_solve(ctx, keep, s, o->what));
    } else {
        return st;
    }
    PLX_TRY(eliminate_bias(ctx, plx__cmat(s), o->bias, a, b, o->what));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

typedef struct shifted {
    plx_cmat k;
    double shift;
} shifted;

static plx_status apply_shifted(void *arg, plx_context *ctx, plx_cmat x, plx_mat y)
{
    const shifted *s = arg;
    PLX_TRY(plx__gemm(ctx, 1.0, s->k, PLX__N, x, PLX__N, 0.0, y));
    for (plx_index i = 0; i < x.rows; i++) plx__axpy(y.data + i * y.ld, s->shift, x.data + i * x.ld, x.cols);
    return PLX_OK;
}

plx_status plx__ridge_cg(plx_context *ctx, plx_cmat k, plx_cmat y, const plx__ridge_options *o, plx_mat a, double *b,
                         plx__iter_result *result)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    shifted op = {k, o->gamma * (double)k.rows};
    plx__block_operator system = {k.rows, apply_shifted, &op};
    plx__iter_options options = {.tol = o->tol};
    plx_mat rhs, s;
    double *diagonal = NULL;
    PLX_TRY(with_ones(&rhs, ctx, y));
    PLX_TRY(plx__arena_mat(&s, plx__scratch(ctx), rhs.rows, rhs.cols));
    PLX_TRY(plx__arena_f64(&diagonal, plx__scratch(ctx), k.rows, 1));
    for (plx_index i = 0; i < k.rows; i++) diagonal[i] = fmax(k.data[i * k.ld + i], 0.0) + op.shift;
    options.diagonal = diagonal;
    PLX_TRY(plx__cg_block(ctx, system, plx__cmat(rhs), s, &options, result));
    PLX_TRY(eliminate_bias(ctx, plx__cmat(s), o->bias, a, b, result->converged ? o->what : NULL));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- primal ---- */

typedef struct primal {
    plx__points x;
    plx_csr transposed; /* of a sparse x */
    const plx__ridge_options *o;
    plx_mat residual; /* l x targets */
} primal;

static plx_status times_t(const primal *p, plx_context *ctx, plx_mat out)
{
    plx_cmat r = plx__cmat(p->residual);
    if (plx__points_sparse(p->x)) return plx__spmm(ctx, 1.0, plx__ccsr(p->transposed), r, 0.0, out);
    return plx__points_times_t(ctx, p->x, r, out);
}

/* Minimising over b centres the residual: r - mean(r), column by column. The means stay in `mean` (one per column). */
static void centre(const primal *p, double *mean)
{
    plx_mat r = p->residual;
    memset(mean, 0, (size_t)r.cols * sizeof *mean);
    if (!p->o->bias) return;
    for (plx_index i = 0; i < r.rows; i++) plx__axpy(mean, 1.0 / (double)r.rows, r.data + i * r.ld, r.cols);
    plx__sub_row(r, mean);
}

/* w -> X' C X w / l + gamma w. */
static plx_status apply_primal(void *arg, plx_context *ctx, plx_cmat w, plx_mat y)
{
    const primal *p = arg;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *mean = NULL;
    PLX_TRY(plx__arena_f64(&mean, plx__scratch(ctx), w.cols, 1));
    PLX_TRY(plx__points_times(ctx, p->x, w, p->residual));
    centre(p, mean);
    PLX_TRY(times_t(p, ctx, y));
    plx__mat_scale(y, 1.0 / (double)p->residual.rows);
    for (plx_index f = 0; f < w.rows; f++) plx__axpy(y.data + f * y.ld, p->o->gamma, w.data + f * w.ld, w.cols);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* X' C y / l for every target; `mean` is work. */
static plx_status primal_rhs(const primal *p, plx_context *ctx, plx_cmat y, plx_mat rhs, double *mean)
{
    plx__mat_copy(p->residual, y);
    centre(p, mean);
    PLX_TRY(times_t(p, ctx, rhs));
    plx__mat_scale(rhs, 1.0 / (double)y.rows);
    return PLX_OK;
}

/* b = mean of y - X w. */
static plx_status primal_bias(const primal *p, plx_context *ctx, plx_cmat y, plx_cmat w, double *b)
{
    plx_mat r = p->residual;
    PLX_TRY(plx__points_times(ctx, p->x, w, r));
    for (plx_index i = 0; i < y.rows; i++)
        for (plx_index c = 0; c < y.cols; c++) r.data[i * r.ld + c] = y.data[i * y.ld + c] - r.data[i * r.ld + c];
    centre(p, b);
    return PLX_OK;
}

/* (X' C X / l + gamma I) W = rhs with the d x d matrix formed. */
static plx_status normal_equations(const primal *p, plx_context *ctx, plx_mat w)
{
    plx_index l = plx__points_rows(p->x), d = plx__points_cols(p->x);
    plx_mat x, s;
    double *mean = NULL;
    PLX_TRY(plx__arena_mat(&x, plx__scratch(ctx), l, d));
    PLX_TRY(plx__arena_mat(&s, plx__scratch(ctx), d, d));
    PLX_TRY(plx__arena_f64(&mean, plx__scratch(ctx), d, 1));
    if (plx__points_sparse(p->x)) plx__csr_to_dense(x, p->x.csr);
    else plx__mat_copy(x, p->x.dense);
    if (p->o->bias) {
        PLX_TRY(plx__col_means(ctx, mean, plx__cmat(x)));
        plx__sub_row(x, mean);
    }
    PLX_TRY(plx__syrk(ctx, 1.0 / (double)l, plx__cmat(x), PLX__T, 0.0, s));
    plx__mat_add_diag(s, p->o->gamma);
    PLX_TRY(plx__cholesky_jitter(ctx, s, NULL, p->o->what, NULL, "increase gamma_a"));
    return plx__chol_solve(ctx, plx__cmat(s), w);
}

static plx_status conjugate_gradients(primal *p, plx_context *ctx, plx_mat w, plx__iter_result *result)
{
    plx__block_operator system = {w.rows, apply_primal, p};
    plx__iter_options options = {.tol = p->o->tol};
    plx_mat start;
    PLX_TRY(plx__arena_mat(&start, plx__scratch(ctx), w.rows, w.cols));
    PLX_TRY(plx__cg_block(ctx, system, plx__cmat(w), start, &options, result));
    plx__mat_copy(w, plx__cmat(start));
    return PLX_OK;
}

plx_status plx__ridge_primal(plx_context *ctx, plx__points x, plx_cmat y, const plx__ridge_options *o, plx_mat w,
                             double *b, plx__iter_result *result)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    primal p = {.x = x, .o = o};
    *result = (plx__iter_result){.converged = true};
    PLX_TRY(plx__arena_mat(&p.residual, plx__scratch(ctx), y.rows, y.cols));
    if (plx__points_sparse(x)) PLX_TRY(plx__csr_transpose(&p.transposed, plx__scratch(ctx), x.csr));
    PLX_TRY(primal_rhs(&p, ctx, y, w, b));
    if (w.rows <= FEW_COLUMNS) PLX_TRY(normal_equations(&p, ctx, w));
    else PLX_TRY(conjugate_gradients(&p, ctx, w, result));
    PLX_TRY(primal_bias(&p, ctx, y, plx__cmat(w), b));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
