/*
 * Squared loss is one linear system for all classes; the hinge loss is a dual over the labelled samples with
 * the deformed kernel R'(I + R M R')^-1 R, G = R'R, in which nothing large cancels.
 */
#include "methods/regularised/learner.h"

#include <math.h>
#include <string.h>

#include "core/ranks.h"
#include "data/divided.h"
#include "kernel/ridge.h"
#include "kernel/row_passes.h"
#include "kernel/svm_chunks.h"
#include "optim/svm_linear.h"

enum { DENSE_UP_TO = 4000, FEW_FEATURES = 2000 };          /* samples; features whose square matrix is cheap */
enum { SVM_DENSE_UP_TO = 4000 };                           /* labelled samples: their kernel matrix is kept */
enum { RIDGE_PRIMAL_ABOVE = 3000, RIDGE_CG_ABOVE = 8000 }; /* labelled samples, without a graph */

plx_status plx__learner_collect(plx__learner *q, plx__run *run)
{
    const plx__problem *p = run->problem;
    plx__arena *scratch = plx__scratch(run->ctx);
    PLX_TRY(plx__arena_i64(&q->sample, scratch, p->n));
    PLX_TRY(plx__arena_i64(&q->labelled, scratch, p->n));
    for (plx_index i = 0; i < p->n; i++) {
        if (!q->x.data.present[i]) continue;
        if (p->label[i] >= 0) q->labelled[q->l++] = q->n;
        q->sample[q->n++] = i;
    }
    PLX_TRY(plx__arena_mat(&q->y, scratch, q->l, p->n_classes));
    for (plx_index i = 0; i < q->l; i++)
        for (plx_index c = 0; c < p->n_classes; c++)
            q->y.data[i * p->n_classes + c] = p->label[q->sample[q->labelled[i]]] == c ? 1.0 : -1.0;
    return PLX_OK;
}

/* ---- which way ---- */

static plx__system_solver choose(plx__system_solver asked, bool graph, bool hinge, bool linear, double n, double l,
                                 double features)
{
    if (asked != PLX__SYSTEM_AUTO) return asked;
    if (!graph && hinge && l <= SVM_DENSE_UP_TO) return PLX__SYSTEM_DENSE;
    if (!graph && hinge) return linear ? PLX__SYSTEM_PRIMAL : PLX__SYSTEM_CG;
    if (!graph && linear) return l > RIDGE_PRIMAL_ABOVE ? PLX__SYSTEM_PRIMAL : PLX__SYSTEM_DENSE;
    if (!graph) return l > RIDGE_CG_ABOVE ? PLX__SYSTEM_CG : PLX__SYSTEM_DENSE;
    if (linear && features <= FEW_FEATURES && n >= 2 * features) return PLX__SYSTEM_PRIMAL;
    if (n <= DENSE_UP_TO) return PLX__SYSTEM_DENSE;
    return linear ? PLX__SYSTEM_PRIMAL : PLX__SYSTEM_CG;
}

static bool has_graph(const plx__learner *q) { return q->gamma_i > 0 && q->graph; }

static plx_status settle_solver(plx__learner *q, plx__run *run)
{
    if (q->most_pivots) {
        plx__info(run->ctx, "%s: view '%s', %lld labelled of %lld samples, at most %lld pivots", run->method->name,
                  q->x.data.name, (long long)q->l, (long long)q->n, (long long)q->most_pivots);
        return PLX_OK;
    }
    if (q->solver == PLX__SYSTEM_PRIMAL && !q->x.linear)
        PLX_FAIL(run->ctx, PLX_E_ARG, "solver = primal: view '%s' needs a linear or cosine kernel; use dense or cg",
                 q->x.data.name);
    q->solver =
        choose(q->solver, has_graph(q), q->hinge, q->x.linear, (double)q->n, (double)q->l, (double)q->x.data.cols);
    plx__info(run->ctx, "%s: view '%s', %lld labelled of %lld samples, solver %s", run->method->name, q->x.data.name,
              (long long)q->l, (long long)q->n, plx__system_solver_name(q->solver));
    return PLX_OK;
}

static plx_status matrix_name(const char **out, const plx__learner *q, plx__run *run)
{
    return plx__arena_printf(out, plx__scratch(run->ctx), "%s: matrix for view '%s'", run->method->name,
                             q->x.data.name);
}

