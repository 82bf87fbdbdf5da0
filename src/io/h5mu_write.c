/*
 * Writing a data set as .h5mu, step by step as the format asks: modalities, joint frames, maps, our own
 * additions, the order of the modalities, root attributes, and last the text of the user block.
 *
 * A sample without a view is simply not among the rows of that modality. Text columns are string-arrays, the
 * form every reader knows; labels and truth are categoricals with code -1 where there is none.
 */
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "data/dataset_impl.h"
#include "io/h5_impl.h"
#include "io/h5mu_impl.h"
#include "parallax/version.h"

typedef struct writer {
    plx_context *ctx;
    const plx__h5 *f;
    const plx_dataset *data;
    const char *const *ids;       /* of all samples, made up when there are none */
    const char *const **features; /* per view, likewise */
} writer;

static plx_status mark_encoding(writer *w, const char *object, const char *type, const char *version)
{
    PLX_TRY(plx__h5_write_attr_text(w->f, object, "encoding-type", type));
    return plx__h5_write_attr_text(w->f, object, "encoding-version", version);
}

static plx_status write_dict(writer *w, const char *group)
{
    PLX_TRY(plx__h5_write_group(w->f, group, false));
    return mark_encoding(w, group, "dict", "0.1.0");
}

static plx_status write_texts(writer *w, const char *object, const char *const *texts, plx_index count)
{
    PLX_TRY(plx__h5_write_texts(w->f, object, texts, count));
    return mark_encoding(w, object, "string-array", "0.2.0");
}

static plx_status write_text(writer *w, const char *object, const char *text)
{
    PLX_TRY(plx__h5_write_text(w->f, object, text));
    return mark_encoding(w, object, "string", "0.2.0");
}

static plx_status write_array(writer *w, const char *object, plx__h5_type type, const void *values, int rank,
                              const plx_index *dims)
{
    PLX_TRY(plx__h5_write(w->f, object, type, values, rank, dims));
    return rank ? mark_encoding(w, object, "array", "0.2.0") : mark_encoding(w, object, "numeric-scalar", "0.2.0");
}

static plx_status path_of(const char **out, writer *w, const char *group, const char *name)
{
    return plx__arena_printf(out, plx__scratch(w->ctx), "%s/%s", group, name);
}

/* ---- frames ---- */

static plx_status write_frame(writer *w, const char *frame, const char *const *index, plx_index rows,
                              const char *const *columns, plx_index n_columns)
{
    const char *path = NULL;
    double none = 0;
    plx_index zero = 0;
    PLX_TRY(plx__h5_write_group(w->f, frame, false));
    PLX_TRY(mark_encoding(w, frame, "dataframe", "0.2.0"));
    PLX_TRY(plx__h5_write_attr_text(w->f, frame, "_index", "_index"));
    if (n_columns) PLX_TRY(plx__h5_write_attr_texts(w->f, frame, "column-order", columns, n_columns));
    else PLX_TRY(plx__h5_write_attr(w->f, frame, "column-order", PLX__H5_F64, &none, 1, &zero));
    PLX_TRY(path_of(&path, w, frame, "_index"));
    return write_texts(w, path, index, rows);
}

/* Distinct texts, byte-sorted; codes by binary search. */
static plx_status categories_of(const char ***out, plx_index *count, writer *w, const char *const *texts)
{
    plx__map seen;
    plx_index existing = -1;
    *count = 0;
    PLX_TRY(plx__map_init(&seen, plx__scratch(w->ctx), 0));
    PLX_TRY(PLX__ARENA_NEW(out, plx__scratch(w->ctx), w->data->n));
    for (plx_index i = 0; i < w->data->n; i++) {
        if (!texts[i]) continue;
        PLX_TRY(plx__map_add(&seen, texts[i], i, &existing));
        if (existing < 0) (*out)[(*count)++] = texts[i];
    }
    qsort(*out, (size_t)*count, sizeof **out, plx__compare_text);
    return PLX_OK;
}

static plx_status write_categorical(writer *w, const char *column, const char *const *texts)
{
    const char **names = NULL, *path = NULL;
    int32_t *codes = NULL;
    plx_index count = 0, n = w->data->n;
    uint8_t no = 0;
    PLX_TRY(categories_of(&names, &count, w, texts));
    PLX_TRY(plx__arena_i32(&codes, plx__scratch(w->ctx), n));
    for (plx_index i = 0; i < n; i++) {
        const char **at = texts[i] ? bsearch(&texts[i], names, (size_t)count, sizeof *names, plx__compare_text) : NULL;
        codes[i] = at ? (int32_t)(at - names) : -1;
    }
    PLX_TRY(plx__h5_write_group(w->f, column, false));
    PLX_TRY(mark_encoding(w, column, "categorical", "0.2.0"));
    PLX_TRY(plx__h5_write_attr(w->f, column, "ordered", PLX__H5_BOOL, &no, 0, NULL));
    PLX_TRY(path_of(&path, w, column, "codes"));
    PLX_TRY(write_array(w, path, PLX__H5_I32, codes, 1, &n));
    PLX_TRY(path_of(&path, w, column, "categories"));
    return write_texts(w, path, (const char *const *)names, count);
}

