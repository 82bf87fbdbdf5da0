/*
 * JSON on jansson: reading with messages that name the place, writing with exact numbers.
 * Values are jansson's own (json_t); what is added here is errors, and text in an arena.
 */
#ifndef PLX_CORE_JSON_H
#define PLX_CORE_JSON_H

#include <jansson.h>

#include "core/ctx.h"
#include "core/number.h"

/* Parse a file or a text; on success the caller owns *out (json_decref). */
plx_status plx__json_read_file(json_t **out, plx_context *ctx, const char *path);
plx_status plx__json_read_text(json_t **out, plx_context *ctx, const char *where, const char *text, size_t len);

/* Render with two-space indent, keys in insertion order. The text is in `arena`. */
plx_status plx__json_print(const char **out, plx__arena *arena, const json_t *value);
/* The same on one line. */
plx_status plx__json_print_line(const char **out, plx__arena *arena, const json_t *value);

/* The text of a real: fewest digits that read back to the same bits, never the form of an integer; null for NaN, +-1e308
 * for infinities. Returns the length. */
int plx__json_number(char out[PLX__NUMBER_BYTES + 2], double value);

enum { PLX__JSON_PIECE = 8 };

/* The next character of a text as it stands in a JSON string; a byte that is not UTF-8 becomes the four characters \xNN.
 * Moves *text past it and returns the length of the piece; 0 at the end. */
size_t plx__json_piece(char piece[PLX__JSON_PIECE], const char **text);

/* A real as JSON: null for NaN, +-1e308 for infinities. New reference or NULL. */
json_t *plx__json_real(double value);

/* Making a document: nothing needs to be checked on the way, the first failure is told by plx__json_made(). Values are
 * taken over, also when it fails; texts and keys may be any bytes, those that are not UTF-8 are spelled out. */
typedef struct plx__json_maker {
    plx_context *ctx;
    bool failed; /* memory ran out */
} plx__json_maker;

void plx__json_put(plx__json_maker *m, json_t *object, const char *key, json_t *value);
void plx__json_push(plx__json_maker *m, json_t *list, json_t *value);
json_t *plx__json_text(plx__json_maker *m, const char *text); /* NULL becomes null */
/* A new object or list, kept by its parent; NULL (and failed) without memory. */
json_t *plx__json_put_object(plx__json_maker *m, json_t *object, const char *key);
json_t *plx__json_put_list(plx__json_maker *m, json_t *object, const char *key);
json_t *plx__json_push_object(plx__json_maker *m, json_t *list);
json_t *plx__json_push_list(plx__json_maker *m, json_t *list);

static inline void plx__json_put_text(plx__json_maker *m, json_t *object, const char *key, const char *text)
{
    plx__json_put(m, object, key, plx__json_text(m, text));
}
static inline void plx__json_put_whole(plx__json_maker *m, json_t *object, const char *key, plx_index value)
{
    plx__json_put(m, object, key, json_integer(value));
}
static inline void plx__json_put_real(plx__json_maker *m, json_t *object, const char *key, double value)
{
    plx__json_put(m, object, key, plx__json_real(value));
}

plx_status plx__json_made(const plx__json_maker *m);

#endif
