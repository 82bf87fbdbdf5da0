/*
 * mrdbscan: density-based clustering of multi-represented objects.
 *
 * q is in the neighbourhood N(o) when the two are near in at least min(r, b) of the b views both have. Objects with
 * minpts neighbours (themselves included) are core; clusters are the connected components of core objects, numbered by
 * their smallest index; a border object joins the lowest-numbered cluster among its core neighbours; the rest is noise.
 * Nothing n x n is kept.
 */
#include "methods/mrdbscan/mrdbscan.h"

#include <math.h>
#include <string.h>

#include "core/number.h"
#include "core/parallel.h"
#include "run/facts.h"

enum { NORMALISE_NONE = 0 };

typedef struct params {
    const char *semantics;
    plx_index minpts;
    int normalise;
} params;

static const plx__param_spec param_specs[] = {
    PLX__TEXT(params, semantics, "majority",
              "Views in which neighbours must be near: majority (more than half of the common ones), union (one), "
              "intersection (all), or atleast:R."),
    PLX__VIEW_REAL_OR("eps", "auto", 0, PLX__ABOVE_LO, "auto",
                      "Radius of a view in normalised distance, or auto: chosen for all views together by density."),
    PLX__INT(params, minpts, "4", 1, 1e9,
             "Neighbours of a core object, itself included; larger gives fewer, denser clusters."),
    PLX__VIEW_CHOICE("metric", "euclid", "euclid|cosine", "Distance between rows of a view."),
    PLX__CHOICE(params, normalise, "none", "none|mean|median|max",
                "What the distances of a view are divided by: a statistic over all pairs of samples."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    {"core", "n x 1", 0, "1 for core objects."},
    {"neighbours", "n x 1", 0, "Objects in the neighbourhood, itself included."},
    {"cluster", "n x 1", 0, "Number of the cluster; -1: noise."},
    {"scale_factors", "V x 1", 0, "What the distances of every view were divided by."},
    {"eps", "V x 1", 0, "Radius of every view."},
    {NULL, NULL, 0, NULL}};

/* ---- settings ---- */

/* r of the semantics; 0: majority. */
static plx_status read_semantics(plx_index *needed, plx__run *run)
{
    const params *p = run->params;
    plx_index views = run->problem->n_given;
    double r = 0;
    *needed = 0;
    if (strcmp(p->semantics, "majority") == 0) return PLX_OK;
    if (strcmp(p->semantics, "union") == 0) r = 1;
    else if (strcmp(p->semantics, "intersection") == 0) r = (double)views;
    else if (!plx__starts_with(p->semantics, "atleast:") || !plx__parse_double(&r, p->semantics + strlen("atleast:")))
        PLX_FAIL(run->ctx, PLX_E_ARG, "semantics = %s: expected majority, union, intersection or atleast:R",
                 p->semantics);
    if (r != floor(r) || r < 1 || r > (double)views)
        PLX_FAIL(run->ctx, PLX_E_ARG, "semantics = %s: R must be a whole number from 1 to %lld, the number of views",
                 p->semantics, (long long)views);
    *needed = (plx_index)r;
    return PLX_OK;
}

static plx_status check(plx__run *run)
{
    plx_index needed = 0;
    return read_semantics(&needed, run);
}

static plx_status open_view(mrd_view *out, plx__run *run, plx_index view)
{
    plx__prepared rows;
    plx__value metric, eps;
    PLX_TRY(plx__prepare_rows(&rows, run, view));
    PLX_TRY(plx__view_value(&metric, run->ctx, run->settings, "metric", rows.name));
    PLX_TRY(plx__view_value(&eps, run->ctx, run->settings, "eps", rows.name));
    *out = (mrd_view){.name = rows.name,
                      .a = rows.rows,
                      .b = rows.rows,
                      .has_a = rows.present,
                      .has_b = rows.present,
                      .metric = (plx__metric)metric.word,
                      .factor = 1,
                      .free = eps.word >= 0,
                      .unit = 1,
                      .radius = eps.number};
    return PLX_OK;
}

/* Distances become comparable; a view with fewer than two rows, or with equal rows only, keeps factor 1. */
static plx_status settle_factor(mrd_view *v, plx__run *run)
{
    static const plx__pair_statistic statistic[] = {PLX__PAIR_MEAN, PLX__PAIR_MEAN, PLX__PAIR_MEDIAN, PLX__PAIR_MAX};
    const params *p = run->params;
    plx_index rows = 0;
    for (plx_index i = 0; i < run->problem->n; i++) rows += v->has_a[i];
    if (p->normalise == NORMALISE_NONE || rows < 2) return PLX_OK;
    PLX_TRY(plx__pair_distance(run->ctx, v->a, v->has_a, v->metric, statistic[p->normalise], &v->factor, v->name));
    if (!isfinite(v->factor))
        PLX_FAIL(run->ctx, PLX_E_NUMERIC, "mrdbscan: distances in view '%s' are not finite; scale the view", v->name);
    if (v->factor == 0) v->factor = 1;
    return PLX_OK;
}

static plx_status open_fit(mrd *m, plx__run *run)
{
    const plx__problem *x = run->problem;
    const params *p = run->params;
    *m = (mrd){run, run->ctx, x->n, x->n, x->n_views, p->minpts, 0, NULL};
    PLX_TRY(read_semantics(&m->needed, run));
    PLX_TRY(PLX__ARENA_NEW(&m->view, plx__scratch(run->ctx), x->n_views));
    for (plx_index v = 0; v < x->n_views; v++) {
        PLX_TRY(open_view(&m->view[v], run, v));
        PLX_TRY(settle_factor(&m->view[v], run));
    }
    return PLX_OK;
}

/* ---- outcome ---- */

static plx_status put_labels(plx__run *run, const int32_t *cluster)
{
    const plx__problem *x = run->problem;
    plx_mat number;
    plx_index count = 0;
    PLX_TRY(plx__store_new(&number, run->out, "cluster", x->n, 1));
    for (plx_index i = 0; i < x->n; i++) number.data[i] = cluster[i];
    for (plx_index i = 0; i < x->n; i++) count = plx__max(count, cluster[i] + 1);
    return plx__outcome_clusters_and(run, cluster, count, "noise");
}

static plx_status put_flags(plx__run *run, const uint8_t *core, const double *neighbours)
{
    plx_mat flags;
    PLX_TRY(plx__store_new(&flags, run->out, "core", run->problem->n, 1));
    for (plx_index i = 0; i < flags.rows; i++) flags.data[i] = core[i];
    return plx__store_put(run->out, "neighbours", (plx_cmat){neighbours, flags.rows, 1, 1});
}

/* Rows of the core objects, for new ones. */
static plx_status keep_core(const mrd *m, const uint8_t *core, const int32_t *cluster)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    plx_index *rows = NULL, count = 0;
    plx_mat number, has;
    PLX_TRY(plx__arena_i64(&rows, scratch, m->n_a));
    for (plx_index i = 0; i < m->n_a; i++)
        if (core[i]) rows[count++] = i;
    PLX_TRY(plx__store_new(&number, m->run->out, "_core_cluster", count, 1));
    PLX_TRY(plx__store_new(&has, m->run->out, "_core_has", count, m->n_views));
    for (plx_index q = 0; q < count; q++) {
        number.data[q] = cluster[rows[q]];
        for (plx_index v = 0; v < m->n_views; v++) has.data[q * has.ld + v] = m->view[v].has_a[rows[q]];
    }
    for (plx_index v = 0; v < m->n_views; v++) {
        plx__points some;
        const char *name = NULL;
        PLX_TRY(plx__points_select(&some, m->ctx, m->view[v].a, rows, count));
        PLX_TRY(plx__view_key(&name, m->ctx, "_core", m->view[v].name));
        PLX_TRY(plx__points_put(m->run->out, name, some));
    }
    return PLX_OK;
}

