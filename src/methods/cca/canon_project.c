/*
 * Where samples lie in the space of cca and kcca: fitted ones through the reduced views, all others through what the
 * model keeps.
 */
#include <string.h>

#include "linalg/dense.h"
#include "linalg/eigen.h"
#include "methods/cca/canon.h"

/* ---- places ---- */

/* Arrays over samples for the projections of the views. */
static plx_status new_projections(canon *c)
{
    const plx__problem *p = c->run->problem;
    const char *name = NULL;
    for (plx_index v = 0; v < p->n_views; v++) {
        plx_mat array;
        PLX_TRY(plx__view_key(&name, c->ctx, "projection", p->views[v].name));
        PLX_TRY(plx__store_new(&array, c->run->out, name, c->n, c->k));
        plx__mat_fill(array, 0.0);
        for (plx_index u = 0; u < c->m; u++)
            if (c->views[u].index == v) c->views[u].projection = array;
    }
    return PLX_OK;
}

static void place(canon_view *v, plx_cmat rows, const plx_index *sample)
{
    for (plx_index i = 0; i < rows.rows; i++)
        memcpy(v->projection.data + sample[i] * v->projection.ld, rows.data + i * rows.ld,
               (size_t)rows.cols * sizeof(double));
}

/* ---- samples ---- */

/* Samples that have the view, except the `count` of `fitted` (ascending). */
static plx_status project_others(canon *c, canon_view *v, const canon_way *way, const plx__prepared *data,
                                 const plx_index *fitted, plx_index count)
{
    const plx__store *state = c->run->fitted ? c->run->fitted : c->run->out;
    plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
    plx_index *others = NULL, n = 0, next = 0;
    const char *name = NULL;
    plx_cmat weights;
    plx_mat rows;
    PLX_TRY(plx__arena_i64(&others, plx__scratch(c->ctx), c->n));
    for (plx_index i = 0; i < c->n; i++) {
        bool known = next < count && fitted[next] == i;
        next += known;
        if (!known && v->view->present[i]) others[n++] = i;
    }
    PLX_TRY(plx__view_key(&name, c->ctx, "weights", v->view->name));
    PLX_TRY(plx__store_shaped(&weights, c->ctx, state, name, -1, c->k));
    PLX_TRY(plx__arena_mat(&rows, plx__scratch(c->ctx), n, c->k));
    PLX_TRY(way->project(c, v, data, state, weights, others, rows));
    place(v, plx__cmat(rows), others);
    plx__arena_rewind(plx__scratch(c->ctx), mark);
    return PLX_OK;
}

static plx_status project_training(canon *c, plx_index v, plx_mat *rows)
{
    canon_view *view = &c->views[v];
    *rows = view->rows;
    if (rows->data) return PLX_OK;
    PLX_TRY(plx__arena_mat(rows, plx__scratch(c->ctx), view->n, c->k));
    return plx__canon_times(*rows, c->ctx, view->z, view->mean, plx__cmat(view->w));
}

static void negate_column(plx_mat m, plx_index j)
{
    for (plx_index i = 0; m.data && i < m.rows; i++) m.data[i * m.ld + j] *= -1.0;
}

/* The direction of every column; `training` are the rows of view 1. */
static void fix_signs(canon *c, plx_mat training)
{
    for (plx_index j = 0; j < c->k; j++) {
        if (plx__leading_sign(training.data + j, training.rows, training.ld) > 0) continue;
        negate_column(training, j);
        for (plx_index v = 0; v < c->m; v++) {
            negate_column(c->views[v].w, j);
            negate_column(c->views[v].dual, j);
            if (v > 0) negate_column(c->views[v].rows, j);
        }
    }
}

plx_status plx__canon_project(canon *c, const canon_way *way, const plx__prepared *data, const void *own)
{
    plx_mat rows;
    PLX_TRY(project_training(c, 0, &rows));
    fix_signs(c, rows);
    PLX_TRY(new_projections(c));
    for (plx_index v = 0; v < c->m; v++) {
        canon_view *view = &c->views[v];
        plx__mark mark = plx__arena_mark(plx__scratch(c->ctx));
        if (v > 0) PLX_TRY(project_training(c, v, &rows));
        place(view, plx__cmat(rows), view->sample);
        PLX_TRY(way->put_weights(c, view, own, v));
        PLX_TRY(project_others(c, view, way, &data[v], view->sample, view->n));
        plx__arena_rewind(plx__scratch(c->ctx), mark);
    }
    return plx__canon_finish(c);
}

plx_status plx__canon_predict(plx__run *run, const canon_way *way)
{
    canon c;
    PLX_TRY(plx__canon_open_fitted(&c, run));
    PLX_TRY(new_projections(&c));
    for (plx_index v = 0; v < c.m; v++) {
        plx__prepared data;
        PLX_TRY(way->prepare(&data, run, c.views[v].index));
        PLX_TRY(project_others(&c, &c.views[v], way, &data, NULL, 0));
    }
    return plx__canon_finish(&c);
}
