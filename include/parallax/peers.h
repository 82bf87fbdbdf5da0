/**
 * @file parallax/peers.h
 * @brief Several processes that fit one model together, or label new samples with it.
 *
 * Every process ("rank") makes a context, reads the same data with it and calls plx_fit() with the same settings. Sums
 * over the samples are divided among them by runs of neighbouring rows and added in the order of the rows, so every
 * rank ends with the same model, whose bytes are those of a single process. How bytes get from one rank to another is
 * the caller's: MPI in `parallax-mpi`, sockets or pipes elsewhere.
 *
 * Data read with plx_read_options.own_rows are divided: every rank has the ids, labels and presence of all samples, and
 * the values of a run of rows. All ranks make that call, exchange what only the whole of a file tells, and have the same
 * outcome: a failure on one is that of all. plx_fit() takes such a data set: methods whose plx_method_info.ranks has
 * "sums" or "systems" work on the rows of the rank, and where a method or a setting needs all rows they are gathered
 * first. plx_predict() and plx_transform() label the samples of the rank in the same way. plx_dataset_relabel(),
 * plx_dataset_mask(), plx_dataset_select() of ascending samples (by all ranks) and facts about samples and views are as
 * ever; calls that need the values of all rows refuse it. Alone, the option changes nothing.
 *
 * Methods on graphs need more than sums: sparse linear systems and eigenvectors of matrices of which every rank has its
 * rows. These are solved by engines that the program brings along (PETSc and SLEPc in `parallax-mpi`); results are then
 * equal up to the tolerance of the engine, and the same on all ranks.
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
 * the same arguments (but for threads, memory limit and streaming). Methods whose plx_method_info.ranks is not
 * "-" can be fitted so; plx_fit() says so of the others.
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

/** This rank's rows of a symmetric sparse matrix; the ranks have neighbouring runs of rows, in their order. */
typedef struct plx_matrix_rows {
    size_t struct_size;
    int64_t n;          /**< rows and columns of the whole matrix */
    int64_t begin, end; /**< the rows begin .. end-1 are this rank's, possibly none */
    const int64_t *ptr; /**< end-begin+1: entries of row begin+i are ptr[i] .. ptr[i+1]-1; ptr[0] is 0 */
    const int32_t *col; /**< columns of the whole matrix, ascending in every row */
    const double *val;
} plx_matrix_rows;

/** A x = b for several right sides. */
typedef struct plx_rank_system {
    size_t struct_size;
    const plx_matrix_rows *a; /**< symmetric positive definite */
    int64_t columns;          /**< right sides */
    const double *b;          /**< rows of this rank x columns, row by row */
    double tol;               /**< |b - A x| <= tol |b| for every right side */
    double *x;                /**< rows of this rank x columns: the solutions */
    int64_t iterations;       /**< told by the engine: most of a right side */
    int converged;            /**< told by the engine: 0: not all right sides reached the tolerance */
} plx_rank_system;

/** A few eigenpairs of the symmetric operator M + E. */
typedef struct plx_rank_spectrum {
    size_t struct_size;
    const plx_matrix_rows *m; /**< M */
    /** y += E x, both of this rank's rows; all ranks call it together. Not 0: it failed, and the engine has to. NULL: no
     * E. */
    int (*add)(void *arg, const double *x, double *y);
    void *arg;
    int64_t k;           /**< pairs wanted */
    int64_t basis;       /**< vectors of a search space that suffices */
    int largest;         /**< 1: the largest, descending; 0: the smallest, ascending */
    double tol;          /**< |A v - theta v| <= tol for every pair */
    const double *start; /**< rows of this rank: where to begin */
    double *values;      /**< k */
    double *vectors;     /**< rows of this rank x k, row by row; of unit length over all ranks */
    int64_t iterations;  /**< told by the engine */
    int converged;       /**< told by the engine: 0: not all pairs reached the tolerance */
} plx_rank_spectrum;

/**
 * Solvers that work on all ranks together, each with its rows. Functions return 0; 1 when the numbers do not allow it (a
 * system whose matrix is not positive definite); anything else on another failure: then with one line of at most `size`
 * bytes about it in `why`. `sum` and `share` return 0, or anything else when a rank cannot be reached any more. All ranks
 * call them together and must get the same outcome.
 */
typedef struct plx_engines {
    size_t struct_size;
    int (*solve)(plx_rank_system *system, char *why, size_t size, void *payload);
    int (*eigen)(plx_rank_spectrum *spectrum, char *why, size_t size, void *payload);
    void *payload;
    /** x (`count` numbers) = the sum of those of all ranks, the same on all; in any order. NULL: by messages. */
    int (*sum)(double *x, int64_t count, void *payload);
    /** Of `bytes`, rank r has offset[r] .. offset[r+1]-1 (as many offsets as ranks, and one more); all get all. NULL: by
     * messages. */
    int (*share)(void *bytes, const size_t *offset, void *payload);
} plx_engines;

#define PLX_ENGINES_INIT                                                                                               \
    {                                                                                                                  \
        sizeof(plx_engines), 0, 0, 0, 0, 0                                                                             \
    }

/**
 * Solvers for what ranks cannot sum, sparse systems and spectra, and faster ways to sum and share. Methods that need them (plx_method_info.ranks) can be
 * fitted by several ranks then.
 *
 * @param engines  Copied; a function may be missing; NULL: none.
 * @retval PLX_E_ARG  `ctx` is NULL, or `engines` has the wrong size
 *
 * Ownership: the payload is the caller's.
 * Threads: the thread that uses the context, between calls.
 * Cost: O(1).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_context_set_engines(plx_context *ctx, const plx_engines *engines);

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
