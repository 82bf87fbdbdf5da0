/*
 * Costs come from r = (x - m)/m by log1p, because x log(x/m) - x + m cancels where x and m are close. The
 * loops over coordinates work on eight lanes whose sums are added in a fixed order.
 */
#include "cluster/bregman.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/vecmath.h"

static const double KL_LEAST = 1e-300;

/* ---- single coordinates ---- */

/* (1 + r) log(1 + r) - r */
static double kl_of_ratio(double r) { return r > -1 ? (1 + r) * log1p(r) - r : 1.0; }

double plx__bregman_term(plx__bregman kind, double x, double mean)
{
    if (kind == PLX__BREGMAN_EUCLID) return (x - mean) * (x - mean);
    if (kind == PLX__BREGMAN_IS) {
        double r = (x - mean) / mean;
        return fabs(r) < 0.75 ? r - log1p(r) : r - log(x) + log(mean);
    }
    if (x == 0) return mean;
    if (mean < KL_LEAST) mean = KL_LEAST;
    if (x > 4 * mean || x < 0.25 * mean) return x * (log(x) - log(mean)) - x + mean;
    return mean * kl_of_ratio((x - mean) / mean);
}

double plx__bregman_merge_term(plx__bregman kind, double x, double s, double y, double t)
{
    double share = t / (s + t), gap = y - x, mean = x + share * gap;
    if (kind == PLX__BREGMAN_EUCLID) return s * share * gap * gap;
    if (mean <= 0 || gap == 0) return 0;
    double rx = -share * gap / mean, ry = s / (s + t) * gap / mean;
    if (kind == PLX__BREGMAN_IS) return s * (rx - log1p(rx)) + t * (ry - log1p(ry));
    return mean * (s * kl_of_ratio(rx) + t * kl_of_ratio(ry));
}

/* ---- eight coordinates at a time ---- */

/* Sum of eight, in a fixed order. */
#define SUM_OF_LANES(v) ((((v)[0] + (v)[4]) + ((v)[1] + (v)[5])) + (((v)[2] + (v)[6]) + ((v)[3] + (v)[7])))

/* log of u = 1 + r, both given: what rounding took from u is put back. Where u is 0, so is the factor of the log. */
#define LOG_OF_RATIO(VEC, out, u, r)                                                                                   \
    do {                                                                                                               \
        VEC safe_ = (u) + 1e-300, log_;                                                                                \
        PLX__LOG(VEC, log_, safe_);                                                                                    \
        (out) = log_ + ((r) - ((u)-1.0)) / safe_;                                                                      \
    } while (0)

/* NAME: sum over the coordinates of TERM, in which a and b are the rows, mean lies between them, and lx, ly are the
 * logarithms of ux = a / mean, uy = b / mean. */
