/*
 * rls: regularised least squares on one view or on the concatenation of all views, linear or with a kernel.
 *
 * Per class c with targets y = +-1 on the l labelled samples that have the view (one against the rest):
 *     min (1/l) sum_i (y_i - f(x_i) - b)^2 + gamma_a |f|_K^2,   f(x) = sum_i a_i K(x, x_i).
 * A linear (or cosine) kernel is kept as weights, so that new samples cost one product; other kernels keep the
 * labelled rows; a precomputed kernel keeps the coefficients of the samples its columns stand for.
 */
#include <math.h>
#include <string.h>

#include "frame/decision.h"
#include "frame/problem.h"
#include "kernel/prepared.h"
#include "kernel/ridge.h"

enum { AUTO = 0, DENSE = 1, CG = 2, PRIMAL = 3 };
enum { PRIMAL_ABOVE = 3000, CG_ABOVE = 8000 }; /* labelled samples from which auto leaves the factorisation */

typedef struct params {
    const char *view;
    double gamma_a, tol;
    bool bias;
    int solver;
} params;

static const plx__param_spec param_specs[] = {
    PLX__TEXT(params, view, "",
              "View to learn from: a name, or concat for all views side by side; default: the first view."),
    PLX__REAL_ABOVE(params, gamma_a, "0.01", 0, "Weight of the squared norm of f: larger is smoother."),
    PLX__BOOL(params, bias, "1", "Fit an unregularised offset b."),
    PLX__REAL_ABOVE(params, tol, "1e-8", 0,
                    "Relative residual at which the iterative solvers stop; larger is faster and coarser."),
    PLX__CHOICE(params, solver, "auto", "auto|dense|cg|primal",
                "Factorise the kernel matrix, iterate on it, or solve for the weights of a linear kernel."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    {"scores", "n x K", 0, "f(x) + b per class; zero rows for samples without the view."},
    {"alpha", "n x K", 0,
     "Coefficients of the kernel expansion over all samples; zero rows where the view is missing."},
    {"bias", "1 x K", 0, "Offset b per class."},
    {"gram", "n x n", PLX__ON_REQUEST, "Kernel matrix over all samples; zero where the view is missing."},
    {NULL, NULL, 0, NULL}};

typedef struct problem {
    plx__prepared data;
    plx__points rows;    /* of all samples; unit rows for the cosine kernel */
    plx_index *labelled; /* l sample indices */
    plx_index l, k;      /* k classes */
    plx_mat y;           /* l x k, +-1 */
    plx_mat a;           /* l x k */
    bool linear;         /* weights instead of rows */
} problem;

/* ---- choosing the view ---- */

static plx_status choose_view(plx_index *out, plx__run *run)
{
    const params *p = run->params;
    *out = 0;
    if (!p->view[0]) return PLX_OK;
    if (strcmp(p->view, "concat") == 0) {
        *out = -1;
        return PLX_OK;
    }
    return plx__require_view(out, run, p->view, "view");
}

/* New data need only the view that was learned from. */
static plx_status mark_view(plx__run *run, plx_index view)
{
    uint8_t *used = NULL;
    if (run->fitted || view < 0) return PLX_OK;
    PLX_TRY(plx__arena_u8(&used, plx__scratch(run->ctx), run->problem->n_views));
    used[view] = 1;
    return plx__mark_used(run, used);
}

static plx_status prepare(problem *q, plx__run *run)
{
    plx_index view = 0;
    PLX_TRY(choose_view(&view, run));
    PLX_TRY(mark_view(run, view));
    PLX_TRY(plx__prepare(&q->data, run, view));
    q->rows = q->data.rows;
    q->k = run->problem->n_classes;
    q->linear = q->data.kernel.kind == PLX__KERNEL_LINEAR || q->data.kernel.kind == PLX__KERNEL_COSINE;
    if (q->data.kernel.kind == PLX__KERNEL_COSINE) PLX_TRY(plx__points_unit(&q->rows, run->ctx, q->data.rows));
    return PLX_OK;
}

static plx_status collect_labelled(problem *q, plx__run *run)
{
    const plx__problem *x = run->problem;
    PLX_TRY(plx__arena_i64(&q->labelled, plx__scratch(run->ctx), x->n));
    for (plx_index i = 0; i < x->n; i++)
        if (x->label[i] >= 0 && q->data.present[i]) q->labelled[q->l++] = i;
    if (!q->l)
        PLX_FAIL(run->ctx, PLX_E_DATA, "rls: no labelled sample has view '%s'; label one or choose another view",
                 q->data.name);
    PLX_TRY(plx__arena_mat(&q->y, plx__scratch(run->ctx), q->l, q->k));
    PLX_TRY(plx__arena_mat(&q->a, plx__scratch(run->ctx), q->l, q->k));
    for (plx_index i = 0; i < q->l; i++)
        for (plx_index c = 0; c < q->k; c++) q->y.data[i * q->k + c] = x->label[q->labelled[i]] == c ? 1.0 : -1.0;
    return PLX_OK;
}

/* ---- solving ---- */

static plx_status choose_solver(int *out, plx__run *run, const problem *q)
{
    const params *p = run->params;
    *out = p->solver;
    if (*out == AUTO) *out = q->linear && q->l > PRIMAL_ABOVE ? PRIMAL : !q->linear && q->l > CG_ABOVE ? CG : DENSE;
    if (*out == PRIMAL && !q->linear)
        PLX_FAIL(run->ctx, PLX_E_ARG, "solver = primal: needs a linear or cosine kernel; use dense or cg");
    static const char *const names[] = {"auto", "dense", "cg", "primal"};
    plx__info(run->ctx, "rls: %lld labelled samples of view '%s', solver %s", (long long)q->l, q->data.name,
              names[*out]);
    return PLX_OK;
}

/* Kernel values between rows as prepared: for the cosine they have unit length already. */
static plx_status kernel_between(plx__run *run, const problem *q, plx__points a, plx__points b, plx_mat k)
{
    plx__kernel kernel = q->data.kernel;
    if (q->linear) kernel.kind = PLX__KERNEL_LINEAR;
    return plx__kernel_matrix(run->ctx, &kernel, a, b, k);
}

/* Kernel values between the labelled samples. */
static plx_status labelled_gram(plx_mat *k, plx__run *run, const problem *q, plx__points rows)
{
    PLX_TRY(plx__arena_mat(k, plx__scratch(run->ctx), q->l, q->l));
    if (q->data.kernel.kind != PLX__KERNEL_PRECOMPUTED) return kernel_between(run, q, rows, rows, *k);
    for (plx_index i = 0; i < q->l; i++)
        for (plx_index j = 0; j < q->l; j++)
            k->data[i * k->ld + j] = q->rows.dense.data[q->labelled[i] * q->rows.dense.ld + q->labelled[j]];
    return PLX_OK;
}

/* Weights w = X_l' a of a linear kernel. */
static plx_status dual_weights(plx__run *run, const problem *q, plx__points rows, plx_mat w)
{
    if (plx__points_sparse(rows)) return plx__spmm_t(run->ctx, 1.0, rows.csr, plx__cmat(q->a), 0.0, w);
    return plx__gemm(run->ctx, 1.0, rows.dense, PLX__T, plx__cmat(q->a), PLX__N, 0.0, w);
}

static plx_status solve_dual(plx__run *run, problem *q, plx__points rows, int solver, double *b,
                             plx__iter_result *result)
{
    const params *p = run->params;
    const char *what = NULL;
    plx_mat k;
    PLX_TRY(plx__arena_printf(&what, plx__scratch(run->ctx), "rls: matrix for view '%s'", q->data.name));
    plx__ridge_options o = {p->gamma_a, p->bias, p->tol, what};
    PLX_TRY(labelled_gram(&k, run, q, rows));
    if (solver == CG) return plx__ridge_cg(run->ctx, plx__cmat(k), plx__cmat(q->y), &o, q->a, b, result);
    return plx__ridge_dense(run->ctx, k, plx__cmat(q->y), &o, q->a, b);
}

/* Stationarity in f: gamma_a l a_i = y_i - f(x_i) - b. */
static plx_status primal_coefficients(plx__run *run, problem *q, plx__points rows, plx_cmat w, const double *b)
{
    const params *p = run->params;
    if (plx__points_sparse(rows)) PLX_TRY(plx__spmm(run->ctx, 1.0, rows.csr, w, 0.0, q->a));
    else PLX_TRY(plx__gemm(run->ctx, 1.0, rows.dense, PLX__N, w, PLX__N, 0.0, q->a));
    for (plx_index i = 0; i < q->l; i++)
        for (plx_index c = 0; c < q->k; c++) {
            double *a = &q->a.data[i * q->k + c];
            *a = (q->y.data[i * q->k + c] - *a - b[c]) / (p->gamma_a * (double)q->l);
        }
    return PLX_OK;
}

/* Leaves behind what prediction needs: "_weights", or "_rows" and "_coef". */
static plx_status solve(plx__run *run, problem *q, double *b, plx__iter_result *result)
{
    const params *p = run->params;
    int solver = DENSE;
    plx__points rows;
    plx_mat w = {0};
    *result = (plx__iter_result){.converged = true};
    PLX_TRY(choose_solver(&solver, run, q));
    if (q->data.kernel.kind == PLX__KERNEL_PRECOMPUTED) rows = q->rows;
    else PLX_TRY(plx__points_select(&rows, run->ctx, q->rows, q->labelled, q->l));
    if (q->linear) PLX_TRY(plx__store_new(&w, run->out, "_weights", q->data.cols, q->k));
    if (solver == PRIMAL) {
        plx__ridge_options o = {p->gamma_a, p->bias, p->tol, "rls: matrix of the features"};
        PLX_TRY(plx__ridge_primal(run->ctx, rows, plx__cmat(q->y), &o, w, b, result));
        return primal_coefficients(run, q, rows, plx__cmat(w), b);
    }
    PLX_TRY(solve_dual(run, q, rows, solver, b, result));
    if (q->linear) return dual_weights(run, q, rows, w);
    if (q->data.kernel.kind == PLX__KERNEL_PRECOMPUTED) {
        plx_mat coef;
        PLX_TRY(plx__store_new(&coef, run->out, "_coef", run->problem->n, q->k));
        for (plx_index i = 0; i < q->l; i++)
            memcpy(coef.data + q->labelled[i] * q->k, q->a.data + i * q->k, (size_t)q->k * sizeof(double));
        return PLX_OK;
    }
    PLX_TRY(plx__store_put(run->out, "_coef", plx__cmat(q->a)));
    return plx__points_sparse(rows) ? plx__store_put_csr(run->out, "_rows", rows.csr)
                                    : plx__store_put(run->out, "_rows", rows.dense);
}

/* ---- scoring ---- */

/* f of all samples by blocks of rows against the kept rows: block x l memory. */
static plx_status kernel_scores(plx__run *run, const problem *q, const plx__array *kept, plx_cmat coef, plx_mat f)
{
    enum { BLOCK = 1024 };
    plx__points rows = kept->sparse ? plx__points_csr(plx__ccsr(kept->csr)) : plx__points_dense(plx__cmat(kept->dense));
    if (plx__points_sparse(rows) != plx__points_sparse(q->rows) || plx__points_cols(rows) != plx__points_cols(q->rows))
        PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model's rows of view '%s' do not fit its description", q->data.name);
    for (plx_index at = 0; at < f.rows; at += BLOCK) {
        plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
        plx_index end = plx__min(f.rows, at + BLOCK);
        plx_mat k;
        PLX_TRY(plx__arena_mat(&k, plx__scratch(run->ctx), end - at, plx__points_rows(rows)));
        PLX_TRY(plx__kernel_matrix(run->ctx, &q->data.kernel, plx__points_range(q->rows, at, end), rows, k));
        PLX_TRY(
            plx__gemm(run->ctx, 1.0, plx__cmat(k), PLX__N, coef, PLX__N, 0.0, plx__sub(f, at, 0, end - at, f.cols)));
        plx__arena_rewind(plx__scratch(run->ctx), mark);
        PLX_TRY(plx__report(run->ctx, "score", end, f.rows, NAN));
    }
    return PLX_OK;
}

static plx_status raw_scores(plx__run *run, const problem *q, plx_mat f)
{
    const plx__store *state = run->fitted ? run->fitted : run->out;
    const plx__array *kept = plx__store_find(state, "_rows");
    plx_cmat m;
    if (q->linear) {
        PLX_TRY(plx__store_shaped(&m, run->ctx, state, "_weights", plx__points_cols(q->rows), f.cols));
        if (plx__points_sparse(q->rows)) return plx__spmm(run->ctx, 1.0, q->rows.csr, m, 0.0, f);
        return plx__gemm(run->ctx, 1.0, q->rows.dense, PLX__N, m, PLX__N, 0.0, f);
    }
    if (q->data.kernel.kind == PLX__KERNEL_PRECOMPUTED) {
        PLX_TRY(plx__store_shaped(&m, run->ctx, state, "_coef", q->rows.dense.cols, f.cols));
        return plx__gemm(run->ctx, 1.0, q->rows.dense, PLX__N, m, PLX__N, 0.0, f);
    }
    if (!kept) PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model lacks the array '_rows'");
    PLX_TRY(plx__store_shaped(&m, run->ctx, state, "_coef", kept->sparse ? kept->csr.rows : kept->dense.rows, f.cols));
    return kernel_scores(run, q, kept, m, f);
}

/* Scores f + b, labels, and the majority class for samples without the view. */
static plx_status score(plx__run *run, const problem *q, plx_mat f)
{
    const plx__problem *x = run->problem;
    const plx__store *state = run->fitted ? run->fitted : run->out;
    plx_cmat b;
    double majority = 0;
    int32_t *label = NULL;
    plx_index without = 0;
    PLX_TRY(plx__store_shaped(&b, run->ctx, state, "bias", 1, f.cols));
    PLX_TRY(plx__store_scalar(&majority, run->ctx, state, "_majority"));
    if (!(majority >= 0 && majority < (double)f.cols))
        PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model's most frequent class is not one of its classes");
    PLX_TRY(raw_scores(run, q, f));
    for (plx_index i = 0; i < x->n; i++)
        for (plx_index c = 0; c < f.cols; c++)
            f.data[i * f.ld + c] = q->data.present[i] ? f.data[i * f.ld + c] + b.data[c] : 0.0;
    PLX_TRY(plx__require_finite(run, plx__cmat(f), "scores"));
    PLX_TRY(plx__arena_i32(&label, plx__scratch(run->ctx), x->n));
    PLX_TRY(plx__decide(label, run, plx__cmat(f), q->data.present));
    for (plx_index i = 0; i < x->n; i++) {
        if (q->data.present[i]) continue;
        label[i] = (int32_t)majority;
        without++;
    }
    if (without)
        plx__warn(run->ctx, "rls: %lld samples lack view '%s' and get the most frequent class '%s'", (long long)without,
                  q->data.name, x->classes[(plx_index)majority]);
    return plx__outcome_classes(run, label, plx__cmat(f));
}

static plx_status put_majority(plx__run *run)
{
    const plx__problem *x = run->problem;
    double *count = NULL, best = 0;
    PLX_TRY(plx__arena_f64(&count, plx__scratch(run->ctx), x->n_classes, 1));
    for (plx_index i = 0; i < x->n; i++)
        if (x->label[i] >= 0) count[x->label[i]]++;
    for (plx_index c = 1; c < x->n_classes; c++)
        if (count[c] > count[(plx_index)best]) best = (double)c;
    return plx__store_put(run->out, "_majority", (plx_cmat){&best, 1, 1, 1});
}

/* ---- results of a fit ---- */

static plx_status put_alpha(plx__run *run, const problem *q)
{
    plx_mat alpha;
    PLX_TRY(plx__store_new(&alpha, run->out, "alpha", run->problem->n, q->k));
    for (plx_index i = 0; i < q->l; i++)
        memcpy(alpha.data + q->labelled[i] * q->k, q->a.data + i * q->k, (size_t)q->k * sizeof(double));
    return PLX_OK;
}

static plx_status put_gram(plx__run *run, const problem *q)
{
    plx_index n = run->problem->n;
    plx_mat g;
    if (!plx__wanted(run, "gram")) return PLX_OK;
    PLX_TRY(plx__store_new(&g, run->out, "gram", n, n));
    if (q->data.kernel.kind == PLX__KERNEL_PRECOMPUTED) plx__mat_copy(g, q->rows.dense);
    else PLX_TRY(kernel_between(run, q, q->rows, q->rows, g));
    for (plx_index i = 0; i < n; i++)
        for (plx_index j = 0; j < n; j++)
            if (!q->data.present[i] || !q->data.present[j]) g.data[i * n + j] = 0.0;
    return PLX_OK;
}

/* Sum over classes of loss at f + b and norm of f: |f|_K^2 = a' f on the labelled samples. */
static double objective(const plx__run *run, const problem *q, plx_cmat scores, const double *b)
{
    const params *p = run->params;
    double loss = 0, norm = 0;
    for (plx_index i = 0; i < q->l; i++)
        for (plx_index c = 0; c < q->k; c++) {
            double s = scores.data[q->labelled[i] * scores.ld + c], r = q->y.data[i * q->k + c] - s;
            loss += r * r;
            norm += q->a.data[i * q->k + c] * (s - b[c]);
        }
    return loss / (double)q->l + p->gamma_a * norm;
}

static plx_status fit(plx__run *run)
{
    problem q = {0};
    plx_mat f, b;
    plx__iter_result result;
    PLX_TRY(prepare(&q, run));
    PLX_TRY(collect_labelled(&q, run));
    PLX_TRY(plx__store_new(&b, run->out, "bias", 1, q.k));
    PLX_TRY(plx__store_new(&f, run->out, "scores", run->problem->n, q.k));
    PLX_TRY(plx__report(run->ctx, "solve", 0, 1, NAN));
    PLX_TRY(solve(run, &q, b.data, &result));
    PLX_TRY(put_majority(run));
    PLX_TRY(score(run, &q, f));
    PLX_TRY(put_alpha(run, &q));
    PLX_TRY(put_gram(run, &q));
    run->info->objective = objective(run, &q, plx__cmat(f), b.data);
    run->info->iterations = result.iterations;
    if (result.iterations) run->info->converged = result.converged;
    if (!result.converged) {
        run->info->converged = 0;
        plx__warn(run->ctx, "rls: the iterative solver stopped before reaching tol; results are approximate");
    }
    return PLX_OK;
}

static plx_status predict(plx__run *run)
{
    problem q = {0};
    plx_mat f;
    PLX_TRY(prepare(&q, run));
    PLX_TRY(plx__store_new(&f, run->out, "scores", run->problem->n, q.k));
    return score(run, &q, f);
}

/* Index of the view that will be used, without complaining: fit does that. */
static plx_index likely_view(const plx__run *run)
{
    const params *p = run->params;
    for (plx_index v = 0; v < run->problem->n_views; v++)
        if (strcmp(run->problem->views[v].name, p->view) == 0) return v;
    return strcmp(p->view, "concat") == 0 ? -1 : 0;
}

/* Prepared rows, the labelled ones among them (twice: used and kept), their kernel matrix or the normal equations, a
 * block of kernel values while scoring, and n x K results. */
static double memory(const plx__run *run)
{
    const plx__problem *x = run->problem;
    const params *p = run->params;
    plx_index view = likely_view(run);
    double n = (double)x->n, l = (double)x->n_labelled, k = (double)x->n_classes, cols = 0, entries = 0;
    for (plx_index v = 0; v < x->n_views; v++) {
        if (view >= 0 && v != view) continue;
        cols += (double)x->views[v].cols;
        entries += x->views[v].sparse ? 1.5 * (double)x->views[v].nonzeros : n * (double)x->views[v].cols;
    }
    plx__value kernel = {.word = -1};
    if (plx__pv(&kernel, run->ctx, run->settings, "kernel", view < 0 ? "concat" : x->views[view].name) != PLX_OK)
        return INFINITY;
    bool linear = kernel.word == PLX__KERNEL_LINEAR || kernel.word == PLX__KERNEL_COSINE;
    bool primal = linear && (p->solver == PRIMAL || (p->solver == AUTO && x->n_labelled > PRIMAL_ABOVE));
    double kept = run->fitted ? 0.0 : (linear ? 1.0 : 2.0) * entries * (n > 0 ? l / n : 0.0) + cols * k;
    double solver = run->fitted ? 0.0 : primal ? (cols <= 2000 ? l * cols + cols * cols : entries) : l * l;
    double scoring = linear ? 0.0 : 1024.0 * (run->fitted ? n : l);
    if (kernel.word == PLX__KERNEL_COSINE) kept += entries;
    return plx__prepared_bytes(run, view) +
           8 * (kept + solver + scoring + 4 * n * k + (plx__wanted(run, "gram") ? n * n : 0));
}

static const char *const extra_views[] = {"concat", NULL};
static const plx__param_table tables[] = {param_specs,
                                          plx__kernel_params,
                                          plx__scale_params,
                                          plx__decision_params,
                                          plx__heldout_params,
                                          plx__zero_rows_params,
                                          NULL};

const plx__method plx__method_rls = {
    .name = "rls",
    .title = "Regularised least squares on one view or on all joined",
    .summary = "Supervised baseline: one-against-rest least squares with a norm penalty, linear or with a kernel.",
    .citation = "sindhwani2005coreg",
    .task = PLX_TASK_CLASSIFY,
    .capabilities =
        PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_CAN_KERNEL_VIEWS | PLX_IS_FEATURE_FREE,
    .min_views = 1,
    .min_classes = 2,
    .zero_rows = PLX__ZERO_ROWS_PARAM,
    .refuse_uncovered = true,
    .extra_views = extra_views,
    .params_size = sizeof(params),
    .params = tables,
    .arrays = array_specs,
    .transform = "scores",
    .memory = memory,
    .memory_remedy = "use solver=primal with a linear kernel, label fewer samples, or raise --memory",
    .fit = fit,
    .predict = predict};
