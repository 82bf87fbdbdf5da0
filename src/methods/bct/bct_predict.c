/*
 * New samples with any subset of the views. Given f_c on the fitted samples, f_c(x) is normal with mean w.f_c and
 * variance 1/sum q, where
 *
 *     b_j = kappa_j(X_j, x),  g_j = S_j^-1 b_j,  q_j = 1/(kappa_j(x,x) + s_j - b_j.g_j),
 *     w = sum_j (q_j/sum q) E_j g_j,
 *
 * so a new sample is one with covariances K_c(labelled, :) w and prior variance 1/sum q + w' K_c w. The factors of the
 * fit are made again from the rows in the model.
 */
#include <string.h>

#include "methods/bct/bct.h"
#include "gp/gp_weight_space.h"

enum { BLOCK_ROWS = 256 };

typedef struct newcomers {
    bct *b;
    plx__gp_state state;
    double offset;
    plx_cmat consensus; /* n_cov x q: posterior mean of f_c, for the means of the views */
    plx_mat mean, variance, view_mean, covered;
    uint8_t *usable;
} newcomers;

/* ---- one block ---- */

/* b_j as columns (n_j x rows). */
static plx_status similarities(plx_mat out, bct *b, const bct_view *v, plx_index begin, plx_index end)
{
    plx__mark mark = plx__arena_mark(plx__scratch(b->ctx));
    plx_mat rows;
    if (b->weights) {
        PLX_TRY(plx__arena_mat(&rows, plx__scratch(b->ctx), end - begin, v->x.cols));
        PLX_TRY(plx__bct_features(b, v, begin, end, rows));
        PLX_TRY(plx__gemm(b->ctx, v->k.kernel.amplitude, v->x, PLX__N, plx__cmat(rows), PLX__T, 0.0, out));
    } else {
        PLX_TRY(plx__arena_mat(&rows, plx__scratch(b->ctx), end - begin, v->n));
        PLX_TRY(plx__view_kernel_values(b->ctx, &v->k, begin, end, &v->ref, false, rows));
        plx__mat_transpose(out, plx__cmat(rows));
    }
    plx__arena_rewind(plx__scratch(b->ctx), mark);
    return PLX_OK;
}

/* Adds q_j E_j g_j to w and q_j to the sums. */
static plx_status add_view(newcomers *c, const bct_view *v, plx_index begin, plx_index end, plx_mat w, double *sum)
{
    plx__mark mark = plx__arena_mark(plx__scratch(c->b->ctx));
    plx_index rows = end - begin, q = c->state.q;
    plx_mat own, g;
    double *self = NULL;
    PLX_TRY(plx__arena_mat(&own, plx__scratch(c->b->ctx), v->n, rows));
    PLX_TRY(plx__arena_f64(&self, plx__scratch(c->b->ctx), rows, 1));
    PLX_TRY(similarities(own, c->b, v, begin, end));
    PLX_TRY(plx__view_kernel_self(c->b->run, &v->k, begin, end, self));
    PLX_TRY(plx__mat_clone(&g, plx__scratch(c->b->ctx), plx__cmat(own)));
    PLX_TRY(plx__bct_solve(c->b, v, g));
    for (plx_index i = 0; i < rows; i++) {
        double told = 0, weight;
        if (!v->k.present[begin + i]) continue;
        for (plx_index j = 0; j < v->n; j++) told += own.data[j * rows + i] * g.data[j * rows + i];
        weight = 1.0 / (v->variance + fmax(self[i] - told, 0.0));
        sum[i] += weight;
        for (plx_index j = 0; j < v->n; j++) w.data[v->at[j] * rows + i] += weight * g.data[j * rows + i];
        for (plx_index k = 0; c->view_mean.data && k < q; k++) {
            double f = c->offset;
            for (plx_index j = 0; j < v->n; j++)
                f += g.data[j * rows + i] * c->consensus.data[v->at[j] * c->consensus.ld + k];
            c->view_mean.data[(begin + i) * c->view_mean.ld + v->view * q + k] = f;
        }
    }
    plx__arena_rewind(plx__scratch(c->b->ctx), mark);
    return PLX_OK;
}

