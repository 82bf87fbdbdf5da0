/*
 * mvll: multi-view local learning regularisation (Zhang, Wang, Zhang, Li 2008).
 *
 * Every sample has a local model in each of its views, fitted to its neighbours (the union over the views) and coupled
 * so that the views agree at the sample; the prediction at x_i is alpha_i f (graph/local_model.h). L = (I-A)'(I-A) with
 * the alpha_i as rows of A measures how far f is from its own local predictions, and serves to classify or to cluster.
 * New samples: alpha_x applied to the fitted scores or eigenvectors.
 */
#include "run/decision.h"
#include "methods/transductive/local.h"

static const plx__param_spec param_specs[] = {
    PLX__REAL(plx__local_params, coupling, "0.1", 0, INFINITY,
              "Weight of the agreement of the views at every sample; larger trusts the more certain view more."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    PLX__CLUSTER_CURVE,
    {"F", "n x c", 0, "Scores per class; empty when clustering."},
    {"scores", "n x c", 0, "The same as F."},
    {"embedding", "n x k", 0, "Eigenvectors of the smallest eigenvalues of L; empty when classifying."},
    {"eigenvalues", "k x 1", 0, "Smallest eigenvalues of L, ascending; empty when classifying."},
    {"lambda_VIEW", "1 x 1", 0, "Ridge weight of the local models of a view, in the units of its values."},
    {"A", "n x n", PLX__ON_REQUEST, "Weights of the local predictions, a row per sample."},
    {"L", "n x n", PLX__ON_REQUEST, "Regularisation matrix (I-A)'(I-A)."},
    {NULL, NULL, 0, NULL}};

static plx_status local_matrix(plx_csr *out, plx__run *run)
{
    const plx__local_params *p = run->params;
    plx_index m = run->problem->n_views;
    plx__local_view *views = NULL;
    plx__local_options o = {.kind = (plx__local_kind)p->model,
                            .self = !run->fitted,
                            .full = p->expansion == 1,
                            .coupling = p->coupling,
                            .relative_lambda = !run->fitted && p->lambda_scale == PLX__LAMBDA_SPREAD,
                            .ids = run->problem->ids,
                            .method = "mvll",
                            .run = run};
    PLX_TRY(PLX__ARENA_NEW(&views, plx__scratch(run->ctx), m));
    for (plx_index v = 0; v < m; v++) {
        PLX_TRY(plx__local_view_open(&views[v], run, v, o.kind, true));
        if (plx__points_rows(views[v].rows) != plx__points_rows(views[0].rows))
            PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model's views have different numbers of samples");
    }
    PLX_TRY(plx__local_matrix(out, run->ctx, views, m, &o));
    return run->fitted ? PLX_OK : plx__local_put_lambda(run, views, m);
}

static plx_status fit(plx__run *run)
{
    plx__local_goal goal;
    plx_csr a;
    plx__smoother s;
    PLX_TRY(plx__local_task(&goal, run));
    PLX_TRY(local_matrix(&a, run));
    PLX_TRY(plx__local_put_matrix(run, "A", plx__ccsr(a)));
    PLX_TRY(plx__smoother_create(&s, run->ctx, run->problem->n, 1));
    PLX_TRY(plx__smoother_set_local(&s, run->ctx, 0, plx__ccsr(a), false));
    PLX_TRY(plx__local_settle_reach(&goal, run, &s));
    return plx__local_finish(run, &s, &goal);
}

static plx_status predict(plx__run *run)
{
    const plx__problem *x = run->problem;
    uint8_t *covered = NULL;
    plx_csr a;
    PLX_TRY(plx__arena_u8(&covered, plx__scratch(run->ctx), x->n));
    for (plx_index v = 0; v < x->n_views; v++)
        for (plx_index i = 0; i < x->n; i++) covered[i] |= x->views[v].present[i];
    PLX_TRY(local_matrix(&a, run));
    return plx__local_extend(run, plx__ccsr(a), covered);
}

static const plx__param_table tables[] = {plx__local_task_params,
                                          plx__local_neighbour_params,
                                          plx__local_model_params,
                                          param_specs,
                                          plx__scale_params,
                                          plx__graph_decision_params,
                                          plx__kmeans_params,
                                          plx__heldout_params,
                                          plx__zero_rows_params,
                                          plx__uncovered_params,
                                          NULL};

const plx__method plx__method_mvll = {
    .name = "mvll",
    .title = "Multi-view local learning",
    .summary = "Classifies or clusters so that every sample agrees with local models of its neighbours in all views.",
    .citation = "zhang2008mvll",
    .task = PLX_TASK_CLASSIFY,
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_CAN_KERNEL_VIEWS |
                    PLX_CAN_USE_UNLABELLED | PLX_IS_FEATURE_FREE | PLX_IS_VIEW_FREE,
    .min_views = 1,
    .zero_rows = PLX__ZERO_ROWS_PARAM,
    .uncovered = PLX__UNCOVERED_PRIOR,
    .prior_array = "scores",
    .params_size = sizeof(plx__local_params),
    .scores = "smoothed indicator of the class, larger is surer (not a probability)",
    .growth = "quadratic",
    .ranks = PLX__RANKS_SYSTEMS | PLX__RANKS_SPECTRA,
    .params = tables,
    .arrays = array_specs,
    .transform = "scores",
    .memory = plx__local_memory,
    .memory_remedy = "set fewer neighbours, or raise the memory limit",
    .fit = fit,
    .predict = predict};
