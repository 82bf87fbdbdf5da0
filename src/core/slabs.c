/*
 * Passes over the slabs, one after the other.
 */
#include "core/slabs.h"

#include <string.h>

#include "core/parallel.h"
#include "core/ranks.h"

enum { NUMBERS_AT_A_TIME = 1 << 14 };

plx__slabs plx__slabs_cut(plx_index n, plx_index pane)
{
    plx__slabs cut = {.n = n, .pane = plx__max(1, pane)};
    plx_index panes = plx__max(1, n / cut.pane + (n % cut.pane != 0));
    plx_index most = plx__max(PLX__MOST_SLABS, plx__min(PLX__MOST_SLABS_EVER, panes / PLX__PANES_OF_A_SLAB));
    cut.rows = cut.pane * (panes / most + (panes % most != 0));
    cut.count = plx__max(1, n / cut.rows + (n % cut.rows != 0));
    return cut;
}

plx__slabs plx__slabs_even(const plx_context *ctx, plx_index n)
{
    plx_index ranks = plx__ranks(ctx), rows = plx__max(1, (n + ranks - 1) / ranks);
    return (plx__slabs){.n = n, .pane = rows, .rows = rows, .count = plx__max(1, (n + rows - 1) / rows)};
}

plx_index plx__pane_part(plx_index wanted)
{
    plx_index part = PLX__PANE_ROWS;
    while (part % 2 == 0 && part * part > 2 * wanted * wanted) part /= 2;
    return part;
}

/* ---- whose they are ---- */

/* Where the slabs of `rank` begin: at the edge nearest to its even share of the samples, since the last slab may be short
 * and a few slabs do not divide evenly by number. Everybody has one as long as there are enough, rank 0 always. */
static plx_index first_slab(plx__slabs cut, int rank, int ranks)
{
    if (cut.count <= ranks) return plx__min(cut.count, rank);
    double share = (double)cut.n / (double)cut.rows * rank / ranks;
    plx_index nearest = rank == ranks ? cut.count : (plx_index)(share + 0.5);
    return plx__max(rank, plx__min(nearest, cut.count - (ranks - rank)));
}

/* Slabs first .. last-1 are rank's. */
static void run_of(plx_index *first, plx_index *last, plx__slabs cut, int rank, int ranks)
{
    *first = cut.alone ? 0 : first_slab(cut, rank, ranks);
    *last = cut.alone ? cut.count : first_slab(cut, rank + 1, ranks);
}

plx_index plx__slabs_most(const plx_context *ctx, plx__slabs cut)
{
    plx_index most = 0;
    for (int r = 0; r < plx__ranks(ctx); r++) {
        plx_index first = 0, last = 0;
        run_of(&first, &last, cut, r, plx__ranks(ctx));
        most = plx__max(most, last - first);
    }
    return most;
}

void plx__slabs_part(plx_index *begin, plx_index *end, plx__slabs cut, int rank, int ranks)
{
    plx_index first = 0, last = 0;
    run_of(&first, &last, cut, rank, ranks);
    *begin = plx__min(cut.n, first * cut.rows);
    *end = plx__min(cut.n, last * cut.rows);
}

void plx__slabs_of_rank(plx_index *begin, plx_index *end, const plx_context *ctx, plx__slabs cut, int rank)
{
    plx__slabs_part(begin, end, cut, rank, plx__ranks(ctx));
}

void plx__slabs_mine(plx_index *begin, plx_index *end, const plx_context *ctx, plx__slabs cut)
{
    plx__slabs_part(begin, end, cut, plx__rank(ctx), plx__ranks(ctx));
}

void plx__slabs_bounds(plx_index *bound, const plx_context *ctx, plx__slabs cut)
{
    for (int r = 0; r < plx__ranks(ctx); r++) plx__slabs_part(&bound[r], &bound[r + 1], cut, r, plx__ranks(ctx));
}

plx_status plx__slabs_share(plx_context *ctx, plx__slabs cut, void *rows, size_t bytes, plx_index group)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    size_t *offset = NULL;
    if (!rows || cut.alone || plx__ranks(ctx) == 1) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&offset, plx__scratch(ctx), plx__ranks(ctx) + 1));
    for (int r = 0; r < plx__ranks(ctx); r++) {
        plx_index begin = 0, end = 0;
        plx__slabs_part(&begin, &end, cut, r, plx__ranks(ctx));
        offset[r + 1] = (size_t)((end + group - 1) / group) * bytes;
    }
    PLX_TRY(plx__peers_share(ctx, rows, offset));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* ---- rows that stand for samples ---- */

plx_index plx__slab_row(const plx__slab_rows *r, plx_index sample)
{
    plx_index low = 0, high = r->n;
    if (!r->at) return plx__min(sample, r->n);
    while (low < high) {
        plx_index middle = low + (high - low) / 2;
        if (r->at[middle] < sample) low = middle + 1;
        else high = middle;
    }
    return low;
}

