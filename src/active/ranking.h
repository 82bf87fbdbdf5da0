/*
 * From candidates to a ranking: information per unit cost, ties, budget.
 */
#ifndef PLX_ACTIVE_RANKING_H
#define PLX_ACTIVE_RANKING_H

#include "active/acquirer.h"

typedef struct plx__ranked {
    plx_index row, view;             /* view -1: the label */
    double score, cost, information; /* score = information / cost */
} plx__ranked;

/* Best first; of a batch what was taken, in that order. Scores count to 10 significant digits; ties: labels before features, then sample order, then view order.
 * `factor` (NULL: 1) multiplies the costs of a sample, `budget` (NaN: none) keeps what can be paid for. In `arena`. */
plx_status plx__rank(plx__ranked **out, plx_index *count, plx_context *ctx, plx__arena *arena,
                     const plx__candidate *candidates, plx_index n, const double *factor, double budget);

/* The number at 10, or any number of, significant digits. */
double plx__ten_digits(double value);
double plx__round_digits(double value, int digits);

#endif
