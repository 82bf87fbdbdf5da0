/*
 * Rows of a ranked matrix by slices, for groups of lanes (near.h). Rows of a stretch are ordered by length, so that lanes
 * of a slice end at about the same time, and the entries of a slice lie in the order in which they are taken.
 */
#include "cuda_device.h"

/* A block takes a stretch: a row's place is the number of those that come before it. */
__global__ void order_rows(csr_way x, sliced_rows s)
{
    __shared__ int32_t length[SLICED_STRETCH];
    const int64_t first = (int64_t)blockIdx.x * SLICED_STRETCH;
    for (int t = threadIdx.x; t < SLICED_STRETCH; t += THREADS) {
        const int64_t i = first + t, entries = i < x.rows ? x.ptr[i + 1] - x.ptr[i] : -1;
        length[t] = entries > LONG_SLICED ? -1 : (int32_t)entries;
    }
    __syncthreads();
    for (int t = threadIdx.x; t < SLICED_STRETCH; t += THREADS) {
        const int32_t mine = length[t];
        int64_t before = 0;
        for (int other = 0; other < SLICED_STRETCH; other++)
            before += length[other] > mine || (length[other] == mine && other < t);
        if (first + before >= s.slices * WARP) continue; /* of the places beyond the last row */
        s.order[first + before] = mine < 0 ? -1 : (int32_t)(first + t);
        s.length[first + before] = mine < 0 ? 0 : mine;
    }
}

__global__ void measure_rows(sliced_rows s)
{
    for (int64_t t = warp_of_grid(); t < s.slices; t += warps_in_grid()) {
        const int64_t sum = lanes_sum((int64_t)s.length[t * WARP + lane_of_thread()]);
        if (lane_of_thread() == 0) s.begin[t] = sum;
    }
}

template <typename V> __global__ void interleave_rows(csr_way x, const V *from, sliced_rows s, V *to)
{
    for (int64_t slice = warp_of_grid(); slice < s.slices; slice += warps_in_grid()) {
        const int32_t row = s.order[slice * WARP + lane_of_thread()];
        const int length = s.length[slice * WARP + lane_of_thread()];
        const int64_t start = row < 0 ? 0 : x.ptr[row];
        in_turn(length, s.begin[slice], [&](int t, int64_t place) {
            s.col[place] = x.col[start + t];
            to[place] = from[start + t];
        });
    }
}

template <typename V>
static int take_slices(plx_device *d, const csr_way &x, const V *from, sliced_rows *s, int64_t entries, V **values)
{
    scratch<V> val(d);
    scratch<int32_t> col(d);
    TRY(col.take(entries));
    TRY(val.take(entries));
    s->col = col.keep();
    *values = val.keep();
    return device_launch(d, "interleave_rows", interleave_rows<V>, warp_blocks(s->slices), THREADS, x, from, *s,
                         *values);
}

/* Rows that a lane may take. */
int slice_rows(plx_device *d, plx_device_csr *csr)
{
    sliced_rows *s = &csr->sliced;
    scratch<int64_t> begin(d);
    scratch<int32_t> order(d), length(d);
    s->slices = divide_up(csr->rows, WARP);
    TRY(begin.take(s->slices + 1));
    TRY(order.take(s->slices * WARP));
    TRY(length.take(s->slices * WARP));
    s->begin = begin.keep();
    s->order = order.keep();
    s->length = length.keep();
    TRY(device_launch(d, "order_rows", order_rows, divide_up(csr->rows, SLICED_STRETCH), THREADS, csr->plain, *s));
    TRY_CUDA(d, cudaMemsetAsync(s->begin + s->slices, 0, sizeof(int64_t), d->stream));
    TRY(device_launch(d, "measure_rows", measure_rows, warp_blocks(s->slices), THREADS, *s));
    TRY(scan_in_place(d, s->begin, s->slices + 1));
    int64_t entries = 0;
    TRY(device_fetch(d, &entries, s->begin + s->slices, 1));
    if (csr->plain.single) return take_slices(d, csr->plain, (const float *)csr->plain.single, s, entries, &s->single);
    return take_slices(d, csr->plain, (const double *)csr->plain.wide, s, entries, &s->wide);
}

void release_sliced(plx_device *d, sliced_rows *s)
{
    device_give(d, s->begin);
    device_give(d, s->order);
    device_give(d, s->length);
    device_give(d, s->col);
    device_give(d, s->single);
    device_give(d, s->wide);
}
