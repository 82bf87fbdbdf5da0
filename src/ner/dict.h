/*
 * Strings numbered in the order they are first seen; open addressing over whole keys, so none are merged. For features
 * and words, of which there are many: keys have a length, and are copied.
 */
#ifndef PLX_NER_DICT_H
#define PLX_NER_DICT_H

#include "core/ctx.h"

typedef struct plx__dict_key {
    const char *text; /* NUL-terminated */
    uint32_t length, hash;
} plx__dict_key;

typedef struct plx__dict {
    plx__arena *arena; /* of keys and tables; what a table outgrows stays in it */
    plx__dict_key *key;
    plx_index count, room;
    int32_t *slot; /* key number + 1, 0: free */
    plx_index slots;
    char *pool; /* where keys are put next */
    size_t pool_left;
} plx__dict;

plx_status plx__dict_init(plx__dict *d, plx__arena *arena, plx_index expected);

/* Number of a key; -1: absent. */
plx_index plx__dict_get(const plx__dict *d, const char *text, size_t length);

/* The same, added when it is absent. */
plx_status plx__dict_add(plx_index *out, plx__dict *d, const char *text, size_t length);

#endif
