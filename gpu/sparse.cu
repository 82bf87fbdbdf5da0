/*
 * Products of sparse matrices with dense ones, and sums of rows by class: both are sums over the entries of a row, in
 * the transpose those of a feature.
 */
#include "sweep.h"

/* Segments of long rows and the extra sums of all warps (sweep.h); sums of the passes over samples (mixture.cu). A class
 * sum has the width of a panel at least. */
int64_t sweep_bytes(int64_t rows, int64_t entries, int64_t width)
{
    const int64_t warps = (int64_t)SUM_BLOCKS * 16 * WARPS;
    int64_t segments = 2 * (entries / LONG_PIECE + 1);
    return 8 * (segments * (width + 1) + warps) + 8 * (int64_t)SUM_BLOCKS * WARPS * (2 * width + 1 + MOST_CHANNELS) +
           8 * (MOST_CHANNELS + 2) * width + 2 * rows;
}

/* ---- product with a matrix ---- */

struct product_job {
    csr_way x;
    int64_t width;
    double *extra;
    bool more;
    double alpha, beta;
    dense_source b;
    plain_mat c;

    template <typename S> __host__ __device__ static constexpr int resident()
    {
        return S::C == 2 ? 4 : S::C == 1 ? 3 : 1;
    }

    template <typename S>
    __device__ double span(int64_t, int64_t begin, int64_t end, entry_stream &ahead, double (&acc)[S::C]) const
    {
        add_entries<S>(x, begin, end, ahead, b, width, acc);
        return 0;
    }

    template <typename S> __device__ void finish(int64_t row, const double (&acc)[S::C]) const
    {
#pragma unroll
        for (int i = 0; i < S::C; i++) {
            const int64_t j = lane_column<S>(i);
            if (!writes<S>() || j >= width) continue;
            double *to = c.data + row * c.ld + j;
            if (more) *to = fma(alpha, acc[i], *to);
            else *to = beta == 0 ? alpha * acc[i] : fma(alpha, acc[i], beta * *to);
        }
    }
};

/* Any number of columns: panels of at most 256 each. */
int cuda_spmm(plx_device *d, double alpha, const plx_device_csr *a, plx_device_trans ta, plx_device_mat b, double beta,
              plx_device_mat c)
{
    const int64_t panel = 256;
    TRY(device_enter(d));
    if (c.rows == 0) return PLX_DEVICE_OK;
    if (ta == PLX_DEVICE_TRANSPOSED && a->flipped.empty()) return lacks_transpose(d);
    for (int64_t j = 0; j < c.cols; j += panel) {
        plain_mat to = {mat_data(c) + j, c.rows, std::min(panel, c.cols - j), c.ld};
        plx_device_mat part = b;
        part.offset += j;
        product_job job = {a->plain, to.cols, nullptr, false, alpha, beta, source_of(part, to.cols), to};
        if (ta == PLX_DEVICE_TRANSPOSED) TRY(run_slabs(d, "spmm", job, a, job.b.paired));
        else TRY(run_sweep(d, "spmm", job, job.b.paired, nullptr));
    }
    return PLX_DEVICE_OK;
}

/* ---- sums by class ---- */

/*
 * A warp takes a feature and keeps sums for every class of a panel in shared memory, one a lane, so that lanes do not
 * meet: a lane adds its entries in their order, and the lanes are added up in a fixed order in the end.
 */
enum { CLASS_PANEL = 16, NO_CLASS = 0xffff };

struct class_job {
    csr_way x; /* by columns: rows are features */
    int64_t width;
    bool more;
    const uint16_t *label; /* NO_CLASS: none */
    const double *factor;
    int first; /* class of column 0 */
    plain_mat out;
};

typedef double lane_sums[WARP];

__device__ static void add_classes(const class_job &job, int64_t begin, int64_t end, entry_stream &ahead,
                                   lane_sums *sums)
{
    const int lane = lane_of_thread();
    for (int64_t at = begin; at < end; at += WARP) {
        const int count = end - at < WARP ? (int)(end - at) : (int)WARP;
        const int32_t row = ahead.column;
        double value = ahead.value;
        ahead.load(job.x, at + count);
        if (lane >= count) continue; /* no exchange between lanes */
        const int c = (int)job.label[row] - job.first;
        if (c < 0 || c >= job.width) continue;
        if (job.factor) value *= job.factor[row];
        sums[c][lane] += value;
    }
    __syncwarp();
}

/* The sum of class lane % PANEL over the lanes, which are 0 afterwards. Several lanes share a class, each adds up PANEL
 * of its numbers, beginning at different ones, so that they do not meet in a bank. */
template <int PANEL> __device__ static double take_class_sum(lane_sums *sums)
{
    const int lane = lane_of_thread(), c = lane % PANEL, part = lane / PANEL;
    double sum = 0;
#pragma unroll
    for (int t = 0; t < PANEL; t++) {
        double *at = &sums[c][part * PANEL + (t + lane) % PANEL];
        sum += *at;
        *at = 0;
    }
    __syncwarp();
    return lanes_sum(sum, PANEL);
}

