/*
 * From views to the kernels of gp: which views take part, what stands in for missing rows and values, and how views are
 * joined. What was learned from the fitted rows (scaling, column means) is in the model and used unchanged on new rows.
 */
#include <math.h>
#include <string.h>

#include "data/divided.h"
#include "linalg/csr.h"
#include "methods/gp/gp.h"

/* ---- which views ---- */

static bool is_joined(const gp *g) { return strcmp(g->set->view, "all") == 0 && g->set->combine == GP_CONCAT; }

static plx_status refuse_view_keys(gp *g)
{
    static const char *const keys[] = {"kernel", "width", "gamma", "amplitude", "degree", "coef0"};
    const plx__problem *p = g->run->problem;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        for (plx_index v = 0; v < p->n_views; v++)
            if (plx__view_value_level(g->run->settings, keys[k], p->views[v].name) == 2)
                PLX_FAIL(g->ctx, PLX_E_ARG,
                         "%s.%s: with combine=concat one kernel serves the joined views; set %s, or combine=sum, or "
                         "view=%s",
                         keys[k], p->views[v].name, keys[k], p->views[v].name);
    return PLX_OK;
}

static plx_status all_views(gp *g, uint8_t *used)
{
    const plx__problem *p = g->run->problem;
    plx_index count = 0;
    for (plx_index v = 0; v < p->n_views; v++) {
        used[v] = p->views[v].present_count > 0;
        count += used[v];
        if (!used[v]) plx__warn(g->ctx, "gp: no sample has view '%s'; it is ignored", p->views[v].name);
        else if (p->views[v].kind == PLX_VIEW_KERNEL && is_joined(g))
            PLX_FAIL(g->ctx, PLX_E_DATA,
                     "gp: kernel view '%s' cannot be joined with others; set combine=sum or view=%s", p->views[v].name,
                     p->views[v].name);
    }
    if (!count) PLX_FAIL(g->ctx, PLX_E_DATA, "gp: no sample has any view");
    return PLX_OK;
}

static plx_status choose_views(const uint8_t **out, gp *g)
{
    const plx__problem *p = g->run->problem;
    uint8_t *used = NULL;
    plx_index view = -1;
    PLX_TRY(plx__arena_u8(&used, plx__scratch(g->ctx), p->n_views));
    *out = used;
    if (g->run->fitted) {
        PLX_TRY(plx__used_views(out, g->ctx, g->run->fitted, p->n_views));
        if (!*out) PLX_FAIL(g->ctx, PLX_E_FORMAT, "the model does not tell its views");
        return PLX_OK;
    }
    if (strcmp(g->set->view, "all") == 0) {
        PLX_TRY(all_views(g, used));
    } else {
        PLX_TRY(plx__require_view(&view, g->run, g->set->view, "view"));
        if (!p->views[view].present_count)
            PLX_FAIL(g->ctx, PLX_E_DATA, "gp: no sample has view '%s'; choose another", p->views[view].name);
        used[view] = 1;
    }
    return plx__mark_used(g->run, used);
}

/* ---- missing rows and values ---- */

static plx_status refuse_holes(gp *g, const plx__view *v, const plx__prepared *data, bool rows_too)
{
    for (plx_index i = 0; i < g->run->problem->n; i++) {
        if (!v->present[i] && rows_too)
            PLX_FAIL(g->ctx, PLX_E_DATA, "gp: view '%s' is missing for sample '%s'; set missing=mean or combine=sum",
                     v->name, g->run->problem->ids[i]);
        if (!v->present[i] || plx__points_sparse(data->rows)) continue;
        const double *x = data->rows.dense.data + i * data->rows.dense.ld;
        for (plx_index j = 0; j < v->cols; j++)
            if (isnan(x[j]))
                PLX_FAIL(g->ctx, PLX_E_DATA, "gp: view '%s' lacks column %lld of sample '%s'; set missing=mean",
                         v->name, (long long)j, g->run->problem->ids[i]);
    }
    return PLX_OK;
}

/* A sum that is nothing but rounding, as those of standardised columns are, has mean 0: a cosine would see it. */
static double mean_of(double sum, double size, double count)
{
    return count > 0 && fabs(sum) > 1e-15 * count * size ? sum / count : 0.0;
}

