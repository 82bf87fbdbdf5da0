/*
 * The offset is eliminated by a second right-hand side of ones (dual) or by centring the residual (primal):
 * no bordered indefinite system is solved.
 */
#include "kernel/ridge.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "kernel/device_kernel.h"
#include "kernel/row_passes.h"
#include "linalg/eigen.h"
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

/* K and the factor of S = K + shift I, here or on a device. */
typedef struct dual {
    plx_cmat k, factor;
    plx__device *dev; /* NULL: here */
    plx_device_mat there, there_factor, x, y;
    double shift;
} dual;

/* out = K x. */
static plx_status times_dual(const dual *q, plx_context *ctx, plx_cmat x, plx_mat out)
{
    if (!q->dev) return plx__gemm(ctx, 1.0, q->k, PLX__N, x, PLX__N, 0.0, out);
    plx_device_mat from = plx__device_sub(q->x, 0, 0, x.rows, x.cols), to = plx__device_sub(q->y, 0, 0, x.rows, x.cols);
    PLX_TRY(plx__device_write(q->dev, from, x));
    PLX_TRY(plx__device_gemm(q->dev, 1.0, q->there, PLX__N, from, PLX__N, 0.0, to));
    return plx__device_read(q->dev, out, to);
}

/* x = S^-1 x. */
static plx_status solve_dual(const dual *q, plx_context *ctx, plx_mat x)
{
    if (!q->dev) return plx__chol_solve(ctx, q->factor, x);
    PLX_TRY(plx__device_write(q->dev, q->x, plx__cmat(x)));
    PLX_TRY(plx__device_chol_solve(q->dev, q->there_factor, q->x));
    return plx__device_read(q->dev, x, q->x);
}

/* Solves by the factor of S = K + gamma l I, and again for what is left of [y, 1] while that halves it: the answer of an
 * ill-conditioned S is as good as products with it. `s` holds the right-hand sides. */
static plx_status solve_refined(plx_context *ctx, const dual *q, plx_mat s)
{
    enum { MOST = 10 };
    plx_mat rhs, next, rest;
    double left = INFINITY;
    plx_index size = s.rows * s.cols;
    PLX_TRY(plx__mat_clone(&rhs, plx__scratch(ctx), plx__cmat(s)));
    PLX_TRY(solve_dual(q, ctx, s));
    PLX_TRY(plx__mat_clone(&next, plx__scratch(ctx), plx__cmat(s)));
    PLX_TRY(plx__arena_mat(&rest, plx__scratch(ctx), s.rows, s.cols));
    for (int step = 0; step < MOST; step++) {
        PLX_TRY(times_dual(q, ctx, plx__cmat(next), rest));
        for (plx_index i = 0; i < size; i++) rest.data[i] = rhs.data[i] - rest.data[i] - q->shift * next.data[i];
        double now = plx__max_abs(rest.data, size);
        if (!(now < 0.5 * left)) break;
        left = now;
        plx__mat_copy(s, plx__cmat(next));
        if (now <= 1e-14) break; /* the sides are of size 1: rounding */
        PLX_TRY(solve_dual(q, ctx, rest));
        plx__axpy(next.data, 1.0, rest.data, size);
    }
    return PLX_OK;
}

/* Whether (a, b) has an objective within CERTAIN of the smallest, from f = K a. With r = y - f - b 1 - gamma l a and 1'a =
 * 0 the gradient over a is -(2/l) K r and the Hessian (2/l) K (C K + gamma l I), so that the objective is at most |r|^2/l
 * too large. The sum of a is nobody's choice without bias, and close to 0 with it: what is missing counts as residual. */
static bool certain(plx_cmat f, plx_cmat y, plx_cmat a, const double *b, const plx__ridge_options *o)
{
    double l = (double)y.rows, excess = 0, loss = 0, norm = 0;
    for (plx_index c = 0; c < y.cols; c++) {
        double sum = 0;
        for (plx_index i = 0; i < y.rows; i++) {
            double own = a.data[i * a.ld + c], e = y.data[i * y.ld + c] - f.data[i * f.ld + c] - b[c];
            double r = e - o->gamma * l * own;
            sum += own;
            excess += r * r / l;
            loss += e * e / l;
            norm += own * f.data[i * f.ld + c];
        }
        if (o->bias) excess += o->gamma * o->gamma * sum * sum;
    }
    return excess <= PLX__CERTAIN * fabs(loss + o->gamma * norm);
}

