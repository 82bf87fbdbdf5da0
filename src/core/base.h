/*
 * What every source file of the library sees: statuses, the two macros that pass them
 * on, and assertions. Names with a double underscore are internal to the library.
 */
#ifndef PLX_CORE_BASE_H
#define PLX_CORE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parallax/context.h"
#include "parallax/matrix.h"
#include "parallax/status.h"

/* Record a one-line message in ctx (fixed buffer, never allocates) and return code. The first
 * message of a call stands: a caller that only passes a failure on does not overwrite it. */
plx_status plx__fail(plx_context *ctx, plx_status code, const char *fmt, ...) PLX_PRINTF(3, 4);

/* Put "prefix: " in front of the message already recorded (e.g. which file of a set); returns code. */
plx_status plx__fail_prefix(plx_context *ctx, plx_status code, const char *fmt, ...) PLX_PRINTF(3, 4);

#ifdef __clang_analyzer__
/* The analyser sees one file at a time: let it know that the code given is the code returned. */
#define plx__fail(ctx, code, ...) ((void)(plx__fail)((ctx), (code), __VA_ARGS__), (code))
#define plx__fail_prefix(ctx, code, ...) ((void)(plx__fail_prefix)((ctx), (code), __VA_ARGS__), (code))
#endif

/* Forget a recorded message: for the rare caller that recovers from a failure. */
void plx__clear_error(plx_context *ctx);

/* Where all memory comes from an arena somebody else unwinds (every method). */
#define PLX_TRY(expr)                                                                                                  \
    do {                                                                                                               \
        plx_status plx__st = (expr);                                                                                   \
        if (plx__st != PLX_OK) return plx__st;                                                                         \
    } while (0)

/* Where this function itself owns something: one label `done:`, one variable `st`. */
#define PLX_GOTO(expr)                                                                                                 \
    do {                                                                                                               \
        st = (expr);                                                                                                   \
        if (st != PLX_OK) goto done;                                                                                   \
    } while (0)

#define PLX_FAIL(ctx, code, ...) return plx__fail((ctx), (code), __VA_ARGS__)

#if defined(PLX_CHECKED)
#include <assert.h>
#define PLX_ASSERT(cond) assert(cond)
#else
#define PLX_ASSERT(cond) ((void)0)
#endif

static inline plx_index plx__min(plx_index a, plx_index b) { return a < b ? a : b; }
static inline plx_index plx__max(plx_index a, plx_index b) { return a > b ? a : b; }

static inline plx_cmat plx__cmat(plx_mat m)
{
    plx_cmat c = {m.data, m.rows, m.cols, m.ld};
    return c;
}

static inline plx_ccsr plx__ccsr(plx_csr m)
{
    plx_ccsr c = {m.rows, m.cols, m.ptr, m.col, m.val};
    return c;
}

#endif
