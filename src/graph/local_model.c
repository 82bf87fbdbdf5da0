/*
 * Per sample: the union of its neighbours over the views, the Gram matrix of each view on it, one small
 * solve (local_solve.c), one sparse row of A. Samples are independent, so they run in parallel with work
 * space per worker.
 */
#include "graph/local_model.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "core/ranks.h"
#include "core/slabs.h"
#include "device/anywhere.h"
#include "graph/gram_knn.h"
#include "graph/local_solve.h"
#include "graph/near_rows.h"
#include "graph/neighbours.h"

enum { GRAIN = 64, UNIT_GRAIN = 1024 };

typedef struct work_space { /* of one worker */
    int32_t *member;        /* neighbours of the sample that have the view, and where they stand in its row of A */
    plx_index *place;
    double *gram, *vectors, *k, *z, *e, *spare;
    double *differences; /* dense views: x_j - x_i */
    uint8_t *active;
    double *view_row, *weight; /* a_v padded to the row, one per view; q_v */
} work_space;

typedef struct local_job {
    plx__local_view *views;
    plx_index n_views, most; /* longest row */
    const plx__local_options *o;
    plx_csr a;
    work_space *space;
    plx_index first; /* several processes: of the rows of this one */
} local_job;

/* ---- inner products and kernels ---- */

static double inner(plx__points a, plx_index i, plx__points b, plx_index j)
{
    if (plx__points_sparse(a)) return plx__csr_row_dot(a.csr, i, b.csr, j);
    return plx__dot(a.dense.data + i * a.dense.ld, b.dense.data + j * b.dense.ld, a.dense.cols);
}

static double dist_sq(plx__points a, plx_index i, plx__points b, plx_index j)
{
    if (plx__points_sparse(a)) return plx__csr_row_dist_sq(a.csr, i, b.csr, j);
    return plx__dist_sq(a.dense.data + i * a.dense.ld, b.dense.data + j * b.dense.ld, a.dense.cols);
}

/* Kernel of row i of `a` and row j of `b`; s and t are their local scales. */
static double kernel_value(const plx__kernel *k, plx__points a, plx_index i, double s, plx__points b, plx_index j,
                           double t)
{
    int kind = (int)k->kind;
    if (kind == PLX__KERNEL_LINEAR) return inner(a, i, b, j);
    if (kind == PLX__KERNEL_POLY) return pow(inner(a, i, b, j) + k->coef0, k->degree);
    if (kind == PLX__KERNEL_COSINE) {
        double norms = sqrt(inner(a, i, a, i)) * sqrt(inner(b, j, b, j));
        return norms > 0 ? inner(a, i, b, j) / norms : 0.0;
    }
    double d = dist_sq(a, i, b, j);
    if (kind == PLX__KERNEL_RBF) return exp(-0.5 * d / (k->width * k->width));
    return s * t > 0 ? exp(-d / (s * t)) : d == 0 ? 1.0 : 0.0;
}

static double given_value(plx__points similarities, plx_index i, plx_index j)
{
    return similarities.dense.data[i * similarities.dense.ld + j];
}

/* Inner products of query i with itself, of query i with row j, and of rows j and k. */
static double own_product(const plx__local_view *v, plx_index i)
{
    return v->given ? v->query_own[i] : inner(v->queries, i, v->queries, i);
}

static double query_product(const plx__local_view *v, plx_index i, plx_index j)
{
    return v->given ? given_value(v->queries, i, j) : inner(v->rows, j, v->queries, i);
}

static double row_product(const plx__local_view *v, plx_index j, plx_index k)
{
    return v->given ? given_value(v->rows, j, k) : inner(v->rows, j, v->rows, k);
}

static double own_kernel(const plx__local_view *v, plx_index i)
{
    if (v->given) return v->query_own[i];
    if ((int)v->kernel.kind == PLX__KERNEL_LOCAL) return 1.0;
    return kernel_value(&v->kernel, v->queries, i, 0, v->queries, i, 0);
}

/* ---- the unit of lambda ---- */

