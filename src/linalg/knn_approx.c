#include "linalg/knn_approx.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/rng.h"
#include "linalg/blas.h"
#include "linalg/faiss_shim.h"

enum { BLOCK = 1024, PROBES = 24, ROWS_PER_CELL = 39, SAMPLE = 1000, WHY_BYTES = 256 };

double plx__knn_approx_bytes(plx_index n, plx_index cols, plx_index k, int workers)
{
    return (double)n * (8.0 * (double)cols + 24.0) + 18.0 * BLOCK * workers * (double)(k + 8);
}

typedef struct work_space {
    int64_t *found; /* BLOCK x candidates */
    float *near;
    double *key; /* k of one row */
} work_space;

typedef struct approx_job {
    plx__points rows;
    const plx__knn_options *o;
    const plx_index *sample; /* rows that are there */
    plx_index count, candidates;
    float *x; /* count x cols */
    const plx__faiss *cells;
    work_space *space;
    int64_t *index;
    double *distance;
} approx_job;

/* ---- preparing ---- */

static plx_status choose_rows(approx_job *job, plx_context *ctx)
{
    plx_index n = plx__points_rows(job->rows), *sample = NULL;
    PLX_TRY(plx__arena_i64(&sample, plx__scratch(ctx), n));
    for (plx_index i = 0; i < n; i++)
        if (!job->o->present || job->o->present[i]) sample[job->count++] = i;
    job->sample = sample;
    return PLX_OK;
}

/* Rows moved to their mean (Euclid), or at unit length (cosine: the same order), in single precision. */
static plx_status narrow(approx_job *job, plx_context *ctx)
{
    plx_cmat x = job->rows.dense;
    double *mean = NULL;
    PLX_TRY(plx__arena_f64(&mean, plx__scratch(ctx), x.cols, 1));
    PLX_TRY(PLX__ARENA_NEW(&job->x, plx__scratch(ctx), job->count * x.cols));
    for (plx_index q = 0; job->o->metric == PLX__EUCLID && q < job->count; q++)
        plx__axpy(mean, 1.0 / (double)job->count, x.data + job->sample[q] * x.ld, x.cols);
    for (plx_index q = 0; q < job->count; q++) {
        const double *row = x.data + job->sample[q] * x.ld;
        double norm = job->o->metric == PLX__COSINE ? plx__norm(row, x.cols) : 1.0,
               factor = norm > 0 ? 1.0 / norm : 0.0;
        for (plx_index j = 0; j < x.cols; j++) job->x[q * x.cols + j] = (float)((row[j] - mean[j]) * factor);
    }
    return PLX_OK;
}

static plx_status open_space(approx_job *job, plx_context *ctx)
{
    PLX_TRY(PLX__ARENA_NEW(&job->space, plx__scratch(ctx), plx__workers(ctx)));
    for (int t = 0; t < plx__workers(ctx); t++) {
        PLX_TRY(plx__arena_i64(&job->space[t].found, plx__scratch(ctx), BLOCK * job->candidates));
        PLX_TRY(PLX__ARENA_NEW(&job->space[t].near, plx__scratch(ctx), BLOCK * job->candidates));
        PLX_TRY(plx__arena_f64(&job->space[t].key, plx__scratch(ctx), job->o->k, 1));
    }
    return PLX_OK;
}

/* ---- searching ---- */

static plx_status faiss_fault(plx_context *ctx, plx__faiss_status st, const char *why)
{
    if (st == PLX__FAISS_NO_MEMORY) PLX_FAIL(ctx, PLX_E_NOMEM, "knn = approx: out of memory; use knn=exact");
    PLX_FAIL(ctx, PLX_E_INTERNAL, "knn = approx: FAISS failed (%s); use knn=exact", why);
}

