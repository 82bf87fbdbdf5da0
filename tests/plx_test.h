/*
 * What the unit tests share: cmocka, a context whose allocator counts, and close comparisons.
 */
#ifndef PLX_TEST_H
#define PLX_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/ctx.h"

/* Allocator that refuses request number `fail_at` (0: never) and counts what is still held. */
typedef struct meter {
    long calls, fail_at, live;
} meter;

static inline void *meter_alloc(size_t n, void *payload)
{
    meter *m = payload;
    if (++m->calls == m->fail_at) return NULL;
    void *p = malloc(n);
    if (p) m->live++;
    return p;
}

static inline void meter_release(void *p, void *payload)
{
    if (p) ((meter *)payload)->live--;
    free(p);
}

/* Context with one block per request, so that ASan sees overruns between neighbours. */
static inline plx_context *test_context(int threads)
{
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    o.threads = threads;
    o.arena_block = 1;
    plx_context *ctx = NULL;
    assert_int_equal(plx_context_create(&ctx, &o), PLX_OK);
    return ctx;
}

static inline plx_context *metered_context(meter *m, int threads)
{
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    o.threads = threads;
    o.arena_block = 1;
    o.allocator = (plx_allocator){meter_alloc, meter_release, m};
    plx_context *ctx = NULL;
    plx_status st = plx_context_create(&ctx, &o);
    return st == PLX_OK ? ctx : NULL;
}

/* Fails with the library's own sentence. */
#define assert_ok(ctx, expr)                                                                                           \
    do {                                                                                                               \
        plx_status assert_st = (expr);                                                                                 \
        if (assert_st != PLX_OK) fail_msg("%s -> %s: %s", #expr, plx_status_name(assert_st), plx_context_error(ctx));  \
    } while (0)

/* The call must fail with this status and a message that contains `word`; the message is then cleared. */
#define assert_fails(ctx, expr, status, word)                                                                          \
    do {                                                                                                               \
        plx_status assert_st = (expr);                                                                                 \
        if (assert_st != (status))                                                                                     \
            fail_msg("%s -> %s (%s), expected %s", #expr, plx_status_name(assert_st), plx_context_error(ctx),          \
                     plx_status_name(status));                                                                         \
        if (!strstr(plx_context_error(ctx), (word)))                                                                   \
            fail_msg("message '%s' lacks '%s'", plx_context_error(ctx), (word));                                       \
        plx__clear_error(ctx);                                                                                         \
    } while (0)

#define assert_close(a, b, tol)                                                                                        \
    do {                                                                                                               \
        double assert_a = (a), assert_b = (b);                                                                         \
        if (!(fabs(assert_a - assert_b) <= (tol)))                                                                     \
            fail_msg("%s = %.17g, %s = %.17g, tolerance %g", #a, assert_a, #b, assert_b, (double)(tol));               \
    } while (0)

#endif
