/*
 * svmlight text. Where several ranks read it, each has a range of lines (io/text_ranges.h). Every chunk reads its lines into its own stretch of the arrays: one row at most per line, one entry
 * at most per colon; then the stretches are put together behind each other.
 */
#include "io/svmlight.h"

#include <stdio.h>
#include <string.h>

#include "core/file.h"
#include "core/number.h"
#include "core/parallel.h"
#include "io/text_ranges.h"

typedef struct chunk_result {
    plx_index rows, entries;
    plx_index largest; /* index in the file; -1: none */
    const char *zero;  /* where index 0 first occurs, or NULL */
    plx_index label_bytes;
    plx_index row_at, entry_at; /* where its rows and entries go */
} chunk_result;

typedef struct span {
    const char *text;
    size_t len;
} span;

typedef struct read_job {
    plx__text_range range;
    plx__text_chunks chunks;
    chunk_result *result;
    plx_index *length; /* per line: entries of the row */
    span *label;       /* per line */
    int32_t *index;    /* per colon, as in the file */
    double *value;
    plx_csr out;
    int base;
} read_job;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && is_blank(*p)) p++;
    return p;
}

static plx_status fail_line(plx_context *ctx, const read_job *job, const plx__text_chunk *chunk, const char *p,
                            const char *end, const char *why)
{
    char shown[PLX__EXCERPT_BYTES];
    const char *stop = p;
    while (stop < end && !is_blank(*stop)) stop++;
    PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld: '%s': %s", job->chunks.name, (long long)plx__text_line(chunk, p),
             plx__excerpt(shown, p, (size_t)(stop - p)), why);
}

/* One `index:value`; *cursor moves behind it. `last` is the index before it, or -1. */
static plx_status read_pair(read_job *job, plx_context *ctx, const plx__text_chunk *chunk, const char **cursor,
                            const char *end, plx_index k, int64_t *last)
{
    const char *start = *cursor;
    int64_t index = 0;
    const char *p = plx__read_int64(&index, start, end);
    if (!p || p == end || *p != ':') return fail_line(ctx, job, chunk, start, end, "expected index:value");
    if (index < 0) return fail_line(ctx, job, chunk, start, end, "an index must not be negative");
    if (index > INT32_MAX - 1)
        return fail_line(ctx, job, chunk, start, end, "the index is too large, at most 2147483646");
    if (index == *last) return fail_line(ctx, job, chunk, start, end, "the index occurs twice in this line");
    if (index < *last) return fail_line(ctx, job, chunk, start, end, "indices must ascend inside a line");
    p = plx__read_double(&job->value[k], p + 1, end);
    if (!p || (p < end && !is_blank(*p))) return fail_line(ctx, job, chunk, start, end, "the value is not a number");
    job->index[k] = (int32_t)index;
    *last = index;
    *cursor = p;
    return PLX_OK;
}

/* The label: the first word, unless that is a pair already. */
static span take_label(const char **cursor, const char *line, const char *end)
{
    const char *start = skip_blanks(line, end), *p = start;
    while (p < end && !is_blank(*p)) p++;
    span label = {start, (size_t)(p - start)};
    if (memchr(start, ':', label.len)) return (span){line, 0};
    *cursor = p;
    return label;
}

static plx_status read_line(read_job *job, plx_context *ctx, const plx__text_chunk *chunk, chunk_result *r,
                            const char *line, const char *end)
{
    const char *p = line;
    plx_index row = chunk->first_line + r->rows, first = chunk->first_mark + r->entries, k = first;
    int64_t last = -1;
    span label = take_label(&p, line, end);
    if (memchr(label.text, '\0', label.len))
        return fail_line(ctx, job, chunk, line, end, "a NUL byte; is this a text file?");
    for (p = skip_blanks(p, end); p < end; p = skip_blanks(p, end)) {
        if (end - p > 4 && memcmp(p, "qid:", 4) == 0) {
            while (p < end && !is_blank(*p)) p++;
            continue;
        }
        const char *pair = p;
        PLX_TRY(read_pair(job, ctx, chunk, &p, end, k, &last));
        if (last == 0 && !r->zero) r->zero = pair;
        k++;
    }
    if (last > r->largest) r->largest = last;
    job->label[row] = label;
    job->length[row] = k - first;
    r->label_bytes += (plx_index)label.len;
    r->entries += k - first;
    r->rows++;
    return PLX_OK;
}

