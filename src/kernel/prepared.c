/*
 * Fitting learns scaling, width and amplitude and stores them; predicting reads the same numbers and never
 * looks at the new rows' statistics.
 */
#include "kernel/prepared.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/parallel.h"
#include "data/divided.h"

const plx__param_spec plx__scale_params[] = {
    PLX__VIEW_CHOICE(
        "scale", "auto", "auto|none|unit|zscore|tfidf",
        "Scaling of a view: rows to unit length, columns to mean 0 and deviation 1, or tf-idf and unit length; auto "
        "chooses by what the view holds."),
    PLX__PARAM_END};

/* ---- scaling with state in the model ---- */

static plx_status state_name(const char **out, plx_context *ctx, const char *view, const char *what)
{
    return plx__arena_printf(out, plx__scratch(ctx), "_scale.%s.%s", view, what);
}

static plx_status store_scaler(plx__run *run, const plx__view *v, const plx__scaler *scaler)
{
    plx__scaler_array arrays[PLX__SCALER_ARRAYS];
    int count = plx__scaler_export(arrays, scaler);
    for (int a = 0; a < count; a++) {
        const char *name = NULL;
        PLX_TRY(state_name(&name, run->ctx, v->name, arrays[a].name));
        if (plx__store_find(run->out, name)) continue; /* the view was prepared before, alone or as a part */
        PLX_TRY(plx__store_put(run->out, name, (plx_cmat){arrays[a].values, 1, arrays[a].count, arrays[a].count}));
    }
    return PLX_OK;
}

static plx_status load_scaler(plx__scaler *out, plx__run *run, const plx__view *v, plx__scale_kind kind)
{
    static const char *const names[] = {"mean", "sd", "idf"};
    plx__scaler_array arrays[PLX__SCALER_ARRAYS];
    int count = 0;
    for (int a = 0; a < 3; a++) {
        const char *name = NULL;
        PLX_TRY(state_name(&name, run->ctx, v->name, names[a]));
        const plx__array *found = plx__store_find(run->fitted, name);
        if (found && !found->sparse && count < PLX__SCALER_ARRAYS)
            arrays[count++] = (plx__scaler_array){names[a], found->dense.data, found->dense.cols};
    }
    return plx__scaler_import(out, run->ctx, plx__scratch(run->ctx), kind, v->cols, arrays, count);
}

/* zscore that scale=auto chose makes a sparse view dense; asked for by name it is refused there. */
static plx_status scaled_view(plx__view *out, plx__run *run, plx_index view)
{
    const plx__view *v = &run->problem->views[view];
    plx__scale_kind kind = run->problem->scale[view];
    plx__value asked;
    plx__scaler scaler;
    plx__view full;
    *out = *v;
    if (kind == PLX__SCALE_NONE || v->kind == PLX_VIEW_KERNEL) return PLX_OK;
    PLX_TRY(plx__view_value(&asked, run->ctx, run->settings, "scale", v->name));
    if (kind == PLX__SCALE_ZSCORE && v->sparse && strcmp(asked.text, "auto") == 0) {
        PLX_TRY(plx__view_dense(&full, plx__scratch(run->ctx), v));
        v = &full;
    }
    if (run->fitted) {
        PLX_TRY(load_scaler(&scaler, run, v, kind));
    } else {
        PLX_TRY(plx__scaler_fit(&scaler, run->ctx, plx__scratch(run->ctx), kind, v, run->problem->scale_rows));
        PLX_TRY(store_scaler(run, v, &scaler));
    }
    return plx__scaler_apply(out, run->ctx, plx__scratch(run->ctx), &scaler, v);
}

static plx__points points_of(const plx__view *v)
{
    return v->sparse ? plx__points_csr(v->csr) : plx__points_dense(v->dense);
}

/* ---- concatenation ---- */

static plx_status concat_dense(plx__points *out, plx_context *ctx, const plx__view *views, plx_index n_views,
                               plx_index n, plx_index cols)
{
    plx_index begin = plx__held_begin(&views[0]), held = plx__held_end(&views[0], n) - begin;
    plx_mat all = {NULL, n, cols, cols};
    PLX_TRY(plx__arena_f64(&all.data, plx__scratch(ctx), held, cols));
    if (begin) all.data = plx__rows_at(all.data, begin, cols);
    for (plx_index v = 0, at = 0; v < n_views; at += views[v++].cols)
        plx__mat_copy(plx__sub(all, begin, at, held, views[v].cols),
                      plx__csub(views[v].dense, begin, 0, held, views[v].cols));
    *out = plx__points_dense(plx__cmat(all));
    return PLX_OK;
}

