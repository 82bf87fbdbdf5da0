/*
 * Ward's tree under squared Euclidean distance by nearest-neighbour chains, in O(n) memory beyond the rows.
 *
 * A chain goes from a group to its nearest one, and on, until two are each other's nearest: the tree merges these, since
 * no other merge can bring either of them nearer to a third group. Which of the merges came first is settled at the end.
 *
 * Every group keeps a list of near groups and a bound below which nobody outside the list is. Groups only move away as
 * others merge, so a list stays good for as long as its nearest entry is within the bound; entries that were merged
 * stand for the group they are in now. The list of a merged group is made of the lists of both, with the bound that
 * Lance and Williams' formula leaves of theirs: all rows are looked at again only when a list runs out.
 */
#include <math.h>
#include <string.h>

#include "cluster/float_rows.h"
#include "cluster/ward_groups.h"
#include "core/heap.h"
#include "device/anywhere.h"
#include "linalg/knn.h"

enum { LIST = 32 };

/* Rounding of costs must not let a bound pass for larger than it is. */
static const double SLACK = 1 - 1e-10;

typedef struct candidate {
    double cost;
    int32_t group;
} candidate;

typedef struct chain {
    plx__ward_groups *g;
    plx_index alive;
    int32_t *group;  /* alive ones, in no order */
    int32_t *place;  /* of every alive group there */
    int32_t *parent; /* of merged groups: what they are in now */
    int32_t *near;   /* n x LIST */
    int32_t *listed; /* entries of every list */
    double *bound;
    double *cost; /* of a look at all groups */
    bool dense;
    plx__float_rows rough; /* dense rows, in the order of `group` */
    candidate best[2 * LIST + 1];
    plx_index looks; /* at all groups */
} chain;

static int32_t now_in(chain *c, int32_t group)
{
    while (c->parent[group] != group) group = c->parent[group] = c->parent[c->parent[group]];
    return group;
}

/* By cost, ties to the smaller group: of two groups compared with a third it makes the smaller pair. */
static bool nearer(candidate a, candidate b)
{
    int64_t x = plx__ward_key(a.cost), y = plx__ward_key(b.cost);
    return x != y ? x < y : a.group < b.group;
}

/* ---- lists ---- */

/* Insertion into a sorted list of at most `most`; what falls out is returned by its cost (INFINITY: nothing). */
static double insert(candidate *list, plx_index *count, plx_index most, candidate new_one)
{
    plx_index at = *count;
    double out = INFINITY;
    if (at == most) {
        if (!nearer(new_one, list[at - 1])) return new_one.cost;
        out = list[--at].cost;
    } else {
        ++*count;
    }
    for (; at > 0 && nearer(new_one, list[at - 1]); at--) list[at] = list[at - 1];
    list[at] = new_one;
    return out;
}

static void keep_list(chain *c, plx_index i, plx_index count, double bound)
{
    c->listed[i] = (int32_t)count;
    for (plx_index k = 0; k < count; k++) c->near[i * LIST + k] = c->best[k].group;
    c->bound[i] = bound;
}

/* Costs that need not be exact: lower bounds where the rows are dense. */
static plx_status rough_costs(chain *c, plx_index i)
{
    if (!c->dense) return plx__ward_row(c->cost, c->g, i, c->group, c->alive);
    double weight = c->g->part[0].weight, s = c->g->size[i];
    PLX_TRY(plx__float_bounds(c->cost, c->g->ctx, &c->rough, c->place[i], c->alive));
    for (plx_index p = 0; p < c->alive; p++) {
        double t = c->g->size[c->group[p]];
        c->cost[p] *= weight * s * t / (s + t);
    }
    return PLX_OK;
}

/* A look at all groups: the nearest ones of group i and the bound of the others. */
static plx_status look(chain *c, plx_index i)
{
    plx_index count = 0;
    double bound = INFINITY;
    PLX_TRY(rough_costs(c, i));
    for (plx_index p = 0; p < c->alive; p++) {
        if (c->group[p] == i) continue;
        if (count == LIST && c->cost[p] > c->best[LIST - 1].cost) {
            bound = c->cost[p] < bound ? c->cost[p] : bound;
            continue;
        }
        double cost = c->dense ? plx__ward_pair(c->g, i, c->group[p]) : c->cost[p];
        bound = fmin(bound, insert(c->best, &count, LIST, (candidate){cost, c->group[p]}));
    }
    keep_list(c, i, count, bound);
    c->looks++;
    return PLX_OK;
}

