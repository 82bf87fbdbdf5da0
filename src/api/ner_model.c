/*
 * Taggers of names: settings, training, what they are.
 */
#include <math.h>
#include <string.h>

#include "api/api_args.h"
#include "api/describe.h"
#include "api/ner_impl.h"
#include "core/json.h"
#include "ner/memm_learn.h"

/* ---- settings ---- */

static const plx__param_table MEMM[] = {plx__memm_params_table, NULL};
static const plx__param_table SVM[] = {plx__svm_params_table, NULL};
static const plx__param_table BOOTSTRAP[] = {plx__bootstrap_params_table, NULL};
static const plx__param_table SELECT[] = {plx__select_params_table, NULL};
static const plx__param_table SIMULATE[] = {plx__memm_params_table, plx__select_params_table, NULL};

static const struct {
    const char *what;
    const plx__param_table *tables;
} PURPOSES[] = {{"memm", MEMM}, {"svm", SVM}, {"bootstrap", BOOTSTRAP}, {"select", SELECT}, {"simulate", SIMULATE}};

enum { N_PURPOSES = sizeof PURPOSES / sizeof *PURPOSES };

static int purpose_of(const char *what)
{
    int k = 0;
    while (k < N_PURPOSES && strcmp(PURPOSES[k].what, what) != 0) k++;
    return k < N_PURPOSES ? k : -1;
}

const plx__param_table *plx__ner_params_of(const char *what)
{
    int at = purpose_of(what);
    return at < 0 ? NULL : PURPOSES[at].tables;
}

/* Settings remember what they are for: our own word, the caller's may not last. */
static plx_status params_create(plx_params **out, plx_context *ctx, const char *what)
{
    const char *names[N_PURPOSES];
    char near[160];
    int at = purpose_of(what);
    if (at >= 0) return plx__params_create(out, ctx, PURPOSES[at].what, PURPOSES[at].tables);
    for (int k = 0; k < N_PURPOSES; k++) names[k] = PURPOSES[k].what;
    PLX_FAIL(ctx, PLX_E_ARG, "there are no settings for '%s'%s", what,
             plx__suggest(near, sizeof near, what, names, N_PURPOSES));
}

plx_status plx_ner_params_create(plx_params **out, plx_context *ctx, const char *what)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, params_create(out, ctx, what), PLX__ARG(out), PLX__ARG(what));
}

plx_status plx_ner_param(plx_param_info *info, const char *what, plx_index i)
{
    const plx__param_table *tables = what ? plx__ner_params_of(what) : NULL;
    const plx__method purpose = {.params = tables};
    return plx__describe_param(info, tables ? &purpose : NULL, i);
}

plx_status plx__ner_check_settings(plx_context *ctx, const plx_params *settings, const char *what)
{
    if (!settings || strcmp(settings->method, what) == 0) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_ARG, "the settings are for %s, not for %s", settings->method, what);
}

plx_status plx__ner_scheme_of(plx__ner_scheme *out, plx_context *ctx, const char *name, plx__ner_scheme otherwise)
{
    int at = name ? plx__word_index(PLX__NER_SCHEMES, name) : (int)otherwise;
    if (at < 0) PLX_FAIL(ctx, PLX_E_ARG, "scheme = '%s': expected iob2, iob1 or raw", name);
    *out = (plx__ner_scheme)at;
    return PLX_OK;
}

/* ---- life ---- */

static plx_status fill_model(plx_ner_model *m, const char *learner, const plx_params *settings)
{
    PLX_TRY(plx__ner_types_init(&m->types, &m->arena));
    PLX_TRY(plx__ner_check_settings(m->ctx, settings, learner));
    return settings ? plx__params_copy(&m->settings, m->ctx, settings) : params_create(&m->settings, m->ctx, learner);
}

plx_status plx__ner_model_new(plx_ner_model **out, plx_context *ctx, const char *learner, const plx_params *settings)
{
    plx_ner_model *m = plx__alloc(ctx, sizeof *m);
    if (!m) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory for a tagger");
    *m = (plx_ner_model){.ctx = ctx};
    plx__arena_init(&m->arena, ctx);
    plx__arena_init(&m->json_arena, ctx);
    *out = m;
    return fill_model(m, learner, settings);
}

