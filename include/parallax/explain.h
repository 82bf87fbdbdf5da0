/**
 * @file parallax/explain.h
 * @brief Why a model says what it says: features, views, quality, single samples, as tables.
 *
 * Lifetime: plx_explain() hands back an explanation the caller owns; what is read from it is borrowed. It keeps no
 * pointer to model or data.
 *
 * Threads: a context serves one call at a time. Results do not depend on the number of threads.
 */
#ifndef PARALLAX_EXPLAIN_H
#define PARALLAX_EXPLAIN_H

#include "parallax/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct plx_explanation plx_explanation;

/** What to explain. Start from PLX_EXPLAIN_OPTIONS_INIT; fields are only ever appended. */
typedef struct plx_explain_options {
    size_t struct_size;
    const char *sample; /**< id of a sample of the data (without ids: its row number); NULL: none in particular */
    plx_index top;      /**< features per class and view, at least 1 */
    plx_index repeats;  /**< permutations of a view, at least 1 */
} plx_explain_options;

#define PLX_EXPLAIN_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(plx_explain_options), 0, 10, 5                                                                          \
    }

/**
 * Explain a model by the samples of a data set. The explanation is a list of sections, each a table with a key:
 * `quality`, `confusion`, `classes`, `calibration` and `presence` where labels or a truth are known (truth first; of
 * clusters the `quality` only);
 * `views`: how much worse the answers get when a view is withheld and when it is permuted, with standard errors, and how
 * good each view is alone (measured against what is known, else against the model's own answers); `features`: the top
 * features by class and view, from the model's own arrays, by slopes of its scores where it is linear, else by
 * permutation, and `pattern`, features of a region where another model decides; `figures`: small arrays of the model; and
 * with a sample: `sample`, `sample_views`, `sample_features`, `sample_neighbours`.
 *
 * Nothing is refitted, but for methods that label only the samples they were fitted to: those are fitted again, with the
 * model's parameters and the labels of the data (without labels: the truth), for every answer, and judged by samples whose
 * label they did not see; where there are none, every fifth label is hidden. Of samples a model was fitted to it tells how
 * well it describes them, not how well it labels others.
 *
 * @param[out] out            NULL on any failure.
 * @param options             NULL for the defaults.
 * @retval PLX_E_ARG          an argument is NULL, an unknown sample, top or repeats < 1
 * @retval PLX_E_DATA         as plx_predict(), or as plx_fit() where the method is fitted again
 * @retval PLX_E_NOMEM        as plx_predict()
 * @retval PLX_E_CANCELLED    asked to stop
 *
 * Ownership: the caller's; free it with plx_explanation_destroy().
 * Threads: as the context passed in; model and data are only read.
 * Cost: (2 + repeats) predictions per view, and at most 40 per view where features are permuted; as many fits, and `top`
 * per view, where the method is fitted again.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_explain(plx_explanation **out, plx_context *ctx, const plx_model *model,
                                             const plx_dataset *data, const plx_explain_options *options);

/**
 * @name Reading
 *
 * Errors: none.
 * Ownership: what is returned is borrowed from the explanation.
 * Threads: any number may read.
 * Cost: O(sections).
 */

/**
 * Free an explanation. NULL is allowed.
 *
 * Ownership: what was read from it goes with it.
 * Threads: one, when no other uses it.
 * Cost: O(blocks of memory).
 * @since 0.1
 */
PLX_API void plx_explanation_destroy(plx_explanation *explanation);

/** Number of sections; 0 for NULL. @since 0.1 */
PLX_API plx_index plx_explanation_sections(const plx_explanation *explanation);

/** Key of section i, a word for programs; NULL for NULL or out of range. @since 0.1 */
PLX_API const char *plx_explanation_key(const plx_explanation *explanation, plx_index i);

/** Title of section i, for people; NULL for NULL or out of range. @since 0.1 */
PLX_API const char *plx_explanation_title(const plx_explanation *explanation, plx_index i);

/** What to know about section i, one or more sentences, or ""; NULL for NULL or out of range. @since 0.1 */
PLX_API const char *plx_explanation_note(const plx_explanation *explanation, plx_index i);

/** Index of a section by its key; -1 when there is none, or for NULL. @since 0.1 */
PLX_API plx_index plx_explanation_find(const plx_explanation *explanation, const char *key);

/** Number of rows of section i; 0 for NULL or out of range. @since 0.1 */
PLX_API plx_index plx_explanation_rows(const plx_explanation *explanation, plx_index i);

/** Number of columns of section i; 0 for NULL or out of range. @since 0.1 */
PLX_API plx_index plx_explanation_columns(const plx_explanation *explanation, plx_index i);

/** Name of a column of section i; NULL for NULL or out of range. @since 0.1 */
PLX_API const char *plx_explanation_column(const plx_explanation *explanation, plx_index i, plx_index column);

/** Text of a cell; NULL where it is a number, for NULL or out of range. @since 0.1 */
PLX_API const char *plx_explanation_text(const plx_explanation *explanation, plx_index i, plx_index row,
                                         plx_index column);

/** Number in a cell; NaN where it is a text or undefined, for NULL or out of range. @since 0.1 */
PLX_API double plx_explanation_number(const plx_explanation *explanation, plx_index i, plx_index row, plx_index column);

/**
 * The whole explanation as JSON: {"KEY": {"title": ..., "note": ..., "rows": [{COLUMN: value, ...}, ...]}, ...}.
 *
 * @param[out] text     NULL on failure.
 * @retval PLX_E_ARG    an argument is NULL
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Ownership: the text belongs to the explanation and is valid until the next call with it.
 * Threads: as the context passed in; one at a time for an explanation.
 * Cost: O(length of the text).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_explanation_json(const char **text, plx_context *ctx,
                                                      plx_explanation *explanation);

#ifdef __cplusplus
}
#endif
#endif
