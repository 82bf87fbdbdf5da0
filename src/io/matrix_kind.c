/*
 * A guess from the values alone: 0 and 1 are binary, whole numbers from 0 are counts, all else is real. NaN
 * says nothing.
 */
#include "io/matrix_kind.h"

#include <math.h>

static const double *values_of(const plx__table *t, plx_index *count)
{
    *count = t->sparse ? (plx_index)t->csr.ptr[t->csr.rows] : t->dense.rows * t->dense.cols;
    return t->sparse ? t->csr.val : t->dense.data;
}

/* `kind` (binary or counts) as far as these values allow. */
static plx_view_kind narrow_kind(plx_view_kind kind, const double *x, plx_index count)
{
    for (plx_index i = 0; i < count; i++) {
        if (isnan(x[i]) || x[i] == 0 || x[i] == 1) continue;
        if (x[i] < 0 || x[i] != floor(x[i])) return PLX_VIEW_REAL;
        kind = PLX_VIEW_COUNTS;
    }
    return kind;
}

plx_view_kind plx__guess_kind_dense(plx_cmat m)
{
    plx_view_kind kind = PLX_VIEW_BINARY;
    for (plx_index i = 0; i < m.rows && kind != PLX_VIEW_REAL; i++) kind = narrow_kind(kind, m.data + i * m.ld, m.cols);
    return kind;
}

plx_view_kind plx__guess_kind_sparse(plx_ccsr m) { return narrow_kind(PLX_VIEW_BINARY, m.val, m.ptr[m.rows]); }

plx_view_kind plx__guess_kind(const plx__table *table)
{
    return table->sparse ? plx__guess_kind_sparse(plx__ccsr(table->csr))
                         : plx__guess_kind_dense(plx__cmat(table->dense));
}

bool plx__kind_fits(const plx__table *table, plx_view_kind kind)
{
    plx_index count = 0;
    const double *x = values_of(table, &count);
    if (kind == PLX_VIEW_REAL || kind == PLX_VIEW_KERNEL) return true;
    for (plx_index i = 0; i < count; i++)
        if (x[i] < 0 || (kind == PLX_VIEW_BINARY && x[i] > 0 && x[i] != 1)) return false;
    return true;
}
