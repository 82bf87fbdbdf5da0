/*
 * Decoding with a beam: the best states of every position are kept, a state being the last tags. Ties go to the smaller
 * tags, oldest first. Marginals are taken over the states that are kept.
 */
#include <stdlib.h>
#include <string.h>

#include "ner/memm_tag.h"

typedef struct hypothesis {
    int32_t symbol[PLX__NER_HISTORY]; /* [0]: the newest */
    int32_t from;                     /* number of the hypothesis before, in its position */
    double best, sum;                 /* probability of the best way here; of all ways */
} hypothesis;

/* Oldest tag first; of two ways to one state the better one, then the earlier one. */
static int by_state(const void *a_, const void *b_)
{
    const hypothesis *a = a_, *b = b_;
    for (int k = PLX__NER_HISTORY - 1; k >= 0; k--)
        if (a->symbol[k] != b->symbol[k]) return a->symbol[k] < b->symbol[k] ? -1 : 1;
    if (a->best != b->best) return a->best > b->best ? -1 : 1;
    return (a->from > b->from) - (a->from < b->from);
}

static int by_best(const void *a, const void *b)
{
    double x = ((const hypothesis *)a)->best, y = ((const hypothesis *)b)->best;
    return x != y ? (x > y ? -1 : 1) : by_state(a, b);
}

/* Ways to the same state become one. */
static plx_index merge(hypothesis *h, plx_index count)
{
    plx_index kept = 0;
    qsort(h, (size_t)count, sizeof *h, by_state);
    for (plx_index k = 0; k < count; k++) {
        if (kept && memcmp(h[kept - 1].symbol, h[k].symbol, sizeof h->symbol) == 0) h[kept - 1].sum += h[k].sum;
        else h[kept++] = h[k];
    }
    return kept;
}

static void scale(hypothesis *h, plx_index count)
{
    double top = h[0].best, sum = 0;
    for (plx_index k = 0; k < count; k++) sum += h[k].sum;
    for (plx_index k = 0; k < count; k++) {
        if (top > 0) h[k].best /= top;
        if (sum > 0) h[k].sum /= sum;
    }
}

/* All that can follow; returns how many. */
static plx_index extend(const plx__memm_index *x, const plx__memm_local *local, const hypothesis *h, plx_index count,
                        hypothesis *to, double *q, double *probs)
{
    plx_index n = 0;
    for (plx_index k = 0; k < count; k++) {
        double sum = 0;
        plx__memm_follow(x, local, h[k].symbol, q);
        for (plx_index t = 0; t < x->n_tags; t++) sum += q[t];
        for (plx_index t = 0; t < x->n_tags; t++, n++) {
            double p = q[t] / sum;
            to[n] = (hypothesis){.from = (int32_t)k, .best = h[k].best * p, .sum = h[k].sum * p};
            to[n].symbol[0] = (int32_t)t;
            for (int d = 1; d < x->depth; d++) to[n].symbol[d] = h[k].symbol[d - 1];
            for (int d = x->depth; d < PLX__NER_HISTORY; d++) to[n].symbol[d] = (int32_t)x->n_tags;
            if (probs) probs[t] += to[n].sum;
        }
    }
    return n;
}

plx_status plx__memm_beam(const plx__memm_index *x, plx__arena *arena, const plx__memm_local *local, plx_index n,
                          int32_t *tags, double *probs)
{
    plx_index beam = x->beam, *count = NULL;
    hypothesis *kept = NULL, *next = NULL, start = {.best = 1, .sum = 1};
    double *q = NULL;
    PLX_TRY(PLX__ARENA_NEW(&kept, arena, n * beam));
    PLX_TRY(PLX__ARENA_NEW(&count, arena, n));
    PLX_TRY(PLX__ARENA_NEW(&next, arena, beam * x->n_tags));
    PLX_TRY(plx__arena_f64(&q, arena, 1, x->stride));
    for (int d = 0; d < PLX__NER_HISTORY; d++) start.symbol[d] = (int32_t)x->n_tags;
    for (plx_index i = 0; i < n; i++) {
        double *row = probs ? probs + i * x->n_tags : NULL;
        if (row) memset(row, 0, (size_t)x->n_tags * sizeof *row);
        plx_index all = i == 0 ? extend(x, &local[i], &start, 1, next, q, row)
                               : extend(x, &local[i], kept + (i - 1) * beam, count[i - 1], next, q, row);
        all = merge(next, all);
        qsort(next, (size_t)all, sizeof *next, by_best);
        count[i] = plx__min(all, beam);
        scale(next, count[i]);
        memcpy(kept + i * beam, next, (size_t)count[i] * sizeof *next);
    }
    for (plx_index i = n - 1, at = 0; tags && i >= 0; at = kept[i * beam + at].from, i--)
        tags[i] = kept[i * beam + at].symbol[0];
    return PLX_OK;
}