typedef struct unit_job {
    const plx__local_view *v;
    plx__local_kind kind;
    const int64_t *near;
    plx_index k;

    /* of divided rows */
    plx_index begin, end; /* samples of this process */
    double *spread;       /* squared distances to the neighbours of these; NULL: they are found as they are needed */
    const plx__near_rows *round; /* those whose distances are found now, */
    plx__points rows;            /* from these rows */
    double sum[4];               /* of the chunks before, and of the one that has begun */
} unit_job;

static double squared_distance(const unit_job *job, plx_index i, plx_index q)
{
    const plx__local_view *v = job->v;
    if (job->spread) return job->spread[q - job->begin * job->k];
    if (!v->given) return dist_sq(v->queries, i, v->rows, job->near[q]);
    return own_product(v, i) + v->own[job->near[q]] - 2 * query_product(v, i, job->near[q]);
}

/* Adds to the sum and the number of what the unit is the mean of. */
static void add_unit(const unit_job *job, plx_index i, double *sum)
{
    if (!job->v->present[i]) return;
    if (job->kind == PLX__LOCAL_KERNEL) {
        sum[0] += own_kernel(job->v, i);
        sum[1] += 1;
    }
    for (plx_index q = i * job->k; job->kind == PLX__LOCAL_LINEAR && q < (i + 1) * job->k; q++) {
        if (job->near[q] < 0) break;
        sum[0] += squared_distance(job, i, q);
        sum[1] += 1;
    }
}

static plx_status sum_unit(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *partial)
{
    PLX_TRY(plx__poll(ctx));
    for (plx_index i = begin; i < end; i++) add_unit(arg, i, partial);
    return PLX_OK;
}

static plx_status find_spread(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const unit_job *job = arg;
    const int32_t *at = job->round->at;
    plx_index first = job->round->begin;
    (void)ctx, (void)worker;
    for (plx_index i = first + begin; i < first + end; i++)
        for (plx_index q = i * job->k; q < (i + 1) * job->k && job->near[q] >= 0; q++)
            job->spread[q - job->begin * job->k] = dist_sq(job->rows, at[i], job->rows, at[job->near[q]]);
    return PLX_OK;
}

/* Distances from the samples of this process, before they are added up in order. */
static plx_status spread_together(unit_job *job, plx_context *ctx, plx_ccsr joined)
{
    plx__near_rows near;
    PLX_TRY(plx__arena_f64(&job->spread, plx__scratch(ctx), job->end - job->begin, job->k));
    PLX_TRY(plx__near_rows_open(&near, ctx, joined));
    job->round = &near;
    while (plx__near_rows_next(&near, ctx)) {
        plx__mark mark = plx__arena_mark(plx__scratch(ctx));
        PLX_TRY(plx__near_rows_fetch(&job->rows, ctx, &near, job->v->rows, job->v->bound));
        PLX_TRY(plx__parallel_for(ctx, near.end - near.begin, GRAIN, find_spread, job));
        plx__arena_rewind(plx__scratch(ctx), mark);
    }
    return PLX_OK;
}

/* Chunks begin where those of plx__parallel_sum() do, whichever process is in the middle of one. */
static void add_own_units(void *arg)
{
    unit_job *job = arg;
    for (plx_index i = job->begin; i < job->end; i++) {
        for (int j = 0; i % UNIT_GRAIN == 0 && j < 2; j++) {
            job->sum[j] += job->sum[j + 2];
            job->sum[j + 2] = 0;
        }
        add_unit(job, i, job->sum + 2);
    }
}

/* From process to process, each of which adds its samples: the bytes of one process. */
static plx_status sum_together(double *sums, unit_job *job, plx_context *ctx, plx_ccsr joined)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    const plx_index *bound = job->v->bound;
    job->begin = bound[plx__rank(ctx)];
    job->end = bound[plx__rank(ctx) + 1];
    if (job->kind == PLX__LOCAL_LINEAR) PLX_TRY(spread_together(job, ctx, joined));
    PLX_TRY(plx__bound_chain(ctx, bound, job->sum, sizeof job->sum, add_own_units, job));
    for (int j = 0; j < 2; j++) sums[j] = job->sum[j] + job->sum[j + 2];
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* Rows of `joined`: the neighbours of every sample. */
static plx_status scale_lambda(plx_context *ctx, plx__local_view *v, plx__local_kind kind, const int64_t *near,
                               plx_index k, plx_ccsr joined)
{
    unit_job job = {.v = v, .kind = kind, .near = near, .k = k};
    double sums[2] = {0, 0};
    if (v->bound) PLX_TRY(sum_together(sums, &job, ctx, joined));
    else PLX_TRY(plx__parallel_sum(ctx, plx__points_rows(v->rows), UNIT_GRAIN, 2, sum_unit, &job, sums));
    if (sums[0] > 0 && isfinite(sums[0])) v->lambda *= sums[0] / sums[1];
    return PLX_OK;
}

