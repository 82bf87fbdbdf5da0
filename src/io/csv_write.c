/*
 * Tables to delimited text. Blocks of rows are formatted on all threads into buffers and written in order.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/number.h"
#include "core/parallel.h"
#include "core/text.h"
#include "io/csv.h"
#include "io/joined_file.h"

enum { BLOCK_BYTES = 1 << 20, BLOCKS_AT_ONCE = 16, CELL_BYTES = 26 }; /* longest number and a delimiter */

typedef struct sheet {
    bool sparse;
    plx_cmat dense;
    plx_ccsr csr;
    plx_index rows, cols;
    const char *const *col_names, *const *row_names, *const *labels;
    char delimiter;
    bool together; /* rows of several ranks, which write one file */
} sheet;

typedef struct block {
    plx_index begin, end; /* rows */
    char *text;
    size_t capacity, len;
} block;

/* ---- cells ---- */

static bool needs_quotes(const char *text, char delimiter)
{
    size_t len = strlen(text);
    const char special[] = {'"', '\n', '\r', delimiter, '\0'};
    if (len == 0) return false;
    return text[strcspn(text, special)] != '\0' || text[0] == ' ' || text[len - 1] == ' ';
}

static char *put_text(char *p, const char *text, char delimiter)
{
    size_t len = strlen(text);
    if (!needs_quotes(text, delimiter)) {
        memcpy(p, text, len);
        return p + len;
    }
    *p++ = '"';
    for (; *text; text++) {
        if (*text == '"') *p++ = '"';
        *p++ = *text;
    }
    *p++ = '"';
    return p;
}

/* Upper bound of what put_text and a delimiter take. */
static plx_index text_bound(const char *const *texts, plx_index i)
{
    return texts ? 2 * (plx_index)(texts[i] ? strlen(texts[i]) : 1) + 3 : 0;
}

static plx_index row_bound(const sheet *s, plx_index i)
{
    return s->cols * CELL_BYTES + text_bound(s->row_names, i) + text_bound(s->labels, i) + 1;
}

static char *put_numbers(char *p, const sheet *s, plx_index i)
{
    plx_index k = s->sparse ? s->csr.ptr[i] : 0, stop = s->sparse ? s->csr.ptr[i + 1] : 0;
    for (plx_index j = 0; j < s->cols; j++) {
        double value = 0;
        if (!s->sparse) value = s->dense.data[i * s->dense.ld + j];
        else if (k < stop && s->csr.col[k] == j) value = s->csr.val[k++];
        p += plx__print_double(p, value);
        *p++ = s->delimiter;
    }
    return p;
}

static char *put_row(char *p, const sheet *s, plx_index i)
{
    char *start = p;
    if (s->row_names) {
        p = put_text(p, s->row_names[i], s->delimiter);
        *p++ = s->delimiter;
    }
    p = put_numbers(p, s, i);
    if (s->labels) {
        p = put_text(p, s->labels[i] ? s->labels[i] : "?", s->delimiter);
        *p++ = s->delimiter;
    }
    if (p > start) p--; /* the last delimiter makes room for the line end */
    *p++ = '\n';
    return p;
}

/* ---- blocks ---- */

typedef struct format_job {
    const sheet *sheet;
    block *blocks;
} format_job;

static plx_status format_blocks(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    (void)ctx;
    (void)worker;
    format_job *job = job_;
    for (plx_index b = begin; b < end; b++) {
        block *k = &job->blocks[b];
        char *p = k->text;
        for (plx_index i = k->begin; i < k->end; i++) p = put_row(p, job->sheet, i);
        k->len = (size_t)(p - k->text);
    }
    return PLX_OK;
}