static plx_status write_joint_obs(writer *w)
{
    const plx_dataset *d = w->data;
    const char *columns[3];
    plx_index n_columns = 0;
    if (d->labels) columns[n_columns++] = "label";
    if (d->truth) columns[n_columns++] = "truth";
    if (d->sample_costs) columns[n_columns++] = "sample_cost";
    PLX_TRY(write_frame(w, "/obs", w->ids, d->n, columns, n_columns));
    if (d->labels) PLX_TRY(write_categorical(w, "/obs/label", d->labels));
    if (d->truth) PLX_TRY(write_categorical(w, "/obs/truth", d->truth));
    return d->sample_costs ? write_array(w, "/obs/sample_cost", PLX__H5_F64, d->sample_costs, 1, &d->n) : PLX_OK;
}

static plx_index all_columns(const plx_dataset *d)
{
    plx_index count = 0;
    for (plx_index v = 0; v < d->n_views; v++) count += d->views[v].cols;
    return count;
}

static plx_status write_joint_var(writer *w)
{
    const char **names = NULL;
    plx_index used = 0, total = all_columns(w->data);
    PLX_TRY(PLX__ARENA_NEW(&names, plx__scratch(w->ctx), total));
    for (plx_index v = 0; v < w->data->n_views; v++)
        for (plx_index j = 0; j < w->data->views[v].cols; j++) names[used++] = w->features[v][j];
    return write_frame(w, "/var", (const char *const *)names, total, NULL, 0);
}

/* ---- modalities ---- */

static plx_status write_dense(writer *w, const char *object, const plx__view *view)
{
    plx_index dims[2] = {view->present_count, view->cols}, row = 0;
    double *packed = NULL;
    PLX_TRY(plx__arena_f64(&packed, plx__scratch(w->ctx), dims[0], dims[1]));
    for (plx_index i = 0; i < w->data->n; i++)
        if (view->present[i])
            memcpy(packed + row++ * view->cols, view->dense.data + i * view->dense.ld,
                   (size_t)view->cols * sizeof(double));
    return write_array(w, object, PLX__H5_F64, packed, 2, dims);
}

/* Absent rows hold no entries, so values and indices go out as they are; only the pointers are packed. */
static plx_status write_csr(writer *w, const char *object, const plx__view *view)
{
    const plx_ccsr *a = &view->csr;
    plx_index shape[2] = {view->present_count, view->cols}, two = 2, row = 0, stored = (plx_index)a->ptr[w->data->n];
    int64_t *ptr = NULL;
    const char *path = NULL;
    PLX_TRY(plx__arena_i64(&ptr, plx__scratch(w->ctx), shape[0] + 1));
    for (plx_index i = 0; i < w->data->n; i++)
        if (view->present[i]) ptr[++row] = a->ptr[i + 1];
    PLX_TRY(plx__h5_write_group(w->f, object, false));
    PLX_TRY(mark_encoding(w, object, "csr_matrix", "0.1.0"));
    PLX_TRY(plx__h5_write_attr(w->f, object, "shape", PLX__H5_I64, shape, 1, &two));
    PLX_TRY(path_of(&path, w, object, "data"));
    PLX_TRY(plx__h5_write_vector(w->f, path, PLX__H5_F64, a->val, stored));
    PLX_TRY(path_of(&path, w, object, "indices"));
    PLX_TRY(plx__h5_write_vector(w->f, path, PLX__H5_I32, a->col, stored));
    PLX_TRY(path_of(&path, w, object, "indptr"));
    return plx__h5_write_vector(w->f, path, PLX__H5_I64, ptr, shape[0] + 1);
}

static plx_status write_dicts(writer *w, const char *group, const char *const *names, int count)
{
    for (int k = 0; k < count; k++) {
        const char *path = NULL;
        PLX_TRY(path_of(&path, w, group, names[k]));
        PLX_TRY(write_dict(w, path));
    }
    return PLX_OK;
}

static plx_status mark_encoder(writer *w, const char *group)
{
    PLX_TRY(plx__h5_write_attr_text(w->f, group, "encoder", "parallax"));
    return plx__h5_write_attr_text(w->f, group, "encoder-version", PLX_VERSION_STRING);
}

