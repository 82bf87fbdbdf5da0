/**
 * @file parallax/dataset.h
 * @brief Samples described by several views, with holes, labels and a class hierarchy.
 *
 * Lifetime: a data set is owned by the caller and freed with plx_dataset_destroy(). Everything handed to it is copied,
 * unless it is lent (plx_dataset_borrow_dense()); everything read from it is borrowed and lives as long as it does.
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
struct plx_model;

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
    const char *text;         /**< how its text was counted, as text options; NULL: not from text */
} plx_view_info;

#define PLX_VIEW_INFO_INIT                                                                                             \
    {                                                                                                                  \
        sizeof(plx_view_info), 0, PLX_VIEW_REAL, 0, 0, 0, 0, 0, 0, 0, 0                                                \
    }

/**
 * @name Kinds
 *
 * Threads: any.
 * Cost: O(1).
 */

/**
 * Name of a kind, e.g. "counts".
 *
 * Errors: none; NULL for another number.
 * Ownership: a static text.
 */
PLX_API const char *plx_view_kind_name(plx_view_kind kind);

/**
 * The kind of a name.
 *
 * @retval PLX_E_ARG  an argument is NULL, or the name is unknown
 *
 * Ownership: nothing is kept.
 */
PLX_API PLX_NODISCARD plx_status plx_view_kind_parse(plx_view_kind *out, const char *name);

/**
 * The kind that values suggest, as a reader of a file without kinds would take them: only 0 and 1: binary; non-negative
 * integers: counts; else real. NaN does not count.
 *
 * @retval PLX_E_ARG  an argument is NULL, or sizes no matrix can have
 *
 * Ownership: nothing is kept.
 * Cost: O(values up to the first that is no count).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_view_kind_guess_dense(plx_view_kind *out, plx_cmat values);

/**
 * The same for a sparse matrix.
 *
 * @retval PLX_E_ARG  an argument is NULL, or sizes no matrix can have
 *
 * Ownership: nothing is kept.
 * Cost: O(entries up to the first that is no count).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_view_kind_guess_sparse(plx_view_kind *out, plx_ccsr values);

/**
 * @name Building
 *
 * Ownership: what is handed over is copied, but for the values of plx_dataset_borrow_dense() and _sparse().
 * Threads: as the context passed in; one thread at a time for a data set.
 * Cost: O(1) where nothing else is said.
 */

/**
 * An empty data set of `n` samples.
 *
 * @param[out] out      NULL on failure.
 * @param name          NULL: "data".
 * @retval PLX_E_ARG    `out` or `ctx` is NULL, or n is negative
 * @retval PLX_E_DATA   n is 0
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Ownership: the caller's; free it with plx_dataset_destroy() before the context.
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_create(plx_dataset **out, plx_context *ctx, const char *name, plx_index n);

/**
 * Free a data set. NULL is allowed.
 *
 * Errors: none.
 * Ownership: what was read from the data set goes with it.
 * Threads: one, when no other uses the data set.
 * Cost: O(blocks of memory).
 */
PLX_API void plx_dataset_destroy(plx_dataset *data);