void plx__slab_rows_mine(plx_index *begin, plx_index *end, const plx_context *ctx, const plx__slab_rows *r)
{
    plx__slabs_mine(begin, end, ctx, r->cut);
    *begin = plx__slab_row(r, *begin);
    *end = plx__slab_row(r, *end);
}

int plx__slab_row_owner(const plx_context *ctx, const plx__slab_rows *r, plx_index i)
{
    plx_index sample = r->at ? r->at[i] : i, begin = 0, end = 0;
    int owner = 0;
    for (; owner + 1 < plx__ranks(ctx); owner++) {
        plx__slabs_of_rank(&begin, &end, ctx, r->cut, owner);
        if (sample < end) break;
    }
    return owner;
}

plx_status plx__slab_rows_share(plx_context *ctx, const plx__slab_rows *r, void *rows, size_t bytes)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    size_t *offset = NULL;
    if (r->cut.alone || plx__ranks(ctx) == 1) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&offset, plx__scratch(ctx), plx__ranks(ctx) + 1));
    for (int k = 0; k < plx__ranks(ctx); k++) {
        plx_index begin = 0, end = 0;
        plx__slabs_of_rank(&begin, &end, ctx, r->cut, k);
        offset[k + 1] = (size_t)plx__slab_row(r, end) * bytes;
    }
    PLX_TRY(plx__peers_share(ctx, rows, offset));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

double *plx__rows_at(double *values, plx_index begin, plx_index cols)
{
    return (double *)((uintptr_t)values - (uintptr_t)begin * (uintptr_t)cols * sizeof *values);
}

/* ---- passes ---- */

static plx_status visit_slab(plx_context *ctx, plx__slabs cut, plx_index slab, plx__pane_fn fn, void *arg,
                             double *table)
{
    plx_index end = plx__min(cut.n, (slab + 1) * cut.rows);
    for (plx_index begin = slab * cut.rows; begin < end; begin += cut.pane) {
        PLX_TRY(plx__poll(ctx));
        PLX_TRY(fn(arg, ctx, begin, plx__min(end, begin + cut.pane), table));
    }
    return PLX_OK;
}

typedef struct addition {
    double *to;
    const double *from;
} addition;

static plx_status add_numbers(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const addition *q = arg;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++) q->to[i] += q->from[i];
    return PLX_OK;
}

/* table = the sum over slabs first .. last-1, in order. */
static plx_status sum_run(plx_context *ctx, plx__slabs cut, plx_index first, plx_index last, plx_index width,
                          plx__pane_fn fn, void *arg, double *table)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *own = NULL;
    memset(table, 0, (size_t)width * sizeof *table);
    if (last > first + 1) PLX_TRY(plx__arena_f64(&own, plx__scratch(ctx), width, 1));
    if (last > first) PLX_TRY(visit_slab(ctx, cut, first, fn, arg, table)); /* nothing stands before it */
    for (plx_index s = first + 1; s < last; s++) {
        addition q = {table, own};
        if (s > first + 1) memset(own, 0, (size_t)width * sizeof *own);
        PLX_TRY(visit_slab(ctx, cut, s, fn, arg, own));
        PLX_TRY(plx__parallel_for(ctx, width, NUMBERS_AT_A_TIME, add_numbers, &q));
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* Every slab of this process has to keep its table until those before it are summed up; unless nobody asked for the same
 * bytes, and the program has a faster way to sum. */
static plx_status sum_together(plx_context *ctx, plx__slabs cut, plx_index width, plx__pane_fn fn, void *arg,
                               double *table)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index first = 0, last = 0;
    double *own = NULL;
    run_of(&first, &last, cut, plx__rank(ctx), plx__ranks(ctx));
    if (!ctx->deterministic && ctx->engines.sum) {
        PLX_TRY(sum_run(ctx, cut, first, last, width, fn, arg, table));
        return plx__peers_add(ctx, table, width);
    }
    PLX_TRY(plx__arena_f64(&own, plx__scratch(ctx), last - first, width));
    for (plx_index s = first; s < last; s++) PLX_TRY(visit_slab(ctx, cut, s, fn, arg, own + (s - first) * width));
    PLX_TRY(plx__peers_sum(ctx, own, last - first, width, table));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__slabs_sum(plx_context *ctx, plx__slabs cut, plx_index width, plx__pane_fn fn, void *arg, double *table)
{
    if (plx__ranks(ctx) > 1 && !cut.alone) return sum_together(ctx, cut, width, fn, arg, table);
    return sum_run(ctx, cut, 0, cut.count, width, fn, arg, table);
}

plx_status plx__slabs_each(plx_context *ctx, plx__slabs cut, plx__pane_fn fn, void *arg)
{
    plx_index first = 0, last = 0;
    run_of(&first, &last, cut, plx__rank(ctx), plx__ranks(ctx));
    for (plx_index s = first; s < last; s++) PLX_TRY(visit_slab(ctx, cut, s, fn, arg, NULL));
    return PLX_OK;
}
