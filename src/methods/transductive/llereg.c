/*
 * llereg: L = sum_v w_v (I - B_v)'(I - B_v), B_v the locally linear reconstruction weights of view v.
 */
#include <math.h>

#include "methods/transductive/single_matrix.h"

static const plx__param_spec weights_specs[] = {
    PLX__BOOL(plx__local_params, nonneg, "0", "Keep the locally linear weights >= 0."),
    PLX__REAL(plx__local_params, lle_reg, "1e-3", 0, INFINITY,
              "Ridge of the locally linear weights, relative to their mean squared distance; larger is more even."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {PLX__SINGLE_MATRIX_ARRAYS, PLX__CLUSTER_CURVE, {NULL, NULL, 0, NULL}};

static const plx__param_table tables[] = {plx__local_task_params,      plx__local_weights_params,
                                          plx__local_neighbour_params, weights_specs,
                                          plx__scale_params,           plx__graph_decision_params,
                                          plx__kmeans_params,          plx__zero_rows_params,
                                          plx__uncovered_params,       NULL};

static plx_status fit(plx__run *run) { return plx__single_matrix_local(run, PLX__LOCAL_WEIGHTS); }

const plx__method plx__method_llereg = {
    .name = "llereg",
    .title = "Locally linear regularisation, views summed",
    .summary = "Transductive classification or clustering by locally linear reconstruction weights of each view.",
    .citation = "wang2006lnp",
    .capabilities = PLX__SINGLE_MATRIX_CAPABILITIES,
    .scores = "smoothed indicator of the class, larger is surer (not a probability)",
    .growth = "quadratic",
    .ranks = PLX__RANKS_SYSTEMS | PLX__RANKS_SPECTRA,
    .params = tables,
    .arrays = array_specs,
    .memory = plx__local_memory,
    .fit = fit,
    PLX__SINGLE_MATRIX_FIELDS};
