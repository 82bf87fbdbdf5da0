/*
 * Files of labels and tables of scores as `parallax eval` reads them. All text and arrays are in the arena given, which
 * must not be scratch; messages name file, line and column.
 */
#ifndef PLX_EVAL_LABEL_FILES_H
#define PLX_EVAL_LABEL_FILES_H

#include "io/csv.h"

typedef struct plx__label_list {
    const char *const *labels;
    plx_index count;
} plx__label_list;

typedef plx__strings plx__text_table;

typedef struct plx__number_table {
    const char *const *header; /* cols */
    plx_mat values;
} plx__number_table;

/* What a --pred file holds: labels, and for a predictions.csv its ids and its score_* columns (without the prefix). */
typedef struct plx__prediction_file {
    plx__label_list list;
    const char *const *ids;   /* one per label; NULL: the file has no column `id` */
    plx__number_table scores; /* values.cols = 0: none */
} plx__prediction_file;

/* One label per line, blanks around it dropped. An empty line is an error unless `empty_allowed` (empty label set). */
plx_status plx__label_list_read(plx__label_list *out, plx__arena *arena, const char *path, bool empty_allowed);

/* A CSV with header; every row must have as many fields as the header. */
plx_status plx__text_table_read(plx__text_table *out, plx__arena *arena, const char *path);

/* Line of a row of a table, for messages (exact unless a cell before it holds a line end). */
static inline long long plx__table_line(plx_index row) { return (long long)row + 2; }

/* The given columns of a table as numbers. */
plx_status plx__table_numbers(plx_mat *out, plx__arena *arena, const char *path, const plx__text_table *table,
                              const plx_index *columns, plx_index count);

/* A CSV with header whose cells are all numbers (nan and inf included). */
plx_status plx__number_table_read(plx__number_table *out, plx__arena *arena, const char *path);

/* One label per line, or a predictions.csv: the header has a field `label`, and there is a field `id` or the file is
 * called *.csv or *.tsv. Columns are found by name; quotes and a byte order mark are fine. */
plx_status plx__prediction_file_read(plx__prediction_file *out, plx__arena *arena, const char *path,
                                     bool empty_allowed);

/* c0, c1, ..., noise or ?, as clusterers name them. */
bool plx__is_cluster_name(const char *label);

/* What predictions are beside a truth: clusters have names of clusters, and none of them is a class of the truth. */
typedef enum plx__prediction_kind {
    PLX__PREDICTS_CLASSES,
    PLX__PREDICTS_STRANGERS,
    PLX__PREDICTS_CLUSTERS
} plx__prediction_kind;
plx_status plx__prediction_kind_of(plx__prediction_kind *out, plx__arena *arena, const char *const *truth,
                                   const char *const *pred, plx_index n);

/* A list given as one line of CSV, e.g. by an option. */
plx_status plx__text_list(plx__label_list *out, plx__arena *arena, const char *what, const char *text);

/* Is a file a table by its name: .csv, .tsv, also with .gz? */
bool plx__is_named_table(const char *path);
/* The fields of the first line; none when it is no line of CSV. */
plx_status plx__first_fields(plx__label_list *out, plx__arena *arena, const char *path);

#endif
