/*
 * The weight-space form of bct: K_j = a_j X_j X_j' with X_j the features of a linear kernel, or a pivoted Cholesky
 * factor of any kernel (at amplitude 1: amplitudes change without it).
 */
#include <string.h>

#include "linalg/csr.h"
#include "linalg/factor.h"
#include "linalg/lowrank.h"
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

typedef struct column_job {
    const bct_view *v;
    plx__kernel unit;
} column_job;

static plx_status kernel_column(void *arg, plx_context *ctx, plx_index j, plx_index begin, plx_index end, double *out)
{
    const column_job *job = arg;
    const bct_view *v = job->v;
    plx_cmat given = v->k.rows.dense;
    if (job->unit.kind != PLX__KERNEL_PRECOMPUTED)
        return plx__kernel_matrix(ctx, &job->unit, plx__points_range(v->ref.rows, begin, end),
                                  plx__points_range(v->ref.rows, j, j + 1), plx__mat_of(out, end - begin, 1));
    for (plx_index i = begin; i < end; i++) out[i - begin] = given.data[v->sample[i] * given.ld + v->sample[j]];
    return PLX_OK;
}

static plx_status pivot_view(bct *b, bct_view *v)
{
    column_job job = {v, v->k.kernel};
    plx__pivot_options options = {.threshold = 1e-12, .stop = PLX__STOP_MAX, .max_rank = b->set->pivots};
    plx__pivoted out;
    double *diagonal = NULL;
    job.unit.amplitude = 1.0;
    PLX_TRY(plx__arena_f64(&diagonal, plx__scratch(b->ctx), v->n, 1));
    if (job.unit.kind != PLX__KERNEL_PRECOMPUTED)
        PLX_TRY(plx__kernel_diagonal(b->ctx, &job.unit, v->ref.rows, diagonal));
    else
        for (plx_index i = 0; i < v->n; i++)
            diagonal[i] = v->k.rows.dense.data[v->sample[i] * (v->k.rows.dense.ld + 1)];
    PLX_TRY(plx__pivoted_cholesky(&out, plx__scratch(b->ctx), b->ctx, diagonal, v->n, kernel_column, &job, &options));
    v->x = plx__cmat(out.z);
    PLX_TRY(plx__arena_i64(&v->pivot, plx__scratch(b->ctx), out.rank));
    for (plx_index r = 0; r < out.rank; r++) v->pivot[r] = v->sample[out.pivot[r]];
    v->corner = plx__cmat(out.corner);
    return plx__reference_of(&v->pivots, b->ctx, &v->k, v->pivot, out.rank);
}

plx_status plx__bct_factor_view(bct *b, bct_view *v)
{
    if (b->set->pivots > 0) {
        PLX_TRY(pivot_view(b, v));
    } else if (plx__points_sparse(v->ref.rows)) {
        plx_mat x;
        PLX_TRY(plx__arena_mat(&x, plx__scratch(b->ctx), v->n, v->ref.rows.csr.cols));
        plx__csr_to_dense(x, v->ref.rows.csr);
        v->x = plx__cmat(x);
    } else {
        v->x = v->ref.rows.dense;
    }
    return PLX_OK;
}

/* ---- from the model ---- */

static plx_status known_pivots(bct *b, bct_view *v)
{
    const char *name = NULL;
    plx_cmat pivot;
    plx_index rank = v->x.cols;
    PLX_TRY(plx__view_key(&name, b->ctx, "_pivot", v->k.name));
    PLX_TRY(plx__store_shaped(&pivot, b->ctx, b->run->fitted, name, 1, rank));
    PLX_TRY(plx__view_key(&name, b->ctx, "_corner", v->k.name));
    PLX_TRY(plx__store_shaped(&v->corner, b->ctx, b->run->fitted, name, rank, rank));
    PLX_TRY(plx__arena_i64(&v->pivot, plx__scratch(b->ctx), rank));
    for (plx_index r = 0; r < rank; r++) {
        if (!(pivot.data[r] >= 0 && pivot.data[r] < (double)b->n_fit))
            PLX_FAIL(b->ctx, PLX_E_FORMAT, "the model's pivots of view '%s' are out of range", v->k.name);
        v->pivot[r] = (plx_index)pivot.data[r];
    }
    return plx__reference_load(&v->pivots, b->run, &v->k, "pivots", v->pivot, rank);
}

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
    if (b->set->pivots > 0) return known_pivots(b, v);
    if (v->x.cols != plx__points_cols(v->k.rows))
        PLX_FAIL(b->ctx, PLX_E_FORMAT, "the model's rows of view '%s' do not fit its description", v->k.name);
    return PLX_OK;
}

static plx_status fresh_view(bct *b, bct_view *v)
{
    PLX_TRY(plx__reference_of(&v->ref, b->ctx, &v->k, v->sample, v->n));
    v->ref.present = NULL; /* all of them have it */
    return b->weights ? plx__bct_factor_view(b, v) : PLX_OK;
}

plx_status plx__bct_choose_form(bct *b)
{
    PLX_TRY(decide(b));
    for (plx_index j = 0; j < b->m; j++) {
        bct_view *v = &b->views[j];
        PLX_TRY(b->run->fitted ? known_view(b, v) : fresh_view(b, v));
        if (!b->weights) continue;
        PLX_TRY(plx__arena_mat(&v->inner, plx__scratch(b->ctx), v->x.cols, v->x.cols));
        PLX_TRY(plx__syrk(b->ctx, 1.0, v->x, PLX__T, 0.0, v->inner));
    }
    return PLX_OK;
}

/* ---- new samples ---- */

plx_status plx__bct_features(bct *b, const bct_view *v, plx_index begin, plx_index end, plx_mat out)
{
    plx__points rows = {0};
    if (v->pivot) { /* h = X[pivots,:]^-1 kappa(pivots, x) */
        plx__view_kernel unit = v->k;
        unit.kernel.amplitude = 1.0;
        PLX_TRY(plx__view_kernel_values(b->ctx, &unit, begin, end, &v->pivots, false, out));
        return plx__tri_solve_right(b->ctx, v->corner, PLX__T, out);
    }
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
