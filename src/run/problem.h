/*
 * From a data set to what a method sees: the scaling of every view settled, the zero-row rule, views that nobody has
 * left out, labels as indices, checks against the descriptor.
 */
#ifndef PLX_RUN_PROBLEM_H
#define PLX_RUN_PROBLEM_H

#include "run/run.h"

/* Tables of parameters the framework itself serves; methods list them among their own. */
extern const plx__param_spec plx__heldout_params[];   /* heldout=FILE: every method that can predict */
extern const plx__param_spec plx__zero_rows_params[]; /* zero_rows: methods with PLX__ZERO_ROWS_PARAM */

extern const plx__param_spec plx__uncovered_params[]; /* uncovered: every classifier and clusterer */

/* Where a problem comes from. */
typedef struct plx__problem_source {
    const plx__method *method;
    const plx_params *settings;
    const plx_dataset *data;
    const plx_index *row;         /* of each sample in the caller's data; NULL: the same */
    plx_index rows;               /* of the caller's data */
    const plx__scale_kind *scale; /* of every view of `data`, settled before; NULL: settle it by the data */
    bool fitting;                 /* labels are read, views that nobody has are left out */
} plx__problem_source;

/* Texts that must outlive the call go to `keep`, the rest to scratch. When not fitting nobody is labelled and `classes`
 * are left for the caller to set. */
plx_status plx__problem_build(plx__problem *out, plx_context *ctx, plx__arena *keep, const plx__problem_source *from);

/* Some samples of a problem of new ones, in ascending order, as a problem of its own; in scratch, values where they are
 * unless samples between them are left out. Of divided views the samples must be here. Kernel views stay as wide. */
plx_status plx__problem_part(plx__problem *out, plx_context *ctx, const plx__problem *whole, const plx_index *sample,
                             plx_index count);

/* Everything the descriptor promises the method: number of views, kinds, NaN, classes. */
plx_status plx__problem_check(plx_context *ctx, const plx__method *method, const plx__problem *p, bool fitting);

/* Warnings about the data, one counted line each: zero rows set aside, views nobody has, classes with a single label. */
plx_status plx__problem_warn(plx_context *ctx, const plx__problem_source *from, const plx__problem *p);

/* Samples without any view, in order, in scratch. */
plx_status plx__uncovered_samples(plx_index **out, plx_index *count, plx_context *ctx, const plx__problem *p);

#define PLX__MOST_FREQUENT "the answer there is the most frequent one, '%s'"
#define PLX__NO_EVIDENCE "nothing is known there but what holds for all"

/* One line about them: how many, the first by id, and what becomes of them. */
void plx__warn_uncovered(plx_context *ctx, const plx__method *method, plx_index count, const char *id,
                         const char *answer);

/* Does uncovered=error hold? */
plx_status plx__uncovered_refused(bool *out, plx_context *ctx, const plx__method *method, const plx_params *settings);

/* The scalings of a fit go into its model, and into the JSON result as scale.VIEW; back for prediction (n_views of the
 * model). Methods without a parameter `scale` have none: NULL comes back. */
#define PLX__SCALES "_scales" /* 1 x views: the kinds */
plx_status plx__scales_put(plx__run *run);
plx_status plx__scales_report(plx__run *run);
plx_status plx__scales_get(const plx__scale_kind **out, plx_context *ctx, const plx__store *fitted, plx_index n_views);

/* One number per view from a list in the order of the caller's views, those that nobody has included; `extra` further
 * numbers may follow. The error states both counts. */
plx_status plx__view_numbers(double *out, plx__run *run, const char *name, const plx__value *list, plx_index extra);

/* A file of one 0/1 per line with `rows` lines; path as given to a parameter (may start with "file:"). */
plx_status plx__read_flags(uint8_t **out, plx_context *ctx, plx__arena *arena, const char *directory, const char *path,
                           plx_index rows, const char *parameter);

#endif
