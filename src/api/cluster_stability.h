/*
 * How alike the clusters of samples drawn again are (Ben-Hur, Elisseeff and Guyon 2002, with the adjusted Rand index):
 * several times a share of the samples is drawn and clustered, and every two draws that follow each other are compared on
 * the samples both have. Clusters that belong to the data come again, those of chance do not.
 */
#ifndef PLX_API_CLUSTER_STABILITY_H
#define PLX_API_CLUSTER_STABILITY_H

#include "data/dataset_impl.h"

typedef struct plx__stability {
    plx_context *ctx;
    const plx_dataset *data;
    plx_index count; /* numbers of clusters that are tried */
    /* Clusters of some of the samples in every number (count x samples of the part); comes with -1 everywhere, which is
     * what samples without a cluster, and numbers that cannot be, keep. */
    plx_status (*cluster)(void *arg, const plx_dataset *part, int32_t *cluster);
    void *arg;
    double *mean, *error; /* count: adjusted Rand index over the draws, its standard error; NaN: never to compare */
} plx__stability;

plx_status plx__cluster_stability(const plx__stability *s);

#endif
