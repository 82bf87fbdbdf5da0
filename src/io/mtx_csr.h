/*
 * Entries in any order to CSR.
 */
#ifndef PLX_IO_MTX_CSR_H
#define PLX_IO_MTX_CSR_H

#include "data/table.h"

typedef struct plx__entry {
    int32_t row, col; /* from 0 */
    double val;
} plx__entry;

typedef struct plx__entries {
    plx_index rows, cols, count;
    plx__entry *entry; /* places are inside the matrix: the caller has checked them */
    int mirror;        /* +1, -1: entry (j,i) is the same, the negative; 0: nothing is mirrored */
} plx__entries;

/* Sort by row and column; entries at one place are added in the order given. The entries are left in any order. */
plx_status plx__entries_to_csr(plx_csr *out, plx_context *ctx, plx__arena *arena, const plx__entries *all);

/* The same where every rank has some of the entries, in the order of the ranks, and keeps the rows that fall to it
 * (data/divided.h); called by all of them. `aside` holds the entries; it is given back on the way. */
plx_status plx__entries_to_share(plx__table *out, plx_context *ctx, plx__arena *arena, plx__arena *aside,
                                 const plx__entries *own);

#endif
