/*
 * Multinomial and von Mises-Fisher components are products with a table (cols x padded): scores = X table, sums = X' R.
 * Gaussian ones are in view_mixture_gaussian.c; the functions for both are here.
 */
#include "mixture/view_mixture.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/csr.h"
#include "linalg/dense.h"
#include "data/row_parts.h"

#ifdef PLX_CHECKED
enum { SLICE_BYTES = 1 << 10, SLICE_ROWS = 5 }; /* so that small tests have several slices */
#else
enum { SLICE_BYTES = 4 << 20, SLICE_ROWS = 4096 };
#endif
enum { ROWS_AT_A_TIME = 512 };

/* ---- opening ---- */

static plx_status open_factors(plx__view_mixture *mix)
{
    PLX_TRY(plx__arena_f64(&mix->factor, plx__scratch(mix->ctx), mix->n, 1));
    for (plx_index i = 0; i < mix->n; i++) {
        double norm = mix->view->present[i] ? plx__view_row_norm(mix->view, i) : 0;
        if (norm > 0) mix->factor[i] = 1 / norm;
    }
    return PLX_OK;
}

static plx_status open_product(plx__view_mixture *mix)
{
    plx__arena *scratch = plx__scratch(mix->ctx);
    plx_index cols = mix->view->cols;
    bool vmf = mix->set.likelihood == PLX__VMF;
    PLX_TRY(plx__arena_mat(&mix->theta, scratch, cols, mix->padded));
    PLX_TRY(plx__arena_mat(&mix->table, scratch, cols, mix->padded));
    PLX_TRY(plx__arena_f64(&mix->sums, scratch, cols / ROWS_AT_A_TIME + 2, mix->padded));
    if (vmf) return open_factors(mix);
    for (plx_index f = 0; f < cols; f++)
        for (plx_index j = 0; j < mix->m; j++) mix->theta.data[f * mix->padded + j] = 1 / (double)cols;
    return PLX_OK;
}

/* Samples whose responsibilities stay in a cache while the M step picks among them, as long as a slice has several
 * entries per feature: what is read again for every slice must stay small beside them. */
static plx_index rows_per_slice(const plx__view_mixture *mix)
{
    plx_index near = plx__max(SLICE_ROWS, SLICE_BYTES / (8 * mix->padded));
    plx_index most = plx__max(1, mix->view->nonzeros / (8 * plx__max(1, mix->view->cols)));
    return plx__max(near, mix->n / most + 1);
}

static plx_status open_transpose(plx__view_mixture *mix)
{
    plx__arena *scratch = plx__scratch(mix->ctx);
    bool whole = plx__has_variance(mix->set.likelihood);
    plx_csr flipped;
    mix->slice_rows = whole ? plx__max(1, mix->n) : rows_per_slice(mix);
    mix->n_slices = mix->n / mix->slice_rows + (mix->n % mix->slice_rows != 0);
    PLX_TRY(PLX__ARENA_NEW(&mix->slices, scratch, mix->n_slices));
    for (plx_index k = 0; k < mix->n_slices; k++) {
        plx_index begin = k * mix->slice_rows, end = plx__min(mix->n, begin + mix->slice_rows);
        PLX_TRY(plx__csr_transpose(&flipped, scratch, plx__csr_rows(mix->view->csr, begin, end)));
        mix->slices[k] = plx__ccsr(flipped);
    }
    if (whole && mix->n_slices) mix->flipped = mix->slices[0];
    return PLX_OK;
}

plx_status plx__view_mixture_open(plx__view_mixture *mix, plx_context *ctx, const plx__view *view, plx_index n,
                                  const plx__view_mixture_settings *settings, bool fitting)
{
    plx__arena *scratch = plx__scratch(ctx);
    *mix = (plx__view_mixture){.ctx = ctx, .set = *settings, .n = n, .m = settings->components, .view = view};
    mix->padded = plx__padded(mix->m);
    PLX_TRY(plx__arena_mat(&mix->loglik, scratch, n, mix->padded));
    if (view->sparse && fitting) PLX_TRY(open_transpose(mix));
    if (plx__has_variance(settings->likelihood)) return plx__gaussian_open(mix, fitting);
    return open_product(mix);
}

