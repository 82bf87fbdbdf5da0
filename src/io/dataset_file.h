/*
 * A data set from whatever the user points at.
 */
#ifndef PLX_IO_DATASET_FILE_H
#define PLX_IO_DATASET_FILE_H

#include "io/table_views.h"
#include "parallax/dataset.h"

/* `fitted` (n_fitted of them, may be NULL): how the text of a model's views was counted. */
plx_status plx__dataset_read(plx_dataset **out, plx_context *ctx, const char *path, const plx_read_options *options,
                             const plx__text_recipe *fitted, plx_index n_fitted);
plx_status plx__dataset_write(plx_context *ctx, const plx_dataset *data, const char *path);

/* A copy of options of any size a caller may have, checked. */
plx_status plx__read_options_copy(plx_read_options *out, plx_context *ctx, const plx_read_options *given);

/* One path, without the files of request->o.views and labels_file; and a path, which may be NULL, with them
 * (dataset_join.c). */
plx_status plx__dataset_read_one(plx_dataset **out, plx_context *ctx, plx__arena *arena, const char *path,
                                 const plx__read_request *request);
plx_status plx__dataset_read_joined(plx_dataset **out, plx_context *ctx, plx__arena *arena, const char *path,
                                    plx__read_request *request);

/* A manifest of what was asked for (manifest_save.c). */
plx_status plx__dataset_save(plx_context *ctx, const char *manifest, const char *path, const plx_read_options *options);

#endif
