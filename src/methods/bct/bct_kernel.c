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
    PLX_TRY(plx__arena_mat(&b->weight.z, scratch, b->n_cov, p));
    return plx__arena_mat(&b->dense.lambda, scratch, p, p);
}

/* Z, the X_j, a scaled copy of a part, and p x p matrices. */
double plx__bct_weight_bytes(double n, double features) { return 8 * (3 * n * features + 4 * features * features); }

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
    plx__mat_fill(b->weight.z, 0.0);
    for (plx_index j = 0, from = 0; j < b->m; from += b->views[j++].x.cols) {
        const bct_view *v = &b->views[j];
        double root = sqrt(v->k.kernel.amplitude);
        for (plx_index i = 0; i < v->n; i++)
            for (plx_index d = 0; d < v->x.cols; d++)
                b->weight.z.data[v->at[i] * b->weight.z.ld + from + d] = root * v->x.data[i * v->x.ld + d];
    }
}

/* The sum over the other views of i, which D_i - 1/s_j would give with cancellation. */
static plx_status other_precisions(double **out, bct *b, plx_index j)
{
    PLX_TRY(plx__arena_f64(out, plx__scratch(b->ctx), b->n_cov, 1));
    for (plx_index k = 0; k < b->m; k++)
        for (plx_index i = 0; i < b->views[k].n && k != j; i++) (*out)[b->views[k].at[i]] += 1.0 / b->views[k].variance;
    return PLX_OK;
}

/* Blocks (j, 0..j) of M: M_jj = I + X_j' diag((D - 1/s_j)/(s_j D)) X_j, M_jk = -X_j' diag(1/(s_j s_k D)) X_k. */
static plx_status weight_blocks(bct *b, plx_index j, plx_index from)
{
    plx__mark mark = plx__arena_mark(plx__scratch(b->ctx));
    const bct_view *v = &b->views[j];
    plx_index d = v->x.cols;
    plx_cmat own = plx__csub(plx__cmat(b->weight.z), 0, from, b->n_cov, d);
    plx_mat scaled;
    double *other = NULL;
    PLX_TRY(other_precisions(&other, b, j));
    PLX_TRY(plx__arena_mat(&scaled, plx__scratch(b->ctx), b->n_cov, d));
    for (plx_index k = 0, to = 0; k <= j; to += b->views[k++].x.cols) {
        double s = v->variance, s_k = b->views[k].variance;
        for (plx_index i = 0; i < b->n_cov; i++) {
            double weight = k == j ? other[i] / (s * b->weight.c[i]) : -1.0 / (s * s_k * b->weight.c[i]);
            for (plx_index e = 0; e < d; e++) scaled.data[i * d + e] = weight * own.data[i * own.ld + e];
        }
        PLX_TRY(plx__gemm(b->ctx, 1.0, plx__cmat(scaled), PLX__T,
                          plx__csub(plx__cmat(b->weight.z), 0, to, b->n_cov, b->views[k].x.cols), PLX__N, 0.0,
                          plx__sub(b->dense.lambda, from, to, d, b->views[k].x.cols)));
    }
    plx__arena_rewind(plx__scratch(b->ctx), mark);
    return PLX_OK;
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
        for (plx_index j = 0, at = 0; j < b->m; at += b->views[j++].x.cols)
            plx__scale(b->weight.z.data + i * b->weight.z.ld + at, b->weight.c[i] / b->views[j].variance,
                       b->views[j].x.cols);
    }
    return plx__tri_solve_right(b->ctx, plx__cmat(b->dense.lambda), PLX__T, b->weight.z);
}

static plx_status build_weights(bct *b)
{
    sum_precisions(b);
    place_factors(b);
    for (plx_index j = 0, from = 0; j < b->m; from += b->views[j++].x.cols) {
        bct_view *v = &b->views[j];
        PLX_TRY(weight_blocks(b, j, from));
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
    plx_mat inner;
    PLX_TRY(plx__arena_mat(&inner, plx__scratch(b->ctx), v->x.cols, rhs.cols));
    PLX_TRY(plx__gemm(b->ctx, 1.0, v->x, PLX__T, plx__cmat(rhs), PLX__N, 0.0, inner));
    PLX_TRY(plx__chol_solve(b->ctx, plx__cmat(v->factor), inner));
    PLX_TRY(plx__gemm(b->ctx, -v->k.kernel.amplitude, v->x, PLX__N, plx__cmat(inner), PLX__N, 1.0, rhs));
    plx__mat_scale(rhs, 1.0 / v->variance);
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
    for (plx_index i = 0; i < l; i++) {
        memcpy(b->weight.z_l.data + i * p, b->weight.z.data + b->labelled[i] * b->weight.z.ld,
               (size_t)p * sizeof(double));
        b->weight.c_l[i] = b->weight.c[b->labelled[i]];
    }
    return PLX_OK;
}
