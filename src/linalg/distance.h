/*
 * Distances between rows, dense or sparse.
 *
 * Euclidean distances agree with the direct sum to 1e-12 relative: |x|^2 + |z|^2 - 2 x.z is used where it
 * is that accurate, the direct sum of (x_i - z_i)^2 where it cancels. Cosine distance is 1 - cos(x,z); a
 * zero row has cosine 0 with everything.
 */
#ifndef PLX_LINALG_DISTANCE_H
#define PLX_LINALG_DISTANCE_H

#include <math.h>

#include "linalg/csr.h"
#include "linalg/dense.h"

typedef enum plx__metric { PLX__EUCLID = 0, PLX__COSINE = 1 } plx__metric;

/* Rows of either kind (csr.ptr NULL: dense). */
typedef struct plx__points {
    plx_cmat dense;
    plx_ccsr csr;
} plx__points;

static inline plx__points plx__points_dense(plx_cmat m)
{
    plx__points p = {m, {0, 0, NULL, NULL, NULL}};
    return p;
}

static inline plx__points plx__points_csr(plx_ccsr m)
{
    plx__points p = {{NULL, 0, 0, 0}, m};
    return p;
}

static inline bool plx__points_sparse(plx__points p) { return p.csr.ptr != NULL; }
static inline plx_index plx__points_rows(plx__points p) { return p.csr.ptr ? p.csr.rows : p.dense.rows; }
static inline plx_index plx__points_cols(plx__points p) { return p.csr.ptr ? p.csr.cols : p.dense.cols; }

/* Rows begin..end-1 only. */
plx__points plx__points_range(plx__points p, plx_index begin, plx_index end);

/* Squared Euclidean norm of every row. */
plx_status plx__points_norms_sq(plx_context *ctx, plx__points p, double *out);

/* Inner products: out (rows(a) x rows(b)) = A B'. Both of one kind, equal column counts. */
plx_status plx__points_inner(plx_context *ctx, plx__points a, plx__points b, plx_mat out);

/* Squared Euclidean distances; identical rows give exactly 0. Symmetric to the last bit for a = b. */
plx_status plx__dist_sq_matrix(plx_context *ctx, plx__points a, plx__points b, plx_mat out);

/* Cosine similarities x.z / (|x||z|), 0 where a norm is 0, clipped to [-1, 1]. */
plx_status plx__cosine_matrix(plx_context *ctx, plx__points a, plx__points b, plx_mat out);

/* What the distances of a metric are ordered by and cheapest to compute: squared Euclidean distances, or 1 - cos; and
 * the distance it stands for. */
plx_status plx__separation_matrix(plx_context *ctx, plx__points a, plx__points b, plx__metric metric, plx_mat out);
/* The same for dense rows on the calling thread alone, from squared norms of the rows: for bodies of plx__parallel_for. */
plx_status plx__separation_tile(plx_context *ctx, plx_cmat a, const double *na, plx_cmat b, const double *nb,
                                plx__metric metric, plx_mat out);
static inline double plx__separation_distance(plx__metric metric, double separation)
{
    return metric == PLX__COSINE ? separation : sqrt(separation);
}

/* Distance (not squared) of two single rows, directly computed. */
double plx__point_distance(plx__points a, plx_index i, plx__points b, plx_index j, plx__metric metric);

/* What distances are compared by: 0 below 1e-12, else rounded to 12 significant digits. */
double plx__distance_key(double distance);

/* A statistic of the distances over pairs i < j of the rows with present[i] != 0 (NULL: all). Blocks of distances:
 * O(block) memory, O(n^2 d) time per pass; the median (mean of the two middle values for an even count) takes several.
 * PLX_E_DATA "WHAT has fewer than two rows"; PLX_E_NUMERIC where it is not finite. */
typedef enum plx__pair_statistic { PLX__PAIR_MEAN = 0, PLX__PAIR_MEDIAN = 1, PLX__PAIR_MAX = 2 } plx__pair_statistic;
plx_status plx__pair_distance(plx_context *ctx, plx__points p, const uint8_t *present, plx__metric metric,
                              plx__pair_statistic statistic, double *out, const char *what);

/* Most bytes it takes for n rows that take row_bytes themselves (they are copied where some are absent). */
double plx__pair_distance_bytes(const plx_context *ctx, plx_index n, double row_bytes);

#endif
