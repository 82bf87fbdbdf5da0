/*
 * (subtree-counts) One view, closed rules on a forest in which the classes of a list (below one class, or the roots) all exclude
 * each other or are all free; any scores.
 *
 * With closed rules two selected classes clash exactly when they part in an exclusive list, and a selected class misses
 * every unselected class above it. So a subtree matters to the rest only through the number m of classes selected in
 * it: with C_c[m] the best value of the subtree of c with m selected,
 *
 *     two lists of subtrees side by side:   max over i + j = m of A[i] + B[j] - violate i j [the list excludes]
 *     class c above its list G:             max(G[m] - violate m, G[m-1] + gain_c)
 *
 * When all lists exclude, few classes can be worth selecting: m classes without a chain longer than D have at least
 * m^2 / 2D - m / 2 clashes (Turan), so a value >= 0 needs m <= D (2 max gain / violate + 1).
 */
#include "labelsets/label_program_impl.h"

enum { PER_LEVEL = 32, MAX_ROOM = 1 << 22 };

/* ---- planning ---- */

/* Closed rules: the classes above one are a chain, and the exclusive pairs are those that part in an exclusive list. */
static bool fits_forest(const plx__label_rules *r, const label_tree *t, const int32_t *size)
{
    plx_index listed = 0, counted = 0;
    for (plx_index i = 0; i < r->k; i++) {
        plx_index above = plx__label_bit_count(r->above + i * r->words, r->words), chain = 0;
        for (int32_t a = t->parent[i]; a >= 0; a = t->parent[a]) chain++;
        if (above != chain) return false;
        listed += plx__label_bit_count(r->exclusive + i * r->words, r->words);
    }
    for (plx_index list = 0; list <= r->k; list++) {
        plx_index all = 0, own = 0;
        for (int32_t c = t->first_child[list]; c >= 0; c = t->next_sibling[c]) {
            all += size[c];
            own += (plx_index)size[c] * size[c];
        }
        if (t->siblings_exclude[list]) counted += all * all - own;
    }
    return listed == counted;
}

static bool all_exclude(const label_tree *t, plx_index k)
{
    for (plx_index list = 0; list <= k; list++) {
        int32_t first = t->first_child[list];
        if (first >= 0 && t->next_sibling[first] >= 0 && !t->siblings_exclude[list]) return false;
    }
    return true;
}

/* Where the tables of every class start: those of its subtree, and those of the siblings before it. */
static void place_tables(label_tree *t, plx_index k)
{
    plx_index at = 0;
    for (plx_index list = 0; list <= k; list++) {
        plx_index before = 0;
        for (int32_t c = t->first_child[list]; c >= 0; c = t->next_sibling[c]) {
            t->count_at[c] = at;
            t->before_at[c] = at += plx__min(t->most, t->size[c]) + 1;
            at += plx__min(t->most, before) + 1;
            before += t->size[c];
        }
    }
    t->room = at + 2 * (t->most + 1);
}

plx_status plx__label_counts_make(label_tree *t, plx__arena *arena, const plx__label_rules *r)
{
    PLX_TRY(plx__arena_i32(&t->size, arena, r->k));
    PLX_TRY(plx__arena_i64(&t->count_at, arena, r->k));
    PLX_TRY(plx__arena_i64(&t->before_at, arena, r->k));
    for (plx_index i = 0; i < r->k; i++)
        for (int32_t a = (int32_t)i, depth = 1; a >= 0; a = t->parent[a], depth++) {
            t->size[a]++;
            t->depth = depth > t->depth ? depth : t->depth;
        }
    if (!r->closed || !fits_forest(r, t, t->size)) return PLX_OK;
    t->sparse = all_exclude(t, r->k);
    t->most = t->sparse ? plx__min(r->k, (plx_index)PER_LEVEL * t->depth) : r->k;
    place_tables(t, r->k);
    t->counts = t->room <= MAX_ROOM;
    return PLX_OK;
}

/* Most classes a best set can have; more than t->most: not to be served. */
static plx_index most_selected(const plx__label_program *p, const plx__label_work *work)
{
    const label_tree *t = p->tree;
    double gain = 0;
    if (!t->sparse) return p->k;
    for (plx_index i = 0; i < p->k; i++) gain = fmax(gain, work->gain[i]);
    double most = t->depth * (2 * gain / p->w.violate + 1) + 1e-6;
    return most < (double)p->k ? (plx_index)most : p->k;
}

bool plx__label_can_count(const plx__label_program *p, const plx__label_work *work)
{
    return p->tree && p->tree->counts && p->w.violate > 0 && most_selected(p, work) <= p->tree->most;
}

/* ---- tables ---- */

typedef struct table {
    double *value;
    plx_index top; /* value[0 .. top] */
} table;

/* Two groups of subtrees side by side. `out` must not overlap. */
static table beside(double *out, table a, table b, plx_index most, double price)
{
    table c = {out, plx__min(most, a.top + b.top)};
    for (plx_index m = 0; m <= c.top; m++) out[m] = -INFINITY;
    for (plx_index j = 0; j <= b.top; j++) {
        plx_index last = plx__min(a.top, c.top - j);
        for (plx_index i = 0; i <= last; i++)
            out[i + j] = fmax(out[i + j], a.value[i] + b.value[j] - price * (double)(i * j));
    }
    return c;
}