static plx_status score_block(newcomers *c, plx_index begin, plx_index end)
{
    bct *b = c->b;
    plx__mark mark = plx__arena_mark(plx__scratch(b->ctx));
    plx_index rows = end - begin, l = c->state.n;
    plx_mat w, kw, k;
    double *sum = NULL, *self = NULL;
    PLX_TRY(plx__arena_mat(&w, plx__scratch(b->ctx), b->n_cov, rows));
    PLX_TRY(plx__arena_mat(&kw, plx__scratch(b->ctx), b->n_cov, rows));
    PLX_TRY(plx__arena_mat(&k, plx__scratch(b->ctx), rows, l));
    PLX_TRY(plx__arena_f64(&sum, plx__scratch(b->ctx), rows, 1));
    PLX_TRY(plx__arena_f64(&self, plx__scratch(b->ctx), rows, 1));
    for (plx_index j = 0; j < b->m; j++) PLX_TRY(add_view(c, &b->views[j], begin, end, w, sum));
    for (plx_index i = 0; i < rows; i++) {
        c->usable[begin + i] = sum[i] > 0;
        for (plx_index j = 0; j < b->n_cov && sum[i] > 0; j++) w.data[j * rows + i] /= sum[i];
    }
    PLX_TRY(plx__bct_apply(b, plx__cmat(w), kw));
    for (plx_index i = 0; i < rows; i++) {
        self[i] = sum[i] > 0 ? 1.0 / sum[i] : 0.0;
        for (plx_index j = 0; j < b->n_cov; j++) self[i] += w.data[j * rows + i] * kw.data[j * rows + i];
        for (plx_index j = 0; j < l; j++) k.data[i * l + j] = kw.data[b->labelled[j] * rows + i];
    }
    plx_mat mean = plx__sub(c->mean, begin, 0, rows, c->state.q);
    plx_mat variance = plx__sub(c->variance, begin, 0, rows, c->state.q);
    if (b->weight.thin)
        PLX_TRY(plx__weight_space_predict_from(b->ctx, &c->state, plx__cmat(b->weight.z_l), b->weight.c_l, k, self,
                                               mean, variance));
    else PLX_TRY(plx__gp_predict(b->ctx, &c->state, k, self, NULL, mean, variance));
    for (plx_index i = begin * c->state.q; i < end * c->state.q; i++)
        c->mean.data[i] = c->usable[i / c->state.q] ? c->mean.data[i] + c->offset : 0.0;
    plx__arena_rewind(plx__scratch(b->ctx), mark);
    return plx__report(b->ctx, "score", end, b->n, NAN);
}

/* ---- the consensus on the fitted samples ---- */

static plx_status load_state(newcomers *c)
{
    bct *b = c->b;
    plx_index *sample = NULL;
    PLX_TRY(plx__gp_load(&c->state, &sample, &c->offset, b->run, b->regression));
    PLX_TRY(plx__arena_i64(&b->labelled, plx__scratch(b->ctx), c->state.n));
    for (plx_index i = 0; i < c->state.n; i++) {
        if (sample[i] >= b->n_fit || b->place[sample[i]] < 0)
            PLX_FAIL(b->ctx, PLX_E_FORMAT, "the model's labelled samples are out of range");
        b->labelled[i] = b->place[sample[i]];
    }
    return PLX_OK;
}

static plx_status open_thin(newcomers *c)
{
    bct *b = c->b;
    b->weight.thin = c->state.weights.data != NULL;
    if (!b->weight.thin) return PLX_OK;
    if (!b->weights || c->state.weights.rows != b->weight.z.cols)
        PLX_FAIL(b->ctx, PLX_E_FORMAT, "the model's weights do not fit its views");
    b->targets.n = c->state.n;
    return plx__bct_labelled_rows(b);
}

