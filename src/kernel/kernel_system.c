#include "kernel/kernel_system_impl.h"

#include <math.h>
#include <string.h>

#include "linalg/factor.h"
#include "linalg/lowrank.h"

enum { STORED_UP_TO = 20000 }; /* samples whose kernel matrix the iterations keep; above, they form it block by block */

const char *plx__system_solver_name(plx__system_solver solver)
{
    static const char *const names[] = {"auto", "dense", "cg", "primal"};
    return names[solver];
}

plx_cmat plx__block_part(plx_cmat m, const plx__system_block *b)
{
    return plx__csub(m, b->offset, 0, b->count, m.cols);
}
plx_mat plx__block_part_of(plx_mat m, const plx__system_block *b)
{
    return plx__sub(m, b->offset, 0, b->count, m.cols);
}

/* m -= p (p'm) / norm: takes the direction p out of the columns of m. */
void plx__block_project(plx_mat m, const double *p, double norm, double *work)
{
    memset(work, 0, (size_t)m.cols * sizeof *work);
    for (plx_index i = 0; i < m.rows; i++) plx__axpy(work, p[i], m.data + i * m.ld, m.cols);
    for (plx_index i = 0; i < m.rows; i++) plx__axpy(m.data + i * m.ld, -p[i] / norm, work, m.cols);
}

/* ---- products with one kernel ---- */

/* Rows of K y formed block by block: nothing count x count is kept. */
static plx_status times_formed(const plx__system_block *b, plx_context *ctx, plx_cmat y, plx_mat out)
{
    enum { BLOCK = 512 };
    for (plx_index at = 0; at < b->count; at += BLOCK) {
        plx__mark mark = plx__arena_mark(plx__scratch(ctx));
        plx_index end = plx__min(b->count, at + BLOCK);
        plx_mat k;
        PLX_TRY(plx__arena_mat(&k, plx__scratch(ctx), end - at, b->count));
        PLX_TRY(plx__expansion_between(ctx, b->x, plx__points_range(b->rows, at, end), b->rows, k));
        PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(k), PLX__N, y, PLX__N, 0.0, plx__sub(out, at, 0, end - at, out.cols)));
        plx__arena_rewind(plx__scratch(ctx), mark);
    }
    return PLX_OK;
}

/* X'y; a transposed copy serves sparse rows faster. */
plx_status plx__block_features(const plx__system_block *b, plx_context *ctx, plx_cmat y, plx_mat w)
{
    if (b->transposed.ptr) return plx__spmm(ctx, 1.0, plx__ccsr(b->transposed), y, 0.0, w);
    return plx__points_times_t(ctx, b->rows, y, w);
}

static plx_status times_features(const plx__system_block *b, plx_context *ctx, plx_cmat y, plx_mat out)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat w;
    PLX_TRY(plx__arena_mat(&w, plx__scratch(ctx), plx__points_cols(b->rows), y.cols));
    PLX_TRY(plx__block_features(b, ctx, y, w));
    PLX_TRY(plx__points_times(ctx, b->rows, plx__cmat(w), out));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

static plx_status times_kernel(const plx__system_block *b, plx_context *ctx, plx_cmat y, plx_mat out)
{
    if (b->gram.data) return plx__gemm(ctx, 1.0, plx__cmat(b->gram), PLX__N, y, PLX__N, 0.0, out);
    return b->x->linear ? times_features(b, ctx, y, out) : times_formed(b, ctx, y, out);
}

