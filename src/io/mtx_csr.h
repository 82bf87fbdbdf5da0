/*
 * Scattered entries to CSR.
 */
#ifndef PLX_IO_MTX_CSR_H
#define PLX_IO_MTX_CSR_H

#include "core/ctx.h"

typedef struct plx__triplets {
    plx_index rows, cols, count;
    const int32_t *row, *col;       /* from 0, checked by the caller */
    const double *val;              /* NULL: all 1 */
    int mirror;                     /* +1, -1: entry (j,i) is the same, the negative; 0: nothing is mirrored */
} plx__triplets;

/* Sort by row and column; entries at one place are added in the order given. */
plx_status plx__triplets_to_csr(plx_csr *out, plx_context *ctx, plx__arena *arena, const plx__triplets *t);

#endif
