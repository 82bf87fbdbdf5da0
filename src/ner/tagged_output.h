/*
 * Files that tagging writes: the text with a column of tags more, and values per token.
 */
#ifndef PLX_NER_TAGGED_OUTPUT_H
#define PLX_NER_TAGGED_OUTPUT_H

#include "core/file.h"
#include "ner/tags.h"

/* Output files of a tagger; the values file may be absent. */
typedef struct plx__ner_output {
    plx__outfile tagged, values;
    bool has_tagged, has_values, begun; /* begun: a sentence of values has been written */
} plx__ner_output;

/* Abort it in any case; that is nothing after a commit. NULL for a file that is not wanted. */
plx_status plx__ner_output_open(plx__ner_output *out, plx_context *ctx, const char *tagged, const char *values);
plx_status plx__ner_output_commit(plx__ner_output *out, plx_context *ctx);
void plx__ner_output_abort(plx__ner_output *out);

/* "# NAME1 NAME2 ..": before the first values. */
void plx__ner_put_header(plx__ner_output *out, const char *const *names, plx_index count);

/* Sentence s of a part: its columns and the guesses (of its tokens, IOB2) in a scheme. */
plx_status plx__ner_put_tagged(plx__ner_output *out, plx_context *ctx, const plx__conll *part, plx_index s,
                               const plx__ner_mark *guess, plx__ner_scheme scheme, const plx__ner_types *types);

/* Its words, each with `count` values. */
void plx__ner_put_values(plx__ner_output *out, const plx__conll *part, plx_index s, const double *values,
                         plx_index count);

/* Hand what was written to whoever reads along. */
void plx__ner_output_flush(plx__ner_output *out);

#endif
