/*
 * Tables as delimited text: comma, tab, semicolon, or runs of blanks; RFC 4180 quoting; LF or CRLF; a UTF-8 byte
 * order mark is skipped; gzip is unpacked. There are no comments. Empty lines count only at the end of a file, where
 * they are ignored. In a column of numbers an empty cell, `nan` and `NA` are NaN; other text is an error that names
 * line and column.
 */
#ifndef PLX_IO_CSV_H
#define PLX_IO_CSV_H

#include "data/table.h"

typedef enum plx__csv_header { PLX__HEADER_AUTO = 0, PLX__HEADER_YES, PLX__HEADER_NO } plx__csv_header;

/* All zero: everything is found out. A column is given by its name, or else by its number from 1 (-1: the last).
 *
 * Header, when automatic: the first row has a text where the column below holds numbers. Then, too, a first column
 * of distinct texts, or one whose name is empty, gives the row names. A header with one name fewer than there are
 * columns leaves the first column, the row names, without a name. */
typedef struct plx__csv_options {
    char delimiter; /* 0: from content, then name; ' ': runs of blanks */
    plx__csv_header header;
    const char *id, *label, *text;
    const char *hint; /* ends the message about a text in the first row, where a number was expected; NULL: none */
} plx__csv_options;

/* Numbers into a dense matrix; row names, labels ("", "NA", "?" give NULL) and texts from their columns. */
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

/* Index of the column of that name, or -1 (also without a header). */
plx_index plx__strings_column(const plx__strings *strings, const char *name);

/* Exact numbers, comma or tab between them. Row names go into a first column `id`, labels into a last column
 * `label`; these get a header line, as do column names (x1, x2, ... where there are none). */
plx_status plx__csv_write(plx_context *ctx, const char *path, plx_cmat values, const char *const *col_names,
                          const char *const *row_names);
plx_status plx__csv_write_table(plx_context *ctx, const char *path, const plx__table *table, char delimiter);

#endif
