/*
 * Solves and products with triangular matrices, by halves: [L1 0; P L2] takes a full product with P between those with
 * L1 and L2, so that nearly all operations are in products of full matrices of order n/2, n/4 and so on. cuBLAS's own
 * functions reach 2 to 10 Tflop/s where those reach 50, and serve the leaves. "left" here is "right" there.
 */
#include "cuda_device.h"

static cublasSideMode_t blas_side(bool right) { return right ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT; }

static int leaf_solve(plx_device *d, bool right, operand l, int64_t m, int64_t n, double alpha, double *b, int64_t ldb)
{
    TRY_BLAS(d, cublasDtrsm_64(d->blas, blas_side(right), CUBLAS_FILL_MODE_UPPER, blas_op(l.trans),
                               CUBLAS_DIAG_NON_UNIT, n, m, &alpha, l.data, l.ld, b, ldb));
    return PLX_DEVICE_OK;
}

static int leaf_multiply(plx_device *d, bool right, operand l, int64_t m, int64_t n, double alpha, double *b,
                         int64_t ldb)
{
    TRY_BLAS(d, cublasDtrmm_64(d->blas, blas_side(right), CUBLAS_FILL_MODE_UPPER, blas_op(l.trans),
                               CUBLAS_DIAG_NON_UNIT, n, m, &alpha, l.data, l.ld, b, ldb, b, ldb));
    return PLX_DEVICE_OK;
}

/* The first half has whole leaves. */
halves halve(double *l, int64_t n, int64_t ld)
{
    const int64_t half = divide_up(divide_up(n, 2), TRIANGLE_LEAF) * TRIANGLE_LEAF;
    return {half, n - half, ld, l, l + half * ld, l + half * ld + half};
}

/*
 * The halves of B (m x n) that belong to those of L, on its left or right. With op(L) on its side of B one half takes
 * from the other:
 *   L B: second = L2 second + P first;     B L': second = second L2' + first P';
 *   L'B: first = L1' first + P' second;    B L: first = first L1 + second P.
 */
struct half_work {
    bool right;
    int64_t m, n, ldb, takes, gives; /* orders of the two halves */
    double *taker, *giver;
    operand own, other, below; /* the triangles of taker and giver, and P */
};

static half_work divide(bool right, operand l, int64_t m, int64_t n, double *b, int64_t ldb)
{
    const bool second_takes = right == (l.trans == PLX_DEVICE_TRANSPOSED);
    const halves h = halve((double *)l.data, right ? n : m, l.ld);
    double *second = right ? b + h.half : b + h.half * ldb;
    operand l1 = {h.first, l.ld, l.trans}, l2 = {h.second, l.ld, l.trans}, below = {h.below, l.ld, l.trans};
    if (second_takes) return {right, m, n, ldb, h.rest, h.half, second, b, l2, l1, below};
    return {right, m, n, ldb, h.half, h.rest, b, second, l1, l2, below};
}

/* taker = alpha op(P) giver + beta taker, on its side. */
static int take(plx_device *d, const half_work &w, double alpha, double beta)
{
    operand from = {w.giver, w.ldb, PLX_DEVICE_PLAIN};
    if (w.right) return row_gemm(d, w.m, w.takes, w.gives, alpha, from, w.below, beta, w.taker, w.ldb);
    return row_gemm(d, w.takes, w.n, w.gives, alpha, w.below, from, beta, w.taker, w.ldb);
}

/* While the giver is as it was. */
int multiply_triangle(plx_device *d, bool right, operand l, int64_t m, int64_t n, double alpha, double *b, int64_t ldb)
{
    if ((right ? n : m) <= TRIANGLE_LEAF) return leaf_multiply(d, right, l, m, n, alpha, b, ldb);
    const half_work w = divide(right, l, m, n, b, ldb);
    TRY(multiply_triangle(d, right, w.own, right ? m : w.takes, right ? w.takes : n, alpha, w.taker, ldb));
    TRY(take(d, w, alpha, 1.0));
    return multiply_triangle(d, right, w.other, right ? m : w.gives, right ? w.gives : n, alpha, w.giver, ldb);
}

/* When the giver is solved. */
int solve_triangle(plx_device *d, bool right, operand l, int64_t m, int64_t n, double alpha, double *b, int64_t ldb)
{
    if ((right ? n : m) <= TRIANGLE_LEAF) return leaf_solve(d, right, l, m, n, alpha, b, ldb);
    const half_work w = divide(right, l, m, n, b, ldb);
    TRY(solve_triangle(d, right, w.other, right ? m : w.gives, right ? w.gives : n, alpha, w.giver, ldb));
    TRY(take(d, w, -1.0, alpha));
    return solve_triangle(d, right, w.own, right ? m : w.takes, right ? w.takes : n, 1.0, w.taker, ldb);
}

/* ---- the operations ---- */

/* One right-hand side, of any stride. L y = b reads the columns' view transposed. */
static int row_trsv(plx_device *d, operand l, int64_t n, strided b)
{
    cublasOperation_t op = l.trans == PLX_DEVICE_TRANSPOSED ? CUBLAS_OP_N : CUBLAS_OP_T;
    TRY_BLAS(d, cublasDtrsv_64(d->blas, CUBLAS_FILL_MODE_UPPER, op, CUBLAS_DIAG_NON_UNIT, n, l.data, l.ld, b.data,
                               b.stride));
    return PLX_DEVICE_OK;
}

static int solve(plx_device *d, bool right, operand l, plx_device_mat b)
{
    if (!right && b.cols == 1) return row_trsv(d, l, b.rows, {mat_data(b), b.ld});
    return solve_triangle(d, right, l, b.rows, b.cols, 1.0, mat_data(b), b.ld);
}

int cuda_trsm(plx_device *d, int right, plx_device_mat l, plx_device_trans tl, plx_device_mat b)
{
    TRY(device_enter(d));
    if (b.rows == 0 || b.cols == 0) return PLX_DEVICE_OK;
    return solve(d, right != 0, {mat_data(l), l.ld, tl}, b);
}

/* Not cuSOLVER's: that one wants every right-hand side to be contiguous, ours lie across the rows. */
int cuda_potrs(plx_device *d, plx_device_mat l, plx_device_mat b)
{
    TRY(device_enter(d));
    if (b.rows == 0 || b.cols == 0) return PLX_DEVICE_OK;
    TRY(solve(d, false, {mat_data(l), l.ld, PLX_DEVICE_PLAIN}, b));
    return solve(d, false, {mat_data(l), l.ld, PLX_DEVICE_TRANSPOSED}, b);
}