/* out = K0 y: K y - p (p'y) / norm with p = K 1. */
static plx_status times_block(const plx__system_block *b, plx_context *ctx, plx_cmat y, plx_mat out)
{
    PLX_TRY(times_kernel(b, ctx, y, out));
    if (!b->pull || b->gram.data) return PLX_OK; /* a stored matrix is centred itself */
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *along = NULL;
    PLX_TRY(plx__arena_f64(&along, plx__scratch(ctx), y.cols, 1));
    for (plx_index i = 0; i < y.rows; i++) plx__axpy(along, b->pull[i], y.data + i * y.ld, y.cols);
    for (plx_index i = 0; i < y.rows; i++) plx__axpy(out.data + i * out.ld, -b->pull[i] / b->pull_norm, along, y.cols);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

static plx_status times_all(const plx__kernel_system *s, plx_context *ctx, plx_cmat y, plx_mat out)
{
    for (plx_index v = 0; v < s->n_blocks; v++)
        PLX_TRY(
            times_block(&s->block[v], ctx, plx__block_part(y, &s->block[v]), plx__block_part_of(out, &s->block[v])));
    return PLX_OK;
}

/* ---- making the blocks ready ---- */

static plx_status kernel_trace(double *out, const plx__system_block *b, plx_context *ctx)
{
    double *norm = NULL;
    *out = 0;
    if (b->gram.data) {
        *out = plx__mat_trace(plx__cmat(b->gram));
        return PLX_OK;
    }
    PLX_TRY(plx__arena_f64(&norm, plx__scratch(ctx), b->count, 1));
    PLX_TRY(plx__points_norms_sq(ctx, b->rows, norm));
    const plx__kernel *k = &b->x->data.kernel;
    for (plx_index i = 0; i < b->count; i++)
        *out += b->x->linear ? norm[i] : k->kind == PLX__KERNEL_RBF ? 1.0 : pow(norm[i] + k->coef0, k->degree);
    return PLX_OK;
}

/* Finds K 1 (or X'1 in the primal) and 1'K1; takes the direction out of a stored matrix. Functions that sum to zero
 * already (1'K1 <= 1e-12 n trace K) are left alone. */
static plx_status centre_block(plx__system_block *b, plx_context *ctx, bool primal)
{
    plx_mat ones;
    double trace = 0, *pull = NULL, sum = 0;
    plx_index length = primal ? plx__points_cols(b->rows) : b->count;
    if (!b->centred) return PLX_OK;
    PLX_TRY(plx__arena_mat(&ones, plx__scratch(ctx), b->count, 1));
    PLX_TRY(plx__arena_f64(&pull, plx__scratch(ctx), length, 1));
    plx__mat_fill(ones, 1.0);
    PLX_TRY(kernel_trace(&trace, b, ctx));
    if (primal) PLX_TRY(plx__block_features(b, ctx, plx__cmat(ones), plx__mat_of(pull, length, 1)));
    else PLX_TRY(times_kernel(b, ctx, plx__cmat(ones), plx__mat_of(pull, length, 1)));
    for (plx_index i = 0; i < length; i++) sum += primal ? pull[i] * pull[i] : pull[i];
    if (sum <= 1e-12 * (double)b->count * trace) return PLX_OK;
    b->pull = pull;
    b->pull_norm = sum;
    for (plx_index i = 0; b->gram.data && i < b->count; i++)
        plx__axpy(b->gram.data + i * b->gram.ld, -pull[i] / sum, pull, b->count);
    return PLX_OK;
}

static plx_status begin_block(plx__system_block *b, plx_context *ctx, plx__system_solver solver)
{
    bool precomputed = b->x->data.kernel.kind == PLX__KERNEL_PRECOMPUTED, primal = solver == PLX__SYSTEM_PRIMAL;
    b->gram = b->factor = (plx_mat){0};
    b->pull = b->mean = NULL;
    if (!precomputed) PLX_TRY(plx__expansion_rows(&b->rows, ctx, b->x, b->sample, b->count));
    if (solver != PLX__SYSTEM_DENSE && b->x->linear && plx__points_sparse(b->rows))
        PLX_TRY(plx__csr_transpose(&b->transposed, plx__scratch(ctx), b->rows.csr));
    if (solver == PLX__SYSTEM_DENSE || (!b->x->linear && (precomputed || b->count <= STORED_UP_TO))) {
        PLX_TRY(plx__arena_mat(&b->gram, plx__scratch(ctx), b->count, b->count));
        PLX_TRY(plx__expansion_gram(ctx, b->x, b->sample, b->count, b->gram));
    }
    return centre_block(b, ctx, primal);
}

/* ---- LU: kernels with negative eigenvalues ---- */

static plx_status solve_lu(plx__kernel_system *s, plx_context *ctx, plx_cmat r, plx_mat alpha, plx_mat f)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index size = r.rows;
    plx_mat k = s->block[0].gram, a;
    PLX_TRY(plx__arena_mat(&a, plx__scratch(ctx), size, size));
    if (s->n_blocks > 1) {
        PLX_TRY(plx__arena_mat(&k, plx__scratch(ctx), size, size));
        for (plx_index v = 0; v < s->n_blocks; v++) {
            const plx__system_block *b = &s->block[v];
            plx__mat_copy(plx__sub(k, b->offset, b->offset, b->count, b->count), plx__cmat(b->gram));
        }
    }
    PLX_TRY(s->coupling(s->arg, ctx, plx__cmat(k), a));
    for (plx_index v = 0; v < s->n_blocks; v++) {
        const plx__system_block *b = &s->block[v];
        plx__mat_add_diag(plx__sub(a, b->offset, b->offset, b->count, b->count), b->gamma);
    }
    plx__mat_copy(alpha, r);
    PLX_TRY(plx__lu_solve(ctx, a, alpha, s->what));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return times_all(s, ctx, plx__cmat(alpha), f);
}

