/**
 * @file parallax/model.h
 * @brief Fit a method to a data set, read what it learned, apply it to new samples, keep it in a file.
 *
 * Lifetime: plx_fit(), plx_model_load() and plx_predict() hand back objects the caller owns. Whatever
 * is read from them is borrowed. No function keeps a pointer to the caller's data after it returns.
 *
 * Threads: a context serves one call at a time. A fitted model is read-only: any number of threads
 * may predict with it, each with a context of its own.
 */
#ifndef PARALLAX_MODEL_H
#define PARALLAX_MODEL_H

#include "parallax/context.h"
#include "parallax/dataset.h"
#include "parallax/metrics.h"
#include "parallax/params.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct plx_model plx_model;
typedef struct plx_prediction plx_prediction;

/** How to fit. Start from PLX_FIT_OPTIONS_INIT. */
typedef struct plx_fit_options {
    size_t struct_size;
    const char *directory;     /**< what file parameters are relative to; NULL: the working directory */
    const char *const *arrays; /**< names of on-request arrays to compute too */
    plx_index n_arrays;
    const char *checkpoint;  /**< file that the state of the iteration is written to now and then; NULL: none. Methods
                                  that iterate over streams of samples can (plx_fit() says so of the others) */
    double checkpoint_every; /**< seconds between two of them; 0: after every iteration */
    int resume;              /**< 1: go on from the checkpoint where there is one; the model has the same bytes */
    int own_results;         /**< 1: among several ranks whose data are divided (parallax/peers.h), each keeps labels,
                                  scores and arrays of its own samples, where the method can: the prediction of the model
                                  is about these then (plx_prediction_divided()). Alone it changes nothing */
} plx_fit_options;

#define PLX_FIT_OPTIONS_INIT                                                                                           \
    {                                                                                                                  \
        sizeof(plx_fit_options), 0, 0, 0, 0, 300.0, 0, 0                                                               \
    }

/**
 * Fit `method` to a data set.
 *
 * @param[out] out  The model; NULL on any failure.
 * @param params    NULL for the defaults; made by plx_params_create() for the same method.
 * @param options   NULL for the defaults.
 * @retval PLX_E_ARG          an argument is NULL; unknown method, parameter or array
 * @retval PLX_E_DATA         the data cannot be used by this method
 * @retval PLX_E_NOMEM        the estimate passes the memory limit, or memory ran out
 * @retval PLX_E_NUMERIC      the arithmetic broke down
 * @retval PLX_E_CANCELLED    asked to stop
 *
 * Same seed and input give the same bytes for every thread count. Reaching the iteration or time
 * limit is not a failure: plx_model_converged() tells.
 *
 * Ownership: the caller's; free it with plx_model_destroy(). It keeps no pointer to data, settings or options.
 * Threads: as the context passed in; the data set is only read and may be fitted to by several threads at once.
 * Cost: that of the method, which its page states (time and memory by samples, columns, views and classes); the memory
 * is estimated first and refused when it passes the limit.
 */
PLX_API PLX_NODISCARD plx_status plx_fit(plx_model **out, plx_context *ctx, const char *method, const plx_dataset *data,
                                         const plx_params *params, const plx_fit_options *options);

/**
 * @name Reading a model
 *
 * Errors: none.
 * Ownership: what is returned is borrowed from the model.
 * Threads: any number may read.
 * Cost: O(1).
 */

/**
 * Free a model. NULL is allowed.
 *
 * Ownership: what was read from the model goes with it.
 * Threads: one, when no other uses the model.
 * Cost: O(blocks of memory).
 */
PLX_API void plx_model_destroy(plx_model *model);

/** Name of the method; "" for NULL. */
PLX_API const char *plx_model_method(const plx_model *model);

/**
 * A named array that is dense. Of this call and plx_model_array_sparse() exactly one succeeds for an array.
 *
 * @param[out] out    Empty on failure.
 * @retval PLX_E_ARG  an argument is NULL, or there is no dense array of that name
 *
 * Cost: O(arrays of the model); nothing is copied.
 */
PLX_API PLX_NODISCARD plx_status plx_model_array(plx_cmat *out, const plx_model *model, const char *name);

