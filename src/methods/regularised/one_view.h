/*
 * The classifiers of a single representation, one view or all joined: rls, svm, laprls, lapsvm. Each of those
 * files is a table; what they do is here.
 */
#ifndef PLX_METHODS_REGULARISED_ONE_VIEW_H
#define PLX_METHODS_REGULARISED_ONE_VIEW_H

#include "run/decision.h"
#include "run/problem.h"
#include "graph/laplacian.h"
#include "methods/regularised/learner.h"

typedef struct plx__one_view_params {
    const char *view;
    double gamma_a, gamma_i, tol; /* gamma_i: 0 where the method has no graph */
    bool bias;
    int solver;
    plx_index pivots; /* 0 where the method has none */
} plx__one_view_params;

/* Rows of the parameter tables. */
#define PLX__ONE_VIEW_PARAMS                                                                                           \
    PLX__TEXT(plx__one_view_params, view, "joined",                                                                    \
              "What to learn from: joined for all views side by side, those a sample lacks as zeros; concat for the "  \
              "same with samples that have every view only; or the name of a view."),                                  \
        PLX__REAL_ABOVE(plx__one_view_params, gamma_a, "0.01", 0,                                                      \
                        "Weight of the squared norm of f: larger is smoother."),                                       \
        PLX__BOOL(plx__one_view_params, bias, "1", "Fit an unregularised offset b."),                                  \
        PLX__CHOICE(plx__one_view_params, solver, "auto", "auto|dense|cg|primal",                                      \
                    "Factorise the kernel matrix, iterate on it, or solve for the weights of a linear kernel.")

#define PLX__ONE_VIEW_PIVOTS                                                                                           \
    PLX__INT(                                                                                                          \
        plx__one_view_params, pivots, "0", 0, 1e9,                                                                     \
        "Above 0: reduce the kernel to this many columns of its pivoted Cholesky factor; larger is nearer to the "     \
        "full kernel.")

#define PLX__ONE_VIEW_RESIDUAL_TOL                                                                                     \
    PLX__REAL_ABOVE(plx__one_view_params, tol, "1e-8", 0,                                                              \
                    "Relative residual at which the iterative solvers stop; larger is faster and coarser.")
#define PLX__ONE_VIEW_KKT_TOL                                                                                          \
    PLX__REAL_ABOVE(plx__one_view_params, tol, "1e-8", 0,                                                              \
                    "Largest violation of the optimality conditions of the dual, and relative residual of "            \
                    "iterative solvers; larger is faster and coarser.")
#define PLX__ONE_VIEW_GAMMA_I                                                                                          \
    PLX__REAL(plx__one_view_params, gamma_i, "0.1", 0, INFINITY,                                                       \
              "Weight of smoothness over the graph: larger is smoother; useful from 10 times gamma_a.")

/* Rows of the array tables. */
#define PLX__ONE_VIEW_ARRAYS                                                                                           \
    {"scores", "n x K", 0,                                                                                             \
     "What is compared per class: f(x) + b, or f(x) with decision=centred; zero rows for samples without the view."},  \
        {"alpha", "n x K", 0,                                                                                          \
         "Coefficients of the kernel expansion over all samples; zero rows where the view is missing."},               \
        {"bias", "1 x K", 0, "Offset b per class."},                                                                   \
    {                                                                                                                  \
        "gram", "n x n", PLX__ON_REQUEST, "Kernel matrix over all samples; zero where the view is missing."            \
    }
#define PLX__ONE_VIEW_DUAL_ARRAY                                                                                       \
    {                                                                                                                  \
        "dual", "n x K", 0, "Dual variables a_i of every class; zero for unlabelled samples."                          \
    }
#define PLX__ONE_VIEW_LAPLACIAN_ARRAY                                                                                  \
    {                                                                                                                  \
        "laplacian", "n x n", PLX__ON_REQUEST, "Graph Laplacian; zero rows where the view is missing."                 \
    }

/* What the four descriptors have in common. */
#define PLX__ONE_VIEW_TABLES                                                                                           \
    plx__kernel_params, plx__scale_params, plx__heldout_params, plx__zero_rows_params, plx__uncovered_params
#define PLX__ONE_VIEW_CAPABILITIES                                                                                     \
    (PLX_CAN_PREDICT | PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_CAN_KERNEL_VIEWS | PLX_IS_FEATURE_FREE)
#define PLX__ONE_VIEW_FIELDS                                                                                           \
    .citation = "sindhwani2005coreg", .task = PLX_TASK_CLASSIFY, .min_views = 1, .min_classes = 2,                     \
    .zero_rows = PLX__ZERO_ROWS_PARAM, .uncovered = PLX__UNCOVERED_PRIOR, .prior_array = "scores",                     \
    .extra_views = plx__one_view_extra, .params_size = sizeof(plx__one_view_params), .transform = "scores",            \
    .predicts_apart = true, .predict = plx__one_view_predict

plx_status plx__one_view_fit(plx__run *run, bool hinge, bool graph);
plx_status plx__one_view_predict(plx__run *run);
plx_status plx__one_view_check(plx__run *run); /* squared loss: what several processes cannot fit */
bool plx__one_view_own_rows(plx__run *run, const plx_dataset *data); /* squared loss, or a fit without a graph */
bool plx__one_view_streams(plx__run *run, const plx_dataset *data);  /* a fit without a graph */
double plx__one_view_bytes(const plx__run *run, bool hinge, bool graph);

extern const char *const plx__one_view_extra[]; /* "concat", "joined" */

#endif
