/*
 * Feature bootstrapping from unlabelled text.
 */
#include "api/api_args.h"
#include "api/ner_impl.h"

static plx_status run(plx_ner_model *m, const plx_conll *train, const plx_conll *dev, const char *text,
                      const plx_ner_bootstrap_options *o)
{
    plx__ner_text texts[2];
    plx__bootstrap_job job = {.train = &texts[0],
                              .dev = &texts[1],
                              .types = &m->types,
                              .text = text,
                              .dump_lexicon = o->dump_lexicon,
                              .dump_contexts = o->dump_contexts};
    PLX_TRY(plx__ner_scheme_of(&m->scheme, m->ctx, o->scheme, PLX__NER_IOB2));
    PLX_TRY(plx__params_fill(&job.params, m->ctx, &m->arena, m->settings));
    PLX_TRY(plx__ner_open_tagged(&texts[0], m, train));
    PLX_TRY(plx__ner_open_tagged(&texts[1], m, dev));
    return plx__svm_bootstrap(&m->svm, &m->log, m->ctx, &m->arena, &m->home, &m->has_home, &job);
}

static plx_status bootstrap(plx_ner_model **out, plx_context *ctx, const plx_conll *train, const plx_conll *dev,
                            const char *text, const plx_params *params, const plx_ner_bootstrap_options *given)
{
    plx_ner_bootstrap_options o = PLX_NER_BOOTSTRAP_OPTIONS_INIT;
    double start = plx__now();
    PLX_TRY(plx__take_options(&o, sizeof o, ctx, given, "PLX_NER_BOOTSTRAP_OPTIONS_INIT"));
    plx_status st = plx__ner_model_new(out, ctx, "bootstrap", params);
    if (st == PLX_OK) st = run(*out, train, dev, text, &o);
    if (st == PLX_OK) {
        (*out)->seconds = plx__now() - start;
        return st;
    }
    plx_ner_model_destroy(*out);
    *out = NULL;
    return st;
}

plx_status plx_ner_bootstrap(plx_ner_model **out, plx_context *ctx, const plx_conll *train, const plx_conll *dev,
                             const char *text, const plx_params *params, const plx_ner_bootstrap_options *options)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, bootstrap(out, ctx, train, dev, text, params, options), PLX__ARG(out), PLX__ARG(train),
              PLX__ARG(dev), PLX__ARG(text));
}
