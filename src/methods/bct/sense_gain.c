/*
 * Gains of all candidates of a view from tables made once: with P = Delta^-1 and W = [a_1 .. a_k, H_1, H_2, ...] these
 * are P W and W' P W, and a candidate needs one small Cholesky factor (none with one component). The sum over the
 * components is taken about their weighted mean, so that one column alone holds e_i:
 *
 *     sum_c w_c (e_i - a_c)(e_i - a_c)' = w (e_i - a)(e_i - a)' + sum_c w_c (a_c - a)(a_c - a)',  w = sum w_c.
 */
#include <math.h>
#include <string.h>

#include "methods/bct/sense_gain.h"
#include "core/parallel.h"
#include "linalg/blas.h"
#include "linalg/eigen.h"
#include "linalg/factor.h"

static const double LEAST_NATS = 1e-12; /* what may be left out of a gain */

/* ---- one candidate ---- */

static double own_value(const sense_candidate *c, plx_index column) { return c->own ? c->own[column] : 0.0; }

/* (e_i - a_c)' P (e_i - a_c). */
static double mean_square(const sense_job *job, const sense_candidate *c, plx_index k)
{
    return c->variance - 2 * own_value(c, k) + job->inner.data[k * (job->inner.ld + 1)];
}

/* Leaving a component out costs less than the trace of its part. */
static bool matters(const sense_job *job, const sense_candidate *c, plx_index k)
{
    return c->rho[k] * (job->t->q[k] * mean_square(job, c, k) + job->spread[k]) > LEAST_NATS;
}

/* Columns of V: sqrt(rho_c q_c) (e_i - a_c), then sqrt(rho_c) H_c, for the components that matter. */
static void choose_columns(sense_candidate *c, const sense_job *job)
{
    for (plx_index k = 0; k < job->t->k; k++) {
        if (!matters(job, c, k)) continue;
        c->number[c->count] = (double)k;
        c->weight[c->count++] = sqrt(c->rho[k] * job->t->q[k]);
    }
    c->means = c->count;
    for (plx_index m = 0; m < c->means; m++) {
        plx_index k = (plx_index)c->number[m];
        for (plx_index h = job->first[k]; h < job->first[k + 1]; h++) {
            c->number[c->count] = (double)h;
            c->weight[c->count++] = sqrt(c->rho[k]);
        }
    }
}

/* Weighted means over the components that matter: only one column of V should hold e_i, whose large variance would
 * swamp the differences between the others. */
static void centre(sense_candidate *c, const sense_job *job)
{
    c->total = c->own_mean = c->shared_mean = 0;
    for (plx_index a = 0; a < c->means; a++) c->total += c->weight[a] * c->weight[a];
    for (plx_index a = 0; a < c->means; a++) {
        const double *inner = job->inner.data + (plx_index)c->number[a] * job->inner.ld;
        double share = c->weight[a] * c->weight[a] / c->total;
        c->shared[a] = 0;
        for (plx_index b = 0; b < c->means; b++)
            c->shared[a] += c->weight[b] * c->weight[b] / c->total * inner[(plx_index)c->number[b]];
        c->own_mean += share * own_value(c, (plx_index)c->number[a]);
        c->shared_mean += share * c->shared[a];
    }
}

/* Row of the column h of some H_c. */
static void assemble_spread(double *row, const sense_job *job, const sense_candidate *c, plx_index h)
{
    plx_index column = (plx_index)c->number[h];
    const double *inner = job->inner.data + column * job->inner.ld;
    double mean = 0;
    for (plx_index b = 0; b < c->means; b++)
        mean += c->weight[b] * c->weight[b] / c->total * inner[(plx_index)c->number[b]];
    row[0] = sqrt(c->total) * c->weight[h] * (own_value(c, column) - mean);
    for (plx_index b = 0; b < c->means; b++)
        row[1 + b] = c->weight[b] * c->weight[h] * (inner[(plx_index)c->number[b]] - mean);
    for (plx_index b = c->means; b <= h; b++)
        row[1 + b] = c->weight[b] * c->weight[h] * inner[(plx_index)c->number[b]] + (b == h);
}

/* Lower triangle of I + V' P V with V = [sqrt(w) (e_i - a), sqrt(w_c) (a_c - a), sqrt(rho_c) H_c], where w_c = rho_c q_c,
 * w their sum and a the weighted mean of the a_c. */
