/*
 * Reading labels and tables. The file is copied once into the arena and cut up in place: fields are ended by
 * writing a NUL over the separator behind them, quotes are taken out by moving text to the left.
 */
#include "eval/label_files.h"

#include <string.h>

#include "core/file.h"
#include "core/number.h"
#include "core/text.h"

typedef struct csv {
    plx_context *ctx;
    const char *path;
    char *at, *end;
    plx_index line;                 /* of `at`, from 1 */
} csv;

/* Writable copy of a file, with a NUL behind it and without a byte order mark. */
static plx_status load(csv *out, plx__arena *arena, const char *path)
{
    plx__bytes bytes;
    char *copy = NULL;
    PLX_TRY(plx__bytes_read(&bytes, arena->ctx, path));
    plx_status st = plx__arena_bytes((void **)&copy, arena, (plx_index)bytes.size + 1, 1);
    if (st == PLX_OK) {
        if (bytes.size) memcpy(copy, bytes.data, bytes.size);
        copy[bytes.size] = '\0';
        *out = (csv){arena->ctx, path, copy, copy + bytes.size, 1};
    }
    plx__bytes_free(&bytes, arena->ctx);
    PLX_TRY(st);
    if (plx__starts_with(out->at, "\xEF\xBB\xBF")) out->at += 3;
    const char *zero = memchr(out->at, '\0', (size_t)(out->end - out->at));
    if (!zero) return PLX_OK;
    for (const char *p = out->at; p < zero; p++) out->line += *p == '\n';
    PLX_FAIL(arena->ctx, PLX_E_FORMAT, "%s: line %lld holds a zero byte; expected text", path, (long long)out->line);
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* Cut blanks off both ends of [text, end), end with a NUL. */
static char *trim(char *text, char *end)
{
    while (text < end && is_blank(*text)) text++;
    while (end > text && (is_blank(end[-1]) || end[-1] == '\r')) end--;
    *end = '\0';
    return text;
}

static plx_index count_lines(const char *at, const char *end)
{
    plx_index lines = 0;
    for (const char *p = at; p < end; lines++) {
        const char *next = memchr(p, '\n', (size_t)(end - p));
        p = next ? next + 1 : end;
    }
    return lines;
}

/* ---- plain lists ---- */

static plx_status split_lines(plx__label_list *out, plx__arena *arena, csv *file, bool empty_allowed)
{
    PLX_TRY(PLX__ARENA_NEW(&out->labels, arena, count_lines(file->at, file->end)));
    for (; file->at < file->end; file->line++) {
        char *stop = memchr(file->at, '\n', (size_t)(file->end - file->at));
        char *next = stop ? stop + 1 : file->end;
        const char *label = trim(file->at, stop ? stop : file->end);
        if (!*label && !empty_allowed)
            PLX_FAIL(arena->ctx, PLX_E_FORMAT, "%s: line %lld is empty; expected a label, or ? for unknown", file->path,
                     (long long)file->line);
        out->labels[out->count++] = label;
        file->at = next;
    }
    if (out->count == 0) PLX_FAIL(arena->ctx, PLX_E_FORMAT, "%s: holds no labels; expected one per line", file->path);
    return PLX_OK;
}

plx_status plx__label_list_read(plx__label_list *out, plx__arena *arena, const char *path, bool empty_allowed)
{
    csv file;
    *out = (plx__label_list){NULL, 0};
    PLX_TRY(load(&file, arena, path));
    return split_lines(out, arena, &file, empty_allowed);
}

/* ---- fields ---- */

/* Step over the separator at `p`; *last when a record ends there. Returns false when `p` is at neither. */
static bool end_field(csv *c, char *p, bool *last)
{
    char *q = p;
    if (q < c->end && *q == '\r' && (q + 1 == c->end || q[1] == '\n')) q++;
    *last = q == c->end || *q == '\n';
    if (!*last && *q != ',') return false;
    c->line += q < c->end && *q == '\n';
    c->at = q == c->end ? q : q + 1;
    return true;
}

/* A field in quotes that starts at c->at: "" inside stands for one quote. */
static plx_status quoted_field(char **field, csv *c, bool *last)
{
    plx_index opened = c->line;
    char *to = c->at, *from = c->at + 1;
    *field = to;
    for (;; from++) {
        if (from >= c->end)
            PLX_FAIL(c->ctx, PLX_E_FORMAT, "%s: line %lld: a quote is not closed", c->path, (long long)opened);
        if (*from == '"') {
            if (from[1] != '"') break;
            from++;
        }
        c->line += *from == '\n';
        *to++ = *from;
    }
    for (from++; from < c->end && is_blank(*from);) from++;
    if (!end_field(c, from, last))
        PLX_FAIL(c->ctx, PLX_E_FORMAT, "%s: line %lld: expected a comma after the closing quote, found '%c'", c->path,
                 (long long)c->line, *from);
    *to = '\0';
    return PLX_OK;
}

static plx_status next_field(char **field, csv *c, bool *last)
{
    char *start = c->at;
    while (start < c->end && is_blank(*start)) start++;
    if (start < c->end && *start == '"') {
        c->at = start;
        return quoted_field(field, c, last);
    }
    char *p = start;
    while (!end_field(c, p, last)) p++;
    *field = trim(start, p);
    return PLX_OK;
}

/* Nothing but line ends is left. */
static bool only_blank_left(const csv *c)
{
    const char *p = c->at;
    while (p < c->end && (is_blank(*p) || *p == '\r' || *p == '\n')) p++;
    return p == c->end;
}

/* The fields of one record, at most `room`; *count tells how many there are. */
static plx_status next_record(const char **fields, plx_index room, plx_index *count, csv *c)
{
    bool last = false;
    for (*count = 0; !last; (*count)++) {
        char *field = NULL;
        PLX_TRY(next_field(&field, c, &last));
        if (*count < room) fields[*count] = field;
    }
    return PLX_OK;
}

static plx_index most_fields(const csv *c)
{
    plx_index fields = 1;
    for (const char *p = c->at; p < c->end && *p != '\n'; p++) fields += *p == ',';
    return fields;
}

/* ---- tables ---- */

/* A quoted line end inside the header is counted as its end by most_fields: header fields do not hold line ends. */
static plx_status read_header(plx__text_table *out, plx__arena *arena, csv *c)
{
    plx_index room = most_fields(c);
    if (only_blank_left(c)) PLX_FAIL(c->ctx, PLX_E_FORMAT, "%s: is empty; expected a header line", c->path);
    PLX_TRY(PLX__ARENA_NEW(&out->header, arena, room));
    PLX_TRY(next_record(out->header, room, &out->cols, c));
    if (out->cols > room) PLX_FAIL(c->ctx, PLX_E_FORMAT, "%s: a field of the header goes over a line end", c->path);
    for (plx_index j = 0; j < out->cols; j++)
        if (!*out->header[j])
            PLX_FAIL(c->ctx, PLX_E_FORMAT, "%s: line 1: column %lld has no name", c->path, (long long)j + 1);
    return PLX_OK;
}

static plx_status read_rows(plx__text_table *out, plx__arena *arena, csv *c)
{
    plx_index most = count_lines(c->at, c->end), cells = 0;
    if (__builtin_mul_overflow(most, out->cols, &cells)) PLX_FAIL(c->ctx, PLX_E_NOMEM, "%s: too large", c->path);
    PLX_TRY(plx__arena_bytes((void **)&out->cells, arena, cells, sizeof *out->cells));
    PLX_TRY(plx__arena_i64(&out->lines, arena, most));
    while (c->at < c->end && (out->cols == 1 || !only_blank_left(c))) {
        plx_index found = 0, line = c->line;
        PLX_TRY(next_record(out->cells + out->rows * out->cols, out->cols, &found, c));
        if (found != out->cols)
            PLX_FAIL(c->ctx, PLX_E_FORMAT, "%s: line %lld has %lld field%s, the header has %lld", c->path,
                     (long long)line, (long long)found, found == 1 ? "" : "s", (long long)out->cols);
        out->lines[out->rows++] = line;
    }
    return PLX_OK;
}

plx_status plx__text_table_read(plx__text_table *out, plx__arena *arena, const char *path)
{
    csv file;
    *out = (plx__text_table){NULL, NULL, 0, 0, NULL};
    PLX_TRY(load(&file, arena, path));
    PLX_TRY(read_header(out, arena, &file));
    return read_rows(out, arena, &file);
}

plx_status plx__table_numbers(plx_mat *out, plx__arena *arena, const char *path, const plx__text_table *table,
                              const plx_index *columns, plx_index count)
{
    PLX_TRY(plx__arena_mat(out, arena, table->rows, count));
    for (plx_index i = 0; i < table->rows; i++)
        for (plx_index j = 0; j < count; j++) {
            const char *cell = table->cells[i * table->cols + columns[j]];
            if (!plx__parse_double(&out->data[i * out->ld + j], cell))
                PLX_FAIL(arena->ctx, PLX_E_FORMAT, "%s: line %lld, column '%s': '%s' is not a number", path,
                         (long long)table->lines[i], table->header[columns[j]], cell);
        }
    return PLX_OK;
}

plx_status plx__number_table_read(plx__number_table *out, plx__arena *arena, const char *path)
{
    plx__text_table table;
    plx_index *all = NULL;
    *out = (plx__number_table){.header = NULL};
    PLX_TRY(plx__text_table_read(&table, arena, path));
    PLX_TRY(plx__arena_i64(&all, arena, table.cols));
    for (plx_index j = 0; j < table.cols; j++) all[j] = j;
    out->header = table.header;
    return plx__table_numbers(&out->values, arena, path, &table, all, table.cols);
}

/* ---- predictions ---- */

static plx_index find_field(const plx__text_table *table, const char *name)
{
    for (plx_index j = 0; j < table->cols; j++)
        if (strcmp(table->header[j], name) == 0) return j;
    return -1;
}

/* Is the first line of the file a header with a column `label`? Looks at a copy, as reading cuts the text up. */
static plx_status looks_like_predictions(bool *yes, plx__arena *arena, const csv *file)
{
    const char *stop = memchr(file->at, '\n', (size_t)(file->end - file->at)), *line = NULL;
    plx__text_table first = {NULL, NULL, 0, 0, NULL};
    *yes = false;
    PLX_TRY(plx__arena_textn(&line, arena, file->at, (size_t)((stop ? stop : file->end) - file->at)));
    if (!strstr(line, "label")) return PLX_OK;
    csv copy = {file->ctx, file->path, (char *)line, (char *)line + strlen(line), 1};
    plx_index room = most_fields(&copy);
    PLX_TRY(PLX__ARENA_NEW(&first.header, arena, room));
    if (next_record(first.header, room, &first.cols, &copy) != PLX_OK) {    /* a label that begins with a quote */
        plx__clear_error(file->ctx);
        return PLX_OK;
    }
    bool named_csv = plx__ends_with(file->path, ".csv") || plx__ends_with(file->path, ".csv.gz");
    *yes = find_field(&first, "label") >= 0 && (named_csv || strcmp(first.header[0], "id") == 0);
    return PLX_OK;
}

static plx_status take_scores(plx__number_table *out, plx__arena *arena, const char *path, const plx__text_table *table)
{
    static const char prefix[] = "score_";
    plx_index *columns = NULL, count = 0;
    PLX_TRY(plx__arena_i64(&columns, arena, table->cols));
    PLX_TRY(PLX__ARENA_NEW(&out->header, arena, table->cols));
    for (plx_index j = 0; j < table->cols; j++)
        if (plx__starts_with(table->header[j], prefix)) {
            out->header[count] = table->header[j] + strlen(prefix);
            columns[count++] = j;
        }
    return plx__table_numbers(&out->values, arena, path, table, columns, count);
}

static plx_status read_predictions(plx__prediction_file *out, plx__arena *arena, csv *file, bool empty_allowed)
{
    plx__text_table table = {NULL, NULL, 0, 0, NULL};
    PLX_TRY(read_header(&table, arena, file));
    PLX_TRY(read_rows(&table, arena, file));
    plx_index column = find_field(&table, "label");
    if (table.rows == 0) PLX_FAIL(file->ctx, PLX_E_FORMAT, "%s: holds no predictions below its header", file->path);
    PLX_TRY(PLX__ARENA_NEW(&out->list.labels, arena, table.rows));
    out->list.count = table.rows;
    for (plx_index i = 0; i < table.rows; i++) {
        out->list.labels[i] = table.cells[i * table.cols + column];
        if (!*out->list.labels[i] && !empty_allowed)
            PLX_FAIL(file->ctx, PLX_E_FORMAT, "%s: line %lld, column 'label' is empty; expected a label, or ? for none",
                     file->path, (long long)table.lines[i]);
    }
    return take_scores(&out->scores, arena, file->path, &table);
}

plx_status plx__prediction_file_read(plx__prediction_file *out, plx__arena *arena, const char *path,
                                     bool empty_allowed)
{
    csv file;
    bool table = false;
    *out = (plx__prediction_file){.list = {NULL, 0}};
    PLX_TRY(load(&file, arena, path));
    PLX_TRY(looks_like_predictions(&table, arena, &file));
    return table ? read_predictions(out, arena, &file, empty_allowed)
                 : split_lines(&out->list, arena, &file, empty_allowed);
}

plx_status plx__label_csv_split(plx__label_list *out, plx__arena *arena, const char *what, const char *text)
{
    const char *copy = NULL;
    *out = (plx__label_list){NULL, 0};
    PLX_TRY(plx__arena_text(&copy, arena, text));
    csv c = {arena->ctx, what, (char *)copy, (char *)copy + strlen(copy), 1};
    plx_index room = most_fields(&c);
    PLX_TRY(PLX__ARENA_NEW(&out->labels, arena, room));
    PLX_TRY(next_record(out->labels, room, &out->count, &c));
    if (out->count > room || c.at < c.end) PLX_FAIL(arena->ctx, PLX_E_ARG, "%s: '%s' is not one line", what, text);
    return PLX_OK;
}
