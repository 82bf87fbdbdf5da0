/*
 * The transpose of frequent columns, for passes in which every lane has a column of its own (lanes.h). Samples come in
 * slabs of near_rows, whose rows of a table fit in shared memory; what a column has in a slab is a piece, and 32 columns
 * are a slice. A slice's entries lie as its lanes take them: the first of every piece that has one, then the second, ...
 * so a warp reads what follows, and where a lane's entry is follows from the lengths of the pieces alone.
 *
 * Pieces are made first, by one warp for each slab, so entries of a piece stay in the order of the samples.
 */
#include "cuda_device.h"

/* The column here of an entry of a rank, in row `row` of a slab: parts of a slab have their own where a rank is split. */
__device__ static inline int32_t column_of(const frequent_columns &f, int32_t rank, int32_t row)
{
    return rank < f.split ? rank * SPLIT + row * SPLIT / f.slab_rows : rank + f.split * (SPLIT - 1);
}

/* Entries of every piece. */
__global__ void count_pieces(const int32_t *col, const int32_t *row, int64_t entries, frequent_columns f,
                             int32_t *count)
{
    const int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t e = (int64_t)blockIdx.x * THREADS + threadIdx.x; e < entries; e += step)
        if (col[e] < f.ranks)
            atomicAdd(&count[row[e] / f.slab_rows * (f.slices * WARP) + column_of(f, col[e], row[e] % f.slab_rows)], 1);
}

/* What comes before a lane. All lanes come. */
__device__ static inline int32_t sum_before(int32_t x)
{
    const int lane = lane_of_thread();
    int32_t sum = x;
    for (int s = 1; s < WARP; s *= 2) {
        const int32_t other = __shfl_sync(ALL_LANES, sum, (lane + WARP - s) % WARP);
        sum += lane >= s ? other : 0;
    }
    return sum - x;
}

/* Lengths of pieces, entries of slices; `count` becomes where pieces begin in their slice. */
__global__ void measure_slices(frequent_columns f, int32_t *count)
{
    for (int64_t s = warp_of_grid(); s < f.slabs * f.slices; s += warps_in_grid()) {
        const int64_t piece = s * WARP + lane_of_thread();
        const int32_t mine = count[piece], before = sum_before(mine);
        f.length[piece] = (uint16_t)mine;
        count[piece] = before;
        if (lane_of_thread() == WARP - 1) f.begin[s] = before + mine;
    }
}

/* A warp takes a slab, 32 entries at a time in their order; `next`: where pieces go on in their slice. */
template <typename V> __global__ void place_pieces(csr_way x, const V *from, const int32_t *row, frequent_columns f,
                                                   int32_t *next, uint16_t *to_row, V *to)
{
    const unsigned lower = (1u << lane_of_thread()) - 1u;
    for (int64_t s = warp_of_grid(); s < f.slabs; s += warps_in_grid()) {
        const int64_t first = s * f.slab_rows, last = first + f.slab_rows < x.rows ? first + f.slab_rows : x.rows;
        const int64_t begin = x.ptr[first], end = x.ptr[last];
        for (int64_t at = begin; at < end; at += WARP) {
            const int64_t e = at + lane_of_thread();
            const bool inside = e < end && x.col[e] < f.ranks;
            const int32_t column = inside ? column_of(f, x.col[e], (int32_t)(row[e] - first)) : -1;
            const unsigned alike = __match_any_sync(ALL_LANES, column);
            const int64_t piece = s * f.slices * WARP + column;
            int64_t place = 0;
            if (column >= 0) place = f.begin[piece / WARP] + next[piece] + __popc(alike & lower);
            __syncwarp();
            if (column >= 0 && (alike & lower) == 0) next[piece] += __popc(alike); /* the first of them */
            __syncwarp();
            if (column < 0) continue;
            to_row[place] = (uint16_t)(row[e] - first);
            to[place] = from[e];
        }
    }
}

