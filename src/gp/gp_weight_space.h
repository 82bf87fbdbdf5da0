/*
 * Gaussian process inference as in gp_posterior.h where the covariance of the labelled samples is diag(c) + Z Z' and Z
 * has fewer columns p than rows: linear kernels (c = 0, f = Z w with w ~ N(0, I)), and the co-training kernel in weight
 * space. No n x n matrix is formed.
 *
 *     E = 1/(noise + c), or W/(1 + W c) of the Laplace approximation;   A = I + Z'EZ;   Cov(w) = A^-1
 */
#ifndef PLX_GP_GP_WEIGHT_SPACE_H
#define PLX_GP_GP_WEIGHT_SPACE_H

#include "gp/gp_posterior.h"

/* What the evidence gains by the scale of Z's columns and by the noise: <M, z_j z_j'> per column, and tr M. */
typedef struct plx__weight_space_gradient {
    double *column; /* p, overwritten */
    double trace;
} plx__weight_space_gradient;

/* c NULL: 0. The state has `weights`, its factors are those of A. `gradient` NULL: not wanted; needs c = 0. */
plx_status plx__weight_space_fit(plx__gp_state *out, plx__arena *arena, plx_context *ctx, plx_cmat z, const double *c,
                                 const plx__gp_targets *targets, plx__weight_space_gradient *gradient);

/* Latent means and variances of samples with rows z (rows x p, overwritten) of their own and an independent part of
 * variance `own` (NULL: 0). */
plx_status plx__weight_space_predict(plx_context *ctx, const plx__gp_state *state, plx_mat z, const double *own,
                                     plx_mat mean, plx_mat variance);

/* The same for samples with covariances k (rows x n, overwritten) with the labelled ones, of Z and c, and prior
 * variances `self`. */
plx_status plx__weight_space_predict_from(plx_context *ctx, const plx__gp_state *state, plx_cmat z, const double *c,
                                          plx_mat k, const double *self, plx_mat mean, plx_mat variance);

/* Labelled samples know their independent part too: row `row` of mean and variance, as plx__weight_space_predict left
 * them with own = c there, becomes that of labelled sample i. */
void plx__weight_space_own(const plx__gp_state *state, plx_index i, double c, plx_mat mean, plx_mat variance,
                           plx_index row);

#endif
