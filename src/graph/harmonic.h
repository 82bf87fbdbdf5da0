/*
 * A Laplacian seen from some of its vertices: with P the samples that have a view and Q the rest,
 *
 *     L_s = L_PP - L_PQ pinv(L_QQ) L_QP,
 *
 * the smallest f'Lf over free values of f on Q (harmonic extension): smoothness still travels through samples that lack
 * the view. Kept as a product; nothing of size P x P is formed. pinv drops eigenvalues <= 1e-10 of the largest.
 */
#ifndef PLX_GRAPH_HARMONIC_H
#define PLX_GRAPH_HARMONIC_H

#include "linalg/csr.h"
#include "linalg/dense.h"

typedef struct plx__harmonic {
    plx_csr pp, pq, qp, qq; /* qp and qq have no rows when nobody is missing */
    plx_mat inverse;        /* pinv(L_QQ); data NULL: conjugate gradients on qq instead */
    double *diagonal;       /* of qq */
} plx__harmonic;

/* l: n x n symmetric positive semidefinite. Everything lies in scratch. */
plx_status plx__harmonic_begin(plx__harmonic *out, plx_context *ctx, plx_ccsr l, const uint8_t *present);

/* y = L_s x (as many rows as present samples); arg is a plx__harmonic. */
plx_status plx__harmonic_apply(void *arg, plx_context *ctx, plx_cmat x, plx_mat y);

#endif