static plx_status write_modality(writer *w, plx_index v)
{
    static const char *const dicts[] = {"layers", "obsm", "varm", "obsp", "varp", "uns"};
    const plx__view *view = &w->data->views[v];
    const char *group = NULL, *path = NULL, **obs = NULL;
    plx_index row = 0;
    PLX_TRY(path_of(&group, w, "/mod", view->name));
    PLX_TRY(plx__h5_write_group(w->f, group, false));
    PLX_TRY(mark_encoding(w, group, "anndata", "0.1.0"));
    PLX_TRY(mark_encoder(w, group));
    PLX_TRY(PLX__ARENA_NEW(&obs, plx__scratch(w->ctx), view->present_count));
    for (plx_index i = 0; i < w->data->n; i++)
        if (view->present[i]) obs[row++] = w->ids[i];
    PLX_TRY(path_of(&path, w, group, "obs"));
    PLX_TRY(write_frame(w, path, (const char *const *)obs, row, NULL, 0));
    PLX_TRY(path_of(&path, w, group, "var"));
    PLX_TRY(write_frame(w, path, w->features[v], view->cols, NULL, 0));
    PLX_TRY(path_of(&path, w, group, "X"));
    PLX_TRY(view->sparse ? write_csr(w, path, view) : write_dense(w, path, view));
    return write_dicts(w, group, dicts, 6);
}

static plx_status write_modalities(writer *w)
{
    enum { WIDE_FROM = 2000 }; /* names that fit well into the attribute space of an old-style header */
    const plx_dataset *d = w->data;
    const char **order = NULL;
    PLX_TRY(PLX__ARENA_NEW(&order, plx__scratch(w->ctx), d->n_views));
    PLX_TRY(plx__h5_write_group(w->f, "/mod", d->n_views > WIDE_FROM));
    for (plx_index v = 0; v < d->n_views; v++) {
        plx__mark mark = plx__arena_mark(plx__scratch(w->ctx));
        order[v] = d->views[v].name;
        PLX_TRY(plx__poll(w->ctx));
        PLX_TRY(write_modality(w, v));
        plx__arena_rewind(plx__scratch(w->ctx), mark);
    }
    return plx__h5_write_attr_texts(w->f, "/mod", "mod-order", (const char *const *)order, d->n_views);
}

/* ---- maps ---- */

/* 0: not in the modality; k: its row k - 1. */
static plx_status write_maps(writer *w)
{
    const plx_dataset *d = w->data;
    uint32_t *obs = NULL, *var = NULL;
    plx_index offset = 0, total = all_columns(d);
    PLX_TRY(write_dict(w, "/obsmap"));
    PLX_TRY(write_dict(w, "/varmap"));
    PLX_TRY(PLX__ARENA_NEW(&obs, plx__scratch(w->ctx), d->n));
    PLX_TRY(PLX__ARENA_NEW(&var, plx__scratch(w->ctx), total));
    for (plx_index v = 0; v < d->n_views; v++) {
        const plx__view *view = &d->views[v];
        const char *path = NULL;
        uint32_t row = 0;
        for (plx_index i = 0; i < d->n; i++) obs[i] = view->present[i] ? ++row : 0;
        memset(var, 0, (size_t)total * sizeof *var);
        for (plx_index j = 0; j < view->cols; j++) var[offset + j] = (uint32_t)(j + 1);
        offset += view->cols;
        PLX_TRY(path_of(&path, w, "/obsmap", view->name));
        PLX_TRY(write_array(w, path, PLX__H5_U32, obs, 1, &d->n));
        PLX_TRY(path_of(&path, w, "/varmap", view->name));
        PLX_TRY(write_array(w, path, PLX__H5_U32, var, 1, &total));
    }
    return PLX_OK;
}

/* ---- our own additions ---- */

static plx_status write_own_view(writer *w, const plx__view *view)
{
    const char *group = NULL, *path = NULL;
    uint8_t made = view->features == NULL;
    PLX_TRY(path_of(&group, w, PLX__H5MU_OWN "/views", view->name));
    PLX_TRY(write_dict(w, group));
    PLX_TRY(path_of(&path, w, group, "kind"));
    PLX_TRY(write_text(w, path, plx__view_kind_name(view->kind)));
    PLX_TRY(path_of(&path, w, group, "cost"));
    PLX_TRY(write_array(w, path, PLX__H5_F64, &view->cost, 0, NULL));
    PLX_TRY(path_of(&path, w, group, "made_names"));
    return write_array(w, path, PLX__H5_BOOL, &made, 0, NULL);
}

