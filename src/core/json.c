/*
 * JSON: reading by jansson, writing by one writer of our own, so that a number and a text look alike in every result of the
 * library and of the command (which reaches it through parallax/json_text.h).
 */
#include "core/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <utf8proc.h>

#include "core/file.h"
#include "core/text.h"

/* ---- reading ---- */

plx_status plx__json_read_text(json_t **out, plx_context *ctx, const char *where, const char *text, size_t len)
{
    json_error_t error;
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3, len -= 3; /* a byte order mark */
    *out = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
    if (!*out) PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %d, column %d: %s", where, error.line, error.column, error.text);
    return PLX_OK;
}

plx_status plx__json_read_file(json_t **out, plx_context *ctx, const char *path)
{
    plx__bytes bytes;
    *out = NULL;
    PLX_TRY(plx__bytes_read(&bytes, ctx, path));
    plx_status st = plx__json_read_text(out, ctx, path, bytes.data, bytes.size);
    plx__bytes_free(&bytes, ctx);
    return st;
}

/* ---- writing ---- */

json_t *plx__json_real(double value)
{
    if (isnan(value)) return json_null();
    if (isinf(value)) return json_real(value > 0 ? 1e308 : -1e308);
    return json_real(value);
}

int plx__json_number(char out[PLX__NUMBER_BYTES + 2], double value)
{
    if (isnan(value)) {
        memcpy(out, "null", 5);
        return 4;
    }
    if (isinf(value)) value = value > 0 ? 1e308 : -1e308;
    int length = plx__print_short(out, value);
    char *plus = strchr(out, '+'); /* of an exponent */
    if (plus) memmove(plus, plus + 1, strlen(plus)), length--;
    if (strpbrk(out, ".e")) return length;
    memcpy(out + length, ".0", 3);
    return length + 2;
}

