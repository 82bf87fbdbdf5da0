/*
 * Sparse symmetric positive definite systems: A = L L' with supernodes. The factor lives in the arena it was made in;
 * nothing is left to be freed.
 */
#ifndef PLX_LINALG_SPARSE_CHOL_H
#define PLX_LINALG_SPARSE_CHOL_H

#include "core/ctx.h"

typedef struct plx__sparse_chol plx__sparse_chol;

/* Factor `a`, of which the lower triangle is read (entries above the diagonal are ignored, so a full symmetric matrix
 * is fine too). PLX_E_NUMERIC "WHAT is not positive definite (column J)". PLX_E_NOMEM before any work on numbers when
 * the factor would not fit into the memory limit. */
plx_status plx__sparse_chol_create(plx__sparse_chol **out, plx__arena *arena, plx_ccsr a, const char *what);

/* Most bytes that the above may take, and how many of them stay, for any pattern of n rows with `entries` entries in
 * its lower triangle. The factor is at worst dense. */
double plx__sparse_chol_bytes(plx_index n, plx_index entries, int threads);

/* B = A^-1 B in place; B is n x m row-major. */
plx_status plx__sparse_chol_solve(const plx__sparse_chol *f, plx_context *ctx, plx_mat b);

/* Smallest pivot met: the square of the smallest diagonal entry of the factor. */
double plx__sparse_chol_smallest_pivot(const plx__sparse_chol *f);

#endif
