/*
 * Public face of the data set: each call clears the last error, does its work, gives scratch back.
 */
#include "api/api_args.h"
#include "data/dataset_impl.h"
#include "io/matrix_kind.h"
#include "io/text_counts.h"

const char *plx_view_kind_name(plx_view_kind kind) { return plx__view_kind_name(kind); }

plx_status plx_view_kind_parse(plx_view_kind *out, const char *name)
{
    return out && name ? plx__view_kind_parse(out, name) : PLX_E_ARG;
}

plx_status plx_view_kind_guess_dense(plx_view_kind *out, plx_cmat values)
{
    if (!out || values.rows < 0 || values.cols < 0 || values.ld < values.cols) return PLX_E_ARG;
    if (!values.data && values.rows > 0 && values.cols > 0) return PLX_E_ARG;
    *out = plx__guess_kind_dense(values);
    return PLX_OK;
}

plx_status plx_view_kind_guess_sparse(plx_view_kind *out, plx_ccsr values)
{
    if (!out || values.rows < 0 || values.cols < 0 || !values.ptr || values.ptr[values.rows] < 0) return PLX_E_ARG;
    if ((!values.col || !values.val) && values.ptr[values.rows] > 0) return PLX_E_ARG;
    *out = plx__guess_kind_sparse(values);
    return PLX_OK;
}

/* ---- building ---- */

void plx_dataset_destroy(plx_dataset *data) { plx__dataset_destroy(data); }

plx_status plx_dataset_create(plx_dataset **out, plx_context *ctx, const char *name, plx_index n)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, plx__dataset_create(out, ctx, name, n), PLX__ARG(out), PLX__COUNT(n));
}

plx_status plx_dataset_set_ids(plx_dataset *data, plx_context *ctx, const char *const *ids)
{
    PLX__CALL(ctx, plx__dataset_set_ids(data, ctx, ids), PLX__ARG(data), PLX__ARG(ids));
}

static plx_status add_dense(plx_dataset *data, plx_context *ctx, const char *name, plx_view_kind kind, plx_cmat values,
                            const char *const *features, const uint8_t *present)
{
    PLX_TRY(plx__check_dense(ctx, name, values));
    return plx__dataset_add_dense(data, ctx, name, kind, values, features, present);
}

plx_status plx_dataset_add_dense(plx_dataset *data, plx_context *ctx, const char *name, plx_view_kind kind,
                                 plx_cmat values, const char *const *features, const uint8_t *present)
{
    PLX__CALL(ctx, add_dense(data, ctx, name, kind, values, features, present), PLX__WHOLE(data), PLX__ARG(name),
              PLX__ARG(values.data));
}

plx_status plx_dataset_add_sparse(plx_dataset *data, plx_context *ctx, const char *name, plx_view_kind kind,
                                  plx_ccsr values, const char *const *features, const uint8_t *present)
{
    PLX__CALL(ctx, plx__dataset_add_sparse(data, ctx, name, kind, values, features, present), PLX__WHOLE(data),
              PLX__ARG(name), PLX__ARG(values.ptr));
}

static plx_status borrow_dense(plx_dataset *data, plx_context *ctx, const char *name, plx_view_kind kind,
                               plx_cmat values, const char *const *features, const uint8_t *present)
{
    PLX_TRY(plx__check_dense(ctx, name, values));
    return plx__dataset_borrow_dense(data, ctx, name, kind, values, features, present);
}

plx_status plx_dataset_borrow_dense(plx_dataset *data, plx_context *ctx, const char *name, plx_view_kind kind,
                                    plx_cmat values, const char *const *features, const uint8_t *present)
{
    PLX__CALL(ctx, borrow_dense(data, ctx, name, kind, values, features, present), PLX__WHOLE(data), PLX__ARG(name),
              PLX__ARG(values.data));
}

plx_status plx_dataset_borrow_sparse(plx_dataset *data, plx_context *ctx, const char *name, plx_view_kind kind,
                                     plx_ccsr values, const char *const *features, const uint8_t *present)
{
    PLX__CALL(ctx, plx__dataset_borrow_sparse(data, ctx, name, kind, values, features, present), PLX__WHOLE(data),
              PLX__ARG(name), PLX__ARG(values.ptr));
}

