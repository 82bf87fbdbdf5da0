/*
 * Delimited text to numbers: the first rows tell what the file is, then the lines are counted and the cells read,
 * both in chunks on all threads, straight into the matrix. Where several ranks read it, each has a range of records.
 */
#include "io/csv.h"

#include <stdio.h>
#include <string.h>

#include "core/file.h"
#include "core/number.h"
#include "core/text.h"
#include "io/csv_scan.h"

typedef struct read_job {
    const plx__csv_plan *plan;
    plx__text_range range;
    plx__text_chunks chunks; /* their records are this rank's rows */
    double *values;
    plx_index numbers; /* columns of numbers */
    plx__cell **cells; /* by column: one cell per row; NULL for numbers and for columns that are not read */
} read_job;

/* The common cell: a plain number with the delimiter or line end right behind it. NULL: look closer. */
static inline const char *plain_number(double *out, bool *last, const char *p, const char *end, char delimiter)
{
    const char *q = plx__read_double(out, p, end);
    if (!q) return NULL;
    *last = true;
    if (q == end) return q;
    if (*q == delimiter) {
        *last = false;
        bool ragged = delimiter == ' ' && (q + 1 == end || q[1] == ' ' || q[1] == '\t' || q[1] == '\r' || q[1] == '\n');
        return ragged ? NULL : q + 1;
    }
    if (*q == '\r' && q + 1 < end) q++;
    return *q == '\n' ? q + 1 : NULL;
}

static plx_status fail_number(plx_context *ctx, const plx__csv_plan *plan, long long line, plx_index column,
                              const plx__cell *cell, const char *remedy)
{
    char where[128], what[PLX__EXCERPT_BYTES];
    PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld, %s: '%s' is not a number%s", plan->name, line,
             plx__csv_column_text(where, sizeof where, plan, column), plx__excerpt(what, cell->text, cell->len),
             remedy);
}

static plx_status keep_text(read_job *job, plx_context *ctx, const plx__text_chunk *chunk, const char *record,
                            plx_index row, plx_index column, const plx__cell *cell)
{
    char where[128];
    plx__csv_role role = (plx__csv_role)job->plan->role[column];
    bool empty_id = role == PLX__ROLE_ID && cell->len == 0;
    if (empty_id || memchr(cell->text, '\0', cell->len))
        PLX_FAIL(ctx, PLX_E_FORMAT, "%s: line %lld, %s: %s", job->plan->name, (long long)plx__text_line(chunk, record),
                 plx__csv_column_text(where, sizeof where, job->plan, column),
                 empty_id ? "the row has no name" : "a NUL byte; is this a text file?");
    job->cells[column][row] = *cell;
    return PLX_OK;
}

/* A text of several words, or where the first rows have no number, is in a column that is no number at all. */
static const char *number_hint(const plx__csv_plan *plan, plx_index column, const plx__cell *cell)
{
    bool words = cell->len && memchr(cell->text, ' ', cell->len), numbers = plan->look && plan->look[column].number;
    return plan->hint && (words || !numbers) ? plan->hint : "";
}

static plx_status read_record(read_job *job, plx_context *ctx, const plx__text_chunk *chunk, const char **cursor,
                              plx_index row)
{
    const plx__csv_plan *plan = job->plan;
    const char *record = *cursor, *p = record, *end = chunk->end, *next;
    double *value = job->values + row * job->numbers;
    bool last = false;
    plx_index j = 0;
    for (; !last && j < plan->cols; j++) {
        bool number = plan->role[j] == PLX__ROLE_NUMBER;
        if (number && (next = plain_number(value, &last, p, end, plan->delimiter))) {
            p = next;
            value++;
            continue;
        }
        plx__cell cell;
        plx__cell_end ended = plx__csv_cell(&cell, &p, end, plan->delimiter);
        if (ended == PLX__CELL_BROKEN) return plx__csv_fail_record(ctx, plan, chunk, record);
        last = ended == PLX__CELL_LAST;
        if (plan->role[j] == PLX__ROLE_NONE) continue;
        if (!number) PLX_TRY(keep_text(job, ctx, chunk, record, row, j, &cell));
        else if (!plx__cell_number(value++, &cell))
            return fail_number(ctx, plan, (long long)plx__text_line(chunk, record), j, &cell,
                               number_hint(plan, j, &cell));
    }
    if (!last || j != plan->cols) return plx__csv_fail_record(ctx, plan, chunk, record);
    *cursor = p;
    return PLX_OK;
}

