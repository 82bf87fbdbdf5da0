/*
 * What the readers of delimited text share: cutting records into cells, and finding out what a file is
 * (delimiter, header, which column is what) before it is read.
 */
#ifndef PLX_IO_CSV_SCAN_H
#define PLX_IO_CSV_SCAN_H

#include "io/csv.h"
#include "io/text_ranges.h"

typedef struct plx__cell {
    const char *text; /* between the quotes, where quoted; doubled quotes are still doubled */
    size_t len;
    bool quoted;
} plx__cell;

typedef enum plx__cell_end {
    PLX__CELL_MORE,  /* another cell of the record follows */
    PLX__CELL_LAST,  /* the record ends here */
    PLX__CELL_BROKEN /* a quote is not closed, or text follows it; the cursor stands at the fault */
} plx__cell_end;

/* The cell at *cursor; moves behind the delimiter or line end that follows it. */
plx__cell_end plx__csv_cell(plx__cell *out, const char **cursor, const char *end, char delimiter);

/* A cell as a number: NaN for a missing one; false for other text. Missing are an empty cell, `nan`, `NA`, `N/A`, `#N/A`,
 * `NULL` and `?`, in any case. */
bool plx__cell_number(double *out, const plx__cell *cell);
bool plx__cell_missing(const plx__cell *cell);

/* Copy into a pool (cell.len + 1 bytes are always enough), single quotes for doubled ones. */
const char *plx__cell_copy(plx__text_pool *pool, const plx__cell *cell);

typedef enum plx__csv_role {
    PLX__ROLE_NUMBER = 0,
    PLX__ROLE_ID,
    PLX__ROLE_LABEL,
    PLX__ROLE_TRUTH,
    PLX__ROLE_TEXT,
    PLX__ROLE_NONE /* not read */
} plx__csv_role;

/* What the first rows below the header hold in a column. */
typedef struct plx__column_look {
    bool number, text;      /* a cell is a number, is a text */
    plx_index cells, words; /* that are not missing; words in them */
    bool whole, distinct;   /* all are whole numbers; no two alike */
    bool counting;          /* 0, 1, 2, ... or 1001, 1002, 1003, ... */
} plx__column_look;

typedef struct plx__csv_plan {
    const char *name; /* of the file */
    char delimiter;
    const char *begin, *end; /* the rows below the header, without empty lines at the end */
    plx_index line;          /* number of the first line there */
    plx_index cols;
    const char *const *names;     /* of all columns, in the arena; NULL: no header */
    uint8_t *role;                /* plx__csv_role of every column */
    bool id_guessed;              /* the id column was not asked for */
    bool id_number;               /* ... and holds whole numbers */
    const char *hint;             /* see plx__csv_options */
    const plx__column_look *look; /* of the columns, in scratch memory; NULL: roles were not asked for */
} plx__csv_plan;

/* Everything about a file that its first rows tell. With `options` NULL or for strings, roles stay PLX__ROLE_NUMBER. */
plx_status plx__csv_plan_make(plx__csv_plan *plan, plx_context *ctx, plx__arena *arena, const char *name,
                              const char *data, size_t size, const plx__csv_options *options, bool with_roles);

/* The part every column plays: as the options ask, the rest by its looks (csv_columns.c). `shift`: the first column has
 * no name. `recognise`: labels, truth and texts may be found by name and content. */
plx_status plx__csv_assign_roles(plx__csv_plan *plan, plx_context *ctx, const plx__csv_options *options,
                                 const plx__column_look *look, plx_index shift, bool recognise);
/* Is one of the columns the options name, other than by number, a cell of the first row? */
bool plx__csv_names_first_row(const plx__csv_plan *plan, const plx__csv_options *options);
/* Place of a column given by name or number, or -1. */
plx_index plx__column_find(const char *const *names, plx_index cols, const char *which);

/* Chunks of whole records: `lines` and `first_line` count records, `line` still counts lines. */
plx_status plx__csv_split(plx__text_chunks *out, plx_context *ctx, const plx__csv_plan *plan);
/* The same of the records that begin in a range of the plan's text; sets the range's rows. */
plx_status plx__csv_split_range(plx__text_chunks *out, const plx__csv_plan *plan, plx__text_range *range);

/* Start of the record after the one at p; and of the one after a quoted cell, of which p is inside. */
const char *plx__csv_next_record(const char *p, const char *end, char delimiter);
const char *plx__csv_leave_quotes(const char *p, const char *end, char delimiter);
/* Move the ends of chunks of [plan->begin, plan->end) from line ends to record ends; count records in place of lines. */
void plx__csv_cut_at_records(plx__text_chunks *chunks, const plx__csv_plan *plan);

/* The failure for a record with the wrong number of cells or a broken quote. */
plx_status plx__csv_fail_record(plx_context *ctx, const plx__csv_plan *plan, const plx__text_chunk *chunk,
                                const char *record);

/* "column 3" or "column 3 ('name')". */
const char *plx__csv_column_text(char *out, size_t bytes, const plx__csv_plan *plan, plx_index column);

#endif
