/*
 * Running sums over the views before and after u give every view what all others say at a cost linear in the
 * number of views.
 */
#include "methods/spectral/pairing.h"

#include <math.h>
#include <string.h>

#include "core/ranks.h"

/* ---- matrices of the views ---- */

static bool is_symmetric(plx_cmat a)
{
    for (plx_index i = 0; i < a.rows; i++)
        for (plx_index j = 0; j < i; j++)
            if (a.data[i * a.ld + j] != a.data[j * a.ld + i]) return false;
    return true;
}

static bool same_values(plx_ccsr a, plx_ccsr b)
{
    plx_index entries = plx__nnz(a);
    return entries == plx__nnz(b) && memcmp(a.ptr, b.ptr, (size_t)(a.rows + 1) * sizeof *a.ptr) == 0 &&
           (entries == 0 || (memcmp(a.col, b.col, (size_t)entries * sizeof *a.col) == 0 &&
                             memcmp(a.val, b.val, (size_t)entries * sizeof *a.val) == 0));
}

static plx_status load_view(plx__pair_view *out, plx_context *ctx, const plx__affinity *a)
{
    out->present = a->present;
    out->sparse = plx__affinity_is_sparse(a);
    out->symmetric = true;
    if (out->sparse) {
        PLX_TRY(plx__affinity_csr(&out->csr, ctx, a));
        if (!a->given || a->k) return PLX_OK;
        PLX_TRY(plx__csr_transpose(&out->mirrored, plx__scratch(ctx), plx__ccsr(out->csr)));
        out->symmetric = same_values(plx__ccsr(out->csr), plx__ccsr(out->mirrored));
        return PLX_OK;
    }
    PLX_TRY(plx__arena_mat(&out->dense, plx__scratch(ctx), a->n, a->n));
    PLX_TRY(plx__affinity_block(ctx, a, 0, a->n, out->dense));
    if (a->given) out->symmetric = is_symmetric(plx__cmat(out->dense));
    return PLX_OK;
}

/* Each process its rows; all of them get all. */
static plx_status multiply_together(plx_context *ctx, plx_ccsr a, const double *x, double *y)
{
    plx__slabs cut = plx__slabs_even(ctx, a.rows);
    plx_index begin = 0, end = 0;
    plx__slabs_mine(&begin, &end, ctx, cut);
    PLX_TRY(plx__spmv(ctx, 1.0, plx__csr_rows(a, begin, end), x, 0.0, y + begin));
    return plx__slabs_share(ctx, cut, y, sizeof *y, 1);
}

/* y = A x, or A' x. */
static plx_status multiply(plx_context *ctx, const plx__pair_view *v, bool mirrored, const double *x, double *y)
{
    bool turned = mirrored && !v->symmetric;
    if (v->sparse && plx__ranks(ctx) > 1) return multiply_together(ctx, plx__ccsr(turned ? v->mirrored : v->csr), x, y);
    if (v->sparse) return plx__spmv(ctx, 1.0, plx__ccsr(turned ? v->mirrored : v->csr), x, 0.0, y);
    if (v->symmetric) return plx__symv(ctx, plx__cmat(v->dense), x, y);
    return plx__gemv(ctx, 1.0, plx__cmat(v->dense), turned ? PLX__T : PLX__N, x, 0.0, y);
}

/* ---- products ---- */

static void spread(const plx__pairing *g, const double *x)
{
    for (plx_index q = 0; q < g->n_views * g->n; q++) g->full[q] = g->node_of[q] >= 0 ? x[g->node_of[q]] : 0.0;
}

/* image_v = A_v z_v (mirrored: A_v' z_v) of all views. */
static plx_status images(plx_context *ctx, plx__pairing *g, bool mirrored)
{
    for (plx_index v = 0; v < g->n_views; v++)
        PLX_TRY(multiply(ctx, &g->view[v], mirrored, g->full + v * g->n, g->image + v * g->n));
    return PLX_OK;
}

/* after_u = sum of the images of the views after u. With the running sum over those before, every view hears all others
 * at a cost that grows with the number of views, not with its square. */
static void sum_after(const plx__pairing *g)
{
    memset(g->after + (g->n_views - 1) * g->n, 0, (size_t)g->n * sizeof *g->after);
    for (plx_index q = (g->n_views - 1) * g->n - 1; q >= 0; q--) g->after[q] = g->after[q + g->n] + g->image[q + g->n];
}

/* Which of the other views are heard: those after u, those before, or both. */
typedef struct hearing {
    bool after, before;
} hearing;

