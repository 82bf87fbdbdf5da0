/*
 * Exact nearest neighbours of rows that are divided among several processes (core/ranks.h).
 *
 * Every process has a run of neighbouring rows. Copies of these blocks travel round the ring of the processes; each
 * process looks for the neighbours of its own rows in the block that has come and keeps the k best. The lists, not the
 * rows, are then shared. Order, ties and distances are those of plx__knn(), to the byte.
 */
#ifndef PLX_LINALG_KNN_RING_H
#define PLX_LINALG_KNN_RING_H

#include "core/slabs.h"
#include "linalg/knn.h"

/* `own` are this process's rows by plx__slabs_mine(), and options->present is theirs. index and distance
 * (which may be NULL) are cut.n x k and filled on all processes. options->self must be set. */
plx_status plx__knn_ring(plx_context *ctx, plx__slabs cut, plx__points own, const plx__knn_options *options,
                         int64_t *index, double *distance);

/* Most bytes of it among n rows of `entries` values in all. */
double plx__knn_ring_bytes(const plx_context *ctx, plx_index n, plx_index k, double entries, bool sparse);

#endif