/* ---- neighbourhoods ---- */

static plx_status find_neighbours(int64_t **out, plx_index *k, plx_context *ctx, const plx__local_view *v,
                                  const plx__local_options *options)
{
    plx_index n = plx__points_rows(v->rows), queries = plx__points_rows(v->queries);
    bool self = options->self;
    *k = plx__min(v->neighbours, plx__max(1, self ? n - 1 : n));
    plx__knn_options o = {.k = *k, .metric = v->metric, .present = v->present, .self = self};
    if (!self) o.query_present = v->query_present;
    PLX_TRY(plx__arena_i64(out, plx__scratch(ctx), queries * *k));
    plx__gram gram = {v->queries.dense, v->query_own, v->own};
    if (v->given) return plx__gram_knn(ctx, &gram, &o, *out);
    if (self) return plx__neighbours(ctx, options->run, v->name, v->rows, v->bound, &o, *out, NULL);
    return plx__knn_anywhere(ctx, v->queries, v->rows, &o, *out, NULL);
}

static int ascending(const void *x, const void *y)
{
    int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
    return (a > b) - (a < b);
}

/* Sorted union of the neighbours in all views. */
static plx_index join_row(int32_t *col, int64_t *const *near, const plx_index *k, plx_index n_views, plx_index i)
{
    plx_index count = 0, kept = 0;
    for (plx_index v = 0; v < n_views; v++)
        for (plx_index j = 0; j < k[v] && near[v][i * k[v] + j] >= 0; j++)
            col[count++] = (int32_t)near[v][i * k[v] + j];
    qsort(col, (size_t)count, sizeof *col, ascending);
    for (plx_index j = 0; j < count; j++)
        if (j == 0 || col[j] != col[j - 1]) col[kept++] = col[j];
    return kept;
}

static plx_status neighbourhoods(local_job *job, plx_context *ctx)
{
    plx_index queries = plx__points_rows(job->views[0].queries), n = plx__points_rows(job->views[0].rows), room = 0;
    int64_t **near = NULL;
    plx_index *k = NULL, at = 0;
    PLX_TRY(PLX__ARENA_NEW(&near, plx__scratch(ctx), job->n_views));
    PLX_TRY(plx__arena_i64(&k, plx__scratch(ctx), job->n_views));
    for (plx_index v = 0; v < job->n_views; v++) {
        PLX_TRY(find_neighbours(&near[v], &k[v], ctx, &job->views[v], job->o));
        PLX_TRY(plx__report(ctx, "neighbours", v + 1, job->n_views, NAN));
        room += k[v];
    }
    PLX_TRY(plx__arena_csr(&job->a, plx__scratch(ctx), queries, n, queries * room));
    for (plx_index i = 0; i < queries; i++) {
        plx_index count = join_row(job->a.col + at, near, k, job->n_views, i);
        bool any = false;
        for (plx_index v = 0; v < job->n_views; v++) any |= job->views[v].query_present[i];
        if (!count && any && !job->o->lonely)
            PLX_FAIL(ctx, PLX_E_DATA, "%s: sample %s has no neighbour in any of its views; leave it out",
                     job->o->method, job->o->ids[i]);
        job->a.ptr[i + 1] = at += count;
        job->most = plx__max(job->most, count);
    }
    for (plx_index v = 0; job->o->relative_lambda && v < job->n_views; v++)
        PLX_TRY(scale_lambda(ctx, &job->views[v], job->o->kind, near[v], k[v], plx__ccsr(job->a)));
    return PLX_OK;
}

/* ---- Gram matrices ---- */

