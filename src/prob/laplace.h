/*
 * Laplace approximation of a Gaussian process with binary logistic likelihood: mode, evidence, and the matrix M that
 * turns any derivative of the prior covariance K into a derivative of the evidence.
 *
 *     B = I + W^1/2 K W^1/2 = L L',   log Z = psi(mode) - sum log L_ii,   d log Z = sum_ab M_ab dK_ab
 */
#ifndef PLX_PROB_LAPLACE_H
#define PLX_PROB_LAPLACE_H

#include "linalg/dense.h"

typedef struct plx__laplace {
    plx_index n;
    double *mode;   /* n: f */
    double *slope;  /* n: g = (y + 1)/2 - pi; K^-1 f at the mode */
    double *weight; /* n: pi (1 - pi) */
    double *root;   /* n: its square root */
    double *turn;   /* n: 1 - 2 pi */
    plx_mat factor; /* n x n: L */
    double evidence, jitter;
    plx_index iterations;
    bool converged;
} plx__laplace;

/* k is n x n with both triangles, y in {-1, +1}. The result lies in `arena`. `what` and `samples` as in
 * plx__cholesky_jitter. */
plx_status plx__laplace_fit(plx__laplace *out, plx__arena *arena, plx_context *ctx, plx_cmat k, const double *y,
                            const char *what, const plx_index *samples);

/* m += M (n x n, symmetric). n^3 flops. */
plx_status plx__laplace_gradient(plx_context *ctx, const plx__laplace *at, plx_cmat k, plx_mat m);

typedef enum plx__averaging { /* order of the words of the parameter `averaging` */
                              PLX__AVERAGE_PROBIT = 0,
                              PLX__AVERAGE_MAP = 1,
                              PLX__AVERAGE_EXACT = 2
} plx__averaging;

/* Probability of +1 at a point whose latent value is normal with this mean and variance. */
double plx__averaged_probability(plx__averaging how, double mean, double variance);

#endif
