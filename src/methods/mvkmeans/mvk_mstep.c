/*
 * M step: centroids as normalised sums of unit rows.
 *
 * The members of every class are listed in sample order and cut into slabs of a fixed length; every slab is summed on
 * its own, then the slabs of a class are added in order. Lengths depend on the data alone, so do the roundings.
 */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/dense.h"
#include "methods/mvkmeans/mvkmeans.h"

enum { LEAST_SLAB = 256, TRANSPOSE_ROWS = 512 };

typedef struct slab {
    plx_index class, begin, end; /* members begin .. end-1 of the list */
} slab;

typedef struct sums {
    mvk *m;
    mvk_channel *ch;
    const int32_t *label; /* NULL: patterns */
    plx_index stride, channel;
    plx_index *ptr, *member;
    slab *slabs;
    plx_index n_slabs, *first_slab; /* k + 1 */
    double *partial;                /* n_slabs x cols */
} sums;

/* ---- who belongs to which class ---- */

/* Calls for every class of sample j: counts when `list` is false, lists otherwise. */
static void visit(sums *q, plx_index j, plx_index *next, bool list)
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

static plx_status list_members(sums *q)
{
    mvk *m = q->m;
    plx__arena *scratch = plx__scratch(m->ctx);
    plx_index *next = NULL;
    PLX_TRY(plx__arena_i64(&q->ptr, scratch, m->k + 1));
    PLX_TRY(plx__arena_i64(&next, scratch, m->k));
    for (plx_index j = 0; j < m->n; j++) visit(q, j, next, false);
    for (plx_index c = 0; c < m->k; c++) {
        q->ptr[c + 1] = q->ptr[c] + next[c];
        next[c] = q->ptr[c];
    }
    PLX_TRY(plx__arena_i64(&q->member, scratch, q->ptr[m->k]));
    for (plx_index j = 0; j < m->n; j++) visit(q, j, next, true);
    return PLX_OK;
}

static plx_status cut_slabs(sums *q)
{
    mvk *m = q->m;
    plx_index total = q->ptr[m->k], length = plx__max(LEAST_SLAB, total / MVK_SLABS + 1);
    PLX_TRY(PLX__ARENA_NEW(&q->slabs, plx__scratch(m->ctx), m->k + total / length + 1));
    PLX_TRY(plx__arena_i64(&q->first_slab, plx__scratch(m->ctx), m->k + 1));
    for (plx_index c = 0; c < m->k; c++) {
        q->first_slab[c] = q->n_slabs;
        for (plx_index b = q->ptr[c]; b < q->ptr[c + 1]; b += length)
            q->slabs[q->n_slabs++] = (slab){c, b, plx__min(q->ptr[c + 1], b + length)};
    }
    q->first_slab[m->k] = q->n_slabs;
    q->partial = m->partial;
    return PLX_OK;
}

/* ---- summing ---- */

static plx_status sum_slabs(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    sums *q = arg;
    (void)ctx, (void)worker;
    for (plx_index t = begin; t < end; t++) {
        memset(q->partial + t * q->ch->cols, 0, (size_t)q->ch->cols * sizeof *q->partial);
        for (plx_index i = q->slabs[t].begin; i < q->slabs[t].end; i++)
            for (plx_index part = 0; part < q->ch->n_parts; part++)
                plx__mvk_add_row(q->partial + t * q->ch->cols, &q->ch->parts[part], q->member[i]);
    }
    return PLX_OK;
}

/* A class without members, or whose members cancel, keeps its centroid. */
static plx_status join_slabs(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    sums *q = arg;
    plx_index cols = q->ch->cols;
    (void)ctx, (void)worker;
    for (plx_index c = begin; c < end; c++) {
        plx_index first = q->first_slab[c], last = q->first_slab[c + 1];
        if (first == last) continue;
        double *sum = q->partial + first * cols;
        for (plx_index t = first + 1; t < last; t++) plx__axpy(sum, 1.0, q->partial + t * cols, cols);
        double norm = plx__norm(sum, cols);
        if (!(norm > 0)) continue;
        double *to = q->ch->centroids.data + c * q->ch->centroids.ld;
        for (plx_index f = 0; f < cols; f++) to[f] = sum[f] / norm;
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
    sums q = {.m = m, .ch = &m->channels[c], .label = label, .stride = stride, .channel = c};
    PLX_TRY(list_members(&q));
    PLX_TRY(cut_slabs(&q));
    PLX_TRY(plx__parallel_for(m->ctx, q.n_slabs, 1, sum_slabs, &q));
    PLX_TRY(plx__parallel_for(m->ctx, m->k, 1, join_slabs, &q));
    plx__arena_rewind(plx__scratch(m->ctx), mark);
    return plx__mvk_refresh_columns(m, c);
}

plx_status plx__mvk_all_centroids(mvk *m)
{
    for (plx_index c = 0; c < m->n_channels; c++) PLX_TRY(plx__mvk_centroids(m, c, m->label, m->label_width));
    return PLX_OK;
}