/**
 * Sample ids: n distinct, non-empty texts.
 *
 * @retval PLX_E_ARG    an argument is NULL
 * @retval PLX_E_DATA   a duplicate or empty id
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Cost: O(length of all ids).
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_set_ids(plx_dataset *data, plx_context *ctx, const char *const *ids);

/**
 * Add a dense view.
 *
 * @param name      Distinct, without '.', ',', ':', '|', '+', '/', '=' or blanks; not `concat` or `label`.
 * @param values    n rows. A row of NaN only counts as missing.
 * @param features  Names of the columns, distinct; NULL: they are called 0, 1, 2, ... The columns of a kernel view are
 *                  samples: named by their ids, or without names in the order of the rows.
 * @param present   n flags, 0 = missing; NULL: all present.
 * @retval PLX_E_ARG    an argument that is needed is NULL, an unknown kind, or sizes no matrix can have
 * @retval PLX_E_DATA   wrong number of rows, a bad name, infinite values, negative counts, a binary
 *                      view with other values than 0 and 1, a duplicate feature name
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Cost: time and memory O(rows x columns).
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_add_dense(plx_dataset *data, plx_context *ctx, const char *name,
                                                       plx_view_kind kind, plx_cmat values, const char *const *features,
                                                       const uint8_t *present);

/**
 * Add a sparse view; like plx_dataset_add_dense(). Column indices must ascend inside a row.
 *
 * @retval PLX_E_ARG    as plx_dataset_add_dense()
 * @retval PLX_E_DATA   as plx_dataset_add_dense(), or offsets and columns that are no CSR matrix
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Cost: time and memory O(rows + columns + entries).
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_add_sparse(plx_dataset *data, plx_context *ctx, const char *name,
                                                        plx_view_kind kind, plx_ccsr values,
                                                        const char *const *features, const uint8_t *present);

/**
 * Add a dense view without a copy: the data set reads the caller's values where they are. Where it could not read them as
 * they stand (a row is missing by `present` or holds nothing but NaN, because such rows must read as zeros), they are
 * copied as by plx_dataset_add_dense(). Names and flags are always copied.
 *
 * @param values  As for plx_dataset_add_dense(); nothing is ever written there.
 * @retval PLX_E_ARG    as plx_dataset_add_dense()
 * @retval PLX_E_DATA   as plx_dataset_add_dense()
 * @retval PLX_E_NOMEM  as plx_dataset_add_dense()
 *
 * Ownership: the values stay the caller's, and must stay as they are until this data set and all that were made from it
 * with the same context are destroyed. Models and predictions keep nothing of them.
 * Cost: one look at every value; memory O(rows), or that of a copy.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_borrow_dense(plx_dataset *data, plx_context *ctx, const char *name,
                                                          plx_view_kind kind, plx_cmat values,
                                                          const char *const *features, const uint8_t *present);

/**
 * Add a sparse view without a copy; like plx_dataset_borrow_dense(). Values with stored zeros are copied as well, without
 * the zeros.
 *
 * @retval PLX_E_ARG    as plx_dataset_add_sparse()
 * @retval PLX_E_DATA   as plx_dataset_add_sparse()
 * @retval PLX_E_NOMEM  as plx_dataset_add_sparse()
 *
 * Ownership: as plx_dataset_borrow_dense().
 * Cost: two looks at every entry; memory O(rows), or that of a copy.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_borrow_sparse(plx_dataset *data, plx_context *ctx, const char *name,
                                                           plx_view_kind kind, plx_ccsr values,
                                                           const char *const *features, const uint8_t *present);

/**
 * What a learner may see: n texts, NULL or "?" = unlabelled, several classes separated by '|'. NULL: no labels.
 *
 * @retval PLX_E_ARG    `data` or `ctx` is NULL
 * @retval PLX_E_DATA   an empty label, or one that is not in the hierarchy
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Cost: O(length of all labels).
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_set_labels(plx_dataset *data, plx_context *ctx, const char *const *labels);

/**
 * The truth, for evaluation only: no learner can reach it. Same form as labels; NULL: no truth.
 *
 * @retval PLX_E_ARG    `data` or `ctx` is NULL
 * @retval PLX_E_DATA   a class that is not in the hierarchy
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Cost: O(length of all labels).
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_set_truth(plx_dataset *data, plx_context *ctx, const char *const *truth);

/**
 * Class hierarchy: `subset` holds n_subset pairs (below, above), `mutex` n_mutex unordered pairs of
 * class indices; NULL where there are none.
 *
 * @retval PLX_E_ARG    an argument that is needed is NULL, or a number of pairs is negative
 * @retval PLX_E_DATA   no class, a cycle, a pair of a class with itself, an index out of range,
 *                      or a label that is not among the classes
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Cost: O(classes x subset pairs + samples).
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_set_hierarchy(plx_dataset *data, plx_context *ctx,
                                                           const char *const *classes, plx_index n_classes,
                                                           const int32_t *subset, plx_index n_subset,
                                                           const int32_t *mutex, plx_index n_mutex);

/**
 * Cost of one label, > 0; 1 unless set.
 *
 * @retval PLX_E_ARG   `data` or `ctx` is NULL
 * @retval PLX_E_DATA  the cost is not a finite number > 0
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_set_label_cost(plx_dataset *data, plx_context *ctx, double cost);

/**
 * Cost of measuring a view for one sample, > 0; 1 unless set.
 *
 * @retval PLX_E_ARG   `data` or `ctx` is NULL, or there is no such view
 * @retval PLX_E_DATA  the cost is not a finite number > 0
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_set_view_cost(plx_dataset *data, plx_context *ctx, plx_index view,
                                                           double cost);

/**
 * Factor on every cost of a sample: n values > 0; NULL: all 1.
 *
 * @retval PLX_E_ARG    `data` or `ctx` is NULL
 * @retval PLX_E_DATA   a value is not a finite number > 0
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Cost: O(n).
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_set_sample_costs(plx_dataset *data, plx_context *ctx, const double *costs);

/**
 * How the text of a view was counted, as plx_read_options has it, so that new text is counted alike. Readers set it.
 *
 * @param options     "": the defaults; NULL: the view is not from text
 * @retval PLX_E_ARG  `data` or `ctx` is NULL, there is no such view, or no such option
 *
 * Cost: O(length of the text).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_set_view_text(plx_dataset *data, plx_context *ctx, plx_index view,
                                                           const char *options);

/**
 * @name Reading
 *
 * Errors: none.
 * Ownership: what is returned is borrowed from the data set.
 * Threads: any number may read a finished data set.
 * Cost: O(1).
 */

