/*
 * Lazy greedy choice (Minoux): the candidate with the largest old value is valued again, and taken if it
 * still leads. Submodularity makes the old value an upper bound, so the choice is the one of valuing
 * everybody every time.
 */
#include "active/batch.h"

#include <math.h>

#include "active/ranking.h"

typedef struct entry {
    double key, cost;
    plx_index valued; /* round in which the information was computed */
    bool taken;
} entry;

plx_status plx__batch_size(plx_index *out, plx__run *run)
{
    plx__value value;
    PLX_TRY(plx__view_value(&value, run->ctx, run->settings, "batch", NULL));
    *out = (plx_index)value.number;
    return PLX_OK;
}

/* Costs with the samples' own factors; rows are the caller's. */
static plx_status open_entries(entry **out, const plx__batch *b)
{
    const plx__problem *p = b->run->problem;
    plx_index *sample = NULL;
    PLX_TRY(PLX__ARENA_NEW(out, plx__scratch(b->run->ctx), b->count));
    PLX_TRY(plx__arena_i64(&sample, plx__scratch(b->run->ctx), p->rows));
    for (plx_index i = 0; i < p->n; i++) sample[p->row[i]] = i;
    for (plx_index k = 0; k < b->count; k++) {
        const plx__candidate *c = &b->list[k];
        double cost = c->cost * (p->sample_costs ? p->sample_costs[sample[c->row]] : 1.0);
        (*out)[k] = (entry){.key = plx__ten_digits(c->information / cost), .cost = cost, .valued = 1};
    }
    return PLX_OK;
}

static plx_status find_budget(double *out, plx__run *run)
{
    plx__value value;
    PLX_TRY(plx__view_value(&value, run->ctx, run->settings, "budget", NULL));
    *out = (value.text[0] ? value.number : INFINITY) - (run->offer ? run->offer->spent : 0.0);
    return PLX_OK;
}

/* The order of a ranking: score, then labels before views, samples, views. */
static bool comes_before(const plx__batch *b, const entry *e, plx_index x, plx_index y)
{
    const plx__candidate *p = &b->list[x], *q = &b->list[y];
    if (e[x].key != e[y].key) return e[x].key > e[y].key;
    if ((p->view < 0) != (q->view < 0)) return p->view < 0;
    return p->row != q->row ? p->row < q->row : p->view < q->view;
}

static plx_index find_best(const plx__batch *b, const entry *e, double left)
{
    plx_index best = -1;
    for (plx_index k = 0; k < b->count; k++)
        if (!e[k].taken && e[k].cost <= left && (best < 0 || comes_before(b, e, k, best))) best = k;
    return best;
}

plx_status plx__batch_pick(const plx__batch *b, plx_index size)
{
    plx__mark mark = plx__arena_mark(plx__scratch(b->run->ctx));
    entry *e = NULL;
    double left = 0;
    PLX_TRY(open_entries(&e, b));
    PLX_TRY(find_budget(&left, b->run));
    for (plx_index round = 1; round <= size;) {
        plx_index best = find_best(b, e, left);
        PLX_TRY(plx__poll(b->run->ctx));
        if (best < 0) break;
        plx__candidate *c = &b->list[best];
        if (e[best].valued < round) {
            PLX_TRY(b->again(&c->information, b->arg, best));
            e[best].key = plx__ten_digits(c->information / e[best].cost);
            e[best].valued = round;
            continue;
        }
        c->pick = round++;
        e[best].taken = true;
        left -= e[best].cost;
        if (round <= size) PLX_TRY(b->take(b->arg, best));
    }
    plx__arena_rewind(plx__scratch(b->run->ctx), mark);
    return PLX_OK;
}