/* hub(p) += images of the other views where p has u; an image is 0 where its view is missing. */
static void hear(const plx__pairing *g, plx_index u, hearing which, const double *before, double *hub)
{
    for (plx_index p = 0; p < g->n; p++) {
        if (!g->view[u].present[p]) continue;
        if (which.before) hub[p] += before[p];
        if (which.after) hub[p] += g->after[u * g->n + p];
    }
}

/* y_u += A_u h over the nodes of view u. */
static plx_status answer(plx_context *ctx, plx__pairing *g, plx_index u, bool mirrored, double *y)
{
    PLX_TRY(multiply(ctx, &g->view[u], mirrored, g->hub, g->part));
    for (plx_index i = 0; i < g->n; i++)
        if (g->node_of[u * g->n + i] >= 0) y[g->node_of[u * g->n + i]] += g->part[i];
    return PLX_OK;
}

/* Views after u are heard through their matrices, those before through the transposes: the same when symmetric. */
static hearing heard_in(const plx__pairing *g, bool mirrored)
{
    return (hearing){.after = !mirrored, .before = mirrored || g->symmetric};
}

plx_status plx__pairing_apply(void *arg, plx_context *ctx, double *y, const double *x)
{
    plx__pairing *g = arg;
    memset(y, 0, (size_t)g->n_nodes * sizeof *y);
    spread(g, x);
    for (int pass = 0; pass < (g->symmetric ? 1 : 2); pass++) {
        bool mirrored = pass == 1;
        PLX_TRY(images(ctx, g, mirrored));
        sum_after(g);
        memset(g->before, 0, (size_t)g->n * sizeof *g->before);
        for (plx_index u = 0; u < g->n_views; u++) {
            memset(g->hub, 0, (size_t)g->n * sizeof *g->hub);
            hear(g, u, heard_in(g, mirrored), g->before, g->hub);
            PLX_TRY(answer(ctx, g, u, mirrored, y));
            plx__axpy(g->before, 1.0, g->image + u * g->n, g->n);
        }
    }
    return PLX_OK;
}

plx_status plx__pairing_hubs(plx_context *ctx, plx__pairing *g, const double *x, double *out)
{
    memset(out, 0, (size_t)(g->n_views * g->n) * sizeof *out);
    spread(g, x);
    for (int pass = 0; pass < (g->symmetric ? 1 : 2); pass++) {
        PLX_TRY(images(ctx, g, pass == 1));
        sum_after(g);
        memset(g->before, 0, (size_t)g->n * sizeof *g->before);
        for (plx_index u = 0; u < g->n_views; u++) {
            hear(g, u, heard_in(g, pass == 1), g->before, out + u * g->n);
            plx__axpy(g->before, 1.0, g->image + u * g->n, g->n);
        }
    }
    return PLX_OK;
}

/* ---- components ---- */

/* *whole: all nodes of the view hang together already, so that the first one p is near to stands for all of them. */
static void join_dense(const plx__pairing *g, plx_index u, plx_index p, int32_t *parent, plx_index hub, bool *whole)
{
    plx_index near = 0;
    for (plx_index i = 0; i < g->n; i++) {
        if (g->node_of[u * g->n + i] < 0 || !(g->view[u].dense.data[p * g->n + i] > 0)) continue;
        plx__disjoint_join(parent, hub, g->node_of[u * g->n + i]);
        near++;
        if (*whole) return;
    }
    *whole = near == g->first[u + 1] - g->first[u];
}

static void join_sparse(const plx__pairing *g, plx_index u, plx_index p, int32_t *parent, plx_index hub)
{
    const plx_csr *a = &g->view[u].csr;
    for (plx_index q = a->ptr[p]; q < a->ptr[p + 1]; q++)
        if (a->val[q] > 0 && g->node_of[u * g->n + a->col[q]] >= 0)
            plx__disjoint_join(parent, hub, g->node_of[u * g->n + a->col[q]]);
}

static plx_index views_of(const plx__pairing *g, plx_index p)
{
    plx_index count = 0;
    for (plx_index v = 0; v < g->n_views; v++) count += g->view[v].present[p];
    return count;
}

