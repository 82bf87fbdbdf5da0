/*
 * Labels, or the truth, from a file beside the data: a column of a table or of an .h5mu or .h5ad file, or a plain list.
 */
#ifndef PLX_IO_LABEL_SOURCE_H
#define PLX_IO_LABEL_SOURCE_H

#include "io/join.h"

typedef struct plx__label_source {
    const char *file;
    const char *column; /* NULL: `label`, or the only column beside the ids, or one per line of a plain list */
    const char *id;     /* column of the ids; NULL: found out, see plx__strings_id_column() */
} plx__label_source;

/* Joined by id where both sides have ids, else by row. Samples the file does not know keep what `to` says. */
plx_status plx__label_source_read(const char **to, plx_context *ctx, plx__arena *arena, const plx__label_source *source,
                                  const plx__sample_list *samples, const char *what);

/* The same without samples: one text per row (NULL: none) and their ids, or NULL. */
plx_status plx__label_source_rows(const char *const **texts, const char *const **ids, plx_index *rows, plx_context *ctx,
                                  plx__arena *arena, const plx__label_source *source);

#endif
