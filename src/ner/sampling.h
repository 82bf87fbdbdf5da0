/*
 * Active learning as it would have gone: models of two views choose sentences of a pool whose tags are known, a model of
 * all features is measured on a test text after every round.
 */
#ifndef PLX_NER_SAMPLING_H
#define PLX_NER_SAMPLING_H

#include "ner/memm.h"
#include "ner/select.h"

typedef struct plx__ner_round {
    plx_index sentences, tokens, names; /* annotated from the pool so far */
    double f1, precision, recall;       /* on the test text */
} plx__ner_round;

typedef struct plx__ner_simulation {
    plx__ner_text *train, *pool, *test; /* with tags */
    plx__ner_types *types;
    const plx_params *settings;
    plx__memm_params memm;
    plx__select_params select;
    plx__ner_metric metric;
    plx_index batch, rounds;
    uint64_t seed;
} plx__ner_simulation;

/* rows has room for rounds + 1; *count tells how many there are: fewer when the pool is used up. */
plx_status plx__ner_simulate(plx__ner_round *rows, plx_index *count, plx_context *ctx, const plx__ner_simulation *job);

#endif
