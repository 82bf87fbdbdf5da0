/*
 * Reference rows are stored in the model as they were prepared; a new pair is computed from them and from
 * the new row, with 0 where either lacks the view.
 */
#include "kernel/view_kernel.h"

#include <math.h>
#include <string.h>

#include "linalg/csr.h"

static const double FAR_APART = 1e300; /* a squared distance at which every rbf kernel is 0 */

/* ---- references ---- */

static plx_status take_flags(plx__reference *out, plx_context *ctx, const plx__view_kernel *k)
{
    uint8_t *present = NULL;
    if (!k->present) return PLX_OK;
    PLX_TRY(plx__arena_u8(&present, plx__scratch(ctx), out->count));
    for (plx_index i = 0; i < out->count; i++) present[i] = k->present[out->column[i]];
    out->present = present;
    return PLX_OK;
}

plx_status plx__reference_of(plx__reference *out, plx_context *ctx, const plx__view_kernel *k, const plx_index *sample,
                             plx_index count)
{
    *out = (plx__reference){.count = count, .column = sample};
    if (k->kernel.kind != PLX__KERNEL_PRECOMPUTED)
        PLX_TRY(plx__points_choose(&out->rows, ctx, k->rows, k->bound, sample, count));
    return take_flags(out, ctx, k);
}

plx_status plx__reference_own(plx__reference *out, plx_context *ctx, const plx__view_kernel *k, const plx_index *sample,
                              const plx__slab_rows *whose)
{
    *out = (plx__reference){.count = whose->n, .column = sample};
    if (k->kernel.kind != PLX__KERNEL_PRECOMPUTED)
        PLX_TRY(plx__points_choose_own(&out->rows, ctx, k->rows, k->bound, sample, whose));
    return take_flags(out, ctx, k);
}

static plx_status array_names(const char **rows, const char **flags, plx_context *ctx, const char *what,
                              const char *view)
{
    PLX_TRY(plx__arena_printf(rows, plx__scratch(ctx), "_%s.%s", what, view));
    return plx__arena_printf(flags, plx__scratch(ctx), "_%s_present.%s", what, view);
}

plx_status plx__reference_store(plx__run *run, const plx__reference *ref, const char *what, const char *view)
{
    const char *rows = NULL, *flags = NULL;
    PLX_TRY(array_names(&rows, &flags, run->ctx, what, view));
    if (ref->present) {
        plx_mat present;
        PLX_TRY(plx__store_new(&present, run->out, flags, 1, ref->count));
        for (plx_index i = 0; i < ref->count; i++) present.data[i] = ref->present[i];
    }
    if (plx__points_sparse(ref->rows)) return plx__store_put_csr(run->out, rows, ref->rows.csr);
    return ref->rows.dense.data ? plx__store_put(run->out, rows, ref->rows.dense) : PLX_OK;
}

static plx_status load_rows(plx__reference *out, plx__run *run, const plx__view_kernel *k, const char *name)
{
    const plx__array *a = plx__store_find(run->fitted, name);
    if (!a || a->sparse != plx__points_sparse(k->rows) ||
        (a->sparse ? a->csr.cols : a->dense.cols) != plx__points_cols(k->rows) ||
        (a->sparse ? a->csr.rows : a->dense.rows) != out->count)
        PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model's rows of view '%s' do not fit its description", k->name);
    out->rows = a->sparse ? plx__points_csr(plx__ccsr(a->csr)) : plx__points_dense(plx__cmat(a->dense));
    return PLX_OK;
}

plx_status plx__reference_load(plx__reference *out, plx__run *run, const plx__view_kernel *k, const char *what,
                               const plx_index *column, plx_index count)
{
    const char *rows = NULL, *flags = NULL;
    plx_cmat present;
    uint8_t *copy = NULL;
    *out = (plx__reference){.count = count, .column = column};
    PLX_TRY(array_names(&rows, &flags, run->ctx, what, k->name));
    if (k->kernel.kind != PLX__KERNEL_PRECOMPUTED) PLX_TRY(load_rows(out, run, k, rows));
    else
        for (plx_index i = 0; i < count; i++)
            if (column[i] >= k->rows.dense.cols)
                PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model's samples do not fit view '%s'", k->name);
    if (!plx__store_find(run->fitted, flags)) return PLX_OK;
    PLX_TRY(plx__store_shaped(&present, run->ctx, run->fitted, flags, 1, count));
    PLX_TRY(plx__arena_u8(&copy, plx__scratch(run->ctx), count));
    for (plx_index i = 0; i < count; i++) copy[i] = present.data[i] != 0;
    out->present = copy;
    return PLX_OK;
}

