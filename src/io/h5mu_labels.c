/*
 * Labels of an .h5mu or .h5ad file, and what our own writer adds to the format: costs and the class hierarchy.
 */
#include <string.h>

#include "core/text.h"
#include "data/dataset_impl.h"
#include "io/h5_impl.h"
#include "io/h5mu_impl.h"

static const char *const usual_names[] = {"label", "labels", "class", "cell_type", "celltype"};
enum { N_USUAL = sizeof usual_names / sizeof *usual_names };

/* ---- finding a column ---- */

/* Takes over what the samples do not have yet. `sample[i]` is the sample of row i, or -1. */
static void merge(const char **to, const char *const *column, const plx_index *sample, plx_index rows)
{
    for (plx_index i = 0; i < rows; i++)
        if (sample[i] >= 0 && !to[sample[i]]) to[sample[i]] = column[i];
}

static plx_status from_global(const char **to, bool *found, plx__h5mu_reader *r, const char *name)
{
    const char *const *column = NULL;
    *found = false;
    if (!r->global) return PLX_OK;
    PLX_TRY(plx__h5mu_column(&column, r->f, plx__scratch(r->ctx), "/obs", name, r->n_global));
    if (!column) return PLX_OK;
    *found = true;
    for (plx_index i = 0; i < r->n; i++)
        if (r->position[i] >= 0) to[i] = column[r->position[i]];
    return PLX_OK;
}

/* From the modalities' own obs; "rna:label" looks at modality rna only. */
static plx_status from_modalities(const char **to, bool *found, plx__h5mu_reader *r, const char *name)
{
    *found = false;
    const char *colon = strchr(name, ':');
    for (plx_index v = 0; v < r->n_mods; v++) {
        const plx__modality *m = &r->mods[v];
        const char *const *column = NULL, *frame = NULL;
        bool prefixed = colon && strncmp(m->key, name, (size_t)(colon - name)) == 0 && m->key[colon - name] == '\0';
        PLX_TRY(plx__arena_printf(&frame, plx__scratch(r->ctx), "%s/obs", m->group));
        PLX_TRY(plx__h5mu_column(&column, r->f, plx__scratch(r->ctx), frame, prefixed ? colon + 1 : name, m->n_obs));
        if (!column) continue;
        merge(to, column, m->sample, m->n_obs);
        *found = true;
    }
    return PLX_OK;
}

static plx_status find_column(const char **to, bool *found, plx__h5mu_reader *r, const char *name)
{
    PLX_TRY(from_global(to, found, r, name));
    return *found ? PLX_OK : from_modalities(to, found, r, name);
}

static plx_status no_such_column(plx__h5mu_reader *r, const char *asked, const char *what)
{
    const char *const *columns = NULL;
    char near[160] = "";
    plx_index count = 0;
    if (r->global) PLX_TRY(plx__h5_attr_texts(&columns, &count, r->f, plx__scratch(r->ctx), "/obs", "column-order"));
    PLX_FAIL(r->ctx, PLX_E_DATA, "%s: /obs: no column '%s' for the %s%s", r->f->path, asked, what,
             plx__suggest(near, sizeof near, asked, columns, count));
}

/* ---- labels and truth ---- */

static plx_status set_labels(plx_dataset *data, plx__h5mu_reader *r, const char **labels)
{
    for (plx_index i = 0; i < r->n; i++)
        if (labels[i] && !labels[i][0]) labels[i] = NULL;
    return plx__dataset_set_labels(data, r->ctx, labels);
}

plx_status plx__h5mu_read_labels(plx_dataset *data, plx__h5mu_reader *r)
{
    const char **labels = NULL, **truth = NULL;
    bool found = false;
    PLX_TRY(PLX__ARENA_NEW(&labels, plx__scratch(r->ctx), r->n));
    PLX_TRY(PLX__ARENA_NEW(&truth, plx__scratch(r->ctx), r->n));
    if (r->label) {
        PLX_TRY(find_column(labels, &found, r, r->label));
        if (!found) return no_such_column(r, r->label, "labels");
    }
    /* In our own files the absence of `label` says that there are no labels. */
    for (int k = 0; !r->label && !found && k < (r->own ? 1 : N_USUAL); k++)
        PLX_TRY(find_column(labels, &found, r, usual_names[k]));
    if (found) PLX_TRY(set_labels(data, r, labels));
    PLX_TRY(find_column(truth, &found, r, r->truth ? r->truth : "truth"));
    if (!found && r->truth) return no_such_column(r, r->truth, "truth");
    return found ? plx__dataset_set_truth(data, r->ctx, truth) : PLX_OK;
}

