/*
 * Kernel matrices from products of blocks: inner products or squared distances by BLAS, then one pass that
 * maps them. Distances are clipped at 0, where rounding would make them negative.
 */
#include "kernel/kernel.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/ranks.h"

const plx__param_spec plx__kernel_params[] = {
    PLX__VIEW_CHOICE("kernel", "linear", "linear|rbf|poly|cosine|precomputed", "Similarity of two rows of a view."),
    PLX__VIEW_REAL_OR(
        "width", "median", 0, PLX__ABOVE_LO, "median",
        "Width of the rbf kernel exp(-|x-z|^2/(2 width^2)): larger is smoother; median = median distance of the rows."),
    PLX__VIEW_INT("degree", "2", 1, 1000, "Degree of the poly kernel (x.z + coef0)^degree."),
    PLX__VIEW_REAL("coef0", "1", 0, 0, "Constant of the poly kernel; larger gives lower orders more weight."),
    PLX__PARAM_END};

const plx__param_spec plx__amplitude_params[] = {
    PLX__VIEW_REAL("gamma", "", 0, PLX__ABOVE_LO,
                   "The rbf kernel as exp(-gamma |x-z|^2), instead of width: larger is more local."),
    PLX__VIEW_REAL_OR("amplitude", "1", 0, PLX__ABOVE_LO, "auto",
                      "Factor of every kernel value; auto makes the mean of the diagonal 1."),
    PLX__PARAM_END};

const char *plx__kernel_name(plx__kernel_kind kind)
{
    static const char *const names[] = {"linear", "rbf", "poly", "cosine", "precomputed"};
    return names[kind];
}

/* Methods that take an amplitude take gamma for the width too; elsewhere gamma may mean something else. */
static bool takes_amplitude(const plx__run *run, const char *view)
{
    return plx__view_value_level(run->settings, "amplitude", view) >= 0;
}

/* The closer setting of width and gamma wins; both on the same level contradict each other. */
static plx_status width_or_gamma(double *width, plx__run *run, const char *view)
{
    plx__value value;
    int by_width = plx__view_value_level(run->settings, "width", view),
        by_gamma = plx__view_value_level(run->settings, "gamma", view);
    PLX_TRY(plx__view_value(&value, run->ctx, run->settings, "width", view));
    *width = value.number;
    if (!takes_amplitude(run, view) || by_gamma <= 0 || by_gamma < by_width) return PLX_OK;
    if (by_gamma == by_width)
        PLX_FAIL(run->ctx, PLX_E_ARG, "gamma and width are both set%s%s; gamma is 1/(2 width^2): give one of them",
                 by_gamma == 2 ? " for view " : "", by_gamma == 2 ? view : "");
    PLX_TRY(plx__view_value(&value, run->ctx, run->settings, "gamma", view));
    *width = 1.0 / sqrt(2.0 * value.number);
    return PLX_OK;
}

static plx_status read_amplitude(double *amplitude, plx__run *run, const char *view)
{
    plx__value value;
    *amplitude = 1.0;
    if (!takes_amplitude(run, view)) return PLX_OK;
    PLX_TRY(plx__view_value(&value, run->ctx, run->settings, "amplitude", view));
    *amplitude = value.word >= 0 ? NAN : value.number;
    return PLX_OK;
}

plx_status plx__kernel_settings(plx__kernel *out, plx__run *run, const char *view, bool is_kernel_view)
{
    plx__value kind, degree, coef0;
    double width = NAN, amplitude = 1;
    PLX_TRY(plx__view_value(&kind, run->ctx, run->settings, "kernel", view));
    PLX_TRY(width_or_gamma(&width, run, view));
    PLX_TRY(read_amplitude(&amplitude, run, view));
    PLX_TRY(plx__view_value(&degree, run->ctx, run->settings, "degree", view));
    PLX_TRY(plx__view_value(&coef0, run->ctx, run->settings, "coef0", view));
    *out = (plx__kernel){(plx__kernel_kind)kind.word, width, degree.number, coef0.number, amplitude};
    bool by_name = plx__view_value_level(run->settings, "kernel", view) == 2;
    if (is_kernel_view) {
        if (by_name && out->kind != PLX__KERNEL_PRECOMPUTED)
            PLX_FAIL(run->ctx, PLX_E_ARG,
                     "kernel.%s = %s: view '%s' is of kind kernel and is used as it is (precomputed)", view, kind.text,
                     view);
        out->kind = PLX__KERNEL_PRECOMPUTED;
    } else if (out->kind == PLX__KERNEL_PRECOMPUTED) {
        PLX_FAIL(run->ctx, PLX_E_ARG,
                 "kernel = precomputed: view '%s' holds features; only views of kind kernel are precomputed", view);
    }
    return PLX_OK;
}

