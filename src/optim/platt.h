/*
 * Probabilities from decision values: P = 1 / (1 + exp(A s + B)) by maximum likelihood, with the smoothed targets
 * (n+ + 1) / (n+ + 2) and 1 / (n- + 2) (Platt 1999).
 */
#ifndef PLX_OPTIM_PLATT_H
#define PLX_OPTIM_PLATT_H

#include "core/ctx.h"

typedef struct plx__platt {
    double a, b;
} plx__platt;

/* s: n decision values; positive: n flags. */
plx__platt plx__platt_fit(const double *s, const uint8_t *positive, plx_index n);
double plx__platt_probability(plx__platt p, double s);

#endif
