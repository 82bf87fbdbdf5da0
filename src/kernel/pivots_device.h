/*
 * Partial Gram-Schmidt of a centred kernel matrix on a device: matrix and columns are formed there, and the columns
 * come back once.
 */
#ifndef PLX_KERNEL_PIVOTS_DEVICE_H
#define PLX_KERNEL_PIVOTS_DEVICE_H

#include "kernel/kernel.h"
#include "linalg/lowrank.h"

/* The kernel matrix of n samples. */
typedef struct plx__pivots_there {
    const plx__kernel *kernel;
    plx__points rows; /* n; with `given` the values come from `values` */
    plx_index n;
    bool given;
    plx_status (*values)(void *arg, plx_context *ctx, plx_index begin, plx_index end, plx_mat out);
    void *arg;
    bool by_columns;  /* the CPU forms a column at a time, and passes over all earlier ones for each */
    bool subtract;    /* means of rows and columns are taken off */
    double *mean;     /* n, out where they are */
    double *diagonal; /* n, out: of the matrix then */
    double *grand;    /* out where means are taken off: the mean of all */
} plx__pivots_there;

/* As plx__pivoted_cholesky_full. *done false, and everything as it was: the CPU does it. */
plx_status plx__pivots_on_device(bool *done, plx__pivoted *out, plx__arena *arena, plx_context *ctx,
                                 const plx__pivots_there *there, const plx__pivot_options *options);

#endif
