/*
 * Rows go to the device, values are made there.
 */
#include "kernel/device_kernel.h"

plx_device_kernel plx__device_kernel_of(const plx__kernel *k)
{
    plx_device_kernel out = {PLX_DEVICE_LINEAR, k->amplitude > 0 ? k->amplitude : 1.0, k->width, k->degree, k->coef0};
    if (k->kind == PLX__KERNEL_RBF) out.kind = PLX_DEVICE_RBF;
    if (k->kind == PLX__KERNEL_POLY) out.kind = PLX_DEVICE_POLY;
    if (k->kind == PLX__KERNEL_COSINE) out.kind = PLX_DEVICE_COSINE;
    return out;
}

static bool is_given(const plx__view_kernel *k) { return k->kernel.kind == PLX__KERNEL_PRECOMPUTED; }

plx_status plx__device_put_reference(plx__device_reference *out, plx__device *dev, const plx__view_kernel *k,
                                     const plx__reference *ref)
{
    *out = (plx__device_reference){0};
    if (ref->present) PLX_TRY(plx__device_put_bytes(&out->present, dev, ref->present, ref->count, 1));
    return is_given(k) ? PLX_OK : plx__device_put_rows(&out->rows, dev, ref->rows, 0);
}

double plx__device_reference_bytes(plx__device *dev, const plx__view_kernel *k, const plx__reference *ref)
{
    return (double)ref->count + (is_given(k) ? 0 : plx__device_rows_bytes(dev, ref->rows, 0));
}

static plx_status make(plx__device *dev, const plx_device_kernel *kernel, plx_device_rows a, plx_device_rows b,
                       const plx_device_buffer *has_a, const plx_device_buffer *has_b, plx_device_mat out)
{
    PLX_TRY(plx__poll(plx__device_context(dev)));
    return plx__device_did(
        dev, plx__device_table(dev)->kernel(plx__device_handle(dev), kernel, a, b, has_a, has_b, out), "kernel");
}

plx_status plx__device_kernel_values(plx__device *dev, const plx__kernel *kernel, plx_device_rows a, plx_device_rows b,
                                     const plx_device_buffer *has_a, const plx_device_buffer *has_b, plx_device_mat out)
{
    plx_device_kernel k = plx__device_kernel_of(kernel);
    return make(dev, &k, a, b, has_a, has_b, out);
}

static plx_status among_there(plx__device *dev, const plx__kernel *kernel, plx__points rows, plx_mat out)
{
    plx_index n = out.rows;
    plx_device_rows there;
    plx_device_mat values;
    double bytes = 8 * (double)n * (double)n + plx__device_rows_bytes(dev, rows, 0) +
                   plx__device_workspace(dev, PLX_DEVICE_OP_KERNEL, n, n, 0);
    PLX_TRY(plx__device_need(dev, bytes, "a kernel matrix", "set device to cpu or auto"));
    PLX_TRY(plx__device_put_rows(&there, dev, rows, 0));
    PLX_TRY(plx__device_mat(&values, dev, n, n));
    PLX_TRY(plx__device_kernel_values(dev, kernel, there, there, NULL, NULL, values));
    return plx__device_read(dev, out, values);
}

plx_status plx__kernel_among(plx_context *ctx, const plx__kernel *kernel, plx__points rows, plx_mat out)
{
    plx__session s;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double n = (double)out.rows, cols = (double)plx__points_cols(rows);
    double entries = plx__points_sparse(rows) ? (double)rows.csr.ptr[out.rows] - (double)rows.csr.ptr[0] : n * cols;
    plx__device_work work = {.what = "a kernel matrix", .flops = n * entries, .moved = 8 * (n * n + entries)};
    PLX_TRY(plx__session_open(&s, ctx, &work));
    if (s.dev) PLX_TRY(plx__session_close(&s, among_there(s.dev, kernel, rows, out)));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return s.done ? PLX_OK : plx__kernel_matrix(ctx, kernel, rows, rows, out);
}

/* The base of the library, which takes scratch memory of the context, copied. */
static plx_status put_base(plx__device *dev, const plx__view_kernel *k, const plx__reference *ref, plx_device_mat out)
{
    plx_context *ctx = plx__device_context(dev);
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat base;
    PLX_TRY(plx__arena_mat(&base, plx__scratch(ctx), ref->count, ref->count));
    PLX_TRY(plx__view_kernel_base(ctx, k, ref, base));
    PLX_TRY(plx__device_write(dev, out, plx__cmat(base)));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__device_kernel_base(plx__device *dev, const plx__view_kernel *k, const plx__reference *ref,
                                   plx_device_mat out)
{
    plx__device_reference there;
    plx_device_kernel plain = plx__device_kernel_of(&k->kernel);
    if (is_given(k)) return put_base(dev, k, ref, out);
    plain.amplitude = 1.0;
    if (plain.kind == PLX_DEVICE_RBF) plain.kind = PLX_DEVICE_DIST_SQ;
    PLX_TRY(plx__device_put_reference(&there, dev, k, ref));
    return make(dev, &plain, there.rows, there.rows, there.present, there.present, out);
}

plx_status plx__device_kernel_of_base(plx__device *dev, const plx__kernel *kernel, plx_device_mat base, double beta,
                                      plx_device_mat out)
{
    plx_device_kernel k = plx__device_kernel_of(kernel);
    PLX_TRY(plx__poll(plx__device_context(dev)));
    if (k.kind != PLX_DEVICE_RBF) k.kind = PLX_DEVICE_LINEAR; /* the base holds the values but for the amplitude */
    return plx__device_did(dev, plx__device_table(dev)->kernel_of_base(plx__device_handle(dev), &k, base, beta, out),
                           "kernel_of_base");
}

plx_status plx__device_kernel_gradient(plx__device *dev, const plx__kernel *kernel, plx_device_mat base,
                                       plx_device_mat m, double sums[2])
{
    plx_device_kernel k = plx__device_kernel_of(kernel);
    if (k.kind != PLX_DEVICE_RBF) k.kind = PLX_DEVICE_LINEAR;
    PLX_TRY(plx__poll(plx__device_context(dev)));
    return plx__device_did(dev, plx__device_table(dev)->kernel_gradient(plx__device_handle(dev), &k, base, m, sums),
                           "kernel_gradient");
}

static plx_status put_values(plx__device *dev, const plx__view_kernel *k, plx_index begin, plx_index end,
                             const plx__reference *ref, plx_device_mat out)
{
    plx_context *ctx = plx__device_context(dev);
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat values;
    PLX_TRY(plx__arena_mat(&values, plx__scratch(ctx), end - begin, ref->count));
    PLX_TRY(plx__view_kernel_values(ctx, k, begin, end, ref, false, values));
    PLX_TRY(plx__device_write(dev, out, plx__cmat(values)));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__device_view_values(plx__device *dev, const plx__view_kernel *k, plx_index begin, plx_index end,
                                   const plx__reference *ref, const plx__device_reference *there, plx_device_mat out)
{
    plx_device_rows rows;
    plx_device_buffer *present = NULL;
    plx_device_kernel kernel = plx__device_kernel_of(&k->kernel);
    if (is_given(k)) return put_values(dev, k, begin, end, ref, out);
    PLX_TRY(plx__device_put_rows(&rows, dev, plx__points_range(k->rows, begin, end), 0));
    if (k->present) PLX_TRY(plx__device_put_bytes(&present, dev, k->present + begin, end - begin, 1));
    return make(dev, &kernel, rows, there->rows, present, there->present, out);
}
