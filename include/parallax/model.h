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
} plx_fit_options;

#define PLX_FIT_OPTIONS_INIT                                                                                           \
    {                                                                                                                  \
        sizeof(plx_fit_options), 0, 0, 0                                                                               \
    }

/**
 * Fit `method` to a data set.
 *
 * @param[out] out  The model; NULL on any failure.
 * @param params    NULL for the defaults; made by plx_params_create() for the same method.
 * @param options   NULL for the defaults.
 * @retval PLX_E_ARG          unknown method, parameter or array
 * @retval PLX_E_DATA         the data cannot be used by this method
 * @retval PLX_E_NOMEM        the estimate passes the memory limit, or memory ran out
 * @retval PLX_E_NUMERIC      the arithmetic broke down
 * @retval PLX_E_CANCELLED    asked to stop
 *
 * Same seed and input give the same bytes for every thread count. Reaching the iteration or time
 * limit is not a failure: plx_model_converged() tells.
 */
PLX_API PLX_NODISCARD plx_status plx_fit(plx_model **out, plx_context *ctx, const char *method, const plx_dataset *data,
                                         const plx_params *params, const plx_fit_options *options);

/** Free a model. NULL is allowed. */
PLX_API void plx_model_destroy(plx_model *model);

PLX_API const char *plx_model_method(const plx_model *model);

/** A named array: dense or sparse, exactly one of the calls succeeds; PLX_E_ARG for the other or no such array. */
PLX_API PLX_NODISCARD plx_status plx_model_array(plx_cmat *out, const plx_model *model, const char *name);
PLX_API PLX_NODISCARD plx_status plx_model_array_sparse(plx_ccsr *out, const plx_model *model, const char *name);

/** Names of the arrays the model holds. */
PLX_API plx_index plx_model_arrays(const plx_model *model);
PLX_API const char *plx_model_array_name(const plx_model *model, plx_index i);

/** Labels and scores of the samples the model was fitted to; NULL for a model read from a file. Borrowed. */
PLX_API const plx_prediction *plx_model_prediction(const plx_model *model);

PLX_API plx_index plx_model_iterations(const plx_model *model);
/** 1 yes, 0 stopped by a limit, -1 the method does not iterate. */
PLX_API int plx_model_converged(const plx_model *model);
/** Final objective; NaN when the method has none. */
PLX_API double plx_model_objective(const plx_model *model);

/** Value of a parameter as text, default included; NULL: unknown. */
PLX_API const char *plx_model_param(const plx_model *model, const char *key);

/** Warnings of the fit. */
PLX_API plx_index plx_model_warnings(const plx_model *model);
PLX_API const char *plx_model_warning(const plx_model *model, plx_index i);

/**
 * The result as JSON: method, parameters, seed, seconds, iterations, converged, objective, objective_trace,
 * warnings, and metrics when `data` (may be NULL) has a truth. The text is owned by the model and valid
 * until the next call.
 */
PLX_API PLX_NODISCARD plx_status plx_model_json(const char **text, plx_context *ctx, plx_model *model,
                                                const plx_dataset *data);

/* ---- new samples ---- */

/**
 * Label new samples. Views and features are matched by name; views the data lack count as missing.
 * @retval PLX_E_UNSUPPORTED  the method cannot predict
 * @retval PLX_E_DATA         features are missing (other than counts, where they are 0), or nothing matches
 */
PLX_API PLX_NODISCARD plx_status plx_predict(plx_prediction **out, plx_context *ctx, const plx_model *model,
                                             const plx_dataset *data);

/**
 * The same, for plx_prediction_transform(): also makes the array `transform` writes where plx_predict() would spare the
 * work of it.
 * @retval PLX_E_UNSUPPORTED  the method has no such array
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_transform(plx_prediction **out, plx_context *ctx, const plx_model *model,
                                               const plx_dataset *data);

PLX_API void plx_prediction_destroy(plx_prediction *prediction);

PLX_API plx_index plx_prediction_samples(const plx_prediction *prediction);
PLX_API const char *plx_prediction_label(const plx_prediction *prediction, plx_index sample);
/** One column per class, cluster or quantity; rows 0 when there are none. */
PLX_API plx_cmat plx_prediction_scores(const plx_prediction *prediction);
PLX_API const char *plx_prediction_column(const plx_prediction *prediction, plx_index column);
PLX_API PLX_NODISCARD plx_status plx_prediction_array(plx_cmat *out, const plx_prediction *prediction,
                                                      const char *name);
/** The array `transform` writes for this method, of a prediction by plx_transform(); PLX_E_UNSUPPORTED when it has
 *  none. */
PLX_API PLX_NODISCARD plx_status plx_prediction_transform(plx_cmat *out, const plx_prediction *prediction);
PLX_API plx_index plx_prediction_warnings(const plx_prediction *prediction);
PLX_API const char *plx_prediction_warning(const plx_prediction *prediction, plx_index i);

/**
 * How good a prediction of `model` is, measured against the truth of `data`, which holds the same samples. For the
 * model's own prediction, samples whose label the learner saw are left out. Empty when `data` has no truth.
 *
 * @param[out] out  Owned by the caller.
 * @retval PLX_E_ARG  the numbers of samples differ
 */
PLX_API PLX_NODISCARD plx_status plx_prediction_metrics(plx_metrics **out, plx_context *ctx,
                                                        const plx_prediction *prediction, const plx_model *model,
                                                        const plx_dataset *data);

/** Write `id,label,score_<class>...`; ids come from `data`, else row numbers. Path "-": standard output. */
PLX_API PLX_NODISCARD plx_status plx_prediction_write(plx_context *ctx, const plx_prediction *prediction,
                                                      const plx_dataset *data, const char *path);

/** Write a matrix by the extension of `path`: .csv, .tsv, .npy or .mtx. */
PLX_API PLX_NODISCARD plx_status plx_matrix_write(plx_context *ctx, plx_cmat matrix, const char *path);
PLX_API PLX_NODISCARD plx_status plx_matrix_write_sparse(plx_context *ctx, plx_ccsr matrix, const char *path);

/**
 * Write a text. Like every file of the library it appears under its name when it is complete: a link stays and its
 * target is replaced, an existing file keeps its mode, a device or pipe is written directly; "-" is standard output.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_text_write(plx_context *ctx, const char *text, const char *path);

/* ---- files ---- */

/** Write a model (`.plx`); nothing half-written stays. */
PLX_API PLX_NODISCARD plx_status plx_model_save(plx_context *ctx, const plx_model *model, const char *path);

/** Read a model. @retval PLX_E_FORMAT not a model, damaged (checksum), or from a newer version */
PLX_API PLX_NODISCARD plx_status plx_model_load(plx_model **out, plx_context *ctx, const char *path);

#ifdef __cplusplus
}
#endif
#endif
