/*
 * Scaling of one view with stored state: fitted on some rows, applied to any.
 *
 * zscore and tfidf take statistics from the fitted rows (present, and not masked out) and use them
 * unchanged on new rows; unit, l1 and none have none. Absent rows stay zero, missing entries (NaN) stay
 * missing and take no part in statistics or norms. Views of kind kernel are not for scaling: the
 * caller passes them over.
 */
#ifndef PLX_DATA_SCALE_H
#define PLX_DATA_SCALE_H

#include "data/dataset_impl.h"

typedef enum plx__scale_kind {
    PLX__SCALE_NONE = 0,
    PLX__SCALE_UNIT = 1,   /* row / Euclidean norm; a zero row stays zero */
    PLX__SCALE_ZSCORE = 2, /* (x - mean) / population sd; a constant column becomes 0 */
    PLX__SCALE_TFIDF = 3,  /* x ln(N / df), then unit; df = 0 gives weight 0 */
    PLX__SCALE_L1 = 4      /* row / its sum; a row of sum 0 stays as it is */
} plx__scale_kind;

/* What scale=auto means for a view, by what it holds and not by how it is stored: nothing for kernels and
 * probabilities; zscore where at least a quarter of the entries of its present rows are not 0; else tfidf for counts
 * and binary views, unit for real ones. Only rows with rows[i] != 0 count (NULL: all). */
plx__scale_kind plx__scale_auto(const plx__view *view, const uint8_t *rows);

/* The same view stored dense, values new in `arena`; a dense view is passed through. */
plx_status plx__view_dense(plx__view *out, plx__arena *arena, const plx__view *view);

const char *plx__scale_name(plx__scale_kind kind);
bool plx__scale_parse(plx__scale_kind *out, const char *name);

typedef struct plx__scaler {
    plx__scale_kind kind;
    plx_index cols;
    const double *mean, *sd; /* zscore: cols each; sd = 0 marks a constant column */
    const double *idf;       /* tfidf: cols */
} plx__scaler;

/* Fit on the rows of `view` that are present and, where `rows` is given, have rows[i] != 0. The state is
 * in `arena`. A sparse view is refused for zscore. */
plx_status plx__scaler_fit(plx__scaler *out, plx_context *ctx, plx__arena *arena, plx__scale_kind kind,
                           const plx__view *view, const uint8_t *rows);

/* The scaled view: values are new in `arena` (for PLX__SCALE_NONE too), everything else, the sparse
 * structure included, is shared with `view`. zscore makes the view real; otherwise it keeps its kind, which
 * says how zero rows are to be read. */
plx_status plx__scaler_apply(plx__view *out, plx_context *ctx, plx__arena *arena, const plx__scaler *scaler,
                             const plx__view *view);

/* State as named arrays for a model file: at most PLX__SCALER_ARRAYS, the number is returned. */
enum { PLX__SCALER_ARRAYS = 2 };
typedef struct plx__scaler_array {
    const char *name; /* "mean", "sd" or "idf" */
    const double *values;
    plx_index count;
} plx__scaler_array;
int plx__scaler_export(plx__scaler_array out[PLX__SCALER_ARRAYS], const plx__scaler *scaler);

/* The state again from arrays in any order, copied. PLX_E_FORMAT when one is missing or cannot be right. */
plx_status plx__scaler_import(plx__scaler *out, plx_context *ctx, plx__arena *arena, plx__scale_kind kind,
                              plx_index cols, const plx__scaler_array *arrays, int n_arrays);

/* df[j] = number of fitted rows (as in plx__scaler_fit) whose entry of column j is neither 0 nor missing. */
plx_status plx__document_frequencies(double *df, plx_context *ctx, const plx__view *view, const uint8_t *rows);

/* Feature selection by document frequency: which columns stay, ascending. */
typedef struct plx__min_df {
    plx_index cols, kept;
    const int32_t *column;
} plx__min_df;

/* Keep the columns that are not 0 in at least `least` of the fitted rows (as in plx__scaler_fit). */
plx_status plx__min_df_fit(plx__min_df *out, plx_context *ctx, plx__arena *arena, plx_index least,
                           const plx__view *view, const uint8_t *rows);

/* The view with the kept columns only, all in new memory; presence and feature texts are shared. */
plx_status plx__min_df_apply(plx__view *out, plx_context *ctx, plx__arena *arena, const plx__min_df *filter,
                             const plx__view *view);

plx_status plx__min_df_import(plx__min_df *out, plx_context *ctx, plx__arena *arena, plx_index cols,
                              const int32_t *column, plx_index kept);

/* Columns of a view: part of min_df and of the feature split. `column` ascends. */
plx_status plx__view_columns(plx__view *out, plx_context *ctx, plx__arena *arena, const plx__view *view,
                             const int32_t *column, plx_index count);

#endif
