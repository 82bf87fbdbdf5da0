/*
 * JSON on jansson: reading with messages that name the place, writing with exact numbers.
 * Values are jansson's own (json_t); what is added here is errors, and text in an arena.
 */
#ifndef PLX_CORE_JSON_H
#define PLX_CORE_JSON_H

#include <jansson.h>

#include "core/ctx.h"

/* Parse a file or a text; on success the caller owns *out (json_decref). */
plx_status plx__json_read_file(json_t **out, plx_context *ctx, const char *path);
plx_status plx__json_read_text(json_t **out, plx_context *ctx, const char *where, const char *text, size_t len);

/* Render with two-space indent, keys in insertion order, reals with 17 digits; NaN and infinities must not occur
 * (store them through plx__json_real). The text is in `arena`. */
plx_status plx__json_print(const char **out, plx__arena *arena, const json_t *value);

/* A real as JSON: null for NaN, +-1e308 for infinities. New reference or NULL. */
json_t *plx__json_real(double value);

#endif
