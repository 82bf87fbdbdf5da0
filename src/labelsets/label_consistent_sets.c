/*
 * Programs whose best label sets are consistent: upward closed and without exclusive pairs.
 *
 * When rules are closed and breaking one costs at least what a bit can bring (plx__label_can_sets), dropping one side
 * of an exclusive pair and adding missing ancestors never loses, so only consistent sets need to be looked at. There
 * are few of them when siblings exclude each other: in a tree, the paths from a root. Every consistent set but the
 * empty one is a smaller one plus a class, so the scores of all cost one addition each (best-set).
 *
 * (set-per-view) For two views, max_b B(b) - disagree |a ^ b| is needed for every set a. The way from b to a by first dropping,
 * then adding single classes stays inside the family and has length |a ^ b|: two passes along these steps give all
 * maxima at once. Three views: the sum over pairs is twice the distance to the majority, which is consistent too; so
 * the best majority m maximises sum_v max_y V_v(y) - 2 disagree |y ^ m|.
 */
#include <stdlib.h>

#include "labelsets/label_program_impl.h"

enum { MAX_SETS = 1 << 14, MAX_STEPS = 1 << 17 };

/* ---- the family ---- */

typedef struct family {
    const plx__label_rules *rules;
    plx_index count, words;
    uint64_t *bits, *minimal; /* MAX_SETS x words each: the set, and its classes nothing of it is below */
    int32_t *slot;            /* hash table, 2 * MAX_SETS */
} family;

static plx_index hash(const uint64_t *set, plx_index words)
{
    uint64_t h = UINT64_C(0x9e3779b97f4a7c15);
    for (plx_index w = 0; w < words; w++) h = (h ^ set[w]) * UINT64_C(0xff51afd7ed558ccd) ^ (h >> 29);
    return (plx_index)((h ^ (h >> 32)) & (2 * MAX_SETS - 1));
}

/* Place of a set in the table: its own, or the empty one where it belongs. */
static plx_index find_slot(const family *f, const uint64_t *set)
{
    plx_index h = hash(set, f->words);
    while (f->slot[h] >= 0 && memcmp(f->bits + f->slot[h] * f->words, set, (size_t)f->words * sizeof *set) != 0)
        h = (h + 1) & (2 * MAX_SETS - 1);
    return h;
}

static bool may_join(const family *f, const uint64_t *set, plx_index c)
{
    const uint64_t *above = f->rules->above + c * f->words, *exclusive = f->rules->exclusive + c * f->words;
    if (label_has(set, c)) return false;
    for (plx_index w = 0; w < f->words; w++)
        if ((above[w] & ~set[w]) || (exclusive[w] & set[w])) return false;
    return true;
}

/* Adds every set that is set i plus a class; false when there are too many. */
static bool grow(family *f, plx_index i)
{
    for (plx_index c = 0; c < f->rules->k; c++) {
        const uint64_t *from = f->bits + i * f->words;
        if (!may_join(f, from, c)) continue;
        if (f->count == MAX_SETS) return false;
        uint64_t *set = f->bits + f->count * f->words, *minimal = f->minimal + f->count * f->words;
        memcpy(set, from, (size_t)f->words * sizeof *set);
        set[c / 64] |= plx__label_bit(c);
        plx_index slot = find_slot(f, set);
        if (f->slot[slot] >= 0) continue;
        for (plx_index w = 0; w < f->words; w++)
            minimal[w] = f->minimal[i * f->words + w] & ~f->rules->above[c * f->words + w];
        minimal[c / 64] |= plx__label_bit(c);
        f->slot[slot] = (int32_t)f->count++;
    }
    return true;
}

typedef struct keyed {
    const uint64_t *set;
    plx_index words;
    int32_t old;
    int size;
} keyed;

static int by_rank(const void *a_, const void *b_)
{
    const keyed *a = a_, *b = b_;
    if (a->size != b->size) return a->size < b->size ? -1 : 1;
    for (plx_index w = 0; w < a->words; w++)
        if (a->set[w] != b->set[w]) return a->set[w] > b->set[w] ? -1 : 1;
    return 0;
}

