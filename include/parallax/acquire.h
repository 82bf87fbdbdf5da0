/**
 * @file parallax/acquire.h
 * @brief What to measure next: which missing view of which sample tells most about the function to be learned.
 *
 * Lifetime: plx_acquire() hands back a result the caller owns; what is read from it is borrowed. It keeps no pointer to
 * the data.
 *
 * Threads: a context serves one call at a time. Results do not depend on the number of threads.
 */
#ifndef PARALLAX_ACQUIRE_H
#define PARALLAX_ACQUIRE_H

#include "parallax/method.h"
#include "parallax/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What may be asked for. */
typedef enum plx_acquire_kind {
    PLX_ACQUIRE_LABELS = 0,   /**< labels of unlabelled samples */
    PLX_ACQUIRE_FEATURES = 1, /**< missing views of samples */
    PLX_ACQUIRE_ANY = 2       /**< both, in one ranking */
} plx_acquire_kind;

/**
 * @name Who can rank
 *
 * Ownership: static data of the library, never freed.
 * Threads: any.
 * Cost: O(methods + parameters + arrays), no allocation.
 */

/**
 * Number of methods that can rank.
 *
 * Errors: none.
 */
PLX_API plx_index plx_acquirer_count(void);

/**
 * Name of a method that can rank.
 *
 * Errors: none; NULL out of range.
 */
PLX_API const char *plx_acquirer_name(plx_index i);

/**
 * Can `method` rank this kind? Every classifier ranks labels.
 *
 * Errors: none; 0 for NULL, an unknown method or an unknown kind.
 */
PLX_API int plx_acquirer_ranks(const char *method, plx_acquire_kind kind);

/**
 * The i-th parameter of acquiring with `method`. Set `info->struct_size` first (PLX_PARAM_INFO_INIT).
 *
 * @retval PLX_E_ARG  an argument is NULL, the struct has an unknown size, i is out of range, or the method cannot rank
 *
 * Ownership: static, but for `range`, which stays valid for the next 63 such calls of the thread.
 */
PLX_API PLX_NODISCARD plx_status plx_acquirer_param(plx_param_info *info, const char *method, plx_index i);

/**
 * The i-th array of acquiring with `method`. Set `info->struct_size` first (PLX_ARRAY_INFO_INIT).
 *
 * @retval PLX_E_ARG  as plx_acquirer_param()
 */
PLX_API PLX_NODISCARD plx_status plx_acquirer_array(plx_array_info *info, const char *method, plx_index i);

/**
 * All defaults of acquiring with `method`: its own parameters, costs, budget and density of unseen features.
 *
 * @param[out] out    NULL on failure.
 * @retval PLX_E_ARG  an argument is NULL, or the method cannot rank; the message names those that can
 *
 * Ownership: the caller's; free it with plx_params_destroy().
 * Threads: as the context passed in.
 * Cost: O(1).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_acquire_params_create(plx_params **out, plx_context *ctx, const char *method);

/**
 * @name A ranking
 *
 * Threads: any number may read.
 * Cost: O(1).
 */

typedef struct plx_acquisition plx_acquisition;

/** A row of a ranking. Set struct_size first (PLX_ACQUIRED_INIT). */
typedef struct plx_acquired {
    size_t struct_size;
    plx_index sample; /**< row of the data set */
    plx_index view;   /**< number of the view; -1: the label */
    double score;     /**< information in nats divided by the cost */
    double cost;
} plx_acquired;

#define PLX_ACQUIRED_INIT                                                                                              \
    {                                                                                                                  \
        sizeof(plx_acquired), 0, 0, 0.0, 0.0                                                                           \
    }

/**
 * Fit `method` and rank all candidates, best first: for features every (sample, view) pair with the view missing, for
 * samples that are not held out. Scores are information per unit cost, compared to 10 significant digits; ties go to
 * labels before features, then by sample, then by view. No candidate is not a failure: the ranking is empty.
 *
 * @param[out] out  NULL on any failure.
 * @param params    NULL for the defaults; made by plx_acquire_params_create() for the same method.
 * @param options   as for plx_fit(); NULL for the defaults.
 * @retval PLX_E_ARG        an argument is NULL; the method cannot rank this kind; a parameter or array that does not
 *                          exist
 * @retval PLX_E_DATA       as plx_fit(); a view that no sample has, or a kernel view that some sample lacks
 * @retval PLX_E_NOMEM      as plx_fit()
 * @retval PLX_E_CANCELLED  asked to stop
 *
 * Same seed and input give the same bytes for every thread count.
 *
 * Ownership: the caller's; free it with plx_acquisition_destroy(). It keeps no pointer to the data.
 * Threads: as the context passed in.
 * Cost: that of plx_fit() with the method and of the gains, which the page of the method states; refused before it
 * starts when the estimate passes the memory limit.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_acquire(plx_acquisition **out, plx_context *ctx, plx_acquire_kind kind,
                                             const char *method, const plx_dataset *data, const plx_params *params,
                                             const plx_fit_options *options);

/**
 * Free a ranking and its model. NULL is allowed.
 *
 * Errors: none.
 * Ownership: what was read from the ranking goes with it.
 * Threads: one, when no other uses the ranking.
 * Cost: O(blocks of memory).
 */
