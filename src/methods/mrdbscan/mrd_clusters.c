/*
 * Clusters from neighbours: objects with minpts neighbours (themselves included) are core, core objects that are
 * neighbours come into one set, and the rest joins the lowest-numbered set among its core neighbours.
 *
 * Workers hand over pairs in whatever order they find them; counts, sets and smallest numbers do not depend on it. The
 * pairs are kept as long as there is room, LISTED / 2 per object; with more of them a second pass over all pairs joins,
 * and only those of an object that is not core are kept: fewer than minpts each.
 */
#include <math.h>
#include <stdatomic.h>

#include "core/parallel.h"
#include "graph/components.h"
#include "methods/mrdbscan/mrdbscan.h"

enum { LISTED = 128 };

typedef struct pair {
    int32_t a, b;
} pair;

typedef struct grouping {
    const mrd *m;
    plx_index n;
    int32_t **own; /* per worker: neighbours found of every object; then its disjoint sets of core objects */
    uint8_t *core;
    pair *pairs;
    int64_t room;
    atomic_llong met; /* pairs that were to be kept */
} grouping;

static void keep(grouping *g, int32_t i, const int32_t *others, plx_index count)
{
    int64_t at = atomic_fetch_add(&g->met, count);
    if (at + count > g->room) return;
    for (plx_index q = 0; q < count; q++) g->pairs[at + q] = (pair){i, others[q]};
}

/* ---- counting ---- */

static void count_pairs(void *arg, int worker, int32_t i, const int32_t *others, plx_index count)
{
    grouping *g = arg;
    int32_t *own = g->own[worker];
    own[i] += (int32_t)count;
    for (plx_index q = 0; q < count; q++) own[others[q]]++;
    keep(g, i, others, count);
}

static plx_status open_grouping(grouping *g, const mrd *m, mrd_clusters *out)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    *g = (grouping){.m = m, .n = m->n_a};
    g->room = m->n_a * plx__min(LISTED, m->n_a) / 2;
    PLX_TRY(PLX__ARENA_NEW(&g->own, scratch, plx__workers(m->ctx)));
    for (int w = 0; w < plx__workers(m->ctx); w++) PLX_TRY(plx__arena_i32(&g->own[w], scratch, g->n));
    PLX_TRY(plx__arena_bytes((void **)&g->pairs, scratch, g->room, sizeof *g->pairs));
    PLX_TRY(plx__arena_f64(&out->neighbours, scratch, g->n, 1));
    PLX_TRY(plx__arena_u8(&out->core, scratch, g->n));
    PLX_TRY(plx__arena_i32(&out->cluster, scratch, g->n));
    g->core = out->core;
    return PLX_OK;
}

static plx_status count_neighbours(grouping *g, const mrd_near *near, mrd_clusters *out)
{
    PLX_TRY(plx__mrd_near_pairs(near, count_pairs, g, "neighbours"));
    for (plx_index i = 0; i < g->n; i++) {
        int64_t count = 1;
        for (int w = 0; w < plx__workers(g->m->ctx); w++) count += g->own[w][i];
        out->neighbours[i] = (double)count;
        g->core[i] = count >= g->m->minpts;
        for (int w = 0; w < plx__workers(g->m->ctx); w++) g->own[w][i] = (int32_t)i;
    }
    return PLX_OK;
}

/* ---- joining ---- */

static void join_pairs(void *arg, int worker, int32_t i, const int32_t *others, plx_index count)
{
    grouping *g = arg;
    for (plx_index q = 0; q < count; q++) {
        if (g->core[i] && g->core[others[q]]) plx__disjoint_join(g->own[worker], i, others[q]);
        else if (g->core[i] || g->core[others[q]]) keep(g, i, &others[q], 1);
    }
}

/* All pairs once more: core ones into the workers' sets, those with one core object are kept. */
static plx_status join_again(grouping *g, const mrd_near *near, const double *neighbours)
{
    int64_t room = 0;
    for (plx_index i = 0; i < g->n; i++)
        if (!g->core[i]) room += (int64_t)neighbours[i] - 1;
    if (room > g->room) PLX_TRY(plx__arena_bytes((void **)&g->pairs, plx__scratch(g->m->ctx), room, sizeof *g->pairs));
    g->room = plx__max(room, g->room);
    atomic_store(&g->met, 0);
    PLX_TRY(plx__mrd_near_pairs(near, join_pairs, g, "clusters"));
    for (int w = 1; w < plx__workers(g->m->ctx); w++)
        for (plx_index i = 0; i < g->n; i++) plx__disjoint_join(g->own[0], i, g->own[w][i]);
    return PLX_OK;
}

/* Numbers by smallest core object; the others by their lowest-numbered core neighbour. */
static plx_status number_clusters(grouping *g, mrd_clusters *out)
{
    int64_t kept = atomic_load(&g->met);
    PLX_TRY(plx__disjoint_number(out->cluster, &out->count, g->m->ctx, g->own[0], g->core, g->n));
    for (int64_t q = 0; q < kept; q++) {
        pair p = g->pairs[q];
        if (g->core[p.a] == g->core[p.b]) continue;
        int32_t border = g->core[p.a] ? p.b : p.a, number = out->cluster[g->core[p.a] ? p.a : p.b];
        if (out->cluster[border] < 0 || number < out->cluster[border]) out->cluster[border] = number;
    }
    return PLX_OK;
}

plx_status plx__mrd_cluster(mrd_clusters *out, const mrd *m)
{
    mrd_near near;
    grouping g;
    *out = (mrd_clusters){0};
    PLX_TRY(plx__mrd_near_open(&near, m));
    PLX_TRY(open_grouping(&g, m, out));
    PLX_TRY(count_neighbours(&g, &near, out));
    if (atomic_load(&g.met) > g.room) {
        PLX_TRY(join_again(&g, &near, out->neighbours));
    } else {
        for (int64_t q = 0; q < atomic_load(&g.met); q++)
            if (g.core[g.pairs[q].a] && g.core[g.pairs[q].b]) plx__disjoint_join(g.own[0], g.pairs[q].a, g.pairs[q].b);
    }
    return number_clusters(&g, out);
}

double plx__mrd_cluster_bytes(double n, double minpts, int workers)
{
    return 8 * n * (fmin(n, LISTED) / 2 + fmin(n, minpts)) + 4 * n * workers + 13 * n;
}
