/*
 * smd: spectral clustering by minimising the disagreement between views (de Sa 2005).
 *
 * Patterns of one view are joined to patterns of another through observed pairs (pairing.h); the leading eigenvectors
 * of that graph embed the patterns of every view in one space, samples with a single view included. A sample's row is
 * the mean over its views (or that of a preferred one); k-means groups the rows. New samples by Nystrom:
 * u = (sum w)^-1/2 w D^-1/2 X / eigenvalue with w the sample's affinities to the nodes of the other views.
 */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "run/clusters.h"
#include "run/problem.h"
#include "methods/spectral/njw.h"
#include "methods/spectral/pairing.h"

typedef struct params {
    plx_index clusters, affinity_k;
    const char *use;
    plx__value width_grid;
} params;

static const plx__param_spec param_specs[] = {
    PLX__CLUSTERS_ROWS(params, "", 2, "Number of clusters, or auto; required."),
    PLX__TEXT(params, use, "mean",
              "Row of a sample with several views: mean of theirs, or that of the view named here where it is there."),
    PLX__REALS(params, width_grid, "0.1,0.2,0.5,1,2,5", 0, INFINITY, NULL,
               "Multiples of the median distance that width=auto tries."),
    PLX__INT(
        params, affinity_k, "0", 0, 2147483647,
        "Keep only pairs of which one is among the k nearest of the other: larger is denser; 0 keeps all (n x n)."),
    PLX__AFFINITY_PARAMS("median"),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    PLX__CLUSTER_CURVE,
    {"singular_values", "k x 1", 0, "The k largest singular values (more than two views: eigenvalues), descending."},
    {"embedding", "n x k", 0, "Row of every sample; of held-out samples by the Nystrom rule."},
    {"cluster_VIEW", "n x 1", 0,
     "Cluster nearest to the sample's row in this view alone; -1 where the view is missing."},
    {"affinity", "p x q", PLX__ON_REQUEST,
     "Two views: W between the patterns of the first and of the second; more: between all nodes, view by view."},
    {"gram_embedding", "n x n", PLX__ON_REQUEST, "Inner products of the rows of embedding: free of rotations."},
    {NULL, NULL, 0, NULL}};

/* ---- rows of samples ---- */

/* Index of the preferred view, -1: mean. */
static plx_status preferred(plx_index *out, plx__run *run)
{
    const params *p = run->params;
    *out = -1;
    return strcmp(p->use, "mean") == 0 ? PLX_OK : plx__require_view(out, run, p->use, "use");
}

/* Row of sample i from its rows by view: by_view[v] is n x k, with zero rows where the view is missing. */
static void sample_row(double *row, const plx__problem *x, const plx_mat *by_view, plx_index preferred, plx_index i)
{
    plx_index k = by_view[0].cols, count = 0;
    memset(row, 0, (size_t)k * sizeof *row);
    bool alone = preferred >= 0 && x->views[preferred].present[i];
    for (plx_index v = 0; v < x->n_views; v++) {
        if (!x->views[v].present[i] || (alone && v != preferred)) continue;
        plx__axpy(row, 1.0, by_view[v].data + i * k, k);
        count++;
    }
    if (count > 1) plx__scale(row, 1.0 / (double)count, k);
}

static plx_status put_embedding(plx_mat *out, plx__run *run, const plx_mat *by_view)
{
    plx_index first = -1;
    PLX_TRY(preferred(&first, run));
    PLX_TRY(plx__store_new(out, run->out, "embedding", run->problem->n, by_view[0].cols));
    for (plx_index i = 0; i < run->problem->n; i++)
        sample_row(out->data + i * out->cols, run->problem, by_view, first, i);
    return PLX_OK;
}

static plx_status put_view_clusters(plx__run *run, const plx_mat *by_view, plx_cmat centres)
{
    const plx__problem *x = run->problem;
    for (plx_index v = 0; v < x->n_views; v++) {
        const char *name = NULL;
        plx_mat c;
        PLX_TRY(plx__arena_printf(&name, plx__scratch(run->ctx), "cluster_%s", x->views[v].name));
        PLX_TRY(plx__store_new(&c, run->out, name, x->n, 1));
        for (plx_index i = 0; i < x->n; i++)
            c.data[i] =
                x->views[v].present[i] ? plx__nearest_centre(by_view[v].data + i * by_view[v].cols, centres) : -1.0;
    }
    return PLX_OK;
}