/* The candidates of row i by key, then index; -1 and NaN behind the last. */
static void rank_row(const approx_job *job, plx_index i, const int64_t *found, double *key)
{
    plx_index k = job->o->k, count = 0;
    int64_t *index = job->index + i * k;
    double *distance = job->distance + i * k;
    for (plx_index c = 0; c < job->candidates; c++) {
        plx_index j = found[c] < 0 ? i : job->sample[found[c]];
        if (j == i) continue;
        double d = plx__point_distance(job->rows, i, job->rows, j, job->o->metric), value = plx__distance_key(d);
        plx_index at = count < k ? count++ : k;
        if (at == k && !(value < key[k - 1] || (value == key[k - 1] && j < index[k - 1]))) continue;
        if (at == k) at = k - 1;
        for (; at > 0 && (key[at - 1] > value || (key[at - 1] == value && index[at - 1] > j)); at--) {
            key[at] = key[at - 1];
            index[at] = index[at - 1];
            distance[at] = distance[at - 1];
        }
        key[at] = value;
        index[at] = j;
        distance[at] = d;
    }
    for (; count < k; count++) index[count] = -1, distance[count] = NAN;
}

static plx_status search_block(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const approx_job *job = arg;
    work_space *w = &job->space[worker];
    char why[WHY_BYTES] = "";
    plx__faiss_status st = plx__faiss_search(job->cells, job->x + begin * job->rows.dense.cols, end - begin,
                                             job->candidates, w->near, w->found, why, sizeof why);
    if (st != PLX__FAISS_OK) return faiss_fault(ctx, st, why);
    for (plx_index q = begin; q < end; q++)
        rank_row(job, job->sample[q], w->found + (q - begin) * job->candidates, w->key);
    return PLX_OK;
}

static plx_status search(approx_job *job, plx_context *ctx)
{
    char why[WHY_BYTES] = "";
    plx__faiss *cells = NULL;
    plx_index lists = plx__max(1, plx__min((plx_index)(4 * sqrt((double)job->count)), job->count / ROWS_PER_CELL));
    plx__blas_scope scope = plx__blas_enter();
    plx__faiss_status st = plx__faiss_build(&cells, job->x, job->count, job->rows.dense.cols, lists,
                                            plx__min(PROBES, lists), why, sizeof why);
    job->cells = cells;
    plx_status status =
        st == PLX__FAISS_OK ? plx__parallel_for(ctx, job->count, BLOCK, search_block, job) : faiss_fault(ctx, st, why);
    plx__blas_leave(scope);
    plx__faiss_free(cells);
    return status;
}

/* ---- exact rows: where too little was found, and for the recall ---- */

/* True neighbours of chosen rows, the row itself left out: count x k. */
static plx_status exact_rows(const approx_job *job, plx_context *ctx, const plx_index *chosen, plx_index count,
                             int64_t *index, double *distance)
{
    plx_index k = job->o->k, more = k + 1;
    plx__knn_options o = {.k = more, .metric = job->o->metric, .present = job->o->present};
    plx_mat queries;
    int64_t *found = NULL;
    double *near = NULL;
    PLX_TRY(plx__arena_mat(&queries, plx__scratch(ctx), count, job->rows.dense.cols));
    PLX_TRY(plx__arena_i64(&found, plx__scratch(ctx), count * more));
    PLX_TRY(plx__arena_f64(&near, plx__scratch(ctx), count, more));
    for (plx_index q = 0; q < count; q++)
        memcpy(queries.data + q * queries.ld, job->rows.dense.data + chosen[q] * job->rows.dense.ld,
               (size_t)queries.cols * sizeof(double));
    PLX_TRY(plx__knn(ctx, plx__points_dense(plx__cmat(queries)), job->rows, &o, found, near));
    for (plx_index q = 0; q < count; q++) {
        plx_index kept = 0;
        for (plx_index j = 0; j < more && kept < k; j++) {
            if (found[q * more + j] == chosen[q]) continue;
            index[q * k + kept] = found[q * more + j];
            distance[q * k + kept++] = near[q * more + j];
        }
    }
    return PLX_OK;
}

