/*
 * Smooth minimisation: libLBFGS for free variables, a projected L-BFGS for boxes.
 */
#ifndef PLX_OPTIM_LBFGS_RUN_H
#define PLX_OPTIM_LBFGS_RUN_H

#include "core/ctx.h"

/* *value = f(x) and gradient (n long). A non-finite *value makes the line search step back. Failing stops
 * the run with that status. */
typedef plx_status (*plx__objective_fn)(void *arg, plx_context *ctx, const double *x, plx_index n, double *value,
                                        double *gradient);

typedef struct plx__lbfgs_options {
    plx_index max_iter;          /* 0: 200 */
    plx_index memory;            /* 0: 10 */
    double gradient_tol;         /* largest (projected) gradient entry; 0: 1e-5 */
    bool relative;               /* without a box: gradient_tol counts times max(1, largest |x|) */
    double change_tol;           /* relative change of f; 0: 1e-11; negative: never */
    const double *lower, *upper; /* box, both or neither; +-INFINITY allowed */
    const char *phase;           /* progress label; NULL: "lbfgs" */
} plx__lbfgs_options;

typedef struct plx__lbfgs_result {
    double value, gradient_max; /* at the returned x; gradient_max is of the projected gradient */
    plx_index iterations, evaluations;
    bool converged;
} plx__lbfgs_result;

/* Minimise from x (in place). The result is never worse than the (projected) start. A non-finite value at
 * the start is PLX_E_NUMERIC. options NULL: defaults; result may be NULL. */
plx_status plx__lbfgs(plx_context *ctx, plx_index n, double *x, plx__objective_fn f, void *arg,
                      const plx__lbfgs_options *options, plx__lbfgs_result *result);

#endif
