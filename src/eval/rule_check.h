/*
 * Which predicted label sets break the rules of a class hierarchy.
 */
#ifndef PLX_EVAL_RULE_CHECK_H
#define PLX_EVAL_RULE_CHECK_H

#include "data/dataset_impl.h"
#include "parallax/metrics.h"

/* The hierarchy of a data set with names for indices. Names are borrowed, pairs are in `arena`. */
plx_status plx__metrics_hierarchy(plx_metrics_hierarchy *out, plx__arena *arena, const plx__hierarchy *from);

/* Adds h_violations: the share of samples with known truth whose predicted set lacks a superset of one of its classes
 * or holds two exclusive ones, declared or implied. Classes the hierarchy does not list have no rules. */
plx_status plx__metrics_violations(plx_metrics *metrics, const char *const *truth, const char *const *pred, plx_index n,
                                   const plx_metrics_hierarchy *hierarchy);

#endif
