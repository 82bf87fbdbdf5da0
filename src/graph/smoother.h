/*
 * Regularisation by a positive semidefinite L that is a weighted sum of sparse parts, each given as L_v itself or as a
 * factor B_v with L_v = B_v' B_v. L is formed only for small problems; large ones work with products.
 *
 *     classification   F = (L + C)^-1 C Y,  C diagonal                 (sparse Cholesky, or conjugate gradients)
 *     clustering       eigenvectors of the smallest eigenvalues of L   (LAPACK, or Lanczos)
 *
 * Several processes (core/ranks.h) hold the same parts; each forms its rows of L and their engines do the rest
 * (linalg/rank_solvers.h).
 */
#ifndef PLX_GRAPH_SMOOTHER_H
#define PLX_GRAPH_SMOOTHER_H

#include "linalg/csr.h"
#include "linalg/dense.h"

typedef struct plx__smoother_part {
    double weight;
    bool factored;
    plx_csr l;           /* not factored */
    plx_csr b, b_turned; /* factored: B and B' */
} plx__smoother_part;

typedef struct plx__smoother {
    plx_index n, n_parts;
    plx__smoother_part *part;
    const double *row_scale; /* S_ii: L becomes S L S; NULL: 1 */
} plx__smoother;

plx_status plx__smoother_create(plx__smoother *out, plx_context *ctx, plx_index n, plx_index n_parts);

/* Part v from L, or from A as B = I - A; rows of A that are empty give empty rows of B when `skip_empty`. */
void plx__smoother_set(plx__smoother *s, plx_index v, plx_csr l);
plx_status plx__smoother_set_local(plx__smoother *s, plx_context *ctx, plx_index v, plx_ccsr a, bool skip_empty);

/* Small problems: B'B of all factored parts once, for many solutions with other weights. */
plx_status plx__smoother_form_parts(plx_context *ctx, plx__smoother *s);

/* y = L x, for one column and for many; arg is a plx__smoother. */
plx_status plx__smoother_apply_block(void *arg, plx_context *ctx, plx_cmat x, plx_mat y);
plx_status plx__smoother_apply(void *arg, plx_context *ctx, double *y, const double *x);

/* L in CSR form, and its rows begin .. end-1. */
plx_status plx__smoother_rows(plx_csr *out, plx_context *ctx, const plx__smoother *s, plx_index begin, plx_index end);
plx_status plx__smoother_matrix(plx_csr *out, plx_context *ctx, const plx__smoother *s);

/* Samples that no label reaches: no connected part of L that holds one has any c > 0. Flags in scratch, and how many. */
plx_status plx__smoother_unreached(uint8_t **out, plx_index *count, plx_context *ctx, const plx__smoother *s,
                                   const double *c);

typedef struct plx__smooth_result {
    plx_index iterations; /* 0: factorised */
    bool converged;
} plx__smooth_result;

/* (L + C) F = C Y. PLX_E_NUMERIC "METHOD: no label reaches some samples; set c_u > 0" when the system is singular:
 * a connected part without any c > 0, or a pivot <= 1e-12 of the largest diagonal entry. */
plx_status plx__smoother_solve(plx_context *ctx, plx__smoother *s, const double *c, plx_cmat y, plx_mat f,
                               const char *method, plx__smooth_result *result);

/* Which way the above goes, for the log. */
const char *plx__smoother_route(const plx_context *ctx, const plx__smoother *s);

/* k smallest eigenvalues, ascending, and their vectors (n x k). *converged is set to false when the time limit came
 * first. */
plx_status plx__smoother_smallest(plx_context *ctx, plx__smoother *s, plx_index k, double *values, plx_mat vectors,
                                  bool *converged, const char *what);

/* Bytes of solving (L + C) F = C Y, or of k = `columns` eigenvectors, beyond the parts and the results; `entries` bounds
 * those of L, whose factor is taken for dense. */
double plx__smoother_bytes(const plx_context *ctx, plx_index n, double entries, bool eigenvectors, plx_index columns);

/* tr(F'LF) + tr((F-Y)'C(F-Y)). */
plx_status plx__smoother_objective(double *out, plx_context *ctx, plx__smoother *s, const double *c, plx_cmat y,
                                   plx_cmat f);

#endif
