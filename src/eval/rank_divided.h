/*
 * Ranking figures of scores that are divided among several processes by samples.
 */
#ifndef PLX_EVAL_RANK_DIVIDED_H
#define PLX_EVAL_RANK_DIVIDED_H

#include "eval/rank_core.h"

/* As plx__rank_columns(), where rank r has the scores of samples bound[r] .. bound[r+1]-1 and `truth` is about all of
 * them. By all ranks; each ranks some of the columns, and all have all results. */
plx_status plx__rank_divided(plx__rank_result *out, plx_context *ctx, const plx__rank_truth *truth, plx_cmat scores,
                             const plx_index *bound);

#endif
