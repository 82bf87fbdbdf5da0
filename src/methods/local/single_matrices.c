/*
 * lapreg, nlapreg, llereg, llreg: classification and clustering with L = sum_v w_v L_v, one matrix per view:
 *
 *     lapreg   D - W of the similarity graph          nlapreg  I - D^-1/2 W D^-1/2
 *     llereg   (I-B)'(I-B), B the locally linear weights   llreg   (I-A)'(I-A), A the local models of the view alone
 *
 * The views do not meet in the local models, only in the sum: what mvll is compared with. All are transductive.
 */
#include <math.h>

#include "frame/decision.h"
#include "graph/laplacian.h"
#include "graph/neighbours.h"
#include "methods/local/local.h"

static const plx__param_spec lapreg_graph[] = {PLX__GRAPH_PARAMS("10", "local", "unnormalized"), PLX__PARAM_END};
static const plx__param_spec nlapreg_graph[] = {PLX__GRAPH_PARAMS("10", "local", "normalized"), PLX__PARAM_END};

static const plx__param_spec weights_specs[] = {
    PLX__BOOL(plx__local_params, nonneg, "0", "Keep the locally linear weights >= 0."),
    PLX__REAL(plx__local_params, lle_reg, "1e-3", 0, INFINITY,
              "Ridge of the locally linear weights, relative to their mean squared distance; larger is more even."),
    PLX__PARAM_END};

#define COMMON_ARRAYS                                                                                                  \
    {"F", "n x c", 0, "Scores per class; empty when clustering."}, {"scores", "n x c", 0, "The same as F."},           \
        {"embedding", "n x k", 0, "Eigenvectors of the smallest eigenvalues of L; empty when classifying."},           \
        {"eigenvalues", "k x 1", 0, "Smallest eigenvalues of L, ascending; empty when classifying."},                  \
        {"view_weights", "V x 1", 0, "Weight of every view, summing to 1."},                                           \
        {"cv_accuracy", "w x 1", 0, "Accuracy of every candidate of view_weights=cv; empty otherwise."},               \
    {                                                                                                                  \
        "L", "n x n", PLX__ON_REQUEST, "Regularisation matrix."                                                        \
    }

static const plx__array_spec array_specs[] = {COMMON_ARRAYS, {NULL, NULL, 0, NULL}};
static const plx__array_spec llreg_arrays[] = {
    COMMON_ARRAYS,
    {"A", "n x n", PLX__ON_REQUEST, "Weights of the local predictions, a row per sample, averaged over the views."},
    {NULL, NULL, 0, NULL}};

/* ---- graphs ---- */

static plx_status graph_part(plx__smoother *s, plx__run *run, plx_index view)
{
    const plx__view *v = &run->problem->views[view];
    plx__prepared rows;
    plx__graph_settings settings;
    plx_csr l;
    if (v->kind == PLX_VIEW_KERNEL)
        rows = (plx__prepared){.rows = v->sparse ? plx__points_csr(v->csr) : plx__points_dense(v->dense)};
    else PLX_TRY(plx__prepare_rows(&rows, run, view));
    PLX_TRY(plx__graph_settings_of(&settings, run, v->name));
    plx__graph_source source = {rows.rows, v->present, v->kind == PLX_VIEW_KERNEL, v->name, run};
    PLX_TRY(plx__view_laplacian(&l, run->ctx, &source, &settings));
    plx__smoother_set(s, view, l);
    return PLX_OK;
}

/* ---- local models ---- */

static plx_status local_part(plx__smoother *s, plx__run *run, plx_index view, plx__local_kind kind, plx_csr *a)
{
    const plx__local_params *p = run->params;
    plx__local_view one;
    plx__local_options o = {.run = run,
                            .kind = kind,
                            .self = true,
                            .full = p->expansion == 1,
                            .weights_reg = p->lle_reg,
                            .nonnegative = p->nonneg,
                            .lonely = true,
                            .ids = run->problem->ids,
                            .method = run->method->name};
    PLX_TRY(plx__local_view_open(&one, run, view, kind, false));
    PLX_TRY(plx__local_matrix(a, run->ctx, &one, 1, &o));
    return plx__smoother_set_local(s, run->ctx, view, plx__ccsr(*a), true);
}

/* A = sum_v w_v A_v. */
static plx_status put_local(plx__run *run, const plx__smoother *s, const plx_csr *a)
{
    plx_csr sum, next;
    if (!plx__wanted(run, "A")) return PLX_OK;
    PLX_TRY(plx__arena_csr(&sum, plx__scratch(run->ctx), s->n, s->n, 0));
    for (plx_index v = 0; v < s->n_parts; v++) {
        PLX_TRY(plx__csr_add(&next, plx__scratch(run->ctx), 1.0, plx__ccsr(sum), s->part[v].weight, plx__ccsr(a[v])));
        sum = next;
    }
    return plx__local_put_matrix(run, "A", plx__ccsr(sum));
}

/* ---- fitting ---- */

static plx_status fit_graphs(plx__run *run)
{
    int task = PLX__TASK_LABELS;
    plx__smoother s;
    PLX_TRY(plx__local_task(&task, run));
    PLX_TRY(plx__smoother_create(&s, run->ctx, run->problem->n, run->problem->n_views));
    for (plx_index v = 0; v < s.n_parts; v++) PLX_TRY(graph_part(&s, run, v));
    PLX_TRY(plx__local_weigh(run, &s, task));
    return plx__local_finish(run, &s, task);
}

