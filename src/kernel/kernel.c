#include "kernel/kernel.h"

#include <math.h>

#include "core/parallel.h"

const plx__param_spec plx__kernel_params[] = {
    PLX__PV_CHOICE("kernel", "linear", "linear|rbf|poly|cosine|precomputed", "Similarity of two rows of a view."),
    PLX__PV_REAL_OR(
        "width", "median", 0, PLX__ABOVE_LO, "median",
        "Width of the rbf kernel exp(-|x-z|^2/(2 width^2)): larger is smoother; median = median distance of the rows."),
    PLX__PV_INT("degree", "2", 1, 1000, "Degree of the poly kernel (x.z + coef0)^degree."),
    PLX__PV_REAL("coef0", "1", 0, 0, "Constant of the poly kernel; larger gives lower orders more weight."),
    PLX__PARAM_END};

plx_status plx__kernel_settings(plx__kernel *out, plx__run *run, const char *view, bool is_kernel_view)
{
    plx__value kind, width, degree, coef0;
    PLX_TRY(plx__pv(&kind, run->ctx, run->settings, "kernel", view));
    PLX_TRY(plx__pv(&width, run->ctx, run->settings, "width", view));
    PLX_TRY(plx__pv(&degree, run->ctx, run->settings, "degree", view));
    PLX_TRY(plx__pv(&coef0, run->ctx, run->settings, "coef0", view));
    *out = (plx__kernel){(plx__kernel_kind)kind.word, width.number, degree.number, coef0.number};
    bool by_name = plx__pv_level(run->settings, "kernel", view) == 2;
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

plx_status plx__kernel_set_width(plx__kernel *kernel, plx_context *ctx, plx__points rows, const uint8_t *present,
                                 const char *view)
{
    if (kernel->kind != PLX__KERNEL_RBF || !isnan(kernel->width)) return PLX_OK;
    const char *what = NULL;
    PLX_TRY(plx__arena_printf(&what, plx__scratch(ctx), "view '%s'", view));
    PLX_TRY(plx__median_distance(ctx, rows, present, &kernel->width, what));
    if (kernel->width > 0) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_DATA, "view '%s': the median distance of its rows is 0; set width to a number > 0", view);
}

/* ---- matrices ---- */

typedef struct transform_job {
    const plx__kernel *kernel;
    plx_mat m;
} transform_job;

/* From squared distances (rbf) or inner products (poly) to kernel values. */
static plx_status transform_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const transform_job *job = arg;
    const plx__kernel *k = job->kernel;
    double scale = -0.5 / (k->width * k->width);
    (void)ctx;
    (void)worker;
    for (plx_index i = begin; i < end; i++) {
        double *row = job->m.data + i * job->m.ld;
        if (k->kind == PLX__KERNEL_RBF)
            for (plx_index j = 0; j < job->m.cols; j++) row[j] = exp(scale * row[j]);
        else
            for (plx_index j = 0; j < job->m.cols; j++) row[j] = pow(row[j] + k->coef0, k->degree);
    }
    return PLX_OK;
}

plx_status plx__kernel_matrix(plx_context *ctx, const plx__kernel *kernel, plx__points a, plx__points b, plx_mat out)
{
    transform_job job = {kernel, out};
    plx_index grain = plx__max(1, 16384 / plx__max(1, out.cols));
    switch (kernel->kind) {
    case PLX__KERNEL_LINEAR: return plx__points_inner(ctx, a, b, out);
    case PLX__KERNEL_COSINE: return plx__cosine_matrix(ctx, a, b, out);
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
                PLX_FAIL(ctx, PLX_E_DATA,
                         "kernel view '%s' is not symmetric: entries (%lld, %lld) = %g and (%lld, %lld) = %g", view,
                         (long long)i, (long long)j, *lower, (long long)j, (long long)i, *upper);
            *lower = *upper = 0.5 * (*lower + *upper);
        }
    return PLX_OK;
}
