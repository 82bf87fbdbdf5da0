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

/* ---- what all model files have in common ---- */

struct plx__h5;
typedef plx_status (*plx__model_body_fn)(const struct plx__h5 *f, const void *model);

/* To a temporary name, renamed when it is complete. */
plx_status plx__model_write(plx_context *ctx, const char *path, plx__model_body_fn body, const void *model);

/* What made the model, and which version of us. */
plx_status plx__model_save_kind(const struct plx__h5 *f, const char *method);

plx_status plx__model_save_parameters(const struct plx__h5 *f, const plx_params *p);
plx_status plx__model_load_parameters(plx_params *p, const struct plx__h5 *f);

/* PLX_E_FORMAT and a sentence. */
plx_status plx__model_damaged(const struct plx__h5 *f, const char *what);

#endif
