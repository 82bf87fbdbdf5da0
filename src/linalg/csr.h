/*
 * Sparse matrices in CSR form: making, checking, reshaping, products.
 *
 * Inside the library a CSR has sorted, unique columns in every row, ptr[0] = 0 and fewer than 2^31
 * columns; plx__csr_check establishes that at the boundary, the makers below guarantee it. Stored zeros
 * are allowed. All results are the same bytes for every thread count.
 */
#ifndef PLX_LINALG_CSR_H
#define PLX_LINALG_CSR_H

#include "core/ctx.h"

static inline plx_index plx__nnz(plx_ccsr a) { return a.ptr[a.rows]; }

/* The rows begin..end-1 as a matrix of their own; ptr of the result does not start at 0, which all
 * *products and row functions* below, plx__csr_transpose, plx__csr_add and plx__csr_matmul (its left factor)
 * accept; plx__nnz, the other makers and plx__csr_check do not. */
static inline plx_ccsr plx__csr_rows(plx_ccsr a, plx_index begin, plx_index end)
{
    plx_ccsr r = {end - begin, a.cols, a.ptr + begin, a.col, a.val};
    return r;
}

/* ---- checking and making (csr.c) ---- */

/* PLX_E_DATA naming row and place: offsets not monotone, column out of range, unsorted, duplicate,
 * non-finite value. `what` starts the sentence, e.g. "view 'text'". */
plx_status plx__csr_check(plx_context *ctx, plx_ccsr a, const char *what);

/* The same without a look at the values; `entries` is how many there are room for, -1: not known. */
plx_status plx__csr_check_shape(plx_context *ctx, plx_ccsr a, plx_index entries, const char *what);

/* From triplets in any order; equal positions are summed in the order given. Indices are checked
 * (PLX_E_DATA). */
plx_status plx__csr_from_triplets(plx_csr *out, plx__arena *arena, plx_index rows, plx_index cols, plx_index count,
                                  const int32_t *row, const int32_t *col, const double *val);

/* Sort the columns of every row of `a` in place and sum duplicates (stable): ptr is set anew. */
plx_status plx__csr_sort_rows(plx_context *ctx, plx_csr *a);

plx_status plx__csr_clone(plx_csr *out, plx__arena *arena, plx_ccsr a);
plx_status plx__csr_transpose(plx_csr *out, plx__arena *arena, plx_ccsr a);
plx_status plx__csr_select_rows(plx_csr *out, plx__arena *arena, plx_ccsr a, const plx_index *rows, plx_index count);
/* Column j becomes column target[j] of `cols`; -1: it is left out. Targets are distinct. */
plx_status plx__csr_move_cols(plx_csr *out, plx__arena *arena, plx_ccsr a, const int32_t *target, plx_index cols);
/* Columns in the order given (each at most once). */
plx_status plx__csr_select_cols(plx_csr *out, plx__arena *arena, plx_ccsr a, const plx_index *cols, plx_index count);
plx_status plx__csr_from_dense(plx_csr *out, plx__arena *arena, plx_cmat a); /* drops exact zeros */
void plx__csr_to_dense(plx_mat out, plx_ccsr a);                             /* overwrites out */
plx_status plx__csr_add(plx_csr *out, plx__arena *arena, double alpha, plx_ccsr a, double beta, plx_ccsr b);
plx_status plx__csr_matmul(plx_csr *out, plx__arena *arena, plx_ccsr a, plx_ccsr b);
/* Side by side: all with the same number of rows. */
plx_status plx__csr_hstack(plx_csr *out, plx__arena *arena, const plx_ccsr *parts, plx_index count);

/* ---- rows and columns (csr_stats.c) ---- */

double plx__csr_get(plx_ccsr a, plx_index i, plx_index j); /* binary search */
void plx__csr_scale_rows(plx_csr a, const double *factor);
void plx__csr_scale_cols(plx_csr a, const double *factor);
void plx__csr_row_norms_sq(plx_ccsr a, double *out);
void plx__csr_row_sums(plx_ccsr a, double *out);
void plx__csr_col_sums(plx_ccsr a, double *out);
void plx__csr_col_means(plx_ccsr a, double *out);
void plx__csr_col_counts(plx_ccsr a, int64_t *out);                            /* entries that are != 0 */
double plx__csr_row_dot(plx_ccsr a, plx_index i, plx_ccsr b, plx_index j);     /* sparse . sparse */
double plx__csr_row_dist_sq(plx_ccsr a, plx_index i, plx_ccsr b, plx_index j); /* directly */

/* ---- products (spmm.c, spmm_t.c) ---- */

plx_status plx__spmv(plx_context *ctx, double alpha, plx_ccsr a, const double *x, double beta, double *y);
plx_status plx__spmv_t(plx_context *ctx, double alpha, plx_ccsr a, const double *x, double beta, double *y); /* A'x */

/* C = alpha A B + beta C; B is cols(A) x m, C rows(A) x m. */
plx_status plx__spmm(plx_context *ctx, double alpha, plx_ccsr a, plx_cmat b, double beta, plx_mat c);

/* C = alpha A' B + beta C; B is rows(A) x m, C cols(A) x m. Scatters into at most 8 partial results, whose
 * number depends on the shapes; more than one only as long as they fit into 256 MiB. For many products with one A it is faster to keep
 * plx__csr_transpose of it and use plx__spmm. */
plx_status plx__spmm_t(plx_context *ctx, double alpha, plx_ccsr a, plx_cmat b, double beta, plx_mat c);

/* G = A B' for sparse A, B with equal column counts; G is rows(A) x rows(B). For block rows pass
 * plx__csr_rows(a, i0, i1). */
plx_status plx__csr_gram(plx_context *ctx, plx_ccsr a, plx_ccsr b, plx_mat g);

#endif