/* Sums of the columns over the present rows, entries that are not there left out: in row order, from rank to rank where
 * rows are divided. */
typedef struct column_sums {
    const plx__view *view;
    plx__points rows;
    plx_index n;
    double *sum, *size, *count; /* columns each, one behind the other */
} column_sums;

static void add_columns(void *arg)
{
    const column_sums *q = arg;
    const plx__view *v = q->view;
    for (plx_index i = plx__held_begin(v); i < plx__held_end(v, q->n); i++) {
        if (!v->present[i]) continue;
        if (plx__points_sparse(q->rows)) { /* scaling may have filled a sparse view */
            plx_ccsr x = q->rows.csr;
            for (int64_t e = x.ptr[i]; e < x.ptr[i + 1]; e++) {
                q->sum[x.col[e]] += x.val[e];
                q->size[x.col[e]] += fabs(x.val[e]);
            }
            for (plx_index j = 0; j < v->cols; j++) q->count[j]++;
            continue;
        }
        const double *x = q->rows.dense.data + i * q->rows.dense.ld;
        for (plx_index j = 0; j < v->cols; j++) {
            if (isnan(x[j])) continue;
            q->sum[j] += x[j];
            q->size[j] += fabs(x[j]);
            q->count[j]++;
        }
    }
}

static plx_status column_means(double *mean, gp *g, const plx__view *v, plx__points rows)
{
    column_sums q = {.view = v, .rows = rows, .n = g->run->problem->n};
    PLX_TRY(plx__arena_f64(&q.sum, plx__scratch(g->ctx), 3, v->cols));
    q.size = q.sum + v->cols;
    q.count = q.size + v->cols;
    PLX_TRY(plx__held_chain(g->ctx, v, q.sum, 3 * (size_t)v->cols * sizeof *q.sum, add_columns, &q));
    for (plx_index j = 0; j < v->cols; j++) mean[j] = mean_of(q.sum[j], q.size[j], q.count[j]);
    return PLX_OK;
}

/* What stands for an entry that is not there; kept in the model. */
static plx_status stand_ins(const double **out, gp *g, const plx__view *v, plx__points rows)
{
    const char *name = NULL;
    double *zero = NULL;
    plx_cmat known;
    plx_mat mean;
    PLX_TRY(plx__arena_f64(&zero, plx__scratch(g->ctx), v->cols, 1));
    *out = zero;
    if (g->set->missing != GP_MISSING_MEAN) return PLX_OK;
    PLX_TRY(plx__view_key(&name, g->ctx, "_mean", v->name));
    if (g->run->fitted) {
        PLX_TRY(plx__store_shaped(&known, g->ctx, g->run->fitted, name, 1, v->cols));
        *out = known.data;
        return PLX_OK;
    }
    PLX_TRY(plx__store_new(&mean, g->run->out, name, 1, v->cols));
    *out = mean.data;
    return column_means(mean.data, g, v, rows);
}

static plx_status fill_dense(plx__points *rows, gp *g, const plx__view *v, const double *value, bool rows_too)
{
    plx_mat x;
    if (!v->missing_values && !(rows_too && v->present_count < g->run->problem->n)) return PLX_OK;
    PLX_TRY(plx__rows_clone(&x, g->ctx, rows->dense, plx__held_bound(v)));
    for (plx_index i = plx__held_begin(v); i < plx__held_end(v, x.rows); i++)
        for (plx_index j = 0; j < x.cols; j++)
            if (v->present[i] ? isnan(x.data[i * x.ld + j]) : rows_too) x.data[i * x.ld + j] = value[j];
    *rows = plx__points_dense(plx__cmat(x));
    return PLX_OK;
}