static plx_status concat_sparse(plx__points *out, plx_context *ctx, const plx__view *views, plx_index n_views)
{
    plx_ccsr *parts = NULL;
    plx_csr all;
    PLX_TRY(PLX__ARENA_NEW(&parts, plx__scratch(ctx), n_views));
    for (plx_index v = 0; v < n_views; v++) {
        plx_csr thin;
        parts[v] = views[v].csr;
        if (views[v].sparse) continue;
        PLX_TRY(plx__held_sparse(&thin, plx__scratch(ctx), &views[v]));
        parts[v] = plx__ccsr(thin);
    }
    PLX_TRY(plx__csr_hstack(&all, plx__scratch(ctx), parts, n_views));
    *out = plx__points_csr(plx__ccsr(all));
    return PLX_OK;
}

/* Scaled views side by side; there where every view is (concat) or where any is (joined: absent rows are zero). */
static plx_status join_views(plx__prepared *out, plx__run *run, plx_index which)
{
    const plx__problem *p = run->problem;
    plx__view *views = NULL;
    uint8_t *present = NULL;
    bool sparse = false, any = which == PLX__VIEW_JOINED;
    out->name = plx__prepared_name(run, which);
    if (plx__view_value_level(run->settings, "scale", out->name) == 2)
        PLX_FAIL(run->ctx, PLX_E_ARG, "scale.%s: views are scaled before they are joined; set scale or scale.VIEW",
                 out->name);
    PLX_TRY(PLX__ARENA_NEW(&views, plx__scratch(run->ctx), p->n_views));
    PLX_TRY(plx__arena_u8(&present, plx__scratch(run->ctx), p->n));
    memset(present, !any, (size_t)p->n);
    for (plx_index v = 0; v < p->n_views; v++) {
        if (p->views[v].kind == PLX_VIEW_KERNEL)
            PLX_FAIL(run->ctx, PLX_E_DATA,
                     "%s: kernel view '%s' cannot be joined with others; name one view (view=%s) or leave it out",
                     run->method->name, p->views[v].name, p->views[v].name);
        PLX_TRY(scaled_view(&views[v], run, v));
        out->cols += views[v].cols;
        sparse |= views[v].sparse;
        for (plx_index i = 0; i < p->n; i++)
            present[i] = any ? present[i] | p->views[v].present[i] : present[i] & p->views[v].present[i];
    }
    out->present = present;
    out->bound = plx__held_bound(&p->views[0]);
    for (plx_index i = 0; i < p->n; i++) out->n_present += present[i];
    if (sparse) return concat_sparse(&out->rows, run->ctx, views, p->n_views);
    return concat_dense(&out->rows, run->ctx, views, p->n_views, p->n, out->cols);
}

const char *plx__prepared_name(const plx__run *run, plx_index view)
{
    if (view >= 0) return run->problem->views[view].name;
    return view == PLX__VIEW_JOINED ? "joined" : "concat";
}

/* ---- one view ---- */

static plx_status single_view(plx__prepared *out, plx__run *run, plx_index view)
{
    const plx__view *v = &run->problem->views[view];
    plx__view scaled;
    PLX_TRY(scaled_view(&scaled, run, view));
    out->name = v->name;
    out->cols = v->cols;
    out->present = v->present;
    out->n_present = v->present_count;
    out->bound = plx__held_bound(v);
    out->rows = points_of(&scaled);
    if (v->kind != PLX_VIEW_KERNEL || (!v->sparse && run->fitted)) return PLX_OK;
    plx_mat g;
    PLX_TRY(plx__arena_mat(&g, plx__scratch(run->ctx), run->problem->n, v->cols));
    if (v->sparse) plx__csr_to_dense(g, v->csr);
    else plx__mat_copy(g, v->dense);
    if (!run->fitted) PLX_TRY(plx__kernel_symmetrise(run->ctx, g, v->present, v->name));
    out->rows = plx__points_dense(plx__cmat(g));
    return PLX_OK;
}

