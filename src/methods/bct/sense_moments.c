/*
 * Kernel values b_l = kappa(x_l, x) when x is normal: mean and covariance in closed form for linear and rbf kernels,
 *
 *     linear:  E[b] = a X mu,  Cov(b) = a^2 X Sigma X'
 *     rbf:     E[b_l] = a |I + Sigma/w^2|^-1/2 exp(-1/2 (x_l - mu)' (w^2 I + Sigma)^-1 (x_l - mu)),
 *              E[b_l b_k] = a^2 exp(-|x_l - x_k|^2/4w^2) |I + 2 Sigma/w^2|^-1/2
 *                           exp(-1/2 (m - mu)' (w^2/2 I + Sigma)^-1 (m - mu)),  m = (x_l + x_k)/2,
 *
 * and draws of x for all others.
 */
#include <math.h>
#include <string.h>

#include "methods/bct/sense.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "linalg/factor.h"
#include "linalg/lowrank.h"

static const double LEAST_TRACE = 1e-12;

static bool is_full(plx_cmat cov) { return cov.rows == cov.cols && cov.rows > 1; }

/* ---- factors ---- */

typedef struct product_job {
    plx_cmat f;
} product_job;

static plx_status product_column(void *arg, plx_context *ctx, plx_index j, plx_index begin, plx_index end, double *out)
{
    const product_job *job = arg;
    return plx__gemv(ctx, 1.0, plx__csub(job->f, begin, 0, end - begin, job->f.cols), PLX__N,
                     job->f.data + j * job->f.ld, 0.0, out);
}

plx_status plx__sense_compress(plx_mat *out, plx_context *ctx, plx_cmat f)
{
    product_job job = {f};
    plx__pivot_options options = {.threshold = LEAST_TRACE, .stop = PLX__STOP_SUM};
    plx__pivoted found;
    double *diagonal = NULL;
    PLX_TRY(plx__arena_f64(&diagonal, plx__scratch(ctx), f.rows, 1));
    for (plx_index i = 0; i < f.rows; i++) diagonal[i] = plx__norm_sq(f.data + i * f.ld, f.cols);
    PLX_TRY(plx__pivoted_cholesky(&found, plx__scratch(ctx), ctx, diagonal, f.rows, product_column, &job, &options));
    *out = plx__sub(found.z, 0, 0, f.rows, found.rank);
    return PLX_OK;
}

/* L with L L' = cov + shift I: lower triangular, or the diagonal as a row. */
static plx_status root_of(plx_mat *out, plx_context *ctx, plx_cmat cov, double shift)
{
    PLX_TRY(plx__mat_clone(out, plx__scratch(ctx), cov));
    if (!is_full(cov)) {
        for (plx_index j = 0; j < cov.cols; j++) out->data[j] = sqrt(fmax(out->data[j] + shift, 0.0));
        return PLX_OK;
    }
    plx__mat_add_diag(*out, shift);
    return plx__cholesky_jitter(ctx, *out, NULL, "acquire: covariance of a component", NULL, "increase cov_reg");
}

static double log_det(plx_cmat root)
{
    double sum = 0;
    if (is_full(root)) return plx__chol_logdet(root);
    for (plx_index j = 0; j < root.cols; j++) sum += 2 * log(root.data[j]);
    return sum;
}

/* out = (rows - mean) L^-T: their squared lengths are quadratic forms with (cov + shift I)^-1. */
static plx_status whiten(plx_mat *out, plx_context *ctx, const sense_reference *of, plx_cmat root)
{
    PLX_TRY(plx__mat_clone(out, plx__scratch(ctx), of->rows));
    plx__sub_row(*out, of->mean);
    if (is_full(root)) return plx__tri_solve_right(ctx, root, PLX__T, *out);
    for (plx_index i = 0; i < out->rows; i++)
        for (plx_index j = 0; j < out->cols; j++) out->data[i * out->ld + j] /= root.data[j];
    return PLX_OK;
}

/* ---- linear ---- */

static plx_status linear_moments(plx_mat *out, double *self, plx_context *ctx, const sense_reference *of)
{
    plx_index d = of->rows.cols, n = of->rows.rows;
    double a = of->kernel.amplitude;
    plx_mat root, f;
    PLX_TRY(root_of(&root, ctx, of->cov, 0.0));
    PLX_TRY(plx__arena_mat(&f, plx__scratch(ctx), n, d));
    if (is_full(plx__cmat(root))) PLX_TRY(plx__gemm(ctx, a, of->rows, PLX__N, plx__cmat(root), PLX__N, 0.0, f));
    else
        for (plx_index i = 0; i < n; i++)
            for (plx_index j = 0; j < d; j++)
                f.data[i * f.ld + j] = a * of->rows.data[i * of->rows.ld + j] * root.data[j];
    if (d > n) PLX_TRY(plx__sense_compress(&f, ctx, plx__cmat(f)));
    PLX_TRY(plx__arena_mat(out, plx__scratch(ctx), n, 1 + f.cols));
    plx__mat_copy(plx__sub(*out, 0, 1, n, f.cols), plx__cmat(f));
    for (plx_index i = 0; i < n; i++)
        out->data[i * out->ld] = a * plx__dot(of->rows.data + i * of->rows.ld, of->mean, d);
    double trace = is_full(of->cov) ? plx__mat_trace(of->cov) : plx__sum(of->cov.data, of->cov.cols);
    *self = a * (plx__norm_sq(of->mean, d) + trace);
    return PLX_OK;
}

/* ---- rbf ---- */

