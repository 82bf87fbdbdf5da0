/*
 * Inside of the objects of parallax/ner.h.
 */
#ifndef PLX_API_NER_IMPL_H
#define PLX_API_NER_IMPL_H

#include "io/conll.h"
#include "ner/memm_tag.h"
#include "ner/select.h"
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
    plx__memm memm;
    plx__memm_index index;
    double seconds;
    plx__arena json_arena; /* text of the last plx_ner_model_json() */
};

/* Tables of parameters by what they are for: "memm", ..; NULL: no such thing. */
const plx__param_table *plx__ner_params_of(const char *what);

/* An empty model with a copy of the settings (NULL: defaults); destroy it also after a failure. */
plx_status plx__ner_model_new(plx_ner_model **out, plx_context *ctx, const char *learner, const plx_params *settings);

/* "iob2" .. to its number; NULL is `otherwise`. */
plx_status plx__ner_scheme_of(plx__ner_scheme *out, plx_context *ctx, const char *name, plx__ner_scheme otherwise);

/* "kl-max" .. to its number. */
plx_status plx__ner_metric_of(plx__ner_metric *out, plx_context *ctx, const char *name);

/* Settings for another purpose are refused. */
plx_status plx__ner_check_settings(plx_context *ctx, const plx_params *settings, const char *what);

#endif
