/*
 * The tree split from the top.
 *
 * A node is a range of `order`, its samples ascending. The Ward tree that a view has of a node lies in the same range of
 * the view's arrays. When a node is split, a view whose tree joins either half by itself keeps that part of its tree:
 * it is the tree of that half (merges inside a group never look outside it). The view that made the split keeps both.
 */
#include <math.h>
#include <string.h>

#include "cluster/ward_groups.h"
#include "core/heap.h"
#include "methods/hybridtree/hybridtree.h"

typedef struct split {
    plx_index lo, mid, hi;
    int32_t child[2]; /* splits of the halves, -1: a single sample */
    int32_t view;
    double goodness, explained;
} split;

typedef struct work {
    const ht *h;
    plx_index *order;          /* n samples */
    int32_t **first, **second; /* by view: trees of the nodes */
    uint8_t **ready;           /* by view: does the node that begins here have its tree? */
    double *cost;              /* n: of merges, not used */
    uint8_t *side, *best_side; /* n: which half a sample of the node is in */
    int32_t *spare;            /* 6 n */
    split *splits;
    plx_index count;
} work;

static plx_status open_work(work *w, const ht *h)
{
    plx__arena *scratch = plx__scratch(h->ctx);
    *w = (work){.h = h};
    PLX_TRY(plx__arena_i64(&w->order, scratch, h->n));
    PLX_TRY(plx__arena_f64(&w->cost, scratch, h->n, 1));
    PLX_TRY(plx__arena_u8(&w->side, scratch, h->n));
    PLX_TRY(plx__arena_u8(&w->best_side, scratch, h->n));
    PLX_TRY(plx__arena_i32(&w->spare, scratch, 6 * h->n));
    PLX_TRY(PLX__ARENA_NEW(&w->splits, scratch, h->n));
    PLX_TRY(PLX__ARENA_NEW(&w->first, scratch, h->n_views));
    PLX_TRY(PLX__ARENA_NEW(&w->second, scratch, h->n_views));
    PLX_TRY(PLX__ARENA_NEW(&w->ready, scratch, h->n_views));
    for (plx_index v = 0; v < h->n_views; v++) {
        PLX_TRY(plx__arena_i32(&w->first[v], scratch, h->n));
        PLX_TRY(plx__arena_i32(&w->second[v], scratch, h->n));
        PLX_TRY(plx__arena_u8(&w->ready[v], scratch, h->n));
    }
    for (plx_index i = 0; i < h->n; i++) w->order[i] = i;
    return PLX_OK;
}

/* ---- a view's proposal ---- */

static bool eligible(const work *w, plx_index v, plx_index lo, plx_index hi)
{
    if (w->h->set->missing == HT_MISSING_MEAN) return true;
    for (plx_index i = lo; i < hi; i++)
        if (!w->h->view[v].present[w->order[i]]) return false;
    return true;
}

static plx_status grow_tree(work *w, plx_index v, plx_index lo, plx_index hi)
{
    plx__ward_part part = {w->h->view[v].rows, w->h->view[v].kind, 1.0};
    plx__merges tree = {hi - lo, w->first[v] + lo, w->second[v] + lo, w->cost};
    w->ready[v][lo] = 1;
    return plx__ward(&tree, w->h->ctx, &part, 1, w->order + lo, hi - lo);
}

/* side[i] = 1 for the samples that the last merge joins with the group of the first sample. */
static plx_index last_merge(work *w, plx_index v, plx_index lo, plx_index hi)
{
    plx_index m = hi - lo, depth = 0, taken = 0;
    const int32_t *first = w->first[v] + lo, *second = w->second[v] + lo;
    int32_t *stack = w->spare;
    stack[depth++] = second[m - 2];
    memset(w->side, 0, (size_t)m);
    while (depth > 0) {
        int32_t node = stack[--depth];
        if (node < m) {
            w->side[node] = 1;
            taken++;
            continue;
        }
        stack[depth++] = first[node - m];
        stack[depth++] = second[node - m];
    }
    if (!w->side[0]) return m - taken;
    for (plx_index i = 0; i < m; i++) w->side[i] = !w->side[i];
    return taken;
}

static plx_status half_cost(double *out, const work *w, plx_index v, plx_index lo, plx_index m, int half)
{
    plx__arena *scratch = plx__scratch(w->h->ctx);
    plx__mark mark = plx__arena_mark(scratch);
    plx_index *rows = NULL, count = 0;
    PLX_TRY(plx__arena_i64(&rows, scratch, m));
    for (plx_index i = 0; i < m; i++)
        if (half < 0 || w->side[i] == half) rows[count++] = w->order[lo + i];
    PLX_TRY(plx__bregman_cost(out, w->h->ctx, w->h->view[v].kind, w->h->view[v].rows, rows, count));
    plx__arena_rewind(scratch, mark);
    return PLX_OK;
}

