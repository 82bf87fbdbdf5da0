/*
 * The co-training kernel at the hyper-parameters in force: the weight-space form diag(c) + Z Z', and what all forms do.
 */
#include <string.h>

#include "linalg/factor.h"
#include "methods/bct/bct.h"

/* ---- memory, once for many evaluations ---- */

static plx_status reserve_weights(bct *b)
{
    plx__arena *scratch = plx__scratch(b->ctx);
    plx_index p = 0;
    for (plx_index j = 0; j < b->m; j++) {
        bct_view *v = &b->views[j];
        PLX_TRY(plx__arena_mat(&v->factor, scratch, v->x.cols, v->x.cols));
        p += v->x.cols;
    }
    PLX_TRY(plx__arena_f64(&b->weight.c, scratch, b->n_cov, 1));
    PLX_TRY(plx__bct_own_rows(&b->weight.z, b, NULL, p));
    return plx__arena_mat(&b->dense.lambda, scratch, p, p);
}

/* Z, the X_j and what they were made in, and p x p matrices; the X_j of all samples in the model. */
double plx__bct_weight_bytes(double n, double own, double features)
{
    return 8 * (3 * own * features + (n > own ? n * features : 0) + 4 * features * features);
}

plx_status plx__bct_reserve(bct *b) { return b->weights ? reserve_weights(b) : plx__bct_reserve_dense(b); }

/* ---- weight-space form ---- */

/* D_i = sum of 1/s_j over the views of i, into c. */
static void sum_precisions(bct *b)
{
    memset(b->weight.c, 0, (size_t)b->n_cov * sizeof *b->weight.c);
    for (plx_index j = 0; j < b->m; j++)
        for (plx_index i = 0; i < b->views[j].n; i++) b->weight.c[b->views[j].at[i]] += 1.0 / b->views[j].variance;
}

/* Z starts as [E_j X_j sqrt(a_j)]. */
static void place_factors(bct *b)
{
    plx__mat_fill(plx__sub(b->weight.z, b->begin, 0, b->end - b->begin, b->weight.z.cols), 0.0);
    for (plx_index j = 0, from = 0; j < b->m; from += b->views[j++].x.cols) {
        const bct_view *v = &b->views[j];
        double root = sqrt(v->k.kernel.amplitude);
        plx_index begin = 0, end = 0;
        plx__slab_rows_mine(&begin, &end, b->ctx, &v->rows);
        for (plx_index i = begin; i < end; i++)
            for (plx_index d = 0; d < v->x.cols; d++)
                b->weight.z.data[v->at[i] * b->weight.z.ld + from + d] = root * v->x.data[i * v->x.ld + d];
    }
}

static plx_status solve_rows(void *arg, bct *b, plx_index begin, plx_index end)
{
    (void)arg;
    return plx__tri_solve_right(b->ctx, plx__cmat(b->dense.lambda), PLX__T,
                                plx__sub(b->weight.z, begin, 0, end - begin, b->weight.z.cols));
}

/* Z = D^-1 Y L^-T with Y = [E_j X_j / s_j] and M = L L'. */
static plx_status solve_weights(bct *b)
{
    double jitter = 0;
    plx__mirror_lower(b->dense.lambda);
    plx__mat_add_diag(b->dense.lambda, 1.0);
    PLX_TRY(plx__cholesky_jitter(b->ctx, b->dense.lambda, &jitter, "bct: weight-space matrix", NULL, NULL));
    b->jitter = fmax(b->jitter, jitter);
    for (plx_index i = 0; i < b->n_cov; i++) {
        b->weight.c[i] = 1.0 / b->weight.c[i];
        if (i < b->begin || i >= b->end) continue;
        for (plx_index j = 0, at = 0; j < b->m; at += b->views[j++].x.cols)
            plx__scale(b->weight.z.data + i * b->weight.z.ld + at, b->weight.c[i] / b->views[j].variance,
                       b->views[j].x.cols);
    }
    return plx__bct_each_block(b, b->cut.pane, solve_rows, NULL);
}

