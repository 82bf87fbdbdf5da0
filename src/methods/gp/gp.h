/*
 * Inside of gp: a Gaussian process on one view, on all views joined, or on the sum of their kernels.
 */
#ifndef PLX_METHODS_GP_H
#define PLX_METHODS_GP_H

#include "gp/gp_learn.h"

enum { GP_CLASSIFICATION = 0, GP_REGRESSION = 1 };
enum { GP_CONCAT = 0, GP_SUM = 1 };
enum { GP_MISSING_ERROR = 0, GP_MISSING_MEAN = 1, GP_MISSING_ZERO = 2 };

typedef struct gp_params {
    const char *view;
    int task, combine, missing, averaging, optimize;
    double noise;
    bool center;
    plx_index max_iter, pivots;
} gp_params;

typedef struct gp {
    plx__run *run;
    plx_context *ctx;
    const gp_params *set;
    bool regression;
    plx__gp_learner learner; /* one kernel, or one per used view */
} gp;

/* Views chosen, scaled, filled and joined; kernels settled (when fitting) or at the model's hyper-parameters. */
plx_status plx__gp_open(gp *g, plx__run *run);

#endif
