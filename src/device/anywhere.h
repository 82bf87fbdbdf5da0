/*
 * Work of the linear algebra that a device takes over as a whole, where it pays: the same arguments and results.
 */
#ifndef PLX_DEVICE_ANYWHERE_H
#define PLX_DEVICE_ANYWHERE_H

#include "linalg/knn.h"

/* plx__knn. The lists are the same, distances the same to rounding. */
plx_status plx__knn_anywhere(plx_context *ctx, plx__points queries, plx__points references,
                             const plx__knn_options *options, int64_t *index, double *distance);

/* plx__sym_eigen_range; with count = n all pairs. `a` is overwritten, or not. */
plx_status plx__eigen_anywhere(plx_context *ctx, plx_mat a, plx_index first, plx_index count, double *values,
                               plx_mat vectors);

#endif
