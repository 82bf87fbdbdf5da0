/*
 * A view's kernel reduced to a few of its samples, the pivots: K ~ X X' with X a pivoted Cholesky factor at amplitude 1
 * (linalg/lowrank.h). Any sample x has a row h = X[pivots,:]^-1 kappa(pivots, x) beside those of X, and h.X' are its
 * values with the samples in the reduced kernel. So whatever works on features works on any kernel.
 *
 * Several processes divide the rows of X; pivots, corner and the pivots' own rows are with all of them.
 */
#ifndef PLX_KERNEL_KERNEL_PIVOTS_H
#define PLX_KERNEL_KERNEL_PIVOTS_H

#include "core/slabs.h"
#include "kernel/view_kernel.h"

typedef struct plx__kernel_pivots {
    plx_index rank;
    plx_cmat x;             /* samples x rank: the factor; of processes that divide the samples their own rows */
    plx_index *sample;      /* rank: the pivots' numbers */
    plx_cmat corner;        /* rank x rank: their rows of X, lower triangular */
    plx__reference samples; /* the pivots */
} plx__kernel_pivots;

/* Of the samples in `ref` (their numbers are its columns), which `rows` divides (NULL: every process has all), at most
 * `most` pivots. Of divided rows `ref` has the own ones (plx__reference_own). In scratch. */
plx_status plx__kernel_pivots_find(plx__kernel_pivots *out, plx_context *ctx, const plx__view_kernel *k,
                                   const plx__reference *ref, const plx__slab_rows *rows, plx_index most);

/* In the model as private arrays "_pivot.VIEW", "_corner.VIEW", "_pivots.VIEW", and back, for a factor of `rank`
 * columns (-1: any) and pivots among the first `samples`; x is the caller's to keep. */
plx_status plx__kernel_pivots_store(plx__run *run, const plx__kernel_pivots *p, const char *view);
plx_status plx__kernel_pivots_load(plx__kernel_pivots *out, plx__run *run, const plx__view_kernel *k, plx_index rank,
                                   plx_index samples);

/* out (end - begin x rank) = h of samples begin .. end-1; 0 for those without the view. */
plx_status plx__kernel_pivots_rows(plx_context *ctx, const plx__kernel_pivots *p, const plx__view_kernel *k,
                                   plx_index begin, plx_index end, plx_mat out);

#endif
