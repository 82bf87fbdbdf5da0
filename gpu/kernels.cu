/*
 * Values between rows. Dense rows: one product into the result, then one pass over it (16 bytes an entry beside 2 d
 * operations: the product is the longer part from d = 30 or so). Where |x|^2 + |z|^2 - 2 x.z cancels, the warp that
 * meets the entry sums (x_i - z_i)^2 together; data far from the origin have many of those, and 32 lanes read both
 * rows along memory, so even all pairs so are only a few times the price of the product. Sparse rows: each lane
 * merges one pair, in which nothing cancels. Rows among themselves: the lower triangle, written to both sides.
 */
#include "pairs.h"

/* ---- the base of a pair: product or squared distance ---- */

struct pair_job {
    point_rows a, b;
    const double *na, *nb; /* squared norms; NULL where the kind needs none */
    const uint8_t *present_a, *present_b;
    plain_mat out; /* dense rows: holds the products */
    plx_device_kernel kernel;
    double rate;   /* rbf: -1/(2 width^2) */
    double cancel; /* relative size below which the sum of three is not trusted */
    bool distance; /* the kind is one of squared distances */
    bool same;     /* a and b are the same rows */
};

/* All lanes: |x_i - z_j|^2 of two dense rows. */
__device__ static double warp_distance(const plain_mat &a, int64_t i, const plain_mat &b, int64_t j)
{
    const double *x = a.data + i * a.ld, *z = b.data + j * b.ld;
    double sum = 0;
    for (int64_t c = lane_of_thread(); c < a.cols; c += WARP) {
        double gap = x[c] - z[c];
        sum = fma(gap, gap, sum);
    }
    return lanes_sum(sum);
}

__device__ static double kernel_value(const pair_job &job, int64_t i, int64_t j, double base)
{
    const plx_device_kernel &k = job.kernel;
    if (k.kind == PLX_DEVICE_DIST_SQ) return base;
    if (k.kind == PLX_DEVICE_RBF) return k.amplitude * exp(job.rate * base);
    if (k.kind == PLX_DEVICE_POLY) return k.amplitude * pow(base + k.coef0, k.degree);
    if (k.kind == PLX_DEVICE_LINEAR) return k.amplitude * base;
    double scale = sqrt(job.na[i]) * sqrt(job.nb[j]);
    return scale > 0 ? k.amplitude * fmax(-1.0, fmin(1.0, base / scale)) : 0.0;
}

__device__ static double absent_value(const pair_job &job)
{
    return job.kernel.kind == PLX_DEVICE_DIST_SQ ? 1e300 : 0.0;
}

/* The value at (i, j), j = left + lane; all lanes of the warp come, with the same i. */
__device__ static double pair_value(const pair_job &job, int64_t i, int64_t left, bool wanted)
{
    int64_t j = left + lane_of_thread();
    bool there = wanted && (!job.present_a || job.present_a[i]) && (!job.present_b || job.present_b[j]);
    bool doubtful = false;
    double base = 0;
    if (there && job.a.sparse) {
        pair_sums sums = merge_rows<false>(job.a.csr, i, job.b.csr, j);
        base = job.distance ? sums.distance : sums.product;
    } else if (there) base = job.out.data[i * job.out.ld + j];
    if (there && job.distance && !job.a.sparse) {
        double sum = job.na[i] + job.nb[j];
        base = sum - 2.0 * base;
        doubtful = !(base > job.cancel * sum);
        if (job.same && i == j) {
            base = 0;
            doubtful = false;
        }
    }
    for (unsigned left_over = __ballot_sync(ALL_LANES, doubtful); left_over; left_over &= left_over - 1) {
        int lane = __ffs((int)left_over) - 1;
        double exact = warp_distance(job.a.dense, i, job.b.dense, left + lane);
        if (lane == lane_of_thread()) base = exact;
    }
    if (!wanted) return 0.0;
    return there ? kernel_value(job, i, j, base) : absent_value(job);
}