/**
 * A named array that is sparse.
 *
 * @param[out] out    Empty on failure.
 * @retval PLX_E_ARG  an argument is NULL, or there is no sparse array of that name
 *
 * Cost: O(arrays of the model); nothing is copied.
 */
PLX_API PLX_NODISCARD plx_status plx_model_array_sparse(plx_ccsr *out, const plx_model *model, const char *name);

/** Number of arrays the model holds; 0 for NULL. */
PLX_API plx_index plx_model_arrays(const plx_model *model);

/**
 * Name of array i; NULL for NULL or out of range.
 *
 * Cost: O(i).
 */
PLX_API const char *plx_model_array_name(const plx_model *model, plx_index i);

/**
 * What the rows (dimension 0) or columns (1) of an array of the model are called, as plx_model_array_write() writes them:
 * ids of samples, features, classes, clusters or views, else numbers.
 *
 * @param[out] names  `count` texts; NULL on failure.
 * @param[out] count  How many; 0 on failure.
 * @param data          Whose ids name the samples; NULL: row numbers.
 * @retval PLX_E_ARG    an argument other than `data` is NULL, no such array, or another dimension
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Ownership: the texts belong to the model and are valid until the next call that gives texts of it.
 * Threads: as the context passed in; one at a time for a model.
 * Cost: O(length of the names).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_model_array_names(const char *const **names, plx_index *count, plx_context *ctx,
                                                       plx_model *model, const plx_dataset *data, const char *array,
                                                       int dimension);

/** Labels and scores of the samples the model was fitted to; NULL for a model read from a file, or for NULL. */
PLX_API const plx_prediction *plx_model_prediction(const plx_model *model);

/** Iterations of the fit; 0 for NULL. */
PLX_API plx_index plx_model_iterations(const plx_model *model);

/** 1 yes, 0 stopped by a limit (or NULL), -1 the method does not iterate. */
PLX_API int plx_model_converged(const plx_model *model);

/** Final objective; NaN when the method has none, or for NULL. */
PLX_API double plx_model_objective(const plx_model *model);

/**
 * Value of a parameter as text, default included; NULL when it is unknown, or for NULL.
 *
 * Cost: O(parameters of the method).
 */
PLX_API const char *plx_model_param(const plx_model *model, const char *key);

/** What a model knows of a view of its data. Start from PLX_MODEL_VIEW_INIT; fields are only ever appended. */
typedef struct plx_model_view {
    size_t struct_size;
    const char *name;
    plx_view_kind kind;
    int sparse;         /**< stored sparse */
    plx_index features; /**< columns */
    const char *text;   /**< how its text was counted, as text options; NULL: not from text */
    const char *scale;  /**< the scaling in force ("zscore", ...); NULL: the method has none */
} plx_model_view;

#define PLX_MODEL_VIEW_INIT                                                                                            \
    {                                                                                                                  \
        sizeof(plx_model_view), 0, PLX_VIEW_REAL, 0, 0, 0, 0                                                           \
    }

/** Number of views; 0 for NULL. @since 0.1 */
PLX_API plx_index plx_model_views(const plx_model *model);

/**
 * View number v.
 *
 * @param[out] info   Names are NULL on failure.
 * @retval PLX_E_ARG  an argument is NULL, its struct_size is not known, or there is no such view
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_model_view_info(plx_model_view *info, const plx_model *model, plx_index v);

/** Name of feature j of view v; NULL for NULL, out of range, or where features are only numbered. @since 0.1 */
PLX_API const char *plx_model_feature(const plx_model *model, plx_index v, plx_index j);

/** Number of classes; 0 for a clusterer, or for NULL. @since 0.1 */
PLX_API plx_index plx_model_classes(const plx_model *model);

/** Name of class c; NULL for NULL or out of range. @since 0.1 */
PLX_API const char *plx_model_class(const plx_model *model, plx_index c);

/** Number of samples the model was fitted to; 0 for NULL. @since 0.1 */
PLX_API plx_index plx_model_fitted(const plx_model *model);

/** Number of warnings of the fit; 0 for NULL. */
PLX_API plx_index plx_model_warnings(const plx_model *model);

