/*
 * Products and factorisations: cuBLAS and the 64-bit functions of cuSOLVER. Both think in columns, where our row-major
 * matrices are their own transposes: C = A B becomes C' = B'A', a lower triangle here is an upper one there, and "left"
 * is "right".
 *
 * The inverse of a factored matrix is made here in panels, in place and with 64-bit sizes: cuSOLVER's own counts with
 * 32 bits and n = 46341 has more than 2^31 entries. n^3/3 operations for the inverse of the triangle, n^3/3 for its
 * product with itself, nearly all of them in products of INVERSE_BLOCK columns.
 */
#include <vector>

#include "cuda_device.h"

static cublasOperation_t blas_op(plx_device_trans t) { return t == PLX_DEVICE_TRANSPOSED ? CUBLAS_OP_T : CUBLAS_OP_N; }

/* ---- products ---- */

int row_gemm(plx_device *d, int64_t m, int64_t n, int64_t k, double alpha, operand a, operand b, double beta, double *c,
             int64_t ldc)
{
    TRY_BLAS(d, cublasDgemm_64(d->blas, blas_op(b.trans), blas_op(a.trans), n, m, k, &alpha, b.data, b.ld, a.data, a.ld,
                               &beta, c, ldc));
    return PLX_DEVICE_OK;
}

/* The operation of A in C = A A' (PLAIN) is the transpose of what the columns' view holds. */
int row_syrk(plx_device *d, int64_t n, int64_t k, double alpha, operand a, double beta, double *c, int64_t ldc)
{
    cublasOperation_t op = a.trans == PLX_DEVICE_TRANSPOSED ? CUBLAS_OP_N : CUBLAS_OP_T;
    TRY_BLAS(d, cublasDsyrk_64(d->blas, CUBLAS_FILL_MODE_UPPER, op, n, k, &alpha, a.data, a.ld, &beta, c, ldc));
    return PLX_DEVICE_OK;
}

/* y = alpha op(A) x + beta y, op(A) m x k. */
static int row_gemv(plx_device *d, int64_t m, int64_t k, double alpha, operand a, strided x, double beta, strided y)
{
    bool flipped = a.trans == PLX_DEVICE_TRANSPOSED;
    TRY_BLAS(d, cublasDgemv_64(d->blas, flipped ? CUBLAS_OP_N : CUBLAS_OP_T, flipped ? m : k, flipped ? k : m, &alpha,
                               a.data, a.ld, x.data, x.stride, &beta, y.data, y.stride));
    return PLX_DEVICE_OK;
}

static plx_device_trans flip(plx_device_trans t)
{
    return t == PLX_DEVICE_TRANSPOSED ? PLX_DEVICE_PLAIN : PLX_DEVICE_TRANSPOSED;
}

static const plx_device_mat NO_MATRIX = {nullptr, 0, 0, 0, 0};

int cuda_gemm(plx_device *d, double alpha, plx_device_mat a, plx_device_trans ta, plx_device_mat b, plx_device_trans tb,
              double beta, plx_device_mat c)
{
    int64_t k = ta == PLX_DEVICE_TRANSPOSED ? a.rows : a.cols;
    TRY(device_enter(d));
    if (c.rows == 0 || c.cols == 0) return PLX_DEVICE_OK;
    if (k == 0) return cuda_combine(d, beta, c, 0.0, NO_MATRIX, NO_MATRIX, NO_MATRIX, 0.0, NO_MATRIX, NO_MATRIX, 0.0);
    operand left = {mat_data(a), a.ld, ta}, right = {mat_data(b), b.ld, tb};
    if (c.cols == 1) /* b is k x 1, or stored as one row */
        return row_gemv(d, c.rows, k, alpha, left, {mat_data(b), tb == PLX_DEVICE_TRANSPOSED ? 1 : b.ld}, beta,
                        {mat_data(c), c.ld});
    if (c.rows == 1) { /* c' = op(B)' a' */
        right.trans = flip(tb);
        return row_gemv(d, c.cols, k, alpha, right, {mat_data(a), ta == PLX_DEVICE_TRANSPOSED ? a.ld : 1}, beta,
                        {mat_data(c), 1});
    }
    return row_gemm(d, c.rows, c.cols, k, alpha, left, right, beta, mat_data(c), c.ld);
}

