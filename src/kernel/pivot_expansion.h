/*
 * Functions of a view by pivots of its kernel (kernel/kernel_pivots.h): f(x) = h(x).w with the row h(x) of a sample in
 * the reduced kernel, and so f(x) = sum_r c_r K(x, x_r) over the pivots x_r, c = X[pivots,:]^-T w. Solved as a linear
 * function of the rows, kept and evaluated as an expansion of few samples (kernel/expansion.h).
 */
#ifndef PLX_KERNEL_PIVOT_EXPANSION_H
#define PLX_KERNEL_PIVOT_EXPANSION_H

#include "kernel/expansion.h"
#include "kernel/kernel_pivots.h"

/* At most `most` pivots among the chosen samples; processes divide the rows of X by the positions in the list, or by
 * `whose`. PLX_E_DATA where the kernel is 0 on all of them. */
plx_status plx__pivot_expansion_find(plx__kernel_pivots *out, plx__run *run, const plx__expansion *x,
                                     const plx_index *sample, plx_index count, plx_index most);
plx_status plx__pivot_expansion_find_for(plx__kernel_pivots *out, plx__run *run, const plx__expansion *x,
                                         const plx_index *sample, const plx__slab_rows *whose, plx_index most);

/* Fit: keeps the functions with these weights (rank x K). */
plx_status plx__pivot_expansion_keep(plx__run *run, const plx__expansion *x, const plx__kernel_pivots *p,
                                     plx_cmat weights);

/* Bytes of finding `most` pivots among `count` samples of a process with `own` of them, beyond their rows. */
double plx__pivot_expansion_bytes(double own, double most);

#endif