/** Name of the data set; "" for NULL. */
PLX_API const char *plx_dataset_name(const plx_dataset *data);

/** Number of samples; 0 for NULL. */
PLX_API plx_index plx_dataset_samples(const plx_dataset *data);

/** Number of views; 0 for NULL. */
PLX_API plx_index plx_dataset_views(const plx_dataset *data);

/**
 * Index of the view of that name; -1 when there is none, or for NULL.
 *
 * Cost: O(views).
 */
PLX_API plx_index plx_dataset_find_view(const plx_dataset *data, const char *name);

/**
 * Facts about a view. Set `info->struct_size` first (PLX_VIEW_INFO_INIT).
 *
 * @retval PLX_E_ARG  an argument is NULL, the struct has an unknown size, or there is no such view
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_view_info(plx_view_info *info, const plx_dataset *data, plx_index view);

/**
 * The values of a dense view. Of this call and plx_dataset_sparse() exactly one succeeds for a view.
 *
 * @param[out] out    Empty on failure.
 * @retval PLX_E_ARG  an argument is NULL, there is no such view, or it is sparse
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_dense(plx_cmat *out, const plx_dataset *data, plx_index view);

/**
 * The values of a sparse view.
 *
 * @param[out] out    Empty on failure.
 * @retval PLX_E_ARG  an argument is NULL, there is no such view, or it is dense
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_sparse(plx_ccsr *out, const plx_dataset *data, plx_index view);

/** Which samples have a view: n flags; NULL when there is no such view, or for NULL. */
PLX_API const uint8_t *plx_dataset_present(const plx_dataset *data, plx_index view);

/** Name of a column; NULL when the view has no names, for NULL or out of range. */
PLX_API const char *plx_dataset_feature(const plx_dataset *data, plx_index view, plx_index column);

/** Id of a sample; NULL when there are none, for NULL or out of range. */
PLX_API const char *plx_dataset_id(const plx_dataset *data, plx_index sample);

/** Label of a sample; NULL: unlabelled, the data set has no labels, for NULL or out of range. */
PLX_API const char *plx_dataset_label(const plx_dataset *data, plx_index sample);

/** Truth of a sample; NULL: not known, the data set has no truth, for NULL or out of range. */
PLX_API const char *plx_dataset_truth(const plx_dataset *data, plx_index sample);

/** 1 when labels were set, else 0. */
PLX_API int plx_dataset_has_labels(const plx_dataset *data);

/** 1 when a truth was set, else 0. */
PLX_API int plx_dataset_has_truth(const plx_dataset *data);

/** Number of classes: of the hierarchy, else of labels and truth together; 0 for NULL. */
PLX_API plx_index plx_dataset_classes(const plx_dataset *data);

/** Name of a class: in the order of the hierarchy, else byte-sorted; NULL for NULL or out of range. */
PLX_API const char *plx_dataset_class(const plx_dataset *data, plx_index class_index);

/**
 * Number of pairs (below, above) of the hierarchy; 0 when there is none, or for NULL.
 *
 * @param[out] pairs  The pairs, NULL when there are none; may be NULL.
 */
PLX_API plx_index plx_dataset_subset(const int32_t **pairs, const plx_dataset *data);

/**
 * Number of pairs of classes that exclude each other; 0 when there is no hierarchy, or for NULL.
 *
 * @param[out] pairs  The pairs, NULL when there are none; may be NULL.
 */
PLX_API plx_index plx_dataset_mutex(const int32_t **pairs, const plx_dataset *data);

/** Cost of one label; 0 for NULL. */
PLX_API double plx_dataset_label_cost(const plx_dataset *data);

/** Factor on every cost of a sample; 0 for NULL or out of range. */
PLX_API double plx_dataset_sample_cost(const plx_dataset *data, plx_index sample);

/**
 * @name Deriving
 *
 * Ownership: the caller's; free it with plx_dataset_destroy() before the context.
 * Threads: as the context passed in; the data set it is made from is only read.
 * Cost: time and memory O(values of the result).
 */

