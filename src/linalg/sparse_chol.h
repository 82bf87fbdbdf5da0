/*
 * Sparse symmetric positive definite systems (CHOLMOD). The factor lives outside the arenas: destroy it
 * on every path. CHOLMOD's memory is taken from malloc and is not counted against the memory limit.
 */
#ifndef PLX_LINALG_SPARSE_CHOL_H
#define PLX_LINALG_SPARSE_CHOL_H

#include "core/ctx.h"

typedef struct plx__sparse_chol plx__sparse_chol;

/* Factor `a`, of which the lower triangle is read (entries above the diagonal are ignored, so a full
 * symmetric matrix is fine too). PLX_E_NUMERIC "WHAT is not positive definite (column J)". */
plx_status plx__sparse_chol_create(plx__sparse_chol **out, plx_context *ctx, plx_ccsr a, const char *what);

/* New values, same pattern: reuses the analysis. */
plx_status plx__sparse_chol_refactor(plx__sparse_chol *f, plx_context *ctx, plx_ccsr a, const char *what);

/* B = A^-1 B in place; B is n x m row-major. */
plx_status plx__sparse_chol_solve(const plx__sparse_chol *f, plx_context *ctx, plx_mat b);

/* log det A. */
double plx__sparse_chol_logdet(const plx__sparse_chol *f);

/* Smallest pivot met: the square of the smallest diagonal entry of the factor. */
double plx__sparse_chol_smallest_pivot(const plx__sparse_chol *f);

void plx__sparse_chol_destroy(plx__sparse_chol *f); /* NULL is allowed */

#endif
