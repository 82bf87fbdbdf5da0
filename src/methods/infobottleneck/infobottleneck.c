/*
 * infobottleneck: information bottleneck and conditional information bottleneck over the views.
 *
 * Soft clusters of the samples that keep what the views tell, or what they tell beyond an irrelevant view, and compress
 * the rest: cluster/bottleneck.h has the functional and the sweeps, ib_input.c makes views into distributions.
 */
#include "methods/infobottleneck/infobottleneck.h"

#include <math.h>
#include <string.h>

#include "core/rng.h"
#include "run/clusters.h"
#include "run/problem.h"
#include "run/restarts.h"
#include "run/start_file.h"

static const double TRIVIAL = 1e-6;

static const plx__param_spec param_specs[] = {
    PLX__CLUSTERS_ROWS(ib_params, "", 1, "Number of clusters, or auto; required."),
    PLX__CHOICE(ib_params, prepare, "auto", "auto|none",
                "auto: columns of real views with many values become shares of high and low (two columns each), other "
                "views with negative entries are lifted by their column minima; none: as it is, all values >= 0."),
    {"beta", PLX_PARAM_REALS, PLX__ABOVE_LO, offsetof(ib_params, beta), "100", 0, INFINITY, NULL,
     "What a nat about a view is worth in nats of compression: one number, or one per relevant view; larger gives "
     "harder clusters."},
    PLX__TEXT(ib_params, irrelevant, "none",
              "View whose information is not wanted: clusters keep what the others tell beyond it; none: all are "
              "relevant."),
    PLX__TEXT(ib_params, weights, "uniform", "P(u) up to scale: uniform, or file:F with a positive number per sample."),
    PLX__TEXT(ib_params, init, "anneal",
              "Start of P(c|u): anneal (growing beta from a nearly uniform start), random, or file:F with n x clusters "
              "weights."),
    PLX__INT(ib_params, max_iter, "200", 0, 1e9, "Most sweeps of a run; 0 shows the start."),
    PLX__REAL(ib_params, tol, "1e-8", 0, INFINITY,
              "Stop when no P(c|u) changes by more than this; 0: only when nothing changes."),
    PLX__INT(ib_params, restarts, "5", 1, 1000, "Seeded starts; the one with the smallest objective is kept."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    PLX__CLUSTER_CURVE,
    {"pcu", "n x k", 0, "Memberships P(c|u)."},
    {"pc", "1 x k", 0, "Sizes P(c) of the clusters."},
    {"pvc.VIEW", "k|W| x d", PLX__SOMETIMES,
     "Profiles P(f|w,c) of the clusters in a relevant view, row c|W|+w; prepare=auto may append 1 - x (2 d columns)."},
    {"information", "1 x 1+V", 0, "I(U;C), then I(V;C) or I(V;C|W) of every relevant view, in nats."},
    {NULL, NULL, 0, NULL}};

/* ---- settings ---- */

static bool from_file(const char *text) { return plx__starts_with(text, "file:") && text[5]; }

static plx_status check(plx__run *run)
{
    const ib_params *set = run->params;
    plx_index irrelevant = -1;
    if (set->clusters < 1)
        PLX_FAIL(run->ctx, PLX_E_ARG, "infobottleneck: clusters is not set; say how many clusters to find");
    if (!from_file(set->init) && strcmp(set->init, "anneal") != 0 && strcmp(set->init, "random") != 0)
        PLX_FAIL(run->ctx, PLX_E_ARG, "init = %s: expected anneal, random or file:F", set->init);
    if (!from_file(set->weights) && strcmp(set->weights, "uniform") != 0)
        PLX_FAIL(run->ctx, PLX_E_ARG, "weights = %s: expected uniform or file:F", set->weights);
    PLX_TRY(plx__ib_irrelevant(&irrelevant, run));
    if (irrelevant >= 0 && run->problem->n_views < 2)
        PLX_FAIL(run->ctx, PLX_E_ARG, "irrelevant = %s: no relevant view is left", set->irrelevant);
    return PLX_OK;
}

/* P(u). */
static plx_status open_weights(plx__bottleneck *b, plx__run *run)
{
    const ib_params *set = run->params;
    double *weight = NULL, most = 0, sum = 0;
    plx_mat given;
    PLX_TRY(plx__arena_f64(&weight, plx__scratch(run->ctx), b->n, 1));
    for (plx_index u = 0; u < b->n; u++) weight[u] = 1;
    if (from_file(set->weights)) {
        PLX_TRY(plx__start_file_read(&given, run, "weights", set->weights, 1));
        memcpy(weight, given.data, (size_t)b->n * sizeof *weight);
    }
    for (plx_index u = 0; u < b->n; u++) most = fmax(most, weight[u]);
    for (plx_index u = 0; u < b->n; u++) sum += weight[u] / most;
    for (plx_index u = 0; u < b->n; u++) weight[u] = weight[u] / most / sum;
    b->weight = weight;
    return PLX_OK;
}

/* ---- runs ---- */

typedef struct attempt {
    plx__run *run;
    plx__bottleneck *b;
    plx__ib_course course;
    plx_cmat start; /* from a file, or empty */
    plx_mat best;   /* P(c|u) in a place of its own: the bottleneck swaps its two */
} attempt;

static plx_status run_once(void *arg, plx_index restart, double *objective)
{
    attempt *a = arg;
    const ib_params *set = a->run->params;
    if (a->start.data) plx__ib_start(a->b, a->start);
    else if (strcmp(set->init, "random") == 0)
        PLX_TRY(plx__ib_draw(a->b, 1.0, PLX__STREAM('i', 'b', 'r', 'a', restart)));
    else PLX_TRY(plx__ib_anneal(a->b, restart));
    PLX_TRY(plx__ib_run(a->b, a->run, "sweeps", set->max_iter, set->tol, &a->course));
    plx__mat_copy(a->best, plx__cmat(a->b->pcu));
    *objective = a->course.value;
    return PLX_OK;
}

/* Leaves the best run's P(c|u) and marginals in b. */
static plx_status run_all(attempt *a)
{
    const ib_params *set = a->run->params;
    plx__restarts r = {.ctx = a->run->ctx, .runs = set->restarts, .smallest = true, .run = run_once, .arg = a};
    plx_mat start;
    if (from_file(set->init)) {
        PLX_TRY(plx__start_file_read(&start, a->run, "init", set->init, set->clusters));
        a->start = plx__cmat(start);
        r.runs = 1;
    }
    PLX_TRY(plx__restarts_keep_mat(&r, a->best));
    PLX_TRY(plx__restarts_keep(&r, &a->course, sizeof a->course));
    PLX_TRY(plx__restarts_run(&r));
    plx__mat_copy(a->b->pcu, plx__cmat(a->best));
    return plx__ib_marginals(a->b);
}

/* ---- results ---- */

static plx_status put_profiles(plx__run *run, const plx__bottleneck *b, const ib_views *views)
{
    for (plx_index i = 0; i < b->n_variables; i++) {
        const char *name = NULL;
        plx_mat profile;
        PLX_TRY(plx__view_key(&name, run->ctx, "pvc", run->problem->views[views->view[i]].name));
        PLX_TRY(plx__store_new(&profile, run->out, name, b->k * b->n_w, b->variable[i].cols));
        plx__ib_profile(profile, b, &b->variable[i]);
    }
    return PLX_OK;
}

static plx_status put_information(plx__run *run, const plx__bottleneck *b, double compression)
{
    plx_mat information;
    PLX_TRY(plx__store_new(&information, run->out, "information", 1, 1 + b->n_variables));
    information.data[0] = compression;
    for (plx_index i = 0; i < b->n_variables; i++) information.data[1 + i] = b->variable[i].information;
    if (compression < TRIVIAL && b->k > 1)
        plx__warn(run->ctx,
                  "infobottleneck: the clusters tell nothing of the samples (I(U;C) = %.1e); set a larger beta",
                  compression);
    return PLX_OK;
}

static plx_status label_samples(plx__run *run, plx_cmat pcu)
{
    int32_t *label = NULL;
    PLX_TRY(plx__require_finite(run, pcu, "memberships"));
    PLX_TRY(plx__arena_i32(&label, plx__scratch(run->ctx), pcu.rows));
    plx__argmax_rows(label, pcu);
    PLX_TRY(plx__store_put(run->out, "pcu", pcu));
    return plx__outcome_clusters(run, label, pcu.cols, pcu);
}

static plx_status fit(plx__run *run)
{
    plx__bottleneck b;
    ib_views views;
    attempt a = {.run = run, .b = &b};
    PLX_TRY(plx__ib_input(&b, &views, run));
    PLX_TRY(open_weights(&b, run));
    PLX_TRY(plx__ib_open(&b));
    PLX_TRY(plx__arena_mat(&a.best, plx__scratch(run->ctx), b.n, b.k));
    PLX_TRY(run_all(&a));
    PLX_TRY(plx__store_put(run->out, "pc", plx__cmat(b.pc)));
    PLX_TRY(put_profiles(run, &b, &views));
    PLX_TRY(put_information(run, &b, a.course.compression));
    PLX_TRY(plx__finish(run, &a.course.trace, a.course.iterations, a.course.converged, a.course.value));
    return label_samples(run, plx__cmat(b.pcu));
}

/* P(c|x) by the fitted P(c) and P(f|w,c). */
static plx_status predict(plx__run *run)
{
    plx__bottleneck b;
    ib_views views;
    plx_cmat pc;
    double ignored = 0;
    PLX_TRY(plx__ib_input(&b, &views, run));
    PLX_TRY(plx__ib_open(&b));
    PLX_TRY(plx__store_shaped(&pc, run->ctx, run->fitted, "pc", 1, b.k));
    plx__mat_copy(b.pc, pc);
    for (plx_index i = 0; i < b.n_variables; i++) {
        const char *name = NULL;
        plx_cmat profile;
        PLX_TRY(plx__view_key(&name, run->ctx, "pvc", run->problem->views[views.view[i]].name));
        PLX_TRY(plx__store_shaped(&profile, run->ctx, run->fitted, name, b.k * b.n_w, b.variable[i].cols));
        plx__ib_set_profile(&b, &b.variable[i], profile);
    }
    PLX_TRY(plx__ib_assign(&b, 1.0, &ignored));
    return label_samples(run, plx__cmat(b.pcu));
}

static double memory(const plx__run *run)
{
    const plx__problem *x = run->problem;
    const ib_params *set = run->params;
    double n = (double)x->n, k = (double)set->clusters, w = 1, rows = 0, all = 0, thin = 0;
    for (plx_index v = 0; v < x->n_views; v++) {
        double cols = 0, sparse = 0;
        if (strcmp(x->views[v].name, set->irrelevant) == 0) {
            w = (double)x->views[v].cols;
            rows += 8 * n * w;
            continue;
        }
        rows += plx__ib_row_bytes(run, v, &cols, &sparse);
        all += cols;
        thin += sparse;
    }
    double results = 8 * all * k * w + 8 * n * k * 2 + 4 * n, runs = 8 * n * k * (set->restarts > 1 ? 2 : 1);
    return rows + plx__ib_bytes(run->ctx, n, k, w, all, thin) + results + runs + 16 * n + 32 * all;
}

static const plx__param_table tables[] = {param_specs, plx__heldout_params, NULL};

const plx__method plx__method_infobottleneck = {
    .name = "infobottleneck",
    .title = "Information bottleneck over the views",
    .summary = "Soft clusters that keep what the views tell, or what they tell beyond an irrelevant view, and compress "
               "the rest.",
    .citation = "ruping2005interpreting",
    .task = PLX_TASK_CLUSTER,
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_CAN_USE_UNLABELLED | PLX_IS_RANDOM |
                    PLX_IS_MONOTONE,
    .min_views = 1,
    .zero_rows = PLX__ZERO_ROWS_PRESENT,
    .params_size = sizeof(ib_params),
    .scores = "probability of the cluster",
    .growth = "linear",
    .params = tables,
    .arrays = array_specs,
    .transform = "pcu",
    .profiles = {.array = "pvc.VIEW"},
    .check = check,
    .memory = memory,
    .memory_remedy = "look for fewer clusters, hold samples out or raise the memory limit",
    .predicts_apart = true,
    .fit = fit,
    .predict = predict};