/* ---- values ---- */

static void given_values(const plx__view_kernel *k, plx_index begin, plx_index end, const plx__reference *ref,
                         plx_mat out)
{
    for (plx_index i = begin; i < end; i++) {
        const double *from = k->rows.dense.data + i * k->rows.dense.ld;
        double *to = out.data + (i - begin) * out.ld;
        for (plx_index j = 0; j < ref->count; j++) to[j] = k->kernel.amplitude * from[ref->column[j]];
    }
}

static bool both(const plx__view_kernel *k, plx_index i, const plx__reference *ref, plx_index j)
{
    return (!k->present || k->present[i]) && (!ref->present || ref->present[j]);
}

plx_status plx__view_kernel_values(plx_context *ctx, const plx__view_kernel *k, plx_index begin, plx_index end,
                                   const plx__reference *ref, bool add, plx_mat out)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_mat own = out;
    if (add) PLX_TRY(plx__arena_mat(&own, plx__scratch(ctx), out.rows, out.cols));
    if (k->kernel.kind == PLX__KERNEL_PRECOMPUTED) given_values(k, begin, end, ref, own);
    else PLX_TRY(plx__kernel_matrix(ctx, &k->kernel, plx__points_range(k->rows, begin, end), ref->rows, own));
    for (plx_index i = 0; i < out.rows && (add || k->present || ref->present); i++)
        for (plx_index j = 0; j < out.cols; j++) {
            double value = both(k, begin + i, ref, j) ? own.data[i * own.ld + j] : 0.0;
            if (add) out.data[i * out.ld + j] += value;
            else out.data[i * out.ld + j] = value;
        }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

static plx_status given_self(double *out, plx__run *run, const plx__view_kernel *k, plx_index i)
{
    if (k->self && !isnan(k->self[i])) *out = k->kernel.amplitude * k->self[i];
    else if (!run->fitted) *out = k->kernel.amplitude * k->rows.dense.data[i * k->rows.dense.ld + i];
    else
        PLX_FAIL(run->ctx, PLX_E_DATA,
                 "%s: kernel view '%s' lacks the similarity of sample '%s' to itself; add its own column",
                 run->method->name, k->name, run->problem->ids[i]);
    return PLX_OK;
}

plx_status plx__view_kernel_self(plx__run *run, const plx__view_kernel *k, plx_index begin, plx_index end, double *out)
{
    plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
    bool given = k->kernel.kind == PLX__KERNEL_PRECOMPUTED;
    double *value = NULL;
    PLX_TRY(plx__arena_f64(&value, plx__scratch(run->ctx), end - begin, 1));
    if (!given) PLX_TRY(plx__kernel_diagonal(run->ctx, &k->kernel, plx__points_range(k->rows, begin, end), value));
    for (plx_index i = begin; i < end; i++) {
        if (k->present && !k->present[i]) continue;
        if (given) PLX_TRY(given_self(&value[i - begin], run, k, i));
        out[i - begin] += value[i - begin];
    }
    plx__arena_rewind(plx__scratch(run->ctx), mark);
    return PLX_OK;
}

/* ---- bases ---- */

plx_status plx__view_kernel_base(plx_context *ctx, const plx__view_kernel *k, const plx__reference *ref, plx_mat out)
{
    plx__kernel plain = k->kernel;
    bool rbf = plain.kind == PLX__KERNEL_RBF;
    plain.amplitude = 1.0;
    if (plain.kind == PLX__KERNEL_PRECOMPUTED) {
        for (plx_index i = 0; i < ref->count; i++)
            for (plx_index j = 0; j < ref->count; j++)
                out.data[i * out.ld + j] = k->rows.dense.data[ref->column[i] * k->rows.dense.ld + ref->column[j]];
    } else if (rbf) {
        PLX_TRY(plx__dist_sq_matrix(ctx, ref->rows, ref->rows, out));
    } else {
        PLX_TRY(plx__kernel_matrix(ctx, &plain, ref->rows, ref->rows, out));
    }
    for (plx_index i = 0; ref->present && i < ref->count; i++)
        for (plx_index j = 0; j < ref->count; j++)
            if (!ref->present[i] || !ref->present[j]) out.data[i * out.ld + j] = rbf ? FAR_APART : 0.0;
    return PLX_OK;
}

void plx__kernel_of_base(const plx__kernel *k, const double *base, plx_index n, double *out)
{
    if (k->kind == PLX__KERNEL_RBF) plx__rbf_values(k, base, n, out);
    else
        for (plx_index i = 0; i < n; i++) out[i] = k->amplitude * base[i];
}