int cuda_syrk(plx_device *d, double alpha, plx_device_mat a, plx_device_trans ta, double beta, plx_device_mat c)
{
    int64_t k = ta == PLX_DEVICE_TRANSPOSED ? a.rows : a.cols;
    TRY(device_enter(d));
    if (c.rows == 0) return PLX_DEVICE_OK;
    if (k == 0) return scale_lower(d, beta, mat_of(c));
    return row_syrk(d, c.rows, k, alpha, {mat_data(a), a.ld, ta}, beta, mat_data(c), c.ld);
}

/* ---- triangles ---- */

/* B = alpha op(L)^-1 B or alpha B op(L)^-1, B m x n. */
static int row_trsm(plx_device *d, bool right, operand l, int64_t m, int64_t n, double alpha, double *b, int64_t ldb)
{
    TRY_BLAS(d, cublasDtrsm_64(d->blas, right ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_UPPER,
                               blas_op(l.trans), CUBLAS_DIAG_NON_UNIT, n, m, &alpha, l.data, l.ld, b, ldb));
    return PLX_DEVICE_OK;
}

/* B = op(L) B in place, B m x n. */
static int row_trmm(plx_device *d, operand l, int64_t m, int64_t n, double *b, int64_t ldb)
{
    const double one = 1.0;
    TRY_BLAS(d, cublasDtrmm_64(d->blas, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_UPPER, blas_op(l.trans),
                               CUBLAS_DIAG_NON_UNIT, n, m, &one, l.data, l.ld, b, ldb, b, ldb));
    return PLX_DEVICE_OK;
}

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
    return row_trsm(d, right, l, b.rows, b.cols, 1.0, mat_data(b), b.ld);
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

/* ---- Cholesky ---- */

static int potrf_sizes(plx_device *d, int64_t n, const void *a, int64_t ld, size_t *on_device, size_t *on_host)
{
    TRY_SOLVER(d, cusolverDnXpotrf_bufferSize(d->solver, d->params, CUBLAS_FILL_MODE_UPPER, n, CUDA_R_64F, a, ld,
                                              CUDA_R_64F, on_device, on_host));
    return PLX_DEVICE_OK;
}

/* Never less than it takes: without an answer, a whole matrix. */
int64_t potrf_bytes(plx_device *d, int64_t n)
{
    size_t on_device = 0, on_host = 0;
    if (n == 0) return 0;
    if (potrf_sizes(d, n, nullptr, n, &on_device, &on_host) != PLX_DEVICE_OK) return 8 * n * n;
    return (int64_t)on_device;
}

/* The first row whose diagonal is not positive, to *first, which holds n. NaN is not. */
__global__ void first_not_positive(plain_mat a, unsigned long long *first)
{
    int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < a.rows; i += step)
        if (!(a.data[i * a.ld + i] > 0)) atomicMin(first, (unsigned long long)i);
}

static int check_diagonal(plx_device *d, plx_device_mat a, int64_t *pivot)
{
    scratch<unsigned long long> first(d);
    unsigned long long found = (unsigned long long)a.rows;
    TRY(first.take(1));
    TRY(device_send(d, first.data, &found, 1));
    TRY(device_launch(d, "first_not_positive", first_not_positive, std::min<int64_t>(64, divide_up(a.rows, THREADS)),
                      THREADS, mat_of(a), first.data));
    TRY(device_fetch(d, &found, first.data, 1));
    if ((int64_t)found < a.rows) *pivot = (int64_t)found;
    return PLX_DEVICE_OK;
}

