/*
 * Values at many samples are formed by blocks of rows against the kept rows, so that memory is a block and
 * not a kernel matrix.
 */
#include "kernel/expansion.h"

#include <math.h>
#include <string.h>

#include "kernel/device_kernel.h"
#include "kernel/row_passes.h"

plx_status plx__points_times(plx_context *ctx, plx__points x, plx_cmat w, plx_mat y)
{
    if (plx__points_sparse(x)) return plx__spmm(ctx, 1.0, x.csr, w, 0.0, y);
    if (w.cols == 1 && w.ld == 1 && y.ld == 1) return plx__gemv(ctx, 1.0, x.dense, PLX__N, w.data, 0.0, y.data);
    return plx__gemm(ctx, 1.0, x.dense, PLX__N, w, PLX__N, 0.0, y);
}

plx_status plx__points_times_t(plx_context *ctx, plx__points x, plx_cmat y, plx_mat w)
{
    if (plx__points_sparse(x)) return plx__spmm_t(ctx, 1.0, x.csr, y, 0.0, w);
    if (y.cols == 1 && y.ld == 1 && w.ld == 1) return plx__gemv(ctx, 1.0, x.dense, PLX__T, y.data, 0.0, w.data);
    return plx__gemm(ctx, 1.0, x.dense, PLX__T, y, PLX__N, 0.0, w);
}

plx_status plx__expansion_prepare(plx__expansion *out, plx__run *run, plx_index view)
{
    PLX_TRY(plx__prepare(&out->data, run, view));
    out->rows = out->data.rows;
    out->linear = out->data.kernel.kind == PLX__KERNEL_LINEAR || out->data.kernel.kind == PLX__KERNEL_COSINE;
    if (out->data.kernel.kind == PLX__KERNEL_COSINE)
        return plx__points_unit(&out->rows, run->ctx, out->data.rows, out->data.bound);
    return PLX_OK;
}

/* ---- kernel values ---- */

plx_status plx__expansion_rows(plx__points *out, plx_context *ctx, const plx__expansion *x, const plx_index *sample,
                               plx_index count)
{
    *out = x->rows;
    if (count == plx__points_rows(x->rows) && !x->data.bound) return PLX_OK;
    return plx__points_choose(out, ctx, x->rows, x->data.bound, sample, count);
}

plx_status plx__expansion_own_rows(plx__points *out, plx_context *ctx, const plx__expansion *x, const plx_index *sample,
                                   plx_index count)
{
    plx__slab_rows whose = {plx__slabs_cut(count, PLX__PANE_ROWS), count, NULL};
    return plx__expansion_rows_for(out, ctx, x, sample, &whose);
}

plx_status plx__expansion_rows_for(plx__points *out, plx_context *ctx, const plx__expansion *x, const plx_index *sample,
                                   const plx__slab_rows *whose)
{
    if (!x->data.bound) return plx__expansion_rows(out, ctx, x, sample, whose->n);
    return plx__points_choose_own(out, ctx, x->rows, x->data.bound, sample, whose);
}

/* Cosine: the rows have unit length already. */
static plx__kernel kernel_of(const plx__expansion *x)
{
    plx__kernel kernel = x->data.kernel;
    if (x->linear) kernel.kind = PLX__KERNEL_LINEAR;
    return kernel;
}

plx_status plx__expansion_between(plx_context *ctx, const plx__expansion *x, plx__points a, plx__points b, plx_mat k)
{
    plx__kernel kernel = kernel_of(x);
    return plx__kernel_matrix(ctx, &kernel, a, b, k);
}

plx_status plx__expansion_gram(plx_context *ctx, const plx__expansion *x, const plx_index *sample, plx_index count,
                               plx_mat k)
{
    if (x->data.kernel.kind != PLX__KERNEL_PRECOMPUTED) {
        plx__mark mark = plx__arena_mark(plx__scratch(ctx));
        plx__kernel kernel = kernel_of(x);
        plx__points rows;
        PLX_TRY(plx__expansion_rows(&rows, ctx, x, sample, count));
        PLX_TRY(plx__kernel_among(ctx, &kernel, rows, k));
        plx__arena_rewind(plx__scratch(ctx), mark);
        return PLX_OK;
    }
    for (plx_index i = 0; i < count; i++)
        for (plx_index j = 0; j < count; j++)
            k.data[i * k.ld + j] = x->rows.dense.data[sample[i] * x->rows.dense.ld + sample[j]];
    return PLX_OK;
}

