/*
 * How a public call begins: NULL where something is needed is refused with a sentence, not with a crash.
 */
#ifndef PLX_API_API_ARGS_H
#define PLX_API_API_ARGS_H

#include "core/ctx.h"

typedef struct plx__arg {
    const char *name;
    const void *value;
} plx__arg;

#define PLX__ARG(x)                                                                                                    \
    {                                                                                                                  \
#x, (x)                                                                                                        \
    }

static inline plx_status plx__check_args(plx_context *ctx, const char *call, const plx__arg *args, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!args[i].value) PLX_FAIL(ctx, PLX_E_ARG, "%s: the argument '%s' is NULL", call, args[i].name);
    return PLX_OK;
}

/* PLX__CALL(ctx, expr, PLX__ARG(out), PLX__ARG(data), ...): clears the last error, returns PLX_E_ARG when the context
 * or one of the arguments is NULL, else what `expr` gives. */
#define PLX__CALL(ctx, expr, ...)                                                                                      \
    do {                                                                                                               \
        const plx__arg plx__args[] = {__VA_ARGS__};                                                                    \
        if (!(ctx)) return PLX_E_ARG;                                                                                  \
        plx__call_begin(ctx);                                                                                          \
        plx_status plx__bad = plx__check_args((ctx), __func__, plx__args, sizeof plx__args / sizeof *plx__args);       \
        return plx__call_end((ctx), plx__bad == PLX_OK ? (expr) : plx__bad);                                           \
    } while (0)

#endif
