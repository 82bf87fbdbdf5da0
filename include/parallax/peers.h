/**
 * @file parallax/peers.h
 * @brief Several processes that fit one model together.
 *
 * Every process ("rank") makes a context, reads the same data with it and calls plx_fit() with the same settings. Sums
 * over the samples are divided among them by runs of neighbouring rows and added in the order of the rows, so every
 * rank ends with the same model, whose bytes are those of a single process. How bytes get from one rank to another is
 * the caller's: MPI in `parallax-mpi`, sockets or pipes elsewhere.
 *
 * Lifetime: the functions and their payload must live as long as the context.
 *
 * Threads: the functions are called on the thread that called the library.
 */
#ifndef PARALLAX_PEERS_H
#define PARALLAX_PEERS_H

#include <stddef.h>

#include "parallax/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The other ranks. Functions return 0, or anything else when the other rank cannot be reached any more. */
typedef struct plx_peers {
    size_t struct_size;
    int rank;  /**< of this process, from 0 */
    int ranks; /**< processes in all */
    /** Send `count` bytes to a rank; may wait until they are received. What goes to one rank arrives in order. */
    int (*send)(int to, const void *bytes, size_t count, void *payload);
    /** Receive exactly `count` bytes that the rank sends. */
    int (*receive)(int from, void *bytes, size_t count, void *payload);
    void *payload;
} plx_peers;

#define PLX_PEERS_INIT                                                                                                 \
    {                                                                                                                  \
        sizeof(plx_peers), 0, 1, 0, 0, 0                                                                               \
    }

/**
 * Make the calls to come of this context part of what all ranks do together. Every rank must make the same calls with
 * the same arguments (but for threads, memory limit and streaming). Methods that sum over samples row by row can be
 * fitted so; plx_fit() says so of the others.
 *
 * @param peers  Copied; NULL: alone again.
 * @retval PLX_E_ARG  `ctx` is NULL, a function is missing, or the rank is none of 0 .. ranks-1
 *
 * Ownership: the payload is the caller's.
 * Threads: the thread that uses the context, between calls.
 * Cost: O(1).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_context_set_peers(plx_context *ctx, const plx_peers *peers);

/**
 * Bytes that this rank has sent since plx_context_set_peers(); 0 for NULL.
 *
 * Errors: none.
 * Ownership: nothing is handed over.
 * Threads: the thread that uses the context, between calls.
 * Cost: O(1).
 */
PLX_API int64_t plx_context_bytes_sent(const plx_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
