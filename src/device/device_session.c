/*
 * Sessions, choice and memory of a device.
 */
#include "device/device_session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/parallel.h"
#include "core/ranks.h"
#include "core/text.h"
#include "device/device_impl.h"
#include "device/host_device.h"

static void release_until(plx__device *dev, plx__held *last)
{
    while (dev->held != last) {
        plx__held *h = dev->held;
        dev->held = h->before;
        if (h->csr) dev->at.table->csr_release(dev->at.opened, h->csr);
        dev->at.table->release(dev->at.opened, h->buffer);
        dev->used -= h->bytes;
        plx__release(dev->ctx, h, sizeof *h);
    }
}

/* Nothing stays on the device after a call, and nothing of the device after the context. */
static void end(plx_context *ctx, bool last)
{
    plx__device *dev = ctx->device;
    release_until(dev, NULL);
    if (!last) return;
    (void)plx__device_open_wait(&dev->at);
    if (dev->at.opened) dev->at.table->close(dev->at.opened);
    ctx->device = NULL;
    ctx->device_end = NULL;
    plx__release(ctx, dev, sizeof *dev);
}

/* ---- choice ---- */

static bool is_name(const char *word)
{
    size_t length = strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return length > 0 && length < PLX__DEVICE_NAME && !word[length];
}

static plx_status new_device(plx_context *ctx, const char *name, bool insist)
{
    plx__device *dev = plx__alloc(ctx, sizeof *dev);
    if (!dev) return PLX_E_NOMEM;
    *dev = (plx__device){.ctx = ctx, .insist = insist};
    snprintf(dev->at.name, sizeof dev->at.name, "%s", name);
    ctx->device = dev;
    ctx->device_end = end;
    return PLX_OK;
}

plx_status plx__device_choose(plx_context *ctx, const char *device, int64_t memory)
{
    bool automatic = device && strcmp(device, "auto") == 0;
    if (!device || !*device || strcmp(device, "cpu") == 0) return PLX_OK;
    if (!is_name(device) || memory < 0) return PLX_E_ARG;
    PLX_TRY(new_device(ctx, automatic ? "cuda" : device, !automatic));
    ctx->device->memory = memory;
    if (strcmp(device, plx__host_device_table.kind) == 0) ctx->device->at.table = &plx__host_device_table;
    else if (!automatic) plx__device_open_ahead(&ctx->device->at);
    return PLX_OK;
}

plx_status plx__device_choose_table(plx_context *ctx, const plx_device_table *table, bool eager)
{
    if (ctx->device) end(ctx, true);
    PLX_TRY(new_device(ctx, table->kind, false));
    ctx->device->at.table = table;
    ctx->device->eager = eager;
    return PLX_OK;
}

/* Members of crews and ranks among others do not take part: a device serves one thread, and every rank would want it. */
static bool may_use(const plx_context *ctx)
{
    return ctx->device && !ctx->device->lost && !ctx->parent && plx__ranks(ctx) == 1 && !plx__in_loop();
}

static plx_status open_device(plx__device *dev)
{
    plx_device_facts facts = {.struct_size = sizeof facts};
    if (dev->known) return PLX_OK;
    if (!plx__device_open_done(&dev->at)) PLX_FAIL(dev->ctx, PLX_E_DEVICE, "%s", dev->at.why);
    PLX_TRY(plx__device_did(dev, dev->at.table->facts(dev->at.opened, &facts), "facts"));
    dev->facts = facts;
    dev->known = true;
    plx__info(dev->ctx, "device %s: %s, %s", dev->at.name, facts.name, facts.driver);
    return PLX_OK;
}

plx_status plx__device_require(plx_context *ctx)
{
    if (!ctx->device || !ctx->device->insist || ctx->parent || plx__ranks(ctx) > 1) return PLX_OK;
    if (ctx->device->lost)
        PLX_FAIL(ctx, PLX_E_DEVICE, "device %s failed before; make a new context, or set device to cpu or auto",
                 ctx->device->at.name);
    return open_device(ctx->device);
}

void plx__device_unused(plx_context *ctx, const char *method)
{
    plx__device *dev = ctx->device;
    if (dev && dev->insist && dev->sessions == dev->told)
        plx__info(ctx, "%s runs on the CPU, not on device %s", method, dev->at.name);
    if (dev) dev->told = dev->sessions;
}

int64_t plx__device_sessions(const plx_context *ctx) { return ctx->device ? ctx->device->sessions : 0; }

/* ---- does it pay? ---- */

/* Rough on purpose: what matters is the order of magnitude. A core does 2e10 operations and reads 5e9 bytes in a second;
 * a device of which nothing is known 1e13 and 1e12, and moves 1e10 over its bus. Opening one takes half a second. */
