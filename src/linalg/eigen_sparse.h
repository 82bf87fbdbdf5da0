/*
 * A few eigenpairs or singular triplets of a large operator (ARPACK, implicitly restarted Lanczos).
 *
 * The start vector is drawn from the context's seed; ARPACK's own generator is never used. Small problems
 * (n <= 200 or k close to n) are formed and solved densely; so are those of order up to 3000 whose Krylov
 * space is exhausted early (few distinct eigenvalues). Signs as in eigen.h. ARPACK keeps static state: calls
 * from several threads take turns, and an operator must not call these functions itself.
 */
#ifndef PLX_LINALG_EIGEN_SPARSE_H
#define PLX_LINALG_EIGEN_SPARSE_H

#include "linalg/dense.h"

/* y = A x, A symmetric n x n. */
typedef plx_status (*plx__apply_fn)(void *arg, plx_context *ctx, double *y, const double *x);

typedef struct plx__operator {
    plx_index n;
    plx__apply_fn apply;
    void *arg;
} plx__operator;

typedef enum plx__end { PLX__SMALLEST = 0, PLX__LARGEST = 1 } plx__end;

typedef struct plx__eigen_options {
    double tol;         /* relative accuracy of the eigenvalues; 0: machine precision */
    plx_index max_iter; /* restarts; 0: 10 n/k at least 300 */
    plx_index basis;    /* Lanczos vectors; 0: automatic */
    uint64_t stream;    /* start vector; 0: default stream */
} plx__eigen_options;

/* k algebraically smallest (ascending) or largest (descending) eigenvalues; `vectors` n x k or data NULL.
 * PLX_E_NUMERIC "WHAT: only J of K eigenvalues converged ..." when ARPACK gives up. options NULL: defaults. */
plx_status plx__eigen_few(plx_context *ctx, plx__operator a, plx_index k, plx__end which,
                          const plx__eigen_options *options, double *values, plx_mat vectors, const char *what);

/* Symmetric CSR matrix as operator: arg of plx__csr_apply is a plx_ccsr. */
plx_status plx__csr_apply(void *arg, plx_context *ctx, double *y, const double *x);

/* Rectangular operator: forward y (rows) = A x (cols), adjoint x = A' y. */
typedef struct plx__operator2 {
    plx_index rows, cols;
    plx__apply_fn forward, adjoint;
    void *arg;
} plx__operator2;

/* k largest singular triplets, descending: u rows x k, vt k x cols (either may have data NULL). Works on
 * the smaller of A'A and AA': singular values below ~1e-8 of the largest have no relative accuracy. */
plx_status plx__svd_few(plx_context *ctx, plx__operator2 a, plx_index k, const plx__eigen_options *options, plx_mat u,
                        double *s, plx_mat vt, const char *what);

/* Same for a CSR matrix; `mean` (length cols, may be NULL) is subtracted from every row implicitly. */
plx_status plx__csr_svd_few(plx_context *ctx, plx_ccsr a, const double *mean, plx_index k,
                            const plx__eigen_options *options, plx_mat u, double *s, plx_mat vt, const char *what);

#endif
