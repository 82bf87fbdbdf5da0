/*
 * Between the files that call LAPACK's eigen-solvers: what goes in and what came out.
 */
#ifndef PLX_LINALG_EIGEN_LAPACK_H
#define PLX_LINALG_EIGEN_LAPACK_H

#include "linalg/dense.h"

/* Sizes that LAPACK can count, values that are finite. */
plx_status plx__eigen_input(plx_context *ctx, plx_mat a);

/* The info of a routine as a status. */
plx_status plx__eigen_outcome(plx_context *ctx, const char *routine, int info);

#endif