/* G(a,b) = (x_a - x_i).(x_b - x_i) over the members. */
static void centred_gram(const plx__local_view *v, plx_index i, work_space *w, plx_index n)
{
    plx_index d = plx__points_cols(v->rows);
    if (v->given || plx__points_sparse(v->rows)) {
        double own = own_product(v, i);
        for (plx_index a = 0; a < n; a++) w->k[a] = query_product(v, i, w->member[a]);
        for (plx_index a = 0; a < n; a++)
            for (plx_index b = 0; b <= a; b++)
                w->gram[a * n + b] = row_product(v, w->member[a], w->member[b]) - w->k[a] - w->k[b] + own;
        return;
    }
    const double *centre = v->queries.dense.data + i * v->queries.dense.ld;
    for (plx_index a = 0; a < n; a++) {
        const double *x = v->rows.dense.data + w->member[a] * v->rows.dense.ld;
        for (plx_index j = 0; j < d; j++) w->differences[a * d + j] = x[j] - centre[j];
    }
    for (plx_index a = 0; a < n; a++)
        for (plx_index b = 0; b <= a; b++)
            w->gram[a * n + b] = plx__dot(w->differences + a * d, w->differences + b * d, d);
}

static void given_gram(const plx__local_view *v, plx_index i, work_space *w, plx_index n)
{
    for (plx_index a = 0; a < n; a++) {
        w->k[a] = query_product(v, i, w->member[a]);
        for (plx_index b = 0; b < n; b++) w->gram[a * n + b] = row_product(v, w->member[a], w->member[b]);
    }
}

static void kernel_gram(const plx__local_view *v, plx_index i, work_space *w, plx_index n)
{
    double s = v->query_scale ? v->query_scale[i] : 0;
    for (plx_index a = 0; a < n; a++) {
        plx_index x = w->member[a];
        double t = v->scale ? v->scale[x] : 0;
        w->k[a] = kernel_value(&v->kernel, v->queries, i, s, v->rows, x, t);
        for (plx_index b = 0; b <= a; b++) {
            plx_index y = w->member[b];
            w->gram[a * n + b] = w->gram[b * n + a] =
                kernel_value(&v->kernel, v->rows, x, t, v->rows, y, v->scale ? v->scale[y] : 0);
        }
    }
}

/* ---- one sample in one view: a_v into w->z, g_v returned ---- */

/* Too ill-conditioned for a factorisation (lambda far below rounding): NaN, reported by the caller. */
static double solve_linear(const plx__local_view *v, plx_index i, work_space *w, plx_index n)
{
    double sum = 0;
    centred_gram(v, i, w, n);
    for (plx_index a = 0; a < n; a++) {
        w->gram[a * n + a] += v->lambda;
        w->z[a] = 1.0;
    }
    if (!plx__small_solve(w->gram, w->z, n)) return NAN;
    for (plx_index a = 0; a < n; a++) sum += w->z[a];
    for (plx_index a = 0; a < n; a++) w->z[a] /= sum;
    return 1.0 / (v->lambda * sum);
}

/* One Cholesky solve: a = (lambda I + K)^-1 k, and the form of g that needs nothing else. */
static double solve_kernel_full(const plx__local_view *v, plx_index i, work_space *w, plx_index n)
{
    double own = own_kernel(v, i), fitted = 0;
    for (plx_index a = 0; a < n; a++) {
        w->gram[a * n + a] += v->lambda;
        w->z[a] = w->k[a];
    }
    if (!plx__small_solve(w->gram, w->z, n)) return NAN;
    for (plx_index a = 0; a < n; a++) fitted += w->k[a] * w->z[a];
    return fmax(0.0, (own - fitted) / v->lambda);
}

/* Over the eigenvectors of K that matter: a = sum u_j/(lambda+e_j) U_j, g = sum u_j^2 / ((lambda+e_j) e_j). */
static double solve_kernel_neighbours(const plx__local_view *v, work_space *w, plx_index n)
{
    double largest = 0, g = 0;
    plx__small_eigen(w->gram, w->e, w->vectors, n);
    for (plx_index j = 0; j < n; j++) largest = fmax(largest, w->e[j]);
    memset(w->z, 0, (size_t)n * sizeof *w->z);
    for (plx_index j = 0; j < n; j++) {
        if (!(w->e[j] > (double)n * DBL_EPSILON * largest)) continue;
        double u = 0;
        for (plx_index a = 0; a < n; a++) u += w->vectors[a * n + j] * w->k[a];
        for (plx_index a = 0; a < n; a++) w->z[a] += u / (v->lambda + w->e[j]) * w->vectors[a * n + j];
        g += u * u / ((v->lambda + w->e[j]) * w->e[j]);
    }
    return g;
}