/* Sample numbers of the labelled samples. */
static plx_status labelled_samples(plx_index **out, const plx__learner *q, plx__run *run)
{
    PLX_TRY(plx__arena_i64(out, plx__scratch(run->ctx), q->l));
    for (plx_index i = 0; i < q->l; i++) (*out)[i] = q->sample[q->labelled[i]];
    return PLX_OK;
}

/* ---- squared loss without a graph ---- */

/* Stationarity in f: gamma l a_i = y_i - f(x_i) - b. */
static plx_status primal_coefficients(plx__learner *q, plx__run *run, plx__points rows, plx_mat a)
{
    plx__row_passes passes;
    PLX_TRY(plx__row_passes_open(&passes, run->ctx, rows, false));
    PLX_TRY(plx__row_passes_times(&passes, run->ctx, plx__cmat(q->weights), a));
    PLX_TRY(plx__row_passes_share(&passes, run->ctx, a));
    for (plx_index i = 0; i < q->l; i++)
        for (plx_index c = 0; c < a.cols; c++) {
            double *to = &a.data[i * a.ld + c];
            *to = (q->y.data[i * q->y.ld + c] - *to - q->b[c]) / (q->gamma_a * (double)q->l);
        }
    return PLX_OK;
}

static plx_status ridge_in_features(plx__learner *q, plx__run *run, const plx_index *at, const plx__ridge_options *o,
                                    plx_mat a, plx__iter_result *result)
{
    plx__points rows;
    PLX_TRY(plx__expansion_own_rows(&rows, run->ctx, &q->x, at, q->l));
    PLX_TRY(plx__arena_mat(&q->weights, plx__scratch(run->ctx), q->x.data.cols, q->y.cols));
    PLX_TRY(plx__ridge_primal(run->ctx, rows, plx__cmat(q->y), o, q->weights, q->b, result));
    return primal_coefficients(q, run, rows, a);
}

/* A linear function of the rows of the kernel's factor. */
static plx_status ridge_by_pivots(plx__learner *q, plx__run *run, const plx_index *at, const plx__ridge_options *o,
                                  plx_mat a, plx__iter_result *result)
{
    PLX_TRY(plx__pivot_expansion_find(&q->pivots, run, &q->x, at, q->l, q->most_pivots));
    plx__points rows = plx__points_dense(q->pivots.x);
    PLX_TRY(plx__arena_mat(&q->weights, plx__scratch(run->ctx), q->pivots.rank, q->y.cols));
    PLX_TRY(plx__ridge_primal(run->ctx, rows, plx__cmat(q->y), o, q->weights, q->b, result));
    return primal_coefficients(q, run, rows, a);
}

/* The same there; a linear expansion has its rows as they are needed. */
static plx_status ridge_on_device(bool *done, plx__learner *q, plx__run *run, const plx_index *at,
                                  const plx__ridge_options *o, plx_mat a, plx__iter_result *result)
{
    plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
    plx__ridge_rows x = {.method = run->method->name, .kernel = q->x.data.kernel};
    *done = false;
    if (q->solver == PLX__SYSTEM_CG || x.kernel.kind == PLX__KERNEL_PRECOMPUTED || !run->ctx->device) return PLX_OK;
    if (q->x.linear) x.kernel.kind = PLX__KERNEL_LINEAR;
    PLX_TRY(plx__expansion_rows(&x.rows, run->ctx, &q->x, at, q->l));
    PLX_TRY(plx__ridge_there(done, run->ctx, &x, plx__cmat(q->y), o, a, q->b, result));
    plx__arena_rewind(plx__scratch(run->ctx), mark);
    return PLX_OK;
}

static plx_status ridge_in_samples(plx__learner *q, plx__run *run, const plx_index *at, const plx__ridge_options *o,
                                   plx_mat a, plx__iter_result *result)
{
    plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
    plx_mat k;
    bool done = false;
    PLX_TRY(ridge_on_device(&done, q, run, at, o, a, result));
    if (done) return PLX_OK;
    PLX_TRY(plx__arena_mat(&k, plx__scratch(run->ctx), q->l, q->l));
    PLX_TRY(plx__expansion_gram(run->ctx, &q->x, at, q->l, k));
    if (q->solver == PLX__SYSTEM_CG)
        PLX_TRY(plx__ridge_cg(run->ctx, plx__cmat(k), plx__cmat(q->y), o, a, q->b, result));
    else PLX_TRY(plx__ridge_dense(run->ctx, k, plx__cmat(q->y), o, a, q->b, result));
    plx__arena_rewind(plx__scratch(run->ctx), mark);
    return PLX_OK;
}

