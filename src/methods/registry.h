/*
 * The list of methods: methods.def, sorted by name.
 */
#ifndef PLX_METHODS_REGISTRY_H
#define PLX_METHODS_REGISTRY_H

#include "run/run.h"

plx_index plx__method_count(void);
const plx__method *plx__method_at(plx_index i);
const plx__method *plx__method_find(const char *name);
/* Same, or an error that names the nearest. */
plx_status plx__method_require(const plx__method **out, plx_context *ctx, const char *name);

#endif
