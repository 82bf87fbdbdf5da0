/*
 * Strings numbered in the order they are first seen.
 */
#include "ner/dict.h"

#include <string.h>

enum { POOL = 1 << 16 };

static uint32_t hash_of(const char *text, size_t length)
{
    uint64_t h = UINT64_C(0x9E3779B97F4A7C15) ^ length, word = 0;
    for (; length >= 8; text += 8, length -= 8) {
        memcpy(&word, text, 8);
        h = (h ^ word) * UINT64_C(0xD6E8FEB86659FD93);
        h ^= h >> 32;
    }
    word = 0;
    memcpy(&word, text, length);
    h = (h ^ word) * UINT64_C(0xD6E8FEB86659FD93);
    h ^= h >> 32;
    return (uint32_t)((h * UINT64_C(0xD6E8FEB86659FD93)) >> 32);
}

static plx_status resize(plx__dict *d, plx_index slots)
{
    int32_t *fresh = NULL;
    PLX_TRY(plx__arena_i32(&fresh, d->arena, slots));
    for (plx_index i = 0; i < d->count; i++) {
        plx_index at = d->key[i].hash & (slots - 1);
        while (fresh[at]) at = (at + 1) & (slots - 1);
        fresh[at] = (int32_t)(i + 1);
    }
    d->slot = fresh;
    d->slots = slots;
    return PLX_OK;
}

plx_status plx__dict_init(plx__dict *d, plx__arena *arena, plx_index expected)
{
    plx_index slots = 64;
    while (slots < 2 * expected) slots *= 2;
    *d = (plx__dict){.arena = arena};
    return resize(d, slots);
}

/* The slot of a key: its own, or the free one where it belongs. */
static plx_index find(const plx__dict *d, const char *text, size_t length, uint32_t hash)
{
    plx_index at = hash & (d->slots - 1);
    for (; d->slot[at]; at = (at + 1) & (d->slots - 1)) {
        const plx__dict_key *k = &d->key[d->slot[at] - 1];
        if (k->hash == hash && k->length == length && memcmp(k->text, text, length) == 0) break;
    }
    return at;
}

plx_index plx__dict_get(const plx__dict *d, const char *text, size_t length)
{
    return (plx_index)d->slot[find(d, text, length, hash_of(text, length))] - 1;
}

static plx_status keep_text(const char **out, plx__dict *d, const char *text, size_t length)
{
    if (length >= POOL / 4) return plx__arena_textn(out, d->arena, text, length);
    if (length >= d->pool_left) {
        PLX_TRY(plx__arena_bytes((void **)&d->pool, d->arena, POOL, 1));
        d->pool_left = POOL;
    }
    memcpy(d->pool, text, length);
    d->pool[length] = '\0';
    *out = d->pool;
    d->pool += length + 1;
    d->pool_left -= length + 1;
    return PLX_OK;
}

static plx_status make_room(plx__dict *d)
{
    plx__dict_key *bigger = NULL;
    if (d->count >= INT32_MAX / 2) PLX_FAIL(d->arena->ctx, PLX_E_NOMEM, "more than %d features", INT32_MAX / 2);
    if (d->count == d->room) {
        plx_index room = d->room ? 2 * d->room : 64;
        PLX_TRY(plx__arena_bytes((void **)&bigger, d->arena, room, sizeof *bigger));
        if (d->count) memcpy(bigger, d->key, (size_t)d->count * sizeof *bigger);
        d->key = bigger;
        d->room = room;
    }
    return 3 * (d->count + 1) > 2 * d->slots ? resize(d, 2 * d->slots) : PLX_OK;
}

plx_status plx__dict_add(plx_index *out, plx__dict *d, const char *text, size_t length)
{
    uint32_t hash = hash_of(text, length);
    plx_index at = find(d, text, length, hash);
    *out = (plx_index)d->slot[at] - 1;
    if (*out >= 0) return PLX_OK;
    PLX_TRY(make_room(d));
    at = find(d, text, length, hash);
    plx__dict_key *k = &d->key[d->count];
    if (length > UINT32_MAX / 2) PLX_FAIL(d->arena->ctx, PLX_E_FORMAT, "a word of %zu bytes is too long", length);
    k->length = (uint32_t)length;
    k->hash = hash;
    PLX_TRY(keep_text(&k->text, d, text, length));
    d->slot[at] = (int32_t)++d->count;
    *out = d->count - 1;
    return PLX_OK;
}
