/*
 * Data sets with one thing changed, to see what a model makes of them. Labels are left out; all else is shared.
 */
#ifndef PLX_EXPLAIN_REARRANGE_H
#define PLX_EXPLAIN_REARRANGE_H

#include "data/dataset_impl.h"

/* One view missing for everybody; or all but one. */
plx_status plx__without_view(plx_dataset **out, plx_context *ctx, const plx_dataset *data, plx_index view);
plx_status plx__only_view(plx_dataset **out, plx_context *ctx, const plx_dataset *data, plx_index view);

/* The rows of a view, or the values of one of its columns, dealt anew among the samples that have it. */
plx_status plx__permuted_view(plx_dataset **out, plx_context *ctx, const plx_dataset *data, plx_index view,
                              uint64_t stream);
plx_status plx__permuted_column(plx_dataset **out, plx_context *ctx, const plx_dataset *data, plx_index view,
                                plx_index column, uint64_t stream);

/* count + 1 samples that have the mean of every column of every view; sample k + 1 has one deviation more in
 * column[k] of `view`. Deviations (at least 1e-300 where a column varies) of these columns go to `deviation`. */
plx_status plx__stepped_samples(plx_dataset **out, plx_context *ctx, const plx_dataset *data, plx_index view,
                                const plx_index *column, plx_index count, double *deviation);

/* Mean and deviation of every column over the rows that have the view. */
plx_status plx__column_moments(double *mean, double *deviation, plx_context *ctx, const plx__view *view, plx_index n);

#endif