static plx_status read_chunk(void *job_, plx_context *ctx, plx_index index)
{
    read_job *job = job_;
    const plx__text_chunk *chunk = &job->chunks.chunk[index];
    chunk_result *r = &job->result[index];
    const char *p = chunk->begin, *line = NULL;
    size_t len = 0;
    r->largest = -1;
    while (plx__next_line(&line, &len, &p, chunk->end)) {
        const char *hash = memchr(line, '#', len), *end = hash ? hash : line + len;
        if (skip_blanks(line, end) < end) PLX_TRY(read_line(job, ctx, chunk, r, line, end));
    }
    return PLX_OK;
}

/* ---- putting together ---- */

static plx_status gather_chunk(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    (void)ctx;
    (void)worker;
    read_job *job = job_;
    for (plx_index c = begin; c < end; c++) {
        const plx__text_chunk *chunk = &job->chunks.chunk[c];
        const chunk_result *r = &job->result[c];
        int64_t *ptr = job->out.ptr + r->row_at;
        for (plx_index i = 0; i < r->rows; i++) ptr[i + 1] = job->length[chunk->first_line + i];
        for (plx_index k = 0; k < r->entries; k++)
            job->out.col[r->entry_at + k] = job->index[chunk->first_mark + k] - job->base;
        if (r->entries)
            memcpy(job->out.val + r->entry_at, job->value + chunk->first_mark, (size_t)r->entries * sizeof(double));
    }
    return PLX_OK;
}

/* A label into the pool, commas as '|'. */
static const char *copy_label(plx__text_pool *pool, span label)
{
    if (label.len == 0 || (label.len == 1 && *label.text == '?')) return NULL;
    char *copy = pool->next;
    plx__text_pool_add(pool, label.text, label.len);
    for (char *p = copy; *p; p++)
        if (*p == ',') *p = '|';
    return copy;
}

static plx_status gather_labels(const char *const **out, plx__arena *arena, const read_job *job, plx_index rows,
                                plx_index bytes)
{
    const char **labels = NULL;
    plx__text_pool pool;
    plx_index i = 0;
    PLX_TRY(PLX__ARENA_NEW(&labels, arena, rows));
    PLX_TRY(plx__text_pool_init(&pool, arena, rows, bytes));
    for (plx_index c = 0; c < job->chunks.count; c++)
        for (plx_index k = 0; k < job->result[c].rows; k++)
            labels[i++] = copy_label(&pool, job->label[job->chunks.chunk[c].first_line + k]);
    *out = labels;
    return PLX_OK;
}

typedef struct totals {
    plx_index rows, entries, label_bytes; /* of this rank */
    plx_index columns;                    /* of the whole file */
} totals;

/* From where indices count, and how many columns there are, is told by all lines together. */
static plx_status agree_on_columns(totals *t, read_job *job, plx_index largest, bool zero, plx_index least)
{
    enum { LARGEST, ZERO, FACTS };
    const int64_t mine[FACTS] = {largest, zero};
    int64_t *all = NULL;
    PLX_TRY(plx__text_tell(&job->range, mine, FACTS, &all));
    for (int r = 0; r < job->range.ranks; r++) {
        largest = plx__max(largest, all[r * FACTS + LARGEST]);
        if (all[r * FACTS + ZERO]) job->base = 0;
    }
    t->columns = plx__max(least, largest + 1 - job->base);
    return PLX_OK;
}

/* Totals over the chunks; decides from where indices count. */
static plx_status sum_up(totals *t, read_job *job, plx_context *ctx, const plx__svmlight_options *o)
{
    plx_index largest = -1;
    bool zero = false;
    job->base = o->base == PLX__BASE_ZERO ? 0 : 1;
    for (plx_index c = 0; c < job->chunks.count; c++) {
        chunk_result *r = &job->result[c];
        const plx__text_chunk *chunk = &job->chunks.chunk[c];
        if (r->zero && o->base == PLX__BASE_ONE)
            return fail_line(ctx, job, chunk, r->zero, chunk->end, "index 0 where indices count from 1");
        zero |= r->zero != NULL;
        r->row_at = t->rows;
        r->entry_at = t->entries;
        t->rows += r->rows;
        t->entries += r->entries;
        t->label_bytes += r->label_bytes;
        largest = plx__max(largest, r->largest);
    }
    PLX_TRY(agree_on_columns(t, job, largest, zero, o->columns));
    return plx__text_rows(&job->range, t->rows);
}

