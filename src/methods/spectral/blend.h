/*
 * One affinity from those of several views: their entrywise product or their sum over the views both samples have.
 *
 *     joint  A(i,j) = prod_v A_v(i,j),          sum  A(i,j) = (m / common) sum_v A_v(i,j),
 *
 * 0 for a pair without a common view. Samples without any of the views are left out of the matrix.
 */
#ifndef PLX_METHODS_SPECTRAL_BLEND_H
#define PLX_METHODS_SPECTRAL_BLEND_H

#include "methods/spectral/affinity.h"
#include "methods/spectral/embedding.h"

typedef enum plx__blend_rule { PLX__BLEND_JOINT = 0, PLX__BLEND_SUM = 1 } plx__blend_rule;

typedef struct plx__blend {
    plx__blend_rule rule;
    bool zero_diagonal;
    plx_index n;       /* samples that take part */
    plx_index *sample; /* n of them */
    bool sparse;
    plx_mat dense; /* n x n, one of the two */
    plx_csr csr;
    plx_ccsr view_of_csr; /* what the operator works on */
    plx__affine affine;
} plx__blend;

/* The matrix over the samples that have at least one of the views, with its degrees, in scratch. */
plx_status plx__blend_build(plx__blend *out, plx_context *ctx, const plx__affinity *views, plx_index n_views,
                            plx__blend_rule rule, bool zero_diagonal);

/* Affinities of new samples begin .. end-1 to all fitted ones (the diagonal of a sample fed back is dropped like that
 * of fitted ones). */
plx_status plx__blend_to_fitted(plx_context *ctx, const plx__affinity *fitted, const plx__affinity *fresh,
                                plx_index n_views, plx__blend_rule rule, bool zero_diagonal, const plx_index *own,
                                plx_index begin, plx_index end, plx_mat out);

/* Rows per block when n columns are worked on at a time. */
plx_index plx__block_rows(plx_index n);

#endif
