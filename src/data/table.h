/*
 * What a reader of one file hands over: a matrix, dense or sparse, and the names it came with.
 * All memory is in the arena given to the reader.
 */
#ifndef PLX_DATA_TABLE_H
#define PLX_DATA_TABLE_H

#include "core/ctx.h"

typedef struct plx__table {
    bool sparse;
    plx_mat dense;                /* when !sparse */
    plx_csr csr;                  /* when sparse: columns sorted, unique */
    const char *const *row_names; /* sample ids, or NULL */
    const char *const *col_names; /* feature names, or NULL */
    const char *const *labels;    /* one per row (NULL entries: unlabelled), or NULL */
    const char *const *truth;     /* likewise */
    plx_index n_texts;            /* columns of text still to be counted */
    const char *const *const *texts;
    const char *const *text_names; /* of these columns; NULL entries: without a name */
    plx_index rows_in_all;         /* of all ranks, which write one file together; 0: this is all there is */
    bool divided;                  /* only rows begin .. end-1 have values (data/divided.h) */
    plx_index begin, end;
} plx__table;

static inline plx_index plx__table_rows(const plx__table *t) { return t->sparse ? t->csr.rows : t->dense.rows; }
static inline plx_index plx__table_cols(const plx__table *t) { return t->sparse ? t->csr.cols : t->dense.cols; }

#endif
