/*
 * Suggestions use the optimal string alignment distance with a bound that grows with the length of the name;
 * the map is open addressing with at least half of the slots free. Keys are not copied.
 */
#include "core/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "core/number.h"

/* ---- growing text ---- */

void plx__textbuf_init(plx__textbuf *t, plx__arena *arena) { *t = (plx__textbuf){.arena = arena}; }

static bool reserve(plx__textbuf *t, size_t more)
{
    if (t->status != PLX_OK) return false;
    if (t->len + more + 1 <= t->capacity) return true;
    size_t capacity = t->capacity ? t->capacity : 256;
    while (capacity < t->len + more + 1) capacity *= 2;
    char *data = NULL;
    t->status = plx__arena_bytes((void **)&data, t->arena, (plx_index)capacity, 1);
    if (t->status != PLX_OK) return false;
    if (t->len) memcpy(data, t->data, t->len);
    t->data = data;
    t->capacity = capacity;
    return true;
}

void plx__textbuf_addn(plx__textbuf *t, const char *text, size_t len)
{
    if (!reserve(t, len)) return;
    memcpy(t->data + t->len, text, len);
    t->len += len;
}

void plx__textbuf_add(plx__textbuf *t, const char *text) { plx__textbuf_addn(t, text, strlen(text)); }

void plx__textbuf_printf(plx__textbuf *t, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    if (len >= 0 && reserve(t, (size_t)len)) {
        vsnprintf(t->data + t->len, (size_t)len + 1, fmt, again);
        t->len += (size_t)len;
    }
    va_end(again);
    va_end(args);
}

void plx__textbuf_double(plx__textbuf *t, double value)
{
    char number[PLX__NUMBER_BYTES];
    plx__textbuf_addn(t, number, (size_t)plx__print_double(number, value));
}

plx_status plx__textbuf_done(const char **out, plx__textbuf *t)
{
    *out = NULL;
    if (!reserve(t, 0)) return t->status;
    t->data[t->len] = '\0';
    *out = t->data;
    return PLX_OK;
}

/* ---- bytes that are no text ---- */

plx_status plx__utf8(const char **out, plx__arena *arena, const char *name)
{
    const utf8proc_uint8_t *p = (const utf8proc_uint8_t *)name;
    utf8proc_ssize_t left = (utf8proc_ssize_t)strlen(name);
    plx__textbuf text;
    plx__textbuf_init(&text, arena);
    while (left > 0) {
        utf8proc_int32_t code = 0;
        utf8proc_ssize_t used = utf8proc_iterate(p, left, &code);
        if (used > 0) {
            plx__textbuf_addn(&text, (const char *)p, (size_t)used);
        } else {
            plx__textbuf_printf(&text, "\\x%02X", *p);
            used = 1;
        }
        p += used;
        left -= used;
    }
    return plx__textbuf_done(out, &text);
}

/* ---- nearest names ---- */

enum { LONGEST_NAME = 63 };

static int smaller(int a, int b) { return a < b ? a : b; }