static plx_status solve_ridge(plx__learner *q, plx__run *run)
{
    plx_index *at = NULL;
    plx_mat a = q->alpha;
    plx__iter_result result = {.converged = true};
    plx__ridge_options o = {q->gamma_a, q->bias, q->tol, NULL, q->x.data.kernel.kind != PLX__KERNEL_PRECOMPUTED};
    PLX_TRY(matrix_name(&o.what, q, run));
    PLX_TRY(labelled_samples(&at, q, run));
    if (q->most_pivots) PLX_TRY(ridge_by_pivots(q, run, at, &o, a, &result));
    else if (q->solver == PLX__SYSTEM_PRIMAL) PLX_TRY(ridge_in_features(q, run, at, &o, a, &result));
    else PLX_TRY(ridge_in_samples(q, run, at, &o, a, &result));
    /* A Gram matrix has the square of the features' condition: what it cannot solve they may. */
    bool few = q->x.linear && q->x.data.cols <= FEW_FEATURES && !q->most_pivots;
    if (q->solver != PLX__SYSTEM_PRIMAL && few && !result.converged && !plx__out_of_time(run->ctx))
        PLX_TRY(ridge_in_features(q, run, at, &o, a, &result));
    q->iterations = result.iterations;
    q->converged = result.converged;
    return PLX_OK;
}

/* ---- the systems with a graph ---- */

typedef struct smoothing {
    const plx__learner *q;
    double loss; /* weight of the labelled samples in B: 1/l, or 0 */
} smoothing;

/* y = B x = loss J x + gamma_I L x. */
static plx_status apply_smoothing(void *arg, plx_context *ctx, plx_cmat x, plx_mat y)
{
    const smoothing *s = arg;
    const plx__learner *q = s->q;
    PLX_TRY(q->graph(q->graph_arg, ctx, x, y));
    plx__mat_scale(y, q->gamma_i);
    for (plx_index i = 0; i < q->l && s->loss > 0; i++)
        plx__axpy(y.data + q->labelled[i] * y.ld, s->loss, x.data + q->labelled[i] * x.ld, x.cols);
    return PLX_OK;
}

/* Does a constant added to f cost nothing? The offset takes it up, if the graph sees differences only. */
static plx_status constants_are_free(bool *out, const plx__learner *q, plx_context *ctx)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat x, y;
    double flat = 0, rough = 0;
    *out = false;
    if (!q->bias) return PLX_OK;
    PLX_TRY(plx__arena_mat(&x, plx__scratch(ctx), q->n, 2));
    PLX_TRY(plx__arena_mat(&y, plx__scratch(ctx), q->n, 2));
    for (plx_index i = 0; i < q->n; i++) {
        x.data[2 * i] = 1.0;
        x.data[2 * i + 1] = i % 2 ? 1.0 : -1.0;
    }
    PLX_TRY(q->graph(q->graph_arg, ctx, plx__cmat(x), y));
    for (plx_index i = 0; i < q->n; i++) {
        flat = fmax(flat, fabs(y.data[2 * i]));
        rough = fmax(rough, fabs(y.data[2 * i + 1]));
    }
    *out = flat <= 1e-10 * rough;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* The offset of f itself from that of f less its mean. */
static void shift_back(plx__learner *q)
{
    plx_mat coefficients = q->weights.data ? q->weights : q->alpha;
    for (plx_index j = 0; q->mean && j < coefficients.rows; j++)
        for (plx_index c = 0; c < q->y.cols; c++) q->b[c] -= q->mean[j] * coefficients.data[j * coefficients.ld + c];
}

