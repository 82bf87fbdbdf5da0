/*
 * Graph Laplacians. Rows of vertices without edges are zero in every kind: nothing ties them to anybody.
 */
#ifndef PLX_GRAPH_LAPLACIAN_H
#define PLX_GRAPH_LAPLACIAN_H

#include "graph/similarity.h"

/* D - W, I - D^-1/2 W D^-1/2 or (D - W) / mean degree of the vertices that have edges, to the power p (>= 1), in
 * scratch. w is symmetric, non-negative, with an empty diagonal. */
plx_status plx__laplacian(plx_csr *out, plx_context *ctx, plx_ccsr w, plx__laplacian_kind kind, plx_index power);

/* Graph and Laplacian of one view in one go. */
plx_status plx__view_laplacian(plx_csr *out, plx_context *ctx, const plx__graph_source *source,
                               const plx__graph_settings *settings);

#endif
