/*
 * Gaussian components with diagonal or spherical covariance.
 *
 * Variances are sums of squared deviations from the new mean, not differences of moments, so they do not cancel. Dense
 * rows are summed in a fixed number of slabs. Sparse views go feature by feature over the transpose; entries that are 0
 * count through the mass they leave over, and scores are |mu|^2 terms plus corrections at the entries.
 */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/clones.h"
#include "linalg/dense.h"
#include "mixture/view_mixture.h"

enum { SLAB_ROWS = 256, ROWS_AT_A_TIME = 64, FEATURES_AT_A_TIME = 16 };

static const double LOG_2PI = 1.8378770664093454836;

/* ---- mean and variance of the whole view ---- */

/* Means are sums of differences from one present row: a constant feature has exactly its value as mean and 0 as variance,
 * where a plain mean would leave a variance of rounding errors. */
static void dense_moments(plx__view_mixture *mix, double *mean, double *var)
{
    const plx__view *v = mix->view;
    double count = (double)v->present_count;
    plx_index first = 0;
    while (first < mix->n && !v->present[first]) first++;
    if (first == mix->n) return;
    const double *reference = v->dense.data + first * v->dense.ld;
    for (plx_index i = first; i < mix->n; i++) {
        const double *x = v->dense.data + i * v->dense.ld;
        for (plx_index f = 0; v->present[i] && f < v->cols; f++) mean[f] += (x[f] - reference[f]) / count;
    }
    plx__axpy(mean, 1.0, reference, v->cols);
    for (plx_index i = 0; i < mix->n; i++) {
        const double *x = v->dense.data + i * v->dense.ld;
        for (plx_index f = 0; v->present[i] && f < v->cols; f++) var[f] += (x[f] - mean[f]) * (x[f] - mean[f]) / count;
    }
}

static void sparse_moments(plx__view_mixture *mix, double *mean, double *var)
{
    double count = (double)mix->view->present_count;
    const plx_ccsr *a = &mix->flipped;
    for (plx_index f = 0; f < a->rows; f++) {
        double entries = (double)(a->ptr[f + 1] - a->ptr[f]), sum = 0;
        double reference = entries > 0 && entries == count ? a->val[a->ptr[f]] : 0; /* 0 is among the values, else */
        for (int64_t p = a->ptr[f]; p < a->ptr[f + 1]; p++) mean[f] += (a->val[p] - reference) / count;
        mean[f] += reference;
        for (int64_t p = a->ptr[f]; p < a->ptr[f + 1]; p++) sum += (a->val[p] - mean[f]) * (a->val[p] - mean[f]);
        var[f] = (sum + (count - entries) * mean[f] * mean[f]) / count;
    }
}

/* The floor of all variances, and the parameters of components without mass. */
static plx_status start_from_view(plx__view_mixture *mix)
{
    plx_index cols = mix->view->cols;
    double *mean = mix->sums, *var = mix->sums + cols;
    if (mix->view->sparse) sparse_moments(mix, mean, var);
    else dense_moments(mix, mean, var);
    mix->total_variance = plx__sum(var, cols);
    double average = mix->total_variance / (double)cols;
    mix->floor = average > 0 ? mix->set.var_floor * average : mix->set.var_floor;
    for (plx_index j = 0; j < mix->m; j++) {
        memcpy(mix->theta.data + j * cols, mean, (size_t)cols * sizeof *mean);
        for (plx_index f = 0; f < mix->var.cols; f++)
            mix->var.data[j * mix->var.cols + f] =
                fmax(mix->set.likelihood == PLX__SPHERICAL ? average : var[f], mix->floor);
    }
    return PLX_OK;
}

plx_status plx__gaussian_open(plx__view_mixture *mix, bool fitting)
{
    plx__arena *scratch = plx__scratch(mix->ctx);
    plx_index cols = mix->view->cols, m = mix->m, room = plx__workers(mix->ctx) * 3 * mix->padded;
    PLX_TRY(plx__arena_mat(&mix->theta, scratch, m, cols));
    PLX_TRY(plx__arena_mat(&mix->var, scratch, m, mix->set.likelihood == PLX__SPHERICAL ? 1 : cols));
    PLX_TRY(plx__arena_f64(&mix->constant, scratch, m, 1));
    if (mix->view->sparse) PLX_TRY(plx__arena_mat(&mix->table, scratch, cols, 2 * mix->padded));
    if (!fitting) return PLX_OK;
    if (!mix->view->sparse) room = PLX__GAUSSIAN_SLABS * m * cols;
    PLX_TRY(plx__arena_f64(&mix->sums, scratch, plx__max(room, 2 * cols), 1));
    PLX_TRY(plx__arena_mat(&mix->moments, scratch, mix->padded, cols));
    return start_from_view(mix);
}

/* ---- M step, dense ---- */

