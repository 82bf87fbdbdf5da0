/*
 * Matrix Market. The body is cut at line ends and read on all threads, every chunk into its own stretch of the entry
 * arrays (a line holds at most one entry); then the stretches are closed up and the matrix is put together. Where several
 * ranks read coordinates, each has a range of lines (io/text_ranges.h) and entries go to the ranks that keep their rows.
 */
#include "io/mtx.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/digits.h"
#include "core/file.h"
#include "core/number.h"
#include "core/parallel.h"
#include "core/text.h"
#include "io/mtx_csr.h"
#include "io/text_ranges.h"

typedef enum symmetry { GENERAL, SYMMETRIC, SKEW } symmetry;

typedef struct header {
    const char *name;
    bool coordinate, integer, pattern;
    symmetry symmetry;
    plx_index rows, cols, entries; /* entries to be found in the body */
    const char *body;
    plx_index line; /* number of the first line of the body */
} header;

/* ---- header ---- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && is_blank(*p)) p++;
    return p;
}

/* Next word of a line, lower case, in a buffer; "" at its end. Longer words are cut: none of ours is long. */
static const char *next_word(char out[32], const char **cursor, const char *end)
{
    const char *p = skip_blanks(*cursor, end);
    int n = 0;
    for (; p < end && !is_blank(*p); p++)
        if (n < 31) out[n++] = *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p;
    out[n] = '\0';
    *cursor = p;
    return out;
}

static plx_status bad_banner(plx_context *ctx, const header *h, const char *what, const char *word, const char *known)
{
    char shown[PLX__EXCERPT_BYTES];
    PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line 1: unknown %s '%s'; known are %s", h->name, what,
             plx__excerpt(shown, word, strlen(word)), known);
}

static plx_status read_field(header *h, plx_context *ctx, const char *word)
{
    h->pattern = strcmp(word, "pattern") == 0;
    h->integer = strcmp(word, "integer") == 0 || strcmp(word, "unsigned-integer") == 0;
    if (strcmp(word, "complex") == 0)
        PLX_FAIL(ctx, PLX_E_UNSUPPORTED,
                 "%s: line 1: complex values are not supported; store real and imaginary parts as two real matrices",
                 h->name);
    if (!h->pattern && !h->integer && strcmp(word, "real") != 0 && strcmp(word, "double") != 0)
        return bad_banner(ctx, h, "kind of value", word, "real, integer, pattern");
    return PLX_OK;
}

/* "%%MatrixMarket matrix coordinate real general" */
static plx_status read_banner(header *h, plx_context *ctx, const char *line, size_t len)
{
    char word[32];
    const char *p = line, *end = line + len;
    if (strcmp(next_word(word, &p, end), "%%matrixmarket") != 0)
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line 1: not a Matrix Market file: it must start with %%%%MatrixMarket",
                 h->name);
    if (strcmp(next_word(word, &p, end), "matrix") != 0) return bad_banner(ctx, h, "object", word, "matrix");
    next_word(word, &p, end);
    h->coordinate = strcmp(word, "coordinate") == 0;
    if (!h->coordinate && strcmp(word, "array") != 0) return bad_banner(ctx, h, "layout", word, "coordinate, array");
    PLX_TRY(read_field(h, ctx, next_word(word, &p, end)));
    if (h->pattern && !h->coordinate) PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line 1: an array cannot be a pattern", h->name);
    next_word(word, &p, end);
    if (strcmp(word, "general") == 0) h->symmetry = GENERAL;
    else if (strcmp(word, "symmetric") == 0) h->symmetry = SYMMETRIC;
    else if (strcmp(word, "skew-symmetric") == 0) h->symmetry = SKEW;
    else return bad_banner(ctx, h, "symmetry", word, "general, symmetric, skew-symmetric");
    return PLX_OK;
}

