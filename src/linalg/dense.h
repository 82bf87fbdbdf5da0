/*
 * Dense matrices: products, vector kernels, and views of submatrices.
 *
 * All matrices are row-major with a leading dimension. Sizes must agree (asserted in checked builds).
 * Every result has the same bytes for every thread count: work is cut into tiles that depend on the
 * shapes only. Outputs must not overlap inputs unless stated. Functions with a context are for the
 * calling thread; inside a plx__parallel_for body use the vector kernels and plx__gemm_serial.
 */
#ifndef PLX_LINALG_DENSE_H
#define PLX_LINALG_DENSE_H

#include "core/ctx.h"

/* ---- views ---- */

static inline plx_mat plx__mat_of(double *data, plx_index rows, plx_index cols)
{
    plx_mat m = {data, rows, cols, cols};
    return m;
}

static inline plx_cmat plx__cmat_of(const double *data, plx_index rows, plx_index cols)
{
    plx_cmat m = {data, rows, cols, cols};
    return m;
}

/* rows x cols submatrix that starts at (row, col). */
static inline plx_mat plx__sub(plx_mat m, plx_index row, plx_index col, plx_index rows, plx_index cols)
{
    plx_mat s = {m.data + row * m.ld + col, rows, cols, m.ld};
    return s;
}

static inline plx_cmat plx__csub(plx_cmat m, plx_index row, plx_index col, plx_index rows, plx_index cols)
{
    plx_cmat s = {m.data + row * m.ld + col, rows, cols, m.ld};
    return s;
}

/* ---- vectors: serial, fixed order of summation ---- */

double plx__dot(const double *x, const double *y, plx_index n);
double plx__norm(const double *x, plx_index n); /* Euclidean, safe from overflow */
double plx__norm_sq(const double *x, plx_index n);
double plx__dist_sq(const double *x, const double *y, plx_index n); /* sum of (x_i - y_i)^2, directly */
void plx__axpy(double *y, double a, const double *x, plx_index n);  /* y += a x */
/* Four rows, ld apart: their products with x; y += a_r row_r, r = 0 first. The bytes of dot and axpy. */
void plx__dot4(double out[4], const double *rows, plx_index ld, const double *x, plx_index n);
void plx__axpy4(double *y, const double a[4], const double *rows, plx_index ld, plx_index n);
void plx__scale(double *x, double a, plx_index n);
/* out = factor exp(scale x); in place if you like. Exact 0 where scale x is below -708; never above 709. */
void plx__exp_scaled(const double *x, plx_index n, double scale, double factor, double *out);
double plx__max_abs(const double *x, plx_index n); /* 0 for n = 0; NaN if any */
bool plx__all_finite(plx_cmat m);

/* ---- matrices ---- */

void plx__mat_fill(plx_mat m, double value);
void plx__mat_copy(plx_mat to, plx_cmat from);
void plx__mat_transpose(plx_mat to, plx_cmat from); /* to = from'; must not overlap */
void plx__mat_transpose_square(plx_mat m);          /* in place */
void plx__mat_scale(plx_mat m, double a);
void plx__unit_rows(plx_mat m); /* rows to Euclidean length 1, however small they are; zero rows stay */
void plx__mat_add_diag(plx_mat m, double value);
double plx__mat_trace(plx_cmat m);
void plx__mirror_lower(plx_mat m); /* upper := lower' */
plx_status plx__mat_clone(plx_mat *out, plx__arena *arena, plx_cmat from);

/* Column j becomes column target[j] of `cols`; -1: it is left out. Columns that get nothing are zero. */
plx_status plx__mat_move_cols(plx_mat *out, plx__arena *arena, plx_cmat from, const int32_t *target, plx_index cols);

/* Column means and sums over rows (length cols), pairwise over fixed row blocks. */
plx_status plx__col_means(plx_context *ctx, double *out, plx_cmat m);
plx_index plx__col_sums_grain(plx_index rows); /* rows that are added up by themselves there */
plx_status plx__col_sums(plx_context *ctx, double *out, plx_cmat m);
void plx__sub_row(plx_mat m, const double *row); /* m(i,:) -= row */

/* Kt = K - row means - column means + grand mean, in place (K square, symmetric). means: n doubles
 * that receive the column means of K, grand: the grand mean; either may be NULL. */
plx_status plx__double_centre(plx_context *ctx, plx_mat k, double *means, double *grand);

/* ---- products ---- */

typedef enum plx__trans { PLX__N = 0, PLX__T = 1 } plx__trans;

/* C = alpha op(A) op(B) + beta C. beta = 0 overwrites C (NaN in it is ignored). */
plx_status plx__gemm(plx_context *ctx, double alpha, plx_cmat a, plx__trans ta, plx_cmat b, plx__trans tb, double beta,
                     plx_mat c);

/* Same on this thread alone, without scratch memory: for bodies of parallel loops. Not the same bytes as
 * plx__gemm for every shape. */
plx_status plx__gemm_serial(plx_context *ctx, double alpha, plx_cmat a, plx__trans ta, plx_cmat b, plx__trans tb,
                            double beta, plx_mat c);

/* C = alpha A A' + beta C (PLX__N) or alpha A' A + beta C (PLX__T); both triangles written, exactly
 * symmetric (with beta != 0 the lower triangle of C is the one read). */
plx_status plx__syrk(plx_context *ctx, double alpha, plx_cmat a, plx__trans ta, double beta, plx_mat c);

/* Its lower triangle alone: above the diagonal C is left as it is, or holds anything. */
plx_status plx__syrk_lower(plx_context *ctx, double alpha, plx_cmat a, plx__trans ta, double beta, plx_mat c);

/* y = A x of a symmetric A (lower triangle read): half of what plx__gemv takes from memory. y is not x. */
plx_status plx__symv(plx_context *ctx, plx_cmat a, const double *x, double *y);
double plx__symv_bytes(plx_index n); /* what it takes meanwhile */

/* y = alpha op(A) x + beta y. */
plx_status plx__gemv(plx_context *ctx, double alpha, plx_cmat a, plx__trans ta, const double *x, double beta,
                     double *y);

#endif
