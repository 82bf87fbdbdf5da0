/*
 * One E-step over rows with missing entries. Rows of one pattern share the factor of S_oo, so the work is cut into
 * units of rows of one pattern; units fall into a fixed number of chunks, whose sums are added in order.
 */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/blas.h"
#include "linalg/factor.h"
#include "mixture/incomplete_internal.h"

enum { UNIT = 128, MOST_CHUNKS = 16, MOST_SUMS = 1 << 24 };
static const double LOG_TWO_PI = 1.8378770664093454836;

typedef struct unit {
    plx_index pattern, begin, end; /* rows order[begin .. end-1] */
} unit;

typedef struct work { /* of one thread */
    plx_mat oo, om;   /* d x d */
    plx_mat *cov;     /* k: d x d or 1 x d */
    plx_mat rows;     /* UNIT x d: x_o - mu_o, then L^-1 of it */
    plx_mat guess;    /* UNIT x d: missing parts; weighted rows for the sums */
    double jitter;
} work;

typedef struct sweep_job {
    const plx__incomplete_mixture *mix;
    const plx__incomplete_data *data;
    plx__moments *moments;
    unit *units;
    plx_index n_units, grain;
    plx__incomplete_sums *sums; /* per chunk; NULL: not wanted */
    double *log_likelihood;     /* per chunk */
    work *works;
    const char *what;
} sweep_job;

/* ---- one unit, one component: full covariance ---- */

static void gather_cov(const sweep_job *job, work *w, const unit *u, plx_index z)
{
    const plx__patterns *p = &job->data->patterns;
    const int32_t *col = p->column + u->pattern * p->d;
    plx_index o = p->observed[u->pattern], m = p->d - o;
    plx_mat s = plx__sub(job->mix->cov, z * p->d, 0, p->d, p->d);
    for (plx_index a = 0; a < p->d; a++) {
        const double *from = s.data + col[a] * s.ld;
        if (a < o) {
            for (plx_index b = 0; b < o; b++) w->oo.data[a * w->oo.ld + b] = from[col[b]];
            for (plx_index b = 0; b < m; b++) w->om.data[a * w->om.ld + b] = from[col[o + b]];
        } else
            for (plx_index b = 0; b < m; b++) w->cov[z].data[(a - o) * w->cov[z].ld + b] = from[col[o + b]];
    }
}

/* S_oo = L L', with the jitter policy. */
static plx_status factor_observed(const sweep_job *job, plx_context *ctx, work *w, const unit *u, plx_index z)
{
    plx_index o = job->data->patterns.observed[u->pattern];
    plx_mat l = plx__sub(w->oo, 0, 0, o, o);
    for (double eps = 0; eps <= 1.1e-6; eps = eps > 0 ? 10 * eps : 1e-12) {
        double trace = 0;
        gather_cov(job, w, u, z);
        for (plx_index a = 0; a < o; a++) trace += l.data[a * (l.ld + 1)];
        plx__mat_add_diag(l, eps * trace / (double)plx__max(o, 1));
        plx_status st = plx__cholesky_serial(ctx, l, NULL);
        if (st == PLX_OK) w->jitter = fmax(w->jitter, eps);
        if (st != PLX_E_NUMERIC) return st;
    }
    PLX_FAIL(ctx, PLX_E_NUMERIC, "%s: the covariance of component %lld is not positive definite; increase cov_reg",
             job->what, (long long)z);
}

