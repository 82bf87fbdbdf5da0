/*
 * k-means on the rows of an embedding, without chance: starts and ties are fixed, so that the result depends on neither
 * the signs of eigenvectors nor rotations inside a repeated eigenvalue.
 *
 * Starts: for q = 0 .. s-1, s = min(starts, n), two from row floor(q n / s): *orthogonal* adds the row whose largest
 * |cosine| with the chosen rows is smallest (a zero row has cosine 1 with everything), *farthest* the row whose smallest
 * squared distance to them is largest. Lloyd's iteration from each; the smallest inertia wins, a later start only when
 * it is smaller by more than 1e-12 max(1, inertia). Values are compared after rounding to 12 decimals, ties go to the
 * smallest index. An empty cluster takes the point farthest from its own centre. Clusters are numbered by first member.
 */
#ifndef PLX_CLUSTER_KMEANS_H
#define PLX_CLUSTER_KMEANS_H

#include "run/run.h"
#include "linalg/dense.h"

typedef enum plx__kmeans_init {
    PLX__KMEANS_DETERMINISTIC = 0,
    PLX__KMEANS_PLUSPLUS = 1, /* seeded k-means++, `restarts` runs */
    PLX__KMEANS_CENTRES = 2   /* one run from given centres */
} plx__kmeans_init;

typedef struct plx__kmeans_options {
    plx_index k; /* 1 .. rows */
    plx__kmeans_init init;
    plx_index starts, restarts, max_iter; /* 0: 10, 10, 300 */
    plx_cmat centres;                     /* PLX__KMEANS_CENTRES: k x d */
} plx__kmeans_options;

typedef struct plx__kmeans_result {
    int32_t *label;  /* one per row, in 0 .. k-1 */
    plx_mat centres; /* k x d, in the order of the labels */
    double inertia;  /* sum of squared distances of the rows to their centres */
    plx_index iterations;
    bool converged;
} plx__kmeans_result;

/* Rows kmeans_init, starts, restarts, kmeans_iter of a method's parameter table. */
extern const plx__param_spec plx__kmeans_params[];

/* What was asked for; a file of centres (k rows) is read and its shape checked (`dims` columns). */
plx_status plx__kmeans_options_of(plx__kmeans_options *out, plx__run *run, plx_index k, plx_index dims);

/* The result lies in scratch. k > rows is PLX_E_ARG. */
plx_status plx__kmeans(plx__kmeans_result *out, plx_context *ctx, plx_cmat rows, const plx__kmeans_options *options);

/* Nearest centre of one row, by the same rule. */
int32_t plx__nearest_centre(const double *row, plx_cmat centres);

#endif
