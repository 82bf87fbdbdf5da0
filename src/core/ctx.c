/*
 * Context: settings, accounting of memory, messages, progress.
 */
#include "core/ctx.h"

#include <inttypes.h>
#include <sched.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/paging.h"
#include "core/pool.h"
#include "core/tally.h"
#include "core/text.h"

static _Thread_local plx__error_slot *error_slot;

void plx__error_redirect(plx__error_slot *slot) { error_slot = slot; }

static double clock_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double plx__now(void) { return clock_seconds(CLOCK_MONOTONIC); }

double plx__processor_time(void) { return clock_seconds(CLOCK_PROCESS_CPUTIME_ID); }

double plx__thread_time(void) { return clock_seconds(CLOCK_THREAD_CPUTIME_ID); }

const char *plx__status_name(plx_status status)
{
    static const char *const names[] = {
        "PLX_OK",   "PLX_E_NOMEM",  "PLX_E_ARG",         "PLX_E_DATA",     "PLX_E_NUMERIC", "PLX_E_CANCELLED",
        "PLX_E_IO", "PLX_E_FORMAT", "PLX_E_UNSUPPORTED", "PLX_E_INTERNAL", "PLX_E_DEVICE"};
    const int count = sizeof names / sizeof *names;
    return status <= 0 && status > -count ? names[-status] : "PLX_E_?";
}

/* ---- memory ---- */

static void *system_alloc(size_t bytes, void *payload)
{
    (void)payload;
    return malloc(bytes);
}

static void system_release(void *block, void *payload)
{
    (void)payload;
    free(block);
}

static int64_t read_number(const char *path)
{
    int64_t value = -1;
    FILE *f = fopen(path, "re");
    if (!f) return -1;
    if (fscanf(f, "%" SCNd64, &value) != 1) value = -1; /* "max": no limit */
    fclose(f);
    return value;
}

static int64_t free_memory(void)
{
    int64_t kib = 0;
    FILE *f = fopen("/proc/meminfo", "re");
    if (f) {
        char line[256];
        while (kib == 0 && fgets(line, sizeof line, f))
            if (sscanf(line, "MemAvailable: %" SCNd64, &kib) != 1) kib = 0;
        fclose(f);
    }
    if (kib == 0) kib = (int64_t)sysconf(_SC_PHYS_PAGES) / 1024 * (int64_t)sysconf(_SC_PAGESIZE);
    return kib * 1024;
}

/* 80 % of what can be had without swapping, and within the control group (containers). */
static int64_t default_memory_limit(void)
{
    int64_t bytes = free_memory(), group = read_number("/sys/fs/cgroup/memory.max");
    if (group >= 0) bytes = plx__min(bytes, group - plx__max(0, read_number("/sys/fs/cgroup/memory.current")));
    return plx__max(bytes / 10 * 8, 16 << 20);
}

/* Only memory that is really handed out moves the mark: a refused request leaves it where it is. */
void plx__memory_peak_raise(plx_context *ctx, int64_t used)
{
    long long peak = atomic_load_explicit(&ctx->memory_peak, memory_order_relaxed);
    while (used > peak && !atomic_compare_exchange_weak(&ctx->memory_peak, &peak, (long long)used)) continue;
}

bool plx__count_foreign(plx_context *ctx, size_t bytes)
{
    if (bytes > (size_t)INT64_MAX) return false;
    long long used = atomic_fetch_add(&ctx->memory_used, (long long)bytes) + (long long)bytes;
    if (used <= ctx->memory_limit) {
        plx__memory_peak_raise(ctx, used);
        return true;
    }
    atomic_fetch_sub(&ctx->memory_used, (long long)bytes);
    return false;
}

void plx__uncount_foreign(plx_context *ctx, size_t bytes) { atomic_fetch_sub(&ctx->memory_used, (long long)bytes); }

void plx__memory_peak_reset(plx_context *ctx) { atomic_store(&ctx->memory_peak, atomic_load(&ctx->memory_used)); }

void *plx__alloc(plx_context *ctx, size_t bytes)
{
    if (bytes > (size_t)INT64_MAX) return NULL;
    if (ctx->paging && bytes >= PLX__PAGED_BYTES) return plx__paging_take(ctx->paging, bytes);
    long long used = atomic_fetch_add(&ctx->memory_used, (long long)bytes) + (long long)bytes;
    void *p = used <= ctx->memory_limit ? ctx->mem.alloc(bytes ? bytes : 1, ctx->mem.payload) : NULL;
    if (p) plx__memory_peak_raise(ctx, used);
    else atomic_fetch_sub(&ctx->memory_used, (long long)bytes);
    return p;
}

