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
    const double *sure;        /* per row of the data: probability of the guess; NULL: no classes */
};

/* The candidates of a model that ranks, best first, in its arena; `budgeted` false: whatever the budget. */
plx_status plx__rank_model(const plx__ranked **out, plx_index *n, plx_context *ctx, plx_model *model,
                           const plx_dataset *data, bool budgeted);

#endif