/* gamma alpha = R - B f: exact for exact f, and right where K sees nothing of alpha. */
plx_status plx__system_coefficients(const plx__kernel_system *s, plx_context *ctx, plx_cmat r, plx_cmat f,
                                    plx_mat alpha)
{
    PLX_TRY(s->coupling(s->arg, ctx, f, alpha));
    for (plx_index v = 0; v < s->n_blocks; v++) {
        const plx__system_block *b = &s->block[v];
        for (plx_index i = b->offset; i < b->offset + b->count; i++)
            for (plx_index c = 0; c < r.cols; c++) {
                double *to = &alpha.data[i * alpha.ld + c];
                *to = (r.data[i * r.ld + c] - *to) / b->gamma;
            }
    }
    return PLX_OK;
}

/* ---- conjugate gradients in the inner product of K ---- */

typedef struct kernel_cg {
    plx_mat x, r, p, kr, kp, ap, work;
    plx_mat best, left;            /* alpha so far, and what it leaves of R */
    double *step, *energy, *start; /* per column: step, r'Kr now and at the start */
} kernel_cg;

/* y = Gamma^-1/2 y, blockwise. */
static void scale_blocks(const plx__kernel_system *s, plx_mat y)
{
    for (plx_index v = 0; v < s->n_blocks; v++)
        plx__mat_scale(plx__block_part_of(y, &s->block[v]), 1.0 / sqrt(s->block[v].gamma));
}

static void column_dots(double *out, plx_mat a, plx_mat b)
{
    memset(out, 0, (size_t)a.cols * sizeof *out);
    for (plx_index i = 0; i < a.rows; i++)
        for (plx_index c = 0; c < a.cols; c++) out[c] += a.data[i * a.ld + c] * b.data[i * b.ld + c];
}

/* y += x diag(t) when `add`, else y = x + y diag(t). */
static void combine_columns(plx_mat y, plx_mat x, const double *t, double sign, bool add)
{
    for (plx_index i = 0; i < y.rows; i++)
        for (plx_index c = 0; c < y.cols; c++) {
            double *to = &y.data[i * y.ld + c], from = x.data[i * x.ld + c];
            *to = add ? *to + sign * t[c] * from : from + t[c] * *to;
        }
}

/* ap = p + Gamma^-1/2 B Gamma^-1/2 K p. */
static plx_status apply_system(const plx__kernel_system *s, plx_context *ctx, kernel_cg *g)
{
    plx__mat_copy(g->work, plx__cmat(g->kp));
    scale_blocks(s, g->work);
    PLX_TRY(s->coupling(s->arg, ctx, plx__cmat(g->work), g->ap));
    scale_blocks(s, g->ap);
    for (plx_index i = 0; i < g->ap.rows; i++)
        plx__axpy(g->ap.data + i * g->ap.ld, 1.0, g->p.data + i * g->p.ld, g->p.cols);
    return PLX_OK;
}

static plx_status begin_cg(plx_context *ctx, kernel_cg *g, plx_cmat r)
{
    plx_mat *const all[] = {&g->x, &g->r, &g->p, &g->kr, &g->kp, &g->ap, &g->work, &g->best, &g->left};
    double **const columns[] = {&g->step, &g->energy, &g->start};
    for (int i = 0; i < 9; i++) PLX_TRY(plx__arena_mat(all[i], plx__scratch(ctx), r.rows, r.cols));
    for (int i = 0; i < 3; i++) PLX_TRY(plx__arena_f64(columns[i], plx__scratch(ctx), r.cols, 1));
    return PLX_OK;
}