static plx_status full_component(sweep_job *job, plx_context *ctx, work *w, const unit *u, plx_index z)
{
    const plx__patterns *p = &job->data->patterns;
    const int32_t *col = p->column + u->pattern * p->d;
    plx_index o = p->observed[u->pattern], m = p->d - o, count = u->end - u->begin, k = job->mix->k;
    const double *mu = job->mix->mean.data + z * job->mix->mean.ld;
    plx_mat om = plx__sub(w->om, 0, 0, o, m), rows = plx__sub(w->rows, 0, 0, count, o);
    plx_mat guess = plx__sub(w->guess, 0, 0, count, m);
    PLX_TRY(factor_observed(job, ctx, w, u, z));
    plx_cmat l = plx__csub(plx__cmat(w->oo), 0, 0, o, o);
    PLX_TRY(plx__tri_solve_serial(ctx, l, PLX__N, om));
    PLX_TRY(plx__gemm_serial(ctx, -1.0, plx__cmat(om), PLX__T, plx__cmat(om), PLX__N, 1.0,
                             plx__sub(w->cov[z], 0, 0, m, m)));
    for (plx_index i = 0; i < count; i++) {
        const double *x = job->data->x.data + p->order[u->begin + i] * job->data->x.ld;
        for (plx_index a = 0; a < o; a++) rows.data[i * rows.ld + a] = x[col[a]] - mu[col[a]];
    }
    PLX_TRY(plx__tri_solve_right_serial(ctx, l, PLX__T, rows));
    plx__mat_fill(guess, 0.0);
    PLX_TRY(plx__gemm_serial(ctx, 1.0, plx__cmat(rows), PLX__N, plx__cmat(om), PLX__N, 0.0, guess));
    double constant = log(job->mix->weight[z]) - 0.5 * ((double)o * LOG_TWO_PI + plx__chol_logdet(l));
    for (plx_index i = 0; i < count; i++) {
        plx_index row = p->order[u->begin + i];
        const double *x = job->data->x.data + row * job->data->x.ld;
        double *hat = job->moments->mean.data + (row * k + z) * job->moments->mean.ld;
        for (plx_index a = 0; a < o; a++) hat[col[a]] = x[col[a]];
        for (plx_index b = 0; b < m; b++) hat[col[o + b]] = mu[col[o + b]] + guess.data[i * guess.ld + b];
        job->moments->prob.data[row * k + z] = constant - 0.5 * plx__norm_sq(rows.data + i * rows.ld, o);
    }
    return PLX_OK;
}

/* ---- one unit, one component: diagonal covariance ---- */

static plx_status diag_component(sweep_job *job, plx_context *ctx, work *w, const unit *u, plx_index z)
{
    const plx__patterns *p = &job->data->patterns;
    const int32_t *col = p->column + u->pattern * p->d;
    plx_index o = p->observed[u->pattern], k = job->mix->k;
    const double *mu = job->mix->mean.data + z * job->mix->mean.ld, *var = job->mix->cov.data + z * job->mix->cov.ld;
    double constant = log(job->mix->weight[z]) - 0.5 * (double)o * LOG_TWO_PI;
    for (plx_index a = 0; a < p->d; a++) {
        if (!(var[col[a]] > 0))
            PLX_FAIL(ctx, PLX_E_NUMERIC, "%s: the variance of component %lld is 0 in a column; increase cov_reg",
                     job->what, (long long)z);
        if (a < o) constant -= 0.5 * log(var[col[a]]);
        else w->cov[z].data[a - o] = var[col[a]];
    }
    for (plx_index i = u->begin; i < u->end; i++) {
        plx_index row = p->order[i];
        const double *x = job->data->x.data + row * job->data->x.ld;
        double *hat = job->moments->mean.data + (row * k + z) * job->moments->mean.ld, quad = 0;
        for (plx_index a = 0; a < p->d; a++) hat[col[a]] = a < o ? x[col[a]] : mu[col[a]];
        for (plx_index a = 0; a < o; a++) quad += (x[col[a]] - mu[col[a]]) * (x[col[a]] - mu[col[a]]) / var[col[a]];
        job->moments->prob.data[row * k + z] = constant - 0.5 * quad;
    }
    return PLX_OK;
}

/* ---- responsibilities ---- */

/* Log weights of a row become probabilities; their log sum is returned. */
static double normalise(double *row, plx_index k)
{
    double top = row[0], sum = 0;
    for (plx_index z = 1; z < k; z++) top = fmax(top, row[z]);
    for (plx_index z = 0; z < k; z++) sum += exp(row[z] - top);
    double log_sum = top + log(sum);
    for (plx_index z = 0; z < k; z++) row[z] = exp(row[z] - log_sum);
    return log_sum;
}

/* ---- sums ---- */

static bool unit_has_block(const sweep_job *job, const unit *u, plx_index b)
{
    const plx__patterns *p = &job->data->patterns;
    const int32_t *col = p->column + u->pattern * p->d;
    for (plx_index a = 0; a < p->observed[u->pattern]; a++)
        if (col[a] >= job->data->block[b] && col[a] < job->data->block[b + 1]) return true;
    return false;
}

