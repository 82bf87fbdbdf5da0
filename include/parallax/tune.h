/**
 * @file parallax/tune.h
 * @brief Settings of a method chosen by cross-validation on the labelled samples.
 *
 * Candidates are a grid, or points drawn from the ranges of the method's parameters, the settings one starts from always
 * among them. Each is cross-validated: one fold of the labelled samples after the other loses its labels and is scored,
 * everyone else takes part in the fit as before. The truth of the data set is never looked at. All candidates are tried on
 * few folds first and the better third on more (successive halving).
 *
 * The settings one starts from stay unless another candidate is better by more than one standard error of the difference,
 * with the variance of Nadeau and Bengio (2003), since fits of different folds share most of their samples: with few labels
 * the best of many candidates is mostly the luckiest.
 *
 * Lifetime: the caller owns a tuning and destroys it before its context. What is read from it is borrowed.
 *
 * Threads: as the context passed in; a finished tuning may be read by any number.
 */
#ifndef PARALLAX_TUNE_H
#define PARALLAX_TUNE_H

#include "parallax/dataset.h"
#include "parallax/params.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct plx_tuning plx_tuning;

/** How to search. Start from PLX_TUNE_OPTIONS_INIT; fields are only ever appended. */
typedef struct plx_tune_options {
    size_t struct_size;
    const char *const *grid; /**< "KEY=V1,V2,...": every combination is a candidate; NULL: drawn from the ranges */
    plx_index n_grid;
    plx_index trials;      /**< candidates to draw without a grid, at least 1 */
    plx_index folds;       /**< from 2; fewer where fewer samples are labelled */
    plx_index repeats;     /**< of the folds for the candidates that are left at the end, at least 1 */
    const char *metric;    /**< to be best in; NULL: accuracy */
    plx_index jobs;        /**< runs side by side; 0: as many as there are cores for */
    int threads;           /**< of each run, at least 1 */
    double run_limit;      /**< seconds after which a run is given up; 0: none */
    const char *journal;   /**< SQLite file of finished runs, as for plx_compare(); NULL: none */
    int resume;            /**< not 0: what the journal holds is used; else a journal that holds runs is refused */
    const char *directory; /**< what file parameters are relative to; NULL: the working directory */
} plx_tune_options;

#define PLX_TUNE_OPTIONS_INIT                                                                                          \
    {                                                                                                                  \
        sizeof(plx_tune_options), 0, 0, 24, 5, 2, 0, 0, 1, 0.0, 0, 0, 0                                                \
    }

/**
 * Choose settings.
 *
 * @param[out] out  NULL on any failure.
 * @param data      its labels are what is validated on
 * @param params    the settings to start from, made for the same method; NULL: the defaults. Its keys are not searched.
 * @param options   NULL for the defaults.
 * @retval PLX_E_ARG        an argument is NULL, an option out of range, unknown method, key or value, or more than 4096
 *                          candidates
 * @retval PLX_E_DATA       fewer than four labelled samples, or of fewer than two classes
 * @retval PLX_E_FORMAT     the journal is not what it should be
 * @retval PLX_E_IO         the journal cannot be written
 * @retval PLX_E_NOMEM      memory ran out outside of a run
 * @retval PLX_E_UNSUPPORTED  nothing of the method can be searched, or no candidate has an answer
 * @retval PLX_E_CANCELLED  asked to stop; the journal keeps the finished runs
 *
 * Same seed and input give the same choice for every number of jobs and threads.
 *
 * Ownership: the caller's; free it with plx_tuning_destroy(). It keeps no pointer to the data.
 * Threads: as the context passed in.
 * Cost: folds x (candidates + repeats x a third of them) fits, divided by the jobs.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_tune(plx_tuning **out, plx_context *ctx, const char *method,
                                          const plx_dataset *data, const plx_params *params,
                                          const plx_tune_options *options);

/**
 * Free a tuning. NULL is allowed.
 *
 * Errors: none.
 * Ownership: what was read from the tuning goes with it.
 * Threads: one, when no other uses the tuning.
 * Cost: O(blocks of memory).
 */
PLX_API void plx_tuning_destroy(plx_tuning *tuning);

/**
 * @name Reading a tuning
 *
 * Errors: none; 0, NULL or -1 for NULL or out of range.
 * Ownership: borrowed from the tuning.
 * Threads: any number may read.
 * Cost: O(1).
 */

/** Number of candidates; number 0 is the settings one starts from. @since 0.1 */
PLX_API plx_index plx_tuning_count(const plx_tuning *tuning);
/** Number of the chosen candidate; -1 for NULL. @since 0.1 */
PLX_API plx_index plx_tuning_chosen(const plx_tuning *tuning);
/** Runs that were taken from the journal. @since 0.1 */
PLX_API plx_index plx_tuning_resumed(const plx_tuning *tuning);
/** What can be said for the choice, and how sure it is: one sentence. @since 0.1 */
PLX_API const char *plx_tuning_verdict(const plx_tuning *tuning);
/** The chosen settings, for plx_fit(). @since 0.1 */
PLX_API const plx_params *plx_tuning_params(const plx_tuning *tuning);

/** A candidate. Set struct_size first (PLX_CANDIDATE_INIT). */
typedef struct plx_candidate {
    size_t struct_size;
    const char *settings;    /**< KEY=VALUE:KEY=VALUE; "" for number 0 */
    plx_index runs;          /**< folds it was tried on */
    double mean, sd;         /**< over them; NaN: none */
    double difference;       /**< to number 0 on the same folds; NaN: none */
    double difference_error; /**< its standard error, corrected; NaN: none */
    int finalist;            /**< it was tried on all folds */
    const char *reason;      /**< of the first run without an answer, or NULL */
} plx_candidate;

#define PLX_CANDIDATE_INIT                                                                                             \
    {                                                                                                                  \
        sizeof(plx_candidate), 0, 0, 0.0, 0.0, 0.0, 0.0, 0, 0                                                          \
    }

/**
 * Candidate number i.
 *
 * @retval PLX_E_ARG  an argument is NULL, the struct has an unknown size, or i is out of range
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_tuning_get(plx_candidate *out, const plx_tuning *tuning, plx_index i);

#ifdef __cplusplus
}
#endif
#endif
