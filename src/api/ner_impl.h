/*
 * Inside of the objects of parallax/ner.h.
 */
#ifndef PLX_API_NER_IMPL_H
#define PLX_API_NER_IMPL_H

#include "io/conll.h"
#include "ner/memm_tag.h"
#include "ner/select.h"
#include "ner/svm_learn.h"
#include "parallax/ner.h"

struct plx_conll {
    plx__arena arena;
    plx__conll text;
};

struct plx_ner_model {
    plx_context *ctx;
    plx__arena arena;
    plx_params *settings;
    plx__ner_scheme scheme; /* of the text it was trained on */
    plx__ner_types types;
    plx__memm memm; /* learner memm */
    plx__memm_index index;
    plx__svm svm; /* learners svm and bootstrap */
    plx__bootstrap log;
    plx__arena home; /* of a bootstrapped svm */
    bool has_home;
    double seconds;
    plx__arena json_arena; /* text of the last plx_ner_model_json() */
};

static inline bool plx__ner_is_memm(const plx_ner_model *m) { return m->memm.tag != NULL; }

/* What differs between the kinds of taggers in a model file (ner_svm_file.c). */
struct plx__h5;
plx_status plx__ner_save_svm(const struct plx__h5 *f, const plx_ner_model *model);
plx_status plx__ner_load_svm(plx_ner_model *model, const struct plx__h5 *f);
plx_status plx__ner_save_names(const struct plx__h5 *f, const char *object, const plx__dict *names);
plx_status plx__ner_load_names(plx__dict *names, const struct plx__h5 *f, plx__arena *arena, const char *object);

/* Tables of parameters by what they are for: "memm", ..; NULL: no such thing. */
const plx__param_table *plx__ner_params_of(const char *what);

/* An empty model with a copy of the settings (NULL: defaults); destroy it also after a failure. */
plx_status plx__ner_model_new(plx_ner_model **out, plx_context *ctx, const char *learner, const plx_params *settings);

/* A text whose tags, in the model's scheme, are needed. */
plx_status plx__ner_open_tagged(plx__ner_text *out, plx_ner_model *model, const plx_conll *text);

/* "iob2" .. to its number; NULL is `otherwise`. */
plx_status plx__ner_scheme_of(plx__ner_scheme *out, plx_context *ctx, const char *name, plx__ner_scheme otherwise);

/* "kl-max" .. to its number. */
plx_status plx__ner_metric_of(plx__ner_metric *out, plx_context *ctx, const char *name);

/* Settings for another purpose are refused. */
plx_status plx__ner_check_settings(plx_context *ctx, const plx_params *settings, const char *what);

#endif
