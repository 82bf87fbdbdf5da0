/*
 * colaprls: co-Laplacian regularised least squares. Per view s and class
 *     min (1/l) sum_i (y_i - f(x_i) - b)^2 + gamma_a |f|_K^2 + gamma_i f'L_s f,
 * where L = sum_v w_v L_v joins the graphs of all views and L_s is L seen from the samples that have view s.
 */
#include "methods/manifold/coupled_laplacian.h"

static const plx__param_spec param_specs[] = {
    PLX__COUPLED_PARAMS("Relative residual at which the iterative solvers stop; larger is faster and coarser."),
    PLX__PARAM_END};

static const plx__array_spec array_specs[] = {PLX__COUPLED_ARRAYS, {NULL, NULL, 0, NULL}};

static const plx__param_table tables[] = {
    param_specs,          plx__kernel_params,  plx__scale_params,     plx__smooth_graph_params,
    plx__decision_params, plx__heldout_params, plx__zero_rows_params, NULL};

static plx_status fit(plx__run *run) { return plx__coupled_fit(run, false); }
static double memory(const plx__run *run) { return plx__coupled_bytes(run, false); }

const plx__method plx__method_colaprls = {
    .name = "colaprls",
    .title = "Least squares of every view smoothed over one graph of all views",
    .summary =
        "Semi-supervised: one least-squares classifier per view, all smoothed over the same graph made of every view.",
    .citation = "sindhwani2005coreg",
    .task = PLX_TASK_CLASSIFY,
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_CAN_KERNEL_VIEWS |
                    PLX_CAN_USE_UNLABELLED | PLX_IS_FEATURE_FREE | PLX_IS_VIEW_FREE,
    .min_views = 1,
    .min_classes = 2,
    .zero_rows = PLX__ZERO_ROWS_PARAM,
    .refuse_uncovered = true,
    .extra_views = plx__coupled_extra,
    .params_size = sizeof(plx__coupled_params),
    .params = tables,
    .arrays = array_specs,
    .transform = "scores",
    .view_scores = "f_VIEW",
    .memory = memory,
    .memory_remedy = "use solver=primal with linear kernels, or solver=cg, or raise --memory",
    .fit = fit,
    .predict = plx__coupled_predict};
