/*
 * Functions f(x) = sum_i alpha_i K(x, x_i) of one view, one per class: their values at the samples of a run, and what a
 * model keeps of them.
 *
 * A linear (or cosine) kernel is kept as weights, so that new samples cost one product; other kernels keep the rows
 * with non-zero coefficients; a precomputed kernel keeps the coefficients of the samples its columns stand for. Private
 * arrays of the model: "_weights.VIEW", or "_coef.VIEW" and "_rows.VIEW".
 */
#ifndef PLX_KERNEL_EXPANSION_H
#define PLX_KERNEL_EXPANSION_H

#include "kernel/prepared.h"

typedef struct plx__expansion {
    plx__prepared data;
    plx__points rows; /* of all samples; unit rows for the cosine kernel */
    bool linear;      /* linear or cosine */
} plx__expansion;

/* `view` is an index, or -1 for the concatenation. */
plx_status plx__expansion_prepare(plx__expansion *out, plx__run *run, plx_index view);

/* The rows of chosen samples; no copy when they are all there are. Not for precomputed kernels. Every process has all of
 * them; or, of divided rows, its own of a list that processes divide as plx__row_passes_open() does, or by `whose`. */
plx_status plx__expansion_rows(plx__points *out, plx_context *ctx, const plx__expansion *x, const plx_index *sample,
                               plx_index count);
plx_status plx__expansion_own_rows(plx__points *out, plx_context *ctx, const plx__expansion *x, const plx_index *sample,
                                   plx_index count);
plx_status plx__expansion_rows_for(plx__points *out, plx_context *ctx, const plx__expansion *x, const plx_index *sample,
                                   const plx__slab_rows *whose);

/* Kernel values between rows as plx__expansion_rows gives them. Not for precomputed kernels. */
plx_status plx__expansion_between(plx_context *ctx, const plx__expansion *x, plx__points a, plx__points b, plx_mat k);

/* Kernel values among chosen samples, exactly symmetric. */
plx_status plx__expansion_gram(plx_context *ctx, const plx__expansion *x, const plx_index *sample, plx_index count,
                               plx_mat k);

/* Fit: keeps f with coefficients `coef` (count x K) at the chosen samples, or a linear f by its weights (cols x K). */
plx_status plx__expansion_keep(plx__run *run, const plx__expansion *x, const plx_index *sample, plx_index count,
                               plx_cmat coef);
plx_status plx__expansion_keep_weights(plx__run *run, const plx__expansion *x, plx_cmat weights);

/* f (n x K) at every sample of the run from what was kept; zero rows for samples without the view. By blocks of rows. */
plx_status plx__expansion_values(plx__run *run, const plx__expansion *x, plx_mat f);

/* y = X w and w = X' y for rows of either kind. */
plx_status plx__points_times(plx_context *ctx, plx__points x, plx_cmat w, plx_mat y);
plx_status plx__points_times_t(plx_context *ctx, plx__points x, plx_cmat y, plx_mat w);

#endif
