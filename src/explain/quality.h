/*
 * How good answers are, as sections of an explanation, and what answers are compared with.
 */
#ifndef PLX_EXPLAIN_QUALITY_H
#define PLX_EXPLAIN_QUALITY_H

#include "data/dataset_impl.h"
#include "explain/crossing.h"
#include "explain/explanation.h"
#include "run/run.h"

/* Answers beside what is known. */
typedef struct plx__judged {
    plx_index n;
    const char *const *known;  /* n: truth or label; NULL: not known */
    const char *const *answer; /* n; NULL: open */
    bool own;                  /* known are the model's own answers: stability, not quality */
    bool numbers;              /* regression */
    plx_cmat scores;           /* n x classes, or empty */
    const char *const *columns;
    plx_index samples; /* that count: known is not NULL */
    bool clusters;     /* answers are clusters and classes are known: a cluster stands for its most frequent class */
    plx__crossing crossing;
} plx__judged;

/* What is known of the samples: the truth, the labels, or the model's own answers where neither is there. */
plx_status plx__judge(plx__judged *out, plx_context *ctx, const plx_dataset *data, const plx__outcome *answers);

/* 1 where an answer is right, 0 where not (regression: 1 - squared error over variance), NaN where nothing is known. */
plx_status plx__rightness(double *out, plx_context *ctx, const plx__judged *j, const char *const *answer);

/* Mean of x over the entries that are numbers, and its standard error; NaN without any. */
void plx__mean_error(const double *x, plx_index n, double *mean, double *error);

/* Sections quality, confusion, classes, calibration and presence, as far as they make sense. */
plx_status plx__explain_quality(plx_explanation *e, plx_context *ctx, const plx__judged *j, const plx_dataset *data);

#endif
