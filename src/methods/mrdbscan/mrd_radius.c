/*
 * eps = auto: every free view gets the radius t e_v. Its unit e_v is the median distance to a near neighbour, t the cut
 * of the joint density hierarchy whose clusters carry the largest mass (mrd_hierarchy.c). The hierarchy needs the core
 * distances and a minimum spanning forest under max(c(o), c(q), J(o,q)), by Prim's algorithm with J computed row by row:
 * O(n^2) time, O(n) memory.
 */
#include <math.h>
#include <stdlib.h>

#include "device/anywhere.h"
#include "linalg/knn.h"
#include "methods/mrdbscan/mrdbscan.h"

static int ascending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* ---- (1) the unit of a view ---- */

/* Distances to the k-th nearest other object (fewer others: the last one); returns how many there are. */
static plx_index neighbour_distances(double *out, const double *distance, plx_index n, plx_index k)
{
    plx_index count = 0;
    for (plx_index i = 0; i < n; i++) {
        plx_index last = k - 1;
        while (last >= 0 && isnan(distance[i * k + last])) last--;
        if (last >= 0) out[count++] = distance[i * k + last];
    }
    return count;
}

static double median_or_mean(double *x, plx_index count)
{
    double sum = 0;
    if (count == 0) return 0;
    qsort(x, (size_t)count, sizeof *x, ascending);
    double median = count % 2 ? x[count / 2] : 0.5 * (x[count / 2 - 1] + x[count / 2]);
    if (median > 0) return median;
    for (plx_index i = 0; i < count; i++) sum += x[i];
    return sum / (double)count;
}

static plx_status settle_unit(mrd *m, mrd_view *v)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    plx__mark mark = plx__arena_mark(scratch);
    plx_index k = plx__min(plx__max(1, m->minpts - 1), plx__max(1, m->n_a - 1));
    plx__knn_options options = {.k = k, .metric = v->metric, .present = v->has_a, .self = true};
    int64_t *index = NULL;
    double *distance = NULL, *kth = NULL;
    PLX_TRY(plx__arena_i64(&index, scratch, m->n_a * k));
    PLX_TRY(plx__arena_f64(&distance, scratch, m->n_a, k));
    PLX_TRY(plx__arena_f64(&kth, scratch, m->n_a, 1));
    PLX_TRY(plx__knn_anywhere(m->ctx, v->a, v->a, &options, index, distance));
    v->unit = median_or_mean(kth, neighbour_distances(kth, distance, m->n_a, k)) / v->factor;
    if (!(v->unit > 0)) v->unit = 1.0;
    plx__arena_rewind(scratch, mark);
    return PLX_OK;
}

/* ---- (3) core distances ---- */