static plx_status fill_sparse(plx__points *rows, gp *g, const plx__view *v, const double *value)
{
    plx_index n = g->run->problem->n, begin = plx__held_begin(v), end = plx__held_end(v, n), width = 0, at = 0;
    plx_index missing = 0;
    plx_csr all;
    for (plx_index j = 0; j < v->cols; j++) width += value[j] != 0;
    if (!width || v->present_count == n) return PLX_OK;
    for (plx_index i = begin; i < end; i++) missing += !v->present[i];
    PLX_TRY(plx__arena_csr(&all, plx__scratch(g->ctx), n, v->cols, rows->csr.ptr[n] + missing * width));
    for (plx_index i = begin; i < end; i++) {
        for (int64_t e = rows->csr.ptr[i]; v->present[i] && e < rows->csr.ptr[i + 1]; e++) {
            all.col[at] = rows->csr.col[e];
            all.val[at++] = rows->csr.val[e];
        }
        for (plx_index j = 0; !v->present[i] && j < v->cols; j++) {
            if (value[j] == 0) continue;
            all.col[at] = (int32_t)j;
            all.val[at++] = value[j];
        }
        all.ptr[i + 1] = at;
    }
    for (plx_index i = end; i < n; i++) all.ptr[i + 1] = at;
    *rows = plx__points_csr(plx__ccsr(all));
    return PLX_OK;
}

/* Scaled rows of a view. With the sum of kernels a missing view adds nothing, so only single values are filled. */
static plx_status filled_rows(plx__points *out, gp *g, plx_index view, bool rows_too)
{
    const plx__view *v = &g->run->problem->views[view];
    const double *value = NULL;
    plx__prepared data;
    PLX_TRY(plx__prepare_rows(&data, g->run, view));
    *out = data.rows;
    if (g->set->missing == GP_MISSING_ERROR) return refuse_holes(g, v, &data, rows_too);
    if (v->kind == PLX_VIEW_KERNEL) {
        if (rows_too && g->set->missing == GP_MISSING_MEAN && v->present_count < g->run->problem->n)
            PLX_FAIL(g->ctx, PLX_E_DATA,
                     "gp: kernel view '%s' has no column means for missing samples; set missing=zero", v->name);
        return PLX_OK;
    }
    PLX_TRY(stand_ins(&value, g, v, data.rows));
    if (plx__points_sparse(data.rows)) return rows_too ? fill_sparse(out, g, v, value) : PLX_OK;
    return fill_dense(out, g, v, value, rows_too);
}

/* ---- joining ---- */

static plx_status join_sparse(plx__points *out, gp *g, const plx__points *parts, plx_index count)
{
    plx_ccsr *thin = NULL;
    plx_csr all, own;
    PLX_TRY(PLX__ARENA_NEW(&thin, plx__scratch(g->ctx), count));
    for (plx_index v = 0; v < count; v++) {
        thin[v] = parts[v].csr;
        if (plx__points_sparse(parts[v])) continue;
        plx__view part = g->run->problem->views[0]; /* all views are divided alike */
        part.dense = parts[v].dense;
        PLX_TRY(plx__held_sparse(&own, plx__scratch(g->ctx), &part));
        thin[v] = plx__ccsr(own);
    }
    PLX_TRY(plx__csr_hstack(&all, plx__scratch(g->ctx), thin, count));
    *out = plx__points_csr(plx__ccsr(all));
    return PLX_OK;
}

static plx_status join(plx__points *out, gp *g, const plx__points *parts, plx_index count)
{
    const plx__view *any = &g->run->problem->views[0];
    plx_index cols = 0, at = 0, begin = plx__held_begin(any), held = plx__held_end(any, g->run->problem->n) - begin;
    bool sparse = false;
    plx_mat all;
    for (plx_index v = 0; v < count; v++) {
        sparse |= plx__points_sparse(parts[v]);
        cols += plx__points_cols(parts[v]);
    }
    *out = parts[0];
    if (count == 1) return PLX_OK;
    if (sparse) return join_sparse(out, g, parts, count);
    all = (plx_mat){NULL, g->run->problem->n, cols, cols};
    PLX_TRY(plx__arena_f64(&all.data, plx__scratch(g->ctx), held, cols));
    if (begin) all.data = plx__rows_at(all.data, begin, cols);
    for (plx_index v = 0; v < count; at += parts[v++].dense.cols)
        plx__mat_copy(plx__sub(all, begin, at, held, parts[v].dense.cols),
                      plx__csub(parts[v].dense, begin, 0, held, parts[v].dense.cols));
    *out = plx__points_dense(plx__cmat(all));
    return PLX_OK;
}

