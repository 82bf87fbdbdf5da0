/**
 * @file parallax/processor.h
 * @brief Which kernels the linear algebra runs on this processor, and whether better ones are to be had.
 *
 * OpenBLAS picks its kernels by a list of the processors it knows; one that is newer than the library gets the oldest
 * kernels and a fifth of the speed. The command looks at this when it starts and sets `OPENBLAS_CORETYPE` by itself. A
 * program of your own can ask plx_blas_better_core() first thing and set the variable before it starts itself again: the
 * choice is made when the library is loaded.
 */
#ifndef PARALLAX_PROCESSOR_H
#define PARALLAX_PROCESSOR_H

#include "parallax/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @name Kernels in use
 *
 * Errors: none; "" where the library does not tell.
 * Ownership: borrowed, for the life of the process.
 * Threads: any.
 * Cost: O(1).
 */

/**
 * The BLAS library and how it was built, in its own words.
 * @since 0.1
 */
PLX_API const char *plx_blas_name(void);

/**
 * The processor its kernels are made for, e.g. "Haswell".
 * @since 0.1
 */
PLX_API const char *plx_blas_core(void);

/**
 * The value of `OPENBLAS_CORETYPE` with which this processor would be served better; NULL when the kernels in use are as
 * good, or when that cannot be told (processors other than x86-64, libraries other than OpenBLAS).
 * @since 0.1
 */
PLX_API const char *plx_blas_better_core(void);

/**
 * Measure how fast dense matrices are multiplied on one core.
 *
 * @param[out] gflops   10^9 floating-point operations per second
 * @param ctx           the context; its memory limit counts
 * @retval PLX_E_ARG        an argument is NULL
 * @retval PLX_E_NOMEM      no room for three matrices of 2 MiB
 * @retval PLX_E_CANCELLED  the context was cancelled
 *
 * Ownership: nothing is handed over.
 * Threads: the thread that uses the context.
 * Cost: a quarter of a second.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_blas_measure(double *gflops, plx_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
