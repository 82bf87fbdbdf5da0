/**
 * @file parallax/metrics.h
 * @brief How good is a result: classification, ranking, retrieval, clustering, agreement of
 *        views, and tests over several data sets.
 *
 * A plx_metrics is an ordered list name -> value. Functions plx_metrics_<task>() add what they
 * compute; a name that is there already gets the new value. Per-class values are called
 * `f1:CLASS`, values of a pair `kappa:A|B`. A value can be undefined (AUC without a positive
 * sample): its name is listed, and a warning says why.
 *
 * Labels are text. `?` as truth means unknown: such samples are skipped everywhere. All results
 * are fractions, not percent.
 *
 * Lifetime: the caller owns a plx_metrics and destroys it before its context. Names, warnings
 * and JSON text belong to it and live as long as it does. No function keeps a pointer to the
 * caller's data. After a failure other than PLX_E_ARG or PLX_E_DATA the list may hold part of
 * what the failed call adds.
 *
 * Threads: calls on a plx_metrics are calls on its context, which serves one at a time.
 * Results do not depend on the number of threads.
 */
#ifndef PARALLAX_METRICS_H
#define PARALLAX_METRICS_H

#include "parallax/context.h"
#include "parallax/dataset.h"
#include "parallax/matrix.h"
#include "parallax/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct plx_metrics plx_metrics;

/**
 * @name The list
 *
 * Errors: none.
 * Ownership: what is returned is borrowed from the list.
 * Threads: one at a time, as the context the list was made with.
 * Cost: O(1).
 */

/**
 * An empty list.
 *
 * @param[out] out      NULL on failure.
 * @retval PLX_E_ARG    an argument is NULL
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Ownership: the caller's; free it with plx_metrics_destroy() before its context.
 */
PLX_API PLX_NODISCARD plx_status plx_metrics_create(plx_metrics **out, plx_context *ctx);

/**
 * Free a list. NULL is allowed.
 *
 * Ownership: names, warnings and texts read from the list go with it.
 */
PLX_API void plx_metrics_destroy(plx_metrics *metrics);

/** Number of metrics, undefined ones included; 0 for NULL. */
PLX_API plx_index plx_metrics_count(const plx_metrics *metrics);

/** What to say beside the values: "on the labelled samples" when the method had seen all the labels it is measured with;
 *  else NULL. A text of the library. @since 0.1 */
PLX_API const char *plx_metrics_basis(const plx_metrics *metrics);

/** Name number i; NULL for NULL or out of range. */
PLX_API const char *plx_metrics_name(const plx_metrics *metrics, plx_index i);

/** Value number i. NaN, and *defined = 0, where it is undefined, for NULL or out of range.
 *  `defined` may be NULL. Infinities are possible (a t statistic without variance). */
PLX_API double plx_metrics_value(const plx_metrics *metrics, plx_index i, int *defined);

/** Index of a name; -1 when it is not in the list, or for NULL. */
PLX_API plx_index plx_metrics_find(const plx_metrics *metrics, const char *name);

/** Number of warnings; 0 for NULL. */
PLX_API plx_index plx_metrics_warning_count(const plx_metrics *metrics);

/** Warning number i (one line); NULL for NULL or out of range. */
PLX_API const char *plx_metrics_warning(const plx_metrics *metrics, plx_index i);

/**
 * The list as a flat JSON object, in order; undefined values are null, infinities +-1e308.
 * Bytes of names that are not UTF-8 are written as \\xNN.
 *
 * @param[out] text     NULL on failure.
 * @retval PLX_E_ARG    an argument is NULL
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Cost: O(length of the text), which stays in the list until it is freed.
 */
PLX_API PLX_NODISCARD plx_status plx_metrics_json(const char **text, plx_metrics *metrics);

/**
 * @name Computations
 *
 * Ownership: nothing of the caller's is kept; values and warnings are added to the list.
 * Threads: as the context the list was made with.
 */