bool plx__device_pays(const plx__device_work *work, int threads, const plx_device_facts *facts)
{
    const double core_flops = 2e10, core_bytes = 5e9, opening = facts ? 0 : 0.5;
    double flops = facts && facts->flops > 0 ? facts->flops : 1e13;
    double bus = facts && facts->transfer > 0 ? facts->transfer : 1e10;
    double cpu = work->flops / (core_flops * threads) + work->traffic / (core_bytes * threads);
    double there = opening + work->flops / flops + work->traffic / (flops / 10) + work->moved / bus;
    return 2 * there <= cpu;
}

/* ---- sessions ---- */

/* With auto a device that cannot be opened is none, and is not tried again. */
static plx_status open_or_do_without(plx__session *s, plx__device *dev)
{
    plx_status st = open_device(dev);
    if (st == PLX_OK) {
        s->dev = dev;
        return PLX_OK;
    }
    if (dev->insist) return st;
    plx__info(s->ctx, "%s runs on the CPU: %s", s->what, s->ctx->error);
    plx__clear_error(s->ctx);
    dev->lost = true;
    return PLX_OK;
}

plx_status plx__session_open(plx__session *s, plx_context *ctx, const plx__device_work *work)
{
    *s = (plx__session){.what = work->what, .ctx = ctx, .mark = plx__arena_mark(plx__scratch(ctx))};
    if (!may_use(ctx)) return PLX_OK;
    plx__device *dev = ctx->device;
    if (!dev->insist && !dev->eager && !plx__device_pays(work, ctx->threads, dev->known ? &dev->facts : NULL))
        return PLX_OK;
    PLX_TRY(open_or_do_without(s, dev));
    s->held = dev->held;
    s->failures = dev->failures;
    if (!s->dev) return PLX_OK;
    dev->sessions++;
    plx__device_times_start(dev);
    return PLX_OK;
}

static bool falls_back(const plx__session *s, plx_status st)
{
    return st != PLX_OK && !s->inner && s->dev->failures != s->failures && !s->dev->insist;
}

bool plx__session_gives_up(plx__session *s, plx_status *st)
{
    if (!falls_back(s, *st)) return false;
    release_until(s->dev, s->held);
    plx__info(s->ctx, "%s goes on on the CPU: %s", s->what, s->ctx->error);
    plx__clear_error(s->ctx);
    s->dev = NULL;
    *st = PLX_OK;
    return true;
}

void plx__session_nest(plx__session *s, plx__device *dev)
{
    *s = (plx__session){.dev = dev, .ctx = dev->ctx, .held = dev->held, .inner = true};
}

plx_status plx__session_close(plx__session *s, plx_status st)
{
    if (plx__session_gives_up(s, &st)) {
        plx__arena_rewind(plx__scratch(s->ctx), s->mark);
        return PLX_OK;
    }
    release_until(s->dev, s->held);
    if (s->dev && !s->inner) plx__device_times_tell(s->dev, s->what);
    s->done = st == PLX_OK;
    return st;
}

plx_status plx__session_stay(bool *stays, plx__session *s, plx_status st)
{
    *stays = st == PLX_OK;
    if (*stays || plx__session_gives_up(s, &st)) return PLX_OK;
    return plx__session_close(s, st);
}

/* ---- memory ---- */

static plx_status room_of(double *bytes, plx__device *dev)
{
    int64_t unused = 0;
    PLX_TRY(plx__device_did(dev, dev->at.table->memory_free(dev->at.opened, &unused), "memory_free"));
    *bytes = (double)unused;
    if (dev->memory > 0) *bytes = fmin(*bytes, (double)(dev->memory - dev->used));
    return PLX_OK;
}

plx_status plx__device_need(plx__device *dev, double bytes, const char *what, const char *remedy)
{
    char need[PLX__SIZE_BYTES], left[PLX__SIZE_BYTES];
    double room = 0;
    PLX_TRY(room_of(&room, dev));
    if (bytes <= room) return PLX_OK;
    dev->failures++;
    PLX_FAIL(dev->ctx, PLX_E_NOMEM, "%s needs about %s on device %s, which has %s left; %s", what,
             plx__size_text(need, bytes), dev->at.name, plx__size_text(left, fmax(0, room)), remedy);
}

double plx__device_workspace(plx__device *dev, plx_device_op op, plx_index a, plx_index b, plx_index c)
{
    return (double)dev->at.table->workspace(dev->at.opened, op, a, b, c);
}

