/*
 * Two sparse rows beside each other, for kernels and neighbours.
 */
#ifndef PLX_CUDA_PAIRS_H
#define PLX_CUDA_PAIRS_H

#include "cuda_device.h"

__device__ static inline double entry_value(const csr_way &m, int64_t at)
{
    return m.single ? (double)m.single[at] : m.wide[at];
}

struct pair_sums {
    double product, distance; /* x.z and |x/nx - z/nz|^2 */
};

/* One lane: rows i of a and j of b, columns ascending. SCALED: divided by nx and nz first. */
template <bool SCALED> __device__ static inline pair_sums merge_rows(const csr_way &a, int64_t i, const csr_way &b,
                                                                     int64_t j, double nx = 1, double nz = 1)
{
    int64_t p = a.ptr[i], q = b.ptr[j], p1 = a.ptr[i + 1], q1 = b.ptr[j + 1];
    pair_sums sums = {0, 0};
    while (p < p1 || q < q1) {
        int32_t ca = p < p1 ? a.col[p] : INT32_MAX, cb = q < q1 ? b.col[q] : INT32_MAX;
        bool left = p < p1 && ca <= cb, right = q < q1 && cb <= ca;
        double x = left ? entry_value(a, p) : 0.0, z = right ? entry_value(b, q) : 0.0;
        double gap = SCALED ? x / nx - z / nz : x - z;
        sums.product = fma(x, z, sums.product);
        sums.distance = fma(gap, gap, sums.distance);
        p += left;
        q += right;
    }
    return sums;
}

#endif