/* Locally linear weights. */
static double solve_weights(const plx__local_view *v, const plx__local_options *o, plx_index i, work_space *w,
                            plx_index n)
{
    double trace = 0, sum = 0;
    centred_gram(v, i, w, n);
    for (plx_index a = 0; a < n; a++) trace += w->gram[a * n + a];
    for (plx_index a = 0; a < n; a++) w->z[a] = 1.0 / (double)n;
    if (!(trace > 0)) return 0.0;
    for (plx_index a = 0; a < n; a++) {
        w->gram[a * n + a] += fmax(o->weights_reg, 1e-12) * trace / (double)n; /* 0 would be singular: a trace of it */
        for (plx_index b = 0; b < a; b++) w->gram[b * n + a] = w->gram[a * n + b];
    }
    if (o->nonnegative) {
        plx__small_simplex(w->gram, w->z, n, w->spare, w->active);
        return 0.0;
    }
    for (plx_index a = 0; a < n; a++) w->z[a] = 1.0;
    if (!plx__small_solve(w->gram, w->z, n)) return NAN;
    for (plx_index a = 0; a < n; a++) sum += w->z[a];
    for (plx_index a = 0; a < n; a++) w->z[a] /= sum;
    return 0.0;
}

static double solve_view(const local_job *job, const plx__local_view *v, plx_index i, work_space *w, plx_index n)
{
    if (job->o->kind == PLX__LOCAL_LINEAR) return solve_linear(v, i, w, n);
    if (job->o->kind == PLX__LOCAL_WEIGHTS) return solve_weights(v, job->o, i, w, n);
    if (v->given) given_gram(v, i, w, n);
    else kernel_gram(v, i, w, n);
    return job->o->full ? solve_kernel_full(v, i, w, n) : solve_kernel_neighbours(v, w, n);
}

/* ---- all views of a sample ---- */

/* The neighbours that have the view. */
static plx_index members(const local_job *job, const plx__local_view *v, plx_index i, work_space *w)
{
    plx_index count = 0;
    for (plx_index p = job->a.ptr[i]; p < job->a.ptr[i + 1]; p++) {
        if (!v->present[job->a.col[p]]) continue;
        w->member[count] = job->a.col[p];
        w->place[count++] = p - job->a.ptr[i];
    }
    return count;
}

/* alpha = sum q_v a_v / sum q_v, q_v = 1 / (1 + m coupling g_v). */
static void couple(const local_job *job, plx_index i, work_space *w, plx_index used)
{
    plx_index length = job->a.ptr[i + 1] - job->a.ptr[i];
    double *alpha = job->a.val + job->a.ptr[i], total = 0;
    memset(alpha, 0, (size_t)length * sizeof *alpha);
    for (plx_index v = 0; v < used; v++) {
        double q = 1.0 / (1.0 + (double)used * job->o->coupling * w->weight[v]);
        total += q;
        for (plx_index j = 0; j < length; j++) alpha[j] += q * w->view_row[v * job->most + j];
    }
    for (plx_index j = 0; j < length && total > 0; j++) alpha[j] /= total;
}

static plx_status solve_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const local_job *job = arg;
    work_space *w = &job->space[worker];
    PLX_TRY(plx__poll(ctx));
    for (plx_index i = job->first + begin; i < job->first + end; i++) {
        plx_index used = 0;
        for (plx_index v = 0; v < job->n_views; v++) {
            if (!job->views[v].query_present[i]) continue;
            plx_index n = members(job, &job->views[v], i, w);
            if (!n) continue;
            double g = solve_view(job, &job->views[v], i, w, n), *row = w->view_row + used * job->most;
            if (!isfinite(g))
                PLX_FAIL(ctx, PLX_E_NUMERIC, "%s: the local model of sample %s is singular; increase lambda or scale",
                         job->o->method, job->o->ids[i]);
            memset(row, 0, (size_t)job->most * sizeof *row);
            for (plx_index a = 0; a < n; a++) row[w->place[a]] = w->z[a];
            w->weight[used++] = g;
        }
        couple(job, i, w, used);
    }
    return PLX_OK;
}