static plx_status judge(double *goodness, double *explained, work *w, plx_index v, plx_index lo, plx_index hi)
{
    double all = 0, part[2] = {0, 0}, total = w->h->view[v].total;
    PLX_TRY(half_cost(&all, w, v, lo, hi - lo, -1));
    for (int half = 0; half < 2; half++) PLX_TRY(half_cost(&part[half], w, v, lo, hi - lo, half));
    double rest = part[0] + part[1];
    *explained = total > 0 ? fmax(all - rest, 0) / total : 0;
    if (all <= 1e-12 * total) *goodness = 1;
    else *goodness = rest <= 1e-12 * all ? INFINITY : all / rest;
    return PLX_OK;
}

/* ---- nodes that no view can split ---- */

static plx_status list_missing(const char **out, const ht *h, plx_index i)
{
    const char **names = NULL;
    plx_index count = 0;
    PLX_TRY(PLX__ARENA_NEW(&names, plx__scratch(h->ctx), h->n_views));
    for (plx_index v = 0; v < h->n_views; v++)
        if (!h->view[v].present[i]) names[count++] = h->view[v].name;
    return plx__list_names(out, plx__scratch(h->ctx), names, count);
}

/* Two samples to name: one that lacks a view, and one that has no view in common with it, or lacks one that it has. */
static void two_samples(plx_index *a, plx_index *b, const work *w, plx_index lo, plx_index hi)
{
    const ht *h = w->h;
    int found = -1;
    *a = *b = -1;
    for (plx_index i = lo; i < hi && *a < 0; i++)
        for (plx_index v = 0; v < h->n_views; v++)
            if (!h->view[v].present[w->order[i]]) *a = w->order[i];
    for (plx_index i = lo; i < hi; i++) {
        bool lacks = false, common = false;
        for (plx_index v = 0; v < h->n_views; v++) {
            lacks |= h->view[v].present[*a] && !h->view[v].present[w->order[i]];
            common |= h->view[v].present[*a] && h->view[v].present[w->order[i]];
        }
        int worth = !common ? 2 : lacks;
        if (w->order[i] == *a || worth <= found) continue;
        found = worth;
        *b = w->order[i];
    }
}

static plx_status no_view(const work *w, plx_index lo, plx_index hi)
{
    const ht *h = w->h;
    plx_index a = -1, b = -1;
    const char *lacks_a = NULL, *lacks_b = NULL;
    two_samples(&a, &b, w, lo, hi);
    PLX_TRY(list_missing(&lacks_a, h, a));
    PLX_TRY(list_missing(&lacks_b, h, b));
    PLX_FAIL(h->ctx, PLX_E_DATA,
             "hybridtree: no view is there for all of %lld samples that must be split: sample %s lacks %s, sample %s "
             "lacks %s; set missing=mean",
             (long long)(hi - lo), h->run->problem->ids[a], lacks_a, h->run->problem->ids[b], lacks_b);
}

/* ---- a split ---- */

static plx_status choose(split *s, work *w)
{
    plx_index m = s->hi - s->lo;
    double goodness = 0, explained = 0;
    s->view = -1;
    for (plx_index v = 0; v < w->h->n_views; v++) {
        if (!eligible(w, v, s->lo, s->hi)) continue;
        if (!w->ready[v][s->lo]) PLX_TRY(grow_tree(w, v, s->lo, s->hi));
        plx_index size = last_merge(w, v, s->lo, s->hi);
        PLX_TRY(judge(&goodness, &explained, w, v, s->lo, s->hi));
        if (s->view >= 0 && !(goodness > s->goodness * (1 + 1e-12))) continue;
        s->view = (int32_t)v, s->goodness = goodness, s->explained = explained;
        s->mid = s->lo + size;
        memcpy(w->best_side, w->side, (size_t)m);
    }
    return s->view < 0 ? no_view(w, s->lo, s->hi) : PLX_OK;
}

/* The parts of a view's tree that lie in one half: a whole tree where there are enough merges. */
static void divide_tree(work *w, plx_index v, const split *s)
{
    plx_index m = s->hi - s->lo, size[2] = {s->mid - s->lo, s->hi - s->mid}, made[2] = {0, 0}, seen[2] = {0, 0};
    int32_t *first = w->first[v] + s->lo, *second = w->second[v] + s->lo, *number = w->spare, *half = w->spare + 2 * m;
    int32_t *new_first = w->spare + 4 * m, *new_second = w->spare + 5 * m;
    for (plx_index i = 0; i < m; i++) {
        half[i] = w->best_side[i];
        number[i] = (int32_t)seen[half[i]]++;
    }
    for (plx_index r = 0; r + 1 < m; r++) {
        int32_t a = first[r], b = second[r], own = half[a] == half[b] ? half[a] : -1;
        half[m + r] = own;
        if (own < 0) continue;
        plx_index at = (own ? size[0] : 0) + made[own];
        number[m + r] = (int32_t)(size[own] + made[own]++);
        new_first[at] = number[a], new_second[at] = number[b];
    }
    memcpy(first, new_first, (size_t)m * sizeof *first);
    memcpy(second, new_second, (size_t)m * sizeof *second);
    w->ready[v][s->lo] = made[0] == size[0] - 1;
    w->ready[v][s->mid] = made[1] == size[1] - 1;
}

