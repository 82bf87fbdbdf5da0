/**
 * @file parallax/ner_tagged.h
 * @brief Names in text that is in memory: words in, tags, names and probabilities out.
 *
 * Lifetime: a tagged text is owned by the caller and freed with plx_ner_tagged_destroy(); what is read from it is
 * borrowed. It keeps nothing of the text and the model it was made from.
 *
 * Threads: a tagged text is read-only and may be shared.
 */
#ifndef PARALLAX_NER_TAGGED_H
#define PARALLAX_NER_TAGGED_H

#include "parallax/ner.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct plx_ner_tagged plx_ner_tagged;

/**
 * @name Text from memory
 *
 * Threads: as the context passed in.
 */

/**
 * The text of plx_ner_read() from memory: columns separated by blanks or tabs, an empty line after a sentence.
 *
 * @param[out] out       NULL on failure.
 * @param text           UTF-8; `bytes` of it, no end mark is needed
 * @retval PLX_E_ARG     an argument is NULL
 * @retval PLX_E_FORMAT  no tokens, lines of different numbers of columns, or bytes that are no UTF-8: the message names
 *                       the line
 * @retval PLX_E_NOMEM   the text would pass the memory limit
 *
 * Ownership: the caller's; free it with plx_conll_destroy(). The text is copied.
 * Cost: time O(bytes), memory about the text and a pointer per column and token.
 */
PLX_API PLX_NODISCARD plx_status plx_ner_parse(plx_conll **out, plx_context *ctx, const char *text, size_t bytes);

/**
 * A text of words alone, one document.
 *
 * @param[out] out       NULL on failure.
 * @param words          UTF-8, without blanks, tabs and ends of lines
 * @param sentences      where sentences begin: rising numbers of words, the first 0; NULL: one sentence
 * @param n_sentences    how many begin; not looked at when `sentences` is NULL
 * @retval PLX_E_ARG     an argument is NULL, no words, sentences that are empty or out of order
 * @retval PLX_E_FORMAT  a word that is empty, holds a blank or is no UTF-8
 * @retval PLX_E_NOMEM   the text would pass the memory limit
 *
 * Ownership: the caller's; free it with plx_conll_destroy(). The words are copied.
 * Cost: time and memory O(bytes of the words).
 */
PLX_API PLX_NODISCARD plx_status plx_ner_words(plx_conll **out, plx_context *ctx, const char *const *words,
                                               plx_index n_words, const plx_index *sentences, plx_index n_sentences);

/**
 * @name Tagging
 */

/**
 * Tag a text: what plx_ner_tag_file() writes, in memory.
 *
 * @param[out] out       NULL on failure.
 * @param options        NULL for the defaults. `probs` and `scores` are NULL: the values are always there. `unlabelled`
 *                       makes no difference for a text of one column.
 * @retval PLX_E_ARG     an argument is NULL, no such scheme, or a file for values
 * @retval PLX_E_DATA    the model wants parts of speech and there are none
 * @retval PLX_E_NOMEM   the memory limit
 * @retval PLX_E_CANCELLED  asked to stop
 *
 * Ownership: the caller's; free it with plx_ner_tagged_destroy().
 * Threads: as the context passed in; model and text are only read.
 * Cost: time as plx_ner_tag_file(), memory O(tokens x tags).
 */
PLX_API PLX_NODISCARD plx_status plx_ner_tag(plx_ner_tagged **out, plx_context *ctx, const plx_ner_model *model,
                                             const plx_conll *text, const plx_ner_tag_options *options);

/**
 * @name What was found
 *
 * Errors: none.
 * Ownership: what is returned is borrowed from the tagged text.
 * Threads: any number may read.
 * Cost: O(1).
 */

/**
 * Free a tagged text. NULL is allowed.
 *
 * Ownership: what was read from it goes with it.
 * Threads: one, when no other uses it.
 */
PLX_API void plx_ner_tagged_destroy(plx_ner_tagged *tagged);

/** Number of tokens; 0 for NULL. */
PLX_API plx_index plx_ner_tagged_tokens(const plx_ner_tagged *tagged);

/** The tag of a token in the scheme asked for; NULL when there is no such token. */
PLX_API const char *plx_ner_tagged_tag(const plx_ner_tagged *tagged, plx_index token);

/** Number of names; 0 for NULL. */
PLX_API plx_index plx_ner_tagged_names(const plx_ner_tagged *tagged);

/** A name. Set struct_size first (PLX_NER_NAME_INIT). */
typedef struct plx_ner_name {
    size_t struct_size;
    const char *type;     /**< borrowed from the tagged text */
    plx_index sentence;   /**< the one it stands in */
    plx_index begin, end; /**< its tokens, counted from the first one of the text; end is behind the last */
} plx_ner_name;

#define PLX_NER_NAME_INIT                                                                                              \
    {                                                                                                                  \
        sizeof(plx_ner_name), 0, 0, 0, 0                                                                               \
    }

/**
 * The i-th name, in order of the text.
 *
 * @retval PLX_E_ARG  out of range, NULL, or a struct of unknown size
 *
 * Ownership: copied, but for the type.
 */
PLX_API PLX_NODISCARD plx_status plx_ner_tagged_name(plx_ner_name *out, const plx_ner_tagged *tagged, plx_index i);

/**
 * Tokens x columns: of a memm the probability of every tag, of an svm its value for every type of name (NaN for a word
 * that is part of no instance).
 *
 * @retval PLX_E_ARG  NULL
 */
PLX_API PLX_NODISCARD plx_status plx_ner_tagged_values(plx_cmat *out, const plx_ner_tagged *tagged);

/** What a column of plx_ner_tagged_values() is about: the tag in IOB2, or the type; NULL when there is no such column. */
PLX_API const char *plx_ner_tagged_column(const plx_ner_tagged *tagged, plx_index column);

#ifdef __cplusplus
}
#endif
#endif
