/*
 * Rows and columns of CSR matrices: lookups, scaling, sums, and inner products of sparse rows.
 */
#include "linalg/csr.h"

#include <string.h>

double plx__csr_get(plx_ccsr a, plx_index i, plx_index j)
{
    int64_t low = a.ptr[i], high = a.ptr[i + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (a.col[middle] < j) low = middle + 1;
        else high = middle;
    }
    return low < a.ptr[i + 1] && a.col[low] == j ? a.val[low] : 0.0;
}

void plx__csr_scale_rows(plx_csr a, const double *factor)
{
    for (plx_index i = 0; i < a.rows; i++)
        for (int64_t p = a.ptr[i]; p < a.ptr[i + 1]; p++) a.val[p] *= factor[i];
}

void plx__csr_scale_cols(plx_csr a, const double *factor)
{
    for (int64_t p = a.ptr[0]; p < a.ptr[a.rows]; p++) a.val[p] *= factor[a.col[p]];
}

void plx__csr_row_norms_sq(plx_ccsr a, double *out)
{
    for (plx_index i = 0; i < a.rows; i++) {
        double sum = 0;
        for (int64_t p = a.ptr[i]; p < a.ptr[i + 1]; p++) sum += a.val[p] * a.val[p];
        out[i] = sum;
    }
}

void plx__csr_row_sums(plx_ccsr a, double *out)
{
    for (plx_index i = 0; i < a.rows; i++) {
        double sum = 0;
        for (int64_t p = a.ptr[i]; p < a.ptr[i + 1]; p++) sum += a.val[p];
        out[i] = sum;
    }
}

void plx__csr_col_sums(plx_ccsr a, double *out)
{
    memset(out, 0, (size_t)a.cols * sizeof *out);
    for (int64_t p = a.ptr[0]; p < a.ptr[a.rows]; p++) out[a.col[p]] += a.val[p];
}

void plx__csr_col_means(plx_ccsr a, double *out)
{
    plx__csr_col_sums(a, out);
    for (plx_index j = 0; j < a.cols; j++) out[j] = a.rows ? out[j] / (double)a.rows : 0.0;
}

void plx__csr_col_counts(plx_ccsr a, int64_t *out)
{
    memset(out, 0, (size_t)a.cols * sizeof *out);
    for (int64_t p = a.ptr[0]; p < a.ptr[a.rows]; p++) out[a.col[p]] += a.val[p] != 0;
}

double plx__csr_row_dot(plx_ccsr a, plx_index i, plx_ccsr b, plx_index j)
{
    int64_t p = a.ptr[i], q = b.ptr[j], p1 = a.ptr[i + 1], q1 = b.ptr[j + 1];
    double sum = 0;
    while (p < p1 && q < q1) {
        int32_t ca = a.col[p], cb = b.col[q];
        if (ca == cb) sum += a.val[p] * b.val[q];
        p += ca <= cb;
        q += cb <= ca;
    }
    return sum;
}

double plx__csr_row_dist_sq(plx_ccsr a, plx_index i, plx_ccsr b, plx_index j)
{
    int64_t p = a.ptr[i], q = b.ptr[j], p1 = a.ptr[i + 1], q1 = b.ptr[j + 1];
    double sum = 0;
    while (p < p1 || q < q1) {
        int64_t ca = p < p1 ? a.col[p] : INT64_MAX, cb = q < q1 ? b.col[q] : INT64_MAX;
        double d = 0;
        if (ca <= cb) d += a.val[p++];
        if (cb <= ca) d -= b.val[q++];
        sum += d * d;
    }
    return sum;
}
