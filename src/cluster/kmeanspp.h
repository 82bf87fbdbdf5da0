/*
 * k-means++: centres drawn one after the other, a sample with probability proportional to its distance to the nearest
 * centre so far, averaged over the channels (views) it has. What a distance is, the caller says.
 */
#ifndef PLX_CLUSTER_KMEANSPP_H
#define PLX_CLUSTER_KMEANSPP_H

#include "core/ctx.h"
#include "core/rng.h"
#include "data/dataset_impl.h"

typedef struct plx__kmeanspp {
    plx_index n, n_channels;
    bool (*present)(const void *arg, plx_index channel, plx_index sample);
    /* From a present sample to the newest centre; negative counts as 0. Runs on any thread. */
    double (*distance)(const void *arg, plx_index channel, plx_index sample);
    void *arg;
    const plx__view *divided; /* samples whose rows are elsewhere are asked about there (data/divided.h); NULL: none */
    double *near;             /* n_channels x n: distance to the nearest centre so far; NaN: no centre yet */
    double *weight;           /* n: mean of these over the present channels */
} plx__kmeanspp;

plx_status plx__kmeanspp_open(plx__kmeanspp *s, plx_context *ctx); /* near and weight, in scratch */
plx_status plx__kmeanspp_take(plx__kmeanspp *s, plx_context *ctx); /* the newest centre counts from now on */

/* The next centre: before the first one, and when all distances are 0, every sample with a channel is as likely. */
plx_index plx__kmeanspp_draw(plx__kmeanspp *s, plx__rng *rng);

#endif
