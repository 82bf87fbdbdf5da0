/*
 * Blanks at both ends of a line are trimmed, a byte order mark is skipped, a zero byte is refused with its
 * line.
 */
#include "data/lines.h"

#include <string.h>

#include "core/file.h"

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static void trim(const char **line, size_t *len)
{
    while (*len && is_blank((*line)[*len - 1])) --*len;
    while (*len && is_blank(**line)) {
        ++*line;
        --*len;
    }
}

static plx_status copy_lines(const char ***out, plx_index *count, plx_context *ctx, plx__arena *arena, const char *path,
                             const plx__bytes *bytes)
{
    const char *end = bytes->data + bytes->size, *cursor = bytes->data, *line = NULL;
    size_t len = 0;
    plx_index lines = 0, i = 0;
    const char *zero = memchr(bytes->data, '\0', bytes->size);
    if (zero) {
        long long at = 1;
        for (const char *p = bytes->data; p < zero; p++) at += *p == '\n';
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld holds a zero byte; expected a text file", path, at);
    }
    if (bytes->size >= 3 && memcmp(bytes->data, "\xEF\xBB\xBF", 3) == 0) cursor += 3;
    const char *start = cursor;
    while (plx__next_line(&line, &len, &cursor, end)) lines++;
    PLX_TRY(PLX__ARENA_NEW(out, arena, lines));
    cursor = start;
    while (plx__next_line(&line, &len, &cursor, end)) {
        trim(&line, &len);
        PLX_TRY(plx__arena_textn(&(*out)[i++], arena, line, len));
    }
    *count = lines;
    return PLX_OK;
}

plx_status plx__lines_read(const char *const **out, plx_index *count, plx_context *ctx, plx__arena *arena,
                           const char *path)
{
    plx__bytes bytes;
    const char **lines = NULL;
    PLX_TRY(plx__bytes_read(&bytes, ctx, path));
    plx_status st = copy_lines(&lines, count, ctx, arena, path, &bytes);
    plx__bytes_free(&bytes, ctx);
    *out = lines;
    return st;
}

plx_status plx__flag_lines_read(uint8_t **out, plx_index *count, plx_context *ctx, plx__arena *arena, const char *path)
{
    const char *const *lines = NULL;
    PLX_TRY(plx__lines_read(&lines, count, ctx, arena, path));
    PLX_TRY(plx__arena_u8(out, arena, *count));
    for (plx_index i = 0; i < *count; i++) {
        bool one = strcmp(lines[i], "1") == 0;
        if (!one && strcmp(lines[i], "0") != 0)
            PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld: found '%.40s', expected 0 or 1", path, (long long)i + 1,
                     lines[i]);
        (*out)[i] = one;
    }
    return PLX_OK;
}