static plx_status build_weights(bct *b)
{
    sum_precisions(b);
    place_factors(b);
    for (plx_index j = 0, from = 0; j < b->m; from += b->views[j++].x.cols) {
        bct_view *v = &b->views[j];
        PLX_TRY(plx__bct_weight_blocks(b, j, from));
        plx__mat_copy(v->factor, plx__cmat(v->inner));
        plx__mat_scale(v->factor, v->k.kernel.amplitude);
        plx__mat_add_diag(v->factor, v->variance);
        PLX_TRY(plx__bct_factor_gram(b, v));
    }
    return solve_weights(b);
}

plx_status plx__bct_build(bct *b) { return b->weights ? build_weights(b) : plx__bct_build_dense(b); }

/* ---- using it ---- */

plx_status plx__bct_solve(bct *b, const bct_view *v, plx_mat rhs)
{
    if (!b->weights) return plx__chol_solve(b->ctx, plx__cmat(v->factor), rhs);
    plx__mark mark = plx__arena_mark(plx__scratch(b->ctx));
    plx_index begin = 0, end = 0;
    plx_mat inner;
    PLX_TRY(plx__arena_mat(&inner, plx__scratch(b->ctx), v->x.cols, rhs.cols));
    PLX_TRY(plx__bct_times_t(b, v, plx__cmat(rhs), inner));
    PLX_TRY(plx__chol_solve(b->ctx, plx__cmat(v->factor), inner));
    PLX_TRY(plx__bct_add_times(b, v, -v->k.kernel.amplitude, plx__cmat(inner), rhs));
    plx__slab_rows_mine(&begin, &end, b->ctx, &v->rows);
    plx__mat_scale(plx__sub(rhs, begin, 0, end - begin, rhs.cols), 1.0 / v->variance);
    plx__arena_rewind(plx__scratch(b->ctx), mark);
    return PLX_OK;
}

plx_status plx__bct_apply(bct *b, plx_cmat w, plx_mat out)
{
    if (!b->weights) return plx__bct_apply_dense(b, w, out);
    plx__mark mark = plx__arena_mark(plx__scratch(b->ctx));
    plx_mat inner;
    PLX_TRY(plx__arena_mat(&inner, plx__scratch(b->ctx), b->weight.z.cols, w.cols));
    PLX_TRY(plx__gemm(b->ctx, 1.0, plx__cmat(b->weight.z), PLX__T, w, PLX__N, 0.0, inner));
    for (plx_index i = 0; i < b->n_cov; i++)
        for (plx_index j = 0; j < w.cols; j++) out.data[i * out.ld + j] = b->weight.c[i] * w.data[i * w.ld + j];
    PLX_TRY(plx__gemm(b->ctx, 1.0, plx__cmat(b->weight.z), PLX__N, plx__cmat(inner), PLX__N, 1.0, out));
    plx__arena_rewind(plx__scratch(b->ctx), mark);
    return PLX_OK;
}

double plx__bct_diagonal(const bct *b, plx_index i)
{
    if (!b->weights) return b->dense.diagonal[i];
    return b->weight.c[i] + plx__norm_sq(b->weight.z.data + i * b->weight.z.ld, b->weight.z.cols);
}

plx_status plx__bct_labelled_rows(bct *b)
{
    plx_index l = b->targets.n, p = b->weight.z.cols;
    PLX_TRY(plx__arena_mat(&b->weight.z_l, plx__scratch(b->ctx), l, p));
    PLX_TRY(plx__arena_f64(&b->weight.c_l, plx__scratch(b->ctx), l, 1));
    for (plx_index i = 0; i < l; i++) b->weight.c_l[i] = b->weight.c[b->labelled[i]];
    return plx__bct_labelled_of(b, plx__cmat(b->weight.z), b->weight.z_l);
}
