/*
 * Factors are found at amplitude 1, so that amplitudes change without them; widths stay as they are.
 */
#include "gp/gp_pivots.h"

#include <math.h>
#include <string.h>

static double root_of(const plx__gp_learner *g, plx_index k) { return sqrt(g->kernels[k].kernel.amplitude); }

plx_index plx__gp_pivot_columns(const plx__gp_learner *g)
{
    plx_index columns = 0;
    for (plx_index k = 0; k < g->count; k++) columns += g->pivots[k].rank;
    return columns;
}

/* ---- fit ---- */

/* Labelled samples that have the view: their numbers, and their places among the labelled ones. */
static plx_status list_present(plx_index **sample, plx_index **at, plx_index *count, const plx__gp_learner *g,
                               plx_index k)
{
    const plx__gp_targets *t = &g->targets;
    const uint8_t *present = g->kernels[k].present;
    PLX_TRY(plx__arena_i64(sample, plx__scratch(g->ctx), t->n));
    PLX_TRY(plx__arena_i64(at, plx__scratch(g->ctx), t->n));
    *count = 0;
    for (plx_index i = 0; i < t->n; i++) {
        if (present && !present[t->sample[i]]) continue;
        (*sample)[*count] = t->sample[i];
        (*at)[(*count)++] = i;
    }
    return PLX_OK;
}

/* The factor's rows at the places of their samples, 0 elsewhere; all rows on every process. */
static plx_status place_rows(plx__gp_learner *g, plx_index k, const plx__slab_rows *rows)
{
    const plx__kernel_pivots *p = &g->pivots[k];
    plx_index begin = 0, end = 0;
    plx_mat all;
    PLX_TRY(plx__arena_mat(&all, plx__scratch(g->ctx), g->targets.n, p->rank));
    plx__slab_rows_mine(&begin, &end, g->ctx, rows);
    for (plx_index i = begin; i < end; i++)
        memcpy(all.data + rows->at[i] * all.ld, p->x.data + i * p->x.ld, (size_t)p->rank * sizeof(double));
    PLX_TRY(plx__slabs_share(g->ctx, rows->cut, all.data, (size_t)p->rank * sizeof(double), 1));
    g->pivots[k].x = plx__cmat(all);
    return PLX_OK;
}

plx_status plx__gp_find_pivots(plx__gp_learner *g, bool divided)
{
    plx__slabs cut = plx__slabs_cut(g->targets.n, PLX__PANE_ROWS);
    cut.alone = !divided;
    PLX_TRY(PLX__ARENA_NEW(&g->pivots, plx__scratch(g->ctx), g->count));
    for (plx_index k = 0; k < g->count; k++) {
        plx_index *sample = NULL, *at = NULL, count = 0;
        plx__reference ref;
        PLX_TRY(list_present(&sample, &at, &count, g, k));
        plx__slab_rows rows = {cut, count, at};
        PLX_TRY(plx__reference_own(&ref, g->ctx, &g->kernels[k], sample, &rows));
        PLX_TRY(plx__kernel_pivots_find(&g->pivots[k], g->ctx, &g->kernels[k], &ref, &rows, g->most_pivots));
        PLX_TRY(place_rows(g, k, &rows));
    }
    if (plx__gp_pivot_columns(g)) return PLX_OK;
    PLX_FAIL(g->ctx, PLX_E_DATA,
             "%s: the kernel is 0 on all labelled samples, so that there is no pivot; leave pivots out",
             g->run->method->name);
}

void plx__gp_pivot_features(const plx__gp_learner *g, plx_mat z)
{
    for (plx_index k = 0, at = 0; k < g->count; at += g->pivots[k++].rank)
        for (plx_index i = 0; i < z.rows; i++)
            for (plx_index j = 0; j < g->pivots[k].rank; j++)
                z.data[i * z.ld + at + j] = root_of(g, k) * g->pivots[k].x.data[i * g->pivots[k].x.ld + j];
}

/* ---- in the model ---- */

plx_status plx__gp_store_pivots(plx__gp_learner *g)
{
    for (plx_index k = 0; k < g->count; k++)
        PLX_TRY(plx__kernel_pivots_store(g->run, &g->pivots[k], g->kernels[k].name));
    return PLX_OK;
}

plx_status plx__gp_load_pivots(plx__gp_learner *g)
{
    PLX_TRY(PLX__ARENA_NEW(&g->pivots, plx__scratch(g->ctx), g->count));
    for (plx_index k = 0; k < g->count; k++)
        PLX_TRY(plx__kernel_pivots_load(&g->pivots[k], g->run, &g->kernels[k], -1, (plx_index)1 << 50));
    return PLX_OK;
}

/* ---- any samples ---- */

plx_status plx__gp_pivot_rows(plx__gp_learner *g, plx_index begin, plx_index end, plx_mat z, double *own)
{
    for (plx_index k = 0, at = 0; k < g->count; at += g->pivots[k++].rank) {
        plx__mark mark = plx__arena_mark(plx__scratch(g->ctx));
        plx_mat h;
        PLX_TRY(plx__arena_mat(&h, plx__scratch(g->ctx), end - begin, g->pivots[k].rank));
        PLX_TRY(plx__kernel_pivots_rows(g->ctx, &g->pivots[k], &g->kernels[k], begin, end, h));
        plx__mat_scale(h, root_of(g, k));
        plx__mat_copy(plx__sub(z, 0, at, h.rows, h.cols), plx__cmat(h));
        PLX_TRY(plx__view_kernel_self(g->run, &g->kernels[k], begin, end, own));
        plx__arena_rewind(plx__scratch(g->ctx), mark);
    }
    for (plx_index i = 0; i < end - begin; i++) own[i] = fmax(0.0, own[i] - plx__norm_sq(z.data + i * z.ld, z.cols));
    return PLX_OK;
}
