/*
 * Support vector machines of names in model files.
 */
#include <math.h>
#include <string.h>

#include "api/model_file.h"
#include "api/ner_impl.h"
#include "io/h5.h"

/* ---- writing ---- */

static plx_status save_ratios(const plx__h5 *f, const char *name, const plx__svm_ratios *r)
{
    plx__arena *scratch = plx__scratch(f->ctx);
    plx_index count = r->keys.count ? r->ptr[r->keys.count] : 0;
    const char *object[4] = {NULL, NULL, NULL, NULL};
    static const char *const parts[] = {"keys", "ptr", "what", "ratio"};
    const plx_index none = 0;
    int32_t *what = NULL;
    double *ratio = NULL;
    for (int k = 0; k < 4; k++) PLX_TRY(plx__arena_printf(&object[k], scratch, "/ner/%s_%s", name, parts[k]));
    PLX_TRY(plx__arena_i32(&what, scratch, count));
    PLX_TRY(plx__arena_f64(&ratio, scratch, count, 1));
    for (plx_index k = 0; k < count; k++) {
        what[k] = r->entry[k].key;
        ratio[k] = r->entry[k].ratio;
    }
    PLX_TRY(plx__ner_save_names(f, object[0], &r->keys));
    PLX_TRY(plx__h5_write_vector(f, object[1], PLX__H5_I64, r->ptr ? r->ptr : &none, r->keys.count + 1));
    PLX_TRY(plx__h5_write_vector(f, object[2], PLX__H5_I32, what, count));
    return plx__h5_write_vector(f, object[3], PLX__H5_F64, ratio, count);
}

static plx_status save_log(const plx__h5 *f, const plx__bootstrap *log)
{
    int64_t *whole = NULL;
    double *f1 = NULL;
    PLX_TRY(plx__arena_i64(&whole, plx__scratch(f->ctx), 2 * log->count + 1));
    PLX_TRY(plx__arena_f64(&f1, plx__scratch(f->ctx), log->count, 1));
    whole[0] = log->best;
    for (plx_index k = 0; k < log->count; k++) {
        whole[1 + 2 * k] = log->step[k].phase;
        whole[2 + 2 * k] = log->step[k].support;
        f1[k] = log->step[k].dev_f1;
    }
    PLX_TRY(plx__h5_write_vector(f, "/ner/log_int", PLX__H5_I64, whole, 2 * log->count + 1));
    return plx__h5_write_vector(f, "/ner/log_f1", PLX__H5_F64, f1, log->count);
}

plx_status plx__ner_save_svm(const plx__h5 *f, const plx_ner_model *model)
{
    const plx__svm *m = &model->svm;
    plx_index dims[2] = {m->n_cat, m->columns};
    int64_t facts[] = {m->params.window,   m->params.max_span, m->params.stop_top, m->params.memory,
                       m->lexicon.present, m->lexicon.bins,    m->support};
    double real[] = {m->params.C, m->params.tol, NAN}; /* seconds stood there */
    PLX_TRY(plx__h5_write_texts(f, "/ner/categories", m->cat, m->n_cat));
    PLX_TRY(plx__h5_write_vector(f, "/ner/facts_int", PLX__H5_I64, facts, 7));
    PLX_TRY(plx__h5_write_vector(f, "/ner/facts_real", PLX__H5_F64, real, 3));
    PLX_TRY(plx__ner_save_names(f, "/ner/features", &m->base));
    PLX_TRY(plx__ner_save_names(f, "/ner/stop", &m->stop));
    PLX_TRY(plx__h5_write(f, "/ner/weights", PLX__H5_F64, m->weight, 2, dims));
    PLX_TRY(plx__h5_write_vector(f, "/ner/objective", PLX__H5_F64, m->objective, m->n_cat));
    PLX_TRY(save_ratios(f, "lexicon", &m->lexicon.corpus));
    PLX_TRY(save_ratios(f, "contexts", &m->lexicon.contexts));
    return save_log(f, &model->log);
}

/* ---- reading ---- */

static plx_status load_ratios(plx__svm_ratios *r, plx_ner_model *model, const plx__h5 *f, const char *name,
                              plx_index most)
{
    plx__arena *scratch = plx__scratch(f->ctx);
    static const char *const parts[] = {"keys", "ptr", "what", "ratio"};
    const char *object[4] = {NULL, NULL, NULL, NULL};
    int64_t *ptr = NULL, *what = NULL;
    double *ratio = NULL;
    plx__h5_shape shape;
    for (int k = 0; k < 4; k++) PLX_TRY(plx__arena_printf(&object[k], scratch, "/ner/%s_%s", name, parts[k]));
    PLX_TRY(plx__ner_load_names(&r->keys, f, &model->arena, object[0]));
    PLX_TRY(plx__h5_read_i64(&ptr, &shape, f, &model->arena, object[1]));
    if (shape.count != r->keys.count + 1 || ptr[0] != 0) return plx__model_damaged(f, "a lexicon");
    for (plx_index k = 0; k < r->keys.count; k++)
        if (ptr[k] > ptr[k + 1]) return plx__model_damaged(f, "a lexicon");
    plx_index count = ptr[r->keys.count];
    PLX_TRY(plx__h5_read_i64(&what, &shape, f, scratch, object[2]));
    if (shape.count != count) return plx__model_damaged(f, "a lexicon");
    PLX_TRY(plx__h5_read_vector(&ratio, count, f, scratch, object[3]));
    PLX_TRY(PLX__ARENA_NEW(&r->entry, &model->arena, count));
    for (plx_index k = 0; k < count; k++) {
        if (what[k] < 0 || what[k] >= most) return plx__model_damaged(f, "a lexicon");
        r->entry[k] = (plx__svm_ratio){(int32_t)what[k], ratio[k]};
    }
    r->ptr = ptr;
    return PLX_OK;
}

