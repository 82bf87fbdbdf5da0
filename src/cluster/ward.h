/*
 * Ward trees under Bregman divergences, of one view or of a weighted sum over several.
 *
 * The pair of groups whose merge costs least is merged until one group is left; ties (equal to 1e-12) go to the pair
 * with the smaller (smallest member of the first, of the second), the first being the group with the smaller smallest
 * member. Under squared Euclidean distance alone, merging never brings groups nearer to others, and the tree comes from
 * nearest-neighbour chains in O(n) memory beyond the rows; under the other divergences that does not hold, and a
 * triangle of costs is kept (O(n^2) memory) with a heap of the rows' least entries.
 */
#ifndef PLX_CLUSTER_WARD_H
#define PLX_CLUSTER_WARD_H

#include "cluster/bregman.h"

typedef struct plx__ward_part {
    plx__points rows;
    plx__bregman kind;
    double weight; /* > 0 */
} plx__ward_part;

/* n - 1 merges: leaves are nodes 0 .. n-1, merge r makes node n + r of two earlier ones, first < second. */
typedef struct plx__merges {
    plx_index n;
    int32_t *first, *second;
    double *cost;
} plx__merges;

/* The tree over chosen rows (sample NULL: 0 .. n-1; ascending), which are its leaves in that order. The arrays of `out`
 * are the caller's, n - 1 long each. Works in scratch, rewound. */
plx_status plx__ward(plx__merges *out, plx_context *ctx, const plx__ward_part *parts, plx_index count,
                     const plx_index *sample, plx_index n);

/* Most bytes it takes: `entries` values stored in all rows of all parts, sparse ones included. */
double plx__ward_bytes(const plx_context *ctx, plx_index n, double entries, bool euclid, bool sparse);

#endif