static plx_status fit_local(plx__run *run, plx__local_kind kind)
{
    int task = PLX__TASK_LABELS;
    plx__smoother s;
    plx_csr *a = NULL;
    PLX_TRY(plx__local_task(&task, run));
    PLX_TRY(plx__smoother_create(&s, run->ctx, run->problem->n, run->problem->n_views));
    PLX_TRY(PLX__ARENA_NEW(&a, plx__scratch(run->ctx), s.n_parts));
    for (plx_index v = 0; v < s.n_parts; v++) PLX_TRY(local_part(&s, run, v, kind, &a[v]));
    PLX_TRY(plx__local_weigh(run, &s, task));
    if (kind != PLX__LOCAL_WEIGHTS) PLX_TRY(put_local(run, &s, a));
    return plx__local_finish(run, &s, task);
}

static plx_status fit_llereg(plx__run *run) { return fit_local(run, PLX__LOCAL_WEIGHTS); }

static plx_status fit_llreg(plx__run *run)
{
    const plx__local_params *p = run->params;
    return fit_local(run, (plx__local_kind)p->model);
}

/* ---- descriptors ---- */

static double graph_memory(const plx__run *run)
{
    double bytes = plx__local_memory(run);
    for (plx_index v = 0; v < run->problem->n_views; v++) {
        plx__value k = {.number = 10};
        if (plx__pv(&k, run->ctx, run->settings, "graph_k", run->problem->views[v].name) != PLX_OK) return INFINITY;
        plx__graph_settings g = {.k = (plx_index)k.number, .weights = PLX__EDGES_LOCAL, .scale_k = 7};
        bytes += 2 * plx__similarity_bytes(run->problem->n, &g);
    }
    return bytes;
}

static const plx__param_table lapreg_tables[] = {plx__local_task_params, plx__local_weights_params, lapreg_graph,
                                                 plx__scale_params,      plx__decision_params,      plx__kmeans_params,
                                                 plx__zero_rows_params,  plx__knn_params,           NULL};
static const plx__param_table nlapreg_tables[] = {plx__local_task_params, plx__local_weights_params, nlapreg_graph,
                                                  plx__scale_params,      plx__decision_params,      plx__kmeans_params,
                                                  plx__zero_rows_params,  plx__knn_params,           NULL};
static const plx__param_table llereg_tables[] = {
    plx__local_task_params, plx__local_weights_params, plx__local_neighbour_params, weights_specs,   plx__scale_params,
    plx__decision_params,   plx__kmeans_params,        plx__zero_rows_params,       plx__knn_params, NULL};
static const plx__param_table llreg_tables[] = {plx__local_task_params,
                                                plx__local_weights_params,
                                                plx__local_neighbour_params,
                                                plx__local_model_params,
                                                plx__scale_params,
                                                plx__decision_params,
                                                plx__kmeans_params,
                                                plx__zero_rows_params,
                                                plx__knn_params,
                                                NULL};

enum {
    COMMON_CAPABILITIES =
        PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_CAN_KERNEL_VIEWS | PLX_CAN_USE_UNLABELLED | PLX_IS_FEATURE_FREE
};

#define COMMON_FIELDS                                                                                                  \
    .task = PLX_TASK_CLASSIFY, .min_views = 1, .zero_rows = PLX__ZERO_ROWS_PARAM, .refuse_uncovered = true,            \
    .params_size = sizeof(plx__local_params), .memory_remedy = "set fewer neighbours (graph_k), or raise --memory"

const plx__method plx__method_lapreg = {
    .name = "lapreg",
    .title = "Laplacian regularisation, views summed",
    .summary = "Transductive classification or clustering with the weighted sum of the views' graph Laplacians.",
    .citation = "zhu2003harmonic",
    .capabilities = COMMON_CAPABILITIES,
    .params = lapreg_tables,
    .arrays = array_specs,
    .memory = graph_memory,
    .fit = fit_graphs,
    COMMON_FIELDS};

const plx__method plx__method_nlapreg = {
    .name = "nlapreg",
    .title = "Normalised Laplacian regularisation, views summed",
    .summary = "Transductive classification or clustering with the weighted sum of normalised Laplacians.",
    .citation = "zhou2004consistency",
    .capabilities = COMMON_CAPABILITIES,
    .params = nlapreg_tables,
    .arrays = array_specs,
    .memory = graph_memory,
    .fit = fit_graphs,
    COMMON_FIELDS};

const plx__method plx__method_llereg = {
    .name = "llereg",
    .title = "Locally linear regularisation, views summed",
    .summary = "Transductive classification or clustering by locally linear reconstruction weights of each view.",
    .citation = "wang2006lnp",
    .capabilities = COMMON_CAPABILITIES,
    .params = llereg_tables,
    .arrays = array_specs,
    .memory = plx__local_memory,
    .fit = fit_llereg,
    COMMON_FIELDS};

const plx__method plx__method_llreg = {
    .name = "llreg",
    .title = "Local learning regularisation, views summed",
    .summary = "Transductive classification or clustering by local models of each view alone.",
    .citation = "wu2007transductive",
    .capabilities = COMMON_CAPABILITIES,
    .params = llreg_tables,
    .arrays = llreg_arrays,
    .memory = plx__local_memory,
    .fit = fit_llreg,
    COMMON_FIELDS};
