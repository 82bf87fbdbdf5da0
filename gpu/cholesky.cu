/*
 * Cholesky factors and the inverse of a factored matrix.
 *
 * The factor is cuSOLVER's. Our row-major lower triangle is the columns' upper one, for which it takes a third to a half
 * longer than for the lower one (98 against 64 ms at n = 20,000), so the matrix is turned into scratch and back, two
 * passes over it. Scratch of n x n numbers is taken up to an eighth of the device's memory; larger ones are factored in
 * their place.
 *
 * The inverse is made here, in place, with 64-bit sizes (cuSOLVER's counts with 32 bits, and n = 46341 has more than
 * 2^31 entries) and by halves (triangles.cu): nearly all of its 2/3 n^3 operations are in products of full matrices.
 */
#include <vector>

#include "cuda_device.h"

/* ---- factor ---- */

static bool factors_turned(const plx_device *d, int64_t n) { return 8 * n * n <= d->memory / TURNED_SHARE; }

static int potrf_sizes(plx_device *d, cublasFillMode_t side, int64_t n, const void *a, int64_t ld, size_t *on_device,
                       size_t *on_host)
{
    TRY_SOLVER(d, cusolverDnXpotrf_bufferSize(d->solver, d->params, side, n, CUDA_R_64F, a, ld, CUDA_R_64F, on_device,
                                              on_host));
    return PLX_DEVICE_OK;
}

/* Never less than it takes: without an answer, a whole matrix. */
int64_t potrf_bytes(plx_device *d, int64_t n)
{
    const bool turned = factors_turned(d, n);
    const cublasFillMode_t side = turned ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
    size_t on_device = 0, on_host = 0;
    if (n == 0) return 0;
    if (potrf_sizes(d, side, n, nullptr, n, &on_device, &on_host) != PLX_DEVICE_OK) on_device = (size_t)(8 * n * n);
    return (int64_t)on_device + (turned ? 8 * n * n : 0);
}

/* The first row whose diagonal is not positive, to *first, which holds n. NaN is not. */
__global__ void first_not_positive(plain_mat a, unsigned long long *first)
{
    int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < a.rows; i += step)
        if (!(a.data[i * a.ld + i] > 0)) atomicMin(first, (unsigned long long)i);
}

/* The first of the rows of `a`, if any. */
static int check_diagonal(plx_device *d, plain_mat a, int64_t *pivot)
{
    scratch<unsigned long long> first(d);
    unsigned long long found = (unsigned long long)a.rows;
    TRY(first.take(1));
    TRY(device_send(d, first.data, &found, 1));
    TRY(device_launch(d, "first_not_positive", first_not_positive, std::min<int64_t>(64, divide_up(a.rows, THREADS)),
                      THREADS, a, first.data));
    TRY(device_fetch(d, &found, first.data, 1));
    if ((int64_t)found < a.rows) *pivot = (int64_t)found;
    return PLX_DEVICE_OK;
}

/* `side` as cuSOLVER sees it. *pivot stays -1 where all is well. */
static int factor_side(plx_device *d, cublasFillMode_t side, plain_mat a, int64_t *pivot)
{
    size_t on_device = 0, on_host = 0;
    int told = 0;
    scratch<int> info(d);
    scratch<char> room(d);
    TRY(potrf_sizes(d, side, a.rows, a.data, a.ld, &on_device, &on_host));
    TRY(room.take((int64_t)on_device));
    TRY(info.take(1));
    std::vector<char> host(on_host);
    TRY_SOLVER(d, cusolverDnXpotrf(d->solver, d->params, side, a.rows, CUDA_R_64F, a.data, a.ld, CUDA_R_64F, room.data,
                                   on_device, host.data(), on_host, info.data));
    TRY(device_fetch(d, &told, info.data, 1));
    if (told < 0) return device_fail(d, PLX_DEVICE_FAILED, "cusolverDnXpotrf refused argument %d", -told);
    if (told > 0) *pivot = a.rows = told - 1; /* it passes over NaN, and may stop at what that has spoiled */
    return check_diagonal(d, a, pivot);
}

