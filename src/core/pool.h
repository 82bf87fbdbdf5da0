/*
 * The threads of a context: started by the first parallel loop, asleep between loops, joined with the context.
 *
 * A loop never waits for a thread that has not begun to help: on a busy machine the caller does the work itself
 * instead of waiting for a sleeping thread to be given a processor. Between loops a thread looks for new work for
 * some microseconds and then sleeps, so waiting costs other programs nothing.
 */
#ifndef PLX_CORE_POOL_H
#define PLX_CORE_POOL_H

#include "core/arena.h"

typedef struct plx__pool plx__pool;

/* What a thread of the pool does in a loop: take pieces of work until none is left. worker >= 1; 0 is the caller. */
typedef void (*plx__crew_fn)(void *arg, int worker);

/* A pool of `threads` - 1 helpers of the caller; no thread is started yet. */
plx_status plx__pool_open(plx__pool **out, plx_context *ctx, int threads);
void plx__pool_close(plx__pool *pool, plx_context *ctx);

/* Call fn on the caller as worker 0 and on every helper that comes while the caller is at work; returns when all
 * of them have left fn. Helpers that cannot be started are done without. Not from inside fn. */
void plx__pool_run(plx__pool *pool, plx__crew_fn fn, void *arg);

/* Number of this thread inside plx__pool_run; -1 outside. */
int plx__pool_worker(void);

#endif
