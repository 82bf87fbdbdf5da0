/*
 * A guess from the values alone: 0 and 1 are binary, whole numbers from 0 are counts, all else is real. NaN
 * says nothing.
 */
#include "io/matrix_kind.h"

#include "data/value_facts.h"

static const double *values_of(const plx__table *t, plx_index *count)
{
    plx_index rows = t->divided ? t->end - t->begin : t->dense.rows;
    *count = t->sparse ? (plx_index)t->csr.ptr[t->csr.rows] : rows * t->dense.cols;
    return t->sparse ? t->csr.val : t->dense.data + (t->divided ? t->begin * t->dense.ld : 0);
}

static plx_view_kind kind_of(const plx__value_facts *f)
{
    if (f->negative || f->fraction) return PLX_VIEW_REAL;
    return f->other ? PLX_VIEW_COUNTS : PLX_VIEW_BINARY;
}

plx_view_kind plx__guess_kind_dense(plx_cmat m)
{
    plx__value_facts facts = {0};
    for (plx_index i = 0; i < m.rows && kind_of(&facts) != PLX_VIEW_REAL; i++)
        plx__value_facts_add(&facts, m.data + i * m.ld, m.cols);
    return kind_of(&facts);
}

plx_view_kind plx__guess_kind_sparse(plx_ccsr m)
{
    plx__value_facts facts = {0};
    plx__value_facts_add(&facts, m.val, m.ptr[m.rows]);
    return kind_of(&facts);
}

plx_view_kind plx__guess_kind(const plx__table *table)
{
    plx_cmat dense = plx__cmat(table->dense);
    if (table->sparse) return plx__guess_kind_sparse(plx__ccsr(table->csr));
    if (table->divided)
        dense = (plx_cmat){dense.data + table->begin * dense.ld, table->end - table->begin, dense.cols, dense.ld};
    return plx__guess_kind_dense(dense);
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
