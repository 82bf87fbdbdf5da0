/*
 * Samples that take no part in fitting: taken away before, predicted and put back after.
 */
#ifndef PLX_API_HELDOUT_H
#define PLX_API_HELDOUT_H

#include "api/model_impl.h"

typedef struct plx__heldout {
    bool any;
    const plx_dataset *fitted;  /* the caller's data set itself when nothing is held out */
    plx_dataset *subset, *rest; /* owned */
    plx_index *row, *rest_row;  /* rows of the caller's data; row is NULL when nothing is held out */
} plx__heldout;

/* Reads the `heldout` setting and splits the data. */
plx_status plx__heldout_open(plx__heldout *held, plx_context *ctx, const plx_model *model, const plx_dataset *data,
                             const char *directory);

/* Predicts the rest and merges: model->store and model->fitted get all rows. `fitted` holds what fit left. An array
 * over pairs of samples is completed by the prediction's own one and by "_cross.NAME" (held-out x fitted), if there. */
plx_status plx__heldout_close(plx__heldout *held, plx_context *ctx, plx_model *model, const plx_dataset *data,
                              plx__store *fitted, const plx_fit_options *o);

void plx__heldout_free(plx__heldout *held);

#endif
