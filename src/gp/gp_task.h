/*
 * From labels to the targets of a Gaussian process, and from latent means and variances to predictions: what the
 * methods built on one share.
 */
#ifndef PLX_GP_GP_TASK_H
#define PLX_GP_GP_TASK_H

#include "run/run.h"
#include "gp/gp_posterior.h"
#include "gp/laplace.h"

/* Targets of the labelled samples among the `usable` (NULL: all). Errors: a label that is not a number (regression);
 * fewer than two classes; nobody labelled (the message says "no labelled " + `nobody`). In scratch. */
plx_status plx__gp_targets_of(plx__gp_targets *out, plx__run *run, bool regression, bool centre, const uint8_t *usable,
                              const char *nobody);

/* Number of problems q of a fitted model, from the number of classes. */
plx_index plx__gp_problems(bool regression, plx_index n_classes);

typedef struct plx__gp_outcome {
    bool regression;
    plx__averaging averaging;
    plx_cmat mean, variance; /* n x q, offset included; of divided results (plx__sample_array()) those kept here */
    const uint8_t *usable;   /* NULL: all; the others get uniform probabilities and the fallback label */
    int32_t fallback;        /* class */
    double fallback_mean;    /* regression */
} plx__gp_outcome;

/* Stores "probability" (classification) and tells labels and scores. */
plx_status plx__gp_put_outcome(plx__run *run, const plx__gp_outcome *outcome);

/* Logarithms of the class probabilities (rows x C) by the probit formula; those near 0 and 1 keep their digits. */
void plx__gp_log_probabilities(plx_cmat mean, plx_cmat variance, plx_mat out);

/* State in the model as private arrays, and back with the numbers of the labelled samples and the offset of means. */
plx_status plx__gp_store(plx__run *run, const plx__gp_state *state, const plx__gp_targets *targets);
plx_status plx__gp_load(plx__gp_state *state, plx_index **sample, double *offset, plx__run *run, bool regression);

#endif
