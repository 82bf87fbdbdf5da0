/*
 * Nearest neighbours of samples that are known by a Gram matrix only: the distances are those of the feature space,
 * |x - z|^2 = K(x,x) + K(z,z) - 2 K(x,z), or 1 - K(x,z) / sqrt(K(x,x) K(z,z)). Order as in linalg/knn.h.
 */
#ifndef PLX_GRAPH_GRAM_KNN_H
#define PLX_GRAPH_GRAM_KNN_H

#include "linalg/knn.h"

typedef struct plx__gram {
    plx_cmat between;              /* queries x references */
    const double *query_own, *own; /* K(x,x) of the queries and of the references */
} plx__gram;

/* index: queries x k, best first, -1 where fewer are there. */
plx_status plx__gram_knn(plx_context *ctx, const plx__gram *g, const plx__knn_options *options, int64_t *index);

#endif
