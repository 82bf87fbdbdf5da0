/*
 * The dense form of the co-training kernel: K_c = Lambda^-1 with Lambda = sum_j S_j^-1 on the samples of view j.
 *
 * Learning needs K_c(:, labelled), the diagonal for variances, and T_j = S_j^-1 K_c(I_j, labelled) for derivatives:
 * all by solves with the factor of Lambda. K_c itself is only made when somebody wants it (b->dense.full). Two views that
 * everybody has need one factorisation instead of three (b->dense.pair): with S = S_1 + S_2
 *
 *     K_c = S_1 S^-1 S_2 = S_1 - S_1 S^-1 S_1,   T_1 = S^-1 S_2(:, l),   T_2 = S^-1 S_1(:, l),   K_c(:, l) = S_1 T_1.
 */
#include <string.h>

#include "core/parallel.h"
#include "linalg/factor.h"
#include "methods/bct/bct.h"

static plx_index row_grain(plx_index n) { return plx__max(1, 16384 / plx__max(1, n)); }

/* ---- memory, once for many evaluations ---- */

static bool everybody_has_both(const bct *b)
{
    return b->m == 2 && b->views[0].n == b->n_cov && b->views[1].n == b->n_cov;
}

static plx_status reserve_pair(bct *b)
{
    PLX_TRY(plx__arena_mat(&b->dense.pair_t, plx__scratch(b->ctx), b->n_cov, b->targets.n));
    for (int j = 0; j < 2; j++) {
        PLX_TRY(plx__arena_mat(&b->dense.pair_room[j], plx__scratch(b->ctx), b->n_cov, b->n_cov));
        PLX_TRY(plx__arena_mat(&b->dense.pair_columns[j], plx__scratch(b->ctx), b->n_cov, b->targets.n));
    }
    return PLX_OK;
}

/* Lambda, K_c, an inverse in the making, and as many factors of the S_j as are kept (with their bases, when optimising);
 * a pair takes less. */
double plx__bct_dense_bytes(double n, double factors) { return 8 * (3 + factors) * n * n; }

plx_status plx__bct_reserve_dense(bct *b)
{
    plx__arena *scratch = plx__scratch(b->ctx);
    plx_index most = 0;
    plx_mat shared = {0};
    b->dense.pair = everybody_has_both(b) && !b->dense.full && !b->dense.solves;
    PLX_TRY(plx__arena_f64(&b->dense.diagonal, scratch, b->n_cov, 1));
    if (b->dense.pair) return reserve_pair(b);
    PLX_TRY(plx__arena_mat(&b->dense.lambda, scratch, b->n_cov, b->n_cov));
    PLX_TRY(plx__arena_mat(&b->dense.kc, scratch, b->n_cov, b->n_cov));
    for (plx_index j = 0; j < b->m; j++) most = plx__max(most, b->views[j].n);
    if (!b->keep_factors) PLX_TRY(plx__arena_mat(&shared, scratch, most, most));
    for (plx_index j = 0; j < b->m; j++) {
        bct_view *v = &b->views[j];
        if (b->keep_factors) PLX_TRY(plx__arena_mat(&v->factor, scratch, v->n, v->n));
        else v->factor = plx__mat_of(shared.data, v->n, v->n);
    }
    return PLX_OK;
}

/* ---- one view ---- */

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
        plx__kernel_of_base(job->kernel, base, job->out.cols, out);
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

plx_status plx__bct_factor_gram(bct *b, bct_view *v)
{
    const char *what = NULL;
    double jitter = 0;
    PLX_TRY(plx__arena_printf(&what, plx__scratch(b->ctx), "bct: matrix for view '%s'", v->k.name));
    PLX_TRY(plx__cholesky_jitter(b->ctx, v->factor, &jitter, what, v->sample, NULL));
    b->jitter = fmax(b->jitter, jitter);
    return PLX_OK;
}

/* Lower triangle of Lambda += S_j^-1; kc is still free for the inverse of the factor. */
static plx_status add_precision(bct *b, bct_view *v)
{
    plx_mat work = plx__mat_of(b->dense.kc.data, v->n, v->n);
    PLX_TRY(view_gram(b, v, v->factor));
    PLX_TRY(plx__bct_factor_gram(b, v));
    return plx__chol_inverse_add(b->ctx, b->dense.lambda, v->at, plx__cmat(v->factor), work);
}

