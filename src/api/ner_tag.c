/*
 * Tagging with a model: files, standard input, texts in memory.
 */
#include <string.h>

#include "api/api_args.h"
#include "api/ner_impl.h"
#include "ner/memm_file.h"

static plx_status tag_file(plx_context *ctx, const plx_ner_model *m, const char *in, const char *out,
                           const plx_ner_tag_options *given)
{
    plx_ner_tag_options o = PLX_NER_TAG_OPTIONS_INIT;
    PLX_TRY(plx__take_options(&o, sizeof o, ctx, given, "PLX_NER_TAG_OPTIONS_INIT"));
    plx__ner_scheme scheme = m->scheme;
    PLX_TRY(plx__ner_scheme_of(&scheme, ctx, o.scheme, m->scheme));
    if (plx__ner_is_memm(m) && o.scores)
        PLX_FAIL(ctx, PLX_E_ARG, "scores are those of an svm; this model has probabilities");
    if (!plx__ner_is_memm(m) && o.probs)
        PLX_FAIL(ctx, PLX_E_ARG, "probabilities are those of a memm; this model has scores");
    if (plx__ner_is_memm(m)) {
        plx__ner_tag_job job = {in, out, o.probs, o.unlabelled != 0, scheme};
        return plx__memm_tag_file(ctx, &m->index, &m->types, &job);
    }
    plx__svm_tag_job job = {in, out, o.scores, o.unlabelled != 0, scheme};
    plx__svm own = m->svm; /* tagging adds no features */
    return plx__svm_tag_file(&own, ctx, &m->types, &job);
}

plx_status plx_ner_tag_file(plx_context *ctx, const plx_ner_model *model, const char *in, const char *out,
                            const plx_ner_tag_options *options)
{
    PLX__CALL(ctx, tag_file(ctx, model, in, out, options), PLX__ARG(model), PLX__ARG(in), PLX__ARG(out));
}