/* Solves (gamma_A + B G) alpha = r; f = G alpha; leaves the weights of the primal in q. */
static plx_status solve_system(plx__learner *q, plx__run *run, double loss, plx_cmat r, plx_mat alpha, plx_mat f)
{
    smoothing job = {q, loss};
    plx__system_block block = {.x = &q->x, .sample = q->sample, .count = q->n, .gamma = q->gamma_a};
    plx__kernel_system s = {
        .block = &block, .n_blocks = 1, .coupling = apply_smoothing, .arg = &job, .solver = q->solver, .tol = q->tol};
    plx__iter_result result;
    PLX_TRY(constants_are_free(&block.shifted, q, run->ctx));
    PLX_TRY(matrix_name(&s.what, q, run));
    PLX_TRY(plx__system_solve(&s, run->ctx, r, alpha, f, &result));
    q->weights = block.weights;
    q->mean = block.mean;
    q->iterations = result.iterations;
    q->converged = result.converged;
    return PLX_OK;
}

/* y -= b 1 is one more right-hand side: a(t) = (t - f_t) / (gamma l) on the labelled samples has to sum to zero for
 * t = y - b 1. The last column of alpha and of the weights belongs to t = 1. */
static plx_status eliminate_bias(plx__learner *q, plx__run *run, plx_mat alpha, plx_mat f)
{
    plx_index k = q->y.cols;
    double ones = 0;
    for (plx_index i = 0; i < q->l; i++) {
        const double *row = f.data + q->labelled[i] * f.ld;
        ones += 1.0 - row[k];
        for (plx_index c = 0; c < k; c++) q->b[c] += q->y.data[i * k + c] - row[c];
    }
    if (!(fabs(ones) > 0))
        PLX_FAIL(run->ctx, PLX_E_NUMERIC,
                 "%s: matrix for view '%s' is singular with bias=1; use bias=0 or a larger "
                 "gamma_a",
                 run->method->name, q->x.data.name);
    for (plx_index c = 0; c < k; c++) q->b[c] /= ones;
    plx_mat both[] = {alpha, q->weights};
    for (int m = 0; m < 2; m++)
        for (plx_index i = 0; both[m].data && i < both[m].rows; i++)
            for (plx_index c = 0; c < k; c++)
                both[m].data[i * both[m].ld + c] -= q->b[c] * both[m].data[i * both[m].ld + k];
    return PLX_OK;
}

static plx_status solve_smooth_squares(plx__learner *q, plx__run *run)
{
    plx_index k = q->y.cols, columns = k + (q->bias ? 1 : 0);
    plx_mat r, alpha, f;
    PLX_TRY(plx__arena_mat(&r, plx__scratch(run->ctx), q->n, columns));
    PLX_TRY(plx__arena_mat(&alpha, plx__scratch(run->ctx), q->n, columns));
    PLX_TRY(plx__arena_mat(&f, plx__scratch(run->ctx), q->n, columns));
    for (plx_index i = 0; i < q->l; i++)
        for (plx_index c = 0; c < columns; c++)
            r.data[q->labelled[i] * columns + c] = (c < k ? q->y.data[i * k + c] : 1.0) / (double)q->l;
    PLX_TRY(solve_system(q, run, 1.0 / (double)q->l, plx__cmat(r), alpha, f));
    if (q->bias) PLX_TRY(eliminate_bias(q, run, alpha, f));
    plx__mat_copy(q->alpha, plx__cmat(plx__sub(alpha, 0, 0, q->n, k)));
    if (q->weights.data) q->weights = plx__sub(q->weights, 0, 0, q->weights.rows, k);
    shift_back(q);
    return PLX_OK;
}

/* ---- hinge loss ---- */

/* The two-class problem y on a kernel matrix, or, where that is not kept, on the labelled samples. */
static plx_status solve_dual(const plx__learner *q, plx__run *run, plx_cmat kernel, const double *y, double *a,
                             const char *class, plx__svm_result *result)
{
    plx__svm_options o = {
        .cost = 1.0 / (2.0 * q->gamma_a * (double)q->l), .bias = q->bias, .tol = q->tol, .gap = PLX__CERTAIN};
    PLX_TRY(plx__arena_printf(&o.what, plx__scratch(run->ctx), "%s: class '%s'", run->method->name, class));
    if (kernel.data) return plx__svm_dual(run->ctx, kernel, y, &o, a, result);
    plx__points rows;
    if (q->solver == PLX__SYSTEM_PRIMAL) {
        /* Sweeps crawl when the features differ much in size; a Gram matrix that is small does not mind. */
        const plx_index small = 1000, patience = 1000;
        plx__svm_options sweeps = o;
        if (q->l <= small) sweeps.max_iter = patience;
        PLX_TRY(plx__expansion_rows(&rows, run->ctx, &q->near, q->at, q->l));
        PLX_TRY(plx__svm_linear(run->ctx, rows, y, &sweeps, a, result));
        if (result->converged || q->l > small || plx__out_of_time(run->ctx)) return PLX_OK;
    }
    return plx__svm_chunks(run->ctx, &q->near, q->at, q->l, y, &o, a, result);
}

