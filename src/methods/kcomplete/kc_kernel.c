/*
 * Kernels of kcomplete: expected values, or plain values between filled rows.
 */
#include <math.h>
#include <string.h>

#include "methods/kcomplete/kcomplete.h"

/* Rows with missing entries at the column means: what width and amplitude are measured on. */
static plx_status mean_filled(plx_mat *out, kc *c, const kc_rows *rows)
{
    plx_index d = rows->x.cols;
    PLX_TRY(plx__arena_mat(out, plx__scratch(c->ctx), rows->x.rows, d));
    for (plx_index i = 0; i < rows->x.rows; i++)
        for (plx_index j = 0; j < d; j++)
            out->data[i * d + j] = rows->seen[i * d + j] ? rows->x.data[i * d + j] : c->column_mean[j];
    return PLX_OK;
}

static plx_status measure(kc *c, const kc_rows *rows)
{
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    bool width = c->kernel.kind == PLX__KERNEL_RBF && isnan(c->kernel.width);
    plx_mat filled;
    uint8_t *all = NULL;
    if (!width && !isnan(c->kernel.amplitude)) return PLX_OK;
    PLX_TRY(mean_filled(&filled, c, rows));
    PLX_TRY(plx__arena_u8(&all, plx__scratch(c->ctx), rows->x.rows));
    memset(all, 1, (size_t)rows->x.rows);
    plx__points points = plx__points_dense(plx__cmat(filled));
    if (width) PLX_TRY(plx__kernel_set_width(&c->kernel, c->ctx, points, all, c->run->method->name, "all views"));
    PLX_TRY(plx__kernel_set_amplitude(&c->kernel, c->ctx, points, NULL, all, "all views"));
    plx__arena_rewind(plx__scratch(c->ctx), mark);
    return PLX_OK;
}

static plx_status keep(kc *c, const char *name, double *value)
{
    if (!c->run->fitted) return plx__store_put(c->run->out, name, (plx_cmat){value, 1, 1, 1});
    PLX_TRY(plx__store_scalar(value, c->ctx, c->run->fitted, name));
    if (!(*value > 0)) PLX_FAIL(c->ctx, PLX_E_FORMAT, "the model's array '%s' is not > 0", name);
    return PLX_OK;
}

plx_status plx__kc_settle_kernel(kc *c, const kc_rows *rows)
{
    PLX_TRY(plx__kernel_settings(&c->kernel, c->run, NULL, false));
    if (!c->run->fitted) PLX_TRY(measure(c, rows));
    if (c->kernel.kind == PLX__KERNEL_RBF) PLX_TRY(keep(c, "_width", &c->kernel.width));
    PLX_TRY(keep(c, "_amplitude", &c->kernel.amplitude));
    if (!c->set->normalised || c->kernel.kind != PLX__KERNEL_RBF) return PLX_OK;
    double d = (double)rows->x.cols;
    c->kernel.amplitude *= exp(-0.5 * d * log(2 * acos(-1.0)) - d * log(c->kernel.width));
    if (c->kernel.amplitude > 0 && isfinite(c->kernel.amplitude)) return PLX_OK;
    PLX_FAIL(c->ctx, PLX_E_NUMERIC,
             "normalised = true: the factor of the kernel leaves the range of numbers with %lld "
             "features; use normalised=false",
             (long long)rows->x.cols);
}

static plx_status plain_values(kc *c, const kc_rows *a, const plx_index *row_a, plx_index count_a, const kc_rows *b,
                               const plx_index *row_b, plx_index count_b, plx_mat out)
{
    plx__points x = plx__points_dense(plx__cmat(a->imputed)), y = plx__points_dense(plx__cmat(b->imputed));
    if (row_a) PLX_TRY(plx__points_select(&x, c->ctx, x, row_a, count_a));
    if (row_b == row_a && a == b) y = x;
    else if (row_b) PLX_TRY(plx__points_select(&y, c->ctx, y, row_b, count_b));
    return plx__kernel_matrix(c->ctx, &c->kernel, x, y, out);
}

plx_status plx__kc_values(kc *c, const kc_rows *a, const plx_index *row_a, plx_index count_a, const kc_rows *b,
                          const plx_index *row_b, plx_index count_b, plx_mat out)
{
    static const plx__expected_kind kinds[] = {PLX__EXPECT_LINEAR, PLX__EXPECT_RBF, PLX__EXPECT_POLY};
    if (c->set->completion != KC_ANALYTIC) return plain_values(c, a, row_a, count_a, b, row_b, count_b, out);
    plx__expected kernel = {kinds[c->kernel.kind], c->kernel.width, (plx_index)c->kernel.degree, c->kernel.coef0,
                            c->kernel.amplitude};
    plx__expected_rows x = {&a->moments, row_a, count_a}, y = {&b->moments, row_b, count_b};
    return plx__expected_kernel(c->ctx, &kernel, x, y, out);
}
