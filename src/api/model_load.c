/*
 * Reading a model file (docs/dev/model-file.md). What the parts say of each other is checked before it is
 * used: a damaged file is an error in one line.
 */
#include <math.h>
#include <string.h>

#include "api/api_args.h"
#include "api/portfolio_file.h"
#include "io/h5.h"
#include "linalg/csr.h"
#include "methods/complete/complete_impl.h"

/* ---- views and classes ---- */

static plx_status load_view(plx__view_card *card, plx_model *m, const plx__h5 *f, const char *group)
{
    const char *kind = NULL, *features = NULL;
    int64_t cols = 0, sparse = 0;
    plx_index count = 0;
    PLX_TRY(plx__h5_attr_text(&card->name, f, &m->arena, group, "name"));
    PLX_TRY(plx__h5_attr_text(&kind, f, plx__scratch(f->ctx), group, "kind"));
    PLX_TRY(plx__h5_attr_i64(&cols, 1, f, group, "columns"));
    PLX_TRY(plx__h5_attr_i64(&sparse, 1, f, group, "sparse"));
    if (plx_view_kind_parse(&card->kind, kind) != PLX_OK || cols < 1 || !card->name[0])
        return plx__model_damaged(f, "bad view");
    card->cols = cols;
    card->sparse = sparse != 0;
    if (plx__h5_has_attr(f, group, "text")) PLX_TRY(plx__h5_attr_text(&card->text, f, &m->arena, group, "text"));
    PLX_TRY(plx__arena_printf(&features, plx__scratch(f->ctx), "%s/features", group));
    if (plx__h5_what(f, features) == PLX__H5_NONE) return PLX_OK;
    PLX_TRY(plx__h5_read_texts(&card->features, &count, f, &m->arena, features));
    return count == cols ? PLX_OK : plx__model_damaged(f, "wrong number of feature names");
}

static plx_status load_views(plx_model *m, const plx__h5 *f)
{
    const char *const *names = NULL;
    PLX_TRY(plx__h5_children(&names, &m->n_views, f, plx__scratch(f->ctx), "/views"));
    if (m->n_views < 1) return plx__model_damaged(f, "no views");
    PLX_TRY(PLX__ARENA_NEW(&m->views, &m->arena, m->n_views));
    for (plx_index v = 0; v < m->n_views; v++) {
        const char *group = NULL;
        PLX_TRY(plx__arena_printf(&group, plx__scratch(f->ctx), "/views/%lld", (long long)v));
        PLX_TRY(load_view(&m->views[v], m, f, group));
    }
    return PLX_OK;
}

static plx_status load_pairs(const int32_t **out, plx_index *count, plx_model *m, const plx__h5 *f, const char *object)
{
    int64_t *wide = NULL;
    int32_t *pairs = NULL;
    plx__h5_shape shape;
    PLX_TRY(plx__h5_read_i64(&wide, &shape, f, plx__scratch(f->ctx), object));
    PLX_TRY(plx__arena_i32(&pairs, &m->arena, shape.count));
    for (plx_index i = 0; i < shape.count; i++) {
        if (wide[i] < 0 || wide[i] >= m->n_classes) return plx__model_damaged(f, "bad hierarchy");
        pairs[i] = (int32_t)wide[i];
    }
    *out = pairs;
    *count = shape.count / 2;
    return PLX_OK;
}

static plx_status load_classes(plx_model *m, const plx__h5 *f)
{
    PLX_TRY(plx__h5_read_texts(&m->classes, &m->n_classes, f, &m->arena, "/classes"));
    if (plx__h5_what(f, "/hierarchy") == PLX__H5_NONE) return PLX_OK;
    PLX_TRY(PLX__ARENA_NEW(&m->hierarchy, &m->arena, 1));
    plx__hierarchy *h = m->hierarchy;
    h->classes = m->classes;
    h->n_classes = m->n_classes;
    PLX_TRY(load_pairs(&h->subset, &h->n_subset, m, f, "/hierarchy/subset"));
    return load_pairs(&h->mutex, &h->n_mutex, m, f, "/hierarchy/mutex");
}

/* ---- arrays ---- */

static plx_status load_sparse(plx_model *m, const plx__h5 *f, const char *object, const char *name)
{
    static const char *const parts[] = {"ptr", "col", "val"};
    const char *part[3] = {NULL, NULL, NULL};
    int64_t shape[2] = {0, 0}, *ptr = NULL, *wide = NULL;
    int32_t *col = NULL;
    double *val = NULL;
    plx__h5_shape rows, entries;
    for (int i = 0; i < 3; i++) PLX_TRY(plx__arena_printf(&part[i], plx__scratch(f->ctx), "%s/%s", object, parts[i]));
    PLX_TRY(plx__h5_attr_i64(shape, 2, f, object, "shape"));
    PLX_TRY(plx__h5_read_i64(&ptr, &rows, f, plx__scratch(f->ctx), part[0]));
    PLX_TRY(plx__h5_read_i64(&wide, &entries, f, plx__scratch(f->ctx), part[1]));
    PLX_TRY(plx__h5_read_vector(&val, entries.count, f, plx__scratch(f->ctx), part[2]));
    if (shape[0] < 0 || shape[1] < 0 || shape[1] > INT32_MAX || rows.count != shape[0] + 1)
        return plx__model_damaged(f, name);
    PLX_TRY(plx__arena_i32(&col, plx__scratch(f->ctx), entries.count));
    for (plx_index k = 0; k < entries.count; k++) col[k] = wide[k] < 0 || wide[k] > INT32_MAX ? -1 : (int32_t)wide[k];
    plx_ccsr a = {shape[0], shape[1], ptr, col, val};
    if (plx__csr_check_shape(f->ctx, a, entries.count, name) != PLX_OK) {
        plx__clear_error(f->ctx);
        return plx__model_damaged(f, name);
    }
    return plx__store_put_csr(&m->store, name, a);
}

