/*
 * Programs on forests.
 *
 * (forest) One view, rules as listed: every class requires at most one other, and the classes below one class (or the
 * roots) all exclude each other or are all free. With F(c,1), F(c,0) the best value of the subtree of c with c on or
 * off, a class below a class with value p gains F(c,1) - violate [p = 0] - F(c,0) by being on; m exclusive siblings
 * cost violate m (m-1) / 2, so the largest gains are taken while the m-th exceeds violate (m - 1).
 *
 * Paths (set-per-view for any number of views): when the consistent sets are the paths from a root, every view picks a path.
 * F_i(R) is the best value of the subtree of i when exactly the views R have class i; the views of R stop there or are
 * shared out among the classes below: a subset program, 3^s per class.
 */
#include <stdlib.h>

#include "labelsets/label_program_impl.h"

/* ---- recognising ---- */

/* The class right above i: the one that itself requires most; -1: root. */
static int32_t find_parent(const plx__label_rules *r, plx_index i)
{
    int32_t parent = -1;
    plx_index most = -1;
    for (plx_index a = 0; a < r->k; a++) {
        if (!label_has(r->above + i * r->words, a)) continue;
        plx_index count = plx__label_bit_count(r->above + a * r->words, r->words);
        if (count > most) {
            most = count;
            parent = (int32_t)a;
        }
    }
    return parent;
}

static plx_status order_by_depth(label_tree *t, plx__arena *arena, plx_index k)
{
    plx_index at = 0;
    int32_t *depth = NULL, deepest = 0;
    PLX_TRY(plx__arena_i32(&depth, plx__scratch(arena->ctx), k));
    for (plx_index i = 0; i < k; i++) {
        for (int32_t a = t->parent[i]; a >= 0; a = t->parent[a]) depth[i]++;
        if (depth[i] > deepest) deepest = depth[i];
    }
    for (int32_t d = deepest; d >= 0; d--)
        for (plx_index i = 0; i < k; i++)
            if (depth[i] == d) t->order[at++] = (int32_t)i;
    return PLX_OK;
}

/* Are the classes of a list all exclusive (1), all free (0), or mixed (-1)? */
static int list_kind(const plx__label_rules *r, const label_tree *t, plx_index list)
{
    plx_index exclusive = 0, pairs = 0;
    for (int32_t a = t->first_child[list]; a >= 0; a = t->next_sibling[a])
        for (int32_t b = t->next_sibling[a]; b >= 0; b = t->next_sibling[b]) {
            exclusive += label_has(r->exclusive + a * r->words, b);
            pairs++;
        }
    return exclusive == 0 ? 0 : exclusive == pairs ? 1 : -1;
}

/* Kinds of all lists; false when one is mixed. */
static bool set_kinds(const plx__label_rules *r, label_tree *t)
{
    for (plx_index list = 0; list <= r->k; list++) {
        int kind = list_kind(r, t, list);
        if (kind < 0) return false;
        t->siblings_exclude[list] = (uint8_t)kind;
    }
    return true;
}

/* Each class requires at most its parent and excludes nothing but siblings. */
static bool is_listed_forest(const plx__label_rules *r, const label_tree *t)
{
    plx_index counted = 0, all = 0;
    for (plx_index i = 0; i < r->k; i++) {
        if (plx__label_bit_count(r->above + i * r->words, r->words) > 1) return false;
        all += plx__label_bit_count(r->exclusive + i * r->words, r->words);
    }
    for (plx_index list = 0; list <= r->k; list++) {
        plx_index size = 0;
        for (int32_t a = t->first_child[list]; a >= 0; a = t->next_sibling[a]) size++;
        if (t->siblings_exclude[list]) counted += size * (size - 1);
    }
    return counted == all;
}

plx_status plx__label_tree_make(label_tree **out, plx__arena *arena, const plx__label_rules *r)
{
    label_tree *t = NULL;
    *out = NULL;
    PLX_TRY(PLX__ARENA_NEW(&t, arena, 1));
    PLX_TRY(plx__arena_i32(&t->order, arena, r->k));
    PLX_TRY(plx__arena_i32(&t->parent, arena, r->k));
    PLX_TRY(plx__arena_i32(&t->first_child, arena, r->k + 1));
    PLX_TRY(plx__arena_i32(&t->next_sibling, arena, r->k));
    PLX_TRY(plx__arena_u8(&t->siblings_exclude, arena, r->k + 1));
    for (plx_index i = 0; i <= r->k; i++) t->first_child[i] = -1;
    for (plx_index i = r->k - 1; i >= 0; i--) {
        t->parent[i] = find_parent(r, i);
        plx_index list = t->parent[i] < 0 ? r->k : t->parent[i];
        t->next_sibling[i] = t->first_child[list];
        t->first_child[list] = (int32_t)i;
    }
    if (!set_kinds(r, t)) return PLX_OK;
    t->listed = is_listed_forest(r, t);
    PLX_TRY(plx__label_counts_make(t, arena, r));
    t->paths = t->sparse;
    if (!t->listed && !t->paths && !t->counts) return PLX_OK;
    *out = t;
    return order_by_depth(t, arena, r->k);
}

/* ---- forest ---- */

typedef struct offer {
    double gain;
    int32_t class;
} offer;

static int by_gain(const void *a_, const void *b_)
{
    const offer *a = a_, *b = b_;
    if (a->gain != b->gain) return a->gain > b->gain ? -1 : 1;
    return a->class < b->class ? -1 : 1;
}

