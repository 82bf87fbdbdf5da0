/*
 * Products with many rows as passes over their slabs (core/slabs.h): X w is made row by row, X' y is a sum over rows.
 *
 * Several processes have neighbouring runs of the rows each; a sum comes to all of them, to the same bytes whatever
 * their number. Alone and with no more rows than a pane a pass is one product.
 */
#ifndef PLX_KERNEL_ROW_PASSES_H
#define PLX_KERNEL_ROW_PASSES_H

#include "core/slabs.h"
#include "linalg/distance.h"

typedef struct plx__row_passes {
    plx__points x;
    plx__slab_rows whose; /* which rows are whose; row i is sample i unless it says otherwise */
    plx_index begin, end; /* rows of this process */
    plx_csr *turned;      /* of sparse rows: transposes of the process's panes; NULL: X' y scatters */
} plx__row_passes;

/* `turn`: sparse rows are transposed once, for many products X' y. What it keeps is in scratch. */
plx_status plx__row_passes_open(plx__row_passes *out, plx_context *ctx, plx__points x, bool turn);

/* The same of rows that stand for chosen samples and go by these. */
plx_status plx__row_passes_open_for(plx__row_passes *out, plx_context *ctx, plx__points x, bool turn,
                                    const plx__slab_rows *whose);

/* y = X w in the rows of this process; all others stay as they are. */
plx_status plx__row_passes_times(const plx__row_passes *p, plx_context *ctx, plx_cmat w, plx_mat y);

/* w = X' y, on all processes; of y their own rows count. The rows of w lie one behind the other. */
plx_status plx__row_passes_times_t(const plx__row_passes *p, plx_context *ctx, plx_cmat y, plx_mat w);

/* Rows of y from the processes that have them to all. */
plx_status plx__row_passes_share(const plx__row_passes *p, plx_context *ctx, plx_mat y);

/* sums (columns of y) = factor times the sum of the rows of y, and the sum of the squares of its numbers; on all
 * processes. */
plx_status plx__row_passes_sums(const plx__row_passes *p, plx_context *ctx, plx_cmat y, double factor, double *sums);
plx_status plx__row_passes_columns(const plx__row_passes *p, plx_context *ctx, plx_cmat y,
                                   double *sums); /* long rows */
plx_status plx__row_passes_squares(const plx__row_passes *p, plx_context *ctx, plx_cmat y, double *out);

/* mean (columns of X) of all rows. */
plx_status plx__row_passes_mean(const plx__row_passes *p, plx_context *ctx, double *mean);

/* out (columns x columns) = factor times the products (X - 1 mean')'(X - 1 mean') (mean NULL: 0), both triangles; a pane
 * at a time is dense. The rows of out lie one behind the other. */
plx_status plx__row_passes_gram(const plx__row_passes *p, plx_context *ctx, const double *mean, double factor,
                                plx_mat out);

/* Bytes that a sum of `width` numbers over so many rows takes from scratch. */
double plx__row_passes_bytes(const plx_context *ctx, plx_index rows, double width);

#endif
