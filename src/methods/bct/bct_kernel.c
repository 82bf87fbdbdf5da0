/*
 * The co-training kernel at the hyper-parameters in force, dense or as diag(c) + Z Z'.
 */
#include <string.h>

#include "core/parallel.h"
#include "linalg/factor.h"
#include "methods/bct/bct.h"

static plx_index row_grain(plx_index n) { return plx__max(1, 16384 / plx__max(1, n)); }

/* ---- memory, once for many evaluations ---- */

static plx_status reserve_dense(bct *b)
{
    plx__arena *scratch = plx__scratch(b->ctx);
    plx_index most = 0;
    plx_mat shared = {0};
    PLX_TRY(plx__arena_mat(&b->lambda, scratch, b->n_cov, b->n_cov));
    PLX_TRY(plx__arena_mat(&b->kc, scratch, b->n_cov, b->n_cov));
    for (plx_index j = 0; j < b->m; j++) most = plx__max(most, b->views[j].n);
    if (!b->keep_factors) PLX_TRY(plx__arena_mat(&shared, scratch, most, most));
    for (plx_index j = 0; j < b->m; j++) {
        bct_view *v = &b->views[j];
        if (b->keep_factors) PLX_TRY(plx__arena_mat(&v->factor, scratch, v->n, v->n));
        else v->factor = plx__mat_of(shared.data, v->n, v->n);
    }
    return PLX_OK;
}

static plx_status reserve_weights(bct *b)
{
    plx__arena *scratch = plx__scratch(b->ctx);
    plx_index p = 0;
    for (plx_index j = 0; j < b->m; j++) {
        bct_view *v = &b->views[j];
        PLX_TRY(plx__arena_mat(&v->factor, scratch, v->x.cols, v->x.cols));
        p += v->x.cols;
    }
    PLX_TRY(plx__arena_f64(&b->c, scratch, b->n_cov, 1));
    PLX_TRY(plx__arena_mat(&b->z, scratch, b->n_cov, p));
    return plx__arena_mat(&b->lambda, scratch, p, p);
}

plx_status plx__bct_reserve(bct *b) { return b->weights ? reserve_weights(b) : reserve_dense(b); }

/* ---- dense form ---- */

typedef struct gram_job {
    const plx__kernel *kernel;
    plx_cmat base;
    plx_mat out;
    double variance;
} gram_job;

static plx_status gram_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const gram_job *job = arg;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++) {
        const double *base = job->base.data + i * job->base.ld;
        double *out = job->out.data + i * job->out.ld;
        for (plx_index j = 0; j < job->out.cols; j++) out[j] = plx__kernel_of_base(job->kernel, base[j]);
        out[i] += job->variance;
    }
    return PLX_OK;
}

/* S_j = K_j + s_j I. */
static plx_status view_gram(bct *b, const bct_view *v, plx_mat out)
{
    gram_job job = {&v->k.kernel, v->base, out, v->variance};
    if (!v->base.data) {
        PLX_TRY(plx__view_kernel_base(b->ctx, &v->k, &v->ref, out));
        job.base = plx__cmat(out);
    }
    return plx__parallel_for(b->ctx, v->n, row_grain(v->n), gram_rows, &job);
}

static plx_status factor_gram(bct *b, bct_view *v)
{
    const char *what = NULL;
    double jitter = 0;
    PLX_TRY(plx__arena_printf(&what, plx__scratch(b->ctx), "bct: matrix for view '%s'", v->k.name));
    PLX_TRY(plx__cholesky_jitter(b->ctx, v->factor, &jitter, what, v->sample, NULL));
    b->jitter = fmax(b->jitter, jitter);
    return PLX_OK;
}

typedef struct place_job {
    plx_mat lambda;
    plx_cmat inverse;
    const plx_index *at;
} place_job;

static plx_status place_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const place_job *job = arg;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++) {
        double *to = job->lambda.data + job->at[i] * job->lambda.ld;
        const double *from = job->inverse.data + i * job->inverse.ld;
        for (plx_index j = 0; j < job->inverse.cols; j++) to[job->at[j]] += from[j];
    }
    return PLX_OK;
}

/* Lambda += S_j^-1; kc is still free and holds the inverse. */
static plx_status add_precision(bct *b, bct_view *v)
{
    plx_mat inverse = plx__mat_of(b->kc.data, v->n, v->n);
    PLX_TRY(view_gram(b, v, v->factor));
    PLX_TRY(factor_gram(b, v));
    PLX_TRY(plx__chol_inverse(b->ctx, inverse, plx__cmat(v->factor)));
    place_job job = {b->lambda, plx__cmat(inverse), v->at};
    return plx__parallel_for(b->ctx, v->n, row_grain(v->n), place_rows, &job);
}

static plx_status put_precision(bct *b)
{
    plx_mat out;
    if (!b->keep_precision) return PLX_OK;
    PLX_TRY(plx__store_new(&out, b->run->out, "precision", b->n, b->n));
    for (plx_index i = 0; i < b->n_cov; i++)
        for (plx_index j = 0; j < b->n_cov; j++)
            out.data[b->covered[i] * out.ld + b->covered[j]] = b->lambda.data[i * b->lambda.ld + j];
    return PLX_OK;
}

/* With one view K_c is S_1 itself. */
static plx_status build_single(bct *b)
{
    PLX_TRY(view_gram(b, &b->views[0], b->kc));
    if (!b->keep_factors) return PLX_OK;
    plx__mat_copy(b->views[0].factor, plx__cmat(b->kc));
    return factor_gram(b, &b->views[0]);
}

