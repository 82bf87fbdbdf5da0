/*
 * M step: centroids as normalised sums of unit rows.
 */
#include "core/parallel.h"
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

static plx_status list_members(plx__members *out, listing *q)
{
    mvk *m = q->m;
    plx__arena *scratch = plx__scratch(m->ctx);
    plx_index *ptr = NULL, *next = NULL;
    PLX_TRY(plx__arena_i64(&ptr, scratch, m->k + 1));
    PLX_TRY(plx__arena_i64(&next, scratch, m->k));
    for (plx_index j = 0; j < m->n; j++) visit(q, j, next, false);
    for (plx_index c = 0; c < m->k; c++) {
        ptr[c + 1] = ptr[c] + next[c];
        next[c] = ptr[c];
    }
    PLX_TRY(plx__arena_i64(&q->member, scratch, ptr[m->k]));
    for (plx_index j = 0; j < m->n; j++) visit(q, j, next, true);
    *out = (plx__members){m->k, ptr, q->member};
    return PLX_OK;
}

typedef struct class_means {
    mvk_channel *ch;
    double **sum; /* k */
} class_means;

/* A class without members, or whose members cancel, keeps its centroid. */
static plx_status normalise(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const class_means *q = arg;
    (void)ctx, (void)worker;
    for (plx_index c = begin; c < end; c++) {
        const double *sum = q->sum[c];
        double norm = sum ? plx__norm(sum, q->ch->cols) : 0, *to = q->ch->centroids.data + c * q->ch->centroids.ld;
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
    plx__members members;
    class_means means = {ch, NULL};
    PLX_TRY(list_members(&members, &q));
    PLX_TRY(PLX__ARENA_NEW(&means.sum, plx__scratch(m->ctx), m->k));
    PLX_TRY(plx__class_sums(means.sum, m->ctx, ch->parts, ch->n_parts, ch->cols, members, m->partial));
    PLX_TRY(plx__parallel_for(m->ctx, m->k, 1, normalise, &means));
    plx__arena_rewind(plx__scratch(m->ctx), mark);
    return plx__mvk_refresh_columns(m, c);
}

plx_status plx__mvk_all_centroids(mvk *m)
{
    for (plx_index c = 0; c < m->n_channels; c++) PLX_TRY(plx__mvk_centroids(m, c, m->label, m->label_width));
    return PLX_OK;
}
