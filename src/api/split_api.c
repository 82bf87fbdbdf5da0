/*
 * Public face of the seeded choices over samples and views.
 */
#include "api/api_args.h"
#include "data/feature_split.h"
#include "data/split_impl.h"

plx_status plx_split_labels(uint8_t *chosen, plx_context *ctx, const plx_dataset *data, const char *spec)
{
    plx__call_begin(ctx);
    return plx__call_end(ctx, plx__split_labels(chosen, ctx, data, spec));
}

plx_status plx_split_folds(int32_t *fold, plx_context *ctx, const plx_dataset *data, plx_index k)
{
    plx__call_begin(ctx);
    return plx__call_end(ctx, plx__split_folds(fold, ctx, data, k));
}

plx_status plx_split_test(uint8_t *test, plx_context *ctx, const plx_dataset *data, double fraction, int stratified)
{
    plx__call_begin(ctx);
    return plx__call_end(ctx, plx__split_test(test, ctx, data, fraction, stratified != 0));
}

plx_status plx_split_read(uint8_t *flags, plx_context *ctx, const plx_dataset *data, const char *path)
{
    plx__call_begin(ctx);
    return plx__call_end(ctx, plx__split_read(flags, ctx, data, path));
}

void plx_split_label_texts(const char **labels, const plx_dataset *data, const uint8_t *chosen)
{
    plx__split_label_texts(labels, data, chosen);
}

plx_status plx_split_features(plx_dataset **out, plx_context *ctx, const plx_dataset *data, plx_index view,
                              const char *spec)
{
    *out = NULL;
    plx__call_begin(ctx);
    return plx__call_end(ctx, plx__split_features(out, ctx, data, view, spec));
}

/* ---- missing views ---- */

const char *plx_missing_pattern_name(plx_missing_pattern pattern) { return plx__missing_pattern_name(pattern); }

plx_status plx_missing_pattern_parse(plx_missing_pattern *out, const char *name)
{
    return plx__missing_pattern_parse(out, name);
}

plx_status plx_missing_simulate(uint8_t *present, plx_context *ctx, const plx_dataset *data,
                                const plx_missing_options *options)
{
    plx__call_begin(ctx);
    return plx__call_end(ctx, plx__missing_simulate(present, ctx, data, options));
}
