/*
 * A binary heap of small numbers 0 .. capacity - 1, ordered by the caller.
 */
#ifndef PLX_CORE_HEAP_H
#define PLX_CORE_HEAP_H

#include "core/arena.h"

/* Does a come before b? A total order. */
typedef bool (*plx__before_fn)(const void *of, int32_t a, int32_t b);

typedef struct plx__heap {
    plx_index count;
    int32_t *item;  /* the first is the top */
    int32_t *place; /* of every number in `item`, -1: not in the heap */
    plx__before_fn before;
    const void *of;
} plx__heap;

plx_status plx__heap_init(plx__heap *heap, plx__arena *arena, plx_index capacity, plx__before_fn before,
                          const void *of);
void plx__heap_push(plx__heap *heap, int32_t number); /* not in the heap yet */
int32_t plx__heap_pop(plx__heap *heap);               /* the top; the heap is not empty */
void plx__heap_remove(plx__heap *heap, int32_t number);
void plx__heap_update(plx__heap *heap, int32_t number); /* its order has changed */

#endif
