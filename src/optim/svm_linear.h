/*
 * The SVM dual of optim/svm_dual.h for a linear kernel and many, perhaps sparse, rows: nothing l x l is formed.
 *
 * Dual coordinate descent with shrinking on the weights w = sum_i a_i y_i x_i (Hsieh et al. 2008, the algorithm of
 * LIBLINEAR) finds which samples are free, 0 < a_i < C; conjugate gradients then solve for those, and sweeps check and
 * correct the choice. Descent has no place for a free offset, so b is reached by proximal steps: with (b - base)^2/(2 rho)
 * added to the primal, b = base + rho sum_i a_i y_i enters every row as one more feature; base then moves to b until
 * sum_i a_i y_i = 0. The order of the coordinates is drawn from a stream of its own, the same for every seed.
 */
#ifndef PLX_OPTIM_SVM_LINEAR_H
#define PLX_OPTIM_SVM_LINEAR_H

#include "linalg/distance.h"
#include "optim/svm_dual.h"

/* x: l rows; y: l values +-1 (of both signs when there is a bias); a: l results. result->iterations counts sweeps. */
plx_status plx__svm_linear(plx_context *ctx, plx__points x, const double *y, const plx__svm_options *options, double *a,
                           plx__svm_result *result);

/* Most bytes it takes. */
double plx__svm_linear_bytes(double l, double cols);

#endif
