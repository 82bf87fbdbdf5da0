/*
 * Rows are grouped by what they lack: within a pair of groups and components the covariance, its factor and
 * its determinant are the same, so that whitened rows reduce the rbf form to distances. Diagonal covariances are
 * one row everywhere, never d x d.
 */
#include "mixture/expected_internal.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/blas.h"
#include "linalg/factor.h"

enum { TILE = 64 }; /* rows of a pattern that are worked on at once */

typedef struct thread_work {
    plx_mat cov;         /* w^2 I + V_i + V_j on the columns missing in either, then its factor; d x d, or a diagonal */
    plx_mat left, right; /* TILE x d: rows in coordinates in which distances are those of the exponent */
    plx__poly_work poly;
} thread_work;

typedef struct expect_job {
    const plx__expected *kernel;
    plx__grouped a, b;
    bool same, symmetric; /* one population; one list as well */
    plx_mat out;
    thread_work *works;
    int64_t *task; /* pairs of groups, a.count x b.count numbering */
    plx_index n_tasks;
} expect_job;

/* ---- grouping ---- */

static plx_status group(plx__grouped *g, plx_context *ctx, plx__expected_rows rows)
{
    plx__arena *scratch = plx__scratch(ctx);
    const plx__patterns *p = rows.moments->patterns;
    plx_index *number = NULL;
    *g = (plx__grouped){.rows = rows};
    PLX_TRY(plx__arena_i64(&number, scratch, p->count + 1));
    for (plx_index i = 0; i < rows.count; i++) number[p->of[plx__expected_row(&rows, i)] + 1]++;
    for (plx_index q = 0; q < p->count; q++) g->count += number[q + 1] > 0;
    PLX_TRY(plx__arena_i64(&g->pattern, scratch, g->count));
    PLX_TRY(plx__arena_i64(&g->first, scratch, g->count + 1));
    PLX_TRY(plx__arena_i64(&g->place, scratch, rows.count));
    plx_index at = 0;
    for (plx_index q = 0; q < p->count; q++) {
        if (!number[q + 1]) continue;
        g->pattern[at] = q;
        g->first[at + 1] = g->first[at] + number[q + 1];
        number[q + 1] = g->first[at++];
    }
    for (plx_index i = 0; i < rows.count; i++) g->place[number[p->of[plx__expected_row(&rows, i)] + 1]++] = i;
    return PLX_OK;
}

/* ---- rbf ---- */

/* Columns missing in either pattern first, then the others; returns how many are missing. */
static plx_index arrange_columns(int32_t *column, const plx__moments *mi, plx_index pi, const plx__moments *mj,
                                 plx_index pj)
{
    const plx__patterns *p = mi->patterns, *q = mj->patterns;
    const int32_t *ci = p->column + pi * p->d + p->observed[pi], *cj = q->column + pj * q->d + q->observed[pj];
    plx_index ni = p->d - p->observed[pi], nj = q->d - q->observed[pj], a = 0, b = 0, count = 0, rest = p->d;
    for (plx_index c = 0; c < p->d; c++) {
        bool missing = (a < ni && ci[a] == c) || (b < nj && cj[b] == c);
        a += a < ni && ci[a] == c;
        b += b < nj && cj[b] == c;
        if (missing) column[count++] = (int32_t)c;
        else column[--rest] = (int32_t)c;
    }
    return count;
}

/* Entry (i, i) of a covariance in either layout. */
static double *diagonal_at(plx_mat cov, bool full, plx_index i) { return cov.data + (full ? i * cov.ld + i : i); }

/* cov += V of one side, whose missing columns are some of `column` (n, ascending). */
static void add_cov(plx_mat cov, const plx__moments *m, plx_index pattern, plx_index z, const int32_t *column)
{
    const plx__patterns *p = m->patterns;
    const int32_t *own = p->column + pattern * p->d + p->observed[pattern];
    plx_index count = p->d - p->observed[pattern];
    plx_mat v = m->cov[pattern * m->k + z];
    bool full = m->shape == PLX__COV_FULL;
    for (plx_index i = 0, a = 0; i < cov.cols && a < count; i++) {
        if (own[a] != column[i]) continue;
        for (plx_index j = 0, b = 0; full && j <= i && b < count; j++)
            if (own[b] == column[j]) cov.data[i * cov.ld + j] += v.data[a * v.ld + b++];
        if (!full) cov.data[i] += v.data[a];
        a++;
    }
}