/* ---- the matrix ---- */

static plx_status open_space(work_space *w, plx_context *ctx, plx_index most, plx_index cols, plx_index n_views)
{
    plx__arena *scratch = plx__scratch(ctx);
    PLX_TRY(plx__arena_i32(&w->member, scratch, most));
    PLX_TRY(plx__arena_i64(&w->place, scratch, most));
    PLX_TRY(plx__arena_f64(&w->gram, scratch, most, most));
    PLX_TRY(plx__arena_f64(&w->vectors, scratch, most, most));
    PLX_TRY(plx__arena_f64(&w->k, scratch, most, 1));
    PLX_TRY(plx__arena_f64(&w->z, scratch, most, 1));
    PLX_TRY(plx__arena_f64(&w->e, scratch, most, 1));
    PLX_TRY(plx__arena_f64(&w->spare, scratch, most, most + 2));
    PLX_TRY(plx__arena_f64(&w->differences, scratch, most, cols));
    PLX_TRY(plx__arena_u8(&w->active, scratch, most));
    PLX_TRY(plx__arena_f64(&w->view_row, scratch, n_views, most));
    return plx__arena_f64(&w->weight, scratch, n_views, 1);
}

/* A view with the rows of a round: its samples by themselves, and those they are predicted from. */
static plx_status near_view(plx__local_view *out, plx_context *ctx, const plx__local_view *v,
                            const plx__near_rows *near)
{
    uint8_t *present = NULL;
    double *scale = NULL;
    *out = *v;
    PLX_TRY(plx__near_rows_fetch(&out->rows, ctx, near, v->rows, v->bound));
    out->queries = plx__points_range(out->rows, near->first, near->first + near->end - near->begin);
    PLX_TRY(plx__arena_u8(&present, plx__scratch(ctx), near->count));
    if (v->scale) PLX_TRY(plx__arena_f64(&scale, plx__scratch(ctx), near->count, 1));
    for (plx_index c = 0; c < near->count; c++) {
        present[c] = v->present[near->sample[c]];
        if (scale) scale[c] = v->scale[near->sample[c]];
    }
    out->present = present;
    out->query_present = present + near->first;
    out->scale = scale;
    out->query_scale = scale ? scale + near->first : NULL;
    return PLX_OK;
}

/* Their rows of A, whose values are solved for in place. */
static plx_status near_matrix(plx_csr *out, plx_context *ctx, plx_csr a, const plx__near_rows *near)
{
    plx_index first = a.ptr[near->begin], rows = near->end - near->begin;
    *out = (plx_csr){.rows = rows, .cols = near->count, .val = a.val + first};
    PLX_TRY(plx__arena_i64(&out->ptr, plx__scratch(ctx), rows + 1));
    PLX_TRY(plx__arena_i32(&out->col, plx__scratch(ctx), a.ptr[near->end] - first));
    for (plx_index i = 0; i <= rows; i++) out->ptr[i] = a.ptr[near->begin + i] - first;
    for (plx_index p = 0; p < out->ptr[rows]; p++) out->col[p] = near->at[a.col[first + p]];
    return PLX_OK;
}

/* Where rows are divided, a few samples at a time with the rows that their models need. */
static plx_status solve_divided(local_job *job, plx_context *ctx)
{
    plx__near_rows near;
    PLX_TRY(plx__near_rows_open(&near, ctx, plx__ccsr(job->a)));
    while (plx__near_rows_next(&near, ctx)) {
        plx__mark mark = plx__arena_mark(plx__scratch(ctx));
        plx__local_options o = *job->o;
        local_job part = *job;
        part.first = 0;
        part.o = &o;
        o.ids += near.begin;
        PLX_TRY(PLX__ARENA_NEW(&part.views, plx__scratch(ctx), job->n_views));
        for (plx_index v = 0; v < job->n_views; v++) PLX_TRY(near_view(&part.views[v], ctx, &job->views[v], &near));
        PLX_TRY(near_matrix(&part.a, ctx, job->a, &near));
        plx_status st = plx__parallel_for(ctx, near.end - near.begin, GRAIN, solve_rows, &part);
        plx__arena_rewind(plx__scratch(ctx), mark);
        PLX_TRY(plx__peers_settle(ctx, st));
    }
    return PLX_OK;
}

