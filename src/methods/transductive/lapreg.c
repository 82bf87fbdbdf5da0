/*
 * lapreg: L = sum_v w_v (D_v - W_v), the Laplacians of the similarity graphs of the views.
 */
#include "methods/transductive/single_matrix.h"

static const plx__param_spec graph_specs[] = {PLX__GRAPH_PARAMS("10", "local", "unnormalized"), PLX__PARAM_END};

static const plx__array_spec array_specs[] = {PLX__SINGLE_MATRIX_ARRAYS, PLX__CLUSTER_CURVE, {NULL, NULL, 0, NULL}};

static const plx__param_table tables[] = {plx__local_task_params, plx__local_weights_params,  graph_specs,
                                          plx__scale_params,      plx__graph_decision_params, plx__kmeans_params,
                                          plx__zero_rows_params,  plx__uncovered_params,      NULL};

const plx__method plx__method_lapreg = {
    .name = "lapreg",
    .title = "Laplacian regularisation, views summed",
    .summary = "Transductive classification or clustering with the weighted sum of the views' graph Laplacians.",
    .citation = "zhu2003harmonic",
    .capabilities = PLX__SINGLE_MATRIX_CAPABILITIES,
    .scores = "smoothed indicator of the class, larger is surer (not a probability)",
    .growth = "quadratic",
    .ranks = PLX__RANKS_SYSTEMS | PLX__RANKS_SPECTRA,
    .params = tables,
    .arrays = array_specs,
    .memory = plx__single_matrix_graph_bytes,
    .fit = plx__single_matrix_graphs,
    PLX__SINGLE_MATRIX_FIELDS};