static plx_status start_job(read_job *job, plx_context *ctx, plx__arena *aside)
{
    plx_index lines = 0;
    PLX_TRY(plx__text_range_split(&job->chunks, &job->range, 1, ':', &lines));
    double bytes = 24.0 * (double)job->chunks.lines + 24.0 * (double)job->chunks.marks;
    PLX_TRY(plx__need_memory(ctx, bytes, job->range.name, "raise the memory limit"));
    PLX_TRY(PLX__ARENA_NEW(&job->result, aside, job->chunks.count));
    PLX_TRY(plx__arena_bytes((void **)&job->length, aside, job->chunks.lines, sizeof *job->length));
    PLX_TRY(plx__arena_bytes((void **)&job->label, aside, job->chunks.lines, sizeof *job->label));
    PLX_TRY(plx__arena_bytes((void **)&job->index, aside, job->chunks.marks, sizeof *job->index));
    return plx__arena_bytes((void **)&job->value, aside, job->chunks.marks, sizeof *job->value);
}

/* The rows that this rank has read. */
static plx_status put_together(plx__table *table, plx_context *ctx, plx__arena *room, read_job *job, const totals *t)
{
    PLX_TRY(plx__arena_csr(&job->out, room, t->rows, t->columns, t->entries));
    PLX_TRY(plx__parallel_for(ctx, job->chunks.count, 1, gather_chunk, job));
    for (plx_index i = 0; i < t->rows; i++) job->out.ptr[i + 1] += job->out.ptr[i];
    PLX_TRY(gather_labels(&table->labels, room, job, t->rows, t->label_bytes));
    table->csr = job->out;
    return PLX_OK;
}

/* What the lines hold is kept aside, to be given back before rows go to other ranks. */
static plx_status read_lines(plx__table *table, plx_context *ctx, plx__arena *arena, plx__arena *aside, read_job *job,
                             const plx__svmlight_options *o)
{
    totals all = {0};
    PLX_TRY(start_job(job, ctx, aside));
    PLX_TRY(plx__text_each(ctx, &job->chunks, read_chunk, job));
    PLX_TRY(sum_up(&all, job, ctx, o));
    if (plx__text_row_count(&job->range) == 0) PLX_FAIL(ctx, PLX_E_FORMAT, "%s: the file has no rows", job->range.name);
    return put_together(table, ctx, plx__text_room(&job->range, arena), job, &all);
}

plx_status plx__svmlight_parse(plx__table *out, plx_context *ctx, plx__arena *arena, const char *name, const char *data,
                               size_t size, const plx__svmlight_options *options)
{
    static const plx__svmlight_options automatic = {0};
    const plx__svmlight_options *o = options ? options : &automatic;
    read_job job = {.range = plx__text_range_of(ctx, name, data, data + size, o->own_rows), .base = 1};
    plx__table table = {.sparse = true};
    plx__arena aside;
    *out = (plx__table){0};
    plx__arena_init(&aside, ctx);
    plx_status st = read_lines(&table, ctx, arena, &aside, &job, o);
    plx__arena_free(&aside);
    PLX_TRY(st);
    PLX_TRY(plx__text_share(&job.range, arena, &table.labels));
    PLX_TRY(plx__text_regroup(&job.range, arena, &table));
    *out = table;
    return PLX_OK;
}

plx_status plx__svmlight_read(plx__table *out, plx_context *ctx, plx__arena *arena, const char *path,
                              const plx__svmlight_options *options)
{
    plx__bytes bytes;
    *out = (plx__table){0};
    PLX_TRY(plx__bytes_read(&bytes, ctx, path));
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_status st = plx__svmlight_parse(out, ctx, arena, path, bytes.data, bytes.size, options);
    if (arena != plx__scratch(ctx)) plx__arena_rewind(plx__scratch(ctx), mark);
    plx__bytes_free(&bytes, ctx);
    return st;
}