int cuda_potrf(plx_device *d, plx_device_mat a, int64_t *pivot)
{
    size_t on_device = 0, on_host = 0;
    int told = 0;
    scratch<int> info(d);
    scratch<char> room(d);
    *pivot = -1;
    TRY(device_enter(d));
    if (a.rows == 0) return PLX_DEVICE_OK;
    TRY(potrf_sizes(d, a.rows, mat_data(a), a.ld, &on_device, &on_host));
    TRY(room.take((int64_t)on_device));
    TRY(info.take(1));
    std::vector<char> host(on_host);
    TRY_SOLVER(d, cusolverDnXpotrf(d->solver, d->params, CUBLAS_FILL_MODE_UPPER, a.rows, CUDA_R_64F, mat_data(a), a.ld,
                                   CUDA_R_64F, room.data, on_device, host.data(), on_host, info.data));
    TRY(device_fetch(d, &told, info.data, 1));
    if (told < 0) return device_fail(d, PLX_DEVICE_FAILED, "cusolverDnXpotrf refused argument %d", -told);
    if (told > 0) *pivot = told - 1;
    else TRY(check_diagonal(d, a, pivot));
    if (*pivot < 0) return PLX_DEVICE_OK;
    return device_fail(d, PLX_DEVICE_NUMERIC, "pivot %lld is not positive", (long long)*pivot);
}

/* ---- inverse ---- */

/* L^-1 in the place of L, panels of columns from the right: [L1 0; P L2]^-1 = [L1^-1 0; -L2^-1 P L1^-1 L2^-1]. */
static int invert_triangle(plx_device *d, plain_mat l, double *room)
{
    const int64_t block = INVERSE_BLOCK;
    for (int64_t j = (l.rows - 1) / block * block; j >= 0; j -= block) {
        int64_t width = std::min(block, l.rows - j), rest = l.rows - j - width;
        double *corner = l.data + j * l.ld + j, *panel = corner + width * l.ld, *done = panel + width;
        plain_mat unit = {room, width, width, width}, diagonal = {corner, width, width, l.ld};
        operand own = {corner, l.ld, PLX_DEVICE_PLAIN};
        if (rest > 0) {
            TRY(row_trmm(d, {done, l.ld, PLX_DEVICE_PLAIN}, rest, width, panel, l.ld));
            TRY(row_trsm(d, true, own, rest, width, -1.0, panel, l.ld));
        }
        TRY(clear_to_identity(d, unit));
        TRY(row_trsm(d, false, own, width, width, 1.0, room, width));
        TRY(copy_lower(d, diagonal, unit, false));
    }
    return PLX_DEVICE_OK;
}

/* Lower triangle of M'M in the place of the lower triangle M, rows from the top: block (i, j) is the sum of M_ki' M_kj
 * over k >= i, and those rows are still as they were. */
static int square_triangle(plx_device *d, plain_mat m, double *room)
{
    const int64_t block = INVERSE_BLOCK;
    for (int64_t i = 0; i < m.rows; i += block) {
        int64_t width = std::min(block, m.rows - i), rest = m.rows - i - width;
        double *row = m.data + i * m.ld, *corner = row + i, *below = corner + width * m.ld, *left = row + width * m.ld;
        plain_mat copy = {room, width, width, width}, diagonal = {corner, width, width, m.ld};
        operand under = {below, m.ld, PLX_DEVICE_TRANSPOSED};
        if (i > 0) TRY(row_trmm(d, {corner, m.ld, PLX_DEVICE_TRANSPOSED}, width, i, row, m.ld));
        if (i > 0 && rest > 0)
            TRY(row_gemm(d, width, i, rest, 1.0, under, {left, m.ld, PLX_DEVICE_PLAIN}, 1.0, row, m.ld));
        TRY(copy_lower(d, copy, diagonal, true));
        TRY(row_syrk(d, width, width, 1.0, {room, width, PLX_DEVICE_TRANSPOSED}, 0.0, corner, m.ld));
        if (rest > 0) TRY(row_syrk(d, width, rest, 1.0, under, 1.0, corner, m.ld));
    }
    return PLX_DEVICE_OK;
}

int cuda_potri(plx_device *d, plx_device_mat l)
{
    scratch<double> room(d);
    int64_t block = std::min<int64_t>(INVERSE_BLOCK, l.rows);
    TRY(device_enter(d));
    if (l.rows == 0) return PLX_DEVICE_OK;
    TRY(room.take(block * block));
    TRY(invert_triangle(d, mat_of(l), room.data));
    return square_triangle(d, mat_of(l), room.data);
}

/* ---- eigenpairs ---- */

