/*
 * Tagged text for callers: a CoNLL file, or one in memory, with its memory.
 */
#include <string.h>

#include "api/api_args.h"
#include "api/ner_impl.h"
#include "parallax/ner_tagged.h"

/* Text of names: any blank separates, and bytes are characters. */
static const plx__conll_style NAMES = {.any_blank = true, .utf8 = true};

static plx_status new_text(plx_conll **out, plx_context *ctx, const char *where)
{
    *out = plx__alloc(ctx, sizeof **out);
    if (!*out) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory while reading %s", where);
    **out = (plx_conll){.text = {0}};
    plx__arena_init(&(*out)->arena, ctx);
    return PLX_OK;
}

static plx_status keep(plx_conll **out, plx_conll *text, plx_status st)
{
    if (st == PLX_OK) *out = text;
    else plx_conll_destroy(text);
    return st;
}

static plx_status read_text(plx_conll **out, plx_context *ctx, const char *path, const plx__conll_style *style)
{
    plx_conll *text = NULL;
    PLX_TRY(new_text(&text, ctx, path));
    return keep(out, text, plx__conll_read(&text->text, ctx, &text->arena, path, style));
}

static plx_status parse_text(plx_conll **out, plx_context *ctx, const char *bytes, size_t size)
{
    plx_conll *text = NULL;
    PLX_TRY(new_text(&text, ctx, "a text"));
    return keep(out, text, plx__conll_parse(&text->text, ctx, &text->arena, "text", bytes, size, &NAMES));
}

/* ---- words ---- */

static plx_status check_word(plx_context *ctx, const char *word, plx_index i)
{
    if (!word) PLX_FAIL(ctx, PLX_E_ARG, "word %lld is NULL", (long long)i);
    if (!word[0] || strpbrk(word, " \t\r\n"))
        PLX_FAIL(ctx, PLX_E_FORMAT, "word %lld '%.60s': a word is not empty and holds no blank", (long long)i, word);
    if (strcmp(word, "-DOCSTART-") == 0)
        PLX_FAIL(ctx, PLX_E_FORMAT, "word %lld is -DOCSTART-, which stands between documents", (long long)i);
    return PLX_OK;
}

static plx_status check_sentences(plx_context *ctx, const plx_index *begin, plx_index count, plx_index n_words)
{
    if (count < 1 || begin[0] != 0) PLX_FAIL(ctx, PLX_E_ARG, "sentences: the first begins at word 0");
    for (plx_index s = 0; s < count; s++)
        if ((s > 0 && begin[s] <= begin[s - 1]) || begin[s] >= n_words)
            PLX_FAIL(ctx, PLX_E_ARG, "sentence %lld begins at word %lld: expected rising numbers below %lld",
                     (long long)s, (long long)begin[s], (long long)n_words);
    return PLX_OK;
}

/* The words as lines, to be read like any other text. */
static plx_status join_words(plx_conll **out, plx_context *ctx, const char *const *words, plx_index n_words,
                             const plx_index *begin, plx_index n_sentences)
{
    plx_index bytes = n_words + n_sentences, next = 1;
    char *text = NULL, *to = NULL;
    if (n_words < 1) PLX_FAIL(ctx, PLX_E_ARG, "there are no words");
    if (begin) PLX_TRY(check_sentences(ctx, begin, n_sentences, n_words));
    for (plx_index i = 0; i < n_words; i++) {
        PLX_TRY(check_word(ctx, words[i], i));
        bytes += (plx_index)strlen(words[i]);
    }
    PLX_TRY(plx__arena_bytes((void **)&text, plx__scratch(ctx), bytes, 1));
    to = text;
    for (plx_index i = 0; i < n_words; i++) {
        size_t length = strlen(words[i]);
        if (begin && next < n_sentences && i == begin[next]) {
            *to++ = '\n';
            next++;
        }
        memcpy(to, words[i], length);
        to += length;
        *to++ = '\n';
    }
    return parse_text(out, ctx, text, (size_t)(to - text));
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

plx_status plx_ner_parse(plx_conll **out, plx_context *ctx, const char *text, size_t bytes)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, parse_text(out, ctx, text, bytes), PLX__ARG(out), PLX__ARG(text));
}

plx_status plx_ner_words(plx_conll **out, plx_context *ctx, const char *const *words, plx_index n_words,
                         const plx_index *sentences, plx_index n_sentences)
{
    if (out) *out = NULL;
    PLX__CALL(ctx, join_words(out, ctx, words, n_words, sentences, n_sentences), PLX__ARG(out), PLX__ARG(words),
              PLX__COUNT(n_words), PLX__COUNT(n_sentences));
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