static plx_status load_log(plx_ner_model *model, const plx__h5 *f)
{
    plx__bootstrap *log = &model->log;
    int64_t *whole = NULL;
    double *f1 = NULL;
    plx__h5_shape shape;
    PLX_TRY(plx__h5_read_i64(&whole, &shape, f, plx__scratch(f->ctx), "/ner/log_int"));
    if (shape.count < 1 || shape.count % 2 == 0) return plx__model_damaged(f, "log");
    log->count = shape.count / 2;
    log->best = whole[0];
    PLX_TRY(plx__h5_read_vector(&f1, log->count, f, plx__scratch(f->ctx), "/ner/log_f1"));
    PLX_TRY(PLX__ARENA_NEW(&log->step, &model->arena, log->count));
    for (plx_index k = 0; k < log->count; k++)
        log->step[k] = (plx__bootstrap_step){(int)whole[1 + 2 * k], f1[k], whole[2 + 2 * k]};
    return PLX_OK;
}

static plx_status load_facts(plx_ner_model *model, const plx__h5 *f)
{
    plx__svm *m = &model->svm;
    int64_t *facts = NULL;
    double *real = NULL;
    plx__h5_shape shape;
    PLX_TRY(plx__h5_read_i64(&facts, &shape, f, plx__scratch(f->ctx), "/ner/facts_int"));
    if (shape.count != 7 || facts[1] < 1 || facts[5] < 0 || facts[5] > 1000000) return plx__model_damaged(f, "facts");
    PLX_TRY(plx__h5_read_vector(&real, 3, f, plx__scratch(f->ctx), "/ner/facts_real"));
    m->params = (plx__svm_params){.window = facts[0] == 1,
                                  .C = real[0],
                                  .tol = real[1],
                                  .max_span = facts[1],
                                  .stop_top = facts[2],
                                  .memory = facts[3] != 0};
    m->lexicon.present = facts[4] != 0;
    m->lexicon.bins = facts[5];
    m->support = facts[6];
    model->seconds = real[2];
    return PLX_OK;
}

static plx_status load_categories(plx_ner_model *model, const plx__h5 *f)
{
    plx__svm *m = &model->svm;
    const char *const *names = NULL;
    int32_t *type = NULL;
    PLX_TRY(plx__h5_read_texts(&names, &m->n_cat, f, &model->arena, "/ner/categories"));
    if (m->n_cat < 1) return plx__model_damaged(f, "no categories");
    PLX_TRY(PLX__ARENA_NEW(&m->cat, &model->arena, m->n_cat));
    PLX_TRY(plx__arena_i32(&type, &model->arena, m->n_cat));
    for (plx_index c = 0; c < m->n_cat; c++) {
        m->cat[c] = names[c];
        PLX_TRY(plx__ner_type(&type[c], &model->types, names[c]));
    }
    m->type = type;
    return PLX_OK;
}

plx_status plx__ner_load_svm(plx_ner_model *model, const plx__h5 *f)
{
    plx__svm *m = &model->svm;
    plx__h5_shape shape;
    PLX_TRY(load_facts(model, f));
    PLX_TRY(load_categories(model, f));
    PLX_TRY(plx__ner_load_names(&m->base, f, &model->arena, "/ner/features"));
    PLX_TRY(plx__ner_load_names(&m->stop, f, &model->arena, "/ner/stop"));
    PLX_TRY(plx__h5_read_f64(&m->weight, &shape, f, &model->arena, "/ner/weights"));
    m->columns = plx__svm_layout_of(m).columns;
    if (shape.rank != 2 || shape.dim[0] != m->n_cat || shape.dim[1] != m->columns)
        return plx__model_damaged(f, "weights");
    PLX_TRY(plx__h5_read_vector(&m->objective, m->n_cat, f, &model->arena, "/ner/objective"));
    PLX_TRY(load_ratios(&m->lexicon.corpus, model, f, "lexicon", m->n_cat * m->lexicon.bins));
    PLX_TRY(load_ratios(&m->lexicon.contexts, model, f, "contexts", m->n_cat));
    return load_log(model, f);
}
