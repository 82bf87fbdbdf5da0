/*
 * Linear assignment (Hungarian method by shortest augmenting paths), rectangular, O(r^2 c) with r the
 * smaller side.
 */
#ifndef PLX_OPTIM_ASSIGNMENT_H
#define PLX_OPTIM_ASSIGNMENT_H

#include "core/ctx.h"

/* Assign every row to its own column (every column to its own row when there are fewer columns) so that
 * the sum of entries is smallest (maximize: largest). column_of_row[i] = column or -1. *total = the sum.
 * Deterministic: rows are inserted in order, equal reduced costs go to the smaller column. Entries must be
 * finite (PLX_E_DATA). total may be NULL. */
plx_status plx__assignment(plx_context *ctx, plx_cmat weight, bool maximize, plx_index *column_of_row, double *total);

#endif
