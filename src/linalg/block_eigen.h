/*
 * Leading eigenpairs of a large symmetric pencil A w = theta B w that is known by products and by approximate solutions
 * with B only: locally optimal block iteration (Knyazev 2001), all directions at once.
 *
 * For the ordinary problem A v = theta v use eigen_sparse.h, which needs no solver and finds each pair in turn.
 */
#ifndef PLX_LINALG_BLOCK_EIGEN_H
#define PLX_LINALG_BLOCK_EIGEN_H

#include "linalg/dense.h"

typedef struct plx__pencil {
    plx_index n;
    /* ax = A x and bx = B x: together, because they often share work. */
    plx_status (*apply)(void *arg, plx_context *ctx, plx_cmat x, plx_mat ax, plx_mat bx);
    /* B x = rhs to |rhs - B x| <= tol |rhs|, from the start in x; less accuracy costs steps, not correctness. */
    plx_status (*solve)(void *arg, plx_context *ctx, plx_cmat rhs, plx_mat x, double tol);
    void *arg;
} plx__pencil;

typedef struct plx__block_eigen_options {
    plx_index wanted;   /* leading columns that must converge; the others are spare and speed them up */
    plx_index max_iter; /* 0: 500 */
    double tol;         /* |B^-1 A w - theta w| <= tol max |theta| |w|; 0: 1e-8 */
    const char *phase;  /* progress label; NULL: "iterate" */
} plx__block_eigen_options;

typedef struct plx__block_eigen_result {
    plx_index iterations;
    double residual; /* what tol is compared with */
    bool converged;
} plx__block_eigen_result;

/* The p largest theta, descending, and their w as columns of `vectors` (n x p), w'Bw = 1; on entry `vectors` holds the
 * start. Directions in which B vanishes are left out: when fewer than p remain, the last theta and w are 0. A limit of
 * steps or time ends with the best so far. */
plx_status plx__block_eigen(plx_context *ctx, const plx__pencil *pencil, double *theta, plx_mat vectors,
                            const plx__block_eigen_options *options, plx__block_eigen_result *result);

/* Bytes the above takes. */
double plx__block_eigen_bytes(double n, double p);

#endif
