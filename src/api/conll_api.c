/*
 * Tagged text for callers: a CoNLL file with its memory.
 */
#include "api/api_args.h"
#include "api/ner_impl.h"

/* Text of names: any blank separates, and bytes are characters. */
static const plx__conll_style NAMES = {.any_blank = true, .utf8 = true};

static plx_status read_text(plx_conll **out, plx_context *ctx, const char *path, const plx__conll_style *style)
{
    plx_conll *text = plx__alloc(ctx, sizeof *text);
    if (!text) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory while reading %s", path);
    *text = (plx_conll){.text = {0}};
    plx__arena_init(&text->arena, ctx);
    plx_status st = plx__conll_read(&text->text, ctx, &text->arena, path, style);
    if (st == PLX_OK) *out = text;
    else plx_conll_destroy(text);
    return st;
}

void plx_conll_destroy(plx_conll *text)
{
    if (!text) return;
    plx_context *ctx = text->arena.ctx;
    plx__arena_free(&text->arena);
    plx__release(ctx, text, sizeof *text);
}

plx_status plx_conll_read(plx_conll **out, plx_context *ctx, const char *path)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, read_text(out, ctx, path, NULL), PLX__ARG(out), PLX__ARG(path));
}

plx_status plx_ner_read(plx_conll **out, plx_context *ctx, const char *path)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, read_text(out, ctx, path, &NAMES), PLX__ARG(out), PLX__ARG(path));
}

plx_index plx_conll_tokens(const plx_conll *text) { return text ? text->text.n_tokens : 0; }
plx_index plx_conll_sentences(const plx_conll *text) { return text ? text->text.n_sentences : 0; }
plx_index plx_conll_documents(const plx_conll *text) { return text ? text->text.n_documents : 0; }
plx_index plx_conll_columns(const plx_conll *text) { return text ? text->text.n_columns : 0; }

const char *plx_conll_column(const plx_conll *text, plx_index token, plx_index column)
{
    if (!text) return NULL;
    const plx__conll *t = &text->text;
    if (token < 0 || token >= t->n_tokens || column < 0 || column >= t->n_columns) return NULL;
    return t->columns[column][token];
}

plx_index plx_conll_sentence(const plx_conll *text, plx_index sentence)
{
    return !text || sentence < 0 || sentence > text->text.n_sentences ? -1 : text->text.sentences[sentence];
}

plx_index plx_conll_document(const plx_conll *text, plx_index document)
{
    return !text || document < 0 || document > text->text.n_documents ? -1 : text->text.documents[document];
}
