/*
 * Clusters beside known classes: how many samples of each class lie in each cluster, and which class a cluster stands for.
 */
#ifndef PLX_EXPLAIN_CROSSING_H
#define PLX_EXPLAIN_CROSSING_H

#include "core/text.h"
#include "explain/explanation.h"
#include "linalg/dense.h"

typedef struct plx__crossing {
    const char **class_name, **cluster; /* in byte order */
    plx_index n_classes, n_clusters;
    plx__map clusters;       /* name -> column */
    plx_mat counts;          /* classes x clusters */
    const char **stands_for; /* clusters: the most frequent class, the first of equals; NULL: no known sample in it */
} plx__crossing;

/* Counts of the n samples whose class and cluster are both known; everything is in the scratch arena of ctx. */
plx_status plx__cross(plx__crossing *out, plx_context *ctx, const char *const *known, const char *const *cluster,
                      plx_index n);

/* The class that the cluster stands for; NULL for NULL and for clusters without a known sample. */
const char *plx__class_of_cluster(const plx__crossing *c, const char *cluster);

/* Section "clusters": known classes by clusters; nothing where there are too many to be read. */
plx_status plx__put_crossing(plx_explanation *e, plx_context *ctx, const plx__crossing *c);

#endif
