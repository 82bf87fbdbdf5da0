/*
 * Inside of a ranking.
 */
#ifndef PLX_API_ACQUIRE_IMPL_H
#define PLX_API_ACQUIRE_IMPL_H

#include "active/ranking.h"
#include "api/model_impl.h"
#include "methods/acquirers.h"

struct plx_acquisition {
    plx_model *model;
    plx_index count;
    const plx__ranked *ranked; /* in the model's arena */
};

/* plx_acquire() inside a running call; `budgeted` false: all candidates, whatever the budget. */
plx_status plx__acquire(plx_acquisition **out, plx_context *ctx, const plx__method *ranking, const plx_dataset *data,
                        const plx_params *params, const plx_fit_options *options, bool budgeted);

#endif
