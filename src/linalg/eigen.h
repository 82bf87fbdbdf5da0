/*
 * Dense eigen and singular value problems. Signs are fixed: the entry of largest absolute value is
 * positive (the first of those equal to 1e-9 relative).
 */
#ifndef PLX_LINALG_EIGEN_H
#define PLX_LINALG_EIGEN_H

#include "linalg/dense.h"

/* -1 when the leading entry of x[0], x[stride], ... (n of them) is negative, else 1. */
int plx__leading_sign(const double *x, plx_index n, plx_index stride);

/* Sign rule for column j of v; the same sign is applied to column j of `partner` (data NULL: none). */
void plx__fix_sign(plx_mat v, plx_index j, plx_mat partner);

/* All eigenvalues, ascending, of symmetric `a` (lower triangle read; overwritten). Column j of
 * `vectors` (n x n, data NULL: values only) belongs to values[j]. */
plx_status plx__sym_eigen(plx_context *ctx, plx_mat a, double *values, plx_mat vectors);

/* Eigenpairs number first..first+count-1 in ascending order (0-based); `vectors` is n x count. */
plx_status plx__sym_eigen_range(plx_context *ctx, plx_mat a, plx_index first, plx_index count, double *values,
                                plx_mat vectors);

/* Thin SVD a = U diag(s) Vt with r = min(rows, cols): u is rows x r, s has r entries (descending), vt is
 * r x cols. u and vt may have data NULL together (values only). `a` is overwritten. Sign by U's columns. */
plx_status plx__svd(plx_context *ctx, plx_mat a, plx_mat u, double *s, plx_mat vt);

/* Thin QR, rows >= cols: a (in place) becomes Q with orthonormal columns; r (cols x cols, data NULL: not
 * wanted) upper triangular with a non-negative diagonal. */
plx_status plx__qr(plx_context *ctx, plx_mat a, plx_mat r);

#endif