void plx__release(plx_context *ctx, void *block, size_t bytes)
{
    if (!block) return;
    if (ctx->paging && bytes >= PLX__PAGED_BYTES && plx__paging_give(ctx->paging, block)) return;
    atomic_fetch_sub(&ctx->memory_used, (long long)bytes);
    ctx->mem.release(block, ctx->mem.payload);
}

/* Streaming: what would be refused for memory is on the disk, so its room is what counts. */
static plx_status need_disk(plx_context *ctx, double bytes, const char *what)
{
    double room = (double)plx__paging_room(ctx->paging);
    char need[PLX__SIZE_BYTES], left[PLX__SIZE_BYTES];
    if (bytes <= room) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_NOMEM,
             "%s needs about %s on disk to stream, but %s has %s left; name another directory (TMPDIR)", what,
             plx__size_text(need, bytes), plx__paging_directory(ctx->paging), plx__size_text(left, room));
}

double plx__memory_left(const plx_context *ctx)
{
    double used = (double)atomic_load(&ctx->memory_used) - (double)ctx->scratch.spare_bytes;
    return fmax(0, (double)ctx->memory_limit - used);
}

plx_status plx__need_memory(plx_context *ctx, double bytes, const char *what, const char *remedy)
{
    if (ctx->paging) return need_disk(ctx, bytes, what);
    if (bytes <= plx__memory_left(ctx)) return PLX_OK;
    char need[PLX__SIZE_BYTES], left[PLX__SIZE_BYTES];
    PLX_FAIL(ctx, PLX_E_NOMEM, "%s needs about %s but the memory limit leaves %s; %s", what,
             plx__size_text(need, bytes), plx__size_text(left, plx__memory_left(ctx)), remedy);
}

/* ---- life ---- */

static plx_status check_options(plx_context_options *o, const plx_context_options *given)
{
    *o = (plx_context_options)PLX_CONTEXT_OPTIONS_INIT;
    if (!given) return PLX_OK;
    if (given->struct_size < sizeof o->struct_size || given->struct_size > sizeof *o) return PLX_E_ARG;
    memcpy(o, given, given->struct_size);
    if (!o->allocator.alloc != !o->allocator.release) return PLX_E_ARG;
    if (o->threads < 0 || o->memory_limit < 0 || !(o->time_limit >= 0)) return PLX_E_ARG;
    return PLX_OK;
}

plx_status plx__take_options(void *options, size_t size, plx_context *ctx, const void *given, const char *init)
{
    size_t wanted = size;
    if (!given) return PLX_OK;
    memcpy(&wanted, given, sizeof wanted);
    if (wanted < sizeof wanted || wanted > size)
        PLX_FAIL(ctx, PLX_E_ARG, "options: struct_size %zu is not known to this version; start from %s", wanted, init);
    memcpy(options, given, wanted);
    return PLX_OK;
}

/* Processors this program may run on. */
static int core_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
    return (int)plx__max(1, sysconf(_SC_NPROCESSORS_ONLN));
}

plx_status plx__context_create(plx_context **out, const plx_context_options *options)
{
    plx_context_options o;
    *out = NULL;
    plx_status st = check_options(&o, options);
    if (st) return st;
    if (!o.allocator.alloc) {
        o.allocator.alloc = system_alloc;
        o.allocator.release = system_release;
    }
    plx_context *ctx = o.allocator.alloc(sizeof *ctx, o.allocator.payload);
    if (!ctx) return PLX_E_NOMEM;
    memset(ctx, 0, sizeof *ctx);
    ctx->mem = o.allocator;
    ctx->system_memory = o.allocator.alloc == system_alloc;
    ctx->seed = o.seed;
    ctx->threads = o.threads ? o.threads : core_count();
    ctx->deterministic = o.deterministic != 0;
    ctx->memory_limit = o.memory_limit ? o.memory_limit : default_memory_limit();
    ctx->time_limit = o.time_limit;
    ctx->arena_block = o.arena_block;
    ctx->peers.ranks = 1;
    atomic_init(&ctx->memory_used, 0);
    atomic_init(&ctx->memory_peak, 0);
    atomic_init(&ctx->cancelled, 0);
    plx__arena_init(&ctx->scratch, ctx);
    plx__arena_keep_blocks(&ctx->scratch);
    plx__arena_init(&ctx->notes_arena, ctx);
    ctx->notes_tail = &ctx->notes;
    if (ctx->threads > 1 && plx__pool_open(&ctx->pool, ctx, ctx->threads) != PLX_OK) {
        plx__context_destroy(ctx);
        return PLX_E_NOMEM;
    }
    *out = ctx;
    return PLX_OK;
}