static plx_status rank_sets(label_sets *out, plx__arena *arena, const family *f, int32_t *rank)
{
    keyed *keys = NULL;
    int64_t *bits = NULL;
    PLX_TRY(PLX__ARENA_NEW(&keys, plx__scratch(arena->ctx), f->count));
    PLX_TRY(plx__arena_i64(&bits, arena, f->count * f->words));
    PLX_TRY(plx__arena_i32(&out->size, arena, f->count));
    out->bits = (uint64_t *)bits;
    for (plx_index i = 0; i < f->count; i++)
        keys[i] = (keyed){f->bits + i * f->words, f->words, (int32_t)i,
                          (int)plx__label_bit_count(f->bits + i * f->words, f->words)};
    qsort(keys, (size_t)f->count, sizeof *keys, by_rank);
    for (plx_index i = 0; i < f->count; i++) {
        memcpy(out->bits + i * f->words, keys[i].set, (size_t)f->words * sizeof(uint64_t));
        out->size[i] = keys[i].size;
        rank[keys[i].old] = (int32_t)i;
    }
    return PLX_OK;
}

/* The sets one class smaller, in the new numbers; returns how many. `to` NULL: only counts. */
static plx_index list_smaller(label_sets *out, const family *f, const int32_t *rank, plx_index old, uint64_t *set,
                              plx_index at, bool write)
{
    plx_index big = rank[old], count = 0;
    memcpy(set, f->bits + old * f->words, (size_t)f->words * sizeof *set);
    for (plx_index c = 0; c < f->rules->k; c++) {
        if (!label_has(f->minimal + old * f->words, c)) continue;
        set[c / 64] &= ~plx__label_bit(c);
        int32_t small = rank[f->slot[find_slot(f, set)]];
        set[c / 64] |= plx__label_bit(c);
        out->parent[big] = small;
        out->added[big] = (int32_t)c;
        if (write) {
            out->bigger[at + count] = (int32_t)big;
            out->smaller[at + count] = small;
        }
        count++;
    }
    return count;
}

static plx_status link_sets(label_sets *out, plx__arena *arena, const family *f, const int32_t *rank)
{
    uint64_t *set = NULL;
    int32_t *old = NULL;
    PLX_TRY(PLX__ARENA_NEW(&set, plx__scratch(arena->ctx), f->words));
    PLX_TRY(plx__arena_i32(&old, plx__scratch(arena->ctx), f->count));
    PLX_TRY(plx__arena_i32(&out->parent, arena, f->count));
    PLX_TRY(plx__arena_i32(&out->added, arena, f->count));
    out->parent[0] = out->added[0] = -1;
    for (plx_index i = 0; i < f->count; i++) old[rank[i]] = (int32_t)i;
    for (plx_index i = 1; i < f->count; i++) out->n_steps += list_smaller(out, f, rank, old[i], set, 0, false);
    PLX_TRY(plx__arena_i32(&out->bigger, arena, out->n_steps));
    PLX_TRY(plx__arena_i32(&out->smaller, arena, out->n_steps));
    for (plx_index i = 1, at = 0; i < f->count; i++) at += list_smaller(out, f, rank, old[i], set, at, true);
    return PLX_OK;
}

plx_status plx__label_sets_make(label_sets **out, plx__arena *arena, const plx__label_rules *rules)
{
    plx__arena *scratch = plx__scratch(arena->ctx);
    plx__mark mark = plx__arena_mark(scratch);
    family f = {.rules = rules, .words = rules->words, .count = 1};
    int32_t *rank = NULL;
    bool fits = rules->closed;
    *out = NULL;
    PLX_TRY(PLX__ARENA_NEW(&f.bits, scratch, MAX_SETS * f.words));
    PLX_TRY(PLX__ARENA_NEW(&f.minimal, scratch, MAX_SETS * f.words));
    PLX_TRY(plx__arena_i32(&f.slot, scratch, 2 * MAX_SETS));
    PLX_TRY(plx__arena_i32(&rank, scratch, MAX_SETS));
    memset(f.slot, 0xff, 2 * MAX_SETS * sizeof *f.slot);
    f.slot[find_slot(&f, f.bits)] = 0;
    for (plx_index i = 0; fits && i < f.count; i++) fits = grow(&f, i);
    if (fits) {
        label_sets *sets = NULL;
        PLX_TRY(PLX__ARENA_NEW(&sets, arena, 1));
        sets->count = f.count;
        sets->words = f.words;
        PLX_TRY(rank_sets(sets, arena, &f, rank));
        PLX_TRY(link_sets(sets, arena, &f, rank));
        if (sets->n_steps <= MAX_STEPS) *out = sets;
    }
    if (arena != scratch) plx__arena_rewind(scratch, mark);
    return PLX_OK;
}