static plx_status mend_short_rows(approx_job *job, plx_context *ctx)
{
    plx_index k = job->o->k, all = plx__min(k, job->count - 1), *chosen = NULL, count = 0;
    int64_t *index = NULL;
    double *distance = NULL;
    PLX_TRY(plx__arena_i64(&chosen, plx__scratch(ctx), job->count));
    for (plx_index q = 0; q < job->count; q++)
        if (all > 0 && job->index[job->sample[q] * k + all - 1] < 0) chosen[count++] = job->sample[q];
    if (!count) return PLX_OK;
    PLX_TRY(plx__arena_i64(&index, plx__scratch(ctx), count * k));
    PLX_TRY(plx__arena_f64(&distance, plx__scratch(ctx), count, k));
    PLX_TRY(exact_rows(job, ctx, chosen, count, index, distance));
    for (plx_index q = 0; q < count; q++) {
        memcpy(job->index + chosen[q] * k, index + q * k, (size_t)k * sizeof *index);
        memcpy(job->distance + chosen[q] * k, distance + q * k, (size_t)k * sizeof *distance);
    }
    return PLX_OK;
}

static plx_status measure_recall(const approx_job *job, plx_context *ctx, double *recall)
{
    plx_index k = job->o->k, count = plx__min(SAMPLE, job->count), *chosen = NULL;
    double found = 0, there = 0, *distance = NULL;
    int64_t *index = NULL;
    plx__rng rng = plx__rng_start(0, PLX__STREAM('r', 'c', 'l', 'l', 0));
    PLX_TRY(plx__arena_i64(&chosen, plx__scratch(ctx), job->count));
    PLX_TRY(plx__arena_i64(&index, plx__scratch(ctx), count * k));
    PLX_TRY(plx__arena_f64(&distance, plx__scratch(ctx), count, k));
    memcpy(chosen, job->sample, (size_t)job->count * sizeof *chosen);
    plx__shuffle(&rng, chosen, job->count);
    PLX_TRY(exact_rows(job, ctx, chosen, count, index, distance));
    for (plx_index q = 0; q < count; q++) {
        plx_index last = k;
        while (last > 0 && index[q * k + last - 1] < 0) last--;
        double reach = last ? plx__distance_key(distance[q * k + last - 1]) : 0;
        there += (double)last;
        for (plx_index j = 0; j < last; j++)
            found += job->index[chosen[q] * k + j] >= 0 && plx__distance_key(job->distance[chosen[q] * k + j]) <= reach;
    }
    *recall = there > 0 ? found / there : NAN;
    return PLX_OK;
}

/* ---- together ---- */

plx_status plx__knn_approx(plx_context *ctx, plx__points rows, const plx__knn_options *options, const char *view,
                           int64_t *index, double *distance, double *recall)
{
    *recall = NAN;
    if (!plx__faiss_built())
        PLX_FAIL(ctx, PLX_E_ARG,
                 "knn = approx: this build has no FAISS; install libfaiss-dev and build again, or use knn=exact");
    if (plx__points_sparse(rows))
        PLX_FAIL(ctx, PLX_E_ARG, "knn = approx: view '%s' is sparse and FAISS takes dense rows only; use knn=exact",
                 view);
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    approx_job job = {.rows = rows, .o = options, .index = index, .distance = distance};
    plx_index n = plx__points_rows(rows);
    for (plx_index i = 0; i < n * options->k; i++) index[i] = -1, distance[i] = NAN;
    PLX_TRY(choose_rows(&job, ctx));
    job.candidates = plx__min(options->k + options->k / 2 + 8, job.count);
    if (job.count > 1) {
        PLX_TRY(narrow(&job, ctx));
        PLX_TRY(open_space(&job, ctx));
        PLX_TRY(search(&job, ctx));
        PLX_TRY(mend_short_rows(&job, ctx));
        PLX_TRY(measure_recall(&job, ctx, recall));
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
