/*
 * Classifiers of all views smoothed over one graph made of all views: colaprls (squared loss) and colapsvm (hinge
 * loss). Each of those files is a table; what they do is here.
 */
#ifndef PLX_METHODS_REGULARISED_COUPLED_LAPLACIAN_H
#define PLX_METHODS_REGULARISED_COUPLED_LAPLACIAN_H

#include "run/decision.h"
#include "run/problem.h"
#include "graph/laplacian.h"
#include "methods/regularised/joint.h"

typedef struct plx__coupled_params {
    plx__value laplacian_weights;
    bool laplacian_concat, classify_concat, bias;
    const char *combine;
    double tol;
    int solver;
} plx__coupled_params;

#define PLX__COUPLED_PARAMS(tol_help)                                                                                  \
    PLX__VIEW_REAL("gamma_a", "0.01", 0, PLX__ABOVE_LO, "Weight of the squared norm of f: larger is smoother."),       \
        PLX__VIEW_REAL("gamma_i", "0.1", 0, 0,                                                                         \
                       "Weight of smoothness over the graph: larger is smoother; useful from 10 times gamma_a."),      \
        PLX__REALS(plx__coupled_params, laplacian_weights, "equal", 0, INFINITY, "equal",                              \
                   "Weight of every view's Laplacian in the graph of all, in the order of the views, and of the "      \
                   "concatenation if it takes part; scaled to sum 1."),                                                \
        PLX__BOOL(plx__coupled_params, laplacian_concat, "0", "Add the graph of the views side by side."),             \
        PLX__BOOL(plx__coupled_params, classify_concat, "0", "Also train a classifier on the views side by side."),    \
        PLX__TEXT(plx__coupled_params, combine, "mean",                                                                \
                  "Score that decides: mean of the views a sample has, the name of a view, or concat."),               \
        PLX__BOOL(plx__coupled_params, bias, "1", "Fit an unregularised offset b."),                                   \
        PLX__REAL_ABOVE(plx__coupled_params, tol, "1e-8", 0, tol_help),                                                \
        PLX__CHOICE(plx__coupled_params, solver, "auto", "auto|dense|cg|primal",                                       \
                    "Factorise the kernel matrix, iterate on it, or solve for the weights of a linear kernel.")

#define PLX__COUPLED_ARRAYS                                                                                            \
    {"scores", "n x K", 0, "Score per class: mean over the views of a sample, or of the view named by combine."},      \
        {"alpha_VIEW", "n x K", 0, "Coefficients of the view's function over all samples."},                           \
        {"f_VIEW", "n x K", 0, "Values of the view's function with offset; zero rows for samples without the view."},  \
        {"bias_VIEW", "1 x K", 0, "Offset of the view's function."},                                                   \
        {"laplacian", "n x n", PLX__ON_REQUEST, "Laplacian of the graph of all views."},                               \
    {                                                                                                                  \
        "laplacian_VIEW", "n x n", PLX__ON_REQUEST, "Laplacian of the view's own graph."                               \
    }

/* What the two descriptors have in common. */
#define PLX__COUPLED_TABLES                                                                                            \
    plx__kernel_params, plx__scale_params, plx__smooth_graph_params, plx__graph_decision_params, plx__heldout_params,  \
        plx__zero_rows_params, plx__uncovered_params
#define PLX__COUPLED_FIELDS                                                                                            \
    .citation = "sindhwani2005coreg", .task = PLX_TASK_CLASSIFY,                                                       \
    .capabilities = PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_CAN_KERNEL_VIEWS |                  \
                    PLX_CAN_USE_UNLABELLED | PLX_IS_FEATURE_FREE | PLX_IS_VIEW_FREE,                                   \
    .min_views = 1, .min_classes = 2, .zero_rows = PLX__ZERO_ROWS_PARAM, .uncovered = PLX__UNCOVERED_PRIOR,            \
    .prior_array = "scores", .extra_views = plx__coupled_extra, .params_size = sizeof(plx__coupled_params),            \
    .transform = "scores", .view_scores = "f_VIEW",                                                                    \
    .memory_remedy = "use solver=primal with linear kernels, or solver=cg, or raise the memory limit",                 \
    .predicts_apart = true, .predict = plx__coupled_predict

plx_status plx__coupled_fit(plx__run *run, bool hinge);
plx_status plx__coupled_predict(plx__run *run);
double plx__coupled_bytes(const plx__run *run, bool hinge);

extern const char *const plx__coupled_extra[]; /* "concat" */

#endif
