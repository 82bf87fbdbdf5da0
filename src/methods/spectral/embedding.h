/*
 * Leading eigenvectors of a normalised affinity D^-1/2 A D^-1/2 and the clusters of their rows (Ng, Jordan, Weiss).
 *
 * The eigenvectors of eigenvalue 1 are known: D^1/2 on each connected component. They are written down, and Lanczos
 * looks for the rest with these moved out of the way. Lanczos sees one vector of a repeated eigenvalue, so it
 * looks again, with the vectors found moved away too, until nothing is missing. Small problems are solved densely.
 * Several processes search together (linalg/rank_solvers.h); all of them end with all rows.
 */
#ifndef PLX_METHODS_SPECTRAL_EMBEDDING_H
#define PLX_METHODS_SPECTRAL_EMBEDDING_H

#include "graph/components.h"
#include "cluster/kmeans.h"
#include "linalg/rank_solvers.h"

/* A symmetric non-negative matrix as products. */
typedef struct plx__affine {
    plx__operator a;
    const double *degree;     /* row sums */
    const int32_t *component; /* connected component of every node, -1: no edges; NULL: not known */
    plx_index n_components;
    /* For several processes (core/ranks.h): A = S + E with S sparse and y += E x over the rows of this process by `cut`
     * (arg as in a; NULL: E is 0), or products that divide their work among the processes and leave y to all. */
    const plx_csr *sparse; /* S, or NULL */
    plx_status (*add)(void *arg, plx_context *ctx, plx__slabs cut, const double *x, double *y);
    bool divided; /* a.apply divides its work */
} plx__affine;

/* k algebraically largest eigenvalues, descending, and their vectors (n x k). Rows without edges are zero in A.
 * *converged is set to false when the time limit came first: these are the best so far. */
plx_status plx__spectral_vectors(plx_context *ctx, const plx__affine *m, plx_index k, double *values, plx_mat vectors,
                                 bool *converged, const char *what);

/* Bytes the above takes beyond its results. */
double plx__spectral_bytes(plx_index n, plx_index k);

/* out = Y Y'. */
plx_status plx__gram_rows(plx_context *ctx, plx_cmat y, plx_mat out);

/* 1/sqrt of degrees, 0 where there are none, in scratch. */
plx_status plx__inverse_roots(double **out, plx_context *ctx, const double *degree, plx_index n);

/* V diag(1/value) with rows scaled by D^-1/2: what a new sample's affinities are multiplied with (Nystrom). */
plx_status plx__nystrom_map(plx_mat out, plx_context *ctx, plx_cmat vectors, const double *values,
                            const double *degree);

#endif
