/*
 * Ranking figures of one class against the rest.
 */
#ifndef PLX_EVAL_RANK_CORE_H
#define PLX_EVAL_RANK_CORE_H

#include "eval/label_codes.h"

/* Which samples count and which are positive: sample i has code[i] (negative: skip it), classes are told by
 * membership[class * codes + code]. */
typedef struct plx__rank_truth {
    plx_index n, codes;
    const int32_t *code;
    const uint8_t *membership;
} plx__rank_truth;

typedef struct plx__rank_result {
    plx_index positives, negatives;
    plx_index nan_row;               /* first sample whose score is NaN, or -1: then nothing below is set */
    double auc;                      /* set when positives and negatives > 0 */
    double prbep, average_precision; /* set when positives > 0 */
} plx__rank_result;

/* Codes of the truth and membership of `classes` in it; memory is scratch. */
plx_status plx__rank_truth_make(plx__rank_truth *out, plx_context *ctx, const char *const *truth, plx_index n,
                                const char *const *classes, plx_index n_classes, bool multilabel);

/* Results for every column of `scores`, in parallel. */
plx_status plx__rank_columns(plx__rank_result *out, plx_context *ctx, const plx__rank_truth *truth, plx_cmat scores);

#endif