/* ---- fit ---- */

static plx_status check_pairs(plx__run *run)
{
    const plx__problem *x = run->problem;
    for (plx_index i = 0; i < x->n; i++) {
        plx_index views = 0;
        for (plx_index v = 0; v < x->n_views; v++) views += x->views[v].present[i];
        if (views >= 2) return PLX_OK;
    }
    PLX_FAIL(run->ctx, PLX_E_DATA, "smd needs samples with at least two views; every sample here has one only");
}

static plx_status open_views(plx__affinity **out, plx__run *run)
{
    const params *p = run->params;
    plx__njw_options o = {p->clusters, {.zero_diagonal = true}, p->width_grid.list, p->width_grid.n_list};
    PLX_TRY(PLX__ARENA_NEW(out, plx__scratch(run->ctx), run->problem->n_views));
    for (plx_index v = 0; v < run->problem->n_views; v++) {
        plx__affinity *a = &(*out)[v];
        PLX_TRY(plx__affinity_open(a, run, v, p->affinity_k, false));
        if (!run->fitted && !a->given && a->rule == PLX__WIDTH_AUTO) PLX_TRY(plx__njw_search_width(a, run, &o));
    }
    return PLX_OK;
}

static plx_status check_sizes(plx__run *run)
{
    const params *p = run->params;
    const plx__problem *x = run->problem;
    if (p->clusters < 2)
        PLX_FAIL(run->ctx, PLX_E_ARG, "smd: the number of clusters is required; set clusters, or clusters=auto");
    plx__njw_options o = {.clusters = p->clusters};
    PLX_TRY(plx__njw_check(run, &o, x->n, ""));
    for (plx_index v = 0; v < x->n_views && x->n_views == 2; v++)
        if (x->views[v].present_count < p->clusters)
            PLX_FAIL(run->ctx, PLX_E_ARG, "clusters = %lld: only %lld samples have view '%s'; ask for fewer clusters",
                     (long long)p->clusters, (long long)x->views[v].present_count, x->views[v].name);
    return PLX_OK;
}

/* Rows of the eigenvectors by view and sample, at unit length. */
static plx_status split_rows(plx_mat **out, plx_context *ctx, const plx__pairing *g, plx_cmat vectors)
{
    PLX_TRY(PLX__ARENA_NEW(out, plx__scratch(ctx), g->n_views));
    for (plx_index v = 0; v < g->n_views; v++) {
        plx_mat *rows = &(*out)[v];
        PLX_TRY(plx__arena_mat(rows, plx__scratch(ctx), g->n, vectors.cols));
        for (plx_index i = 0; i < g->n; i++) {
            plx_index node = g->node_of[v * g->n + i];
            if (node < 0) continue;
            memcpy(rows->data + i * rows->ld, vectors.data + node * vectors.ld, (size_t)vectors.cols * sizeof(double));
        }
        plx__unit_rows(*rows);
    }
    return PLX_OK;
}

/* The matrix column by column: W of two views, or all nodes. */
static plx_status put_affinity(plx__run *run, plx__pairing *g)
{
    bool two = g->n_views == 2;
    plx_index rows = two ? g->first[1] : g->n_nodes, skip = two ? g->first[1] : 0;
    double *unit = NULL, *image = NULL;
    plx_mat a;
    if (!plx__wanted(run, "affinity")) return PLX_OK;
    PLX_TRY(plx__store_new(&a, run->out, "affinity", rows, g->n_nodes - skip));
    PLX_TRY(plx__arena_f64(&unit, plx__scratch(run->ctx), g->n_nodes, 1));
    PLX_TRY(plx__arena_f64(&image, plx__scratch(run->ctx), g->n_nodes, 1));
    for (plx_index j = skip; j < g->n_nodes; j++) {
        unit[j] = 1.0;
        PLX_TRY(plx__pairing_apply(g, run->ctx, image, unit));
        unit[j] = 0.0;
        for (plx_index i = 0; i < rows; i++) a.data[i * a.ld + j - skip] = image[i];
    }
    return PLX_OK;
}

