/*
 * What colr works on: views scaled and balanced, who has a label and a view, and products with the views' rows.
 */
#include <math.h>
#include <string.h>

#include "kernel/expansion.h"
#include "linalg/csr.h"
#include "methods/colr/colr.h"

/* ---- balance ---- */

static plx_status column_means(double *mean, const colr_view *v, plx_index n, double *count)
{
    *count = 0;
    for (plx_index i = 0; i < n; i++) {
        if (!v->present[i]) continue;
        ++*count;
        if (!plx__points_sparse(v->x)) plx__axpy(mean, 1.0, v->x.dense.data + i * v->x.dense.ld, v->features);
        else
            for (int64_t e = v->x.csr.ptr[i]; e < v->x.csr.ptr[i + 1]; e++) mean[v->x.csr.col[e]] += v->x.csr.val[e];
    }
    plx__scale(mean, *count > 0 ? 1.0 / *count : 0.0, v->features);
    return PLX_OK;
}

/* |x - mean|^2 of row i; a sparse row differs from |mean|^2 where it has entries. */
static double spread_of(const colr_view *v, plx_index i, const double *mean, double mean_sq)
{
    if (!plx__points_sparse(v->x)) return plx__dist_sq(v->x.dense.data + i * v->x.dense.ld, mean, v->features);
    double sum = mean_sq;
    for (int64_t e = v->x.csr.ptr[i]; e < v->x.csr.ptr[i + 1]; e++) {
        double x = v->x.csr.val[e], m = mean[v->x.csr.col[e]];
        sum += x * (x - 2 * m);
    }
    return fmax(sum, 0.0);
}

static double size_of(const colr_view *v, plx_index i)
{
    if (!plx__points_sparse(v->x)) return plx__norm_sq(v->x.dense.data + i * v->x.dense.ld, v->features);
    return plx__norm_sq(v->x.csr.val + v->x.csr.ptr[i], v->x.csr.ptr[i + 1] - v->x.csr.ptr[i]);
}

/* t^-1/2, t = mean of |x - mean|^2 over the present rows; what is only rounding counts as 0, and 0 counts as 1. */
static plx_status balance_of(double *out, const colr *c, const colr_view *v)
{
    double *mean = NULL, count = 0, spread = 0, size = 0;
    PLX_TRY(plx__arena_f64(&mean, plx__scratch(c->ctx), v->features, 1));
    PLX_TRY(column_means(mean, v, c->n, &count));
    double mean_sq = plx__norm_sq(mean, v->features);
    for (plx_index i = 0; i < c->n; i++) {
        if (!v->present[i]) continue;
        spread += spread_of(v, i, mean, mean_sq);
        size += size_of(v, i);
    }
    double t = count > 0 && spread > 1e-14 * size ? spread / count : 1.0;
    *out = 1.0 / sqrt(t);
    return PLX_OK;
}

static plx_status multiply(plx__points *x, plx_context *ctx, double factor)
{
    if (plx__points_sparse(*x)) {
        plx_csr copy;
        PLX_TRY(plx__csr_clone(&copy, plx__scratch(ctx), x->csr));
        plx__scale(copy.val, factor, plx__nnz(x->csr));
        *x = plx__points_csr(plx__ccsr(copy));
        return PLX_OK;
    }
    plx_mat copy;
    PLX_TRY(plx__mat_clone(&copy, plx__scratch(ctx), x->dense));
    plx__mat_scale(copy, factor);
    *x = plx__points_dense(plx__cmat(copy));
    return PLX_OK;
}

static plx_status balance(colr *c, colr_view *v)
{
    const char *name = NULL;
    double factor = 1;
    if (c->set->balance == COLR_UNBALANCED) return PLX_OK;
    PLX_TRY(plx__view_key(&name, c->ctx, "_balance", v->name));
    if (c->run->fitted) {
        PLX_TRY(plx__store_scalar(&factor, c->ctx, c->run->fitted, name));
        if (!(factor > 0 && isfinite(factor)))
            PLX_FAIL(c->ctx, PLX_E_FORMAT, "the model's factor of view '%s' is not > 0", v->name);
    } else {
        PLX_TRY(balance_of(&factor, c, v));
        PLX_TRY(plx__store_put(c->run->out, name, (plx_cmat){&factor, 1, 1, 1}));
    }
    return factor == 1.0 ? PLX_OK : multiply(&v->x, c->ctx, factor);
}

/* ---- views ---- */

