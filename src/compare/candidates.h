/*
 * Settings to be tried: a grid, or points of the space that the method's parameters span.
 */
#ifndef PLX_COMPARE_CANDIDATES_H
#define PLX_COMPARE_CANDIDATES_H

#include "run/run.h"

typedef struct plx__candidates {
    const char **settings; /* KEY=VALUE:KEY=VALUE; number 0 is "" */
    plx_index count;
} plx__candidates;

enum { PLX__MOST_CANDIDATES = 4096 };

/* Every combination of "KEY=V1,V2" texts; keys and values are checked. */
plx_status plx__candidates_grid(plx__candidates *out, plx_context *ctx, plx__arena *arena, const plx__method *method,
                                const char *const *grid, plx_index n_grid);

/* `trials` points: numbers from a hundredth to a hundred times their default, counts up to four times theirs, within their
 * ranges, and words; every parameter's range is covered evenly (Latin hypercube). What `fixed` sets stays.
 * PLX_E_UNSUPPORTED: there is nothing to search. */
plx_status plx__candidates_draw(plx__candidates *out, plx_context *ctx, plx__arena *arena, const plx__method *method,
                                const plx_params *fixed, plx_index trials);

#endif
