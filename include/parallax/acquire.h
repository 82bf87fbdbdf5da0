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
    double gain;        /**< the information itself; in a batch beside what ranks before */
    const char *guess;  /**< what the model takes the sample for now; NULL: it does not tell */
    double probability; /**< of the guess; NaN: no classes */
} plx_acquired;

#define PLX_ACQUIRED_INIT                                                                                              \
    {                                                                                                                  \
        sizeof(plx_acquired), 0, 0, 0.0, 0.0, 0.0, 0, 0.0                                                              \
    }

/**
 * Fit `method` and rank all candidates, best first: for features every (sample, view) pair with the view missing, for
 * samples that are not held out. Scores are information per unit cost, compared to 10 significant digits; ties go to
 * labels before features, then by sample, then by view. With the parameter `batch` = N the ranking is N candidates to be
 * acquired together, each valued beside those before it. No candidate is not a failure: the ranking is empty.
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
 * Ownership: copied into the caller's struct; `guess` is borrowed from the ranking.
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

/**
 * Write the ranking for people: `rank,id,what,gain,cost,gain_per_cost,guess,probability`, `what` being the view or
 * `label`, numbers to six digits. Path "-": standard output.
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
PLX_API PLX_NODISCARD plx_status plx_acquisition_table(plx_context *ctx, const plx_acquisition *acquisition,
                                                       const plx_dataset *data, plx_index top, const char *path);

/* ---- simulation ---- */

/** One state of a simulated sequence of acquisitions. Set struct_size first (PLX_SIMULATED_INIT). */
typedef struct plx_simulated {
    size_t struct_size;
    plx_index run;      /**< from 0 */
    plx_index strategy; /**< number of the strategy */
    plx_index step;     /**< labels and views revealed so far */
    plx_index sample;   /**< revealed last; -1 at step 0 */
    plx_index view;     /**< its view; -1: its label (or step 0) */
    double cost;        /**< of all that was revealed so far */
    double gain;        /**< expected of what was revealed last, per cost; NaN: the strategy does not tell */
    double accuracy;    /**< on the scored samples; NaN: regression, or not refitted here */
    double auc;         /**< likewise; NaN also for more than two classes */
    double rmse;        /**< regression; NaN otherwise */
} plx_simulated;

#define PLX_SIMULATED_INIT                                                                                             \
    {                                                                                                                  \
        sizeof(plx_simulated), 0, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0                                                  \
    }

/** A view of a sample. */
typedef struct plx_pair {
    plx_index sample, view;
} plx_pair;

/** What to simulate. Start from PLX_SIMULATE_OPTIONS_INIT. */
typedef struct plx_simulate_options {
    size_t struct_size;
    /** Who chooses: "chosen" (the ranking as the parameters say), "random", "uncertainty" (the sample whose best class
     * leads least), "all" (everything at once, which tells what could be reached), a `strategy` of the method's ranking
     * of features, or a `criterion` of labels by scores. NULL: chosen, random and uncertainty. */
    const char *const *strategies;
    plx_index n_strategies;
    plx_index runs;          /**< repeats, at least 1; run r is exactly what the seed + r gives */
    plx_index steps;         /**< most labels and views to reveal; fewer when none is left or the budget is spent */
    plx_index retrain_every; /**< fit and rank again after so many, at least 1 */
    plx_index restart_every; /**< every so many fits starts afresh, those between from the one before; 1: all do */
    const char *labels;      /**< labels to start with, as plx_split_labels() takes it; NULL: those of the data */
    double test;             /**< share of the samples that are scored and never asked about; 0: all whose label is not
                                  seen are scored */
    const plx_pair *hidden;  /**< views to hide at the start; or */
    plx_index n_hidden;
    const double *hide_rates; /**< per view the share of samples that lose it, drawn in every run; NULL: as `hidden` */
    double least_gain;        /**< stop when the best candidate promises less per cost; 0: never */
    plx_index stable_rounds;  /**< stop when the scored labels stay the same over so many fits; 0: never */
    const char *part;         /**< file that keeps the states until the curves are written, and from which the same
                                   simulation goes on after whatever ended it; NULL: none */
    const char *directory;    /**< what file parameters are relative to; NULL: the working directory */
} plx_simulate_options;

#define PLX_SIMULATE_OPTIONS_INIT                                                                                      \
    {                                                                                                                  \
        sizeof(plx_simulate_options), 0, 0, 1, 0, 1, 10, 0, 0.0, 0, 0, 0, 0.0, 0, 0, 0                                 \
    }

/** Learning curves: one for every run and strategy. */
typedef struct plx_curves plx_curves;

