/*
 * bct: Bayesian co-training. Every view has a latent function f_j ~ GP(0, kappa_j), a consensus f_c is tied to each of
 * them with variance s_j, labels depend on f_c alone. Integrating the f_j out leaves one Gaussian process on f_c, whose
 * kernel K_c is made of all samples, labelled or not, whatever views they lack.
 */
#include "methods/bct/bct_device.h"

#include <string.h>

#include "core/parallel.h"
#include "core/ranks.h"
#include "data/divided.h"
#include "kernel/row_passes.h"
#include "parallax/acquire.h"
#include "run/clusters.h"
#include "run/problem.h"
#include "gp/gp_weight_space.h"
#include "run/facts.h"

enum { BLOCK_ROWS = 512 };

const plx__param_spec plx__bct_params[] = {
    PLX__CHOICE(
        bct_params, task, "classification", "classification|regression|kernel|cluster",
        "What to do with the co-training kernel: predict classes or numbers, only compute it, or cluster with it."),
    PLX__VIEW_REAL(
        "view_variance", "1", 0, PLX__ABOVE_LO,
        "Variance between a view's function and the consensus, in units of the kernel: larger trusts the view "
        "less."),
    PLX__CHOICE(bct_params, zero_rows, "missing", "missing|present",
                "Whether an all-zero row of a counts, binary or real view under a linear or cosine kernel counts as a "
                "missing view."),
    PLX__REAL_ABOVE(bct_params, noise, "0.1", 0, "Regression: variance of the labels around the consensus."),
    PLX__BOOL(bct_params, center, "1", "Regression: take the mean of the labels off first and add it to predictions."),
    PLX__CHOICE(bct_params, averaging, "probit", "probit|map|exact",
                "Probabilities: by the probit formula, at the latent mean alone, or by integration."),
    PLX__CHOICE(bct_params, optimize, "none", "none|view_variance|evidence",
                "Maximise the evidence over the view variances (and the noise), or over amplitudes and widths too."),
    PLX__INT(bct_params, max_iter, "200", 1, 1e9, "Most iterations of that."),
    PLX__CHOICE(bct_params, lowrank, "auto", "none|auto|exact",
                "Weight-space form for linear kernels: never, when there are few features, or always."),
    PLX__INT(
        bct_params, pivots, "0", 0, 1e9,
        "Above 0: reduce every kernel to this many columns of its pivoted Cholesky factor; larger is nearer to the "
        "full kernel."),
    PLX__CLUSTERS_ROWS(bct_params, "", 2, "Number of clusters, or auto; required for task=cluster."),
    PLX__VIEW_REAL("gamma", "", 0, PLX__ABOVE_LO,
                   "The rbf kernel as exp(-gamma |x-z|^2), instead of width: larger is more local."),
    PLX__VIEW_REAL_OR("amplitude", "auto", 0, PLX__ABOVE_LO, "auto",
                      "Factor of every kernel value; auto makes the mean of the diagonal 1."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    PLX__CLUSTER_CURVE,
    {"kernel", "n x n", PLX__ON_REQUEST, "Co-training kernel; zero for samples without any view and held-out ones."},
    {"precision", "n x n", PLX__ON_REQUEST,
     "Its inverse, the sum of the views' precisions; 0 between samples without a common view."},
    {"covered", "n x 1", 0, "1: the sample has at least one view."},
    {"mean", "n x Q", PLX__SOMETIMES, "Latent posterior mean of the consensus; not with task=kernel or cluster."},
    {"variance", "n x Q", PLX__SOMETIMES, "Latent posterior variance; not with task=kernel or cluster."},
    {"probability", "n x K", PLX__SOMETIMES, "Class probabilities; only with task=classification."},
    {"hyper", "P x 1", 0, "Per view amplitude and (rbf) width, then the view variances, then the noise (regression)."},
    {"evidence_gradient", "P x 1", PLX__ON_REQUEST | PLX__SOMETIMES,
     "Derivative of the log evidence by the logarithm of each of these; not with task=kernel or cluster."},
    {"view_weight", "m x 1", 0, "Share of every view in the precision: (1/s_j) / sum_k 1/s_k."},
    {"view_mean", "n x mQ", PLX__ON_REQUEST | PLX__SOMETIMES,
     "Posterior mean of every view's own function; not with task=kernel or cluster."},
    {"alpha", "l x Q", PLX__SAMPLE_ORDER | PLX__SOMETIMES,
     "Weights of the labelled samples: mean = kernel times alpha; not with task=kernel or cluster."},
    {"marginal.VIEW", "n x n", PLX__ON_REQUEST,
     "Prior covariance of the view's function given all views; zero where it is missing."},
    {NULL, NULL, 0, NULL}};

/* ---- labels ---- */

static void warn_of_uncovered(bct *b)
{
    plx_index labelled = 0;
    for (plx_index i = 0; i < b->n; i++) labelled += b->place[i] < 0 && b->run->problem->label_text[i];
    if (labelled && b->labels)
        plx__warn(b->ctx, "bct: labelled samples without a view: %lld; their labels are ignored", (long long)labelled);
}

/* What samples without any view are given: the most frequent class, or the mean of the targets. */
static plx_status put_fallback(bct *b, double *fallback)
{
    const plx__problem *p = b->run->problem;
    double *count = NULL;
    *fallback = 0;
    if (b->regression) {
        *fallback = plx__sum(b->targets.y.data, b->targets.n) / (double)b->targets.n + b->targets.offset;
    } else {
        PLX_TRY(plx__arena_f64(&count, plx__scratch(b->ctx), p->n_classes, 1));
        for (plx_index i = 0; i < b->targets.n; i++) count[p->label[b->targets.sample[i]]]++;
        for (plx_index c = 1; c < p->n_classes; c++)
            if (count[c] > count[(plx_index)*fallback]) *fallback = (double)c;
    }
    return plx__store_put(b->run->out, "_fallback", (plx_cmat){fallback, 1, 1, 1});
}

static plx_status open_targets(bct *b)
{
    uint8_t *covered = NULL;
    PLX_TRY(plx__arena_u8(&covered, plx__scratch(b->ctx), b->n));
    for (plx_index i = 0; i < b->n; i++) covered[i] = b->place[i] >= 0;
    PLX_TRY(plx__gp_targets_of(&b->targets, b->run, b->regression, b->set->center, covered, "sample has any view"));
    b->targets.noise = b->set->noise;
    b->targets.what = "bct: matrix for the labelled samples";
    PLX_TRY(plx__arena_i64(&b->labelled, plx__scratch(b->ctx), b->targets.n));
    for (plx_index i = 0; i < b->targets.n; i++) b->labelled[i] = b->place[b->targets.sample[i]];
    return PLX_OK;
}

/* ---- scoring the fitted samples ---- */

/* Means and variances of covered samples begin..begin+rows-1. */
static plx_status block_of_columns(bct *b, const plx__gp_state *s, plx_index begin, plx_mat m, plx_mat v)
{
    plx_mat k;
    double *self = NULL;
    PLX_TRY(plx__mat_clone(&k, plx__scratch(b->ctx), plx__csub(plx__cmat(b->kl), begin, 0, m.rows, s->n)));
    PLX_TRY(plx__arena_f64(&self, plx__scratch(b->ctx), m.rows, 1));
    for (plx_index i = 0; i < m.rows; i++) self[i] = plx__bct_diagonal(b, begin + i);
    return plx__gp_predict(b->ctx, s, k, self, NULL, m, v);
}

static plx_status block_of_rows(bct *b, const plx__gp_state *s, plx_index begin, plx_mat m, plx_mat v)
{
    plx_mat z;
    plx_index at = 0;
    PLX_TRY(plx__mat_clone(&z, plx__scratch(b->ctx),
                           plx__csub(plx__cmat(b->weight.z), begin, 0, m.rows, b->weight.z.cols)));
    PLX_TRY(plx__weight_space_predict(b->ctx, s, z, b->weight.c + begin, m, v));
    while (at < s->n && b->labelled[at] < begin) at++;
    for (; at < s->n && b->labelled[at] < begin + m.rows; at++)
        plx__weight_space_own(s, at, b->weight.c[b->labelled[at]], m, v, b->labelled[at] - begin);
    return PLX_OK;
}

typedef struct scoring {
    const plx__gp_state *s;
    const bct_scores *out;
} scoring;

static plx_status score_block(void *arg, bct *b, plx_index begin, plx_index end)
{
    const scoring *job = arg;
    plx__mark mark = plx__arena_mark(plx__scratch(b->ctx));
    plx_index q = job->s->q;
    plx_mat m = plx__sub(job->out->mean, begin, 0, end - begin, q);
    plx_mat v = plx__sub(job->out->variance, begin, 0, end - begin, q);
    PLX_TRY(b->weight.thin ? block_of_rows(b, job->s, begin, m, v) : block_of_columns(b, job->s, begin, m, v));
    plx__arena_rewind(plx__scratch(b->ctx), mark);
    return PLX_OK;
}

/* Every process for its own samples; then all have all. */
static plx_status score_covered(bct *b, const plx__gp_state *s, bct_scores *out)
{
    size_t row = (size_t)s->q * sizeof(double);
    PLX_TRY(plx__arena_mat(&out->mean, plx__scratch(b->ctx), b->n_cov, s->q));
    PLX_TRY(plx__arena_mat(&out->variance, plx__scratch(b->ctx), b->n_cov, s->q));
    PLX_TRY(plx__bct_each_block(b, BLOCK_ROWS, score_block, &(scoring){s, out}));
    PLX_TRY(plx__slabs_share(b->ctx, b->cut, out->mean.data, row, 1));
    return plx__slabs_share(b->ctx, b->cut, out->variance.data, row, 1);
}

static plx_status put_scores(bct *b, const plx__gp_state *s, const bct_scores *found)
{
    plx_mat mean, variance;
    uint8_t *covered = NULL;
    double fallback = 0;
    PLX_TRY(plx__store_new(&mean, b->run->out, "mean", b->n, s->q));
    PLX_TRY(plx__store_new(&variance, b->run->out, "variance", b->n, s->q));
    for (plx_index i = 0; i < b->n_cov; i++)
        for (plx_index c = 0; c < s->q; c++) {
            mean.data[b->covered[i] * s->q + c] = found->mean.data[i * s->q + c] + b->targets.offset;
            variance.data[b->covered[i] * s->q + c] = found->variance.data[i * s->q + c];
        }
    PLX_TRY(plx__arena_u8(&covered, plx__scratch(b->ctx), b->n));
    for (plx_index i = 0; i < b->n; i++) covered[i] = b->place[i] >= 0;
    PLX_TRY(put_fallback(b, &fallback));
    plx__gp_outcome outcome = {.regression = b->regression,
                               .averaging = (plx__averaging)b->set->averaging,
                               .mean = plx__cmat(mean),
                               .variance = plx__cmat(variance),
                               .usable = covered,
                               .fallback = b->regression ? 0 : (int32_t)fallback,
                               .fallback_mean = fallback};
    return plx__gp_put_outcome(b->run, &outcome);
}

/* ---- results ---- */

static plx_status put_summary(bct *b)
{
    plx_mat hyper, weight, covered;
    double sum = 0;
    PLX_TRY(plx__store_new(&hyper, b->run->out, "hyper", b->n_hyper, 1));
    PLX_TRY(plx__store_new(&weight, b->run->out, "view_weight", b->run->problem->n_views, 1));
    PLX_TRY(plx__store_new(&covered, b->run->out, "covered", b->n, 1));
    memcpy(hyper.data, b->hyper, (size_t)b->n_hyper * sizeof(double));
    for (plx_index j = 0; j < b->m; j++) sum += 1.0 / b->views[j].variance;
    for (plx_index j = 0; j < b->m; j++) weight.data[b->views[j].view] = 1.0 / b->views[j].variance / sum;
    for (plx_index i = 0; i < b->n; i++) covered.data[i] = b->place[i] >= 0;
    return plx__report_number(b->run, "jitter", b->jitter);
}

static bool asks_for_solves(const plx__run *run)
{
    bool wanted = false;
    for (plx_index i = 0; i < run->n_wanted; i++) {
        const char *name = run->wanted[i];
        wanted |= strcmp(name, "evidence_gradient") == 0 || strcmp(name, "view_mean") == 0 ||
                  strncmp(name, "marginal.", 9) == 0;
    }
    return wanted;
}

static bool wants_factors(const bct *b)
{
    return (b->set->optimize != BCT_FIXED && b->labels) || asks_for_solves(b->run);
}

/* K_c itself; and solves with the S_j, which two complete views do without. */
static void choose_results(bct *b)
{
    b->dense.full = !b->labels;
    for (plx_index i = 0; i < b->run->n_wanted; i++) {
        const char *name = b->run->wanted[i];
        bool marginal = strncmp(name, "marginal.", 9) == 0;
        b->dense.full |= marginal || strcmp(name, "kernel") == 0 || strcmp(name, "precision") == 0;
        b->dense.solves |= marginal || strcmp(name, "view_mean") == 0;
    }
}

static plx_status fit_labels(bct *b, plx__gp_state *state)
{
    bct_scores scores;
    bool there = false;
    plx__bct_warn_of_few(b);
    PLX_TRY(plx__bct_learn_there(&there, b, state, &scores));
    if (!there) {
        PLX_TRY(plx__bct_reserve(b));
        PLX_TRY(plx__bct_learn(b, state));
    }
    PLX_TRY(plx__bct_tell(b, state));
    PLX_TRY(plx__gp_store(b->run, state, &b->targets));
    PLX_TRY(plx__bct_put_view_means(b, state));
    if (!there) {
        PLX_TRY(plx__bct_find_diagonal(b));
        PLX_TRY(score_covered(b, state, &scores));
    }
    return put_scores(b, state, &scores);
}

static plx_status fit_kernel(bct *b)
{
    PLX_TRY(plx__bct_reserve(b));
    PLX_TRY(plx__bct_build(b));
    return b->set->task == BCT_CLUSTER ? plx__bct_cluster(b) : plx__outcome_nothing(b->run);
}

plx_status plx__bct_fit(bct *b, plx__gp_state *state, bool factors)
{
    warn_of_uncovered(b);
    b->keep_factors = factors || wants_factors(b);
    b->keep_precision = plx__wanted(b->run, "precision");
    choose_results(b);
    b->dense.full |= factors;
    b->dense.solves |= factors;
    PLX_TRY(plx__report(b->ctx, "kernel", 0, 1, NAN));
    if (b->labels) PLX_TRY(open_targets(b));
    PLX_TRY(b->labels ? fit_labels(b, state) : fit_kernel(b));
    PLX_TRY(put_summary(b));
    return plx__bct_store(b);
}

static plx_status fit(plx__run *run)
{
    bct b;
    plx__gp_state state;
    const bct_params *p = run->params;
    if (p->task == BCT_CLUSTER && p->clusters < 2)
        PLX_FAIL(run->ctx, PLX_E_ARG, "clusters: task=cluster needs the number of clusters");
    PLX_TRY(plx__bct_open(&b, run));
    PLX_TRY(plx__bct_fit(&b, &state, false));
    return plx__bct_put_kernels(&b);
}

/* ---- several processes ---- */

static bool in_weight_space(const plx__run *run, double *features)
{
    const bct_params *p = run->params;
    bool linear = true;
    *features = 0;
    for (plx_index v = 0; v < run->problem->n_views; v++) {
        plx__value kernel = {.word = -1};
        const plx__view *view = &run->problem->views[v];
        if (plx__view_value(&kernel, run->ctx, run->settings, "kernel", view->name) != PLX_OK) return false;
        linear &= kernel.word == PLX__KERNEL_LINEAR && view->kind != PLX_VIEW_KERNEL;
        *features += p->pivots > 0 ? (double)plx__min(p->pivots, run->problem->n) : (double)view->cols;
    }
    return p->pivots > 0 || (linear && (p->lowrank == BCT_LOWRANK_EXACT ||
                                        (p->lowrank == BCT_LOWRANK_AUTO && 2 * *features < (double)run->problem->n)));
}

/* Rows of the weight-space form are divided, matrices over samples are nobody's to divide. */
static plx_status check(plx__run *run)
{
    const bct_params *p = run->params;
    double features = 0;
    if (plx__ranks(run->ctx) == 1) return PLX_OK;
    if (p->task > BCT_REGRESSION)
        PLX_FAIL(run->ctx, PLX_E_UNSUPPORTED,
                 "bct: task = %s is not distributed: one process has to fit it; classification and regression are",
                 p->task == BCT_KERNEL ? "kernel" : "cluster");
    if (!in_weight_space(run, &features))
        PLX_FAIL(run->ctx, PLX_E_UNSUPPORTED,
                 "bct: pivots = 0 with these kernels is not distributed: one process has to fit it; pivots > 0 is, and "
                 "linear kernels with lowrank = exact");
    for (plx_index i = 0; i < run->n_wanted; i++)
        if (strcmp(run->wanted[i], "kernel") == 0 || strcmp(run->wanted[i], "precision") == 0 ||
            strcmp(run->wanted[i], "evidence_gradient") == 0 || strncmp(run->wanted[i], "marginal.", 9) == 0)
            PLX_FAIL(run->ctx, PLX_E_UNSUPPORTED, "bct: the array '%s' is not distributed: one process has to make it",
                     run->wanted[i]);
    return PLX_OK;
}

static bool own_rows(plx__run *run, const plx_dataset *data) { return plx__kernels_by_own_rows(run, data, NULL); }

/* ---- memory ---- */

/* What the form reserves, the covariances with the labelled samples and their factors. */
static double memory(const plx__run *run)
{
    const plx__problem *x = run->problem;
    const bct_params *p = run->params;
    plx_cmat count = {0}, labelled = {0};
    double n = (double)x->n, l = (double)x->n_labelled, features = 0, views = (double)x->n_views, rows = 0, made = 0;
    double q = (double)plx__gp_problems(p->task == BCT_REGRESSION, x->n_classes), fitted = n;
    if (run->fitted && plx__store_shaped(&count, run->ctx, run->fitted, "_count", 1, 1) == PLX_OK)
        fitted = count.data[0];
    if (run->fitted && plx__store_find(run->fitted, "_labelled") &&
        plx__store_shaped(&labelled, run->ctx, run->fitted, "_labelled", 1, -1) == PLX_OK)
        l = (double)labelled.cols;
    if (p->task > BCT_REGRESSION) l = 0;
    for (plx_index v = 0; v < x->n_views; v++)
        rows +=
            plx__prepared_bytes(run, v) + 2 * (x->views[v].sparse ? 12.0 : 8.0) * plx__held_values(&x->views[v], x->n);
    bool weights = in_weight_space(run, &features), optimise = p->optimize != BCT_FIXED;
    double square = fitted * fitted;
    for (plx_index i = 0; i < run->n_wanted; i++)
        made += strcmp(run->wanted[i], "kernel") == 0 || strcmp(run->wanted[i], "precision") == 0 ? square
                : strncmp(run->wanted[i], "marginal.", 9) == 0                                    ? 4 * square
                                                                                                  : 0.0;
    if (p->task == BCT_CLUSTER) made += 2 * square;
    double factors = optimise ? 2 * views : run->fitted || made > 0 || asks_for_solves(run) ? views : 1;
    plx_index begin = 0, end = (plx_index)fitted;
    if (!run->fitted) plx__slabs_mine(&begin, &end, run->ctx, plx__slabs_cut(x->n, PLX__PANE_ROWS));
    double kernel = weights ? plx__bct_weight_bytes(fitted, (double)(end - begin), features) +
                                  plx__row_passes_bytes(run->ctx, x->n, features * features)
                            : plx__bct_dense_bytes(fitted, factors);
    bool thin = weights && 2 * features < l && (run->fitted ? true : !optimise && !asks_for_solves(run));
    double inference = thin ? 4 * l * features + (5 + 2 * q) * features * features
                            : fitted * l * (optimise ? 5 : 2) + (5 + 2 * q) * l * l;
    if (thin) l = 0;
    double block = run->fitted ? 4 * 256.0 * fitted : 512.0 * l * 3;
    return rows + kernel + 8 * (inference + block + made + n * (8 * q + 6));
}

static const plx__param_table tables[] = {plx__bct_params, plx__kernel_params, plx__scale_params, plx__heldout_params,
                                          NULL};

const plx__method plx__method_bct = {
    .name = "bct",
    .title = "Bayesian co-training",
    .summary =
        "Semi-supervised Gaussian process on the consensus of all views, with any views missing, learned view weights "
        "and exact predictions for new samples.",
    .citation = "yu2011bct",
    .task = PLX_TASK_CLASSIFY,
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_CAN_KERNEL_VIEWS |
                    PLX_CAN_USE_UNLABELLED | PLX_IS_FEATURE_FREE,
    .min_views = 1,
    .zero_rows = PLX__ZERO_ROWS_PARAM,
    .zero_says_nothing = plx__bct_zero_says_nothing,
    .params_size = sizeof(bct_params),
    .scores = "class probability",
    .growth = "cubic; linear with pivots",
    .ranks = PLX__RANKS_SUMS, /* in weight space */
    .own_rows = own_rows,
    .whose_rows = plx__whose_panes,
    .params = tables,
    .arrays = array_specs,
    .transform = "mean",
    .memory_remedy = "set pivots (for example pivots=300), use fewer samples, or raise the memory limit",
    .check = check,
    .memory = memory,
    .predicts_apart = true,
    .fit = fit,
    .predict = plx__bct_predict,
    .acquire = {[PLX_ACQUIRE_FEATURES] = &plx__acquire_bct}};