/* A positive number of the kernel: kept in the model when fitting, read from it when predicting. */
static plx_status keep_number(double *value, plx__run *run, const char *what, const char *view)
{
    const char *name = NULL;
    PLX_TRY(plx__arena_printf(&name, plx__scratch(run->ctx), "_%s.%s", what, view));
    if (!run->fitted) return plx__store_put(run->out, name, (plx_cmat){value, 1, 1, 1});
    PLX_TRY(plx__store_scalar(value, run->ctx, run->fitted, name));
    if (!(*value > 0)) PLX_FAIL(run->ctx, PLX_E_FORMAT, "the model's %s of view '%s' is not > 0", what, view);
    return PLX_OK;
}

static plx_status settle_width(plx__prepared *out, plx__run *run)
{
    if (out->kernel.kind != PLX__KERNEL_RBF) return PLX_OK;
    if (!run->fitted)
        PLX_TRY(plx__kernel_set_width(&out->kernel, run->ctx, out->rows, out->present, run->method->name, out->name));
    return keep_number(&out->kernel.width, run, "width", out->name);
}

static plx_status settle_amplitude(plx__prepared *out, plx__run *run)
{
    if (plx__view_value_level(run->settings, "amplitude", NULL) < 0) return PLX_OK;
    if (!run->fitted)
        PLX_TRY(plx__kernel_set_amplitude(&out->kernel, run->ctx, out->rows, out->bound, out->present, out->name));
    PLX_TRY(keep_number(&out->kernel.amplitude, run, "amplitude", out->name));
    if (out->kernel.kind != PLX__KERNEL_PRECOMPUTED || out->kernel.amplitude == 1.0) return PLX_OK;
    plx_mat scaled;
    PLX_TRY(plx__mat_clone(&scaled, plx__scratch(run->ctx), out->rows.dense));
    plx__mat_scale(scaled, out->kernel.amplitude);
    out->rows = plx__points_dense(plx__cmat(scaled));
    return PLX_OK;
}

plx_status plx__prepare_rows(plx__prepared *out, plx__run *run, plx_index view)
{
    *out = (plx__prepared){0};
    return view < 0 ? join_views(out, run, view) : single_view(out, run, view);
}

plx_status plx__prepare(plx__prepared *out, plx__run *run, plx_index view)
{
    const plx__problem *p = run->problem;
    PLX_TRY(plx__prepare_rows(out, run, view));
    PLX_TRY(plx__kernel_settings(&out->kernel, run, out->name, view >= 0 && p->views[view].kind == PLX_VIEW_KERNEL));
    PLX_TRY(settle_width(out, run));
    return settle_amplitude(out, run);
}

/* ---- memory ---- */

static double view_bytes(const plx__view *v, plx_index n, bool dense)
{
    double rows = (double)(plx__held_end(v, n) - plx__held_begin(v));
    return v->sparse && !dense ? 12.0 * (double)v->csr.ptr[n] + 8.0 * (double)n : 8.0 * rows * (double)v->cols;
}

/* The scaled copy (made from a dense one where auto standardises a sparse view), and statistics of its columns: those
 * of the model, those at work, and columns gathered by every worker. */
static double scaling_bytes(const plx__run *run, plx_index v, double own)
{
    const plx__view *view = &run->problem->views[v];
    double cols = (double)view->cols, n = (double)run->problem->n;
    switch (run->problem->scale[v]) {
    case PLX__SCALE_ZSCORE: return own * (view->sparse ? 2 : 1) + 32 * cols + 64 * n * plx__workers(run->ctx);
    case PLX__SCALE_TFIDF: return own + 24 * cols;
    case PLX__SCALE_L1:
    case PLX__SCALE_UNIT: return own;
    default: return 0;
    }
}

double plx__prepared_bytes(const plx__run *run, plx_index view)
{
    const plx__problem *p = run->problem;
    double bytes = 0, joined = 0, width = 0;
    for (plx_index v = 0; v < p->n_views; v++) {
        if (view >= 0 && v != view) continue;
        double own = view_bytes(&p->views[v], p->n, p->scale[v] == PLX__SCALE_ZSCORE);
        bytes += scaling_bytes(run, v, own);
        if (p->views[v].kind == PLX_VIEW_KERNEL) bytes += 8.0 * (double)p->n * (double)p->views[v].cols;
        width = fmax(width, plx__kernel_width_bytes(run, p->views[v].name, p->n, own));
        joined += own;
    }
    if (view < 0) width = plx__kernel_width_bytes(run, plx__prepared_name(run, view), p->n, joined);
    return bytes + width + (view < 0 ? joined : 0.0);
}
