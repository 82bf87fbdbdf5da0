/*
 * Inside of gp: a Gaussian process on one view, on all views joined, or on the sum of their kernels.
 */
#ifndef PLX_METHODS_GP_H
#define PLX_METHODS_GP_H

#include "kernel/view_kernel.h"
#include "prob/gp_task.h"

enum { GP_CLASSIFICATION = 0, GP_REGRESSION = 1 };
enum { GP_CONCAT = 0, GP_SUM = 1 };
enum { GP_MISSING_ERROR = 0, GP_MISSING_MEAN = 1, GP_MISSING_ZERO = 2 };

typedef struct gp_params {
    const char *view;
    int task, combine, missing, averaging, optimize;
    double noise;
    bool center;
    plx_index max_iter;
} gp_params;

typedef struct gp {
    plx__run *run;
    plx_context *ctx;
    const gp_params *set;
    bool regression;
    plx_index count; /* kernels: 1, or one per used view */
    plx__view_kernel *kernels;
    plx__reference *refs; /* count: the labelled samples */
    plx__gp_targets targets;
    plx_index n_hyper;
    double *hyper; /* per kernel amplitude and (rbf) width, then noise */
    plx_mat *base; /* count: n_l x n_l, see plx__view_kernel_base */
    plx_mat k, m;  /* n_l x n_l: covariance, gradient matrix */
} gp;

/* Views chosen, scaled, filled and joined; kernels settled (when fitting) or at the model's hyper-parameters. */
plx_status plx__gp_open(gp *g, plx__run *run);

/* Puts hyper-parameters into force. */
void plx__gp_set_hyper(gp *g, const double *hyper);

/* Maximises the evidence, if asked for, and leaves the state at the final hyper-parameters and the gradient there. */
plx_status plx__gp_learn(gp *g, plx__gp_state *state, double *gradient);

#endif
