/*
 * What a model knows of the data it was fitted to.
 */
#include <string.h>

#include "api/model_impl.h"
#include "run/problem.h"

plx_index plx_model_views(const plx_model *model) { return model ? model->n_views : 0; }
plx_index plx_model_classes(const plx_model *model) { return model ? model->n_classes : 0; }
plx_index plx_model_fitted(const plx_model *model) { return model ? model->n_fitted : 0; }

const char *plx_model_class(const plx_model *model, plx_index c)
{
    return model && c >= 0 && c < model->n_classes ? model->classes[c] : NULL;
}

const char *plx_model_feature(const plx_model *model, plx_index v, plx_index j)
{
    if (!model || v < 0 || v >= model->n_views || j < 0 || j >= model->views[v].cols) return NULL;
    return model->views[v].features ? model->views[v].features[j] : NULL;
}

/* Scalings of a fit are stored as one number per view (run/problem.h). */
static const char *scale_of(const plx_model *m, plx_index v)
{
    const plx__array *a = plx__store_find(&m->store, PLX__SCALES);
    if (!a || a->sparse || a->dense.rows * a->dense.cols != m->n_views) return NULL;
    double kind = a->dense.data[v];
    return kind >= 0 && kind <= PLX__SCALE_L1 ? plx__scale_name((plx__scale_kind)kind) : NULL;
}

plx_status plx_model_view_info(plx_model_view *info, const plx_model *model, plx_index v)
{
    plx_model_view full = PLX_MODEL_VIEW_INIT;
    if (!info || info->struct_size < sizeof full.struct_size || info->struct_size > sizeof full) return PLX_E_ARG;
    full.struct_size = info->struct_size;
    memcpy(info, &full, info->struct_size);
    if (!model || v < 0 || v >= model->n_views) return PLX_E_ARG;
    const plx__view_card *card = &model->views[v];
    full.name = card->name;
    full.kind = card->kind;
    full.sparse = card->sparse;
    full.features = card->cols;
    full.text = card->text;
    full.scale = scale_of(model, v);
    memcpy(info, &full, info->struct_size);
    return PLX_OK;
}
