/*
 * CoNLL columns. The text is copied once and cut in place; columns point into the copy.
 */
#include "io/conll.h"

#include <string.h>

#include "core/file.h"

enum { MAX_COLUMNS = 256 };

typedef struct conll_parser {
    plx_context *ctx;
    const char *where;
    bool tabs; /* the file has a tab: fields are separated by tabs */
    plx_index line;
    plx__conll out;
    const char ***columns;
    plx_index *sentences, *documents;
} conll_parser;

/* ---- sizes ---- */

static bool is_blank_line(const char *line, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (line[i] != ' ' && line[i] != '\t') return false;
    return true;
}

static bool starts_document(const char *line, size_t len)
{
    static const char mark[] = "-DOCSTART-";
    return len >= sizeof mark - 1 && memcmp(line, mark, sizeof mark - 1) == 0;
}

typedef struct conll_sizes {
    plx_index tokens, breaks, starts; /* upper bounds of sentences and documents are breaks + 1, starts + 1 */
} conll_sizes;

static conll_sizes measure(const char *text, size_t size)
{
    conll_sizes s = {0, 0, 0};
    const char *cursor = text, *line = NULL;
    size_t len = 0;
    while (plx__next_line(&line, &len, &cursor, text + size)) {
        bool blank = is_blank_line(line, len), start = starts_document(line, len);
        s.tokens += !blank && !start;
        s.breaks += blank || start;
        s.starts += start;
    }
    return s;
}

/* ---- lines ---- */

/* Cuts a line into fields, in place; the byte after the line may be overwritten. Returns their number. */
static plx_index cut_line(const char **field, char *line, size_t len, bool tabs)
{
    plx_index count = 0;
    char *at = line, *end = line + len;
    while (end > line && (end[-1] == ' ' || end[-1] == '\t')) end--;
    *end = '\0';
    while (at < end) {
        while (!tabs && *at == ' ') at++;
        if (count == MAX_COLUMNS) return count + 1;
        field[count++] = at;
        while (at < end && *at != (tabs ? '\t' : ' ')) at++;
        if (at < end) *at++ = '\0';
    }
    return count;
}

static plx_status start_columns(conll_parser *p, plx__arena *arena, plx_index columns, plx_index tokens)
{
    if (columns > MAX_COLUMNS)
        PLX_FAIL(p->ctx, PLX_E_FORMAT, "%s: line %lld: more than %d columns", p->where, (long long)p->line,
                 MAX_COLUMNS);
    p->out.n_columns = columns;
    PLX_TRY(PLX__ARENA_NEW(&p->columns, arena, columns));
    for (plx_index c = 0; c < columns; c++) PLX_TRY(PLX__ARENA_NEW(&p->columns[c], arena, tokens));
    return PLX_OK;
}

static plx_status add_token(conll_parser *p, plx__arena *arena, char *line, size_t len, plx_index tokens)
{
    const char *field[MAX_COLUMNS];
    plx_index count = cut_line(field, line, len, p->tabs);
    if (p->out.n_columns == 0) PLX_TRY(start_columns(p, arena, count, tokens));
    if (count != p->out.n_columns)
        PLX_FAIL(p->ctx, PLX_E_FORMAT, "%s: line %lld: %lld columns, expected %lld as in the first line", p->where,
                 (long long)p->line, (long long)count, (long long)p->out.n_columns);
    for (plx_index c = 0; c < count; c++) {
        if (!field[c][0])
            PLX_FAIL(p->ctx, PLX_E_FORMAT, "%s: line %lld, column %lld: empty", p->where, (long long)p->line,
                     (long long)c + 1);
        p->columns[c][p->out.n_tokens] = field[c];
    }
    p->out.n_tokens++;
    return PLX_OK;
}

static void end_sentence(conll_parser *p)
{
    if (p->out.n_tokens > p->sentences[p->out.n_sentences]) p->sentences[++p->out.n_sentences] = p->out.n_tokens;
}

/* A document without sentences (a mark at the very beginning, or two in a row) is not counted. */
static void end_document(conll_parser *p)
{
    end_sentence(p);
    if (p->out.n_sentences > p->documents[p->out.n_documents]) p->documents[++p->out.n_documents] = p->out.n_sentences;
}

static plx_status parse_lines(conll_parser *p, plx__arena *arena, char *text, size_t size, plx_index tokens)
{
    const char *cursor = text, *line = NULL;
    size_t len = 0;
    while (plx__next_line(&line, &len, &cursor, text + size)) {
        if (p->line++ % 4096 == 0) PLX_TRY(plx__poll(p->ctx));
        if (starts_document(line, len)) end_document(p);
        else if (is_blank_line(line, len)) end_sentence(p);
        else PLX_TRY(add_token(p, arena, text + (line - text), len, tokens));
    }
    end_document(p);
    return PLX_OK;
}

plx_status plx__conll_parse(plx__conll *out, plx_context *ctx, plx__arena *arena, const char *where, const char *text,
                            size_t size)
{
    conll_parser p = {.ctx = ctx, .where = where};
    conll_sizes sizes = measure(text, size);
    char *copy = NULL;
    *out = (plx__conll){0};
    if (sizes.tokens == 0) PLX_FAIL(ctx, PLX_E_FORMAT, "%s: there are no tokens", where);
    if (memchr(text, '\0', size)) PLX_FAIL(ctx, PLX_E_FORMAT, "%s: holds a NUL byte; is this a text file?", where);
    PLX_TRY(plx__arena_textn((const char **)&copy, arena, text, size));
    PLX_TRY(PLX__ARENA_NEW(&p.sentences, arena, sizes.breaks + 2));
    PLX_TRY(PLX__ARENA_NEW(&p.documents, arena, sizes.starts + 2));
    p.tabs = memchr(text, '\t', size) != NULL;
    PLX_TRY(parse_lines(&p, arena, copy, size, sizes.tokens));
    p.out.columns = (const char *const *const *)p.columns;
    p.out.sentences = p.sentences;
    p.out.documents = p.documents;
    *out = p.out;
    return PLX_OK;
}

plx_status plx__conll_read(plx__conll *out, plx_context *ctx, plx__arena *arena, const char *path)
{
    plx__bytes file;
    *out = (plx__conll){0};
    PLX_TRY(plx__bytes_read(&file, ctx, path));
    plx_status st = plx__conll_parse(out, ctx, arena, path, file.data, file.size);
    plx__bytes_free(&file, ctx);
    return st;
}
