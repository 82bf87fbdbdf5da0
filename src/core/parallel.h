/*
 * The only parallelism in the library.
 *
 * The range 0..n-1 is cut into chunks of `grain` items. The grain is a property of the problem,
 * never of the number of threads, so the work inside a chunk, and with it every rounding, is the
 * same on one thread and on seventy. Chunks may run in any order on any thread; whatever is summed
 * over chunks is summed in chunk order by plx__parallel_sum.
 */
#ifndef PLX_CORE_PARALLEL_H
#define PLX_CORE_PARALLEL_H

#include "core/ctx.h"

/* Work on items begin..end-1. `worker` is in 0..threads-1 and indexes per-thread scratch the caller
 * allocated (plx__workers(ctx) of them). Must not call the progress callback, allocate from shared
 * arenas or log. May fail with plx__fail: the failure of the lowest chunk is the one reported. */
typedef plx_status (*plx__range_fn)(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker);

plx_status plx__parallel_for(plx_context *ctx, plx_index n, plx_index grain, plx__range_fn fn, void *arg);

/* Same, each chunk adding into its own zeroed `width`-long partial; out = sum of partials in chunk
 * order (out is overwritten). Memory: chunks x width; choose the grain so that this is small. */
typedef plx_status (*plx__sum_fn)(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *partial);

plx_status plx__parallel_sum(plx_context *ctx, plx_index n, plx_index grain, plx_index width, plx__sum_fn fn, void *arg,
                             double *out);

/* Upper bound of `worker` + 1. */
int plx__workers(const plx_context *ctx);

/* Whether this thread is inside the body of a plx__parallel_for, on one thread or on many. */
bool plx__in_loop(void);

/* Pairwise summation: error grows with log n instead of n. */
double plx__sum(const double *x, plx_index n);

#endif
