/*
 * One-off preparation of a view: scaling, and leaving out rare columns. A new data set comes out; methods that must
 * treat new samples alike keep the state of data/scale.h in their model instead.
 */
#include "data/feature_split.h"
#include "data/scale.h"

static plx_status find_view(const plx__view **out, plx_context *ctx, const plx_dataset *data, plx_index v)
{
    if (v < 0 || v >= data->n_views)
        PLX_FAIL(ctx, PLX_E_ARG, "view %lld does not exist (there are %lld)", (long long)v, (long long)data->n_views);
    *out = &data->views[v];
    if ((*out)->kind == PLX_VIEW_KERNEL)
        PLX_FAIL(ctx, PLX_E_ARG, "view '%s' is a kernel: its columns are samples, not features", (*out)->name);
    return PLX_OK;
}

plx_status plx__dataset_scale(plx_dataset **out, plx_context *ctx, const plx_dataset *data, plx_index v,
                              const char *how)
{
    plx__scale_kind kind = PLX__SCALE_NONE;
    plx__scaler scaler;
    plx__view scaled;
    const plx__view *view = NULL;
    PLX_TRY(find_view(&view, ctx, data, v));
    if (!plx__scale_parse(&kind, how) || kind == PLX__SCALE_NONE)
        PLX_FAIL(ctx, PLX_E_ARG, "scaling '%s' of view '%s': must be unit, zscore, tfidf or l1", how, view->name);
    PLX_TRY(plx__scaler_fit(&scaler, ctx, plx__scratch(ctx), kind, view, NULL));
    PLX_TRY(plx__scaler_apply(&scaled, ctx, plx__scratch(ctx), &scaler, view));
    scaled.kind = PLX_VIEW_REAL;
    return plx__dataset_replace_view(out, ctx, data, v, &scaled, 1);
}

plx_status plx__dataset_min_df(plx_dataset **out, plx_context *ctx, const plx_dataset *data, plx_index v,
                               plx_index least)
{
    plx__min_df filter;
    plx__view kept;
    const plx__view *view = NULL;
    PLX_TRY(find_view(&view, ctx, data, v));
    if (least < 1)
        PLX_FAIL(ctx, PLX_E_ARG, "min_df = %lld of view '%s': must be at least 1", (long long)least, view->name);
    PLX_TRY(plx__min_df_fit(&filter, ctx, plx__scratch(ctx), least, view, NULL));
    if (filter.kept == 0)
        PLX_FAIL(ctx, PLX_E_DATA, "view '%s': no column is non-zero in %lld rows; nothing would be left", view->name,
                 (long long)least);
    PLX_TRY(plx__min_df_apply(&kept, ctx, plx__scratch(ctx), &filter, view));
    return plx__dataset_replace_view(out, ctx, data, v, &kept, 1);
}