static bool knows_width(plx__run *run, const char *view)
{
    plx__kernel kernel;
    return plx__kernel_settings(&kernel, run, view, false) == PLX_OK &&
           (kernel.kind != PLX__KERNEL_RBF || !isnan(kernel.width));
}

bool plx__kernel_has_rows(plx__run *run, const char *view, bool is_kernel_view)
{
    plx__kernel kernel;
    return plx__kernel_settings(&kernel, run, view, is_kernel_view) == PLX_OK &&
           (kernel.kind == PLX__KERNEL_LINEAR || kernel.kind == PLX__KERNEL_COSINE);
}

bool plx__kernels_by_own_rows(plx__run *run, const plx_dataset *data, const char *const *extra)
{
    for (plx_index v = 0; v < data->n_views; v++)
        if (data->views[v].kind == PLX_VIEW_KERNEL || !knows_width(run, data->views[v].name)) return false;
    for (; extra && *extra; extra++)
        if (!knows_width(run, *extra)) return false;
    return true;
}

plx_status plx__kernel_set_width(plx__kernel *kernel, plx_context *ctx, plx__points rows, const uint8_t *present,
                                 const char *method, const char *view)
{
    if (kernel->kind != PLX__KERNEL_RBF || !isnan(kernel->width)) return PLX_OK;
    const char *what = NULL;
    PLX_TRY(plx__arena_printf(&what, plx__scratch(ctx), "%s: view '%s'", method, view));
    PLX_TRY(plx__pair_distance(ctx, rows, present, PLX__EUCLID, PLX__PAIR_MEDIAN, &kernel->width, what));
    if (kernel->width > 0) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_DATA, "%s: the median distance of its rows is 0; set width to a number > 0", what);
}

double plx__kernel_width_bytes(const plx__run *run, const char *view, plx_index n, double row_bytes)
{
    plx__value kind = {.word = 0}, width = {.word = -1};
    bool known = plx__view_value_level(run->settings, "kernel", view) >= 0 &&
                 plx__view_value_level(run->settings, "width", view) >= 0;
    if (!known || plx__view_value(&kind, run->ctx, run->settings, "kernel", view) != PLX_OK ||
        plx__view_value(&width, run->ctx, run->settings, "width", view) != PLX_OK)
        return 0;
    if (kind.word != PLX__KERNEL_RBF || width.word < 0) return 0;
    return plx__pair_distance_bytes(run->ctx, n, row_bytes);
}

/* ---- diagonal and amplitude ---- */

static double factor_of(const plx__kernel *kernel) { return kernel->amplitude > 0 ? kernel->amplitude : 1.0; }

plx_status plx__kernel_diagonal(plx_context *ctx, const plx__kernel *kernel, plx__points rows, double *out)
{
    plx_index n = plx__points_rows(rows);
    if (kernel->kind != PLX__KERNEL_RBF) PLX_TRY(plx__points_norms_sq(ctx, rows, out));
    for (plx_index i = 0; i < n; i++) {
        double value = 1.0;
        if (kernel->kind == PLX__KERNEL_LINEAR) value = out[i];
        else if (kernel->kind == PLX__KERNEL_POLY) value = pow(out[i] + kernel->coef0, kernel->degree);
        else if (kernel->kind == PLX__KERNEL_COSINE) value = out[i] > 0 ? 1.0 : 0.0;
        out[i] = factor_of(kernel) * value;
    }
    return PLX_OK;
}

/* The diagonal of divided rows, on all processes. */
static plx_status shared_diagonal(double *out, plx_context *ctx, const plx__kernel *kernel, plx__points rows,
                                  const plx_index *bound)
{
    plx_index begin = bound[plx__rank(ctx)], end = bound[plx__rank(ctx) + 1];
    PLX_TRY(plx__kernel_diagonal(ctx, kernel, plx__points_range(rows, begin, end), out + begin));
    return plx__bound_share(ctx, bound, out, sizeof *out);
}

plx_status plx__kernel_mean_diagonal(double *out, plx_context *ctx, const plx__kernel *kernel, plx__points rows,
                                     const plx_index *bound, const uint8_t *present)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx__kernel unit = *kernel;
    plx_index n = plx__points_rows(rows), count = 0;
    double *diagonal = NULL;
    PLX_TRY(plx__arena_f64(&diagonal, plx__scratch(ctx), n, 1));
    unit.amplitude = 1.0;
    if (bound) PLX_TRY(shared_diagonal(diagonal, ctx, &unit, rows, bound));
    else if (kernel->kind != PLX__KERNEL_PRECOMPUTED) PLX_TRY(plx__kernel_diagonal(ctx, &unit, rows, diagonal));
    else
        for (plx_index i = 0; i < n; i++) diagonal[i] = rows.dense.data[i * rows.dense.ld + i];
    for (plx_index i = 0; i < n; i++)
        if (!present || present[i]) diagonal[count++] = diagonal[i];
    *out = count ? plx__sum(diagonal, count) / (double)count : 0.0;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__kernel_set_amplitude(plx__kernel *kernel, plx_context *ctx, plx__points rows, const plx_index *bound,
                                     const uint8_t *present, const char *view)
{
    double mean = 0;
    if (!isnan(kernel->amplitude)) return PLX_OK;
    PLX_TRY(plx__kernel_mean_diagonal(&mean, ctx, kernel, rows, bound, present));
    if (!(mean > 0))
        PLX_FAIL(ctx, PLX_E_DATA, "view '%s': amplitude = auto needs a kernel whose diagonal is not 0; set a number",
                 view);
    kernel->amplitude = 1.0 / mean;
    return PLX_OK;
}

