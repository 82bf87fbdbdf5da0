/*
 * The data set manifest (`dataset.json`, or any name): which files make up a data set. See docs/guide/data.md.
 */
#ifndef PLX_IO_MANIFEST_H
#define PLX_IO_MANIFEST_H

#include "io/table_views.h"

plx_status plx__manifest_read(plx_dataset **out, plx_context *ctx, const char *path, const plx__read_request *request);

/* A directory with dataset.json and its files. It must not exist yet, or be empty; nothing half-written stays. */
plx_status plx__manifest_write(plx_context *ctx, const plx_dataset *data, const char *directory);

#endif
