/*
 * The cut of a density hierarchy whose clusters carry the largest mass.
 *
 * Going up the levels of a spanning forest, all joins of one level together: a component that has just become large
 * (max(2, minpts) objects) or that holds two or more large ones is a new cluster with birth e, those inside it die at
 * e; a component that holds exactly one is the same cluster, grown. The mass of a cluster with death f is the sum over
 * its objects of 1/(1 + a(o)) - 1/(1 + f), a(o) the level at which o came in. T(f), the mass of the clusters alive just
 * below f, is compared over the deaths f at which at least a quarter of the objects are core.
 */
#include <math.h>
#include <stdlib.h>

#include "methods/mrdbscan/mrdbscan.h"

static const double SAME_LEVEL = 1e-12, SAME_MASS = 1e-9;

typedef struct cluster {
    double birth, death, sum; /* sum of 1/(1 + a(o)) */
    plx_index objects;
    int32_t next; /* in the list of clusters that a component of the running level holds; -1: end */
} cluster;

typedef struct component { /* at a root of the disjoint sets */
    plx_index size;
    int32_t held;  /* first cluster held before the running level, -1: none */
    int32_t level; /* the running level that has touched it */
} component;

typedef struct hierarchy {
    const mrd_tree *tree;
    int32_t *order;  /* edges by weight */
    int32_t *parent; /* disjoint sets */
    component *at;
    cluster *clusters;
    plx_index n_clusters, large;
    double *level; /* all levels, ascending */
    plx_index n_levels;
} hierarchy;

/* ---- levels ---- */

typedef struct weighted {
    double weight;
    int32_t edge;
} weighted;

static int by_weight(const void *x, const void *y)
{
    const weighted *a = x, *b = y;
    if (a->weight != b->weight) return a->weight < b->weight ? -1 : 1;
    return (a->edge > b->edge) - (a->edge < b->edge);
}

static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static plx_status open_hierarchy(hierarchy *h, plx_context *ctx, const mrd_tree *tree)
{
    plx__arena *scratch = plx__scratch(ctx);
    weighted *sorted = NULL;
    *h = (hierarchy){.tree = tree, .large = plx__max(2, tree->minpts)};
    PLX_TRY(PLX__ARENA_NEW(&sorted, scratch, tree->edges));
    PLX_TRY(plx__arena_i32(&h->order, scratch, tree->edges));
    PLX_TRY(plx__arena_i32(&h->parent, scratch, tree->n));
    PLX_TRY(PLX__ARENA_NEW(&h->at, scratch, tree->n));
    PLX_TRY(PLX__ARENA_NEW(&h->clusters, scratch, tree->edges));
    PLX_TRY(plx__arena_f64(&h->level, scratch, tree->edges, 1));
    for (plx_index e = 0; e < tree->edges; e++) sorted[e] = (weighted){tree->weight[e], (int32_t)e};
    qsort(sorted, (size_t)tree->edges, sizeof *sorted, by_weight);
    for (plx_index e = 0; e < tree->edges; e++) h->order[e] = sorted[e].edge;
    for (plx_index i = 0; i < tree->n; i++) {
        h->parent[i] = (int32_t)i;
        h->at[i] = (component){1, -1, -1};
    }
    return PLX_OK;
}

/* One join of the running level: the lists of held clusters are put together. */
static void join(hierarchy *h, int32_t edge, int32_t level)
{
    int32_t a = root_of(h->parent, h->tree->from[edge]), b = root_of(h->parent, h->tree->to[edge]);
    component *into = &h->at[a], *other = &h->at[b];
    if (a == b) return;
    h->parent[b] = a;
    into->size += other->size;
    into->level = level;
    if (into->held < 0) {
        into->held = other->held;
    } else if (other->held >= 0) {
        int32_t last = other->held;
        while (h->clusters[last].next >= 0) last = h->clusters[last].next;
        h->clusters[last].next = into->held;
        into->held = other->held;
    }
}

/* A component after all joins of level e. */
static void settle(hierarchy *h, component *c, double e)
{
    if (c->size < h->large) return;
    if (c->held >= 0 && h->clusters[c->held].next < 0) { /* the same cluster, grown */
        cluster *same = &h->clusters[c->held];
        same->sum += (double)(c->size - same->objects) / (1 + e);
        same->objects = c->size;
        return;
    }
    for (int32_t q = c->held; q >= 0; q = h->clusters[q].next) h->clusters[q].death = e;
    c->held = (int32_t)h->n_clusters;
    h->clusters[h->n_clusters++] = (cluster){e, INFINITY, (double)c->size / (1 + e), c->size, -1};
}

