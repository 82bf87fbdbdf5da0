/*
 * A Gaussian process whose covariance is the sum of one or more view kernels: hyper-parameters by maximum evidence, the
 * posterior of the labelled samples, and predictions for any sample of the same views. What gp does with its data and
 * co-training with those of one view.
 *
 * Hyper-parameters are in order: per kernel amplitude and (rbf) width, then the noise (regression). With linear kernels
 * of few features all in all, and with pivots (gp_pivots.h), the state is that of gp_weight_space.h: nothing n_l x n_l
 * is formed. Pivots keep the widths as they are.
 */
#ifndef PLX_GP_GP_LEARN_H
#define PLX_GP_GP_LEARN_H

#include "kernel/kernel_pivots.h"
#include "optim/lbfgs_run.h"
#include "gp/gp_task.h"

typedef struct plx__gp_learner {
    plx__run *run;
    plx_context *ctx;
    plx_index count; /* kernels */
    plx__view_kernel *kernels;
    plx__reference *refs; /* count: the labelled samples */
    plx__gp_targets targets;
    plx_index n_hyper;
    double *hyper;
    plx_index most_pivots;      /* every kernel is reduced to so many (gp_pivots.h); 0: it is not */
    plx__kernel_pivots *pivots; /* count, then; x is n_l x rank */
    bool divided;               /* processes choose the pivots together */
    bool thin;                  /* in weight space */
    plx_mat *base;              /* count: n_l x n_l, see plx__view_kernel_base */
    plx_mat k, m;               /* n_l x n_l: covariance, gradient matrix */
    plx_mat z;                  /* thin: n_l x p, features times the root of the amplitude */
    struct plx__gp_device *on;  /* all that is n_l x n_l, on a device instead (gp_device.h); NULL: here */
    plx__arena *keep;           /* of the model, where the state goes to it; NULL: it does not */
} plx__gp_learner;

/* Whether the state is that of gp_weight_space.h: `linear` kernels with `features` columns all in all, or those of a
 * learner. */
bool plx__gp_in_weight_space(bool linear, double features, double labelled);

bool plx__weight_space(const plx__gp_learner *g);

/* The amplitude that brings the mean diagonal to 1 (1 where the diagonal is 0): the middle of the box in which
 * amplitudes are learned. */
plx_status plx__gp_amplitude_unit(double *out, plx_context *ctx, const plx__view_kernel *kernel);

/* The kernels' amplitudes and widths and the noise as the start, or (known.data) what a model holds. */
plx_status plx__gp_open_hyper(plx__gp_learner *g, plx_cmat known, double noise);

/* Maximises the evidence from there in at most max_iter iterations (0: keeps the start) and leaves the state at the
 * final hyper-parameters, the gradient there (n_hyper) and how it went. State and work are in scratch. */
plx_status plx__gp_learn(plx__gp_learner *g, plx_index max_iter, plx__gp_state *state, double *gradient,
                         plx__lbfgs_result *result);

/* Latent means (without offset) and variances of samples begin..end-1; needs refs of the state's samples unless
 * thin. */
plx_status plx__gp_score(plx__gp_learner *g, const plx__gp_state *state, plx_index begin, plx_index end, plx_mat mean,
                         plx_mat variance);

#endif