/* Rows from `first` on, as many as fit into the block's bytes; at least one, which may ask for a larger buffer. */
static plx_status fill_block(block *k, plx_context *ctx, const sheet *s, plx_index first)
{
    plx_index bytes = row_bound(s, first), end = first + 1;
    while (end < s->rows) {
        plx_index more = row_bound(s, end);
        if (bytes + more > BLOCK_BYTES) break;
        bytes += more;
        end++;
    }
    k->begin = first;
    k->end = end;
    if ((size_t)bytes <= k->capacity) return PLX_OK;
    k->capacity = 0;
    PLX_TRY(plx__arena_bytes((void **)&k->text, plx__scratch(ctx), bytes, 1));
    k->capacity = (size_t)bytes;
    return PLX_OK;
}

static plx_status write_rows(FILE *f, plx_context *ctx, const char *path, const sheet *s)
{
    block blocks[BLOCKS_AT_ONCE] = {{0}};
    format_job job = {s, blocks};
    char phase[128];
    snprintf(phase, sizeof phase, "write %s", plx__path_base(path));
    for (plx_index row = 0; row < s->rows;) {
        plx_index count = 0;
        for (; count < BLOCKS_AT_ONCE && row < s->rows; count++) {
            PLX_TRY(fill_block(&blocks[count], ctx, s, row));
            row = blocks[count].end;
        }
        PLX_TRY(plx__parallel_for(ctx, count, 1, format_blocks, &job));
        for (plx_index b = 0; b < count; b++) fwrite(blocks[b].text, 1, blocks[b].len, f);
        if (count == BLOCKS_AT_ONCE) PLX_TRY(plx__report(ctx, phase, row, s->rows, NAN));
    }
    return PLX_OK;
}

static plx_status write_header(FILE *f, plx_context *ctx, const sheet *s)
{
    if (!s->col_names && !s->row_names && !s->labels) return PLX_OK;
    plx_index longest = 32;
    for (plx_index j = 0; s->col_names && j < s->cols; j++) longest = plx__max(longest, text_bound(s->col_names, j));
    char *cell = NULL;
    const char *between = "";
    const char delimiter[] = {s->delimiter, '\0'};
    PLX_TRY(plx__arena_bytes((void **)&cell, plx__scratch(ctx), longest, 1));
    if (s->row_names) {
        fputs("id", f);
        between = delimiter;
    }
    for (plx_index j = 0; j < s->cols; j++) {
        fputs(between, f);
        between = delimiter;
        if (s->col_names) fwrite(cell, 1, (size_t)(put_text(cell, s->col_names[j], s->delimiter) - cell), f);
        else fprintf(f, "x%lld", (long long)j + 1);
    }
    if (s->labels) fprintf(f, "%slabel", between);
    fputc('\n', f);
    return PLX_OK;
}

static plx_status write_sheet(plx_context *ctx, const char *path, const sheet *s)
{
    plx__joined file;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_status st = plx__joined_open(&file, ctx, path, s->together);
    if (st == PLX_OK && file.first) st = write_header(file.out.file, ctx, s);
    if (st == PLX_OK) st = write_rows(file.out.file, ctx, path, s);
    st = plx__joined_close(&file, ctx, st);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return st;
}

plx_status plx__csv_write(plx_context *ctx, const char *path, plx_cmat values, const char *const *col_names,
                          const char *const *row_names)
{
    sheet s = {.dense = values,
               .rows = values.rows,
               .cols = values.cols,
               .col_names = col_names,
               .row_names = row_names,
               .delimiter = plx__ends_with(path, ".tsv") ? '\t' : ','};
    return write_sheet(ctx, path, &s);
}

plx_status plx__csv_write_table(plx_context *ctx, const char *path, const plx__table *table, char delimiter)
{
    sheet s = {.sparse = table->sparse,
               .dense = plx__cmat(table->dense),
               .csr = plx__ccsr(table->csr),
               .rows = table->sparse ? table->csr.rows : table->dense.rows,
               .cols = table->sparse ? table->csr.cols : table->dense.cols,
               .col_names = table->col_names,
               .row_names = table->row_names,
               .labels = table->labels,
               .delimiter = delimiter,
               .together = table->rows_in_all > 0};
    return write_sheet(ctx, path, &s);
}