/* Conditional covariance times the weight, on the missing columns of a block. */
static void add_conditional(plx__incomplete_sums *s, const sweep_job *job, const work *w, const unit *u, plx_index z,
                            plx_index b, double mass)
{
    const plx__patterns *p = &job->data->patterns;
    const int32_t *col = p->column + u->pattern * p->d + p->observed[u->pattern];
    plx_index m = p->d - p->observed[u->pattern], begin = job->data->block[b], end = job->data->block[b + 1];
    for (plx_index a = 0; a < m; a++) {
        if (col[a] < begin || col[a] >= end) continue;
        if (!s->full) s->second.data[z * s->second.ld + col[a]] += mass * w->cov[z].data[a];
        for (plx_index c = 0; s->full && c < m; c++)
            if (col[c] >= begin && col[c] < end)
                s->second.data[(z * p->d + col[a]) * s->second.ld + col[c]] +=
                    mass * w->cov[z].data[a * w->cov[z].ld + c];
    }
}

static plx_status add_block(plx__incomplete_sums *s, const sweep_job *job, plx_context *ctx, work *w, const unit *u,
                            plx_index z, plx_index b)
{
    const plx__patterns *p = &job->data->patterns;
    plx_index k = job->mix->k, begin = job->data->block[b], cols = job->data->block[b + 1] - begin;
    const double *mu = job->mix->mean.data + z * job->mix->mean.ld + begin;
    plx_mat rows = plx__sub(w->guess, 0, 0, u->end - u->begin, cols);
    double mass = 0;
    for (plx_index i = u->begin; i < u->end; i++) {
        double r = job->moments->prob.data[p->order[i] * k + z], root = sqrt(r);
        const double *hat = job->moments->mean.data + (p->order[i] * k + z) * job->moments->mean.ld + begin;
        double *to = rows.data + (i - u->begin) * rows.ld, *first = s->first.data + z * s->first.ld + begin;
        mass += r;
        for (plx_index j = 0; j < cols; j++) {
            double gap = hat[j] - mu[j];
            first[j] += r * gap;
            to[j] = root * gap;
            if (!s->full) s->second.data[z * s->second.ld + begin + j] += to[j] * to[j];
        }
    }
    s->mass[z * job->data->n_blocks + b] += mass;
    add_conditional(s, job, w, u, z, b, mass);
    if (!s->full) return PLX_OK;
    return plx__gemm_serial(ctx, 1.0, plx__cmat(rows), PLX__T, plx__cmat(rows), PLX__N, 1.0,
                            plx__sub(s->second, z * p->d + begin, begin, cols, cols));
}

static plx_status add_sums(plx__incomplete_sums *s, const sweep_job *job, plx_context *ctx, work *w, const unit *u)
{
    const plx__patterns *p = &job->data->patterns;
    plx_index k = job->mix->k;
    for (plx_index i = u->begin; i < u->end; i++)
        for (plx_index z = 0; z < k; z++) s->weight[z] += job->moments->prob.data[p->order[i] * k + z];
    for (plx_index b = 0; b < job->data->n_blocks; b++) {
        if (!unit_has_block(job, u, b)) continue;
        for (plx_index z = 0; z < k; z++) PLX_TRY(add_block(s, job, ctx, w, u, z, b));
    }
    return PLX_OK;
}

/* ---- units ---- */

static void keep_cov(const sweep_job *job, const work *w, const unit *u)
{
    const plx__patterns *p = &job->data->patterns;
    if (!job->moments->cov || u->begin != p->first[u->pattern]) return;
    for (plx_index z = 0; z < job->mix->k; z++) {
        plx_mat to = job->moments->cov[u->pattern * job->mix->k + z];
        plx__mat_copy(to, plx__csub(plx__cmat(w->cov[z]), 0, 0, to.rows, to.cols));
    }
}

static plx_status run_unit(sweep_job *job, plx_context *ctx, work *w, const unit *u, plx_index chunk)
{
    const plx__patterns *p = &job->data->patterns;
    plx_index k = job->mix->k;
    for (plx_index z = 0; z < k; z++)
        PLX_TRY(job->mix->shape == PLX__COV_FULL ? full_component(job, ctx, w, u, z)
                                                 : diag_component(job, ctx, w, u, z));
    keep_cov(job, w, u);
    for (plx_index i = u->begin; i < u->end; i++) {
        double log_sum = normalise(job->moments->prob.data + p->order[i] * k, k);
        if (p->observed[u->pattern] > 0) job->log_likelihood[chunk] += log_sum;
    }
    return job->sums && p->observed[u->pattern] > 0 ? add_sums(&job->sums[chunk], job, ctx, w, u) : PLX_OK;
}

static plx_status run_units(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    sweep_job *job = arg;
    for (plx_index i = begin; i < end; i++)
        PLX_TRY(run_unit(job, ctx, &job->works[worker], &job->units[i], begin / job->grain));
    return PLX_OK;
}

/* ---- set-up ---- */

