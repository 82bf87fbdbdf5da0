/*
 * What all model files have in common, whatever is fitted: the way they are written, and parameters.
 */
#include <string.h>

#include "api/model_file.h"
#include "io/h5.h"
#include "parallax/version.h"

plx_status plx__model_damaged(const plx__h5 *f, const char *what)
{
    PLX_FAIL(f->ctx, PLX_E_FORMAT, "%s: damaged model file (%s); fit the model again", f->path, what);
}

/* ---- writing ---- */

plx_status plx__model_write(plx_context *ctx, const char *path, plx__model_body_fn body, const void *model)
{
    plx__h5 f;
    char head[PLX__MODEL_HEAD];
    plx_status st = PLX_OK;
    PLX_TRY(plx__h5_create(&f, ctx, path, PLX__MODEL_HEAD));
    PLX_GOTO(body(&f, model));
    PLX_GOTO(plx__h5_finish(&f));
    PLX_GOTO(plx__model_head_make(head, ctx, f.out.temporary));
    PLX_GOTO(plx__h5_commit(&f, head));
done:
    plx__h5_close(&f);
    return st;
}

plx_status plx__model_save_kind(const plx__h5 *f, const char *method)
{
    PLX_TRY(plx__h5_write_attr_text(f, "/", "method", method));
    return plx__h5_write_attr_text(f, "/", "written_by", "parallax " PLX_VERSION_STRING);
}

/* What was set, and beside it every default, so that a later version with other defaults predicts the same. */
plx_status plx__model_save_parameters(const plx__h5 *f, const plx_params *p)
{
    plx__arena *scratch = plx__scratch(f->ctx);
    const char **keys = NULL, **values = NULL, **defaults = NULL, **names = NULL;
    plx_index set = 0, i = 0, count = plx__param_count(p->tables);
    for (const plx__setting *s = p->first; s; s = s->next) set++;
    PLX_TRY(PLX__ARENA_NEW(&keys, scratch, set));
    PLX_TRY(PLX__ARENA_NEW(&values, scratch, set));
    PLX_TRY(PLX__ARENA_NEW(&names, scratch, count));
    PLX_TRY(PLX__ARENA_NEW(&defaults, scratch, count));
    for (const plx__setting *s = p->first; s; s = s->next, i++) {
        keys[i] = s->spec->name;
        values[i] = s->value.text;
        if (s->view) PLX_TRY(plx__view_key(&keys[i], f->ctx, s->spec->name, s->view));
    }
    for (i = 0; i < count; i++) {
        names[i] = plx__param_at(p->tables, i)->name;
        defaults[i] = plx__param_at(p->tables, i)->def;
    }
    PLX_TRY(plx__h5_write_group(f, "/parameters", false));
    PLX_TRY(plx__h5_write_texts(f, "/parameters/set_keys", keys, set));
    PLX_TRY(plx__h5_write_texts(f, "/parameters/set_values", values, set));
    PLX_TRY(plx__h5_write_texts(f, "/parameters/names", names, count));
    return plx__h5_write_texts(f, "/parameters/defaults", defaults, count);
}

/* ---- reading ---- */

static plx_status load_texts(const char *const **a, const char *const **b, plx_index *count, const plx__h5 *f,
                             const char *first, const char *second)
{
    plx_index other = 0;
    PLX_TRY(plx__h5_read_texts(a, count, f, plx__scratch(f->ctx), first));
    PLX_TRY(plx__h5_read_texts(b, &other, f, plx__scratch(f->ctx), second));
    return other == *count ? PLX_OK : plx__model_damaged(f, "parameters without values");
}

/* Only `view` had a default that was not set and now has one: it stood for the first view. */
static plx_status set_old_default(plx_params *p, const plx__h5 *f, const char *key, const char *value)
{
    if (!value[0]) PLX_TRY(plx__h5_attr_text(&value, f, plx__scratch(f->ctx), "/views/0", "name"));
    return plx__params_set(p, f->ctx, key, value);
}

/* A default that has changed since the model was written is set to what it was. */
plx_status plx__model_load_parameters(plx_params *p, const plx__h5 *f)
{
    const char *const *keys = NULL, *const *values = NULL;
    plx_index count = 0;
    PLX_TRY(load_texts(&keys, &values, &count, f, "/parameters/names", "/parameters/defaults"));
    for (plx_index i = 0; i < count; i++) {
        const plx__param_spec *spec = plx__param_find(p->tables, keys[i]);
        if (spec && strcmp(spec->def, values[i]) != 0) PLX_TRY(set_old_default(p, f, keys[i], values[i]));
    }
    PLX_TRY(load_texts(&keys, &values, &count, f, "/parameters/set_keys", "/parameters/set_values"));
    for (plx_index i = 0; i < count; i++) PLX_TRY(plx__params_set(p, f->ctx, keys[i], values[i]));
    return PLX_OK;
}