typedef struct pair_job {
    plx_mat cov;        /* |x_l - x_k|^2 on entry, Cov(b) on return */
    plx_cmat inner;     /* z_l . z_k */
    const double *mean; /* E[b] */
    double quarter;     /* 1/(4 w^2) */
    double log_factor;  /* of a^2 |I + 2 Sigma/w^2|^-1/2 */
} pair_job;

/* (m - mu)' (..)^-1 (m - mu) = |z_l + z_k|^2 / 4. */
static plx_status pair_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const pair_job *job = arg;
    plx_cmat z = job->inner;
    (void)ctx, (void)worker;
    for (plx_index l = begin; l < end; l++)
        for (plx_index k = 0; k < job->cov.cols; k++) {
            double *entry = &job->cov.data[l * job->cov.ld + k];
            double quad = z.data[l * z.ld + l] + z.data[k * z.ld + k] + 2 * z.data[l * z.ld + k];
            *entry = exp(job->log_factor - job->quarter * *entry - 0.125 * quad) - job->mean[l] * job->mean[k];
        }
    return PLX_OK;
}

static plx_status rbf_mean(double *mean, plx_context *ctx, const sense_reference *of)
{
    double w2 = of->kernel.width * of->kernel.width;
    plx_mat root, z;
    PLX_TRY(root_of(&root, ctx, of->cov, w2));
    PLX_TRY(whiten(&z, ctx, of, plx__cmat(root)));
    double log_factor = log(of->kernel.amplitude) - 0.5 * (log_det(plx__cmat(root)) - (double)z.cols * log(w2));
    for (plx_index i = 0; i < z.rows; i++) mean[i] = exp(log_factor - 0.5 * plx__norm_sq(z.data + i * z.ld, z.cols));
    return PLX_OK;
}

static plx_status rbf_covariance(plx_mat *out, plx_context *ctx, const sense_reference *of, const double *mean)
{
    double w2 = of->kernel.width * of->kernel.width;
    plx_index n = of->rows.rows;
    plx_mat root, z, inner;
    PLX_TRY(root_of(&root, ctx, of->cov, 0.5 * w2));
    PLX_TRY(whiten(&z, ctx, of, plx__cmat(root)));
    PLX_TRY(plx__arena_mat(&inner, plx__scratch(ctx), n, n));
    PLX_TRY(plx__arena_mat(out, plx__scratch(ctx), n, n));
    PLX_TRY(plx__syrk(ctx, 1.0, plx__cmat(z), PLX__N, 0.0, inner));
    PLX_TRY(plx__dist_sq_matrix(ctx, plx__points_dense(of->rows), plx__points_dense(of->rows), *out));
    double log_factor =
        2 * log(of->kernel.amplitude) - 0.5 * (log_det(plx__cmat(root)) - (double)z.cols * log(0.5 * w2));
    pair_job job = {*out, plx__cmat(inner), mean, 0.25 / w2, log_factor};
    return plx__parallel_for(ctx, n, plx__max(1, 4096 / plx__max(1, n)), pair_rows, &job);
}

/* The covariance is a difference of second moments: what it cannot tell from rounding is left out. */
static double least_residual(plx_cmat cov, const double *mean)
{
    double trace = plx__mat_trace(cov), second = trace + plx__norm_sq(mean, cov.rows);
    return trace > 0 ? fmax(LEAST_TRACE, 1e-14 * second / trace) : 1.0;
}

static plx_status rbf_moments(plx_mat *out, double *self, plx_context *ctx, const sense_reference *of)
{
    plx_index n = of->rows.rows;
    double *mean = NULL;
    plx_mat cov;
    plx__pivoted found;
    PLX_TRY(plx__arena_f64(&mean, plx__scratch(ctx), n, 1));
    PLX_TRY(rbf_mean(mean, ctx, of));
    PLX_TRY(rbf_covariance(&cov, ctx, of, mean));
    plx__pivot_options options = {.threshold = least_residual(plx__cmat(cov), mean), .stop = PLX__STOP_SUM};
    PLX_TRY(plx__pivoted_cholesky_full(&found, plx__scratch(ctx), ctx, cov, &options));
    PLX_TRY(plx__arena_mat(out, plx__scratch(ctx), n, 1 + found.rank));
    plx__mat_copy(plx__sub(*out, 0, 1, n, found.rank), plx__csub(plx__cmat(found.z), 0, 0, n, found.rank));
    for (plx_index i = 0; i < n; i++) out->data[i * out->ld] = mean[i];
    *self = of->kernel.amplitude;
    return PLX_OK;
}

plx_status plx__sense_moments(plx_mat *out, double *self, plx_context *ctx, const sense_reference *of)
{
    return of->kernel.kind == PLX__KERNEL_LINEAR ? linear_moments(out, self, ctx, of) : rbf_moments(out, self, ctx, of);
}

/* ---- draws ---- */

plx_status plx__sense_draw(plx_mat out, plx_context *ctx, const sense_reference *of, uint64_t stream)
{
    plx_index d = out.cols;
    plx_mat root, z;
    PLX_TRY(root_of(&root, ctx, of->cov, 0.0));
    PLX_TRY(plx__arena_mat(&z, plx__scratch(ctx), out.rows, d));
    for (plx_index i = 0; i < out.rows * d; i++) z.data[i] = plx__rng_normal(ctx->seed, stream, (uint64_t)i);
    if (is_full(plx__cmat(root))) PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(z), PLX__N, plx__cmat(root), PLX__T, 0.0, out));
    for (plx_index i = 0; i < out.rows; i++)
        for (plx_index j = 0; j < d; j++) {
            double *x = &out.data[i * out.ld + j];
            *x = of->mean[j] + (is_full(plx__cmat(root)) ? *x : z.data[i * d + j] * root.data[j]);
        }
    return PLX_OK;
}
