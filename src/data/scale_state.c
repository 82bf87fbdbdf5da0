/*
 * State of a scaling to and from plain arrays, and selection of columns by document frequency.
 */
#include "data/scale.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"

enum { ROW_GRAIN = 512 };

/* ---- scaler ---- */

int plx__scaler_export(plx__scaler_array out[PLX__SCALER_ARRAYS], const plx__scaler *scaler)
{
    if (scaler->kind == PLX__SCALE_ZSCORE) {
        out[0] = (plx__scaler_array){"mean", scaler->mean, scaler->cols};
        out[1] = (plx__scaler_array){"sd", scaler->sd, scaler->cols};
        return 2;
    }
    if (scaler->kind == PLX__SCALE_TFIDF) {
        out[0] = (plx__scaler_array){"idf", scaler->idf, scaler->cols};
        return 1;
    }
    return 0;
}

/* Copy the array called `name`; `least` bounds its values from below. */
static plx_status take(const double **out, plx_context *ctx, plx__arena *arena, const char *name, plx_index cols,
                       double least, const plx__scaler_array *arrays, int n_arrays)
{
    double *copy = NULL;
    int at = 0;
    while (at < n_arrays && strcmp(arrays[at].name, name) != 0) at++;
    if (at == n_arrays) PLX_FAIL(ctx, PLX_E_FORMAT, "stored scaling lacks the array '%s'", name);
    if (arrays[at].count != cols)
        PLX_FAIL(ctx, PLX_E_FORMAT, "stored scaling: array '%s' has %lld values, expected %lld", name,
                 (long long)arrays[at].count, (long long)cols);
    PLX_TRY(plx__arena_f64(&copy, arena, 1, cols));
    for (plx_index j = 0; j < cols; j++) {
        copy[j] = arrays[at].values[j];
        if (!isfinite(copy[j]) || copy[j] < least)
            PLX_FAIL(ctx, PLX_E_FORMAT, "stored scaling: '%s' of column %lld is %g", name, (long long)j, copy[j]);
    }
    *out = copy;
    return PLX_OK;
}

plx_status plx__scaler_import(plx__scaler *out, plx_context *ctx, plx__arena *arena, plx__scale_kind kind,
                              plx_index cols, const plx__scaler_array *arrays, int n_arrays)
{
    *out = (plx__scaler){kind, cols, NULL, NULL, NULL};
    if (!plx__scale_name(kind)) PLX_FAIL(ctx, PLX_E_FORMAT, "stored scaling is of unknown kind %d", (int)kind);
    if (kind == PLX__SCALE_ZSCORE) {
        PLX_TRY(take(&out->mean, ctx, arena, "mean", cols, -INFINITY, arrays, n_arrays));
        PLX_TRY(take(&out->sd, ctx, arena, "sd", cols, 0.0, arrays, n_arrays));
    }
    if (kind == PLX__SCALE_TFIDF) PLX_TRY(take(&out->idf, ctx, arena, "idf", cols, 0.0, arrays, n_arrays));
    return PLX_OK;
}

/* ---- columns of a view ---- */

typedef struct columns_job {
    const plx__view *view;
    const int32_t *column;
    const int32_t *new_column; /* by old column: its new number or -1 */
    plx_index count;
    double *dense;
    int64_t *ptr; /* first the number of entries per row, then offsets */
    int32_t *col;
    double *val;
} columns_job;

static plx_status copy_dense_rows(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const columns_job *job = job_;
    (void)ctx;
    (void)worker;
    for (plx_index i = begin; i < end; i++) {
        const double *from = job->view->dense.data + i * job->view->dense.ld;
        double *to = job->dense + i * job->count;
        for (plx_index j = 0; j < job->count; j++) to[j] = from[job->column[j]];
    }
    return PLX_OK;
}

static plx_status count_sparse_rows(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const columns_job *job = job_;
    plx_ccsr m = job->view->csr;
    (void)ctx;
    (void)worker;
    for (plx_index i = begin; i < end; i++)
        for (int64_t k = m.ptr[i]; k < m.ptr[i + 1]; k++) job->ptr[i + 1] += job->new_column[m.col[k]] >= 0;
    return PLX_OK;
}

static plx_status copy_sparse_rows(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const columns_job *job = job_;
    plx_ccsr m = job->view->csr;
    (void)ctx;
    (void)worker;
    for (plx_index i = begin; i < end; i++) {
        int64_t to = job->ptr[i];
        for (int64_t k = m.ptr[i]; k < m.ptr[i + 1]; k++) {
            int32_t column = job->new_column[m.col[k]];
            if (column < 0) continue;
            job->col[to] = column;
            job->val[to++] = m.val[k];
        }
    }
    return PLX_OK;
}