plx_status plx_dataset_set_labels(plx_dataset *data, plx_context *ctx, const char *const *labels)
{
    PLX__CALL(ctx, plx__dataset_set_labels(data, ctx, labels), PLX__ARG(data));
}

plx_status plx_dataset_set_truth(plx_dataset *data, plx_context *ctx, const char *const *truth)
{
    PLX__CALL(ctx, plx__dataset_set_truth(data, ctx, truth), PLX__ARG(data));
}

plx_status plx_dataset_set_hierarchy(plx_dataset *data, plx_context *ctx, const char *const *classes,
                                     plx_index n_classes, const int32_t *subset, plx_index n_subset,
                                     const int32_t *mutex, plx_index n_mutex)
{
    PLX__CALL(ctx, plx__dataset_set_hierarchy(data, ctx, classes, n_classes, subset, n_subset, mutex, n_mutex),
              PLX__ARG(data), PLX__ARG(classes), PLX__COUNT(n_classes), PLX__COUNT(n_subset),
              PLX__ARG_IF(subset, n_subset), PLX__COUNT(n_mutex), PLX__ARG_IF(mutex, n_mutex));
}

plx_status plx_dataset_set_label_cost(plx_dataset *data, plx_context *ctx, double cost)
{
    PLX__CALL(ctx, plx__dataset_set_label_cost(data, ctx, cost), PLX__ARG(data));
}

plx_status plx_dataset_set_view_cost(plx_dataset *data, plx_context *ctx, plx_index view, double cost)
{
    PLX__CALL(ctx, plx__dataset_set_view_cost(data, ctx, view, cost), PLX__ARG(data));
}

plx_status plx_dataset_set_sample_costs(plx_dataset *data, plx_context *ctx, const double *costs)
{
    PLX__CALL(ctx, plx__dataset_set_sample_costs(data, ctx, costs), PLX__ARG(data));
}

static plx_status set_view_text(plx_dataset *data, plx_context *ctx, plx_index view, const char *options)
{
    plx__text_options parsed;
    const char *copy = NULL;
    if (view < 0 || view >= data->n_views) PLX_FAIL(ctx, PLX_E_ARG, "view %lld does not exist", (long long)view);
    if (options) {
        PLX_TRY(plx__text_options_parse(&parsed, ctx, plx__scratch(ctx), options));
        PLX_TRY(plx__arena_text(&copy, &data->arena, options));
    }
    data->views[view].text = copy;
    return PLX_OK;
}

plx_status plx_dataset_set_view_text(plx_dataset *data, plx_context *ctx, plx_index view, const char *options)
{
    PLX__CALL(ctx, set_view_text(data, ctx, view, options), PLX__ARG(data));
}

/* ---- deriving ---- */

plx_status plx_dataset_select(plx_dataset **out, plx_context *ctx, const plx_dataset *data, const plx_index *samples,
                              plx_index count)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, plx__dataset_select(out, ctx, data, samples, count), PLX__ARG(out), PLX__ARG(data),
              PLX__ARG(samples), PLX__COUNT(count));
}

plx_status plx_dataset_mask(plx_dataset **out, plx_context *ctx, const plx_dataset *data, const uint8_t *present)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, plx__dataset_mask(out, ctx, data, present), PLX__ARG(out), PLX__ARG(data), PLX__ARG(present));
}

plx_status plx_dataset_relabel(plx_dataset **out, plx_context *ctx, const plx_dataset *data, const char *const *labels)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, plx__dataset_relabel(out, ctx, data, labels), PLX__ARG(out), PLX__ARG(data));
}

plx_status plx_dataset_scale(plx_dataset **out, plx_context *ctx, const plx_dataset *data, plx_index view,
                             const char *how)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, plx__dataset_scale(out, ctx, data, view, how), PLX__ARG(out), PLX__WHOLE(data), PLX__ARG(how));
}

plx_status plx_dataset_min_df(plx_dataset **out, plx_context *ctx, const plx_dataset *data, plx_index view,
                              plx_index least)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, plx__dataset_min_df(out, ctx, data, view, least), PLX__ARG(out), PLX__WHOLE(data));
}
