/**
 * @file parallax/context.h
 * @brief Settings of a run, its scratch memory, its callbacks and its last error.
 *
 * Lifetime: create one, pass it to every call, destroy it last. Objects made with a
 * context (data sets, models) take their memory from the context's allocator and must
 * be destroyed before the context is.
 *
 * Threads: a context serves one call at a time; use one per thread. Only
 * plx_context_cancel() may be called from another thread or from a signal handler.
 */
#ifndef PARALLAX_CONTEXT_H
#define PARALLAX_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#include "parallax/matrix.h"
#include "parallax/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Where memory comes from. `alloc` returns memory aligned like malloc, or NULL. */
typedef struct plx_allocator {
    void *(*alloc)(size_t bytes, void *payload);
    void (*release)(void *block, void *payload);
    void *payload;
} plx_allocator;

/** Run-wide settings. Start from PLX_CONTEXT_OPTIONS_INIT; fields are only ever appended. */
typedef struct plx_context_options {
    size_t struct_size;      /**< sizeof(plx_context_options) as the caller was built */
    plx_allocator allocator; /**< all zero: malloc and free */
    uint64_t seed;           /**< every random choice is a function of it */
    int threads;             /**< 0: as many as the machine has cores */
    int deterministic;       /**< 1 (default): same bytes for every thread count */
    int64_t memory_limit;    /**< bytes; 0: 80 % of the memory free at creation */
    double time_limit;       /**< seconds per call; 0: none. Ends iterations with what they have; a call
                                  without a result half the limit (at least 2 s) later ends with PLX_E_CANCELLED */
    size_t arena_block;      /**< bytes per scratch block; 0: default; 1: one block per request */
    const char *device;      /**< "cpu" (or NULL): none; "cuda": this GPU, or an error; "auto": a GPU where there is one
                                  and it pays, else the CPU. Copied */
    int64_t device_memory;   /**< most bytes to take on it; 0: what it has free */
} plx_context_options;

#define PLX_CONTEXT_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(plx_context_options), {0, 0, 0}, 0, 0, 1, 0, 0.0, 0, 0, 0                                               \
    }

typedef struct plx_context plx_context;

/** What a progress callback is told. */
typedef struct plx_progress {
    size_t struct_size; /**< sizeof as the library was built */
    const char *phase;  /**< e.g. "em", "read text.mtx" */
    plx_index iteration;
    plx_index max_iterations; /**< 0: not known */
    double objective;         /**< NaN where there is none */
} plx_progress;

/** Return 0 to go on, anything else to stop with PLX_E_CANCELLED. Always called on the
 *  thread that called the library, at most every ~50 ms except for first and last. */
typedef int (*plx_progress_fn)(const plx_progress *progress, void *payload);

typedef enum plx_log_level { PLX_LOG_WARNING = 0, PLX_LOG_INFO = 1, PLX_LOG_DEBUG = 2 } plx_log_level;

/** One line of text without line end. */
typedef void (*plx_log_fn)(plx_log_level level, const char *text, void *payload);

/**
 * @name Life
 *
 * Threads: any, a context of its own for each.
 */

/**
 * Create a context.
 *
 * @param[out] out  The context; NULL on failure.
 * @param options   NULL for the defaults.
 * @retval PLX_E_NOMEM  the allocator refused
 * @retval PLX_E_ARG    `out` is NULL, an option is out of range, or only one allocator function is set
 *
 * Ownership: the caller's; free it with plx_context_destroy().
 * Cost: O(threads): the threads of the context start here and sleep until they are needed.
 */
PLX_API PLX_NODISCARD plx_status plx_context_create(plx_context **out, const plx_context_options *options);

/**
 * Free a context and its scratch memory. NULL is allowed.
 *
 * Errors: none.
 * Ownership: objects made with the context must be gone before it.
 * Cost: O(threads + blocks of scratch memory).
 */
PLX_API void plx_context_destroy(plx_context *ctx);

/**
 * @name Settings and callbacks
 *
 * Errors: none; NULL as context gives 0 or does nothing.
 * Ownership: nothing is handed over; a payload belongs to the caller and must live as long as its callback is set.
 * Threads: the thread that uses the context, between calls.
 * Cost: O(1).
 */

/**
 * The sentence that explains the last failure; "" after a success and for NULL.
 *
 * Ownership: borrowed from the context until its next call.
 */
PLX_API const char *plx_context_error(const plx_context *ctx);

/** Install a progress callback (NULL: none). */
PLX_API void plx_context_set_progress(plx_context *ctx, plx_progress_fn fn, void *payload);

/** Install a log callback for messages up to `level` (NULL: silent, the default). */
PLX_API void plx_context_set_log(plx_context *ctx, plx_log_level level, plx_log_fn fn, void *payload);

/**
 * Ask the running call to stop with PLX_E_CANCELLED. It stays asked until plx_context_reset_cancel().
 *
 * Threads: any, also while a call runs; async-signal-safe.
 */
PLX_API void plx_context_cancel(plx_context *ctx);

/** Forget an earlier plx_context_cancel(). */
PLX_API void plx_context_reset_cancel(plx_context *ctx);

/** Set the seed of the calls to come: every random choice is a function of it. */
PLX_API void plx_context_set_seed(plx_context *ctx, uint64_t seed);

/** The seed; 0 for NULL. */
PLX_API uint64_t plx_context_seed(const plx_context *ctx);

/** Number of threads calls may use, at least 1; 0 for NULL. */
PLX_API int plx_context_threads(const plx_context *ctx);

/**
 * Set the number of threads of the calls to come; 0: as many as the machine has cores. With 1 no thread stays behind: for
 * programs that keep many models, each with its context. Results do not depend on the number.
 *
 * @retval PLX_E_ARG    `ctx` is NULL, or the number is negative
 * @retval PLX_E_NOMEM  memory ran out; the number stays as it was
 *
 * Cost: the threads that there were are joined; new ones start with the first call that uses them.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_context_set_threads(plx_context *ctx, int threads);

/**
 * Stream from now on: data and working arrays of 1 MiB and more are kept in nameless files of `directory` instead of
 * memory, and read again from there on every pass. What they hold in memory at once is kept near a third of
 * the memory limit, whatever the number of samples (a busy machine may let more in between two looks); results are the same bytes as without. Only methods whose passes go row by row can
 * be fitted with such a context (plx_fit() says so of the others); every model can predict.
 *
 * @param directory  On a disk with room for the data and, while fitting, for the results; NULL: $TMPDIR, else /var/tmp.
 * @retval PLX_E_ARG    `ctx` is NULL, or streams already
 * @retval PLX_E_IO     no file can be made in the directory
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Ownership: the text is copied. The files vanish with the objects that use them, or with the process.
 * Cost: O(1), and a thread that keeps watch over the memory.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_context_set_stream(plx_context *ctx, const char *directory);

/** Memory limit in bytes; 0 for NULL. */
PLX_API int64_t plx_context_memory_limit(const plx_context *ctx);

/**
 * Bytes the context holds now: its scratch, and the data sets, models and results made with it; 0 for NULL.
 *
 * Threads: any.
 */
PLX_API int64_t plx_context_memory_used(const plx_context *ctx);

/**
 * The most bytes the context held at once since it was created or since the last plx_context_reset_memory_peak(). Memory
 * that libraries below take from malloc is counted where they let it be. 0 for NULL.
 *
 * Threads: any.
 */
PLX_API int64_t plx_context_memory_peak(const plx_context *ctx);

/** Start the high-water mark again from what is held now. NULL is allowed. */
PLX_API void plx_context_reset_memory_peak(plx_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
