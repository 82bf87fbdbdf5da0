/*
 * Settings per view and rows ready for divergences: scaled, checked, and without gaps when missing=mean.
 */
#include <math.h>
#include <string.h>

#include "kernel/prepared.h"
#include "methods/hybridtree/hybridtree.h"
#include "run/problem.h"

/* ---- settings ---- */

plx_status plx__ht_divergence(plx__bregman *out, plx_context *ctx, const plx_params *settings, const plx__view *view,
                              plx__scale_kind scale)
{
    plx__value value;
    PLX_TRY(plx__view_value(&value, ctx, settings, "divergence", view->name));
    if (value.word > 0) *out = (plx__bregman)(value.word - 1);
    else *out = view->kind == PLX_VIEW_REAL || scale == PLX__SCALE_ZSCORE ? PLX__BREGMAN_EUCLID : PLX__BREGMAN_KL;
    return PLX_OK;
}

plx_status plx__ht_read_mode(ht_mode *mode, plx_index *view, plx__run *run)
{
    const ht_params *p = run->params;
    *view = -1;
    *mode = HT_LINEAR;
    if (strcmp(p->mode, "linear") == 0) return PLX_OK;
    *mode = HT_HYBRID;
    if (strcmp(p->mode, "hybrid") == 0) return PLX_OK;
    *mode = HT_SINGLE;
    if (!plx__starts_with(p->mode, "single:"))
        PLX_FAIL(run->ctx, PLX_E_ARG, "mode = %s: expected linear, hybrid or single:VIEW", p->mode);
    return plx__require_view(view, run, p->mode + strlen("single:"), "mode");
}

/* ---- values a divergence can take ---- */

static plx_status refuse(const ht *h, const ht_view *v, plx_index i, plx_index col, double value)
{
    bool kl = v->kind == PLX__BREGMAN_KL;
    PLX_FAIL(h->ctx, PLX_E_DATA,
             "hybridtree: view '%s' row %lld, column %lld: %s value %g; divergence.%s=%s needs values %s 0: set "
             "divergence.%s=euclid%s",
             v->name, (long long)h->run->problem->row[i], (long long)col, kl ? "negative" : "non-positive", value,
             v->name, kl ? "kl" : "is", kl ? ">=" : ">", v->name, kl ? "" : " or add a small constant");
}

static bool allowed(plx__bregman kind, double x) { return kind == PLX__BREGMAN_KL ? x >= 0 : x > 0; }

static plx_status check_values(const ht *h, const ht_view *v)
{
    if (v->kind == PLX__BREGMAN_EUCLID) return PLX_OK;
    for (plx_index i = 0; i < h->n; i++) {
        if (!v->present[i]) continue;
        if (plx__points_sparse(v->rows)) {
            plx_ccsr m = v->rows.csr;
            for (int64_t p = m.ptr[i]; p < m.ptr[i + 1]; p++)
                if (!allowed(v->kind, m.val[p])) return refuse(h, v, i, m.col[p], m.val[p]);
            continue;
        }
        const double *x = v->rows.dense.data + i * v->rows.dense.ld;
        for (plx_index j = 0; j < v->rows.dense.cols; j++)
            if (!allowed(v->kind, x[j])) return refuse(h, v, i, j, x[j]);
    }
    return PLX_OK;
}

/* ---- rows of missing views ---- */

static plx_status mean_of_present(const double **out, const ht *h, const ht_view *v)
{
    plx__arena *scratch = plx__scratch(h->ctx);
    plx_index cols = plx__points_cols(v->rows), *rows = NULL, count = 0;
    const char *name = NULL;
    double *mean = NULL;
    plx_cmat stored;
    PLX_TRY(plx__view_key(&name, h->ctx, "_mean", v->name));
    if (h->run->fitted) {
        PLX_TRY(plx__store_shaped(&stored, h->ctx, h->run->fitted, name, 1, cols));
        *out = stored.data;
        return PLX_OK;
    }
    PLX_TRY(plx__arena_f64(&mean, scratch, 1, cols));
    PLX_TRY(plx__arena_i64(&rows, scratch, h->n));
    for (plx_index i = 0; i < h->n; i++)
        if (v->present[i]) rows[count++] = i;
    PLX_TRY(plx__bregman_mean(mean, h->ctx, v->rows, rows, count));
    *out = mean;
    return plx__store_put(h->run->out, name, (plx_cmat){mean, 1, cols, cols});
}

static plx_status fill_dense(ht_view *v, const ht *h, const double *mean)
{
    plx_mat full;
    PLX_TRY(plx__mat_clone(&full, plx__scratch(h->ctx), v->rows.dense));
    for (plx_index i = 0; i < h->n; i++)
        if (!v->present[i] && full.cols) memcpy(full.data + i * full.ld, mean, (size_t)full.cols * sizeof *mean);
    v->rows = plx__points_dense(plx__cmat(full));
    return PLX_OK;
}