static void climb(hierarchy *h)
{
    const mrd_tree *t = h->tree;
    for (plx_index begin = 0, end; begin < t->edges; begin = end) {
        double e = t->weight[h->order[begin]];
        int32_t level = (int32_t)h->n_levels;
        for (end = begin; end < t->edges && t->weight[h->order[end]] <= e * (1 + SAME_LEVEL); end++)
            join(h, h->order[end], level);
        for (plx_index q = begin; q < end; q++) {
            component *c = &h->at[root_of(h->parent, t->from[h->order[q]])];
            if (c->level != level) continue; /* settled by an earlier edge */
            settle(h, c, e);
            c->level = -1;
        }
        h->level[h->n_levels++] = e;
    }
}

/* ---- the cut ---- */

static int ascending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* At least a quarter of the objects are core below f. */
static bool enough_core(const mrd_tree *t, double f)
{
    plx_index core = 0;
    for (plx_index i = 0; i < t->n; i++) core += t->core[i] < f;
    return 4 * core >= t->n;
}

static double mass(const cluster *c)
{
    return c->sum - (isfinite(c->death) ? (double)c->objects / (1 + c->death) : 0.0);
}

/* T(f) = mass of the clusters with birth < f <= death. */
static double alive_mass(const hierarchy *h, double f)
{
    double sum = 0;
    for (plx_index q = 0; q < h->n_clusters; q++)
        if (h->clusters[q].birth < f && f <= h->clusters[q].death) sum += mass(&h->clusters[q]);
    return sum;
}

/* Distinct deaths, ascending; infinity only when two clusters never die. `out` has room for all clusters. */
static plx_index candidates(double *out, const hierarchy *h)
{
    plx_index count = 0, distinct = 0, immortal = 0;
    for (plx_index q = 0; q < h->n_clusters; q++) {
        immortal += isinf(h->clusters[q].death) != 0;
        if (isfinite(h->clusters[q].death)) out[count++] = h->clusters[q].death;
    }
    qsort(out, (size_t)count, sizeof *out, ascending);
    for (plx_index q = 0; q < count; q++)
        if ((q == 0 || out[q] != out[q - 1]) && enough_core(h->tree, out[q])) out[distinct++] = out[q];
    if (immortal >= 2 && enough_core(h->tree, INFINITY)) out[distinct++] = INFINITY;
    return distinct;
}

/* The largest T; ties: the largest f. Negative when there is no candidate. */
static double best_death(const double *f, const double *t, plx_index count)
{
    double most = -INFINITY, best = -1;
    for (plx_index q = 0; q < count; q++) most = fmax(most, t[q]);
    for (plx_index q = 0; q < count; q++)
        if (t[q] >= most - SAME_MASS * fabs(most)) best = f[q];
    return best;
}

static double factor_below(const hierarchy *h, double f)
{
    double below = 0;
    if (isinf(f)) return 2 * h->level[h->n_levels - 1];
    for (plx_index l = 0; l < h->n_levels && h->level[l] < f; l++) below = h->level[l];
    return 0.5 * (f + below);
}

/* ---- no two clusters at a time: the knee of the core distances ---- */

static plx_status knee(double *factor, plx_context *ctx, const mrd_tree *t)
{
    double *c = NULL, most = -INFINITY;
    plx_index n = 0, at = 0, next;
    PLX_TRY(plx__arena_f64(&c, plx__scratch(ctx), t->n, 1));
    for (plx_index i = 0; i < t->n; i++)
        if (isfinite(t->core[i])) c[n++] = t->core[i];
    *factor = 1.0;
    if (n == 0) return PLX_OK;
    qsort(c, (size_t)n, sizeof *c, ascending);
    double range = c[n - 1] - c[0];
    for (plx_index i = 0; i < n && range > 0; i++) {
        double height = rint(((double)i / (double)(n - 1) - (c[i] - c[0]) / range) * 1e12) / 1e12;
        if (height >= most) most = height, at = i;
    }
    if (!(range > 0)) at = n - 1;
    for (next = at; next < n && !(c[next] > c[at]); next++) {
    }
    *factor = next < n ? 0.5 * (c[at] + c[next]) : 2 * c[at];
    return PLX_OK;
}

plx_status plx__mrd_cut(double *factor, plx_context *ctx, const mrd_tree *tree)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    hierarchy h;
    double *f = NULL, *t = NULL;
    PLX_TRY(open_hierarchy(&h, ctx, tree));
    climb(&h);
    PLX_TRY(plx__arena_f64(&f, plx__scratch(ctx), h.n_clusters + 1, 1));
    PLX_TRY(plx__arena_f64(&t, plx__scratch(ctx), h.n_clusters + 1, 1));
    plx_index count = candidates(f, &h);
    for (plx_index q = 0; q < count; q++) t[q] = alive_mass(&h, f[q]);
    if (count) *factor = factor_below(&h, best_death(f, t, count));
    else PLX_TRY(knee(factor, ctx, tree));
    if (!(*factor > 0)) *factor = 1.0;
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