static plx_status put_settings(const mrd *m, double factor)
{
    plx_mat scale, eps;
    PLX_TRY(plx__store_new(&scale, m->run->out, "scale_factors", m->n_views, 1));
    PLX_TRY(plx__store_new(&eps, m->run->out, "eps", m->n_views, 1));
    for (plx_index v = 0; v < m->n_views; v++) {
        scale.data[v] = m->view[v].factor;
        eps.data[v] = m->view[v].radius;
    }
    return factor > 0 ? plx__report_number(m->run, "eps_factor", factor) : PLX_OK;
}

static plx_status fit(plx__run *run)
{
    mrd m;
    mrd_clusters found;
    double factor = 0;
    PLX_TRY(open_fit(&m, run));
    PLX_TRY(plx__mrd_choose_radii(&m, &factor));
    PLX_TRY(put_settings(&m, factor));
    PLX_TRY(plx__mrd_cluster(&found, &m));
    if (found.count == 0)
        plx__warn(run->ctx,
                  "mrdbscan: no object has %lld neighbours; all are noise: set a larger eps or a smaller minpts",
                  (long long)m.minpts);
    PLX_TRY(put_flags(run, found.core, found.neighbours));
    PLX_TRY(keep_core(&m, found.core, found.cluster));
    return put_labels(run, found.cluster);
}

