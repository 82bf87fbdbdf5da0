/*
 * Linear classifiers one against the rest on dense rows, on some of the columns, and recursive elimination of columns.
 *
 * Two classes have one function, for the second; more have one each. A constant column for the bias is added, which is
 * regularised like the rest and never eliminated.
 */
#ifndef PLX_OPTIM_ELIMINATION_H
#define PLX_OPTIM_ELIMINATION_H

#include "optim/gram_models.h"

typedef struct plx__linear_task {
    plx_cmat x;           /* l x d */
    const int32_t *label; /* l: class */
    plx_index classes;
    plx__linear_learner learner;
    double lambda;
    const char *what; /* for messages */
} plx__linear_task;

plx_index plx__linear_functions(plx_index classes);

/* w: functions x (count + 1), bias last: the optimum on the columns cols[0 .. count). */
plx_status plx__linear_task_fit(plx_context *ctx, const plx__linear_task *task, const plx_index *cols, plx_index count,
                                plx_mat w);

/* Trains, drops the columns with the smallest sum of squared weights (ties: lowest index), and repeats until `wanted`
 * are left, which come back ascending in scratch. `step`: share of the remaining columns dropped at a time; 0: one. */
plx_status plx__eliminate(plx_index **kept, plx_context *ctx, const plx__linear_task *task, plx_index wanted,
                          double step);

#endif
