/*
 * Regularisation matrices that are sums over the views: graph Laplacians, and local models of each view alone.
 */
#include "methods/transductive/single_matrix.h"

#include <math.h>

/* ---- graphs ---- */

static plx_status graph_part(plx__smoother *s, plx__run *run, plx_index view)
{
    const plx__view *v = &run->problem->views[view];
    plx__prepared rows;
    plx__graph_settings settings;
    plx_csr l;
    if (v->kind == PLX_VIEW_KERNEL)
        rows = (plx__prepared){.rows = v->sparse ? plx__points_csr(v->csr) : plx__points_dense(v->dense)};
    else PLX_TRY(plx__prepare_rows(&rows, run, view));
    PLX_TRY(plx__graph_settings_of(&settings, run, v->name));
    plx__graph_source source = {.rows = rows.rows,
                                .bound = rows.bound,
                                .present = v->present,
                                .is_kernel = v->kind == PLX_VIEW_KERNEL,
                                .view = v->name,
                                .run = run};
    PLX_TRY(plx__view_laplacian(&l, run->ctx, &source, &settings));
    plx__smoother_set(s, view, l);
    return PLX_OK;
}

/* ---- local models ---- */

static plx_status local_part(plx__smoother *s, plx__run *run, plx_index view, plx__local_kind kind, plx_csr *a)
{
    const plx__local_params *p = run->params;
    plx__local_view one;
    plx__local_options o = {.kind = kind,
                            .self = true,
                            .full = p->expansion == 1,
                            .relative_lambda = p->lambda_scale == PLX__LAMBDA_SPREAD,
                            .weights_reg = p->lle_reg,
                            .nonnegative = p->nonneg,
                            .lonely = true,
                            .ids = run->problem->ids,
                            .method = run->method->name,
                            .run = run};
    PLX_TRY(plx__local_view_open(&one, run, view, kind, false));
    PLX_TRY(plx__local_matrix(a, run->ctx, &one, 1, &o));
    if (kind != PLX__LOCAL_WEIGHTS) PLX_TRY(plx__local_put_lambda(run, &one, 1));
    return plx__smoother_set_local(s, run->ctx, view, plx__ccsr(*a), true);
}

/* A = sum_v w_v A_v. */
static plx_status put_local(plx__run *run, const plx__smoother *s, const plx_csr *a)
{
    plx_csr sum, next;
    if (!plx__wanted(run, "A")) return PLX_OK;
    PLX_TRY(plx__arena_csr(&sum, plx__scratch(run->ctx), s->n, s->n, 0));
    for (plx_index v = 0; v < s->n_parts; v++) {
        PLX_TRY(plx__csr_add(&next, plx__scratch(run->ctx), 1.0, plx__ccsr(sum), s->part[v].weight, plx__ccsr(a[v])));
        sum = next;
    }
    return plx__local_put_matrix(run, "A", plx__ccsr(sum));
}

/* ---- rows of several processes ---- */

/* Neighbours, weights and local models fetch what they need; views that are similarities, and widths that look at all
 * pairs, need everything. */
bool plx__single_matrix_own_rows(plx__run *run, const plx_dataset *data)
{
    if (plx__param_find(run->method->params, "kernel")) return plx__kernels_by_own_rows(run, data, NULL);
    for (plx_index v = 0; v < data->n_views; v++)
        if (data->views[v].kind == PLX_VIEW_KERNEL) return false;
    return true;
}

/* ---- fitting ---- */

/* S_ii = (m / m_i)^1/2 with m_i the views sample i has: otherwise samples with few views have small rows in L and fill
 * its smallest eigenvectors. */
static plx_status scale_by_presence(plx__smoother *s, plx__run *run)
{
    const plx__problem *x = run->problem;
    double *scale = NULL;
    PLX_TRY(plx__arena_f64(&scale, plx__scratch(run->ctx), x->n, 1));
    for (plx_index i = 0; i < x->n; i++) {
        plx_index views = 0;
        for (plx_index v = 0; v < x->n_views; v++) views += x->views[v].present[i];
        scale[i] = views ? sqrt((double)x->n_views / (double)views) : 0.0;
    }
    s->row_scale = scale;
    return PLX_OK;
}

static plx_status finish(plx__run *run, plx__smoother *s, const plx__local_goal *goal)
{
    const plx__local_params *p = run->params;
    if (goal->task == PLX__TASK_CLUSTERS && p->presence_scale) PLX_TRY(scale_by_presence(s, run));
    return plx__local_finish(run, s, goal);
}

plx_status plx__single_matrix_graphs(plx__run *run)
{
    plx__local_goal goal;
    plx__smoother s;
    PLX_TRY(plx__local_task(&goal, run));
    PLX_TRY(plx__smoother_create(&s, run->ctx, run->problem->n, run->problem->n_views));
    for (plx_index v = 0; v < s.n_parts; v++) PLX_TRY(graph_part(&s, run, v));
    PLX_TRY(plx__local_weigh(run, &s, &goal));
    return finish(run, &s, &goal);
}

plx_status plx__single_matrix_local(plx__run *run, plx__local_kind kind)
{
    plx__local_goal goal;
    plx__smoother s;
    plx_csr *a = NULL;
    PLX_TRY(plx__local_task(&goal, run));
    PLX_TRY(plx__smoother_create(&s, run->ctx, run->problem->n, run->problem->n_views));
    PLX_TRY(PLX__ARENA_NEW(&a, plx__scratch(run->ctx), s.n_parts));
    for (plx_index v = 0; v < s.n_parts; v++) PLX_TRY(local_part(&s, run, v, kind, &a[v]));
    PLX_TRY(plx__local_weigh(run, &s, &goal));
    if (kind != PLX__LOCAL_WEIGHTS) PLX_TRY(put_local(run, &s, a));
    return finish(run, &s, &goal);
}

/* ---- memory ---- */

/* Bytes of the graph of a view and its Laplacian, and the entries of that. */
static double graph_bytes(const plx__run *run, const plx__view *v, double *entries)
{
    double n = (double)run->problem->n;
    plx__value k, scale_k;
    if (v->kind == PLX_VIEW_KERNEL) {
        *entries = v->sparse ? 2.0 * (double)v->nonzeros : n * n;
        return 48.0 * *entries;
    }
    if (plx__view_value(&k, run->ctx, run->settings, "graph_k", v->name) != PLX_OK ||
        plx__view_value(&scale_k, run->ctx, run->settings, "graph_scale_k", v->name) != PLX_OK)
        return INFINITY;
    plx__graph_settings g = {
        .k = (plx_index)k.number, .weights = PLX__EDGES_LOCAL, .scale_k = (plx_index)scale_k.number};
    *entries = n * fmin(n, 2 * k.number + 1);
    return plx__similarity_bytes(run->problem->n, &g) + 12.0 * *entries + 16.0 * n;
}

double plx__single_matrix_graph_bytes(const plx__run *run)
{
    double bytes = plx__local_rows_bytes(run, "graph_k", false), entries = 0;
    for (plx_index v = 0; v < run->problem->n_views; v++) {
        double own = 0;
        bytes += graph_bytes(run, &run->problem->views[v], &own);
        entries += own;
    }
    return bytes + plx__local_task_bytes(run, entries);
}
