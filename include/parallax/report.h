/**
 * @file parallax/report.h
 * @brief Results as one self-contained HTML file: plots, tables, and how to repeat them.
 *
 * A report is made for one question, filled with what answers it, and written. The page needs no network, and names from
 * the data are never taken for markup.
 *
 * Lifetime: the caller owns a report and destroys it before its context. It keeps no pointer to what was added.
 *
 * Threads: as the context passed in; one at a time for a report.
 */
#ifndef PARALLAX_REPORT_H
#define PARALLAX_REPORT_H

#include "parallax/acquire.h"
#include "parallax/compare.h"
#include "parallax/explain.h"
#include "parallax/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct plx_report plx_report;

/**
 * Does this build have the page that reports are written into? 0 or 1.
 *
 * Errors: none.
 * Ownership: nothing is kept.
 * Threads: any.
 * Cost: O(1).
 * @since 0.1
 */
PLX_API int plx_report_available(void);

/**
 * @name Making a report
 *
 * Ownership: nothing of the caller's is kept.
 * Threads: as the context passed in; one at a time for a report.
 */

/** What a report is about; it decides the order of its parts. */
typedef enum plx_report_kind {
    PLX_REPORT_FIT = 0,
    PLX_REPORT_EXPLAIN = 1,
    PLX_REPORT_VIEWS = 2,
    PLX_REPORT_COMPARE = 3,
    PLX_REPORT_ACQUIRE = 4
} plx_report_kind;

/**
 * An empty report.
 *
 * @param[out] out  NULL on failure; free it with plx_report_destroy().
 * @param command   How to repeat it, shown as it is; NULL: not said.
 * @retval PLX_E_ARG    an argument other than `command` is NULL, or no such kind
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Cost: O(length of the command).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_report_create(plx_report **out, plx_context *ctx, plx_report_kind kind,
                                                   const char *command);

/**
 * Free a report. NULL is allowed.
 *
 * Errors: none.
 * Cost: O(size of the report).
 * @since 0.1
 */
PLX_API void plx_report_destroy(plx_report *report);

/**
 * A model and its answers about the data set it was fitted to: what it is, how good it is on the samples whose label it
 * did not see, parameters, arrays, members, warnings, and plx_report_add_data().
 *
 * @retval PLX_E_ARG    an argument is NULL, or the numbers of samples differ
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Cost: that of the metrics and of plx_report_add_data().
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_report_add_model(plx_report *report, plx_context *ctx, const plx_model *model,
                                                      const plx_dataset *data);

/**
 * A data set: its views, which samples have which, and maps of the samples. Each view is drawn by its two strongest
 * principal components after the scaling that suits its kind; all views together by multiple factor analysis: the ten
 * strongest components of each, divided by the largest singular value of the view so that no view outweighs the others,
 * joined and decomposed again, a missing view counting nothing. Axes are those of all samples; of more than 1,500 a
 * seeded choice is drawn.
 *
 * @param prediction  Answers about its samples, to colour by; NULL: none.
 * @retval PLX_E_ARG        an argument other than `prediction` is NULL, or the numbers of samples differ
 * @retval PLX_E_NOMEM      memory ran out
 * @retval PLX_E_CANCELLED  asked to stop
 *
 * Cost: a truncated SVD per view.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_report_add_data(plx_report *report, plx_context *ctx, const plx_dataset *data,
                                                     const plx_prediction *prediction);

/**
 * What plx_explain() or plx_views() found out, every section as a plot or table.
 *
 * @param method  Whose model it is about; NULL: none.
 * @param about   Name of the data.
 * @retval PLX_E_ARG    an argument other than `method` is NULL
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Cost: O(cells).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_report_add_explanation(plx_report *report, plx_context *ctx,
                                                            const plx_explanation *explanation, const char *method,
                                                            const char *about);

/**
 * A comparison: means and deviations, tests, ranks, learning curves, costs, refusals.
 *
 * @retval PLX_E_ARG    an argument is NULL
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Cost: O(blocks x entries x runs).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_report_add_comparison(plx_report *report, plx_context *ctx,
                                                           const plx_comparison *comparison);

/**
 * Learning curves of a simulation: mean and standard error over the runs, by what was acquired and by what it cost.
 *
 * @param what  What was acquired and with which method, for the headline.
 * @retval PLX_E_ARG    an argument is NULL
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Cost: O(states).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_report_add_curves(plx_report *report, plx_context *ctx, const plx_curves *curves,
                                                       const char *what);

/**
 * A warning, shown at the top.
 *
 * @retval PLX_E_ARG    an argument is NULL
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Cost: O(length of the text).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_report_add_warning(plx_report *report, plx_context *ctx, const char *text);

/**
 * A setting that is needed to repeat what the report shows.
 *
 * @param otherwise  Its default; NULL: not said.
 * @retval PLX_E_ARG    an argument other than `otherwise` is NULL
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Cost: O(length of the texts).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_report_add_setting(plx_report *report, plx_context *ctx, const char *name,
                                                        const char *value, const char *otherwise);

/**
 * Write the page, as every file of the library: it appears under its name when it is complete. Path "-": standard output.
 *
 * @retval PLX_E_ARG          an argument is NULL
 * @retval PLX_E_UNSUPPORTED  this build has no page, see plx_report_available()
 * @retval PLX_E_IO           the file cannot be written
 * @retval PLX_E_NOMEM        memory ran out
 *
 * Cost: O(bytes written).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_report_write(plx_context *ctx, const plx_report *report, const char *path);

/** What a picture shows. */
typedef enum plx_figure {
    PLX_FIGURE_EMBEDDING = 0, /**< maps of the samples */
    PLX_FIGURE_CONFUSION = 1, /**< known classes by answers, or by clusters */
    PLX_FIGURE_CURVES = 2     /**< learning curves of a simulation, or of a comparison with several numbers of labels */
} plx_figure;

/**
 * Draw a figure of a report as SVG, for a paper. The data are those of the page, so that both show the same.
 *
 * @param report  A file that plx_report_write() wrote.
 * @param path    The picture; "-": standard output.
 * @retval PLX_E_ARG     an argument is NULL, or no such figure
 * @retval PLX_E_FORMAT  the file is no report
 * @retval PLX_E_DATA    the report has no such figure
 * @retval PLX_E_IO      a file cannot be read or written
 * @retval PLX_E_NOMEM   memory ran out
 *
 * Cost: O(bytes of both files).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_report_figure(plx_context *ctx, const char *report, plx_figure figure,
                                                   const char *path);

#ifdef __cplusplus
}
#endif
#endif
