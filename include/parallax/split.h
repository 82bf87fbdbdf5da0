/**
 * @file parallax/split.h
 * @brief Who is labelled, who is tested, who lacks a view: seeded choices over the samples of a data set.
 *
 * Lifetime: results go into arrays of the caller (n entries unless stated); nothing is kept.
 *
 * Threads: as the context passed in.
 *
 * Every choice is a function of the context's seed and of the sample's number: each sample has a random
 * key of its own per purpose, and the samples with the smallest keys are taken. So the choice of a class
 * does not depend on the sizes of the others, and a larger choice contains the smaller one of the same
 * seed (the labelled samples of "10%" are among those of "30%").
 *
 * The class of a sample is its truth, or its label when the data set has no truth. A set of classes
 * (`a|b`) counts as one class of its own, by its text.
 */
#ifndef PARALLAX_SPLIT_H
#define PARALLAX_SPLIT_H

#include "parallax/dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @name Choices
 *
 * Ownership: results go into the caller's arrays; nothing is kept.
 * Threads: as the context passed in.
 * Cost: time O(n log n), scratch memory O(n).
 */

/**
 * Choose the samples that keep their label, class by class.
 *
 * @param[out] chosen  n flags, 1 = labelled. Samples without a class are never chosen.
 * @param spec  "10%": ceil(0.1 n_c) of every class c with n_c samples, so at least one;
 *              "5": five of every class (all, with a warning, where there are fewer);
 *              "spam=2,ham=10%": these classes only, an error where there are fewer;
 *              "all" or "none";
 *              "file:PATH", or the path of an existing file alone where it is none of the above: the
 *              samples plx_split_read() finds there.
 * @retval PLX_E_ARG   an argument is NULL, the text cannot be read, or names an unknown class
 * @retval PLX_E_DATA  the data set has neither truth nor labels, or a named class is too small
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_split_labels(uint8_t *chosen, plx_context *ctx, const plx_dataset *data,
                                                  const char *spec);

/**
 * Deal the samples into k stratified folds.
 *
 * @param[out] fold  n numbers in 0..k-1. Every class is spread so that its counts per fold differ by at
 *                   most one, and so do the sizes of the folds. Samples without a class are dealt too.
 * @param k          2..n
 * @retval PLX_E_ARG  an argument is NULL, or k is out of range
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_split_folds(int32_t *fold, plx_context *ctx, const plx_dataset *data, plx_index k);

/**
 * Set aside round(fraction n) samples for testing, at least one, and at least one stays.
 *
 * @param[out] test   n flags, 1 = test
 * @param fraction    in (0,1)
 * @param stratified  not 0: every class gives its share, rounded by largest remainder
 * @retval PLX_E_ARG   an argument is NULL, or the fraction is out of range
 * @retval PLX_E_DATA  the data set has one sample only
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_split_test(uint8_t *test, plx_context *ctx, const plx_dataset *data,
                                                double fraction, int stratified);

/**
 * Read a choice of samples from a text file, one entry per line, blank lines skipped: exactly n flags 0
 * or 1; otherwise sample ids when the first entry is one; otherwise 0-based sample numbers.
 *
 * @param[out] flags  n flags, 1 = listed
 * @retval PLX_E_ARG     an argument is NULL
 * @retval PLX_E_IO      the file cannot be read
 * @retval PLX_E_FORMAT  an entry is none of these, out of range or given twice: the message names the line
 *
 * Cost: O(n + bytes of the file).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_split_read(uint8_t *flags, plx_context *ctx, const plx_dataset *data,
                                                const char *path);

/**
 * The labels a learner sees when only the chosen samples keep theirs: n texts for plx_dataset_relabel(), NULL =
 * unlabelled. The texts are those of the truth, or of the labels when the data set has no truth.
 *
 * Errors: none; does nothing when an argument is NULL.
 * Ownership: the texts are borrowed from `data`.
 * Threads: any number may read `data`.
 * Cost: O(n).
 * @since 0.1
 */
PLX_API void plx_split_label_texts(const char **labels, const plx_dataset *data, const uint8_t *chosen);

