/*
 * Gaussian process inference on labelled samples with a given covariance K: exact regression, or one Laplace
 * approximation per class against the rest. Predictions need the covariances with the labelled samples only.
 */
#ifndef PLX_GP_GP_POSTERIOR_H
#define PLX_GP_GP_POSTERIOR_H

#include "linalg/dense.h"

typedef struct plx__gp_targets {
    bool regression;
    plx_index n, q;    /* labelled samples; problems: 1, or C when there are more than two classes */
    plx_index *sample; /* n: their numbers, ascending */
    plx_mat y;         /* n x q: +-1 per problem, or targets minus `offset` */
    double offset;     /* regression: added to every mean */
    double noise;      /* regression: variance */
    plx_mat near;      /* q x n: K^-1 f of the fit before, where the next one starts; data NULL: starts from f = 0 */
    const char *what;  /* for messages, e.g. "gp: matrix for view 'text'" */
} plx__gp_targets;

typedef struct plx__gp_state {
    plx_index n, q;
    plx_cmat alpha;  /* n x q: mean = k . alpha */
    plx_cmat factor; /* q n x n: the Cholesky factors of the q problems, one below the other */
    plx_cmat root;   /* q x n: W^1/2, or ones */
    plx_cmat
        spread; /* q x n: posterior variances of the labelled samples as far as they came with the gradient, else NaN;
                        data NULL: none did */
    plx_cmat
        weights; /* p x q, of gp_weight_space.h only: mean = z . weights, factors are p x p; data NULL: not such a state */
    double evidence, jitter;
    bool converged;
    plx_mat kept; /* the factor, where it lies in the model's arena already; data NULL: it does not */
} plx__gp_state;

/* Fits all problems; the state lies in `arena`. With gradient.data the matrix M (n x n, overwritten) of
 * d evidence = sum M_ab dK_ab, summed over the problems. */
plx_status plx__gp_fit(plx__gp_state *out, plx__arena *arena, plx_context *ctx, plx_cmat k,
                       const plx__gp_targets *targets, plx_mat gradient);

/* Latent means (without offset) and variances, rows x q, of samples with covariances k (rows x n, overwritten) and prior
 * variances `self`. own (rows long; NULL: -1): which labelled sample a row is, -1: none. */
plx_status plx__gp_predict(plx_context *ctx, const plx__gp_state *state, plx_mat k, const double *self,
                           const plx_index *own, plx_mat mean, plx_mat variance);

/* Rows of k (rows x n) become V = k' L^-T W^1/2 of problem c: their squared lengths are what the labels tell, and the
 * posterior covariance of two samples is their prior one minus the product of their rows. */
plx_status plx__gp_explained(plx_context *ctx, const plx__gp_state *state, plx_index c, plx_mat k);

#endif
