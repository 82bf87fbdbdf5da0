/*
 * Tagging with a conditional Markov model: a text in memory; a file or standard input, part by part.
 */
#ifndef PLX_NER_MEMM_FILE_H
#define PLX_NER_MEMM_FILE_H

#include "ner/memm_tag.h"
#include "ner/tagged_output.h"

typedef struct plx__ner_tag_job {
    const char *in, *out, *values; /* files; out and values may be NULL */
    bool unlabelled;
    plx__ner_scheme scheme; /* of the guesses */
} plx__ner_tag_job;

plx_status plx__memm_tag_file(plx_context *ctx, const plx__memm_index *index, const plx__ner_types *types,
                              const plx__ner_tag_job *job);

/* Marks (in scratch) and probabilities (n x n_tags) of a text that is in memory. */
plx_status plx__memm_tag_text(plx__ner_mark **out, plx_context *ctx, const plx__memm_index *index,
                              const plx__ner_text *text, double *probs);

/* Can the model read this text? PLX_E_DATA when it wants parts of speech that are not there. */
plx_status plx__memm_check_text(plx_context *ctx, const plx__memm *m, const plx__conll *text, bool unlabelled);

#endif