/* Best choice of the classes of a list under a class with value p; marks it in `pattern` unless that is NULL. */
static double choose(const plx__label_program *p, plx__label_work *work, plx_index list, int on, uint16_t *pattern,
                     bool *tie)
{
    const label_tree *t = p->tree;
    const double *off = work->real, *value = work->real + p->k;
    double missing = list < p->k && !on ? p->w.violate : 0, best = 0,
           step = t->siblings_exclude[list] ? p->w.violate : 0;
    offer *offers = (offer *)(void *)(work->real + 2 * p->k);
    plx_index n = 0, taken = 0, at = 0;
    for (int32_t c = t->first_child[list]; c >= 0; c = t->next_sibling[c]) {
        bool must = work->fixed[c] == 1;
        if (pattern) pattern[c] = must;
        if (must) best += value[c] - missing - step * (double)taken++;
        else best += off[c];
        if (work->fixed[c] < 0) offers[n++] = (offer){value[c] - missing - off[c], c};
    }
    qsort(offers, (size_t)n, sizeof *offers, by_gain);
    for (; at < n && offers[at].gain > step * (double)taken; at++, taken++) {
        best += offers[at].gain - step * (double)taken;
        if (pattern) pattern[offers[at].class] = 1;
    }
    if (tie && at > 0) *tie |= offers[at - 1].gain <= step * (double)(taken - 1) + TIE_WINDOW;
    if (tie && at < n) *tie |= offers[at].gain >= step * (double)taken - TIE_WINDOW;
    if (tie && at > 0 && at < n) *tie |= offers[at].gain >= offers[at - 1].gain - TIE_WINDOW;
    return best;
}

void plx__label_forest(uint16_t *pattern, double *value, bool *tie, const plx__label_program *p, plx__label_work *work,
                       int s)
{
    const label_tree *t = p->tree;
    double *off = work->real, *on = work->real + p->k;
    (void)s;
    *tie = false;
    for (plx_index i = 0; i < p->k; i++) {
        int32_t c = t->order[i];
        off[c] = choose(p, work, c, 0, NULL, NULL);
        on[c] = work->gain[c] + choose(p, work, c, 1, NULL, NULL);
    }
    *value = choose(p, work, p->k, 1, pattern, tie);
    for (plx_index i = p->k - 1; i >= 0; i--) choose(p, work, t->order[i], pattern[t->order[i]], pattern, tie);
}

/* ---- paths ---- */

/* before + (class << s): best shares of the views among the siblings before this one; best + (class << s): F. */
typedef struct path_tables {
    double *best, *before, *now;
} path_tables;

static path_tables tables_of(const plx__label_program *p, plx__label_work *work, int s)
{
    size_t size = (size_t)p->k << s;
    return (path_tables){work->real, work->real + size, work->real + 2 * size};
}

/* Shares the views out among the classes of a list; t.now[Q] = best value when the views Q arrive. Those that go to
 * no class stop, which is worth 0. */
static void share_out(const plx__label_program *p, path_tables t, plx_index list, int s)
{
    unsigned states = 1u << s;
    for (unsigned q = 0; q < states; q++) t.now[q] = 0;
    for (int32_t c = p->tree->first_child[list]; c >= 0; c = p->tree->next_sibling[c]) {
        double *before = t.before + ((size_t)c << s), *best = t.best + ((size_t)c << s);
        memcpy(before, t.now, states * sizeof *before);
        for (unsigned q = 0; q < states; q++) {
            double most = best[0] + before[q];
            for (unsigned part = q; part; part = (part - 1) & q) most = fmax(most, best[part] + before[q & ~part]);
            t.now[q] = most;
        }
    }
}

static void path_class(const plx__label_program *p, plx__label_work *work, path_tables t, int32_t c, int s)
{
    double *best = t.best + ((size_t)c << s);
    share_out(p, t, c, s);
    for (unsigned q = 0; q < 1u << s; q++) {
        bool allowed = work->fixed[c] < 0 || work->fixed[c] == (int32_t)q;
        best[q] = allowed ? plx__label_unary(p, work->gain + (plx_index)c * s, q, s) + t.now[q] : -INFINITY;
    }
}

/* Which part of the views q went to each class of a list, last class first. */
static void take_shares(uint16_t *pattern, bool *tie, const plx__label_program *p, plx__label_work *work, path_tables t,
                        plx_index list, unsigned q, int s)
{
    int32_t *classes = work->whole;
    plx_index n = 0;
    for (int32_t c = p->tree->first_child[list]; c >= 0; c = p->tree->next_sibling[c]) classes[n++] = c;
    while (n > 0) {
        int32_t c = classes[--n];
        const double *before = t.before + ((size_t)c << s), *best = t.best + ((size_t)c << s);
        double most = best[0] + before[q];
        unsigned chosen = 0;
        bool equal = false;
        for (unsigned part = q; part; part = (part - 1) & q) {
            double value = best[part] + before[q & ~part];
            equal = value > most + TIE_WINDOW ? false : equal || value >= most - TIE_WINDOW;
            if (value <= most) continue;
            most = value;
            chosen = part;
        }
        *tie |= equal;
        pattern[c] = (uint16_t)chosen;
        q &= ~chosen;
    }
}

void plx__label_paths(uint16_t *pattern, double *value, bool *tie, const plx__label_program *p, plx__label_work *work,
                      int s)
{
    path_tables t = tables_of(p, work, s);
    unsigned all = (1u << s) - 1;
    *tie = false;
    for (plx_index i = 0; i < p->k; i++) path_class(p, work, t, p->tree->order[i], s);
    share_out(p, t, p->k, s);
    *value = t.now[all];
    take_shares(pattern, tie, p, work, t, p->k, all, s);
    for (plx_index i = p->k - 1; i >= 0; i--) {
        int32_t c = p->tree->order[i];
        take_shares(pattern, tie, p, work, t, c, pattern[c], s);
    }
}
