/*
 * Cutting a tree, and the way of new samples down to the cut.
 *
 * The model keeps the K - 1 nodes above the cut, the root first: which child (a cluster, or a further node) lies on
 * either side, the child with the smallest member first, and the means of both in the views that decide there.
 */
#include <math.h>
#include <string.h>

#include "kernel/prepared.h"
#include "methods/hybridtree/hybridtree.h"

/* ---- cutting ---- */

/* The first n - K merges are made. Clusters are numbered by their smallest member. */
plx_status plx__ht_cut(int32_t *cluster, plx_context *ctx, const plx__merges *tree, plx_index clusters)
{
    plx_index n = tree->n, merged = n - clusters, nodes = n + merged, count = 0;
    int32_t *top = NULL, *number = NULL;
    PLX_TRY(plx__arena_i32(&top, plx__scratch(ctx), nodes));
    PLX_TRY(plx__arena_i32(&number, plx__scratch(ctx), nodes));
    for (plx_index q = 0; q < nodes; q++) top[q] = (int32_t)q, number[q] = -1;
    for (plx_index r = 0; r < merged; r++) top[tree->first[r]] = top[tree->second[r]] = (int32_t)(n + r);
    for (plx_index q = nodes; q-- > 0;) top[q] = top[top[q]];
    for (plx_index i = 0; i < n; i++) {
        if (number[top[i]] < 0) number[top[i]] = (int32_t)count++;
        cluster[i] = number[top[i]];
    }
    return PLX_OK;
}

/* ---- what descends ---- */

enum { FIRST = 0, SECOND = 1, FIRST_SIZE = 2, SECOND_SIZE = 3, VIEW = 4, NODE_COLUMNS = 5 };

/* Clusters and nodes above them: size, smallest member, and who they are made of. */
typedef struct tops {
    plx_index clusters, nodes; /* nodes: the merges above the cut, root last */
    int32_t *first, *second;   /* per node: entries below (clusters first, then nodes) */
    double *size;
    plx_index *smallest;
} tops;

static plx_status open_tops(tops *t, const ht *h, const plx__merges *tree, const int32_t *cluster, plx_index clusters)
{
    plx__arena *scratch = plx__scratch(h->ctx);
    plx_index n = h->n, merged = n - clusters, all = 2 * clusters - 1;
    int32_t *entry = NULL;
    *t = (tops){.clusters = clusters, .nodes = clusters - 1};
    PLX_TRY(plx__arena_i32(&t->first, scratch, all));
    PLX_TRY(plx__arena_i32(&t->second, scratch, all));
    PLX_TRY(plx__arena_f64(&t->size, scratch, all, 1));
    PLX_TRY(plx__arena_i64(&t->smallest, scratch, all));
    PLX_TRY(plx__arena_i32(&entry, scratch, n + merged));
    for (plx_index i = n; i-- > 0;) {
        entry[i] = cluster[i];
        t->size[cluster[i]]++;
        t->smallest[cluster[i]] = i;
    }
    for (plx_index r = 0; r < merged; r++) entry[n + r] = entry[tree->first[r]]; /* within one cluster */
    for (plx_index q = 0; q < t->nodes; q++) {
        plx_index r = merged + q, own = clusters + q, ends[2] = {tree->first[r], tree->second[r]};
        for (int e = 0; e < 2; e++) /* nodes above the cut stand behind the clusters */
            ends[e] = ends[e] >= n + merged ? clusters + (ends[e] - n - merged) : entry[ends[e]];
        bool swap = t->smallest[ends[1]] < t->smallest[ends[0]];
        t->first[own] = (int32_t)ends[swap], t->second[own] = (int32_t)ends[!swap];
        t->size[own] = t->size[ends[0]] + t->size[ends[1]];
        t->smallest[own] = t->smallest[ends[swap]];
    }
    return PLX_OK;
}

