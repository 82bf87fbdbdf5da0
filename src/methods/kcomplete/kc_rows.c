/*
 * The joint feature vector of kcomplete: which entries are there, and how the others are filled.
 */
#include <math.h>
#include <string.h>

#include "methods/kcomplete/kcomplete.h"

/* ---- from views to rows ---- */

static plx_status choose_views(const uint8_t **out, kc *c)
{
    const plx__problem *p = c->run->problem;
    uint8_t *used = NULL;
    plx_index count = 0;
    if (c->run->fitted) return plx__used_views(out, c->ctx, c->run->fitted, p->n_views);
    PLX_TRY(plx__arena_u8(&used, plx__scratch(c->ctx), p->n_views));
    for (plx_index v = 0; v < p->n_views; v++) {
        used[v] = p->views[v].present_count > 0;
        count += used[v];
        if (!used[v]) plx__warn(c->ctx, "kcomplete: no sample has view '%s'; it is ignored", p->views[v].name);
    }
    if (!count) PLX_FAIL(c->ctx, PLX_E_DATA, "kcomplete: no sample has any view");
    *out = used;
    return count < p->n_views ? plx__mark_used(c->run, used) : PLX_OK;
}

/* The problem with sparse views filled out: a conditional mean of zeros is not zero. */
static plx_status dense_problem(plx__problem *out, kc *c)
{
    plx__view *views = NULL;
    *out = *c->run->problem;
    PLX_TRY(PLX__ARENA_NEW(&views, plx__scratch(c->ctx), out->n_views));
    for (plx_index v = 0; v < out->n_views; v++) {
        plx_mat full;
        views[v] = out->views[v];
        if (!views[v].sparse) continue;
        PLX_TRY(plx__arena_mat(&full, plx__scratch(c->ctx), out->n, views[v].cols));
        plx__csr_to_dense(full, views[v].csr);
        views[v].sparse = false;
        views[v].dense = plx__cmat(full);
    }
    out->views = views;
    return PLX_OK;
}

static void place_view(kc_rows *out, plx_index at, const plx__view *v, plx_cmat from)
{
    plx_index d = out->x.cols;
    for (plx_index i = 0; i < out->x.rows; i++) {
        double *row = out->x.data + i * d + at;
        uint8_t *seen = out->seen + i * d + at;
        if (!v->present[i]) continue;
        memcpy(row, from.data + i * from.ld, (size_t)v->cols * sizeof *row);
        for (plx_index j = 0; j < v->cols; j++) {
            seen[j] = (uint8_t)!isnan(row[j]);
            if (!seen[j]) row[j] = 0.0;
        }
    }
}

static plx_status refuse_unseen(kc *c, const plx__view *v, const kc_rows *rows, plx_index at)
{
    for (plx_index j = 0; j < v->cols; j++) {
        bool any = false;
        for (plx_index i = 0; i < rows->x.rows && !any; i++) any = rows->seen[i * rows->x.cols + at + j];
        if (any) continue;
        if (v->features)
            PLX_FAIL(c->ctx, PLX_E_DATA, "kcomplete: feature '%s' of view '%s' is never observed; remove it",
                     v->features[j], v->name);
        PLX_FAIL(c->ctx, PLX_E_DATA, "kcomplete: feature %lld of view '%s' is never observed; remove it", (long long)j,
                 v->name);
    }
    return PLX_OK;
}

static plx_status describe(kc_rows *rows, kc *c)
{
    rows->block[1] = rows->x.cols;
    rows->data =
        (plx__incomplete_data){.x = plx__cmat(rows->x), .seen = rows->seen, .n_blocks = 1, .block = rows->block};
    return plx__incomplete_describe(&rows->data, c->ctx, plx__scratch(c->ctx));
}

plx_status plx__kc_open_rows(kc_rows *out, kc *c)
{
    const plx__problem *p = c->run->problem;
    const uint8_t *used = NULL;
    plx_index d = 0, at = 0;
    *out = (kc_rows){0};
    PLX_TRY(choose_views(&used, c));
    for (plx_index v = 0; v < p->n_views; v++) d += !used || used[v] ? p->views[v].cols : 0;
    if (!c->run->fitted && c->set->covariance == PLX__COV_FULL && c->set->completion != KC_MEAN && d > 2000)
        PLX_FAIL(c->ctx, PLX_E_DATA, "kcomplete: %lld features are too many for covariance=full; use covariance=diag",
                 (long long)d);
    plx__problem dense;
    plx__run run = *c->run;
    PLX_TRY(dense_problem(&dense, c));
    run.problem = &dense;
    PLX_TRY(plx__arena_mat(&out->x, plx__scratch(c->ctx), p->n, d));
    PLX_TRY(plx__arena_u8(&out->seen, plx__scratch(c->ctx), p->n * d));
    for (plx_index v = 0; v < p->n_views; v++) {
        plx__prepared data;
        if (used && !used[v]) continue;
        PLX_TRY(plx__prepare_rows(&data, &run, v));
        place_view(out, at, &p->views[v], data.rows.dense);
        if (!c->run->fitted) PLX_TRY(refuse_unseen(c, &p->views[v], out, at));
        at += p->views[v].cols;
    }
    return describe(out, c);
}

plx_status plx__kc_rows_of(kc_rows *out, kc *c, plx_cmat with_nan)
{
    *out = (kc_rows){0};
    PLX_TRY(plx__mat_clone(&out->x, plx__scratch(c->ctx), with_nan));
    PLX_TRY(plx__arena_u8(&out->seen, plx__scratch(c->ctx), with_nan.rows * with_nan.cols));
    for (plx_index i = 0; i < with_nan.rows * with_nan.cols; i++) {
        out->seen[i] = (uint8_t)!isnan(out->x.data[i]);
        if (!out->seen[i]) out->x.data[i] = 0.0;
    }
    return describe(out, c);
}

void plx__kc_with_nan(plx_mat out, const kc_rows *rows, const plx_index *row, plx_index count)
{
    plx_index d = rows->x.cols;
    for (plx_index i = 0; i < count; i++)
        for (plx_index j = 0; j < d; j++) {
            plx_index at = (row ? row[i] : i) * d + j;
            out.data[i * out.ld + j] = rows->seen[at] ? rows->x.data[at] : NAN;
        }
}

/* ---- filling ---- */

plx_status plx__kc_complete(kc_rows *rows, kc *c)
{
    plx_index d = rows->x.cols;
    bool analytic = c->set->completion == KC_ANALYTIC;
    PLX_TRY(plx__arena_mat(&rows->imputed, plx__scratch(c->ctx), rows->x.rows, d));
    if (c->set->completion != KC_MEAN) {
        PLX_TRY(plx__incomplete_moments(&rows->moments, c->ctx, plx__scratch(c->ctx), &c->mix, &rows->data, analytic,
                                        "kcomplete"));
        plx__moments_mean(rows->imputed, &rows->moments);
        return PLX_OK;
    }
    for (plx_index i = 0; i < rows->x.rows; i++)
        for (plx_index j = 0; j < d; j++)
            rows->imputed.data[i * d + j] = rows->seen[i * d + j] ? rows->x.data[i * d + j] : c->column_mean[j];
    return PLX_OK;
}
