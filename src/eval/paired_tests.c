/*
 * Student's t on differences scaled by a power of two, which is exact; Wilcoxon's test counts subsets of
 * ranks for few untied differences, and is normal with the variance corrected for ties otherwise.
 */
#include "eval/paired_tests.h"

#include <math.h>
#include <stdlib.h>

#include "eval/special.h"

enum { EXACT_UP_TO = 25 };

typedef struct ranked {
    double value;
    plx_index index;
} ranked;

static int compare_ranked(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

plx_status plx__mean_ranks(double *rank, double *ties, plx_context *ctx, const double *x, plx_index n)
{
    ranked *order = NULL;
    double tie_sum = 0;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    PLX_TRY(PLX__ARENA_NEW(&order, plx__scratch(ctx), n));
    for (plx_index i = 0; i < n; i++) order[i] = (ranked){x[i], i};
    qsort(order, (size_t)n, sizeof *order, compare_ranked);
    for (plx_index begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && order[end].value == order[begin].value;) end++;
        for (plx_index i = begin; i < end; i++) rank[order[i].index] = (double)(begin + 1 + end) / 2;
        double t = (double)(end - begin);
        tie_sum += t * t * t - t;
    }
    if (ties) *ties = tie_sum;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* t does not change when all differences are scaled; a power of two near 1/max keeps squares in range and is exact. */
static double safe_scale(double lowest, double highest)
{
    int exponent = 0;
    frexp(fmax(fabs(lowest), fabs(highest)), &exponent);
    return ldexp(1, -(int)plx__min(exponent, 1000));
}

plx__test plx__paired_t(const double *d, plx_index n)
{
    double lowest = d[0], highest = d[0], sum = 0, squares = 0;
    for (plx_index i = 1; i < n; i++) {
        lowest = fmin(lowest, d[i]);
        highest = fmax(highest, d[i]);
    }
    if (lowest == highest) { /* tested on the data: a rounded sd may not be 0 */
        plx__test none = {lowest == 0 ? 0 : lowest > 0 ? INFINITY : -INFINITY, lowest == 0 ? 1 : 0};
        return none;
    }
    double scale = safe_scale(lowest, highest);
    for (plx_index i = 0; i < n; i++) sum += scale * d[i];
    double mean = sum / (double)n;
    for (plx_index i = 0; i < n; i++) squares += (scale * d[i] - mean) * (scale * d[i] - mean);
    double t = mean / (sqrt(squares / (double)(n - 1)) / sqrt((double)n));
    plx__test test = {t, plx__student_two_sided(t, (double)(n - 1))};
    return test;
}

/* 2 P(W <= w), capped at 1, W the sum of a random subset of the ranks 1..n: count[s] subsets have sum s. */
static double wilcoxon_exact(double w, plx_index n)
{
    double count[EXACT_UP_TO * (EXACT_UP_TO + 1) / 2 + 1] = {1}, below = 0;
    plx_index most = n * (n + 1) / 2;
    for (plx_index r = 1; r <= n; r++)
        for (plx_index s = most; s >= r; s--) count[s] += count[s - r];
    for (plx_index s = 0; s <= most && (double)s <= w; s++) below += count[s];
    return fmin(1, 2 * ldexp(below, -(int)n));
}

static double wilcoxon_normal(double w, double n, double ties)
{
    double variance = n * (n + 1) * (2 * n + 1) / 24 - ties / 48;
    return plx__normal_two_sided((w - n * (n + 1) / 4) / sqrt(variance));
}

plx_status plx__wilcoxon(plx__test *out, plx_context *ctx, const double *d, plx_index n)
{
    double *size = NULL, *rank = NULL, ties = 0, plus = 0, minus = 0;
    plx_index nonzero = 0, next = 0;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    PLX_TRY(plx__arena_f64(&size, plx__scratch(ctx), n, 1));
    PLX_TRY(plx__arena_f64(&rank, plx__scratch(ctx), n, 1));
    for (plx_index i = 0; i < n; i++)
        if (d[i] != 0) size[nonzero++] = fabs(d[i]);
    PLX_TRY(plx__mean_ranks(rank, &ties, ctx, size, nonzero));
    for (plx_index i = 0; i < n; i++) {
        if (d[i] > 0) plus += rank[next++];
        else if (d[i] < 0) minus += rank[next++];
    }
    out->statistic = fmin(plus, minus);
    if (nonzero == 0) out->p = 1;
    else if (nonzero <= EXACT_UP_TO && ties == 0) out->p = wilcoxon_exact(out->statistic, nonzero);
    else out->p = wilcoxon_normal(out->statistic, (double)nonzero, ties);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
