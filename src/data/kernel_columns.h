/*
 * Whose column is whose in a kernel view. The columns are samples, and are named like them: by id, or without ids by
 * row number. A view with as many columns as samples whose names (if any) are no sample's is in sample order.
 */
#ifndef PLX_DATA_KERNEL_COLUMNS_H
#define PLX_DATA_KERNEL_COLUMNS_H

#include "data/dataset_impl.h"

typedef struct plx__kernel_columns {
    bool by_name;   /* the names of the columns decide; else their order, or nothing is known */
    plx_index *own; /* column of every sample, -1: it has none; in scratch */
} plx__kernel_columns;

/* `features` names the `cols` columns, `ids` the n samples; both may be NULL. */
plx_status plx__kernel_columns_find(plx__kernel_columns *out, plx_context *ctx, const char *const *features,
                                    plx_index cols, const char *const *ids, plx_index n);

/* Counts the values of a view of n rows again: nonzeros, missing values, the place of the first. */
void plx__view_recount(plx__view *view, plx_index n);

/* Only the block of the samples that have the view need be finite: nan in the columns of the others becomes zero.
 * `dense` or `csr` are the view's own values. */
plx_status plx__kernel_clear_nan(plx__view *view, plx_context *ctx, plx_mat dense, plx_csr csr, const char *const *ids,
                                 plx_index n);

/* Names for the samples of a part of `data`, in scratch: its ids; else, when a kernel view has a column per sample, the
 * names of those, else row numbers; NULL when neither ids nor such a view are there. */
plx_status plx__kernel_sample_names(const char *const **out, plx_context *ctx, const plx_dataset *data);

#endif
