/*
 * A text read part by part.
 */
#include "ner/source.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { PART = 1 << 20, READ = 1 << 16, LONG = 4 }; /* a document of more than LONG parts comes in pieces */

plx_status plx__ner_source_open(plx__ner_source *s, plx_context *ctx, const char *path)
{
    *s = (plx__ner_source){.ctx = ctx, .path = path, .part_bytes = PART, .document = -1};
    s->style = (plx__conll_style){.any_blank = true, .utf8 = true, .may_be_empty = true};
    s->stream = strcmp(path, "-") == 0;
    if (s->stream) {
        s->path = "standard input";
        return PLX_OK;
    }
    PLX_TRY(plx__bytes_read(&s->file, ctx, path));
    s->at = s->file.data;
    return PLX_OK;
}

void plx__ner_source_close(plx__ner_source *s)
{
    if (!s->ctx) return;
    plx__release(s->ctx, s->buffer, s->room);
    if (!s->stream) plx__bytes_free(&s->file, s->ctx);
    *s = (plx__ner_source){0};
}

/* ---- ends of sentences ---- */

/* Where the line that begins at `line` ends, behind its \n; NULL: it does not. *blank: it holds nothing. */
static const char *end_of_line(const char *line, const char *end, bool *blank)
{
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    *blank = newline != NULL;
    for (const char *p = line; newline && p < newline; p++)
        if (*p != ' ' && *p != '\t' && *p != '\r') {
            *blank = false;
            break;
        }
    return newline ? newline + 1 : NULL;
}

/* Is the first field of the line -DOCSTART-? */
static bool is_mark(const char *line, const char *end)
{
    static const char mark[] = "-DOCSTART-";
    enum { MARK = sizeof mark - 1 };
    while (line < end && (*line == ' ' || *line == '\t')) line++;
    if (end - line < MARK || memcmp(line, mark, MARK) != 0) return false;
    return end - line == MARK || strchr(" \t\r\n", line[MARK]) != NULL;
}

/* The end of the first blank line at or behind `from`; `end` when there is none. */
static const char *cut_sentences(const char *from, const char *end)
{
    const char *line = from < end ? memchr(from, '\n', (size_t)(end - from)) : NULL;
    bool blank = false;
    if (!line) return end;
    for (line++; line < end;) {
        const char *next = end_of_line(line, end, &blank);
        if (!next) return end;
        if (blank) return next;
        line = next;
    }
    return end;
}

/* The last mark of a document that leaves a part of the usual size; else the end of the first document, or of a sentence
 * in it where it is very long. */
static const char *cut_documents(plx__ner_source *s, const char *from, const char *end)
{
    size_t left = (size_t)(end - from);
    const char *usual = from + (left < s->part_bytes ? left : s->part_bytes), *mark = NULL, *sentence = NULL;
    const char *most = left > LONG * s->part_bytes ? from + LONG * s->part_bytes : end;
    bool blank = false, inside = s->inside;
    s->piece = inside;
    s->inside = false;
    for (const char *next = NULL, *line = from; line < end; line = next) {
        bool marked = line > from && is_mark(line, end);
        if (marked && (inside || line > usual)) return mark ? mark : line;
        if (marked) mark = line;
        if (mark && line > usual) return mark;
        if (sentence && (inside || line > most)) {
            s->piece = s->inside = true;
            return sentence;
        }
        next = end_of_line(line, end, &blank);
        if (!next) return end;
        if (blank && next > usual && !sentence) sentence = next;
    }
    return end;
}

/* Look at lines of the buffer that are complete and new. */
static void look(plx__ner_source *s)
{
    const char *end = s->buffer + s->held;
    bool blank = false;
    for (const char *line = s->buffer + s->looked, *next = NULL; line < end; line = next) {
        next = end_of_line(line, end, &blank);
        if (!next) return;
        if (s->documents && line > s->buffer && is_mark(line, end)) s->whole = (size_t)(line - s->buffer);
        s->looked = (size_t)(next - s->buffer);
        if (blank && !s->documents) s->whole = s->looked;
    }
}

/* ---- standard input ---- */