static void assemble(plx_mat m, const sense_job *job, const sense_candidate *c)
{
    m.data[0] = 1 + c->total * (c->variance - 2 * c->own_mean + c->shared_mean);
    for (plx_index a = 0; a < c->count; a++) {
        double *row = m.data + (1 + a) * m.ld;
        if (a >= c->means) {
            assemble_spread(row, job, c, a);
            continue;
        }
        plx_index column = (plx_index)c->number[a];
        const double *inner = job->inner.data + column * job->inner.ld;
        row[0] =
            sqrt(c->total) * c->weight[a] * ((own_value(c, column) - c->own_mean) - (c->shared[a] - c->shared_mean));
        for (plx_index b = 0; b <= a; b++)
            row[1 + b] = c->weight[a] * c->weight[b] *
                             (inner[(plx_index)c->number[b]] - c->shared[a] - c->shared[b] + c->shared_mean) +
                         (a == b);
    }
}

/* With one component all of V' P V but the first row is diagonal. */
static double single_gain(const sense_job *job, const sense_candidate *c)
{
    plx_index k = (plx_index)c->number[0];
    const double *inner = job->inner.data + k * job->inner.ld;
    double first = 1 + c->weight[0] * c->weight[0] * mean_square(job, c, k), sum = 0;
    for (plx_index a = 1; a < c->count; a++) {
        plx_index h = (plx_index)c->number[a];
        double x = c->weight[0] * c->weight[a] * (own_value(c, h) - inner[h]);
        double d = 1 + c->weight[a] * c->weight[a] * job->inner.data[h * (job->inner.ld + 1)];
        first -= x * x / d;
        sum += log(d);
    }
    return 0.5 * (sum + log(fmax(first, 1.0)));
}

sense_candidate plx__sense_candidate(const sense_job *job, plx_index i, double *room)
{
    const sense *s = job->s;
    plx_index size = job->inner.rows, place = s->b.place[i];
    sense_candidate c = {.variance =
                             place < 0 ? 1.0 / s->set->vague : s->variance.data[i * s->variance.ld + job->problem],
                         .own = place < 0 ? NULL : job->pw.data + place * job->pw.ld,
                         .rho = s->density.rho.data + i * s->density.rho.ld,
                         .weight = room + (size + 1) * (size + 1)};
    if (job->all.data) {
        c.variance = job->changed->data[i * job->changed->ld + job->problem];
        c.own = job->all.data + i * job->all.ld;
    }
    c.number = c.weight + size;
    c.shared = c.number + size;
    choose_columns(&c, job);
    return c;
}

plx_status plx__sense_factor(plx_mat *out, const sense_job *job, plx_context *ctx, sense_candidate *c, plx_index i,
                             double *room)
{
    *out = plx__mat_of(room, c->count + 1, c->count + 1);
    centre(c, job);
    assemble(*out, job, c);
    if (plx__cholesky_serial(ctx, *out, NULL) == PLX_OK) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_NUMERIC,
             "acquire: the gain of view '%s' for sample '%s' cannot be computed; increase view_variance or vague",
             job->v->k.name, job->s->run->problem->ids[i]);
}

plx_status plx__sense_gain(double *out, const sense_job *job, plx_context *ctx, plx_index i, double *room)
{
    sense_candidate c = plx__sense_candidate(job, i, room);
    plx_mat m;
    bool single = c.means == 1 && !job->all.data;
    *out = single ? single_gain(job, &c) : 0.0;
    if (single || c.means == 0) return PLX_OK;
    PLX_TRY(plx__sense_factor(&m, job, ctx, &c, i, room));
    *out = fmax(0.5 * plx__chol_logdet(plx__cmat(m)), 0.0);
    return PLX_OK;
}

static plx_status gain_range(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const sense_job *job = arg;
    double *room = job->work + worker * job->work_size;
    for (plx_index k = begin; k < end; k++) {
        double gain = 0;
        plx_index i = job->sample[k];
        PLX_TRY(plx__poll(ctx));
        PLX_TRY(plx__sense_gain(&gain, job, ctx, i, room));
        job->gain.data[i * job->gain.ld + job->v->view] += gain;
    }
    return PLX_OK;
}

/* ---- tables ---- */

/* P W = K_c W - V (V' W), and W' P W. */
static plx_status multiply(sense_job *job, sense *s, plx_cmat kw)
{
    plx_cmat w = plx__cmat(job->t->w), v = plx__cmat(s->explained[job->problem]);
    plx_mat vw;
    PLX_TRY(plx__arena_mat(&vw, plx__scratch(s->ctx), v.cols, w.cols));
    PLX_TRY(plx__mat_clone(&job->pw, plx__scratch(s->ctx), kw));
    PLX_TRY(plx__arena_mat(&job->inner, plx__scratch(s->ctx), w.cols, w.cols));
    PLX_TRY(plx__gemm(s->ctx, 1.0, v, PLX__T, w, PLX__N, 0.0, vw));
    PLX_TRY(plx__gemm(s->ctx, -1.0, v, PLX__N, plx__cmat(vw), PLX__N, 1.0, job->pw));
    return plx__gemm(s->ctx, 1.0, w, PLX__T, plx__cmat(job->pw), PLX__N, 0.0, job->inner);
}

