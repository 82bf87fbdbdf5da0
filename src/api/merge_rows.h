/*
 * Arrays and predictions of some of the samples brought back to all of them: those a method worked on, those predicted
 * afterwards (held out), and those without any view, which get the prior.
 */
#ifndef PLX_API_MERGE_ROWS_H
#define PLX_API_MERGE_ROWS_H

#include "api/model_impl.h"

/* What samples without any view get. */
typedef struct plx__prior {
    const char *label;    /* most frequent class or largest cluster; NULL: none is known */
    const double *shares; /* of the classes; NULL: clusters */
    plx_index n_classes;
} plx__prior;

typedef struct plx__merge {
    const plx__method *method;
    plx_index n;             /* samples in all */
    const plx_index *row;    /* of those the method worked on */
    const plx__store *store; /* what it left */
    const plx__outcome *outcome;
    const plx_index *rest_row; /* of those predicted afterwards; NULL: none */
    const plx_prediction *rest;
    const plx_index *bare; /* those without any view */
    plx_index n_bare;
    plx__prior prior;
} plx__merge;

/* An array over pairs of samples is completed by the prediction's own one and by "_cross.NAME" (held-out x fitted), if
 * there. Texts and numbers go to the arena of `to`. */
plx_status plx__merge_rows(plx__store *to, plx__outcome *outcome, plx_context *ctx, const plx__merge *m);

/* ---- the prior ---- */

/* Shares of the classes among the labelled samples of a problem, kept in a model (unless a method did), and read back
 * with the class they favour (ties: the first). The largest cluster is found in and kept with the outcome of a fit. */
plx_status plx__prior_keep(plx__store *store, plx_context *ctx, const plx__problem *p, const plx__outcome *outcome);
plx_status plx__prior_read(plx__prior *out, plx_context *ctx, const plx_model *m, const plx__store *store);

#endif