/* ---- keeping ---- */

plx_status plx__expansion_keep_weights(plx__run *run, const plx__expansion *x, plx_cmat weights)
{
    const char *key = NULL;
    PLX_TRY(plx__view_key(&key, run->ctx, "_weights", x->data.name));
    return plx__store_put(run->out, key, weights);
}

static plx_status keep_linear(plx__run *run, const plx__expansion *x, const plx_index *sample, plx_index count,
                              plx_cmat coef)
{
    const char *key = NULL;
    plx__points rows;
    plx__row_passes passes;
    plx_mat weights;
    PLX_TRY(plx__view_key(&key, run->ctx, "_weights", x->data.name));
    PLX_TRY(plx__store_new(&weights, run->out, key, x->data.cols, coef.cols));
    PLX_TRY(plx__expansion_own_rows(&rows, run->ctx, x, sample, count));
    PLX_TRY(plx__row_passes_open(&passes, run->ctx, rows, false));
    return plx__row_passes_times_t(&passes, run->ctx, coef, weights);
}

static plx_status keep_precomputed(plx__run *run, const plx__expansion *x, const plx_index *sample, plx_index count,
                                   plx_cmat coef)
{
    const char *key = NULL;
    plx_mat all;
    PLX_TRY(plx__view_key(&key, run->ctx, "_coef", x->data.name));
    PLX_TRY(plx__store_new(&all, run->out, key, run->problem->n, coef.cols));
    for (plx_index i = 0; i < count; i++)
        memcpy(all.data + sample[i] * all.ld, coef.data + i * coef.ld, (size_t)coef.cols * sizeof(double));
    return PLX_OK;
}

/* The samples whose coefficients are not all zero (at least one sample), with their coefficients. */
static plx_status used_samples(plx_index **used, plx_mat *kept, plx_context *ctx, const plx_index *sample,
                               plx_index count, plx_cmat coef)
{
    plx_index total = 0;
    PLX_TRY(plx__arena_i64(used, plx__scratch(ctx), plx__max(1, count)));
    PLX_TRY(plx__arena_mat(kept, plx__scratch(ctx), plx__max(1, count), coef.cols));
    for (plx_index i = 0; i < count; i++) {
        const double *row = coef.data + i * coef.ld;
        if (!(plx__max_abs(row, coef.cols) > 0) && (total || i + 1 < count)) continue;
        memcpy(kept->data + total * kept->ld, row, (size_t)coef.cols * sizeof(double));
        (*used)[total++] = sample[i];
    }
    kept->rows = total;
    return PLX_OK;
}

plx_status plx__expansion_keep(plx__run *run, const plx__expansion *x, const plx_index *sample, plx_index count,
                               plx_cmat coef)
{
    plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
    const char *coef_key = NULL, *rows_key = NULL;
    plx_index *used = NULL;
    plx_mat kept;
    plx__points rows;
    if (x->linear) {
        PLX_TRY(keep_linear(run, x, sample, count, coef));
    } else if (x->data.kernel.kind == PLX__KERNEL_PRECOMPUTED) {
        PLX_TRY(keep_precomputed(run, x, sample, count, coef));
    } else {
        PLX_TRY(plx__view_key(&coef_key, run->ctx, "_coef", x->data.name));
        PLX_TRY(plx__view_key(&rows_key, run->ctx, "_rows", x->data.name));
        PLX_TRY(used_samples(&used, &kept, run->ctx, sample, count, coef));
        PLX_TRY(plx__store_put(run->out, coef_key, plx__cmat(kept)));
        PLX_TRY(plx__expansion_rows(&rows, run->ctx, x, used, kept.rows));
        if (plx__points_sparse(rows)) PLX_TRY(plx__store_put_csr(run->out, rows_key, rows.csr));
        else PLX_TRY(plx__store_put(run->out, rows_key, rows.dense));
    }
    plx__arena_rewind(plx__scratch(run->ctx), mark);
    return PLX_OK;
}

/* ---- values ---- */

/* Of divided rows a process has those of its panes, which blocks divide. */
enum { BLOCK = PLX__PANE_ROWS < 1024 ? PLX__PANE_ROWS : 1024 };

