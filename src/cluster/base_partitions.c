/*
 * From views to the patterns a consensus is sought for, and the whole road with default settings.
 */
#include <math.h>

#include "core/rng.h"
#include "linalg/csr.h"
#include "linalg/dense.h"
#include "cluster/consensus.h"
#include "cluster/view_clusters.h"

plx__base_plan plx__base_plan_of(plx__base base, plx_view_kind kind)
{
    plx__base_plan plan = {.cluster = true, .spherical = base == PLX__PARTITION_SKMEANS};
    if (base != PLX__PARTITION_AUTO) return plan;
    plan.cluster = kind != PLX_VIEW_PROBABILITY && kind != PLX_VIEW_BINARY;
    plan.spherical = kind == PLX_VIEW_COUNTS;
    return plan;
}

plx_status plx__membership_of_view(plx__membership *out, plx_context *ctx, const plx__view *view, plx_index n)
{
    plx_csr values;
    *out = (plx__membership){.present = view->present, .weight = 1, .values = view->csr};
    if (view->sparse) return PLX_OK;
    PLX_TRY(plx__csr_from_dense(&values, plx__scratch(ctx), plx__csub(view->dense, 0, 0, n, view->cols)));
    out->values = plx__ccsr(values);
    return PLX_OK;
}

plx_status plx__membership_of_labels(plx__membership *out, plx_context *ctx, const int32_t *label, plx_index n,
                                     plx_index k)
{
    plx_csr values;
    uint8_t *present = NULL;
    PLX_TRY(plx__arena_u8(&present, plx__scratch(ctx), n));
    PLX_TRY(plx__arena_csr(&values, plx__scratch(ctx), n, k, n));
    for (plx_index i = 0; i < n; i++) {
        values.ptr[i + 1] = values.ptr[i];
        if (label[i] < 0) continue;
        present[i] = 1;
        values.col[values.ptr[i]] = label[i];
        values.val[values.ptr[i + 1]++] = 1;
    }
    *out = (plx__membership){.present = present, .weight = 1, .values = plx__ccsr(values)};
    return PLX_OK;
}

static plx_status default_pattern(plx__membership *out, plx_context *ctx, const plx__view *view, plx_index index,
                                  plx_index n, plx_index k)
{
    plx__base_plan plan = plx__base_plan_of(PLX__PARTITION_AUTO, view->kind);
    plx__cluster_settings set = {.spherical = plan.spherical, .clusters = k, .restarts = 10};
    plx__partition parts;
    if (!plan.cluster) return plx__membership_of_view(out, ctx, view, n);
    set.stream = PLX__STREAM('m', 'v', 'c', 'b', index << 20);
    PLX_TRY(plx__cluster_view(&parts, ctx, plx__scratch(ctx), view, n, &set));
    return plx__membership_of_labels(out, ctx, parts.label, n, k);
}

plx_status plx__consensus_memberships(plx_mat out, plx_context *ctx, const plx__view *views, plx_index n_views,
                                      plx_index n, plx_index k)
{
    enum { ROUNDS = 200 };
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx__membership *patterns = NULL;
    plx__consensus c;
    double last = 0, value = 0;
    PLX_TRY(PLX__ARENA_NEW(&patterns, plx__scratch(ctx), n_views));
    for (plx_index v = 0; v < n_views; v++) PLX_TRY(default_pattern(&patterns[v], ctx, &views[v], v, n, k));
    PLX_TRY(plx__consensus_open(&c, ctx, PLX__LOSS_IDIV, patterns, n_views, n, k));
    plx__consensus_random(&c, PLX__STREAM('m', 'v', 'c', 'r', 0));
    PLX_TRY(plx__consensus_start_maps(&c));
    PLX_TRY(plx__consensus_objective(&last, &c));
    for (plx_index t = 0; t < ROUNDS; t++) {
        PLX_TRY(plx__consensus_step(&c));
        PLX_TRY(plx__consensus_objective(&value, &c));
        if (fabs(value - last) <= 1e-8 * fabs(last)) break;
        last = value;
    }
    plx__consensus_normalise(out, plx__cmat(c.b));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
