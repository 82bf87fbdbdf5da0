/*
 * Labels that are measurements, not classes.
 */
#ifndef PLX_DATA_TARGETS_H
#define PLX_DATA_TARGETS_H

#include "core/base.h"

/* Are the texts (NULL: none) numbers with so many different values that they can hardly be classes? Fractions among more
 * than ten different values, or more than twenty different values that are a quarter of all. */
bool plx__are_targets(const char *const *texts, plx_index n);

#endif
