/*
 * What a context holds and held at most, for callers.
 */
#include "core/ctx.h"

int64_t plx_context_memory_used(const plx_context *ctx) { return ctx ? atomic_load(&ctx->memory_used) : 0; }

int64_t plx_context_memory_peak(const plx_context *ctx) { return ctx ? atomic_load(&ctx->memory_peak) : 0; }

void plx_context_reset_memory_peak(plx_context *ctx)
{
    if (ctx) plx__memory_peak_reset(ctx);
}
