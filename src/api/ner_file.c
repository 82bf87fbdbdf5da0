/*
 * Taggers in model files (docs/dev/model-file.md): the head of all models, parameters as in the others, and the
 * tagger's own groups. Names are one block of bytes, a line each: there can be a million of them.
 */
#include <math.h>
#include <string.h>

#include "api/api_args.h"
#include "api/model_file.h"
#include "api/ner_impl.h"
#include "io/h5.h"

/* ---- lists of names ---- */

plx_status plx__ner_save_names(const plx__h5 *f, const char *object, const plx__dict *names)
{
    plx__arena *scratch = plx__scratch(f->ctx);
    plx__mark mark = plx__arena_mark(scratch);
    plx_index bytes = 0;
    uint8_t *text = NULL, *to = NULL;
    for (plx_index k = 0; k < names->count; k++) bytes += names->key[k].length + 1;
    PLX_TRY(plx__arena_u8(&text, scratch, bytes));
    to = text;
    for (plx_index k = 0; k < names->count; k++) {
        memcpy(to, names->key[k].text, names->key[k].length);
        to += names->key[k].length;
        *to++ = '\n';
    }
    PLX_TRY(plx__h5_write_vector(f, object, PLX__H5_U8, text, bytes));
    plx__arena_rewind(scratch, mark);
    return PLX_OK;
}

static plx_status add_lines(plx__dict *names, const plx__h5 *f, const char *text, plx_index bytes)
{
    for (plx_index i = 0, begin = 0; i < bytes; i++) {
        plx_index number = 0, before = names->count;
        if (text[i] == '\0') return plx__model_damaged(f, "a name holds NUL");
        if (text[i] != '\n') continue;
        PLX_TRY(plx__dict_add(&number, names, text + begin, (size_t)(i - begin)));
        if (names->count == before) return plx__model_damaged(f, "a name comes twice");
        begin = i + 1;
    }
    return PLX_OK;
}

plx_status plx__ner_load_names(plx__dict *names, const plx__h5 *f, plx__arena *arena, const char *object)
{
    plx__arena *scratch = plx__scratch(f->ctx);
    plx__mark mark = plx__arena_mark(scratch);
    int64_t *wide = NULL;
    char *text = NULL;
    plx__h5_shape shape;
    PLX_TRY(plx__h5_read_i64(&wide, &shape, f, scratch, object));
    PLX_TRY(plx__arena_bytes((void **)&text, scratch, shape.count + 1, 1));
    for (plx_index i = 0; i < shape.count; i++) text[i] = (char)(unsigned char)wide[i];
    PLX_TRY(plx__dict_init(names, arena, shape.count / 16));
    PLX_TRY(add_lines(names, f, text, shape.count));
    plx__arena_rewind(scratch, mark);
    return PLX_OK;
}

/* ---- conditional Markov models ---- */

static plx_status save_lexicon(const plx__h5 *f, const plx__ner_lexicon *l)
{
    const char **names = NULL, *object = NULL;
    PLX_TRY(plx__ner_save_names(f, "/ner/words", &l->words));
    PLX_TRY(plx__h5_write_vector(f, "/ner/counts", PLX__H5_I64, l->count, l->words.count));
    PLX_TRY(PLX__ARENA_NEW(&names, plx__scratch(f->ctx), l->n_gazetteers));
    for (plx_index g = 0; g < l->n_gazetteers; g++) {
        names[g] = l->gazetteer[g].name;
        PLX_TRY(plx__arena_printf(&object, plx__scratch(f->ctx), "/ner/gazetteer%lld", (long long)g));
        PLX_TRY(plx__ner_save_names(f, object, &l->gazetteer[g].words));
    }
    return plx__h5_write_texts(f, "/ner/gazetteers", names, l->n_gazetteers);
}

static plx_status save_memm(const plx__h5 *f, const plx_ner_model *model)
{
    const plx__memm *m = &model->memm;
    plx_index dims[2] = {m->features.count, m->stride};
    int64_t facts[] = {m->iterations, m->converged, m->views.pos};
    double real[] = {m->objective, NAN}; /* seconds stood there: the same training gives the same file */
    PLX_TRY(plx__h5_write_texts(f, "/ner/tags", m->tag, m->n_tags));
    PLX_TRY(plx__ner_save_names(f, "/ner/features", &m->features));
    PLX_TRY(plx__h5_write(f, "/ner/weights", PLX__H5_F64, m->weight, 2, dims));
    PLX_TRY(plx__h5_write_vector(f, "/ner/facts_int", PLX__H5_I64, facts, 3));
    PLX_TRY(plx__h5_write_vector(f, "/ner/facts_real", PLX__H5_F64, real, 2));
    return save_lexicon(f, &m->lexicon);
}

static plx_status load_lexicon(plx_ner_model *model, const plx__h5 *f)
{
    plx__ner_lexicon *l = &model->memm.lexicon;
    const char *const *names = NULL, *object = NULL;
    plx__h5_shape shape;
    PLX_TRY(plx__ner_lexicon_init(l, &model->arena));
    PLX_TRY(plx__ner_load_names(&l->words, f, &model->arena, "/ner/words"));
    PLX_TRY(plx__h5_read_i64(&l->count, &shape, f, &model->arena, "/ner/counts"));
    if (shape.count != l->words.count) return plx__model_damaged(f, "words without counts");
    l->room = shape.count;
    PLX_TRY(plx__h5_read_texts(&names, &l->n_gazetteers, f, &model->arena, "/ner/gazetteers"));
    if (l->n_gazetteers > 64) return plx__model_damaged(f, "gazetteers");
    PLX_TRY(PLX__ARENA_NEW(&l->gazetteer, &model->arena, l->n_gazetteers));
    for (plx_index g = 0; g < l->n_gazetteers; g++) {
        l->gazetteer[g].name = names[g];
        PLX_TRY(plx__arena_printf(&object, plx__scratch(f->ctx), "/ner/gazetteer%lld", (long long)g));
        PLX_TRY(plx__ner_load_names(&l->gazetteer[g].words, f, &model->arena, object));
    }
    return PLX_OK;
}

