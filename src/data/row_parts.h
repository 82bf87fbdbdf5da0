/*
 * Rows of views as a mixture or clustering method uses them: row i of a view times factor[i], put at columns first .. of
 * a wider row. Unit rows, weighted rows and concatenated views need no copy of the data that way.
 */
#ifndef PLX_DATA_ROW_PARTS_H
#define PLX_DATA_ROW_PARTS_H

#include "data/dataset_impl.h"

typedef struct plx__row_part {
    const plx__view *view;
    double *factor; /* n; 0: absent */
    plx_index first;
} plx__row_part;

/* Euclidean norm of row i of a view; its squared distance to a dense vector with this squared norm. */
double plx__view_row_norm(const plx__view *view, plx_index i);
double plx__view_row_dist_sq(const plx__view *view, plx_index i, const double *dense, double dense_norm_sq);

/* Inner product of row i with a dense vector as wide as the joined row; sum += row i. */
double plx__part_dot(const plx__row_part *part, plx_index i, const double *dense);
void plx__part_add(double *sum, const plx__row_part *part, plx_index i);

/* ---- sums of rows by class (class_sums.c) ---- */

/* Members of class c: member[ptr[c] .. ptr[c + 1]), in sample order. */
typedef struct plx__members {
    plx_index k;
    const plx_index *ptr, *member;
} plx__members;

/* From one class per sample (-1: none), in scratch. */
plx_status plx__members_of(plx__members *out, plx_context *ctx, const int32_t *label, plx_index n, plx_index k);

enum { PLX__CLASS_SLABS = 32 }; /* the members of all classes are summed in k + this many parts */

/* sum[c] = sum of the joined rows (cols wide) of the members of c, in `room`; NULL for a class without members. `room`
 * has (k + PLX__CLASS_SLABS) x cols doubles. */
plx_status plx__class_sums(double **sum, plx_context *ctx, const plx__row_part *parts, plx_index n_parts,
                           plx_index cols, plx__members members, double *room);

#endif
