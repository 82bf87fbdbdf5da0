/*
 * Information of candidates under colr; see colr_acquire.c for the formulas.
 */
#ifndef PLX_METHODS_COLR_COLR_GAIN_H
#define PLX_METHODS_COLR_COLR_GAIN_H

#include "active/density.h"
#include "methods/colr/colr.h"

typedef struct colr_acquire_params {
    colr_params colr; /* first: colr reads its own part */
    int expectation;
} colr_acquire_params;

typedef struct colr_gains {
    colr *c;
    bool labels, features, exact;
    plx__density density; /* of all views in their order; with features only */
    plx_index candidates; /* missing views */
    plx_mat label_gain;   /* n x 1, with labels */
    plx_mat gain;         /* n x views of the data, with features */
} colr_gains;

/* Adds the information of every candidate about the weights of one problem. */
plx_status plx__colr_add_gains(colr_gains *g, const colr_fit *fit);

#endif