void plx_ner_model_destroy(plx_ner_model *model)
{
    if (!model) return;
    plx_context *ctx = model->ctx;
    plx__params_destroy(model->settings);
    plx__arena_free(&model->json_arena);
    if (model->has_home) plx__arena_free(&model->home);
    plx__arena_free(&model->arena);
    plx__release(ctx, model, sizeof *model);
}

/* ---- training ---- */

plx_status plx__ner_open_tagged(plx__ner_text *out, plx_ner_model *m, const plx_conll *text)
{
    plx__ner_columns columns = {.scheme = m->scheme};
    PLX_TRY(plx__ner_text_open(out, m->ctx, plx__scratch(m->ctx), &text->text, &columns, &m->types));
    if (!out->gold) PLX_FAIL(m->ctx, PLX_E_DATA, "%s: one column; a column of tags is needed", text->text.where);
    return PLX_OK;
}

static plx_status train_memm(plx_ner_model *m, plx__ner_text *text, const plx_ner_train_options *o)
{
    PLX_TRY(plx__memm_learn(&m->memm, m->ctx, &m->arena, text, &m->types, m->settings, o->unlabelled_text,
                            o->dump_features));
    if (!m->memm.converged)
        plx__warn(m->ctx,
                  "training stopped after %lld steps before the gradient was small enough; raise max_iter or tol",
                  (long long)m->memm.iterations);
    return plx__memm_index_open(&m->index, m->ctx, &m->arena, &m->memm);
}

static plx_status train_any(plx_ner_model *m, const plx_conll *text, const plx_ner_train_options *o)
{
    plx__ner_text opened;
    PLX_TRY(plx__ner_open_tagged(&opened, m, text));
    if (strcmp(m->settings->method, "memm") == 0) return train_memm(m, &opened, o);
    return plx__svm_learn(&m->svm, m->ctx, &m->arena, &opened, &m->types, m->settings, o->unlabelled_text,
                          o->dump_features);
}

static plx_status check_learner(plx_context *ctx, const char *learner)
{
    if (strcmp(learner, "memm") == 0 || strcmp(learner, "svm") == 0) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_ARG, "there is no learner '%s'; expected memm or svm", learner);
}

static plx_status train(plx_ner_model **out, plx_context *ctx, const char *learner, const plx_conll *text,
                        const plx_params *params, const plx_ner_train_options *given)
{
    plx_ner_train_options o = PLX_NER_TRAIN_OPTIONS_INIT;
    double start = plx__now();
    PLX_TRY(plx__take_options(&o, sizeof o, ctx, given, "PLX_NER_TRAIN_OPTIONS_INIT"));
    PLX_TRY(check_learner(ctx, learner));
    plx_status st = plx__ner_model_new(out, ctx, learner, params);
    if (st == PLX_OK) st = plx__ner_scheme_of(&(*out)->scheme, ctx, o.scheme, PLX__NER_IOB2);
    if (st == PLX_OK) st = train_any(*out, text, &o);
    if (st == PLX_OK) (*out)->seconds = plx__now() - start;
    if (st == PLX_OK) return st;
    plx_ner_model_destroy(*out);
    *out = NULL;
    return st;
}

plx_status plx_ner_train(plx_ner_model **out, plx_context *ctx, const char *learner, const plx_conll *text,
                         const plx_params *params, const plx_ner_train_options *options)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, train(out, ctx, learner, text, params, options), PLX__ARG(out), PLX__ARG(learner), PLX__ARG(text));
}

/* ---- what it is ---- */

const char *plx_ner_model_learner(const plx_ner_model *model) { return model ? model->settings->method : NULL; }
plx_index plx_ner_model_tags(const plx_ner_model *model) { return model ? model->memm.n_tags : 0; }

const char *plx_ner_model_tag(const plx_ner_model *model, plx_index i)
{
    return i >= 0 && i < plx_ner_model_tags(model) ? model->memm.tag[i] : NULL;
}

static plx_status put(plx_context *ctx, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) == 0) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory while writing JSON");
}

