/**
 * @file parallax/dataset.h
 * @brief Samples described by several views, with holes, labels and a class hierarchy.
 *
 * Lifetime: a data set is owned by the caller and freed with plx_dataset_destroy(). Everything
 * handed to it is copied; everything read from it is borrowed and lives as long as it does.
 *
 * Threads: building is for one thread; a finished data set is read-only and may be shared.
 *
 * Samples are numbered 0 .. n-1. A view has one row per sample; a row that is absent (the whole view
 * is missing for that sample) reads as zeros. Views keep the order in which they were added.
 */
#ifndef PARALLAX_DATASET_H
#define PARALLAX_DATASET_H

#include "parallax/context.h"
#include "parallax/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct plx_dataset plx_dataset;

/** What the numbers of a view mean. */
typedef enum plx_view_kind {
    PLX_VIEW_REAL = 0,
    PLX_VIEW_COUNTS = 1,      /**< non-negative, integer-like */
    PLX_VIEW_BINARY = 2,      /**< 0 or 1 */
    PLX_VIEW_PROBABILITY = 3, /**< non-negative */
    PLX_VIEW_KERNEL = 4       /**< similarity to the samples named by its columns */
} plx_view_kind;

/** Facts about a view. Pointers are borrowed from the data set. */
typedef struct plx_view_info {
    size_t struct_size;
    const char *name;
    plx_view_kind kind;
    int sparse;
    plx_index rows, cols;
    plx_index nonzeros;       /**< stored entries that are not zero */
    plx_index present;        /**< samples that have the view */
    plx_index missing_values; /**< NaN entries inside present rows */
    double cost;              /**< of measuring the view for one sample */
} plx_view_info;

#define PLX_VIEW_INFO_INIT                                                                                             \
    {                                                                                                                  \
        sizeof(plx_view_info), 0, PLX_VIEW_REAL, 0, 0, 0, 0, 0, 0, 0                                                   \
    }

/** Name of a kind ("counts"), or NULL; and back: PLX_E_ARG without touching any context. */
PLX_API const char *plx_view_kind_name(plx_view_kind kind);
PLX_API PLX_NODISCARD plx_status plx_view_kind_parse(plx_view_kind *out, const char *name);

/* ---- building ---- */

/** An empty data set of `n` samples, n >= 1. */
PLX_API PLX_NODISCARD plx_status plx_dataset_create(plx_dataset **out, plx_context *ctx, const char *name, plx_index n);

/** Free a data set. NULL is allowed. */
PLX_API void plx_dataset_destroy(plx_dataset *data);

/** Sample ids: n distinct, non-empty texts. @retval PLX_E_DATA a duplicate or empty id */
PLX_API PLX_NODISCARD plx_status plx_dataset_set_ids(plx_dataset *data, plx_context *ctx, const char *const *ids);

/**
 * Add a dense view.
 *
 * @param name      Distinct, without '.', ',', ':', '|', '+', '/', '=' or blanks; not `concat` or `label`.
 * @param values    n rows. A row of NaN only counts as missing.
 * @param features  Names of the columns, distinct; NULL: they are called 0, 1, 2, ... The columns of a kernel view are
 *                  samples: named by their ids, or without names in the order of the rows.
 * @param present   n flags, 0 = missing; NULL: all present.
 * @retval PLX_E_DATA  wrong number of rows, a bad name, infinite values, negative counts, a binary
 *                     view with other values than 0 and 1, a duplicate feature name
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_add_dense(plx_dataset *data, plx_context *ctx, const char *name,
                                                       plx_view_kind kind, plx_cmat values, const char *const *features,
                                                       const uint8_t *present);

/** Add a sparse view; like plx_dataset_add_dense(). Column indices must ascend inside a row. */
PLX_API PLX_NODISCARD plx_status plx_dataset_add_sparse(plx_dataset *data, plx_context *ctx, const char *name,
                                                        plx_view_kind kind, plx_ccsr values,
                                                        const char *const *features, const uint8_t *present);

