/*
 * Which label to ask for next, by the scores of any classifier: the less sure it is of a sample, the more its label
 * tells. Scores that are no distribution (margins) become one by the softmax.
 *
 *     confidence    1 - largest probability
 *     margin        1 - (largest - second largest)
 *     entropy       -sum p log p
 *     disagreement  Jensen-Shannon divergence of the views' own classifiers, where the method has them
 *     random        a seeded order
 *
 * Each may be multiplied by how typical the sample is: the mean cosine with all samples in the views it has, to the
 * power `density_weight`.
 */
#ifndef PLX_ACTIVE_LABEL_RANKING_H
#define PLX_ACTIVE_LABEL_RANKING_H

#include "active/acquirer.h"

/* criterion, density_weight; looked up by name. */
extern const plx__param_spec plx__label_params[];

/* After `of` (the method itself) has fitted the run: the candidates among its unlabelled, covered samples, as array
 * "label_gain" and as candidates. Errors say what the method lacks. */
plx_status plx__rank_labels(plx__run *run, const plx__method *of);

/* Most bytes the ranking takes beside the fit. */
double plx__rank_labels_bytes(const plx__run *run);

/* Rows of scores as probabilities, in scratch: as they are when every row with a say is a distribution, else by the
 * softmax. A row of zeros (a missing view) stays when `zero_means_none`. */
plx_status plx__class_probabilities(plx_mat *out, plx_context *ctx, plx_cmat scores, bool zero_means_none);

/* Is every row with a say a distribution? And the softmax of all that have one. */
bool plx__are_probabilities(plx_cmat scores, bool zero_means_none);
void plx__soften(plx_mat scores, bool zero_means_none);

/* 1 - (largest - second largest) of n probabilities. */
double plx__margin_worth(const double *p, plx_index n);

#endif