static plx_status choose_views(const uint8_t **out, colr *c)
{
    const plx__problem *p = c->run->problem;
    uint8_t *used = NULL;
    plx_index count = 0;
    if (c->run->fitted) return plx__used_views(out, c->ctx, c->run->fitted, p->n_views);
    PLX_TRY(plx__arena_u8(&used, plx__scratch(c->ctx), p->n_views));
    for (plx_index v = 0; v < p->n_views; v++) {
        used[v] = p->views[v].present_count > 0;
        count += used[v];
        if (!used[v]) plx__warn(c->ctx, "colr: no sample has view '%s'; it is ignored", p->views[v].name);
    }
    if (!count) PLX_FAIL(c->ctx, PLX_E_DATA, "colr: no sample has any view");
    *out = used;
    return count < p->n_views ? plx__mark_used(c->run, used) : PLX_OK;
}

static plx_status open_view(colr *c, plx_index number)
{
    colr_view *v = &c->views[c->m++];
    plx__prepared data;
    PLX_TRY(plx__prepare_rows(&data, c->run, number));
    *v = (colr_view){.view = number, .name = data.name, .x = data.rows, .present = data.present};
    v->features = plx__points_cols(data.rows);
    v->d = v->features + c->set->bias;
    v->at = c->d;
    c->d += v->d;
    return balance(c, v);
}

/* Views of every sample, labels of those that have one, and who takes part in the agreement. */
static plx_status open_samples(colr *c)
{
    int32_t *label = NULL;
    PLX_TRY(plx__arena_i64(&c->count, plx__scratch(c->ctx), c->n));
    PLX_TRY(plx__arena_i32(&label, plx__scratch(c->ctx), c->n));
    PLX_TRY(plx__arena_u8(&c->consensus, plx__scratch(c->ctx), c->n));
    c->label = label;
    c->terms = 0;
    for (plx_index i = 0; i < c->n; i++) {
        for (plx_index j = 0; j < c->m; j++) c->count[i] += c->views[j].present[i];
        label[i] = c->count[i] ? c->run->problem->label[i] : -1;
        c->consensus[i] = c->count[i] > 1 && (c->set->consensus == COLR_ALL || label[i] < 0);
        if (c->consensus[i]) c->terms += c->count[i] * (c->count[i] - 1) / 2;
    }
    return PLX_OK;
}

plx_status plx__colr_open(colr *c, plx__run *run)
{
    const plx__problem *p = run->problem;
    const uint8_t *used = NULL;
    *c = (colr){.run = run, .ctx = run->ctx, .set = run->params, .n = p->n};
    c->q = p->n_classes == 2 ? 1 : p->n_classes;
    PLX_TRY(choose_views(&used, c));
    PLX_TRY(PLX__ARENA_NEW(&c->views, plx__scratch(c->ctx), p->n_views));
    for (plx_index v = 0; v < p->n_views; v++)
        if (!used || used[v]) PLX_TRY(open_view(c, v));
    if (!c->m) PLX_FAIL(c->ctx, PLX_E_FORMAT, "the model uses no view");
    return open_samples(c);
}

/* ---- products with the rows ---- */

plx_status plx__colr_scores(const colr *c, const double *w, plx_mat s)
{
    for (plx_index j = 0; j < c->m; j++) {
        const colr_view *v = &c->views[j];
        plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
        plx_mat own;
        double constant = c->set->bias ? w[v->at + v->features] : 0.0;
        PLX_TRY(plx__arena_mat(&own, plx__scratch(c->ctx), c->n, 1));
        PLX_TRY(plx__points_times(c->ctx, v->x, plx__cmat_of(w + v->at, v->features, 1), own));
        for (plx_index i = 0; i < c->n; i++) s.data[i * s.ld + j] = v->present[i] ? own.data[i] + constant : 0.0;
        plx__arena_rewind(plx__scratch(c->ctx), mark);
    }
    return PLX_OK;
}

plx_status plx__colr_pull(const colr *c, plx_cmat t, double *g)
{
    for (plx_index j = 0; j < c->m; j++) {
        const colr_view *v = &c->views[j];
        plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
        plx_mat own, sum;
        double total = 0;
        PLX_TRY(plx__arena_mat(&own, plx__scratch(c->ctx), c->n, 1));
        PLX_TRY(plx__arena_mat(&sum, plx__scratch(c->ctx), v->features, 1));
        for (plx_index i = 0; i < c->n; i++) {
            own.data[i] = v->present[i] ? t.data[i * t.ld + j] : 0.0;
            total += own.data[i];
        }
        PLX_TRY(plx__points_times_t(c->ctx, v->x, plx__cmat(own), sum));
        plx__axpy(g + v->at, 1.0, sum.data, v->features);
        if (c->set->bias) g[v->at + v->features] += total;
        plx__arena_rewind(plx__scratch(c->ctx), mark);
    }
    return PLX_OK;
}

double plx__colr_graph_of(const colr *c, const colr_lambda *lambda, plx_index j)
{
    return c->n_graph == 0 ? 0.0 : lambda->graph[c->n_graph == 1 ? 0 : j];
}