/* Towards the solution for the right-hand side g->left, from 0. */
static plx_status restart_cg(const plx__kernel_system *s, plx_context *ctx, kernel_cg *g)
{
    plx__mat_fill(g->x, 0.0);
    plx__mat_copy(g->r, plx__cmat(g->left));
    scale_blocks(s, g->r);
    plx__mat_copy(g->p, plx__cmat(g->r));
    PLX_TRY(times_all(s, ctx, plx__cmat(g->r), g->kr));
    plx__mat_copy(g->kp, plx__cmat(g->kr));
    column_dots(g->energy, g->r, g->kr);
    memcpy(g->start, g->energy, (size_t)g->r.cols * sizeof *g->start);
    return PLX_OK;
}

/* Measured in the norm of K: what K does not see of r changes no value of f. */
static double worst_residual(const kernel_cg *g)
{
    double worst = 0;
    for (plx_index c = 0; c < g->r.cols; c++)
        if (g->start[c] > 0) worst = fmax(worst, sqrt(fmax(0.0, g->energy[c]) / g->start[c]));
    return worst;
}

/* Columns that have converged, or have no curvature left, rest. */
static plx_status step_cg(const plx__kernel_system *s, plx_context *ctx, kernel_cg *g, bool *moved)
{
    *moved = false;
    PLX_TRY(apply_system(s, ctx, g));
    column_dots(g->step, g->kp, g->ap);
    for (plx_index c = 0; c < g->r.cols; c++) {
        bool go = g->step[c] > 0 && isfinite(g->step[c]) && g->energy[c] > s->tol * s->tol * g->start[c];
        g->step[c] = go ? g->energy[c] / g->step[c] : 0.0;
        *moved = *moved || go;
    }
    if (!*moved) return PLX_OK;
    combine_columns(g->x, g->p, g->step, 1.0, true);
    combine_columns(g->r, g->ap, g->step, -1.0, true);
    PLX_TRY(times_all(s, ctx, plx__cmat(g->r), g->kr));
    for (plx_index c = 0; c < g->r.cols; c++) g->step[c] = g->step[c] > 0 ? 1.0 / g->energy[c] : 0.0;
    column_dots(g->energy, g->r, g->kr);
    for (plx_index c = 0; c < g->r.cols; c++) g->step[c] *= fmax(0.0, g->energy[c]);
    combine_columns(g->p, g->r, g->step, 1.0, false);
    combine_columns(g->kp, g->kr, g->step, 1.0, false);
    return PLX_OK;
}

/* left = R - (Gamma + B K) alpha; the worst column's length relative to that of R. */
static plx_status true_residual(const plx__kernel_system *s, plx_context *ctx, kernel_cg *g, plx_cmat r, plx_mat alpha,
                                double *worst)
{
    PLX_TRY(times_all(s, ctx, plx__cmat(alpha), g->work));
    PLX_TRY(s->coupling(s->arg, ctx, plx__cmat(g->work), g->left));
    for (plx_index v = 0; v < s->n_blocks; v++) {
        const plx__system_block *b = &s->block[v];
        for (plx_index i = b->offset; i < b->offset + b->count; i++)
            for (plx_index c = 0; c < r.cols; c++) {
                double *to = &g->left.data[i * g->left.ld + c];
                *to = r.data[i * r.ld + c] - *to - b->gamma * alpha.data[i * alpha.ld + c];
            }
    }
    *worst = 0;
    for (plx_index c = 0; c < r.cols; c++) {
        double left = 0, whole = 0;
        for (plx_index i = 0; i < r.rows; i++) {
            left += g->left.data[i * g->left.ld + c] * g->left.data[i * g->left.ld + c];
            whole += r.data[i * r.ld + c] * r.data[i * r.ld + c];
        }
        if (whole > 0) *worst = fmax(*worst, isfinite(left) ? sqrt(left / whole) : INFINITY);
    }
    return PLX_OK;
}

/* Steps until the recurrence says tol, or nothing moves. */
static plx_status run_cg(const plx__kernel_system *s, plx_context *ctx, kernel_cg *g, plx_index limit,
                         plx__iter_result *result)
{
    bool moved = true;
    while (moved && worst_residual(g) > s->tol && result->iterations < limit && !plx__out_of_time(ctx)) {
        PLX_TRY(step_cg(s, ctx, g, &moved));
        result->iterations += moved;
        PLX_TRY(plx__report(ctx, "cg", result->iterations, limit, result->residual));
    }
    return PLX_OK;
}