/* Columns of `turn`: directions of H_c in which H_c' P H_c is diagonal, largest last, but for the smallest, whose sum
 * nobody can see in a gain. Returns how many, and their sum. */
static plx_status principal(plx_mat *turn, double *spread, const sense_job *job, plx_context *ctx, plx_index c)
{
    plx_index at = job->t->first[c], r = job->t->first[c + 1] - at, dropped = 0;
    double *values = NULL, left_out = 0;
    plx_mat block, vectors;
    PLX_TRY(plx__mat_clone(&block, plx__scratch(ctx), plx__csub(plx__cmat(job->inner), at, at, r, r)));
    PLX_TRY(plx__arena_mat(&vectors, plx__scratch(ctx), r, r));
    PLX_TRY(plx__arena_f64(&values, plx__scratch(ctx), r, 1));
    if (r) PLX_TRY(plx__sym_eigen(ctx, block, values, vectors));
    while (dropped < r && left_out + fmax(values[dropped], 0.0) <= LEAST_NATS) left_out += fmax(values[dropped++], 0.0);
    *turn = plx__sub(vectors, 0, dropped, r, r - dropped);
    *spread = plx__sum(values + dropped, r - dropped);
    return PLX_OK;
}

/* The same sums of H_c H_c' with fewer columns, and diagonal blocks: every candidate's matrix gets smaller. */
static plx_status reduce(sense_job *job, plx_context *ctx)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx_index k = job->t->k, full = job->t->w.cols;
    plx_mat *turns = NULL, all, pw, half;
    PLX_TRY(PLX__ARENA_NEW(&turns, scratch, k));
    job->first[0] = k;
    for (plx_index c = 0; c < k; c++) {
        PLX_TRY(principal(&turns[c], &job->spread[c], job, ctx, c));
        job->first[c + 1] = job->first[c] + turns[c].cols;
    }
    if (full == k) {
        job->w = job->t->w;
        return PLX_OK;
    }
    plx_index size = job->first[k];
    PLX_TRY(plx__arena_mat(&all, scratch, full, size));
    for (plx_index c = 0; c < k; c++) {
        all.data[c * all.ld + c] = 1.0;
        plx__mat_copy(plx__sub(all, job->t->first[c], job->first[c], turns[c].rows, turns[c].cols),
                      plx__cmat(turns[c]));
    }
    PLX_TRY(plx__arena_mat(&pw, scratch, job->pw.rows, size));
    PLX_TRY(plx__arena_mat(&half, scratch, full, size));
    PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(job->pw), PLX__N, plx__cmat(all), PLX__N, 0.0, pw));
    PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(job->inner), PLX__N, plx__cmat(all), PLX__N, 0.0, half));
    job->pw = pw;
    if (job->s->kept) {
        PLX_TRY(plx__arena_mat(&job->w, scratch, job->t->w.rows, size));
        PLX_TRY(plx__gemm(ctx, 1.0, plx__cmat(job->t->w), PLX__N, plx__cmat(all), PLX__N, 0.0, job->w));
    }
    PLX_TRY(plx__arena_mat(&job->inner, scratch, size, size));
    return plx__gemm(ctx, 1.0, plx__cmat(all), PLX__T, plx__cmat(half), PLX__N, 0.0, job->inner);
}

/* ---- one view ---- */

static plx_status open_job(sense_job *job, sense *s, plx_index count)
{
    plx__arena *scratch = plx__scratch(s->ctx);
    plx_index next = 0;
    PLX_TRY(plx__arena_i64(&job->first, scratch, job->t->k + 1));
    PLX_TRY(plx__arena_f64(&job->spread, scratch, job->t->k, 1));
    PLX_TRY(plx__arena_i64(&job->sample, scratch, count));
    for (plx_index i = 0; i < s->b.n; i++)
        if (!job->v->k.present[i]) job->sample[next++] = i;
    return PLX_OK;
}