/* cov = L L' with L in its place, or the roots of a diagonal. */
static plx_status factorise(plx_context *ctx, plx_mat cov, bool full)
{
    plx_status st = full ? plx__cholesky_serial(ctx, cov, NULL) : PLX_OK;
    for (plx_index i = 0; !full && i < cov.cols; i++) {
        if (!(cov.data[i] > 0)) st = PLX_E_NUMERIC;
        cov.data[i] = sqrt(cov.data[i]);
    }
    if (st == PLX_E_NUMERIC) PLX_FAIL(ctx, st, "a conditional covariance is not positive definite; increase cov_reg");
    return st;
}

/* log |cov| from its factor. */
static double log_determinant(plx_cmat factor, bool full)
{
    double sum = 0;
    if (full) return plx__chol_logdet(factor);
    for (plx_index i = 0; i < factor.cols; i++) sum += log(factor.data[i]);
    return 2 * sum;
}

/* Rows of one side in the arranged order: L^-1 of the part missing in either, the rest divided by the width. */
static plx_status whiten(plx_context *ctx, plx_mat out, plx_cmat factor, const plx__grouped *g, plx_index begin,
                         plx_index end, plx_index z, const int32_t *column, double width)
{
    const plx__moments *m = g->rows.moments;
    bool full = m->shape == PLX__COV_FULL;
    for (plx_index i = begin; i < end; i++) {
        const double *x = m->mean.data + (plx__expected_row(&g->rows, g->place[i]) * m->k + z) * m->mean.ld;
        double *to = out.data + (i - begin) * out.ld;
        for (plx_index c = 0; c < factor.cols; c++) to[c] = full ? x[column[c]] : x[column[c]] / factor.data[c];
        for (plx_index c = factor.cols; c < m->d; c++) to[c] = x[column[c]] / width;
    }
    if (!full) return PLX_OK;
    return plx__tri_solve_right_serial(ctx, factor, PLX__T, plx__sub(out, 0, 0, end - begin, factor.cols));
}

static double share(const plx__grouped *g, plx_index i, plx_index z)
{
    return g->rows.moments->prob.data[plx__expected_row(&g->rows, g->place[i]) * g->rows.moments->prob.ld + z];
}

static plx_status rbf_tile(expect_job *job, plx_context *ctx, thread_work *w, const int32_t *column, plx_cmat factor,
                           const plx_index at[4], plx_index zi, plx_index zj)
{
    double width = job->kernel->width;
    bool full = job->a.rows.moments->shape == PLX__COV_FULL;
    double norm = -0.5 * log_determinant(factor, full) + (double)factor.cols * log(width);
    PLX_TRY(whiten(ctx, w->left, factor, &job->a, at[0], at[1], zi, column, width));
    PLX_TRY(whiten(ctx, w->right, factor, &job->b, at[2], at[3], zj, column, width));
    for (plx_index i = at[0]; i < at[1]; i++)
        for (plx_index j = at[2]; j < at[3]; j++) {
            double gap = plx__dist_sq(w->left.data + (i - at[0]) * w->left.ld,
                                      w->right.data + (j - at[2]) * w->right.ld, w->left.cols);
            double value = share(&job->a, i, zi) * share(&job->b, j, zj) * exp(norm - 0.5 * gap);
            job->out.data[job->a.place[i] * job->out.ld + job->b.place[j]] += value;
        }
    return PLX_OK;
}

/* Tiles of the rows of two groups, for one pair of components. */
static plx_status rbf_components(expect_job *job, plx_context *ctx, thread_work *w, plx_index p, plx_index q,
                                 plx_index zi, plx_index zj)
{
    const plx__moments *mi = job->a.rows.moments, *mj = job->b.rows.moments;
    int32_t *column = w->poly.column;
    plx_index n = arrange_columns(column, mi, job->a.pattern[p], mj, job->b.pattern[q]);
    bool full = mi->shape == PLX__COV_FULL;
    plx_mat cov = plx__sub(w->cov, 0, 0, full ? n : 1, n);
    plx__mat_fill(cov, 0.0);
    for (plx_index c = 0; c < n; c++) *diagonal_at(cov, full, c) = job->kernel->width * job->kernel->width;
    add_cov(cov, mi, job->a.pattern[p], zi, column);
    add_cov(cov, mj, job->b.pattern[q], zj, column);
    PLX_TRY(factorise(ctx, cov, full));
    for (plx_index i = job->a.first[p]; i < job->a.first[p + 1]; i += TILE)
        for (plx_index j = job->b.first[q]; j < job->b.first[q + 1]; j += TILE) {
            const plx_index at[4] = {i, plx__min(i + TILE, job->a.first[p + 1]), j,
                                     plx__min(j + TILE, job->b.first[q + 1])};
            PLX_TRY(plx__poll(ctx));
            PLX_TRY(rbf_tile(job, ctx, w, column, plx__cmat(cov), at, zi, zj));
        }
    return PLX_OK;
}

