/*
 * Products of unit rows by blocks, each followed by a pass that keeps the best of every query, so that the
 * full table of similarities is never there.
 *
 * The products are made in single precision, which is twice as fast; of unit rows they are wrong by at most `error`. That
 * settles nearly every item: it is far from what the query has found so far, and far from its mate. The others get their
 * similarity in double precision, so the result is the exact one.
 */
#include "linalg/cosine_search.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/blas.h"
#include "linalg/clones.h"

enum { QUERIES = 256, ITEMS = 512, SCAN = 32 }; /* one tile of similarities: 512 KiB */

typedef struct search_job {
    plx_mat queries, items; /* unit rows */
    float *query, *item;    /* the same in single precision */
    float error;            /* of a product */
    const plx_index *mate;
    const plx__search_result *result;
    float *tile;             /* one per worker */
    double *own;             /* queries: similarity of the mate */
    plx_index height, width; /* of a tile: QUERIES x ITEMS, or all there are */
} search_job;

static double rounded(double similarity) { return nearbyint(similarity * 1e12) * 1e-12; }

static plx_status unit_rows(plx_mat *out, float **single, plx_context *ctx, plx_cmat from)
{
    PLX_TRY(plx__mat_clone(out, plx__scratch(ctx), from));
    PLX_TRY(plx__arena_bytes((void **)single, plx__scratch(ctx), from.rows * from.cols, sizeof **single));
    plx__unit_rows(*out);
    for (plx_index i = 0; i < from.rows; i++)
        for (plx_index j = 0; j < from.cols; j++) (*single)[i * from.cols + j] = (float)out->data[i * out->ld + j];
    return PLX_OK;
}

static double similarity_of(const search_job *job, plx_index query, plx_index item)
{
    return plx__dot(job->queries.data + query * job->queries.ld, job->items.data + item * job->items.ld,
                    job->items.cols);
}

/* Items come in ascending order: an equal one stays behind those already there. */
static void keep_best(const plx__search_result *r, plx_index query, int64_t item, double similarity)
{
    int64_t *items = r->item + query * r->top;
    double *best = r->similarity + query * r->top;
    plx_index at = r->top - 1;
    for (; at > 0 && (items[at - 1] < 0 || best[at - 1] < similarity); at--) {
        items[at] = items[at - 1];
        best[at] = best[at - 1];
    }
    items[at] = item;
    best[at] = similarity;
}

/* First group of SCAN items, from `from` on, of which one reaches the limit; most have none. */
PLX__CLONES static plx_index next_hit(const float *row, plx_index from, plx_index count, float limit)
{
    for (; from + SCAN <= count; from += SCAN) {
        int hits = 0;
        for (int l = 0; l < SCAN; l++) hits += row[from + l] >= limit;
        if (hits) return from;
    }
    return from;
}

static void take_best(const search_job *job, plx_index query, const float *row, plx_index first, plx_index count)
{
    const plx__search_result *r = job->result;
    const double *last = r->similarity + (query + 1) * r->top - 1;
    for (plx_index at = 0; at < count; at += SCAN) {
        float limit = isnan(*last) ? -INFINITY : (float)(*last - 1e-12) - job->error;
        at = next_hit(row, at, count, limit);
        for (plx_index j = at; j < plx__min(count, at + SCAN); j++) {
            if (row[j] < limit) continue;
            double similarity = rounded(similarity_of(job, query, first + j));
            if (!(similarity <= *last)) keep_best(r, query, first + j, similarity);
        }
    }
}

/* Items surely ahead (above `high`), and those that may be (`low` or more). */
PLX__CLONES static void count_row(const float *row, plx_index count, float low, float high, int *sure, int *possible)
{
    int above = 0, from = 0;
    for (plx_index j = 0; j < count; j++) {
        above += row[j] > high;
        from += row[j] >= low;
    }
    *sure = above;
    *possible = from;
}

