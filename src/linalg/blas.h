/*
 * The door to BLAS and LAPACK: who may use how many threads, and the narrowing of sizes.
 *
 * Results must not depend on the number of threads, so BLAS runs on one thread inside our calls and
 * parallelism comes from fixed tiles handed to plx__parallel_for. A scope saves the thread settings
 * of the surrounding program (BLAS's and OpenMP's) and puts them back. Scopes nest and may be open in
 * several threads at once: the first in sets, the last out restores.
 */
#ifndef PLX_LINALG_BLAS_H
#define PLX_LINALG_BLAS_H

#include "core/ctx.h"

typedef struct plx__blas_scope {
    int omp_threads; /* the calling thread's OpenMP setting, which OpenBLAS overwrites */
    bool pinned;
} plx__blas_scope;

/* One BLAS thread until the matching leave. */
plx__blas_scope plx__blas_enter(void);

/* For eigen and singular value problems: one thread, unless the context waives determinism; then BLAS's own
 * setting is left alone. */
plx__blas_scope plx__blas_enter_factor(const plx_context *ctx);

void plx__blas_leave(plx__blas_scope scope);

/* PLX_E_NOMEM when a dimension or leading dimension cannot be given to BLAS (32-bit integers). */
plx_status plx__blas_fits(plx_context *ctx, plx_index rows, plx_index cols, plx_index ld);

/* The only narrowing of an index to a BLAS integer; the caller has checked with plx__blas_fits. */
static inline int plx__blas_int(plx_index value)
{
    PLX_ASSERT(value >= 0 && value <= INT32_MAX);
    return (int)value;
}

/* Message for a LAPACK info < 0 or a LAPACKE work-memory failure; `routine` is e.g. "dsyevd". */
plx_status plx__lapack_fault(plx_context *ctx, const char *routine, int info);

#endif
