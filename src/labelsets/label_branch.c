/*
 * One view, any rules: branch and bound.
 *
 * `base` is the value when all undecided classes are off. Turning the undecided class i on changes it by at most b_i:
 * its gain, minus the rules it breaks with decided classes, plus those it mends. Undecided classes that exclude each
 * other in pairs (cliques, formed once) cannot all be worth their b_i: m of them cost violate m (m - 1) / 2, so in every
 * clique the m-th largest counts only while it exceeds violate (m - 1). Equal optima are all visited, and the
 * lexicographically largest is kept.
 */
#include "labelsets/label_program_impl.h"

enum { UNDECIDED = 2, NODE_LIMIT = 200000 };

typedef struct search {
    const plx__label_program *p;
    plx__label_work *work;
    uint16_t *best;
    double best_value;
    long nodes;
} search;

/* Greedy cliques of the exclusive graph: clique[i] is the one class i belongs to, the first all of whose members so far
 * exclude it. */
plx_status plx__label_cliques_make(int32_t **out, plx__arena *arena, const plx__label_rules *r)
{
    int32_t *clique = NULL, *members = NULL, *excluded = NULL, count = 0;
    *out = NULL;
    PLX_TRY(plx__arena_i32(&clique, arena, r->k));
    PLX_TRY(plx__arena_i32(&members, arena, r->k));
    PLX_TRY(plx__arena_i32(&excluded, arena, r->k));
    for (plx_index i = 0; i < r->k; i++) {
        memset(excluded, 0, (size_t)count * sizeof *excluded);
        for (plx_index j = 0; j < i; j++) excluded[clique[j]] += label_has(r->exclusive + i * r->words, j);
        clique[i] = 0;
        while (clique[i] < count && excluded[clique[i]] < members[clique[i]]) clique[i]++;
        if (clique[i] == count) count++;
        members[clique[i]]++;
    }
    *out = clique;
    return PLX_OK;
}

static int by_clique(const int32_t *clique, const double *b, int32_t x, int32_t y)
{
    if (clique[x] != clique[y]) return clique[x] < clique[y] ? -1 : 1;
    return b[x] != b[y] ? (b[x] > b[y] ? -1 : 1) : 0;
}

/* Undecided classes worth anything, by clique, best first; returns how many. */
static plx_index list_worthy(const search *q, const double *b, int32_t *list)
{
    const int32_t *clique = q->p->clique;
    plx_index n = 0;
    for (int32_t i = 0; i < q->p->k; i++) {
        if (q->work->trial[i] != UNDECIDED || b[i] <= 0) continue;
        plx_index at = n++;
        for (; at > 0 && by_clique(clique, b, i, list[at - 1]) < 0; at--) list[at] = list[at - 1];
        list[at] = i;
    }
    return n;
}

/* What the undecided classes can add at most; *widest is the one that adds most. */
static double bound(const search *q, const double *b, int32_t *widest)
{
    int32_t *list = q->work->whole;
    plx_index n = list_worthy(q, b, list);
    double sum = 0;
    int rank = 0;
    *widest = -1;
    for (plx_index t = 0; t < n; t++) {
        rank = t > 0 && q->p->clique[list[t]] == q->p->clique[list[t - 1]] ? rank + 1 : 0;
        sum += fmax(0, b[list[t]] - q->p->w.violate * rank);
        if (*widest < 0 || b[list[t]] > b[*widest]) *widest = list[t];
    }
    return sum;
}

static void keep_best(search *q, double value)
{
    uint16_t *y = q->work->other;
    for (plx_index i = 0; i < q->p->k; i++) y[i] = q->work->trial[i] == 1;
    if (value <= q->best_value + TIE_WINDOW && plx__label_compare(y, q->best, q->p->k) <= 0) return;
    memcpy(q->best, y, (size_t)q->p->k * sizeof *y);
    q->best_value = fmax(q->best_value, value);
}

/* b after class i was decided; returns the change of the base. */
static double decide(const search *q, const double *from, double *b, plx_index i, bool on)
{
    const plx__label_rules *r = q->p->rules;
    double change = on ? from[i] : 0, price = q->p->w.violate;
    const uint64_t *above = r->above + i * r->words, *exclusive = r->exclusive + i * r->words;
    for (plx_index j = 0; j < q->p->k; j++) {
        b[j] = from[j];
        if (q->work->trial[j] != UNDECIDED || i == j) continue;
        if (on && label_has(exclusive, j)) b[j] -= price;
        if (on && label_has(above, j)) {
            b[j] += price;
            change -= price;
        }
        if (!on && label_has(r->above + j * r->words, i)) b[j] -= price;
    }
    return change;
}

/* level d of work->real holds b after d decisions. */
static void branch(search *q, plx_index depth, double base)
{
    const double *b = q->work->real + depth * q->p->k;
    int32_t i;
    if (++q->nodes > NODE_LIMIT) return;
    double most = base + bound(q, b, &i);
    if (most < q->best_value - TIE_WINDOW) return;
    if (i < 0) {
        keep_best(q, base);
        return;
    }
    for (int on = 1; on >= 0; on--) {
        double change = decide(q, b, q->work->real + (depth + 1) * q->p->k, i, on);
        q->work->trial[i] = (uint16_t)on;
        branch(q, depth + 1, base + change);
        q->work->trial[i] = UNDECIDED;
    }
}

bool plx__label_branch(uint16_t *pattern, const plx__label_program *p, plx__label_work *work)
{
    search q = {.p = p, .work = work, .best = pattern, .best_value = -INFINITY};
    for (plx_index i = 0; i < p->k; i++) {
        work->trial[i] = UNDECIDED;
        work->real[i] = work->gain[i];
    }
    branch(&q, 0, 0);
    return q.nodes <= NODE_LIMIT;
}
