/*
 * Projected L-BFGS: the part of plx__lbfgs that keeps to a box. Options are complete (no zero defaults).
 */
#ifndef PLX_OPTIM_LBFGS_BOX_H
#define PLX_OPTIM_LBFGS_BOX_H

#include "optim/lbfgs_run.h"

plx_status plx__lbfgs_box(plx_context *ctx, plx_index n, double *x, plx__objective_fn f, void *arg,
                          const plx__lbfgs_options *options, plx__lbfgs_result *result);

#endif
