/*
 * Samples that take no part in fitting, held out or without any view: taken away before, predicted and put back after.
 */
#ifndef PLX_API_HELDOUT_H
#define PLX_API_HELDOUT_H

#include "api/model_impl.h"

typedef struct plx__heldout {
    bool any;
    const plx_dataset *fitted;   /* the caller's data set itself when nothing is taken away */
    plx_dataset *subset, *rest;  /* owned; rest NULL: nothing is held out */
    plx_index *row, *rest_row;   /* rows of the caller's data; row is NULL when nothing is taken away */
    plx_index *bare_row, n_bare; /* rows of samples without any view */
    const char *bare_id;         /* of the first of them */
} plx__heldout;

/* Reads the `heldout` setting and splits the data. */
plx_status plx__heldout_open(plx__heldout *held, plx_context *ctx, const plx_model *model, const plx_dataset *data,
                             const char *directory);

/* Takes away samples without any view, as the problem made of `held->fitted` shows them, unless the method has its own
 * rule or uncovered=error refuses them. */
plx_status plx__heldout_uncovered(plx__heldout *held, plx_context *ctx, const plx_model *model, const plx__problem *p);

/* Predicts the rest and merges: model->store and model->fitted get all rows. `fitted` holds what fit left. */
plx_status plx__heldout_close(plx__heldout *held, plx_context *ctx, plx_model *model, const plx_dataset *data,
                              plx__store *fitted, const plx_fit_options *o);

void plx__heldout_free(plx__heldout *held);

#endif
