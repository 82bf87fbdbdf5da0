/**
 * @file parallax/complete.h
 * @brief What cannot be measured, filled in: missing views and single missing entries from what is there.
 *
 * plx_complete_fit() learns how to fill every view of a data set, and how well, by hiding known rows; the model is saved
 * and loaded like any other. plx_complete() fills a data set with it, the one it was learned from or a new one.
 *
 * Lifetime: models and completions are the caller's; what is read from a completion is borrowed.
 *
 * Threads: a context serves one call at a time. Results do not depend on the number of threads.
 */
#ifndef PARALLAX_COMPLETE_H
#define PARALLAX_COMPLETE_H

#include "parallax/model.h"
#include "parallax/method.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * All defaults of completion: `with` (auto, mean, knn, ridge, cca, mixture), `neighbours`, `dimensions`, `components`
 * and `hide`.
 *
 * @param[out] out    NULL on failure.
 * @retval PLX_E_ARG  an argument is NULL
 *
 * Ownership: the caller's; free it with plx_params_destroy().
 * Threads: as the context passed in.
 * Cost: O(1).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_complete_params_create(plx_params **out, plx_context *ctx);

/**
 * The i-th parameter of completion. Set `info->struct_size` first (PLX_PARAM_INFO_INIT).
 *
 * @retval PLX_E_ARG  `info` is NULL, the struct has an unknown size, or i is out of range
 *
 * Ownership: static, but for `range`, which stays valid for the next 63 such calls of the thread.
 * Threads: any.
 * Cost: O(1).
 */
PLX_API PLX_NODISCARD plx_status plx_complete_param(plx_param_info *info, plx_index i);

/**
 * Learn how to fill the views of a data set. A share of the rows of every view is hidden, everything is learned from the
 * rest, and each method's error on the hidden rows is measured; `auto` takes the best per view. Then all is learned from
 * all rows. The array `error` (views x 5) has the root mean square error by mean, knn, ridge, cca and mixture, divided by
 * that of the mean; the JSON result says which method fills which view.
 *
 * @param[out] out  NULL on any failure.
 * @param params    NULL for the defaults; made by plx_complete_params_create().
 * @retval PLX_E_ARG        an argument is NULL, or the parameters were made for something else
 * @retval PLX_E_DATA       a kernel view, or a view that no sample has
 * @retval PLX_E_NOMEM      the estimate passes the memory limit
 * @retval PLX_E_CANCELLED  asked to stop
 *
 * Same seed and input give the same bytes for every thread count.
 *
 * Ownership: the caller's; free it with plx_model_destroy(). It keeps no pointer to the data.
 * Threads: as the context passed in.
 * Cost: principal components of every view twice; per pattern of views one factorisation of order `dimensions` times
 * views; n^2 `dimensions` for neighbours.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_complete_fit(plx_model **out, plx_context *ctx, const plx_dataset *data,
                                                  const plx_params *params);

/** A data set without holes, and what was filled. */
typedef struct plx_completion plx_completion;

/**
 * Fill what a data set lacks. Its views are matched with those of the model by name; a view it lacks altogether is filled
 * too. Counts stay counts: filled values are not below 0, and whole only when asked for.
 *
 * @param[out] out  NULL on any failure.
 * @param model     of plx_complete_fit(), or loaded
 * @param round     not 0: filled counts and binary values are rounded; else a filled binary view becomes one of
 *                  probabilities
 * @retval PLX_E_ARG        an argument is NULL, or the model is of another kind
 * @retval PLX_E_DATA       the data do not fit the model
 * @retval PLX_E_NOMEM      the estimate passes the memory limit
 * @retval PLX_E_CANCELLED  asked to stop
 *
 * Ownership: the caller's; free it with plx_completion_destroy().
 * Threads: as the context passed in.
 * Cost: O(filled entries x dimensions), and n x `dimensions` per sample filled by neighbours.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_complete(plx_completion **out, plx_context *ctx, const plx_model *model,
                                              const plx_dataset *data, int round);

/**
 * Free a completion and its data set. NULL is allowed.
 *
 * Errors: none.
 * Ownership: what was read from it goes with it.
 * Threads: one, when no other uses it.
 * Cost: O(blocks of memory).
 */
PLX_API void plx_completion_destroy(plx_completion *completion);

/**
 * The completed data set; NULL for NULL.
 *
 * Errors: none.
 * Ownership: borrowed from the completion.
 * Threads: any number may read.
 * Cost: O(1).
 */
PLX_API const plx_dataset *plx_completion_data(const plx_completion *completion);

/**
 * Entries that were filled in a view of the completed data set; 0 for NULL or out of range.
 *
 * Errors: none.
 * Ownership: nothing is handed over.
 * Threads: any number may read.
 * Cost: O(1).
 */
PLX_API plx_index plx_completion_filled(const plx_completion *completion, plx_index view);

/** A filled entry. Set struct_size first (PLX_FILLED_INIT). */
typedef struct plx_filled {
    size_t struct_size;
    plx_index sample, column;
    double value;
    double deviation; /**< standard deviation of the value */
} plx_filled;

#define PLX_FILLED_INIT                                                                                                \
    {                                                                                                                  \
        sizeof(plx_filled), 0, 0, 0.0, 0.0                                                                             \
    }

/**
 * The i-th filled entry of a view, by sample, then column: together they are the mask of what was filled.
 *
 * @retval PLX_E_ARG  an argument is NULL, the struct has an unknown size, or a number is out of range
 *
 * Ownership: copied into the caller's struct.
 * Threads: any number may read.
 * Cost: O(1).
 */
PLX_API PLX_NODISCARD plx_status plx_completion_get(plx_filled *out, const plx_completion *completion, plx_index view,
                                                    plx_index i);

/**
 * Write `id,view,feature,value,deviation`, a line per filled entry. Path "-": standard output.
 *
 * @retval PLX_E_ARG  an argument is NULL
 * @retval PLX_E_IO   the file cannot be written; nothing half-written stays
 *
 * Ownership: nothing is kept.
 * Threads: as the context passed in.
 * Cost: O(filled entries).
 */
PLX_API PLX_NODISCARD plx_status plx_completion_write(plx_context *ctx, const plx_completion *completion,
                                                      const char *path);

#ifdef __cplusplus
}
#endif
#endif
