/*
 * laprls: Laplacian regularised least squares on one view or on the concatenation of all views:
 *     min (1/l) sum_i (y_i - f(x_i) - b)^2 + gamma_a |f|_K^2 + gamma_i f'Lf
 * per class, L the Laplacian of the neighbour graph of all samples, labelled or not.
 */
#include "methods/regularised/one_view.h"

static const plx__param_spec param_specs[] = {PLX__ONE_VIEW_PARAMS, PLX__ONE_VIEW_GAMMA_I, PLX__ONE_VIEW_RESIDUAL_TOL,
                                              PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    PLX__ONE_VIEW_ARRAYS, PLX__ONE_VIEW_LAPLACIAN_ARRAY, {NULL, NULL, 0, NULL}};

static const plx__param_table tables[] = {param_specs, plx__smooth_graph_params, PLX__ONE_VIEW_TABLES,
                                          plx__graph_decision_params, NULL};

static plx_status fit(plx__run *run) { return plx__one_view_fit(run, false, true); }
static double memory(const plx__run *run) { return plx__one_view_bytes(run, false, true); }

const plx__method plx__method_laprls = {
    .name = "laprls",
    .title = "Least squares smoothed over the graph of one view or of all joined",
    .summary = "Semi-supervised: least squares with a norm penalty and a penalty on differences between neighbours, "
               "labelled or not.",
    .capabilities = PLX__ONE_VIEW_CAPABILITIES | PLX_CAN_USE_UNLABELLED,
    .scores = "margin of the class, larger is surer (not a probability)",
    .growth = "cubic",
    .ranks = PLX__RANKS_SUMS, /* with linear and cosine kernels; neighbours are searched by all processes together */
    .own_rows = plx__one_view_own_rows,
    .whose_rows = plx__whose_panes,
    .params = tables,
    .arrays = array_specs,
    .check = plx__one_view_check,
    .memory = memory,
    .memory_remedy = "use solver=primal with a linear kernel, or solver=cg, or raise the memory limit",
    .fit = fit,
    PLX__ONE_VIEW_FIELDS};
