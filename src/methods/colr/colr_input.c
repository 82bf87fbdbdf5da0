/*
 * What colr works on: views scaled and balanced, who has a label and a view, and products with the views' rows.
 */
#include <math.h>
#include <string.h>

#include "kernel/balance.h"
#include "linalg/csr.h"
#include "methods/colr/colr.h"

/* ---- views ---- */

static plx_status open_view(colr *c, plx_index number)
{
    colr_view *v = &c->views[c->m++];
    plx__prepared data;
    PLX_TRY(plx__prepare_rows(&data, c->run, number));
    if (c->set->balance == COLR_BALANCED) PLX_TRY(plx__balance(&data, c->run, NULL));
    c->bound = data.bound;
    *v = (colr_view){.view = number, .name = data.name, .x = data.rows, .present = data.present};
    v->features = plx__points_cols(data.rows);
    PLX_TRY(plx__row_passes_open(&v->rows, c->ctx, v->x, false));
    v->d = v->features + c->set->bias;
    v->at = c->d;
    c->d += v->d;
    return PLX_OK;
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
    *c = (colr){.run = run, .ctx = run->ctx, .set = run->params, .n = p->n};
    c->q = p->n_classes == 2 ? 1 : p->n_classes;
    c->cut = plx__slabs_cut(c->n, PLX__PANE_ROWS);
    plx__slabs_mine(&c->begin, &c->end, c->ctx, c->cut);
    PLX_TRY(PLX__ARENA_NEW(&c->views, plx__scratch(c->ctx), p->n_views));
    for (plx_index v = 0; v < p->n_views; v++) PLX_TRY(open_view(c, v));
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
        PLX_TRY(plx__row_passes_times(&v->rows, c->ctx, plx__cmat_of(w + v->at, v->features, 1), own));
        for (plx_index i = c->begin; i < c->end; i++)
            s.data[i * s.ld + j] = v->present[i] ? own.data[i] + constant : 0.0;
        plx__arena_rewind(plx__scratch(c->ctx), mark);
    }
    return PLX_OK;
}

plx_status plx__colr_sum(const colr *c, plx_index width, plx__pane_fn fn, void *arg, double *table)
{
    return plx__slabs_sum(c->ctx, c->cut, width, fn, arg, table);
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
        for (plx_index i = c->begin; i < c->end; i++) own.data[i] = v->present[i] ? t.data[i * t.ld + j] : 0.0;
        PLX_TRY(plx__row_passes_times_t(&v->rows, c->ctx, plx__cmat(own), sum));
        if (c->set->bias) PLX_TRY(plx__row_passes_sums(&v->rows, c->ctx, plx__cmat(own), 1.0, &total));
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
