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
} plx__explainer;

/* Answers for changed data without a word. *out is NULL where the model refuses them, which is no failure. */
plx_status plx__answers_for(plx_prediction **out, const plx__explainer *x, const plx_dataset *data);

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
