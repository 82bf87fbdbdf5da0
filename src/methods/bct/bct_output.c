/*
 * Arrays of bct that are made on request, and spectral clustering on the co-training kernel.
 */
#include <string.h>

#include "cluster/kmeans.h"
#include "device/anywhere.h"
#include "linalg/eigen.h"
#include "methods/bct/bct.h"

/* ---- kernel, precision, marginals ---- */

/* K_c over the covered samples; in weight-space form made for the occasion. */
static plx_status full_kernel(plx_cmat *out, bct *b)
{
    plx_mat k;
    *out = plx__cmat(b->dense.kc);
    if (!b->weights) return PLX_OK;
    PLX_TRY(plx__arena_mat(&k, plx__scratch(b->ctx), b->n_cov, b->n_cov));
    PLX_TRY(plx__syrk(b->ctx, 1.0, plx__cmat(b->weight.z), PLX__N, 0.0, k));
    for (plx_index i = 0; i < b->n_cov; i++) k.data[i * k.ld + i] += b->weight.c[i];
    *out = plx__cmat(k);
    return PLX_OK;
}

/* Entries between samples at[0..] of the n fitted ones. */
static void scatter(plx_mat to, plx_cmat from, const plx_index *at, double sign)
{
    for (plx_index i = 0; i < from.rows; i++)
        for (plx_index j = 0; j < from.cols; j++) to.data[at[i] * to.ld + at[j]] += sign * from.data[i * from.ld + j];
}

/* A_j = S_j^-1 as a matrix. */
static plx_status view_precision(plx_mat *out, bct *b, const bct_view *v)
{
    PLX_TRY(plx__arena_mat(out, plx__scratch(b->ctx), v->n, v->n));
    plx__mat_add_diag(*out, 1.0);
    return plx__bct_solve(b, v, *out);
}

static plx_status put_weight_precision(bct *b)
{
    plx_mat out, own;
    if (!b->weights || !b->keep_precision) return PLX_OK;
    PLX_TRY(plx__store_new(&out, b->run->out, "precision", b->n, b->n));
    for (plx_index j = 0; j < b->m; j++) {
        plx__mark mark = plx__arena_mark(plx__scratch(b->ctx));
        PLX_TRY(view_precision(&own, b, &b->views[j]));
        scatter(out, plx__cmat(own), b->views[j].sample, 1.0);
        plx__arena_rewind(plx__scratch(b->ctx), mark);
    }
    return PLX_OK;
}

/* C_j = s_j P + P K_c(I_j, I_j) P with P = K_j A_j = I - s_j A_j. */
static plx_status put_marginal(bct *b, const bct_view *v, plx_cmat kc, const char *name)
{
    plx__mark mark = plx__arena_mark(plx__scratch(b->ctx));
    plx_mat out, p, own, half;
    PLX_TRY(plx__store_new(&out, b->run->out, name, b->n, b->n));
    PLX_TRY(view_precision(&p, b, v));
    plx__mat_scale(p, -v->variance);
    plx__mat_add_diag(p, 1.0);
    PLX_TRY(plx__arena_mat(&own, plx__scratch(b->ctx), v->n, v->n));
    PLX_TRY(plx__arena_mat(&half, plx__scratch(b->ctx), v->n, v->n));
    for (plx_index i = 0; i < v->n; i++)
        for (plx_index j = 0; j < v->n; j++) own.data[i * own.ld + j] = kc.data[v->at[i] * kc.ld + v->at[j]];
    PLX_TRY(plx__gemm(b->ctx, 1.0, plx__cmat(own), PLX__N, plx__cmat(p), PLX__N, 0.0, half));
    PLX_TRY(plx__gemm(b->ctx, 1.0, plx__cmat(p), PLX__T, plx__cmat(half), PLX__N, 0.0, own));
    scatter(out, plx__cmat(own), v->sample, 1.0);
    scatter(out, plx__cmat(p), v->sample, v->variance);
    plx__arena_rewind(plx__scratch(b->ctx), mark);
    return PLX_OK;
}

static plx_status put_marginals(bct *b, plx_cmat kc)
{
    for (plx_index v = 0; v < b->run->problem->n_views; v++) {
        const bct_view *view = NULL;
        const char *name = NULL;
        plx_mat none;
        PLX_TRY(plx__view_key(&name, b->ctx, "marginal", b->run->problem->views[v].name));
        if (!plx__wanted(b->run, name)) continue;
        for (plx_index j = 0; j < b->m; j++)
            if (b->views[j].view == v) view = &b->views[j];
        if (view) PLX_TRY(put_marginal(b, view, kc, name));
        else PLX_TRY(plx__store_new(&none, b->run->out, name, b->n, b->n));
    }
    return PLX_OK;
}

static bool wants_marginal(const bct *b)
{
    for (plx_index i = 0; i < b->run->n_wanted; i++)
        if (strncmp(b->run->wanted[i], "marginal.", 9) == 0) return true;
    return false;
}

plx_status plx__bct_put_kernels(bct *b)
{
    plx_cmat kc = {0};
    plx_mat out;
    bool kernel = plx__wanted(b->run, "kernel");
    if (kernel || wants_marginal(b)) PLX_TRY(full_kernel(&kc, b));
    if (kernel) {
        PLX_TRY(plx__store_new(&out, b->run->out, "kernel", b->n, b->n));
        scatter(out, kc, b->covered, 1.0);
    }
    PLX_TRY(put_weight_precision(b));
    return put_marginals(b, kc);
}

/* ---- means of the views ---- */

typedef struct consensus_job {
    plx_cmat alpha;
    plx_mat out;
} consensus_job;

