/*
 * Between the files of the expected kernels: rows grouped by pattern, and the polynomial kernel of one pair.
 */
#ifndef PLX_MIXTURE_EXPECTED_INTERNAL_H
#define PLX_MIXTURE_EXPECTED_INTERNAL_H

#include "mixture/expected_kernel.h"

/* Chosen rows of one side sorted by pattern. */
typedef struct plx__grouped {
    plx__expected_rows rows;
    plx_index count;    /* patterns that occur */
    plx_index *pattern; /* count */
    plx_index *first;   /* count + 1 */
    plx_index *place;   /* rows.count: places in the list, pattern by pattern */
} plx__grouped;

static inline plx_index plx__expected_row(const plx__expected_rows *r, plx_index place)
{
    return r->row ? r->row[place] : place;
}

/* Scratch for plx__poly_*: vectors of d, and squares of d for full covariances. */
typedef struct plx__poly_work {
    int32_t *column;
    double *a, *b, *next_a, *next_b;     /* d */
    plx_mat left, right, power, product; /* no data for diagonal covariances */
} plx__poly_work;

plx_status plx__poly_work_new(plx__poly_work *w, plx__arena *arena, plx_index d, bool full);

/* tr((V_i V_j)^h) for h = 1 .. count, over the columns missing in both patterns. */
plx_status plx__poly_traces(double *out, plx_index count, plx_context *ctx, plx__poly_work *w, const plx__moments *mi,
                            plx_index pi, plx_index zi, const plx__moments *mj, plx_index pj, plx_index zj);

/* E (x_i . x_j + coef0)^degree of components zi, zj of two rows, given the traces. */
double plx__poly_pair(const plx__expected *k, const double *traces, plx__poly_work *w, const plx__moments *mi,
                      plx_index i, plx_index zi, const plx__moments *mj, plx_index j, plx_index zj);

/* E (x . x + coef0)^degree of component z of one row. */
plx_status plx__poly_self(double *out, const plx__expected *k, plx_context *ctx, plx__poly_work *w,
                          const plx__moments *m, plx_index i, plx_index z);

#endif