/* Sums of a view over clusters and nodes, divided by sizes. */
static plx_status entry_means(plx_mat *out, const ht *h, const ht_view *v, const tops *t, const int32_t *cluster)
{
    plx_index cols = plx__points_cols(v->rows), all = t->clusters + t->nodes;
    PLX_TRY(plx__arena_mat(out, plx__scratch(h->ctx), all, cols));
    for (plx_index i = 0; i < h->n; i++) {
        double *to = out->data + cluster[i] * cols;
        if (plx__points_sparse(v->rows)) {
            plx_ccsr m = v->rows.csr;
            for (int64_t p = m.ptr[i]; p < m.ptr[i + 1]; p++) to[m.col[p]] += m.val[p];
        } else {
            plx__axpy(to, 1.0, v->rows.dense.data + i * v->rows.dense.ld, cols);
        }
    }
    for (plx_index q = t->clusters; q < all; q++) {
        plx__axpy(out->data + q * cols, 1.0, out->data + t->first[q] * cols, cols);
        plx__axpy(out->data + q * cols, 1.0, out->data + t->second[q] * cols, cols);
    }
    for (plx_index q = 0; q < all; q++) plx__scale(out->data + q * cols, 1.0 / t->size[q], cols);
    return PLX_OK;
}

/* Means of both children of every node whose split the view decides. */
static plx_status keep_means(const ht *h, plx_index view, const tops *t, const int32_t *cluster, const int32_t *decides)
{
    const ht_view *v = &h->view[view];
    plx__mark mark = plx__arena_mark(plx__scratch(h->ctx));
    const char *name = NULL;
    plx_mat means, kept;
    plx_csr thin;
    plx_index count = 0, cols = plx__points_cols(v->rows);
    PLX_TRY(entry_means(&means, h, v, t, cluster));
    PLX_TRY(plx__arena_mat(&kept, plx__scratch(h->ctx), 2 * t->nodes, cols));
    for (plx_index q = t->nodes; q-- > 0;) {
        if (decides && decides[q] != view) continue;
        for (int side = 0; side < 2; side++) {
            plx_index from = (side ? t->second : t->first)[t->clusters + q];
            if (cols) memcpy(kept.data + count * cols, means.data + from * cols, (size_t)cols * sizeof(double));
            count++;
        }
    }
    kept.rows = count;
    PLX_TRY(plx__view_key(&name, h->ctx, "_means", v->name));
    if (plx__points_sparse(v->rows)) {
        PLX_TRY(plx__csr_from_dense(&thin, plx__scratch(h->ctx), plx__cmat(kept)));
        PLX_TRY(plx__store_put_csr(h->run->out, name, plx__ccsr(thin)));
    } else {
        PLX_TRY(plx__store_put(h->run->out, name, plx__cmat(kept)));
    }
    plx__arena_rewind(plx__scratch(h->ctx), mark);
    return PLX_OK;
}

plx_status plx__ht_keep(const ht *h, const ht_tree *tree, const int32_t *cluster)
{
    tops t;
    plx_mat nodes, weights;
    const int32_t *decides = NULL;
    PLX_TRY(open_tops(&t, h, &tree->merges, cluster, h->set->clusters));
    if (tree->view) decides = tree->view + (h->n - h->set->clusters);
    PLX_TRY(plx__store_new(&nodes, h->run->out, "_nodes", t.nodes, NODE_COLUMNS));
    for (plx_index q = t.nodes; q-- > 0;) {
        double *row = nodes.data + (t.nodes - 1 - q) * NODE_COLUMNS;
        plx_index ends[2] = {t.first[t.clusters + q], t.second[t.clusters + q]};
        for (int e = 0; e < 2; e++) {
            bool deeper = ends[e] >= t.clusters; /* -1 - number of the node, the root being 0 */
            row[FIRST + e] = deeper ? -1.0 - (double)(t.nodes - 1 - (ends[e] - t.clusters)) : (double)ends[e];
            row[FIRST_SIZE + e] = t.size[ends[e]];
        }
        row[VIEW] = decides ? decides[q] : -1;
    }
    PLX_TRY(plx__store_new(&weights, h->run->out, "_weights", 1, h->n_views));
    for (plx_index v = 0; v < h->n_views; v++) {
        bool used = h->view[v].used && (h->mode != HT_LINEAR || h->view[v].weight > 0);
        weights.data[v] = !used ? 0 : h->mode == HT_LINEAR ? h->view[v].weight : 1.0;
        if (used) PLX_TRY(keep_means(h, v, &t, cluster, decides));
    }
    return PLX_OK;
}

/* ---- new samples ---- */

typedef struct descent {
    const ht *h;
    plx_cmat nodes;
    const double *weight;
    plx_mat *means;   /* by view */
    plx_index *place; /* node x view: its first row of means, -1: the view does not decide there */
} descent;

