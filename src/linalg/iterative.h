/*
 * Krylov solvers: conjugate gradients and LSQR. Not converging is an outcome, not a failure.
 */
#ifndef PLX_LINALG_ITERATIVE_H
#define PLX_LINALG_ITERATIVE_H

#include "linalg/eigen_sparse.h"

typedef struct plx__iter_options {
    double tol;             /* stop at |r| <= tol |b|; 0: 1e-10 */
    plx_index max_iter;     /* 0: 10 n, at least 100 */
    const double *diagonal; /* Jacobi preconditioner: the diagonal of A (entries > 0); NULL: none */
    const char *phase;      /* progress label; NULL: "cg" or "lsqr" */
} plx__iter_options;

typedef struct plx__iter_result {
    plx_index iterations; /* of the worst right-hand side */
    double residual;      /* |r| / |b|, worst right-hand side (LSQR: |A'r| relative, see below) */
    bool converged;
} plx__iter_result;

/* A x = b, A symmetric positive (semi)definite; x holds the start on entry. */
plx_status plx__cg(plx_context *ctx, plx__operator a, const double *b, double *x, const plx__iter_options *options,
                   plx__iter_result *result);

/* The columns of B one after the other; X holds the starts (n x m both). */
plx_status plx__cg_many(plx_context *ctx, plx__operator a, plx_cmat b, plx_mat x, const plx__iter_options *options,
                        plx__iter_result *result);

/* min |A x - b|^2 + damp^2 |x|^2 (Paige and Saunders 1982), x starts at 0. Stops at |r| <= tol |b| or
 * |A'r| <= tol |A| |r|; result->residual is the smaller of the two measures. */
plx_status plx__lsqr(plx_context *ctx, plx__operator2 a, const double *b, double damp, double *x,
                     const plx__iter_options *options, plx__iter_result *result);

#endif
