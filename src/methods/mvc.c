/*
 * mvc: consensus clustering of several views' partitions.
 *
 * Every view gives a pattern A (its own memberships, or the one-hot rows of a k-means partition of it); a common
 * pattern B and a map P per view minimise sum_v w_v loss(A, B P). (A) patterns, (B) start, (C) updates (cluster/consensus.c),
 * (D) new samples, as on the docs page.
 */
#include <math.h>
#include <string.h>

#include "core/rng.h"
#include "run/clusters.h"
#include "run/problem.h"
#include "run/restarts.h"
#include "run/start_file.h"
#include "linalg/dense.h"
#include "cluster/consensus.h"
#include "cluster/view_clusters.h"

typedef struct params {
    plx_index clusters, base_clusters, base_restarts, max_iter, restarts; /* -1: not set */
    int loss, base;
    double tol;
    const char *init;
    plx__value weights;
} params;

static const plx__param_spec param_specs[] = {
    PLX__CLUSTERS_ROWS(params, "", 1, "Number of clusters, or auto; required."),
    PLX__CHOICE(params, loss, "idiv", "idiv|euclid",
                "What a difference costs: generalised I-divergence, or the squared difference."),
    PLX__REALS(params, weights, "", 0, INFINITY, NULL,
               "One weight per view, in their order; larger makes the consensus follow the view. Default: all 1."),
    PLX__CHOICE(params, base, "auto", "auto|kmeans|skmeans",
                "How views become patterns. auto: probability and binary views are patterns, counts are clustered by "
                "spherical k-means, all others by k-means; kmeans, skmeans: every view is clustered that way."),
    {"base_clusters", PLX_PARAM_INT, 0, offsetof(params, base_clusters), "", 1, 1e6, NULL,
     "Clusters of a view that is clustered first. Default: clusters."},
    PLX__INT(params, base_restarts, "10", 1, 1e4, "Starts of a view's own clustering; the best is kept."),
    PLX__TEXT(params, init, "random",
              "Start of B: random, pattern:VIEW (that view's pattern + 0.1), or file:F with n x clusters weights."),
    PLX__INT(params, max_iter, "200", 1, 1e9, "Most updates of B and the maps."),
    PLX__REAL(params, tol, "1e-8", 0, INFINITY,
              "Stop when the objective changes by less than this share; 0: exactly max_iter updates."),
    PLX__INT(params, restarts, "1", 1, 1e4, "Random starts; the one with the smallest objective is kept."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    PLX__CLUSTER_CURVE,
    {"consensus", "n x k", 0, "Memberships: B with rows summing to 1."},
    {"B", "n x k", 0, "The common pattern."},
    {"map.VIEW", "k x clusters of the view", 0, "How the common clusters appear in a view's pattern."},
    {NULL, NULL, 0, NULL}};

/* ---- (A) patterns ---- */

static plx_status base_name(const char **out, plx__run *run, const plx__view *v)
{
    return plx__view_key(out, run->ctx, "_base", v->name);
}

/* A view without a stored partition is a pattern itself. */
static plx_status new_pattern(plx__membership *out, plx__run *run, const plx__view *v)
{
    const plx__problem *x = run->problem;
    const plx__array *base = NULL;
    const char *name = NULL, *flag = NULL;
    double spherical = 0;
    int32_t *label = NULL;
    PLX_TRY(base_name(&name, run, v));
    base = plx__store_find(run->fitted, name);
    if (!base) {
        PLX_TRY(plx__require_nonnegative(run, v));
        return plx__membership_of_view(out, run->ctx, v, x->n);
    }
    plx_cmat centroids;
    PLX_TRY(plx__store_shaped(&centroids, run->ctx, run->fitted, name, -1, v->cols));
    PLX_TRY(plx__view_key(&flag, run->ctx, "_spherical", v->name));
    PLX_TRY(plx__store_scalar(&spherical, run->ctx, run->fitted, flag));
    PLX_TRY(plx__arena_i32(&label, plx__scratch(run->ctx), x->n));
    PLX_TRY(plx__nearest_clusters(label, run->ctx, v, x->n, centroids, spherical != 0));
    return plx__membership_of_labels(out, run->ctx, label, x->n, centroids.rows);
}

static plx_status cluster_view(plx__membership *out, plx__run *run, plx_index index, bool spherical)
{
    const params *set = run->params;
    const plx__view *v = &run->problem->views[index];
    plx__cluster_settings k = {.spherical = spherical,
                               .clusters = set->base_clusters > 0 ? set->base_clusters : set->clusters,
                               .restarts = set->base_restarts,
                               .stream = PLX__STREAM('m', 'v', 'c', 'b', index << 20)};
    plx__partition parts;
    const char *name = NULL;
    double flag = spherical;
    PLX_TRY(plx__cluster_view(&parts, run->ctx, plx__scratch(run->ctx), v, run->problem->n, &k));
    PLX_TRY(base_name(&name, run, v));
    PLX_TRY(plx__store_put(run->out, name, plx__cmat(parts.centroids)));
    PLX_TRY(plx__view_key(&name, run->ctx, "_spherical", v->name));
    PLX_TRY(plx__store_put(run->out, name, plx__cmat_of(&flag, 1, 1)));
    return plx__membership_of_labels(out, run->ctx, parts.label, run->problem->n, k.clusters);
}

static plx_status fit_pattern(plx__membership *out, plx__run *run, plx_index index)
{
    const params *set = run->params;
    const plx__view *v = &run->problem->views[index];
    plx__base_plan plan = plx__base_plan_of((plx__base)set->base, v->kind);
    if (plan.cluster) return cluster_view(out, run, index, plan.spherical);
    PLX_TRY(plx__require_nonnegative(run, v));
    return plx__membership_of_view(out, run->ctx, v, run->problem->n);
}

static plx_status open_patterns(plx__consensus *c, plx__run *run)
{
    const params *set = run->params;
    const plx__problem *x = run->problem;
    plx__membership *patterns = NULL;
    PLX_TRY(PLX__ARENA_NEW(&patterns, plx__scratch(run->ctx), x->n_views));
    for (plx_index v = 0; v < x->n_views; v++) {
        if (run->fitted) PLX_TRY(new_pattern(&patterns[v], run, &x->views[v]));
        else PLX_TRY(fit_pattern(&patterns[v], run, v));
        if (set->weights.n_list) patterns[v].weight = set->weights.list[v];
    }
    return plx__consensus_open(c, run->ctx, (plx__consensus_loss)set->loss, patterns, x->n_views, x->n, set->clusters);
}

/* ---- (B) start ---- */

typedef enum start { RANDOM, PATTERN, FILE_GIVEN } start;

static plx_status read_start(start *out, plx_index *view, plx__run *run)
{
    const params *set = run->params;
    *out = RANDOM;
    *view = -1;
    if (strcmp(set->init, "random") == 0) return PLX_OK;
    if (plx__starts_with(set->init, "pattern:")) {
        *out = PATTERN;
        return plx__require_view(view, run, set->init + strlen("pattern:"), "init = pattern:VIEW, VIEW");
    }
    *out = FILE_GIVEN;
    if (plx__starts_with(set->init, "file:") && set->init[5]) return PLX_OK;
    PLX_FAIL(run->ctx, PLX_E_ARG, "init = %s: expected random, pattern:VIEW or file:F", set->init);
}

/* B_ig = A_ig + .1, the columns of A repeated or cut to k. */
static void pattern_start(plx__consensus *c, const plx__membership *p)
{
    plx__mat_fill(c->b, 0.1);
    for (plx_index i = 0; i < c->n; i++)
        for (int64_t e = p->values.ptr[i]; p->present[i] && e < p->values.ptr[i + 1]; e++)
            for (plx_index g = p->values.col[e]; g < c->k; g += p->values.cols)
                c->b.data[i * c->b.ld + g] += p->values.val[e];
}

static plx_status fill_start(plx__consensus *c, plx__run *run, plx_index restart)
{
    const params *set = run->params;
    start from;
    plx_index view = -1;
    plx_mat given;
    PLX_TRY(read_start(&from, &view, run));
    if (from == RANDOM) plx__consensus_random(c, PLX__STREAM('m', 'v', 'c', 'r', restart));
    if (from == PATTERN) pattern_start(c, &c->patterns[view]);
    if (from == FILE_GIVEN) {
        plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
        PLX_TRY(plx__start_file_read(&given, run, "init", set->init, set->clusters));
        plx__mat_copy(c->b, plx__cmat(given));
        plx__arena_rewind(plx__scratch(run->ctx), mark);
    }
    return plx__consensus_start_maps(c);
}

/* ---- (C) updates ---- */

typedef struct course {
    plx__trace trace;
    plx_index iterations;
    double objective;
    bool converged;
} course;

static plx_status run_once(course *out, plx__consensus *c, plx__run *run, plx_index restart)
{
    const params *set = run->params;
    *out = (course){0};
    PLX_TRY(fill_start(c, run, restart));
    PLX_TRY(plx__consensus_objective(&out->objective, c));
    PLX_TRY(plx__iterate(run, &out->trace, "update", 0, set->max_iter, out->objective));
    while (out->iterations < set->max_iter && !out->converged && !plx__out_of_time(run->ctx)) {
        double last = out->objective;
        PLX_TRY(plx__consensus_step(c));
        PLX_TRY(plx__consensus_objective(&out->objective, c));
        out->iterations++;
        PLX_TRY(plx__iterate(run, &out->trace, "update", out->iterations, set->max_iter, out->objective));
        out->converged = set->tol > 0 && fabs(out->objective - last) <= set->tol * fabs(last);
    }
    return PLX_OK;
}

typedef struct attempt {
    course *t;
    plx__consensus *c;
    plx__run *run;
} attempt;

static plx_status try_once(void *arg, plx_index restart, double *objective)
{
    attempt *a = arg;
    PLX_TRY(run_once(a->t, a->c, a->run, restart));
    *objective = a->t->objective;
    return PLX_OK;
}

/* Leaves the best state in c->b and the columns of the patterns. */
static plx_status best_run(course *best, plx__consensus *c, plx__run *run)
{
    const params *set = run->params;
    attempt a = {best, c, run};
    start from;
    plx_index view = -1;
    PLX_TRY(read_start(&from, &view, run));
    plx__restarts r = {
        .ctx = run->ctx, .runs = from == RANDOM ? set->restarts : 1, .smallest = true, .run = try_once, .arg = &a};
    PLX_TRY(plx__restarts_keep(&r, best, sizeof *best));
    PLX_TRY(plx__restarts_keep_mat(&r, c->b));
    for (plx_index v = 0; v < c->n_patterns; v++) PLX_TRY(plx__restarts_keep_mat(&r, c->patterns[v].columns));
    PLX_TRY(plx__restarts_run(&r));
    best->converged = best->converged && !r.cut;
    return PLX_OK;
}

/* ---- results ---- */

static plx_status write_memberships(plx__run *run, const plx__consensus *c)
{
    plx_mat consensus;
    int32_t *label = NULL;
    PLX_TRY(plx__store_new(&consensus, run->out, "consensus", c->n, c->k));
    plx__consensus_normalise(consensus, plx__cmat(c->b));
    PLX_TRY(plx__require_finite(run, plx__cmat(consensus), "memberships"));
    PLX_TRY(plx__store_put(run->out, "B", plx__cmat(c->b)));
    PLX_TRY(plx__arena_i32(&label, plx__scratch(run->ctx), c->n));
    plx__argmax_rows(label, plx__cmat(consensus));
    return plx__outcome_clusters(run, label, c->k, plx__cmat(consensus));
}

static plx_status write_maps(plx__run *run, const plx__consensus *c)
{
    for (plx_index v = 0; v < c->n_patterns; v++) {
        const char *name = NULL;
        plx_mat map;
        PLX_TRY(plx__view_key(&name, run->ctx, "map", run->problem->views[v].name));
        PLX_TRY(plx__store_new(&map, run->out, name, c->k, c->patterns[v].columns.rows));
        plx__mat_transpose(map, plx__cmat(c->patterns[v].columns));
    }
    return PLX_OK;
}

/* ---- fit and predict ---- */

static plx_status check(plx__run *run)
{
    const params *set = run->params;
    start from;
    plx_index view = -1;
    double most = 0;
    if (set->clusters < 1) PLX_FAIL(run->ctx, PLX_E_ARG, "mvc: clusters is not set; say how many, e.g. clusters=5");
    if (set->weights.n_list && set->weights.n_list != run->problem->n_views)
        PLX_FAIL(run->ctx, PLX_E_ARG, "weights: %lld given for %lld views; give one per view",
                 (long long)set->weights.n_list, (long long)run->problem->n_views);
    for (plx_index v = 0; v < set->weights.n_list; v++) most = fmax(most, set->weights.list[v]);
    if (set->weights.n_list && !(most > 0))
        PLX_FAIL(run->ctx, PLX_E_ARG, "weights: all are 0; at least one view must count");
    return read_start(&from, &view, run);
}

static plx_status fit(plx__run *run)
{
    plx__consensus c;
    course best;
    PLX_TRY(open_patterns(&c, run));
    PLX_TRY(best_run(&best, &c, run));
    PLX_TRY(write_memberships(run, &c));
    PLX_TRY(write_maps(run, &c));
    return plx__finish(run, &best.trace, best.iterations, best.converged, best.objective);
}

/* (D) */
static plx_status predict(plx__run *run)
{
    const params *set = run->params;
    plx__consensus c;
    PLX_TRY(open_patterns(&c, run));
    for (plx_index v = 0; v < c.n_patterns; v++) {
        plx__membership *p = &c.patterns[v];
        const char *name = NULL;
        plx_cmat map;
        PLX_TRY(plx__view_key(&name, run->ctx, "map", run->problem->views[v].name));
        PLX_TRY(plx__store_shaped(&map, run->ctx, run->fitted, name, c.k, p->values.cols));
        plx__mat_transpose(p->columns, map);
        PLX_TRY(plx__consensus_refresh(&c, p));
    }
    PLX_TRY(plx__consensus_place(&c, set->max_iter, set->tol));
    return write_memberships(run, &c);
}

static double memory(const plx__run *run)
{
    const params *set = run->params;
    const plx__problem *x = run->problem;
    double n = (double)x->n, k = (double)plx__consensus_width(set->clusters), bytes = 8 * n * (4 * k + 4), widest = 0;
    double own = (double)(set->base_clusters > 0 ? set->base_clusters : set->clusters);
    for (plx_index v = 0; v < x->n_views; v++) {
        const plx__view *view = &x->views[v];
        plx__base_plan plan = plx__base_plan_of((plx__base)set->base, view->kind);
        double cols = plan.cluster ? own : (double)view->cols;
        if (plan.cluster) bytes += 8 * (double)view->cols * (3 * own + 32) + 48 * n;
        else if (!view->sparse) bytes += 12 * (double)view->nonzeros + 8 * n;
        bytes += 8 * 4 * k * cols;
        widest = fmax(widest, cols);
    }
    return bytes + 8 * 9 * k * (widest + k + 1);
}

static const plx__param_table tables[] = {param_specs, plx__zero_rows_params, plx__uncovered_params,
                                          plx__heldout_params, NULL};

const plx__method plx__method_mvc = {
    .name = "mvc",
    .title = "Consensus clustering of several views' partitions",
    .summary = "A common clustering and a map from it to every view's own partition that explain all partitions best.",
    .citation = "long2008general",
    .task = PLX_TASK_CLUSTER,
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_CAN_USE_UNLABELLED | PLX_IS_RANDOM |
                    PLX_IS_MONOTONE | PLX_IS_FEATURE_FREE,
    .min_views = 1,
    .zero_rows = PLX__ZERO_ROWS_PARAM,
    .params_size = sizeof(params),
    .scores = "weight of the cluster in the consensus",
    .growth = "linear",
    .params = tables,
    .arrays = array_specs,
    .transform = "consensus",
    .memory_remedy =
        "use fewer clusters, fit fewer samples at a time (heldout, then predict) or raise the memory limit",
    .check = check,
    .memory = memory,
    .fit = fit,
    .predict = predict};