/**
 * The given samples, in the given order, as a new data set. Kernel views keep all columns, named by sample: by
 * id, or in data without ids by the view's own names, else by row number, which then become the ids of the part.
 *
 * @param[out] out      NULL on failure.
 * @retval PLX_E_ARG    an argument is NULL, a sample that does not exist, or `count` is negative
 * @retval PLX_E_DATA   no sample is asked for, or one twice where ids must differ
 * @retval PLX_E_NOMEM  memory ran out
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_select(plx_dataset **out, plx_context *ctx, const plx_dataset *data,
                                                    const plx_index *samples, plx_index count);

/**
 * A copy whose views have other presence flags. Values of rows that are absent afterwards are gone.
 *
 * @param[out] out      NULL on failure.
 * @param present       views x n flags, row v for view v.
 * @retval PLX_E_ARG    an argument is NULL, or the flags ask for a row that is absent
 * @retval PLX_E_NOMEM  memory ran out
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_mask(plx_dataset **out, plx_context *ctx, const plx_dataset *data,
                                                  const uint8_t *present);

/**
 * A copy with other labels (same form as plx_dataset_set_labels(); NULL: none).
 *
 * @param[out] out      NULL on failure.
 * @retval PLX_E_ARG    an argument other than `labels` is NULL
 * @retval PLX_E_DATA   as plx_dataset_set_labels()
 * @retval PLX_E_NOMEM  memory ran out
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_relabel(plx_dataset **out, plx_context *ctx, const plx_dataset *data,
                                                     const char *const *labels);

/**
 * A copy with one view scaled once and for all; the view becomes real. (A method's `scale` parameter does the same and
 * keeps the statistics for new samples.)
 *
 * @param[out] out  NULL on failure.
 * @param how  "unit": rows of length 1; "zscore": columns of mean 0 and variance 1; "tfidf": x ln(n/df), then unit;
 *             "l1": rows of sum 1.
 *             Missing rows and values take no part.
 * @retval PLX_E_ARG    an argument is NULL, no such view, a kernel view, or another word
 * @retval PLX_E_DATA   zscore of a sparse view
 * @retval PLX_E_NOMEM  memory ran out
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_scale(plx_dataset **out, plx_context *ctx, const plx_dataset *data,
                                                   plx_index view, const char *how);

/**
 * A copy in which a view keeps the columns that are not zero in at least `least` rows, least >= 1.
 *
 * @param[out] out      NULL on failure.
 * @retval PLX_E_ARG    an argument is NULL, no such view, a kernel view, or `least` is below 1
 * @retval PLX_E_DATA   no column would be left
 * @retval PLX_E_NOMEM  memory ran out
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_min_df(plx_dataset **out, plx_context *ctx, const plx_dataset *data,
                                                    plx_index view, plx_index least);

/* ---- files ---- */

/** Which samples to keep when views have ids of their own. */
typedef enum plx_join { PLX_JOIN_UNION = 0, PLX_JOIN_INTERSECTION = 1 } plx_join;

/** A file, or columns of one, as a view. Start from PLX_VIEW_SOURCE_INIT. */
typedef struct plx_view_source {
    size_t struct_size;
    const char *name;    /**< of the view; when the file holds several, they are called NAME_VIEW */
    const char *file;    /**< of any format */
    const char *columns; /**< list of columns of a table, or of views of a file with several; NULL: all */
} plx_view_source;

#define PLX_VIEW_SOURCE_INIT                                                                                           \
    {                                                                                                                  \
        sizeof(plx_view_source), 0, 0, 0                                                                               \
    }

/**
 * How to read. Start from PLX_READ_OPTIONS_INIT. All texts are borrowed for the call.
 *
 * A column is given by its name, or by its number from 1 (-1: the last). A list of columns separates them by commas and
 * may hold ranges of numbers (`2-5`) and beginnings of names (`gene*`).
 */
typedef struct plx_read_options {
    size_t struct_size;
    const char *format;           /**< NULL: from the file's name and content */
    plx_join join;                /**< views with ids of their own: which samples to keep */
    const char *label;            /**< csv, h5mu, h5ad: the column that holds the label */
    const char *id;               /**< csv: the column that holds the sample id */
    const char *text;             /**< csv: list of the columns that hold text to be counted; each becomes a view */
    const char *text_options;     /**< e.g. "min_df=5,stem=english,stop=english" */
    const char *truth;            /**< csv, h5mu, h5ad: the column that holds the truth */
    const char *columns;          /**< csv: list of the columns to read, besides id, label and truth; NULL: all */
    const char *drop;             /**< csv: list of columns to leave out */
    const plx_view_source *views; /**< further files, whose views are joined by id, or by row where no file has ids */
    plx_index n_views;
    const char *labels_file;      /**< file the labels come from; NULL: those of the data */
    const char *labels_column;    /**< its column; NULL: `label`, or a plain list of one label per line */
    const struct plx_model *like; /**< without text_options text is counted as for the views of this model */
    int trust;                    /**< h5mu, h5ad, mat: 1: read in this process, without limits; see below */
    int own_rows;                 /**< several ranks (peers.h): 1: keep the values of this rank's rows only */
} plx_read_options;