#define DEFINE_MERGE(NAME, TARGET, VEC, GUARD, TERM)                                                                   \
    TARGET static double NAME(const double *x, double s, const double *y, double t, plx_index d)                       \
    {                                                                                                                  \
        const double share = t / (s + t), other = s / (s + t);                                                         \
        VEC sum[PLX__VECS(VEC)] = {{0}};                                                                               \
        for (plx_index j = 0; j < d; j += 8)                                                                           \
            for (int v = 0; v < PLX__VECS(VEC); v++) {                                                                 \
                plx_index at = j + v * PLX__LANES(VEC);                                                                \
                VEC a = *(const VEC##u *)(x + at), b = *(const VEC##u *)(y + at), mean = a + share * (b - a), lx, ly;  \
                VEC inverse = 1.0 / (mean + (GUARD)), ratio = (b - a) * inverse;                                       \
                VEC rx = -share * ratio, ry = other * ratio, ux = a * inverse, uy = b * inverse;                       \
                LOG_OF_RATIO(VEC, lx, ux, rx);                                                                         \
                LOG_OF_RATIO(VEC, ly, uy, ry);                                                                         \
                sum[v] += TERM;                                                                                        \
            }                                                                                                          \
        const double *lane = (const double *)sum;                                                                      \
        return SUM_OF_LANES(lane);                                                                                     \
    }

#define DEFINE_MERGES(SUFFIX, TARGET, VEC)                                                                             \
    DEFINE_MERGE(merge_kl##SUFFIX, TARGET, VEC, 1e-300, mean *(s * (ux * lx - rx) + t * (uy * ly - ry)))               \
    DEFINE_MERGE(merge_is##SUFFIX, TARGET, VEC, 0.0, s *(rx - lx) + t * (ry - ly))                                     \
    TARGET static double squares##SUFFIX(const double *x, const double *y, plx_index d)                                \
    {                                                                                                                  \
        VEC sum[PLX__VECS(VEC)] = {{0}};                                                                               \
        for (plx_index j = 0; j < d; j += 8)                                                                           \
            for (int v = 0; v < PLX__VECS(VEC); v++) {                                                                 \
                plx_index at = j + v * PLX__LANES(VEC);                                                                \
                VEC gap = *(const VEC##u *)(y + at) - *(const VEC##u *)(x + at);                                       \
                sum[v] += gap * gap;                                                                                   \
            }                                                                                                          \
        const double *lane = (const double *)sum;                                                                      \
        return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));              \
    }

PLX__EACH_WIDTH(DEFINE_MERGES)

double plx__bregman_merge(plx__bregman kind, const double *x, double s, const double *y, double t, plx_index d)
{
    double cost = 0;
    switch (kind) {
    case PLX__BREGMAN_EUCLID: return s * t / (s + t) * PLX__WIDEST(squares)(x, y, d);
    case PLX__BREGMAN_KL: cost = PLX__WIDEST(merge_kl)(x, s, y, t, d); break;
    case PLX__BREGMAN_IS: cost = PLX__WIDEST(merge_is)(x, s, y, t, d); break;
    }
    return cost > 0 ? cost : 0; /* rounding of equal rows */
}

/* ---- groups ---- */

static plx_index row_of(const plx_index *sample, plx_index i) { return sample ? sample[i] : i; }

static double dense_from(plx__bregman kind, const double *x, const double *mean, plx_index d)
{
    double sum = 0;
    for (plx_index j = 0; j < d; j++) sum += plx__bregman_term(kind, x[j], mean[j]);
    return sum;
}

/* `zeros` is D of an empty row. Itakura-Saito never comes here: its rows have no zeros. */
static double sparse_from(plx__bregman kind, plx_ccsr rows, plx_index i, const double *mean, double zeros)
{
    double sum = 0, covered = 0;
    for (int64_t p = rows.ptr[i]; p < rows.ptr[i + 1]; p++) {
        double m = mean[rows.col[p]];
        sum += plx__bregman_term(kind, rows.val[p], m);
        covered += plx__bregman_term(kind, 0, m);
    }
    return sum + fmax(zeros - covered, 0);
}

static double of_zeros(plx__bregman kind, const double *mean, plx_index d)
{
    double sum = 0;
    for (plx_index j = 0; j < d; j++) sum += kind == PLX__BREGMAN_EUCLID ? mean[j] * mean[j] : mean[j];
    return sum;
}

double plx__bregman_from(plx__bregman kind, plx__points rows, plx_index i, const double *mean)
{
    plx_index d = plx__points_cols(rows);
    if (!plx__points_sparse(rows)) return dense_from(kind, rows.dense.data + i * rows.dense.ld, mean, d);
    return sparse_from(kind, rows.csr, i, mean, of_zeros(kind, mean, d));
}

static void dense_mean(double *mean, plx_cmat rows, const plx_index *sample, plx_index n)
{
    const double *first = rows.data + row_of(sample, 0) * rows.ld;
    for (plx_index i = 0; i < n; i++) plx__axpy(mean, 1.0, rows.data + row_of(sample, i) * rows.ld, rows.cols);
    for (plx_index j = 0; j < rows.cols; j++) {
        plx_index i = 1;
        mean[j] /= (double)n;
        if (fabs(mean[j] - first[j]) > 1e-12 * fabs(first[j])) continue;
        while (i < n && rows.data[row_of(sample, i) * rows.ld + j] == first[j]) i++;
        if (i == n) mean[j] = first[j];
    }
}

static plx_status sparse_mean(double *mean, plx_context *ctx, plx_ccsr rows, const plx_index *sample, plx_index n)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *first = NULL;
    int32_t *same = NULL;
    PLX_TRY(plx__arena_f64(&first, plx__scratch(ctx), 1, rows.cols));
    PLX_TRY(plx__arena_i32(&same, plx__scratch(ctx), rows.cols));
    for (plx_index i = 0; i < n; i++) {
        plx_index r = row_of(sample, i);
        for (int64_t p = rows.ptr[r]; p < rows.ptr[r + 1]; p++) {
            int32_t j = rows.col[p];
            if (i == 0) first[j] = rows.val[p];
            mean[j] += rows.val[p];
            same[j] += rows.val[p] == first[j];
        }
    }
    for (plx_index j = 0; j < rows.cols; j++) mean[j] = same[j] == n ? first[j] : mean[j] / (double)n;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__bregman_mean(double *mean, plx_context *ctx, plx__points rows, const plx_index *sample, plx_index n)
{
    memset(mean, 0, (size_t)plx__points_cols(rows) * sizeof *mean);
    if (n == 0) return PLX_OK;
    if (plx__points_sparse(rows)) return sparse_mean(mean, ctx, rows.csr, sample, n);
    dense_mean(mean, rows.dense, sample, n);
    return PLX_OK;
}

typedef struct cost_job {
    plx__bregman kind;
    plx__points rows;
    const plx_index *sample;
    const double *mean;
    double zeros;
} cost_job;

static plx_status cost_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *partial)
{
    const cost_job *job = arg;
    (void)ctx;
    for (plx_index i = begin; i < end; i++) {
        plx_index r = row_of(job->sample, i);
        *partial += plx__points_sparse(job->rows) ? sparse_from(job->kind, job->rows.csr, r, job->mean, job->zeros)
                                                  : dense_from(job->kind, job->rows.dense.data + r * job->rows.dense.ld,
                                                               job->mean, job->rows.dense.cols);
    }
    return PLX_OK;
}

plx_status plx__bregman_cost(double *out, plx_context *ctx, plx__bregman kind, plx__points rows,
                             const plx_index *sample, plx_index n)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    cost_job job = {kind, rows, sample, NULL, 0};
    double *mean = NULL;
    *out = 0;
    if (n < 2) return PLX_OK;
    PLX_TRY(plx__arena_f64(&mean, plx__scratch(ctx), 1, plx__points_cols(rows)));
    PLX_TRY(plx__bregman_mean(mean, ctx, rows, sample, n));
    job.mean = mean;
    if (plx__points_sparse(rows)) job.zeros = of_zeros(kind, mean, plx__points_cols(rows));
    PLX_TRY(plx__parallel_sum(ctx, n, 128, 1, cost_rows, &job, out));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