/* Pieces to the order of lanes; `end`: where pieces end in their slice. */
template <typename V>
__global__ void interleave(frequent_columns f, const int32_t *end, const uint16_t *from_row, const V *from, V *to)
{
    for (int64_t s = warp_of_grid(); s < f.slabs * f.slices; s += warps_in_grid()) {
        const int64_t piece = s * WARP + lane_of_thread();
        const int length = f.length[piece];
        const int64_t start = f.begin[s] + end[piece] - length;
        in_turn(length, f.begin[s], [&](int t, int64_t place) {
            f.row[place] = from_row[start + t];
            to[place] = from[start + t];
        });
    }
}

template <typename V> static int fill_slices(plx_device *d, plx_device_csr *csr, const int32_t *row, int64_t entries,
                                             const V *from, int32_t *next, V **kept)
{
    frequent_columns *f = &csr->frequent;
    scratch<uint16_t> rows(d), own_rows(d);
    scratch<V> values(d), own_values(d);
    TRY(rows.take(entries));
    TRY(values.take(entries));
    TRY(device_launch(d, "place_pieces", place_pieces<V>, warp_blocks(f->slabs), THREADS, csr->plain, from, row, *f,
                      next, rows.data, values.data));
    TRY(own_rows.take(entries));
    TRY(own_values.take(entries));
    f->row = own_rows.keep();
    *kept = own_values.keep();
    return device_launch(d, "interleave", interleave<V>, warp_blocks(f->slabs * f->slices), THREADS, *f,
                         (const int32_t *)next, (const uint16_t *)rows.data, (const V *)values.data, *kept);
}

/* The frequent columns of a ranked matrix; row: that of every entry. Does nothing where there are none. */
int gather_frequent(plx_device *d, plx_device_csr *csr, const int32_t *row)
{
    frequent_columns *f = &csr->frequent;
    if (f->ranks == 0) return PLX_DEVICE_OK;
    f->split = (int32_t)std::min<int64_t>(f->ranks, SPLIT_RANKS);
    f->columns = f->ranks + f->split * (SPLIT - 1);
    f->slab_rows = d->near_rows;
    f->slabs = divide_up(csr->rows, f->slab_rows);
    f->slices = divide_up(f->columns, WARP);
    const int64_t slices = f->slabs * f->slices, blocks = thread_blocks(csr->entries);
    scratch<int32_t> next(d);
    scratch<int64_t> begin(d);
    scratch<uint16_t> length(d);
    TRY(next.take(slices * WARP));
    TRY(begin.take(slices + 1));
    TRY(length.take(slices * WARP));
    f->begin = begin.keep();
    f->length = length.keep();
    TRY_CUDA(d, cudaMemsetAsync(next.data, 0, (size_t)(slices * WARP) * sizeof(int32_t), d->stream));
    TRY_CUDA(d, cudaMemsetAsync(f->begin + slices, 0, sizeof(int64_t), d->stream));
    TRY(device_launch(d, "count_pieces", count_pieces, blocks, THREADS, (const int32_t *)csr->plain.col, row,
                      csr->entries, *f, next.data));
    TRY(device_launch(d, "measure_slices", measure_slices, warp_blocks(slices), THREADS, *f, next.data));
    TRY(scan_in_place(d, f->begin, slices + 1));
    TRY(device_fetch(d, &f->entries, f->begin + slices, 1));
    if (csr->plain.single)
        return fill_slices(d, csr, row, f->entries, (const float *)csr->plain.single, next.data, &f->single);
    return fill_slices(d, csr, row, f->entries, (const double *)csr->plain.wide, next.data, &f->wide);
}

void release_frequent(plx_device *d, frequent_columns *f)
{
    device_give(d, f->begin);
    device_give(d, f->length);
    device_give(d, f->row);
    device_give(d, f->single);
    device_give(d, f->wide);
}

/* Bytes of it beside those of the entries, the most at a time. */
int64_t frequent_bytes(plx_device *d, int64_t rows, int64_t cols)
{
    const int64_t ranks = std::min<int64_t>(cols, 4 * (int64_t)d->near_rows);
    const int64_t columns = ranks + std::min<int64_t>(ranks, SPLIT_RANKS) * (SPLIT - 1);
    return divide_up(rows, d->near_rows) * divide_up(columns, WARP) * (WARP * 6 + 8) + 4096;
}