/* "B-PER" to its mark. Tags must be sorted. */
static plx_status load_tags(plx_ner_model *model, const plx__h5 *f)
{
    plx__memm *m = &model->memm;
    const char *const *tags = NULL;
    plx__ner_mark *mark = NULL;
    PLX_TRY(plx__h5_read_texts(&tags, &m->n_tags, f, &model->arena, "/ner/tags"));
    if (m->n_tags < 1) return plx__model_damaged(f, "no tags");
    PLX_TRY(PLX__ARENA_NEW(&mark, &model->arena, m->n_tags));
    PLX_TRY(PLX__ARENA_NEW(&m->tag, &model->arena, m->n_tags));
    for (plx_index t = 0; t < m->n_tags; t++) {
        mark[t] = (plx__ner_mark){tags[t][0], 0};
        if (!strchr("BIO", tags[t][0]) || (t > 0 && strcmp(tags[t - 1], tags[t]) >= 0))
            return plx__model_damaged(f, "tags");
        if (tags[t][0] && tags[t][1] == '-') PLX_TRY(plx__ner_type(&mark[t].type, &model->types, tags[t] + 2));
        m->tag[t] = tags[t];
    }
    m->mark = mark;
    m->stride = plx__memm_stride(m->n_tags);
    return PLX_OK;
}

static plx_status load_memm(plx_ner_model *model, const plx__h5 *f)
{
    plx__memm *m = &model->memm;
    plx__h5_shape shape;
    int64_t *facts = NULL;
    double *real = NULL;
    PLX_TRY(plx__params_fill(&m->params, f->ctx, &model->arena, model->settings));
    PLX_TRY(load_tags(model, f));
    PLX_TRY(plx__ner_load_names(&m->features, f, &model->arena, "/ner/features"));
    PLX_TRY(plx__h5_read_f64(&m->weight, &shape, f, &model->arena, "/ner/weights"));
    if (shape.rank != 2 || shape.dim[0] != m->features.count || shape.dim[1] != m->stride)
        return plx__model_damaged(f, "weights");
    PLX_TRY(plx__h5_read_i64(&facts, &shape, f, plx__scratch(f->ctx), "/ner/facts_int"));
    if (shape.count != 3) return plx__model_damaged(f, "facts");
    PLX_TRY(plx__h5_read_vector(&real, 2, f, plx__scratch(f->ctx), "/ner/facts_real"));
    m->iterations = facts[0];
    m->converged = facts[1] != 0;
    m->objective = real[0];
    model->seconds = real[1];
    m->views = plx__memm_views(&m->params, facts[2] != 0);
    PLX_TRY(load_lexicon(model, f));
    return plx__memm_index_open(&model->index, f->ctx, &model->arena, m);
}

/* ---- all ---- */

static plx_status save_body(const plx__h5 *f, const void *model)
{
    const plx_ner_model *m = model;
    const char *method = NULL;
    int64_t scheme = m->scheme;
    PLX_TRY(plx__arena_printf(&method, plx__scratch(f->ctx), "ner-%s", m->settings->method));
    PLX_TRY(plx__model_save_kind(f, method));
    PLX_TRY(plx__model_save_parameters(f, m->settings));
    PLX_TRY(plx__h5_write_group(f, "/ner", false));
    PLX_TRY(plx__h5_write_attr(f, "/ner", "scheme", PLX__H5_I64, &scheme, 0, NULL));
    return plx__ner_is_memm(m) ? save_memm(f, m) : plx__ner_save_svm(f, m);
}

static plx_status load_body(plx_ner_model **out, const plx__h5 *f)
{
    const char *method = NULL;
    int64_t scheme = 0;
    PLX_TRY(plx__h5_attr_text(&method, f, plx__scratch(f->ctx), "/", "method"));
    if (strncmp(method, "ner-", 4) != 0 || !plx__ner_params_of(method + 4))
        PLX_FAIL(f->ctx, PLX_E_FORMAT, "%s: a model of %s, not a tagger of names", f->path, method);
    PLX_TRY(plx__ner_model_new(out, f->ctx, method + 4, NULL));
    PLX_TRY(plx__model_load_parameters((*out)->settings, f));
    PLX_TRY(plx__h5_attr_i64(&scheme, 1, f, "/ner", "scheme"));
    if (scheme < 0 || scheme > PLX__NER_RAW) return plx__model_damaged(f, "scheme");
    (*out)->scheme = (plx__ner_scheme)scheme;
    return strcmp(method, "ner-memm") == 0 ? load_memm(*out, f) : plx__ner_load_svm(*out, f);
}

static plx_status load(plx_ner_model **out, plx_context *ctx, const char *path)
{
    plx__h5 f;
    PLX_TRY(plx__model_head_check(ctx, path));
    PLX_TRY(plx__h5_open(&f, ctx, path));
    plx_status st = load_body(out, &f);
    plx__h5_close(&f);
    if (st == PLX_OK) return st;
    plx_ner_model_destroy(*out);
    *out = NULL;
    return st;
}

plx_status plx_ner_model_save(plx_context *ctx, const plx_ner_model *model, const char *path)
{
    PLX__CALL(ctx, plx__model_write(ctx, path, save_body, model), PLX__ARG(model), PLX__ARG(path));
}

plx_status plx_ner_model_load(plx_ner_model **out, plx_context *ctx, const char *path)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, load(out, ctx, path), PLX__ARG(out), PLX__ARG(path));
}
