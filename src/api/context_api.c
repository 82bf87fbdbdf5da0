/*
 * Public face of the context: settings, callbacks, the last error; and the names of statuses and of the version.
 */
#include <string.h>

#include "api/api_args.h"
#include "core/ranks.h"
#include "device/device_session.h"
#include "parallax/version.h"

const char *plx_version(void) { return PLX_VERSION_STRING; }

const char *plx_status_name(plx_status status) { return plx__status_name(status); }

plx_status plx_context_create(plx_context **out, const plx_context_options *options)
{
    if (!out) return PLX_E_ARG;
    *out = NULL;
    PLX_TRY(plx__context_create(out, options));
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    if (options) memcpy(&o, options, options->struct_size); /* checked by now */
    plx_status st = plx__device_choose(*out, o.device, o.device_memory);
    if (st == PLX_OK) return PLX_OK;
    plx__context_destroy(*out);
    *out = NULL;
    return st;
}

void plx_context_destroy(plx_context *ctx) { plx__context_destroy(ctx); }

/* ---- settings ---- */

const char *plx_context_error(const plx_context *ctx) { return ctx ? ctx->error : ""; }
void plx_context_set_seed(plx_context *ctx, uint64_t seed)
{
    if (ctx) ctx->seed = seed;
}

uint64_t plx_context_seed(const plx_context *ctx) { return ctx ? ctx->seed : 0; }
int plx_context_threads(const plx_context *ctx) { return ctx ? ctx->threads : 0; }

plx_status plx_context_set_threads(plx_context *ctx, int threads)
{
    PLX__CALL(ctx, plx__context_set_threads(ctx, threads), PLX__COUNT(threads));
}

plx_status plx_context_set_stream(plx_context *ctx, const char *directory)
{
    PLX__CALL(ctx, plx__context_set_stream(ctx, directory), PLX__ARG(ctx));
}

plx_status plx_context_set_peers(plx_context *ctx, const plx_peers *peers)
{
    PLX__CALL(ctx, plx__context_set_peers(ctx, peers), PLX__ARG(ctx));
}

plx_status plx_context_set_engines(plx_context *ctx, const plx_engines *engines)
{
    PLX__CALL(ctx, plx__context_set_engines(ctx, engines), PLX__ARG(ctx));
}

int64_t plx_context_bytes_sent(const plx_context *ctx) { return ctx ? ctx->bytes_sent : 0; }

int64_t plx_context_memory_limit(const plx_context *ctx) { return ctx ? ctx->memory_limit : 0; }

void plx_context_cancel(plx_context *ctx)
{
    if (ctx) atomic_store(&ctx->cancelled, 1);
}

void plx_context_reset_cancel(plx_context *ctx)
{
    if (ctx) atomic_store(&ctx->cancelled, 0);
}

void plx_context_set_progress(plx_context *ctx, plx_progress_fn fn, void *payload)
{
    if (!ctx) return;
    ctx->progress = fn;
    ctx->progress_payload = payload;
}

void plx_context_set_log(plx_context *ctx, plx_log_level level, plx_log_fn fn, void *payload)
{
    if (!ctx) return;
    ctx->log = fn;
    ctx->log_level = level;
    ctx->log_payload = payload;
}
