/*
 * Linear classifiers on l rows x (with a constant column for the bias, regularised like the rest), all classes at once:
 * weights w (columns x classes), scores X w. Each has a unique optimum.
 */
#ifndef PLX_OPTIM_LINEAR_MODELS_H
#define PLX_OPTIM_LINEAR_MODELS_H

#include "linalg/distance.h"

/* Rows to learn from, and their transpose when they are sparse. */
typedef struct plx__design {
    plx__points rows;
    plx_csr transposed;
    const int32_t *label; /* class of every row */
    const char *what;     /* for messages, e.g. "cotrain: view 'text'" */
} plx__design;

/* Makes the transpose, in scratch. */
plx_status plx__design_open(plx__design *x, plx_context *ctx, plx__points rows, const int32_t *label, const char *what);

plx_status plx__design_times(plx_context *ctx, const plx__design *x, plx_cmat w, plx_mat out);   /* out = X w */
plx_status plx__design_times_t(plx_context *ctx, const plx__design *x, plx_cmat r, plx_mat out); /* out = X' r */

/* min sum_i -log softmax(W'x_i)_{y_i} + lambda/2 |W|^2, to gradient norm 1e-10. w holds the start. */
plx_status plx__logistic_fit(plx_context *ctx, const plx__design *x, double lambda, plx_mat w);

/* W = (X'X + lambda I)^-1 X'T, T = +-1 one against the rest; the smaller of X'X and XX' is factorised. */
plx_status plx__linear_ridge_fit(plx_context *ctx, const plx__design *x, double lambda, plx_mat w);

/* For every class min 1/2 |w|^2 + (1/lambda) sum_i max(0, 1 - t_i w.x_i)^2 (linear_svm.c). w holds the start. */
plx_status plx__linear_svm_fit(plx_context *ctx, const plx__design *x, double lambda, plx_mat w);

/* For every class min sum_i log(1 + exp(-t_i w.x_i)) + lambda/2 |w|^2 (linear_logit.c). w holds the start. */
plx_status plx__linear_logit_fit(plx_context *ctx, const plx__design *x, double lambda, plx_mat w);

#endif
