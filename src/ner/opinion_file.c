/*
 * Probabilities of tags from a file: "# tag1 tag2 ..", then a line "word p1 p2 .." per token, an empty line between
 * sentences.
 */
#include <math.h>
#include <string.h>

#include "core/file.h"
#include "core/number.h"
#include "ner/select.h"

typedef struct reader {
    plx_context *ctx;
    plx__arena *arena;
    const char *path;
    plx_index line, tokens, sentences;
    plx__ner_opinion *out;
    plx__ner_mark *tag_mark; /* of every tag */
    const char **tag;
    double *probs;
    plx__ner_mark *mark;
    plx_index *offsets;
} reader;

static bool is_gap(char c) { return c == ' ' || c == '\t'; }

/* The next field of [*at, end); false: there is none. */
static bool next_field(const char **field, size_t *length, const char **at, const char *end)
{
    while (*at < end && is_gap(**at)) ++*at;
    *field = *at;
    while (*at < end && !is_gap(**at)) ++*at;
    *length = (size_t)(*at - *field);
    return *length > 0;
}

static plx_status wrong(const reader *r, const char *what)
{
    PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: line %lld: %s", r->path, (long long)r->line, what);
}

static plx_status read_tag(reader *r, plx__ner_types *types, const char *text, size_t length)
{
    plx__ner_mark *mark = &r->tag_mark[r->out->n_tags];
    const char **tag = &r->tag[r->out->n_tags++];
    PLX_TRY(plx__arena_textn(tag, r->arena, text, length));
    *mark = (plx__ner_mark){text[0], 0};
    bool has_type = length > 1 && text[1] == '-';
    if (!strchr("BIO", text[0]) || (length > 1 && !has_type)) return wrong(r, "unknown prefix of a tag in the header");
    return has_type && text[0] != 'O' ? plx__ner_type(&mark->type, types, *tag + 2) : PLX_OK;
}

static plx_status read_header(reader *r, plx__ner_types *types, const char *line, size_t length)
{
    const char *at = line + 1, *end = line + length, *field = NULL;
    size_t size = 0;
    plx_index room = 0;
    if (length == 0 || line[0] != '#') return wrong(r, "expected a header '# tag1 tag2 ...'");
    while (next_field(&field, &size, &at, end)) room++;
    PLX_TRY(PLX__ARENA_NEW(&r->tag, r->arena, room));
    PLX_TRY(PLX__ARENA_NEW(&r->tag_mark, r->arena, room));
    for (at = line + 1; next_field(&field, &size, &at, end);) PLX_TRY(read_tag(r, types, field, size));
    return room > 0 ? PLX_OK : wrong(r, "the header names no tags");
}

static plx_status read_token(reader *r, const char *line, size_t length)
{
    const char *at = line, *end = line + length, *field = NULL;
    size_t size = 0;
    plx_index T = r->out->n_tags, t = 0, best = 0;
    double *row = r->probs + r->tokens * T;
    next_field(&field, &size, &at, end);
    for (; next_field(&field, &size, &at, end); t++) {
        if (t == T) return wrong(r, "more probabilities than tags in the header");
        if (plx__read_double(&row[t], field, field + size) != field + size || !(row[t] >= 0 && row[t] <= 1 + 1e-9))
            return wrong(r, "a probability is no number between 0 and 1");
        if (row[t] > row[best]) best = t;
    }
    if (t != T) return wrong(r, "fewer probabilities than tags in the header");
    r->mark[r->tokens++] = r->tag_mark[best];
    return PLX_OK;
}

static void end_sentence(reader *r)
{
    if (r->tokens > r->offsets[r->sentences]) r->offsets[++r->sentences] = r->tokens;
}

static bool is_blank(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!is_gap(line[i])) return false;
    return true;
}

static plx_status read_lines(reader *r, plx__ner_types *types, const plx__bytes *file)
{
    const char *cursor = file->data, *end = file->data + file->size, *line = NULL;
    size_t length = 0;
    plx_index lines = 0;
    while (plx__next_line(&line, &length, &cursor, end)) lines++;
    PLX_TRY(PLX__ARENA_NEW(&r->mark, r->arena, lines));
    PLX_TRY(PLX__ARENA_NEW(&r->offsets, r->arena, lines + 2));
    for (cursor = file->data; plx__next_line(&line, &length, &cursor, end);) {
        if (r->line++ == 0) {
            PLX_TRY(read_header(r, types, line, length));
            PLX_TRY(plx__arena_f64(&r->probs, r->arena, lines, r->out->n_tags));
        } else if (is_blank(line, length)) end_sentence(r);
        else PLX_TRY(read_token(r, line, length));
    }
    end_sentence(r);
    if (r->tokens == 0) PLX_FAIL(r->ctx, PLX_E_FORMAT, "%s: empty: there are no tokens", r->path);
    return PLX_OK;
}

plx_status plx__ner_read_opinion(plx__ner_opinion *out, plx_context *ctx, plx__arena *arena, plx__ner_types *types,
                                 const char *path, const plx_index **offsets, plx_index *n_sentences)
{
    reader r = {.ctx = ctx, .arena = arena, .path = path, .out = out};
    plx__bytes file;
    *out = (plx__ner_opinion){.where = path};
    PLX_TRY(plx__bytes_read(&file, ctx, path));
    plx_status st = read_lines(&r, types, &file);
    plx__bytes_free(&file, ctx);
    out->tag = r.tag;
    out->probs = r.probs;
    out->mark = r.mark;
    *offsets = r.offsets;
    *n_sentences = r.sentences;
    return st;
}
