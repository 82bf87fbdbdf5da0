/*
 * What kind of view the values of a matrix suggest.
 */
#ifndef PLX_IO_MATRIX_KIND_H
#define PLX_IO_MATRIX_KIND_H

#include "data/table.h"
#include "parallax/dataset.h"

/* Only 0 and 1: binary; non-negative integers: counts; else real. NaN does not count. */
plx_view_kind plx__guess_kind(const plx__table *table);
plx_view_kind plx__guess_kind_dense(plx_cmat m);
plx_view_kind plx__guess_kind_sparse(plx_ccsr m);

/* May a view of these values be of this kind? */
bool plx__kind_fits(const plx__table *table, plx_view_kind kind);

#endif
