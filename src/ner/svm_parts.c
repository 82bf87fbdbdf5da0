/*
 * A text read part by part for the support vector machines. With name memory a part is made of whole documents, since the
 * names of a document are known at its end. A document that is too long to be held is read twice, piece by piece: first
 * its names, then what is to be done with it.
 */
#include "ner/svm_learn.h"

typedef struct reading {
    const plx__svm_parts *parts;
    plx_context *ctx;
    plx__ner_source *source;
    plx__name_memory *memory; /* of the long document that is being read, or NULL */
} reading;

static plx_status learn_names(const reading *r, const plx__conll *part, int32_t document)
{
    plx__ner_columns columns = {.unlabelled = r->parts->unlabelled, .first_document = document};
    plx__ner_text text;
    plx__svm_names names;
    plx__arena *scratch = plx__scratch(r->ctx);
    PLX_TRY(plx__ner_text_open(&text, r->ctx, scratch, part, &columns, NULL));
    PLX_TRY(plx__svm_decide(&names, r->ctx, scratch, r->parts->m, &text, NULL));
    return plx__name_memory_learn(r->memory, &names);
}

static plx_status use_part(const reading *r, const plx__conll *part, int32_t document)
{
    return r->parts->use(r->parts->arg, part, document, r->memory);
}

/* All pieces of a document, from its start. */
static plx_status each_piece(const reading *r, plx_status (*what)(const reading *, const plx__conll *, int32_t),
                             const char *phase)
{
    plx__arena *scratch = plx__scratch(r->ctx);
    bool more = true;
    do {
        plx__mark mark = plx__arena_mark(scratch);
        plx__conll part;
        int32_t document = 0;
        PLX_TRY(plx__ner_source_next(r->source, scratch, &part, &document, &more));
        if (more) PLX_TRY(what(r, &part, document));
        plx__arena_rewind(scratch, mark);
        PLX_TRY(plx__report(r->ctx, phase, r->source->sentences, 0, (double)r->source->tokens));
    } while (more && r->source->inside);
    return PLX_OK;
}

static plx_status long_document(reading *r)
{
    plx__ner_source start = *r->source;
    plx__arena own;
    plx__arena_init(&own, r->ctx);
    plx_status st = plx__name_memory_new(&r->memory, r->ctx, &own, r->parts->m);
    if (st == PLX_OK) st = each_piece(r, learn_names, "names");
    if (st == PLX_OK) st = plx__name_memory_settle(r->memory);
    if (st == PLX_OK) {
        *r->source = start;
        st = each_piece(r, use_part, r->parts->phase);
    }
    r->memory = NULL;
    plx__arena_free(&own);
    return st;
}

plx_status plx__svm_each_part(plx_context *ctx, plx__ner_source *source, const plx__svm_parts *parts)
{
    plx__arena *scratch = plx__scratch(ctx);
    reading r = {.parts = parts, .ctx = ctx, .source = source};
    bool more = true;
    source->documents = parts->m->params.memory;
    while (more) {
        plx__mark mark = plx__arena_mark(scratch);
        plx__ner_source before = *source;
        plx__conll part;
        int32_t document = 0;
        PLX_TRY(plx__ner_source_next(source, scratch, &part, &document, &more));
        bool piece = more && source->piece;
        if (more && !piece) PLX_TRY(use_part(&r, &part, document));
        plx__arena_rewind(scratch, mark);
        if (piece) {
            *source = before;
            PLX_TRY(long_document(&r));
        }
        PLX_TRY(plx__report(ctx, parts->phase, source->sentences, 0, (double)source->tokens));
    }
    return PLX_OK;
}
