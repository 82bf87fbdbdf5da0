/*
 * What mat.c and mat_values.c share.
 */
#ifndef PLX_IO_MAT_IMPL_H
#define PLX_IO_MAT_IMPL_H

#include <matio.h>

#include "data/table.h"

/* Why libmatio cannot be used, as plx__hdf5_missing(). */
const char *plx__matio_missing(void);

/* Is this a full or sparse matrix of real numbers with two dimensions? */
bool plx__mat_is_matrix(const matvar_t *var);

/* A matrix as a table of samples x features; `transpose` when samples are its columns. All in `arena`. */
plx_status plx__mat_table(plx__table *out, plx_context *ctx, plx__arena *arena, const char *where, const matvar_t *var,
                          bool transpose);

/* How many samples labels stand for: the longer side of a vector, the cells of a list, the rows of text; for a one-hot
 * matrix the longer side. 0: this cannot be labels. */
plx_index plx__mat_label_count(const matvar_t *var);

/* The labels as texts, NULL where there is none. */
plx_status plx__mat_labels(const char *const **out, plx_context *ctx, plx__arena *arena, const char *where,
                           const matvar_t *var, plx_index n);

/* Refuses sizes the file cannot hold, before matio asks for memory: looks at headers only, through cells and structs.
 */
plx_status plx__mat_check_size(plx_context *ctx, const char *where, const matvar_t *var, double file_bytes, int depth);

/* Refuses a file whose last variable is cut off. */
plx_status plx__mat_check_complete(plx_context *ctx, const char *path);

#endif
