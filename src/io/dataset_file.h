/*
 * A data set from whatever the user points at.
 */
#ifndef PLX_IO_DATASET_FILE_H
#define PLX_IO_DATASET_FILE_H

#include "parallax/dataset.h"

plx_status plx__dataset_read(plx_dataset **out, plx_context *ctx, const char *path, const plx_read_options *options);
plx_status plx__dataset_write(plx_context *ctx, const plx_dataset *data, const char *path);

#endif
