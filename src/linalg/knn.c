/*
 * Exact nearest neighbours.
 *
 * For every query x the references z are ranked by a score that is a monotone function of the distance:
 * |z|^2/2 - x.z (Euclid, data moved to the mean so that rounding is relative to the spread) or -cos(x,z).
 * Products are made in single precision, which is twice as fast and scans twice as fast; their rounding is
 * bounded by c |x||z| <= c (|x|^2 + |z|^2) / 2, so each score gives a lower and an upper bound of the true
 * one. A short list per query keeps every reference whose lower bound does not exceed the k-th smallest
 * upper bound (plus what the comparison key rounds away). The list is then ranked by directly computed
 * double-precision distances. When ties overfill it, it is cut to the k truly best seen so far.
 */
#include "linalg/knn.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/blas.h"
#include "linalg/knn_impl.h"

enum { SPARSE_BLOCK = 16 };

/* ---- queries ---- */

static void start_lists(const plx__knn_job *job, plx__knn_space *w, plx_index count)
{
    for (plx_index q = 0; q < count; q++)
        plx__knn_start_list(job, &w->list[q], w->items + q * job->capacity, w->best ? w->best + q * job->k : NULL);
}

static plx_status dense_queries(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const plx__knn_job *job = arg;
    plx__knn_space *w = job->space + worker;
    plx_index d = plx__points_cols(job->queries);
    int ld = plx__blas_int(plx__max(1, d));
    (void)ctx;
    start_lists(job, w, end - begin);
    for (plx_index j = 0; j < job->n; j += PLX__KNN_REFERENCES) {
        plx_index count = plx__min(PLX__KNN_REFERENCES, job->n - j);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, plx__blas_int(end - begin), plx__blas_int(count),
                    plx__blas_int(d), 1.0f, job->xf + begin * d, ld, job->zf + j * d, ld, 0.0f, w->products,
                    PLX__KNN_REFERENCES);
        for (plx_index q = begin; q < end; q++)
            plx__knn_scan(job, w, q, &w->list[q - begin], w->products + (q - begin) * PLX__KNN_REFERENCES, j, count);
    }
    for (plx_index q = begin; q < end; q++) plx__knn_write(job, w, q, &w->list[q - begin]);
    return PLX_OK;
}

static plx_status sparse_queries(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const plx__knn_job *job = arg;
    plx__knn_space *w = job->space + worker;
    plx_ccsr x = job->x.csr, postings = job->z.csr;
    double square = job->scale * job->scale;
    (void)ctx;
    start_lists(job, w, end - begin);
    for (plx_index q = begin; q < end; q++) {
        memset(w->products, 0, (size_t)job->n * sizeof *w->products);
        for (int64_t p = x.ptr[q]; p < x.ptr[q + 1]; p++) {
            double value = x.val[p] * square;
            for (int64_t t = postings.ptr[x.col[p]]; t < postings.ptr[x.col[p] + 1]; t++)
                w->products[postings.col[t]] += (float)(value * postings.val[t]);
        }
        plx__knn_scan(job, w, q, &w->list[q - begin], w->products, 0, job->n);
        plx__knn_write(job, w, q, &w->list[q - begin]);
    }
    return PLX_OK;
}

/* ---- preparation ---- */

/* Mean of the present references; absent rows may hold anything. */
static void present_mean(double *mean, plx_cmat m, const uint8_t *present)
{
    plx_index count = 0;
    for (plx_index i = 0; i < m.rows; i++) {
        if (present && !present[i]) continue;
        plx__axpy(mean, 1.0, m.data + i * m.ld, m.cols);
        count++;
    }
    if (count) plx__scale(mean, 1.0 / (double)count, m.cols);
}

/* Copy with the mean taken off (Euclid) or unit rows (cosine; mean NULL). */
static plx_status moved_dense(plx_context *ctx, plx__points *out, plx_cmat m, const double *mean)
{
    plx_mat copy;
    PLX_TRY(plx__mat_clone(&copy, plx__scratch(ctx), m));
    for (plx_index i = 0; i < copy.rows; i++) {
        double *row = copy.data + i * copy.ld;
        double norm = mean ? 1.0 : plx__norm(row, copy.cols);
        if (mean) plx__axpy(row, -1.0, mean, copy.cols);
        else if (norm > 0) plx__scale(row, 1.0 / norm, copy.cols);
    }
    *out = plx__points_dense(plx__cmat(copy));
    return PLX_OK;
}

