/*
 * Several acquisitions at once: parameter `batch`. Candidates are taken greedily, each worth what it adds to those taken
 * before, so that a batch does not ask for the same thing many times.
 *
 * What a candidate adds only shrinks as others are taken (log determinants of growing precisions are submodular, and so
 * is a worth multiplied by a conditional variance). Its last value therefore bounds it from above, and only candidates
 * that lead by it are valued again.
 */
#ifndef PLX_ACTIVE_BATCH_H
#define PLX_ACTIVE_BATCH_H

#include "active/acquirer.h"

typedef struct plx__batch {
    plx__run *run;
    plx__candidate *list; /* with the information each has alone */
    plx_index count;
    /* Information of a candidate beside those taken so far; then taking it. */
    plx_status (*again)(double *information, void *arg, plx_index candidate);
    plx_status (*take)(void *arg, plx_index candidate);
    void *arg;
} plx__batch;

/* How many are to be taken; 0: candidates are ranked one by one. */
plx_status plx__batch_size(plx_index *out, plx__run *run);

/* Takes them, by information per cost and within the budget: sets `pick` and `information` of the list. */
plx_status plx__batch_pick(const plx__batch *batch, plx_index size);

/* ---- where the model does not tell how one label changes what another is worth ---- */

/* Labels by scores: the worth of a sample is multiplied by the variance that a Gaussian process over the views' rows has
 * left at it, given the samples taken. A sample beside one that was taken tells next to nothing, one unlike all of them
 * all it can. The batch is then the greedy choice of a determinantal point process whose qualities are the worths. */
typedef struct plx__spread plx__spread;
plx_status plx__spread_open(plx__spread **out, plx__run *run, plx_index most);
plx_status plx__spread_take(plx__spread *spread, plx_index sample);
double plx__spread_left(const plx__spread *spread, plx_index sample); /* in [0,1] */
double plx__spread_bytes(const plx__run *run, double most);

#endif
