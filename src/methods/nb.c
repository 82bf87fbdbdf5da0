/*
 * nb: multinomial naive Bayes per view, and the ensemble of the views.
 *
 * Every view v has its own word distributions theta_v (one row per class), estimated from the labelled samples that
 * have the view; the class prior comes from all labelled samples. A sample's posterior is the average of its views'
 * posteriors (NBC_E) or their product of experts. (A), (B), (C) mark the steps of the docs page.
 */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "frame/problem.h"
#include "linalg/csr.h"
#include "linalg/dense.h"

enum { MEAN = 0, PRODUCT = 1 };

typedef struct params {
    double smoothing, prior_smoothing;
    int combine;
} params;

static const plx__param_spec param_specs[] = {
    PLX__REAL(params, smoothing, "1", 0, INFINITY,
              "Pseudo-count per class and feature; larger pulls towards the uniform distribution."),
    PLX__REAL(params, prior_smoothing, "0", 0, INFINITY,
              "Pseudo-count per class in the prior; larger pulls towards equal classes."),
    PLX__CHOICE(params, combine, "mean", "mean|product",
                "How the views' posteriors are joined: their average, or the product of their likelihoods."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    {"posterior", "n x K", 0, "Class probabilities of every sample."},
    {"posterior.VIEW", "n x K", 0, "Class probabilities by one view alone; zero rows where it is missing."},
    {"theta.VIEW", "K x d", 0, "Feature probabilities of every class in one view."},
    {"prior", "1 x K", 0, "Class probabilities before any view is seen."},
    {NULL, NULL, 0, NULL}};

static const double LOG_OF_ZERO = 1e-300; /* smoothing = 0: log 0 is taken as the log of this */

/* ---- fitting ---- */

/* (A) prior_c = (labelled count + prior_smoothing) / normaliser. */
static plx_status fit_prior(plx__run *run)
{
    const params *p = run->params;
    const plx__problem *x = run->problem;
    plx_mat prior;
    double total = 0;
    PLX_TRY(plx__store_new(&prior, run->out, "prior", 1, x->n_classes));
    for (plx_index i = 0; i < x->n; i++)
        if (x->label[i] >= 0) prior.data[x->label[i]] += 1;
    for (plx_index c = 0; c < x->n_classes; c++) {
        if (prior.data[c] == 0)
            PLX_FAIL(run->ctx, PLX_E_DATA, "nb: class '%s' has no labelled sample; label one or remove the class",
                     x->classes[c]);
        total += prior.data[c] += p->prior_smoothing;
    }
    for (plx_index c = 0; c < x->n_classes; c++) prior.data[c] /= total;
    return PLX_OK;
}

static void add_row(double *sum, const plx__view *v, plx_index i)
{
    if (v->sparse)
        for (int64_t k = v->csr.ptr[i]; k < v->csr.ptr[i + 1]; k++) sum[v->csr.col[k]] += v->csr.val[k];
    else plx__axpy(sum, 1.0, v->dense.data + i * v->dense.ld, v->cols);
}

/* (B) theta_cf = (smoothing + sum of x_f over labelled samples of c that have the view) / (smoothing d + total). */
static plx_status fit_view(plx__run *run, const plx__view *v)
{
    const params *p = run->params;
    const plx__problem *x = run->problem;
    const char *name = NULL;
    plx_mat theta;
    PLX_TRY(plx__require_nonnegative(run, v));
    PLX_TRY(plx__view_key(&name, run->ctx, "theta", v->name));
    PLX_TRY(plx__store_new(&theta, run->out, name, x->n_classes, v->cols));
    for (plx_index i = 0; i < x->n; i++)
        if (x->label[i] >= 0 && v->present[i]) add_row(theta.data + x->label[i] * theta.ld, v, i);
    for (plx_index c = 0; c < x->n_classes; c++) {
        double *row = theta.data + c * theta.ld, total = plx__sum(row, v->cols);
        if (total == 0)
            plx__warn(
                run->ctx,
                "nb: the labelled samples of class '%s' all miss view '%s'; its features are taken as uniform there",
                x->classes[c], v->name);
        double normaliser = p->smoothing * (double)v->cols + total;
        if (!isfinite(normaliser))
            PLX_FAIL(run->ctx, PLX_E_NUMERIC,
                     "nb: the counts of class '%s' in view '%s' do not add up to a finite number; scale the view",
                     x->classes[c], v->name);
        for (plx_index f = 0; f < v->cols; f++)
            row[f] = normaliser > 0 ? (p->smoothing + row[f]) / normaliser : 1.0 / (double)v->cols;
    }
    return PLX_OK;
}

/* ---- scoring ---- */

/* L_v[i,c] = sum_f x_if log theta_cf, as one product with the transposed logarithms. */
static plx_status log_scores(plx__run *run, const plx__view *v, plx_cmat theta, plx_mat out)
{
    plx_mat logs;
    PLX_TRY(plx__arena_mat(&logs, plx__scratch(run->ctx), theta.cols, theta.rows));
    for (plx_index c = 0; c < theta.rows; c++)
        for (plx_index f = 0; f < theta.cols; f++) {
            double t = theta.data[c * theta.ld + f];
            logs.data[f * logs.ld + c] = log(t > 0 ? t : LOG_OF_ZERO);
        }
    if (v->sparse) return plx__spmm(run->ctx, 1.0, v->csr, plx__cmat(logs), 0.0, out);
    return plx__gemm(run->ctx, 1.0, v->dense, PLX__N, plx__cmat(logs), PLX__N, 0.0, out);
}

/* row = softmax(log prior + row), the row maximum subtracted. */
static void to_posterior(double *row, const double *log_prior, plx_index k)
{
    double top = -INFINITY, sum = 0;
    for (plx_index c = 0; c < k; c++) {
        row[c] += log_prior[c];
        top = fmax(top, row[c]);
    }
    for (plx_index c = 0; c < k; c++) sum += row[c] = exp(row[c] - top);
    for (plx_index c = 0; c < k; c++) row[c] /= sum;
}

enum { ROWS_AT_A_TIME = 512 };

typedef struct scoring {
    const plx__view *view;
    int combine;
    const double *prior, *log_prior; /* K */
    plx_mat own, joint;              /* n x K: one view, and all */
    int32_t *views;                  /* n: views counted so far */
} scoring;

/* One view's log scores: added to the joint sum, and turned into its own posterior. */
static plx_status join_view(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const scoring *s = arg;
    plx_index k = s->own.cols;
    (void)ctx;
    (void)worker;
    for (plx_index i = begin; i < end; i++) {
        double *row = s->own.data + i * s->own.ld, *sum = s->joint.data + i * s->joint.ld;
        if (!s->view->present[i]) {
            memset(row, 0, (size_t)k * sizeof *row);
            continue;
        }
        if (s->combine == PRODUCT) plx__axpy(sum, 1.0, row, k);
        to_posterior(row, s->log_prior, k);
        if (s->combine == MEAN) plx__axpy(sum, 1.0, row, k);
        s->views[i]++;
    }
    return PLX_OK;
}

/* (C) The joint posterior; a sample without any view gets the prior. */
static plx_status join_all(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const scoring *s = arg;
    plx_index k = s->joint.cols;
    (void)ctx;
    (void)worker;
    for (plx_index i = begin; i < end; i++) {
        double *row = s->joint.data + i * s->joint.ld;
        if (!s->views[i]) memcpy(row, s->prior, (size_t)k * sizeof *row);
        else if (s->combine == PRODUCT) to_posterior(row, s->log_prior, k);
        else plx__scale(row, 1.0 / s->views[i], k);
    }
    return PLX_OK;
}

static plx_status score_view(plx__run *run, scoring *s, const plx__view *v)
{
    const plx__store *state = run->fitted ? run->fitted : run->out;
    const char *name = NULL, *theta_name = NULL;
    plx_cmat theta;
    PLX_TRY(plx__view_key(&theta_name, run->ctx, "theta", v->name));
    PLX_TRY(plx__store_shaped(&theta, run->ctx, state, theta_name, s->joint.cols, v->cols));
    if (run->fitted) PLX_TRY(plx__require_nonnegative(run, v));
    PLX_TRY(plx__view_key(&name, run->ctx, "posterior", v->name));
    PLX_TRY(plx__store_new(&s->own, run->out, name, s->joint.rows, s->joint.cols));
    plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
    PLX_TRY(log_scores(run, v, theta, s->own));
    plx__arena_rewind(plx__scratch(run->ctx), mark);
    s->view = v;
    return plx__parallel_for(run->ctx, s->own.rows, ROWS_AT_A_TIME, join_view, s);
}

static plx_status start_scoring(scoring *s, plx__run *run)
{
    const params *p = run->params;
    const plx__problem *x = run->problem;
    plx_cmat prior;
    double *logs = NULL;
    PLX_TRY(plx__store_dense(&prior, run->ctx, run->fitted ? run->fitted : run->out, "prior"));
    if (prior.cols != x->n_classes) PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model's prior does not fit its classes");
    PLX_TRY(plx__store_new(&s->joint, run->out, "posterior", x->n, x->n_classes));
    PLX_TRY(plx__arena_i32(&s->views, plx__scratch(run->ctx), x->n));
    PLX_TRY(plx__arena_f64(&logs, plx__scratch(run->ctx), x->n_classes, 1));
    for (plx_index c = 0; c < x->n_classes; c++) logs[c] = log(prior.data[c]);
    s->combine = p->combine;
    s->prior = prior.data;
    s->log_prior = logs;
    return PLX_OK;
}

static plx_status score(plx__run *run)
{
    const plx__problem *x = run->problem;
    scoring s = {0};
    int32_t *label = NULL;
    PLX_TRY(start_scoring(&s, run));
    PLX_TRY(plx__arena_i32(&label, plx__scratch(run->ctx), x->n));
    for (plx_index v = 0; v < x->n_views; v++) {
        PLX_TRY(score_view(run, &s, &x->views[v]));
        PLX_TRY(plx__report(run->ctx, "score", v + 1, x->n_views, NAN));
    }
    PLX_TRY(plx__parallel_for(run->ctx, x->n, ROWS_AT_A_TIME, join_all, &s));
    PLX_TRY(plx__require_finite(run, plx__cmat(s.joint), "posteriors"));
    plx__argmax_rows(label, plx__cmat(s.joint));
    return plx__outcome_classes(run, label, plx__cmat(s.joint));
}

static plx_status fit(plx__run *run)
{
    PLX_TRY(fit_prior(run));
    for (plx_index v = 0; v < run->problem->n_views; v++) PLX_TRY(fit_view(run, &run->problem->views[v]));
    return score(run);
}

static double memory(const plx__run *run)
{
    const plx__problem *x = run->problem;
    double n = (double)x->n, k = (double)x->n_classes, cols = 0, widest = 0;
    for (plx_index v = 0; v < x->n_views; v++) {
        cols += (double)x->views[v].cols;
        widest = fmax(widest, (double)x->views[v].cols);
    }
    return 8 * k * (n * (double)(x->n_views + 2) + cols + widest) + 16 * n;
}

static const plx__param_table tables[] = {param_specs, plx__heldout_params, NULL};

const plx__method plx__method_nb = {
    .name = "nb",
    .title = "Multinomial naive Bayes, one per view, and their ensemble",
    .summary = "Class-conditional word distributions in every view; posteriors are averaged or multiplied over the "
               "views a sample has.",
    .citation = "zhuang2012mvplsa",
    .task = PLX_TASK_CLASSIFY,
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_IS_FEATURE_FREE | PLX_IS_VIEW_FREE,
    .min_views = 1,
    .min_classes = 1,
    .zero_rows = PLX__ZERO_ROWS_MISSING,
    .params_size = sizeof(params),
    .params = tables,
    .arrays = array_specs,
    .transform = "posterior",
    .view_scores = "posterior.VIEW",
    .memory = memory,
    .memory_remedy = "fit fewer samples at a time (heldout, then predict) or raise --memory",
    .fit = fit,
    .predict = score};
