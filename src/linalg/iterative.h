/*
 * Conjugate gradients for many right-hand sides at once (Hestenes and Stiefel 1952). Not converging is an outcome, not
 * a failure.
 */
#ifndef PLX_LINALG_ITERATIVE_H
#define PLX_LINALG_ITERATIVE_H

#include "linalg/eigen_sparse.h"

/* Y = A X for any number of columns. */
typedef plx_status (*plx__block_fn)(void *arg, plx_context *ctx, plx_cmat x, plx_mat y);

typedef struct plx__block_operator {
    plx_index n;
    plx__block_fn apply;
    void *arg;
} plx__block_operator;

typedef struct plx__iter_options {
    double tol;             /* stop at |r| <= tol |b|; 0: 1e-10 */
    plx_index max_iter;     /* 0: 10 n, at least 100 */
    const double *diagonal; /* Jacobi preconditioner: the diagonal of A (entries > 0); NULL: none */
    const char *phase;      /* progress label; NULL: "cg" */

    /* K, symmetric positive semidefinite, or apply NULL. With it the system is (I + A K) x = b, which is self-adjoint
     * in the inner product x'Ky, and |.| above is the length in it: what K does not see of r is not measured. */
    plx__block_operator inner;
} plx__iter_options;

typedef struct plx__iter_result {
    plx_index iterations;
    double residual; /* |r| / |b|, worst right-hand side */
    bool converged;
} plx__iter_result;

/* A X = B, A symmetric positive (semi)definite; X holds the starts on entry (n x m both). All columns move together and
 * a column that has converged rests. */
plx_status plx__cg_block(plx_context *ctx, plx__block_operator a, plx_cmat b, plx_mat x,
                         const plx__iter_options *options, plx__iter_result *result);

/* One right-hand side. */
plx_status plx__cg(plx_context *ctx, plx__operator a, const double *b, double *x, const plx__iter_options *options,
                   plx__iter_result *result);

/* Symmetric CSR matrix as block operator: arg is a plx_ccsr. */
plx_status plx__csr_apply_block(void *arg, plx_context *ctx, plx_cmat x, plx_mat y);

#endif
