/*
 * k-means and spherical k-means on one view, from k-means++ starts: the partitions that consensus methods build on.
 *
 * k-means lowers the sum of squared Euclidean distances to the mean of the cluster; spherical k-means raises the sum of
 * cosines with the normalised sum of the members' unit rows. Ties go to the lowest cluster; a cluster without members
 * keeps its centre.
 */
#ifndef PLX_CLUSTER_VIEW_CLUSTERS_H
#define PLX_CLUSTER_VIEW_CLUSTERS_H

#include "data/dataset_impl.h"

typedef struct plx__cluster_settings {
    bool spherical;
    plx_index clusters, restarts; /* the best of so many starts is kept */
    uint64_t stream;              /* of random numbers; start r takes stream + r */
} plx__cluster_settings;

typedef struct plx__partition {
    int32_t *label;    /* n; -1: the sample misses the view */
    plx_mat centroids; /* clusters x cols; spherical: unit or zero rows */
    double loss;       /* sum of squared distances, or of 1 - cosine */
} plx__partition;

/* All memory of the result is in `arena`. A view that nobody has gives labels -1 and zero centroids. */
plx_status plx__cluster_view(plx__partition *out, plx_context *ctx, plx__arena *arena, const plx__view *view,
                             plx_index n, const plx__cluster_settings *settings);

/* Nearest of given centroids for every present row, -1 for the others. */
plx_status plx__nearest_clusters(int32_t *label, plx_context *ctx, const plx__view *view, plx_index n,
                                 plx_cmat centroids, bool spherical);

#endif
