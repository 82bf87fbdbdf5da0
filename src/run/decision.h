/*
 * From class scores to labels: `decision = argmax | share` of the kernel and graph methods.
 *
 * share (class-mass normalisation) subtracts from every class score its (1 - p_c) quantile over the unlabelled
 * samples, so that about a share p_c of them falls to class c.
 */
#ifndef PLX_RUN_DECISION_H
#define PLX_RUN_DECISION_H

#include "run/run.h"

/* Rows decision and class_prior of a method's parameter table. */
extern const plx__param_spec plx__decision_params[];

/* Labels for the scores of this run (n x K). `usable` marks rows with a real score. When fitting, the offsets of
 * `share` are computed and stored ("_share"); when predicting they are read. */
plx_status plx__decide(int32_t *label, plx__run *run, plx_cmat scores, const uint8_t *usable);

#endif
