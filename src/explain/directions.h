/*
 * The strongest directions of a view: principal components of its rows after the scaling that suits its kind.
 */
#ifndef PLX_EXPLAIN_DIRECTIONS_H
#define PLX_EXPLAIN_DIRECTIONS_H

#include "data/scale.h"
#include "linalg/dense.h"

/* The view scaled as `scale=auto` says; z-scores make a sparse view dense. In scratch. */
plx_status plx__scaled_view(plx__view *out, plx_context *ctx, const plx__view *view);

typedef struct plx__directions {
    plx_mat u;         /* n x k, orthonormal over the present rows; absent rows 0 */
    double *strength;  /* k singular values, descending */
    double total;      /* sum of squares of the centred rows: what all directions together hold */
    plx_index present; /* rows */
} plx__directions;

/* At most `most` of them, of n rows, by the truncated SVD of the centred rows that are there (plx__rsvd); fewer where the
 * view has fewer. Values must be numbers. In scratch. */
plx_status plx__view_directions(plx__directions *out, plx_context *ctx, const plx__view *scaled, plx_index n,
                                plx_index most);

#endif