__global__ void finish_pairs(pair_job job)
{
    int64_t across = divide_up(job.out.cols, TILE), tiles = across * divide_up(job.out.rows, TILE);
    for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        int64_t top = t / across * TILE, left = t % across * TILE, j = left + lane_of_thread();
        for (int64_t i = top + warp_of_block(); i < top + TILE && i < job.out.rows; i += WARPS) {
            double value = pair_value(job, i, left, j < job.out.cols);
            if (j < job.out.cols) job.out.data[i * job.out.ld + j] = value;
        }
    }
}

/* Tiles of the lower triangle, each written twice. */
__global__ void finish_symmetric(pair_job job)
{
    __shared__ double tile[TILE][TILE + 1];
    int64_t n = job.out.rows, across = divide_up(n, TILE);
    for (int64_t t = blockIdx.x; t < across * across; t += gridDim.x) {
        int64_t top = t / across * TILE, left = t % across * TILE;
        if (left > top) continue;
        for (int r = warp_of_block(); r < TILE && top + r < n; r += WARPS) {
            int64_t i = top + r, j = left + lane_of_thread();
            double value = pair_value(job, i, left, j <= i);
            if (j <= i) job.out.data[i * job.out.ld + j] = tile[r][lane_of_thread()] = value;
        }
        __syncthreads();
        for (int r = warp_of_block(); r < TILE; r += WARPS) {
            int64_t i = left + r, j = top + lane_of_thread();
            if (i < n && j < n && i < j) job.out.data[i * job.out.ld + j] = tile[lane_of_thread()][r];
        }
        __syncthreads();
    }
}

/* ---- the operation ---- */

/* As on the CPU: the rounding of the three sums grows like sqrt(d) eps, and 1e-12 is promised. */
static double cancel_limit(int64_t cols) { return (16.0 + 8.0 * sqrt((double)cols)) * 1.2e-16 / 1e-12; }

static int products(plx_device *d, const pair_job &job, bool symmetric)
{
    const plain_mat &a = job.a.dense, &b = job.b.dense, &out = job.out;
    if (a.cols == 0) {
        TRY_CUDA(d,
                 cudaMemset2DAsync(out.data, (size_t)out.ld * 8, 0, (size_t)out.cols * 8, (size_t)out.rows, d->stream));
        return PLX_DEVICE_OK;
    }
    operand left = {a.data, a.ld, PLX_DEVICE_PLAIN}, right = {b.data, b.ld, PLX_DEVICE_TRANSPOSED};
    if (symmetric) return row_syrk(d, out.rows, a.cols, 1.0, left, 0.0, out.data, out.ld);
    return row_gemm(d, out.rows, out.cols, a.cols, 1.0, left, right, 0.0, out.data, out.ld);
}

int cuda_kernel(plx_device *d, const plx_device_kernel *kernel, plx_device_rows a, plx_device_rows b,
                const plx_device_buffer *present_a, const plx_device_buffer *present_b, plx_device_mat out)
{
    scratch<double> norms(d);
    TRY(device_enter(d));
    if (out.rows == 0 || out.cols == 0) return PLX_DEVICE_OK;
    TRY(check_points(d, a));
    TRY(check_points(d, b));
    pair_job job = {points_of(a),
                    points_of(b),
                    nullptr,
                    nullptr,
                    buffer_of<uint8_t>(present_a),
                    buffer_of<uint8_t>(present_b),
                    mat_of(out),
                    *kernel,
                    -0.5 / (kernel->width * kernel->width),
                    0.0,
                    kernel->kind == PLX_DEVICE_RBF || kernel->kind == PLX_DEVICE_DIST_SQ,
                    same_points(a, b)};
    bool symmetric = job.same && job.present_a == job.present_b;
    job.cancel = cancel_limit(job.a.cols);
    if (kernel->kind == PLX_DEVICE_COSINE || (job.distance && !job.a.sparse)) {
        TRY(norms.take(out.rows + out.cols));
        TRY(points_norms(d, job.a, norms.data));
        TRY(points_norms(d, job.b, norms.data + out.rows));
        job.na = norms.data;
        job.nb = norms.data + out.rows;
    }
    if (!job.a.sparse) TRY(products(d, job, symmetric));
    int64_t blocks = std::min<int64_t>(MOST_BLOCKS, divide_up(out.rows, TILE) * divide_up(out.cols, TILE));
    return device_launch(d, "kernel", symmetric ? finish_symmetric : finish_pairs, blocks, THREADS, job);
}