static plx_status unit_sparse(plx_context *ctx, plx__points *out, plx_ccsr m)
{
    plx_csr copy;
    double *factor = NULL;
    PLX_TRY(plx__csr_clone(&copy, plx__scratch(ctx), m));
    PLX_TRY(plx__arena_f64(&factor, plx__scratch(ctx), m.rows, 1));
    plx__csr_row_norms_sq(m, factor);
    for (plx_index i = 0; i < m.rows; i++) factor[i] = factor[i] > 0 ? 1.0 / sqrt(factor[i]) : 0.0;
    plx__csr_scale_rows(copy, factor);
    *out = plx__points_csr(plx__ccsr(copy));
    return PLX_OK;
}

static plx_status move_points(plx_context *ctx, plx__knn_job *job)
{
    bool cosine = job->o->metric == PLX__COSINE, sparse = plx__points_sparse(job->queries);
    double *mean = NULL;
    job->x = job->queries;
    job->z = job->references;
    if (sparse && !cosine) return PLX_OK;
    if (sparse) {
        PLX_TRY(unit_sparse(ctx, &job->z, job->references.csr));
        return job->o->self ? (job->x = job->z, PLX_OK) : unit_sparse(ctx, &job->x, job->queries.csr);
    }
    if (!cosine) {
        PLX_TRY(plx__arena_f64(&mean, plx__scratch(ctx), job->references.dense.cols, 1));
        present_mean(mean, job->references.dense, job->o->present);
    }
    PLX_TRY(moved_dense(ctx, &job->z, job->references.dense, mean));
    if (job->o->self) job->x = job->z;
    else PLX_TRY(moved_dense(ctx, &job->x, job->queries.dense, mean));
    return PLX_OK;
}

/* Terms in the longest sum of a product. */
static double longest_sum(const plx__knn_job *job)
{
    if (!plx__points_sparse(job->x)) return (double)job->x.dense.cols;
    plx_index most = 0;
    for (plx_index i = 0; i < job->x.csr.rows; i++) most = plx__max(most, job->x.csr.ptr[i + 1] - job->x.csr.ptr[i]);
    return (double)most;
}

static bool counts(const uint8_t *present, plx_index i) { return !present || present[i]; }

/* Power of two that brings the largest norm of what takes part to 1/2..1: no overflow in single precision,
 * and what underflows is far below the rounding bound. */
static double choose_scale(const plx__knn_job *job)
{
    double largest = 0;
    int exponent = 0;
    for (plx_index j = 0; j < job->n; j++)
        if (counts(job->o->present, j)) largest = fmax(largest, job->z_sq[j]);
    for (plx_index q = 0; q < plx__points_rows(job->queries); q++)
        if (counts(job->query_present, q)) largest = fmax(largest, job->x_sq[q]);
    if (!(largest > 0) || !isfinite(largest)) return 1.0;
    frexp(sqrt(largest), &exponent);
    return ldexp(1.0, exponent < -1000 ? 1000 : -exponent);
}

static plx_status measure(plx_context *ctx, plx__knn_job *job)
{
    plx_index queries = plx__points_rows(job->queries);
    plx__arena *scratch = plx__scratch(ctx);
    bool cosine = job->o->metric == PLX__COSINE;
    PLX_TRY(plx__arena_f64(&job->z_sq, scratch, job->n, 1));
    PLX_TRY(plx__arena_f64(&job->x_sq, scratch, queries, 1));
    PLX_TRY(plx__arena_bytes((void **)&job->low_half, scratch, job->n, sizeof(float)));
    PLX_TRY(plx__points_norms_sq(ctx, job->z, job->z_sq));
    PLX_TRY(plx__points_norms_sq(ctx, job->x, job->x_sq));
    job->scale = choose_scale(job);
    job->c = (longest_sum(job) + 64.0) * (double)FLT_EPSILON; /* 64: for the few roundings outside the sums */
    for (plx_index q = 0; q < queries; q++) job->x_sq[q] = job->x_sq[q] * job->scale * job->scale + FLT_MIN;
    for (plx_index j = 0; j < job->n; j++) {
        double sq = job->z_sq[j] * job->scale * job->scale + FLT_MIN;
        double low = (cosine ? 0.0 : 0.5 * sq) - job->c * sq;
        job->z_sq[j] = sq;
        job->low_half[j] = counts(job->o->present, j) ? (float)low : INFINITY;
    }
    return PLX_OK;
}