/* Whole features go to `out`. */
template <int PANEL> __global__ void class_rows(class_job job, int run)
{
    __shared__ double room[WARPS][PANEL][WARP];
    lane_sums *sums = room[warp_of_block()];
    const int lane = lane_of_thread();
    for (int c = 0; c < PANEL; c++) sums[c][lane] = 0;
    __syncwarp();
    for (int64_t first = warp_of_grid() * run; first < job.x.rows; first += warps_in_grid() * run) {
        const row_run rows(job.x, first, run);
        entry_stream ahead = stream_from(job.x, rows.start(0), rows.start(rows.count));
        for (int r = 0; r < rows.count; r++) {
            const int64_t begin = rows.start(r), end = rows.start(r + 1);
            if (end - begin > job.x.longest) {
                ahead.load(job.x, end);
                continue;
            }
            add_classes(job, begin, end, ahead, sums);
            const double sum = take_class_sum<PANEL>(sums);
            double *to = job.out.data + (job.first + lane) * job.out.ld + first + r;
            if (lane < job.width) *to = job.more ? *to + sum : sum;
        }
    }
}

/* Segments of long ones to partial. */
template <int PANEL> __global__ void class_segments(class_job job, double *partial)
{
    __shared__ double room[WARPS][PANEL][WARP];
    lane_sums *sums = room[warp_of_block()];
    const int lane = lane_of_thread();
    for (int c = 0; c < PANEL; c++) sums[c][lane] = 0;
    __syncwarp();
    for (int64_t s = warp_of_grid(); s < job.x.n_segments; s += warps_in_grid()) {
        const row_segment part = job.x.segments[s];
        entry_stream ahead = stream_from(job.x, part.begin, part.end);
        add_classes(job, part.begin, part.end, ahead, sums);
        const double sum = take_class_sum<PANEL>(sums);
        if (lane < job.width) partial[s * job.width + lane] = sum;
    }
}

__global__ void class_longs(class_job job, const double *partial)
{
    for (int64_t l = warp_of_grid(); l < job.x.n_long; l += warps_in_grid()) {
        const long_row one = job.x.longs[l];
        for (int64_t j = lane_of_thread(); j < job.width; j += WARP) {
            double sum = 0, *to = job.out.data + (job.first + j) * job.out.ld + one.row;
            for (int64_t s = one.first; s < one.first + one.count; s++) sum += partial[s * job.width + j];
            *to = job.more ? *to + sum : sum;
        }
    }
}

/* Two bytes a sample: those of a slab stay in the first-level cache. */
__global__ void short_labels(const int32_t *label, uint16_t *to, int64_t n, int64_t k)
{
    const int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += step)
        to[i] = label[i] >= 0 && label[i] < k ? (uint16_t)label[i] : (uint16_t)NO_CLASS;
}

template <int PANEL> static int class_slab(plx_device *d, const class_job &job)
{
    scratch<double> partial(d);
    const int run = rows_in_run(job.x.rows);
    const int64_t segments = job.x.n_segments;
    TRY(device_launch(d, "class_sums", class_rows<PANEL>, sweep_blocks(divide_up(job.x.rows, run)), THREADS, job, run));
    if (segments == 0) return PLX_DEVICE_OK;
    TRY(partial.take(segments * job.width));
    TRY(device_launch(d, "class_sums", class_segments<PANEL>, sweep_blocks(segments), THREADS, job, partial.data));
    return device_launch(d, "class_sums", class_longs, sweep_blocks(job.x.n_long), THREADS, job,
                         (const double *)partial.data);
}

int cuda_class_sums(plx_device *d, const plx_device_csr *x, const plx_device_buffer *label,
                    const plx_device_buffer *factor, int64_t k, plx_device_mat out)
{
    scratch<uint16_t> labels(d);
    TRY(device_enter(d));
    if (k == 0 || out.cols == 0) return PLX_DEVICE_OK;
    if (x->flipped.empty()) return lacks_transpose(d);
    if (k >= NO_CLASS)
        return device_fail(d, PLX_DEVICE_LIMIT, "sums by class on the device have at most %d classes", NO_CLASS - 1);
    TRY(labels.take(x->rows));
    TRY(device_launch(d, "short_labels", short_labels, std::min<int64_t>(MOST_BLOCKS, divide_up(x->rows, THREADS)),
                      THREADS, buffer_of<int32_t>(label), labels.data, x->rows, k));
    for (int64_t j = 0; j < k; j += CLASS_PANEL)
        for (size_t s = 0; s < x->flipped.size(); s++) {
            class_job job = {x->flipped[s],
                             std::min<int64_t>(CLASS_PANEL, k - j),
                             s > 0,
                             labels.data,
                             buffer_of<double>(factor),
                             (int)j,
                             mat_of(out)};
            TRY(job.width <= CLASS_PANEL / 2 ? class_slab<CLASS_PANEL / 2>(d, job) : class_slab<CLASS_PANEL>(d, job));
        }
    return PLX_DEVICE_OK;
}
