/*
 * Solvers for the small dense problems of local models: a few dozen unknowns, thousands of times, from within parallel
 * loops. Row-major, caller's memory, no allocation.
 */
#ifndef PLX_GRAPH_LOCAL_SOLVE_H
#define PLX_GRAPH_LOCAL_SOLVE_H

#include "core/base.h"

/* x = A^-1 x for symmetric positive definite A (n x n, lower triangle read, overwritten by its factor); false when a
 * pivot is not positive. */
bool plx__small_solve(double *a, double *x, plx_index n);

/* Eigenvalues e and vectors (columns of u) of symmetric A (overwritten), by Jacobi rotations. */
void plx__small_eigen(double *a, double *e, double *u, plx_index n);

/* min b'Ab, b >= 0, sum b = 1, for symmetric positive definite A; an active-set method. `work` holds n (n + 2)
 * doubles, `active` n flags. */
void plx__small_simplex(const double *a, double *b, plx_index n, double *work, uint8_t *active);

#endif
