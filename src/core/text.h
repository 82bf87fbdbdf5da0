/*
 * Text helpers: a growing buffer, nearest names, file-name parts, hashing of names.
 */
#ifndef PLX_CORE_TEXT_H
#define PLX_CORE_TEXT_H

#include "core/ctx.h"

/* A text that grows in an arena. Check nothing while appending; the first failure is kept and returned
 * by plx__textbuf_done. */
typedef struct plx__textbuf {
    plx__arena *arena;
    char *data;
    size_t len, capacity;
    plx_status status;
} plx__textbuf;

void plx__textbuf_init(plx__textbuf *t, plx__arena *arena);
void plx__textbuf_add(plx__textbuf *t, const char *text);
void plx__textbuf_addn(plx__textbuf *t, const char *text, size_t len);
void plx__textbuf_printf(plx__textbuf *t, const char *fmt, ...) PLX_PRINTF(2, 3);
void plx__textbuf_double(plx__textbuf *t, double value); /* as plx__print_double */
plx_status plx__textbuf_done(const char **out, plx__textbuf *t);

/* A name that is UTF-8: `name` itself, or a copy with other bytes spelled out as \xNN. Labels and ids can be any bytes;
 * JSON and HDF5 texts cannot. */
plx_status plx__utf8(const char **out, plx__arena *arena, const char *name);

/* The listed name nearest to `name` by edit distance, or NULL when none is near enough to be a slip. */
const char *plx__nearest(const char *name, const char *const *names, plx_index count);

/* "; did you mean 'x'?" or "" - in a buffer of the caller. */
const char *plx__suggest(char *out, size_t bytes, const char *name, const char *const *names, plx_index count);

/* "a, b, c, d, e and 7 more": the first five names and how many there are besides. */
plx_status plx__list_names(const char **out, plx__arena *arena, const char *const *names, plx_index count);

/* A number of bytes for people: "640 B", "1.5 MiB", "12 GiB". */
enum { PLX__SIZE_BYTES = 24 };
const char *plx__size_text(char out[PLX__SIZE_BYTES], double bytes);

/* The first n bytes are the same but for the case of ASCII letters, in every locale. */
bool plx__same_letters(const char *a, const char *b, size_t n);

bool plx__starts_with(const char *text, const char *prefix);
bool plx__ends_with(const char *text, const char *suffix); /* ASCII case ignored */

/* dir + "/" + name, or name itself when it is absolute. */
plx_status plx__path_join(const char **out, plx__arena *arena, const char *dir, const char *name);
plx_status plx__path_dir(const char **out, plx__arena *arena, const char *path); /* "." when there is none */
const char *plx__path_base(const char *path);                                    /* borrowed tail */

/* Map from text to index, open addressing in an arena. Keys are borrowed. Keys and values are in the order in which they
 * were added, so names that come in the same order again are found one after the other; only the slots are jumped
 * about in, 16 to 32 bytes for a key. */
typedef struct plx__map {
    plx__arena *arena;
    uint64_t *slot;
    const char **keys;
    plx_index *values;
    plx_index count, slots;
} plx__map;

plx_status plx__map_init(plx__map *map, plx__arena *arena, plx_index expected);
plx_index plx__map_get(const plx__map *map, const char *key); /* -1: absent */
/* Adds key -> value, or returns the value already there in *existing (else -1). */
plx_status plx__map_add(plx__map *map, const char *key, plx_index value, plx_index *existing);

/* strcmp order for qsort over `const char *`. */
int plx__compare_text(const void *a, const void *b);

#endif
