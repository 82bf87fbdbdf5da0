/*
 * Between the files of the mixture: one pass over the rows.
 */
#ifndef PLX_MIXTURE_INCOMPLETE_INTERNAL_H
#define PLX_MIXTURE_INCOMPLETE_INTERNAL_H

#include "mixture/incomplete_mixture.h"

/* Sums of one E-step about the current means: per component and block, over rows that have something in the block. */
typedef struct plx__incomplete_sums {
    bool full;             /* shape of `second` */
    double log_likelihood; /* sum over usable rows */
    double *weight;        /* k: sum r over usable rows */
    double *mass;          /* k x blocks: sum r */
    plx_mat first;         /* k x d: sum r (xhat - mu) */
    plx_mat second;        /* as mix.cov: sum r [(xhat - mu)(xhat - mu)' + Cov] */
} plx__incomplete_sums;

plx_status plx__incomplete_sums_new(plx__incomplete_sums *out, plx__arena *arena, const plx__incomplete_mixture *mix,
                                    plx_index n_blocks);

/* E-step: responsibilities and xhat of all rows into `moments` (mean may have data NULL: not kept; cov NULL likewise),
 * and the sums (NULL: not wanted). Same bytes for every number of threads. */
plx_status plx__incomplete_sweep(plx_context *ctx, const plx__incomplete_mixture *mix, const plx__incomplete_data *data,
                                 plx__moments *moments, plx__incomplete_sums *sums, double *jitter, const char *what);

/* Sums for given responsibilities with missing entries at the column means and no conditional covariance, about the
 * column means. */
plx_status plx__incomplete_start_sums(plx__incomplete_sums *sums, plx_context *ctx, const plx__incomplete_data *data,
                                      plx_cmat start);

#endif
