/**
 * @file parallax/generate.h
 * @brief Synthetic data sets: the toy problems of the literature and text, links and ontologies of any size.
 *
 * Lifetime: plx_generate() hands back a data set the caller owns. Names and help texts are static.
 *
 * Threads: as the context passed in. The same seed and settings give the same bytes for every number
 * of threads.
 *
 * Every generated data set has truth and labels. Settings are texts `key=value`; each generator has a
 * table of the keys it knows, which can be listed. All of them know `labelled` (which samples keep their
 * label, as in plx_split_labels()), `missing` (share of rows to remove from every view, at random, never
 * the last view of a sample), `ids` and `names`.
 */
#ifndef PARALLAX_GENERATE_H
#define PARALLAX_GENERATE_H

#include "parallax/dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Make a data set.
 *
 * @param[out] out    NULL on failure.
 * @param kind        A name listed by plx_generator_name().
 * @param settings    n_settings texts "key=value"; a key given twice: the last one counts. NULL when there are none.
 * @retval PLX_E_ARG    an argument is NULL, unknown kind or key (the message has the nearest name), or a value out of
 *                      range
 * @retval PLX_E_NOMEM  the data set would pass the memory limit
 *
 * Ownership: the caller's; free it with plx_dataset_destroy().
 * Threads: as the context passed in.
 * Cost: time and memory O(values drawn): samples x columns for dense views, tokens for text.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_generate(plx_dataset **out, plx_context *ctx, const char *kind,
                                              const char *const *settings, plx_index n_settings);

/** One setting of a generator. */
typedef struct plx_generator_param {
    size_t struct_size;
    const char *name;
    const char *type;     /**< int, real, flag (0 or 1), list (numbers), choice, text */
    const char *fallback; /**< value when it is not given */
    double low, high;     /**< range of the numbers, ends included */
    const char *choices;  /**< "a|b|c" for a choice, else NULL */
    const char *help;     /**< one sentence */
} plx_generator_param;

#define PLX_GENERATOR_PARAM_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(plx_generator_param), 0, 0, 0, 0.0, 0.0, 0, 0                                                           \
    }

/**
 * @name Listing
 *
 * Errors: none.
 * Ownership: static data of the library, never freed.
 * Threads: any.
 * Cost: O(generators + settings), no allocation.
 */

/** Number of generators. */
PLX_API plx_index plx_generator_count(void);

/** Name of a generator; NULL when there is no such number. */
PLX_API const char *plx_generator_name(plx_index generator);

/** One-sentence summary of a generator; NULL when there is no such number. */
PLX_API const char *plx_generator_summary(plx_index generator);

/** How many settings a generator has; 0 when there is no such number. */
PLX_API plx_index plx_generator_param_count(plx_index generator);

/**
 * One setting of a generator. Set `info->struct_size` first (PLX_GENERATOR_PARAM_INIT).
 *
 * @retval PLX_E_ARG  `info` is NULL or has an unknown size, or there is no such generator or setting
 */
PLX_API PLX_NODISCARD plx_status plx_generator_param_info(plx_generator_param *info, plx_index generator,
                                                          plx_index param);

#ifdef __cplusplus
}
#endif
#endif