/** What a learner may see: n texts, NULL or "?" = unlabelled, several classes separated by '|'. */
PLX_API PLX_NODISCARD plx_status plx_dataset_set_labels(plx_dataset *data, plx_context *ctx, const char *const *labels);

/** The truth, for evaluation only: no learner can reach it. Same form as labels. */
PLX_API PLX_NODISCARD plx_status plx_dataset_set_truth(plx_dataset *data, plx_context *ctx, const char *const *truth);

/**
 * Class hierarchy: `subset` holds n_subset pairs (below, above), `mutex` n_mutex unordered pairs of
 * class indices. @retval PLX_E_DATA a cycle, a pair of a class with itself, an index out of range,
 * or a label that is not among the classes
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_set_hierarchy(plx_dataset *data, plx_context *ctx,
                                                           const char *const *classes, plx_index n_classes,
                                                           const int32_t *subset, plx_index n_subset,
                                                           const int32_t *mutex, plx_index n_mutex);

/** Cost of one label, and of measuring a view for one sample; both > 0, default 1. */
PLX_API PLX_NODISCARD plx_status plx_dataset_set_label_cost(plx_dataset *data, plx_context *ctx, double cost);
PLX_API PLX_NODISCARD plx_status plx_dataset_set_view_cost(plx_dataset *data, plx_context *ctx, plx_index view,
                                                           double cost);

/** Factor on every cost of a sample: n values > 0; NULL: all 1. */
PLX_API PLX_NODISCARD plx_status plx_dataset_set_sample_costs(plx_dataset *data, plx_context *ctx, const double *costs);

/* ---- reading ---- */

PLX_API const char *plx_dataset_name(const plx_dataset *data);
PLX_API plx_index plx_dataset_samples(const plx_dataset *data);
PLX_API plx_index plx_dataset_views(const plx_dataset *data);

/** Index of the view of that name, or -1. */
PLX_API plx_index plx_dataset_find_view(const plx_dataset *data, const char *name);

/** Fill `info` (set its struct_size first). @retval PLX_E_ARG no such view */
PLX_API PLX_NODISCARD plx_status plx_dataset_view_info(plx_view_info *info, const plx_dataset *data, plx_index view);

/** The values of a view: exactly one of the two succeeds; the other returns PLX_E_ARG. */
PLX_API PLX_NODISCARD plx_status plx_dataset_dense(plx_cmat *out, const plx_dataset *data, plx_index view);
PLX_API PLX_NODISCARD plx_status plx_dataset_sparse(plx_ccsr *out, const plx_dataset *data, plx_index view);

/** n flags; never NULL for an existing view. */
PLX_API const uint8_t *plx_dataset_present(const plx_dataset *data, plx_index view);

/** Name of a column, or NULL when the view has no names. */
PLX_API const char *plx_dataset_feature(const plx_dataset *data, plx_index view, plx_index column);

/** Id of a sample, or NULL when there are none. */
PLX_API const char *plx_dataset_id(const plx_dataset *data, plx_index sample);

/** Label and truth of a sample: NULL = unlabelled, not known, or the data set has none. */
PLX_API const char *plx_dataset_label(const plx_dataset *data, plx_index sample);
PLX_API const char *plx_dataset_truth(const plx_dataset *data, plx_index sample);
PLX_API int plx_dataset_has_labels(const plx_dataset *data);
PLX_API int plx_dataset_has_truth(const plx_dataset *data);

/** Classes of the hierarchy, else of labels and truth together (byte-sorted). */
PLX_API plx_index plx_dataset_classes(const plx_dataset *data);
PLX_API const char *plx_dataset_class(const plx_dataset *data, plx_index class_index);

/** Pairs of the hierarchy; 0 and NULL when there is none. */
PLX_API plx_index plx_dataset_subset(const int32_t **pairs, const plx_dataset *data);
PLX_API plx_index plx_dataset_mutex(const int32_t **pairs, const plx_dataset *data);