double plx__view_mixture_bytes(const plx__view *view, plx_index n, plx__likelihood likelihood, plx_index components)
{
    plx__view_mixture mix = {.n = n, .padded = plx__padded(components), .view = view};
    double padded = (double)mix.padded, cols = (double)view->cols, rows = (double)n, tables = 2.1, transpose = 0;
    if (plx__has_variance(likelihood)) tables = view->sparse ? 6 : PLX__GAUSSIAN_SLABS + 4;
    if (view->sparse) {
        double slices = plx__has_variance(likelihood) ? 1 : rows / (double)rows_per_slice(&mix) + 1;
        transpose = 12 * (double)view->nonzeros + 8 * cols * slices;
    }
    return 8 * (rows * padded + tables * padded * cols + (likelihood == PLX__VMF ? rows : 0)) + transpose;
}

/* ---- M step of the products ---- */

typedef struct product_step {
    plx__view_mixture *mix;
    plx_mat fresh;      /* cols x padded: X' R */
    const double *mass; /* padded */
    double *total;      /* padded: multinomial: sum of fresh; vmf: of its squares, then the length */
} product_step;

/* Column sums (or sums of squares) of a block of rows, into the block's own place. */
static plx_status sum_block(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const product_step *q = arg;
    plx_index padded = q->mix->padded;
    double *to = q->mix->sums + begin / ROWS_AT_A_TIME * padded;
    bool squares = q->mix->set.likelihood == PLX__VMF;
    (void)ctx, (void)worker;
    memset(to, 0, (size_t)padded * sizeof *to);
    for (plx_index f = begin; f < end; f++) {
        const double *row = q->fresh.data + f * padded;
        for (plx_index j = 0; j < padded; j++) to[j] += squares ? row[j] * row[j] : row[j];
    }
    return PLX_OK;
}

static plx_status sum_fresh(product_step *q)
{
    plx_index cols = q->fresh.rows, padded = q->mix->padded, blocks = (cols + ROWS_AT_A_TIME - 1) / ROWS_AT_A_TIME;
    double *last = q->mix->sums + (cols / ROWS_AT_A_TIME + 1) * padded;
    PLX_TRY(plx__parallel_for(q->mix->ctx, cols, ROWS_AT_A_TIME, sum_block, q));
    memset(last, 0, (size_t)padded * sizeof *last);
    for (plx_index b = 0; b < blocks; b++) plx__axpy(last, 1.0, q->mix->sums + b * padded, padded);
    q->total = last;
    return PLX_OK;
}

/* theta_jl = (smoothing + sum) / (smoothing d + total) and its logarithm (Eq. 22). */
static plx_status multinomial_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const product_step *q = arg;
    plx__view_mixture *mix = q->mix;
    double s = mix->set.smoothing, d = (double)mix->view->cols;
    (void)ctx, (void)worker;
    for (plx_index f = begin; f < end; f++) {
        const double *fresh = q->fresh.data + f * mix->padded;
        double *theta = mix->theta.data + f * mix->padded;
        for (plx_index j = 0; j < mix->m; j++) {
            double normaliser = s * d + q->total[j];
            if (q->mass[j] > PLX__LEAST_MASS && normaliser > 0) theta[j] = (s + fresh[j]) / normaliser;
        }
        plx__log_floored8(mix->table.data + f * mix->padded, theta, mix->padded);
    }
    return PLX_OK;
}

/* mu_j = sum / |sum|; a sum that vanishes leaves the direction. */
static plx_status vmf_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const product_step *q = arg;
    plx__view_mixture *mix = q->mix;
    (void)ctx, (void)worker;
    for (plx_index f = begin; f < end; f++) {
        const double *fresh = q->fresh.data + f * mix->padded;
        double *theta = mix->theta.data + f * mix->padded;
        for (plx_index j = 0; j < mix->m; j++)
            if (q->mass[j] > PLX__LEAST_MASS && q->total[j] > 0) theta[j] = fresh[j] / q->total[j];
    }
    return PLX_OK;
}

typedef struct row_scaling {
    plx_mat rows;
    const double *factor;
    double by;
} row_scaling;

static plx_status scale_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const row_scaling *q = arg;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++)
        plx__scale(q->rows.data + i * q->rows.ld, q->by * q->factor[i], q->rows.cols);
    return PLX_OK;
}

