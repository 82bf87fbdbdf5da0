/*
 * Inside of cca: the views as rows, and the matrix-free solver.
 */
#ifndef PLX_METHODS_CCA_CCA_H
#define PLX_METHODS_CCA_CCA_H

#include "methods/cca/canon.h"

enum { CCA_EXACT = 0, CCA_SVD = 1, CCA_ITERATIVE = 2 };

/* Solves for the directions in input space with products only: k, rho and w (d x k) of all views, whose z are the
 * fitted rows themselves (cca_iterative.c). */
plx_status plx__cca_iterate(canon *c);

#endif
