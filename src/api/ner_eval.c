/*
 * Names found against names that are there.
 */
#include <string.h>

#include "api/api_args.h"
#include "api/ner_impl.h"
#include "ner/chunks.h"

static plx_status eval(plx_context *ctx, plx_metrics *metrics, const plx_conll *text, const char *scheme)
{
    bool raw = scheme && strcmp(scheme, "raw") == 0;
    if (scheme && !raw && strcmp(scheme, "any") != 0)
        PLX_FAIL(ctx, PLX_E_ARG, "scheme = '%s': expected any or raw", scheme);
    return plx__ner_eval(metrics, ctx, &text->text, raw ? PLX__NER_RAW_TOKENS : PLX__NER_ANY);
}

plx_status plx_ner_eval(plx_context *ctx, plx_metrics *metrics, const plx_conll *text, const char *scheme)
{
    PLX__CALL(ctx, eval(ctx, metrics, text, scheme), PLX__ARG(metrics), PLX__ARG(text));
}
