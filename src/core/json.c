#include "core/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"

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

plx_status plx__json_print(const char **out, plx__arena *arena, const json_t *value)
{
    *out = NULL;
    char *text = json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY);
    if (!text) return plx__fail(arena->ctx, PLX_E_NOMEM, "out of memory while writing JSON");
    plx_status st = plx__arena_text(out, arena, text);
    free(text);
    return st;
}

json_t *plx__json_real(double value)
{
    if (isnan(value)) return json_null();
    if (isinf(value)) return json_real(value > 0 ? 1e308 : -1e308);
    return json_real(value);
}