static plx_status make_room(plx__ner_source *s)
{
    if (s->room - s->held > READ) return PLX_OK;
    size_t room = 2 * s->room + 4 * READ;
    char *bigger = plx__alloc(s->ctx, room);
    if (!bigger) PLX_FAIL(s->ctx, PLX_E_NOMEM, "%s: out of memory for a sentence of %zu bytes", s->path, s->held);
    if (s->held) memcpy(bigger, s->buffer, s->held);
    plx__release(s->ctx, s->buffer, s->room);
    s->buffer = bigger;
    s->room = room;
    return PLX_OK;
}

/* Read until there is a whole sentence, or nothing more. */
static plx_status fill(plx__ner_source *s)
{
    while (!s->ended && !s->whole) {
        PLX_TRY(plx__poll(s->ctx));
        PLX_TRY(make_room(s));
        ssize_t got = read(STDIN_FILENO, s->buffer + s->held, s->room - s->held - 1);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) PLX_FAIL(s->ctx, PLX_E_IO, "%s: %s", s->path, strerror(errno));
        s->ended = got == 0;
        s->held += (size_t)got;
        look(s);
    }
    if (s->ended) s->whole = s->held;
    return PLX_OK;
}

static void drop(plx__ner_source *s, size_t bytes)
{
    if (s->held > bytes) memmove(s->buffer, s->buffer + bytes, s->held - bytes);
    s->held -= bytes;
    s->looked -= plx__min((plx_index)s->looked, (plx_index)bytes);
    s->whole = 0;
    look(s);
}

/* ---- parts ---- */

static plx_index count_lines(const char *text, size_t size)
{
    plx_index lines = 0;
    for (const char *p = text, *end = text + size; (p = memchr(p, '\n', (size_t)(end - p))); p++) lines++;
    return lines;
}

static plx_status parse(plx__ner_source *s, plx__arena *arena, plx__conll *part, const char *text, size_t size,
                        int32_t *document)
{
    PLX_TRY(plx__conll_parse(part, s->ctx, arena, s->path, text, size, &s->style));
    s->style.lines_above += count_lines(text, size);
    if (part->n_columns) s->style.columns = part->n_columns;
    if (s->document < 0 && part->n_tokens) s->closed = true;
    *document = s->document + (s->closed || part->opens_document);
    if (part->n_tokens) {
        s->document = *document + (int32_t)part->n_documents - 1;
        s->closed = part->closes_document;
    } else s->closed = s->closed || part->opens_document || part->closes_document;
    s->sentences += part->n_sentences;
    s->tokens += part->n_tokens;
    return PLX_OK;
}

static plx_status next_of_file(plx__ner_source *s, plx__arena *arena, plx__conll *part, int32_t *document, bool *more)
{
    const char *end = s->file.data + s->file.size, *from = s->at;
    *more = from < end;
    if (!*more) return PLX_OK;
    size_t left = (size_t)(end - from);
    s->at = s->documents ? cut_documents(s, from, end)
                         : cut_sentences(from + (left < s->part_bytes ? left : s->part_bytes), end);
    PLX_TRY(parse(s, arena, part, from, (size_t)(s->at - from), document));
    plx__bytes_forget(from, s->at);
    return PLX_OK;
}

static plx_status next_of_stream(plx__ner_source *s, plx__arena *arena, plx__conll *part, int32_t *document, bool *more)
{
    PLX_TRY(fill(s));
    size_t size = s->whole;
    *more = size > 0;
    if (!*more) return PLX_OK;
    PLX_TRY(parse(s, arena, part, s->buffer, size, document));
    drop(s, size);
    return PLX_OK;
}

plx_status plx__ner_source_next(plx__ner_source *s, plx__arena *arena, plx__conll *part, int32_t *document, bool *more)
{
    *part = (plx__conll){0};
    do PLX_TRY((s->stream ? next_of_stream : next_of_file)(s, arena, part, document, more));
    while (*more && part->n_tokens == 0);
    if (!*more && s->tokens == 0) PLX_FAIL(s->ctx, PLX_E_FORMAT, "%s: empty: there are no tokens", s->path);
    return PLX_OK;
}
