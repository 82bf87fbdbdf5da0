/*
 * Files of labels and small CSV tables (RFC 4180: quotes around fields with commas, quotes or line ends). All text and
 * arrays are in the arena given; messages name file, line and column.
 */
#ifndef PLX_EVAL_LABEL_FILES_H
#define PLX_EVAL_LABEL_FILES_H

#include "core/ctx.h"

typedef struct plx__label_list {
    const char **labels;
    plx_index count;
} plx__label_list;

typedef struct plx__text_table {
    const char **header;            /* cols */
    const char **cells;             /* rows x cols, row by row */
    plx_index rows, cols;
    plx_index *lines;               /* line number of every row, for messages */
} plx__text_table;

typedef struct plx__number_table {
    const char **header;            /* cols */
    plx_mat values;
} plx__number_table;

/* What a --pred file holds: labels, and for a predictions.csv its score_* columns (without the prefix). */
typedef struct plx__prediction_file {
    plx__label_list list;
    plx__number_table scores;       /* values.cols = 0: none */
} plx__prediction_file;

/* One label per line, blanks around it dropped. An empty line is an error unless `empty_allowed` (empty label set). */
plx_status plx__label_list_read(plx__label_list *out, plx__arena *arena, const char *path, bool empty_allowed);

/* A CSV with header; every row must have as many fields as the header. */
plx_status plx__text_table_read(plx__text_table *out, plx__arena *arena, const char *path);

/* Columns first, first+1, ... of a table as numbers. */
plx_status plx__table_numbers(plx_mat *out, plx__arena *arena, const char *path, const plx__text_table *table,
                              const plx_index *columns, plx_index count);

/* A CSV with header whose cells are all numbers (nan and inf included). */
plx_status plx__number_table_read(plx__number_table *out, plx__arena *arena, const char *path);

/* One label per line, or a predictions.csv: the header has a field `label`, and its first field is `id` or the file is
 * called *.csv. */
plx_status plx__prediction_file_read(plx__prediction_file *out, plx__arena *arena, const char *path,
                                     bool empty_allowed);

/* Fields of one line of CSV, e.g. a list given as an option. */
plx_status plx__label_csv_split(plx__label_list *out, plx__arena *arena, const char *what, const char *text);

#endif
