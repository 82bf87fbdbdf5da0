/*
 * Writing a model file (docs/dev/model-file.md).
 */
#include <math.h>
#include <string.h>

#include "api/api_args.h"
#include "api/portfolio_file.h"
#include "io/h5.h"
#include "methods/complete/complete_impl.h"

/* ---- what new data are matched with ---- */

static plx_status save_view(const plx__h5 *f, const plx__view_card *card, plx_index index)
{
    const char *group = NULL, *features = NULL;
    int64_t cols = card->cols, sparse = card->sparse;
    PLX_TRY(plx__arena_printf(&group, plx__scratch(f->ctx), "/views/%lld", (long long)index));
    PLX_TRY(plx__h5_write_group(f, group, false));
    PLX_TRY(plx__h5_write_attr_text(f, group, "name", card->name));
    PLX_TRY(plx__h5_write_attr_text(f, group, "kind", plx_view_kind_name(card->kind)));
    PLX_TRY(plx__h5_write_attr(f, group, "columns", PLX__H5_I64, &cols, 0, NULL));
    PLX_TRY(plx__h5_write_attr(f, group, "sparse", PLX__H5_I64, &sparse, 0, NULL));
    if (card->text) PLX_TRY(plx__h5_write_attr_text(f, group, "text", card->text));
    if (!card->features) return PLX_OK;
    PLX_TRY(plx__arena_printf(&features, plx__scratch(f->ctx), "%s/features", group));
    return plx__h5_write_texts(f, features, card->features, card->cols);
}

static plx_status save_classes(const plx__h5 *f, const plx_model *m)
{
    PLX_TRY(plx__h5_write_texts(f, "/classes", m->classes, m->n_classes));
    if (!m->hierarchy) return PLX_OK;
    const plx__hierarchy *h = m->hierarchy;
    PLX_TRY(plx__h5_write_group(f, "/hierarchy", false));
    PLX_TRY(plx__h5_write_vector(f, "/hierarchy/subset", PLX__H5_I32, h->subset, 2 * h->n_subset));
    return plx__h5_write_vector(f, "/hierarchy/mutex", PLX__H5_I32, h->mutex, 2 * h->n_mutex);
}

/* ---- arrays ---- */

static plx_status save_sparse(const plx__h5 *f, const char *group, const plx__array *a)
{
    static const char *const parts[] = {"ptr", "col", "val"};
    const char *object[3] = {NULL, NULL, NULL};
    int64_t shape[2] = {a->csr.rows, a->csr.cols};
    plx_index two = 2, nnz = a->csr.ptr[a->csr.rows];
    for (int i = 0; i < 3; i++) PLX_TRY(plx__arena_printf(&object[i], plx__scratch(f->ctx), "%s/%s", group, parts[i]));
    PLX_TRY(plx__h5_write_group(f, group, false));
    PLX_TRY(plx__h5_write_attr(f, group, "shape", PLX__H5_I64, shape, 1, &two));
    PLX_TRY(plx__h5_write_vector(f, object[0], PLX__H5_I64, a->csr.ptr, a->csr.rows + 1));
    PLX_TRY(plx__h5_write_vector(f, object[1], PLX__H5_I32, a->csr.col, nnz));
    return plx__h5_write_vector(f, object[2], PLX__H5_F64, a->csr.val, nnz);
}

static plx_status save_array(const plx__h5 *f, const plx__array *a, plx_index index)
{
    const char *object = NULL;
    plx_index dims[2] = {a->dense.rows, a->dense.cols};
    PLX_TRY(plx__arena_printf(&object, plx__scratch(f->ctx), "/arrays/%lld", (long long)index));
    if (a->sparse) PLX_TRY(save_sparse(f, object, a));
    else PLX_TRY(plx__h5_write(f, object, PLX__H5_F64, a->dense.data, 2, dims));
    return plx__h5_write_attr_text(f, object, "name", a->name);
}

/* Everything but arrays over the fitted samples, which the samples' own predictions file holds. */
static bool is_kept(const plx_model *m, const plx__array *a)
{
    const plx__array_spec *spec = plx__array_spec_find(m->method, a->name);
    return !plx__array_by_sample(spec, 0) && !plx__array_by_sample(spec, 1);
}

static plx_status save_arrays(const plx__h5 *f, const plx_model *m)
{
    plx_index index = 0;
    PLX_TRY(plx__h5_write_group(f, "/arrays", false));
    for (const plx__array *a = m->store.first; a; a = a->next)
        if (is_kept(m, a)) PLX_TRY(save_array(f, a, index++));
    return PLX_OK;
}

/* ---- all ---- */

static plx_status save_facts(const plx__h5 *f, const plx_model *m)
{
    int64_t whole[] = {m->facts.iterations, m->facts.converged, m->n_fitted, (int64_t)m->seed};
    double real[] = {m->facts.objective, NAN}; /* seconds stood there: the same fit gives the same file */
    PLX_TRY(plx__model_save_kind(f, m->method->name));
    PLX_TRY(plx__h5_write_vector(f, "/facts_int", PLX__H5_I64, whole, 4));
    return plx__h5_write_vector(f, "/facts_real", PLX__H5_F64, real, 2);
}

static plx_status save_body(const plx__h5 *f, const void *model)
{
    const plx_model *m = model;
    PLX_TRY(save_facts(f, m));
    PLX_TRY(plx__model_save_parameters(f, m->settings));
    PLX_TRY(save_classes(f, m));
    if (m->samples) PLX_TRY(plx__h5_write_texts(f, "/samples", m->samples, m->n_samples));
    PLX_TRY(plx__h5_write_group(f, "/views", false));
    for (plx_index v = 0; v < m->n_views; v++) PLX_TRY(save_view(f, &m->views[v], v));
    PLX_TRY(save_arrays(f, m));
    return m->portfolio ? plx__portfolio_save(f, m->portfolio, save_body) : PLX_OK;
}

plx_status plx__model_save(plx_context *ctx, const plx_model *m, const char *path)
{
    return plx__model_write(ctx, path, save_body, m);
}

static plx_status save_call(plx_context *ctx, const plx_model *model, const char *path)
{
    if (plx__any_method(model->method->name) != model->method && model->method != &plx__method_complete)
        PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "the model of a ranking cannot be saved; fit %s itself", model->method->name);
    return plx__model_save(ctx, model, path);
}

plx_status plx_model_save(plx_context *ctx, const plx_model *model, const char *path)
{
    PLX__CALL(ctx, save_call(ctx, model, path), PLX__ARG(model), PLX__ARG(path));
}
