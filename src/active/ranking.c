#include "active/ranking.h"

#include <math.h>
#include <stdlib.h>

/* Many candidates tie in theory (two samples with the same conditional density) and differ in the last bits only. */
double plx__ten_digits(double value)
{
    if (value == 0 || !isfinite(value)) return value;
    double exponent = floor(log10(fabs(value)));
    double unit = pow(10.0, fabs(9 - exponent)), scaled = exponent <= 9 ? value * unit : value / unit;
    if (!isfinite(scaled)) return value; /* below the normal numbers */
    return exponent <= 9 ? rint(scaled) / unit : rint(scaled) * unit;
}

typedef struct entry {
    plx__ranked ranked;
    double key;
} entry;

static int compare(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    bool label_a = a->ranked.view < 0, label_b = b->ranked.view < 0;
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
    PLX_TRY(PLX__ARENA_NEW(out, arena, n));
    PLX_TRY(PLX__ARENA_NEW(&entries, plx__scratch(ctx), n));
    for (plx_index i = 0; i < n; i++) {
        const plx__candidate *c = &candidates[i];
        double cost = c->cost * (factor ? factor[c->row] : 1.0), score = c->information / cost;
        entries[i] = (entry){{c->row, c->view, score, cost}, plx__ten_digits(score)};
    }
    qsort(entries, (size_t)n, sizeof *entries, compare);
    *count = 0;
    for (plx_index i = 0; i < n; i++) {
        if (!isnan(budget) && spent + entries[i].ranked.cost > budget) continue;
        spent += entries[i].ranked.cost;
        (*out)[(*count)++] = entries[i].ranked;
    }
    return PLX_OK;
}