static plx_status fill_sparse(ht_view *v, const ht *h, const double *mean)
{
    plx_ccsr from = v->rows.csr;
    plx_index stored = 0, at = 0, absent = 0;
    plx_csr full;
    for (plx_index j = 0; j < from.cols; j++) stored += mean[j] != 0;
    for (plx_index i = 0; i < h->n; i++) absent += !v->present[i];
    PLX_TRY(plx__arena_csr(&full, plx__scratch(h->ctx), h->n, from.cols, plx__nnz(from) + absent * stored));
    for (plx_index i = 0; i < h->n; i++) {
        for (int64_t p = from.ptr[i]; v->present[i] && p < from.ptr[i + 1]; p++, at++)
            full.col[at] = from.col[p], full.val[at] = from.val[p];
        for (plx_index j = 0; !v->present[i] && j < from.cols; j++)
            if (mean[j] != 0) full.col[at] = (int32_t)j, full.val[at++] = mean[j];
        full.ptr[i + 1] = at;
    }
    v->rows = plx__points_csr(plx__ccsr(full));
    return PLX_OK;
}

static plx_status fill_missing(ht_view *v, const ht *h)
{
    plx_index absent = 0;
    const double *mean = NULL;
    for (plx_index i = 0; i < h->n; i++) absent += !v->present[i];
    if (h->set->missing == HT_MISSING_MEAN) {
        PLX_TRY(mean_of_present(&mean, h, v));
        if (absent == 0) return PLX_OK;
        return plx__points_sparse(v->rows) ? fill_sparse(v, h, mean) : fill_dense(v, h, mean);
    }
    if (absent == 0 || h->mode == HT_HYBRID || h->run->fitted) return PLX_OK;
    plx_index i = 0;
    while (v->present[i]) i++;
    PLX_FAIL(h->ctx, PLX_E_DATA,
             "hybridtree: sample %s lacks view '%s'; with missing=eligible only mode=hybrid takes samples without some "
             "views: set missing=mean",
             h->run->problem->ids[i], v->name);
}

/* ---- all views ---- */

static plx_status open_view(ht_view *v, const ht *h, plx_index number)
{
    const plx__problem *x = h->run->problem;
    plx__prepared rows;
    plx_mat dense;
    PLX_TRY(plx__ht_divergence(&v->kind, h->ctx, h->run->settings, &x->views[number], x->scale[number]));
    PLX_TRY(plx__prepare_rows(&rows, h->run, number));
    v->rows = rows.rows;
    v->present = rows.present;
    if (v->kind == PLX__BREGMAN_IS && plx__points_sparse(v->rows)) { /* a zero that is not stored is a zero */
        PLX_TRY(plx__arena_mat(&dense, plx__scratch(h->ctx), h->n, v->rows.csr.cols));
        plx__csr_to_dense(dense, v->rows.csr);
        v->rows = plx__points_dense(plx__cmat(dense));
    }
    PLX_TRY(check_values(h, v));
    return fill_missing(v, h);
}

static plx_status read_weights(ht *h)
{
    double *weight = NULL;
    bool any = false;
    PLX_TRY(plx__arena_f64(&weight, plx__scratch(h->ctx), 1, h->n_views));
    for (plx_index v = 0; v < h->n_views; v++) weight[v] = 1.0;
    if (h->set->weights.n_list) PLX_TRY(plx__view_numbers(weight, h->run, "weights", &h->set->weights, 0));
    for (plx_index v = 0; v < h->n_views; v++) {
        h->view[v].weight = weight[v];
        any |= weight[v] > 0;
    }
    if (!any && h->mode == HT_LINEAR)
        PLX_FAIL(h->ctx, PLX_E_ARG, "weights = %s: one view at least must have a weight > 0", h->set->weights.text);
    return PLX_OK;
}

plx_status plx__ht_open(ht *h, plx__run *run)
{
    const plx__problem *x = run->problem;
    plx_index single = -1;
    *h = (ht){.run = run, .ctx = run->ctx, .set = run->params, .n = x->n, .n_views = x->n_views};
    PLX_TRY(plx__ht_read_mode(&h->mode, &single, run));
    PLX_TRY(PLX__ARENA_NEW(&h->view, plx__scratch(run->ctx), x->n_views));
    if (!run->fitted) PLX_TRY(read_weights(h));
    for (plx_index v = 0; v < x->n_views; v++) {
        h->view[v].name = x->views[v].name;
        h->view[v].used =
            h->mode == HT_SINGLE ? v == single : h->mode == HT_HYBRID || run->fitted || h->view[v].weight > 0;
        if (h->view[v].used) PLX_TRY(open_view(&h->view[v], h, v));
    }
    return PLX_OK;
}

plx_status plx__ht_totals(ht *h)
{
    plx__mark mark = plx__arena_mark(plx__scratch(h->ctx));
    plx_index *rows = NULL;
    PLX_TRY(plx__arena_i64(&rows, plx__scratch(h->ctx), h->n));
    for (plx_index v = 0; v < h->n_views; v++) {
        ht_view *view = &h->view[v];
        plx_index count = 0;
        if (!view->used) continue;
        for (plx_index i = 0; i < h->n; i++)
            if (view->present[i] || h->set->missing == HT_MISSING_MEAN) rows[count++] = i;
        PLX_TRY(plx__bregman_cost(&view->total, h->ctx, view->kind, view->rows, rows, count));
        if (!isfinite(view->total))
            PLX_FAIL(h->ctx, PLX_E_NUMERIC, "hybridtree: the values of view '%s' are too large; scale it", view->name);
    }
    plx__arena_rewind(plx__scratch(h->ctx), mark);
    return PLX_OK;
}