struct eigen_plan {
    bool all;
    cusolverEigMode_t mode;
    int64_t n, ld, il, iu;
    double *a, *w;
    size_t on_device, on_host;
};

static int eigen_sizes(plx_device *d, eigen_plan *p)
{
    int64_t found = 0;
    double low = 0, high = 0;
    if (p->all)
        TRY_SOLVER(d,
                   cusolverDnXsyevd_bufferSize(d->solver, d->params, p->mode, CUBLAS_FILL_MODE_UPPER, p->n, CUDA_R_64F,
                                               p->a, p->ld, CUDA_R_64F, p->w, CUDA_R_64F, &p->on_device, &p->on_host));
    else
        TRY_SOLVER(d, cusolverDnXsyevdx_bufferSize(d->solver, d->params, p->mode, CUSOLVER_EIG_RANGE_I,
                                                   CUBLAS_FILL_MODE_UPPER, p->n, CUDA_R_64F, p->a, p->ld, &low, &high,
                                                   p->il, p->iu, &found, CUDA_R_64F, p->w, CUDA_R_64F, &p->on_device,
                                                   &p->on_host));
    return PLX_DEVICE_OK;
}

static int eigen_solve(plx_device *d, const eigen_plan *p, char *room, char *host, int *info)
{
    int64_t found = 0;
    double low = 0, high = 0;
    if (p->all)
        TRY_SOLVER(d,
                   cusolverDnXsyevd(d->solver, d->params, p->mode, CUBLAS_FILL_MODE_UPPER, p->n, CUDA_R_64F, p->a,
                                    p->ld, CUDA_R_64F, p->w, CUDA_R_64F, room, p->on_device, host, p->on_host, info));
    else
        TRY_SOLVER(d, cusolverDnXsyevdx(d->solver, d->params, p->mode, CUSOLVER_EIG_RANGE_I, CUBLAS_FILL_MODE_UPPER,
                                        p->n, CUDA_R_64F, p->a, p->ld, &low, &high, p->il, p->iu, &found, CUDA_R_64F,
                                        p->w, CUDA_R_64F, room, p->on_device, host, p->on_host, info));
    return PLX_DEVICE_OK;
}

int64_t eigen_bytes(plx_device *d, int64_t n, int64_t count)
{
    eigen_plan p = {count == n, CUSOLVER_EIG_MODE_VECTOR, n, n, n - count + 1, n, nullptr, nullptr, 0, 0};
    if (n == 0 || count == 0) return 0;
    return eigen_sizes(d, &p) == PLX_DEVICE_OK ? (int64_t)p.on_device + 8 * n : 32 * n * n;
}

/* Vectors come out as the columns of the columns' view: the first `count` rows of A. */
int cuda_sym_eigen(plx_device *d, plx_device_mat a, int64_t first, int64_t count, double *values,
                   plx_device_mat vectors)
{
    scratch<double> w(d);
    scratch<char> room(d);
    scratch<int> info(d);
    int told = 0;
    TRY(device_enter(d));
    if (count == 0) return PLX_DEVICE_OK;
    TRY(w.take(a.rows));
    TRY(info.take(1));
    eigen_plan p = {count == a.rows,
                    vectors.buffer ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR,
                    a.rows,
                    a.ld,
                    first + 1,
                    first + count,
                    mat_data(a),
                    w.data,
                    0,
                    0};
    TRY(eigen_sizes(d, &p));
    TRY(room.take((int64_t)p.on_device));
    std::vector<char> host(p.on_host);
    TRY(eigen_solve(d, &p, room.data, host.data(), info.data));
    TRY(device_fetch(d, &told, info.data, 1));
    if (told < 0) return device_fail(d, PLX_DEVICE_FAILED, "cuSOLVER's syevd refused argument %d", -told);
    if (told > 0) return device_fail(d, PLX_DEVICE_NUMERIC, "the eigenvalues did not converge");
    TRY(device_fetch(d, values, w.data, count));
    if (!vectors.buffer) return PLX_DEVICE_OK;
    plx_device_mat found = a;
    found.rows = count;
    return cuda_copy(d, vectors, found);
}