/* ---- kernels ---- */

/* Width and amplitude from the data; when predicting the model's hyper-parameters take their place. */
static plx_status settle(gp *g, plx__view_kernel *k, const plx__view *v)
{
    uint8_t *everybody = NULL;
    PLX_TRY(plx__kernel_settings(&k->kernel, g->run, k->name, v && v->kind == PLX_VIEW_KERNEL));
    if (v) {
        k->self = v->self;
        k->peers = v->peers;
    }
    if (g->run->fitted) return PLX_OK;
    PLX_TRY(plx__arena_u8(&everybody, plx__scratch(g->ctx), g->run->problem->n));
    memset(everybody, 1, (size_t)g->run->problem->n);
    const uint8_t *present = k->present ? k->present : everybody;
    PLX_TRY(plx__kernel_set_width(&k->kernel, g->ctx, k->rows, present, g->run->method->name, k->name));
    return plx__kernel_set_amplitude(&k->kernel, g->ctx, k->rows, k->bound, present, k->name);
}

static plx_status open_joined(gp *g, const uint8_t *used)
{
    const plx__problem *p = g->run->problem;
    plx__points *parts = NULL;
    plx_index count = 0;
    PLX_TRY(PLX__ARENA_NEW(&parts, plx__scratch(g->ctx), p->n_views));
    for (plx_index v = 0; v < p->n_views; v++)
        if (used[v]) PLX_TRY(filled_rows(&parts[count++], g, v, true));
    if (!count) PLX_FAIL(g->ctx, PLX_E_FORMAT, "the model uses no view");
    g->learner.count = 1;
    g->learner.kernels[0].name = "concat";
    PLX_TRY(join(&g->learner.kernels[0].rows, g, parts, count));
    g->learner.kernels[0].bound = plx__held_bound(&p->views[0]);
    return settle(g, &g->learner.kernels[0], NULL);
}

static plx_status open_separate(gp *g, const uint8_t *used, bool sum)
{
    const plx__problem *p = g->run->problem;
    for (plx_index v = 0; v < p->n_views; v++) {
        if (!used[v]) continue;
        plx__view_kernel *k = &g->learner.kernels[g->learner.count++];
        k->name = p->views[v].name;
        PLX_TRY(filled_rows(&k->rows, g, v, !sum));
        k->bound = plx__held_bound(&p->views[v]);
        if (sum || p->views[v].kind == PLX_VIEW_KERNEL) k->present = p->views[v].present;
        PLX_TRY(settle(g, k, &p->views[v]));
    }
    return g->learner.count ? PLX_OK : plx__fail(g->ctx, PLX_E_FORMAT, "the model uses no view");
}

static plx_status open_hyper(gp *g)
{
    plx_cmat known = {0};
    g->learner.targets.regression = g->regression;
    if (g->run->fitted) PLX_TRY(plx__store_shaped(&known, g->ctx, g->run->fitted, "hyper", -1, 1));
    return plx__gp_open_hyper(&g->learner, known, g->set->noise);
}

plx_status plx__gp_open(gp *g, plx__run *run)
{
    const uint8_t *used = NULL;
    *g = (gp){.run = run, .ctx = run->ctx, .set = run->params, .learner = {.run = run, .ctx = run->ctx}};
    g->learner.most_pivots = g->set->pivots;
    g->regression = g->set->task == GP_REGRESSION;
    bool all = strcmp(g->set->view, "all") == 0;
    if (is_joined(g)) PLX_TRY(refuse_view_keys(g));
    PLX_TRY(choose_views(&used, g));
    PLX_TRY(PLX__ARENA_NEW(&g->learner.kernels, plx__scratch(g->ctx), run->problem->n_views));
    PLX_TRY(PLX__ARENA_NEW(&g->learner.refs, plx__scratch(g->ctx), run->problem->n_views));
    PLX_TRY(is_joined(g) ? open_joined(g, used) : open_separate(g, used, all));
    return open_hyper(g);
}
