/*
 * What a round brings to which process follows from the joined samples alone, so every process knows all lists without
 * asking.
 */
#include "graph/near_rows.h"

#include <stdlib.h>

#include "core/ranks.h"
#include "data/divided.h"

/* Samples of a process in a round: with what they are joined with, half as many rows as a process has. */
static plx_index step_of(plx__slabs cut, plx_index longest) { return plx__max(1, cut.rows / (2 * (longest + 1))); }

static void samples_of(plx_index *begin, plx_index *end, const plx__near_rows *z, const plx_context *ctx, int rank,
                       plx_index round)
{
    plx__slabs_of_rank(begin, end, ctx, z->cut, rank);
    *begin = plx__min(*end, *begin + round * z->step);
    *end = plx__min(*end, *begin + z->step);
}

static plx_index rounds_of(const plx__near_rows *z) { return (z->cut.rows + z->step - 1) / z->step; }

plx_status plx__near_rows_open(plx__near_rows *out, plx_context *ctx, plx_ccsr joined)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx_index longest = 0, most = 0;
    for (plx_index i = 0; i < joined.rows; i++) longest = plx__max(longest, joined.ptr[i + 1] - joined.ptr[i]);
    *out = (plx__near_rows){.cut = plx__slabs_even(ctx, joined.rows), .joined = joined, .round = -1};
    out->step = step_of(out->cut, longest);
    for (plx_index round = 0; round < rounds_of(out); round++) {
        plx_index room = 0, begin = 0, end = 0;
        for (int r = 0; r < plx__ranks(ctx); r++) {
            samples_of(&begin, &end, out, ctx, r, round);
            room += plx__min(joined.rows, end - begin + joined.ptr[end] - joined.ptr[begin]);
        }
        most = plx__max(most, room);
    }
    PLX_TRY(plx__arena_i64(&out->list, scratch, most));
    PLX_TRY(plx__arena_i64(&out->to, scratch, plx__ranks(ctx) + 1));
    PLX_TRY(plx__arena_i32(&out->place, scratch, joined.rows));
    out->at = out->place;
    return plx__arena_u8(&out->taken, scratch, joined.rows);
}

static void take(plx__near_rows *z, plx_index sample, plx_index *count)
{
    if (!z->taken[sample]) z->list[(*count)++] = sample;
    z->taken[sample] = 1;
}

static int ascending(const void *x, const void *y)
{
    plx_index a = *(const plx_index *)x, b = *(const plx_index *)y;
    return (a > b) - (a < b);
}

/* Samples begin .. end-1 and those that they are joined with, each once and in order, from `count` of the list on. */
static plx_index collect(plx__near_rows *z, plx_index begin, plx_index end, plx_index count)
{
    plx_index first = count;
    for (plx_index i = begin; i < end; i++) take(z, i, &count);
    for (plx_index p = z->joined.ptr[begin]; p < z->joined.ptr[end]; p++) take(z, z->joined.col[p], &count);
    qsort(z->list + first, (size_t)(count - first), sizeof *z->list, ascending);
    for (plx_index c = first; c < count; c++) z->taken[z->list[c]] = 0;
    return count;
}

bool plx__near_rows_next(plx__near_rows *z, const plx_context *ctx)
{
    plx_index begin = 0, end = 0;
    if (++z->round >= rounds_of(z)) return false;
    for (int r = 0; r < plx__ranks(ctx); r++) {
        samples_of(&begin, &end, z, ctx, r, z->round);
        z->to[r + 1] = collect(z, begin, end, z->to[r]);
    }
    samples_of(&z->begin, &z->end, z, ctx, plx__rank(ctx), z->round);
    z->sample = z->list + z->to[plx__rank(ctx)];
    z->count = z->to[plx__rank(ctx) + 1] - z->to[plx__rank(ctx)];
    for (plx_index c = 0; c < z->count; c++) z->place[z->sample[c]] = (int32_t)c;
    z->first = z->begin < z->end ? z->at[z->begin] : 0;
    return true;
}

plx_status plx__near_rows_fetch(plx__points *out, plx_context *ctx, const plx__near_rows *z, plx__points from,
                                const plx_index *bound)
{
    plx_index begin = z->to[plx__rank(ctx)];
    plx__points all;
    PLX_TRY(plx__rows_fetch(&all, ctx, from, bound, z->list, z->to[plx__ranks(ctx)], z->to));
    *out = plx__points_range(all, begin, begin + z->count);
    return PLX_OK;
}

plx_status plx__near_rows_share(plx_context *ctx, plx__slabs cut, plx_csr a)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    size_t *offset = NULL;
    PLX_TRY(PLX__ARENA_NEW(&offset, plx__scratch(ctx), plx__ranks(ctx) + 1));
    for (int r = 0; r < plx__ranks(ctx); r++) {
        plx_index begin = 0, end = 0;
        plx__slabs_of_rank(&begin, &end, ctx, cut, r);
        offset[r + 1] = (size_t)a.ptr[end] * sizeof *a.val;
    }
    PLX_TRY(plx__peers_share(ctx, a.val, offset));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* Rows come, and on average as many go; lists of all processes, and lengths of rows. */
double plx__near_rows_bytes(const plx_context *ctx, plx_index n, plx_index k, double bytes)
{
    plx__slabs cut = plx__slabs_even(ctx, n);
    double size = (double)n, rows = fmin(size, (double)(step_of(cut, k) * (k + 1)));
    return 2 * rows * bytes / fmax(1, size) + 16 * fmin(size, rows) * plx__ranks(ctx) + 8 * (double)cut.rows +
           24 * rows + 5 * size;
}