/* The smallest `room` values seen, as a heap with the largest on top. */
static void heap_offer(double *heap, plx_index room, double value)
{
    plx_index at = 0;
    if (room == 0 || !(value < heap[0])) return;
    for (;;) {
        plx_index child = 2 * at + 1;
        if (child >= room) break;
        if (child + 1 < room && heap[child + 1] > heap[child]) child++;
        if (!(heap[child] > value)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = value;
}

static plx_status core_distances(double *core, const mrd *m)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    plx_index room = m->minpts - 1, n = m->n_a;
    double *heap = NULL;
    plx_mat j;
    PLX_TRY(plx__arena_f64(&heap, scratch, MRD_TILE_ROWS, plx__max(room, 1)));
    PLX_TRY(plx__arena_mat(&j, scratch, MRD_TILE_ROWS, MRD_TILE_COLS));
    for (plx_index i0 = 0; i0 < n; i0 += MRD_TILE_ROWS) {
        plx_index i1 = plx__min(i0 + MRD_TILE_ROWS, n);
        for (plx_index q = 0; q < (i1 - i0) * plx__max(room, 1); q++) heap[q] = INFINITY;
        for (plx_index j0 = 0; j0 < n && room > 0; j0 += MRD_TILE_COLS) {
            plx__mark mark = plx__arena_mark(scratch);
            plx_index j1 = plx__min(j0 + MRD_TILE_COLS, n);
            PLX_TRY(plx__mrd_tile(m, i0, i1, j0, j1, j));
            for (plx_index i = i0; i < i1; i++)
                for (plx_index q = j0; q < j1; q++)
                    if (q != i) heap_offer(heap + (i - i0) * room, room, j.data[(i - i0) * j.ld + (q - j0)]);
            plx__arena_rewind(scratch, mark);
        }
        for (plx_index i = i0; i < i1; i++) core[i] = room > 0 ? heap[(i - i0) * room] : 0.0;
        PLX_TRY(plx__report(m->ctx, "core distances", i1, n, NAN));
    }
    return PLX_OK;
}

/* ---- (4) the spanning forest ---- */

typedef struct prim {
    const mrd *m;
    const double *core;
    plx_mat row;   /* J of the newest object */
    double *reach; /* lightest edge to the tree */
    int32_t *by;   /* its other end */
    uint8_t *in_tree;
} prim;

/* The newest object offers its edges. */
static plx_status relax(prim *p, plx_index newest)
{
    plx__arena *scratch = plx__scratch(p->m->ctx);
    plx_index n = p->m->n_a;
    for (plx_index j0 = 0; j0 < n; j0 += MRD_TILE_COLS) {
        plx__mark mark = plx__arena_mark(scratch);
        plx_index j1 = plx__min(j0 + MRD_TILE_COLS, n);
        PLX_TRY(plx__mrd_tile(p->m, newest, newest + 1, j0, j1, p->row));
        for (plx_index q = j0; q < j1; q++) {
            double weight = fmax(p->row.data[q - j0], fmax(p->core[newest], p->core[q]));
            if (p->in_tree[q] || !(weight < p->reach[q])) continue;
            p->reach[q] = weight;
            p->by[q] = (int32_t)newest;
        }
        plx__arena_rewind(scratch, mark);
    }
    return PLX_OK;
}

static plx_index nearest_outside(const prim *p)
{
    plx_index best = -1;
    for (plx_index q = 0; q < p->m->n_a; q++)
        if (!p->in_tree[q] && (best < 0 || p->reach[q] < p->reach[best])) best = q;
    return best;
}

/* Objects that no finite edge reaches begin a tree of their own. */
static plx_status span(mrd_tree *t, const mrd *m, const double *core)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    plx_index n = m->n_a;
    prim p = {.m = m, .core = core};
    PLX_TRY(plx__arena_f64(&p.reach, scratch, n, 1));
    PLX_TRY(plx__arena_i32(&p.by, scratch, n));
    PLX_TRY(plx__arena_u8(&p.in_tree, scratch, n));
    PLX_TRY(plx__arena_mat(&p.row, scratch, 1, MRD_TILE_COLS));
    for (plx_index q = 0; q < n; q++) p.reach[q] = INFINITY;
    for (plx_index step = 0; step < n; step++) {
        plx_index next = nearest_outside(&p);
        if (isfinite(p.reach[next])) {
            t->from[t->edges] = p.by[next];
            t->to[t->edges] = (int32_t)next;
            t->weight[t->edges++] = p.reach[next];
        }
        p.in_tree[next] = 1;
        if (isfinite(core[next])) PLX_TRY(relax(&p, next));
        PLX_TRY(plx__report(m->ctx, "spanning tree", step + 1, n, NAN));
    }
    return PLX_OK;
}

/* ---- all together ---- */

plx_status plx__mrd_choose_radii(mrd *m, double *factor)
{
    plx__arena *scratch = plx__scratch(m->ctx);
    plx__mark mark = plx__arena_mark(scratch);
    mrd_tree tree = {.n = m->n_a, .minpts = m->minpts};
    double *core = NULL;
    bool any = false;
    *factor = 0;
    for (plx_index v = 0; v < m->n_views; v++) {
        if (m->view[v].free) PLX_TRY(settle_unit(m, &m->view[v]));
        any |= m->view[v].free;
    }
    if (!any) return PLX_OK;
    PLX_TRY(plx__arena_f64(&core, scratch, m->n_a, 1));
    PLX_TRY(plx__arena_i32(&tree.from, scratch, m->n_a));
    PLX_TRY(plx__arena_i32(&tree.to, scratch, m->n_a));
    PLX_TRY(plx__arena_f64(&tree.weight, scratch, m->n_a, 1));
    PLX_TRY(core_distances(core, m));
    PLX_TRY(span(&tree, m, core));
    tree.core = core;
    PLX_TRY(plx__mrd_cut(factor, m->ctx, &tree));
    for (plx_index v = 0; v < m->n_views; v++) {
        if (!m->view[v].free) continue;
        m->view[v].radius = *factor * m->view[v].unit;
        m->view[v].free = false;
    }
    plx__arena_rewind(scratch, mark);
    return PLX_OK;
}
