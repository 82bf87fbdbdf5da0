/*
 * Tuning inside a running call.
 */
#ifndef PLX_API_TUNE_IMPL_H
#define PLX_API_TUNE_IMPL_H

#include "compare/candidates.h"
#include "parallax/tune.h"

typedef struct plx__tried {
    plx_index runs;
    double mean, sd, difference, error;
    bool finalist;
    const char *reason;
} plx__tried;

struct plx_tuning {
    plx__arena arena;
    const plx__method *method;
    plx__candidates candidates;
    plx__tried *tried;
    plx_index chosen, labelled, resumed;
    plx_params *params; /* of the chosen one; owned */
    const char *verdict;
};

/* plx_tune() with checked arguments; `options` are whole. */
plx_status plx__tune(plx_tuning **out, plx_context *ctx, const plx__method *method, const plx_dataset *data,
                     const plx_params *params, const plx_tune_options *options);
void plx__tuning_destroy(plx_tuning *tuning);

#endif
