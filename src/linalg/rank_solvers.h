/*
 * Systems and spectra of matrices whose rows are divided among processes (core/ranks.h), by the engines of the program
 * (parallax/peers.h). All processes make the calls together; what comes out is the same on all of them.
 */
#ifndef PLX_LINALG_RANK_SOLVERS_H
#define PLX_LINALG_RANK_SOLVERS_H

#include "core/slabs.h"
#include "linalg/csr.h"
#include "linalg/eigen_sparse.h"
#include "linalg/iterative.h"

/* A X = B for symmetric positive definite A, of which `rows` (ptr from 0, all columns) are this process's by
 * plx__slabs_mine(). B and X are n x m on all processes; of B only the process's own rows are looked at. */
plx_status plx__rank_solve(plx_context *ctx, plx__slabs cut, plx_ccsr rows, plx_cmat b, plx_mat x, double tol,
                           const char *what, plx__iter_result *result);

/* y += E x over the rows of this process. */
typedef plx_status (*plx__rank_add_fn)(void *arg, plx_context *ctx, const double *x, double *y);

typedef struct plx__rank_operator { /* symmetric M + E */
    plx__slabs cut;
    plx_ccsr rows; /* of M, as above */
    plx__rank_add_fn add;
    void *arg; /* add NULL: no E */
} plx__rank_operator;

/* plx__eigen_few() of it; options->tol is that of |A v - theta v|, options->below is not looked at. */
plx_status plx__rank_eigen(plx_context *ctx, const plx__rank_operator *a, plx_index k, plx__end which,
                           const plx__eigen_options *options, double *values, plx_mat vectors, const char *what);

/* Is a spectrum left to the engines? Not alone, and not where it is small: every process then finds it for itself. */
bool plx__rank_eigen_serves(const plx_context *ctx, plx_index n, plx_index k);

/* Bytes of the process's own rows of an n x n matrix of so many entries and of m columns. */
double plx__rank_bytes(const plx_context *ctx, plx_index n, double entries, plx_index columns);

#endif
