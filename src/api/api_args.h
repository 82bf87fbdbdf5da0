/*
 * The door of the library. A public function that can fail and has a context is one PLX__CALL: it clears the last error,
 * refuses what no call can use with a sentence instead of a crash, does its work and gives scratch memory back. A getter
 * has no context to speak through: for NULL, or an index out of range, it gives 0, NULL, NaN or "" as its header says.
 */
#ifndef PLX_API_API_ARGS_H
#define PLX_API_API_ARGS_H

#include "data/divided.h"

typedef struct plx__arg {
    const char *name;
    const char *fault; /* NULL: none */
} plx__arg;

/* clang-format off */
/* A pointer that is needed; an array that may be NULL when it has no entries; a number that counts something. */
#define PLX__ARG(x) {#x, (x) ? NULL : "is NULL"}
#define PLX__ARG_IF(x, count) {#x, (x) || (count) == 0 ? NULL : "is NULL"}
#define PLX__COUNT(n) {#n, (n) >= 0 ? NULL : "is negative"}
/* A data set whose values are all needed. */
#define PLX__WHOLE(x) {#x, !(x) ? "is NULL" : plx__dataset_divided(x) ? "is divided among ranks; read it whole" : NULL}
/* clang-format on */

static inline plx_status plx__check_args(plx_context *ctx, const char *call, const plx__arg *args, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (args[i].fault) PLX_FAIL(ctx, PLX_E_ARG, "%s: the argument '%s' %s", call, args[i].name, args[i].fault);
    return PLX_OK;
}

/* PLX__CALL(ctx, expr, PLX__ARG(out), PLX__ARG(data), ...): PLX_E_ARG when the context is NULL or one of the arguments is
 * at fault, else what `expr` gives. */
#define PLX__CALL(ctx, expr, ...)                                                                                      \
    do {                                                                                                               \
        const plx__arg plx__args[] = {__VA_ARGS__};                                                                    \
        if (!(ctx)) return PLX_E_ARG;                                                                                  \
        plx__call_begin(ctx);                                                                                          \
        plx_status plx__bad = plx__check_args((ctx), __func__, plx__args, sizeof plx__args / sizeof *plx__args);       \
        return plx__call_end((ctx), plx__bad == PLX_OK ? (expr) : plx__bad);                                           \
    } while (0)

/* A dense matrix from outside: sizes and leading dimension that can be, and values where it has any. */
static inline plx_status plx__check_dense(plx_context *ctx, const char *what, plx_cmat m)
{
    if (m.rows < 0 || m.cols < 0 || m.ld < m.cols || (m.rows > 0 && m.cols > 0 && !m.data))
        PLX_FAIL(ctx, PLX_E_ARG, "%s: %lld x %lld with leading dimension %lld%s is no matrix", what, (long long)m.rows,
                 (long long)m.cols, (long long)m.ld, m.data ? "" : " and values NULL");
    return PLX_OK;
}

#endif
