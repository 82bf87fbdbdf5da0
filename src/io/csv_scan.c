/*
 * Cells, records and chunks of delimited text. A quote opens a quoted cell only at the cell's start, so that a stray
 * one inside a text does no harm; files without any quote are cut at line ends without looking at cells.
 */
#include "io/csv_scan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/number.h"
#include "core/text.h"

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && is_blank(*p)) p++;
    return p;
}

static bool at_delimiter(char c, char delimiter) { return delimiter == ' ' ? is_blank(c) : c == delimiter; }

/* Behind a cell: step over what ends it. *cursor stands at the fault when it is neither delimiter nor line end. */
static plx__cell_end finish_cell(const char **cursor, const char *p, const char *end, char delimiter)
{
    if (delimiter == ' ') {
        const char *next = skip_blanks(p, end);
        bool more = next > p && next < end && *next != '\n' && *next != '\r';
        p = next;
        if (more) {
            *cursor = p;
            return PLX__CELL_MORE;
        }
    }
    if (p < end && *p == '\r' && (p + 1 == end || p[1] == '\n')) p++;
    *cursor = p < end ? p + 1 : end;
    if (p == end || *p == '\n') return PLX__CELL_LAST;
    if (*p == delimiter && delimiter != ' ') return PLX__CELL_MORE;
    *cursor = p;
    return PLX__CELL_BROKEN;
}

/* `*cursor` stands behind the opening quote. */
static plx__cell_end quoted_cell(plx__cell *out, const char **cursor, const char *end, char delimiter)
{
    const char *start = *cursor, *p = start;
    for (;;) {
        p = p < end ? memchr(p, '"', (size_t)(end - p)) : NULL;
        if (!p) {
            *cursor = end;
            return PLX__CELL_BROKEN;
        }
        if (p + 1 == end || p[1] != '"') break;
        p += 2;
    }
    *out = (plx__cell){start, (size_t)(p - start), true};
    return finish_cell(cursor, p + 1, end, delimiter);
}

plx__cell_end plx__csv_cell(plx__cell *out, const char **cursor, const char *end, char delimiter)
{
    if (delimiter == ' ') *cursor = skip_blanks(*cursor, end);
    const char *start = *cursor, *p = start;
    *out = (plx__cell){start, 0, false};
    if (p < end && *p == '"') {
        ++*cursor;
        return quoted_cell(out, cursor, end, delimiter);
    }
    while (p < end && *p != '\n' && !at_delimiter(*p, delimiter)) p++;
    bool carriage = p > start && p[-1] == '\r' && (p == end || *p == '\n');
    if (carriage) p--;
    out->len = (size_t)(p - start);
    return finish_cell(cursor, p, end, delimiter);
}

static plx__cell trimmed(const plx__cell *cell)
{
    plx__cell c = *cell;
    while (c.len && is_blank(*c.text)) {
        c.text++;
        c.len--;
    }
    while (c.len && is_blank(c.text[c.len - 1])) c.len--;
    return c;
}

bool plx__cell_missing(const plx__cell *cell)
{
    static const char *const words[] = {"na", "nan", "n/a", "#n/a", "null", "?"};
    plx__cell c = trimmed(cell);
    if (c.len == 0) return true;
    for (size_t k = 0; c.len <= 4 && k < sizeof words / sizeof *words; k++)
        if (strlen(words[k]) == c.len && plx__same_letters(c.text, words[k], c.len)) return true;
    return false;
}

/* "1,5" is 1.5. Not "1,234" in quotes: that may as well be a thousand. */
static bool decimal_comma(double *out, const plx__cell *c)
{
    char copy[64];
    const char *comma = memchr(c->text, ',', c->len);
    if (!comma || c->len >= sizeof copy || memchr(c->text, '.', c->len)) return false;
    size_t at = (size_t)(comma - c->text), behind = c->len - at - 1;
    if (at == 0 || behind == 0 || (c->quoted && behind == 3)) return false;
    memcpy(copy, c->text, c->len);
    copy[at] = '.';
    return plx__read_double(out, copy, copy + c->len) == copy + c->len;
}

bool plx__cell_number(double *out, const plx__cell *cell)
{
    plx__cell c = trimmed(cell);
    if (plx__read_double(out, c.text, c.text + c.len) == c.text + c.len && c.len) return true;
    if (decimal_comma(out, &c)) return true;
    *out = NAN;
    return plx__cell_missing(&c);
}

