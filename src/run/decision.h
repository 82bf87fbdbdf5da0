/*
 * From class scores to labels: `decision = auto | argmax | share | centred` of the kernel and graph methods.
 *
 * share (class-mass normalisation) subtracts from every class score its (1 - p_c) quantile over the unlabelled
 * samples, so that about a share p_c of them falls to class c. centred subtracts what smooth scores are flat around:
 * the free offset of a classifier, which the method leaves out of its scores, or else the mean over the unlabelled
 * samples (all fitted ones when there are none).
 *
 * auto of the graph methods is centred, and then looks at the result: labels whose numbers differ by more than chance
 * say how large the classes are, and when the class with the most of them is found less often than chance explains
 * (both one-sided, 1 %), share is applied to the centred scores, with a warning.
 */
#ifndef PLX_RUN_DECISION_H
#define PLX_RUN_DECISION_H

#include "run/run.h"

typedef enum plx__decision { PLX__DECIDE_ARGMAX = 1, PLX__DECIDE_SHARE = 2, PLX__DECIDE_CENTRED = 3 } plx__decision;

/* Rows decision and class_prior of a method's parameter table: default argmax, which is also what auto means; and
 * default auto, which means centred. */
extern const plx__param_spec plx__decision_params[];
extern const plx__param_spec plx__graph_decision_params[];

/* The setting, auto resolved. */
plx_status plx__decision_of(plx__decision *out, plx__run *run);

/* Labels for the scores of this run (n x K; labels of those that stay here), which become what was compared. `usable` marks rows with a real score; the
 * others are left as they are. With `centred` the method has left its offsets out already where that is the decision.
 * When fitting, what is subtracted is computed and stored ("_share"); when predicting it is read. */
plx_status plx__decide(int32_t *label, plx__run *run, plx_mat scores, const uint8_t *usable, bool centred);

#endif
