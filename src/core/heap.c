/*
 * Positions are kept beside the heap, so that any member can be removed or moved in O(log n).
 */
#include "core/heap.h"

plx_status plx__heap_init(plx__heap *heap, plx__arena *arena, plx_index capacity, plx__before_fn before, const void *of)
{
    *heap = (plx__heap){.before = before, .of = of};
    PLX_TRY(plx__arena_i32(&heap->item, arena, capacity));
    PLX_TRY(plx__arena_i32(&heap->place, arena, capacity));
    for (plx_index i = 0; i < capacity; i++) heap->place[i] = -1;
    return PLX_OK;
}

static void put(plx__heap *heap, plx_index at, int32_t number)
{
    heap->item[at] = number;
    heap->place[number] = (int32_t)at;
}

static void settle(plx__heap *heap, plx_index at)
{
    int32_t number = heap->item[at];
    for (; at > 0 && heap->before(heap->of, number, heap->item[(at - 1) / 2]); at = (at - 1) / 2)
        put(heap, at, heap->item[(at - 1) / 2]);
    for (plx_index child = 2 * at + 1; child < heap->count; child = 2 * at + 1) {
        if (child + 1 < heap->count && heap->before(heap->of, heap->item[child + 1], heap->item[child])) child++;
        if (!heap->before(heap->of, heap->item[child], number)) break;
        put(heap, at, heap->item[child]);
        at = child;
    }
    put(heap, at, number);
}

void plx__heap_push(plx__heap *heap, int32_t number)
{
    put(heap, heap->count++, number);
    settle(heap, heap->count - 1);
}

void plx__heap_update(plx__heap *heap, int32_t number) { settle(heap, heap->place[number]); }

void plx__heap_remove(plx__heap *heap, int32_t number)
{
    plx_index at = heap->place[number];
    if (at < 0) return;
    int32_t last = heap->item[--heap->count];
    heap->place[number] = -1;
    if (last == number) return;
    put(heap, at, last);
    settle(heap, at);
}

int32_t plx__heap_pop(plx__heap *heap)
{
    int32_t top = heap->item[0];
    plx__heap_remove(heap, top);
    return top;
}