/* ---- when consistent sets suffice ---- */

/* No two classes of a view that are worth more than a broken rule may exclude each other; and no ancestor may cost as
 * much as a broken rule. `spread`: what a bit changes in the disagreement at most. */
bool plx__label_can_sets(const plx__label_program *p, plx__label_work *work, int s)
{
    const plx__label_rules *r = p->rules;
    double spread = p->w.disagree * (s - 1), limit = p->w.violate;
    for (int v = 0; v < s; v++) {
        bool heavy = false;
        memset(work->set, 0, (size_t)r->words * sizeof *work->set);
        for (plx_index i = 0; i < p->k; i++) {
            double gain = work->gain[i * s + v];
            if (p->is_above[i] && spread - gain >= limit - 1e-9) return false;
            if (gain + spread <= limit) continue;
            for (plx_index w = 0; heavy && w < r->words; w++)
                if (r->exclusive[i * r->words + w] & work->set[w]) return false;
            work->set[i / 64] |= plx__label_bit(i);
            heavy = true;
        }
    }
    return true;
}

/* ---- best-set ---- */

static void add_view(uint16_t *pattern, const uint64_t *set, plx_index words, unsigned bit)
{
    for (plx_index w = 0; w < words; w++)
        for (uint64_t rest = set[w]; rest;) {
            plx_index i = w * 64 + __builtin_clzll(rest);
            rest &= ~plx__label_bit(i);
            pattern[i] = (uint16_t)(pattern[i] | bit);
        }
}

/* value[a] = sum of the gains of one view over the classes of set a. */
static void sum_sets(double *value, const label_sets *sets, const double *gain, int s, int v)
{
    value[0] = 0;
    for (plx_index a = 1; a < sets->count; a++) value[a] = value[sets->parent[a]] + gain[sets->added[a] * s + v];
}

static double largest(const double *value, plx_index count)
{
    double best = value[0];
    for (plx_index a = 1; a < count; a++) best = value[a] > best ? value[a] : best;
    return best;
}

/* The sets are in the order ties prefer: the first of the best is the one. */
void plx__label_best_set(uint16_t *pattern, const plx__label_program *p, plx__label_work *work)
{
    const label_sets *sets = p->sets;
    sum_sets(work->real, sets, work->gain, 1, 0);
    double best = largest(work->real, sets->count);
    plx_index a = 0;
    while (work->real[a] < best - TIE_WINDOW) a++;
    memset(pattern, 0, (size_t)p->k * sizeof *pattern);
    add_view(pattern, sets->bits + a * sets->words, sets->words, 1);
}

bool plx__label_between(uint16_t *out, const plx__label_program *p, plx__label_work *work, const uint64_t *least,
                        const uint64_t *most)
{
    const label_sets *sets = p->sets;
    plx_index best = -1;
    sum_sets(work->real, sets, work->gain, 1, 0);
    for (plx_index a = 0; a < sets->count; a++) {
        bool inside = best < 0 || work->real[a] > work->real[best] + TIE_WINDOW;
        const uint64_t *set = sets->bits + a * sets->words;
        for (plx_index w = 0; inside && w < sets->words; w++) inside = !(least[w] & ~set[w]) && !(set[w] & ~most[w]);
        if (inside) best = a;
    }
    if (best < 0) return false;
    memset(out, 0, (size_t)p->k * sizeof *out);
    add_view(out, sets->bits + best * sets->words, sets->words, 1);
    return true;
}

/* ---- set-per-view ---- */

