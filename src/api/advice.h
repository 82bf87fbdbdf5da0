/*
 * Warnings about answers that are probably not what was meant: told in one line each, with a count.
 */
#ifndef PLX_API_ADVICE_H
#define PLX_API_ADVICE_H

#include "api/model_impl.h"

/* Before a fit: targets given as classes. */
void plx__advise_problem(plx_context *ctx, const plx__problem *problem, const plx_params *settings);

/* After a fit or a prediction: every sample is of one class, or all scores are alike. By all ranks where the outcome is
 * divided. */
plx_status plx__advise_outcome(plx_context *ctx, const plx__outcome *outcome);

#endif