static plx_status write_hierarchy(writer *w)
{
    const plx__hierarchy *h = w->data->hierarchy;
    if (!h) return PLX_OK;
    plx_index subset[2] = {h->n_subset, 2}, mutex[2] = {h->n_mutex, 2};
    PLX_TRY(write_dict(w, PLX__H5MU_OWN "/hierarchy"));
    PLX_TRY(write_texts(w, PLX__H5MU_OWN "/hierarchy/classes", h->classes, h->n_classes));
    PLX_TRY(write_array(w, PLX__H5MU_OWN "/hierarchy/subset", PLX__H5_I32, h->subset, 2, subset));
    return write_array(w, PLX__H5MU_OWN "/hierarchy/mutex", PLX__H5_I32, h->mutex, 2, mutex);
}

static plx_status write_own(writer *w)
{
    const plx_dataset *d = w->data;
    uint8_t made = d->ids == NULL;
    PLX_TRY(write_dict(w, "/uns"));
    PLX_TRY(write_dict(w, PLX__H5MU_OWN));
    PLX_TRY(write_text(w, PLX__H5MU_OWN "/version", PLX_VERSION_STRING));
    PLX_TRY(write_text(w, PLX__H5MU_OWN "/name", d->name));
    PLX_TRY(write_array(w, PLX__H5MU_OWN "/label_cost", PLX__H5_F64, &d->label_cost, 0, NULL));
    PLX_TRY(write_array(w, PLX__H5MU_OWN "/made_ids", PLX__H5_BOOL, &made, 0, NULL));
    PLX_TRY(write_dict(w, PLX__H5MU_OWN "/views"));
    for (plx_index v = 0; v < d->n_views; v++) PLX_TRY(write_own_view(w, &d->views[v]));
    return write_hierarchy(w);
}

/* ---- the whole ---- */

static plx_status make_names(const char *const **out, writer *w, const char *prefix, plx_index count)
{
    const char **names = NULL;
    PLX_TRY(PLX__ARENA_NEW(&names, plx__scratch(w->ctx), count));
    for (plx_index i = 0; i < count; i++)
        PLX_TRY(plx__arena_printf(&names[i], plx__scratch(w->ctx), "%s%lld", prefix, (long long)i));
    *out = (const char *const *)names;
    return PLX_OK;
}

/* Made-up variable names carry the view's name: variables should be unique over all modalities. */
static plx_status gather_names(writer *w)
{
    const plx_dataset *d = w->data;
    w->ids = d->ids;
    if (!w->ids) PLX_TRY(make_names(&w->ids, w, "", d->n));
    PLX_TRY(PLX__ARENA_NEW(&w->features, plx__scratch(w->ctx), d->n_views));
    for (plx_index v = 0; v < d->n_views; v++) {
        const char *prefix = NULL;
        w->features[v] = d->views[v].features;
        if (w->features[v]) continue;
        PLX_TRY(plx__arena_printf(&prefix, plx__scratch(w->ctx), "%s:", d->views[v].name));
        PLX_TRY(make_names(&w->features[v], w, prefix, d->views[v].cols));
    }
    return PLX_OK;
}

static plx_status write_all(writer *w)
{
    static const char *const dicts[] = {"obsm", "varm", "obsp", "varp"};
    int64_t axis = 0;
    PLX_TRY(gather_names(w));
    PLX_TRY(write_modalities(w));
    PLX_TRY(write_joint_obs(w));
    PLX_TRY(write_joint_var(w));
    PLX_TRY(write_maps(w));
    PLX_TRY(write_dicts(w, "", dicts, 4));
    PLX_TRY(write_own(w));
    PLX_TRY(plx__h5_write_attr(w->f, "/", "axis", PLX__H5_I64, &axis, 0, NULL));
    PLX_TRY(mark_encoding(w, "/", "MuData", "0.1.0"));
    return mark_encoder(w, "/");
}

plx_status plx__h5mu_write(plx_context *ctx, const plx_dataset *data, const char *path)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    const char *head = NULL;
    plx__h5 f;
    if (data->n > UINT32_MAX || all_columns(data) > UINT32_MAX)
        PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "%s: an h5mu file holds at most 4294967295 samples and columns", path);
    PLX_TRY(plx__arena_printf(&head, plx__scratch(ctx),
                              "MuData (format-version=0.1.0;creator=parallax;creator-version=%s)", PLX_VERSION_STRING));
    PLX_TRY(plx__h5_create(&f, ctx, path, 512));
    writer w = {.ctx = ctx, .f = &f, .data = data};
    plx_status st = write_all(&w);
    if (st == PLX_OK) st = plx__h5_commit(&f, head);
    plx__h5_close(&f);
    if (st == PLX_OK) plx__arena_rewind(plx__scratch(ctx), mark);
    return st;
}
