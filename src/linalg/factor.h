/*
 * Factorisations of dense matrices: Cholesky with its solves, the jitter policy, LU, Bunch-Kaufman.
 *
 * A Cholesky factor L is lower triangular, row-major, with a zeroed strict upper triangle.
 */
#ifndef PLX_LINALG_FACTOR_H
#define PLX_LINALG_FACTOR_H

#include "linalg/dense.h"

typedef struct plx__bad_pivot {
    plx_index index; /* row of the first pivot that is not positive; -1: none */
    double value;    /* that pivot (<= 0 or NaN) */
} plx__bad_pivot;

/* a = L L' in place; only the lower triangle of `a` is read. On a non-positive pivot: *bad tells which,
 * the return is PLX_E_NUMERIC, *no message is recorded*, and `a` is spoilt below the diagonal while its
 * strict upper triangle is untouched. `bad` may be NULL. Tiled; n^3/3 flops. */
plx_status plx__cholesky(plx_context *ctx, plx_mat a, plx__bad_pivot *bad);

/* The same on this thread alone: for bodies of parallel loops. */
plx_status plx__cholesky_serial(plx_context *ctx, plx_mat a, plx__bad_pivot *bad);

/* Same with the jitter policy: try as it is, then add eps * trace/n to the diagonal for eps = 1e-12,
 * 1e-11, ..., 1e-6. `a` must hold both triangles. *relative = the eps used (0: none). When all fail:
 * PLX_E_NUMERIC with "WHAT is not positive definite (smallest pivot P at sample I); REMEDY". `what` is
 * e.g. "gp: matrix for view 'text'"; `samples` maps pivots to sample numbers (NULL: identity); `remedy`
 * NULL: "increase view_variance/noise or check the kernel". `relative` may be NULL. */
plx_status plx__cholesky_jitter(plx_context *ctx, plx_mat a, double *relative, const char *what,
                                const plx_index *samples, const char *remedy);

/* The policy's steps, and its message when all fail, for factorisations elsewhere; a pivot whose value is not known is NaN. */
enum { PLX__JITTER_STEPS = 8 };
extern const double plx__jitter_steps[PLX__JITTER_STEPS];
plx_status plx__not_definite(plx_context *ctx, plx__bad_pivot bad, const char *what, const plx_index *samples,
                             const char *remedy);

/* B = op(L)^-1 B in place (many right-hand sides are the columns of B). */
plx_status plx__tri_solve(plx_context *ctx, plx_cmat l, plx__trans tl, plx_mat b);

/* B = B op(L)^-1 in place (right-hand sides are the rows of B). */
plx_status plx__tri_solve_right(plx_context *ctx, plx_cmat l, plx__trans tl, plx_mat b);

/* Both on this thread alone: for bodies of parallel loops. */
plx_status plx__tri_solve_serial(plx_context *ctx, plx_cmat l, plx__trans tl, plx_mat b);
plx_status plx__tri_solve_right_serial(plx_context *ctx, plx_cmat l, plx__trans tl, plx_mat b);

/* One right-hand side, in place. */
plx_status plx__tri_solve_vec(plx_context *ctx, plx_cmat l, plx__trans tl, double *x);

/* B = (L L')^-1 B in place. */
plx_status plx__chol_solve(plx_context *ctx, plx_cmat l, plx_mat b);
plx_status plx__chol_solve_vec(plx_context *ctx, plx_cmat l, double *x);

/* out = (L L')^-1, both triangles, exactly symmetric. out must not overlap l. */
plx_status plx__chol_inverse(plx_context *ctx, plx_mat out, plx_cmat l);

/* out = L^-1 (lower triangular, zero above), n^3/3 flops. out must not overlap l. */
plx_status plx__tri_inverse(plx_context *ctx, plx_mat out, plx_cmat l);

/* Lower triangle of to(place_i, place_j) += (L L')^-1_ij, `place` ascending; `work` (n x n) is left with L^-1. */
plx_status plx__chol_inverse_add(plx_context *ctx, plx_mat to, const plx_index *place, plx_cmat l, plx_mat work);

/* log det(L L') = 2 sum log L_ii. */
double plx__chol_logdet(plx_cmat l);

/* B = A^-1 B by LU with partial pivoting; `a` is overwritten. PLX_E_NUMERIC "WHAT is singular (pivot I)". */
plx_status plx__lu_solve(plx_context *ctx, plx_mat a, plx_mat b, const char *what);

/* Whether rounding of the factorised matrix may reach its smallest eigenvalues, as far as the diagonal of the factor and the
 * jitter it took tell. */
bool plx__chol_doubtful(plx_cmat l, double jitter);

/* B = A^-1 B for symmetric, possibly indefinite A (lower triangle read, overwritten). Errors as above. */
plx_status plx__sym_solve(plx_context *ctx, plx_mat a, plx_mat b, const char *what);

#endif
