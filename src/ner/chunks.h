/*
 * Names found against names that are there, counted as the evaluation script of the CoNLL shared tasks counts them.
 */
#ifndef PLX_NER_CHUNKS_H
#define PLX_NER_CHUNKS_H

#include "eval/metrics_store.h"
#include "ner/tags.h"

typedef struct plx__ner_counts {
    plx_index phrases, found, correct; /* names that are there; that were guessed; that are both */
} plx__ner_counts;

typedef struct plx__ner_score {
    plx_index tokens, equal; /* equal: the guessed tag is the right one */
    plx__ner_counts all;
    plx__ner_counts *by_type; /* NULL: not kept; else one for every type */
} plx__ner_score;

/* One sentence more. Its ends end every name. */
void plx__ner_count(plx__ner_score *score, const plx__ner_mark *gold, const plx__ner_mark *guess, plx_index n);

/* Names in a sentence. */
plx_index plx__ner_names(const plx__ner_mark *mark, plx_index n);

/* Fractions; 0/0 is 0. */
double plx__ner_precision(plx__ner_counts counts);
double plx__ner_recall(plx__ner_counts counts);
double plx__ner_f1(plx__ner_counts counts);

/* tokens, phrases, found, correct, accuracy, precision, recall, f1, then precision:T .. of every type, bytewise. */
plx_status plx__ner_metrics(plx_metrics *metrics, const plx__ner_score *score, const plx__ner_types *types);

/* The last two columns of a text against each other. */
plx_status plx__ner_eval(plx_metrics *metrics, plx_context *ctx, const plx__conll *text, plx__ner_scheme scheme);

#endif