/* By blocks of rows against the kept rows: block x kept memory. Blocks are divided among processes. */
static plx_status kernel_values(plx__run *run, const plx__expansion *x, const plx__array *kept, plx_cmat coef,
                                plx_mat f)
{
    plx__points rows = kept->sparse ? plx__points_csr(plx__ccsr(kept->csr)) : plx__points_dense(plx__cmat(kept->dense));
    if (plx__points_sparse(rows) != plx__points_sparse(x->rows) || plx__points_cols(rows) != plx__points_cols(x->rows))
        PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model's rows of view '%s' do not fit its description", x->data.name);
    plx__slabs cut = plx__slabs_cut(f.rows, x->data.bound || run->kept ? PLX__PANE_ROWS : BLOCK);
    plx_index first = 0, last = 0;
    plx__slabs_mine(&first, &last, run->ctx, cut);
    for (plx_index at = first; at < last; at += BLOCK) {
        plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
        plx_index end = plx__min(f.rows, at + BLOCK);
        plx_mat k;
        PLX_TRY(plx__arena_mat(&k, plx__scratch(run->ctx), end - at, plx__points_rows(rows)));
        PLX_TRY(plx__expansion_between(run->ctx, x, plx__points_range(x->rows, at, end), rows, k));
        PLX_TRY(
            plx__gemm(run->ctx, 1.0, plx__cmat(k), PLX__N, coef, PLX__N, 0.0, plx__sub(f, at, 0, end - at, f.cols)));
        plx__arena_rewind(plx__scratch(run->ctx), mark);
        PLX_TRY(plx__report(run->ctx, "score", end, f.rows, NAN));
    }
    return plx__share_rows(run, cut, f);
}

static plx_status linear_values(plx__run *run, plx__points rows, plx_cmat weights, plx_mat f)
{
    plx__row_passes passes;
    PLX_TRY(plx__row_passes_open(&passes, run->ctx, rows, false));
    PLX_TRY(plx__row_passes_times(&passes, run->ctx, weights, f));
    return plx__share_rows(run, passes.whose.cut, f);
}

/* Name of a kept array; rls models written before other methods kept such arrays have them without the view's name. */
static plx_status kept_key(const char **out, plx__run *run, const plx__expansion *x, const char *stem)
{
    const plx__store *state = run->fitted ? run->fitted : run->out;
    PLX_TRY(plx__view_key(out, run->ctx, stem, x->data.name));
    if (!plx__store_find(state, *out) && plx__store_find(state, stem)) *out = stem;
    return PLX_OK;
}

static plx_status raw_values(plx__run *run, const plx__expansion *x, plx_mat f)
{
    const plx__store *state = run->fitted ? run->fitted : run->out;
    const char *key = NULL;
    plx_cmat m;
    if (x->linear) {
        PLX_TRY(kept_key(&key, run, x, "_weights"));
        PLX_TRY(plx__store_shaped(&m, run->ctx, state, key, plx__points_cols(x->rows), f.cols));
        return linear_values(run, x->rows, m, f);
    }
    PLX_TRY(kept_key(&key, run, x, "_coef"));
    if (x->data.kernel.kind == PLX__KERNEL_PRECOMPUTED) {
        PLX_TRY(plx__store_shaped(&m, run->ctx, state, key, x->rows.dense.cols, f.cols));
        return plx__gemm(run->ctx, 1.0, x->rows.dense, PLX__N, m, PLX__N, 0.0, f);
    }
    const char *rows_key = NULL;
    PLX_TRY(kept_key(&rows_key, run, x, "_rows"));
    const plx__array *kept = plx__store_find(state, rows_key);
    if (!kept) PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model lacks the array '%s'", rows_key);
    PLX_TRY(plx__store_shaped(&m, run->ctx, state, key, kept->sparse ? kept->csr.rows : kept->dense.rows, f.cols));
    return kernel_values(run, x, kept, m, f);
}

plx_status plx__expansion_values(plx__run *run, const plx__expansion *x, plx_mat f)
{
    plx_index begin = 0, end = 0;
    PLX_TRY(raw_values(run, x, f));
    plx__kept_rows(&begin, &end, run);
    for (plx_index i = begin; i < end; i++)
        if (!x->data.present[i]) memset(f.data + i * f.ld, 0, (size_t)f.cols * sizeof(double));
    return PLX_OK;
}