static plx_status sparse_columns(plx__view *out, plx_context *ctx, plx__arena *arena, columns_job *job)
{
    plx_index n = job->view->csr.rows;
    int32_t *new_column = NULL;
    PLX_TRY(plx__arena_i64(&job->ptr, arena, n + 1));
    PLX_TRY(plx__arena_i32(&new_column, arena, job->view->cols));
    for (plx_index j = 0; j < job->view->cols; j++) new_column[j] = -1;
    for (plx_index j = 0; j < job->count; j++) new_column[job->column[j]] = (int32_t)j;
    job->new_column = new_column;
    PLX_TRY(plx__parallel_for(ctx, n, ROW_GRAIN, count_sparse_rows, job));
    for (plx_index i = 0; i < n; i++) job->ptr[i + 1] += job->ptr[i];
    PLX_TRY(plx__arena_i32(&job->col, arena, job->ptr[n]));
    PLX_TRY(plx__arena_f64(&job->val, arena, 1, job->ptr[n]));
    PLX_TRY(plx__parallel_for(ctx, n, ROW_GRAIN, copy_sparse_rows, job));
    out->csr = (plx_ccsr){n, job->count, job->ptr, job->col, job->val};
    return PLX_OK;
}

static void count_values(plx__view *v)
{
    plx_index stored = v->sparse ? v->csr.ptr[v->csr.rows] : v->dense.rows * v->cols;
    const double *x = v->sparse ? v->csr.val : v->dense.data;
    v->nonzeros = v->missing_values = 0;
    for (plx_index k = 0; k < stored; k++) {
        v->nonzeros += x[k] != 0 && !isnan(x[k]);
        v->missing_values += isnan(x[k]);
    }
}

plx_status plx__view_columns(plx__view *out, plx_context *ctx, plx__arena *arena, const plx__view *view,
                             const int32_t *column, plx_index count)
{
    columns_job job = {.view = view, .column = column, .count = count};
    *out = *view;
    out->cols = count;
    if (view->sparse) {
        PLX_TRY(sparse_columns(out, ctx, arena, &job));
    } else {
        plx_index n = view->dense.rows;
        PLX_TRY(plx__arena_f64(&job.dense, arena, n, count));
        PLX_TRY(plx__parallel_for(ctx, n, ROW_GRAIN, copy_dense_rows, &job));
        out->dense = (plx_cmat){job.dense, n, count, count};
    }
    count_values(out);
    if (!view->features) return PLX_OK;
    const char **features = NULL;
    PLX_TRY(plx__arena_ptrs((void ***)&features, arena, count));
    for (plx_index j = 0; j < count; j++) features[j] = view->features[column[j]];
    out->features = features;
    return PLX_OK;
}

/* ---- selection by document frequency ---- */

plx_status plx__min_df_fit(plx__min_df *out, plx_context *ctx, plx__arena *arena, plx_index least,
                           const plx__view *view, const uint8_t *rows)
{
    double *df = NULL;
    int32_t *column = NULL;
    *out = (plx__min_df){view->cols, 0, NULL};
    PLX_TRY(plx__arena_i32(&column, arena, view->cols));
    PLX_TRY(plx__arena_f64(&df, arena, 1, view->cols));
    PLX_TRY(plx__document_frequencies(df, ctx, view, rows));
    for (plx_index j = 0; j < view->cols; j++)
        if (df[j] >= (double)least) column[out->kept++] = (int32_t)j;
    out->column = column;
    return PLX_OK;
}

plx_status plx__min_df_apply(plx__view *out, plx_context *ctx, plx__arena *arena, const plx__min_df *filter,
                             const plx__view *view)
{
    if (view->cols != filter->cols)
        PLX_FAIL(ctx, PLX_E_DATA, "view '%s' has %lld columns, min_df was fitted on %lld", view->name,
                 (long long)view->cols, (long long)filter->cols);
    return plx__view_columns(out, ctx, arena, view, filter->column, filter->kept);
}

plx_status plx__min_df_import(plx__min_df *out, plx_context *ctx, plx__arena *arena, plx_index cols,
                              const int32_t *column, plx_index kept)
{
    int32_t *copy = NULL;
    *out = (plx__min_df){cols, kept, NULL};
    if (kept < 0 || kept > cols)
        PLX_FAIL(ctx, PLX_E_FORMAT, "stored min_df keeps %lld of %lld columns", (long long)kept, (long long)cols);
    PLX_TRY(plx__arena_i32(&copy, arena, kept));
    for (plx_index j = 0; j < kept; j++) {
        copy[j] = column[j];
        if (copy[j] >= cols || copy[j] <= (j ? copy[j - 1] : -1))
            PLX_FAIL(ctx, PLX_E_FORMAT, "stored min_df: column %lld at place %lld is out of order or range",
                     (long long)copy[j], (long long)j);
    }
    out->column = copy;
    return PLX_OK;
}
