/*
 * Several candidates of colr together: after each the covariance S of the weights, one per problem, gets the change that
 * the candidate makes to the precision,
 *
 *     S <- S - (SU) A (I + A U'SU A)^-1 A (SU)',    S <- S - S_:v [F - F L (I + L'FL)^-1 L'F] S_v:,   L L' = S_vv,
 *
 * and candidates are valued by the new one. Weights and precisions stay, as in a single ranking.
 */
#include <math.h>
#include <string.h>

#include "active/batch.h"
#include "linalg/factor.h"
#include "methods/colr/colr_gain.h"
#include "optim/klr.h"

typedef struct several {
    colr_posterior *posterior; /* of every problem */
    plx_index problems;
    const plx_index *sample, *view;
} several;

static plx_status look_at(colr_posterior *p, plx_index i, plx_index view)
{
    p->view = plx__max(view, 0);
    p->tables = p->all_tables ? &p->all_tables[p->view] : NULL;
    return plx__colr_pull_block(p, i, i + 1);
}

static plx_status again(double *information, void *arg, plx_index k)
{
    const several *s = arg;
    *information = 0;
    for (plx_index q = 0; q < s->problems; q++) {
        colr_posterior *p = &s->posterior[q];
        double gain = 0;
        PLX_TRY(look_at(p, s->sample[k], s->view[k]));
        if (s->view[k] < 0) PLX_TRY(plx__colr_label_gain(&gain, p->ctx, p, &p->workers[0], s->sample[k]));
        else PLX_TRY(plx__colr_feature_gain(&gain, p->ctx, p, &p->workers[0], s->sample[k]));
        *information += gain;
    }
    return PLX_OK;
}

/* ---- taking ---- */

/* Rows of (S U A)': d entries each. */
static void fill_columns(plx_mat out, const colr_posterior *p, const colr_work *w, plx_index i, plx_index view,
                         const colr_change *change)
{
    for (plx_index a = 0; a < change->size; a++) {
        double *row = out.data + a * out.ld;
        bool pair = a < change->views;
        if (pair) memcpy(row, plx__colr_pulled_row(p, i, w->views[a]), (size_t)out.cols * sizeof *row);
        if (view >= 0) plx__axpy(row, pair ? -1.0 : 1.0, w->pulled, out.cols);
        double score = p->s.data[i * p->c->m + (pair ? w->views[a] : 0)];
        double weight = view < 0 ? plx__sigmoid(score) * plx__sigmoid(-score) : pair ? change->agree : change->own;
        plx__scale(row, sqrt(weight), out.cols);
    }
}

/* The columns' change; w->small holds I + A U'SU A. */
static plx_status change_columns(colr_posterior *p, const colr_work *w, plx_index i, plx_index view,
                                 const colr_change *change)
{
    plx_mat columns, small = plx__mat_of(w->small, change->size, change->size);
    if (!change->size) return PLX_OK;
    PLX_TRY(plx__arena_mat(&columns, plx__scratch(p->ctx), change->size, p->c->d));
    fill_columns(columns, p, w, i, view, change);
    PLX_TRY(plx__cholesky_serial(p->ctx, small, NULL));
    PLX_TRY(plx__tri_solve_serial(p->ctx, plx__cmat(small), PLX__N, columns));
    return plx__gemm(p->ctx, -1.0, plx__cmat(columns), PLX__T, plx__cmat(columns), PLX__N, 1.0, p->cov);
}

/* F - F L (I + L'FL)^-1 L'F, in `out`. */
static plx_status shrink_full(plx_mat out, const colr_posterior *p, plx_cmat full, plx_cmat cov)
{
    plx_context *ctx = p->ctx;
    plx_index d = full.rows;
    plx_mat l, lf, m;
    PLX_TRY(plx__mat_clone(&l, plx__scratch(ctx), cov));
    PLX_TRY(plx__arena_mat(&lf, plx__scratch(ctx), d, d));
    PLX_TRY(plx__arena_mat(&m, plx__scratch(ctx), d, d));
    PLX_TRY(plx__cholesky(ctx, l, NULL));
    PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(l), PLX__T, full, PLX__N, 0.0, lf));
    PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(lf), PLX__N, plx__cmat(l), PLX__N, 0.0, m));
    plx__mat_add_diag(m, 1.0);
    PLX_TRY(plx__cholesky(ctx, m, NULL));
    PLX_TRY(plx__tri_solve(ctx, plx__cmat(m), PLX__N, lf));
    plx__mat_copy(out, full);
    return plx__gemm(ctx, -1.0, plx__cmat(lf), PLX__T, plx__cmat(lf), PLX__N, 1.0, out);
}

static plx_status change_full(colr_posterior *p, const colr_work *w)
{
    const colr_view *v = &p->c->views[p->view];
    plx_mat shrunk, rows, product;
    PLX_TRY(plx__arena_mat(&shrunk, plx__scratch(p->ctx), v->d, v->d));
    PLX_TRY(plx__arena_mat(&product, plx__scratch(p->ctx), v->d, p->c->d));
    PLX_TRY(plx__mat_clone(&rows, plx__scratch(p->ctx), plx__csub(plx__cmat(p->cov), v->at, 0, v->d, p->c->d)));
    PLX_TRY(
        shrink_full(shrunk, p, plx__cmat_of(w->full, v->d, v->d), plx__csub(plx__cmat(rows), 0, v->at, v->d, v->d)));
    PLX_TRY(plx__gemm(p->ctx, 1.0, plx__cmat(shrunk), PLX__N, plx__cmat(rows), PLX__N, 0.0, product));
    return plx__gemm(p->ctx, -1.0, plx__cmat(rows), PLX__T, plx__cmat(product), PLX__N, 1.0, p->cov);
}

static plx_status change_posterior(colr_posterior *p, plx_index i, plx_index view)
{
    plx__mark mark = plx__arena_mark(plx__scratch(p->ctx));
    const colr_work *w = &p->workers[0];
    bool whole = p->whole;
    p->whole = true;
    PLX_TRY(look_at(p, i, view));
    colr_change change = view < 0 ? plx__colr_label_change(p, w, i) : plx__colr_feature_change(p, w, i);
    p->whole = whole;
    PLX_TRY(change_columns(p, w, i, view, &change));
    if (view >= 0 && plx__colr_full_part(p, w, i, &change)) PLX_TRY(change_full(p, w));
    plx__arena_rewind(plx__scratch(p->ctx), mark);
    return plx__colr_changed(p);
}

static plx_status take(void *arg, plx_index k)
{
    const several *s = arg;
    for (plx_index q = 0; q < s->problems; q++) PLX_TRY(change_posterior(&s->posterior[q], s->sample[k], s->view[k]));
    return PLX_OK;
}

plx_status plx__colr_batch(colr_posterior *posteriors, plx__candidate *list, plx_index count, const plx_index *sample,
                           const plx_index *view, plx_index size)
{
    const colr *c = posteriors[0].c;
    several s = {posteriors, c->q, sample, view};
    return plx__batch_pick(&(plx__batch){c->run, list, count, again, take, &s}, size);
}
