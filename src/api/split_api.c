/*
 * Public face of the seeded choices over samples and views.
 */
#include "api/api_args.h"
#include "data/feature_split.h"
#include "data/split_impl.h"

plx_status plx_split_labels(uint8_t *chosen, plx_context *ctx, const plx_dataset *data, const char *spec)
{
    PLX__CALL(ctx, plx__split_labels(chosen, ctx, data, spec), PLX__ARG(chosen), PLX__ARG(data), PLX__ARG(spec));
}

plx_status plx_split_folds(int32_t *fold, plx_context *ctx, const plx_dataset *data, plx_index k)
{
    PLX__CALL(ctx, plx__split_folds(fold, ctx, data, k), PLX__ARG(fold), PLX__ARG(data));
}

plx_status plx_split_test(uint8_t *test, plx_context *ctx, const plx_dataset *data, double fraction, int stratified)
{
    PLX__CALL(ctx, plx__split_test(test, ctx, data, fraction, stratified != 0), PLX__ARG(test), PLX__ARG(data));
}

plx_status plx_split_read(uint8_t *flags, plx_context *ctx, const plx_dataset *data, const char *path)
{
    PLX__CALL(ctx, plx__split_read(flags, ctx, data, path), PLX__ARG(flags), PLX__ARG(data), PLX__ARG(path));
}

void plx_split_label_texts(const char **labels, const plx_dataset *data, const uint8_t *chosen)
{
    if (labels && data && chosen) plx__split_label_texts(labels, data, chosen);
}

plx_status plx_split_features(plx_dataset **out, plx_context *ctx, const plx_dataset *data, plx_index view,
                              const char *spec)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, plx__split_features(out, ctx, data, view, spec), PLX__ARG(out), PLX__WHOLE(data), PLX__ARG(spec));
}

/* ---- missing views ---- */

const char *plx_missing_pattern_name(plx_missing_pattern pattern) { return plx__missing_pattern_name(pattern); }

plx_status plx_missing_pattern_parse(plx_missing_pattern *out, const char *name)
{
    return out && name ? plx__missing_pattern_parse(out, name) : PLX_E_ARG;
}

plx_status plx_missing_simulate(uint8_t *present, plx_context *ctx, const plx_dataset *data,
                                const plx_missing_options *options)
{
    PLX__CALL(ctx, plx__missing_simulate(present, ctx, data, options), PLX__ARG(present), PLX__ARG(data));
}
