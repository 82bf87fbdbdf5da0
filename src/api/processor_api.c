/*
 * The kernels of the linear algebra, for callers.
 */
#include "parallax/processor.h"

#include "api/api_args.h"
#include "linalg/blas.h"
#include "linalg/blas_core.h"
#include "linalg/blas_library.h"

const char *plx_blas_name(void) { return plx__blas_name(); }

const char *plx_blas_core(void) { return plx__blas_kernels(); }

const char *plx_blas_better_core(void) { return plx__better_core(plx_blas_core(), plx__processor_level()); }

static plx_status measure(double *gflops, plx_context *ctx)
{
    plx__blas_scope scope = plx__blas_enter();
    plx_status st = plx__blas_rate(gflops, ctx, 512, 0.25);
    plx__blas_leave(scope);
    return st;
}

plx_status plx_blas_measure(double *gflops, plx_context *ctx)
{
    PLX__CALL(ctx, measure(gflops, ctx), PLX__ARG(gflops));
}
