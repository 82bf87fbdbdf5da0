/*
 * The kernel that pivots leave, by taking one sample's row and column after the other out of the matrix.
 */
#ifndef PLX_TESTS_PIVOT_HELPERS_H
#define PLX_TESTS_PIVOT_HELPERS_H

#include <stdlib.h>
#include <string.h>

/* out (n x n) = K[:,P] K[P,P]^-1 K[P,:] for the `most` greedy pivots P among the samples with `from`: the largest
 * residual first. */
static inline void reduce_gram(double *out, const double *gram, int n, const uint8_t *from, int most)
{
    double *left = malloc(sizeof *left * (size_t)(n * n)), *row = malloc(sizeof *row * (size_t)n);
    memcpy(left, gram, sizeof *left * (size_t)(n * n));
    memset(out, 0, sizeof *out * (size_t)(n * n));
    for (int step = 0; step < most; step++) {
        int p = -1;
        for (int i = 0; i < n; i++)
            if (from[i] && (p < 0 || left[i * n + i] > left[p * n + p] * (1 + 1e-12))) p = i;
        if (p < 0 || left[p * n + p] < 1e-10) break;
        double own = left[p * n + p];
        memcpy(row, left + p * n, sizeof *row * (size_t)n);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                out[i * n + j] += row[i] * row[j] / own;
                left[i * n + j] -= row[i] * row[j] / own;
            }
    }
    free(left);
    free(row);
}

#endif