/* From a factorised system to the answer. */
static plx_status finish_dual(plx_context *ctx, const dual *q, plx_cmat y, const plx__ridge_options *o, plx_mat a,
                              double *b, plx__iter_result *result)
{
    plx_mat s, f;
    PLX_TRY(with_ones(&s, ctx, y));
    PLX_TRY(plx__arena_mat(&f, plx__scratch(ctx), y.rows, y.cols));
    PLX_TRY(solve_refined(ctx, q, s));
    PLX_TRY(eliminate_bias(ctx, plx__cmat(s), o->bias, a, b, o->what));
    PLX_TRY(times_dual(q, ctx, plx__cmat(a), f));
    result->converged = certain(plx__cmat(f), y, plx__cmat(a), b, o);
    return PLX_OK;
}

plx_status plx__ridge_dense(plx_context *ctx, plx_mat k, plx_cmat y, const plx__ridge_options *o, plx_mat a, double *b,
                            plx__iter_result *result)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat s, keep;
    double shift = o->gamma * (double)k.rows;
    *result = (plx__iter_result){.converged = true};
    PLX_TRY(plx__mat_clone(&keep, plx__scratch(ctx), plx__cmat(k)));
    plx__mat_add_diag(k, shift);
    plx_status st = plx__cholesky(ctx, k, NULL);
    if (st == PLX_OK) {
        dual q = {.k = plx__cmat(keep), .factor = plx__cmat(k), .shift = shift};
        PLX_TRY(finish_dual(ctx, &q, y, o, a, b, result));
    } else if (st == PLX_E_NUMERIC) { /* an indefinite kernel: nothing is smallest, the stationary point is asked for */
        plx__mat_add_diag(keep, shift);
        PLX_TRY(with_ones(&s, ctx, y));
        PLX_TRY(plx__sym_solve(ctx, keep, s, o->what));
        PLX_TRY(eliminate_bias(ctx, plx__cmat(s), o->bias, a, b, o->what));
        result->converged = !o->definite;
    } else {
        return st;
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- on a device ---- */

static plx_status solve_there(bool *definite, plx_context *ctx, plx__device *dev, const plx__ridge_rows *x, plx_cmat y,
                              const plx__ridge_options *o, plx_mat a, double *b, plx__iter_result *result)
{
    dual q = {.dev = dev, .shift = o->gamma * (double)y.rows};
    plx__device_terms shifted = {.alpha = 1, .shift = q.shift};
    plx_index n = y.rows;
    double bytes = plx__device_rows_bytes(dev, x->rows, 0) + 16.0 * (double)n * (double)(n + y.cols + 1);
    plx_device_rows rows;
    int64_t pivot = -1;
    bytes += fmax(plx__device_workspace(dev, PLX_DEVICE_OP_POTRF, n, 0, 0),
                  plx__device_workspace(dev, PLX_DEVICE_OP_KERNEL, n, n, 0));
    PLX_TRY(plx__device_need(dev, bytes, x->method, "use fewer labelled samples, or set device to cpu or auto"));
    PLX_TRY(plx__device_put_rows(&rows, dev, x->rows, 0));
    PLX_TRY(plx__device_mat(&q.there, dev, n, n));
    PLX_TRY(plx__device_mat(&q.there_factor, dev, n, n));
    PLX_TRY(plx__device_mat(&q.x, dev, n, y.cols + 1));
    PLX_TRY(plx__device_mat(&q.y, dev, n, y.cols + 1));
    PLX_TRY(plx__device_kernel_values(dev, &x->kernel, rows, rows, NULL, NULL, q.there));
    shifted.a = q.there;
    PLX_TRY(plx__device_combine(dev, q.there_factor, &shifted));
    int code = plx__device_table(dev)->potrf(plx__device_handle(dev), q.there_factor, &pivot);
    *definite = code != PLX_DEVICE_NUMERIC;
    if (!*definite) return PLX_OK;
    PLX_TRY(plx__device_did(dev, code, "potrf"));
    return finish_dual(ctx, &q, y, o, a, b, result);
}

plx_status plx__ridge_there(bool *done, plx_context *ctx, const plx__ridge_rows *x, plx_cmat y,
                            const plx__ridge_options *o, plx_mat a, double *b, plx__iter_result *result)
{
    plx__session s;
    double n = (double)y.rows;
    bool definite = true;
    plx__device_work work = {.what = x->method, .flops = n * n * n / 3 + 2 * n * n * (double)plx__points_cols(x->rows)};
    *done = false;
    *result = (plx__iter_result){.converged = true};
    PLX_TRY(plx__session_open(&s, ctx, &work));
    if (!s.dev) return PLX_OK;
    PLX_TRY(plx__session_close(&s, solve_there(&definite, ctx, s.dev, x, y, o, a, b, result)));
    *done = s.done && definite; /* an indefinite kernel needs another factorisation, which is done here */
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
    plx_mat rhs, s, f;
    double *diagonal = NULL;
    PLX_TRY(with_ones(&rhs, ctx, y));
    PLX_TRY(plx__arena_mat(&s, plx__scratch(ctx), rhs.rows, rhs.cols));
    PLX_TRY(plx__arena_f64(&diagonal, plx__scratch(ctx), k.rows, 1));
    for (plx_index i = 0; i < k.rows; i++) diagonal[i] = fmax(k.data[i * k.ld + i], 0.0) + op.shift;
    options.diagonal = diagonal;
    PLX_TRY(plx__cg_block(ctx, system, plx__cmat(rhs), s, &options, result));
    PLX_TRY(eliminate_bias(ctx, plx__cmat(s), o->bias, a, b, result->converged ? o->what : NULL));
    PLX_TRY(plx__arena_mat(&f, plx__scratch(ctx), k.rows, y.cols));
    PLX_TRY(plx__gemm(ctx, 1.0, k, PLX__N, plx__cmat(a), PLX__N, 0.0, f));
    result->converged = result->converged && certain(plx__cmat(f), y, plx__cmat(a), b, o);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- primal ---- */

typedef struct primal {
    plx__points x;
    plx__row_passes rows;
    const plx__ridge_options *o;
    plx_mat residual; /* l x targets; a process has its own rows of it */
} primal;

static plx_mat own_rows(const primal *p)
{
    return plx__sub(p->residual, p->rows.begin, 0, p->rows.end - p->rows.begin, p->residual.cols);
}

static plx_status times_t(const primal *p, plx_context *ctx, plx_mat out)
{
    return plx__row_passes_times_t(&p->rows, ctx, plx__cmat(p->residual), out);
}

/* Minimising over b centres the residual: r - mean(r), column by column. The means stay in `mean` (one per column). */
static plx_status centre(const primal *p, plx_context *ctx, double *mean)
{
    plx_mat r = p->residual;
    memset(mean, 0, (size_t)r.cols * sizeof *mean);
    if (!p->o->bias) return PLX_OK;
    PLX_TRY(plx__row_passes_sums(&p->rows, ctx, plx__cmat(r), 1.0 / (double)r.rows, mean));
    plx__sub_row(own_rows(p), mean);
    return PLX_OK;
}

/* w -> X' C X w / l + gamma w. */
static plx_status apply_primal(void *arg, plx_context *ctx, plx_cmat w, plx_mat y)
{
    const primal *p = arg;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *mean = NULL;
    PLX_TRY(plx__arena_f64(&mean, plx__scratch(ctx), w.cols, 1));
    PLX_TRY(plx__row_passes_times(&p->rows, ctx, w, p->residual));
    PLX_TRY(centre(p, ctx, mean));
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
    PLX_TRY(centre(p, ctx, mean));
    PLX_TRY(times_t(p, ctx, rhs));
    plx__mat_scale(rhs, 1.0 / (double)y.rows);
    return PLX_OK;
}

/* b = mean of y - X w. */
static plx_status primal_bias(const primal *p, plx_context *ctx, plx_cmat y, plx_cmat w, double *b)
{
    plx_mat r = p->residual;
    PLX_TRY(plx__row_passes_times(&p->rows, ctx, w, r));
    for (plx_index i = p->rows.begin; i < p->rows.end; i++)
        for (plx_index c = 0; c < y.cols; c++) r.data[i * r.ld + c] = y.data[i * y.ld + c] - r.data[i * r.ld + c];
    return centre(p, ctx, b);
}

/* The rows as a dense matrix, less their mean with a bias. */
static plx_status centred_rows(plx_mat *x, const primal *p, plx_context *ctx)
{
    plx_index l = plx__points_rows(p->x), d = plx__points_cols(p->x);
    double *mean = NULL;
    PLX_TRY(plx__arena_mat(x, plx__scratch(ctx), l, d));
    PLX_TRY(plx__arena_f64(&mean, plx__scratch(ctx), d, 1));
    plx__points own = plx__points_range(p->x, p->rows.begin, p->rows.end); /* a process may have no others */
    plx_mat to = plx__sub(*x, p->rows.begin, 0, p->rows.end - p->rows.begin, d);
    if (plx__points_sparse(own)) plx__csr_to_dense(to, own.csr);
    else plx__mat_copy(to, own.dense);
    PLX_TRY(plx__row_passes_share(&p->rows, ctx, *x));
    if (!p->o->bias) return PLX_OK;
    PLX_TRY(plx__col_means(ctx, mean, plx__cmat(*x)));
    plx__sub_row(*x, mean);
    return PLX_OK;
}

/* rest = X'C (y - X w) / l - gamma w, half the negative gradient. The offsets w asks for are left in b. */
static plx_status half_gradient(primal *p, plx_context *ctx, plx_cmat y, plx_cmat w, plx_mat rest, double *b)
{
    PLX_TRY(primal_bias(p, ctx, y, w, b));
    PLX_TRY(times_t(p, ctx, rest));
    plx__mat_scale(rest, 1.0 / (double)y.rows);
    for (plx_index i = 0; i < w.rows; i++) plx__axpy(rest.data + i * rest.ld, -p->o->gamma, w.data + i * w.ld, w.cols);
    return PLX_OK;
}

/* L with L L' = X'C X / l + gamma I from the Q R of [C X / sqrt l; sqrt gamma I], which has the root of the condition. It
 * is rarely needed: every process does all of it. */
static plx_status factor_by_qr(const primal *p, plx_context *ctx, plx_mat factor)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index l = plx__points_rows(p->x), d = plx__points_cols(p->x);
    plx_mat x, tall, r;
    PLX_TRY(centred_rows(&x, p, ctx));
    PLX_TRY(plx__arena_mat(&tall, plx__scratch(ctx), l + d, d));
    PLX_TRY(plx__arena_mat(&r, plx__scratch(ctx), d, d));
    plx__mat_scale(x, 1.0 / sqrt((double)l));
    plx__mat_copy(plx__sub(tall, 0, 0, l, d), plx__cmat(x));
    for (plx_index j = 0; j < d; j++) tall.data[(l + j) * d + j] = sqrt(p->o->gamma);
    PLX_TRY(plx__qr(ctx, tall, r));
    for (plx_index i = 0; i < d; i++)
        for (plx_index j = 0; j < d; j++) factor.data[i * factor.ld + j] = j <= i ? r.data[j * d + i] : 0.0;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* L with L L' = X'C X / l + gamma I: of the matrix formed, unless that has forgotten gamma. */
static plx_status factor_normal(const primal *p, plx_context *ctx, plx_mat factor)
{
    double jitter = 0, *mean = NULL;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    if (p->o->bias) {
        PLX_TRY(plx__arena_f64(&mean, plx__scratch(ctx), factor.rows, 1));
        PLX_TRY(plx__row_passes_mean(&p->rows, ctx, mean));
    }
    PLX_TRY(plx__row_passes_gram(&p->rows, ctx, mean, 1.0 / (double)plx__points_rows(p->x), factor));
    plx__arena_rewind(plx__scratch(ctx), mark);
    plx__mat_add_diag(factor, p->o->gamma);
    PLX_TRY(plx__cholesky_jitter(ctx, factor, &jitter, p->o->what, NULL, "increase gamma_a"));
    if (!plx__chol_doubtful(plx__cmat(factor), jitter)) return PLX_OK;
    return factor_by_qr(p, ctx, factor);
}

/* What |rest|^2 in the inverse Hessian is, by its factor, or at most is, by H >= 2 gamma: how much too large the objective
 * is. rest is spoilt. */
static plx_status excess_of(double *out, const primal *p, plx_context *ctx, plx_cmat factor, plx_mat rest)
{
    if (factor.data) PLX_TRY(plx__tri_solve(ctx, factor, PLX__N, rest));
    double size = plx__dot(rest.data, rest.data, rest.rows * rest.cols);
    *out = factor.data ? size : size / p->o->gamma;
    return PLX_OK;
}

/* (X' C X / l + gamma I) W = rhs by a factor, again for what is left while that halves it. */
static plx_status normal_equations(primal *p, plx_context *ctx, plx_cmat y, plx_mat w, plx_mat factor)
{
    enum { MOST = 10 };
    plx_index size = w.rows * w.cols;
    plx_mat next, step;
    double *b = NULL, left = INFINITY;
    PLX_TRY(factor_normal(p, ctx, factor));
    PLX_TRY(plx__arena_f64(&b, plx__scratch(ctx), y.cols, 1));
    PLX_TRY(plx__mat_clone(&next, plx__scratch(ctx), plx__cmat(w)));
    PLX_TRY(plx__arena_mat(&step, plx__scratch(ctx), w.rows, w.cols));
    PLX_TRY(plx__chol_solve(ctx, plx__cmat(factor), next));
    for (int i = 0; i < MOST; i++) {
        PLX_TRY(half_gradient(p, ctx, y, plx__cmat(next), step, b));
        PLX_TRY(plx__tri_solve(ctx, plx__cmat(factor), PLX__N, step));
        double now = plx__dot(step.data, step.data, size);
        if (!(now < 0.25 * left)) break;
        left = now;
        plx__mat_copy(w, plx__cmat(next));
        PLX_TRY(plx__tri_solve(ctx, plx__cmat(factor), PLX__T, step));
        plx__axpy(next.data, 1.0, step.data, size);
    }
    return PLX_OK;
}

/* Whether the weights w and the offsets b they ask for have an objective within CERTAIN of the smallest. */
static plx_status certify(primal *p, plx_context *ctx, plx_cmat y, plx_cmat w, plx_cmat factor, double *b, bool *ok)
{
    plx_mat rest;
    double excess = 0, loss = 0;
    PLX_TRY(plx__arena_mat(&rest, plx__scratch(ctx), w.rows, w.cols));
    PLX_TRY(half_gradient(p, ctx, y, w, rest, b));
    PLX_TRY(excess_of(&excess, p, ctx, factor, rest));
    PLX_TRY(plx__row_passes_squares(&p->rows, ctx, plx__cmat(p->residual), &loss));
    loss /= (double)y.rows;
    *ok = excess <= PLX__CERTAIN * (loss + p->o->gamma * plx__dot(w.data, w.data, w.rows * w.cols));
    return PLX_OK;
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
    plx_mat factor = {0};
    bool ok = false;
    *result = (plx__iter_result){.converged = true};
    PLX_TRY(plx__arena_mat(&p.residual, plx__scratch(ctx), y.rows, y.cols));
    PLX_TRY(plx__row_passes_open(&p.rows, ctx, x, true));
    PLX_TRY(primal_rhs(&p, ctx, y, w, b));
    if (w.rows <= FEW_COLUMNS) {
        PLX_TRY(plx__arena_mat(&factor, plx__scratch(ctx), w.rows, w.rows));
        PLX_TRY(normal_equations(&p, ctx, y, w, factor));
    } else {
        PLX_TRY(conjugate_gradients(&p, ctx, w, result));
    }
    PLX_TRY(certify(&p, ctx, y, plx__cmat(w), plx__cmat(factor), b, &ok));
    result->converged = result->converged && ok;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
