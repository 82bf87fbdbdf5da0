/*
 * A factor's rows are features: what is found for them leads back to the pivots by one triangular solve.
 */
#include "kernel/pivot_expansion.h"

#include "linalg/factor.h"

plx_status plx__pivot_expansion_find(plx__kernel_pivots *out, plx__run *run, const plx__expansion *x,
                                     const plx_index *sample, plx_index count, plx_index most)
{
    plx__slab_rows whose = {plx__slabs_cut(count, PLX__PANE_ROWS), count, NULL};
    return plx__pivot_expansion_find_for(out, run, x, sample, &whose, most);
}

plx_status plx__pivot_expansion_find_for(plx__kernel_pivots *out, plx__run *run, const plx__expansion *x,
                                         const plx_index *sample, const plx__slab_rows *whose, plx_index most)
{
    plx__view_kernel k = {.name = x->data.name, .kernel = x->data.kernel, .rows = x->rows, .bound = x->data.bound};
    plx__reference ref = {.count = whose->n, .column = sample};
    if (x->linear) k.kernel.kind = PLX__KERNEL_LINEAR; /* cosine: the rows have unit length already */
    if (k.kernel.kind != PLX__KERNEL_PRECOMPUTED)
        PLX_TRY(plx__expansion_rows_for(&ref.rows, run->ctx, x, sample, whose));
    PLX_TRY(plx__kernel_pivots_find(out, run->ctx, &k, &ref, whose, most));
    if (out->rank) return PLX_OK;
    PLX_FAIL(run->ctx, PLX_E_DATA, "%s: the kernel of view '%s' is 0 on all samples to learn from; leave it out",
             run->method->name, x->data.name);
}

plx_status plx__pivot_expansion_keep(plx__run *run, const plx__expansion *x, const plx__kernel_pivots *p,
                                     plx_cmat weights)
{
    plx__mark mark = plx__arena_mark(plx__scratch(run->ctx));
    plx_mat coef;
    PLX_TRY(plx__mat_clone(&coef, plx__scratch(run->ctx), weights));
    PLX_TRY(plx__tri_solve(run->ctx, p->corner, PLX__T, coef));
    PLX_TRY(plx__expansion_keep(run, x, p->sample, p->rank, plx__cmat(coef)));
    plx__arena_rewind(plx__scratch(run->ctx), mark);
    return PLX_OK;
}

/* X, what it was made in, the corner; a few numbers per sample. */
double plx__pivot_expansion_bytes(double own, double most) { return 8 * (3 * own * most + 2 * most * most + 4 * own); }