static plx_status consensus_rows(void *arg, bct *b, plx_index begin, plx_index end)
{
    const consensus_job *job = arg;
    return plx__gemm(b->ctx, 1.0, plx__csub(plx__cmat(b->kl), begin, 0, end - begin, b->kl.cols), PLX__N, job->alpha,
                     PLX__N, 0.0, plx__sub(job->out, begin, 0, end - begin, job->out.cols));
}

/* E[f_j] = K_j A_j f = f - s_j A_j f with f the posterior mean of the consensus on I_j. */
plx_status plx__bct_put_view_means(bct *b, const plx__gp_state *state)
{
    plx_index q = state->q;
    plx_mat out, consensus, f;
    if (!plx__wanted(b->run, "view_mean")) return PLX_OK;
    PLX_TRY(plx__store_new(&out, b->run->out, "view_mean", b->n, b->run->problem->n_views * q));
    PLX_TRY(plx__arena_mat(&consensus, plx__scratch(b->ctx), b->n_cov, q));
    PLX_TRY(plx__bct_each_block(b, b->cut.pane, consensus_rows, &(consensus_job){state->alpha, consensus}));
    PLX_TRY(plx__slabs_share(b->ctx, b->cut, consensus.data, (size_t)q * sizeof(double), 1));
    for (plx_index j = 0; j < b->m; j++) {
        const bct_view *v = &b->views[j];
        PLX_TRY(plx__arena_mat(&f, plx__scratch(b->ctx), v->n, q));
        for (plx_index i = 0; i < v->n * q; i++) f.data[i] = consensus.data[v->at[i / q] * q + i % q];
        PLX_TRY(plx__bct_solve(b, v, f));
        PLX_TRY(plx__slab_rows_share(b->ctx, &v->rows, f.data, (size_t)q * sizeof(double)));
        for (plx_index i = 0; i < v->n; i++)
            for (plx_index c = 0; c < q; c++)
                out.data[v->sample[i] * out.ld + v->view * q + c] =
                    consensus.data[v->at[i] * q + c] - v->variance * f.data[i * q + c] + b->targets.offset;
    }
    return PLX_OK;
}

/* ---- clusters ---- */

/* N = Deg^-1/2 W Deg^-1/2 with W = max(K_c, 0) off the diagonal. */
static plx_status affinity(plx_mat *out, bct *b)
{
    plx_cmat kc;
    double *root = NULL;
    plx_index n = b->n_cov;
    PLX_TRY(full_kernel(&kc, b));
    PLX_TRY(plx__mat_clone(out, plx__scratch(b->ctx), kc));
    PLX_TRY(plx__arena_f64(&root, plx__scratch(b->ctx), n, 1));
    for (plx_index i = 0; i < n; i++) {
        double *row = out->data + i * out->ld, degree = 0;
        row[i] = 0.0;
        for (plx_index j = 0; j < n; j++) {
            row[j] = fmax(row[j], 0.0);
            degree += row[j];
        }
        root[i] = degree > 0 ? 1.0 / sqrt(degree) : 0.0;
    }
    for (plx_index i = 0; i < n; i++)
        for (plx_index j = 0; j < n; j++) out->data[i * out->ld + j] *= root[i] * root[j];
    return PLX_OK;
}

/* Leading eigenvectors, rows of unit length. */
static plx_status embedding(plx_mat *out, bct *b, plx_index k)
{
    plx_mat w;
    double *values = NULL;
    PLX_TRY(affinity(&w, b));
    PLX_TRY(plx__arena_f64(&values, plx__scratch(b->ctx), k, 1));
    PLX_TRY(plx__arena_mat(out, plx__scratch(b->ctx), b->n_cov, k));
    PLX_TRY(plx__eigen_anywhere(b->ctx, w, b->n_cov - k, k, values, *out));
    for (plx_index i = 0; i < b->n_cov; i++) {
        double length = plx__norm(out->data + i * out->ld, k);
        if (length > 0) plx__scale(out->data + i * out->ld, 1.0 / length, k);
    }
    return PLX_OK;
}

static double largest_cluster(const int32_t *label, plx_index n, double *count, plx_index k)
{
    plx_index best = 0;
    for (plx_index i = 0; i < n; i++) count[label[i]]++;
    for (plx_index c = 1; c < k; c++)
        if (count[c] > count[best]) best = c;
    return (double)best;
}

plx_status plx__bct_cluster(bct *b)
{
    plx_index k = b->set->clusters;
    plx__kmeans_options options = {.k = k};
    plx__kmeans_result result;
    plx_mat rows;
    int32_t *label = NULL;
    double *count = NULL, largest = 0;
    if (k > b->n_cov)
        PLX_FAIL(b->ctx, PLX_E_ARG, "clusters = %lld: only %lld samples have a view", (long long)k,
                 (long long)b->n_cov);
    PLX_TRY(embedding(&rows, b, k));
    PLX_TRY(plx__kmeans(&result, b->ctx, plx__cmat(rows), &options));
    PLX_TRY(plx__arena_f64(&count, plx__scratch(b->ctx), k, 1));
    largest = largest_cluster(result.label, b->n_cov, count, k);
    PLX_TRY(plx__store_put(b->run->out, "_largest", (plx_cmat){&largest, 1, 1, 1}));
    PLX_TRY(plx__arena_i32(&label, plx__scratch(b->ctx), b->n));
    for (plx_index i = 0; i < b->n; i++) label[i] = b->place[i] < 0 ? (int32_t)largest : result.label[b->place[i]];
    b->run->info->iterations = result.iterations;
    b->run->info->converged = result.converged;
    return plx__outcome_clusters(b->run, label, k, (plx_cmat){0});
}