typedef struct moment_sums {
    plx__view_mixture *mix;
    plx_cmat weights;
    const double *mass;
    plx_index slab_rows;
} moment_sums;

PLX__CLONES static void add_squares(double *to, double r, const double *x, const double *mean, plx_index cols)
{
    for (plx_index f = 0; f < cols; f++) to[f] += r * ((x[f] - mean[f]) * (x[f] - mean[f]));
}

static plx_status square_slabs(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const moment_sums *q = arg;
    const plx__view_mixture *mix = q->mix;
    plx_index cols = mix->view->cols;
    (void)ctx, (void)worker;
    for (plx_index s = begin; s < end; s++) {
        double *to = mix->sums + s * mix->m * cols;
        memset(to, 0, (size_t)(mix->m * cols) * sizeof *to);
        for (plx_index i = s * q->slab_rows; i < plx__min(mix->n, (s + 1) * q->slab_rows); i++) {
            const double *x = mix->view->dense.data + i * mix->view->dense.ld, *r = q->weights.data + i * q->weights.ld;
            for (plx_index j = 0; j < mix->m; j++)
                if (r[j] > 0) add_squares(to + j * cols, r[j], x, mix->theta.data + j * cols, cols);
        }
    }
    return PLX_OK;
}

static plx_status dense_sums(moment_sums *q)
{
    plx__view_mixture *mix = q->mix;
    plx_index cols = mix->view->cols, size = mix->m * cols;
    PLX_TRY(plx__gemm(mix->ctx, 1.0, q->weights, PLX__T, mix->view->dense, PLX__N, 0.0, mix->moments));
    for (plx_index j = 0; j < mix->m; j++)
        for (plx_index f = 0; q->mass[j] > PLX__LEAST_MASS && f < cols; f++)
            mix->theta.data[j * cols + f] = mix->moments.data[j * cols + f] / q->mass[j];
    q->slab_rows = plx__max(SLAB_ROWS, mix->n / PLX__GAUSSIAN_SLABS + 1);
    plx_index slabs = mix->n / q->slab_rows + 1;
    PLX_TRY(plx__parallel_for(mix->ctx, slabs, 1, square_slabs, q));
    memcpy(mix->moments.data, mix->sums, (size_t)size * sizeof *mix->sums);
    for (plx_index s = 1; s < slabs; s++) plx__axpy(mix->moments.data, 1.0, mix->sums + s * size, size);
    return PLX_OK;
}

/* ---- M step, sparse ---- */

/* Mean and sum of squares of one feature in all components; the zeros of the feature deviate by the mean. */
static void feature_sums(const moment_sums *q, plx_index f, double *first, double *second, double *met)
{
    plx__view_mixture *mix = q->mix;
    plx_index m = mix->m, cols = mix->view->cols;
    const plx_ccsr *a = &mix->flipped;
    memset(first, 0, (size_t)m * sizeof *first);
    memset(second, 0, (size_t)m * sizeof *second);
    memset(met, 0, (size_t)m * sizeof *met);
    for (int64_t p = a->ptr[f]; p < a->ptr[f + 1]; p++)
        plx__axpy(first, a->val[p], q->weights.data + (plx_index)a->col[p] * q->weights.ld, m);
    for (plx_index j = 0; j < m; j++)
        if (q->mass[j] > PLX__LEAST_MASS) mix->theta.data[j * cols + f] = first[j] /= q->mass[j];
    for (int64_t p = a->ptr[f]; p < a->ptr[f + 1]; p++) {
        const double *r = q->weights.data + (plx_index)a->col[p] * q->weights.ld;
        for (plx_index j = 0; j < m; j++) {
            second[j] += r[j] * ((a->val[p] - first[j]) * (a->val[p] - first[j]));
            met[j] += r[j];
        }
    }
    for (plx_index j = 0; j < m; j++)
        mix->moments.data[j * cols + f] = second[j] + fmax(0, q->mass[j] - met[j]) * first[j] * first[j];
}

static plx_status feature_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const moment_sums *q = arg;
    double *room = q->mix->sums + worker * 3 * q->mix->padded;
    (void)ctx;
    for (plx_index f = begin; f < end; f++) feature_sums(q, f, room, room + q->mix->padded, room + 2 * q->mix->padded);
    return PLX_OK;
}

/* ---- M step ---- */

static void set_variances(plx__view_mixture *mix, const double *mass)
{
    plx_index cols = mix->view->cols;
    for (plx_index j = 0; j < mix->m; j++) {
        const double *squares = mix->moments.data + j * cols;
        double *var = mix->var.data + j * mix->var.cols;
        if (!(mass[j] > PLX__LEAST_MASS)) continue;
        if (mix->set.likelihood == PLX__SPHERICAL)
            var[0] = fmax(plx__sum(squares, cols) / mass[j] / (double)cols, mix->floor);
        else
            for (plx_index f = 0; f < cols; f++) var[f] = fmax(squares[f] / mass[j], mix->floor);
    }
}