/**
 * One label per sample: accuracy, error, precision:C, recall:C, f1:C, macro_*, micro_*,
 * weighted_f1. Classes are those in truth or predictions; `?` as prediction is never correct
 * and no class. 0/0 is 0.
 *
 * @param truth, pred   n texts each; NULL when n is 0.
 * @retval PLX_E_ARG    an argument or an entry is NULL, or n is negative
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Cost: O(n).
 */
PLX_API PLX_NODISCARD plx_status plx_metrics_classification(plx_metrics *metrics, const char *const *truth,
                                                            const char *const *pred, plx_index n);

/** Class hierarchy for plx_metrics_multilabel(). */
typedef struct plx_metrics_hierarchy {
    size_t struct_size;         /**< sizeof(plx_metrics_hierarchy) */
    const char *const *classes; /**< all class names */
    plx_index n_classes;
    const char *const *subset; /**< n_subset pairs: subset[2k] is a kind of subset[2k+1] */
    plx_index n_subset;
    const char *const *mutex; /**< n_mutex pairs that no sample has both of; NULL: none */
    plx_index n_mutex;
} plx_metrics_hierarchy;

/**
 * Sets of labels, names separated by `|`; empty text or `-` is the empty set, and so is a
 * prediction of `?`. Adds precision:C, recall:C, f1:C, macro_*, micro_*, weighted_f1,
 * subset_accuracy, hamming_loss; with a hierarchy also h_precision, h_recall, h_f1, for which both
 * sets are first closed upwards, and h_violations, the share of predictions that lack a superset of
 * one of their classes or hold two exclusive ones. A label the hierarchy does not list has no rules.
 *
 * @param truth, pred   n texts each; NULL when n is 0.
 * @param hierarchy     NULL for none.
 * @retval PLX_E_ARG    an argument or an entry is NULL, n is negative, or the hierarchy has an unknown size
 * @retval PLX_E_DATA   the hierarchy names an unknown class, has a cycle, or excludes related classes
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Cost: O(n x classes per sample); with a hierarchy also O(n x ancestors) and O(classes x classes) memory.
 */
PLX_API PLX_NODISCARD plx_status plx_metrics_multilabel(plx_metrics *metrics, const char *const *truth,
                                                        const char *const *pred, plx_index n,
                                                        const plx_metrics_hierarchy *hierarchy);

/**
 * Ranking by scores, one column per class against the rest: auc:C, prbep:C,
 * average_precision:C, macro_auc (mean over the defined ones), and auc, prbep,
 * average_precision of the positive class.
 *
 * @param scores      n x number of classes; larger means more likely.
 * @param classes     Names of the columns, all different.
 * @param positive    NULL: none, or the only column if there is one. With one column whose name
 *                    is no class of the truth, the column is the score of `positive`.
 * @param multilabel  Non-zero: truth holds sets separated by `|`.
 * @retval PLX_E_ARG    an argument is NULL, the matrix has no columns, or `positive` has no column
 * @retval PLX_E_DATA   a score of a sample with known truth is NaN, or two columns have one name
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Cost: O(n) per class.
 */
PLX_API PLX_NODISCARD plx_status plx_metrics_ranking(plx_metrics *metrics, const char *const *truth, plx_cmat scores,
                                                     const char *const *classes, const char *positive, int multilabel);

/**
 * Clusters against classes: nmi, nmi_geometric, cluster_entropy, cluster_accuracy, purity,
 * pair_precision, pair_recall, pair_f, rand, ari.
 *
 * @param truth, clusters  n texts each; NULL when n is 0.
 * @param drop_noise       Non-zero: samples in cluster `noise` are left out; else it is a cluster.
 * @retval PLX_E_ARG       an argument or an entry is NULL, or n is negative
 * @retval PLX_E_NOMEM     memory ran out
 *
 * Cost: O(n + r^2 s) for r <= s the numbers of clusters and classes.
 */
PLX_API PLX_NODISCARD plx_status plx_metrics_clustering(plx_metrics *metrics, const char *const *truth,
                                                        const char *const *clusters, plx_index n, int drop_noise);

