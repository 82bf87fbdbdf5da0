/*
 * Between the files of the kernel systems.
 */
#ifndef PLX_KERNEL_KERNEL_SYSTEM_IMPL_H
#define PLX_KERNEL_KERNEL_SYSTEM_IMPL_H

#include "kernel/kernel_system.h"

/* Does it have features, of a linear kernel or in the kernel's place? */
static inline bool plx__block_linear(const plx__system_block *b) { return b->x->linear || b->features.data; }

/* Features up to which the primal matrix is formed, and the samples of which that is done at once. */
enum { FEW_FEATURES = 2000, FORMED_AT_ONCE = 4096 };

/* *doubtful: the matrix was too ill-conditioned to be formed; what was found is a start at best. */
plx_status plx__system_solve_formed(plx__kernel_system *s, plx_context *ctx, plx_cmat r, plx_mat w, plx_mat f,
                                    bool *doubtful);
plx_index plx__system_stack_features(plx__kernel_system *s);
plx_status plx__system_solve_primal(plx__kernel_system *s, plx_context *ctx, plx_cmat r, plx_mat alpha, plx_mat f,
                                    bool *doubtful, plx__iter_result *result);
/* alpha holds a start, taken where it leaves less of R than 0 does. */
plx_status plx__system_solve_cg(plx__kernel_system *s, plx_context *ctx, plx_cmat r, plx_mat alpha, plx_mat f,
                                plx__iter_result *result);
plx_status plx__system_times(const plx__kernel_system *s, plx_context *ctx, plx_cmat y, plx_mat out); /* K y */
plx_cmat plx__block_part(plx_cmat m, const plx__system_block *b);
plx_mat plx__block_part_of(plx_mat m, const plx__system_block *b);
void plx__block_project(plx_mat m, const double *p, double norm, double *work);
plx_status plx__block_features(const plx__system_block *b, plx_context *ctx, plx_cmat y, plx_mat w);
plx_status plx__system_coefficients(const plx__kernel_system *s, plx_context *ctx, plx_cmat r, plx_cmat f,
                                    plx_mat alpha);

#endif