plx_status plx__gaussian_m_step(plx__view_mixture *mix, plx_cmat weights, const double *mass)
{
    moment_sums q = {.mix = mix, .weights = weights, .mass = mass};
    if (mix->view->sparse) PLX_TRY(plx__parallel_for(mix->ctx, mix->view->cols, FEATURES_AT_A_TIME, feature_rows, &q));
    else PLX_TRY(dense_sums(&q));
    set_variances(mix, mass);
    plx__gaussian_refresh(mix);
    return PLX_OK;
}

/* ---- scores ---- */

static double variance_at(const plx__view_mixture *mix, plx_index j, plx_index f)
{
    return mix->var.data[j * mix->var.cols + (mix->set.likelihood == PLX__SPHERICAL ? 0 : f)];
}

/* constant_j = -1/2 sum_f log(2 pi var), for sparse views less 1/2 sum_f mu^2 / var. */
void plx__gaussian_refresh(plx__view_mixture *mix)
{
    plx_index cols = mix->view->cols;
    for (plx_index j = 0; j < mix->m; j++) {
        double sum = 0;
        for (plx_index f = 0; f < cols; f++) {
            double var = variance_at(mix, j, f), mean = mix->theta.data[j * cols + f];
            sum += LOG_2PI + log(var);
            if (!mix->view->sparse) continue;
            double *row = mix->table.data + f * mix->table.ld;
            sum += mean * mean / var;
            row[j] = 1 / var;
            row[mix->padded + j] = -2 * mean / var;
        }
        mix->constant[j] = -0.5 * sum;
    }
}

#define DEFINE_SCALED_DISTANCE(SUFFIX, TARGET, VEC)                                                                    \
    TARGET static double scaled_distance##SUFFIX(const double *x, const double *mean, const double *var,               \
                                                 plx_index cols)                                                       \
    {                                                                                                                  \
        VEC sum[PLX__VECS(VEC)] = {{0}};                                                                               \
        plx_index f = 0;                                                                                               \
        double lane[8], rest = 0;                                                                                      \
        for (; f + 8 <= cols; f += 8)                                                                                  \
            for (int v = 0; v < PLX__VECS(VEC); v++) {                                                                 \
                plx_index at = f + v * PLX__LANES(VEC);                                                                \
                VEC d = *(const VEC##u *)(x + at) - *(const VEC##u *)(mean + at);                                      \
                sum[v] += d * d / *(const VEC##u *)(var + at);                                                         \
            }                                                                                                          \
        memcpy(lane, sum, sizeof lane);                                                                                \
        for (; f < cols; f++) rest += (x[f] - mean[f]) * (x[f] - mean[f]) / var[f];                                    \
        for (int l = 0; l < 8; l++) rest += lane[l];                                                                   \
        return rest;                                                                                                   \
    }

PLX__EACH_WIDTH(DEFINE_SCALED_DISTANCE)

static void dense_row_scores(const plx__view_mixture *mix, plx_index i, double *out)
{
    plx_index cols = mix->view->cols;
    const double *x = mix->view->dense.data + i * mix->view->dense.ld;
    for (plx_index j = 0; j < mix->m; j++) {
        const double *mean = mix->theta.data + j * cols, *var = mix->var.data + j * mix->var.cols;
        double distance = mix->set.likelihood == PLX__SPHERICAL ? plx__dist_sq(x, mean, cols) / var[0]
                                                                : PLX__WIDEST(scaled_distance)(x, mean, var, cols);
        out[j] = mix->constant[j] - 0.5 * distance;
    }
}

static void sparse_row_scores(const plx__view_mixture *mix, plx_index i, double *out)
{
    const plx_ccsr *a = &mix->view->csr;
    memcpy(out, mix->constant, (size_t)mix->m * sizeof *out);
    for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) {
        const double *square = mix->table.data + (plx_index)a->col[p] * mix->table.ld, *linear = square + mix->padded;
        double x = a->val[p];
        for (plx_index j = 0; j < mix->m; j++) out[j] -= 0.5 * x * (x * square[j] + linear[j]);
    }
}

static plx_status score_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const plx__view_mixture *mix = arg;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++) {
        double *out = mix->loglik.data + i * mix->loglik.ld;
        if (!mix->view->present[i]) continue;
        if (mix->view->sparse) sparse_row_scores(mix, i, out);
        else dense_row_scores(mix, i, out);
    }
    return PLX_OK;
}

plx_status plx__gaussian_scores(plx__view_mixture *mix)
{
    return plx__parallel_for(mix->ctx, mix->n, ROWS_AT_A_TIME, score_rows, mix);
}
