/*
 * CoNLL columns; what is accepted must be rectangular with rising boundaries.
 */
#include <stdlib.h>

#include "io/conll.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const plx__conll *c)
{
    if (c->sentences[c->n_sentences] != c->n_tokens || c->documents[c->n_documents] != c->n_sentences) abort();
    for (plx_index s = 0; s < c->n_sentences; s++)
        if (c->sentences[s] >= c->sentences[s + 1]) abort();
    for (plx_index k = 0; k < c->n_columns; k++)
        for (plx_index t = 0; t < c->n_tokens; t++)
            if (!c->columns[k][t] || !c->columns[k][t][0]) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    plx_context_options o = {
        .struct_size = sizeof o, .threads = 1, .deterministic = 1, .memory_limit = 1 << 28, .arena_block = 1};
    plx_context *ctx = NULL;
    plx__conll c;
    if (plx_context_create(&ctx, &o) != PLX_OK) return 0;
    if (plx__conll_parse(&c, ctx, plx__scratch(ctx), "fuzz", (const char *)data, size, NULL) == PLX_OK) check(&c);
    else if (!plx_context_error(ctx)[0]) abort();
    plx_context_destroy(ctx);
    return 0;
}
