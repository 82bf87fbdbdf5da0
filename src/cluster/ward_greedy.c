/*
 * Ward's tree by its definition: a triangle of costs, the least entry of every row, and a heap of the rows by it.
 *
 * Entry (i, j), i < j, belongs to row i. A row whose partner was merged keeps its old least cost as a bound, which no
 * entry left in it can undercut (a new group is compared with every row when it is made), and is searched again only
 * when it comes to the top.
 */
#include <math.h>
#include <string.h>

#include "cluster/ward_groups.h"
#include "core/heap.h"

typedef struct greedy {
    plx__ward_groups *g;
    plx_index alive;
    int32_t *group; /* alive ones, ascending */
    double *cost;   /* triangle */
    double *least;  /* per row; no entry is smaller */
    int32_t *near;  /* the entry it is; -1: to be searched again */
    plx__heap rows;
} greedy;

static double *entry(const greedy *w, plx_index i, plx_index j)
{
    plx_index n = w->g->n;
    return i < j ? w->cost + i * (2 * n - i - 1) / 2 + (j - i - 1) : w->cost + j * (2 * n - j - 1) / 2 + (i - j - 1);
}

/* Least cost first, then the smaller row. */
static bool before(const void *of, int32_t a, int32_t b)
{
    const greedy *w = of;
    int64_t x = plx__ward_key(w->least[a]), y = plx__ward_key(w->least[b]);
    return x != y ? x < y : a < b;
}

/* ---- rows ---- */

static plx_index position(const greedy *w, int32_t group)
{
    plx_index lo = 0, hi = w->alive;
    while (lo < hi) {
        plx_index mid = (lo + hi) / 2;
        if (w->group[mid] < group) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

static void search(greedy *w, int32_t row)
{
    const double *base = w->cost + (plx_index)row * (2 * w->g->n - row - 1) / 2 - row - 1;
    w->near[row] = -1;
    for (plx_index p = position(w, row) + 1; p < w->alive; p++) {
        double cost = base[w->group[p]];
        if (w->near[row] >= 0 && plx__ward_key(cost) >= plx__ward_key(w->least[row])) continue;
        w->least[row] = cost;
        w->near[row] = w->group[p];
    }
    if (w->near[row] < 0) plx__heap_remove(&w->rows, row); /* the last group: all its pairs are in other rows */
    else plx__heap_update(&w->rows, row);
}

/* Row k after groups i < j became i, whose cost to k is `cost`. */
static void adjust(greedy *w, int32_t k, int32_t i, int32_t j, double cost)
{
    *entry(w, k, i) = cost;
    if (k > j) return;
    bool lost = w->near[k] == i || w->near[k] == j;
    if (k > i) {
        if (lost) w->near[k] = -1;
        return;
    }
    int64_t new_key = plx__ward_key(cost), key = plx__ward_key(w->least[k]);
    if (new_key < key || (new_key == key && (lost || i < w->near[k]))) {
        w->least[k] = cost;
        w->near[k] = i;
        plx__heap_update(&w->rows, k);
    } else if (lost) {
        w->near[k] = -1;
    }
}

/* ---- the tree ---- */

static plx_status open_greedy(greedy *w, plx__ward_groups *g)
{
    plx__arena *scratch = plx__scratch(g->ctx);
    plx_index n = g->n;
    *w = (greedy){.g = g, .alive = n};
    PLX_TRY(plx__arena_i32(&w->group, scratch, n));
    PLX_TRY(plx__arena_f64(&w->cost, scratch, n, (n - 1) / 2 + 1));
    PLX_TRY(plx__arena_f64(&w->least, scratch, n, 1));
    PLX_TRY(plx__arena_i32(&w->near, scratch, n));
    PLX_TRY(plx__heap_init(&w->rows, scratch, n, before, w));
    for (plx_index i = 0; i < n; i++) w->group[i] = (int32_t)i;
    for (plx_index i = 0; i + 1 < n; i++) {
        PLX_TRY(plx__ward_row(entry(w, i, i + 1), g, i, w->group + i + 1, n - 1 - i));
        PLX_TRY(plx__report(g->ctx, "costs", i + 1, n - 1, NAN));
    }
    for (plx_index i = 0; i + 1 < n; i++) {
        const double *row = entry(w, i, i + 1);
        plx_index best = 0;
        for (plx_index j = 1; j < n - 1 - i; j++)
            if (plx__ward_key(row[j]) < plx__ward_key(row[best])) best = j;
        w->least[i] = row[best];
        w->near[i] = (int32_t)(i + 1 + best);
        plx__heap_push(&w->rows, (int32_t)i);
    }
    return PLX_OK;
}

/* Groups i < j become i. `row` has room for the costs of the others. */
static plx_status join(greedy *w, int32_t i, int32_t j, double *row)
{
    plx_index at = position(w, j);
    memmove(w->group + at, w->group + at + 1, (size_t)(w->alive - at - 1) * sizeof *w->group);
    w->alive--;
    plx__heap_remove(&w->rows, j);
    plx__ward_merge(w->g, i, j);
    PLX_TRY(plx__ward_row(row, w->g, i, w->group, w->alive));
    for (plx_index p = 0; p < w->alive; p++)
        if (w->group[p] != i) adjust(w, w->group[p], i, j, row[p]);
    if (w->alive > 1) search(w, i);
    return PLX_OK;
}

plx_status plx__ward_greedy(plx__merges *out, plx__ward_groups *g)
{
    greedy w;
    double *row = NULL;
    PLX_TRY(open_greedy(&w, g));
    PLX_TRY(plx__arena_f64(&row, plx__scratch(g->ctx), g->n, 1));
    for (plx_index r = 0; r + 1 < g->n; r++) {
        while (w.near[w.rows.item[0]] < 0) search(&w, w.rows.item[0]);
        int32_t i = w.rows.item[0], j = w.near[i];
        out->first[r] = i, out->second[r] = j, out->cost[r] = w.least[i];
        PLX_TRY(join(&w, i, j, row));
        PLX_TRY(plx__report(g->ctx, "merges", r + 1, g->n - 1, NAN));
    }
    return PLX_OK;
}