/* Keeps `alpha` where it leaves less than the best so far. */
static plx_status consider(const plx__kernel_system *s, plx_context *ctx, kernel_cg *g, plx_cmat r, plx_mat alpha,
                           plx__iter_result *result)
{
    double now = 0;
    PLX_TRY(true_residual(s, ctx, g, r, alpha, &now));
    if (!(now < result->residual)) return PLX_OK;
    plx__mat_copy(g->best, plx__cmat(alpha));
    result->residual = now;
    return PLX_OK;
}

static void add_blocks(const plx__kernel_system *s, plx_mat y, plx_mat x, bool over_gamma)
{
    for (plx_index v = 0; v < s->n_blocks; v++) {
        const plx__system_block *b = &s->block[v];
        for (plx_index i = b->offset; i < b->offset + b->count; i++)
            plx__axpy(y.data + i * y.ld, over_gamma ? 1.0 / b->gamma : 1.0, x.data + i * x.ld, y.cols);
    }
}

/* The recurrence drifts from the truth on ill-conditioned systems, and its norm does not see what K does not see. What
 * counts is the residual of the system itself: it is computed anew after every run, for the coefficients found and for
 * those recovered from their values, alpha = (R - B K x) / gamma = x + rest / gamma, and what the best of all leaves is
 * the next right-hand side, as long as that halves it. 0, which leaves R, is the first. */
static plx_status solve_cg(plx__kernel_system *s, plx_context *ctx, plx_cmat r, plx_mat alpha, plx_mat f,
                           plx__iter_result *result)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index limit = s->max_iter ? s->max_iter : plx__max(1000, 10 * r.rows);
    kernel_cg g = {0};
    PLX_TRY(begin_cg(ctx, &g, r));
    result->residual = INFINITY;
    PLX_TRY(consider(s, ctx, &g, r, g.best, result));
    for (bool better = true; better && result->residual > s->tol;) {
        double before = result->residual;
        PLX_TRY(true_residual(s, ctx, &g, r, g.best, &before));
        PLX_TRY(restart_cg(s, ctx, &g));
        PLX_TRY(run_cg(s, ctx, &g, limit, result));
        scale_blocks(s, g.x);
        add_blocks(s, g.x, g.best, false);
        PLX_TRY(consider(s, ctx, &g, r, g.x, result));
        add_blocks(s, g.x, g.left, true);
        PLX_TRY(consider(s, ctx, &g, r, g.x, result));
        better = result->residual < 0.5 * before && result->iterations < limit && !plx__out_of_time(ctx);
    }
    result->converged = result->residual <= s->tol;
    plx__mat_copy(alpha, plx__cmat(g.best));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return times_all(s, ctx, plx__cmat(alpha), f);
}

/* ---- dense ---- */

/* gram = factor factor' to rounding; false for a matrix with negative eigenvalues. */
static plx_status factorise_block(bool *good, plx__system_block *b, plx_context *ctx)
{
    plx__pivoted z;
    plx__pivot_options options = {.threshold = 0.0};
    plx_mat copy, back;
    double trace = plx__mat_trace(plx__cmat(b->gram)), worst = 0;
    PLX_TRY(plx__mat_clone(&copy, plx__scratch(ctx), plx__cmat(b->gram)));
    PLX_TRY(plx__pivoted_cholesky_full(&z, plx__scratch(ctx), ctx, copy, &options));
    b->factor = z.z;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    PLX_TRY(plx__mat_clone(&back, plx__scratch(ctx), plx__cmat(b->gram)));
    PLX_TRY(plx__gemm(ctx, -1.0, plx__cmat(z.z), PLX__N, plx__cmat(z.z), PLX__T, 1.0, back));
    for (plx_index i = 0; i < back.rows; i++)
        for (plx_index j = 0; j < back.cols; j++) worst = fmax(worst, fabs(back.data[i * back.ld + j]));
    plx__arena_rewind(plx__scratch(ctx), mark);
    *good = worst <= 1e-12 * trace && z.rank > 0;
    return PLX_OK;
}