/* ---- the classes ---- */

enum { BIAS = 0, ITERATIONS = 1, CONVERGED = 2, PRIMAL = 3, HEAD = 4 }; /* what is told of a class before its a */

static plx_index members(const plx__learner *q, plx_index c)
{
    plx_index own = 0;
    for (plx_index i = 0; i < q->l; i++) own += q->y.data[i * q->y.ld + c] > 0;
    return own;
}

static plx_status check_classes(const plx__learner *q, plx__run *run)
{
    for (plx_index c = 0; c < q->y.cols && !q->one_class_ok; c++)
        if (members(q, c) == q->l)
            PLX_FAIL(run->ctx, PLX_E_DATA,
                     "%s: all labelled samples with view '%s' are of class '%s'; label samples of another class too",
                     run->method->name, q->x.data.name, run->problem->classes[c]);
    return PLX_OK;
}

/* One class against the rest. With a bias, targets of one sign have the solution f = 0, b = that sign: classes that nobody
 * has in this view, and the one class of a view that has no other. */
static plx_status solve_class(const plx__learner *q, plx__run *run, plx_cmat kernel, plx_index c, double *y, double *to)
{
    plx__svm_result result = {.converged = true};
    plx_index own = members(q, c);
    for (plx_index i = 0; i < q->l; i++) y[i] = q->y.data[i * q->y.ld + c];
    result.bias = own ? 1 : -1;
    if ((own && own < q->l) || !q->bias)
        PLX_TRY(solve_dual(q, run, kernel, y, to + HEAD, run->problem->classes[c], &result));
    to[BIAS] = result.bias;
    to[ITERATIONS] = (double)result.iterations;
    to[CONVERGED] = result.converged;
    to[PRIMAL] = result.primal;
    return PLX_OK;
}

static void take_class(plx__learner *q, plx_index c, double bias, const double *a, plx_mat u)
{
    q->b[c] = bias;
    for (plx_index i = 0; i < q->l; i++) {
        q->dual.data[i * q->dual.ld + c] = a[i];
        u.data[i * u.ld + c] = a[i] * q->y.data[i * q->y.ld + c];
    }
}

/* All classes on one (deformed) kernel matrix; u = a y. Several processes have some of the classes each; of two classes the
 * second is the mirror image of the first. */
static plx_status solve_duals(plx__learner *q, plx__run *run, plx_cmat kernel, plx_mat u)
{
    plx_index k = q->y.cols, problems = run->problem->n_classes == 2 ? 1 : k, begin = 0, end = 0;
    plx__slabs cut = plx__slabs_even(run->ctx, problems);
    double *y = NULL;
    plx_mat told;
    PLX_TRY(check_classes(q, run));
    PLX_TRY(plx__arena_f64(&y, plx__scratch(run->ctx), q->l, 1));
    PLX_TRY(plx__arena_mat(&told, plx__scratch(run->ctx), problems, HEAD + q->l));
    plx__slabs_mine(&begin, &end, run->ctx, cut);
    for (plx_index c = begin; c < end; c++) {
        PLX_TRY(solve_class(q, run, kernel, c, y, told.data + c * told.ld));
        PLX_TRY(plx__report(run->ctx, "classes", c + 1, k, told.data[c * told.ld + PRIMAL]));
    }
    PLX_TRY(plx__slabs_share(run->ctx, cut, told.data, (size_t)told.ld * sizeof *told.data, 1));
    for (plx_index c = 0; c < problems; c++) {
        const double *of = told.data + c * told.ld;
        take_class(q, c, of[BIAS], of + HEAD, u);
        q->iterations += (plx_index)of[ITERATIONS];
        q->converged = q->converged && of[CONVERGED] > 0;
    }
    if (problems < k) take_class(q, 1, q->bias ? -q->b[0] : 0.0, told.data + HEAD, u);
    return PLX_OK;
}

