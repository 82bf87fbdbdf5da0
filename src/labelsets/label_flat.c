/*
 * Flat programs: every view should have exactly one label.
 *
 * (flat-cover) violate |n - 1| is linear in n except at n = 0, so the objective is sum_i g_i(p_i) + violate (2 |cov| - s) with
 * g_i(p) = sum_v p_v (score s_i^v - violate) - disagree c (s - c) and cov the set of views that have a label: a dynamic
 * program over the classes whose state is cov. Going back from class 0 it meets the patterns in lexicographic order.
 *
 * (flat-blocks) When violate > score max|s| + disagree (s - 1) every view has exactly one label, and a solution is a partition
 * of the views into blocks that agree: subset dynamic program over blocks. Ties are left to flat-cover.
 */
#include "labelsets/label_program_impl.h"

/* ---- flat-cover ---- */

/* after[(i << s) + c]: best value of classes i.. when the views c are covered by the classes before. */
static void f1_forward(double *after, const plx__label_program *p, const double *gain, int s)
{
    unsigned states = 1u << s;
    for (unsigned c = 0; c < states; c++)
        after[((size_t)p->k << s) + c] = p->w.violate * (2 * __builtin_popcount(c) - s);
    for (plx_index i = p->k - 1; i >= 0; i--) {
        double *now = after + ((size_t)i << s), *next = after + ((size_t)(i + 1) << s);
        memcpy(now, next, states * sizeof *now);
        for (unsigned q = 1; q < states; q++) {
            double g = plx__label_unary(p, gain + i * s, q, s) - p->w.violate * __builtin_popcount(q);
            for (unsigned c = 0; c < states; c++) now[c] = fmax(now[c], g + next[c | q]);
        }
    }
}

void plx__label_flat_cover(uint16_t *pattern, const plx__label_program *p, plx__label_work *work, int s)
{
    unsigned c = 0;
    f1_forward(work->real, p, work->gain, s);
    for (plx_index i = 0; i < p->k; i++) {
        const double *now = work->real + ((size_t)i << s), *next = work->real + ((size_t)(i + 1) << s);
        unsigned q = (1u << s) - 1;
        for (; q > 0; q--) {
            double g = plx__label_unary(p, work->gain + i * s, q, s) - p->w.violate * __builtin_popcount(q);
            if (g + next[c | q] >= now[c] - TIE_WINDOW) break;
        }
        pattern[i] = (uint16_t)q;
        c |= q;
    }
}

/* ---- flat-blocks ---- */

bool plx__label_can_flat_blocks(const plx__label_program *p, const plx__label_work *work, int s)
{
    double most = 0;
    for (plx_index i = 0; i < p->k * s; i++) most = fmax(most, fabs(work->gain[i]));
    return p->k > 0 && p->w.violate > most + p->w.disagree * (s - 1) + 2 * TIE_BIT;
}

typedef struct block {
    double value;
    int32_t class;
    unsigned rest; /* views of the other blocks in the best partition */
    bool tie;
} block;

static void keep_better(block *best, double value, int32_t class, unsigned rest)
{
    if (value > best->value + TIE_WINDOW) *best = (block){value, class, rest, false};
    else if (value >= best->value - TIE_WINDOW) best->tie = true;
}

/* Best single class for the views of a block, with the reward of its agreeing pairs. */
static block best_class(const plx__label_program *p, const double *gain, unsigned views, int s)
{
    block best = {-INFINITY, 0, 0, false};
    int size = __builtin_popcount(views);
    double reward = p->w.disagree * size * (size - 1);
    for (plx_index i = 0; i < p->k; i++) {
        double sum = reward;
        for (int v = 0; v < s; v++)
            if (views >> (s - 1 - v) & 1) sum += gain[i * s + v];
        keep_better(&best, sum, (int32_t)i, 0);
    }
    return best;
}

/* One view: a plain argmax; the earliest of equals is the lexicographically largest. */
static void f2_one(uint16_t *pattern, const plx__label_program *p, const double *gain)
{
    plx_index best = 0;
    for (plx_index i = 1; i < p->k; i++)
        if (gain[i] > gain[best]) best = i;
    plx_index first = 0;
    while (gain[first] < gain[best] - TIE_BIT) first++;
    pattern[first] = 1;
}

/* Two views: the better of one common label and two labels of their own; false when they tie. */
static bool f2_two(uint16_t *pattern, const plx__label_program *p, const double *gain)
{
    plx_index both = 0, one = 0, two = 0;
    for (plx_index i = 1; i < p->k; i++) {
        if (gain[2 * i] + gain[2 * i + 1] > gain[2 * both] + gain[2 * both + 1]) both = i;
        if (gain[2 * i] > gain[2 * one]) one = i;
        if (gain[2 * i + 1] > gain[2 * two + 1]) two = i;
    }
    double joint = gain[2 * both] + gain[2 * both + 1], apart = gain[2 * one] + gain[2 * two + 1] - 2 * p->w.disagree;
    if (fabs(joint - apart) <= 2 * TIE_BIT) return false;
    for (plx_index i = 0; i < p->k; i++) { /* an equal elsewhere: let flat-cover order them */
        if (joint > apart && i != both && gain[2 * i] + gain[2 * i + 1] >= joint - TIE_BIT) return false;
        if (joint < apart && i != one && gain[2 * i] >= gain[2 * one] - TIE_BIT) return false;
        if (joint < apart && i != two && gain[2 * i + 1] >= gain[2 * two + 1] - TIE_BIT) return false;
    }
    if (joint > apart) pattern[both] = 3;
    else {
        pattern[one] |= 2;
        pattern[two] |= 1;
    }
    return true;
}

/* More views: one[m] is the best single label for the views m, best[m] the best way to label them. The first block of
 * a partition is the one with the lowest view of m. */
static bool f2_blocks(uint16_t *pattern, const plx__label_program *p, const double *gain, block *one, int s)
{
    unsigned all = (1u << s) - 1;
    block *best = one + all + 1;
    best[0] = (block){0, -1, 0, false};
    for (unsigned m = 1; m <= all; m++) {
        unsigned low = m & (~m + 1);
        best[m] = one[m] = best_class(p, gain, m, s);
        for (unsigned part = (m - 1) & m; part; part = (part - 1) & m) {
            if (!(part & low)) continue;
            keep_better(&best[m], one[part].value + best[m & ~part].value, one[part].class, m & ~part);
        }
    }
    for (unsigned m = all; m; m = best[m].rest) {
        if (best[m].tie || one[m & ~best[m].rest].tie) return false;
        pattern[best[m].class] = (uint16_t)(pattern[best[m].class] | (m & ~best[m].rest));
    }
    return true;
}

void plx__label_flat_blocks(uint16_t *pattern, const plx__label_program *p, plx__label_work *work, int s)
{
    memset(pattern, 0, (size_t)p->k * sizeof *pattern);
    if (s == 1) {
        f2_one(pattern, p, work->gain);
        return;
    }
    if (s == 2 ? f2_two(pattern, p, work->gain) : f2_blocks(pattern, p, work->gain, (block *)(void *)work->real, s))
        return;
    plx__label_flat_cover(pattern, p, work, s);
}