/* Each process solves for its rows; their weights, as many as the columns all of them know, are then shared. */
static plx_status solve_together(local_job *job, plx_context *ctx)
{
    plx__slabs cut = plx__slabs_even(ctx, job->a.rows);
    plx_index end = 0;
    plx__slabs_mine(&job->first, &end, ctx, cut);
    if (job->views[0].bound) PLX_TRY(solve_divided(job, ctx));
    else PLX_TRY(plx__peers_settle(ctx, plx__parallel_for(ctx, end - job->first, GRAIN, solve_rows, job)));
    return plx__near_rows_share(ctx, cut, job->a);
}

plx_status plx__local_matrix(plx_csr *out, plx_context *ctx, plx__local_view *views, plx_index n_views,
                             const plx__local_options *o)
{
    local_job job = {.views = views, .n_views = n_views, .o = o};
    plx_index cols = 0;
    PLX_TRY(neighbourhoods(&job, ctx));
    for (plx_index v = 0; v < n_views; v++)
        if (!views[v].given && !plx__points_sparse(views[v].rows))
            cols = plx__max(cols, plx__points_cols(views[v].rows));
    PLX_TRY(PLX__ARENA_NEW(&job.space, plx__scratch(ctx), plx__workers(ctx)));
    for (int t = 0; t < plx__workers(ctx); t++) PLX_TRY(open_space(&job.space[t], ctx, job.most, cols, n_views));
    PLX_TRY(o->self && plx__ranks(ctx) > 1 ? solve_together(&job, ctx)
                                           : plx__parallel_for(ctx, job.a.rows, GRAIN, solve_rows, &job));
    *out = job.a;
    return PLX_OK;
}

plx_status plx__local_scales(double **out, plx__run *run, const plx__local_view *v, bool self, plx_index k)
{
    plx_context *ctx = run->ctx;
    plx_index n = plx__points_rows(v->queries), most = plx__max(1, plx__points_rows(v->rows) - (self ? 1 : 0));
    int64_t *index = NULL;
    double *distance = NULL;
    k = plx__min(k, most);
    plx__knn_options o = {.k = k, .metric = PLX__EUCLID, .present = v->present, .self = self};
    if (!self) o.query_present = v->query_present;
    PLX_TRY(plx__arena_f64(out, plx__scratch(ctx), n, 1));
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    PLX_TRY(plx__arena_i64(&index, plx__scratch(ctx), n * k));
    PLX_TRY(plx__arena_f64(&distance, plx__scratch(ctx), n, k));
    PLX_TRY(self ? plx__neighbours(ctx, run, v->name, v->rows, v->bound, &o, index, distance)
                 : plx__knn_anywhere(ctx, v->queries, v->rows, &o, index, distance));
    for (plx_index i = 0; i < n; i++)
        for (plx_index j = 0; j < k && index[i * k + j] >= 0; j++) (*out)[i] = distance[i * k + j];
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* Rows of a round with their matrix, and distances from the samples of a process. */
double plx__local_divided_bytes(const plx_context *ctx, plx_index n, plx_index neighbours, double bytes)
{
    double k = (double)neighbours, own = (double)plx__slabs_even(ctx, n).rows;
    return plx__near_rows_bytes(ctx, n, neighbours, bytes) + own * (8 * k + 16);
}

double plx__local_bytes(plx_index n, plx_index neighbours, plx_index dense_cols, plx_index n_views, int workers)
{
    double k = (double)neighbours, most = fmin(k, (double)n);
    double worker = 8.0 * most * (3 * most + (double)dense_cols + (double)n_views + 8);
    return (double)n * (20.0 * k + 16.0) + (double)workers * worker;
}