/* How many values the body of an array has: all, the lower triangle, or the triangle below the diagonal. */
static bool array_entries(plx_index *out, const header *h)
{
    plx_index n = h->rows, whole = 0;
    if (h->symmetry == GENERAL) return !__builtin_mul_overflow(n, h->cols, out);
    if (__builtin_mul_overflow(n, h->symmetry == SKEW ? n - 1 : n + 1, &whole)) return false;
    *out = whole / 2;
    return true;
}

static plx_status check_sizes(header *h, plx_context *ctx, long long line)
{
    if (h->rows < 0 || h->cols < 0 || h->entries < 0)
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld: a negative size", h->name, line);
    if (h->rows > 0 && h->cols == 0)
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld: the matrix has no columns", h->name, line);
    if (h->symmetry != GENERAL && h->rows != h->cols)
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld: a symmetric matrix must be square, found %lld x %lld", h->name,
                 line, (long long)h->rows, (long long)h->cols);
    if (h->rows > INT32_MAX || h->cols > INT32_MAX)
        PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "%s: line %lld: %lld x %lld is too large: at most 2147483647 rows and columns",
                 h->name, line, (long long)h->rows, (long long)h->cols);
    if (!h->coordinate && !array_entries(&h->entries, h))
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld: %lld x %lld is too large", h->name, line, (long long)h->rows,
                 (long long)h->cols);
    return PLX_OK;
}

static plx_status read_sizes(header *h, plx_context *ctx, const char *line, size_t len, long long number)
{
    plx_index *const sizes[] = {&h->rows, &h->cols, &h->entries};
    const char *p = line, *end = line + len;
    for (int i = 0; i < (h->coordinate ? 3 : 2); i++) {
        p = skip_blanks(p, end);
        p = plx__read_int64(sizes[i], p, end);
        if (!p || (p < end && !is_blank(*p)))
            PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld: expected %s", h->name, number,
                     h->coordinate ? "three whole numbers: rows, columns, entries"
                                   : "two whole numbers: rows, columns");
    }
    if (skip_blanks(p, end) != end)
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld: more than %d sizes", h->name, number, h->coordinate ? 3 : 2);
    return check_sizes(h, ctx, number);
}

static plx_status read_header(header *h, plx_context *ctx, const char *data, const char *end)
{
    const char *cursor = data, *line = NULL;
    size_t len = 0;
    if (!plx__next_line(&line, &len, &cursor, end)) PLX_FAIL(ctx, PLX_E_FORMAT, "%s: the file is empty", h->name);
    PLX_TRY(read_banner(h, ctx, line, len));
    for (h->line = 2; plx__next_line(&line, &len, &cursor, end); h->line++) {
        const char *p = skip_blanks(line, line + len);
        if (p == line + len || *p == '%') continue;
        PLX_TRY(read_sizes(h, ctx, line, len, (long long)h->line));
        h->body = cursor;
        h->line++;
        return PLX_OK;
    }
    PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld: the file ends before the line of sizes", h->name, (long long)h->line);
}

/* ---- body ---- */

typedef struct body_job {
    const header *h;
    plx__text_range range;
    plx__text_chunks chunks;
    plx__entry *entry; /* coordinate */
    double *val;       /* array */
    plx_index *found;  /* entries per chunk */
} body_job;

/* A whole number in [1, most] and the blank behind it; NULL when it is none. *out counts from 0. */
static inline const char *read_place(int32_t *out, const char *p, const char *end, plx_index most)
{
    uint64_t value = 0;
    const char *start = p;
    uint64_t eight = end - p >= 8 ? plx__load_eight(p) : 0, other = plx__not_digits(eight);
    if (other) {
        int count = 0;
        value = plx__leading_digits(&count, eight, other);
        p += count;
    } else {
        for (; p < end && (unsigned char)(*p - '0') < 10; p++) value = value * 10 + (uint64_t)(*p - '0');
    }
    if (p == start || p - start > 18 || value - 1 >= (uint64_t)most) return NULL;
    *out = (int32_t)(value - 1);
    return p;
}

