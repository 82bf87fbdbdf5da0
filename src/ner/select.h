/*
 * Selective sampling: which sentences of a pool a committee of models disagrees on most.
 */
#ifndef PLX_NER_SELECT_H
#define PLX_NER_SELECT_H

#include "ner/chunks.h"
#include "params/param.h"

typedef enum plx__ner_metric {
    PLX__NER_KL_MAX,
    PLX__NER_KL_AVE,
    PLX__NER_F_COMPLEMENT,
    PLX__NER_RANDOM
} plx__ner_metric;

#define PLX__NER_METRICS "kl-max|kl-ave|f-complement|random"

typedef struct plx__select_params {
    int kl; /* 0: mean over ordered pairs; 1: from the first model to the second */
} plx__select_params;

extern const plx__param_spec plx__select_params_table[];

/* What one model says about a pool. */
typedef struct plx__ner_opinion {
    const char *where; /* the file it comes from, for messages */
    plx_index n_tags;
    const char *const *tag;
    const double *probs;       /* tokens x n_tags; NULL: not asked for */
    const plx__ner_mark *mark; /* decoded, tokens; NULL: not asked for */
} plx__ner_opinion;

typedef struct plx__ner_choice_row {
    double score;
    plx_index tokens, names; /* names as the first model decodes them */
    plx_index rank;          /* 0: the first to be annotated */
} plx__ner_choice_row;

/* Sentences s of a pool: offsets[s] .. offsets[s + 1]. Scores and ranks; random ones follow from seed and stream and the
 * sentence's number (number[s], or s when it is NULL). */
typedef struct plx__ner_pool {
    plx_index n_sentences;
    const plx_index *offsets;
    const plx_index *number;
    uint64_t seed, stream;
} plx__ner_pool;

plx_status plx__ner_choose(plx__ner_choice_row *rows, plx_context *ctx, const plx__ner_opinion *opinion,
                           plx_index count, const plx__ner_pool *pool, plx__ner_metric metric,
                           const plx__select_params *params);

/* Opinion from a file of probabilities: tags in the header, decoded is the most probable tag. *offsets are the sentences. */
plx_status plx__ner_read_opinion(plx__ner_opinion *out, plx_context *ctx, plx__arena *arena, plx__ner_types *types,
                                 const char *path, const plx_index **offsets, plx_index *n_sentences);

/* The same tags everywhere, else PLX_E_DATA. */
plx_status plx__ner_same_tags(plx_context *ctx, const plx__ner_opinion *opinion, plx_index count);

#endif
