/*
 * What the parts of plx_explain share: the model at work on changed data, and its answers as they are.
 */
#ifndef PLX_API_EXPLAIN_IMPL_H
#define PLX_API_EXPLAIN_IMPL_H

#include "api/model_impl.h"
#include "explain/quality.h"

typedef struct plx__explainer {
    plx_context *ctx;
    const plx_model *model;
    const plx_dataset *data; /* the caller's */
    plx_dataset *matched;    /* in the model's terms: its views in its order */
    plx_prediction *answers; /* of the data as they are */
    plx__judged judged;
    double *right; /* n: rightness of the answers */
    plx_explain_options options;
    plx_explanation *out;
    bool again;               /* the method labels the samples of a fit only: it is fitted again for every answer */
    bool hidden;              /* ... with every fifth label hidden */
    const char *const *given; /* ... to these labels; NULL: none */
} plx__explainer;

/* Answers for changed data without a word. *out is NULL where the model refuses them, which is no failure. */
plx_status plx__answers_for(plx_prediction **out, const plx__explainer *x, const plx_dataset *data);

/* Answers by a new fit (explain_again.c); *out is NULL for samples that are none of the data's. */
plx_status plx__answer_again(plx_prediction **out, const plx__explainer *x, const plx_dataset *data);
/* Its answers for the data as they are, judged by samples whose label it did not see. */
plx_status plx__judge_again(plx__explainer *x);
/* What answers are judged by: where a new fit numbers its clusters anew, by its own crossing. */
plx_status plx__cross_again(plx__judged *out, const plx__explainer *x, const plx_prediction *p);

/* Can answers be compared: labels, clusters or numbers? */
bool plx__has_answers(const plx__explainer *x);

plx_status plx__explain_views(plx__explainer *x);
plx_status plx__explain_features(plx__explainer *x);
plx_status plx__explain_sample(plx__explainer *x);

/* A feature with how much it matters. */
typedef struct plx__ranked_feature {
    plx_index column;
    double weight, size; /* size: what they are ranked by */
} plx__ranked_feature;

/* By falling size, ties by column. */
void plx__rank_features(plx__ranked_feature *list, plx_index count);

/* The columns of a view that tell the answers apart best, at most `most`, in scratch. */
plx_status plx__promising_columns(plx_index **out, plx_index *count, const plx__explainer *x, plx_index view,
                                  plx_index most);

#endif
