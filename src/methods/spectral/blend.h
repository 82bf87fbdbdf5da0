/*
 * One affinity from those of several views: their entrywise product or their sum over the `common` views both samples
 * have, brought to m views.
 *
 *     joint  A(i,j) = prod_v A_v(i,j), to the power m / common with `fill`,   sum  A(i,j) = (m / common) sum_v A_v(i,j)
 *
 * `normalise`: every A_v with diagonal 0 becomes D_v^-1/2 A_v D_v^-1/2 first. A pair without a common view has affinity
 * 0, or with `fill` the mean of A over all pairs that have one: with 0 the pattern of what is missing would become the
 * leading structure. The filled part of a sparse A is kept as an operator (presence.h). Samples without any of the views
 * are left out of the matrix.
 */
#ifndef PLX_METHODS_SPECTRAL_BLEND_H
#define PLX_METHODS_SPECTRAL_BLEND_H

#include "methods/spectral/affinity.h"
#include "methods/spectral/embedding.h"
#include "methods/spectral/presence.h"

typedef enum plx__blend_rule { PLX__BLEND_JOINT = 0, PLX__BLEND_SUM = 1 } plx__blend_rule;

typedef struct plx__blend_options {
    plx__blend_rule rule;
    bool zero_diagonal, normalise, fill;
} plx__blend_options;

typedef struct plx__blend {
    plx__blend_options how;
    plx_index n;       /* samples that take part */
    plx_index *sample; /* n of them */
    plx__presence presence;
    double *const *degree; /* normalise: row sums of every A_v over all samples; NULL: not normalised */
    double unknown;        /* affinity of a pair without a common view */
    bool sparse;
    plx_mat dense; /* n x n, one of the two; the dense one is filled, the sparse one is not */
    plx_csr csr;
    plx__affine affine;
} plx__blend;

/* The matrix over the samples that have at least one of the views, with its degrees, in scratch. */
plx_status plx__blend_build(plx__blend *out, plx_context *ctx, const plx__affinity *views, plx_index n_views,
                            const plx__blend_options *how);

/* New samples and the fitted ones they are blended with. */
typedef struct plx__blend_fresh {
    plx__blend_options how;
    const plx__affinity *fitted, *fresh; /* n_views each */
    plx_index n_views;
    const double *const *degree; /* normalise: of the fitted samples, per view */
    double unknown;
    plx__presence fitted_presence, fresh_presence;
    const plx_index *own; /* fitted sample that a new one is, or -1 */
} plx__blend_fresh;

/* Affinities of new samples begin .. end-1 to all fitted ones (the diagonal of a sample fed back is dropped like that
 * of fitted ones). */
plx_status plx__blend_to_fitted(plx_context *ctx, const plx__blend_fresh *z, plx_index begin, plx_index end,
                                plx_mat out);

/* Rows per block when n columns are worked on at a time. */
plx_index plx__block_rows(plx_index n);

#endif