static void symmetrise(plx_mat m)
{
    for (plx_index i = 0; i < m.rows; i++)
        for (plx_index j = 0; j < i; j++) {
            double mean = 0.5 * (m.data[i * m.ld + j] + m.data[j * m.ld + i]);
            m.data[i * m.ld + j] = m.data[j * m.ld + i] = mean;
        }
}

/* Every process works on all labelled rows, each at classes of its own: divided rows come here before that begins. Rows
 * that are gone through again and again are gathered once, not for every class. */
static plx_status bring_labelled(plx__learner *q, plx__run *run)
{
    PLX_TRY(labelled_samples(&q->at, q, run));
    q->near = q->x;
    if (!q->x.data.bound && q->solver != PLX__SYSTEM_PRIMAL) return PLX_OK;
    PLX_TRY(plx__expansion_rows(&q->near.rows, run->ctx, &q->x, q->at, q->l));
    q->near.data.bound = NULL;
    for (plx_index i = 0; i < q->l; i++) q->at[i] = i;
    return PLX_OK;
}

static plx_status solve_plain_svm(plx__learner *q, plx__run *run)
{
    plx_mat k = {0};
    PLX_TRY(bring_labelled(q, run));
    if (q->solver == PLX__SYSTEM_DENSE) {
        PLX_TRY(plx__arena_mat(&k, plx__scratch(run->ctx), q->l, q->l));
        PLX_TRY(plx__expansion_gram(run->ctx, &q->near, q->at, q->l, k));
    }
    return solve_duals(q, run, plx__cmat(k), q->alpha);
}

/* Z = (I + M G)^-1 E_l gives the labelled columns G Z of the deformed kernel, and alpha = Z u. */
static plx_status solve_smooth_svm(plx__learner *q, plx__run *run)
{
    plx_mat e, z, gz, k, u;
    plx_context *ctx = run->ctx;
    PLX_TRY(plx__arena_mat(&e, plx__scratch(ctx), q->n, q->l));
    PLX_TRY(plx__arena_mat(&z, plx__scratch(ctx), q->n, q->l));
    PLX_TRY(plx__arena_mat(&gz, plx__scratch(ctx), q->n, q->l));
    PLX_TRY(plx__arena_mat(&k, plx__scratch(ctx), q->l, q->l));
    PLX_TRY(plx__arena_mat(&u, plx__scratch(ctx), q->l, q->y.cols));
    for (plx_index i = 0; i < q->l; i++) e.data[q->labelled[i] * e.ld + i] = q->gamma_a;
    PLX_TRY(solve_system(q, run, 0.0, plx__cmat(e), z, gz));
    for (plx_index i = 0; i < q->l; i++)
        memcpy(k.data + i * k.ld, gz.data + q->labelled[i] * gz.ld, (size_t)q->l * sizeof(double));
    symmetrise(k);
    PLX_TRY(solve_duals(q, run, plx__cmat(k), u));
    PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(z), PLX__N, plx__cmat(u), PLX__N, 0.0, q->alpha));
    if (!q->weights.data) {
        shift_back(q);
        return PLX_OK;
    }
    plx_mat w;
    PLX_TRY(plx__arena_mat(&w, plx__scratch(ctx), q->weights.rows, u.cols));
    PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(q->weights), PLX__N, plx__cmat(u), PLX__N, 0.0, w));
    q->weights = w;
    shift_back(q);
    return PLX_OK;
}

/* ---- together ---- */

/* Sample numbers of the rows of alpha. */
static plx_status expanded_samples(const plx_index **out, const plx__learner *q, plx__run *run)
{
    plx_index *at = NULL;
    *out = q->sample;
    if (!q->expanded) return PLX_OK;
    PLX_TRY(labelled_samples(&at, q, run));
    *out = at;
    return PLX_OK;
}

plx_status plx__learner_solve(plx__learner *q, plx__run *run)
{
    PLX_TRY(settle_solver(q, run));
    q->converged = true;
    q->expanded = has_graph(q) ? NULL : q->labelled;
    PLX_TRY(plx__arena_mat(&q->alpha, plx__scratch(run->ctx), q->expanded ? q->l : q->n, q->y.cols));
    PLX_TRY(plx__arena_f64(&q->b, plx__scratch(run->ctx), q->y.cols, 1));
    if (q->hinge) PLX_TRY(plx__arena_mat(&q->dual, plx__scratch(run->ctx), q->l, q->y.cols));
    PLX_TRY(plx__report(run->ctx, "solve", 0, 1, NAN));
    if (q->hinge) return has_graph(q) ? solve_smooth_svm(q, run) : solve_plain_svm(q, run);
    return has_graph(q) ? solve_smooth_squares(q, run) : solve_ridge(q, run);
}