/* What the lists of i and of another group (-1: none) have come to, best first in c->best; without i itself. */
static double gather(chain *c, plx_index *count, plx_index i, plx_index other)
{
    int32_t found[2 * LIST];
    plx_index n = 0;
    double out = INFINITY;
    for (plx_index l = 0; l < (other < 0 ? 1 : 2); l++) {
        plx_index of = l ? other : i;
        for (plx_index k = 0; k < c->listed[of]; k++) {
            int32_t group = now_in(c, c->near[of * LIST + k]);
            plx_index q = 0;
            while (q < n && found[q] != group) q++;
            if (q == n && group != i) found[n++] = group;
        }
    }
    *count = 0;
    for (plx_index q = 0; q < n; q++)
        out = fmin(out, insert(c->best, count, LIST, (candidate){plx__ward_pair(c->g, i, found[q]), found[q]}));
    return out;
}

static plx_status nearest(candidate *out, chain *c, plx_index i)
{
    plx_index count = 0;
    gather(c, &count, i, -1);
    if (count == 0 || !(c->best[0].cost < c->bound[i] * SLACK)) PLX_TRY(look(c, i));
    *out = c->best[0];
    return PLX_OK;
}

/* Least cost to a group of any size outside both lists, when i and j merge at `cost`. The formula is monotone in the
 * size of that group. */
static double merged_bound(const chain *c, plx_index i, plx_index j, double cost)
{
    double s = c->g->size[i], t = c->g->size[j], most = (double)c->g->n - s - t, a = c->bound[i], b = c->bound[j];
    if (isinf(a) && isinf(b)) return INFINITY;
    a = isinf(a) ? b : a, b = isinf(b) ? a : b; /* every group is listed there: none is outside both */
    double one = ((s + 1) * a + (t + 1) * b - cost) / (s + t + 1);
    double all = ((s + most) * a + (t + most) * b - most * cost) / (s + t + most);
    return fmax(fmin(one, all), fmin(a, b)) * SLACK;
}

/* The last group takes the place of one that is gone. */
static void remove_group(chain *c, plx_index j)
{
    plx_index place = c->place[j], last = --c->alive;
    c->group[place] = c->group[last];
    c->place[c->group[place]] = (int32_t)place;
    if (c->dense) plx__float_move(&c->rough, place, last);
}

static void join(chain *c, int32_t i, int32_t j, double cost)
{
    double bound = merged_bound(c, i, j, cost);
    plx_index count = 0;
    remove_group(c, j);
    c->parent[j] = i;
    plx__ward_merge(c->g, i, j);
    if (c->dense) plx__float_set(&c->rough, c->place[i], c->g->part[0].mean + i * c->g->part[0].ld);
    bound = fmin(bound, gather(c, &count, i, j));
    keep_list(c, i, count, bound);
}

/* The first lists: exact neighbours of all rows. A merge of two rows costs half their squared distance. */
static plx_status first_lists(chain *c, plx__points rows, double weight)
{
    plx__arena *scratch = plx__scratch(c->g->ctx);
    plx__mark mark = plx__arena_mark(scratch);
    plx_index n = c->g->n, k = plx__min(LIST + 1, n - 1), keep = plx__min(LIST, n - 1);
    plx__knn_options options = {.k = k, .metric = PLX__EUCLID, .self = true};
    int64_t *index = NULL;
    double *distance = NULL;
    if (n < 2) return PLX_OK;
    PLX_TRY(plx__arena_i64(&index, scratch, n * k));
    PLX_TRY(plx__arena_f64(&distance, scratch, n, k));
    PLX_TRY(plx__knn_anywhere(c->g->ctx, rows, rows, &options, index, distance));
    for (plx_index i = 0; i < n; i++) {
        double far = distance[i * k + k - 1];
        c->listed[i] = (int32_t)keep;
        c->bound[i] = k > keep ? 0.5 * weight * far * far * SLACK : INFINITY;
        if (far < 1e-11) c->bound[i] = 0; /* the search takes distances that small for equal */
        for (plx_index q = 0; q < keep; q++) c->near[i * LIST + q] = (int32_t)index[i * k + q];
    }
    plx__arena_rewind(scratch, mark);
    return PLX_OK;
}

static plx_status open_chain(chain *c, plx__ward_groups *g, plx__points rows)
{
    plx__arena *scratch = plx__scratch(g->ctx);
    *c = (chain){.g = g, .alive = g->n};
    PLX_TRY(plx__arena_i32(&c->group, scratch, g->n));
    PLX_TRY(plx__arena_i32(&c->place, scratch, g->n));
    PLX_TRY(plx__arena_i32(&c->parent, scratch, g->n));
    PLX_TRY(plx__arena_i32(&c->near, scratch, g->n * LIST));
    PLX_TRY(plx__arena_i32(&c->listed, scratch, g->n));
    PLX_TRY(plx__arena_f64(&c->bound, scratch, g->n, 1));
    PLX_TRY(plx__arena_f64(&c->cost, scratch, g->n, 1));
    for (plx_index i = 0; i < g->n; i++) c->group[i] = c->place[i] = c->parent[i] = (int32_t)i;
    c->dense = !plx__points_sparse(rows);
    if (c->dense) PLX_TRY(plx__float_open(&c->rough, g->ctx, rows.dense));
    return first_lists(c, rows, g->part[0].weight);
}

