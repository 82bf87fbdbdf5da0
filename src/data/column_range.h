/*
 * Smallest and largest value of every column of a view, and columns brought to [0,1] by them.
 */
#ifndef PLX_DATA_COLUMN_RANGE_H
#define PLX_DATA_COLUMN_RANGE_H

#include "data/dataset_impl.h"

/* Over the present rows with rows[i] != 0 (NULL: all); entries a sparse view does not store are 0. Without any such row
 * both are 0. */
plx_status plx__column_range(double *lo, double *hi, plx_context *ctx, const plx__view *view, plx_index n,
                             const uint8_t *rows);

/* (x - lo) / (hi - lo) clipped to [0,1], or `constant` where lo = hi. Safe from overflow. */
double plx__within_range(double x, double lo, double hi, double constant);

#endif
