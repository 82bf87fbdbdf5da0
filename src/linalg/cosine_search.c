/*
 * Products of unit rows by blocks, each followed by a pass that keeps the best of every query, so that the
 * full table of similarities is never there.
 */
#include "linalg/cosine_search.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"

enum { QUERIES = 256, ITEMS = 1024 }; /* one tile of similarities: 2 MiB */

typedef struct search_job {
    plx_mat queries, items; /* unit rows */
    const plx_index *mate;
    const plx__search_result *result;
    double *tile;            /* one per worker */
    double *own;             /* queries: similarity of the mate */
    plx_index height, width; /* of a tile: QUERIES x ITEMS, or all there are */
} search_job;

static double rounded(double similarity) { return nearbyint(similarity * 1e12) * 1e-12; }

static plx_status unit_rows(plx_mat *out, plx_context *ctx, plx_cmat from)
{
    PLX_TRY(plx__mat_clone(out, plx__scratch(ctx), from));
    plx__unit_rows(*out);
    return PLX_OK;
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

static void take_best(const plx__search_result *r, plx_index query, const double *row, plx_index first, plx_index count)
{
    const double *last = r->similarity + (query + 1) * r->top - 1;
    for (plx_index j = 0; j < count; j++) {
        if (row[j] < *last - 1e-12) continue;
        double similarity = rounded(row[j]);
        if (!(similarity <= *last)) keep_best(r, query, first + j, similarity);
    }
}

/* Twice the number of larger ones plus the number of equal ones. */
static double count_ahead(double own, const double *row, plx_index count)
{
    plx_index larger = 0, not_smaller = 0;
    for (plx_index j = 0; j < count; j++) {
        larger += row[j] > own + 1e-12;
        not_smaller += row[j] >= own - 1e-12;
    }
    return (double)(larger + not_smaller);
}

static plx_status search_queries(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    search_job *job = arg;
    const plx__search_result *r = job->result;
    plx_cmat q = plx__csub(plx__cmat(job->queries), begin, 0, end - begin, job->queries.cols);
    for (plx_index at = 0; at < job->items.rows; at += ITEMS) {
        plx_index count = plx__min(ITEMS, job->items.rows - at);
        plx_mat tile = {job->tile + (plx_index)worker * job->height * job->width, end - begin, count, job->width};
        plx_cmat items = plx__csub(plx__cmat(job->items), at, 0, count, job->items.cols);
        PLX_TRY(plx__gemm_serial(ctx, 1.0, q, PLX__N, items, PLX__T, 0.0, tile));
        for (plx_index i = begin; i < end; i++) {
            const double *row = tile.data + (i - begin) * tile.ld;
            if (r->top > 0) take_best(r, i, row, at, count);
            if (r->rank && job->mate[i] >= 0) r->rank[i] += 0.5 * count_ahead(job->own[i], row, count);
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
        job->own[i] = plx__dot(job->queries.data + i * job->queries.ld, job->items.data + job->mate[i] * job->items.ld,
                               job->items.cols);
    }
    return PLX_OK;
}

plx_status plx__cosine_search(plx_context *ctx, plx_cmat queries, plx_cmat items, const plx_index *mate,
                              const plx__search_result *result)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    search_job job = {.mate = mate, .result = result};
    PLX_TRY(unit_rows(&job.queries, ctx, queries));
    PLX_TRY(unit_rows(&job.items, ctx, items));
    job.height = plx__min(QUERIES, plx__max(1, queries.rows));
    job.width = plx__min(ITEMS, plx__max(1, items.rows));
    PLX_TRY(plx__arena_f64(&job.tile, plx__scratch(ctx), (plx_index)plx__workers(ctx) * job.height, job.width));
    PLX_TRY(open_results(&job, ctx));
    PLX_TRY(plx__parallel_for(ctx, queries.rows, QUERIES, search_queries, &job));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

double plx__cosine_search_bytes(const plx_context *ctx, plx_index queries, plx_index items, plx_index cols)
{
    double tile = (double)plx__min(QUERIES, queries) * (double)plx__min(ITEMS, items);
    return 8.0 * ((double)(queries + items) * (double)(cols + 2) + (double)plx__workers(ctx) * tile);
}