/* Mean row of the kernel of a shifted block. */
static plx_status kernel_mean(plx__system_block *b, plx_context *ctx)
{
    if (!b->shifted) return PLX_OK;
    PLX_TRY(plx__arena_f64(&b->mean, plx__scratch(ctx), b->count, 1));
    for (plx_index i = 0; i < b->count; i++)
        plx__axpy(b->mean, 1.0 / (double)b->count, b->gram.data + i * b->gram.ld, b->count);
    return PLX_OK;
}

static plx_status solve_dense(plx__kernel_system *s, plx_context *ctx, plx_cmat r, plx_mat alpha, plx_mat f)
{
    plx_mat w;
    bool good = true;
    for (plx_index v = 0; v < s->n_blocks && good; v++) {
        PLX_TRY(plx__report(ctx, "factorise", v, s->n_blocks, NAN));
        PLX_TRY(factorise_block(&good, &s->block[v], ctx));
    }
    if (!good) return solve_lu(s, ctx, r, alpha, f);
    PLX_TRY(plx__arena_mat(&w, plx__scratch(ctx), plx__system_stack_features(s), r.cols));
    PLX_TRY(plx__system_solve_formed(s, ctx, r, w, f));
    for (plx_index v = 0; v < s->n_blocks; v++) PLX_TRY(kernel_mean(&s->block[v], ctx));
    return plx__system_coefficients(s, ctx, r, plx__cmat(f), alpha);
}

/* ---- all roads ---- */

/* Linear kernels of few features are solved in the features, by whatever name: their Gram matrix has the square of
 * their condition. */
static plx__system_solver best_road(const plx__kernel_system *s)
{
    plx_index features = 0;
    if (s->solver != PLX__SYSTEM_DENSE) return s->solver;
    for (plx_index v = 0; v < s->n_blocks; v++) {
        if (!s->block[v].x->linear || s->block[v].centred) return PLX__SYSTEM_DENSE;
        features += s->block[v].x->data.cols;
    }
    return features <= FEW_FEATURES ? PLX__SYSTEM_PRIMAL : PLX__SYSTEM_DENSE;
}

plx_status plx__system_solve(plx__kernel_system *s, plx_context *ctx, plx_cmat r, plx_mat alpha, plx_mat f,
                             plx__iter_result *result)
{
    plx_index at = 0;
    plx__system_solver road = best_road(s);
    *result = (plx__iter_result){.converged = true};
    for (plx_index v = 0; v < s->n_blocks; v++) {
        s->block[v].offset = at;
        at += s->block[v].count;
        PLX_TRY(begin_block(&s->block[v], ctx, road));
    }
    PLX_ASSERT(r.rows == at);
    if (road == PLX__SYSTEM_PRIMAL) return plx__system_solve_primal(s, ctx, r, alpha, f, result);
    if (road == PLX__SYSTEM_CG) return solve_cg(s, ctx, r, alpha, f, result);
    return solve_dense(s, ctx, r, alpha, f);
}

void plx__system_plain(const plx__system_block *b, plx_mat alpha)
{
    if (!b->pull) return;
    for (plx_index c = 0; c < alpha.cols; c++) {
        double along = 0;
        for (plx_index i = 0; i < alpha.rows; i++) along += b->pull[i] * alpha.data[i * alpha.ld + c];
        for (plx_index i = 0; i < alpha.rows; i++) alpha.data[i * alpha.ld + c] -= along / b->pull_norm;
    }
}

double plx__system_bytes(plx__system_solver solver, bool linear, double size, double largest, double features,
                         double columns)
{
    double each = 8 * size * columns;
    if (solver == PLX__SYSTEM_DENSE && linear && features <= FEW_FEATURES) solver = PLX__SYSTEM_PRIMAL; /* best_road */
    if (solver == PLX__SYSTEM_DENSE) return 8 * 6 * size * size + 4 * each;
    if (solver == PLX__SYSTEM_CG && !linear)
        return 10 * each + 8 * (largest <= STORED_UP_TO ? size * largest : 512 * largest);
    double formed = features <= FEW_FEATURES ? 8 * features * (2 * size + 2 * features) : 0;
    return 10 * each + 8 * 6 * features * columns + (solver == PLX__SYSTEM_PRIMAL ? formed : 0);
}
