/*
 * spectral: normalised spectral clustering (Ng, Jordan, Weiss 2002) on one view or on combined affinities.
 *
 * (1) A_v(i,j) = exp(-|x_i - x_j|^2 / (2 s_v^2)) per view; (2) one A by sum, product, or on concatenated features, with
 * a zero diagonal; (3) X = eigenvectors of the k largest eigenvalues of D^-1/2 A D^-1/2, rows scaled to length 1;
 * (4) k-means on the rows. New samples: Nystrom extension of X and the nearest centre.
 */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "run/clusters.h"
#include "run/problem.h"
#include "methods/spectral/njw.h"

typedef struct params {
    plx_index clusters, affinity_k;
    const char *combine;
    plx__value width_grid;
    bool zero_diagonal, normalise_views;
    int unknown;
} params;

enum { UNKNOWN_MEAN = 0, UNKNOWN_ZERO = 1 }; /* words of the parameter unknown */

static const plx__param_spec param_specs[] = {
    PLX__CLUSTERS_ROWS(params, "", 2, "Number of clusters, or auto; required."),
    PLX__TEXT(params, combine, "sum",
              "Views: sum of the affinities, joint (their product), concat (one affinity on the joined features), or "
              "single:VIEW."),
    PLX__AFFINITY_PARAMS("local"),
    PLX__REALS(params, width_grid, "0.1,0.2,0.5,1,2,5", 0, INFINITY, NULL,
               "Multiples of the median distance that width=auto tries."),
    PLX__BOOL(params, zero_diagonal, "1", "Set the affinity of a sample with itself to 0, after combining."),
    PLX__INT(
        params, affinity_k, "10", 0, 2147483647,
        "Keep only pairs of which one is among the k nearest of the other: larger is denser; 0 keeps all (n x n)."),
    PLX__BOOL(
        params, normalise_views, "1",
        "combine=sum: divide the affinities of a view by the roots of their row sums, so that no view counts more."),
    PLX__CHOICE(params, unknown, "mean", "mean|zero",
                "Affinity of two samples without a common view: mean of all other pairs, or 0. With mean, joint counts "
                "the views two samples share as if they were all."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    PLX__CLUSTER_CURVE,
    {"eigenvalues", "k x 1", 0, "The k largest eigenvalues, descending."},
    {"embedding", "n x k", 0, "Rows of the eigenvectors at unit length; zero rows for samples left out."},
    {"affinity", "n x n", PLX__ON_REQUEST, "Combined affinity."},
    {"gram_embedding", "n x n", PLX__ON_REQUEST, "Inner products of the rows of embedding: free of rotations."},
    {"widths", "m x 1", PLX__ON_REQUEST, "Width of every view (concat: one); nan for given, local and unused ones."},
    {NULL, NULL, 0, NULL}};

/* ---- which views ---- */

typedef struct plan {
    plx__blend_options blend;
    plx_index n_views;
    bool one;       /* a single view, or the concatenation */
    plx_index view; /* that view; -1: concatenation */
} plan;

static plx_status read_plan(plan *out, plx__run *run)
{
    const params *p = run->params;
    const char *combine = p->combine;
    *out = (plan){.blend = {PLX__BLEND_SUM, p->zero_diagonal, p->normalise_views, p->unknown == UNKNOWN_MEAN},
                  .n_views = run->problem->n_views};
    if (strcmp(combine, "sum") == 0) return PLX_OK;
    out->blend.normalise = false;
    out->blend.rule = PLX__BLEND_JOINT;
    if (strcmp(combine, "joint") == 0) return PLX_OK;
    out->one = true;
    out->n_views = 1;
    out->view = -1;
    if (strcmp(combine, "concat") == 0) return PLX_OK;
    if (strncmp(combine, "single:", 7) == 0) return plx__require_view(&out->view, run, combine + 7, "combine");
    PLX_FAIL(run->ctx, PLX_E_ARG, "combine = %s: must be sum, joint, concat or single:VIEW", combine);
}

static plx_status mark_view(plx__run *run, const plan *how)
{
    uint8_t *used = NULL;
    if (run->fitted || !how->one || how->view < 0) return PLX_OK;
    PLX_TRY(plx__arena_u8(&used, plx__scratch(run->ctx), run->problem->n_views));
    used[how->view] = 1;
    return plx__mark_used(run, used);
}

static plx_status open_views(plx__affinity **out, plx__run *run, const plan *how)
{
    const params *p = run->params;
    PLX_TRY(mark_view(run, how));
    PLX_TRY(PLX__ARENA_NEW(out, plx__scratch(run->ctx), how->n_views));
    for (plx_index v = 0; v < how->n_views; v++)
        PLX_TRY(plx__affinity_open(&(*out)[v], run, how->one ? how->view : v, p->affinity_k, true));
    return PLX_OK;
}

/* ---- results of a fit ---- */

static plx_status put_embedding(plx__run *run, const plx__njw *c)
{
    const plx__problem *x = run->problem;
    plx_index k = c->rows.cols;
    plx_mat all, gram;
    PLX_TRY(plx__store_put(run->out, "eigenvalues", plx__cmat_of(c->values, k, 1)));
    PLX_TRY(plx__store_new(&all, run->out, "embedding", x->n, k));
    plx__mat_fill(all, 0.0);
    for (plx_index i = 0; i < c->blend.n; i++)
        memcpy(all.data + c->blend.sample[i] * k, c->rows.data + i * k, (size_t)k * sizeof(double));
    if (!plx__wanted(run, "gram_embedding")) return PLX_OK;
    PLX_TRY(plx__store_new(&gram, run->out, "gram_embedding", x->n, x->n));
    return plx__gram_rows(run->ctx, plx__cmat(all), gram);
}

static plx_status put_affinity(plx__run *run, const plx__njw *c)
{
    const plx__blend *b = &c->blend;
    plx_index n = run->problem->n;
    plx_mat a;
    if (!plx__wanted(run, "affinity")) return PLX_OK;
    PLX_TRY(plx__store_new(&a, run->out, "affinity", n, n));
    plx__mat_fill(a, 0.0);
    for (plx_index i = 0; i < b->n; i++) {
        double *row = a.data + b->sample[i] * n;
        if (!b->sparse)
            for (plx_index j = 0; j < b->n; j++) row[b->sample[j]] = b->dense.data[i * b->n + j];
        else
            for (plx_index q = b->csr.ptr[i]; q < b->csr.ptr[i + 1]; q++) row[b->sample[b->csr.col[q]]] = b->csr.val[q];
        for (plx_index j = 0; b->sparse && b->unknown > 0 && j < b->n; j++)
            if (!plx__presence_common(&b->presence, i, &b->presence, j)) row[b->sample[j]] = b->unknown;
    }
    return PLX_OK;
}

static plx_status put_widths(plx__run *run, const plan *how, const plx__affinity *views)
{
    plx_index count = how->one && how->view < 0 ? 1 : run->problem->n_views;
    plx_mat widths;
    if (!plx__wanted(run, "widths")) return PLX_OK;
    PLX_TRY(plx__store_new(&widths, run->out, "widths", count, 1));
    plx__mat_fill(widths, NAN);
    for (plx_index v = 0; v < how->n_views; v++)
        widths.data[how->one ? plx__max(0, how->view) : v] = views[v].rule == PLX__WIDTH_LOCAL ? NAN : views[v].width;
    return PLX_OK;
}

/* What Nystrom needs: D^-1/2 X / eigenvalue over all samples (zero rows for those left out) and the centres. */
static plx_status put_state(plx__run *run, const plx__njw *c, const plx__affinity *views, plx_index n_views)
{
    plx_index k = c->rows.cols;
    plx_mat own, all;
    PLX_TRY(plx__arena_mat(&own, plx__scratch(run->ctx), c->blend.n, k));
    PLX_TRY(plx__nystrom_map(own, run->ctx, plx__cmat(c->vectors), c->values, c->blend.affine.degree));
    PLX_TRY(plx__store_new(&all, run->out, "_map", run->problem->n, k));
    plx__mat_fill(all, 0.0);
    for (plx_index i = 0; i < c->blend.n; i++)
        memcpy(all.data + c->blend.sample[i] * k, own.data + i * k, (size_t)k * sizeof(double));
    PLX_TRY(plx__store_put(run->out, "_centres", plx__cmat(c->result.centres)));
    PLX_TRY(plx__store_put(run->out, "_unknown", plx__cmat_of(&c->blend.unknown, 1, 1)));
    for (plx_index v = 0; v < n_views; v++) {
        PLX_TRY(plx__affinity_keep(run, &views[v], false));
        if (c->blend.degree) PLX_TRY(plx__affinity_put(run, "_degree", views[v].name, c->blend.degree[v], views[v].n));
    }
    return plx__identity_keep(run);
}

static plx_status put_labels(plx__run *run, const plx__njw *c)
{
    plx_index n = run->problem->n;
    int32_t *label = NULL;
    PLX_TRY(plx__arena_i32(&label, plx__scratch(run->ctx), n));
    for (plx_index i = 0; i < n; i++) label[i] = -1;
    for (plx_index i = 0; i < c->blend.n; i++) label[c->blend.sample[i]] = c->result.label[i];
    if (c->blend.n < n)
        plx__warn(run->ctx, "spectral: %lld samples lack a view that is needed and are left out",
                  (long long)(n - c->blend.n));
    return plx__outcome_clusters(run, label, c->rows.cols, (plx_cmat){0});
}

static plx_status fit(plx__run *run)
{
    const params *p = run->params;
    plan how;
    plx__affinity *views = NULL;
    plx__njw c = {0};
    plx__njw_options o = {p->clusters, {0}, p->width_grid.list, p->width_grid.n_list};
    if (p->clusters < 2)
        PLX_FAIL(run->ctx, PLX_E_ARG, "spectral: the number of clusters is required; set clusters, or clusters=auto");
    PLX_TRY(read_plan(&how, run));
    o.blend = how.blend;
    if (how.blend.rule == PLX__BLEND_JOINT && how.n_views > 1 && p->affinity_k > 0)
        plx__warn(run->ctx,
                  "spectral: combine=joint with affinity_k=%lld joins only pairs that are near in every view; "
                  "set affinity_k=0, or combine=sum",
                  (long long)p->affinity_k);
    PLX_TRY(plx__njw_check(run, &o, run->problem->n, ""));
    PLX_TRY(plx__affinities_divide(run, p->affinity_k));
    PLX_TRY(open_views(&views, run, &how));
    for (plx_index v = 0; v < how.n_views; v++)
        if (views[v].rule == PLX__WIDTH_AUTO && !views[v].given) PLX_TRY(plx__njw_search_width(&views[v], run, &o));
    PLX_TRY(plx__njw_cluster(&c, run, &o, views, how.n_views));
    plx__info(run->ctx, "spectral: %lld samples, %s affinity", (long long)c.blend.n,
              c.blend.sparse ? "sparse" : "dense");
    PLX_TRY(put_embedding(run, &c));
    PLX_TRY(put_affinity(run, &c));
    PLX_TRY(put_widths(run, &how, views));
    PLX_TRY(put_state(run, &c, views, how.n_views));
    PLX_TRY(put_labels(run, &c));
    return plx__finish(run, NULL, c.result.iterations, c.converged, c.result.inertia);
}

/* ---- new samples ---- */

typedef struct nystrom {
    plx_index n; /* fitted samples */
    plx__blend_fresh blend;
    plx_cmat map, centres;
} nystrom;

static plx_status recall_views(nystrom *z, plx__run *run, const plan *how)
{
    plx__affinity *fresh = NULL, *fitted = NULL;
    plx_index *own = NULL;
    PLX_TRY(open_views(&fresh, run, how));
    PLX_TRY(PLX__ARENA_NEW(&fitted, plx__scratch(run->ctx), how->n_views));
    for (plx_index v = 0; v < how->n_views; v++) {
        PLX_TRY(plx__affinity_recall(&fitted[v], run, &fresh[v], false));
        if (fitted[v].n != fitted[0].n)
            PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model's views have different numbers of samples");
    }
    PLX_TRY(plx__identity_find(&own, run, fitted, fresh, how->n_views));
    z->n = fitted[0].n;
    z->blend =
        (plx__blend_fresh){.how = how->blend, .fitted = fitted, .fresh = fresh, .n_views = how->n_views, .own = own};
    PLX_TRY(plx__presence_build(&z->blend.fitted_presence, run->ctx, fitted, how->n_views, NULL, z->n));
    return plx__presence_build(&z->blend.fresh_presence, run->ctx, fresh, how->n_views, NULL, run->problem->n);
}

static plx_status recall(nystrom *z, plx__run *run)
{
    const params *p = run->params;
    plan how;
    const double **degree = NULL;
    bool plain = !plx__store_find(run->fitted, "_unknown"); /* a model from before views were normalised and filled */
    PLX_TRY(read_plan(&how, run));
    if (plain) how.blend.normalise = how.blend.fill = false;
    PLX_TRY(recall_views(z, run, &how));
    if (!plain) PLX_TRY(plx__store_scalar(&z->blend.unknown, run->ctx, run->fitted, "_unknown"));
    if (how.blend.normalise) {
        PLX_TRY(PLX__ARENA_NEW(&degree, plx__scratch(run->ctx), how.n_views));
        for (plx_index v = 0; v < how.n_views; v++)
            PLX_TRY(plx__affinity_get(&degree[v], run, "_degree", z->blend.fitted[v].name, z->n));
        z->blend.degree = degree;
    }
    PLX_TRY(plx__store_shaped(&z->map, run->ctx, run->fitted, "_map", z->n, p->clusters));
    return plx__store_shaped(&z->centres, run->ctx, run->fitted, "_centres", p->clusters, p->clusters);
}

/* u = d^-1/2 a' D^-1/2 X / eigenvalue at unit length, then the nearest centre; nobody near: no label. */
static plx_status label_block(plx__run *run, const nystrom *z, plx_index begin, plx_index end, plx_mat a,
                              int32_t *label)
{
    const params *p = run->params;
    plx_mat u;
    PLX_TRY(plx__blend_to_fitted(run->ctx, &z->blend, begin, end, a));
    PLX_TRY(plx__arena_mat(&u, plx__scratch(run->ctx), end - begin, p->clusters));
    PLX_TRY(plx__gemm(run->ctx, 1.0, plx__cmat(a), PLX__N, z->map, PLX__N, 0.0, u));
    plx__unit_rows(u); /* d^-1/2 > 0 does not change the direction */
    for (plx_index i = 0; i < end - begin; i++) {
        bool reached = plx__sum(a.data + i * a.ld, a.cols) > 0;
        label[begin + i] = reached ? plx__nearest_centre(u.data + i * u.ld, z->centres) : -1;
    }
    return PLX_OK;
}

static plx_status predict(plx__run *run)
{
    plx_index n = run->problem->n, unreached = 0;
    nystrom z;
    int32_t *label = NULL;
    plx_mat rows;
    PLX_TRY(recall(&z, run));
    plx_index step = plx__block_rows(z.n);
    PLX_TRY(plx__arena_i32(&label, plx__scratch(run->ctx), n));
    PLX_TRY(plx__arena_mat(&rows, plx__scratch(run->ctx), step, z.n));
    for (plx_index at = 0; at < n; at += step) {
        plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
        plx_index end = plx__min(n, at + step);
        PLX_TRY(label_block(run, &z, at, end, plx__sub(rows, 0, 0, end - at, rows.cols), label));
        plx__arena_rewind(plx__scratch(run->ctx), mark);
        PLX_TRY(plx__report(run->ctx, "nystrom", end, n, NAN));
    }
    for (plx_index i = 0; i < n; i++) unreached += label[i] < 0;
    if (unreached)
        plx__warn(run->ctx, "spectral: %lld samples have no affinity to any fitted one and get no label",
                  (long long)unreached);
    return plx__outcome_clusters(run, label, z.centres.rows, (plx_cmat){0});
}

/* ---- memory ---- */

/* Rows made ready and kept, the affinity of every view, the matrix they blend into, its eigenvectors, k-means. */
static double memory(const plx__run *run)
{
    const params *p = run->params;
    const plx__problem *x = run->problem;
    plx_index clusters = plx__max(2, p->clusters);
    double n = (double)x->n, k = (double)clusters, bytes = 0, entries = 0;
    for (plx_index v = 0; v < x->n_views; v++) {
        double own = 0;
        bytes += plx__affinity_bytes(run, v, p->affinity_k, &own);
        entries += own;
    }
    double block = 8.0 * (double)plx__block_rows(x->n) * n;
    if (run->fitted) return bytes + 3 * block;
    bytes += plx__affinities_sparse(run, p->affinity_k) ? 12.0 * fmin(entries, n * n) : 8.0 * n * n + 2 * block;
    bytes += 8.0 * n * (plx__wanted(run, "affinity") + plx__wanted(run, "gram_embedding")) * n;
    return bytes + plx__spectral_bytes(x->n, clusters) + 8.0 * n * (6 * k + 24);
}

static const char *const extra_views[] = {"concat", NULL};
static const plx__param_table tables[] = {param_specs,
                                          plx__scale_params,
                                          plx__kmeans_params,
                                          plx__heldout_params,
                                          plx__zero_rows_params,
                                          plx__uncovered_params,
                                          NULL};

const plx__method plx__method_spectral = {
    .name = "spectral",
    .title = "Spectral clustering of one view or of combined affinities",
    .summary =
        "Clusters from the leading eigenvectors of a normalised affinity: product, sum or concatenation of views.",
    .citation = "ng2002spectral",
    .task = PLX_TASK_CLUSTER,
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_CAN_KERNEL_VIEWS |
                    PLX_CAN_USE_UNLABELLED | PLX_IS_FEATURE_FREE,
    .min_views = 1,
    .zero_rows = PLX__ZERO_ROWS_PARAM,
    .uncovered = PLX__UNCOVERED_PRIOR,
    .extra_views = extra_views,
    .params_size = sizeof(params),
    .growth = "quadratic",
    .ranks = PLX__RANKS_SPECTRA,
    .params = tables,
    .clusters_by = PLX__CLUSTERS_EIGENGAP,
    .clusters_array = "eigenvalues",
    .arrays = array_specs,
    .memory = memory,
    .memory_remedy = "set affinity_k for a sparse affinity, or raise the memory limit",
    .fit = fit,
    .predict = predict};
