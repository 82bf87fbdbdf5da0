/*
 * Connected components of graphs, by disjoint sets.
 */
#ifndef PLX_GRAPH_COMPONENTS_H
#define PLX_GRAPH_COMPONENTS_H

#include "core/ctx.h"

/* Disjoint sets of 0 .. n-1: parent[i] = i at first. */
void plx__disjoint_join(int32_t *parent, plx_index a, plx_index b);

/* Sets numbered by first member; elements without `used` get -1. */
plx_status plx__disjoint_number(int32_t *out, plx_index *count, plx_context *ctx, int32_t *parent, const uint8_t *used,
                                plx_index n);

/* Connected components of a symmetric pattern, numbered by first member; nodes without entries get -1. In scratch. */
plx_status plx__components(int32_t **out, plx_index *count, plx_context *ctx, plx_ccsr a);
plx_status plx__components_dense(int32_t **out, plx_index *count, plx_context *ctx, plx_cmat a);

#endif
