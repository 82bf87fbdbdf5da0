/*
 * Scaling of one view.
 *
 * Statistics are taken column by column: eight columns at a time are gathered into contiguous memory
 * and summed pairwise, so that neither the number of threads nor the layout changes a digit. Document
 * frequencies are counts, exact in any order.
 */
#include "data/scale.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "data/divided.h"
#include "linalg/csr.h"

static const char *const KIND_NAMES[] = {"none", "unit", "zscore", "tfidf", "l1"};
enum { N_KINDS = 5, COLUMN_BLOCK = 8, ROW_GRAIN = 512, DF_CHUNKS = 32 };

const char *plx__scale_name(plx__scale_kind kind)
{
    return (int)kind >= 0 && (int)kind < N_KINDS ? KIND_NAMES[kind] : NULL;
}

bool plx__scale_parse(plx__scale_kind *out, const char *name)
{
    for (int k = 0; k < N_KINDS; k++)
        if (strcmp(name, KIND_NAMES[k]) == 0) {
            *out = (plx__scale_kind)k;
            return true;
        }
    return false;
}

static plx_index view_rows(const plx__view *view) { return view->sparse ? view->csr.rows : view->dense.rows; }

static plx_index filled_in_row(const plx__view *view, plx_index i)
{
    plx_index count = 0;
    if (view->sparse) return (plx_index)(view->csr.ptr[i + 1] - view->csr.ptr[i]);
    for (plx_index j = 0; j < view->cols; j++) count += view->dense.data[i * view->dense.ld + j] != 0;
    return count;
}

plx__scale_kind plx__scale_auto(const plx__view *view, const uint8_t *rows)
{
    if (view->kind == PLX_VIEW_KERNEL || view->kind == PLX_VIEW_PROBABILITY) return PLX__SCALE_NONE;
    double entries = (double)view->present_count * (double)view->cols;
    double filled = (double)view->nonzeros + (double)view->missing_values; /* a missing value is not known to be 0 */
    if (rows) {
        entries = filled = 0;
        for (plx_index i = plx__held_begin(view); i < plx__held_end(view, view_rows(view)); i++) {
            if (!rows[i] || !view->present[i]) continue;
            entries += (double)view->cols;
            filled += (double)filled_in_row(view, i);
        }
    }
    if (filled >= 0.25 * entries) return PLX__SCALE_ZSCORE;
    return view->kind == PLX_VIEW_REAL ? PLX__SCALE_UNIT : PLX__SCALE_TFIDF;
}

plx_status plx__view_dense(plx__view *out, plx__arena *arena, const plx__view *view)
{
    plx_mat full;
    *out = *view;
    if (!view->sparse) return PLX_OK;
    if (view->divided) {
        plx_index begin = view->begin, rows = view->end - begin;
        PLX_TRY(plx__arena_mat(&full, arena, rows, view->cols));
        plx__csr_to_dense(full, plx__csr_rows(view->csr, begin, view->end));
        full = (plx_mat){plx__rows_at(full.data, begin, view->cols), view->csr.rows, view->cols, view->cols};
    } else {
        PLX_TRY(plx__arena_mat(&full, arena, view->csr.rows, view->cols));
        plx__csr_to_dense(full, view->csr);
    }
    out->sparse = false;
    out->dense = plx__cmat(full);
    out->csr = (plx_ccsr){0};
    return PLX_OK;
}

static bool fitted(const plx__view *view, const uint8_t *rows, plx_index i)
{
    return (!view->present || view->present[i]) && (!rows || rows[i]);
}

/* ---- zscore statistics ---- */

typedef struct moments_job {
    const plx__view *view;
    const uint8_t *rows;
    double *gathered; /* per worker: COLUMN_BLOCK x n */
    double *mean, *sd;
} moments_job;

/* Population deviation of x around `mean`; deviations are divided by the largest first, so that their squares
 * neither overflow nor vanish. x is overwritten. */
static double deviation(double *x, plx_index n, double mean)
{
    double largest = 0;
    for (plx_index i = 0; i < n; i++) largest = fmax(largest, fabs(x[i] - mean));
    if (largest == 0) return 0;
    for (plx_index i = 0; i < n; i++) {
        double d = (x[i] - mean) / largest;
        x[i] = d * d;
    }
    return largest * sqrt(plx__sum(x, n) / (double)n);
}

