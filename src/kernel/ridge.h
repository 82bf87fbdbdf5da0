/*
 * Regularised least squares on l labelled rows, many targets at once:
 *
 *     min_f,b  (1/l) sum_i (y_i - f(x_i) - b)^2 + gamma |f|_K^2
 *
 * in the dual ((K + gamma l I) a + b 1 = y, 1'a = 0) or, for the linear kernel, in the primal. b is 0 without bias.
 */
#ifndef PLX_KERNEL_RIDGE_H
#define PLX_KERNEL_RIDGE_H

#include "kernel/kernel.h"
#include "linalg/distance.h"
#include "linalg/iterative.h"

typedef struct plx__ridge_options {
    double gamma; /* > 0 */
    bool bias;
    double tol;       /* of the iterative solvers: relative residual */
    const char *what; /* for messages, e.g. "rls: matrix for view 'text'" */
    bool definite;    /* the kernel has no negative eigenvalues but those of rounding */
} plx__ridge_options;

/* A result says converged only when its objective is shown to be within this of the smallest, relatively. */
#define PLX__CERTAIN 1e-6

/* Dual with a factorisation: `k` (l x l, symmetric) is overwritten. y is l x c; a (l x c) and b (c) are results. A
 * kernel that is not positive semidefinite is solved all the same, by a symmetric indefinite factorisation. */
plx_status plx__ridge_dense(plx_context *ctx, plx_mat k, plx_cmat y, const plx__ridge_options *o, plx_mat a, double *b,
                            plx__iter_result *result);

/* The same with the matrix made and kept on a device from the rows, where that pays; *done false: it does not, it failed
 * with auto, or the kernel is indefinite. */
typedef struct plx__ridge_rows {
    const char *method;
    plx__kernel kernel; /* not precomputed */
    plx__points rows;
} plx__ridge_rows;
plx_status plx__ridge_there(bool *done, plx_context *ctx, const plx__ridge_rows *x, plx_cmat y,
                            const plx__ridge_options *o, plx_mat a, double *b, plx__iter_result *result);

/* Dual by conjugate gradients with `k` kept. */
plx_status plx__ridge_cg(plx_context *ctx, plx_cmat k, plx_cmat y, const plx__ridge_options *o, plx_mat a, double *b,
                         plx__iter_result *result);

/* Primal: weights w (d x c) of f(x) = x.w. Few columns: normal equations by Cholesky; many: conjugate gradients with
 * products only, no l x l or d x d matrix. Passes over the rows are divided among processes. *result tells how it went (0 iterations: no need to iterate). */
plx_status plx__ridge_primal(plx_context *ctx, plx__points x, plx_cmat y, const plx__ridge_options *o, plx_mat w,
                             double *b, plx__iter_result *result);

#endif
