/*
 * CoNLL columns. The text is copied once and cut in place; columns point into the copy.
 */
#include "io/conll.h"

#include <string.h>
#include <utf8proc.h>

#include "core/file.h"

enum { MAX_COLUMNS = 256 };

typedef struct conll_parser {
    plx_context *ctx;
    const char *where;
    plx__conll_style style;
    bool tabs; /* the file has a tab: fields are separated by tabs */
    plx_index line;
    plx__conll out;
    const char ***columns;
    plx_index *sentences, *documents, *lines;
} conll_parser;

/* ---- sizes ---- */

static bool is_blank_line(const char *line, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (line[i] != ' ' && line[i] != '\t') return false;
    return true;
}

static bool is_gap(char c) { return c == ' ' || c == '\t'; }

static bool starts_document(const char *line, size_t len, const plx__conll_style *style)
{
    static const char mark[] = "-DOCSTART-";
    enum { MARK = sizeof mark - 1 };
    for (; style->any_blank && len > 0 && is_gap(*line); len--) line++;
    if (len < MARK || memcmp(line, mark, MARK) != 0) return false;
    return !style->any_blank || len == MARK || is_gap(line[MARK]);
}

typedef struct conll_sizes {
    plx_index tokens, breaks, starts; /* upper bounds of sentences and documents are breaks + 1, starts + 1 */
} conll_sizes;

static conll_sizes measure(const char *text, size_t size, const plx__conll_style *style)
{
    conll_sizes s = {0, 0, 0};
    const char *cursor = text, *line = NULL;
    size_t len = 0;
    while (plx__next_line(&line, &len, &cursor, text + size)) {
        bool blank = is_blank_line(line, len), start = starts_document(line, len, style);
        s.tokens += !blank && !start;
        s.breaks += blank || start;
        s.starts += start;
    }
    return s;
}

/* ---- lines ---- */

/* Cuts a line into fields, in place; the byte after the line may be overwritten. Returns their number. */
static plx_index cut_line(const char **field, char *line, size_t len, bool tabs, bool both)
{
    plx_index count = 0;
    char *at = line, *end = line + len;
    while (end > line && is_gap(end[-1])) end--;
    *end = '\0';
    while (at < end) {
        while (!tabs && (*at == ' ' || (both && *at == '\t'))) at++;
        if (count == MAX_COLUMNS) return count + 1;
        field[count++] = at;
        while (at < end && *at != (tabs ? '\t' : ' ') && !(both && *at == '\t')) at++;
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

static plx_status check_utf8(const conll_parser *p, const char *line, size_t len)
{
    utf8proc_int32_t code = 0;
    for (size_t i = 0; i < len;) {
        if ((unsigned char)line[i] < 0x80) {
            i++;
            continue;
        }
        utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)line + i, (utf8proc_ssize_t)(len - i), &code);
        if (n < 1)
            PLX_FAIL(p->ctx, PLX_E_FORMAT, "%s: line %lld: byte %zu is no UTF-8; convert the file first", p->where,
                     (long long)p->line, i + 1);
        i += (size_t)n;
    }
    return PLX_OK;
}

static plx_status add_token(conll_parser *p, plx__arena *arena, char *line, size_t len, plx_index tokens)
{
    const char *field[MAX_COLUMNS];
    plx_index count = cut_line(field, line, len, p->tabs, p->style.any_blank);
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
    p->lines[p->out.n_tokens++] = p->line;
    return PLX_OK;
}

static void end_sentence(conll_parser *p)
{
    if (p->out.n_tokens > p->sentences[p->out.n_sentences]) p->sentences[++p->out.n_sentences] = p->out.n_tokens;
}

/* A document without sentences (a mark at the very beginning, or two in a row) is not counted. */
static void end_document(conll_parser *p)
{
    p->out.opens_document |= p->out.n_tokens == 0;
    p->out.closes_document = true;
    end_sentence(p);
    if (p->out.n_sentences > p->documents[p->out.n_documents]) p->documents[++p->out.n_documents] = p->out.n_sentences;
}

static plx_status parse_lines(conll_parser *p, plx__arena *arena, char *text, size_t size, plx_index tokens)
{
    const char *cursor = text, *line = NULL;
    size_t len = 0;
    while (plx__next_line(&line, &len, &cursor, text + size)) {
        if (p->line++ % 4096 == 0) PLX_TRY(plx__poll(p->ctx));
        if (p->style.utf8) PLX_TRY(check_utf8(p, line, len));
        if (starts_document(line, len, &p->style)) end_document(p);
        else if (is_blank_line(line, len)) end_sentence(p);
        else {
            p->out.closes_document = false;
            PLX_TRY(add_token(p, arena, text + (line - text), len, tokens));
        }
    }
    bool closed = p->out.closes_document, opened = p->out.opens_document;
    end_document(p);
    p->out.closes_document = closed;
    p->out.opens_document = opened;
    return PLX_OK;
}

static plx_status make_room(conll_parser *p, plx__arena *arena, conll_sizes sizes)
{
    PLX_TRY(PLX__ARENA_NEW(&p->sentences, arena, sizes.breaks + 2));
    PLX_TRY(PLX__ARENA_NEW(&p->documents, arena, sizes.starts + 2));
    PLX_TRY(PLX__ARENA_NEW(&p->lines, arena, sizes.tokens));
    return p->style.columns && sizes.tokens ? start_columns(p, arena, p->style.columns, sizes.tokens) : PLX_OK;
}

plx_status plx__conll_parse(plx__conll *out, plx_context *ctx, plx__arena *arena, const char *where, const char *text,
                            size_t size, const plx__conll_style *style)
{
    conll_parser p = {.ctx = ctx, .where = where, .style = style ? *style : (plx__conll_style){0}};
    conll_sizes sizes = measure(text, size, &p.style);
    char *copy = NULL;
    *out = (plx__conll){0};
    if (sizes.tokens == 0 && !p.style.may_be_empty)
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: empty: there are no tokens", where);
    if (memchr(text, '\0', size)) PLX_FAIL(ctx, PLX_E_FORMAT, "%s: holds a NUL byte; is this a text file?", where);
    PLX_TRY(plx__arena_textn((const char **)&copy, arena, text, size));
    PLX_TRY(plx__arena_text(&p.out.where, arena, where));
    PLX_TRY(make_room(&p, arena, sizes));
    p.line = p.style.lines_above;
    p.out.has_tab = memchr(text, '\t', size) != NULL;
    p.tabs = p.out.has_tab && !p.style.any_blank;
    PLX_TRY(parse_lines(&p, arena, copy, size, sizes.tokens));
    p.out.columns = (const char *const *const *)p.columns;
    p.out.lines = p.lines;
    p.out.sentences = p.sentences;
    p.out.documents = p.documents;
    *out = p.out;
    return PLX_OK;
}

plx_status plx__conll_read(plx__conll *out, plx_context *ctx, plx__arena *arena, const char *path,
                           const plx__conll_style *style)
{
    plx__bytes file;
    *out = (plx__conll){0};
    PLX_TRY(plx__bytes_read(&file, ctx, path));
    plx_status st = plx__conll_parse(out, ctx, arena, path, file.data, file.size, style);
    plx__bytes_free(&file, ctx);
    return st;
}
