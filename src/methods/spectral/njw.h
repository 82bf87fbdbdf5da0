/*
 * Spectral clustering by the recipe of Ng, Jordan and Weiss: blend the affinities, embed, cluster; and width=auto, the
 * width of one view that gives the tightest clusters.
 */
#ifndef PLX_METHODS_SPECTRAL_NJW_H
#define PLX_METHODS_SPECTRAL_NJW_H

#include "methods/spectral/blend.h"

typedef struct plx__njw_options {
    plx_index clusters;
    plx__blend_options blend;
    const double *grid; /* multiples of the median for width=auto */
    plx_index n_grid;
} plx__njw_options;

typedef struct plx__njw {
    plx__blend blend;
    double *values;
    plx_mat vectors, rows; /* n x k: eigenvectors; their rows at unit length */
    plx__kmeans_result result;
    bool converged; /* eigenvectors and k-means */
} plx__njw;

/* Are there as many samples as clusters? `of` ends the sentence about the samples. */
plx_status plx__njw_check(plx__run *run, const plx__njw_options *o, plx_index n, const char *of);

/* Steps (2) to (4) on the given views; everything lies in scratch. */
plx_status plx__njw_cluster(plx__njw *out, plx__run *run, const plx__njw_options *o, const plx__affinity *views,
                            plx_index n_views);

/* a->width holds the median on entry and the chosen width after: smallest inertia of this view alone (rounded to 12
 * decimals), ties to the larger width. */
plx_status plx__njw_search_width(plx__affinity *a, plx__run *run, const plx__njw_options *o);

#endif