static plx_status list_units(sweep_job *job, plx__arena *scratch)
{
    const plx__patterns *p = &job->data->patterns;
    PLX_TRY(PLX__ARENA_NEW(&job->units, scratch, p->count + p->n / UNIT + 1));
    for (plx_index q = 0; q < p->count; q++)
        for (plx_index at = p->first[q]; at < p->first[q + 1]; at += UNIT)
            job->units[job->n_units++] = (unit){q, at, plx__min(at + UNIT, p->first[q + 1])};
    return PLX_OK;
}

static plx_status open_work(work *w, plx__arena *scratch, const plx__incomplete_mixture *mix)
{
    bool full = mix->shape == PLX__COV_FULL;
    plx_index d = mix->d, order = full ? d : 0;
    *w = (work){0};
    PLX_TRY(plx__arena_mat(&w->oo, scratch, order, order));
    PLX_TRY(plx__arena_mat(&w->om, scratch, order, order));
    PLX_TRY(PLX__ARENA_NEW(&w->cov, scratch, mix->k));
    for (plx_index z = 0; z < mix->k; z++) PLX_TRY(plx__arena_mat(&w->cov[z], scratch, full ? d : 1, d));
    PLX_TRY(plx__arena_mat(&w->rows, scratch, UNIT, d));
    return plx__arena_mat(&w->guess, scratch, UNIT, d);
}

plx_status plx__incomplete_sums_new(plx__incomplete_sums *out, plx__arena *arena, const plx__incomplete_mixture *mix,
                                    plx_index n_blocks)
{
    *out = (plx__incomplete_sums){.full = mix->shape == PLX__COV_FULL};
    PLX_TRY(plx__arena_f64(&out->weight, arena, mix->k, 1));
    PLX_TRY(plx__arena_f64(&out->mass, arena, mix->k, n_blocks));
    PLX_TRY(plx__arena_mat(&out->first, arena, mix->k, mix->d));
    return plx__arena_mat(&out->second, arena, out->full ? mix->k * mix->d : mix->k, mix->d);
}

static void add_up(plx__incomplete_sums *to, const plx__incomplete_sums *from, plx_index n_blocks)
{
    plx__axpy(to->weight, 1.0, from->weight, to->first.rows);
    plx__axpy(to->mass, 1.0, from->mass, to->first.rows * n_blocks);
    plx__axpy(to->first.data, 1.0, from->first.data, to->first.rows * to->first.cols);
    plx__axpy(to->second.data, 1.0, from->second.data, to->second.rows * to->second.cols);
}

plx_status plx__incomplete_sweep(plx_context *ctx, const plx__incomplete_mixture *mix, const plx__incomplete_data *data,
                                 plx__moments *moments, plx__incomplete_sums *sums, double *jitter, const char *what)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx__mark mark = plx__arena_mark(scratch);
    sweep_job job = {.mix = mix, .data = data, .moments = moments, .what = what};
    plx_index size = sums ? sums->second.rows * sums->second.cols + 1 : 1;
    PLX_TRY(list_units(&job, scratch));
    plx_index chunks = plx__max(1, plx__min(job.n_units, plx__min(MOST_CHUNKS, MOST_SUMS / size)));
    job.grain = plx__max(1, (job.n_units + chunks - 1) / chunks);
    PLX_TRY(plx__arena_f64(&job.log_likelihood, scratch, chunks, 1));
    if (sums) PLX_TRY(PLX__ARENA_NEW(&job.sums, scratch, chunks));
    for (plx_index c = 0; sums && c < chunks; c++)
        PLX_TRY(plx__incomplete_sums_new(&job.sums[c], scratch, mix, data->n_blocks));
    PLX_TRY(PLX__ARENA_NEW(&job.works, scratch, plx__workers(ctx)));
    for (int t = 0; t < plx__workers(ctx); t++) PLX_TRY(open_work(&job.works[t], scratch, mix));
    plx__blas_scope scope = plx__blas_enter();
    plx_status st = plx__parallel_for(ctx, job.n_units, job.grain, run_units, &job);
    plx__blas_leave(scope);
    for (int t = 0; t < plx__workers(ctx); t++) *jitter = fmax(*jitter, job.works[t].jitter);
    for (plx_index c = 0; st == PLX_OK && sums && c < chunks; c++) {
        sums->log_likelihood += job.log_likelihood[c];
        add_up(sums, &job.sums[c], data->n_blocks);
    }
    plx__arena_rewind(scratch, mark);
    return st;
}
