/*
 * Rows of every view made comparable, and the training samples among them.
 *
 * Scaled views are balanced by the spread of their labelled rows (kernel/balance.h). The row of a missing view is zero.
 */
#include "methods/hknn/hknn_input.h"

#include <string.h>

#include "kernel/balance.h"

plx_status plx__hknn_open_rows(hknn *h)
{
    const plx__problem *x = h->run->problem;
    uint8_t *has = NULL, *labelled = NULL;
    PLX_TRY(plx__arena_u8(&has, plx__scratch(h->ctx), x->n * x->n_views));
    PLX_TRY(plx__arena_u8(&labelled, plx__scratch(h->ctx), x->n));
    for (plx_index i = 0; i < x->n; i++) labelled[i] = x->label[i] >= 0;
    PLX_TRY(PLX__ARENA_NEW(&h->all.view, plx__scratch(h->ctx), x->n_views));
    h->all.n = x->n;
    h->all.has = has;
    for (plx_index v = 0; v < x->n_views; v++) {
        plx__prepared rows;
        PLX_TRY(plx__prepare_rows(&rows, h->run, v));
        if (h->set->balance) PLX_TRY(plx__balance(&rows, h->run, labelled));
        h->all.view[v] = rows.rows;
        for (plx_index i = 0; i < x->n; i++) has[i * x->n_views + v] = rows.present[i];
    }
    return PLX_OK;
}

/* ---- training samples ---- */

static plx_status train_distances(hknn *h)
{
    PLX_TRY(PLX__ARENA_NEW(&h->between, plx__scratch(h->ctx), h->n_views));
    for (plx_index v = 0; v < h->n_views; v++) {
        PLX_TRY(plx__arena_mat(&h->between[v], plx__scratch(h->ctx), h->train.n, h->train.n));
        PLX_TRY(plx__dist_sq_matrix(h->ctx, h->train.view[v], h->train.view[v], h->between[v]));
        PLX_TRY(plx__require_finite(h->run, plx__cmat(h->between[v]), "distances"));
    }
    return PLX_OK;
}

plx_status plx__hknn_train_on(hknn *h, const plx_index *sample, plx_index count, const plx_index *class_begin)
{
    plx__arena *scratch = plx__scratch(h->ctx);
    uint8_t *has = NULL;
    PLX_TRY(plx__arena_u8(&has, scratch, count * h->n_views));
    PLX_TRY(PLX__ARENA_NEW(&h->train.view, scratch, h->n_views));
    for (plx_index i = 0; i < count; i++)
        memcpy(has + i * h->n_views, h->all.has + sample[i] * h->n_views, (size_t)h->n_views);
    for (plx_index v = 0; v < h->n_views; v++)
        PLX_TRY(plx__points_select(&h->train.view[v], h->ctx, h->all.view[v], sample, count));
    h->train.n = count;
    h->train.has = has;
    h->class_begin = class_begin;
    return train_distances(h);
}

plx_status plx__hknn_keep_train(const hknn *h)
{
    for (plx_index v = 0; v < h->n_views; v++) {
        const char *name = NULL;
        PLX_TRY(plx__view_key(&name, h->ctx, "_train", h->run->problem->views[v].name));
        PLX_TRY(plx__points_put(h->run->out, name, h->train.view[v]));
    }
    return PLX_OK;
}

/* Where the classes begin must ascend from 0 to the number of training samples. */
static plx_status load_classes(hknn *h)
{
    plx_cmat stored;
    plx_index *begin = NULL;
    PLX_TRY(plx__store_shaped(&stored, h->ctx, h->run->fitted, "_class_begin", 1, h->classes + 1));
    PLX_TRY(plx__arena_i64(&begin, plx__scratch(h->ctx), h->classes + 1));
    for (plx_index c = 0; c <= h->classes; c++) {
        bool right = stored.data[c] >= (c ? stored.data[c - 1] : 0) && stored.data[c] <= (double)h->train.n;
        if (!right || (c == 0 && stored.data[c] != 0))
            PLX_FAIL(h->ctx, PLX_E_FORMAT, "the model's classes cannot be right");
        begin[c] = (plx_index)stored.data[c];
    }
    if (begin[h->classes] != h->train.n) PLX_FAIL(h->ctx, PLX_E_FORMAT, "the model's classes cannot be right");
    h->class_begin = begin;
    return PLX_OK;
}

static plx_status load_view(hknn *h, plx_index v)
{
    const plx__view *view = &h->run->problem->views[v];
    const char *name = NULL;
    PLX_TRY(plx__view_key(&name, h->ctx, "_train", view->name));
    PLX_TRY(plx__points_get(&h->train.view[v], h->ctx, h->run->fitted, name, h->train.n, view->cols));
    return plx__points_match(&h->all.view[v], h->ctx, h->train.view[v]);
}

plx_status plx__hknn_load_train(hknn *h)
{
    plx_cmat stored;
    uint8_t *has = NULL;
    PLX_TRY(plx__store_shaped(&stored, h->ctx, h->run->fitted, "_train_has", -1, h->n_views));
    h->train.n = stored.rows;
    PLX_TRY(plx__arena_u8(&has, plx__scratch(h->ctx), stored.rows * h->n_views));
    for (plx_index i = 0; i < stored.rows * h->n_views; i++) has[i] = stored.data[i] != 0;
    h->train.has = has;
    PLX_TRY(load_classes(h));
    PLX_TRY(PLX__ARENA_NEW(&h->train.view, plx__scratch(h->ctx), h->n_views));
    for (plx_index v = 0; v < h->n_views; v++) PLX_TRY(load_view(h, v));
    return train_distances(h);
}