const char *plx__cell_copy(plx__text_pool *pool, const plx__cell *cell)
{
    if (!cell->quoted || !memchr(cell->text, '"', cell->len)) return plx__text_pool_add(pool, cell->text, cell->len);
    char *copy = pool->next, *to = copy;
    for (size_t i = 0; i < cell->len; i++) {
        *to++ = cell->text[i];
        if (cell->text[i] == '"') i++;
    }
    *to++ = '\0';
    pool->next = to;
    return copy;
}

/* ---- records in chunks ---- */

/* Behind the record of which `p` follows a cell that ended as `ended` says. */
static const char *end_of_record(plx__cell_end ended, const char *p, const char *end, char delimiter)
{
    plx__cell cell;
    while (ended == PLX__CELL_MORE) ended = plx__csv_cell(&cell, &p, end, delimiter);
    if (ended == PLX__CELL_LAST) return p;
    const char *newline = memchr(p, '\n', (size_t)(end - p)); /* the reader of this chunk will report the fault */
    return newline ? newline + 1 : end;
}

const char *plx__csv_next_record(const char *p, const char *end, char delimiter)
{
    const char *newline = memchr(p, '\n', (size_t)(end - p)), *line_end = newline ? newline : end;
    if (!memchr(p, '"', (size_t)(line_end - p))) return newline ? newline + 1 : end;
    return end_of_record(PLX__CELL_MORE, p, end, delimiter);
}

const char *plx__csv_leave_quotes(const char *p, const char *end, char delimiter)
{
    plx__cell cell;
    plx__cell_end ended = quoted_cell(&cell, &p, end, delimiter);
    return end_of_record(ended, p, end, delimiter);
}

void plx__csv_cut_at_records(plx__text_chunks *chunks, const plx__csv_plan *plan)
{
    const char *p = plan->begin, *end = plan->end;
    plx_index line = plan->line;
    chunks->lines = 0;
    for (plx_index c = 0; c < chunks->count; c++) {
        plx__text_chunk *k = &chunks->chunk[c];
        k->begin = p;
        k->line = line;
        k->first_line = chunks->lines;
        for (; p < end && p < k->end; chunks->lines++) p = plx__csv_next_record(p, end, plan->delimiter);
        if (k->end < p) k->end = p;
        k->lines = chunks->lines - k->first_line;
        line = plx__text_line(k, k->end);
    }
}

plx_status plx__csv_split(plx__text_chunks *out, plx_context *ctx, const plx__csv_plan *plan)
{
    PLX_TRY(plx__text_split(out, ctx, plan->name, plan->begin, plan->end, plan->line, '"'));
    if (out->marks) plx__csv_cut_at_records(out, plan);
    return PLX_OK;
}

/* ---- messages ---- */

const char *plx__csv_column_text(char *out, size_t bytes, const plx__csv_plan *plan, plx_index column)
{
    char name[PLX__EXCERPT_BYTES];
    if (plan->names && plan->names[column][0])
        snprintf(out, bytes, "column %lld ('%s')", (long long)column + 1,
                 plx__excerpt(name, plan->names[column], strlen(plan->names[column])));
    else snprintf(out, bytes, "column %lld", (long long)column + 1);
    return out;
}

plx_status plx__csv_fail_record(plx_context *ctx, const plx__csv_plan *plan, const plx__text_chunk *chunk,
                                const char *record)
{
    plx__cell cell;
    plx__cell_end ended = PLX__CELL_MORE;
    plx_index found = 0;
    for (const char *p = record; ended == PLX__CELL_MORE; found++)
        ended = plx__csv_cell(&cell, &p, plan->end, plan->delimiter);
    long long line = (long long)plx__text_line(chunk, record);
    if (ended == PLX__CELL_BROKEN)
        PLX_FAIL(ctx, PLX_E_FORMAT,
                 "%s: line %lld, column %lld: a quoted cell is not closed, or text follows the closing quote",
                 plan->name, line, (long long)found);
    bool trailing = found == plan->cols + 1 && cell.len == 0 && !cell.quoted;
    PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld: found %lld field%s, expected %lld as in the %s%s", plan->name, line,
             (long long)found, found == 1 ? "" : "s", (long long)plan->cols, plan->names ? "header" : "first row",
             trailing ? "; remove the delimiter at the end of the line" : "");
}
