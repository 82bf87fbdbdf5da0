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

/* Whether an entry of the off-diagonal (n - 1) is negligible, by the rule of dstebz: the matrix falls into blocks. */
bool plx__tridiagonal_splits(const double *d, const double *e, plx_index n);

/* Eigenvalues number first..first+count-1, ascending, of a tridiagonal matrix that does not split (bisection.c). */
plx_status plx__tridiagonal_values(plx_context *ctx, const double *d, const double *e, plx_index n, plx_index first,
                                   plx_index count, double *values);

#endif