static plx_status column_moments(const moments_job *job, plx_context *ctx, double *x, plx_index n, plx_index column)
{
    double low = INFINITY, high = -INFINITY;
    for (plx_index i = 0; i < n; i++) {
        low = fmin(low, x[i]);
        high = fmax(high, x[i]);
    }
    if (n == 0 || low == high) { /* constant: sd 0 is the mark, a computed deviation could be 1e-17 */
        job->mean[column] = n ? low : 0;
        job->sd[column] = 0;
        return PLX_OK;
    }
    double mean = plx__sum(x, n) / (double)n, sd = deviation(x, n, mean);
    if (!isfinite(mean) || !isfinite(sd))
        PLX_FAIL(ctx, PLX_E_NUMERIC, "view '%s' column %lld: values too large for zscore; divide them first",
                 job->view->name, (long long)column);
    job->mean[column] = mean;
    job->sd[column] = sd;
    return PLX_OK;
}

static plx_status moments_chunk(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const moments_job *job = job_;
    plx_cmat m = job->view->dense;
    double *buffer = job->gathered + (plx_index)worker * COLUMN_BLOCK * m.rows;
    plx_index count[COLUMN_BLOCK] = {0};
    for (plx_index i = 0; i < m.rows; i++) {
        if (!fitted(job->view, job->rows, i)) continue;
        const double *row = m.data + i * m.ld;
        for (plx_index j = begin; j < end; j++)
            if (!isnan(row[j])) buffer[(j - begin) * m.rows + count[j - begin]++] = row[j];
    }
    for (plx_index j = begin; j < end; j++)
        PLX_TRY(column_moments(job, ctx, buffer + (j - begin) * m.rows, count[j - begin], j));
    return PLX_OK;
}

/* A column is summed over all rows at once, so every rank has to see all of it: blocks of columns go round, in memory for
 * a block at a time. Rows that do not count are nan on the way. */
static plx_status gather_columns(moments_job *job, plx_context *ctx, double *column, plx_index begin, plx_index end)
{
    plx_cmat m = job->view->dense;
    for (plx_index j = begin; j < end; j++) {
        double *to = column + (j - begin) * m.rows;
        plx_index count = 0;
        for (plx_index i = job->view->begin; i < job->view->end; i++)
            to[i] = fitted(job->view, job->rows, i) ? m.data[i * m.ld + j] : NAN;
        PLX_TRY(plx__held_share(ctx, job->view, to, sizeof *to));
        for (plx_index i = 0; i < m.rows; i++)
            if (!isnan(to[i])) to[count++] = to[i];
        PLX_TRY(column_moments(job, ctx, to, count, j));
    }
    return PLX_OK;
}

static plx_status divided_moments(moments_job *job, plx_context *ctx)
{
    for (plx_index j = 0; j < job->view->cols; j += COLUMN_BLOCK)
        PLX_TRY(gather_columns(job, ctx, job->gathered, j, plx__min(job->view->cols, j + COLUMN_BLOCK)));
    return PLX_OK;
}

static plx_status fit_zscore(plx__scaler *out, plx_context *ctx, plx__arena *arena, const plx__view *view,
                             const uint8_t *rows)
{
    if (view->sparse) PLX_FAIL(ctx, PLX_E_DATA, "zscore would make view '%s' dense; use scale=unit", view->name);
    moments_job job = {view, rows, NULL, NULL, NULL};
    PLX_TRY(plx__arena_f64(&job.mean, arena, 1, view->cols));
    PLX_TRY(plx__arena_f64(&job.sd, arena, 1, view->cols));
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    PLX_TRY(plx__arena_f64(&job.gathered, plx__scratch(ctx), (plx_index)plx__workers(ctx) * COLUMN_BLOCK,
                           view->dense.rows));
    if (view->divided) PLX_TRY(divided_moments(&job, ctx));
    else PLX_TRY(plx__parallel_for(ctx, view->cols, COLUMN_BLOCK, moments_chunk, &job));
    plx__arena_rewind(plx__scratch(ctx), mark);
    out->mean = job.mean;
    out->sd = job.sd;
    return PLX_OK;
}

/* ---- document frequencies ---- */