PLX_API double plx_dataset_label_cost(const plx_dataset *data);
PLX_API double plx_dataset_sample_cost(const plx_dataset *data, plx_index sample);

/* ---- deriving ---- */

/** The given samples, in the given order, as a new data set. Kernel views keep all columns, named by sample: by
 *  id, or in data without ids by the view's own names, else by row number, which then become the ids of the part. */
PLX_API PLX_NODISCARD plx_status plx_dataset_select(plx_dataset **out, plx_context *ctx, const plx_dataset *data,
                                                    const plx_index *samples, plx_index count);

/** A copy whose views have other presence flags: `present` is views x n, row v for view v. Values of
 *  rows that are absent afterwards are gone. @retval PLX_E_ARG asks for a row that is not there */
PLX_API PLX_NODISCARD plx_status plx_dataset_mask(plx_dataset **out, plx_context *ctx, const plx_dataset *data,
                                                  const uint8_t *present);

/** A copy with other labels (same form as plx_dataset_set_labels; NULL: none). */
PLX_API PLX_NODISCARD plx_status plx_dataset_relabel(plx_dataset **out, plx_context *ctx, const plx_dataset *data,
                                                     const char *const *labels);

/**
 * A copy with one view scaled once and for all; the view becomes real. (A method's `scale` parameter does the same and
 * keeps the statistics for new samples.)
 *
 * @param how  "unit": rows of length 1; "zscore": columns of mean 0 and variance 1; "tfidf": x ln(n/df), then unit.
 *             Missing rows and values take no part.
 * @retval PLX_E_ARG   no such view, a kernel view, or another word
 * @retval PLX_E_DATA  zscore of a sparse view
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_scale(plx_dataset **out, plx_context *ctx, const plx_dataset *data,
                                                   plx_index view, const char *how);

/**
 * A copy in which a view keeps the columns that are not zero in at least `least` rows, least >= 1.
 *
 * @retval PLX_E_ARG   no such view, a kernel view, or `least` out of range
 * @retval PLX_E_DATA  no column would be left
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_min_df(plx_dataset **out, plx_context *ctx, const plx_dataset *data,
                                                    plx_index view, plx_index least);

/* ---- files ---- */

typedef enum plx_join { PLX_JOIN_UNION = 0, PLX_JOIN_INTERSECTION = 1 } plx_join;

/** How to read. Start from PLX_READ_OPTIONS_INIT. */
typedef struct plx_read_options {
    size_t struct_size;
    const char *format;       /**< NULL: from the file's name and content */
    plx_join join;            /**< views with ids of their own: which samples to keep */
    const char *label;        /**< csv, h5mu, h5ad: the column that holds the label */
    const char *id;           /**< csv: the column that holds the sample id */
    const char *text;         /**< csv: the column that holds text to be counted */
    const char *text_options; /**< e.g. "min_df=5,stem=english,stop=english" */
} plx_read_options;

#define PLX_READ_OPTIONS_INIT                                                                                          \
    {                                                                                                                  \
        sizeof(plx_read_options), 0, PLX_JOIN_UNION, 0, 0, 0, 0                                                        \
    }

/**
 * Read a data set: a directory with `dataset.json`, a manifest of any name, or a single file of one of
 * the formats of docs/guide/data.md.
 *
 * @retval PLX_E_IO      a file cannot be opened or read
 * @retval PLX_E_FORMAT  a file is damaged: the message names file, line and column
 * @retval PLX_E_DATA    the parts do not fit together
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_read(plx_dataset **out, plx_context *ctx, const char *path,
                                                  const plx_read_options *options);

/** Write a data set: a directory, or an `.h5mu` file when `path` ends so. Nothing half-written stays.
 *  @retval PLX_E_ARG  the name ends like a file of another format (`.csv`, `.mat`, ...) */
PLX_API PLX_NODISCARD plx_status plx_dataset_write(plx_context *ctx, const plx_dataset *data, const char *path);

#ifdef __cplusplus
}
#endif
#endif
