/**
 * @file parallax/compare.h
 * @brief Several methods on the same splits of several data sets: who is best, who is not worse, what it costs.
 *
 * An entry is a method with settings, or predictions that another program made. A block is a data set with so many labels.
 * Every entry is run on every block, several times; the runs of a block use the same splits for all entries. A run that
 * fails or is refused does not end the comparison: it is kept with its reason.
 *
 * Splits: run r of a block has the seed of the context + r. Without folds and without setting samples aside, its labels
 * are those plx_split_labels() chooses with that seed, all other samples take part in the fit without their label, and
 * they are scored: plx_fit() with that seed on that data set gives the same result. With folds, run r K + f leaves fold f
 * of plx_split_folds() without labels and scores it; `inductive` also takes the scored samples out of the fit.
 *
 * Journal: every finished run is one row of an SQLite file, written before the next begins, so that a comparison that was
 * killed goes on where it was. What is found there is not computed again. Results do not depend on the number of jobs or
 * threads, nor on interruptions.
 *
 * Lifetime: the caller owns a comparison and destroys it before its context. What is read from it is borrowed.
 *
 * Threads: as the context passed in; a finished comparison may be read by any number.
 */
#ifndef PARALLAX_COMPARE_H
#define PARALLAX_COMPARE_H

#include "parallax/dataset.h"
#include "parallax/method.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct plx_comparison plx_comparison;

/** What to compare and how. Start from PLX_COMPARE_OPTIONS_INIT; fields are only ever appended. */
typedef struct plx_compare_options {
    size_t struct_size;
    const char *const *names; /**< of the data sets, all different; NULL: their own */
    const char *const
        *directories;           /**< what file parameters are relative to, by data set; NULL: the working directory */
    const char *const *methods; /**< NAME or NAME:KEY=VALUE:KEY=VALUE...; NULL: all that do the task */
    plx_index n_methods;
    const char *const *predictions; /**< FILE or NAME=FILE: predictions of other programs, see plx_compare_splits() */
    plx_index n_predictions;
    const char *const
        *labels; /**< as plx_split_labels() takes them, or "given": those of the data set. NULL: "10%", with
                                    folds "all" */
    plx_index n_labels;
    const char *const *metrics; /**< names; NULL: accuracy and macro_f1, or nmi and ari */
    plx_index n_metrics;
    plx_task task; /**< PLX_TASK_CLASSIFY or PLX_TASK_CLUSTER; clusterers see no label and are scored on all samples */
    plx_index repeats;   /**< at least 1 */
    plx_index folds;     /**< 0, or the number of folds from 2; every repeat deals them anew */
    int inductive;       /**< not 0: scored samples take no part in the fit */
    double test;         /**< inductive without folds: share of the samples that is set aside, in (0,1) */
    plx_index jobs;      /**< runs side by side; 0: as many as the machine has cores for. Never more than that */
    int threads;         /**< of each run, at least 1 */
    double run_limit;    /**< seconds after which a run is given up; 0: none */
    double alpha;        /**< level of the tests, in (0,1) */
    const char *journal; /**< SQLite file; NULL: none */
    int resume;          /**< not 0: what the journal holds is used; else a journal that holds runs is refused */
} plx_compare_options;

#define PLX_COMPARE_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(plx_compare_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, PLX_TASK_CLASSIFY, 10, 0, 0, 0.3, 0, 1, 0.0, 0.05,  \
            0, 0                                                                                                       \
    }

/**
 * Compare. All settings, specs of labels and files of predictions are checked before the first run.
 *
 * With several jobs each has an equal share of the memory limit; a run that this share refuses is run again alone.
 *
 * @param[out] out  NULL on any failure.
 * @param data      n_data data sets, each with a truth or labels.
 * @param options   NULL for the defaults.
 * @retval PLX_E_ARG        an argument is NULL, an option is out of range, unknown method, setting, metric or name given
 *                          twice, or the journal holds runs and `resume` is 0
 * @retval PLX_E_DATA       a data set has neither truth nor labels, or predictions that do not belong to the splits
 * @retval PLX_E_FORMAT     the journal or a file of predictions is not what it should be
 * @retval PLX_E_IO         a file cannot be read, or the journal not written, or another program holds it
 * @retval PLX_E_NOMEM      memory ran out outside of a run
 * @retval PLX_E_CANCELLED  asked to stop; the journal keeps the finished runs
 *
 * Ownership: the caller's; free it with plx_comparison_destroy(). It keeps no pointer to the data.
 * Threads: as the context passed in. Progress is told on the caller's thread, a step per run.
 * Cost: that of plx_fit() for every entry, block and run, divided by the jobs; each job holds a copy of a data set.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_compare(plx_comparison **out, plx_context *ctx, const plx_dataset *const *data,
                                             plx_index n_data, const plx_compare_options *options);

/**
 * Write the splits of a comparison for other programs: DIRECTORY/splits.csv with columns
 * `run,dataset,labels,repeat,fold,seed,id,role,label`, a line per run and sample. The role is `labelled` (the column
 * label holds its class), `unlabelled` or `test`; samples of the latter two are scored, `unlabelled` ones only where no
 * sample is `test`; `none` has no class. Predictions come back as a CSV with columns `run,id,label` and, where there are
 * scores, `score_CLASS`, for every scored sample.
 *
 * @retval PLX_E_ARG  as plx_compare()
 * @retval PLX_E_DATA as plx_compare()
 * @retval PLX_E_IO   the folder or file cannot be made
 *
 * Ownership: nothing is kept.
 * Threads: as the context passed in.
 * Cost: O(blocks x runs x samples).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_compare_splits(plx_context *ctx, const plx_dataset *const *data, plx_index n_data,
                                                    const plx_compare_options *options, const char *directory);

/**
 * Free a comparison. NULL is allowed. A journal stays.
 *
 * Errors: none.
 * Ownership: what was read from the comparison goes with it.
 * Threads: one, when no other uses the comparison.
 * Cost: O(blocks of memory).
 */
