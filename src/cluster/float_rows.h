/*
 * Rows in single precision, to rule out far ones before distances are computed: from inner products come lower bounds
 * of squared Euclidean distances that hold in spite of rounding.
 *
 * Rows are centred and divided by the largest entry, which keeps products in range. With unit roundoff u = 2^-24 the
 * inner product of d entries is off by at most (d + 2) u |x| |y|, and by less than d 1e-37 through underflow.
 */
#ifndef PLX_CLUSTER_FLOAT_ROWS_H
#define PLX_CLUSTER_FLOAT_ROWS_H

#include "core/ctx.h"

typedef struct plx__float_rows {
    plx_index n, cols, ld;
    const double *centre;
    double unit; /* entries were divided by it */
    float *x;    /* n x ld */
    double *norm;
} plx__float_rows;

/* Rows as they are; `ld` of the double rows is that of the later plx__float_set. In scratch. */
plx_status plx__float_open(plx__float_rows *out, plx_context *ctx, plx_cmat rows);

void plx__float_set(plx__float_rows *f, plx_index i, const double *row);
void plx__float_move(plx__float_rows *f, plx_index to, plx_index from);

/* bound[k] <= |row i - row k|^2 for k in 0 .. count-1. On all threads. */
plx_status plx__float_bounds(double *bound, plx_context *ctx, const plx__float_rows *f, plx_index i, plx_index count);

#endif
