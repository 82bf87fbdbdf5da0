/*
 * colapsvm: co-Laplacian support vector machine. Per view s and class
 *     min (1/l) sum_i max(0, 1 - y_i (f(x_i) + b)) + gamma_a |f|_K^2 + gamma_i f'L_s f,
 * where L = sum_v w_v L_v joins the graphs of all views and L_s is L seen from the samples that have view s.
 */
#include "methods/regularised/coupled_laplacian.h"

static const plx__param_spec param_specs[] = {
    PLX__COUPLED_PARAMS("Largest violation of the optimality conditions of the dual, and relative residual of "
                        "iterative solvers; larger is faster and coarser."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {
    PLX__COUPLED_ARRAYS,
    {"dual_VIEW", "n x K", 0, "Dual variables a_i of every class; zero for unlabelled samples."},
    {NULL, NULL, 0, NULL}};

static const plx__param_table tables[] = {param_specs, PLX__COUPLED_TABLES, NULL};

static plx_status fit(plx__run *run) { return plx__coupled_fit(run, true); }
static double memory(const plx__run *run) { return plx__coupled_bytes(run, true); }

const plx__method plx__method_colapsvm = {
    .name = "colapsvm",
    .title = "Support vector machines of every view smoothed over one graph of all views",
    .summary =
        "Semi-supervised: one maximum-margin classifier per view, all smoothed over the same graph made of every view.",
    .scores = "margin of the class, larger is surer (not a probability)",
    .growth = "cubic",
    .params = tables,
    .arrays = array_specs,
    .memory = memory,
    .fit = fit,
    PLX__COUPLED_FIELDS};