/* ---- our own additions ---- */

static plx_status read_sample_costs(plx_dataset *data, plx__h5mu_reader *r)
{
    double *stored = NULL, *costs = NULL;
    if (plx__h5_what(r->f, "/obs/sample_cost") != PLX__H5_NUMBERS) return PLX_OK;
    PLX_TRY(plx__h5_read_vector(&stored, r->n_global, r->f, plx__scratch(r->ctx), "/obs/sample_cost"));
    PLX_TRY(plx__arena_f64(&costs, plx__scratch(r->ctx), r->n, 1));
    for (plx_index i = 0; i < r->n; i++) costs[i] = r->position[i] < 0 ? 1.0 : stored[r->position[i]];
    return plx__dataset_set_sample_costs(data, r->ctx, costs);
}

static plx_status read_pairs(int32_t **out, plx_index *count, plx__h5mu_reader *r, const char *object)
{
    int64_t *pairs = NULL;
    plx__h5_shape shape;
    PLX_TRY(plx__h5_read_i64(&pairs, &shape, r->f, plx__scratch(r->ctx), object));
    if (shape.rank != 2 || shape.dim[1] != 2) return plx__h5_fail(r->f, PLX_E_FORMAT, object, "is not a list of pairs");
    PLX_TRY(plx__arena_i32(out, plx__scratch(r->ctx), shape.count));
    for (plx_index i = 0; i < shape.count; i++)
        (*out)[i] = pairs[i] < 0 || pairs[i] > INT32_MAX ? -1 : (int32_t)pairs[i];
    *count = shape.dim[0];
    return PLX_OK;
}

static plx_status read_hierarchy(plx_dataset *data, plx__h5mu_reader *r)
{
    const char *const *classes = NULL;
    int32_t *subset = NULL, *mutex = NULL;
    plx_index n_classes = 0, n_subset = 0, n_mutex = 0;
    if (plx__h5_what(r->f, PLX__H5MU_OWN "/hierarchy") != PLX__H5_GROUP) return PLX_OK;
    PLX_TRY(plx__h5_read_texts(&classes, &n_classes, r->f, plx__scratch(r->ctx), PLX__H5MU_OWN "/hierarchy/classes"));
    PLX_TRY(read_pairs(&subset, &n_subset, r, PLX__H5MU_OWN "/hierarchy/subset"));
    PLX_TRY(read_pairs(&mutex, &n_mutex, r, PLX__H5MU_OWN "/hierarchy/mutex"));
    return plx__dataset_set_hierarchy(data, r->ctx, classes, n_classes, subset, n_subset, mutex, n_mutex);
}

static plx_status read_view_cost(plx_dataset *data, plx__h5mu_reader *r, plx_index v)
{
    const char *path = NULL;
    double cost = 1;
    PLX_TRY(plx__arena_printf(&path, plx__scratch(r->ctx), PLX__H5MU_OWN "/views/%s/cost", r->mods[v].key));
    if (plx__h5_what(r->f, path) != PLX__H5_NUMBERS) return PLX_OK;
    PLX_TRY(plx__h5_read_real(&cost, r->f, path));
    return plx__dataset_set_view_cost(data, r->ctx, v, cost);
}

plx_status plx__h5mu_read_own(plx_dataset *data, plx__h5mu_reader *r)
{
    double cost = 1;
    if (!r->own) return PLX_OK;
    if (plx__h5_what(r->f, PLX__H5MU_OWN "/label_cost") == PLX__H5_NUMBERS) {
        PLX_TRY(plx__h5_read_real(&cost, r->f, PLX__H5MU_OWN "/label_cost"));
        PLX_TRY(plx__dataset_set_label_cost(data, r->ctx, cost));
    }
    for (plx_index v = 0; v < r->n_mods; v++) PLX_TRY(read_view_cost(data, r, v));
    PLX_TRY(read_sample_costs(data, r));
    return read_hierarchy(data, r);
}