/** Warning i of the fit, one line; NULL for NULL or out of range. */
PLX_API const char *plx_model_warning(const plx_model *model, plx_index i);

/**
 * The result as JSON: method, parameters, seed, seconds, processor_seconds (of all threads together; not in a model from
 * a file), iterations, converged, objective, objective_trace, warnings, and metrics when `data` (may be NULL) has a truth.
 *
 * @param[out] text     NULL on failure.
 * @retval PLX_E_ARG    an argument other than `data` is NULL, or the numbers of samples differ
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Ownership: the text belongs to the model and is valid until the next call with it.
 * Threads: as the context passed in; one at a time for a model.
 * Cost: O(length of the text), and that of the metrics.
 */
PLX_API PLX_NODISCARD plx_status plx_model_json(const char **text, plx_context *ctx, plx_model *model,
                                                const plx_dataset *data);

/** What a tree is written as. */
typedef enum plx_tree_format {
    PLX_TREE_NEWICK = 0, /**< lengths are differences of heights, at least 0; inner names are views */
    PLX_TREE_JSON = 1,   /**< a list of nodes, the root first */
    PLX_TREE_SVG = 2     /**< a picture, every split in the colour of the view that made it */
} plx_tree_format;

/**
 * The tree of a model that has one (array `linkage`: hybridtree), with the names of the fitted samples on its leaves.
 *
 * @param[out] text  NULL on failure.
 * @param leaves  the tree is cut into at most so many leaves: a group that is not shown split has the name of its first
 *                sample and its size. 0: all of them; in a picture 60.
 * @retval PLX_E_ARG          an argument is NULL, `leaves` is negative, or no such format
 * @retval PLX_E_UNSUPPORTED  the model has no tree
 * @retval PLX_E_FORMAT       the model comes from a file and its tree cannot be right
 * @retval PLX_E_NOMEM        memory ran out
 *
 * Ownership: the text belongs to the model and is valid until the next call with it.
 * Threads: as the context passed in; one at a time for a model.
 * Cost: O(samples + length of the text).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_model_tree(const char **text, plx_context *ctx, plx_model *model,
                                                plx_tree_format format, plx_index leaves);

/**
 * @name New samples
 *
 * Ownership: the caller's; free it with plx_prediction_destroy() before the model and the context. It keeps no pointer to
 * the data.
 * Threads: as the context passed in; model and data are only read, so several threads may predict with one model.
 * Cost: that of the method's rule for new samples, which its page states; the memory is estimated first and refused when
 * it passes the limit.
 */

/**
 * Label new samples. Views and features are matched by name; views the data lack count as missing.
 *
 * Of data that are divided among ranks (plx_read_options.own_rows) each rank predicts its own samples, in a call that all
 * make together, and keeps their results (plx_prediction_divided()). A method that compares new samples with each other,
 * and a model with a kernel view, need all rows on every rank: they are gathered first, and all ranks have all results.
 * With data that every rank has whole, too, it is a call that all ranks of a context make together. Ranks predict without
 * a device.
 *
 * @param[out] out            NULL on failure.
 * @retval PLX_E_ARG          an argument is NULL
 * @retval PLX_E_UNSUPPORTED  the method cannot predict
 * @retval PLX_E_DATA         features are missing (other than counts, where they are 0), or nothing matches
 * @retval PLX_E_NOMEM        the estimate passes the memory limit, or memory ran out
 * @retval PLX_E_CANCELLED    asked to stop
 */
PLX_API PLX_NODISCARD plx_status plx_predict(plx_prediction **out, plx_context *ctx, const plx_model *model,
                                             const plx_dataset *data);

/**
 * The same, for plx_prediction_transform(): also makes the array `transform` writes where plx_predict() would spare the
 * work of it.
 *
 * @param[out] out            NULL on failure.
 * @retval PLX_E_UNSUPPORTED  the method has no such array
 * @retval PLX_E_ARG          and the others: as plx_predict()
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_transform(plx_prediction **out, plx_context *ctx, const plx_model *model,
                                               const plx_dataset *data);

/**
 * @name Reading a prediction
 *
 * Errors: none.
 * Ownership: what is returned is borrowed from the prediction.
 * Threads: any number may read.
 * Cost: O(1).
 */