/**
 * Reveal hidden labels and views one at a time, by several strategies from the same start, and keep how good the model
 * is after every one. True labels serve for revealing and scoring only. Curves run side by side on the context's
 * threads; what comes out depends neither on their number nor on interruptions.
 *
 * @param[out] out  NULL on any failure.
 * @param data      Complete where it is known. Its truth (its labels, where it has none) is what labels are revealed
 *                  from and what is scored. Views and labels it lacks are never acquired.
 * @param params    NULL for the defaults; made by plx_acquire_params_create() for the same method. `budget` ends a
 *                  curve.
 * @param options   NULL for the defaults, which reveal nothing.
 * @retval PLX_E_ARG        an argument is NULL, an unknown strategy, a pair that does not exist, is missing already or
 *                          is given twice, an option out of range, or nothing to reveal
 * @retval PLX_E_DATA       no truth to score on; as plx_acquire()
 * @retval PLX_E_FORMAT     the part file belongs to another simulation or is damaged
 * @retval PLX_E_NOMEM      as plx_acquire()
 * @retval PLX_E_IO         the part file cannot be written
 * @retval PLX_E_CANCELLED  asked to stop; the part file keeps what was done
 *
 * Ownership: the caller's; free it with plx_curves_destroy(). It keeps no pointer to the data.
 * Threads: as the context passed in.
 * Cost: that of plx_acquire() for every fit: runs x strategies x (steps / retrain_every + 1), divided by the threads.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_acquire_simulate(plx_curves **out, plx_context *ctx, plx_acquire_kind kind,
                                                      const char *method, const plx_dataset *data,
                                                      const plx_params *params, const plx_simulate_options *options);

/**
 * Free curves. NULL is allowed. A part file stays.
 *
 * Errors: none.
 * Ownership: what was read from the curves goes with them.
 * Threads: one, when no other uses the curves.
 * Cost: O(blocks of memory).
 */
PLX_API void plx_curves_destroy(plx_curves *curves);

/**
 * @name Reading curves
 *
 * Ownership: borrowed from the curves, or copied into the caller's struct.
 * Threads: any number may read.
 */

/**
 * States of all curves together; 0 for NULL.
 *
 * Errors: none.
 * Cost: O(curves).
 */
PLX_API plx_index plx_curves_count(const plx_curves *curves);

/**
 * States that were taken up from the part file; 0 for NULL.
 *
 * Errors: none.
 * Cost: O(curves).
 */
PLX_API plx_index plx_curves_resumed(const plx_curves *curves);

/**
 * Name of the i-th strategy.
 *
 * Errors: none; NULL for NULL or out of range.
 * Cost: O(1).
 */
PLX_API const char *plx_curves_strategy(const plx_curves *curves, plx_index i);

/**
 * The i-th state, by run, then strategy, then step. Set `out->struct_size` first (PLX_SIMULATED_INIT).
 *
 * @retval PLX_E_ARG  an argument is NULL, the struct has an unknown size, or i is out of range
 *
 * Cost: O(curves).
 */
PLX_API PLX_NODISCARD plx_status plx_curves_get(plx_simulated *out, const plx_curves *curves, plx_index i);

/** How good a strategy was, over the runs. Set struct_size first (PLX_CURVE_SUMMARY_INIT). */
typedef struct plx_curve_summary {
    size_t struct_size;
    const char *metric;      /**< accuracy, auc or rmse */
    plx_index runs;          /**< that have a mean */
    double mean, error;      /**< mean over the acquisitions of a curve, then over the runs; its standard error */
    double difference;       /**< run by run to the other strategy; NaN: none was given */
    double difference_error; /**< its standard error */
    double first, last;      /**< mean of the first and of the last state */
    plx_index reached;       /**< runs that came within 5 % of strategy "all"; 0 without it */
    double steps_to_reach;   /**< mean number of acquisitions they needed */
    double cost_to_reach;    /**< and their mean cost */
} plx_curve_summary;

#define PLX_CURVE_SUMMARY_INIT                                                                                         \
    {                                                                                                                  \
        sizeof(plx_curve_summary), 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0.0, 0.0                                     \
    }

/**
 * Figures of a strategy beside another. Set `out->struct_size` first (PLX_CURVE_SUMMARY_INIT).
 *
 * @param other   the strategy to compare with; itself: none
 * @param metric  accuracy, auc or rmse; NULL: rmse for regression, else auc with two classes, else accuracy
 * @retval PLX_E_ARG  an argument is NULL, the struct has an unknown size, a number is out of range, or an unknown metric
 *
 * Cost: O(states).
 */
PLX_API PLX_NODISCARD plx_status plx_curves_summary(plx_curve_summary *out, const plx_curves *curves,
                                                    plx_index strategy, plx_index other, const char *metric);

/**
 * Write `criterion,run,step,id,view,cost,accuracy,auc,gain` (regression: `rmse` for accuracy and auc), a line per state;
 * the view of a revealed label is called `label`. Path "-": standard output. Once written, the part file is removed.
 *
 * @param data  The data set of the simulation: ids and names of views come from it.
 * @retval PLX_E_ARG  an argument is NULL, or the data set has fewer samples or views than the curves name
 * @retval PLX_E_IO   the file cannot be written; nothing half-written stays
 *
 * Ownership: nothing is kept.
 * Threads: as the context passed in.
 * Cost: O(states).
 */
PLX_API PLX_NODISCARD plx_status plx_curves_write(plx_context *ctx, const plx_curves *curves, const plx_dataset *data,
                                                  const char *path);

#ifdef __cplusplus
}
#endif
#endif