static plx_status read_chunk(void *job_, plx_context *ctx, plx_index index)
{
    read_job *job = job_;
    const plx__text_chunk *chunk = &job->chunks.chunk[index];
    const char *p = chunk->begin;
    for (plx_index i = 0; i < chunk->lines; i++) PLX_TRY(read_record(job, ctx, chunk, &p, chunk->first_line + i));
    return PLX_OK;
}

/* ---- texts out of the file into the arena ---- */

static plx_status copy_texts(const char *const **out, plx__arena *arena, const plx__cell *cells, plx_index rows,
                             bool labels)
{
    plx_index bytes = 0;
    const char **texts = NULL;
    plx__text_pool pool;
    if (!cells) return PLX_OK;
    for (plx_index i = 0; i < rows; i++) bytes += (plx_index)cells[i].len;
    PLX_TRY(PLX__ARENA_NEW(&texts, arena, rows));
    PLX_TRY(plx__text_pool_init(&pool, arena, rows, bytes));
    for (plx_index i = 0; i < rows; i++)
        if (!labels || !plx__cell_missing(&cells[i])) texts[i] = plx__cell_copy(&pool, &cells[i]);
    *out = texts;
    return PLX_OK;
}

static plx_status fail_twice(plx_context *ctx, const read_job *job, const plx__cell *cell, const char *id)
{
    plx__text_chunk whole = {.begin = job->plan->begin, .line = job->plan->line};
    long long line = (long long)plx__text_line(&whole, cell->text);
    if (job->plan->names && plx__names_ids(job->plan->names[0]))
        PLX_FAIL(ctx, PLX_E_DATA,
                 "%s: line %lld: the id '%.60s' occurs twice; make ids distinct, leave them out, or list the "
                 "columns to read it as a number",
                 job->plan->name, line, id);
    return fail_number(ctx, job->plan, line, 0, cell,
                       ", and as a row name it occurs twice; say which columns hold id and label");
}

/* A column that was not asked for serves as row names only if it tells the rows apart. Every rank has the names of all;
 * that which has read the line says so. */
static plx_status check_guessed_ids(plx_context *ctx, const read_job *job, const char *const *ids)
{
    plx__map seen;
    const plx__text_range *g = &job->range;
    plx_index rows = plx__text_row_count(g), first = g->bound[g->rank];
    if (!ids) return PLX_OK;
    PLX_TRY(plx__map_init(&seen, plx__scratch(ctx), rows));
    for (plx_index i = 0; i < rows; i++) {
        plx_index existing = -1;
        PLX_TRY(plx__map_add(&seen, ids[i], i, &existing));
        if (existing < 0) continue;
        if (i < first || i >= g->bound[g->rank + 1]) return PLX_OK;
        return fail_twice(ctx, job, &job->cells[0][i - first], ids[i]);
    }
    return PLX_OK;
}

static plx_status number_names(plx__table *out, plx__arena *arena, const plx__csv_plan *plan, plx_index numbers)
{
    const char **names = NULL;
    plx_index k = 0;
    if (!plan->names) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&names, arena, numbers));
    for (plx_index j = 0; j < plan->cols; j++)
        if (plan->role[j] == PLX__ROLE_NUMBER) names[k++] = plan->names[j];
    out->col_names = names;
    return PLX_OK;
}

/* Row names, labels or truth of all rows. */
static plx_status take_names(const char *const **out, plx__arena *arena, const read_job *job, const plx__cell *cells,
                             bool labels)
{
    PLX_TRY(copy_texts(out, plx__text_room(&job->range, arena), cells, job->chunks.lines, labels));
    return plx__text_share(&job->range, arena, out);
}