/* Per view u an n x (k+1) array: what affinities to the fitted samples of view u are multiplied with to give the row of
 * a new sample (k columns) and the sum of its w (the last). */
static plx_status put_hubs(plx__run *run, plx__pairing *g, plx_cmat vectors, const double *values)
{
    plx_index k = vectors.cols;
    double *column = NULL, *hub = NULL;
    plx_mat map, *out = NULL;
    PLX_TRY(plx__arena_mat(&map, plx__scratch(run->ctx), g->n_nodes, k));
    PLX_TRY(plx__nystrom_map(map, run->ctx, vectors, values, g->degree));
    PLX_TRY(plx__arena_f64(&column, plx__scratch(run->ctx), g->n_nodes, 1));
    PLX_TRY(plx__arena_f64(&hub, plx__scratch(run->ctx), g->n_views, g->n));
    PLX_TRY(PLX__ARENA_NEW(&out, plx__scratch(run->ctx), g->n_views));
    for (plx_index u = 0; u < g->n_views; u++) {
        const char *name = NULL;
        PLX_TRY(plx__view_key(&name, run->ctx, "_hub", run->problem->views[u].name));
        PLX_TRY(plx__store_new(&out[u], run->out, name, g->n, k + 1));
    }
    for (plx_index c = 0; c <= k; c++) {
        for (plx_index i = 0; i < g->n_nodes; i++) column[i] = c < k ? map.data[i * k + c] : 1.0;
        PLX_TRY(plx__pairing_hubs(run->ctx, g, column, hub));
        for (plx_index q = 0; q < g->n_views * g->n; q++) out[q / g->n].data[q % g->n * (k + 1) + c] = hub[q];
        PLX_TRY(plx__poll(run->ctx));
    }
    return PLX_OK;
}

static plx_status put_gram(plx__run *run, plx_cmat rows)
{
    plx_mat gram;
    if (!plx__wanted(run, "gram_embedding")) return PLX_OK;
    PLX_TRY(plx__store_new(&gram, run->out, "gram_embedding", rows.rows, rows.rows));
    return plx__gram_rows(run->ctx, rows, gram);
}

/* Held-out samples have rows too: inner products with them as well. */
static plx_status complete(plx_context *ctx, plx__store *all)
{
    const plx__array *gram = plx__store_find(all, "gram_embedding");
    plx_cmat rows;
    if (!gram) return PLX_OK;
    PLX_TRY(plx__store_dense(&rows, ctx, all, "embedding"));
    return plx__gram_rows(ctx, rows, gram->dense);
}

static plx_status cluster_rows(plx__run *run, plx_cmat rows, const plx_mat *by_view, bool converged)
{
    const params *p = run->params;
    plx__kmeans_options options;
    plx__kmeans_result result;
    PLX_TRY(plx__kmeans_options_of(&options, run, p->clusters, p->clusters));
    PLX_TRY(plx__kmeans(&result, run->ctx, rows, &options));
    PLX_TRY(plx__store_put(run->out, "_centres", plx__cmat(result.centres)));
    PLX_TRY(put_view_clusters(run, by_view, plx__cmat(result.centres)));
    PLX_TRY(plx__outcome_clusters(run, result.label, p->clusters, (plx_cmat){0}));
    return plx__finish(run, NULL, result.iterations, converged && result.converged, result.inertia);
}

