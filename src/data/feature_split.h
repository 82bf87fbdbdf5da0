/*
 * One view cut into several by its columns. The split is a plain array, stored with a model and used
 * again on new rows.
 */
#ifndef PLX_DATA_FEATURE_SPLIT_H
#define PLX_DATA_FEATURE_SPLIT_H

#include "data/dataset_impl.h"

typedef struct plx__feature_split {
    plx_index cols, parts;
    const int32_t *part; /* cols: number of the part a column goes to */
} plx__feature_split;

/* `parts` parts at random, sizes differing by at most one; `stream` names the purpose. */
plx_status plx__feature_split_random(plx__feature_split *out, plx_context *ctx, plx__arena *arena, plx_index cols,
                                     plx_index parts, uint64_t stream);

/* Given part by part: numbers 0..parts-1, none left out, parts = largest + 1. `where` begins messages. */
plx_status plx__feature_split_from(plx__feature_split *out, plx_context *ctx, plx__arena *arena, const char *where,
                                   const int32_t *part, plx_index cols);

/* One number per line, `cols` lines. */
plx_status plx__feature_split_read(plx__feature_split *out, plx_context *ctx, plx__arena *arena, const char *path,
                                   plx_index cols);

/* The parts of a view, in `arena`, called PREFIX0, PREFIX1, ...; presence and feature texts are shared. */
plx_status plx__feature_split_apply(plx__view *parts, plx_context *ctx, plx__arena *arena,
                                    const plx__feature_split *split, const plx__view *view, const char *prefix);

/* The data set with view `v` replaced by others over the same samples, which are copied. */
plx_status plx__dataset_replace_view(plx_dataset **out, plx_context *ctx, const plx_dataset *data, plx_index v,
                                     const plx__view *views, plx_index count);

/* plx_split_features() inside a running call. */
plx_status plx__split_features(plx_dataset **out, plx_context *ctx, const plx_dataset *data, plx_index v,
                               const char *spec);

/* The data set with view `v` replaced by its parts, called split0, split1, ... */
plx_status plx__feature_split_dataset(plx_dataset **out, plx_context *ctx, const plx_dataset *data, plx_index v,
                                      const plx__feature_split *split);

#endif
