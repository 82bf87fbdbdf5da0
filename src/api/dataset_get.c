/*
 * Reading a data set: plain look-ups, nothing here can allocate.
 */
#include <string.h>

#include "data/dataset_impl.h"

static const plx__view *view_at(const plx_dataset *data, plx_index view)
{
    return data && view >= 0 && view < data->n_views ? &data->views[view] : NULL;
}

static bool has_sample(const plx_dataset *data, plx_index i) { return data && i >= 0 && i < data->n; }

const char *plx_dataset_name(const plx_dataset *data) { return data ? data->name : ""; }
plx_index plx_dataset_samples(const plx_dataset *data) { return data ? data->n : 0; }
plx_index plx_dataset_views(const plx_dataset *data) { return data ? data->n_views : 0; }

plx_index plx_dataset_find_view(const plx_dataset *data, const char *name)
{
    for (plx_index v = 0; data && name && v < data->n_views; v++)
        if (strcmp(data->views[v].name, name) == 0) return v;
    return -1;
}

plx_status plx_dataset_view_info(plx_view_info *info, const plx_dataset *data, plx_index view)
{
    const plx__view *v = view_at(data, view);
    size_t size = info ? info->struct_size : 0;
    if (!v || size == 0 || size > sizeof *info) return PLX_E_ARG;
    plx_view_info full = {size,        v->name,          v->kind,           v->sparse, data->n, v->cols,
                          v->nonzeros, v->present_count, v->missing_values, v->cost,   v->text};
    memcpy(info, &full, size);
    return PLX_OK;
}

plx_status plx_dataset_dense(plx_cmat *out, const plx_dataset *data, plx_index view)
{
    const plx__view *v = view_at(data, view);
    if (!out) return PLX_E_ARG;
    *out = (plx_cmat){0};
    if (!v || v->sparse || v->divided) return PLX_E_ARG;
    *out = v->dense;
    return PLX_OK;
}

plx_status plx_dataset_sparse(plx_ccsr *out, const plx_dataset *data, plx_index view)
{
    const plx__view *v = view_at(data, view);
    if (!out) return PLX_E_ARG;
    *out = (plx_ccsr){0};
    if (!v || !v->sparse || v->divided) return PLX_E_ARG;
    *out = v->csr;
    return PLX_OK;
}

const uint8_t *plx_dataset_present(const plx_dataset *data, plx_index view)
{
    const plx__view *v = view_at(data, view);
    return v ? v->present : NULL;
}

const char *plx_dataset_feature(const plx_dataset *data, plx_index view, plx_index column)
{
    const plx__view *v = view_at(data, view);
    return v && v->features && column >= 0 && column < v->cols ? v->features[column] : NULL;
}

const char *plx_dataset_id(const plx_dataset *data, plx_index sample)
{
    return has_sample(data, sample) && data->ids ? data->ids[sample] : NULL;
}

const char *plx_dataset_label(const plx_dataset *data, plx_index sample)
{
    return has_sample(data, sample) && data->labels ? data->labels[sample] : NULL;
}

const char *plx_dataset_truth(const plx_dataset *data, plx_index sample)
{
    return has_sample(data, sample) && data->truth ? data->truth[sample] : NULL;
}

int plx_dataset_has_labels(const plx_dataset *data) { return data && data->labels; }
int plx_dataset_has_truth(const plx_dataset *data) { return data && data->truth; }
plx_index plx_dataset_classes(const plx_dataset *data) { return data ? data->n_classes : 0; }

const char *plx_dataset_class(const plx_dataset *data, plx_index class_index)
{
    return data && class_index >= 0 && class_index < data->n_classes ? data->classes[class_index] : NULL;
}

plx_index plx_dataset_subset(const int32_t **pairs, const plx_dataset *data)
{
    const plx__hierarchy *h = data ? data->hierarchy : NULL;
    if (pairs) *pairs = h ? h->subset : NULL;
    return h ? h->n_subset : 0;
}

plx_index plx_dataset_mutex(const int32_t **pairs, const plx_dataset *data)
{
    const plx__hierarchy *h = data ? data->hierarchy : NULL;
    if (pairs) *pairs = h ? h->mutex : NULL;
    return h ? h->n_mutex : 0;
}

double plx_dataset_label_cost(const plx_dataset *data) { return data ? data->label_cost : 0.0; }

double plx_dataset_sample_cost(const plx_dataset *data, plx_index sample)
{
    if (!has_sample(data, sample)) return 0.0;
    return data->sample_costs ? data->sample_costs[sample] : 1.0;
}
