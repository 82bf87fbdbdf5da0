/*
 * From one score per view to one decision: corls, colaprls, colapsvm.
 */
#ifndef PLX_METHODS_REGULARISED_JOINT_H
#define PLX_METHODS_REGULARISED_JOINT_H

#include "run/decision.h"
#include "run/problem.h"
#include "methods/regularised/learner.h"

typedef struct plx__joint {
    plx_index count;         /* classifiers: one per view, perhaps one more for the concatenation */
    plx_index in_mean;       /* the first so many take part in the mean */
    plx_index named;         /* classifier that decides where it can; -1: the mean */
    const plx__expansion *x; /* count */
    const uint8_t *active;   /* count: 0 where a classifier was left out */
    plx_mat *f;              /* count: n x K, offset included; zero rows where missing */
    const plx_cmat *bias;    /* count: offsets, 1 x K; NULL: there are none */
} plx__joint;

/* "STEM_VIEW" in scratch. */
plx_status plx__joint_name(const char **out, plx__run *run, const char *stem, const char *view);

/* Stores f_VIEW (from what was kept, plus bias_VIEW when `bias`), n x K, in the arrays of this run. */
plx_status plx__joint_values(plx_mat *f, plx__run *run, const plx__expansion *x, bool bias);

/* `scores`, labels, outcome. Samples no classifier reaches get the class shares and the most frequent class, with a
 * warning. */
plx_status plx__joint_decide(plx__run *run, const plx__joint *j);

#endif
