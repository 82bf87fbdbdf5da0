/*
 * Tests on paired differences, and ranks with ties.
 */
#ifndef PLX_EVAL_PAIRED_TESTS_H
#define PLX_EVAL_PAIRED_TESTS_H

#include "core/ctx.h"

typedef struct plx__test {
    double statistic, p;
} plx__test;

/* rank[i] of x[i], 1 = smallest, ties get their mean rank. Returns sum over groups of t^3 - t in *ties (may be NULL).
 */
plx_status plx__mean_ranks(double *rank, double *ties, plx_context *ctx, const double *x, plx_index n);

/* Paired t test of n >= 2 differences, two-sided. No variance: t = 0, p = 1 or t = +-inf, p = 0. */
plx__test plx__paired_t(const double *d, plx_index n);

/* Wilcoxon signed-rank test, two-sided: zeros dropped, exact up to 25 differences without ties. */
plx_status plx__wilcoxon(plx__test *out, plx_context *ctx, const double *d, plx_index n);

#endif
