/*
 * What a ranking of candidates is made of: labels to ask for, views to measure.
 *
 * A method that ranks has descriptors for it in its own (`acquire`). Their parameters are those of the method, the shared
 * ones below and their own; their fit() ranks besides fitting: it lists its candidates through plx__candidates_put(), and
 * the public call turns them into a ranking (ranking.h). Labels are ranked by any classifier (label_ranking.h).
 */
#ifndef PLX_ACTIVE_ACQUIRER_H
#define PLX_ACTIVE_ACQUIRER_H

#include "run/run.h"
#include "parallax/acquire.h"

/* ---- candidates ---- */

typedef struct plx__candidate {
    plx_index row;      /* of the caller's data */
    plx_index view;     /* -1: its label */
    double information; /* nats, or whatever the strategy compares; not divided by the cost */
    double cost;        /* of the view or label, without the sample's own factor */
    plx_index pick;     /* in a batch: from 1 in the order of taking; 0: not taken */
} plx__candidate;

/* As a private array of the result, and back. */
plx_status plx__candidates_put(plx__run *run, const plx__candidate *candidates, plx_index count);
plx_status plx__candidates_get(plx__candidate **out, plx_index *count, plx_context *ctx, plx__arena *arena,
                               const plx__store *store);

/* May sample i's view (-1: label) be acquired? Both as the problem counts. */
bool plx__may_acquire(const plx__run *run, plx_index i, plx_index view);

/* ---- costs and the other shared parameters ---- */

/* cost, budget and batch; density of unseen features and its settings. None has a field: they are looked up by name. */
extern const plx__param_spec plx__acquire_params[];
extern const plx__param_spec plx__density_params[];

/* Names besides the views' that cost.NAME takes. */
extern const char *const plx__acquire_extra_views[];

/* cost.VIEW, else what the data set says; cost.label, else 1. */
plx_status plx__view_cost(double *out, plx__run *run, plx_index view);
plx_status plx__label_cost(double *out, plx__run *run);

/* Error for a view nobody has: its density cannot be estimated. */
plx_status plx__require_seen_views(plx__run *run, const plx__view *views);

#endif
