/*
 * rls: regularised least squares on one view or on the concatenation of all views, linear or with a kernel:
 *     min (1/l) sum_i (y_i - f(x_i) - b)^2 + gamma_a |f|_K^2
 * per class, over the labelled samples.
 */
#include "methods/regularised/one_view.h"

static const plx__param_spec param_specs[] = {PLX__ONE_VIEW_PARAMS, PLX__ONE_VIEW_PIVOTS, PLX__ONE_VIEW_RESIDUAL_TOL,
                                              PLX__PARAM_END};

static const plx__array_spec array_specs[] = {PLX__ONE_VIEW_ARRAYS, {NULL, NULL, 0, NULL}};

static const plx__param_table tables[] = {param_specs, PLX__ONE_VIEW_TABLES, plx__decision_params, NULL};

static plx_status fit(plx__run *run) { return plx__one_view_fit(run, false, false); }
static double memory(const plx__run *run) { return plx__one_view_bytes(run, false, false); }

const plx__method plx__method_rls = {
    .name = "rls",
    .title = "Regularised least squares on one view or on all joined",
    .summary = "Supervised baseline: one-against-rest least squares with a norm penalty, linear or with a kernel.",
    .capabilities = PLX__ONE_VIEW_CAPABILITIES,
    .scores = "margin of the class, larger is surer (not a probability)",
    .growth = "linear",
    .ranks = PLX__RANKS_SUMS, /* with linear and cosine kernels, or pivots */
    .streams = plx__one_view_streams,
    .streams_with = "linear and cosine kernels",
    .own_rows = plx__one_view_own_rows,
    .whose_rows = plx__whose_panes,
    .own_results = true,
    .params = tables,
    .arrays = array_specs,
    .check = plx__one_view_check,
    .memory = memory,
    .memory_remedy =
        "set pivots (for example pivots=300), use solver=primal with a linear kernel, label fewer samples, "
        "or raise the memory limit",
    .fit = fit,
    PLX__ONE_VIEW_FIELDS};
