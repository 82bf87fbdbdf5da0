/*
 * Exact nearest neighbours: blocked products find candidates, directly computed distances rank them.
 *
 * Order: plx__distance_key of the distance, then the smaller index. Candidates are kept with proven bounds on
 * the rounding of the products, so no true neighbour is lost. O(n^2 d) time, O(n k + blocks) memory.
 */
#ifndef PLX_LINALG_KNN_H
#define PLX_LINALG_KNN_H

#include "linalg/distance.h"

typedef struct plx__knn_options {
    plx_index k; /* >= 1 */
    plx__metric metric;
    const uint8_t *present;       /* of the reference rows (and of the queries when self); NULL: all */
    const uint8_t *query_present; /* of separate queries; NULL: all */
    bool self;                    /* queries are the references: row i is not its own neighbour */
} plx__knn_options;

/* index and distance: rows(queries) x k, row-major, best first; where fewer than k exist (or the query is
 * absent) the rest is -1 and NaN. distance may be NULL. Distances are unrounded. Both of one kind with equal
 * column counts; with `self` pass the same points twice. */
plx_status plx__knn(plx_context *ctx, plx__points queries, plx__points references, const plx__knn_options *options,
                    int64_t *index, double *distance);

/* Most bytes of a search among n rows of `entries` values themselves, besides its results. */
double plx__knn_bytes(const plx_context *ctx, plx_index n, plx_index k, double entries, bool sparse);

#endif
