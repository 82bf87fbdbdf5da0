/*
 * Tables as delimited text: comma, tab, semicolon, or runs of blanks; RFC 4180 quoting; LF or CRLF; a UTF-8 byte
 * order mark is skipped; gzip is unpacked. There are no comments. Empty lines count only at the end of a file, where
 * they are ignored. In a column of numbers an empty cell, `nan`, `NA`, `N/A`, `NULL` and `?` are NaN, and a decimal
 * comma is read as a point; other text is an error that names line and column.
 */
#ifndef PLX_IO_CSV_H
#define PLX_IO_CSV_H

#include "core/text.h"
#include "data/table.h"

typedef enum plx__csv_header { PLX__HEADER_AUTO = 0, PLX__HEADER_YES, PLX__HEADER_NO } plx__csv_header;

/* All zero: everything is found out. A column is given by its name, or else by its number from 1 (-1: the last); a list
 * of columns separates them by commas and may hold ranges of numbers (2-5) and beginnings of names (gene*).
 *
 * Header, when automatic: the first row has a text where the column below holds numbers, or the name of a column that
 * is asked for. Then, too, and only for what is not asked for: a first column of distinct texts, one without a name, or one
 * of distinct whole numbers whose name speaks of ids gives the row names; a column `label`, `labels`, `class` or `target`
 * the labels, else a column without numbers called `category`, `diagnosis`, `outcome`, `species`, `group`, `type` or `y`; a
 * column `truth` the truth; columns of sentences are texts. A header with one name fewer than there are columns leaves the first column, the row
 * names, without a name. */
typedef struct plx__csv_options {
    char delimiter; /* 0: from content, then name; ' ': runs of blanks */
    plx__csv_header header;
    const char *id, *label, *truth;
    const char *text; /* list of columns that hold text */
    const char
        *columns;     /* list of columns to read, besides id, label and truth; texts among them are texts. NULL: all */
    const char *drop; /* list of columns to leave out */
    const char *const *known_texts; /* columns of these names are texts unless they hold numbers */
    plx_index n_known_texts;
    plx__map *found;  /* label, truth, text and drop may name columns of other files: those that are here; or NULL */
    bool own_rows;    /* only the values of the rows that fall to this rank, where several read (io/text_ranges.h) */
    const char *hint; /* ends the message about a text where a number was expected; NULL: none */
} plx__csv_options;

/* Numbers into a dense matrix; row names, labels and truth ("", "NA", "?" give NULL) and texts from their columns. */
plx_status plx__csv_read(plx__table *out, plx_context *ctx, plx__arena *arena, const char *path,
                         const plx__csv_options *options);
plx_status plx__csv_parse(plx__table *out, plx_context *ctx, plx__arena *arena, const char *name, const char *data,
                          size_t size, const plx__csv_options *options);

/* Every cell as text, quotes removed, otherwise unchanged. Of the options only delimiter and header count. */
typedef struct plx__strings {
    plx_index rows, cols;
    const char *const *cells;  /* rows x cols, row by row */
    const char *const *header; /* cols names, or NULL */
} plx__strings;

plx_status plx__csv_read_strings(plx__strings *out, plx_context *ctx, plx__arena *arena, const char *path,
                                 const plx__csv_options *options);
plx_status plx__csv_parse_strings(plx__strings *out, plx_context *ctx, plx__arena *arena, const char *name,
                                  const char *data, size_t size, const plx__csv_options *options);

/* Index of the column of that name or number, or -1. */
plx_index plx__strings_find(const plx__strings *strings, const char *which);

/* patient_id, "Sample ID", SubjectId, id_no: does the name have `id` as a word of its own? */
bool plx__names_ids(const char *name);

/* The column that tells the rows apart: `asked` (-2 when there is no such column), else a first column whose name is
 * empty or speaks of ids, or whose cells are distinct texts; -1: none. */
plx_status plx__strings_id_column(plx_index *out, plx_context *ctx, const plx__strings *strings, const char *asked);

/* Index of the column of that name, or -1 (also without a header). */
plx_index plx__strings_column(const plx__strings *strings, const char *name);

/* Exact numbers, comma or tab between them. Row names go into a first column `id`, labels into a last column
 * `label`; these get a header line, as do column names (x1, x2, ... where there are none). */
plx_status plx__csv_write(plx_context *ctx, const char *path, plx_cmat values, const char *const *col_names,
                          const char *const *row_names);
plx_status plx__csv_write_table(plx_context *ctx, const char *path, const plx__table *table, char delimiter);

#endif