/* Samples of the first half come first; both stay ascending. */
static void divide_samples(work *w, const split *s)
{
    plx_index m = s->hi - s->lo, at[2] = {s->lo, s->mid};
    plx_index *copy = (plx_index *)(void *)w->cost; /* n numbers of eight bytes */
    memcpy(copy, w->order + s->lo, (size_t)m * sizeof *copy);
    for (plx_index i = 0; i < m; i++) w->order[at[w->best_side[i]]++] = copy[i];
}

static plx_status make_split(work *w, plx_index number)
{
    split *s = &w->splits[number];
    PLX_TRY(choose(s, w));
    for (plx_index v = 0; v < w->h->n_views; v++) {
        if (w->ready[v][s->lo]) divide_tree(w, v, s);
        else w->ready[v][s->mid] = 0;
    }
    divide_samples(w, s);
    for (int half = 0; half < 2; half++) {
        plx_index lo = half ? s->mid : s->lo, hi = half ? s->hi : s->mid;
        s->child[half] = -1;
        if (hi - lo < 2) continue;
        s->child[half] = (int32_t)w->count;
        w->splits[w->count++] = (split){.lo = lo, .hi = hi};
    }
    return PLX_OK;
}

/* ---- the order of splits ---- */

typedef struct opening {
    const work *w;
    int cut;
} opening;

/* Larger first, then larger nodes, then by smallest member. */
static bool opens_before(const void *of, int32_t a, int32_t b)
{
    const opening *o = of;
    const split *x = &o->w->splits[a], *y = &o->w->splits[b];
    double p = o->cut == HT_CUT_EXPLAINED ? x->explained : x->goodness;
    double q = o->cut == HT_CUT_EXPLAINED ? y->explained : y->goodness;
    int64_t key_p = o->cut == HT_CUT_SIZE ? 0 : plx__ward_key(p), key_q = o->cut == HT_CUT_SIZE ? 0 : plx__ward_key(q);
    if (key_p != key_q) return key_p > key_q;
    if (x->hi - x->lo != y->hi - y->lo) return x->hi - x->lo > y->hi - y->lo;
    return o->w->order[x->lo] < o->w->order[y->lo];
}

static int32_t node_of(const work *w, const int32_t *row, int32_t child, plx_index at)
{
    return child < 0 ? (int32_t)w->order[at] : (int32_t)(w->h->n + row[child]);
}

static void put_row(ht_tree *out, const work *w, const int32_t *row, const split *s, plx_index r)
{
    int32_t a = node_of(w, row, s->child[0], s->lo), b = node_of(w, row, s->child[1], s->mid);
    out->merges.first[r] = a < b ? a : b;
    out->merges.second[r] = a < b ? b : a;
    out->merges.cost[r] = (double)(r + 1);
    out->view[r] = s->view;
    out->goodness[r] = s->goodness;
    out->explained[r] = s->explained;
}

static plx_status order_splits(ht_tree *out, const work *w)
{
    plx__arena *scratch = plx__scratch(w->h->ctx);
    plx_index n = w->h->n;
    opening o = {w, w->h->set->cut};
    plx__heap open;
    int32_t *row = NULL;
    PLX_TRY(plx__heap_init(&open, scratch, n, opens_before, &o));
    PLX_TRY(plx__arena_i32(&row, scratch, n));
    plx__heap_push(&open, 0);
    for (plx_index r = n - 1; r-- > 0;) {
        int32_t next = plx__heap_pop(&open);
        row[next] = (int32_t)r;
        for (int half = 0; half < 2; half++)
            if (w->splits[next].child[half] >= 0) plx__heap_push(&open, w->splits[next].child[half]);
    }
    for (plx_index s = 0; s + 1 < n; s++) put_row(out, w, row, &w->splits[s], row[s]);
    return PLX_OK;
}

plx_status plx__ht_hybrid(ht_tree *out, const ht *h)
{
    work w;
    if (h->n < 2) return PLX_OK;
    PLX_TRY(open_work(&w, h));
    w.splits[0] = (split){.lo = 0, .hi = h->n};
    w.count = 1;
    for (plx_index s = 0; s < w.count; s++) {
        PLX_TRY(make_split(&w, s));
        PLX_TRY(plx__report(h->ctx, "splits", s + 1, h->n - 1, NAN));
    }
    return order_splits(out, &w);
}
