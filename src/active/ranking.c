/*
 * Scores are compared after rounding to a few significant digits: candidates that tie in theory differ in
 * their last bits, which would make the order depend on processor and thread count.
 */
#include "active/ranking.h"

#include <math.h>
#include <stdlib.h>

/* Many candidates tie in theory (two samples with the same conditional density) and differ in the last bits only. */
double plx__ten_digits(double value) { return plx__round_digits(value, 10); }

double plx__round_digits(double value, int digits)
{
    if (value == 0 || !isfinite(value)) return value;
    double exponent = floor(log10(fabs(value))), last = digits - 1;
    double unit = pow(10.0, fabs(last - exponent)), scaled = exponent <= last ? value * unit : value / unit;
    if (!isfinite(scaled)) return value; /* below the normal numbers */
    return exponent <= last ? rint(scaled) / unit : rint(scaled) * unit;
}

typedef struct entry {
    plx__ranked ranked;
    double key;
    plx_index pick;
} entry;

static int compare(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    bool label_a = a->ranked.view < 0, label_b = b->ranked.view < 0;
    if (a->pick != b->pick) return a->pick < b->pick ? -1 : 1;
    if (a->key != b->key) return a->key > b->key ? -1 : 1;
    if (label_a != label_b) return label_a ? -1 : 1;
    if (a->ranked.row != b->ranked.row) return a->ranked.row < b->ranked.row ? -1 : 1;
    return a->ranked.view < b->ranked.view ? -1 : a->ranked.view > b->ranked.view;
}

plx_status plx__rank(plx__ranked **out, plx_index *count, plx_context *ctx, plx__arena *arena,
                     const plx__candidate *candidates, plx_index n, const double *factor, double budget)
{
    entry *entries = NULL;
    double spent = 0;
    plx_index listed = 0, picks = 0;
    PLX_TRY(PLX__ARENA_NEW(out, arena, n));
    PLX_TRY(PLX__ARENA_NEW(&entries, plx__scratch(ctx), n));
    for (plx_index i = 0; i < n; i++) picks += candidates[i].pick > 0;
    for (plx_index i = 0; i < n; i++) {
        const plx__candidate *c = &candidates[i];
        if (picks && !c->pick) continue;
        double cost = c->cost * (factor ? factor[c->row] : 1.0), score = c->information / cost;
        entries[listed++] = (entry){{c->row, c->view, score, cost, c->information}, plx__ten_digits(score), c->pick};
    }
    qsort(entries, (size_t)listed, sizeof *entries, compare);
    *count = 0;
    for (plx_index i = 0; i < listed; i++) {
        if (!isnan(budget) && spent + entries[i].ranked.cost > budget) continue;
        spent += entries[i].ranked.cost;
        (*out)[(*count)++] = entries[i].ranked;
    }
    return PLX_OK;
}