static inline const char *read_value(double *out, const header *h, const char *p, const char *end)
{
    p = plx__read_double(out, p, end);
    return p && h->integer && *out != floor(*out) ? NULL : p;
}

static inline const char *read_entry(plx__entry *out, const header *h, const char *p, const char *end)
{
    p = read_place(&out->row, p, end, h->rows);
    if (!p || p == end || !is_blank(*p)) return NULL;
    p = read_place(&out->col, skip_blanks(p, end), end, h->cols);
    if (!p || (h->symmetry == SKEW && out->row == out->col)) return NULL;
    out->val = 1;
    if (h->pattern) return p;
    return p < end && is_blank(*p) ? read_value(&out->val, h, skip_blanks(p, end), end) : NULL;
}

/* Why the line that holds p is no entry. */
static plx_status fail_entry(plx_context *ctx, const body_job *job, const plx__text_chunk *chunk, const char *line)
{
    const header *h = job->h;
    const char *end = memchr(line, '\n', (size_t)(chunk->end - line)), *p = line;
    char shown[PLX__EXCERPT_BYTES];
    int64_t i = 0, j = 0;
    if (!end) end = chunk->end;
    while (end > line && is_blank(end[-1])) end--;
    long long number = (long long)plx__text_line(chunk, line);
    if (h->coordinate) {
        p = plx__read_int64(&i, p, end);
        if (p && p < end && is_blank(*p)) p = plx__read_int64(&j, skip_blanks(p, end), end);
        else p = NULL;
        if (p && (i < 1 || i > h->rows || j < 1 || j > h->cols))
            PLX_FAIL(ctx, PLX_E_FORMAT,
                     "%s: line %lld: place (%lld, %lld) is outside the %lld x %lld matrix (places count from 1)",
                     h->name, number, (long long)i, (long long)j, (long long)h->rows, (long long)h->cols);
        if (p && h->symmetry == SKEW && i == j)
            PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld: a skew-symmetric matrix has no entry on its diagonal", h->name,
                     number);
    }
    PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld: '%s' is not %s%s", h->name, number,
             plx__excerpt(shown, line, (size_t)(end - line)), h->coordinate ? "'row column" : "one ",
             h->pattern   ? "'"
             : h->integer ? (h->coordinate ? " integer'" : "integer")
                          : (h->coordinate ? " number'" : "number"));
}

static plx_status read_chunk(void *job_, plx_context *ctx, plx_index index)
{
    body_job *job = job_;
    const plx__text_chunk *chunk = &job->chunks.chunk[index];
    const char *end = chunk->end;
    plx_index k = chunk->first_line;
    for (const char *p = chunk->begin; p < end;) {
        const char *line = p = skip_blanks(p, end);
        if (p < end && *p != '\n' && *p != '%') {
            p = job->entry ? read_entry(&job->entry[k], job->h, p, end) : read_value(&job->val[k], job->h, p, end);
            if (p) p = skip_blanks(p, end);
            if (!p || (p < end && *p != '\n')) return fail_entry(ctx, job, chunk, line);
            k++;
        } else if (p < end && *p == '%') {
            p = memchr(p, '\n', (size_t)(end - p));
            if (!p) p = end;
        }
        if (p < end) p++;
    }
    job->found[index] = k - chunk->first_line;
    return PLX_OK;
}

/* Line of the first entry beyond those announced, `before` entries being in the ranges of other ranks. */
static long long surplus_line(const body_job *job, plx_index before)
{
    plx_index c = 0;
    while (before + job->found[c] <= job->h->entries) before += job->found[c++];
    const plx__text_chunk *chunk = &job->chunks.chunk[c];
    const char *p = chunk->begin, *line = p;
    size_t len = 0;
    while (before <= job->h->entries && plx__next_line(&line, &len, &p, chunk->end)) {
        const char *q = skip_blanks(line, line + len);
        before += q < line + len && *q != '%';
    }
    return (long long)plx__text_line(chunk, line);
}

