/*
 * The data set manifest (`dataset.json`, or any name): which files make up a data set. See docs/guide/data.md.
 */
#ifndef PLX_IO_MANIFEST_H
#define PLX_IO_MANIFEST_H

#include "core/json.h"
#include "io/table_views.h"

plx_status plx__manifest_read(plx_dataset **out, plx_context *ctx, const char *path, const plx__read_request *request);

/* The same of a manifest with "parts" (manifest_parts.c); `root` is what `path` in `directory` holds. */
plx_status plx__manifest_parts(plx_dataset **out, plx_context *ctx, plx__arena *arena, const char *path,
                               const char *directory, const json_t *root, const plx__read_request *request);

/* A directory with dataset.json and its files. It must not exist yet, or be empty; nothing half-written stays. */
plx_status plx__manifest_write(plx_context *ctx, const plx_dataset *data, const char *directory);

#endif
