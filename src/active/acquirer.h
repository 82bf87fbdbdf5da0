/*
 * What can rank candidates: labels to ask for, views to measure.
 *
 * An acquirer is a method descriptor of its own. Its parameters are those of the method it asks for, the shared ones
 * below and its own; its fit() ranks besides fitting: it lists its candidates through plx__candidates_put(), and the
 * public call turns them into a ranking (ranking.h). A new acquirer is a descriptor and a line in acquirers.c.
 */
#ifndef PLX_ACTIVE_ACQUIRER_H
#define PLX_ACTIVE_ACQUIRER_H

#include "run/run.h"
#include "parallax/acquire.h"

typedef struct plx__acquirer {
    const plx__method *method;
    bool labels, features; /* what it ranks */
} plx__acquirer;

plx_index plx__acquirer_count(void);
const plx__acquirer *plx__acquirer_at(plx_index i);

/* By name, or an error that names the ones there are; `kind` must be one it ranks. */
plx_status plx__acquirer_require(const plx__acquirer **out, plx_context *ctx, const char *name);
plx_status plx__acquirer_check_kind(plx_context *ctx, const plx__acquirer *acquirer, plx_acquire_kind kind);

/* ---- candidates ---- */

typedef struct plx__candidate {
    plx_index row;      /* of the caller's data */
    plx_index view;     /* -1: its label */
    double information; /* nats, or whatever the strategy compares; not divided by the cost */
    double cost;        /* of the view or label, without the sample's own factor */
} plx__candidate;

/* As a private array of the result, and back. */
plx_status plx__candidates_put(plx__run *run, const plx__candidate *candidates, plx_index count);
plx_status plx__candidates_get(plx__candidate **out, plx_index *count, plx_context *ctx, plx__arena *arena,
                               const plx__store *store);

/* ---- costs and the other shared parameters ---- */

/* cost, budget, density and its settings; none has a field: they are looked up by name. */
extern const plx__param_spec plx__acquire_params[];

/* Names besides the views' that cost.NAME takes. */
extern const char *const plx__acquire_extra_views[];

/* cost.VIEW, else what the data set says. */
plx_status plx__view_cost(double *out, plx__run *run, plx_index view);

/* Error for a view nobody has: its density cannot be estimated. */
plx_status plx__require_seen_views(plx__run *run, const plx__view *views);

#endif