static plx_status multiply_transposed(plx__view_mixture *mix, plx_cmat weights, plx_mat out)
{
    for (plx_index k = 0; mix->view->sparse && k < mix->n_slices; k++) {
        plx_cmat rows = plx__csub(weights, k * mix->slice_rows, 0, mix->slices[k].cols, weights.cols);
        PLX_TRY(plx__spmm(mix->ctx, 1.0, mix->slices[k], rows, k ? 1.0 : 0.0, out));
    }
    if (mix->view->sparse) return PLX_OK;
    return plx__gemm(mix->ctx, 1.0, mix->view->dense, PLX__T, weights, PLX__N, 0.0, out);
}

static plx_status product_m_step(plx__view_mixture *mix, plx_mat weights, const double *mass)
{
    bool vmf = mix->set.likelihood == PLX__VMF;
    product_step q = {.mix = mix, .fresh = mix->table, .mass = mass};
    row_scaling unit = {weights, mix->factor, 1};
    if (vmf) PLX_TRY(plx__parallel_for(mix->ctx, mix->n, ROWS_AT_A_TIME, scale_rows, &unit));
    PLX_TRY(multiply_transposed(mix, plx__cmat(weights), q.fresh));
    PLX_TRY(sum_fresh(&q));
    for (plx_index j = 0; vmf && j < mix->m; j++) q.total[j] = sqrt(q.total[j]);
    return plx__parallel_for(mix->ctx, mix->view->cols, ROWS_AT_A_TIME, vmf ? vmf_rows : multinomial_rows, &q);
}

plx_status plx__view_mixture_m_step(plx__view_mixture *mix, plx_mat weights, const double *mass)
{
    if (plx__has_variance(mix->set.likelihood)) return plx__gaussian_m_step(mix, plx__cmat(weights), mass);
    return product_m_step(mix, weights, mass);
}

/* ---- scores ---- */

plx_status plx__view_mixture_scores(plx__view_mixture *mix)
{
    bool vmf = mix->set.likelihood == PLX__VMF;
    plx_cmat table = plx__cmat(vmf ? mix->theta : mix->table);
    if (plx__has_variance(mix->set.likelihood)) return plx__gaussian_scores(mix);
    if (mix->view->sparse) PLX_TRY(plx__spmm(mix->ctx, 1.0, mix->view->csr, table, 0.0, mix->loglik));
    else PLX_TRY(plx__gemm(mix->ctx, 1.0, mix->view->dense, PLX__N, table, PLX__N, 0.0, mix->loglik));
    row_scaling by = {mix->loglik, mix->factor, mix->set.kappa};
    return vmf ? plx__parallel_for(mix->ctx, mix->n, ROWS_AT_A_TIME, scale_rows, &by) : PLX_OK;
}

/* ---- parameters in and out ---- */

void plx__view_mixture_get(plx_mat out, const plx__view_mixture *mix)
{
    if (plx__has_variance(mix->set.likelihood)) {
        plx__mat_copy(out, plx__cmat(mix->theta));
        return;
    }
    for (plx_index f = 0; f < mix->view->cols; f++)
        for (plx_index j = 0; j < mix->m; j++) out.data[j * out.ld + f] = mix->theta.data[f * mix->padded + j];
}

void plx__view_mixture_refresh(plx__view_mixture *mix)
{
    if (plx__has_variance(mix->set.likelihood)) plx__gaussian_refresh(mix);
    for (plx_index f = 0; mix->set.likelihood == PLX__MULTINOMIAL && f < mix->view->cols; f++)
        plx__log_floored8(mix->table.data + f * mix->padded, mix->theta.data + f * mix->padded, mix->padded);
}

void plx__view_mixture_set(plx__view_mixture *mix, plx_cmat theta, plx_cmat var)
{
    if (plx__has_variance(mix->set.likelihood)) {
        plx__mat_copy(mix->theta, theta);
        plx__mat_copy(mix->var, var);
    } else
        for (plx_index f = 0; f < mix->view->cols; f++)
            for (plx_index j = 0; j < mix->m; j++) mix->theta.data[f * mix->padded + j] = theta.data[j * theta.ld + f];
    plx__view_mixture_refresh(mix);
}