/**
 * Clusters without a truth: silhouette, davies_bouldin and calinski_harabasz over all views, and silhouette:VIEW,
 * davies_bouldin:VIEW and calinski_harabasz:VIEW in each, by Euclidean distance between rows scaled as `scale=auto`
 * says. A view counts the samples that have it; over all views, distances are means over the views both have, each
 * divided by the spread of the view. Large is good for silhouette (-1 to 1) and calinski_harabasz, small for
 * davies_bouldin. Views of kind kernel do not count.
 *
 * @param clusters    one per sample of `data`; `?`: left out
 * @param drop_noise  not 0: samples of cluster `noise` are left out
 * @retval PLX_E_ARG    an argument or an entry is NULL
 * @retval PLX_E_DATA   no view has distances, or one has missing values
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Cost: O(n^2 d) time, O(n) memory beyond the scaled views.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_metrics_internal(plx_metrics *metrics, const plx_dataset *data,
                                                      const char *const *clusters, int drop_noise);

/**
 * Retrieval: row q of `scores` rates every item for query q, gold[q] is the right item from 0,
 * or -1: skip the query. rank = 1 + items strictly higher + (other items tied) / 2. Adds top:N
 * for every N listed, mrr, median_rank.
 *
 * @retval PLX_E_ARG    an argument is NULL, the matrix has no columns, n_top is negative, or an N is below 1
 * @retval PLX_E_DATA   a gold index is out of range or a score NaN
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Cost: O(queries x items).
 */
PLX_API PLX_NODISCARD plx_status plx_metrics_retrieval(plx_metrics *metrics, plx_cmat scores, const plx_index *gold,
                                                       const plx_index *top, plx_index n_top);

/**
 * Do views agree, and which is right: agreement:A|B, kappa:A|B, agreement (mean over pairs of
 * views that share samples), and with truth view_accuracy:V and imbalance.
 *
 * @param truth   n labels, or NULL.
 * @param labels  n x n_views, row by row; `?`: the view has no prediction for the sample.
 * @param views   Names of the views, all different.
 * @retval PLX_E_ARG    `labels`, `views` or an entry is NULL, n is negative, or there is no view
 * @retval PLX_E_DATA   two views have one name
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Cost: O(n x n_views^2).
 */
PLX_API PLX_NODISCARD plx_status plx_metrics_views(plx_metrics *metrics, const char *const *truth,
                                                   const char *const *labels, plx_index n, const char *const *views,
                                                   plx_index n_views);

/**
 * Methods over data sets: avg_rank:M; for every pair A left of B ttest:A|B, ttest_p:A|B,
 * wilcoxon:A|B, wilcoxon_p:A|B, win:A|B, tie:A|B, loss:A|B; friedman, friedman_p.
 *
 * @param values         One row per data set, one column per method.
 * @param methods        Names of the columns, all different.
 * @param datasets       Names of the rows for messages, or NULL.
 * @param higher_better  0: small values are good (errors).
 * @retval PLX_E_ARG     `methods` or an entry is NULL, or the matrix has no columns
 * @retval PLX_E_DATA    a value is not finite, two methods have one name, or there is no row
 * @retval PLX_E_NOMEM   memory ran out
 *
 * Cost: O(rows x methods^2 x log rows); the exact Wilcoxon probability of few rows O(rows^3) per pair.
 */
PLX_API PLX_NODISCARD plx_status plx_metrics_table(plx_metrics *metrics, plx_cmat values, const char *const *methods,
                                                   const char *const *datasets, int higher_better);

/**
 * Root mean squared error `rmse` of numbers given as text; `?` as truth is skipped.
 *
 * @param truth, pred   n texts each; NULL when n is 0.
 * @retval PLX_E_ARG    an argument or an entry is NULL, or n is negative
 * @retval PLX_E_DATA   an entry is not a finite number
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Cost: O(n).
 */
PLX_API PLX_NODISCARD plx_status plx_metrics_regression(plx_metrics *metrics, const char *const *truth,
                                                        const char *const *pred, plx_index n);

/** What plx_eval_files() reads. Start from PLX_EVAL_OPTIONS_INIT; fields are only ever appended. A NULL name means: not
 *  given. */