/* `lines` are those of the whole body. An entry too many is told by the rank that has read it. */
static plx_status check_count(plx_context *ctx, const body_job *job, plx_index lines)
{
    plx_index own = 0, found = 0, before = 0;
    int64_t *all = NULL;
    for (plx_index c = 0; c < job->chunks.count; c++) own += job->found[c];
    PLX_TRY(plx__text_tell(&job->range, &own, 1, &all));
    for (int r = 0; r < job->range.ranks; r++) {
        before += r < job->range.rank ? all[r] : 0;
        found += all[r];
    }
    long long asked = (long long)job->h->entries;
    if (before <= job->h->entries && before + own > job->h->entries)
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld: more entries than the %lld announced", job->h->name,
                 surplus_line(job, before), asked);
    if (found < job->h->entries)
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld: the file ends after %lld of the %lld entries announced",
                 job->h->name, (long long)(job->h->line + lines - 1), (long long)found, asked);
    return PLX_OK;
}

/* Lines without an entry left gaps between the chunks' stretches; how many entries there are. */
static plx_index close_up(body_job *job)
{
    plx_index to = 0;
    for (plx_index c = 0; c < job->chunks.count; c++) {
        plx_index from = job->chunks.chunk[c].first_line;
        size_t n = (size_t)job->found[c];
        if (from != to && n) {
            if (job->entry) memmove(job->entry + to, job->entry + from, n * sizeof *job->entry);
            if (job->val) memmove(job->val + to, job->val + from, n * sizeof *job->val);
        }
        to += job->found[c];
    }
    return to;
}

/* *count: entries that this rank has read; they are kept `aside`. */
static plx_status read_body(body_job *job, plx_context *ctx, plx__arena *aside, plx_index *count)
{
    const header *h = job->h;
    plx_index all_lines = 0;
    PLX_TRY(plx__text_range_split(&job->chunks, &job->range, h->line, '\n', &all_lines));
    plx_index lines = job->chunks.lines;
    PLX_TRY(plx__arena_i64(&job->found, plx__scratch(ctx), job->chunks.count));
    if (all_lines < h->entries)
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld: the file ends after at most %lld of the %lld entries announced",
                 h->name, (long long)(h->line + all_lines - 1), (long long)all_lines, (long long)h->entries);
    if (h->coordinate) PLX_TRY(plx__arena_bytes((void **)&job->entry, aside, lines, sizeof *job->entry));
    else PLX_TRY(plx__arena_bytes((void **)&job->val, aside, lines, sizeof *job->val));
    PLX_TRY(plx__text_each(ctx, &job->chunks, read_chunk, job));
    PLX_TRY(check_count(ctx, job, all_lines));
    *count = close_up(job);
    return PLX_OK;
}

/* ---- arrays ---- */

typedef struct place_job {
    const header *h;
    const double *val;
    plx_mat out;
} place_job;

/* Columns begin..end-1 of the file, which holds columns one after the other. */
static plx_status place_columns(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    (void)ctx;
    (void)worker;
    place_job *job = job_;
    plx_index n = job->h->rows, ld = job->out.ld;
    int skew = job->h->symmetry == SKEW;
    for (plx_index j = begin; j < end; j++) {
        if (job->h->symmetry == GENERAL) {
            for (plx_index i = 0; i < n; i++) job->out.data[i * ld + j] = job->val[j * n + i];
            continue;
        }
        const double *v = job->val + (skew ? j * (n - 1) - j * (j - 1) / 2 : j * n - j * (j - 1) / 2);
        for (plx_index i = j + skew; i < n; i++, v++) {
            job->out.data[i * ld + j] = *v;
            if (i != j) job->out.data[j * ld + i] = skew ? -*v : *v;
        }
    }
    return PLX_OK;
}

