/*
 * Which kernels the BLAS library runs, and whether the processor could run better ones. OpenBLAS chooses by a list of
 * processors it knows; one that is newer than the library gets kernels of two decades ago, at a fifth of the speed.
 */
#ifndef PLX_LINALG_BLAS_CORE_H
#define PLX_LINALG_BLAS_CORE_H

#include "core/ctx.h"

/* What a processor can do, or what kernels make use of, in the order of speed within x86-64 and within arm64. */
typedef enum plx__simd_level {
    PLX__SIMD_UNKNOWN,
    PLX__SIMD_SSE,
    PLX__SIMD_AVX,
    PLX__SIMD_AVX2,
    PLX__SIMD_AVX512,
    PLX__SIMD_ARMV8,   /* kernels that any arm64 processor runs */
    PLX__SIMD_NEOVERSE /* those for servers since Neoverse N1, which have ARMv8.2 with dot products */
} plx__simd_level;

plx__simd_level plx__processor_level(void);

/* What OpenBLAS's kernels of this name use; unknown names are unknown. */
plx__simd_level plx__core_level(const char *core);

/* The value of OPENBLAS_CORETYPE that serves a processor better than these kernels; NULL: none does. */
const char *plx__better_core(const char *core, plx__simd_level processor);

/* GFLOP/s of products of n x n matrices on one core over about `seconds`. */
plx_status plx__blas_rate(double *out, plx_context *ctx, plx_index n, double seconds);

#endif