static plx_status make_space(plx_context *ctx, plx__knn_job *job, plx_index lists, plx_index products)
{
    plx__arena *scratch = plx__scratch(ctx);
    job->capacity = 4 * job->k + 32;
    PLX_TRY(PLX__ARENA_NEW(&job->space, scratch, plx__workers(ctx)));
    for (int t = 0; t < plx__workers(ctx); t++) {
        plx__knn_space *w = job->space + t;
        PLX_TRY(plx__arena_bytes((void **)&w->products, scratch, products, sizeof *w->products));
        PLX_TRY(plx__arena_bytes((void **)&w->items, scratch, lists * job->capacity, sizeof *w->items));
        PLX_TRY(plx__arena_bytes((void **)&w->ranks, scratch, job->capacity, sizeof *w->ranks));
        if (job->k <= PLX__KNN_FEW)
            PLX_TRY(plx__arena_bytes((void **)&w->best, scratch, lists * job->k, sizeof *w->best));
    }
    return PLX_OK;
}

static plx_status search_sparse(plx_context *ctx, plx__knn_job *job)
{
    plx_csr postings;
    PLX_TRY(plx__csr_transpose(&postings, plx__scratch(ctx), job->z.csr));
    job->z = plx__points_csr(plx__ccsr(postings));
    PLX_TRY(make_space(ctx, job, SPARSE_BLOCK, job->n));
    return plx__parallel_for(ctx, plx__points_rows(job->queries), SPARSE_BLOCK, sparse_queries, job);
}

static plx_status to_single(plx_context *ctx, float **out, plx_cmat m, double scale)
{
    plx_index count = 0;
    if (__builtin_mul_overflow(m.rows, m.cols, &count)) count = -1;
    PLX_TRY(plx__arena_bytes((void **)out, plx__scratch(ctx), count, sizeof **out));
    for (plx_index i = 0; i < m.rows; i++)
        for (plx_index j = 0; j < m.cols; j++) (*out)[i * m.cols + j] = (float)(m.data[i * m.ld + j] * scale);
    return PLX_OK;
}

static plx_status search_dense(plx_context *ctx, plx__knn_job *job)
{
    PLX_TRY(plx__blas_fits(ctx, 0, job->z.dense.cols, job->z.dense.ld));
    PLX_TRY(to_single(ctx, &job->zf, job->z.dense, job->scale));
    job->xf = job->zf;
    if (!job->o->self) PLX_TRY(to_single(ctx, &job->xf, job->x.dense, job->scale));
    PLX_TRY(make_space(ctx, job, PLX__KNN_BLOCK, PLX__KNN_BLOCK * PLX__KNN_REFERENCES));
    bool pairs = job->o->self && plx__knn_can_pair(job->n, job->k);
    plx__blas_scope scope = plx__blas_enter();
    plx_status st = pairs ? plx__knn_pairs(ctx, job)
                          : plx__parallel_for(ctx, job->queries.dense.rows, PLX__KNN_BLOCK, dense_queries, job);
    plx__blas_leave(scope);
    return st;
}

plx_status plx__knn(plx_context *ctx, plx__points queries, plx__points references, const plx__knn_options *options,
                    int64_t *index, double *distance)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx__knn_job job = {
        .queries = queries, .references = references, .o = options, .index = index, .distance = distance};
    PLX_ASSERT(plx__points_sparse(queries) == plx__points_sparse(references));
    PLX_ASSERT(plx__points_cols(queries) == plx__points_cols(references) && options->k >= 1);
    job.n = plx__points_rows(references);
    job.k = plx__max(1, plx__min(options->k, job.n));
    job.query_present = options->self ? options->present : options->query_present;
    PLX_TRY(move_points(ctx, &job));
    PLX_TRY(measure(ctx, &job));
    PLX_TRY(plx__points_sparse(queries) ? search_sparse(ctx, &job) : search_dense(ctx, &job));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

double plx__knn_bytes(const plx_context *ctx, plx_index n, plx_index k, double entries, bool sparse)
{
    double capacity = 4.0 * (double)plx__min(k, n) + 32.0, rows = (double)n;
    double lists = sparse ? SPARSE_BLOCK : PLX__KNN_BLOCK,
           products = sparse ? rows : PLX__KNN_BLOCK * PLX__KNN_REFERENCES;
    double worker = sizeof(plx__knn_space) + products * sizeof(float) + lists * capacity * sizeof(plx__candidate) +
                    capacity * sizeof(plx__knn_ranked) + (k <= PLX__KNN_FEW ? lists * (double)k * sizeof(float) : 0.0);
    double copies = sparse ? 2 * 12.0 * entries : (sizeof(double) + sizeof(float)) * entries;
    double pairs = !sparse && plx__knn_can_pair(n, plx__min(k, n)) ? plx__knn_pair_bytes(n, plx__min(k, n)) : 0.0;
    return copies + 20.0 * rows + worker * plx__workers(ctx) + pairs;
}