/* Insertions, deletions, changes and swapped neighbours (optimal string alignment). */
static int edit_distance(const char *a, const char *b)
{
    int n = (int)strnlen(a, LONGEST_NAME + 1), m = (int)strnlen(b, LONGEST_NAME + 1), rows[3][LONGEST_NAME + 1];
    if (n > LONGEST_NAME || m > LONGEST_NAME) return 1000;
    for (int j = 0; j <= m; j++) rows[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *higher = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            row[j] = smaller(smaller(row[j - 1], above[j]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], higher[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

/* At most a third may be wrong, so nothing is near one or two letters; a longer beginning of a name is near it. */
const char *plx__nearest(const char *name, const char *const *names, plx_index count)
{
    const char *best = NULL;
    size_t len = strlen(name);
    int best_distance = (int)len / 3 + 1;
    for (plx_index i = 0; i < count; i++) {
        int d = len >= 3 && strncmp(names[i], name, len) == 0 ? 1 : edit_distance(name, names[i]);
        if (d < best_distance) {
            best_distance = d;
            best = names[i];
        }
    }
    return best;
}

const char *plx__suggest(char *out, size_t bytes, const char *name, const char *const *names, plx_index count)
{
    const char *near = plx__nearest(name, names, count);
    out[0] = '\0';
    if (near) snprintf(out, bytes, "; did you mean '%s'?", near);
    return out;
}

plx_status plx__list_names(const char **out, plx__arena *arena, const char *const *names, plx_index count)
{
    enum { TOLD = 5 };
    plx__textbuf list;
    plx__textbuf_init(&list, arena);
    plx__textbuf_add(&list, "");
    for (plx_index i = 0; i < plx__min(count, TOLD); i++) plx__textbuf_printf(&list, "%s%s", i ? ", " : "", names[i]);
    if (count > TOLD) plx__textbuf_printf(&list, " and %lld more", (long long)(count - TOLD));
    return plx__textbuf_done(out, &list);
}

const char *plx__size_text(char out[PLX__SIZE_BYTES], double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int u = 0;
    while (bytes >= 1000 && u < 5) {
        bytes /= 1024;
        u++;
    }
    snprintf(out, PLX__SIZE_BYTES, u == 0 ? "%.0f %s" : "%.3g %s", bytes, units[u]);
    return out;
}

/* ---- parts of names ---- */

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c; }

bool plx__same_letters(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (lower(a[i]) != lower(b[i])) return false;
    return true;
}

bool plx__starts_with(const char *text, const char *prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

bool plx__ends_with(const char *text, const char *suffix)
{
    size_t n = strlen(text), m = strlen(suffix);
    return n >= m && plx__same_letters(text + n - m, suffix, m);
}

const char *plx__path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

plx_status plx__path_dir(const char **out, plx__arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash) return plx__arena_text(out, arena, ".");
    return plx__arena_textn(out, arena, path, slash == path ? 1 : (size_t)(slash - path));
}

plx_status plx__path_join(const char **out, plx__arena *arena, const char *dir, const char *name)
{
    if (name[0] == '/' || strcmp(dir, ".") == 0) return plx__arena_text(out, arena, name);
    return plx__arena_printf(out, arena, "%s%s%s", dir, plx__ends_with(dir, "/") ? "" : "/", name);
}

int plx__compare_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* ---- map ---- */

static uint64_t hash_text(const char *s)
{
    uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a, then a final mix */
    for (; *s; s++) h = (h ^ (unsigned char)*s) * UINT64_C(1099511628211);
    h ^= h >> 32;
    return h * UINT64_C(0x9E3779B97F4A7C15);
}

/* A slot is 0 (free), or the number of a key from 1 in its lower bits and some of the hash above, which tell nearly all
 * other keys apart without a look at them. */
enum { NUMBER_BITS = 40 };
#define SLOT_NUMBER ((UINT64_C(1) << NUMBER_BITS) - 1)

/* The slot of the key, or the free one where it belongs. */
static uint64_t *slot_of(const plx__map *map, const char *key, uint64_t hash)
{
    uint64_t mask = (uint64_t)map->slots - 1, i = hash >> 20 & mask;
    for (; map->slot[i]; i = (i + 1) & mask) {
        if ((map->slot[i] ^ hash) & ~SLOT_NUMBER) continue;
        if (strcmp(map->keys[(map->slot[i] & SLOT_NUMBER) - 1], key) == 0) break;
    }
    return &map->slot[i];
}

static void fill_slot(uint64_t *slot, uint64_t hash, plx_index number)
{
    *slot = (hash & ~SLOT_NUMBER) | (uint64_t)(number + 1);
}

/* Room for half as many keys as there are slots. */
static plx_status map_resize(plx__map *map, plx_index slots)
{
    plx__map bigger = {map->arena, NULL, NULL, NULL, map->count, slots};
    PLX_TRY(PLX__ARENA_NEW(&bigger.slot, map->arena, slots));
    PLX_TRY(PLX__ARENA_NEW(&bigger.keys, map->arena, slots / 2));
    PLX_TRY(PLX__ARENA_NEW(&bigger.values, map->arena, slots / 2));
    for (plx_index k = 0; k < map->count; k++) {
        uint64_t hash = hash_text(map->keys[k]);
        bigger.keys[k] = map->keys[k];
        bigger.values[k] = map->values[k];
        fill_slot(slot_of(&bigger, map->keys[k], hash), hash, k);
    }
    *map = bigger;
    return PLX_OK;
}

plx_status plx__map_init(plx__map *map, plx__arena *arena, plx_index expected)
{
    plx_index slots = 16;
    while (slots < 2 * expected) slots *= 2;
    *map = (plx__map){.arena = arena};
    return map_resize(map, slots);
}

plx_index plx__map_get(const plx__map *map, const char *key)
{
    uint64_t slot = *slot_of(map, key, hash_text(key));
    return slot ? map->values[(slot & SLOT_NUMBER) - 1] : -1;
}

plx_status plx__map_add(plx__map *map, const char *key, plx_index value, plx_index *existing)
{
    uint64_t hash = hash_text(key), *slot = slot_of(map, key, hash);
    *existing = *slot ? map->values[(*slot & SLOT_NUMBER) - 1] : -1;
    if (*slot) return PLX_OK;
    if (2 * map->count == map->slots) {
        PLX_TRY(map_resize(map, 2 * map->slots));
        slot = slot_of(map, key, hash);
    }
    map->keys[map->count] = key;
    map->values[map->count] = value;
    fill_slot(slot, hash, map->count++);
    return PLX_OK;
}
