/*
 * The m-partite graph of minimum disagreement: nodes are (sample, view), and two nodes of different views u, v are
 * joined through the samples p that have both,
 *
 *     block(u, v) = A_u[N_u, P_uv] A_v[P_uv, N_v],   block(v, u) its transpose,   u < v.
 *
 * Blocks are never formed: with z_v the part of a vector in view v, row block u of the product is
 * A_u h_u, where h_u(p) = sum over the other views v that p has of (A_v z_v)(p): what view u hears through its pairs.
 */
#ifndef PLX_METHODS_SPECTRAL_PAIRING_H
#define PLX_METHODS_SPECTRAL_PAIRING_H

#include "methods/spectral/affinity.h"
#include "methods/spectral/embedding.h"

typedef struct plx__pair_view {
    const uint8_t *present;
    bool sparse, symmetric; /* given matrices may be neither */
    plx_mat dense;          /* n x n, one of the two */
    plx_csr csr, mirrored;
} plx__pair_view;

typedef struct plx__pairing {
    plx_index n, n_views, n_nodes;
    plx__pair_view *view;
    plx_index *first;   /* n_views + 1: nodes of view v are first[v] .. first[v+1]-1, in sample order */
    plx_index *node_of; /* n_views x n: node of a sample in a view, -1: it lacks the view */
    bool symmetric;
    double *full, *image, *after; /* n_views x n each: work space of a product */
    double *before, *hub, *part;  /* n each: likewise */
    double *degree;
    plx__affine affine;
} plx__pairing;

/* From the affinities of the views (diagonals kept); degrees and components are computed. In scratch. */
plx_status plx__pairing_build(plx__pairing *out, plx_context *ctx, const plx__affinity *views, plx_index n_views);

/* y = A x over nodes; arg is a plx__pairing. */
plx_status plx__pairing_apply(void *arg, plx_context *ctx, double *y, const double *x);

/* out (n_views x n) = h_u of every view u for the node vector x: what a row of affinities of view u is multiplied
 * with. */
plx_status plx__pairing_hubs(plx_context *ctx, plx__pairing *g, const double *x, double *out);

/* Sets of views joined by samples that have both: 1 when all hang together. */
plx_status plx__pairing_islands(plx_index *out, plx_context *ctx, const plx__pairing *g);

#endif
