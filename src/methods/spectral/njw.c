/*
 * Blend, embed, cluster, in the order of the paper; the search for a width repeats it and keeps the tightest
 * clusters.
 */
#include "methods/spectral/njw.h"

#include <math.h>

plx_status plx__njw_check(plx__run *run, const plx__njw_options *o, plx_index n, const char *of)
{
    if (o->clusters <= n) return PLX_OK;
    PLX_FAIL(run->ctx, PLX_E_ARG, "clusters = %lld: only %lld samples are clustered%s; ask for fewer clusters",
             (long long)o->clusters, (long long)n, of);
}

plx_status plx__njw_cluster(plx__njw *c, plx__run *run, const plx__njw_options *o, const plx__affinity *views,
                            plx_index n_views)
{
    plx__arena *scratch = plx__scratch(run->ctx);
    plx_index k = o->clusters;
    plx__kmeans_options options;
    c->converged = true;
    PLX_TRY(plx__blend_build(&c->blend, run->ctx, views, n_views, &o->blend));
    PLX_TRY(plx__njw_check(run, o, c->blend.n, n_views == 1 ? " (others lack the view)" : ""));
    PLX_TRY(plx__arena_f64(&c->values, scratch, k, 1));
    PLX_TRY(plx__arena_mat(&c->vectors, scratch, c->blend.n, k));
    PLX_TRY(
        plx__spectral_vectors(run->ctx, &c->blend.affine, k, c->values, c->vectors, &c->converged, run->method->name));
    PLX_TRY(plx__mat_clone(&c->rows, scratch, plx__cmat(c->vectors)));
    plx__unit_rows(c->rows);
    PLX_TRY(plx__kmeans_options_of(&options, run, k, k));
    PLX_TRY(plx__kmeans(&c->result, run->ctx, plx__cmat(c->rows), &options));
    c->converged &= c->result.converged;
    return PLX_OK;
}

static double rounded(double x) { return nearbyint(x * 1e12) / 1e12; }

plx_status plx__njw_search_width(plx__affinity *a, plx__run *run, const plx__njw_options *o)
{
    double median = a->width, best = INFINITY, width = NAN;
    plx__njw_options alone = *o;
    alone.blend = (plx__blend_options){.rule = PLX__BLEND_JOINT, .zero_diagonal = o->blend.zero_diagonal};
    for (plx_index g = 0; g < o->n_grid; g++) {
        plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
        plx__njw c;
        a->width = median * o->grid[g];
        if (!(a->width > 0)) PLX_FAIL(run->ctx, PLX_E_ARG, "width_grid: multiples of the median must be > 0");
        PLX_TRY(plx__njw_cluster(&c, run, &alone, a, 1));
        double spread = rounded(c.result.inertia);
        plx__arena_rewind(plx__scratch(run->ctx), mark);
        PLX_TRY(plx__report(run->ctx, "width", g + 1, o->n_grid, spread));
        if (spread > best || (spread == best && a->width < width)) continue;
        best = spread;
        width = a->width;
    }
    a->width = width;
    plx__info(run->ctx, "%s: width of view '%s': %g (%g times the median)", run->method->name, a->name, width,
              width / median);
    return PLX_OK;
}