typedef struct df_job {
    const plx__view *view;
    const uint8_t *rows;
} df_job;

static plx_status df_chunk(void *job_, plx_context *ctx, plx_index begin, plx_index end, double *partial)
{
    const df_job *job = job_;
    const plx__view *v = job->view;
    plx_index first = plx__held_begin(v);
    (void)ctx;
    for (plx_index i = first + begin; i < first + end; i++) {
        if (!fitted(v, job->rows, i)) continue;
        if (v->sparse) {
            for (int64_t k = v->csr.ptr[i]; k < v->csr.ptr[i + 1]; k++)
                partial[v->csr.col[k]] += v->csr.val[k] != 0 && !isnan(v->csr.val[k]);
        } else {
            const double *row = v->dense.data + i * v->dense.ld;
            for (plx_index j = 0; j < v->cols; j++) partial[j] += row[j] != 0 && !isnan(row[j]);
        }
    }
    return PLX_OK;
}

plx_status plx__document_frequencies(double *df, plx_context *ctx, const plx__view *view, const uint8_t *rows)
{
    plx_index n = plx__held_end(view, view_rows(view)) - plx__held_begin(view);
    plx_index grain = plx__max(ROW_GRAIN, n / DF_CHUNKS + 1);
    df_job job = {view, rows};
    PLX_TRY(plx__parallel_sum(ctx, n, grain, view->cols, df_chunk, &job, df));
    return plx__held_total(ctx, view, df, view->cols); /* counts: exact in any order */
}

static plx_status fit_tfidf(plx__scaler *out, plx_context *ctx, plx__arena *arena, const plx__view *view,
                            const uint8_t *rows)
{
    double *idf = NULL, documents = 0;
    PLX_TRY(plx__arena_f64(&idf, arena, 1, view->cols));
    PLX_TRY(plx__document_frequencies(idf, ctx, view, rows));
    for (plx_index i = 0; i < view_rows(view); i++) documents += fitted(view, rows, i);
    for (plx_index j = 0; j < view->cols; j++) idf[j] = idf[j] > 0 ? log(documents / idf[j]) : 0;
    out->idf = idf;
    return PLX_OK;
}

plx_status plx__scaler_fit(plx__scaler *out, plx_context *ctx, plx__arena *arena, plx__scale_kind kind,
                           const plx__view *view, const uint8_t *rows)
{
    *out = (plx__scaler){kind, view->cols, NULL, NULL, NULL};
    switch (kind) {
    case PLX__SCALE_NONE:
    case PLX__SCALE_L1:
    case PLX__SCALE_UNIT: return PLX_OK;
    case PLX__SCALE_ZSCORE: return fit_zscore(out, ctx, arena, view, rows);
    case PLX__SCALE_TFIDF: return fit_tfidf(out, ctx, arena, view, rows);
    }
    PLX_FAIL(ctx, PLX_E_INTERNAL, "unknown scaling %d", (int)kind);
}

/* ---- applying ---- */

/* Pairwise sum of (x / unit)^2 without the missing entries. */
static double sum_squares(const double *x, plx_index n, double unit)
{
    if (n > 128) return sum_squares(x, n / 2, unit) + sum_squares(x + n / 2, n - n / 2, unit);
    double s = 0;
    for (plx_index i = 0; i < n; i++) {
        double t = x[i] / unit;
        if (!isnan(t)) s += t * t;
    }
    return s;
}

