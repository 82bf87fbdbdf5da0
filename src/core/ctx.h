/*
 * Inside of a context, and what a running computation may ask of it.
 */
#ifndef PLX_CORE_CTX_H
#define PLX_CORE_CTX_H

#include <stdatomic.h>

#include "core/arena.h"
#include "parallax/peers.h"

enum { PLX__ERROR_BYTES = 1024 };

typedef struct plx__note { /* a warning kept for the result of the running call */
    struct plx__note *next;
    const char *text;
} plx__note;

typedef struct plx__file_name {
    struct plx__file_name *before;
    const char *path;
} plx__file_name;

typedef struct plx__file_log { /* files opened for reading, while a data set is read */
    plx__arena *arena;
    plx__file_name *last;
    plx_index count;
} plx__file_log;

/* Which rows readers keep the values of, while a data set is read (data/divided.h): all, those that fall to a rank when the
 * samples are cut, or a given run of them. */
typedef struct plx__row_share {
    int rank, ranks; /* ranks 0: all rows, or begin .. end-1 when `run` is set */
    bool run;
    plx_index begin, end;
} plx__row_share;

struct plx_context {
    plx_context
        *parent; /* of a member of a crew (core/crew.h): its pool is borrowed, its cancel flag counts; else NULL */
    plx_allocator mem;
    bool system_memory; /* mem is malloc and free */
    uint64_t seed;
    int threads;
    struct plx__pool *pool; /* NULL on one thread */
    bool deterministic;
    int64_t memory_limit;
    atomic_llong memory_used; /* bytes handed out by all arenas and plx__alloc of this context */
    atomic_llong memory_peak; /* most of memory_used since creation or plx__memory_peak_reset */
    double time_limit;
    struct plx__paging
        *paging;         /* streaming: where large blocks are (core/paging.h); of a crew its parent's; else NULL */
    plx_peers peers;     /* the processes that run the same call; alone: 1 rank */
    int64_t bytes_sent;  /* to them */
    bool failure_told;   /* they know that the running call failed, or cannot be told (core/ranks.h) */
    plx_engines engines; /* what solves systems and spectra with them */
    struct plx__device *device; /* what works for it besides the CPU (device/device_session.h); NULL: nothing */
    void (*device_end)(plx_context *ctx, bool last); /* a call ends, or the context; set with `device` */
    size_t arena_block;
    plx_progress_fn progress;
    void *progress_payload;
    plx_log_fn log;
    void *log_payload;
    plx_log_level log_level;
    double call_started, last_report;
    atomic_int cancelled;
    plx__arena scratch;
    plx__arena notes_arena;
    plx__note *notes, **notes_tail;
    struct plx__tally *tally; /* keeps warnings until all parts of the work are done (core/tally.h); NULL: no parts */
    plx__file_log *files;     /* NULL: not kept */
    plx__row_share share;     /* all zero: data sets are read whole */
    char error[PLX__ERROR_BYTES];
};

/* The public functions of the same names; NULL-safe destroy. */
plx_status plx__context_create(plx_context **out, const plx_context_options *options);
void plx__context_destroy(plx_context *ctx);
plx_status plx__context_set_threads(plx_context *ctx, int threads);
plx_status plx__context_set_stream(plx_context *ctx, const char *directory);
const char *plx__status_name(plx_status status);

/* Scratch memory of the running call. */
static inline plx__arena *plx__scratch(plx_context *ctx) { return &ctx->scratch; }

/* Memory outside any arena (objects with a life of their own). NULL-safe release. */
void *plx__alloc(plx_context *ctx, size_t bytes);
void plx__release(plx_context *ctx, void *block, size_t bytes);

/* Memory a library took from malloc on behalf of this context: counted with the rest for as long as it is held. False:
 * it would pass the limit, and is not counted. */
bool plx__count_foreign(plx_context *ctx, size_t bytes);
void plx__uncount_foreign(plx_context *ctx, size_t bytes);

/* The high-water mark: start again from what is held now; lift it to `used`. */
void plx__memory_peak_reset(plx_context *ctx);
void plx__memory_peak_raise(plx_context *ctx, int64_t used);

/* Start and end of a public call: clears the error and the notes, starts the clock; rewinds scratch.
 * Calls do not nest: public functions call internal ones. */
void plx__call_begin(plx_context *ctx);
plx_status plx__call_end(plx_context *ctx, plx_status st);

/* Tell the progress callback; PLX_E_CANCELLED when asked to stop. Caller's thread only.
 * iteration 1 and iteration = max are always told, others at most every 50 ms. */
plx_status plx__report(plx_context *ctx, const char *phase, plx_index iteration, plx_index max_iterations,
                       double objective);

/* Cheap test of the cancel flag for inner loops; any thread. */
plx_status plx__poll(plx_context *ctx);

/* For plain loops over the rows of large arrays, which nobody polls: every thousandth row i looks after the pages of a
 * context that streams. */
void plx__look_at_pages(plx_context *ctx);
static inline void plx__breathe(plx_context *ctx, plx_index i)
{
    if (ctx->paging && i % 1024 == 0) plx__look_at_pages(ctx);
}

/* memcpy() of so much that pages have to be looked after; nothing is done with 0 bytes. */
void plx__copy_long(plx_context *ctx, void *to, const void *from, size_t bytes);

/* A working array of a pane, which the next pane needs again: a context that streams keeps its pages longest. */
void plx__keep_at_hand(plx_context *ctx, const void *array);

/* True once the call has run longer than its time limit: stop iterating, keep the best so far. */
bool plx__out_of_time(const plx_context *ctx);

/* Log a line; a warning is also kept for the result of the call. Caller's thread only. */
void plx__warn(plx_context *ctx, const char *fmt, ...) PLX_PRINTF(2, 3);
void plx__info(plx_context *ctx, const char *fmt, ...) PLX_PRINTF(2, 3);
void plx__debug(plx_context *ctx, const char *fmt, ...) PLX_PRINTF(2, 3);

/* Bytes that the memory limit leaves. */
double plx__memory_left(const plx_context *ctx);

/* Refuse work whose peak of `bytes` would pass the memory limit; `remedy` ends the sentence. */
plx_status plx__need_memory(plx_context *ctx, double bytes, const char *what, const char *remedy);

/* The caller's options over the defaults that `options` holds: as much as its version of the struct has; NULL: the
 * defaults stay. Both begin with struct_size. PLX_E_ARG for a size this version does not know; `init` is the macro to
 * start from. */
plx_status plx__take_options(void *options, size_t size, plx_context *ctx, const void *given, const char *init);

/* Seconds from a monotonic clock. */
double plx__now(void);

/* Seconds of processor time: of the whole process, all its threads together, and of the calling thread. */
double plx__processor_time(void);
double plx__thread_time(void);

/* While set on a thread, plx__fail() writes there instead of into the context: how workers of a
 * parallel region report without racing. Managed by plx__parallel_for. */
typedef struct plx__error_slot {
    char text[PLX__ERROR_BYTES];
} plx__error_slot;
void plx__error_redirect(plx__error_slot *slot);

#endif