PLX_API void plx_acquisition_destroy(plx_acquisition *acquisition);

/**
 * Rows of the ranking; 0 for NULL.
 *
 * Errors: none.
 * Ownership: nothing is handed over.
 */
PLX_API plx_index plx_acquisition_count(const plx_acquisition *acquisition);

/**
 * The row at `rank` (0: the best). Set `out->struct_size` first (PLX_ACQUIRED_INIT).
 *
 * @retval PLX_E_ARG  an argument is NULL, the struct has an unknown size, or `rank` is out of range
 *
 * Ownership: copied into the caller's struct.
 */
PLX_API PLX_NODISCARD plx_status plx_acquisition_get(plx_acquired *out, const plx_acquisition *acquisition,
                                                     plx_index rank);

/**
 * The model the ranking was made with, for its arrays, JSON result and predictions. It cannot be saved.
 *
 * Errors: none; NULL for NULL.
 * Ownership: borrowed from the ranking.
 */
PLX_API plx_model *plx_acquisition_model(plx_acquisition *acquisition);

/**
 * Write `rank,kind,id,view,score,cost`. Path "-": standard output.
 *
 * @param data  The data set that was ranked: ids and names of views come from it.
 * @param top   How many rows; 0: all.
 * @retval PLX_E_ARG  an argument is NULL, `top` is negative, or the data set is not the one that was ranked
 * @retval PLX_E_IO   the file cannot be written; nothing half-written stays
 *
 * Ownership: nothing is kept.
 * Threads: as the context passed in.
 * Cost: O(rows written).
 */
PLX_API PLX_NODISCARD plx_status plx_acquisition_write(plx_context *ctx, const plx_acquisition *acquisition,
                                                       const plx_dataset *data, plx_index top, const char *path);

/* ---- simulation ---- */

/** One state of a simulated sequence of acquisitions. */
typedef struct plx_simulated {
    size_t struct_size; /**< as the library was built */
    plx_index step;     /**< pairs revealed so far */
    plx_index sample;   /**< the pair revealed last; -1 at step 0 */
    plx_index view;     /**< likewise */
    double cost;        /**< of all pairs revealed so far */
    double accuracy;    /**< on the samples whose label was not seen; NaN: regression, or not refitted here */
    double auc;         /**< likewise; NaN also for more than two classes */
    double rmse;        /**< regression; NaN otherwise */
} plx_simulated;

/** Told after every step on the caller's thread; not 0 stops with PLX_E_CANCELLED. The context is busy meanwhile. */
typedef int (*plx_simulated_fn)(const plx_simulated *state, void *payload);

/** A view of a sample. */
typedef struct plx_pair {
    plx_index sample, view;
} plx_pair;

/** What to simulate. Start from PLX_SIMULATE_OPTIONS_INIT. */
typedef struct plx_simulate_options {
    size_t struct_size;
    plx_index steps;         /**< most pairs to reveal; fewer when no hidden pair is left */
    plx_index retrain_every; /**< refit and rank again after so many pairs, at least 1 */
    const plx_pair *known;   /**< pairs an interrupted simulation has revealed already, in order; NULL: none */
    plx_index n_known;
    const char *directory; /**< what file parameters are relative to; NULL: the working directory */
} plx_simulate_options;

#define PLX_SIMULATE_OPTIONS_INIT                                                                                      \
    {                                                                                                                  \
        sizeof(plx_simulate_options), 0, 1, 0, 0, 0                                                                    \
    }

/**
 * Reveal hidden views one at a time, each the best candidate of the strategy that `params` names, and tell how good
 * the model is after every one. The true labels are used for scoring only.
 *
 * @param data    Complete where it is known; its labels are what the learner sees, its truth is what it is scored on.
 * @param hidden  Pairs that are present in `data` and that the learner sees only once they were acquired. Pairs that
 *                are missing in `data` are never acquired.
 * @param told    The state after step n_known + 1, ... (from step 0 without known pairs): an interrupted simulation
 *                goes on exactly as if it had not been interrupted. NULL: no callback.
 * @retval PLX_E_ARG        an argument is NULL, a pair that does not exist, is missing already or is given twice
 * @retval PLX_E_DATA       no truth to score on; as plx_acquire()
 * @retval PLX_E_NOMEM      as plx_acquire()
 * @retval PLX_E_CANCELLED  asked to stop, also by `told`
 *
 * Ownership: nothing is kept.
 * Threads: as the context passed in; `told` runs on the calling thread.
 * Cost: that of plx_acquire() for every refit (steps / retrain_every + 1).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_acquire_simulate(plx_context *ctx, const char *method, const plx_dataset *data,
                                                      const plx_pair *hidden, plx_index n_hidden,
                                                      const plx_params *params, const plx_simulate_options *options,
                                                      plx_simulated_fn told, void *payload);

#ifdef __cplusplus
}
#endif
#endif
