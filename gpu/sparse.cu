/*
 * Products of sparse matrices with dense ones, and sums of rows by class: both are sums over the entries of a row, in
 * the transpose those of a feature. Sums by class read a label instead of a row of a table.
 */
#include "sweep.h"

/* Segments of long rows and the extra sums of all warps (sweep.h); sums of the passes over samples (mixture.cu). */
int64_t sweep_bytes(int64_t rows, int64_t entries, int64_t width)
{
    (void)rows;
    const int64_t warps = (int64_t)SUM_BLOCKS * 16 * WARPS;
    int64_t segments = 2 * (entries / LONG_ROW + 1);
    return 8 * (segments * (width + 1) + warps) + 8 * (int64_t)SUM_BLOCKS * WARPS * (2 * width + 1 + MOST_CHANNELS) +
           8 * (MOST_CHANNELS + 2) * width;
}

/* ---- product with a matrix ---- */

struct product_job {
    csr_way x;
    int64_t width;
    double *extra;
    double alpha, beta;
    dense_source b;
    plain_mat c;

    template <typename S> __device__ double span(int64_t, int64_t begin, int64_t end, double (&acc)[S::C]) const
    {
        add_entries<S>(x, begin, end, b, width, acc);
        return 0;
    }

    template <typename S> __device__ void finish(int64_t row, const double (&acc)[S::C]) const
    {
#pragma unroll
        for (int i = 0; i < S::C; i++) {
            const int64_t j = lane_column<S>(i);
            if (!writes<S>() || j >= width) continue;
            double *to = c.data + row * c.ld + j;
            *to = beta == 0 ? alpha * acc[i] : fma(alpha, acc[i], beta * *to);
        }
    }
};

/* Any number of columns: panels of at most 256 each. */
int cuda_spmm(plx_device *d, double alpha, const plx_device_csr *a, plx_device_trans ta, plx_device_mat b, double beta,
              plx_device_mat c)
{
    const int64_t panel = 256;
    const csr_way *way = ta == PLX_DEVICE_TRANSPOSED ? &a->flipped : &a->plain;
    TRY(device_enter(d));
    if (c.rows == 0) return PLX_DEVICE_OK;
    if (!way->ptr) return device_fail(d, PLX_DEVICE_FAILED, "the sparse matrix was made without its transpose");
    for (int64_t j = 0; j < c.cols; j += panel) {
        plain_mat to = {mat_data(c) + j, c.rows, std::min(panel, c.cols - j), c.ld};
        product_job job = {*way, to.cols, nullptr, alpha, beta, {mat_data(b) + j, b.ld}, to};
        TRY(run_sweep(d, "spmm", job, nullptr));
    }
    return PLX_DEVICE_OK;
}

/* ---- sums by class ---- */

struct class_source {
    const int32_t *label;
    const double *factor;
    int64_t first; /* class of column 0 */
    __device__ double operator()(int32_t row, int64_t j) const
    {
        if (label[row] != first + j) return 0.0;
        return factor ? factor[row] : 1.0;
    }
};

struct class_job {
    csr_way x; /* by columns: rows are features */
    int64_t width;
    double *extra;
    class_source source;
    plain_mat out;

    template <typename S> __device__ double span(int64_t, int64_t begin, int64_t end, double (&acc)[S::C]) const
    {
        add_entries<S>(x, begin, end, source, width, acc);
        return 0;
    }

    template <typename S> __device__ void finish(int64_t row, const double (&acc)[S::C]) const
    {
#pragma unroll
        for (int i = 0; i < S::C; i++) {
            const int64_t j = lane_column<S>(i);
            if (writes<S>() && j < width) out.data[(source.first + j) * out.ld + row] = acc[i];
        }
    }
};

int cuda_class_sums(plx_device *d, const plx_device_csr *x, const plx_device_buffer *label,
                    const plx_device_buffer *factor, int64_t k, plx_device_mat out)
{
    const int64_t panel = 256;
    TRY(device_enter(d));
    if (k == 0 || out.cols == 0) return PLX_DEVICE_OK;
    if (!x->flipped.ptr) return device_fail(d, PLX_DEVICE_FAILED, "the sparse matrix was made without its transpose");
    for (int64_t j = 0; j < k; j += panel) {
        class_source source = {buffer_of<int32_t>(label), buffer_of<double>(factor), j};
        class_job job = {x->flipped, std::min(panel, k - j), nullptr, source, mat_of(out)};
        TRY(run_sweep(d, "class_sums", job, nullptr));
    }
    return PLX_DEVICE_OK;
}