/**
 * Free a prediction. NULL is allowed. Not for the one plx_model_prediction() lends.
 *
 * Ownership: what was read from the prediction goes with it.
 * Threads: one, when no other uses the prediction.
 * Cost: O(blocks of memory).
 */
PLX_API void plx_prediction_destroy(plx_prediction *prediction);

/** Number of samples; 0 for NULL. Of a prediction that is divided, those of this rank. */
PLX_API plx_index plx_prediction_samples(const plx_prediction *prediction);

/**
 * 1 when every rank has the results of its own samples only (plx_fit_options.own_results, or plx_predict() of divided
 * data): samples are counted from plx_prediction_first() then, as are rows of scores and of arrays over samples, and metrics, JSON and files of the
 * prediction are made by all ranks together, in calls that each of them makes. Files are written by rank 0.
 * @since 0.1
 */
PLX_API int plx_prediction_divided(const plx_prediction *prediction);

/** Which sample of the data sample 0 of the prediction is: 0 unless the prediction is divided, or for NULL. @since 0.1 */
PLX_API plx_index plx_prediction_first(const plx_prediction *prediction);

/** Label of a sample, "?" where the method leaves it open; NULL for NULL or out of range. */
PLX_API const char *plx_prediction_label(const plx_prediction *prediction, plx_index sample);

/** Scores, one column per class, cluster or quantity; rows 0 when there are none, or for NULL. */
PLX_API plx_cmat plx_prediction_scores(const plx_prediction *prediction);

/** What a column of the scores is about; NULL for NULL or out of range. */
PLX_API const char *plx_prediction_column(const plx_prediction *prediction, plx_index column);

/**
 * A named array over the predicted samples.
 *
 * @param[out] out    Empty on failure.
 * @retval PLX_E_ARG  an argument is NULL, or there is no dense array of that name
 *
 * Cost: O(arrays of the prediction); nothing is copied.
 */
PLX_API PLX_NODISCARD plx_status plx_prediction_array(plx_cmat *out, const plx_prediction *prediction,
                                                      const char *name);

/**
 * The array `transform` writes for this method, of a prediction by plx_transform().
 *
 * @param[out] out            Empty on failure.
 * @retval PLX_E_ARG          an argument is NULL, or the prediction was not made by plx_transform()
 * @retval PLX_E_UNSUPPORTED  the method has none
 *
 * Cost: O(arrays of the prediction); nothing is copied.
 */
PLX_API PLX_NODISCARD plx_status plx_prediction_transform(plx_cmat *out, const plx_prediction *prediction);

/** Number of warnings; 0 for NULL. */
PLX_API plx_index plx_prediction_warnings(const plx_prediction *prediction);

/** Warning i, one line; NULL for NULL or out of range. */
PLX_API const char *plx_prediction_warning(const plx_prediction *prediction, plx_index i);

/**
 * How good a prediction of `model` is, measured against the truth of `data`, which holds the same samples. For the
 * model's own prediction, samples whose label the learner saw are left out. Empty when `data` has no truth.
 *
 * @param[out] out      NULL on failure.
 * @retval PLX_E_ARG    an argument is NULL, or the numbers of samples differ
 * @retval PLX_E_NOMEM  memory ran out
 *
 * Ownership: the caller's; free it with plx_metrics_destroy().
 * Threads: as the context passed in.
 * Cost: O(samples x columns of the scores).
 */
PLX_API PLX_NODISCARD plx_status plx_prediction_metrics(plx_metrics **out, plx_context *ctx,
                                                        const plx_prediction *prediction, const plx_model *model,
                                                        const plx_dataset *data);

/**
 * @name Files
 *
 * Like every file of the library these appear under their name when they are complete: a link stays and its target is
 * replaced, an existing file keeps its mode, a device or pipe is written directly.
 *
 * Ownership: nothing is kept.
 * Threads: as the context passed in.
 * Cost: O(bytes written).
 */

/**
 * Write `id,label,score_<class>...`. Path "-": standard output.
 *
 * @param data        Where ids come from; NULL, or data without ids: row numbers.
 * @retval PLX_E_ARG  `ctx`, `prediction` or `path` is NULL, or the numbers of samples differ
 * @retval PLX_E_IO   the file cannot be written
 */
