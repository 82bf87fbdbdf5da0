/*
 * A Gaussian process whose kernels are reduced to pivots among the labelled samples (kernel/kernel_pivots.h): f = Z w
 * with w ~ N(0, I) on them (gp_weight_space.h), Z the kernels' factors side by side. Any sample has the rows h of its
 * views, and what the pivots do not tell of its own variance, kappa(x,x) - |h|^2, is its alone: with every labelled
 * sample a pivot this is the process with the whole kernels.
 */
#ifndef PLX_GP_GP_PIVOTS_H
#define PLX_GP_GP_PIVOTS_H

#include "gp/gp_learn.h"

/* Fit: pivots at the widths in force, and the rows of the labelled samples; `divided` among processes. */
plx_status plx__gp_find_pivots(plx__gp_learner *g, bool divided);

plx_status plx__gp_store_pivots(plx__gp_learner *g);
plx_status plx__gp_load_pivots(plx__gp_learner *g);

plx_index plx__gp_pivot_columns(const plx__gp_learner *g); /* of Z */

/* z = rows of the labelled samples, at the amplitudes in force. */
void plx__gp_pivot_features(const plx__gp_learner *g, plx_mat z);

/* z = rows of samples begin .. end-1, own = variances of their own. */
plx_status plx__gp_pivot_rows(plx__gp_learner *g, plx_index begin, plx_index end, plx_mat z, double *own);

#endif