/* Notes what is to be freed at the end of the session. */
static plx_status hold(plx__device *dev, plx_device_buffer *buffer, plx_device_csr *csr, int64_t bytes)
{
    plx__held *h = plx__alloc(dev->ctx, sizeof *h);
    if (!h) {
        if (csr) dev->at.table->csr_release(dev->at.opened, csr);
        dev->at.table->release(dev->at.opened, buffer);
        PLX_FAIL(dev->ctx, PLX_E_NOMEM, "out of memory");
    }
    *h = (plx__held){dev->held, buffer, csr, bytes};
    dev->held = h;
    dev->used += bytes;
    return PLX_OK;
}

plx_status plx__device_bytes(plx_device_buffer **out, plx__device *dev, plx_index count, size_t size)
{
    int64_t bytes = 0;
    *out = NULL;
    if (count < 0 || __builtin_mul_overflow(count, (int64_t)size, &bytes))
        PLX_FAIL(dev->ctx, PLX_E_NOMEM, "out of memory");
    if (dev->memory > 0 && bytes > dev->memory - dev->used)
        PLX_TRY(plx__device_need(dev, (double)bytes, "an array",
                                 "raise the limit of its memory, or set device to cpu or auto"));
    PLX_TRY(plx__device_did(dev, dev->at.table->alloc(dev->at.opened, bytes, out), "alloc"));
    plx_status st = hold(dev, *out, NULL, bytes);
    if (st != PLX_OK) *out = NULL;
    return st;
}

plx_status plx__device_mat(plx_device_mat *out, plx__device *dev, plx_index rows, plx_index cols)
{
    plx_index count = 0;
    *out = (plx_device_mat){NULL, 0, rows, cols, cols};
    if (__builtin_mul_overflow(rows, cols, &count)) PLX_FAIL(dev->ctx, PLX_E_NOMEM, "out of memory");
    return plx__device_bytes(&out->buffer, dev, count, sizeof(double));
}

plx_status plx__device_put_bytes(plx_device_buffer **out, plx__device *dev, const void *from, plx_index count,
                                 size_t size)
{
    PLX_TRY(plx__device_bytes(out, dev, count, size));
    return plx__device_did(dev, dev->at.table->write_bytes(dev->at.opened, *out, 0, from, count * (int64_t)size),
                           "write_bytes");
}

plx_status plx__device_put(plx_device_mat *out, plx__device *dev, plx_cmat from)
{
    PLX_TRY(plx__device_mat(out, dev, from.rows, from.cols));
    return plx__device_write(dev, *out, from);
}

int plx__device_sweep_flags(plx_index width)
{
    return PLX_DEVICE_BOTH_WAYS | (width <= PLX_DEVICE_FEW ? PLX_DEVICE_FEW_COLUMNS : 0);
}

/* Some rows of a larger matrix, with offsets that start at 0. */
static plx_status from_zero(plx_ccsr *a, plx_context *ctx)
{
    int64_t *ptr = NULL, first = a->ptr[0];
    if (first == 0) return PLX_OK;
    PLX_TRY(plx__arena_i64(&ptr, plx__scratch(ctx), a->rows + 1));
    for (plx_index i = 0; i <= a->rows; i++) ptr[i] = a->ptr[i] - first;
    *a = (plx_ccsr){a->rows, a->cols, ptr, a->col + first, a->val + first};
    return PLX_OK;
}

plx_status plx__device_put_rows(plx_device_rows *out, plx__device *dev, plx__points rows, int flags)
{
    plx__mark mark = plx__arena_mark(plx__scratch(dev->ctx));
    plx_ccsr a = rows.csr;
    plx_device_csr *csr = NULL;
    *out = (plx_device_rows){.count = plx__points_rows(rows)};
    if (!plx__points_sparse(rows)) return plx__device_put(&out->dense, dev, rows.dense);
    if (!dev->at.table->csr_create) return plx__device_lacks(dev, "csr_create");
    PLX_TRY(from_zero(&a, dev->ctx));
    int code = dev->at.table->csr_create(dev->at.opened, a.rows, a.cols, a.ptr, a.col, a.val, flags, &csr);
    PLX_TRY(plx__device_did(dev, code, "csr_create"));
    PLX_TRY(hold(dev, NULL, csr, (int64_t)plx__device_rows_bytes(dev, rows, flags)));
    plx__arena_rewind(plx__scratch(dev->ctx), mark);
    out->csr = csr;
    return PLX_OK;
}

double plx__device_rows_bytes(plx__device *dev, plx__points rows, int flags)
{
    if (!plx__points_sparse(rows)) return 8.0 * (double)rows.dense.rows * (double)rows.dense.cols;
    if (!dev->at.table->csr_bytes) return 0;
    plx_ccsr a = rows.csr;
    return (double)dev->at.table->csr_bytes(dev->at.opened, a.rows, a.cols, a.ptr[a.rows] - a.ptr[0], flags);
}
