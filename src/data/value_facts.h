/*
 * What is among many values: one pass without branches, so that looking at all of them costs what reading them costs.
 */
#ifndef PLX_DATA_VALUE_FACTS_H
#define PLX_DATA_VALUE_FACTS_H

#include "core/base.h"

typedef struct plx__value_facts {
    bool zero, nan, infinite, negative;
    bool other;    /* neither 0 nor 1 nor NaN */
    bool fraction; /* not negative, and no whole number */
} plx__value_facts;

/* Adds what is among x[0 .. count). */
void plx__value_facts_add(plx__value_facts *facts, const double *x, plx_index count);
/* The same of so many that a context that streams has to look after their pages. */
void plx__value_facts_scan(plx__value_facts *facts, plx_context *ctx, const double *x, plx_index count);

#endif