/* Merges in the order they are found. */
static plx_status follow(plx__merges *out, chain *c)
{
    int32_t *path = NULL;
    plx_index length = 0;
    PLX_TRY(plx__arena_i32(&path, plx__scratch(c->g->ctx), c->g->n));
    for (plx_index r = 0; r + 1 < c->g->n;) {
        candidate next;
        if (length == 0) path[length++] = c->group[0];
        int32_t top = path[length - 1];
        PLX_TRY(nearest(&next, c, top));
        if (length < 2 || (next.group != path[length - 2] && length < c->g->n)) {
            path[length++] = next.group;
            continue;
        }
        int32_t last = path[length - 2], i = (int32_t)plx__min(top, last), j = (int32_t)plx__max(top, last);
        out->first[r] = i, out->second[r] = j, out->cost[r] = next.cost;
        length -= 2;
        join(c, i, j, next.cost);
        PLX_TRY(plx__report(c->g->ctx, "merges", ++r, c->g->n - 1, NAN));
    }
    plx__debug(c->g->ctx, "ward: %lld looks at all groups", (long long)c->looks);
    return PLX_OK;
}

/* ---- the order of merges ---- */

/* A merge can be made when the groups it joins are there: `waits` counts the merges it still needs. */
typedef struct order {
    plx__heap ready;
    int32_t *waits, *above; /* above: the merge that uses the result, -1 */
} order;

static bool merge_before(const void *of, int32_t a, int32_t b)
{
    const plx__merges *m = of;
    int64_t x = plx__ward_key(m->cost[a]), y = plx__ward_key(m->cost[b]);
    if (x != y) return x < y;
    return m->first[a] != m->first[b] ? m->first[a] < m->first[b] : m->second[a] < m->second[b];
}

/* Which merge made the groups that each merge joins: the last one before it with that number. */
static plx_status open_order(order *o, plx_context *ctx, const plx__merges *m)
{
    plx__arena *scratch = plx__scratch(ctx);
    int32_t *made_by = NULL;
    PLX_TRY(plx__heap_init(&o->ready, scratch, m->n, merge_before, m));
    PLX_TRY(plx__arena_i32(&o->waits, scratch, m->n));
    PLX_TRY(plx__arena_i32(&o->above, scratch, m->n));
    PLX_TRY(plx__arena_i32(&made_by, scratch, m->n));
    for (plx_index i = 0; i < m->n; i++) o->above[i] = made_by[i] = -1;
    for (int32_t r = 0; r + 1 < m->n; r++) {
        int32_t below[2] = {made_by[m->first[r]], made_by[m->second[r]]};
        for (int b = 0; b < 2; b++)
            if (below[b] >= 0) o->above[below[b]] = r, o->waits[r]++;
        made_by[m->first[r]] = r;
    }
    for (int32_t r = 0; r + 1 < m->n; r++)
        if (o->waits[r] == 0) plx__heap_push(&o->ready, r);
    return PLX_OK;
}

static plx_status sort_merges(plx__merges *m, plx_context *ctx)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx__merges sorted = {.n = m->n};
    order o;
    size_t count = (size_t)m->n - 1;
    PLX_TRY(open_order(&o, ctx, m));
    PLX_TRY(plx__arena_i32(&sorted.first, scratch, m->n));
    PLX_TRY(plx__arena_i32(&sorted.second, scratch, m->n));
    PLX_TRY(plx__arena_f64(&sorted.cost, scratch, m->n, 1));
    for (plx_index r = 0; r + 1 < m->n; r++) {
        int32_t next = plx__heap_pop(&o.ready), above = o.above[next];
        sorted.first[r] = m->first[next], sorted.second[r] = m->second[next], sorted.cost[r] = m->cost[next];
        if (above >= 0 && --o.waits[above] == 0) plx__heap_push(&o.ready, above);
    }
    memcpy(m->first, sorted.first, count * sizeof *m->first);
    memcpy(m->second, sorted.second, count * sizeof *m->second);
    memcpy(m->cost, sorted.cost, count * sizeof *m->cost);
    return PLX_OK;
}

plx_status plx__ward_chain(plx__merges *out, plx__ward_groups *g, plx__points rows)
{
    chain c;
    PLX_TRY(open_chain(&c, g, rows));
    PLX_TRY(follow(out, &c));
    return sort_merges(out, g->ctx);
}