plx_status plx__learner_values(plx__learner *q, plx__run *run, plx_mat f)
{
    const plx_index *at = NULL;
    PLX_TRY(expanded_samples(&at, q, run));
    if (q->most_pivots) PLX_TRY(plx__pivot_expansion_keep(run, &q->x, &q->pivots, plx__cmat(q->weights)));
    else if (q->weights.data) PLX_TRY(plx__expansion_keep_weights(run, &q->x, plx__cmat(q->weights)));
    else PLX_TRY(plx__expansion_keep(run, &q->x, at, q->alpha.rows, plx__cmat(q->alpha)));
    return plx__expansion_values(run, &q->x, f);
}

/* Rows of f where alpha has rows; other processes may have them. */
static plx_status values_expanded(plx_cmat *out, const plx__learner *q, plx__run *run, plx_mat f)
{
    plx__points rows;
    const plx_index *at = NULL;
    PLX_TRY(expanded_samples(&at, q, run));
    PLX_TRY(plx__points_choose(&rows, run->ctx, plx__points_dense(plx__cmat(f)), run->kept, at, q->alpha.rows));
    *out = rows.dense;
    return PLX_OK;
}

/* x'Lx, summed over classes. */
static plx_status roughness(double *out, const plx__learner *q, plx__run *run, plx_cmat x)
{
    plx_mat lx;
    if (!has_graph(q)) return PLX_OK;
    PLX_TRY(plx__arena_mat(&lx, plx__scratch(run->ctx), x.rows, x.cols));
    PLX_TRY(q->graph(q->graph_arg, run->ctx, x, lx));
    for (plx_index i = 0; i < x.rows; i++) *out += plx__dot(lx.data + i * lx.ld, x.data + i * x.ld, x.cols);
    return PLX_OK;
}

plx_status plx__learner_objective(double *out, const plx__learner *q, plx__run *run, plx_mat f)
{
    plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
    double loss = 0, norm = 0, rough = 0;
    plx_cmat own;
    PLX_TRY(values_expanded(&own, q, run, f));
    PLX_TRY(roughness(&rough, q, run, own));
    for (plx_index i = 0; i < q->l; i++)
        for (plx_index c = 0; c < f.cols; c++) {
            double y = q->y.data[i * q->y.ld + c];
            double s = own.data[(q->expanded ? i : q->labelled[i]) * own.ld + c] + q->b[c];
            loss += q->hinge ? fmax(0.0, 1.0 - y * s) : (y - s) * (y - s);
        }
    /* w'w where there are weights: their f is not quite that of alpha */
    plx_cmat a = plx__cmat(q->weights.data ? q->weights : q->alpha), b = q->weights.data ? a : own;
    for (plx_index i = 0; i < a.rows; i++) norm += plx__dot(a.data + i * a.ld, b.data + i * b.ld, f.cols);
    *out = loss / (double)q->l + q->gamma_a * norm + q->gamma_i * rough;
    plx__arena_rewind(plx__scratch(run->ctx), mark);
    return PLX_OK;
}

/* ---- memory ---- */

/* Numbers of the labelled rows that come to a process from others, where rows are divided: all of them, or those of its
 * slabs; and room for as many on their way. */
static double brought(const plx__run *run, plx_index view, bool all)
{
    const plx__problem *p = run->problem;
    plx__slabs cut = plx__slabs_cut(p->n_labelled, PLX__PANE_ROWS);
    double numbers = 0, l = (double)p->n_labelled, most = (double)(plx__slabs_most(run->ctx, cut) * cut.rows);
    for (plx_index v = 0; v < p->n_views; v++) {
        const plx__view *from = &p->views[v];
        if (!from->divided || (view >= 0 && v != view)) continue;
        numbers += from->sparse ? 1.5 * (double)from->nonzeros : (double)p->n * (double)from->cols;
    }
    return 2 * numbers * (all ? l : fmin(l, most)) / fmax(1, (double)p->n);
}