/* ---- poly ---- */

static plx_status poly_components(expect_job *job, plx_context *ctx, thread_work *w, plx_index p, plx_index q,
                                  plx_index zi, plx_index zj)
{
    const plx__moments *mi = job->a.rows.moments, *mj = job->b.rows.moments;
    double traces[PLX__EXPECT_MAX_DEGREE];
    PLX_TRY(plx__poly_traces(traces, job->kernel->degree / 2, ctx, &w->poly, mi, job->a.pattern[p], zi, mj,
                             job->b.pattern[q], zj));
    for (plx_index i = job->a.first[p]; i < job->a.first[p + 1]; i++) {
        PLX_TRY(plx__poll(ctx)); /* one pair of groups may be all there is */
        for (plx_index j = job->b.first[q]; j < job->b.first[q + 1]; j++) {
            double value =
                plx__poly_pair(job->kernel, traces, &w->poly, mi, plx__expected_row(&job->a.rows, job->a.place[i]), zi,
                               mj, plx__expected_row(&job->b.rows, job->b.place[j]), zj);
            job->out.data[job->a.place[i] * job->out.ld + job->b.place[j]] +=
                share(&job->a, i, zi) * share(&job->b, j, zj) * value;
        }
    }
    return PLX_OK;
}

static plx_status run_tasks(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    expect_job *job = arg;
    thread_work *w = &job->works[worker];
    bool rbf = job->kernel->kind == PLX__EXPECT_RBF;
    for (plx_index t = begin; t < end; t++) {
        plx_index p = job->task[t] / job->b.count, q = job->task[t] % job->b.count;
        for (plx_index zi = 0; zi < job->a.rows.moments->k; zi++)
            for (plx_index zj = 0; zj < job->b.rows.moments->k; zj++)
                PLX_TRY(rbf ? rbf_components(job, ctx, w, p, q, zi, zj) : poly_components(job, ctx, w, p, q, zi, zj));
    }
    return PLX_OK;
}

/* ---- linear ---- */

static plx_status mean_rows(plx_mat *out, plx_context *ctx, const plx__expected_rows *r)
{
    plx_mat all;
    PLX_TRY(plx__arena_mat(&all, plx__scratch(ctx), r->moments->n, r->moments->d));
    PLX_TRY(plx__arena_mat(out, plx__scratch(ctx), r->count, r->moments->d));
    plx__moments_mean(all, r->moments);
    for (plx_index i = 0; i < r->count; i++)
        memcpy(out->data + i * out->ld, all.data + plx__expected_row(r, i) * all.ld, (size_t)all.cols * sizeof(double));
    return PLX_OK;
}

static plx_status linear_values(expect_job *job, plx_context *ctx)
{
    plx_mat x, y;
    PLX_TRY(mean_rows(&x, ctx, &job->a.rows));
    if (job->symmetric) return plx__syrk(ctx, 1.0, plx__cmat(x), PLX__N, 0.0, job->out);
    PLX_TRY(mean_rows(&y, ctx, &job->b.rows));
    return plx__gemm(ctx, 1.0, plx__cmat(x), PLX__N, plx__cmat(y), PLX__T, 0.0, job->out);
}

/* ---- a row with itself ---- */

static double trace_of(plx_mat v, bool full)
{
    double sum = 0;
    for (plx_index a = 0; a < v.cols; a++) sum += v.data[full ? a * (v.ld + 1) : a];
    return sum;
}

