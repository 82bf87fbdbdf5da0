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
#include "data/divided.h"
#include "data/row_parts.h"

#ifdef PLX_CHECKED
enum { SLICE_BYTES = 1 << 10, SLICE_ROWS = 5, SLICE_STEP = 5 }; /* so that small tests have several slices */
#else
enum { SLICE_BYTES = 4 << 20, SLICE_ROWS = 4096, SLICE_STEP = 512 };
#endif
enum { ROWS_AT_A_TIME = 512 };

/* ---- opening ---- */

static plx_status open_factors(plx__view_mixture *mix)
{
    PLX_TRY(plx__arena_f64(&mix->factor, plx__scratch(mix->ctx), mix->n, 1));
    for (plx_index i = plx__held_begin(mix->view); i < plx__held_end(mix->view, mix->n); i++) {
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
static plx_index rows_per_slice(const plx__view *view, plx_index n, plx_index padded)
{
    plx_index near = plx__max(SLICE_ROWS, SLICE_BYTES / (8 * padded));
    plx_index most = plx__max(1, view->nonzeros / (8 * plx__max(1, view->cols)));
    return view->sparse ? plx__max(near, n / most + 1) : near;
}

plx__mixture_cut plx__mixture_cut_of(const plx__view *const *views, plx_index n_views, plx_index n,
                                     plx_index components)
{
    plx__mixture_cut cut = {.slice_rows = SLICE_STEP};
    for (plx_index v = 0; v < n_views; v++)
        cut.slice_rows = plx__max(cut.slice_rows, rows_per_slice(views[v], n, plx__padded(components)));
    if (cut.slice_rows <= PLX__PANE_ROWS) cut.slice_rows = plx__pane_part(cut.slice_rows);
    else cut.slice_rows = (cut.slice_rows + SLICE_STEP - 1) / SLICE_STEP * SLICE_STEP;
    cut.slabs = plx__slabs_cut(n, plx__max(cut.slice_rows, PLX__PANE_ROWS));
    return cut;
}

static plx_status open_transpose(plx__view_mixture *mix, plx_index slice_rows)
{
    plx__arena *scratch = plx__scratch(mix->ctx);
    bool whole = plx__has_variance(mix->set.likelihood);
    plx_csr flipped;
    mix->slice_rows = whole ? plx__max(1, mix->n) : slice_rows;
    mix->n_slices = mix->n / mix->slice_rows + (mix->n % mix->slice_rows != 0);
    PLX_TRY(PLX__ARENA_NEW(&mix->slices, scratch, mix->n_slices));
    for (plx_index k = 0; k < mix->n_slices; k++) {
        plx_index begin = k * mix->slice_rows, end = plx__min(mix->n, begin + mix->slice_rows);
        if (!plx__holds(mix->view, begin)) continue; /* another rank's; the cut of the samples cuts no slice */
        PLX_TRY(plx__csr_transpose(&flipped, scratch, plx__csr_rows(mix->view->csr, begin, end)));
        mix->slices[k] = plx__ccsr(flipped);
    }
    if (whole && mix->n_slices) mix->flipped = mix->slices[0];
    return PLX_OK;
}

plx_status plx__view_mixture_open(plx__view_mixture *mix, plx_context *ctx, const plx__view *view,
                                  const plx__mixture_cut *cut, const plx__view_mixture_settings *settings,
                                  plx__mixture_way way, bool fitting)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx_index begin = 0, end = 0;
    *mix = (plx__view_mixture){
        .ctx = ctx, .set = *settings, .n = cut->slabs.n, .m = settings->components, .view = view, .cut = cut->slabs};
    mix->padded = plx__padded(mix->m);
    plx__slabs_mine(&begin, &end, ctx, mix->cut);
    plx_index rows = way == PLX__BRIEF ? plx__min(end - begin, mix->cut.pane) : end - begin;
    PLX_TRY(plx__arena_mat(&mix->loglik, scratch, rows, mix->padded));
    if (way == PLX__BRIEF) plx__keep_at_hand(ctx, mix->loglik.data);
    if (view->sparse && fitting) PLX_TRY(open_transpose(mix, cut->slice_rows));
    if (plx__has_variance(settings->likelihood)) return plx__gaussian_open(mix, fitting);
    PLX_TRY(open_product(mix));
    mix->fresh = mix->table;
    return way != PLX__ALL_AT_ONCE && fitting ? plx__arena_mat(&mix->fresh, scratch, view->cols, mix->padded) : PLX_OK;
}

double plx__view_mixture_bytes(const plx__view *view, plx_index n, plx__likelihood likelihood, plx_index components)
{
    plx_index width = plx__padded(components);
    plx__mixture_cut cut = plx__mixture_cut_of(&view, 1, n, components);
    double padded = (double)width, cols = (double)view->cols, rows = (double)n, tables = 2.1, transpose = 0;
    if (plx__has_variance(likelihood)) tables = view->sparse ? 6 : PLX__GAUSSIAN_SLABS + 4;
    if (view->sparse) {
        double slices = plx__has_variance(likelihood) ? 1 : rows / (double)cut.slice_rows + 1;
        transpose = 12 * plx__held_entries(view, n) + 8 * cols * slices;
    }
    tables += cut.slabs.count > 1;
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

/* X' R of a pane, slice by slice. */
plx_status plx__view_mixture_add(plx__view_mixture *mix, plx_mat weights, plx_index begin, plx_index end, double *table)
{
    plx_mat out = plx__mat_of(table, mix->view->cols, mix->padded);
    row_scaling unit = {weights, mix->factor ? mix->factor + begin : NULL, 1};
    if (mix->factor) PLX_TRY(plx__parallel_for(mix->ctx, end - begin, ROWS_AT_A_TIME, scale_rows, &unit));
    if (!mix->view->sparse) {
        plx_cmat rows = plx__csub(mix->view->dense, begin, 0, end - begin, mix->view->cols);
        plx_cmat r = plx__csub(plx__cmat(weights), 0, 0, end - begin, weights.cols);
        return plx__gemm(mix->ctx, 1.0, rows, PLX__T, r, PLX__N, 1.0, out);
    }
    for (plx_index k = begin / mix->slice_rows; k * mix->slice_rows < end; k++) {
        plx_cmat r = plx__csub(plx__cmat(weights), k * mix->slice_rows - begin, 0, mix->slices[k].cols, weights.cols);
        PLX_TRY(plx__spmm(mix->ctx, 1.0, mix->slices[k], r, 1.0, out));
    }
    return PLX_OK;
}

typedef struct whole_step {
    plx__view_mixture *mix;
    plx_mat weights; /* n x padded */
} whole_step;

static plx_status add_pane(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    const whole_step *q = arg;
    plx_mat weights = q->weights;
    (void)ctx;
    weights.data += begin * weights.ld;
    weights.rows = end - begin;
    return plx__view_mixture_add(q->mix, weights, begin, end, table);
}

static plx_status product_m_step(plx__view_mixture *mix, plx_mat weights, const double *mass)
{
    whole_step q = {mix, weights};
    PLX_TRY(plx__slabs_sum(mix->ctx, mix->cut, mix->view->cols * mix->padded, add_pane, &q, mix->fresh.data));
    return plx__view_mixture_finish(mix, mass);
}

plx_status plx__view_mixture_finish(plx__view_mixture *mix, const double *mass)
{
    bool vmf = mix->set.likelihood == PLX__VMF;
    product_step q = {.mix = mix, .fresh = mix->fresh, .mass = mass};
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

/* Of samples begin .. end-1, into the rows of loglik from `row` on. */
static plx_status score_range(plx__view_mixture *mix, plx_index begin, plx_index end, plx_index row)
{
    bool vmf = mix->set.likelihood == PLX__VMF;
    plx_cmat table = plx__cmat(vmf ? mix->theta : mix->table);
    plx_mat out = plx__mat_of(mix->loglik.data + row * mix->padded, end - begin, mix->padded);
    row_scaling by = {out, vmf ? mix->factor + begin : NULL, mix->set.kappa};
    if (mix->view->sparse)
        PLX_TRY(plx__spmm(mix->ctx, 1.0, plx__csr_rows(mix->view->csr, begin, end), table, 0.0, out));
    else {
        plx_cmat rows = plx__csub(mix->view->dense, begin, 0, end - begin, mix->view->cols);
        PLX_TRY(plx__gemm(mix->ctx, 1.0, rows, PLX__N, table, PLX__N, 0.0, out));
    }
    return vmf ? plx__parallel_for(mix->ctx, end - begin, ROWS_AT_A_TIME, scale_rows, &by) : PLX_OK;
}

plx_status plx__view_mixture_scores(plx__view_mixture *mix)
{
    if (plx__has_variance(mix->set.likelihood)) return plx__gaussian_scores(mix);
    plx_index first = 0, last = 0;
    plx__slabs_mine(&first, &last, mix->ctx, mix->cut);
    for (plx_index begin = first; begin < last; begin += mix->cut.pane)
        PLX_TRY(score_range(mix, begin, plx__min(last, begin + mix->cut.pane), begin - first));
    return PLX_OK;
}

plx_status plx__view_mixture_score_pane(plx__view_mixture *mix, plx_index begin, plx_index end)
{
    return score_range(mix, begin, end, 0);
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
