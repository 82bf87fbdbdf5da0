/*
 * How good the lists are: ranked by directly computed distances, and compared with those of exact search on a sample.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"
#include "graph/descent_impl.h"
#include "linalg/knn.h"

enum { SAMPLE = 1000 };

/* ---- exact distances of what was found ---- */

static int by_distance(const void *a_, const void *b_)
{
    const plx__ranked *a = a_, *b = b_;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* Beyond the k-th, what rounding in single precision may have put behind is ranked too. */
plx_index plx__descent_rank(const plx__descent_rows *rows, const plx__descent_lists *lists, plx_index k,
                            plx_index position, plx__ranked *ranks)
{
    const plx__found *item = lists->item + position * lists->length;
    plx_index count = 0, own = rows->row[position];
    float last = item[plx__min(k, lists->length) - 1].separation;
    for (; count < lists->length && item[count].tag != PLX__NOBODY; count++) {
        if (count >= k && item[count].separation > last + 1e-4f * last) break;
        plx_index other = rows->row[plx__found_position(item[count])];
        double d = plx__point_distance(rows->source, own, rows->source, other, rows->metric);
        ranks[count] = (plx__ranked){plx__distance_key(d), d, other};
    }
    qsort(ranks, (size_t)count, sizeof *ranks, by_distance);
    return plx__min(count, k);
}

/* ---- the sample ---- */

static plx_status gather_rows(plx__points *out, plx_context *ctx, plx__points p, const plx_index *rows, plx_index count)
{
    plx_csr sparse;
    plx_mat dense;
    if (plx__points_sparse(p)) {
        PLX_TRY(plx__csr_select_rows(&sparse, plx__scratch(ctx), p.csr, rows, count));
        *out = plx__points_csr(plx__ccsr(sparse));
        return PLX_OK;
    }
    PLX_TRY(plx__arena_mat(&dense, plx__scratch(ctx), count, p.dense.cols));
    for (plx_index i = 0; i < count; i++)
        memcpy(dense.data + i * dense.ld, p.dense.data + rows[i] * p.dense.ld, (size_t)p.dense.cols * sizeof(double));
    *out = plx__points_dense(plx__cmat(dense));
    return PLX_OK;
}

static void draw_positions(plx__recall_sample *sample, plx_index *row, const plx__descent_rows *rows, uint64_t seed)
{
    for (plx_index t = 0; t < sample->count; t++) {
        double u = plx__rng_uniform(seed, PLX__STREAM('k', 'n', 'n', 'r', 0), (uint64_t)t);
        double at = ((double)t + u) / (double)sample->count * (double)rows->n;
        sample->position[t] = plx__min((plx_index)at, rows->n - 1);
        row[t] = rows->row[sample->position[t]];
    }
}

plx_status plx__recall_sample_take(plx__recall_sample *out, plx_context *ctx, const plx__descent_rows *rows,
                                   plx_index k, const uint8_t *present)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx__knn_options o = {.k = k + 1, .metric = rows->metric, .present = present}; /* one is the row itself */
    plx_index *row = NULL;
    int64_t *index = NULL;
    double *distance = NULL;
    plx__points queries;
    *out = (plx__recall_sample){.count = plx__min(SAMPLE, rows->n), .k = k};
    PLX_TRY(plx__arena_i64(&out->position, scratch, out->count));
    PLX_TRY(plx__arena_f64(&out->reach, scratch, out->count, 1));
    plx__mark mark = plx__arena_mark(scratch);
    PLX_TRY(plx__arena_i64(&row, scratch, out->count));
    PLX_TRY(plx__arena_i64(&index, scratch, out->count * o.k));
    PLX_TRY(plx__arena_f64(&distance, scratch, out->count, o.k));
    draw_positions(out, row, rows, ctx->seed);
    PLX_TRY(gather_rows(&queries, ctx, rows->source, row, out->count));
    PLX_TRY(plx__knn(ctx, queries, rows->source, &o, index, distance));
    for (plx_index t = 0; t < out->count; t++) {
        plx_index last = k - 1; /* where k others are as near as the row itself, it may not be listed */
        for (plx_index j = 0; j < k; j++)
            if (index[t * o.k + j] == row[t]) last = k;
        out->reach[t] = plx__distance_key(distance[t * o.k + last]);
    }
    plx__arena_rewind(scratch, mark);
    return PLX_OK;
}

plx_status plx__recall_measure(double *out, plx_context *ctx, const plx__recall_sample *sample,
                               const plx__descent_rows *rows, const plx__descent_lists *lists)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx__ranked *ranks = NULL;
    plx_index found = 0;
    PLX_TRY(plx__arena_bytes((void **)&ranks, plx__scratch(ctx), lists->length, sizeof *ranks));
    for (plx_index t = 0; t < sample->count; t++) {
        plx_index count = plx__descent_rank(rows, lists, sample->k, sample->position[t], ranks);
        for (plx_index j = 0; j < count; j++) found += ranks[j].key <= sample->reach[t];
    }
    *out = (double)found / ((double)sample->count * (double)sample->k);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

double plx__recall_sample_bytes(const plx_context *ctx, plx_index n, plx_index k, double entries, bool sparse)
{
    double each = entries / (double)plx__max(1, n), rows = fmin(SAMPLE, (double)n);
    return plx__knn_bytes(ctx, n, k + 1, entries, sparse) + rows * (16.0 * (double)(k + 1) + 40.0 + 4 * 12.0 * each);
}