/* ---- new objects ---- */

static plx_status load_view(mrd *m, plx_index v, plx_cmat has)
{
    plx__run *run = m->run;
    mrd_view *view = &m->view[v];
    const char *name = NULL;
    plx_cmat factor, eps;
    uint8_t *flags = NULL;
    PLX_TRY(open_view(view, run, v));
    PLX_TRY(plx__store_shaped(&factor, run->ctx, run->fitted, "scale_factors", m->n_views, 1));
    PLX_TRY(plx__store_shaped(&eps, run->ctx, run->fitted, "eps", m->n_views, 1));
    PLX_TRY(plx__view_key(&name, run->ctx, "_core", view->name));
    PLX_TRY(plx__points_get(&view->b, run->ctx, run->fitted, name, m->n_b, run->problem->views[v].cols));
    PLX_TRY(plx__points_match(&view->a, run->ctx, view->b));
    PLX_TRY(plx__arena_u8(&flags, plx__scratch(run->ctx), m->n_b));
    for (plx_index q = 0; q < m->n_b; q++) flags[q] = has.data[q * has.ld + v] != 0;
    view->has_b = flags;
    view->factor = factor.data[v];
    view->radius = eps.data[v];
    view->free = false;
    return PLX_OK;
}

static plx_status open_predict(mrd *m, plx__run *run, plx_cmat *core_cluster)
{
    const plx__problem *x = run->problem;
    plx_cmat has;
    PLX_TRY(plx__store_shaped(core_cluster, run->ctx, run->fitted, "_core_cluster", -1, 1));
    PLX_TRY(plx__store_shaped(&has, run->ctx, run->fitted, "_core_has", core_cluster->rows, x->n_views));
    *m = (mrd){.run = run, .ctx = run->ctx, .n_a = x->n, .n_b = core_cluster->rows, .n_views = x->n_views};
    PLX_TRY(read_semantics(&m->needed, run));
    PLX_TRY(PLX__ARENA_NEW(&m->view, plx__scratch(run->ctx), x->n_views));
    for (plx_index v = 0; v < x->n_views; v++) PLX_TRY(load_view(m, v, has));
    return PLX_OK;
}

