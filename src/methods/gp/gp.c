/*
 * gp: Gaussian process regression, and logistic classification by the Laplace approximation.
 *
 * The covariance is one kernel on a view or on all views joined, or the sum of a kernel per view; its amplitudes and
 * widths and the noise maximise the evidence of the labelled samples. Only labelled samples shape the posterior:
 * every other sample is predicted from its covariances with them, by blocks.
 */
#include "methods/gp/gp.h"

#include <math.h>
#include <string.h>

#include "core/ranks.h"
#include "core/slabs.h"
#include "data/divided.h"
#include "gp/gp_device.h"
#include "gp/gp_pivots.h"
#include "run/problem.h"
#include "run/facts.h"

enum { BLOCK_ROWS = 512, MANY_LABELLED = 20000 };

static const plx__param_spec param_specs[] = {
    PLX__CHOICE(gp_params, task, "classification", "classification|regression",
                "What the labels are: classes, or numbers to be predicted."),
    PLX__TEXT(gp_params, view, "all", "View to learn from, or all."),
    PLX__CHOICE(gp_params, combine, "concat", "concat|sum",
                "With view=all: one kernel on all features joined, or the sum of one kernel per view."),
    PLX__CHOICE(gp_params, missing, "mean", "error|mean|zero",
                "A missing view or value: refuse, or put the column mean or 0 in its place; with combine=sum a missing "
                "view adds nothing."),
    PLX__REAL_ABOVE(gp_params, noise, "0.1", 0, "Regression: variance of the labels around the function."),
    PLX__BOOL(gp_params, center, "1", "Regression: take the mean of the labels off first and add it to predictions."),
    PLX__CHOICE(gp_params, averaging, "probit", "probit|map|exact",
                "Probabilities: by the probit formula, at the latent mean alone, or by integration."),
    PLX__CHOICE(gp_params, optimize, "evidence", "none|evidence",
                "Keep amplitude, width and noise as given, or start there and maximise the evidence."),
    PLX__INT(gp_params, max_iter, "200", 1, 1e9, "Most iterations of that."),
    PLX__INT(gp_params, pivots, "0", 0, 1e9,
             "Above 0: reduce every kernel to this many columns of its pivoted Cholesky factor over the labelled "
             "samples; larger is nearer to the full kernel."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    {"kernel", "n x n", PLX__ON_REQUEST, "Covariance of all samples."},
    {"mean", "n x Q", 0, "Latent posterior mean; Q = 1 for regression and two classes, else one column per class."},
    {"variance", "n x Q", 0, "Latent posterior variance."},
    {"probability", "n x K", PLX__SOMETIMES, "Class probabilities; only with task=classification."},
    {"hyper", "P x 1", 0, "Per kernel amplitude and (rbf) width, then the noise (regression)."},
    {"evidence_gradient", "P x 1", 0, "Derivative of the log evidence by the logarithm of each of these."},
    {"alpha", "l x Q", PLX__SAMPLE_ORDER, "Weights of the labelled samples: mean = covariance times alpha."},
    {NULL, NULL, 0, NULL}};

/* ---- scoring ---- */

typedef struct scoring {
    gp *g;
    const plx__gp_state *s;
    plx_mat mean, variance;
} scoring;

static plx_status score_pane(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const scoring *job = arg;
    (void)table;
    for (plx_index at = begin; at < end; at += BLOCK_ROWS) {
        plx_index last = plx__min(end, at + BLOCK_ROWS);
        PLX_TRY(plx__gp_score(&job->g->learner, job->s, at, last, job->mean, job->variance));
        PLX_TRY(plx__report(ctx, "score", last, job->mean.rows, NAN));
    }
    return PLX_OK;
}

/* Processes that divide the pivots divide the samples to be scored. */
static plx_status score_here(scoring *job)
{
    plx_context *ctx = job->g->ctx;
    plx__slabs cut = plx__slabs_cut(job->mean.rows, PLX__PANE_ROWS);
    cut.alone = !job->g->learner.divided;
    PLX_TRY(plx__slabs_each(ctx, cut, score_pane, job));
    PLX_TRY(plx__share_rows(job->g->run, cut, job->mean));
    return plx__share_rows(job->g->run, cut, job->variance);
}

static plx_status score(gp *g, const plx__gp_state *s, double offset)
{
    plx_index begin = 0, end = 0;
    plx_mat mean, variance;
    bool there = false;
    PLX_TRY(plx__sample_array(&mean, g->run, "mean", s->q));
    PLX_TRY(plx__sample_array(&variance, g->run, "variance", s->q));
    PLX_TRY(plx__gp_device_scores(&there, &g->learner, s, mean, variance));
    if (!there) PLX_TRY(score_here(&(scoring){g, s, mean, variance}));
    plx__kept_rows(&begin, &end, g->run);
    for (plx_index i = begin * s->q; i < end * s->q; i++) mean.data[i] += offset;
    plx__gp_outcome outcome = {.regression = g->regression,
                               .averaging = (plx__averaging)g->set->averaging,
                               .mean = plx__cmat(mean),
                               .variance = plx__cmat(variance)};
    return plx__gp_put_outcome(g->run, &outcome);
}

/* ---- the kernel on request ---- */

static plx_status covariance(gp *g, const plx__reference *refs, plx_mat out)
{
    for (plx_index v = 0; v < g->learner.count; v++)
        PLX_TRY(plx__view_kernel_values(g->ctx, &g->learner.kernels[v], 0, out.rows, &refs[v], v > 0, out));
    return PLX_OK;
}

static plx_status everybody(plx__reference **refs, plx_index **sample, gp *g)
{
    plx_index n = g->run->problem->n;
    PLX_TRY(plx__arena_i64(sample, plx__scratch(g->ctx), n));
    for (plx_index i = 0; i < n; i++) (*sample)[i] = i;
    PLX_TRY(PLX__ARENA_NEW(refs, plx__scratch(g->ctx), g->learner.count));
    for (plx_index v = 0; v < g->learner.count; v++)
        PLX_TRY(plx__reference_of(&(*refs)[v], g->ctx, &g->learner.kernels[v], *sample, n));
    return PLX_OK;
}

/* All fitted samples stay in the model when held-out ones will be compared with them. */
static plx_status keep_everybody(gp *g, const plx__reference *refs)
{
    plx__value heldout;
    double n = (double)g->run->problem->n;
    PLX_TRY(plx__view_value(&heldout, g->ctx, g->run->settings, "heldout", NULL));
    if (!heldout.text[0]) return PLX_OK;
    PLX_TRY(plx__store_put(g->run->out, "_fitted", (plx_cmat){&n, 1, 1, 1}));
    for (plx_index v = 0; v < g->learner.count; v++)
        PLX_TRY(plx__reference_store(g->run, &refs[v], "fitted", g->learner.kernels[v].name));
    return PLX_OK;
}

static plx_status put_kernel(gp *g)
{
    plx_index n = g->run->problem->n, *sample = NULL;
    plx__reference *refs = NULL;
    plx_mat k;
    if (!plx__wanted(g->run, "kernel")) return PLX_OK;
    PLX_TRY(everybody(&refs, &sample, g));
    PLX_TRY(plx__store_new(&k, g->run->out, "kernel", n, n));
    PLX_TRY(covariance(g, refs, k));
    return keep_everybody(g, refs);
}

static void add_peers(const plx__view_kernel *v, plx_mat k)
{
    for (plx_index i = 0; v->peers && i < k.rows; i++)
        for (plx_index j = 0; j < k.cols; j++) {
            double there = v->peers[i * k.cols + j], back = v->peers[j * k.cols + i];
            bool known = v->present[i] && v->present[j] && !isnan(there + back);
            if (known) k.data[i * k.ld + j] += v->kernel.amplitude * 0.5 * (there + back);
        }
}

/* New samples among themselves; 0 where a precomputed view does not tell. */
static plx_status new_kernel(gp *g, plx_mat k)
{
    plx_index *sample = NULL;
    plx__reference *refs = NULL;
    PLX_TRY(everybody(&refs, &sample, g));
    for (plx_index v = 0; v < g->learner.count; v++) {
        if (g->learner.kernels[v].kernel.kind == PLX__KERNEL_PRECOMPUTED) add_peers(&g->learner.kernels[v], k);
        else PLX_TRY(plx__view_kernel_values(g->ctx, &g->learner.kernels[v], 0, k.rows, &refs[v], true, k));
    }
    return PLX_OK;
}

static plx_status put_new_kernel(gp *g)
{
    plx_index n = g->run->problem->n, *column = NULL;
    plx__reference *refs = NULL;
    double fitted = 0;
    plx_mat own, cross;
    if (!plx__wanted(g->run, "kernel") || !plx__store_find(g->run->fitted, "_fitted")) return PLX_OK;
    PLX_TRY(plx__store_scalar(&fitted, g->ctx, g->run->fitted, "_fitted"));
    if (!(fitted >= 1 && fitted < 1e9)) PLX_FAIL(g->ctx, PLX_E_FORMAT, "the model's number of samples is out of range");
    PLX_TRY(plx__store_new(&own, g->run->out, "kernel", n, n));
    PLX_TRY(plx__store_new(&cross, g->run->out, "_cross.kernel", n, (plx_index)fitted));
    PLX_TRY(plx__arena_i64(&column, plx__scratch(g->ctx), cross.cols));
    for (plx_index i = 0; i < cross.cols; i++) column[i] = i;
    PLX_TRY(PLX__ARENA_NEW(&refs, plx__scratch(g->ctx), g->learner.count));
    for (plx_index v = 0; v < g->learner.count; v++)
        PLX_TRY(plx__reference_load(&refs[v], g->run, &g->learner.kernels[v], "fitted", column, cross.cols));
    PLX_TRY(covariance(g, refs, cross));
    return new_kernel(g, own);
}

/* ---- the method ---- */

static void warn_of_size(gp *g)
{
    char size[PLX__SIZE_BYTES];
    double n = (double)g->learner.targets.n;
    if (g->learner.targets.n > MANY_LABELLED && !plx__weight_space(&g->learner))
        plx__warn(g->ctx, "gp: %lld labelled samples; each of several covariance matrices takes %s",
                  (long long)g->learner.targets.n, plx__size_text(size, 8.0 * n * n));
}

static plx_status open_targets(gp *g)
{
    plx__gp_learner *l = &g->learner;
    PLX_TRY(plx__gp_targets_of(&l->targets, g->run, g->regression, g->set->center, NULL, "samples"));
    PLX_TRY(plx__arena_printf(&l->targets.what, plx__scratch(g->ctx), "gp: matrix for view '%s'",
                              l->count > 1 ? "all" : l->kernels[0].name));
    for (plx_index v = 0; v < l->count && !l->most_pivots; v++)
        PLX_TRY(plx__reference_of(&l->refs[v], g->ctx, &l->kernels[v], l->targets.sample, l->targets.n));
    return PLX_OK;
}

static plx_status learn(gp *g, plx__gp_state *state)
{
    plx_mat hyper, gradient;
    plx__lbfgs_result result;
    plx_index count = g->learner.n_hyper;
    PLX_TRY(plx__store_new(&hyper, g->run->out, "hyper", count, 1));
    PLX_TRY(plx__store_new(&gradient, g->run->out, "evidence_gradient", count, 1));
    g->learner.keep = g->run->out->arena;
    PLX_TRY(plx__gp_learn(&g->learner, g->set->optimize ? g->set->max_iter : 0, state, gradient.data, &result));
    memcpy(hyper.data, g->learner.hyper, (size_t)count * sizeof(double));
    if (g->set->optimize) PLX_TRY(plx__finish(g->run, NULL, result.iterations, result.converged, state->evidence));
    g->run->info->objective = state->evidence;
    PLX_TRY(plx__report_count(g->run, "evaluations", result.evaluations));
    return plx__report_number(g->run, "jitter", state->jitter);
}

static plx_status fit(plx__run *run)
{
    gp g;
    plx__gp_state state;
    PLX_TRY(plx__gp_open(&g, run));
    g.learner.divided = g.learner.most_pivots > 0;
    PLX_TRY(open_targets(&g));
    warn_of_size(&g);
    PLX_TRY(learn(&g, &state));
    PLX_TRY(plx__gp_store(run, &state, &g.learner.targets));
    if (g.learner.most_pivots) PLX_TRY(plx__gp_store_pivots(&g.learner));
    for (plx_index v = 0; v < g.learner.count && !state.weights.data; v++)
        PLX_TRY(plx__reference_store(run, &g.learner.refs[v], "rows", g.learner.kernels[v].name));
    PLX_TRY(score(&g, &state, g.learner.targets.offset));
    return put_kernel(&g);
}

/* A thin state must be that of these kernels' features. */
static plx_status check_thin(const gp *g, const plx__gp_state *s)
{
    plx_index features = g->learner.most_pivots ? plx__gp_pivot_columns(&g->learner) : 0;
    for (plx_index v = 0; v < g->learner.count && !g->learner.most_pivots; v++)
        features += plx__points_cols(g->learner.kernels[v].rows);
    if (features != s->weights.rows) PLX_FAIL(g->ctx, PLX_E_FORMAT, "the model's weights do not fit its views");
    return PLX_OK;
}

static plx_status predict(plx__run *run)
{
    gp g;
    plx__gp_state state;
    plx_index *sample = NULL;
    double offset = 0;
    PLX_TRY(plx__gp_open(&g, run));
    PLX_TRY(plx__gp_load(&state, &sample, &offset, run, g.regression));
    if (g.learner.most_pivots) PLX_TRY(plx__gp_load_pivots(&g.learner));
    if (g.learner.most_pivots && !state.weights.data)
        PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model lacks the weights of its pivots");
    if (state.weights.data) PLX_TRY(check_thin(&g, &state));
    for (plx_index v = 0; v < g.learner.count && !state.weights.data; v++)
        PLX_TRY(plx__reference_load(&g.learner.refs[v], run, &g.learner.kernels[v], "rows", sample, state.n));
    PLX_TRY(score(&g, &state, offset));
    return put_new_kernel(&g);
}

/* Covariances of all labelled samples are nobody's to divide. */
static plx_status check(plx__run *run)
{
    if (plx__ranks(run->ctx) == 1 || ((const gp_params *)run->params)->pivots > 0) return PLX_OK;
    PLX_FAIL(run->ctx, PLX_E_UNSUPPORTED,
             "gp: pivots = 0 is not distributed: one process has to fit it; pivots > 0 is");
}

/* Those of the labelled samples are made of pivots; refusing holes means to look at all rows. */
static bool own_rows(plx__run *run, const plx_dataset *data)
{
    static const char *const joined[] = {"concat", NULL};
    const gp_params *p = run->params;
    return p->pivots > 0 && p->missing != GP_MISSING_ERROR && !plx__wanted(run, "kernel") &&
           plx__kernels_by_own_rows(run, data, joined);
}

static bool is_linear(const plx__run *run, const char *view)
{
    plx__value kernel = {.word = -1};
    return plx__view_value(&kernel, run->ctx, run->settings, "kernel", view) == PLX_OK &&
           kernel.word == PLX__KERNEL_LINEAR;
}

/* Prepared and filled views and the labelled rows twice. Then l x l matrices: one per kernel, the covariance, the
 * gradient, an inverse, two factors in the making and Q kept twice; or, in weight space, three l x p and some p x p. */
static double memory(const plx__run *run)
{
    const plx__problem *x = run->problem;
    const gp_params *p = run->params;
    bool all = strcmp(p->view, "all") == 0, linear = true;
    double n = (double)x->n, l = run->fitted ? 0.0 : (double)x->n_labelled, rows = 0, kernels = 0, features = 0;
    double q = (double)plx__gp_problems(p->task == GP_REGRESSION, x->n_classes);
    for (plx_index v = 0; v < x->n_views; v++) {
        const plx__view *view = &x->views[v];
        if (!all && strcmp(view->name, p->view) != 0) continue;
        kernels++;
        features += (double)view->cols;
        linear &= view->kind != PLX_VIEW_KERNEL && is_linear(run, view->name);
        rows += plx__prepared_bytes(run, v) + 2 * (view->sparse ? 12.0 : 8.0) * plx__held_values(view, x->n);
    }
    if (all && p->combine == GP_CONCAT) kernels = 1;
    if (p->pivots > 0) features = kernels * fmin((double)p->pivots, run->fitted ? (double)p->pivots : l);
    double block = (run->fitted ? n : l) * (double)BLOCK_ROWS * 3, square = (kernels + 5 + 2 * q) * l * l;
    if (p->pivots > 0 || plx__gp_in_weight_space(linear, features, l)) {
        square = (p->pivots > 0 ? 6 : 3) * l * features + (5 + 2 * q) * features * features;
        block = features * (double)BLOCK_ROWS * 3;
    }
    double kept = (double)plx__kept_count(run);
    return rows + 8 * (square + block + kept * (4 * q + 3) + n + (plx__wanted(run, "kernel") ? n * n : 0));
}

static const plx__param_table tables[] = {param_specs,
                                          plx__kernel_params,
                                          plx__amplitude_params,
                                          plx__scale_params,
                                          plx__heldout_params,
                                          plx__uncovered_params,
                                          NULL};

const plx__method plx__method_gp = {
    .name = "gp",
    .title = "Gaussian process on one view, all joined, or a sum of kernels",
    .summary = "Supervised baseline with variances: exact regression, or classification by the Laplace approximation, "
               "with hyper-parameters by maximum evidence.",
    .citation = "rasmussen2006gp",
    .task = PLX_TASK_CLASSIFY,
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_MISSING_VALUES | PLX_CAN_SPARSE |
                    PLX_CAN_KERNEL_VIEWS | PLX_IS_FEATURE_FREE,
    .min_views = 1,
    .zero_rows = PLX__ZERO_ROWS_PRESENT,
    .params_size = sizeof(gp_params),
    .scores = "class probability",
    .growth = "cubic in labels; linear with pivots",
    .ranks = PLX__RANKS_SUMS, /* with pivots */
    .own_rows = own_rows,
    .whose_rows = plx__whose_panes,
    .own_results = true,
    .params = tables,
    .arrays = array_specs,
    .transform = "mean",
    .check = check,
    .memory_remedy = "set pivots (for example pivots=300), label fewer samples or raise the memory limit",
    .memory = memory,
    .predicts_apart = true,
    .fit = fit,
    .predict = predict};