static plx_status fit(plx__run *run)
{
    const params *p = run->params;
    plx__affinity *views = NULL;
    plx__pairing graph;
    double *values = NULL;
    plx_mat vectors, rows, *by_view = NULL;
    plx_index first = -1, islands = 0;
    bool converged = true;
    PLX_TRY(check_sizes(run));
    PLX_TRY(preferred(&first, run));
    PLX_TRY(check_pairs(run));
    PLX_TRY(plx__affinities_divide(run, p->affinity_k));
    PLX_TRY(open_views(&views, run));
    PLX_TRY(plx__pairing_build(&graph, run->ctx, views, run->problem->n_views));
    PLX_TRY(plx__pairing_islands(&islands, run->ctx, &graph));
    if (islands > 1)
        plx__warn(run->ctx, "smd: some views share no sample with the others; their clusters are not matched");
    PLX_TRY(plx__arena_f64(&values, plx__scratch(run->ctx), p->clusters, 1));
    PLX_TRY(plx__arena_mat(&vectors, plx__scratch(run->ctx), graph.n_nodes, p->clusters));
    PLX_TRY(plx__spectral_vectors(run->ctx, &graph.affine, p->clusters, values, vectors, &converged, "smd"));
    PLX_TRY(plx__store_put(run->out, "singular_values", plx__cmat_of(values, p->clusters, 1)));
    PLX_TRY(split_rows(&by_view, run->ctx, &graph, plx__cmat(vectors)));
    PLX_TRY(put_embedding(&rows, run, by_view));
    PLX_TRY(put_affinity(run, &graph));
    PLX_TRY(put_gram(run, plx__cmat(rows)));
    PLX_TRY(put_hubs(run, &graph, plx__cmat(vectors), values));
    for (plx_index v = 0; v < run->problem->n_views; v++) PLX_TRY(plx__affinity_keep(run, &views[v], true));
    PLX_TRY(plx__identity_keep(run));
    return cluster_rows(run, plx__cmat(rows), by_view, converged);
}

/* ---- new samples ---- */

/* Rows of all new samples in view u; reached[i] counts the views in which sample i has a neighbour. */
static plx_status fresh_rows(plx_mat out, plx__run *run, const plx__affinity *fitted, const plx__affinity *fresh,
                             const plx_index *own, plx_cmat hub, plx_index *reached)
{
    plx_index step = plx__block_rows(fitted->n), k = out.cols;
    plx_mat a, w;
    plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
    PLX_TRY(plx__arena_mat(&a, plx__scratch(run->ctx), step, fitted->n));
    PLX_TRY(plx__arena_mat(&w, plx__scratch(run->ctx), step, k + 1));
    for (plx_index at = 0; at < out.rows; at += step) {
        plx_index end = plx__min(out.rows, at + step);
        plx_mat block = plx__sub(a, 0, 0, end - at, a.cols), product = plx__sub(w, 0, 0, end - at, k + 1);
        PLX_TRY(plx__affinity_to_fitted(run->ctx, fitted, fresh, own, at, end, block));
        PLX_TRY(plx__gemm(run->ctx, 1.0, plx__cmat(block), PLX__N, hub, PLX__N, 0.0, product));
        for (plx_index i = at; i < end; i++) {
            const double *from = product.data + (i - at) * product.ld;
            if (!(from[k] > 0)) continue;
            memcpy(out.data + i * k, from, (size_t)k * sizeof(double));
            reached[i]++;
        }
        PLX_TRY(plx__report(run->ctx, "nystrom", end, out.rows, NAN));
    }
    plx__unit_rows(out); /* (sum w)^-1/2 > 0 does not change the direction */
    plx__arena_rewind(plx__scratch(run->ctx), mark);
    return PLX_OK;
}

static plx_status all_fresh_rows(plx_mat **out, plx__run *run, plx_index *reached)
{
    const plx__problem *x = run->problem;
    const params *p = run->params;
    plx__affinity *fresh = NULL, *fitted = NULL;
    plx_index *own = NULL;
    PLX_TRY(open_views(&fresh, run));
    PLX_TRY(PLX__ARENA_NEW(&fitted, plx__scratch(run->ctx), x->n_views));
    PLX_TRY(PLX__ARENA_NEW(out, plx__scratch(run->ctx), x->n_views));
    for (plx_index v = 0; v < x->n_views; v++) {
        PLX_TRY(plx__affinity_recall(&fitted[v], run, &fresh[v], true));
        if (fitted[v].n != fitted[0].n)
            PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model's views have different numbers of samples");
    }
    PLX_TRY(plx__identity_find(&own, run, fitted, fresh, x->n_views));
    for (plx_index v = 0; v < x->n_views; v++) {
        const char *name = NULL;
        plx_cmat hub;
        PLX_TRY(plx__view_key(&name, run->ctx, "_hub", x->views[v].name));
        PLX_TRY(plx__store_shaped(&hub, run->ctx, run->fitted, name, fitted[v].n, p->clusters + 1));
        PLX_TRY(plx__arena_mat(&(*out)[v], plx__scratch(run->ctx), x->n, p->clusters));
        PLX_TRY(fresh_rows((*out)[v], run, &fitted[v], &fresh[v], own, hub, reached));
    }
    return PLX_OK;
}