static plx_status take_texts(plx__table *out, plx__arena *arena, const read_job *job)
{
    const plx__csv_plan *plan = job->plan;
    const char *const **texts = NULL;
    const char **names = NULL;
    plx_index rows = job->chunks.lines;
    for (plx_index j = 0; j < plan->cols; j++) out->n_texts += plan->role[j] == PLX__ROLE_TEXT;
    PLX_TRY(PLX__ARENA_NEW(&texts, arena, out->n_texts));
    PLX_TRY(PLX__ARENA_NEW(&names, arena, out->n_texts));
    out->texts = texts;
    out->text_names = names;
    for (plx_index j = 0, k = 0; j < plan->cols; j++) {
        const plx__cell *cells = job->cells[j];
        switch ((plx__csv_role)plan->role[j]) {
        case PLX__ROLE_ID: PLX_TRY(take_names(&out->row_names, arena, job, cells, false)); break;
        case PLX__ROLE_LABEL: PLX_TRY(take_names(&out->labels, arena, job, cells, true)); break;
        case PLX__ROLE_TRUTH: PLX_TRY(take_names(&out->truth, arena, job, cells, true)); break;
        case PLX__ROLE_TEXT:
            if (plan->names && plan->names[j][0]) names[k] = plan->names[j];
            PLX_TRY(copy_texts(&texts[k++], arena, cells, rows, false));
            break;
        case PLX__ROLE_NUMBER:
        case PLX__ROLE_NONE: break;
        }
    }
    return PLX_OK;
}

/* ---- the whole file ---- */

static plx_status allocate(read_job *job, plx_context *ctx, plx__arena *arena)
{
    char what[256];
    plx_index rows = job->chunks.lines, count = 0;
    PLX_TRY(PLX__ARENA_NEW(&job->cells, plx__scratch(ctx), job->plan->cols));
    for (plx_index j = 0; j < job->plan->cols; j++) {
        uint8_t role = job->plan->role[j];
        if (role == PLX__ROLE_NUMBER) job->numbers++;
        else if (role != PLX__ROLE_NONE) PLX_TRY(PLX__ARENA_NEW(&job->cells[j], plx__scratch(ctx), rows));
    }
    snprintf(what, sizeof what, "%s: a matrix of %lld x %lld", plx__path_base(job->plan->name), (long long)rows,
             (long long)job->numbers);
    PLX_TRY(plx__need_memory(ctx, 8.0 * (double)rows * (double)job->numbers, what, "read fewer rows or columns"));
    if (__builtin_mul_overflow(rows, job->numbers, &count)) PLX_FAIL(ctx, PLX_E_NOMEM, "%s is too large", what);
    return plx__arena_bytes((void **)&job->values, plx__text_room(&job->range, arena), count, sizeof(double));
}

/* Words are counted over all documents, so a file with columns of text is read whole by every rank. */
static bool can_divide(const plx__csv_plan *plan, const plx__csv_options *options)
{
    for (plx_index j = 0; j < plan->cols; j++)
        if (plan->role[j] == PLX__ROLE_TEXT) return false;
    return options && options->own_rows;
}

plx_status plx__csv_parse(plx__table *out, plx_context *ctx, plx__arena *arena, const char *name, const char *data,
                          size_t size, const plx__csv_options *options)
{
    plx__csv_plan plan;
    read_job job = {.plan = &plan};
    *out = (plx__table){0};
    PLX_TRY(plx__csv_plan_make(&plan, ctx, arena, name, data, size, options, true));
    job.range = plx__text_range_of(ctx, name, plan.begin, plan.end, can_divide(&plan, options));
    PLX_TRY(plx__csv_split_range(&job.chunks, &plan, &job.range));
    PLX_TRY(allocate(&job, ctx, arena));
    PLX_TRY(plx__text_each(ctx, &job.chunks, read_chunk, &job));
    plx_index rows = job.chunks.lines;
    plx__table table = {.dense = {job.values, rows, job.numbers, job.numbers}};
    PLX_TRY(number_names(&table, arena, &plan, job.numbers));
    PLX_TRY(take_texts(&table, arena, &job));
    if (plan.id_guessed) PLX_TRY(check_guessed_ids(ctx, &job, table.row_names));
    PLX_TRY(plx__text_regroup(&job.range, arena, &table));
    *out = table;
    return PLX_OK;
}

plx_status plx__csv_read(plx__table *out, plx_context *ctx, plx__arena *arena, const char *path,
                         const plx__csv_options *options)
{
    plx__bytes bytes;
    *out = (plx__table){0};
    PLX_TRY(plx__bytes_read(&bytes, ctx, path));
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_status st = plx__csv_parse(out, ctx, arena, path, bytes.data, bytes.size, options);
    if (arena != plx__scratch(ctx)) plx__arena_rewind(plx__scratch(ctx), mark);
    plx__bytes_free(&bytes, ctx);
    return st;
}