static double norm(const double *x, plx_index n)
{
    double s = sum_squares(x, n, 1.0);
    if (s > 1e-280 && s < 1e300) return sqrt(s);
    double largest = 0; /* squares may have over- or underflowed */
    for (plx_index i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
    return largest > 0 ? largest * sqrt(sum_squares(x, n, largest)) : 0;
}

static void to_unit_length(double *x, plx_index n)
{
    double length = norm(x, n);
    if (length == 0) return;
    for (plx_index i = 0; i < n; i++) x[i] /= length;
}

static void to_unit_sum(double *x, plx_index n)
{
    double sum = 0;
    for (plx_index i = 0; i < n; i++) sum += isnan(x[i]) ? 0 : x[i];
    if (sum == 0) return;
    for (plx_index i = 0; i < n; i++) x[i] /= sum;
}

static void standardise(double *x, plx_index n, const plx__scaler *s)
{
    for (plx_index j = 0; j < n; j++)
        if (!isnan(x[j])) x[j] = s->sd[j] > 0 ? (x[j] - s->mean[j]) / s->sd[j] : 0;
}

typedef struct apply_job {
    const plx__scaler *scaler;
    const plx__view *view;
    double *values; /* dense: n x cols; sparse: one per stored entry */
} apply_job;

static void apply_dense_row(const apply_job *job, plx_index i)
{
    const plx__scaler *s = job->scaler;
    plx_cmat m = job->view->dense;
    double *x = job->values + i * m.cols;
    if (job->view->present && !job->view->present[i]) return; /* stays zero, also under zscore */
    if (m.cols) memcpy(x, m.data + i * m.ld, (size_t)m.cols * sizeof *x);
    if (s->kind == PLX__SCALE_ZSCORE) standardise(x, m.cols, s);
    if (s->kind == PLX__SCALE_TFIDF)
        for (plx_index j = 0; j < m.cols; j++) x[j] *= s->idf[j];
    if (s->kind == PLX__SCALE_TFIDF || s->kind == PLX__SCALE_UNIT) to_unit_length(x, m.cols);
    if (s->kind == PLX__SCALE_L1) to_unit_sum(x, m.cols);
}

static void apply_sparse_row(const apply_job *job, plx_index i)
{
    plx_ccsr m = job->view->csr;
    int64_t first = m.ptr[i], count = m.ptr[i + 1] - first;
    double *x = job->values + first;
    for (int64_t k = 0; k < count; k++) {
        double weight = job->scaler->kind == PLX__SCALE_TFIDF ? job->scaler->idf[m.col[first + k]] : 1.0;
        x[k] = m.val[first + k] * weight;
    }
    if (job->scaler->kind == PLX__SCALE_L1) to_unit_sum(x, count);
    else if (job->scaler->kind != PLX__SCALE_NONE) to_unit_length(x, count);
}

static plx_status apply_chunk(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const apply_job *job = job_;
    plx_index first = plx__held_begin(job->view);
    (void)ctx;
    (void)worker;
    for (plx_index i = first + begin; i < first + end; i++)
        if (job->view->sparse) apply_sparse_row(job, i);
        else apply_dense_row(job, i);
    return PLX_OK;
}

static plx_status check_fit(plx_context *ctx, const plx__scaler *scaler, const plx__view *view)
{
    if (view->cols != scaler->cols)
        PLX_FAIL(ctx, PLX_E_DATA, "view '%s' has %lld columns, its scaling was fitted on %lld", view->name,
                 (long long)view->cols, (long long)scaler->cols);
    if (scaler->kind == PLX__SCALE_ZSCORE && view->sparse)
        PLX_FAIL(ctx, PLX_E_DATA, "zscore would make view '%s' dense; use scale=unit", view->name);
    return PLX_OK;
}

plx_status plx__scaler_apply(plx__view *out, plx_context *ctx, plx__arena *arena, const plx__scaler *scaler,
                             const plx__view *view)
{
    PLX_TRY(check_fit(ctx, scaler, view));
    apply_job job = {scaler, view, NULL};
    plx_index n = view_rows(view), begin = plx__held_begin(view), rows = plx__held_end(view, n) - begin;
    plx_index stored = view->sparse ? view->csr.ptr[n] : rows * view->cols;
    const double *first = NULL;
    double filled = 0;
    *out = *view;
    if (view->sparse) {
        PLX_TRY(plx__arena_f64(&job.values, arena, 1, stored));
        first = out->csr.val = job.values;
    } else {
        PLX_TRY(plx__held_dense(&job.values, arena, view, n));
        out->dense = (plx_cmat){job.values, n, view->cols, view->cols};
        first = job.values + begin * view->cols;
    }
    PLX_TRY(plx__parallel_for(ctx, rows, ROW_GRAIN, apply_chunk, &job));
    if (scaler->kind == PLX__SCALE_ZSCORE) out->kind = PLX_VIEW_REAL;
    for (plx_index k = 0; k < stored; k++) filled += first[k] != 0 && !isnan(first[k]);
    PLX_TRY(plx__held_total(ctx, view, &filled, 1));
    out->nonzeros = (plx_index)filled;
    return PLX_OK;
}
