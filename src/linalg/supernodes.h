/*
 * The symbolic half of a sparse Cholesky factorisation: in which order to eliminate, and where the factor will have
 * entries. Columns with (nearly) the same entries below the diagonal form a supernode, kept as one dense panel.
 */
#ifndef PLX_LINALG_SUPERNODES_H
#define PLX_LINALG_SUPERNODES_H

#include "core/ctx.h"

typedef struct plx__supernodes {
    plx_index n, count;
    int32_t *order;   /* n: order[k] is the row and column of A eliminated as the k-th */
    int32_t *place;   /* n: the inverse of it */
    int32_t *first;   /* count + 1: supernode s holds the columns first[s] .. first[s + 1] - 1 */
    int32_t *of;      /* n: the supernode of a column */
    int64_t *row_ptr; /* count + 1: entries of `row` that belong to a supernode */
    int32_t *row;     /* rows below its columns, ascending */
    int64_t *panel;   /* count + 1: where its panel starts: (columns + rows) x columns, row-major */
} plx__supernodes;

/* Order and analyse the symmetric matrix whose lower triangle `a` holds (what lies above is ignored). The result lives
 * in `arena`; work memory is given back. */
plx_status plx__supernodes_find(plx__supernodes *out, plx__arena *arena, plx_ccsr a);

/* Columns of supernode s, and rows below them. */
static inline plx_index plx__super_cols(const plx__supernodes *x, plx_index s) { return x->first[s + 1] - x->first[s]; }
static inline plx_index plx__super_rows(const plx__supernodes *x, plx_index s)
{
    return x->row_ptr[s + 1] - x->row_ptr[s];
}

#endif
