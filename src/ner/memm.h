/*
 * Conditional Markov models (maximum entropy): p(t | h) = exp(sum of w[f,t] over the features f that are there) / Z.
 */
#ifndef PLX_NER_MEMM_H
#define PLX_NER_MEMM_H

#include "ner/ner_text.h"

typedef struct plx__memm_params {
    int view; /* 0: 1, 1: 2, 2: both */
    double sigma;
    plx_index min_count;
    double tol;
    plx_index max_iter, history, beam;
    bool view1_context;
} plx__memm_params;

extern const plx__param_spec plx__memm_params_table[];

typedef struct plx__memm {
    plx__memm_params params;
    plx__ner_views views;
    plx_index n_tags;
    const char **tag; /* IOB2, bytewise sorted */
    const plx__ner_mark *mark;
    plx__dict features;
    plx_index stride; /* of a row of weights: n_tags or a little more, the rest 0 */
    double *weight;   /* features x stride */
    plx__ner_lexicon lexicon;
    double objective;
    plx_index iterations;
    bool converged;
} plx__memm;

/* Room between rows: a multiple of four, so that rows are whole registers. */
static inline plx_index plx__memm_stride(plx_index n_tags) { return (n_tags + 3) / 4 * 4; }

plx__ner_views plx__memm_views(const plx__memm_params *params, bool pos);

/* ---- what is learnt from ---- */

/* Features and right tags of tokens; grows sentence by sentence. Free it whether or not calls failed. */
typedef struct plx__memm_data {
    plx_context *ctx;
    plx__arena arena;
    plx__dict features;
    plx_index n, n_entries;
    int64_t *ptr; /* n + 1 */
    int32_t *col;
    plx__ner_mark *gold;
    size_t ptr_bytes, col_bytes, gold_bytes;
    const char **tag_text; /* of mark 2 * type + (I or not), NULL: not needed so far */
    plx_index tag_room;
} plx__memm_data;

plx_status plx__memm_data_open(plx__memm_data *data, plx_context *ctx);
void plx__memm_data_free(plx__memm_data *data);

/* Add sentence s of a text with forms, occurrences and tags. */
plx_status plx__memm_data_add(plx__memm_data *data, const plx__ner_views *views, const plx__ner_forms *forms,
                              const plx__ner_text *text, plx_index s, const plx__ner_types *types);

/* ---- learning ---- */

/* Fit to the data; everything of the model is in `arena`, views and lexicon excepted. `start`: weights to start from, or
 * NULL. */
plx_status plx__memm_fit(plx__memm *model, plx_context *ctx, plx__arena *arena, const plx__memm_data *data,
                         const plx__ner_types *types, const plx__memm *start);

#endif
