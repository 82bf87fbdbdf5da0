/*
 * Sums of rows by class.
 *
 * The members of every class are listed in sample order and cut into slabs of a fixed length; every slab is summed on
 * its own, then the slabs of a class are added in order. Lengths depend on the data alone, so do the roundings.
 */
#include <string.h>

#include "core/parallel.h"
#include "linalg/dense.h"
#include "data/row_parts.h"

enum { LEAST_SLAB = 256 };

plx_status plx__members_of(plx__members *out, plx_context *ctx, const int32_t *label, plx_index n, plx_index k)
{
    plx_index *ptr = NULL, *next = NULL, *member = NULL;
    PLX_TRY(plx__arena_i64(&ptr, plx__scratch(ctx), k + 1));
    PLX_TRY(plx__arena_i64(&next, plx__scratch(ctx), k));
    for (plx_index i = 0; i < n; i++)
        if (label[i] >= 0) next[label[i]]++;
    for (plx_index c = 0; c < k; c++) {
        ptr[c + 1] = ptr[c] + next[c];
        next[c] = ptr[c];
    }
    PLX_TRY(plx__arena_i64(&member, plx__scratch(ctx), ptr[k]));
    for (plx_index i = 0; i < n; i++)
        if (label[i] >= 0) member[next[label[i]]++] = i;
    *out = (plx__members){k, ptr, member};
    return PLX_OK;
}

typedef struct slab {
    plx_index class, begin, end; /* members begin .. end-1 of the list */
} slab;

typedef struct sums {
    const plx__row_part *parts;
    plx_index n_parts, cols;
    plx__members members;
    slab *slabs;
    plx_index n_slabs, *first_slab; /* k + 1 */
    double *partial;                /* n_slabs x cols */
    double **sum;
} sums;

static plx_status cut_slabs(sums *q, plx_context *ctx)
{
    const plx_index *ptr = q->members.ptr;
    plx_index k = q->members.k, total = ptr[k], length = plx__max(LEAST_SLAB, total / PLX__CLASS_SLABS + 1);
    PLX_TRY(PLX__ARENA_NEW(&q->slabs, plx__scratch(ctx), k + total / length + 1));
    PLX_TRY(plx__arena_i64(&q->first_slab, plx__scratch(ctx), k + 1));
    for (plx_index c = 0; c < k; c++) {
        q->first_slab[c] = q->n_slabs;
        for (plx_index b = ptr[c]; b < ptr[c + 1]; b += length)
            q->slabs[q->n_slabs++] = (slab){c, b, plx__min(ptr[c + 1], b + length)};
    }
    q->first_slab[k] = q->n_slabs;
    return PLX_OK;
}

static plx_status sum_slabs(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    sums *q = arg;
    (void)ctx, (void)worker;
    for (plx_index t = begin; t < end; t++) {
        memset(q->partial + t * q->cols, 0, (size_t)q->cols * sizeof *q->partial);
        for (plx_index i = q->slabs[t].begin; i < q->slabs[t].end; i++)
            for (plx_index part = 0; part < q->n_parts; part++)
                plx__part_add(q->partial + t * q->cols, &q->parts[part], q->members.member[i]);
    }
    return PLX_OK;
}

static plx_status join_slabs(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    sums *q = arg;
    (void)ctx, (void)worker;
    for (plx_index c = begin; c < end; c++) {
        plx_index first = q->first_slab[c], last = q->first_slab[c + 1];
        q->sum[c] = first == last ? NULL : q->partial + first * q->cols;
        for (plx_index t = first + 1; t < last; t++) plx__axpy(q->sum[c], 1.0, q->partial + t * q->cols, q->cols);
    }
    return PLX_OK;
}

plx_status plx__class_sums(double **sum, plx_context *ctx, const plx__row_part *parts, plx_index n_parts,
                           plx_index cols, plx__members members, double *room)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    sums q = {.parts = parts, .n_parts = n_parts, .cols = cols, .members = members, .partial = room, .sum = sum};
    PLX_TRY(cut_slabs(&q, ctx));
    PLX_TRY(plx__parallel_for(ctx, q.n_slabs, 1, sum_slabs, &q));
    PLX_TRY(plx__parallel_for(ctx, members.k, 1, join_slabs, &q));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
