/*
 * lapreg, nlapreg, llereg, llreg: classification and clustering with L = sum_v w_v L_v, one matrix per view. The views do
 * not meet in the local models, only in the sum: what mvll is compared with. All are transductive. Each method's file is
 * a table and its matrix; what they share is here.
 */
#ifndef PLX_METHODS_TRANSDUCTIVE_SINGLE_MATRIX_H
#define PLX_METHODS_TRANSDUCTIVE_SINGLE_MATRIX_H

#include "graph/laplacian.h"
#include "methods/transductive/local.h"
#include "run/decision.h"

/* L_v is the Laplacian of the similarity graph of view v. */
plx_status plx__single_matrix_graphs(plx__run *run);
double plx__single_matrix_graph_bytes(const plx__run *run);

/* L_v = (I - A_v)'(I - A_v) with the rows of local weights A_v of view v alone. */
plx_status plx__single_matrix_local(plx__run *run, plx__local_kind kind);

bool plx__single_matrix_own_rows(plx__run *run, const plx_dataset *data);

#define PLX__SINGLE_MATRIX_ARRAYS                                                                                      \
    {"F", "n x c", 0, "Scores per class; empty when clustering."}, {"scores", "n x c", 0, "The same as F."},           \
        {"embedding", "n x k", 0, "Eigenvectors of the smallest eigenvalues of L; empty when classifying."},           \
        {"eigenvalues", "k x 1", 0, "Smallest eigenvalues of L, ascending; empty when classifying."},                  \
        {"view_weights", "V x 1", 0, "Weight of every view, summing to 1."},                                           \
        {"cv_accuracy", "w x 1", 0, "Accuracy of every candidate of view_weights=cv; empty otherwise."},               \
    {                                                                                                                  \
        "L", "n x n", PLX__ON_REQUEST, "Regularisation matrix."                                                        \
    }

enum {
    PLX__SINGLE_MATRIX_CAPABILITIES =
        PLX_CAN_MISSING_VIEWS | PLX_CAN_SPARSE | PLX_CAN_KERNEL_VIEWS | PLX_CAN_USE_UNLABELLED | PLX_IS_FEATURE_FREE
};

#define PLX__SINGLE_MATRIX_FIELDS                                                                                      \
    .task = PLX_TASK_CLASSIFY, .min_views = 1, .zero_rows = PLX__ZERO_ROWS_PARAM, .uncovered = PLX__UNCOVERED_PRIOR,   \
    .prior_array = "scores", .params_size = sizeof(plx__local_params), .own_rows = plx__single_matrix_own_rows,        \
    .whose_rows = plx__whose_even, .memory_remedy = "set fewer neighbours (graph_k), or raise the memory limit"

#endif