/* ---- the whole file ---- */

static plx_status check_memory(plx_context *ctx, const header *h, const plx__text_range *range)
{
    char what[256];
    double rows = (double)h->rows, entries = (double)h->entries / range->ranks;
    double per_entry = (h->symmetry == GENERAL ? 16 + 12 : 16 + 56) + (range->shared ? 4 : 0);
    double bytes = h->coordinate ? 16 * rows + per_entry * entries : 8 * rows * (double)h->cols + 8 * entries;
    snprintf(what, sizeof what, "%s: line %lld: a matrix of %lld x %lld", h->name, (long long)h->line - 1,
             (long long)h->rows, (long long)h->cols);
    return plx__need_memory(ctx, bytes, what, "raise the memory limit");
}

static plx_status place_entries(plx__table *table, plx_context *ctx, plx__arena *arena, plx__arena *aside,
                                const body_job *job, plx_index count)
{
    const header *h = job->h;
    plx__entries all = {h->rows, h->cols, count, job->entry, h->symmetry == GENERAL ? 0 : h->symmetry == SKEW ? -1 : 1};
    table->sparse = true;
    return job->range.shared ? plx__entries_to_share(table, ctx, arena, aside, &all)
                             : plx__entries_to_csr(&table->csr, ctx, arena, &all);
}

static plx_status place_values(plx__table *table, plx_context *ctx, plx__arena *arena, const body_job *job)
{
    const header *h = job->h;
    place_job place = {.h = h, .val = job->val};
    PLX_TRY(plx__arena_mat(&place.out, arena, h->rows, h->cols));
    if (h->entries) PLX_TRY(plx__parallel_for(ctx, h->cols, 8, place_columns, &place));
    table->dense = place.out;
    return PLX_OK;
}

/* `some`: only the rows that the context asks for. Arrays, which hold one column after the other, are read whole. */
static plx_status parse(plx__table *out, plx_context *ctx, plx__arena *arena, const char *name, const char *data,
                        size_t size, bool some)
{
    header h = {.name = name};
    body_job job = {.h = &h};
    plx__table table = {0};
    plx_index count = 0;
    plx__arena aside;
    plx_status st = PLX_OK;
    *out = (plx__table){0};
    PLX_TRY(read_header(&h, ctx, data, data + size));
    job.range = plx__text_range_of(ctx, name, h.body, data + size, some && h.coordinate);
    if (size / 2 + 1 >= (size_t)h.entries) /* else the entries cannot all be there */
        PLX_TRY(check_memory(ctx, &h, &job.range));
    plx__arena_init(&aside, ctx);
    PLX_GOTO(read_body(&job, ctx, &aside, &count));
    if (h.coordinate) PLX_GOTO(place_entries(&table, ctx, arena, &aside, &job, count));
    else PLX_GOTO(place_values(&table, ctx, arena, &job));
    *out = table;
done:
    plx__arena_free(&aside);
    return st;
}

plx_status plx__mtx_parse(plx__table *out, plx_context *ctx, plx__arena *arena, const char *name, const char *data,
                          size_t size)
{
    return parse(out, ctx, arena, name, data, size, false);
}

plx_status plx__mtx_parse_share(plx__table *out, plx_context *ctx, plx__arena *arena, const char *name,
                                const char *data, size_t size)
{
    return parse(out, ctx, arena, name, data, size, true);
}

plx_status plx__mtx_read(plx__table *out, plx_context *ctx, plx__arena *arena, const char *path)
{
    plx__bytes bytes;
    *out = (plx__table){0};
    PLX_TRY(plx__bytes_read(&bytes, ctx, path));
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_status st = plx__mtx_parse(out, ctx, arena, path, bytes.data, bytes.size);
    if (arena != plx__scratch(ctx)) plx__arena_rewind(plx__scratch(ctx), mark);
    plx__bytes_free(&bytes, ctx);
    return st;
}