static plx_status load_means(descent *d, plx_index view)
{
    const ht *h = d->h;
    const char *name = NULL;
    plx__points stored;
    plx_index count = 0, cols = plx__points_cols(h->view[view].rows);
    if (d->weight[view] == 0) return PLX_OK;
    for (plx_index q = 0; q < d->nodes.rows; q++) {
        double decides = d->nodes.data[q * NODE_COLUMNS + VIEW];
        if (decides >= 0 && decides != (double)view) continue;
        d->place[q * h->n_views + view] = count;
        count += 2;
    }
    PLX_TRY(plx__view_key(&name, h->ctx, "_means", h->view[view].name));
    PLX_TRY(plx__points_get(&stored, h->ctx, h->run->fitted, name, count, cols));
    PLX_TRY(plx__arena_mat(&d->means[view], plx__scratch(h->ctx), count, cols));
    if (plx__points_sparse(stored)) plx__csr_to_dense(d->means[view], stored.csr);
    else plx__mat_copy(d->means[view], stored.dense);
    return PLX_OK;
}

/* Ends are clusters, or nodes further down: nothing read from a file is trusted. */
static plx_status check_nodes(const descent *d)
{
    for (plx_index q = 0; q < d->nodes.rows; q++)
        for (int e = 0; e < 2; e++) {
            double end = d->nodes.data[q * NODE_COLUMNS + FIRST + e];
            bool cluster = end >= 0 && end <= (double)d->nodes.rows;
            if (!cluster && !(end < -1.0 - (double)q && end > -1.0 - (double)d->nodes.rows))
                PLX_FAIL(d->h->ctx, PLX_E_FORMAT, "the model's tree cannot be right");
        }
    return PLX_OK;
}

static plx_status open_descent(descent *d, const ht *h)
{
    plx__arena *scratch = plx__scratch(h->ctx);
    plx_cmat weights;
    *d = (descent){.h = h};
    PLX_TRY(plx__store_shaped(&d->nodes, h->ctx, h->run->fitted, "_nodes", -1, NODE_COLUMNS));
    PLX_TRY(plx__store_shaped(&weights, h->ctx, h->run->fitted, "_weights", 1, h->n_views));
    d->weight = weights.data;
    PLX_TRY(check_nodes(d));
    PLX_TRY(PLX__ARENA_NEW(&d->means, scratch, h->n_views));
    PLX_TRY(plx__arena_i64(&d->place, scratch, d->nodes.rows * h->n_views));
    for (plx_index q = 0; q < d->nodes.rows * h->n_views; q++) d->place[q] = -1;
    for (plx_index v = 0; v < h->n_views; v++)
        if (h->view[v].used) PLX_TRY(load_means(d, v));
    return PLX_OK;
}

/* The side whose mean is nearer; without any view that decides, the larger side; ties to the first. */
static int side_of(const descent *d, plx_index q, plx_index i)
{
    const ht *h = d->h;
    const double *node = d->nodes.data + q * NODE_COLUMNS;
    double far[2] = {0, 0};
    bool decided = false;
    for (plx_index v = 0; v < h->n_views; v++) {
        plx_index place = d->place[q * h->n_views + v];
        if (place < 0 || (!h->view[v].present[i] && h->set->missing == HT_MISSING_ELIGIBLE)) continue;
        for (int side = 0; side < 2; side++)
            far[side] += d->weight[v] * plx__bregman_from(h->view[v].kind, h->view[v].rows, i,
                                                          d->means[v].data + (place + side) * d->means[v].ld);
        decided = true;
    }
    return decided ? far[1] < far[0] : node[SECOND_SIZE] > node[FIRST_SIZE];
}

plx_status plx__ht_descend(int32_t *cluster, const ht *h)
{
    descent d;
    PLX_TRY(open_descent(&d, h));
    for (plx_index i = 0; i < h->n; i++) {
        double at = d.nodes.rows ? -1 : 0;
        while (at < 0) {
            plx_index q = (plx_index)(-1 - at);
            at = d.nodes.data[q * NODE_COLUMNS + FIRST + side_of(&d, q, i)];
        }
        cluster[i] = (int32_t)at;
        PLX_TRY(plx__report(h->ctx, "descent", i + 1, h->n, NAN));
    }
    return PLX_OK;
}
