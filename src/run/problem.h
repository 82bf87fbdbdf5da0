/*
 * From a data set to what a method sees: the zero-row rule, labels as indices, checks against the descriptor.
 */
#ifndef PLX_RUN_PROBLEM_H
#define PLX_RUN_PROBLEM_H

#include "run/run.h"

/* Tables of parameters the framework itself serves; methods list them among their own. */
extern const plx__param_spec plx__heldout_params[];   /* heldout=FILE: every method that can predict */
extern const plx__param_spec plx__zero_rows_params[]; /* zero_rows: methods with PLX__ZERO_ROWS_PARAM */

/* Samples of `data` as a problem. `row` maps them to the caller's rows (NULL: the same), `rows` counts those.
 * Texts that must outlive the call go to `keep`, the rest to scratch. With `labels` false nobody is labelled
 * and `classes` are left for the caller to set (prediction). */
plx_status plx__problem_build(plx__problem *out, plx_context *ctx, plx__arena *keep, const plx__method *method,
                              const plx_params *settings, const plx_dataset *data, const plx_index *row, plx_index rows,
                              bool labels);

/* Everything the descriptor promises the method: number of views, kinds, NaN, classes, covered samples. */
plx_status plx__problem_check(plx_context *ctx, const plx__method *method, const plx__problem *p, bool fitting);

/* A file of one 0/1 per line with `rows` lines; path as given to a parameter (may start with "file:"). */
plx_status plx__read_flags(uint8_t **out, plx_context *ctx, plx__arena *arena, const char *directory, const char *path,
                           plx_index rows, const char *parameter);

#endif