static plx_status problem_gains(sense_job *job, sense *s, plx_cmat kw, plx_index count)
{
    plx__mark mark = plx__arena_mark(plx__scratch(s->ctx));
    PLX_TRY(multiply(job, s, kw));
    PLX_TRY(reduce(job, s->ctx));
    plx_index size = job->inner.rows;
    job->work_size = ((size + 1) * (size + 1) + 3 * size + 7) / 8 * 8;
    PLX_TRY(plx__arena_f64(&job->work, plx__scratch(s->ctx), plx__workers(s->ctx), job->work_size));
    plx__blas_scope scope = plx__blas_enter();
    plx_status st = plx__parallel_for(s->ctx, count, plx__max(1, 65536 / (size * size)), gain_range, job);
    plx__blas_leave(scope);
    if (s->kept) s->kept[(job->v - s->b.views) * s->state.q + job->problem] = *job;
    else plx__arena_rewind(plx__scratch(s->ctx), mark);
    return st;
}

plx_status plx__sense_gains(plx_mat gain, sense *s, const bct_view *v)
{
    plx__mark mark = plx__arena_mark(plx__scratch(s->ctx));
    plx_index count = s->b.n - v->n;
    sense_terms *terms = NULL;
    plx_mat kw;
    if (!count) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&terms, plx__scratch(s->ctx), 1));
    PLX_TRY(plx__sense_terms(terms, s, v));
    sense_job job = {.s = s, .v = v, .t = terms, .gain = gain};
    PLX_TRY(open_job(&job, s, count));
    PLX_TRY(plx__arena_mat(&kw, plx__scratch(s->ctx), s->b.n_cov, terms->w.cols));
    PLX_TRY(plx__bct_apply(&s->b, plx__cmat(terms->w), kw));
    for (job.problem = 0; job.problem < s->state.q; job.problem++)
        PLX_TRY(problem_gains(&job, s, plx__cmat(kw), count));
    if (!s->kept) plx__arena_rewind(plx__scratch(s->ctx), mark);
    return PLX_OK;
}

/* ---- log det Delta ---- */

/* log det of K_c = diag(c) + Z Z': sum log c + log det(I + Z' diag(1/c) Z). */
static plx_status weights_logdet(double *out, sense *s)
{
    const bct *b = &s->b;
    plx_mat scaled, inner;
    PLX_TRY(plx__mat_clone(&scaled, plx__scratch(s->ctx), plx__cmat(b->weight.z)));
    PLX_TRY(plx__arena_mat(&inner, plx__scratch(s->ctx), scaled.cols, scaled.cols));
    *out = 0;
    for (plx_index i = 0; i < b->n_cov; i++) {
        plx__scale(scaled.data + i * scaled.ld, 1.0 / sqrt(b->weight.c[i]), scaled.cols);
        *out += log(b->weight.c[i]);
    }
    PLX_TRY(plx__syrk(s->ctx, 1.0, plx__cmat(scaled), PLX__T, 0.0, inner));
    plx__mat_add_diag(inner, 1.0);
    PLX_TRY(plx__cholesky_jitter(s->ctx, inner, NULL, "acquire: weight-space matrix", NULL, NULL));
    *out += plx__chol_logdet(plx__cmat(inner));
    return PLX_OK;
}

static plx_status kernel_logdet(double *out, sense *s)
{
    plx_mat copy;
    if (s->b.weights) return weights_logdet(out, s);
    PLX_TRY(plx__mat_clone(&copy, plx__scratch(s->ctx), plx__cmat(s->b.dense.kc)));
    PLX_TRY(plx__cholesky_jitter(s->ctx, copy, NULL, "acquire: co-training kernel", s->b.covered, NULL));
    *out = plx__chol_logdet(plx__cmat(copy));
    return PLX_OK;
}

/* log det(Lambda + Phi) = -log det K_c + log det(I + Phi K_ll); the factor is that of K_ll + noise I (regression) or of
 * I + W^1/2 K_ll W^1/2. */
plx_status plx__sense_logdet(double *out, sense *s)
{
    plx__mark mark = plx__arena_mark(plx__scratch(s->ctx));
    const plx__gp_state *state = &s->state;
    double kernel = 0, uncovered = (double)(s->b.n - s->b.n_cov) * log(s->set->vague);
    PLX_TRY(kernel_logdet(&kernel, s));
    *out = 0;
    for (plx_index c = 0; c < state->q; c++)
        *out += plx__chol_logdet(plx__csub(state->factor, c * state->n, 0, state->n, state->n)) - kernel + uncovered;
    if (s->b.regression) *out -= (double)state->n * log(s->b.targets.noise);
    plx__arena_rewind(plx__scratch(s->ctx), mark);
    return PLX_OK;
}