/* The nearest core object whose neighbourhood holds it, nearest by mean normalised distance over the common views. */
static plx_status nearest_core(int32_t *cluster, const mrd *m, plx_cmat core_cluster)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    double *best = NULL;
    plx_mat near, mean;
    PLX_TRY(plx__arena_f64(&best, scratch, m->n_a, 1));
    PLX_TRY(plx__arena_mat(&near, scratch, MRD_TILE_ROWS, MRD_TILE_COLS));
    PLX_TRY(plx__arena_mat(&mean, scratch, MRD_TILE_ROWS, MRD_TILE_COLS));
    for (plx_index i = 0; i < m->n_a; i++) best[i] = INFINITY, cluster[i] = -1;
    for (plx_index i0 = 0; i0 < m->n_a; i0 += MRD_TILE_ROWS)
        for (plx_index j0 = 0; j0 < m->n_b; j0 += MRD_TILE_COLS) {
            plx__mark mark = plx__arena_mark(scratch);
            plx_index i1 = plx__min(i0 + MRD_TILE_ROWS, m->n_a), j1 = plx__min(j0 + MRD_TILE_COLS, m->n_b);
            PLX_TRY(plx__mrd_tile(m, i0, i1, j0, j1, near));
            PLX_TRY(plx__mrd_mean_tile(m, i0, i1, j0, j1, mean));
            for (plx_index i = i0; i < i1; i++)
                for (plx_index q = j0; q < j1; q++) {
                    double d = mean.data[(i - i0) * mean.ld + (q - j0)];
                    if (near.data[(i - i0) * near.ld + (q - j0)] != 0 || !(d < best[i])) continue;
                    best[i] = d;
                    cluster[i] = (int32_t)core_cluster.data[q];
                }
            plx__arena_rewind(scratch, mark);
            PLX_TRY(plx__report(m->ctx, "predict", i1, m->n_a, NAN));
        }
    return PLX_OK;
}

static plx_status predict(plx__run *run)
{
    mrd m;
    plx_cmat core_cluster;
    int32_t *cluster = NULL;
    PLX_TRY(open_predict(&m, run, &core_cluster));
    PLX_TRY(plx__arena_i32(&cluster, plx__scratch(run->ctx), run->problem->n));
    PLX_TRY(nearest_core(cluster, &m, core_cluster));
    return put_labels(run, cluster);
}

/* Scaled rows, the same in single precision or tiles of joint distances, the rows kept of core objects, pairs of
 * neighbours, and the neighbours of one view while its unit is found. */
static double memory(const plx__run *run)
{
    const plx__problem *x = run->problem;
    const params *p = run->params;
    double n = (double)x->n, rows = 0, widest = 0, k = fmin((double)p->minpts, n), ordered = plx__mrd_order_bytes(n, 0);
    bool tiles = run->fitted != NULL, dense = true;
    int workers = plx__workers(run->ctx);
    for (plx_index v = 0; v < x->n_views; v++) {
        plx__value eps;
        if (plx__view_value(&eps, run->ctx, run->settings, "eps", x->views[v].name) != PLX_OK) return INFINITY;
        double own = plx__prepared_bytes(run, v), stored = 8.0 * n * (double)x->views[v].cols;
        dense = dense && !(x->views[v].sparse && x->scale[v] != PLX__SCALE_ZSCORE);
        tiles = tiles || eps.word >= 0;
        if (x->views[v].sparse) stored = 12.0 * (double)x->views[v].nonzeros + 8 * n;
        ordered += plx__mrd_order_bytes(n, (double)x->views[v].cols);
        rows += own + stored;
        widest = fmax(widest, stored);
    }
    double pairs = plx__mrd_cluster_bytes(n, (double)p->minpts, workers) + plx__mrd_near_bytes(workers);
    if (tiles || !dense) pairs += plx__mrd_tile_bytes((double)x->n_views);
    if (dense) pairs += ordered;
    return rows + widest + 16 * n * k + 50 * n + pairs;
}

static const plx__param_table tables[] = {param_specs, plx__scale_params, plx__zero_rows_params, plx__heldout_params,
                                          NULL};

const plx__method plx__method_mrdbscan = {
    .name = "mrdbscan",
    .title = "Density-based clustering of multi-represented objects",
    .summary = "DBSCAN with neighbourhoods over the views: near in one, in most or in all of those two objects have.",
    .citation = "kailing2004multirepresented",
    .task = PLX_TASK_CLUSTER,
    .capabilities =
        PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_CAN_USE_UNLABELLED | PLX_IS_FEATURE_FREE,
    .min_views = 1,
    .zero_rows = PLX__ZERO_ROWS_PARAM,
    .params_size = sizeof(params),
    .growth = "quadratic",
    .params = tables,
    .arrays = array_specs,
    .memory = memory,
    .memory_remedy = "take fewer samples, or a smaller minpts",
    .check = check,
    .predicts_apart = true,
    .fit = fit,
    .predict = predict};
