/*
 * Matrix Market files: coordinate (to CSR; duplicates are added up in file order) and array (to dense); real, integer
 * and pattern values; general, symmetric and skew-symmetric, which are expanded. Blank lines and % comments may stand
 * anywhere below the banner. The counts of the size line are verified.
 */
#ifndef PLX_IO_MTX_H
#define PLX_IO_MTX_H

#include "data/table.h"

plx_status plx__mtx_read(plx__table *out, plx_context *ctx, plx__arena *arena, const char *path);
plx_status plx__mtx_parse(plx__table *out, plx_context *ctx, plx__arena *arena, const char *name, const char *data,
                          size_t size);
/* Of a coordinate file only the rows that the context asks for (data/divided.h), where several ranks read it. */
plx_status plx__mtx_parse_share(plx__table *out, plx_context *ctx, plx__arena *arena, const char *name,
                                const char *data, size_t size);

/* Coordinate for a sparse table, array for a dense one; real general, exact numbers. Names are not written. */
plx_status plx__mtx_write(plx_context *ctx, const char *path, const plx__table *table);

#endif