size_t plx__json_piece(char piece[PLX__JSON_PIECE], const char **text)
{
    static const char special[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const unsigned char *p = (const unsigned char *)*text;
    const char *at = *p ? strchr(special, *p) : NULL;
    utf8proc_int32_t code = 0;
    if (!*p) return 0;
    utf8proc_ssize_t used = utf8proc_iterate(p, -1, &code);
    *text += used > 0 ? used : 1;
    if (at) return (size_t)snprintf(piece, PLX__JSON_PIECE, "\\%c", letters[at - special]);
    if (*p < 0x20) return (size_t)snprintf(piece, PLX__JSON_PIECE, "\\u%04X", *p);
    if (used <= 0) return (size_t)snprintf(piece, PLX__JSON_PIECE, "\\\\x%02X", *p);
    memcpy(piece, p, (size_t)used);
    return (size_t)used;
}

static void print_text(plx__textbuf *to, const char *text)
{
    char piece[PLX__JSON_PIECE];
    plx__textbuf_add(to, "\"");
    for (size_t length; (length = plx__json_piece(piece, &text)) > 0;) plx__textbuf_addn(to, piece, length);
    plx__textbuf_add(to, "\"");
}

static void print_value(plx__textbuf *to, const json_t *value, int depth);

enum { ONE_LINE = -1 }; /* as a depth: no lines, no indent */

static int deeper(int depth) { return depth == ONE_LINE ? ONE_LINE : depth + 1; }

/* Without printf, which costs more than all the rest of a long list. */
static void new_line(plx__textbuf *to, int depth)
{
    static const char spaces[] = "                ";
    plx__textbuf_add(to, "\n");
    for (int left = 2 * depth; left > 0; left -= (int)sizeof spaces - 1)
        plx__textbuf_addn(to, spaces, (size_t)plx__min(left, (int)sizeof spaces - 1));
}

static void start_line(plx__textbuf *to, bool first, int depth)
{
    if (!first) plx__textbuf_add(to, ",");
    if (depth != ONE_LINE) new_line(to, depth);
}

static void end_lines(plx__textbuf *to, bool any, int depth)
{
    if (any && depth != ONE_LINE) new_line(to, depth);
}

static void print_object(plx__textbuf *to, const json_t *object, int depth)
{
    bool first = true;
    const char *key = NULL;
    json_t *item = NULL;
    plx__textbuf_add(to, "{");
    json_object_foreach((json_t *)(uintptr_t)object, key, item)
    {
        start_line(to, first, deeper(depth));
        first = false;
        print_text(to, key);
        plx__textbuf_add(to, depth == ONE_LINE ? ":" : ": ");
        print_value(to, item, deeper(depth));
    }
    end_lines(to, !first, depth);
    plx__textbuf_add(to, "}");
}

static void print_array(plx__textbuf *to, const json_t *array, int depth)
{
    size_t count = json_array_size(array);
    plx__textbuf_add(to, "[");
    for (size_t i = 0; i < count; i++) {
        start_line(to, i == 0, deeper(depth));
        print_value(to, json_array_get(array, i), deeper(depth));
    }
    end_lines(to, count > 0, depth);
    plx__textbuf_add(to, "]");
}

static void print_value(plx__textbuf *to, const json_t *value, int depth)
{
    char number[PLX__NUMBER_BYTES + 2];
    switch (json_typeof(value)) {
    case JSON_OBJECT: print_object(to, value, depth); break;
    case JSON_ARRAY: print_array(to, value, depth); break;
    case JSON_STRING: print_text(to, json_string_value(value)); break;
    case JSON_INTEGER: plx__textbuf_printf(to, "%lld", (long long)json_integer_value(value)); break;
    case JSON_REAL:
        plx__json_number(number, json_real_value(value));
        plx__textbuf_add(to, number);
        break;
    case JSON_TRUE: plx__textbuf_add(to, "true"); break;
    case JSON_FALSE: plx__textbuf_add(to, "false"); break;
    case JSON_NULL: plx__textbuf_add(to, "null"); break;
    }
}

static plx_status print_whole(const char **out, plx__arena *arena, const json_t *value, int depth)
{
    plx__textbuf text;
    plx__textbuf_init(&text, arena);
    print_value(&text, value, depth);
    return plx__textbuf_done(out, &text);
}

plx_status plx__json_print(const char **out, plx__arena *arena, const json_t *value)
{
    return print_whole(out, arena, value, 0);
}

plx_status plx__json_print_line(const char **out, plx__arena *arena, const json_t *value)
{
    return print_whole(out, arena, value, ONE_LINE);
}

/* ---- making documents ---- */

void plx__json_put(plx__json_maker *m, json_t *object, const char *key, json_t *value)
{
    const char *clean = NULL; /* names of classes may be part of a key */
    if (plx__utf8(&clean, plx__scratch(m->ctx), key) != PLX_OK) clean = NULL;
    if (!clean) json_decref(value);
    if (!clean || !value || json_object_set_new(object, clean, value) != 0) m->failed = true;
}

void plx__json_push(plx__json_maker *m, json_t *list, json_t *value)
{
    if (!value || json_array_append_new(list, value) != 0) m->failed = true;
}

json_t *plx__json_text(plx__json_maker *m, const char *text)
{
    const char *clean = NULL;
    if (!text) return json_null();
    if (plx__utf8(&clean, plx__scratch(m->ctx), text) == PLX_OK) return json_string(clean);
    m->failed = true;
    return NULL;
}

json_t *plx__json_put_object(plx__json_maker *m, json_t *object, const char *key)
{
    json_t *made = json_object();
    plx__json_put(m, object, key, made);
    return m->failed ? NULL : made;
}

json_t *plx__json_put_list(plx__json_maker *m, json_t *object, const char *key)
{
    json_t *made = json_array();
    plx__json_put(m, object, key, made);
    return m->failed ? NULL : made;
}

json_t *plx__json_push_object(plx__json_maker *m, json_t *list)
{
    json_t *made = json_object();
    plx__json_push(m, list, made);
    return m->failed ? NULL : made;
}

json_t *plx__json_push_list(plx__json_maker *m, json_t *list)
{
    json_t *made = json_array();
    plx__json_push(m, list, made);
    return m->failed ? NULL : made;
}

plx_status plx__json_made(const plx__json_maker *m)
{
    return m->failed ? plx__fail(m->ctx, PLX_E_NOMEM, "out of memory while writing JSON") : PLX_OK;
}
