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
#include "parallax/metrics.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct plx_conll plx_conll;

/**
 * Read a CoNLL file: one token per line, its columns separated by tabs (by blanks when the file has no tab), a blank
 * line after a sentence, lines that start with -DOCSTART- between documents.
 *
 * @param[out] out       NULL on failure.
 * @retval PLX_E_ARG     an argument is NULL
 * @retval PLX_E_IO      the file cannot be read
 * @retval PLX_E_FORMAT  no tokens, an empty column, or lines of different numbers of columns: the message names the line
 * @retval PLX_E_NOMEM   the text would pass the memory limit
 *
 * Ownership: the caller's; free it with plx_conll_destroy().
 * Threads: as the context passed in.
 * Cost: time O(bytes of the file), memory about the file and a pointer per column and token.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_conll_read(plx_conll **out, plx_context *ctx, const char *path);

/**
 * The same for text with names: columns are separated by blanks or tabs in any mixture, the text is UTF-8, and a line
 * whose first field is -DOCSTART- stands between documents. The functions below expect texts read this way.
 *
 * @param[out] out       NULL on failure.
 * @retval PLX_E_ARG     an argument is NULL
 * @retval PLX_E_IO      the file cannot be read
 * @retval PLX_E_FORMAT  no tokens, lines of different numbers of columns, or bytes that are no UTF-8: the message names
 *                       the line
 * @retval PLX_E_NOMEM   the text would pass the memory limit
 *
 * Ownership: the caller's; free it with plx_conll_destroy().
 * Threads: as the context passed in.
 * Cost: time O(bytes of the file), memory about the file and a pointer per column and token.
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_ner_read(plx_conll **out, plx_context *ctx, const char *path);

/**
 * @name Reading
 *
 * Errors: none.
 * Ownership: what is returned is borrowed from the text.
 * Threads: any number may read.
 * Cost: O(1).
 */

/**
 * Free a text. NULL is allowed.
 *
 * Ownership: what was read from the text goes with it.
 * Threads: one, when no other uses the text.
 * Cost: O(blocks of memory).
 */
PLX_API void plx_conll_destroy(plx_conll *text);

/** Number of tokens; 0 for NULL. */
PLX_API plx_index plx_conll_tokens(const plx_conll *text);

/** Number of sentences; 0 for NULL. */
PLX_API plx_index plx_conll_sentences(const plx_conll *text);

/** Number of documents; 0 for NULL. */
PLX_API plx_index plx_conll_documents(const plx_conll *text);

/** Number of columns of every token; 0 for NULL. */
PLX_API plx_index plx_conll_columns(const plx_conll *text);

/** One column of one token; NULL when there is no such token or column. The last column usually is the tag. */
PLX_API const char *plx_conll_column(const plx_conll *text, plx_index token, plx_index column);

/** First token of a sentence; for sentence = plx_conll_sentences() the number of tokens; -1 for others. */
PLX_API plx_index plx_conll_sentence(const plx_conll *text, plx_index sentence);

/** First sentence of a document; for document = plx_conll_documents() the number of sentences; -1 for others. */
PLX_API plx_index plx_conll_document(const plx_conll *text, plx_index document);

/**
 * Compare the last two columns of a text, right and guessed tags, as conlleval does: tokens, phrases, found, correct,
 * accuracy, precision, recall, f1, and of every type T precision:T, recall:T, f1:T, found:T, phrases:T, correct:T.
 *
 * @param metrics        where the figures are added
 * @param scheme         "any" (or NULL): tags have a prefix B, I, E, O, ., [ or ]; "raw": bare types, every token a name
 * @retval PLX_E_ARG     an argument is NULL, or there is no such scheme
 * @retval PLX_E_FORMAT  fewer than two columns, or an unknown prefix: the message names the line
 * @retval PLX_E_NOMEM   the memory limit
 *
 * Ownership: the caller keeps both.
 * Threads: as the context passed in.
 * Cost: time and memory O(tokens).
 * @since 0.1
 */
PLX_API PLX_NODISCARD plx_status plx_ner_eval(plx_context *ctx, plx_metrics *metrics, const plx_conll *text,
                                              const char *scheme);

#ifdef __cplusplus
}
#endif
#endif