void plx__context_destroy(plx_context *ctx)
{
    if (!ctx) return;
    if (ctx->device_end) ctx->device_end(ctx, true);
    if (!ctx->parent || ctx->pool != ctx->parent->pool) plx__pool_close(ctx->pool, ctx);
    plx__arena_free(&ctx->scratch);
    plx__arena_free(&ctx->notes_arena);
    if (!ctx->parent) plx__paging_close(ctx->paging);
    plx_allocator mem = ctx->mem;
    mem.release(ctx, mem.payload);
}

/* The old threads go only when there is something in their place. */
plx_status plx__context_set_threads(plx_context *ctx, int threads)
{
    struct plx__pool *pool = NULL;
    int wanted = threads ? threads : core_count();
    if (wanted == ctx->threads) return PLX_OK;
    if (wanted > 1) PLX_TRY(plx__pool_open(&pool, ctx, wanted));
    plx__pool_close(ctx->pool, ctx);
    ctx->pool = pool;
    ctx->threads = wanted;
    return PLX_OK;
}

/* Arenas of larger blocks from here on, so that these are paged, too. */
plx_status plx__context_set_stream(plx_context *ctx, const char *directory)
{
    enum { STREAM_BLOCK = 4 << 20 };
    if (ctx->paging)
        PLX_FAIL(ctx, PLX_E_ARG, "the context streams already, through %s", plx__paging_directory(ctx->paging));
    PLX_TRY(plx__paging_open(&ctx->paging, ctx, directory));
    if (ctx->arena_block == 0) ctx->arena_block = STREAM_BLOCK;
    plx__arena_free(&ctx->scratch);
    plx__arena_init(&ctx->scratch, ctx);
    plx__arena_keep_blocks(&ctx->scratch);
    return PLX_OK;
}

void plx__call_begin(plx_context *ctx)
{
    ctx->error[0] = '\0';
    plx__arena_free(&ctx->notes_arena);
    ctx->notes = NULL;
    ctx->notes_tail = &ctx->notes;
    ctx->call_started = plx__now();
    ctx->last_report = 0;
    ctx->failure_told = false;
}

plx_status plx__call_end(plx_context *ctx, plx_status st)
{
    if (ctx->device_end) ctx->device_end(ctx, false);
    plx__arena_free(&ctx->scratch);
    if (st == PLX_OK) ctx->error[0] = '\0';
    else if (!ctx->error[0]) plx__fail(ctx, st, st == PLX_E_NOMEM ? "out of memory" : "%s", plx__status_name(st));
    return st;
}

/* ---- failure ---- */

static char *error_buffer(plx_context *ctx) { return error_slot ? error_slot->text : ctx->error; }

/* Messages are one line whatever a file name or label in them holds. */
static void flatten(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20) *text = ' ';
}

plx_status(plx__fail)(plx_context *ctx, plx_status code, const char *fmt, ...)
{
    char *buffer = error_buffer(ctx);
    if (buffer[0]) return code;
    va_list args;
    va_start(args, fmt);
    vsnprintf(buffer, PLX__ERROR_BYTES, fmt, args);
    va_end(args);
    flatten(buffer);
    return code;
}

plx_status(plx__fail_prefix)(plx_context *ctx, plx_status code, const char *fmt, ...)
{
    char *buffer = error_buffer(ctx);
    char old[PLX__ERROR_BYTES];
    memcpy(old, buffer, sizeof old);
    old[sizeof old - 1] = '\0';
    va_list args;
    va_start(args, fmt);
    vsnprintf(buffer, PLX__ERROR_BYTES, fmt, args);
    va_end(args);
    size_t len = strlen(buffer);
    const char *rest = old[0] ? old : code == PLX_E_NOMEM ? "out of memory" : plx__status_name(code);
    snprintf(buffer + len, PLX__ERROR_BYTES - len, ": %s", rest);
    flatten(buffer);
    return code;
}

