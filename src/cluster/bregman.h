/*
 * Bregman divergences of rows, and what merging two groups of rows costs under them.
 *
 * D(x, m): Euclid |x - m|^2; generalised Kullback-Leibler sum x log(x/m) - x + m (0 log 0 = 0); Itakura-Saito
 * sum x/m - log(x/m) - 1. The mean is the best centre of a group for each of them, the cost of a group is the sum of
 * D(x, mean), and merging groups of s and t rows with means x and y costs s D(x, m) + t D(y, m), m their common mean.
 * Everything is computed as sums of terms >= 0 in r = (x - m) / m, so that nothing cancels.
 */
#ifndef PLX_CLUSTER_BREGMAN_H
#define PLX_CLUSTER_BREGMAN_H

#include "linalg/distance.h"

typedef enum plx__bregman { PLX__BREGMAN_EUCLID = 0, PLX__BREGMAN_KL = 1, PLX__BREGMAN_IS = 2 } plx__bregman;

/* D of one coordinate. A mean of 0 counts as 1e-300 under Kullback-Leibler. */
double plx__bregman_term(plx__bregman kind, double x, double mean);

/* D(row i, mean). */
double plx__bregman_from(plx__bregman kind, plx__points rows, plx_index i, const double *mean);

/* Mean of chosen rows (sample NULL: the first n); exact where a column is constant. */
plx_status plx__bregman_mean(double *mean, plx_context *ctx, plx__points rows, const plx_index *sample, plx_index n);

/* Sum of D(x, mean of the rows) over chosen rows. */
plx_status plx__bregman_cost(double *out, plx_context *ctx, plx__bregman kind, plx__points rows,
                             const plx_index *sample, plx_index n);

/* Cost of merging groups of s and t rows with dense means x and y of d columns. The vectors are padded to a multiple of
 * eight columns, with equal values in both (0, or 1 under Itakura-Saito). */
enum { PLX__BREGMAN_PAD = 8 };
double plx__bregman_merge(plx__bregman kind, const double *x, double s, const double *y, double t, plx_index d);

/* One coordinate of it. */
double plx__bregman_merge_term(plx__bregman kind, double x, double s, double y, double t);

#endif
