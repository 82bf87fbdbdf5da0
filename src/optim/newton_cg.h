/*
 * Newton's method with conjugate gradients for strictly convex smooth functions (also with piecewise smooth
 * gradients), to full accuracy: products with the Hessian only.
 */
#ifndef PLX_OPTIM_NEWTON_CG_H
#define PLX_OPTIM_NEWTON_CG_H

#include "core/ctx.h"

typedef struct plx__newton_problem {
    plx_index n;
    double accuracy; /* relative residual of a step far from the minimum, e.g. 0.1; smaller where the Hessian jumps */
    void *arg;
    /* f(x) and its gradient; remembers what `curve` needs at this x. */
    plx_status (*value)(void *arg, plx_context *ctx, const double *x, double *f, double *gradient);
    /* out = H direction at the x of the last call of `value`; H is positive definite. */
    plx_status (*curve)(void *arg, plx_context *ctx, double *out, const double *direction);
} plx__newton_problem;

typedef struct plx__newton_result {
    plx_index iterations;
    double value, gradient_norm;
} plx__newton_result;

/* Minimise from x, in place, until the Euclidean norm of the gradient is at most `tol`, nothing more can be gained in
 * double precision, or `max_iter` steps were taken. */
plx_status plx__newton_cg(plx_context *ctx, const plx__newton_problem *p, double *x, double tol, plx_index max_iter,
                          plx__newton_result *result);

#endif
