/*
 * Distances and similarities between two sets of rows: one product, then a correction row by row.
 */
#include "linalg/distance.h"

#include <math.h>

#include "core/parallel.h"
#include "linalg/clones.h"

enum { ROW_GRAIN = 16, STRETCH = 128 };

plx__points plx__points_range(plx__points p, plx_index begin, plx_index end)
{
    if (plx__points_sparse(p)) return plx__points_csr(plx__csr_rows(p.csr, begin, end));
    return plx__points_dense(plx__csub(p.dense, begin, 0, end - begin, p.dense.cols));
}

/* ---- single rows ---- */

static double row_dot(plx__points a, plx_index i, plx__points b, plx_index j)
{
    if (plx__points_sparse(a)) return plx__csr_row_dot(a.csr, i, b.csr, j);
    return plx__dot(a.dense.data + i * a.dense.ld, b.dense.data + j * b.dense.ld, a.dense.cols);
}

static double row_dist_sq(plx__points a, plx_index i, plx__points b, plx_index j)
{
    if (plx__points_sparse(a)) return plx__csr_row_dist_sq(a.csr, i, b.csr, j);
    return plx__dist_sq(a.dense.data + i * a.dense.ld, b.dense.data + j * b.dense.ld, a.dense.cols);
}

static double dense_chord_sq(const double *x, double nx, const double *z, double nz, plx_index n)
{
    double sum = 0;
    for (plx_index c = 0; c < n; c++) {
        double d = x[c] / nx - z[c] / nz;
        sum += d * d;
    }
    return sum;
}

static double sparse_chord_sq(plx_ccsr a, plx_index i, double nx, plx_ccsr b, plx_index j, double nz)
{
    int64_t p = a.ptr[i], q = b.ptr[j], p1 = a.ptr[i + 1], q1 = b.ptr[j + 1];
    double sum = 0;
    while (p < p1 || q < q1) {
        int64_t ca = p < p1 ? a.col[p] : INT64_MAX, cb = q < q1 ? b.col[q] : INT64_MAX;
        double d = 0;
        if (ca <= cb) d += a.val[p++] / nx;
        if (cb <= ca) d -= b.val[q++] / nz;
        sum += d * d;
    }
    return sum;
}

/* 1 - cos = |x/|x| - z/|z||^2 / 2: without cancellation where the rows point the same way. */
static double row_cosine_distance(plx__points a, plx_index i, plx__points b, plx_index j)
{
    double nx = sqrt(row_dot(a, i, a, i)), nz = sqrt(row_dot(b, j, b, j));
    if (nx == 0 || nz == 0) return 1.0;
    double cosine = row_dot(a, i, b, j) / (nx * nz);
    if (cosine < 0.5) return fmin(1.0 - cosine, 2.0);
    if (plx__points_sparse(a)) return 0.5 * sparse_chord_sq(a.csr, i, nx, b.csr, j, nz);
    return 0.5 * dense_chord_sq(a.dense.data + i * a.dense.ld, nx, b.dense.data + j * b.dense.ld, nz, a.dense.cols);
}

double plx__point_distance(plx__points a, plx_index i, plx__points b, plx_index j, plx__metric metric)
{
    return metric == PLX__COSINE ? row_cosine_distance(a, i, b, j) : sqrt(row_dist_sq(a, i, b, j));
}

static double power_of_ten(int e)
{
    static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    return e >= 0 && e <= 22 ? exact[e] : pow(10.0, e);
}

double plx__distance_key(double distance)
{
    if (distance < 1e-12) return 0.0;
    if (!isfinite(distance)) return distance;
    int shift = 11 - (int)floor(log10(distance)); /* brings 12 digits before the point */
    if (shift > 300) shift = 300;
    if (shift < -290) return distance;
    return shift >= 0 ? rint(distance * power_of_ten(shift)) / power_of_ten(shift)
                      : rint(distance / power_of_ten(-shift)) * power_of_ten(-shift);
}

/* ---- blocks ---- */

typedef struct norms_job {
    plx__points p;
    double *out;
} norms_job;

static plx_status norms_range(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const norms_job *job = arg;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++) job->out[i] = row_dot(job->p, i, job->p, i);
    return PLX_OK;
}

plx_status plx__points_norms_sq(plx_context *ctx, plx__points p, double *out)
{
    norms_job job = {p, out};
    return plx__parallel_for(ctx, plx__points_rows(p), 1024, norms_range, &job);
}

static bool same_points(plx__points a, plx__points b)
{
    if (plx__points_sparse(a)) return a.csr.ptr == b.csr.ptr && a.csr.val == b.csr.val && a.csr.rows == b.csr.rows;
    return a.dense.data == b.dense.data && a.dense.rows == b.dense.rows && a.dense.ld == b.dense.ld;
}

plx_status plx__points_inner(plx_context *ctx, plx__points a, plx__points b, plx_mat out)
{
    PLX_ASSERT(plx__points_sparse(a) == plx__points_sparse(b) && plx__points_cols(a) == plx__points_cols(b));
    if (plx__points_sparse(a)) return plx__csr_gram(ctx, a.csr, b.csr, out);
    if (same_points(a, b)) return plx__syrk(ctx, 1.0, a.dense, PLX__N, 0.0, out);
    return plx__gemm(ctx, 1.0, a.dense, PLX__N, b.dense, PLX__T, 0.0, out);
}