static table subtree(const plx__label_program *p, plx__label_work *work, int32_t c, plx_index most)
{
    return (table){work->real + p->tree->count_at[c], plx__min(most, p->tree->size[c])};
}

/* All subtrees of a list; tables of the siblings before a class are kept. */
static table whole_list(const plx__label_program *p, plx__label_work *work, plx_index list, plx_index most)
{
    const label_tree *t = p->tree;
    double *spare = work->real + t->room - 2 * (t->most + 1), price = t->siblings_exclude[list] ? p->w.violate : 0;
    table now = {spare, 0};
    int turn = 0;
    spare[0] = 0;
    for (int32_t c = t->first_child[list]; c >= 0; c = t->next_sibling[c]) {
        memcpy(work->real + t->before_at[c], now.value, (size_t)(now.top + 1) * sizeof(double));
        turn = 1 - turn;
        now = beside(spare + turn * (t->most + 1), now, subtree(p, work, c, most), most, price);
    }
    return now;
}

static double value_off(const plx__label_program *p, table g, plx_index m)
{
    return m <= g.top ? g.value[m] - p->w.violate * (double)m : -INFINITY;
}

static void fill_class(const plx__label_program *p, plx__label_work *work, int32_t c, plx_index most)
{
    table g = whole_list(p, work, c, most), f = subtree(p, work, c, most);
    for (plx_index m = 0; m <= f.top; m++) {
        double off = work->fixed[c] == 1 ? -INFINITY : value_off(p, g, m);
        double on = work->fixed[c] == 0 || m == 0 ? -INFINITY : g.value[m - 1] + work->gain[c];
        f.value[m] = fmax(off, on);
    }
}

/* ---- going back ---- */

/* Shares the m selected classes of a list out among its subtrees: selected[c] of them in that of c. */
static void share_counts(const plx__label_program *p, plx__label_work *work, plx_index list, plx_index m,
                         plx_index most, int32_t *selected, bool *tie)
{
    const label_tree *t = p->tree;
    double price = t->siblings_exclude[list] ? p->w.violate : 0;
    int32_t *classes = selected + p->k;
    plx_index n = 0, before = 0;
    for (int32_t c = t->first_child[list]; c >= 0; c = t->next_sibling[c]) {
        classes[n++] = c;
        before += t->size[c];
    }
    while (n > 0) {
        int32_t c = classes[--n];
        before -= t->size[c];
        table f = subtree(p, work, c, most), rest = {work->real + t->before_at[c], plx__min(most, before)};
        double best = -INFINITY;
        bool equal = false;
        for (plx_index j = 0; j <= plx__min(m, f.top); j++) {
            if (m - j > rest.top) continue;
            double value = f.value[j] + rest.value[m - j] - price * (double)(j * (m - j));
            if (value == -INFINITY) continue;
            equal = value > best + TIE_WINDOW ? false : equal || value >= best - TIE_WINDOW;
            if (value <= best) continue;
            best = value;
            selected[c] = (int32_t)j;
        }
        *tie |= equal;
        m -= selected[c];
    }
}

/* Is class c selected when its subtree has m selected? Its list then has the rest. */
static bool is_on(const plx__label_program *p, plx__label_work *work, int32_t c, plx_index m, plx_index most, bool *tie)
{
    table g = whole_list(p, work, c, most);
    double off = work->fixed[c] == 1 ? -INFINITY : value_off(p, g, m);
    double on = work->fixed[c] == 0 || m == 0 ? -INFINITY : g.value[m - 1] + work->gain[c];
    if (isfinite(on) && isfinite(off)) *tie |= fabs(on - off) <= TIE_WINDOW;
    return on > off;
}

static plx_index best_count(table all, bool *tie)
{
    plx_index best = 0;
    for (plx_index m = 1; m <= all.top; m++)
        if (all.value[m] > all.value[best]) best = m;
    for (plx_index m = 0; m <= all.top; m++) *tie |= m != best && all.value[m] >= all.value[best] - TIE_WINDOW;
    return best;
}

void plx__label_subtree_counts(uint16_t *pattern, double *value, bool *tie, const plx__label_program *p,
                               plx__label_work *work, int s)
{
    const label_tree *t = p->tree;
    plx_index most = most_selected(p, work);
    int32_t *selected = work->whole;
    (void)s;
    *tie = false;
    memset(pattern, 0, (size_t)p->k * sizeof *pattern);
    for (plx_index i = 0; i < p->k; i++) fill_class(p, work, t->order[i], most);
    table all = whole_list(p, work, p->k, most);
    plx_index m = best_count(all, tie);
    *value = all.value[m];
    if (*value == -INFINITY) return; /* what was fixed cannot be had */
    share_counts(p, work, p->k, m, most, selected, tie);
    for (plx_index i = p->k - 1; i >= 0; i--) {
        int32_t c = t->order[i];
        if (selected[c] == 0) {
            for (int32_t below = t->first_child[c]; below >= 0; below = t->next_sibling[below]) selected[below] = 0;
            continue;
        }
        pattern[c] = is_on(p, work, c, selected[c], most, tie);
        share_counts(p, work, c, selected[c] - pattern[c], most, selected, tie);
    }
}
