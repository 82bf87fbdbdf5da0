/*
 * Passes over the slabs, one after the other.
 */
#include "core/slabs.h"

#include <string.h>

#include "core/parallel.h"

enum { NUMBERS_AT_A_TIME = 1 << 14 };

plx__slabs plx__slabs_cut(plx_index n, plx_index pane)
{
    plx__slabs cut = {.n = n, .pane = plx__max(1, pane)};
    plx_index panes = plx__max(1, n / cut.pane + (n % cut.pane != 0));
    cut.rows = cut.pane * (panes / PLX__MOST_SLABS + (panes % PLX__MOST_SLABS != 0));
    cut.count = plx__max(1, n / cut.rows + (n % cut.rows != 0));
    return cut;
}

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

plx_status plx__slabs_sum(plx_context *ctx, plx__slabs cut, plx_index width, plx__pane_fn fn, void *arg, double *table)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *own = NULL;
    memset(table, 0, (size_t)width * sizeof *table);
    if (cut.count > 1) PLX_TRY(plx__arena_f64(&own, plx__scratch(ctx), width, 1));
    PLX_TRY(visit_slab(ctx, cut, 0, fn, arg, table)); /* nothing stands before the first */
    for (plx_index s = 1; s < cut.count; s++) {
        addition q = {table, own};
        if (s > 1) memset(own, 0, (size_t)width * sizeof *own);
        PLX_TRY(visit_slab(ctx, cut, s, fn, arg, own));
        PLX_TRY(plx__parallel_for(ctx, width, NUMBERS_AT_A_TIME, add_numbers, &q));
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__slabs_each(plx_context *ctx, plx__slabs cut, plx__pane_fn fn, void *arg)
{
    for (plx_index s = 0; s < cut.count; s++) PLX_TRY(visit_slab(ctx, cut, s, fn, arg, NULL));
    return PLX_OK;
}