typedef struct pair_job {
    plx__points a, b;
    const double *na, *nb; /* squared norms */
    plx_mat out;
    double cancel; /* relative size below which |x|^2 + |z|^2 - 2 x.z is not trusted */
} pair_job;

/* Products of a row become squared distances; is any of them in doubt? A loop without branches: near rows are few and
 * come after. */
PLX__CLONES static int row_to_distances(double *restrict row, plx_index n, double own, const double *restrict other,
                                        double cancel)
{
    int64_t doubtful = 0;
    for (plx_index j = 0; j < n; j++) {
        double sum = own + other[j], value = sum - 2.0 * row[j];
        row[j] = value;
        doubtful |= !(value > cancel * sum);
    }
    return doubtful != 0;
}

static plx_status to_distances(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const pair_job *job = arg;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++) {
        double *row = job->out.data + i * job->out.ld;
        for (plx_index at = 0; at < job->out.cols; at += STRETCH) {
            plx_index stop = plx__min(job->out.cols, at + STRETCH);
            if (!row_to_distances(row + at, stop - at, job->na[i], job->nb + at, job->cancel)) continue;
            for (plx_index j = at; j < stop; j++)
                if (!(row[j] > job->cancel * (job->na[i] + job->nb[j]))) row[j] = row_dist_sq(job->a, i, job->b, j);
        }
    }
    return PLX_OK;
}

static plx_status to_cosines(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const pair_job *job = arg;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++) {
        double *row = job->out.data + i * job->out.ld;
        for (plx_index j = 0; j < job->out.cols; j++) {
            double scale = sqrt(job->na[i]) * sqrt(job->nb[j]);
            row[j] = scale > 0 ? fmax(-1.0, fmin(1.0, row[j] / scale)) : 0.0;
        }
    }
    return PLX_OK;
}

/* Near 1 the difference 1 - cos would cancel: computed directly there. */
static plx_status to_cosine_distances(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    static const double near_parallel = 0.999;
    const pair_job *job = arg;
    PLX_TRY(to_cosines(arg, ctx, begin, end, worker));
    for (plx_index i = begin; i < end; i++) {
        double *row = job->out.data + i * job->out.ld;
        for (plx_index j = 0; j < job->out.cols; j++)
            row[j] = row[j] < near_parallel ? 1.0 - row[j] : row_cosine_distance(job->a, i, job->b, j);
    }
    return PLX_OK;
}

/* The rounding of the three sums grows like sqrt(d) eps; 1e-12 is the accuracy promised. */
static double cancel_limit(plx_index cols) { return (16.0 + 8.0 * sqrt((double)cols)) * 1.2e-16 / 1e-12; }

static plx_status pair_matrix(plx_context *ctx, plx__points a, plx__points b, plx_mat out, plx__range_fn finish)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *na = NULL, *nb = NULL;
    PLX_ASSERT(out.rows == plx__points_rows(a) && out.cols == plx__points_rows(b));
    if (out.rows == 0 || out.cols == 0) return PLX_OK;
    PLX_TRY(plx__arena_f64(&na, plx__scratch(ctx), out.rows, 1));
    PLX_TRY(plx__arena_f64(&nb, plx__scratch(ctx), out.cols, 1));
    PLX_TRY(plx__points_norms_sq(ctx, a, na));
    PLX_TRY(plx__points_norms_sq(ctx, b, nb));
    PLX_TRY(plx__points_inner(ctx, a, b, out));
    pair_job job = {a, b, na, nb, out, cancel_limit(plx__points_cols(a))};
    PLX_TRY(plx__parallel_for(ctx, out.rows, ROW_GRAIN, finish, &job));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__separation_tile(plx_context *ctx, plx_cmat a, const double *na, plx_cmat b, const double *nb,
                                plx__metric metric, plx_mat out)
{
    pair_job job = {plx__points_dense(a), plx__points_dense(b), na, nb, out, cancel_limit(a.cols)};
    PLX_TRY(plx__gemm_serial(ctx, 1.0, a, PLX__N, b, PLX__T, 0.0, out));
    return metric == PLX__COSINE ? to_cosine_distances(&job, ctx, 0, out.rows, 0)
                                 : to_distances(&job, ctx, 0, out.rows, 0);
}

plx_status plx__dist_sq_matrix(plx_context *ctx, plx__points a, plx__points b, plx_mat out)
{
    return pair_matrix(ctx, a, b, out, to_distances);
}

plx_status plx__cosine_matrix(plx_context *ctx, plx__points a, plx__points b, plx_mat out)
{
    return pair_matrix(ctx, a, b, out, to_cosines);
}

plx_status plx__separation_matrix(plx_context *ctx, plx__points a, plx__points b, plx__metric metric, plx_mat out)
{
    return pair_matrix(ctx, a, b, out, metric == PLX__COSINE ? to_cosine_distances : to_distances);
}