static plx_status predict(plx__run *run)
{
    const params *p = run->params;
    plx_index n = run->problem->n, *reached = NULL, lost = 0;
    plx_mat *by_view = NULL, rows;
    plx_cmat centres;
    int32_t *label = NULL;
    PLX_TRY(plx__store_shaped(&centres, run->ctx, run->fitted, "_centres", p->clusters, p->clusters));
    PLX_TRY(plx__arena_i64(&reached, plx__scratch(run->ctx), n));
    PLX_TRY(plx__arena_i32(&label, plx__scratch(run->ctx), n));
    PLX_TRY(all_fresh_rows(&by_view, run, reached));
    PLX_TRY(put_embedding(&rows, run, by_view));
    PLX_TRY(put_view_clusters(run, by_view, centres));
    for (plx_index i = 0; i < n; i++) {
        label[i] = reached[i] ? plx__nearest_centre(rows.data + i * rows.cols, centres) : -1;
        lost += !reached[i];
    }
    if (lost) plx__warn(run->ctx, "smd: %lld samples have no affinity to any pair and get no label", (long long)lost);
    return plx__outcome_clusters(run, label, p->clusters, (plx_cmat){0});
}

/* ---- memory ---- */

/* Rows, prepared and kept; a matrix per view; eigenvectors over all nodes; rows per view, what new samples need. */
static double memory(const plx__run *run)
{
    const params *p = run->params;
    const plx__problem *x = run->problem;
    plx_index clusters = plx__max(2, p->clusters);
    double n = (double)x->n, m = (double)x->n_views, k = (double)clusters, bytes = 0;
    for (plx_index v = 0; v < x->n_views; v++) {
        double entries = 0;
        bytes += plx__affinity_bytes(run, v, p->affinity_k, &entries);
        if (!run->fitted && entries == 0) bytes += 8.0 * n * n;
    }
    if (run->fitted) return bytes + 8.0 * (2 * (double)plx__block_rows(x->n) * n + n * m * (k + 4));
    if (plx__wanted(run, "affinity")) bytes += 8.0 * (m > 2 ? m * m : 1) * n * n;
    if (plx__wanted(run, "gram_embedding")) bytes += 8.0 * n * n;
    bytes += plx__symv_bytes(x->n);
    return bytes + plx__spectral_bytes(x->n * x->n_views, clusters) + 8.0 * n * m * (5 * k + 14);
}

static const plx__param_table tables[] = {param_specs,
                                          plx__scale_params,
                                          plx__kmeans_params,
                                          plx__heldout_params,
                                          plx__zero_rows_params,
                                          plx__uncovered_params,
                                          NULL};

const plx__method plx__method_smd = {
    .name = "smd",
    .title = "Spectral clustering by minimising disagreement between views",
    .summary = "Clusters the patterns of every view through observed pairs; samples may have one view only.",
    .citation = "desa2005spectral",
    .task = PLX_TASK_CLUSTER,
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_CAN_KERNEL_VIEWS |
                    PLX_CAN_USE_UNLABELLED | PLX_IS_FEATURE_FREE,
    .min_views = 2,
    .zero_rows = PLX__ZERO_ROWS_PARAM,
    .uncovered = PLX__UNCOVERED_PRIOR,
    .params_size = sizeof(params),
    .growth = "quadratic",
    .ranks = PLX__RANKS_SPECTRA,
    .params = tables,
    .clusters_by = PLX__CLUSTERS_EIGENGAP,
    .clusters_array = "singular_values",
    .arrays = array_specs,
    .transform = "embedding",
    .memory = memory,
    .memory_remedy = "set affinity_k for sparse affinities, or raise the memory limit",
    .fit = fit,
    .predict = predict,
    .complete = complete};