PLX_API void plx_comparison_destroy(plx_comparison *comparison);

/**
 * @name Reading a comparison
 *
 * Errors: none; 0, NULL or NaN for NULL or out of range.
 * Ownership: borrowed from the comparison.
 * Threads: any number may read.
 * Cost: O(1), a reason O(runs).
 */

/** Number of blocks. @since 0.1 */
PLX_API plx_index plx_comparison_blocks(const plx_comparison *comparison);
/** Number of entries. @since 0.1 */
PLX_API plx_index plx_comparison_entries(const plx_comparison *comparison);
/** Number of metrics. @since 0.1 */
PLX_API plx_index plx_comparison_metrics(const plx_comparison *comparison);
/** Runs of an entry on a block: repeats x folds. @since 0.1 */
PLX_API plx_index plx_comparison_runs(const plx_comparison *comparison);
/** Runs that were taken from the journal. @since 0.1 */
PLX_API plx_index plx_comparison_resumed(const plx_comparison *comparison);
/** Runs without an answer. @since 0.1 */
PLX_API plx_index plx_comparison_failed(const plx_comparison *comparison);
/** Name of a block: data set and labels. @since 0.1 */
PLX_API const char *plx_comparison_block(const plx_comparison *comparison, plx_index block);
/** Name of an entry, as it was asked for. @since 0.1 */
PLX_API const char *plx_comparison_entry(const plx_comparison *comparison, plx_index entry);
/** Name of a metric. @since 0.1 */
PLX_API const char *plx_comparison_metric(const plx_comparison *comparison, plx_index metric);

/** A metric of an entry in one run. NaN also where the run has no answer or does not have the metric. @since 0.1 */
PLX_API double plx_comparison_value(const plx_comparison *comparison, plx_index metric, plx_index block,
                                    plx_index entry, plx_index run);

/** An entry on a block. Set struct_size first (PLX_COMPARED_INIT). */
typedef struct plx_compared {
    size_t struct_size;
    plx_index runs;     /**< with a value */
    plx_index failed;   /**< without an answer */
    double mean, sd;    /**< over the runs with a value; NaN: none, or one */
    int best;           /**< the best mean of the entries with a value in all runs */
    int level;          /**< not significantly worse than the best; also the best itself */
    double p, p_holm;   /**< of the difference to the best, and corrected for their number by Holm; NaN: not tested */
    double rank;        /**< mean over all blocks, 1 = best; NaN: no answer anywhere */
    double seconds;     /**< mean per run; NaN: not known */
    double cpu;         /**< of the processor, where a run has one thread; NaN: not known */
    double memory;      /**< mean peak of a run in bytes, with its copy of the data; NaN: not known */
    const char *reason; /**< of the first run without an answer, or NULL */
} plx_compared;

#define PLX_COMPARED_INIT                                                                                              \
    {                                                                                                                  \
        sizeof(plx_compared), 0, 0, 0.0, 0.0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0                                    \
    }

/**
 * An entry on a block by a metric.
 *
 * @retval PLX_E_ARG  an argument is NULL, the struct has an unknown size, or a number is out of range
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_comparison_get(plx_compared *out, const plx_comparison *comparison,
                                                    plx_index metric, plx_index block, plx_index entry);

/** What a comparison is written as. */
typedef enum plx_compare_format {
    PLX_COMPARE_TEXT = 0, /**< for a terminal */
    PLX_COMPARE_JSON = 1, /**< everything, also the value of every run */
    PLX_COMPARE_CSV = 2,  /**< a line per block, entry and metric */
    PLX_COMPARE_MARKDOWN = 3,
    PLX_COMPARE_LATEX = 4
} plx_compare_format;

/** Which part of it. */
typedef enum plx_compare_part {
    PLX_COMPARE_RESULTS = 0, /**< the same bytes for the same data, options and seed */
    PLX_COMPARE_COSTS = 1    /**< seconds and memory: those of the run that computed them, also after a pause */
} plx_compare_part;

/**
 * The format of a name: "text", "json", "csv", "markdown" or "md", "latex" or "tex".
 *
 * @retval PLX_E_ARG  an argument is NULL, or the name is unknown
 *
 * Ownership: nothing is kept.
 * Threads: any.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_compare_format_parse(plx_compare_format *out, const char *name);

/**
 * Write a part of a comparison. Path "-": standard output.
 *
 * @retval PLX_E_ARG  an argument is NULL, or no such format or part
 * @retval PLX_E_IO   the file cannot be written; nothing half-written stays
 *
 * Ownership: nothing is kept.
 * Threads: as the context passed in.
 * Cost: O(length of the text).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_comparison_write(plx_context *ctx, const plx_comparison *comparison,
                                                      plx_compare_format format, plx_compare_part part,
                                                      const char *path);

#ifdef __cplusplus
}
#endif
#endif