/* ---- values from their base ---- */

__device__ static double value_of_base(const plx_device_kernel &k, double rate, double base)
{
    return k.kind == PLX_DEVICE_RBF ? k.amplitude * exp(rate * base) : k.amplitude * base;
}

__global__ void values_of_base(plx_device_kernel kernel, double rate, plain_mat base, bool add, plain_mat out)
{
    int64_t across = divide_up(out.cols, TILE), tiles = across * divide_up(out.rows, TILE);
    for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        int64_t top = t / across * TILE, j = t % across * TILE + lane_of_thread();
        for (int64_t i = top + warp_of_block(); i < top + TILE && i < out.rows; i += WARPS) {
            if (j >= out.cols) continue;
            double value = value_of_base(kernel, rate, base.data[i * base.ld + j]), *at = out.data + i * out.ld + j;
            *at = add ? *at + value : value;
        }
    }
}

int cuda_kernel_of_base(plx_device *d, const plx_device_kernel *kernel, plx_device_mat base, double beta,
                        plx_device_mat out)
{
    TRY(device_enter(d));
    int64_t blocks = std::min<int64_t>(MOST_BLOCKS, divide_up(out.rows, TILE) * divide_up(out.cols, TILE));
    return device_launch(d, "kernel_of_base", values_of_base, blocks, THREADS, *kernel,
                         -0.5 / (kernel->width * kernel->width), mat_of(base), beta != 0, mat_of(out));
}

/* Both sums of the block's tiles of the lower triangle; entries off the diagonal count twice. */
__global__ void gradient_sums(plx_device_kernel kernel, double rate, plain_mat base, plain_mat m, double *partial)
{
    int64_t n = base.rows, across = divide_up(n, TILE);
    double value = 0, slope = 0;
    for (int64_t t = blockIdx.x; t < across * across; t += gridDim.x) {
        int64_t top = t / across * TILE, left = t % across * TILE, j = left + lane_of_thread();
        if (left > top) continue;
        for (int64_t i = top + warp_of_block(); i < top + TILE && i < n; i += WARPS) {
            if (j > i) continue;
            double at = base.data[i * base.ld + j];
            double part = (j < i ? 2.0 : 1.0) * m.data[i * m.ld + j] * value_of_base(kernel, rate, at);
            value += part;
            slope += part * at;
        }
    }
    value = lanes_sum(value);
    slope = lanes_sum(slope);
    if (lane_of_thread() == 0) {
        partial[2 * warp_of_grid()] = value;
        partial[2 * warp_of_grid() + 1] = kernel.kind == PLX_DEVICE_RBF ? slope : 0.0;
    }
}

int cuda_kernel_gradient(plx_device *d, const plx_device_kernel *kernel, plx_device_mat base, plx_device_mat m,
                         double *sums)
{
    scratch<double> partial(d);
    const int64_t warps = (int64_t)SUM_BLOCKS * WARPS;
    TRY(device_enter(d));
    sums[0] = sums[1] = 0;
    if (base.rows == 0) return PLX_DEVICE_OK;
    TRY(partial.take(2 * warps + 2));
    TRY(device_launch(d, "kernel_gradient", gradient_sums, SUM_BLOCKS, THREADS, *kernel,
                      -0.5 / (kernel->width * kernel->width), mat_of(base), mat_of(m), partial.data));
    TRY(sum_partials(d, partial.data, warps, 2, partial.data + 2 * warps));
    return device_fetch(d, sums, partial.data + 2 * warps, 2);
}