/* K_c(:, labelled) alpha. */
static plx_status find_consensus(newcomers *c)
{
    plx_mat alpha, out;
    if (!c->view_mean.data) return PLX_OK;
    PLX_TRY(plx__arena_mat(&alpha, plx__scratch(c->b->ctx), c->b->n_cov, c->state.q));
    PLX_TRY(plx__arena_mat(&out, plx__scratch(c->b->ctx), c->b->n_cov, c->state.q));
    for (plx_index i = 0; i < c->state.n; i++)
        memcpy(alpha.data + c->b->labelled[i] * alpha.ld, c->state.alpha.data + i * c->state.alpha.ld,
               (size_t)alpha.cols * sizeof(double));
    PLX_TRY(plx__bct_apply(c->b, plx__cmat(alpha), out));
    c->consensus = plx__cmat(out);
    return PLX_OK;
}

/* ---- the method's rule ---- */

static plx_status put_covered(newcomers *c)
{
    const bct *b = c->b;
    PLX_TRY(plx__store_new(&c->covered, b->run->out, "covered", b->n, 1));
    for (plx_index j = 0; j < b->m; j++)
        for (plx_index i = 0; i < b->n; i++)
            if (b->views[j].k.present[i]) c->covered.data[i] = 1.0;
    return PLX_OK;
}

static plx_status tell(newcomers *c)
{
    double fallback = 0;
    bct *b = c->b;
    PLX_TRY(plx__store_scalar(&fallback, b->ctx, b->run->fitted, "_fallback"));
    if (!b->regression && !(fallback >= 0 && fallback < (double)b->run->problem->n_classes))
        PLX_FAIL(b->ctx, PLX_E_FORMAT, "the model's most frequent class is not one of its classes");
    plx__gp_outcome outcome = {.regression = b->regression,
                               .averaging = (plx__averaging)b->set->averaging,
                               .mean = plx__cmat(c->mean),
                               .variance = plx__cmat(c->variance),
                               .usable = c->usable,
                               .fallback = b->regression ? 0 : (int32_t)fallback,
                               .fallback_mean = fallback};
    return plx__gp_put_outcome(b->run, &outcome);
}

static plx_status tell_cluster(bct *b)
{
    double largest = 0;
    int32_t *label = NULL;
    PLX_TRY(plx__store_scalar(&largest, b->ctx, b->run->fitted, "_largest"));
    if (!(largest >= 0 && largest < (double)b->set->clusters))
        PLX_FAIL(b->ctx, PLX_E_FORMAT, "the model's largest cluster is out of range");
    PLX_TRY(plx__arena_i32(&label, plx__scratch(b->ctx), b->n));
    for (plx_index i = 0; i < b->n; i++) label[i] = (int32_t)largest;
    return plx__outcome_clusters(b->run, label, b->set->clusters, (plx_cmat){0});
}

plx_status plx__bct_predict(plx__run *run)
{
    bct b;
    newcomers c = {.b = &b};
    PLX_TRY(plx__bct_open(&b, run));
    PLX_TRY(put_covered(&c));
    if (b.set->task == BCT_CLUSTER) return tell_cluster(&b);
    if (!b.labels) return plx__outcome_nothing(run);
    PLX_TRY(load_state(&c));
    b.keep_factors = b.dense.solves = true;
    PLX_TRY(plx__bct_reserve(&b));
    PLX_TRY(plx__bct_build(&b));
    PLX_TRY(open_thin(&c));
    PLX_TRY(plx__store_new(&c.mean, run->out, "mean", b.n, c.state.q));
    PLX_TRY(plx__store_new(&c.variance, run->out, "variance", b.n, c.state.q));
    if (plx__wanted(run, "view_mean"))
        PLX_TRY(plx__store_new(&c.view_mean, run->out, "view_mean", b.n, run->problem->n_views * c.state.q));
    PLX_TRY(plx__arena_u8(&c.usable, plx__scratch(b.ctx), b.n));
    PLX_TRY(find_consensus(&c));
    for (plx_index at = 0; at < b.n; at += BLOCK_ROWS) PLX_TRY(score_block(&c, at, plx__min(b.n, at + BLOCK_ROWS)));
    return tell(&c);
}