/* Every sample with two views joins all nodes that are near it in any of its views. */
static plx_status find_components(plx__pairing *g, plx_context *ctx)
{
    int32_t *parent = NULL, *component = NULL;
    uint8_t *used = NULL;
    bool *whole = NULL;
    plx_index all = g->n_nodes + g->n;
    PLX_TRY(PLX__ARENA_NEW(&whole, plx__scratch(ctx), g->n_views));
    PLX_TRY(plx__arena_i32(&parent, plx__scratch(ctx), all));
    PLX_TRY(plx__arena_i32(&component, plx__scratch(ctx), all));
    PLX_TRY(plx__arena_u8(&used, plx__scratch(ctx), all));
    for (plx_index i = 0; i < all; i++) parent[i] = (int32_t)i;
    for (plx_index p = 0; p < g->n; p++) {
        if (views_of(g, p) < 2) continue;
        for (plx_index u = 0; u < g->n_views; u++) {
            if (!g->view[u].present[p]) continue;
            if (g->view[u].sparse) join_sparse(g, u, p, parent, g->n_nodes + p);
            else join_dense(g, u, p, parent, g->n_nodes + p, &whole[u]);
        }
    }
    for (plx_index i = 0; i < g->n_nodes; i++) used[i] = g->degree[i] > 0;
    PLX_TRY(plx__disjoint_number(component, &g->affine.n_components, ctx, parent, used, all));
    g->affine.component = component;
    return PLX_OK;
}

plx_status plx__pairing_islands(plx_index *out, plx_context *ctx, const plx__pairing *g)
{
    int32_t *parent = NULL, *set = NULL;
    uint8_t *used = NULL;
    PLX_TRY(plx__arena_i32(&parent, plx__scratch(ctx), g->n_views));
    PLX_TRY(plx__arena_i32(&set, plx__scratch(ctx), g->n_views));
    PLX_TRY(plx__arena_u8(&used, plx__scratch(ctx), g->n_views));
    for (plx_index v = 0; v < g->n_views; v++) parent[v] = (int32_t)v, used[v] = 1;
    for (plx_index p = 0; p < g->n; p++) {
        plx_index first = -1;
        for (plx_index v = 0; v < g->n_views; v++) {
            if (!g->view[v].present[p]) continue;
            if (first >= 0) plx__disjoint_join(parent, first, v);
            else first = v;
        }
    }
    return plx__disjoint_number(set, out, ctx, parent, used, g->n_views);
}

/* ---- building ---- */

static plx_status number_nodes(plx__pairing *g, plx_context *ctx)
{
    PLX_TRY(plx__arena_i64(&g->first, plx__scratch(ctx), g->n_views + 1));
    PLX_TRY(plx__arena_i64(&g->node_of, plx__scratch(ctx), g->n_views * g->n));
    for (plx_index v = 0; v < g->n_views; v++) {
        for (plx_index i = 0; i < g->n; i++) g->node_of[v * g->n + i] = g->view[v].present[i] ? g->n_nodes++ : -1;
        g->first[v + 1] = g->n_nodes;
    }
    return PLX_OK;
}

plx_status plx__pairing_build(plx__pairing *g, plx_context *ctx, const plx__affinity *views, plx_index n_views)
{
    plx__arena *scratch = plx__scratch(ctx);
    double *ones = NULL;
    *g = (plx__pairing){.n = views[0].n, .n_views = n_views, .symmetric = true};
    PLX_TRY(PLX__ARENA_NEW(&g->view, scratch, n_views));
    for (plx_index v = 0; v < n_views; v++) {
        PLX_TRY(load_view(&g->view[v], ctx, &views[v]));
        g->symmetric &= g->view[v].symmetric;
        PLX_TRY(plx__report(ctx, "affinity", v + 1, n_views, NAN));
    }
    PLX_TRY(number_nodes(g, ctx));
    PLX_TRY(plx__arena_f64(&g->full, scratch, n_views, g->n));
    PLX_TRY(plx__arena_f64(&g->image, scratch, n_views, g->n));
    PLX_TRY(plx__arena_f64(&g->after, scratch, n_views, g->n));
    PLX_TRY(plx__arena_f64(&g->before, scratch, g->n, 1));
    PLX_TRY(plx__arena_f64(&g->hub, scratch, g->n, 1));
    PLX_TRY(plx__arena_f64(&g->part, scratch, g->n, 1));
    PLX_TRY(plx__arena_f64(&g->degree, scratch, g->n_nodes, 1));
    PLX_TRY(plx__arena_f64(&ones, scratch, g->n_nodes, 1));
    for (plx_index i = 0; i < g->n_nodes; i++) ones[i] = 1.0;
    PLX_TRY(plx__pairing_apply(g, ctx, g->degree, ones));
    g->affine.a = (plx__operator){g->n_nodes, plx__pairing_apply, g};
    g->affine.degree = g->degree;
    g->affine.divided = true;
    return find_components(g, ctx);
}
