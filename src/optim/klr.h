/*
 * Kernel logistic regression for two classes: with phi_i = [1, K(x_i, x_1), ..., K(x_i, x_l)] maximise
 *
 *     sum_i log s(y_i w.phi_i) - ridge/2 sum_{a >= 1} w_a^2,   s(t) = 1/(1 + exp(-t)); the bias w_0 is not penalised.
 *
 * Newton's method with step halving; (l + 1)^2 memory, l^3 per step.
 */
#ifndef PLX_OPTIM_KLR_H
#define PLX_OPTIM_KLR_H

#include "linalg/dense.h"

typedef struct plx__klr_result {
    double objective, gradient; /* gradient: largest absolute entry */
    plx_index iterations;
    bool converged; /* gradient <= 1e-10 (1 + l), or no more than rounding leaves of it */
} plx__klr_result;

/* k: l x l; y: l values +-1; w: 1 + l results. */
plx_status plx__klr_fit(plx_context *ctx, plx_cmat k, const double *y, double ridge, double *w,
                        plx__klr_result *result);

/* f = w_0 + K w for rows of kernel values with the l samples. */
plx_status plx__klr_apply(plx_context *ctx, plx_cmat k, const double *w, double *f);

/* s(t), and log s(t), without overflow. */
double plx__sigmoid(double t);
double plx__log_sigmoid(double t);

#endif
