/**
 * @file parallax/view_report.h
 * @brief What each view is worth: how many rows say something, how good it is alone, what it shares with the others, and
 *        what follows for the choice of a method.
 *
 * Lifetime: the report is a plx_explanation, the caller's; read it as explain.h says.
 *
 * Threads: as the context passed in.
 */
#ifndef PARALLAX_VIEW_REPORT_H
#define PARALLAX_VIEW_REPORT_H

#include "parallax/explain.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * How many rows of a view are there and hold nothing but zeros. Of data that are divided among ranks those of all of
 * them, in a call that all make together.
 *
 * @param[out] count    0 on failure.
 * @retval PLX_E_ARG    an argument is NULL, or there is no such view
 * @retval PLX_E_IO     a rank cannot be reached any more
 *
 * Ownership: nothing is handed over.
 * Threads: as the context passed in; the data are only read.
 * Cost: O(values of the view).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_zero_rows(plx_index *count, plx_context *ctx, const plx_dataset *data,
                                                       plx_index view);

/** How to look. Start from PLX_VIEWS_OPTIONS_INIT; fields are only ever appended. */
typedef struct plx_views_options {
    size_t struct_size;
    plx_index folds;      /**< of the samples with a class, from 2; fewer where there are fewer */
    plx_index directions; /**< strongest directions of each view that are compared, at least 1 */
} plx_views_options;

#define PLX_VIEWS_OPTIONS_INIT                                                                                         \
    {                                                                                                                  \
        sizeof(plx_views_options), 5, 10                                                                               \
    }

/**
 * Report on the views of a data set. Classes are its labels, or its truth where it has no labels. Sections:
 * `views`: kind, columns, share of entries that are not 0, samples that have it, scaling in force, and where there are
 * classes the accuracy of a linear classifier on this view alone by cross-validation, with its standard error;
 * `pairs`: agreement of these classifiers and Cohen's kappa, the association of their errors given the class (Mantel and
 * Haenszel's odds ratio, 1 = independent, and the p value of the test of Cochran, Mantel and Haenszel), the mutual
 * information of clusterings of the two views, and the largest and mean canonical correlation of their strongest
 * directions; `spectrum`: all of those; `presence`: which views samples have, by frequency; `advice`: what follows, with
 * the evidence.
 *
 * @param[out] out  NULL on any failure.
 * @param options   NULL for the defaults.
 * @retval PLX_E_ARG        an argument is NULL, or an option out of range
 * @retval PLX_E_NOMEM      memory ran out
 * @retval PLX_E_CANCELLED  asked to stop
 *
 * Ownership: the caller's; free it with plx_explanation_destroy().
 * Threads: as the context passed in; the data are only read.
 * Cost: folds linear classifiers per view, and per pair a clustering and a product of n x directions matrices.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_views(plx_explanation **out, plx_context *ctx, const plx_dataset *data,
                                           const plx_views_options *options);

#ifdef __cplusplus
}
#endif
#endif