static plx_status self_value(double *out, expect_job *job, plx_context *ctx, plx_index i)
{
    const plx__moments *m = job->a.rows.moments;
    *out = job->kernel->kind == PLX__EXPECT_RBF;
    for (plx_index z = 0; z < m->k && job->kernel->kind != PLX__EXPECT_RBF; z++) {
        const double *x = m->mean.data + (i * m->k + z) * m->mean.ld;
        plx_mat v = m->cov[m->patterns->of[i] * m->k + z];
        double value = 0;
        if (job->kernel->kind == PLX__EXPECT_POLY)
            PLX_TRY(plx__poly_self(&value, job->kernel, ctx, &job->works[0].poly, m, i, z));
        else value = plx__norm_sq(x, m->d) + trace_of(v, m->shape == PLX__COV_FULL);
        *out += m->prob.data[i * m->prob.ld + z] * value;
    }
    return PLX_OK;
}

/* Entries whose row and column are the same sample. */
static plx_status put_diagonal(expect_job *job, plx_context *ctx)
{
    plx_index *column = NULL, n = job->a.rows.moments->n;
    if (!job->same) return PLX_OK;
    PLX_TRY(plx__arena_i64(&column, plx__scratch(ctx), n));
    for (plx_index i = 0; i < n; i++) column[i] = -1;
    for (plx_index j = 0; j < job->b.rows.count; j++) column[plx__expected_row(&job->b.rows, j)] = j;
    for (plx_index i = 0; i < job->a.rows.count; i++) {
        plx_index row = plx__expected_row(&job->a.rows, i), j = column[row];
        if (j >= 0) PLX_TRY(self_value(&job->out.data[i * job->out.ld + j], job, ctx, row));
    }
    return PLX_OK;
}

/* ---- all of it ---- */

static plx_status list_tasks(expect_job *job, plx_context *ctx)
{
    PLX_TRY(plx__arena_i64(&job->task, plx__scratch(ctx), job->a.count * job->b.count));
    for (plx_index p = 0; p < job->a.count; p++)
        for (plx_index q = 0; q < job->b.count; q++)
            if (!job->symmetric || q <= p) job->task[job->n_tasks++] = p * job->b.count + q;
    return PLX_OK;
}

static plx_status open_works(expect_job *job, plx_context *ctx)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx_index d = job->a.rows.moments->d;
    bool full = job->a.rows.moments->shape == PLX__COV_FULL;
    PLX_TRY(PLX__ARENA_NEW(&job->works, scratch, plx__workers(ctx)));
    for (int t = 0; t < plx__workers(ctx); t++) {
        thread_work *w = &job->works[t];
        PLX_TRY(plx__poly_work_new(&w->poly, scratch, d, full));
        PLX_TRY(plx__arena_mat(&w->cov, scratch, full ? d : 1, d));
        PLX_TRY(plx__arena_mat(&w->left, scratch, TILE, d));
        PLX_TRY(plx__arena_mat(&w->right, scratch, TILE, d));
    }
    return PLX_OK;
}

/* Only pairs of groups q <= p were computed: the rest is their transpose. */
static void mirror_groups(expect_job *job)
{
    const plx_index *place = job->a.place;
    plx_mat k = job->out;
    for (plx_index p = 0; p < job->a.count; p++)
        for (plx_index i = job->a.first[p]; i < job->a.first[p + 1]; i++)
            for (plx_index j = 0; j < job->a.first[p + 1]; j++) {
                plx_index r = place[i], c = place[j];
                k.data[c * k.ld + r] = k.data[r * k.ld + c];
            }
}

plx_status plx__expected_kernel(plx_context *ctx, const plx__expected *kernel, plx__expected_rows a,
                                plx__expected_rows b, plx_mat out)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    expect_job job = {.kernel = kernel, .same = a.moments == b.moments, .out = out};
    job.symmetric = job.same && a.row == b.row && a.count == b.count;
    PLX_TRY(group(&job.a, ctx, a));
    PLX_TRY(group(&job.b, ctx, b));
    PLX_TRY(open_works(&job, ctx));
    plx__mat_fill(out, 0.0);
    if (kernel->kind == PLX__EXPECT_LINEAR) PLX_TRY(linear_values(&job, ctx));
    else {
        PLX_TRY(list_tasks(&job, ctx));
        plx_index grain = plx__max(1, job.n_tasks / 256);
        plx__blas_scope scope = plx__blas_enter();
        plx_status st = plx__parallel_for(ctx, job.n_tasks, grain, run_tasks, &job);
        plx__blas_leave(scope);
        if (st != PLX_OK) return st;
        if (job.symmetric) mirror_groups(&job);
    }
    PLX_TRY(put_diagonal(&job, ctx));
    plx__mat_scale(out, kernel->factor);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
