/**
 * @file parallax/matrix.h
 * @brief Plain matrix views. They own nothing: the memory behind a view belongs to
 *        whoever handed it out and lives as long as that object does.
 *
 * Dense matrices are row-major with a leading dimension in elements. Sparse
 * matrices are CSR with sorted, unique column indices in every row.
 */
#ifndef PARALLAX_MATRIX_H
#define PARALLAX_MATRIX_H

#include <stddef.h>
#include <stdint.h>

#include "parallax/export.h"

/** Counts and indices. Signed, so that `i - 1` and `n - k` behave. */
typedef int64_t plx_index;

/** Read-only dense matrix: element (i,j) is data[i * ld + j], with ld >= cols. */
typedef struct plx_cmat {
    const double *data;
    plx_index rows, cols, ld;
} plx_cmat;

/** Writable dense matrix; same layout as plx_cmat. */
typedef struct plx_mat {
    double *data;
    plx_index rows, cols, ld;
} plx_mat;

/** Read-only CSR matrix: row i has entries ptr[i] .. ptr[i+1]-1 of col and val. */
typedef struct plx_ccsr {
    plx_index rows, cols;
    const int64_t *ptr; /**< rows + 1 offsets, ptr[0] = 0 */
    const int32_t *col; /**< ascending inside a row, no duplicates */
    const double *val;
} plx_ccsr;

/** Writable CSR matrix; same layout as plx_ccsr. */
typedef struct plx_csr {
    plx_index rows, cols;
    int64_t *ptr;
    int32_t *col;
    double *val;
} plx_csr;

#endif
