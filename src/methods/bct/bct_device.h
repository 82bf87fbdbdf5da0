/*
 * bct's dense form on a device: the S_j, their factors, K_c(:, labelled) and the inference on it are made from the rows
 * and stay there. Only vectors come back: means, variances, derivatives; of the final state also its factors.
 *
 * For learning from labels; where K_c itself, the precision or marginals are wanted the CPU does it.
 */
#ifndef PLX_METHODS_BCT_DEVICE_H
#define PLX_METHODS_BCT_DEVICE_H

#include "gp/gp_device.h"
#include "methods/bct/bct.h"

typedef struct bct_device {
    plx__laplace_device at; /* l x l: K_c(labelled, labelled), M and a factor */
    bool pair, gradients;   /* as in bct_dense_form; derivatives are wanted */
    plx_device_mat *s;      /* m: n_j x n_j: factor of S_j; of a pair the S_j, of which one becomes lambda */
    plx_device_mat *base;   /* m: with gradients, see plx__view_kernel_base */
    plx_device_mat lambda;  /* n_cov x n_cov: factor of Lambda (a pair: of S_1 + S_2); with one view K_c */
    plx_device_mat work;    /* n_cov x n_cov: K_c, an inverse in the making, T M T' */
    plx_device_mat kl, t;   /* n_cov x l: K_c(:, labelled); T_j */
    plx_device_mat pair_t;  /* n_cov x l: of the view `first` */
    plx_device_mat own, tm; /* n_cov x l, with gradients: rows of kl, T_j M; own only where views are missing */
    plx_device_mat column;  /* n_cov x 1 */
    plx_device_buffer **place, *labelled;
    plx_index first;
} bct_device;

/* Scores of the covered samples (n_cov x q), in scratch. */
typedef struct bct_scores {
    plx_mat mean, variance;
} bct_scores;

/* plx__bct_learn and the scores of the covered samples; *done false: the CPU has to. */
plx_status plx__bct_learn_there(bool *done, bct *b, plx__gp_state *state, bct_scores *scores);

/* K_c at the hyper-parameters in force, inference, and with `gradient` the derivatives. final: the state is complete. */
plx_status plx__bct_device_evaluate(bct *b, plx__gp_state *state, bool final, double *gradient);

#endif
