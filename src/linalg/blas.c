/*
 * Thread settings of BLAS as a counted scope, and messages for what LAPACK cannot do.
 */
#include "linalg/blas.h"

#include <lapacke.h>
#include <pthread.h>

#ifdef _OPENMP
#include <omp.h>
#else
static int omp_get_max_threads(void) { return 1; }
static void omp_set_num_threads(int n) { (void)n; }
#endif

#include "linalg/blas_library.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int open_scopes;   /* pinned scopes now open, all threads */
static int saved_threads; /* BLAS threads before the first of them */

static void set_blas_threads(int n)
{
    if (plx__blas_threads() != n) plx__blas_set_threads(n);
}

plx__blas_scope plx__blas_enter(void)
{
    plx__blas_scope scope = {omp_get_max_threads(), true};
    pthread_mutex_lock(&lock);
    if (open_scopes++ == 0) {
        saved_threads = plx__blas_threads();
        set_blas_threads(1);
    }
    pthread_mutex_unlock(&lock);
    if (scope.omp_threads != 1)
        omp_set_num_threads(1); /* of this thread: another one may have opened the first scope */
    return scope;
}

plx__blas_scope plx__blas_enter_factor(const plx_context *ctx)
{
    if (ctx->deterministic || ctx->threads == 1) return plx__blas_enter();
    plx__blas_scope scope = {omp_get_max_threads(), false};
    return scope;
}

void plx__blas_leave(plx__blas_scope scope)
{
    if (!scope.pinned) return;
    pthread_mutex_lock(&lock);
    if (--open_scopes == 0) set_blas_threads(saved_threads);
    pthread_mutex_unlock(&lock);
    if (omp_get_max_threads() != scope.omp_threads) omp_set_num_threads(scope.omp_threads);
}

plx_status plx__blas_fits(plx_context *ctx, plx_index rows, plx_index cols, plx_index ld)
{
    if (rows <= INT32_MAX && cols <= INT32_MAX && ld <= INT32_MAX) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_NOMEM, "a dense matrix of %lld x %lld is too large for the linear algebra library",
             (long long)rows, (long long)cols);
}

plx_status plx__lapack_fault(plx_context *ctx, const char *routine, int info)
{
    if (info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR)
        PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory in %s", routine);
    PLX_FAIL(ctx, PLX_E_INTERNAL, "%s refused its argument %d: please report this", routine, -info);
}
