/*
 * Public face of the data set: each call clears the last error, does its work, gives scratch back.
 */
#include "data/dataset_impl.h"

#define PUBLIC_CALL(ctx, expr)                                                                                         \
    do {                                                                                                               \
        plx__call_begin(ctx);                                                                                          \
        return plx__call_end(ctx, (expr));                                                                             \
    } while (0)

plx_status plx_dataset_create(plx_dataset **out, plx_context *ctx, const char *name, plx_index n)
{
    PUBLIC_CALL(ctx, plx__dataset_create(out, ctx, name, n));
}

plx_status plx_dataset_set_ids(plx_dataset *data, plx_context *ctx, const char *const *ids)
{
    PUBLIC_CALL(ctx, plx__dataset_set_ids(data, ctx, ids));
}

plx_status plx_dataset_add_dense(plx_dataset *data, plx_context *ctx, const char *name, plx_view_kind kind,
                                 plx_cmat values, const char *const *features, const uint8_t *present)
{
    PUBLIC_CALL(ctx, plx__dataset_add_dense(data, ctx, name, kind, values, features, present));
}

plx_status plx_dataset_add_sparse(plx_dataset *data, plx_context *ctx, const char *name, plx_view_kind kind,
                                  plx_ccsr values, const char *const *features, const uint8_t *present)
{
    PUBLIC_CALL(ctx, plx__dataset_add_sparse(data, ctx, name, kind, values, features, present));
}

plx_status plx_dataset_set_labels(plx_dataset *data, plx_context *ctx, const char *const *labels)
{
    PUBLIC_CALL(ctx, plx__dataset_set_labels(data, ctx, labels));
}

plx_status plx_dataset_set_truth(plx_dataset *data, plx_context *ctx, const char *const *truth)
{
    PUBLIC_CALL(ctx, plx__dataset_set_truth(data, ctx, truth));
}

plx_status plx_dataset_set_hierarchy(plx_dataset *data, plx_context *ctx, const char *const *classes,
                                     plx_index n_classes, const int32_t *subset, plx_index n_subset,
                                     const int32_t *mutex, plx_index n_mutex)
{
    PUBLIC_CALL(ctx, plx__dataset_set_hierarchy(data, ctx, classes, n_classes, subset, n_subset, mutex, n_mutex));
}

plx_status plx_dataset_set_label_cost(plx_dataset *data, plx_context *ctx, double cost)
{
    PUBLIC_CALL(ctx, plx__dataset_set_label_cost(data, ctx, cost));
}

plx_status plx_dataset_set_view_cost(plx_dataset *data, plx_context *ctx, plx_index view, double cost)
{
    PUBLIC_CALL(ctx, plx__dataset_set_view_cost(data, ctx, view, cost));
}

plx_status plx_dataset_set_sample_costs(plx_dataset *data, plx_context *ctx, const double *costs)
{
    PUBLIC_CALL(ctx, plx__dataset_set_sample_costs(data, ctx, costs));
}

plx_status plx_dataset_select(plx_dataset **out, plx_context *ctx, const plx_dataset *data, const plx_index *samples,
                              plx_index count)
{
    PUBLIC_CALL(ctx, plx__dataset_select(out, ctx, data, samples, count));
}

plx_status plx_dataset_mask(plx_dataset **out, plx_context *ctx, const plx_dataset *data, const uint8_t *present)
{
    PUBLIC_CALL(ctx, plx__dataset_mask(out, ctx, data, present));
}

plx_status plx_dataset_relabel(plx_dataset **out, plx_context *ctx, const plx_dataset *data, const char *const *labels)
{
    PUBLIC_CALL(ctx, plx__dataset_relabel(out, ctx, data, labels));
}
