/*
 * llreg: L = sum_v w_v (I - A_v)'(I - A_v), A_v the local models of view v alone.
 */
#include "methods/transductive/single_matrix.h"

static const plx__array_spec array_specs[] = {
    PLX__CLUSTER_CURVE,
    PLX__SINGLE_MATRIX_ARRAYS,
    {"lambda_VIEW", "1 x 1", 0, "Ridge weight of the local models of a view, in the units of its values."},
    {"A", "n x n", PLX__ON_REQUEST, "Weights of the local predictions, a row per sample, averaged over the views."},
    {NULL, NULL, 0, NULL}};

static const plx__param_table tables[] = {plx__local_task_params,      plx__local_weights_params,
                                          plx__local_neighbour_params, plx__local_model_params,
                                          plx__scale_params,           plx__graph_decision_params,
                                          plx__kmeans_params,          plx__zero_rows_params,
                                          plx__uncovered_params,       NULL};

static plx_status fit(plx__run *run)
{
    const plx__local_params *p = run->params;
    return plx__single_matrix_local(run, (plx__local_kind)p->model);
}

const plx__method plx__method_llreg = {
    .name = "llreg",
    .title = "Local learning regularisation, views summed",
    .summary = "Transductive classification or clustering by local models of each view alone.",
    .citation = "wu2007transductive",
    .capabilities = PLX__SINGLE_MATRIX_CAPABILITIES,
    .scores = "smoothed indicator of the class, larger is surer (not a probability)",
    .growth = "quadratic",
    .ranks = PLX__RANKS_SYSTEMS | PLX__RANKS_SPECTRA,
    .params = tables,
    .arrays = array_specs,
    .memory = plx__local_memory,
    .fit = fit,
    PLX__SINGLE_MATRIX_FIELDS};
