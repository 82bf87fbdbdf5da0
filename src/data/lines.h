/*
 * Files with one entry per line: ids, labels, feature names, flags.
 */
#ifndef PLX_DATA_LINES_H
#define PLX_DATA_LINES_H

#include "core/ctx.h"

/* The lines of a file, without line ends and without blanks around them. An empty last line does not count. */
plx_status plx__lines_read(const char *const **out, plx_index *count, plx_context *ctx, plx__arena *arena,
                           const char *path);

/* One 0/1 per line. */
plx_status plx__flag_lines_read(uint8_t **out, plx_index *count, plx_context *ctx, plx__arena *arena, const char *path);

#endif
