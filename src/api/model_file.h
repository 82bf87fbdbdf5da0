/*
 * Model files (.plx): HDF5 behind a 512-byte head with a checksum. docs/dev/model-file.md describes the format.
 */
#ifndef PLX_API_MODEL_FILE_H
#define PLX_API_MODEL_FILE_H

#include "api/model_impl.h"

enum { PLX__MODEL_VERSION = 1, PLX__MODEL_HEAD = 512 };

plx_status plx__model_save(plx_context *ctx, const plx_model *model, const char *path);
plx_status plx__model_load(plx_model **out, plx_context *ctx, const char *path);

/* The head: says what the file is and guards every byte behind it. */
plx_status plx__model_head_make(char head[PLX__MODEL_HEAD], plx_context *ctx, const char *path);
plx_status plx__model_head_check(plx_context *ctx, const char *path);

#endif