static plx_status put_precision(bct *b)
{
    plx_mat out;
    if (!b->keep_precision) return PLX_OK;
    PLX_TRY(plx__store_new(&out, b->run->out, "precision", b->n, b->n));
    for (plx_index i = 0; i < b->n_cov; i++)
        for (plx_index j = 0; j < b->n_cov; j++)
            out.data[b->covered[i] * out.ld + b->covered[j]] = b->dense.lambda.data[i * b->dense.lambda.ld + j];
    return PLX_OK;
}

/* With one view K_c is S_1 itself. */
static plx_status build_single(bct *b)
{
    b->dense.inverted = true;
    PLX_TRY(view_gram(b, &b->views[0], b->dense.kc));
    if (!b->keep_factors) return PLX_OK;
    plx__mat_copy(b->views[0].factor, plx__cmat(b->dense.kc));
    return plx__bct_factor_gram(b, &b->views[0]);
}

typedef struct sum_job {
    plx_mat to;
    plx_cmat from;
} sum_job;

static plx_status sum_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const sum_job *job = arg;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++)
        plx__axpy(job->to.data + i * job->to.ld, 1.0, job->from.data + i * job->from.ld, job->to.cols);
    return PLX_OK;
}

static plx_status factor_lambda(bct *b)
{
    double jitter = 0;
    PLX_TRY(
        plx__cholesky_jitter(b->ctx, b->dense.lambda, &jitter, "bct: matrix for all views together", b->covered, NULL));
    b->jitter = fmax(b->jitter, jitter);
    return plx__poll(b->ctx);
}

static void gather_columns(plx_mat out, plx_cmat from, const plx_index *column)
{
    for (plx_index i = 0; i < out.rows; i++)
        for (plx_index j = 0; j < out.cols; j++) out.data[i * out.ld + j] = from.data[i * from.ld + column[j]];
}

/* S_1 and S_2 are made in the two matrices there are; the one of the smaller trace stays (`first`), the other
 * becomes the sum and its factor. Of both the labelled columns are kept. */
static plx_status build_pair(bct *b)
{
    plx_mat s[2] = {b->dense.pair_room[0], b->dense.pair_room[1]};
    double trace[2];
    for (plx_index j = 0; j < 2; j++) {
        PLX_TRY(view_gram(b, &b->views[j], s[j]));
        gather_columns(b->dense.pair_columns[j], plx__cmat(s[j]), b->labelled);
        trace[j] = plx__mat_trace(plx__cmat(s[j]));
    }
    b->dense.first = trace[0] <= trace[1] ? 0 : 1;
    b->dense.lambda = s[1 - b->dense.first];
    b->views[b->dense.first].factor = s[b->dense.first];
    b->views[1 - b->dense.first].factor = (plx_mat){0};
    sum_job job = {b->dense.lambda, plx__cmat(s[b->dense.first])};
    PLX_TRY(plx__parallel_for(b->ctx, b->n_cov, row_grain(b->n_cov), sum_rows, &job));
    return factor_lambda(b);
}

plx_status plx__bct_build_dense(bct *b)
{
    if (b->dense.pair) return build_pair(b);
    if (b->m == 1 && !b->keep_precision) return build_single(b);
    plx__mat_fill(b->dense.lambda, 0.0);
    for (plx_index j = 0; j < b->m; j++) {
        PLX_TRY(add_precision(b, &b->views[j]));
        PLX_TRY(plx__poll(b->ctx));
    }
    plx__mirror_lower(b->dense.lambda);
    PLX_TRY(put_precision(b));
    PLX_TRY(factor_lambda(b));
    b->dense.inverted = b->dense.full;
    return b->dense.full ? plx__chol_inverse(b->ctx, b->dense.kc, plx__cmat(b->dense.lambda)) : PLX_OK;
}

/* ---- using it ---- */

/* T_j = S^-1 S_other(:, labelled). */
static plx_status pair_columns(bct *b, plx_index j, plx_mat t)
{
    plx__mat_copy(t, plx__cmat(b->dense.pair_columns[1 - j]));
    return plx__chol_solve(b->ctx, plx__cmat(b->dense.lambda), t);
}

