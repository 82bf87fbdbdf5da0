/*
 * svm: support vector machine on one view or on the concatenation of all views, linear or with a kernel:
 *     min (1/l) sum_i max(0, 1 - y_i (f(x_i) + b)) + gamma_a |f|_K^2
 * per class, over the labelled samples; solved in the dual with C = 1 / (2 gamma_a l).
 */
#include "methods/regularised/one_view.h"

static const plx__param_spec param_specs[] = {PLX__ONE_VIEW_PARAMS, PLX__ONE_VIEW_KKT_TOL, PLX__PARAM_END};

static const plx__array_spec array_specs[] = {PLX__ONE_VIEW_ARRAYS, PLX__ONE_VIEW_DUAL_ARRAY, {NULL, NULL, 0, NULL}};

static const plx__param_table tables[] = {param_specs, PLX__ONE_VIEW_TABLES, plx__decision_params, NULL};

static plx_status fit(plx__run *run) { return plx__one_view_fit(run, true, false); }
static double memory(const plx__run *run) { return plx__one_view_bytes(run, true, false); }

const plx__method plx__method_svm = {
    .name = "svm",
    .title = "Support vector machine on one view or on all joined",
    .summary = "Supervised baseline: one-against-rest maximum margin (hinge loss), linear or with a kernel.",
    .capabilities = PLX__ONE_VIEW_CAPABILITIES,
    .scores = "margin of the class, larger is surer (not a probability)",
    .growth = "linear",
    .ranks = PLX__RANKS_SUMS, /* the classes; products with the rows */
    .streams = plx__one_view_streams,
    .streams_with = "linear and cosine kernels",
    .own_rows = plx__one_view_own_rows,
    .whose_rows = plx__whose_panes,
    .own_results = true,
    .params = tables,
    .arrays = array_specs,
    .memory = memory,
    .memory_remedy = "label fewer samples, or raise the memory limit",
    .fit = fit,
    PLX__ONE_VIEW_FIELDS};
