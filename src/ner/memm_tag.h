/*
 * Tagging with a conditional Markov model: the best sequence of tags by dynamic programming over the last tags (or with
 * a beam), and forward marginals of single tags.
 *
 * An index turns the model's features round: features with tags are found by what they hold besides the tags, so one
 * look-up per kind serves all histories; scores of what depends on a word form alone are kept by form.
 */
#ifndef PLX_NER_MEMM_TAG_H
#define PLX_NER_MEMM_TAG_H

#include "core/crew.h"
#include "ner/memm.h"

/* A feature with tags: code t1, or t2 * (n_tags + 1) + t1; n_tags stands for what is before the sentence. */
typedef struct plx__memm_entry {
    int32_t code, feature;
} plx__memm_entry;

typedef struct plx__memm_index {
    const plx__memm *m;
    plx_index n_tags, stride, symbols; /* symbols = n_tags + 1 */
    int depth;
    bool exact;     /* all histories are kept in mind; else `beam` of them */
    bool marginals; /* exact marginals are possible */
    plx_index beam;
    plx__dict rest; /* "t1w:REST" .. */
    plx_index *rest_ptr;
    plx__memm_entry *entry;
    plx__dict history; /* t1, t2, t3: codes of tags as bytes -> feature */
    int32_t *history_feature;
    int32_t *bracket;     /* par: feature by symbol, -1 */
    double *constant;     /* exact: symbols^depth x stride, exp of the scores of t1, t2 and t3, at most 1 */
    double *abbreviation; /* 216 x stride: by the classes of three words */
    double *bias;         /* stride */
} plx__memm_index;

plx_status plx__memm_index_open(plx__memm_index *index, plx_context *ctx, plx__arena *arena, const plx__memm *m);

/* Feature of t1 (count 1), t2, t3 by its tags as symbols, oldest first; -1: none. */
plx_index plx__memm_history(const plx__memm_index *index, const int32_t *symbols, int count);

/* Class of an abbreviation as a number 0 .. 5. */
int plx__memm_class(char abbreviation);

/* ---- one sentence ---- */

/* What a position adds, without tags (u) and by kind. */
typedef struct plx__memm_local {
    double *u; /* stride */
    const plx__memm_entry *entry[PLX__NER_RESTS];
    plx_index n_entries[PLX__NER_RESTS];
    int bracket; /* distance, 0: none */
} plx__memm_local;

/* Memory of one worker. */
typedef struct plx__memm_desk {
    plx__arena arena;
    char *buffer;
    size_t buffer_bytes;
} plx__memm_desk;

/* Unnormalised probabilities after a state: symbol[0] is the tag before, symbol[1] before that. */
void plx__memm_follow(const plx__memm_index *index, const plx__memm_local *local, const int32_t *symbol, double *q);

/* Tags and probabilities (n x n_tags) of a sentence; either may be NULL. Memory from `arena`. */
plx_status plx__memm_exact(const plx__memm_index *index, plx__arena *arena, const plx__memm_local *local, plx_index n,
                           int32_t *tags, double *probs);
plx_status plx__memm_beam(const plx__memm_index *index, plx__arena *arena, const plx__memm_local *local, plx_index n,
                          int32_t *tags, double *probs);

/* ---- texts ---- */

enum { PLX__FORM_SUMS = 5 }; /* own, as neighbour before and behind, as one of five before and behind */

typedef struct plx__memm_tagger {
    plx_context *ctx;
    const plx__memm_index *index;
    plx__crew crew; /* workers allocate */
    plx__arena arena;
    plx__arena form_arena; /* forms and what is kept by form */
    plx__ner_forms forms;
    plx__ner_seen seen;
    double **sums; /* blocks of forms x PLX__FORM_SUMS x stride */
    plx_index n_blocks, block_room;
    int32_t *word_rest; /* by form: its place among rests of t1w, -1 */
    plx_index rest_room;
    plx_index ready; /* forms that have their sums */
    plx__memm_desk *desk;
    int n_desks;
} plx__memm_tagger;

/* Lives inside one call: some of it is in scratch. Free it whether or not it could be opened. */
plx_status plx__memm_tagger_open(plx__memm_tagger *tagger, plx_context *ctx, const plx__memm_index *index);
void plx__memm_tagger_free(plx__memm_tagger *tagger);

/* Tags (n) and probabilities (n x n_tags) of a text, or of its next part; either may be NULL. The text's forms and
 * occurrences are filled in. */
plx_status plx__memm_tagger_run(plx__memm_tagger *tagger, plx__ner_text *text, plx__arena *arena, int32_t *tags,
                                double *probs);

#endif