static plx_status put_parameters(plx_context *ctx, json_t *object, const plx_params *settings)
{
    json_t *all = json_object();
    PLX_TRY(put(ctx, object, "parameters", all));
    for (plx_index i = 0; i < plx__param_count(settings->tables); i++) {
        const plx__param_spec *spec = plx__param_at(settings->tables, i);
        plx__value value;
        PLX_TRY(plx__view_value(&value, ctx, settings, spec->name, NULL));
        PLX_TRY(put(ctx, all, spec->name, json_string(value.text)));
    }
    return PLX_OK;
}

static plx_status put_memm(plx_context *ctx, json_t *object, const plx__memm *m)
{
    PLX_TRY(put(ctx, object, "objective", plx__json_real(m->objective)));
    PLX_TRY(put(ctx, object, "features", json_integer(m->features.count)));
    PLX_TRY(put(ctx, object, "tags", json_integer(m->n_tags)));
    PLX_TRY(put(ctx, object, "iterations", json_integer(m->iterations)));
    return put(ctx, object, "converged", json_boolean(m->converged));
}

static plx_status put_svm(plx_context *ctx, json_t *object, const plx__svm *m)
{
    for (plx_index c = 0; c < m->n_cat; c++) {
        const char *key = NULL, *name = NULL;
        PLX_TRY(plx__utf8(&name, plx__scratch(ctx), m->cat[c]));
        PLX_TRY(plx__arena_printf(&key, plx__scratch(ctx), "objective:%s", name));
        PLX_TRY(put(ctx, object, key, plx__json_real(m->objective[c])));
    }
    PLX_TRY(put(ctx, object, "window", json_string(m->params.window ? "enhanced" : "simple")));
    return put(ctx, object, "features", json_integer(m->base.count));
}

/* Every training of a bootstrap; an svm trained once has its number of support vectors only. */
static plx_status put_log(plx_context *ctx, json_t *object, const plx_ner_model *m)
{
    json_t *phase = json_array(), *f1 = json_array(), *support = json_array();
    plx_status st = put(ctx, object, "phase", phase);
    if (st == PLX_OK) st = put(ctx, object, "dev_f1", f1);
    if (st == PLX_OK) st = put(ctx, object, "support", support);
    int bad = 0;
    for (plx_index k = 0; st == PLX_OK && k < m->log.count; k++) {
        const plx__bootstrap_step *step = &m->log.step[k];
        bad |= json_array_append_new(phase, json_integer(step->phase));
        bad |= json_array_append_new(f1, plx__json_real(step->dev_f1));
        bad |= json_array_append_new(support, json_integer(step->support));
    }
    if (bad) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory while writing JSON");
    PLX_TRY(st);
    return put(ctx, object, "best", json_integer(m->log.best));
}

static plx_status put_facts(plx_context *ctx, json_t *object, const plx_ner_model *m)
{
    PLX_TRY(put(ctx, object, "learner", json_string(m->settings->method)));
    PLX_TRY(put_parameters(ctx, object, m->settings));
    if (plx__ner_is_memm(m)) PLX_TRY(put_memm(ctx, object, &m->memm));
    else PLX_TRY(put_svm(ctx, object, &m->svm));
    if (m->log.count) PLX_TRY(put_log(ctx, object, m));
    else if (!plx__ner_is_memm(m)) PLX_TRY(put(ctx, object, "support", json_integer(m->svm.support)));
    return isnan(m->seconds) ? PLX_OK : put(ctx, object, "seconds", plx__json_real(m->seconds)); /* none from a file */
}

static plx_status model_json(const char **text, plx_context *ctx, plx_ner_model *m)
{
    json_t *object = json_object();
    plx_status st =
        object ? put_facts(ctx, object, m) : plx__fail(ctx, PLX_E_NOMEM, "out of memory while writing JSON");
    plx__arena_free(&m->json_arena);
    plx__arena_init(&m->json_arena, m->ctx);
    if (st == PLX_OK) st = plx__json_print(text, &m->json_arena, object);
    json_decref(object);
    return st;
}

plx_status plx_ner_model_json(const char **text, plx_context *ctx, plx_ner_model *model)
{
    if (text) *text = NULL;
    PLX__CALL(ctx, model_json(text, ctx, model), PLX__ARG(text), PLX__ARG(model));
}
