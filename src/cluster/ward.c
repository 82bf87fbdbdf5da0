/*
 * The Euclidean tree by nearest-neighbour chains (ward_chain.c), the others greedily over a triangle of
 * costs (ward_greedy.c); here the parts are brought into one form and merges become numbered nodes.
 */
#include "cluster/ward.h"

#include <math.h>
#include <string.h>

#include "cluster/ward_groups.h"
#include "linalg/knn.h"

/* Euclidean parts are one part: columns side by side, times the root of the weight. */

static plx_status select_dense(plx__ward_part *out, plx_context *ctx, const plx__ward_part *parts, plx_index count,
                               const plx_index *sample, plx_index n)
{
    plx_index cols = 0, at = 0;
    plx_mat all;
    for (plx_index p = 0; p < count; p++) cols += parts[p].rows.dense.cols;
    PLX_TRY(plx__arena_mat(&all, plx__scratch(ctx), n, cols));
    for (plx_index p = 0; p < count; at += parts[p++].rows.dense.cols) {
        plx_cmat from = parts[p].rows.dense;
        double factor = count > 1 ? sqrt(parts[p].weight) : 1.0;
        for (plx_index i = 0; i < n; i++)
            for (plx_index j = 0; j < from.cols; j++)
                all.data[i * cols + at + j] = factor * from.data[(sample ? sample[i] : i) * from.ld + j];
    }
    *out = (plx__ward_part){plx__points_dense(plx__cmat(all)), PLX__BREGMAN_EUCLID, count > 1 ? 1.0 : parts->weight};
    return PLX_OK;
}

static plx_status select_sparse(plx__ward_part *out, plx_context *ctx, const plx__ward_part *parts, plx_index count,
                                const plx_index *sample, plx_index n)
{
    plx_ccsr *blocks = NULL;
    plx_csr all, some;
    PLX_TRY(PLX__ARENA_NEW(&blocks, plx__scratch(ctx), count));
    for (plx_index p = 0; p < count; p++) {
        plx_csr own;
        if (plx__points_sparse(parts[p].rows)) PLX_TRY(plx__csr_clone(&own, plx__scratch(ctx), parts[p].rows.csr));
        else PLX_TRY(plx__csr_from_dense(&own, plx__scratch(ctx), parts[p].rows.dense));
        if (count > 1)
            for (plx_index k = 0; k < own.ptr[own.rows]; k++) own.val[k] *= sqrt(parts[p].weight);
        blocks[p] = plx__ccsr(own);
    }
    PLX_TRY(plx__csr_hstack(&all, plx__scratch(ctx), blocks, count));
    if (sample) {
        PLX_TRY(plx__csr_select_rows(&some, plx__scratch(ctx), plx__ccsr(all), sample, n));
        all = some;
    }
    *out = (plx__ward_part){plx__points_csr(plx__ccsr(all)), PLX__BREGMAN_EUCLID, count > 1 ? 1.0 : parts->weight};
    return PLX_OK;
}

static plx_status too_large(plx_context *ctx)
{
    PLX_FAIL(ctx, PLX_E_NUMERIC, "the cost of a merge is not finite: values are too large; scale the views");
}

/* Chains need costs that can be compared: at most 4 times the squared length of the longest row. */
static plx_status check_lengths(plx_context *ctx, const plx__ward_part *part, plx_index n)
{
    double *norm = NULL, longest = 0;
    PLX_TRY(plx__arena_f64(&norm, plx__scratch(ctx), n, 1));
    PLX_TRY(plx__points_norms_sq(ctx, part->rows, norm));
    for (plx_index i = 0; i < n; i++) longest = fmax(longest, isnan(norm[i]) ? INFINITY : norm[i]);
    return isfinite(4 * (double)n * part->weight * longest) ? PLX_OK : too_large(ctx);
}

static plx_status euclid_tree(plx__merges *out, plx_context *ctx, const plx__ward_part *parts, plx_index count,
                              const plx_index *sample, plx_index n)
{
    plx__ward_groups groups;
    plx__ward_part one = parts[0];
    bool sparse = false;
    for (plx_index p = 0; p < count; p++) sparse |= plx__points_sparse(parts[p].rows);
    if (count > 1 || sample || plx__points_rows(one.rows) != n)
        PLX_TRY((sparse ? select_sparse : select_dense)(&one, ctx, parts, count, sample, n));
    PLX_TRY(check_lengths(ctx, &one, n));
    PLX_TRY(plx__ward_open(&groups, ctx, &one, 1, NULL, n));
    return plx__ward_chain(out, &groups, one.rows);
}

/* Pairs of groups, known by their smallest members, become pairs of nodes. */
static plx_status number_nodes(plx__merges *m, plx_context *ctx)
{
    int32_t *node = NULL;
    PLX_TRY(plx__arena_i32(&node, plx__scratch(ctx), m->n));
    for (plx_index i = 0; i < m->n; i++) node[i] = (int32_t)i;
    for (plx_index r = 0; r + 1 < m->n; r++) {
        int32_t i = m->first[r], a = node[i], b = node[m->second[r]];
        m->first[r] = a < b ? a : b;
        m->second[r] = a < b ? b : a;
        node[i] = (int32_t)(m->n + r);
    }
    return PLX_OK;
}

static plx_status grow(plx__merges *out, plx_context *ctx, const plx__ward_part *parts, plx_index count,
                       const plx_index *sample, plx_index n)
{
    plx__ward_groups groups;
    bool euclid = true;
    for (plx_index p = 0; p < count; p++) euclid = euclid && parts[p].kind == PLX__BREGMAN_EUCLID;
    if (euclid) {
        PLX_TRY(euclid_tree(out, ctx, parts, count, sample, n));
    } else {
        PLX_TRY(plx__ward_open(&groups, ctx, parts, count, sample, n));
        PLX_TRY(plx__ward_greedy(out, &groups));
    }
    for (plx_index r = 0; r + 1 < n; r++)
        if (!isfinite(out->cost[r])) return too_large(ctx);
    return number_nodes(out, ctx);
}

plx_status plx__ward(plx__merges *out, plx_context *ctx, const plx__ward_part *parts, plx_index count,
                     const plx_index *sample, plx_index n)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    out->n = n;
    if (n < 2) return PLX_OK;
    PLX_TRY(grow(out, ctx, parts, count, sample, n));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

double plx__ward_bytes(const plx_context *ctx, plx_index n, double entries, bool euclid, bool sparse)
{
    double rows = (double)n, means = (sparse ? 24.0 : 8.0) * entries + 64.0 * rows;
    if (!euclid) return means + 4.0 * rows * rows + 64.0 * rows;
    return 2 * means + (sparse ? 0.0 : 4.0 * entries) + 900.0 * rows + plx__knn_bytes(ctx, n, 33, entries, sparse);
}