void plx__clear_error(plx_context *ctx) { error_buffer(ctx)[0] = '\0'; }

/* ---- progress, cancel, log ---- */

/* Iterations end at the time limit with what they have. What has no half result, such as a factorisation, may go on for
 * half of the limit again, and two seconds at least. */
static double grace(const plx_context *ctx) { return fmax(2.0, 0.5 * ctx->time_limit); }

static bool long_overdue(const plx_context *ctx)
{
    return ctx->time_limit > 0 && ctx->call_started > 0 &&
           plx__now() - ctx->call_started > ctx->time_limit + grace(ctx);
}

plx_status plx__poll(plx_context *ctx)
{
    if (ctx->paging) plx__paging_look(ctx->paging);
    bool above = ctx->parent && atomic_load_explicit(&ctx->parent->cancelled, memory_order_relaxed);
    if (above || atomic_load_explicit(&ctx->cancelled, memory_order_relaxed))
        PLX_FAIL(ctx, PLX_E_CANCELLED, "cancelled");
    if (!long_overdue(ctx)) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_CANCELLED,
             "no result within the time limit of %g s, nor %g s later, and what was under way cannot be cut short; "
             "raise the limit or use fewer samples",
             ctx->time_limit, grace(ctx));
}

void plx__look_at_pages(plx_context *ctx) { plx__paging_look(ctx->paging); }

void plx__copy_long(plx_context *ctx, void *to, const void *from, size_t bytes)
{
    const size_t at_once = ctx->paging ? 1 << 20 : bytes;
    for (size_t at = 0; at < bytes; at += at_once) {
        if (ctx->paging) plx__look_at_pages(ctx);
        memcpy((char *)to + at, (const char *)from + at, bytes - at < at_once ? bytes - at : at_once);
    }
}

void plx__keep_at_hand(plx_context *ctx, const void *array)
{
    if (ctx->paging) plx__paging_at_hand(ctx->paging, array, true);
}

bool plx__out_of_time(const plx_context *ctx)
{
    return ctx->time_limit > 0 && plx__now() - ctx->call_started > ctx->time_limit;
}

plx_status plx__report(plx_context *ctx, const char *phase, plx_index iteration, plx_index max_iterations,
                       double objective)
{
    PLX_TRY(plx__poll(ctx));
    if (!ctx->progress) return PLX_OK;
    double now = plx__now();
    bool must = iteration <= 1 || iteration == max_iterations;
    if (!must && now - ctx->last_report < 0.05) return PLX_OK;
    ctx->last_report = now;
    plx_progress p = {sizeof p, phase, iteration, max_iterations, objective};
    if (ctx->progress(&p, ctx->progress_payload)) PLX_FAIL(ctx, PLX_E_CANCELLED, "cancelled");
    return plx__poll(ctx);
}

static void log_line(plx_context *ctx, plx_log_level level, const char *fmt, va_list args)
{
    bool keep = level == PLX_LOG_WARNING, tell = ctx->log && level <= ctx->log_level;
    if (!keep && !tell) return;
    char text[PLX__ERROR_BYTES];
    vsnprintf(text, sizeof text, fmt, args);
    flatten(text);
    if (keep && ctx->tally) {
        plx__tally_add(ctx->tally, text, NULL, 0);
        return;
    }
    if (tell) ctx->log(level, text, ctx->log_payload);
    if (!keep) return;
    plx__note *note = NULL; /* no memory: the warning was told but is not kept */
    const char *copy = NULL;
    if (plx__arena_text(&copy, &ctx->notes_arena, text) != PLX_OK ||
        PLX__ARENA_NEW(&note, &ctx->notes_arena, 1) != PLX_OK) {
        plx__clear_error(ctx);
        return;
    }
    note->text = copy;
    *ctx->notes_tail = note;
    ctx->notes_tail = &note->next;
}

void plx__warn(plx_context *ctx, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    log_line(ctx, PLX_LOG_WARNING, fmt, args);
    va_end(args);
}

void plx__info(plx_context *ctx, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    log_line(ctx, PLX_LOG_INFO, fmt, args);
    va_end(args);
}

void plx__debug(plx_context *ctx, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    log_line(ctx, PLX_LOG_DEBUG, fmt, args);
    va_end(args);
}
