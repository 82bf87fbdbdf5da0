/**
 * @file parallax/retrieve.h
 * @brief Search across views: which items lie nearest to a query in the space a model learned.
 *
 * Lifetime: plx_retrieve() hands back a result the caller owns; what is read from it is borrowed. It keeps no pointer
 * to the data.
 *
 * Threads: a context serves one call at a time. Results do not depend on the number of threads.
 */
#ifndef PARALLAX_RETRIEVE_H
#define PARALLAX_RETRIEVE_H

#include "parallax/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct plx_retrieval plx_retrieval;

/** What to search by. Start from PLX_RETRIEVE_OPTIONS_INIT. */
typedef struct plx_retrieve_options {
    size_t struct_size;
    plx_index top;    /**< items per query, at least 1 */
    const char *from; /**< look at this view of the queries only; NULL: at all views they have */
    const char *to;   /**< look at this view of the items only; NULL: at all views they have */
} plx_retrieve_options;

#define PLX_RETRIEVE_OPTIONS_INIT                                                                                      \
    {                                                                                                                  \
        sizeof(plx_retrieve_options), 10, 0, 0                                                                         \
    }

/**
 * The items most similar to every query: cosine of their coordinates, ties to the smaller index. A sample of both data
 * sets is its own mate: found by id when both have ids, by row number when neither has and the numbers of samples
 * agree.
 *
 * @param[out] out   NULL on any failure.
 * @param options    NULL for the defaults.
 * @retval PLX_E_UNSUPPORTED  the method has no coordinates to search by
 * @retval PLX_E_ARG          an argument is NULL, an unknown view, top < 1
 * @retval PLX_E_DATA         as plx_predict()
 * @retval PLX_E_NOMEM        the coordinates would pass the memory limit
 * @retval PLX_E_CANCELLED    asked to stop
 *
 * Ownership: the caller's; free it with plx_retrieval_destroy(). It keeps no pointer to model or data.
 * Threads: as the context passed in; model and data are only read.
 * Cost: time that of predicting both data sets and O(queries x items x dimensions); memory O(queries x top) and the
 * coordinates; no matrix of all similarities is kept.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_retrieve(plx_retrieval **out, plx_context *ctx, const plx_model *model,
                                              const plx_dataset *queries, const plx_dataset *items,
                                              const plx_retrieve_options *options);

/**
 * @name Reading
 *
 * Errors: none.
 * Ownership: nothing is handed over.
 * Threads: any number may read.
 * Cost: O(1).
 */

/**
 * Free a result. NULL is allowed.
 *
 * Threads: one, when no other uses the result.
 */
PLX_API void plx_retrieval_destroy(plx_retrieval *retrieval);

/** Number of queries; 0 for NULL. */
PLX_API plx_index plx_retrieval_queries(const plx_retrieval *retrieval);

/** Number of items listed for each query: `top`, or all items when there are fewer; 0 for NULL. */
PLX_API plx_index plx_retrieval_listed(const plx_retrieval *retrieval);

/** Row number of the item at `place` (0: the best); -1 for NULL or out of range. */
PLX_API plx_index plx_retrieval_item(const plx_retrieval *retrieval, plx_index query, plx_index place);

/** Cosine of the item at `place`; NaN for NULL or out of range. */
PLX_API double plx_retrieval_similarity(const plx_retrieval *retrieval, plx_index query, plx_index place);

/** 1 + items more similar than the query's mate + half of those equally similar; NaN without a mate, for NULL or out of
 *  range. */
PLX_API double plx_retrieval_rank(const plx_retrieval *retrieval, plx_index query);

/**
 * @name Results
 *
 * Threads: as the context passed in.
 */

/**
 * How well queries find their mates: `mates` (queries that have one), and over those `top1`, `top10` and, for another
 * number of listed items, `topN` (shares of ranks up to it), `mrr` (mean of 1/rank), `median_rank`. Only `mates` when
 * there are none.
 *
 * @param[out] out      NULL on failure.
 * @retval PLX_E_ARG    an argument is NULL
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Ownership: the caller's; free it with plx_metrics_destroy().
 * Cost: O(queries log queries).
 */
PLX_API PLX_NODISCARD plx_status plx_retrieval_metrics(plx_metrics **out, plx_context *ctx,
                                                       const plx_retrieval *retrieval);

/**
 * Write `query,rank,item,similarity`, a line per listed item. Path "-": standard output.
 *
 * @param queries, items  Where ids come from; NULL, or data without ids: row numbers.
 * @retval PLX_E_ARG      `retrieval` or `path` is NULL, or the data sets have other numbers of samples
 * @retval PLX_E_IO       the file cannot be written; nothing half-written stays
 *
 * Ownership: nothing is kept.
 * Cost: O(queries x listed).
 */
PLX_API PLX_NODISCARD plx_status plx_retrieval_write(plx_context *ctx, const plx_retrieval *retrieval,
                                                     const plx_dataset *queries, const plx_dataset *items,
                                                     const char *path);

#ifdef __cplusplus
}
#endif
#endif
