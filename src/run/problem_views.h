/*
 * The views of a problem: how each is scaled, which rows count, which views there are.
 */
#ifndef PLX_RUN_PROBLEM_VIEWS_H
#define PLX_RUN_PROBLEM_VIEWS_H

#include "run/problem.h"

/* Fills views, scale, n_views, given and n_given. */
plx_status plx__problem_views(plx__problem *out, plx_context *ctx, const plx__problem_source *from);

#endif