/* ---- matrices ---- */

void plx__rbf_values(const plx__kernel *kernel, const double *dist_sq, plx_index n, double *out)
{
    plx__exp_scaled(dist_sq, n, -0.5 / (kernel->width * kernel->width), factor_of(kernel), out);
}

typedef struct transform_job {
    const plx__kernel *kernel;
    plx_mat m;
} transform_job;

/* From squared distances (rbf), inner products or cosines to kernel values. */
static plx_status transform_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const transform_job *job = arg;
    const plx__kernel *k = job->kernel;
    double amplitude = factor_of(k);
    (void)ctx, (void)worker;
    if (k->kind == PLX__KERNEL_RBF && job->m.ld == job->m.cols) { /* narrow rows as one */
        double *all = job->m.data + begin * job->m.ld;
        plx__rbf_values(k, all, (end - begin) * job->m.cols, all);
        return PLX_OK;
    }
    for (plx_index i = begin; i < end; i++) {
        double *row = job->m.data + i * job->m.ld;
        if (k->kind == PLX__KERNEL_RBF) plx__rbf_values(k, row, job->m.cols, row);
        else if (k->kind == PLX__KERNEL_POLY)
            for (plx_index j = 0; j < job->m.cols; j++) row[j] = amplitude * pow(row[j] + k->coef0, k->degree);
        else plx__scale(row, amplitude, job->m.cols);
    }
    return PLX_OK;
}

plx_status plx__kernel_matrix(plx_context *ctx, const plx__kernel *kernel, plx__points a, plx__points b, plx_mat out)
{
    transform_job job = {kernel, out};
    plx_index grain = plx__max(1, 16384 / plx__max(1, out.cols));
    bool plain = factor_of(kernel) == 1.0;
    switch (kernel->kind) {
    case PLX__KERNEL_LINEAR:
        PLX_TRY(plx__points_inner(ctx, a, b, out));
        if (plain) return PLX_OK;
        break;
    case PLX__KERNEL_COSINE:
        PLX_TRY(plx__cosine_matrix(ctx, a, b, out));
        if (plain) return PLX_OK;
        break;
    case PLX__KERNEL_RBF: PLX_TRY(plx__dist_sq_matrix(ctx, a, b, out)); break;
    case PLX__KERNEL_POLY: PLX_TRY(plx__points_inner(ctx, a, b, out)); break;
    case PLX__KERNEL_PRECOMPUTED: PLX_FAIL(ctx, PLX_E_INTERNAL, "a precomputed kernel cannot be evaluated");
    }
    return plx__parallel_for(ctx, out.rows, grain, transform_rows, &job);
}

plx_status plx__kernel_symmetrise(plx_context *ctx, plx_mat g, const uint8_t *present, const char *view)
{
    double largest = 0;
    for (plx_index i = 0; i < g.rows; i++)
        for (plx_index j = 0; j < g.cols; j++) {
            double x = g.data[i * g.ld + j];
            if (!present[i] || !present[j]) g.data[i * g.ld + j] = x = 0;
            if (!isfinite(x))
                PLX_FAIL(ctx, PLX_E_DATA, "kernel view '%s' row %lld, column %lld: not a finite number", view,
                         (long long)i, (long long)j);
            largest = fmax(largest, fabs(x));
        }
    for (plx_index i = 0; i < g.rows; i++)
        for (plx_index j = 0; j < i; j++) {
            double *lower = &g.data[i * g.ld + j], *upper = &g.data[j * g.ld + i];
            if (fabs(*lower - *upper) > 1e-8 * largest)
                PLX_FAIL(
                    ctx, PLX_E_DATA,
                    "kernel view '%s' is not symmetric: entries (%lld, %lld) = %g and (%lld, %lld) = %g; average it "
                    "with its transpose",
                    view, (long long)i, (long long)j, *lower, (long long)j, (long long)i, *upper);
            *lower = *upper = 0.5 * (*lower + *upper);
        }
    return PLX_OK;
}
