/*
 * Products and eigenpairs: cuBLAS and the 64-bit functions of cuSOLVER. Both think in columns, where our row-major
 * matrices are their own transposes: C = A B becomes C' = B'A', a lower triangle here is an upper one there.
 */
#include <vector>

#include "cuda_device.h"

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