static int factor_turned(plx_device *d, plain_mat a, int64_t *pivot)
{
    scratch<double> room(d);
    TRY(room.take(a.rows * a.rows));
    plain_mat turned = {room.data, a.rows, a.rows, a.rows};
    TRY(turn_triangle(d, turned, a, true));
    TRY(factor_side(d, CUBLAS_FILL_MODE_LOWER, turned, pivot));
    return turn_triangle(d, a, turned, false);
}

int cuda_potrf(plx_device *d, plx_device_mat a, int64_t *pivot)
{
    *pivot = -1;
    TRY(device_enter(d));
    if (a.rows == 0) return PLX_DEVICE_OK;
    TRY(factors_turned(d, a.rows) ? factor_turned(d, mat_of(a), pivot)
                                  : factor_side(d, CUBLAS_FILL_MODE_UPPER, mat_of(a), pivot));
    if (*pivot < 0) return PLX_DEVICE_OK;
    return device_fail(d, PLX_DEVICE_NUMERIC, "pivot %lld is not positive", (long long)*pivot);
}

/* ---- inverse ---- */

static int invert_leaf(plx_device *d, plain_mat l, double *room)
{
    plain_mat unit = {room, l.rows, l.rows, l.rows};
    TRY(clear_to_identity(d, unit));
    TRY(solve_triangle(d, false, {l.data, l.ld, PLX_DEVICE_PLAIN}, l.rows, l.rows, 1.0, room, l.rows));
    return copy_lower(d, l, unit);
}

/* L^-1 in the place of L: [L1 0; P L2]^-1 = [L1^-1 0; -L2^-1 P L1^-1 L2^-1]. */
static int invert_triangle(plx_device *d, plain_mat l, double *room)
{
    if (l.rows <= TRIANGLE_LEAF) return invert_leaf(d, l, room);
    halves h = halve(l.data, l.rows, l.ld);
    operand first = {h.first, l.ld, PLX_DEVICE_PLAIN}, second = {h.second, l.ld, PLX_DEVICE_PLAIN};
    TRY(invert_triangle(d, {h.first, h.half, h.half, l.ld}, room));
    TRY(invert_triangle(d, {h.second, h.rest, h.rest, l.ld}, room));
    TRY(multiply_triangle(d, false, second, h.rest, h.half, -1.0, h.below, l.ld));
    return multiply_triangle(d, true, first, h.rest, h.half, 1.0, h.below, l.ld);
}

/* The lower triangle of M'M by its columns' halves, in the place of the lower triangle M. Above the diagonal nothing is
 * read or written, so a leaf is squared from a copy with zeros there. */
static int square_triangle(plx_device *d, plain_mat m, double *room)
{
    const int64_t n = m.rows;
    if (n <= TRIANGLE_LEAF) {
        TRY(device_cuda(d, cudaMemsetAsync(room, 0, (size_t)(n * n) * sizeof(double), d->stream), "clearing scratch"));
        TRY(copy_lower(d, {room, n, n, n}, m));
        return row_syrk(d, n, n, 1.0, {room, n, PLX_DEVICE_TRANSPOSED}, 0.0, m.data, m.ld);
    }
    halves h = halve(m.data, n, m.ld);
    TRY(square_triangle(d, {h.first, h.half, h.half, m.ld}, room));
    TRY(row_syrk(d, h.half, h.rest, 1.0, {h.below, m.ld, PLX_DEVICE_TRANSPOSED}, 1.0, h.first, m.ld));
    TRY(multiply_triangle(d, false, {h.second, m.ld, PLX_DEVICE_TRANSPOSED}, h.rest, h.half, 1.0, h.below, m.ld));
    return square_triangle(d, {h.second, h.rest, h.rest, m.ld}, room);
}

int cuda_potri(plx_device *d, plx_device_mat l)
{
    scratch<double> room(d);
    int64_t leaf = std::min<int64_t>(TRIANGLE_LEAF, l.rows);
    TRY(device_enter(d));
    if (l.rows == 0) return PLX_DEVICE_OK;
    TRY(room.take(leaf * leaf));
    TRY(invert_triangle(d, mat_of(l), room.data));
    return square_triangle(d, mat_of(l), room.data);
}
