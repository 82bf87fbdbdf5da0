/*
 * Low-rank approximations: pivoted Cholesky of a kernel (partial Gram-Schmidt) and randomised SVD.
 */
#ifndef PLX_LINALG_LOWRANK_H
#define PLX_LINALG_LOWRANK_H

#include "core/slabs.h"
#include "linalg/eigen_sparse.h"

/* out[i - begin] = K(i, j) for rows begin .. end-1. */
typedef plx_status (*plx__column_fn)(void *arg, plx_context *ctx, plx_index j, plx_index begin, plx_index end,
                                     double *out);

/* Row j of what columns are made of, from process `owner` to all; called by all of them. */
typedef plx_status (*plx__pivot_row_fn)(void *arg, plx_context *ctx, plx_index j, int owner);

typedef enum plx__pivot_stop {
    PLX__STOP_MAX = 0, /* largest residual <= threshold * largest initial diagonal */
    PLX__STOP_SUM = 1  /* sum of residuals <= threshold * sum of the initial diagonal */
} plx__pivot_stop;

typedef struct plx__pivot_options {
    double threshold; /* >= 0 */
    plx__pivot_stop stop;
    plx_index max_rank; /* 0: no limit */
    /* Rows that processes divide, and the panes in which columns are asked for; NULL: every process has all of them,
     * and columns are whole. */
    const plx__slab_rows *rows;
    plx__pivot_row_fn hand_round; /* before the columns of a pivot, where a process has its own rows only; or NULL */
} plx__pivot_options;

typedef struct plx__pivoted {
    plx_mat z;        /* n x r, K ~ Z Z'; row-major; where rows are divided only those of this process are there */
    plx_index *pivot; /* r sample indices in pivot order; Z[pivot,:] is lower triangular */
    plx_mat corner;   /* r x r: Z[pivot,:]; not of plx__pivoted_cholesky_full, where all rows are there */
    plx_index rank;
    double residual; /* sum of the residual diagonal left */
} plx__pivoted;

/* Largest residual first, ties to the smallest index; residuals that differ by rounding alone tie (see
 * plx__largest_residual). The result lies in `arena`. n r^2 flops, r columns asked of the callback. Also stops when the
 * largest residual is <= 0 or every row is a pivot. PLX_E_NUMERIC where the diagonal or its sum is not finite.
 *
 * Processes that divide the rows agree on every pivot and hand its row of Z round; of the diagonal each needs its
 * own rows. What is made of a row depends on it and on the pivots' rows alone, so the result has the same bytes for
 * any number of processes. */
plx_status plx__pivoted_cholesky(plx__pivoted *out, plx__arena *arena, plx_context *ctx, const double *diagonal,
                                 plx_index n, plx__column_fn column, void *arg, const plx__pivot_options *options);

/* The first of the residuals that tie with the largest: equal diagonals stay equal in exact arithmetic, but their
 * residuals carry the rounding of the values they were taken off. `first` is the largest initial diagonal entry. */
plx_index plx__largest_residual(const double *residual, plx_index n, double first);

/* Sum and largest entry of a diagonal (step apart in memory), refused where they are not finite. */
plx_status plx__check_diagonal(plx_context *ctx, const double *diagonal, plx_index n, plx_index step, double *sum,
                               double *top);

/* The same of a matrix at hand (symmetric, both triangles; overwritten): blocks of columns at a time, so that most of
 * the work is matrix products. Pivots and columns are those above up to rounding. n^2 r flops. */
plx_status plx__pivoted_cholesky_full(plx__pivoted *out, plx__arena *arena, plx_context *ctx, plx_mat k,
                                      const plx__pivot_options *options);

/* Products with a matrix: y = A x, or x = A' y. */
typedef plx_status (*plx__product_fn)(void *arg, plx_context *ctx, plx_cmat from, plx_mat to);

/* What a randomised SVD works on: dense or CSR (csr.ptr NULL: dense), rows minus `mean` (NULL: 0); or, with `times`,
 * a matrix of which only products are known (`dense` then tells its rows and columns). */
typedef struct plx__rsvd_input {
    plx_cmat dense;
    plx_ccsr csr;
    plx__product_fn times, times_t;
    void *arg;
    const double *mean; /* cols long, or NULL: subtracted from every row, never formed */
} plx__rsvd_input;

typedef struct plx__rsvd_options {
    plx_index oversample; /* 0: 10 */
    plx_index power;      /* power iterations; -1: 2 */
    uint64_t stream;      /* Gaussian test matrix; 0: default stream */
} plx__rsvd_options;

/* k largest triplets (k <= min(rows, cols)), descending: u rows x k, s k, vt k x cols; sign by U's columns.
 * options NULL: defaults. Halko, Martinsson, Tropp 2011, with a QR between all products. */
plx_status plx__rsvd(plx_context *ctx, plx__rsvd_input a, plx_index k, const plx__rsvd_options *options, plx_mat u,
                     double *s, plx_mat vt);

#endif
