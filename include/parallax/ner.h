/**
 * @file parallax/ner.h
 * @brief Tagged text: tokens in columns, sentences, documents (CoNLL).
 *
 * Lifetime: a text is owned by the caller and freed with plx_conll_destroy(); what is read from it is borrowed.
 *
 * Threads: a text is read-only once read and may be shared.
 */
#ifndef PARALLAX_NER_H
#define PARALLAX_NER_H

#include "parallax/context.h"
#include "parallax/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct plx_conll plx_conll;

/**
 * Read a CoNLL file: one token per line, its columns separated by tabs (by blanks when the file has no tab), a blank
 * line after a sentence, lines that start with -DOCSTART- between documents.
 *
 * @retval PLX_E_IO      the file cannot be read
 * @retval PLX_E_FORMAT  no tokens, an empty column, or lines of different numbers of columns: the message names the line
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_conll_read(plx_conll **out, plx_context *ctx, const char *path);

/** Free a text. NULL is allowed. */
PLX_API void plx_conll_destroy(plx_conll *text);

/** Numbers of things. */
PLX_API plx_index plx_conll_tokens(const plx_conll *text);
PLX_API plx_index plx_conll_sentences(const plx_conll *text);
PLX_API plx_index plx_conll_documents(const plx_conll *text);
PLX_API plx_index plx_conll_columns(const plx_conll *text);

/** One column of one token; NULL when there is no such token or column. The last column usually is the tag. */
PLX_API const char *plx_conll_column(const plx_conll *text, plx_index token, plx_index column);

/** First token of a sentence; for sentence = plx_conll_sentences() the number of tokens; -1 for others. */
PLX_API plx_index plx_conll_sentence(const plx_conll *text, plx_index sentence);

/** First sentence of a document, in the same way. */
PLX_API plx_index plx_conll_document(const plx_conll *text, plx_index document);

#ifdef __cplusplus
}
#endif
#endif
