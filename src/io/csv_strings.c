/*
 * Delimited text to texts: label files, predictions, anything whose columns are not all numbers.
 */
#include <string.h>

#include "core/file.h"
#include "core/number.h"
#include "core/text.h"
#include "io/csv_scan.h"

typedef struct string_job {
    const plx__csv_plan *plan;
    plx__text_chunks chunks;
    char *pool; /* a chunk's copy starts where the chunk does, plus one byte per cell before it */
    const char **cells;
} string_job;

static plx_status copy_chunk(void *job_, plx_context *ctx, plx_index index)
{
    string_job *job = job_;
    const plx__csv_plan *plan = job->plan;
    const plx__text_chunk *chunk = &job->chunks.chunk[index];
    const char *p = chunk->begin, **cells = job->cells + chunk->first_line * plan->cols;
    plx__text_pool pool = {job->pool + (chunk->begin - plan->begin) + chunk->first_line * plan->cols};
    for (plx_index i = 0; i < chunk->lines; i++) {
        const char *record = p;
        plx__cell_end ended = PLX__CELL_MORE;
        plx_index j = 0;
        for (; ended == PLX__CELL_MORE && j < plan->cols; j++) {
            plx__cell cell;
            ended = plx__csv_cell(&cell, &p, chunk->end, plan->delimiter);
            if (ended == PLX__CELL_BROKEN) break;
            if (memchr(cell.text, '\0', cell.len))
                PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld, column %lld: a NUL byte; is this a text file?", plan->name,
                         (long long)plx__text_line(chunk, record), (long long)j + 1);
            *cells++ = plx__cell_copy(&pool, &cell);
        }
        if (ended != PLX__CELL_LAST || j != plan->cols) return plx__csv_fail_record(ctx, plan, chunk, record);
    }
    return PLX_OK;
}

plx_status plx__csv_parse_strings(plx__strings *out, plx_context *ctx, plx__arena *arena, const char *name,
                                  const char *data, size_t size, const plx__csv_options *options)
{
    plx__csv_plan plan;
    string_job job = {.plan = &plan};
    plx_index count = 0, bytes = 0;
    *out = (plx__strings){0};
    PLX_TRY(plx__csv_plan_make(&plan, ctx, arena, name, data, size, options, false));
    PLX_TRY(plx__csv_split(&job.chunks, ctx, &plan));
    if (__builtin_mul_overflow(job.chunks.lines, plan.cols, &count) ||
        __builtin_add_overflow(plan.end - plan.begin, count, &bytes))
        PLX_FAIL(ctx, PLX_E_NOMEM, "%s: a size overflowed", name);
    PLX_TRY(plx__need_memory(ctx, (double)bytes + 8.0 * (double)count, name, "read fewer rows or columns"));
    PLX_TRY(PLX__ARENA_NEW(&job.cells, arena, count));
    PLX_TRY(plx__arena_bytes((void **)&job.pool, arena, bytes, 1));
    PLX_TRY(plx__text_each(ctx, &job.chunks, copy_chunk, &job));
    *out = (plx__strings){job.chunks.lines, plan.cols, job.cells, plan.names};
    return PLX_OK;
}

plx_status plx__csv_read_strings(plx__strings *out, plx_context *ctx, plx__arena *arena, const char *path,
                                 const plx__csv_options *options)
{
    plx__bytes bytes;
    *out = (plx__strings){0};
    PLX_TRY(plx__bytes_read(&bytes, ctx, path));
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_status st = plx__csv_parse_strings(out, ctx, arena, path, bytes.data, bytes.size, options);
    if (arena != plx__scratch(ctx)) plx__arena_rewind(plx__scratch(ctx), mark);
    plx__bytes_free(&bytes, ctx);
    return st;
}

plx_index plx__strings_column(const plx__strings *strings, const char *name)
{
    for (plx_index j = 0; strings->header && j < strings->cols; j++)
        if (strcmp(strings->header[j], name) == 0) return j;
    return -1;
}

plx_index plx__strings_find(const plx__strings *strings, const char *which)
{
    return plx__column_find(strings->header, strings->cols, which);
}

static plx_status distinct_column(bool *out, plx_context *ctx, const plx__strings *t, plx_index column, bool texts)
{
    plx__map seen;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    bool numbers = true;
    *out = true;
    PLX_TRY(plx__map_init(&seen, plx__scratch(ctx), t->rows));
    for (plx_index i = 0; i < t->rows && *out; i++) {
        const char *cell = t->cells[i * t->cols + column];
        plx_index existing = -1;
        double value;
        numbers = numbers && plx__parse_double(&value, cell);
        PLX_TRY(plx__map_add(&seen, cell, i, &existing));
        *out = existing < 0 && *cell;
    }
    if (texts && numbers) *out = false;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__strings_id_column(plx_index *out, plx_context *ctx, const plx__strings *t, const char *asked)
{
    *out = -1;
    if (asked) {
        *out = plx__strings_find(t, asked);
        if (*out < 0) *out = -2;
        return PLX_OK;
    }
    bool unnamed = t->header && t->header[0][0] == '\0', distinct = false;
    bool called = t->header && plx__names_ids(t->header[0]);
    if (t->cols < 1 || t->rows < 1) return PLX_OK;
    PLX_TRY(distinct_column(&distinct, ctx, t, 0, !unnamed && !called));
    if (distinct) *out = 0;
    return PLX_OK;
}