#define PLX_READ_OPTIONS_INIT                                                                                          \
    {                                                                                                                  \
        sizeof(plx_read_options), 0, PLX_JOIN_UNION, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                          \
    }

/**
 * @name Files
 *
 * Threads: as the context passed in.
 */

/**
 * Read a data set: a directory with `dataset.json`, a manifest of any name, a single file of one of the formats of
 * docs/guide/data.md, or several files (options->views), also beside one another.
 *
 * HDF5 and MATLAB files are read in a process of their own, because a hostile file can crash the libraries that read
 * them: the program `parallax-reader`, found beside the library or in libexec/parallax, else a fork of the caller. It
 * may take what the context's memory limit leaves and some seconds of processor time that grow with the file. A file
 * that is known to be good is read in this process with `trust`, which saves one pass over the values.
 *
 * @param[out] out       NULL on failure.
 * @param path           May be NULL when options->views is given.
 * @param options        NULL for the defaults.
 * @retval PLX_E_ARG     an argument is NULL, or an option has no effect on the format
 * @retval PLX_E_IO      a file cannot be opened or read
 * @retval PLX_E_FORMAT  a file is damaged: the message names file, line and column
 * @retval PLX_E_DATA    the parts do not fit together, or there is no such column
 * @retval PLX_E_NOMEM   the data would pass the memory limit
 *
 * Ownership: the caller's; free it with plx_dataset_destroy() before the context.
 * Cost: time O(bytes of the files); memory that of the data set, twice while a file is read or joined.
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_read(plx_dataset **out, plx_context *ctx, const char *path,
                                                  const plx_read_options *options);

/**
 * Number of files the data set was read from. Data sets made in memory or derived from others have none.
 *
 * Errors: none; 0 for NULL.
 * Ownership: nothing is handed over.
 * Threads: any number may read a finished data set.
 * Cost: O(1).
 * @since 0.1
 */
PLX_API plx_index plx_dataset_files(const plx_dataset *data);

/**
 * Path of one of the files the data set was read from.
 *
 * Errors: none; NULL for NULL or out of range.
 * Ownership: borrowed from the data set.
 * Threads: any number may read a finished data set.
 * Cost: O(1).
 * @since 0.1
 */
PLX_API const char *plx_dataset_file(const plx_dataset *data, plx_index i);

/**
 * Write a manifest that says what plx_dataset_read() was given: reading `manifest` afterwards gives the same data set.
 * The files stay where they are and are named relative to the manifest.
 *
 * @param manifest    File to write; its name ends in .json. It must not exist.
 * @param path        As for plx_dataset_read().
 * @param options     As for plx_dataset_read(); NULL for the defaults.
 * @retval PLX_E_ARG  `manifest` is NULL, another ending, nothing to describe, or an option a manifest has no word for
 *                    (join, like)
 * @retval PLX_E_IO   the file exists or cannot be written
 *
 * Ownership: nothing is kept.
 * Cost: the first lines of the files are read.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_save(plx_context *ctx, const char *manifest, const char *path,
                                                  const plx_read_options *options);

/**
 * All of the program parallax-reader; of no use to others.
 *
 * @param argc        As main() gets it.
 * @param argv        As main() gets it.
 * @retval PLX_E_ARG  anything but the arguments the library gives its reading process
 *
 * Ownership: nothing is kept.
 * Threads: any; the process gets limits of memory and time.
 * Cost: reading a file.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_reader_main(int argc, char **argv);

/**
 * Write a data set: a directory, or an `.h5mu` file when `path` ends so. Nothing half-written stays.
 *
 * @retval PLX_E_ARG  an argument is NULL, or the name ends like a file of another format (`.csv`, `.mat`, ...)
 * @retval PLX_E_IO   a file cannot be written
 *
 * Ownership: nothing is kept.
 * Cost: O(bytes written).
 */
PLX_API PLX_NODISCARD plx_status plx_dataset_write(plx_context *ctx, const plx_dataset *data, const char *path);

#ifdef __cplusplus
}
#endif
#endif
