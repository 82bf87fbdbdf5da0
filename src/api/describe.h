/*
 * Rows of a descriptor's tables as the public structs.
 */
#ifndef PLX_API_DESCRIBE_H
#define PLX_API_DESCRIBE_H

#include "run/run.h"

/* i-th row; PLX_E_ARG past the end, for a NULL method or a struct of unknown size. */
plx_status plx__describe_param(plx_param_info *info, const plx__method *method, plx_index i);
plx_status plx__describe_array(plx_array_info *info, const plx__method *method, plx_index i);

#endif