static plx_status build_dense(bct *b)
{
    double jitter = 0;
    if (b->m == 1 && !b->keep_precision) return build_single(b);
    plx__mat_fill(b->lambda, 0.0);
    for (plx_index j = 0; j < b->m; j++) {
        PLX_TRY(add_precision(b, &b->views[j]));
        PLX_TRY(plx__poll(b->ctx));
    }
    PLX_TRY(put_precision(b));
    PLX_TRY(plx__cholesky_jitter(b->ctx, b->lambda, &jitter, "bct: matrix for all views together", b->covered, NULL));
    b->jitter = fmax(b->jitter, jitter);
    return plx__chol_inverse(b->ctx, b->kc, plx__cmat(b->lambda));
}

/* ---- weight-space form ---- */

/* D_i = sum of 1/s_j over the views of i, into c. */
static void sum_precisions(bct *b)
{
    memset(b->c, 0, (size_t)b->n_cov * sizeof *b->c);
    for (plx_index j = 0; j < b->m; j++)
        for (plx_index i = 0; i < b->views[j].n; i++) b->c[b->views[j].at[i]] += 1.0 / b->views[j].variance;
}

/* Z starts as [E_j X_j sqrt(a_j)]. */
static void place_factors(bct *b)
{
    plx__mat_fill(b->z, 0.0);
    for (plx_index j = 0, from = 0; j < b->m; from += b->views[j++].x.cols) {
        const bct_view *v = &b->views[j];
        double root = sqrt(v->k.kernel.amplitude);
        for (plx_index i = 0; i < v->n; i++)
            for (plx_index d = 0; d < v->x.cols; d++)
                b->z.data[v->at[i] * b->z.ld + from + d] = root * v->x.data[i * v->x.ld + d];
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
    plx_cmat own = plx__csub(plx__cmat(b->z), 0, from, b->n_cov, d);
    plx_mat scaled;
    double *other = NULL;
    PLX_TRY(other_precisions(&other, b, j));
    PLX_TRY(plx__arena_mat(&scaled, plx__scratch(b->ctx), b->n_cov, d));
    for (plx_index k = 0, to = 0; k <= j; to += b->views[k++].x.cols) {
        double s = v->variance, s_k = b->views[k].variance;
        for (plx_index i = 0; i < b->n_cov; i++) {
            double weight = k == j ? other[i] / (s * b->c[i]) : -1.0 / (s * s_k * b->c[i]);
            for (plx_index e = 0; e < d; e++) scaled.data[i * d + e] = weight * own.data[i * own.ld + e];
        }
        PLX_TRY(plx__gemm(b->ctx, 1.0, plx__cmat(scaled), PLX__T,
                          plx__csub(plx__cmat(b->z), 0, to, b->n_cov, b->views[k].x.cols), PLX__N, 0.0,
                          plx__sub(b->lambda, from, to, d, b->views[k].x.cols)));
    }
    plx__arena_rewind(plx__scratch(b->ctx), mark);
    return PLX_OK;
}

/* Z = D^-1 Y L^-T with Y = [E_j X_j / s_j] and M = L L'. */
static plx_status solve_weights(bct *b)
{
    double jitter = 0;
    plx__mirror_lower(b->lambda);
    plx__mat_add_diag(b->lambda, 1.0);
    PLX_TRY(plx__cholesky_jitter(b->ctx, b->lambda, &jitter, "bct: weight-space matrix", NULL, NULL));
    b->jitter = fmax(b->jitter, jitter);
    for (plx_index i = 0; i < b->n_cov; i++) {
        b->c[i] = 1.0 / b->c[i];
        for (plx_index j = 0, at = 0; j < b->m; at += b->views[j++].x.cols)
            plx__scale(b->z.data + i * b->z.ld + at, b->c[i] / b->views[j].variance, b->views[j].x.cols);
    }
    return plx__tri_solve_right(b->ctx, plx__cmat(b->lambda), PLX__T, b->z);
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
        PLX_TRY(factor_gram(b, v));
    }
    return solve_weights(b);
}

plx_status plx__bct_build(bct *b) { return b->weights ? build_weights(b) : build_dense(b); }

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
    if (!b->weights) return plx__gemm(b->ctx, 1.0, plx__cmat(b->kc), PLX__N, w, PLX__N, 0.0, out);
    plx__mark mark = plx__arena_mark(plx__scratch(b->ctx));
    plx_mat inner;
    PLX_TRY(plx__arena_mat(&inner, plx__scratch(b->ctx), b->z.cols, w.cols));
    PLX_TRY(plx__gemm(b->ctx, 1.0, plx__cmat(b->z), PLX__T, w, PLX__N, 0.0, inner));
    for (plx_index i = 0; i < b->n_cov; i++)
        for (plx_index j = 0; j < w.cols; j++) out.data[i * out.ld + j] = b->c[i] * w.data[i * w.ld + j];
    PLX_TRY(plx__gemm(b->ctx, 1.0, plx__cmat(b->z), PLX__N, plx__cmat(inner), PLX__N, 1.0, out));
    plx__arena_rewind(plx__scratch(b->ctx), mark);
    return PLX_OK;
}

double plx__bct_diagonal(const bct *b, plx_index i)
{
    if (!b->weights) return b->kc.data[i * b->kc.ld + i];
    return b->c[i] + plx__norm_sq(b->z.data + i * b->z.ld, b->z.cols);
}
