/*
 * Mixtures of Gaussians fitted by EM to rows with any missing entries, and what a fitted mixture says about them.
 *
 * Columns form blocks that are independent within a component (one block: a full joint density). A row that has nothing
 * in a block takes no part in the statistics of that block; a row that has nothing at all takes no part in fitting.
 *
 *     r_iz ~ w_z N(x_o | mu_z,o, S_z,oo);  xhat_iz = x_o, mu_m + S_mo S_oo^-1 (x_o - mu_o);
 *     Cov_iz = S_mm - S_mo S_oo^-1 S_om;
 *     w_z = mean r;  mu_z = sum r xhat / sum r;  S_z = sum r [(xhat - mu_z)(xhat - mu_z)' + Cov] / sum r + cov_reg v I.
 */
#ifndef PLX_MIXTURE_INCOMPLETE_MIXTURE_H
#define PLX_MIXTURE_INCOMPLETE_MIXTURE_H

#include "linalg/dense.h"

typedef enum plx__cov_shape {
    PLX__COV_FULL = 0,
    PLX__COV_DIAG = 1,     /* off-diagonals dropped */
    PLX__COV_SPHERICAL = 2 /* mean of a block's diagonal */
} plx__cov_shape;

/* Rows grouped by which entries they have. */
typedef struct plx__patterns {
    plx_index n, d, count;
    plx_index *of;       /* n: pattern of every row; patterns are numbered by their first row */
    plx_index *first;    /* count + 1: rows of pattern p are order[first[p]] .. order[first[p + 1] - 1] */
    plx_index *order;    /* n */
    int32_t *column;     /* count x d: the observed columns, then the missing ones, each ascending */
    plx_index *observed; /* count: how many are observed */
} plx__patterns;

typedef struct plx__incomplete_data {
    plx_cmat x;             /* n x d; missing entries are ignored */
    const uint8_t *seen;    /* n x d: 1 where observed */
    plx_index n_blocks;     /* at least 1 */
    const plx_index *block; /* n_blocks + 1: first column of every block, then d */
    plx__patterns patterns; /* plx__incomplete_patterns */
    double *mean;           /* d: column means of observed entries, 0 where there is none */
    double *spread;         /* n_blocks: mean over columns of the population variance of observed entries; 1 if 0 */
    plx_index usable;       /* rows with an observed entry */
} plx__incomplete_data;

typedef struct plx__incomplete_mixture {
    plx_index k, d;
    plx__cov_shape shape;
    double *weight; /* k */
    plx_mat mean;   /* k x d */
    plx_mat cov;    /* full: k d x d, zero between blocks; else k x d: the diagonals */
} plx__incomplete_mixture;

typedef struct plx__incomplete_options {
    plx_index components;
    plx__cov_shape shape;
    double cov_reg;
    plx_index max_iter;
    double tol;     /* change of the mean log likelihood */
    plx_cmat start; /* n x k responsibilities; data NULL: farthest-first centres */
    const plx__incomplete_mixture
        *overall;     /* one component: what components without weight in a block keep; NULL: that of all rows */
    const char *what; /* starts messages */
    /* After every E-step; may stop the run by failing. NULL: nobody listens. */
    plx_status (*told)(void *arg, plx_index iteration, double mean_log_likelihood);
    void *arg;
} plx__incomplete_options;

typedef struct plx__incomplete_result {
    double log_likelihood; /* mean over usable rows at the final parameters */
    double jitter;         /* largest relative one a factorisation needed */
    plx_index iterations;
    bool converged;
} plx__incomplete_result;

/* What a mixture says about rows given what they have. */
typedef struct plx__moments {
    plx_index n, k, d;
    const plx__patterns *patterns;
    plx_mat prob; /* n x k: r */
    plx_mat mean; /* n k x d: row i k + z is xhat_iz */
    plx__cov_shape shape;
    plx_mat
        *cov; /* patterns x k: Cov on the missing columns in the order of `column`; diag: 1 x missing. NULL: not kept */
} plx__moments;

/* Patterns, means and spreads of rows: fills everything but x, seen and blocks. Memory from `arena`. */
plx_status plx__incomplete_describe(plx__incomplete_data *data, plx_context *ctx, plx__arena *arena);

/* One column left out by every row is allowed (its block's fallback is mean 0 and spread I). k <= usable rows. */
plx_status plx__incomplete_fit(plx__incomplete_mixture *out, plx__incomplete_result *result, plx_context *ctx,
                               plx__arena *arena, const plx__incomplete_data *data,
                               const plx__incomplete_options *options);

/* Free parameters for the Bayesian information criterion. */
double plx__incomplete_parameters(plx_index k, plx__cov_shape shape, plx_index n_blocks, const plx_index *block);

/* E-step at given parameters. `covariances` keeps Cov of every pattern and component: patterns k m^2 doubles. */
plx_status plx__incomplete_moments(plx__moments *out, plx_context *ctx, plx__arena *arena,
                                   const plx__incomplete_mixture *mix, const plx__incomplete_data *data,
                                   bool covariances, const char *what);

/* sum_z r_iz xhat_iz of every row: n x d. */
void plx__moments_mean(plx_mat out, const plx__moments *moments);

/* Farthest-first centres among the usable rows with missing entries at the column means, as 0/1 responsibilities. */
plx_status plx__incomplete_farthest_first(plx_mat out, plx_context *ctx, const plx__incomplete_data *data);

#endif