PLX_API PLX_NODISCARD plx_status plx_prediction_write(plx_context *ctx, const plx_prediction *prediction,
                                                      const plx_dataset *data, const char *path);

/**
 * Write an array over the predicted samples, as plx_matrix_write() does; of a prediction that is divided the rows of all
 * ranks, by all of them together and not as .mtx or .svm, which do not go row by row.
 *
 * @param array               NULL: what plx_prediction_transform() gives.
 * @retval PLX_E_ARG          an argument other than `array` is NULL, or the prediction has no such dense array
 * @retval PLX_E_UNSUPPORTED  the name ends in .gz, or ranks cannot write such a file together
 * @retval PLX_E_IO           the file cannot be written
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_prediction_array_write(plx_context *ctx, const plx_prediction *prediction,
                                                            const char *array, const char *path);

/**
 * Write a matrix by the extension of `path`: .tsv, .npy, .mtx or .svm, else as .csv.
 *
 * @retval PLX_E_ARG          `ctx` or `path` is NULL, or sizes no matrix can have
 * @retval PLX_E_UNSUPPORTED  the name ends in .gz
 * @retval PLX_E_IO           the file cannot be written
 */
PLX_API PLX_NODISCARD plx_status plx_matrix_write(plx_context *ctx, plx_cmat matrix, const char *path);

/**
 * The same for a sparse matrix.
 *
 * @retval PLX_E_ARG          an argument or a part of the matrix is NULL
 * @retval PLX_E_DATA         the matrix is no CSR matrix: the message names the row
 * @retval PLX_E_UNSUPPORTED  the name ends in .gz
 * @retval PLX_E_IO           the file cannot be written
 */
PLX_API PLX_NODISCARD plx_status plx_matrix_write_sparse(plx_context *ctx, plx_ccsr matrix, const char *path);

/**
 * Write a named array of a model. Where the data have names (ids of samples, or features), .csv and .tsv get a header of
 * column names and a first column of row names: ids, features, classes, clusters or views, else numbers. Other formats
 * hold the numbers alone.
 *
 * @param data                Whose ids name the samples; NULL: row numbers.
 * @retval PLX_E_ARG          an argument other than `data` is NULL, or the model has no such array
 * @retval PLX_E_UNSUPPORTED  the name ends in .gz
 * @retval PLX_E_IO           the file cannot be written
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_model_array_write(plx_context *ctx, const plx_model *model,
                                                       const plx_dataset *data, const char *array, const char *path);

/**
 * Write a text. Path "-": standard output.
 *
 * @retval PLX_E_ARG  an argument is NULL
 * @retval PLX_E_IO   the file cannot be written
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_text_write(plx_context *ctx, const char *text, const char *path);

/**
 * Remove what killed runs left beside `path`: files and folders called PATH.PID.tmp whose process PID is gone. Every
 * writer of the library does so itself; this is for programs that fill a folder of that name.
 *
 * @retval PLX_E_ARG  an argument is NULL
 *
 * Ownership: nothing is kept.
 * Cost: one look at the folder.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_leftovers_remove(plx_context *ctx, const char *path);

/**
 * Write a model (`.plx`).
 *
 * @retval PLX_E_ARG          an argument is NULL
 * @retval PLX_E_UNSUPPORTED  the model is that of a ranking
 * @retval PLX_E_IO           the file cannot be written
 */
PLX_API PLX_NODISCARD plx_status plx_model_save(plx_context *ctx, const plx_model *model, const char *path);

/**
 * Read a model.
 *
 * @param[out] out       NULL on failure.
 * @retval PLX_E_ARG     an argument is NULL
 * @retval PLX_E_IO      the file cannot be read
 * @retval PLX_E_FORMAT  not a model, damaged (checksum), or from a newer version
 * @retval PLX_E_NOMEM   the model would pass the memory limit
 *
 * Ownership: the caller's; free it with plx_model_destroy().
 * Cost: time O(bytes of the file), memory that of the model's arrays.
 */
PLX_API PLX_NODISCARD plx_status plx_model_load(plx_model **out, plx_context *ctx, const char *path);

#ifdef __cplusplus
}
#endif
#endif