typedef struct plx_eval_options {
    size_t struct_size;       /**< sizeof(plx_eval_options) as the caller was built */
    const char *truth;        /**< one label per line, `?` = unknown; or a table, see truth_column */
    const char *pred;         /**< one label per line, or a predictions.csv (id,label,score_CLASS,...) */
    const char *scores;       /**< CSV: header of class names, one row per sample */
    const char *positive;     /**< class whose auc, prbep and average_precision are wanted */
    int multilabel;           /**< labels are sets separated by `|` */
    const char *hierarchy;    /**< JSON {"classes": [...], "subset": [[child, parent], ...], "mutex": [[a, b], ...]} */
    int clusters;             /**< predictions are clusters */
    const char *noise;        /**< "keep" (default) or "drop": what to do with cluster `noise` */
    const char *topn;         /**< CSV: header of item names, one row of scores per query */
    const char *gold;         /**< one 0-based item index per line, `?` = skip */
    const char *top;          /**< list of N for top:N; NULL: "1,5,10" */
    const char *views;        /**< CSV: header of view names, one predicted label per view and sample */
    const char *table;        /**< CSV: dataset,METHOD1,METHOD2,... */
    int higher_better;        /**< for the table; 1 (default) or 0 */
    const char *metrics;      /**< comma-separated names to keep, in this order; NULL: all. A name in quotes
                                 may hold commas. `f1` stands for all `f1:CLASS` unless there is a plain
                                 `f1`; `auc:*` always stands for the whole family. */
    const char *truth_column; /**< column of a table, .h5mu or .h5ad `truth`; NULL: label, truth, class or the only one.
                                   Rows are joined with those of a predictions.csv by id where both have ids. */
    int internal; /**< with a data set: indices of clusters that need no truth, see plx_metrics_internal() */
} plx_eval_options;

#define PLX_EVAL_OPTIONS_INIT                                                                                          \
    {                                                                                                                  \
        sizeof(plx_eval_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0                                    \
    }

/**
 * @name Files
 *
 * Ownership: the caller's; free it with plx_metrics_destroy() before its context.
 * Threads: as the context passed in.
 * Cost: O(bytes of the files), in memory too, and that of the computations.
 */

/**
 * Read files and compute every metric they allow.
 *
 * The score_CLASS columns of a predictions.csv serve as `scores` unless `scores` is given or
 * predictions are clusters. A predictions.csv with exactly the score columns score_mean and
 * score_variance is a regression and gives `rmse`.
 *
 * @param[out] out  The metrics; NULL on failure.
 * @retval PLX_E_ARG     an argument is NULL, options contradict each other, need another one, or name an unknown metric
 * @retval PLX_E_DATA    files have different lengths or unusable values
 * @retval PLX_E_IO      a file cannot be read
 * @retval PLX_E_FORMAT  a file is not what it should be
 */
PLX_API PLX_NODISCARD plx_status plx_eval_files(plx_metrics **out, plx_context *ctx, const plx_eval_options *options);

/**
 * Measure a file of predictions against the truth of a data set. Rows of a predictions.csv are matched by their `id`
 * (row numbers where the data set has no ids); a plain list of labels must have one per sample. Label sets and the
 * hierarchy are taken into account when the data set has them. Clusters (c0, c1, ... or `clusters`) of a data set without
 * a truth are measured by plx_metrics_internal(); `internal` asks for that beside the truth.
 *
 * @param[out] out         NULL on failure.
 * @param options          `pred` is needed; `positive`, `multilabel`, `clusters`, `noise`, `internal` and `metrics` are
 *                         heeded.
 * @param unlabelled_only  Not 0: count only samples the data set gives no label for.
 * @retval PLX_E_ARG     an argument is NULL, or an option that does not go with a data set
 * @retval PLX_E_DATA    no truth and no clusters, an unknown or repeated id, or another number of labels
 * @retval PLX_E_IO      the file cannot be read
 * @retval PLX_E_FORMAT  the file is not what it should be
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_eval_dataset(plx_metrics **out, plx_context *ctx, const plx_dataset *data,
                                                  const plx_eval_options *options, int unlabelled_only);

#ifdef __cplusplus
}
#endif
#endif
