/*
 * svmlight / libsvm text: `label index:value ...  # comment`, to CSR and labels. Indices ascend inside a line and
 * count from 1, or from 0 when an index 0 occurs anywhere. `qid:` is ignored. Labels stay texts; several, separated by
 * commas, become one text separated by '|'; none or "?" is NULL.
 */
#ifndef PLX_IO_SVMLIGHT_H
#define PLX_IO_SVMLIGHT_H

#include "data/table.h"

typedef enum plx__index_base { PLX__BASE_AUTO = 0, PLX__BASE_ONE, PLX__BASE_ZERO } plx__index_base;

typedef struct plx__svmlight_options { /* all zero: everything is found out */
    plx__index_base base;
    plx_index columns; /* at least so many; the file may have more */
    bool own_rows;     /* only the values of the rows that fall to this rank, where several read (io/text_ranges.h) */
} plx__svmlight_options;

plx_status plx__svmlight_read(plx__table *out, plx_context *ctx, plx__arena *arena, const char *path,
                              const plx__svmlight_options *options);
plx_status plx__svmlight_parse(plx__table *out, plx_context *ctx, plx__arena *arena, const char *name, const char *data,
                               size_t size, const plx__svmlight_options *options);

/* Indices from 1, zeros left out of dense tables, "?" for a missing label. Labels must be free of blanks, ':' and
 * '#'; '|' is written as ','. */
plx_status plx__svmlight_write(plx_context *ctx, const char *path, const plx__table *table);

#endif
