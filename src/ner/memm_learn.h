/*
 * From a tagged text to a conditional Markov model: counts of words, gazetteers, features, fit.
 */
#ifndef PLX_NER_MEMM_LEARN_H
#define PLX_NER_MEMM_LEARN_H

#include "ner/memm.h"

/* Words of unlabelled text, counted without keeping the text. */
plx_status plx__ner_count_file(plx__ner_lexicon *lexicon, plx_context *ctx, const char *path);

/* Lists named by settings gazetteer.NAME=FILE. */
plx_status plx__ner_read_gazetteers(plx__ner_lexicon *lexicon, plx_context *ctx, plx__arena *arena,
                                    const plx_params *settings);

/* Learn from a text. Everything of the model is in `arena`. `unlabelled` (more text to count words in) and `dump` (a file
 * for every token's tag and features) may be NULL. */
plx_status plx__memm_learn(plx__memm *model, plx_context *ctx, plx__arena *arena, plx__ner_text *text,
                           const plx__ner_types *types, const plx_params *settings, const char *unlabelled,
                           const char *dump);

#endif
