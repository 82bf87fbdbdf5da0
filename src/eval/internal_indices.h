/*
 * How good clusters are without a truth: silhouette, Davies-Bouldin and Calinski-Harabasz indices, in every view and over
 * all of them, by Euclidean distance between scaled rows.
 *
 * Every view counts the samples that have it. Over all views, the squared distance of a sample to a centre, and of two
 * centres, is the mean over the views both have of the squared distance there divided by the view's variance (its total
 * scatter per sample); the distance of two samples is the mean of the distances divided by their root mean square; pairs
 * without a common view do not count; scatters are added up, divided by the view's total. With one complete view each
 * of the three is the usual index.
 */
#ifndef PLX_EVAL_INTERNAL_INDICES_H
#define PLX_EVAL_INTERNAL_INDICES_H

#include "data/scale.h"
#include "linalg/distance.h"

/* A view as distances see it. */
typedef struct plx__index_view {
    const char *name;
    plx__points rows;
    const uint8_t *present; /* n flags */
    double variance;        /* total scatter per sample; 0: all rows are alike */
} plx__index_view;

/* The views of a data set but kernels, scaled as scale=auto says; in scratch. */
plx_status plx__index_views(plx__index_view **out, plx_index *count, plx_context *ctx, const plx__view *views,
                            plx_index n_views, plx_index n);

/* NaN: not defined. */
typedef struct plx__indices {
    double silhouette, davies_bouldin, calinski_harabasz;
} plx__indices;

/* cluster: n numbers in 0 .. k-1, -1: left out. out: one per view, then the one over all views. */
plx_status plx__internal_indices(plx__indices *out, plx_context *ctx, const plx__index_view *views, plx_index n_views,
                                 plx_index n, const int32_t *cluster, plx_index k);

/* Mean silhouettes of several partitions at once: `cluster` is partitions x n, k one number each. Samples of every view,
 * and over all, in out: partitions x (n_views + 1). At most `most` samples, evenly spaced, are judged (0: all), against
 * all others. O(most n d) time, O(n) memory and a block. */
plx_status plx__silhouettes(double *out, plx_context *ctx, const plx__index_view *views, plx_index n_views, plx_index n,
                            const int32_t *cluster, const plx_index *k, plx_index partitions, plx_index most);

#endif