/**
 * Split the columns of a view into several views, each with the presence of the old one; the other
 * views stay, in their order, and the new ones take the old one's place.
 *
 * @param[out] out  NULL on failure.
 * @param view  Number of the view.
 * @param spec  "4": four views at random, their sizes differing by at most one; "file:PATH": one line
 *              per column, the 0-based number of its view.
 * New views are called split0, split1, ... Columns keep their order; the cost of the view is shared out
 * in proportion to the columns.
 * @retval PLX_E_ARG     an argument is NULL, no such view, more parts than columns, or a kernel view
 * @retval PLX_E_IO      the file cannot be read
 * @retval PLX_E_FORMAT  the file is damaged, has another number of lines than the view has columns, or
 *                       leaves a view empty
 *
 * Ownership: the caller's; free it with plx_dataset_destroy().
 * Cost: time and memory O(values of the view).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_split_features(plx_dataset **out, plx_context *ctx, const plx_dataset *data,
                                                    plx_index view, const char *spec);

/** How views go missing. */
typedef enum plx_missing_pattern {
    PLX_MISSING_MCAR = 0,      /**< every (sample, view) on its own */
    PLX_MISSING_EXCLUSIVE = 1, /**< a sample, or group of samples, keeps exactly one view */
    PLX_MISSING_BLOCK = 2      /**< all samples of a group miss the same views */
} plx_missing_pattern;

/**
 * @name Missing views
 *
 * Threads: any.
 * Cost: O(1).
 */

/**
 * Name of a pattern: "mcar", "exclusive" or "block".
 *
 * Errors: none; NULL for another number.
 * Ownership: a static text.
 */
PLX_API const char *plx_missing_pattern_name(plx_missing_pattern pattern);

/**
 * The pattern of a name.
 *
 * @retval PLX_E_ARG  an argument is NULL, or the name is unknown
 *
 * Ownership: nothing is kept.
 */
PLX_API PLX_NODISCARD plx_status plx_missing_pattern_parse(plx_missing_pattern *out, const char *name);

/** What to remove. Start from PLX_MISSING_OPTIONS_INIT; fields are only ever appended. */
typedef struct plx_missing_options {
    size_t struct_size;
    plx_missing_pattern pattern;
    double rate;                /**< mcar, block: share of a view's rows to remove, in [0,1] */
    const double *view_rates;   /**< mcar, block: one rate per view instead of `rate`; NULL: none */
    const double *view_weights; /**< exclusive: odds of being the view kept, >= 0; NULL: equal */
    double complete;            /**< exclusive: share of samples (groups) that keep all views, in [0,1] */
    plx_index blocks;           /**< number of groups; block: 0 = 10; exclusive: 0 = each sample on its own */
    int contiguous;             /**< groups are runs of neighbouring samples; 0: samples at random */
    int keep_one;               /**< 1: no sample loses its last view; 0: it may */
} plx_missing_options;

#define PLX_MISSING_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(plx_missing_options), PLX_MISSING_MCAR, 0.0, 0, 0, 0.0, 0, 0, 1                                         \
    }

/**
 * Simulate missing views. Only rows that are present are removed.
 *
 * mcar removes row i of view v with probability rate_v. A sample about to lose everything keeps one of
 * its views, drawn with odds 1 - rate_v; this lowers the rate: with V views and one rate r to
 * r - r^V / V. block removes view v in round(rate_v B) of the B groups, up to the same rule. exclusive
 * without groups draws the view kept from those the sample has; with B groups the weights say which
 * share of the groups keeps which view, in view order (B = number of views, equal weights: group v keeps
 * view v). Groups have equal sizes up to one. In the exclusive pattern with groups, a sample that lacks
 * its group's view keeps one it has when keep_one is set.
 *
 * The same seed asks for the same rows: to remove more from a data set made by this function, change it.
 *
 * @param[out] present  views x n flags, row v for view v: the argument of plx_dataset_mask()
 * @param options       NULL: the defaults, which remove nothing
 * @retval PLX_E_ARG    an argument is NULL, an option is out of range, or all weights are 0
 *
 * Ownership: the result goes into the caller's array; nothing is kept.
 * Threads: as the context passed in.
 * Cost: time O(views x n), scratch memory O(n).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_missing_simulate(uint8_t *present, plx_context *ctx, const plx_dataset *data,
                                                      const plx_missing_options *options);

#ifdef __cplusplus
}
#endif
#endif
