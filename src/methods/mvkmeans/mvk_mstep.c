/*
 * M step: centroids as normalised sums of unit rows, added up slab by slab.
 */
#include "core/parallel.h"
#include "core/slabs.h"
#include "linalg/dense.h"
#include "methods/mvkmeans/mvkmeans.h"

enum { TRANSPOSE_ROWS = 512 };

typedef struct listing {
    mvk *m;
    mvk_channel *ch;
    const int32_t *label; /* NULL: patterns */
    plx_index stride, channel;
    plx_index *member;
} listing;

/* Calls for every class of sample j: counts when `list` is false, lists otherwise. */
static void visit(listing *q, plx_index j, plx_index *next, bool list)
{
    mvk *m = q->m;
    if (!q->ch->present[j]) return;
    if (q->label) {
        int32_t c = q->label[j * q->stride];
        if (c < 0) return;
        if (list) q->member[next[c]] = j;
        next[c]++;
        return;
    }
    unsigned bit = m->per_view ? 1u << (m->n_channels - 1 - q->channel) : 1u;
    const uint16_t *row = m->pattern + j * m->k;
    for (plx_index c = 0; c < m->k; c++) {
        if (!(row[c] & bit)) continue;
        if (list) q->member[next[c]] = j;
        next[c]++;
    }
}

/* Of samples begin .. end-1. */
static plx_status list_members(plx__members *out, listing *q, plx_index begin, plx_index end)
{
    mvk *m = q->m;
    plx__arena *scratch = plx__scratch(m->ctx);
    plx_index *ptr = NULL, *next = NULL;
    PLX_TRY(plx__arena_i64(&ptr, scratch, m->k + 1));
    PLX_TRY(plx__arena_i64(&next, scratch, m->k));
    for (plx_index j = begin; j < end; j++) visit(q, j, next, false);
    for (plx_index c = 0; c < m->k; c++) {
        ptr[c + 1] = ptr[c] + next[c];
        next[c] = ptr[c];
    }
    PLX_TRY(plx__arena_i64(&q->member, scratch, ptr[m->k]));
    for (plx_index j = begin; j < end; j++) visit(q, j, next, true);
    *out = (plx__members){m->k, ptr, q->member};
    return PLX_OK;
}

/* The sums of a pane's members, class by class, onto the table (k x cols). */
static plx_status sum_pane(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *table)
{
    listing *q = arg;
    plx_index k = q->m->k, cols = q->ch->cols;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx__members members;
    double **sum = NULL;
    PLX_TRY(list_members(&members, q, begin, end));
    PLX_TRY(PLX__ARENA_NEW(&sum, plx__scratch(ctx), k));
    PLX_TRY(plx__class_sums(sum, ctx, q->ch->parts, q->ch->n_parts, cols, members, q->m->partial));
    for (plx_index c = 0; c < k; c++)
        if (sum[c]) plx__axpy(table + c * cols, 1.0, sum[c], cols);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

typedef struct class_means {
    mvk_channel *ch;
    const double *sum; /* k x cols */
} class_means;

/* A class without members, or whose members cancel, keeps its centroid. */
static plx_status normalise(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const class_means *q = arg;
    (void)ctx, (void)worker;
    for (plx_index c = begin; c < end; c++) {
        const double *sum = q->sum + c * q->ch->cols;
        double norm = plx__norm(sum, q->ch->cols), *to = q->ch->centroids.data + c * q->ch->centroids.ld;
        if (!(norm > 0)) continue;
        for (plx_index f = 0; f < q->ch->cols; f++) to[f] = sum[f] / norm;
    }
    return PLX_OK;
}

static plx_status transpose_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const mvk_channel *ch = arg;
    (void)ctx, (void)worker;
    for (plx_index c = 0; c < ch->centroids.rows; c++) {
        const double *from = ch->centroids.data + c * ch->centroids.ld;
        for (plx_index f = begin; f < end; f++) ch->columns.data[f * ch->columns.ld + c] = from[f];
    }
    return PLX_OK;
}

plx_status plx__mvk_refresh_columns(mvk *m, plx_index c)
{
    return plx__parallel_for(m->ctx, m->channels[c].cols, TRANSPOSE_ROWS, transpose_rows, &m->channels[c]);
}

plx_status plx__mvk_centroids(mvk *m, plx_index c, const int32_t *label, plx_index stride)
{
    plx__mark mark = plx__arena_mark(plx__scratch(m->ctx));
    mvk_channel *ch = &m->channels[c];
    listing q = {.m = m, .ch = ch, .label = label, .stride = stride, .channel = c};
    class_means means = {ch, m->sums};
    bool done = false;
    PLX_TRY(plx__mvk_device_sums(&done, m, c, label));
    if (!done) PLX_TRY(plx__slabs_sum(m->ctx, m->cut, m->k * ch->cols, sum_pane, &q, m->sums));
    PLX_TRY(plx__parallel_for(m->ctx, m->k, 1, normalise, &means));
    plx__arena_rewind(plx__scratch(m->ctx), mark);
    return plx__mvk_refresh_columns(m, c);
}

plx_status plx__mvk_all_centroids(mvk *m)
{
    for (plx_index c = 0; c < m->n_channels; c++) PLX_TRY(plx__mvk_centroids(m, c, m->label, m->label_width));
    return PLX_OK;
}