static plx_status load_array(plx_model *m, const plx__h5 *f, plx_index index)
{
    const char *object = NULL, *name = NULL;
    double *values = NULL;
    plx__h5_shape shape;
    PLX_TRY(plx__arena_printf(&object, plx__scratch(f->ctx), "/arrays/%lld", (long long)index));
    PLX_TRY(plx__h5_attr_text(&name, f, plx__scratch(f->ctx), object, "name"));
    if (!name[0] || plx__store_find(&m->store, name)) return plx__model_damaged(f, "bad array name");
    if (plx__h5_what(f, object) == PLX__H5_GROUP) return load_sparse(m, f, object, name);
    PLX_TRY(plx__h5_read_f64(&values, &shape, f, plx__scratch(f->ctx), object));
    if (shape.rank != 2) return plx__model_damaged(f, name);
    return plx__store_put(&m->store, name, (plx_cmat){values, shape.dim[0], shape.dim[1], shape.dim[1]});
}

static plx_status load_arrays(plx_model *m, const plx__h5 *f)
{
    const char *const *names = NULL;
    plx_index count = 0;
    PLX_TRY(plx__h5_children(&names, &count, f, plx__scratch(f->ctx), "/arrays"));
    for (plx_index i = 0; i < count; i++) PLX_TRY(load_array(m, f, i));
    return PLX_OK;
}

/* ---- all ---- */

static plx_status load_facts(plx_model *m, const plx__h5 *f)
{
    int64_t *whole = NULL;
    double *real = NULL;
    plx__h5_shape shape;
    PLX_TRY(plx__h5_read_i64(&whole, &shape, f, plx__scratch(f->ctx), "/facts_int"));
    if (shape.count != 4) return plx__model_damaged(f, "facts");
    PLX_TRY(plx__h5_read_vector(&real, 2, f, plx__scratch(f->ctx), "/facts_real"));
    m->facts.iterations = whole[0];
    m->facts.converged = (int)whole[1];
    m->n_fitted = whole[2];
    m->seed = (uint64_t)whole[3];
    m->facts.objective = real[0];
    m->seconds = real[1];
    return PLX_OK;
}

static plx_status load_body(plx_model **out, const plx__h5 *f)
{
    const plx__method *method = NULL;
    const char *name = NULL;
    plx_params *settings = NULL;
    PLX_TRY(plx__h5_attr_text(&name, f, plx__scratch(f->ctx), "/", "method"));
    if (strncmp(name, "ner-", 4) == 0)
        PLX_FAIL(f->ctx, PLX_E_FORMAT, "%s: a tagger of names, which tags text; this needs the model of a method",
                 f->path);
    if (strcmp(name, plx__method_complete.name) == 0) method = &plx__method_complete; /* not among the methods */
    else PLX_TRY(plx__any_method_require(&method, f->ctx, name));
    PLX_TRY(plx__params_create(&settings, f->ctx, method->name, method->params));
    plx_status st = plx__model_load_parameters(settings, f);
    if (st == PLX_OK) st = plx__model_create(out, f->ctx, method, settings);
    plx_params_destroy(settings);
    if (st != PLX_OK) return st;
    PLX_TRY(load_facts(*out, f));
    PLX_TRY(load_classes(*out, f));
    if (plx__h5_what(f, "/samples") != PLX__H5_NONE)
        PLX_TRY(plx__h5_read_texts(&(*out)->samples, &(*out)->n_samples, f, &(*out)->arena, "/samples"));
    PLX_TRY(load_views(*out, f));
    PLX_TRY(load_arrays(*out, f));
    return method == &plx__method_auto ? plx__portfolio_load(*out, f, load_body) : PLX_OK;
}

plx_status plx__model_load(plx_model **out, plx_context *ctx, const char *path)
{
    plx__h5 f;
    *out = NULL;
    PLX_TRY(plx__model_head_check(ctx, path));
    PLX_TRY(plx__h5_open(&f, ctx, path));
    plx_status st = load_body(out, &f);
    plx__h5_close(&f);
    if (st == PLX_OK) return st;
    plx_model_destroy(*out);
    *out = NULL;
    return st;
}

plx_status plx_model_load(plx_model **out, plx_context *ctx, const char *path)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, plx__model_load(out, ctx, path), PLX__ARG(out), PLX__ARG(path));
}