/* Twice the number of larger ones plus the number of equal ones. */
static double count_ahead(const search_job *job, plx_index query, const float *row, plx_index first, plx_index count)
{
    double own = job->own[query];
    float low = (float)(own - 1e-12) - job->error, high = (float)(own + 1e-12) + job->error;
    int sure = 0, possible = 0;
    count_row(row, count, low, high, &sure, &possible);
    plx_index ahead = 2 * (plx_index)sure;
    for (plx_index j = 0; possible > sure && j < count; j++) {
        if (!(row[j] >= low && row[j] <= high)) continue;
        double exact = similarity_of(job, query, first + j);
        ahead += (exact > own + 1e-12) + (exact >= own - 1e-12);
    }
    return (double)ahead;
}

static plx_status search_queries(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    search_job *job = arg;
    const plx__search_result *r = job->result;
    plx_index d = job->items.cols;
    int inner = plx__blas_int(d), ld = plx__blas_int(plx__max(1, d));
    float *tile = job->tile + (plx_index)worker * job->height * job->width;
    for (plx_index at = 0; at < job->items.rows; at += ITEMS) {
        plx_index count = plx__min(ITEMS, job->items.rows - at);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, plx__blas_int(end - begin), plx__blas_int(count), inner,
                    1.0f, job->query + begin * d, ld, job->item + at * d, ld, 0.0f, tile, plx__blas_int(job->width));
        for (plx_index i = begin; i < end; i++) {
            const float *row = tile + (i - begin) * job->width;
            if (r->top > 0) take_best(job, i, row, at, count);
            if (r->rank && job->mate[i] >= 0) r->rank[i] += 0.5 * count_ahead(job, i, row, at, count);
        }
    }
    return plx__poll(ctx);
}

static plx_status open_results(search_job *job, plx_context *ctx)
{
    const plx__search_result *r = job->result;
    for (plx_index i = 0; i < job->queries.rows * r->top; i++) {
        r->item[i] = -1;
        r->similarity[i] = NAN;
    }
    if (!r->rank) return PLX_OK;
    PLX_TRY(plx__arena_f64(&job->own, plx__scratch(ctx), job->queries.rows, 1));
    for (plx_index i = 0; i < job->queries.rows; i++) {
        r->rank[i] = job->mate[i] >= 0 ? 0.5 : NAN; /* the mate itself counts one half among the equal ones */
        if (job->mate[i] < 0) continue;
        job->own[i] = similarity_of(job, i, job->mate[i]);
    }
    return PLX_OK;
}

plx_status plx__cosine_search(plx_context *ctx, plx_cmat queries, plx_cmat items, const plx_index *mate,
                              const plx__search_result *result)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    search_job job = {.mate = mate, .result = result};
    PLX_TRY(plx__blas_fits(ctx, 0, queries.cols, items.cols));
    PLX_TRY(unit_rows(&job.queries, &job.query, ctx, queries));
    PLX_TRY(unit_rows(&job.items, &job.item, ctx, items));
    job.error = (float)(((double)items.cols + 64.0) * (double)FLT_EPSILON); /* 64: for the few roundings outside */
    job.height = plx__min(QUERIES, plx__max(1, queries.rows));
    job.width = plx__min(ITEMS, plx__max(1, items.rows));
    PLX_TRY(plx__arena_bytes((void **)&job.tile, plx__scratch(ctx),
                             (plx_index)plx__workers(ctx) * job.height * job.width, sizeof *job.tile));
    PLX_TRY(open_results(&job, ctx));
    plx__blas_scope scope = plx__blas_enter();
    plx_status st = plx__parallel_for(ctx, queries.rows, QUERIES, search_queries, &job);
    plx__blas_leave(scope);
    PLX_TRY(st);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

double plx__cosine_search_bytes(const plx_context *ctx, plx_index queries, plx_index items, plx_index cols)
{
    double tile = (double)plx__min(QUERIES, queries) * (double)plx__min(ITEMS, items);
    return (double)(queries + items) * (12.0 * (double)cols + 16.0) + 4.0 * (double)plx__workers(ctx) * tile;
}
