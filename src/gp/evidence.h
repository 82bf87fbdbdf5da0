/*
 * Type-II maximum likelihood: hyper-parameters that maximise a log evidence, found in their logarithms inside a box.
 */
#ifndef PLX_GP_EVIDENCE_H
#define PLX_GP_EVIDENCE_H

#include "optim/lbfgs_run.h"

/* *evidence at the given values (not logarithms) of all hyper-parameters, and its derivatives by their logarithms.
 * PLX_E_NUMERIC means that the values are no good, and the search steps back. */
typedef plx_status (*plx__evidence_fn)(void *arg, plx_context *ctx, const double *hyper, double *evidence,
                                       double *gradient);

typedef struct plx__evidence {
    plx_index count;
    double *hyper;           /* start, then the result: never worse */
    const uint8_t *free;     /* which may move; NULL: all */
    const uint8_t *is_width; /* box 1e-3 .. 1e3 times the start instead of 1e-6 .. 1e6 times the unit; NULL: none */
    const double *unit;      /* of each; NULL: 1 */
    plx_index max_iter;
} plx__evidence;

plx_status plx__evidence_maximise(plx_context *ctx, const plx__evidence *problem, plx__evidence_fn fn, void *arg,
                                  plx__lbfgs_result *result);

#endif
