/*
 * A few eigenpairs of a large symmetric operator: Lanczos with thick restarts (Wu and Simon 2000).
 *
 * The basis is kept orthonormal in full. After each cycle the leading Ritz vectors are kept and the rest is built anew,
 * until |A v - theta v| <= tol |theta| for all wanted pairs. Start vectors come from the context's seed, and so does a
 * new direction when the Krylov space is exhausted (few distinct eigenvalues). Small problems (n <= 200 or k close to n)
 * are formed and solved densely. Signs as in eigen.h.
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
    double below;       /* not 0: the largest value need not be known better than that it lies below this */
    bool *converged;    /* set to false, never to true, when the time limit ended the iteration; NULL: not told */
} plx__eigen_options;

/* k algebraically smallest (ascending) or largest (descending) eigenvalues; `vectors` n x k or data NULL.
 * PLX_E_NUMERIC "WHAT: only J of K eigenvalues converged ..." when max_iter is spent; the time limit ends with the best
 * pairs so far. options NULL: defaults. */
plx_status plx__eigen_few(plx_context *ctx, plx__operator a, plx_index k, plx__end which,
                          const plx__eigen_options *options, double *values, plx_mat vectors, const char *what);

/* Bytes the above takes beyond its results, for n > 200. */
double plx__eigen_few_bytes(plx_index n, plx_index k, plx_index basis);

/* Symmetric CSR matrix as operator: arg of plx__csr_apply is a plx_ccsr. */
plx_status plx__csr_apply(void *arg, plx_context *ctx, double *y, const double *x);

#endif
