/*
 * A kernel view reduced to the span of a few of its samples: partial Gram-Schmidt of the (centred) kernel matrix of the
 * chosen samples, and the kernel values of any other sample with the pivots, centred in the same way.
 *
 *     Kt = K - row means - column means + grand mean ~ Z Z',
 *     kt(x) = k(x, pivots) - mean_F k(x, .) - pivot means + grand mean
 */
#ifndef PLX_KERNEL_KERNEL_BASIS_H
#define PLX_KERNEL_KERNEL_BASIS_H

#include "kernel/prepared.h"
#include "linalg/lowrank.h"

/* What other samples are compared with. Everything is in scratch or in the store it was read from. */
typedef struct plx__kernel_basis {
    plx__kernel kernel; /* linear stands for cosine too: its rows have unit length */
    bool unit, centred, precomputed;
    plx_index rank;
    plx__points rows;         /* rows to evaluate the kernel with; precomputed: none */
    plx_index columns;        /* rows of `rows`, or columns of the precomputed matrix */
    const double *pick;       /* rank: which of those columns are the pivots */
    const double *share;      /* columns: weights of mean_F k(x, .); NULL with mean_row or when not centred */
    const double *mean_row;   /* linear: mean_F k(x, .) = amplitude x . mean_row; else NULL */
    const double *pivot_mean; /* rank */
    double grand;
} plx__kernel_basis;

/* Kernel matrix of the samples `chosen` (count of them, ascending) reduced. `out` gets Z (count x r) and the pivots
 * as positions in `chosen`, in `arena`; the basis and a kernel matrix of up to 6000 samples are in scratch.
 * *largest: greatest diagonal before centring, *centred_largest after it. options->rows (one row per sample) divides
 * Z among processes unless the kernel matrix is formed: then each of them has all rows. Of divided `data` a process then
 * needs its own rows only, with a linear kernel or one that is not centred. */
plx_status plx__kernel_basis_fit(plx__kernel_basis *basis, plx__pivoted *out, plx__arena *arena, plx_context *ctx,
                                 const plx__prepared *data, const plx_index *chosen, plx_index count, bool centre,
                                 const plx__pivot_options *options, double *largest, double *centred_largest);

/* In the model as private arrays "_basis.WHAT.VIEW", and back from such a store. `data` tells the kernel and the
 * columns. */
plx_status plx__kernel_basis_store(plx__run *run, const plx__kernel_basis *basis, const char *view);
plx_status plx__kernel_basis_load(plx__kernel_basis *basis, plx_context *ctx, const plx__store *state,
                                  const plx__prepared *data, bool centre, plx_index rank);

/* out (count x rank): kt of the samples `chosen` of `data`. Blocks of rows; count x rank beyond that. */
plx_status plx__kernel_basis_values(plx_context *ctx, const plx__kernel_basis *basis, const plx__prepared *data,
                                    const plx_index *chosen, plx_index count, plx_mat out);

#endif
