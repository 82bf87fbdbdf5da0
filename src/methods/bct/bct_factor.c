/*
 * The weight-space form of bct: K_j = a_j X_j X_j' with X_j the features of a linear kernel, or a pivoted Cholesky
 * factor of any kernel (at amplitude 1: amplitudes change without it).
 */
#include <string.h>

#include "linalg/csr.h"
#include "methods/bct/bct.h"

/* ---- which form ---- */

static plx_status decide(bct *b)
{
    plx_index features = 0;
    const bct_view *other = NULL;
    for (plx_index j = 0; j < b->m; j++) {
        features += plx__points_cols(b->views[j].k.rows);
        if (b->views[j].k.kernel.kind != PLX__KERNEL_LINEAR) other = &b->views[j];
    }
    if (b->set->pivots > 0) b->weights = true;
    else if (b->set->lowrank == BCT_LOWRANK_EXACT && other)
        PLX_FAIL(b->ctx, PLX_E_ARG,
                 "lowrank = exact: needs linear kernels, view '%s' has another; set pivots (e.g. 300) instead",
                 other->k.name);
    else
        b->weights = b->set->lowrank == BCT_LOWRANK_EXACT ||
                     (b->set->lowrank == BCT_LOWRANK_AUTO && !other && 2 * features < b->n_fit);
    return PLX_OK;
}

/* ---- making X_j ---- */

/* A sparse view's own rows, as a dense matrix. */
static plx_status dense_rows(bct *b, bct_view *v)
{
    plx_index begin = 0, end = 0;
    plx_mat x;
    plx__slab_rows_mine(&begin, &end, b->ctx, &v->rows);
    PLX_TRY(plx__bct_own_rows(&x, b, v, v->ref.rows.csr.cols));
    plx__csr_to_dense(plx__sub(x, begin, 0, end - begin, x.cols), plx__csr_rows(v->ref.rows.csr, begin, end));
    v->x = plx__cmat(x);
    return PLX_OK;
}

plx_status plx__bct_factor_view(bct *b, bct_view *v)
{
    v->reduced = b->set->pivots > 0;
    if (v->reduced) {
        PLX_TRY(plx__kernel_pivots_find(&v->pivots, b->ctx, &v->k, &v->ref, &v->rows, b->set->pivots));
        v->x = v->pivots.x;
    } else if (plx__points_sparse(v->ref.rows)) {
        PLX_TRY(dense_rows(b, v));
    } else {
        v->x = v->ref.rows.dense;
    }
    return PLX_OK;
}

/* ---- from the model ---- */

static plx_status known_view(bct *b, bct_view *v)
{
    const char *name = NULL;
    if (!b->weights) {
        PLX_TRY(plx__reference_load(&v->ref, b->run, &v->k, "rows", v->sample, v->n));
        if (v->k.kernel.kind != PLX__KERNEL_PRECOMPUTED) return PLX_OK;
        PLX_TRY(plx__view_key(&name, b->ctx, "_gram", v->k.name));
        return plx__store_shaped(&v->base, b->ctx, b->run->fitted, name, v->n, v->n);
    }
    PLX_TRY(plx__view_key(&name, b->ctx, "_x", v->k.name));
    PLX_TRY(plx__store_shaped(&v->x, b->ctx, b->run->fitted, name, v->n, -1));
    v->reduced = b->set->pivots > 0;
    if (v->reduced) return plx__kernel_pivots_load(&v->pivots, b->run, &v->k, v->x.cols, b->n_fit);
    if (v->x.cols != plx__points_cols(v->k.rows))
        PLX_FAIL(b->ctx, PLX_E_FORMAT, "the model's rows of view '%s' do not fit its description", v->k.name);
    return PLX_OK;
}

static plx_status fresh_view(bct *b, bct_view *v)
{
    if (b->weights) PLX_TRY(plx__reference_own(&v->ref, b->ctx, &v->k, v->sample, &v->rows));
    else PLX_TRY(plx__reference_of(&v->ref, b->ctx, &v->k, v->sample, v->n));
    v->ref.present = NULL; /* all of them have it */
    return b->weights ? plx__bct_factor_view(b, v) : PLX_OK;
}

/* Several processes divide the weight-space form of a fit. */
static void divide(bct *b)
{
    b->cut = plx__slabs_cut(b->n_cov, PLX__PANE_ROWS);
    b->cut.alone = !b->weights || b->run->fitted || !b->run->method->ranks;
    plx__slabs_mine(&b->begin, &b->end, b->ctx, b->cut);
    for (plx_index j = 0; j < b->m; j++) b->views[j].rows = (plx__slab_rows){b->cut, b->views[j].n, b->views[j].at};
}

plx_status plx__bct_choose_form(bct *b)
{
    PLX_TRY(decide(b));
    divide(b);
    for (plx_index j = 0; j < b->m; j++) {
        bct_view *v = &b->views[j];
        PLX_TRY(b->run->fitted ? known_view(b, v) : fresh_view(b, v));
        if (!b->weights) continue;
        PLX_TRY(plx__arena_mat(&v->inner, plx__scratch(b->ctx), v->x.cols, v->x.cols));
        PLX_TRY(plx__bct_times_t(b, v, v->x, v->inner));
    }
    return PLX_OK;
}

/* ---- new samples ---- */

plx_status plx__bct_features(bct *b, const bct_view *v, plx_index begin, plx_index end, plx_mat out)
{
    plx__points rows = {0};
    if (v->reduced) return plx__kernel_pivots_rows(b->ctx, &v->pivots, &v->k, begin, end, out);
    rows = plx__points_range(v->k.rows, begin, end);
    if (!plx__points_sparse(rows)) plx__mat_copy(out, rows.dense);
    else
        for (plx_index i = begin; i < end; i++) {
            plx_ccsr all = v->k.rows.csr;
            memset(out.data + (i - begin) * out.ld, 0, (size_t)out.cols * sizeof(double));
            for (int64_t e = all.ptr[i]; e < all.ptr[i + 1]; e++)
                out.data[(i - begin) * out.ld + all.col[e]] = all.val[e];
        }
    return PLX_OK;
}
