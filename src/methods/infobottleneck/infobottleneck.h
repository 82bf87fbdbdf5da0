/*
 * What the parts of infobottleneck share: its settings, and its views made into distributions.
 */
#ifndef PLX_METHODS_INFOBOTTLENECK_H
#define PLX_METHODS_INFOBOTTLENECK_H

#include "cluster/bottleneck.h"

enum { IB_PREPARE_AUTO = 0 };

typedef struct ib_params {
    plx_index clusters, max_iter, restarts;
    int prepare;
    const char *irrelevant, *weights, *init;
    plx__value beta;
    double tol;
} ib_params;

/* The views of a run: all but the irrelevant one become variables of the bottleneck, in their order. */
typedef struct ib_views {
    plx_index irrelevant; /* number of the view, or -1 */
    plx_index *view;      /* n_variables: number of each variable's view */
} ib_views;

/* Counts, rows, betas and P(w|u); fitting, the state of `prepare` and the betas are stored, else read back. */
plx_status plx__ib_input(plx__bottleneck *b, ib_views *views, plx__run *run);

/* Number of the irrelevant view (-1: none), which must exist. */
plx_status plx__ib_irrelevant(plx_index *out, plx__run *run);

/* Columns that `prepare` makes of a view, and bytes of its rows; *sparse: entries that are kept sparse. */
double plx__ib_row_bytes(const plx__run *run, plx_index view, double *cols, double *sparse);

#endif
