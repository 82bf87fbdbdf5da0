/*
 * colaprls: co-Laplacian regularised least squares. Per view s and class
 *     min (1/l) sum_i (y_i - f(x_i) - b)^2 + gamma_a |f|_K^2 + gamma_i f'L_s f,
 * where L = sum_v w_v L_v joins the graphs of all views and L_s is L seen from the samples that have view s.
 */
#include "methods/regularised/coupled_laplacian.h"

static const plx__param_spec param_specs[] = {
    PLX__COUPLED_PARAMS("Relative residual at which the iterative solvers stop; larger is faster and coarser."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {PLX__COUPLED_ARRAYS, {NULL, NULL, 0, NULL}};

static const plx__param_table tables[] = {param_specs, PLX__COUPLED_TABLES, NULL};

static plx_status fit(plx__run *run) { return plx__coupled_fit(run, false); }
static double memory(const plx__run *run) { return plx__coupled_bytes(run, false); }

const plx__method plx__method_colaprls = {
    .name = "colaprls",
    .title = "Least squares of every view smoothed over one graph of all views",
    .summary =
        "Semi-supervised: one least-squares classifier per view, all smoothed over the same graph made of every view.",
    .scores = "margin of the class, larger is surer (not a probability)",
    .growth = "cubic",
    .params = tables,
    .arrays = array_specs,
    .memory = memory,
    .fit = fit,
    PLX__COUPLED_FIELDS};
