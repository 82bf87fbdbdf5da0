/*
 * Squared distances to a centre use |c|^2, computed once per centre, so that a sparse row costs its entries
 * only.
 */
#include "data/row_parts.h"

#include <math.h>

#include "linalg/dense.h"

double plx__view_row_norm(const plx__view *v, plx_index i)
{
    if (v->sparse) return plx__norm(v->csr.val + v->csr.ptr[i], v->csr.ptr[i + 1] - v->csr.ptr[i]);
    return plx__norm(v->dense.data + i * v->dense.ld, v->cols);
}

/* Sparse rows: |x - c|^2 = |c|^2 + sum over entries of x (x - 2 c), which never is below 0 but by rounding. */
double plx__view_row_dist_sq(const plx__view *v, plx_index i, const double *dense, double dense_norm_sq)
{
    double sum = dense_norm_sq;
    if (!v->sparse) return plx__dist_sq(v->dense.data + i * v->dense.ld, dense, v->cols);
    for (int64_t p = v->csr.ptr[i]; p < v->csr.ptr[i + 1]; p++)
        sum += v->csr.val[p] * (v->csr.val[p] - 2 * dense[v->csr.col[p]]);
    return fmax(sum, 0);
}

double plx__part_dot(const plx__row_part *part, plx_index i, const double *dense)
{
    const plx__view *v = part->view;
    double sum = 0;
    if (!v->sparse) return part->factor[i] * plx__dot(v->dense.data + i * v->dense.ld, dense + part->first, v->cols);
    for (int64_t p = v->csr.ptr[i]; p < v->csr.ptr[i + 1]; p++)
        sum += v->csr.val[p] * dense[part->first + v->csr.col[p]];
    return part->factor[i] * sum;
}

void plx__part_add(double *sum, const plx__row_part *part, plx_index i)
{
    const plx__view *v = part->view;
    double f = part->factor[i], *to = sum + part->first;
    if (f == 0) return;
    if (!v->sparse) {
        plx__axpy(to, f, v->dense.data + i * v->dense.ld, v->cols);
        return;
    }
    for (int64_t p = v->csr.ptr[i]; p < v->csr.ptr[i + 1]; p++) to[v->csr.col[p]] += f * v->csr.val[p];
}