plx_status plx__bct_labelled_dense(bct *b)
{
    if (b->dense.pair) {
        PLX_TRY(pair_columns(b, b->dense.first, b->dense.pair_t));
        return plx__gemm(b->ctx, 1.0, plx__cmat(b->views[b->dense.first].factor), PLX__N, plx__cmat(b->dense.pair_t),
                         PLX__N, 0.0, b->kl);
    }
    if (b->dense.inverted) {
        gather_columns(b->kl, plx__cmat(b->dense.kc), b->labelled);
        return PLX_OK;
    }
    plx__mat_fill(b->kl, 0.0);
    for (plx_index i = 0; i < b->targets.n; i++) b->kl.data[b->labelled[i] * b->kl.ld + i] = 1.0;
    return plx__chol_solve(b->ctx, plx__cmat(b->dense.lambda), b->kl);
}

plx_status plx__bct_view_columns(bct *b, const bct_view *v, plx_mat own, plx_mat t)
{
    plx_index l = b->targets.n, begin = 0, end = 0;
    plx__slab_rows_mine(&begin, &end, b->ctx, &v->rows);
    for (plx_index i = begin; i < end; i++)
        memcpy(own.data + i * own.ld, b->kl.data + v->at[i] * b->kl.ld, (size_t)l * sizeof(double));
    if (b->dense.pair && v != b->views + b->dense.first) return pair_columns(b, 1 - b->dense.first, t);
    plx__mat_copy(plx__sub(t, begin, 0, end - begin, l),
                  plx__csub(b->dense.pair ? plx__cmat(b->dense.pair_t) : plx__cmat(own), begin, 0, end - begin, l));
    if (b->dense.pair) return PLX_OK;
    return plx__bct_solve(b, v, t);
}

typedef struct diagonal_job {
    double *out;
    plx_cmat rows;
} diagonal_job;

static plx_status diagonal_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const diagonal_job *job = arg;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++)
        job->out[i] -= plx__norm_sq(job->rows.data + i * job->rows.ld, job->rows.cols);
    return PLX_OK;
}

/* S_1 - S_1 S^-1 S_1 with the S_1 of the smaller trace, which is overwritten. */
static plx_status pair_diagonal(bct *b)
{
    plx_mat s = b->views[b->dense.first].factor;
    for (plx_index i = 0; i < b->n_cov; i++) b->dense.diagonal[i] = s.data[i * s.ld + i];
    PLX_TRY(plx__tri_solve_right(b->ctx, plx__cmat(b->dense.lambda), PLX__T, s));
    diagonal_job job = {b->dense.diagonal, plx__cmat(s)};
    return plx__parallel_for(b->ctx, b->n_cov, row_grain(b->n_cov), diagonal_rows, &job);
}

plx_status plx__bct_find_diagonal(bct *b)
{
    if (b->weights) return PLX_OK;
    if (b->dense.pair) return pair_diagonal(b);
    if (b->dense.inverted) {
        for (plx_index i = 0; i < b->n_cov; i++) b->dense.diagonal[i] = b->dense.kc.data[i * b->dense.kc.ld + i];
        return PLX_OK;
    }
    PLX_TRY(plx__tri_inverse(b->ctx, b->dense.kc, plx__cmat(b->dense.lambda)));
    memset(b->dense.diagonal, 0, (size_t)b->n_cov * sizeof(double));
    for (plx_index k = 0; k < b->n_cov; k++) /* column sums of squares of L^-1 */
        for (plx_index i = 0; i <= k; i++) {
            double x = b->dense.kc.data[k * b->dense.kc.ld + i];
            b->dense.diagonal[i] += x * x;
        }
    return PLX_OK;
}

plx_status plx__bct_apply_dense(bct *b, plx_cmat w, plx_mat out)
{
    if (b->dense.inverted) return plx__gemm(b->ctx, 1.0, plx__cmat(b->dense.kc), PLX__N, w, PLX__N, 0.0, out);
    plx__mat_copy(out, w);
    return plx__chol_solve(b->ctx, plx__cmat(b->dense.lambda), out);
}
