/*
 * Consensus of several partitions: a common pattern B (n x k) and a map P of every view's clusters (k x k_v), all >= 0,
 * that minimise sum_v w_v loss(A^v, B P^v) over the samples a view has, by multiplicative updates that never raise it.
 *
 * plx__consensus_memberships() is the whole road from views to memberships. Step by step:
 *
 *     plx__membership_of_view(&patterns[v], ...) or fill in the patterns
 *     plx__consensus_open(&c, ctx, loss, patterns, n_patterns, n, k)
 *     fill c.b with positive values (plx__consensus_random), plx__consensus_start_maps(&c)
 *     plx__consensus_objective(&value, &c); plx__consensus_step(&c); ...
 */
#ifndef PLX_CLUSTER_CONSENSUS_H
#define PLX_CLUSTER_CONSENSUS_H

#include "data/dataset_impl.h"

typedef enum plx__consensus_loss {
    PLX__LOSS_IDIV = 0,  /* generalised I-divergence a log(a/m) - a + m */
    PLX__LOSS_EUCLID = 1 /* (a - m)^2 */
} plx__consensus_loss;

/* What one view says, and how the common pattern maps to it. */
typedef struct plx__membership {
    plx_ccsr values; /* A: n x k_v, >= 0; rows of samples without the view do not count */
    const uint8_t *present;
    double weight;
    plx_mat columns; /* P as k_v x k: row h is column h of the map */
    double *row_sum; /* k: sums of the rows of P */
    plx_mat others;  /* k_v x k, I-divergence and few clusters: row_sum less column h; else data NULL */
    plx_mat gram;    /* k x k, squared loss: P P' */
} plx__membership;

enum { PLX__CONSENSUS_SLABS = 8 };

typedef struct plx__consensus {
    plx_context *ctx;
    plx__consensus_loss loss;
    plx_index n, k, n_patterns;
    plx_index width; /* doubles from row to row of B and the maps: k, and zeros up to whole registers */
    plx__membership *patterns;
    plx_mat b;        /* n x k */
    double *row_loss; /* n */
    double *work;     /* workers x 2 width */
    double *partial;  /* room for the sums of the map updates, PLX__CONSENSUS_SLABS of them */
} plx__consensus;

/* Room for B, maps and work, in scratch; maps are zero. `patterns` (values, present, weight) stay the caller's. */
plx_status plx__consensus_open(plx__consensus *c, plx_context *ctx, plx__consensus_loss loss, plx__membership *patterns,
                               plx_index n_patterns, plx_index n, plx_index k);

/* `width` for k clusters. */
plx_index plx__consensus_width(plx_index k);

/* B = uniform(0,1) + .1. */
void plx__consensus_random(plx__consensus *c, uint64_t stream);

plx_status plx__consensus_start_maps(plx__consensus *c);                  /* P = B'A / column sums of B */
plx_status plx__consensus_step(plx__consensus *c);                        /* B, then all P */
plx_status plx__consensus_objective(double *out, plx__consensus *c);      /* at the current B and P */
plx_status plx__consensus_refresh(plx__consensus *c, plx__membership *p); /* row_sum and gram, after P was set */

/* New samples: every row of B from 1/k, P fixed, for at most `rounds` updates or until none of its entries changes by
 * more than `tol`. A row without a present view stays 1/k. */
plx_status plx__consensus_place(plx__consensus *c, plx_index rounds, double tol);

/* out = B with rows summing to 1; an all-zero row becomes uniform. */
void plx__consensus_normalise(plx_mat out, plx_cmat b);

/* ---- base partitions (base_partitions.c) ---- */

typedef enum plx__base { PLX__PARTITION_AUTO = 0, PLX__PARTITION_KMEANS = 1, PLX__PARTITION_SKMEANS = 2 } plx__base;

/* How a view becomes a pattern: taken as it is, or clustered (spherically) first. */
typedef struct plx__base_plan {
    bool cluster, spherical;
} plx__base_plan;

/* auto: probability and binary views are patterns, counts are clustered spherically, all others by k-means. */
plx__base_plan plx__base_plan_of(plx__base base, plx_view_kind kind);

/* The view itself as a pattern (dense values are made sparse), in scratch. */
plx_status plx__membership_of_view(plx__membership *out, plx_context *ctx, const plx__view *view, plx_index n);

/* One-hot rows from a partition (-1: none, and not present), in scratch. */
plx_status plx__membership_of_labels(plx__membership *out, plx_context *ctx, const int32_t *label, plx_index n,
                                     plx_index k);

/* Memberships (n x k, rows sum to 1; argmax of a row is its cluster) with the defaults of method mvc: automatic base
 * partitions of k clusters (best of 10), I-divergence, a random start, at most 200 updates, relative tolerance 1e-8.
 * Negative entries of a view used as it is are the caller's to refuse. */
plx_status plx__consensus_memberships(plx_mat out, plx_context *ctx, const plx__view *views, plx_index n_views,
                                      plx_index n, plx_index k);

#endif
