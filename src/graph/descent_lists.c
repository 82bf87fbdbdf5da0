/*
 * Lists of the nearest found so far. Threads take turns at a list by a lock of its own, held for a few moves in memory;
 * the list ends up the same in whatever order they come.
 */
#include <math.h>
#include <sched.h>
#include <string.h>

#include "graph/descent_impl.h"

void plx__descent_lock(atomic_uchar *lock)
{
    for (int tries = 0; atomic_exchange_explicit(lock, 1, memory_order_acquire); tries++)
        if (tries >= 64) sched_yield(); /* the holder may have lost its processor */
}

void plx__descent_unlock(atomic_uchar *lock) { atomic_store_explicit(lock, 0, memory_order_release); }

static bool before(plx__found f, float separation, uint32_t position)
{
    return f.separation < separation || (f.separation == separation && plx__found_position(f) < position);
}

/* Sorted insertion; a pair that is there already stands exactly where it would be put. */
static void insert(plx__found *item, plx_index length, uint32_t other, float separation)
{
    plx_index low = 0, high = length;
    while (low < high) {
        plx_index middle = (low + high) / 2;
        if (before(item[middle], separation, other)) low = middle + 1;
        else high = middle;
    }
    if (low == length || (item[low].separation == separation && plx__found_position(item[low]) == other)) return;
    memmove(item + low + 1, item + low, (size_t)(length - 1 - low) * sizeof *item);
    item[low] = (plx__found){separation, other << 1 | 1u};
}

void plx__descent_offer(plx__descent_lists *lists, uint32_t position, uint32_t other, float separation)
{
    plx__found *item = lists->item + (plx_index)position * lists->length;
    plx__descent_lock(&lists->lock[position]);
    insert(item, lists->length, other, separation);
    atomic_store_explicit(&lists->limit[position], item[lists->length - 1].separation, memory_order_relaxed);
    plx__descent_unlock(&lists->lock[position]);
}

/* ---- memory ---- */

static plx_status open_items(plx__found **out, plx_context *ctx, plx_index n, plx_index length)
{
    size_t bytes = 0;
    if (__builtin_mul_overflow((size_t)n, (size_t)length * sizeof **out, &bytes) || !(*out = plx__alloc(ctx, bytes)))
        PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory for %lld neighbours of %lld samples", (long long)length,
                 (long long)n);
    for (plx_index p = 0; p < n * length; p++) (*out)[p] = (plx__found){INFINITY, PLX__NOBODY};
    return PLX_OK;
}

static size_t item_bytes(const plx__descent_lists *lists)
{
    return (size_t)(lists->n * lists->length) * sizeof *lists->item;
}

plx_status plx__descent_lists_open(plx__descent_lists *out, plx_context *ctx, plx_index n, plx_index length)
{
    *out = (plx__descent_lists){.n = n, .length = length};
    PLX_TRY(plx__arena_bytes((void **)&out->limit, plx__scratch(ctx), n, sizeof *out->limit));
    PLX_TRY(plx__arena_bytes((void **)&out->lock, plx__scratch(ctx), n, sizeof *out->lock));
    for (plx_index i = 0; i < n; i++) {
        atomic_init(&out->limit[i], INFINITY);
        atomic_init(&out->lock[i], 0);
    }
    return open_items(&out->item, ctx, n, length);
}

plx_status plx__descent_lists_grow(plx__descent_lists *lists, plx_context *ctx, plx_index length)
{
    plx__found *longer = NULL;
    PLX_TRY(open_items(&longer, ctx, lists->n, length));
    for (plx_index i = 0; i < lists->n; i++) {
        plx__found *to = longer + i * length;
        memcpy(to, lists->item + i * lists->length, (size_t)lists->length * sizeof *to);
        atomic_store_explicit(&lists->limit[i], to[length - 1].separation, memory_order_relaxed);
    }
    plx__release(ctx, lists->item, item_bytes(lists));
    lists->item = longer;
    lists->length = length;
    return PLX_OK;
}

void plx__descent_lists_close(plx__descent_lists *lists, plx_context *ctx)
{
    plx__release(ctx, lists->item, item_bytes(lists));
    lists->item = NULL;
}

double plx__descent_lists_bytes(plx_index n, plx_index length)
{
    return (double)n * ((double)length * sizeof(plx__found) + sizeof(float) + 1);
}
