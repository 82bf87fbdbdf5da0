/*
 * NumPy's .npy, format versions 1 to 3: real, integer and boolean arrays of either byte order and either storage
 * order, to a dense matrix. A 1-D array becomes one column.
 */
#ifndef PLX_IO_NPY_H
#define PLX_IO_NPY_H

#include "data/table.h"

plx_status plx__npy_read(plx__table *out, plx_context *ctx, plx__arena *arena, const char *path);
plx_status plx__npy_parse(plx__table *out, plx_context *ctx, plx__arena *arena, const char *name, const char *data,
                          size_t size);
/* The same where rows are samples: only those that the context asks for (data/divided.h). */
plx_status plx__npy_parse_share(plx__table *out, plx_context *ctx, plx__arena *arena, const char *name,
                                const char *data, size_t size);

/* Version 1, little-endian doubles, row by row. A sparse table is written out in full. */
plx_status plx__npy_write(plx_context *ctx, const char *path, const plx__table *table);

#endif