/* far[a] = max_b near[b] - weight |a ^ b|. */
static void spread_values(double *far, const double *near, const label_sets *sets, double weight)
{
    memcpy(far, near, (size_t)sets->count * sizeof *far);
    for (plx_index e = sets->n_steps - 1; e >= 0; e--) {
        double other = far[sets->bigger[e]] - weight;
        if (other > far[sets->smaller[e]]) far[sets->smaller[e]] = other;
    }
    for (plx_index e = 0; e < sets->n_steps; e++) {
        double other = far[sets->smaller[e]] - weight;
        if (other > far[sets->bigger[e]]) far[sets->bigger[e]] = other;
    }
}

static int distance(const label_sets *sets, plx_index a, plx_index b)
{
    int count = 0;
    for (plx_index w = 0; w < sets->words; w++)
        count += __builtin_popcountll(sets->bits[a * sets->words + w] ^ sets->bits[b * sets->words + w]);
    return count;
}

/* Which sets of a view reach the value far at distance from a; returns how many. */
static plx_index reaching(int32_t *out, const label_sets *sets, const double *near, double far, plx_index a,
                          double weight)
{
    plx_index count = 0;
    for (plx_index b = 0; b < sets->count; b++) {
        if (near[b] < far - TIE_WINDOW) continue;
        if (near[b] - weight * distance(sets, a, b) >= far - TIE_WINDOW) out[count++] = (int32_t)b;
    }
    return count;
}

/* Keeps the lexicographically larger of pattern and the combination of sets given. */
static void keep_larger(uint16_t *pattern, bool *any, const plx__label_program *p, plx__label_work *work,
                        const int32_t *chosen, int s)
{
    memset(work->trial, 0, (size_t)p->k * sizeof *work->trial);
    for (int v = 0; v < s; v++)
        add_view(work->trial, p->sets->bits + chosen[v] * p->sets->words, p->sets->words, 1u << (s - 1 - v));
    if (*any && plx__label_compare(work->trial, pattern, p->k) <= 0) return;
    memcpy(pattern, work->trial, (size_t)p->k * sizeof *pattern);
    *any = true;
}

/* All combinations of the sets that are best around the centre a. The first view of a pair is the centre itself. */
static void around_centre(uint16_t *pattern, bool *any, const plx__label_program *p, plx__label_work *work, plx_index a,
                          int s)
{
    const label_sets *sets = p->sets;
    plx_index n = sets->count, count[3] = {1, 1, 1};
    double weight = p->w.disagree * (s - 1), *near = work->real, *far = work->real + 3 * n;
    int32_t *list = work->whole, chosen[3] = {(int32_t)a, (int32_t)a, (int32_t)a};
    list[0] = (int32_t)a;
    for (int v = s == 2 ? 1 : 0; v < s; v++)
        count[v] = reaching(list + v * n, sets, near + v * n, far[v * n + a], a, weight);
    for (plx_index i = 0; i < count[0]; i++)
        for (plx_index j = 0; j < count[1]; j++)
            for (plx_index l = 0; l < count[2]; l++) {
                chosen[0] = list[i];
                chosen[1] = list[n + j];
                chosen[2] = s == 3 ? list[2 * n + l] : 0;
                keep_larger(pattern, any, p, work, chosen, s);
            }
}

/* Two views: the centre is the first view's set. Three: the centre is the majority. */
void plx__label_set_per_view(uint16_t *pattern, const plx__label_program *p, plx__label_work *work, int s)
{
    const label_sets *sets = p->sets;
    plx_index n = sets->count;
    double *near = work->real, *far = near + 3 * n, *total = near + 6 * n;
    bool any = false;
    for (int v = 0; v < s; v++) {
        sum_sets(near + v * n, sets, work->gain, s, v);
        if (s == 3 || v == 1) spread_values(far + v * n, near + v * n, sets, p->w.disagree * (s - 1));
    }
    for (plx_index a = 0; a < n; a++) total[a] = s == 2 ? near[a] + far[n + a] : far[a] + far[n + a] + far[2 * n + a];
    double best = largest(total, n);
    for (plx_index a = 0; a < n; a++)
        if (total[a] >= best - TIE_WINDOW) around_centre(pattern, &any, p, work, a, s);
}
