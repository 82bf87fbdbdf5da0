/*
 * Columns by rank. Where a matrix is swept over and over, few columns have most of its entries, as words of a text do.
 * They get the lowest numbers, and in every row the entries of the lowest ranks come first, as far as the bounds tell:
 * half of near_rows, near_rows, two and four times as many. So a sweep finds the rows of its table that it needs most at
 * the table's beginning, as much as fits in shared memory, and a row's entries there before the others (near.h).
 */
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "cuda_device.h"

enum { BOUNDS = 4 };

/* $PARALLAX_CUDA_RANKED, for tests: as few entries as it says, so that small matrices take these ways, too. */
void learn_ranked(plx_device *d)
{
    const char *least = getenv("PARALLAX_CUDA_RANKED");
    d->ranked = {RANKED_ENTRIES, RANKED_SHARE, d->multiprocessors, SHORTEST_PIECE};
    if (least) d->ranked = {std::max<int64_t>(1, strtoll(least, nullptr, 10)), 1, 1, 1};
}

struct rank_bounds {
    int32_t at[BOUNDS];
};

__global__ void count_columns(const int32_t *col, int64_t entries, int32_t *count)
{
    const int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t e = (int64_t)blockIdx.x * THREADS + threadIdx.x; e < entries; e += step) atomicAdd(&count[col[e]], 1);
}

__device__ static inline int part_of(int32_t rank, const rank_bounds &bounds)
{
    int part = 0;
#pragma unroll
    for (int b = 0; b < BOUNDS; b++) part += rank >= bounds.at[b];
    return part;
}

/* A warp takes a row: counts its parts, then places entries, those of a part in the order they had. */
template <typename V>
__global__ void rank_rows(csr_way x, const int32_t *rank, rank_bounds bounds, const V *from, int32_t *col, V *to)
{
    const unsigned lower = (1u << lane_of_thread()) - 1u;
    for (int64_t i = warp_of_grid(); i < x.rows; i += warps_in_grid()) {
        const int64_t begin = x.ptr[i], end = x.ptr[i + 1];
        int64_t next[BOUNDS + 1] = {0};
        for (int64_t at = begin; at < end; at += WARP) {
            const int64_t e = at + lane_of_thread();
            const int part = e < end ? part_of(rank[x.col[e]], bounds) : -1;
#pragma unroll
            for (int p = 0; p < BOUNDS; p++) next[p + 1] += __popc(__ballot_sync(ALL_LANES, part == p));
        }
        next[0] = begin;
#pragma unroll
        for (int p = 0; p < BOUNDS; p++) next[p + 1] += next[p];
        for (int64_t at = begin; at < end; at += WARP) {
            const int64_t e = at + lane_of_thread();
            const int32_t mine = e < end ? rank[x.col[e]] : 0;
            const int part = e < end ? part_of(mine, bounds) : -1;
#pragma unroll
            for (int p = 0; p <= BOUNDS; p++) {
                const unsigned alike = __ballot_sync(ALL_LANES, part == p);
                if (part == p) {
                    const int64_t place = next[p] + __popc(alike & lower);
                    col[place] = mine;
                    to[place] = from[e];
                }
                next[p] += __popc(alike);
            }
        }
    }
}

static rank_bounds bounds_of(const plx_device *d)
{
    return {{d->near_rows / 2, d->near_rows, 2 * d->near_rows, 4 * d->near_rows}};
}

/* How many columns pay in lanes: up to one of the bounds, so that they come first in every row. */
static int64_t frequent_count(const plx_device *d, const plx_device_csr *csr, const std::vector<int32_t> &count,
                              const std::vector<int32_t> &column)
{
    const rank_bounds bounds = bounds_of(d);
    const int64_t slabs = divide_up(csr->rows, d->near_rows);
    int64_t chosen = 0;
    if (slabs < d->ranked.slabs) return 0;
    for (int b = 0; b < BOUNDS; b++) {
        const int64_t some = std::min<int64_t>(bounds.at[b], csr->cols);
        if (some > 0 && count[column[some - 1]] >= d->ranked.piece * slabs) chosen = some;
    }
    return chosen;
}

template <typename V> static int move_entries(plx_device *d, plx_device_csr *csr, const int32_t *rank, V *&values)
{
    scratch<int32_t> col(d);
    scratch<V> val(d);
    TRY(col.take(csr->entries));
    TRY(val.take(csr->entries));
    TRY(device_launch(d, "rank_rows", rank_rows<V>, warp_blocks(csr->rows), THREADS, csr->plain, rank, bounds_of(d),
                      (const V *)values, col.data, val.data));
    device_give(d, csr->plain.col);
    device_give(d, values);
    csr->plain.col = col.keep();
    values = val.keep();
    return PLX_DEVICE_OK;
}

/* Numbers the columns of the plain way anew, orders its rows, and says how many columns are frequent. */
int rank_columns(plx_device *d, plx_device_csr *csr)
{
    scratch<int32_t> counts(d), column(d), rank(d);
    std::vector<int32_t> count((size_t)csr->cols), order((size_t)csr->cols), number((size_t)csr->cols);
    const int64_t blocks = thread_blocks(csr->entries);
    TRY(counts.take(csr->cols));
    TRY(column.take(csr->cols));
    TRY(rank.take(csr->cols));
    TRY(device_send(d, counts.data, count.data(), csr->cols)); /* zeros */
    TRY(device_launch(d, "count_columns", count_columns, blocks, THREADS, (const int32_t *)csr->plain.col, csr->entries,
                      counts.data));
    TRY(device_fetch(d, count.data(), counts.data, csr->cols));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return count[a] > count[b]; });
    for (int64_t r = 0; r < csr->cols; r++) number[order[r]] = (int32_t)r;
    TRY(device_send(d, column.data, order.data(), csr->cols));
    TRY(device_send(d, rank.data, number.data(), csr->cols));
    if (csr->plain.single) TRY(move_entries(d, csr, rank.data, csr->plain.single));
    else TRY(move_entries(d, csr, rank.data, csr->plain.wide));
    csr->column = column.keep();
    csr->frequent.ranks = frequent_count(d, csr, count, order);
    return PLX_DEVICE_OK;
}