double plx__learner_bytes(const plx__run *run, plx_index view, plx__system_solver asked, bool graph, bool hinge)
{
    const plx__problem *p = run->problem;
    double n = (double)p->n, l = (double)p->n_labelled, k = (double)p->n_classes, cols = 0, entries = 0;
    for (plx_index v = 0; v < p->n_views; v++) {
        if (view >= 0 && v != view) continue;
        cols += (double)p->views[v].cols;
        entries += (p->views[v].sparse ? 1.5 : 1) * plx__held_values(&p->views[v], p->n);
    }
    plx__value kernel = {.word = -1};
    if (plx__view_value(&kernel, run->ctx, run->settings, "kernel", plx__prepared_name(run, view)) != PLX_OK)
        return INFINITY;
    bool linear = kernel.word == PLX__KERNEL_LINEAR || kernel.word == PLX__KERNEL_COSINE;
    double kept = (linear ? 1.0 : 2.0) * entries + cols * k + (kernel.word == PLX__KERNEL_COSINE ? entries : 0.0);
    double scoring = linear ? 0.0 : 1024.0 * (graph ? n : l), solving = hinge ? l * l : 2 * l * l + 5 * l * (k + 1);
    if (run->fitted) return plx__prepared_bytes(run, view) + 8 * (entries + 1024.0 * n + 4 * n * k);
    plx__system_solver solver = choose(asked, graph, hinge, linear, n, l, cols);
    if (graph) {
        double columns = hinge ? l : k + 1;
        bool few = cols <= FEW_FEATURES;
        bool primal = solver == PLX__SYSTEM_PRIMAL || (solver == PLX__SYSTEM_DENSE && linear && few);
        double table = primal ? cols * (few ? cols : columns) : 0;
        solving = plx__system_bytes(solver, linear, n, n, cols, columns, 0) / 8 + (hinge ? l * l + 3 * n * l : 0);
        solving += plx__row_passes_bytes(run->ctx, p->n, table) / 8;
    } else if (hinge && solver != PLX__SYSTEM_DENSE) {
        solving = fmax(plx__svm_chunks_bytes(l, cols), plx__svm_linear_bytes(l, cols)) / 8 + 2 * l + entries;
    } else if (solver == PLX__SYSTEM_PRIMAL) {
        double table = cols <= FEW_FEATURES ? cols * cols : cols * k;
        solving = (cols <= FEW_FEATURES ? l * cols + cols * cols : entries) + (l + 3 * cols) * k;
        solving += plx__row_passes_bytes(run->ctx, p->n_labelled, table) / 8;
    }
    double kept_rows = (double)plx__kept_count(run), rows = graph ? n : l; /* of results; of coefficients */
    if (hinge) solving += (l + 4) * k;
    if (!graph) solving += brought(run, view, hinge || solver != PLX__SYSTEM_PRIMAL);
    return plx__prepared_bytes(run, view) + 8 * (kept + solving + scoring + (5 * kept_rows + 2 * rows) * k + 2 * n);
}

/* Prepared and labelled rows, the factor and its normal equations, blocks of scores, results. */
double plx__learner_pivot_bytes(const plx__run *run, plx_index view, plx_index most_pivots)
{
    const plx__problem *p = run->problem;
    double n = (double)p->n, l = (double)p->n_labelled, k = (double)p->n_classes, entries = 0;
    double kept_rows = (double)plx__kept_count(run);
    double pivots = fmin((double)most_pivots, l);
    plx__slabs cut = plx__slabs_cut(p->n_labelled, PLX__PANE_ROWS);
    for (plx_index v = 0; v < p->n_views; v++)
        if (view < 0 || v == view) entries += (p->views[v].sparse ? 1.5 : 1) * plx__held_values(&p->views[v], p->n);
    if (run->fitted) return plx__prepared_bytes(run, view) + 8 * (entries + 1024.0 * n + 4 * n * k);
    double held = fmin(l, (double)(plx__slabs_most(run->ctx, cut) * cut.rows));
    double solving = 2 * pivots * pivots + (2 * l + 5 * pivots) * k + fmin(l, PLX__PANE_ROWS) * pivots;
    return plx__prepared_bytes(run, view) + plx__pivot_expansion_bytes(held, pivots) +
           plx__row_passes_bytes(run->ctx, p->n_labelled, pivots * pivots) +
           8 * (2 * entries + brought(run, view, false) + solving + 1024.0 * pivots + 5 * kept_rows * k + 2 * n);
}
