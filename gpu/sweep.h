/*
 * Sweeps over the rows of a sparse matrix with a table of `width` columns beside it. A warp takes a row. It loads 32
 * entries at a time, one a lane, and divides itself into groups of G lanes, G the width rounded up to a power of two:
 * every group works on entries of its own, its lanes on the columns of the table, which are neighbours in memory. Wide
 * tables have G = 32 and C columns a lane.
 *
 * An entry is 8 bytes from memory (12 where values need double precision) and 8 width bytes of the table from the
 * caches: beyond a few columns it is the caches that count, 256 bytes an entry for 32 columns.
 *
 * Rows of more than LONG_ROW entries (frequent words in a transpose) are cut into segments, whose sums are added in
 * order. Which warp adds what in which order follows from the matrix alone.
 */
#ifndef PLX_CUDA_SWEEP_H
#define PLX_CUDA_SWEEP_H

#include "pairs.h"

template <int LANES, int COLUMNS> struct sweep_shape {
    static constexpr int G = LANES, C = COLUMNS;
};

/* f(shape) with the smallest shape that holds `width` columns. */
template <typename F> int with_shape(plx_device *d, int64_t width, F f)
{
    if (width <= 1) return f(sweep_shape<1, 1>());
    if (width <= 2) return f(sweep_shape<2, 1>());
    if (width <= 4) return f(sweep_shape<4, 1>());
    if (width <= 8) return f(sweep_shape<8, 1>());
    if (width <= 16) return f(sweep_shape<16, 1>());
    if (width <= 32) return f(sweep_shape<32, 1>());
    if (width <= 64) return f(sweep_shape<32, 2>());
    if (width <= 128) return f(sweep_shape<32, 4>());
    if (width <= 256) return f(sweep_shape<32, 8>());
    if (width <= MOST_WIDTH) return f(sweep_shape<32, 32>());
    return device_fail(d, PLX_DEVICE_LIMIT, "tables of sweeps have at most %d columns on the device, this one has %lld",
                       MOST_WIDTH, (long long)width);
}

/* The column of the table that a lane has as its number c; group 0 writes for all. */
template <typename S> __device__ static inline int64_t lane_column(int c) { return lane_of_thread() % S::G + S::G * c; }

template <typename S> __device__ static inline bool writes() { return lane_of_thread() < S::G; }

template <typename S> __device__ static inline void clear(double (&acc)[S::C])
{
#pragma unroll
    for (int c = 0; c < S::C; c++) acc[c] = 0;
}

/* Every group adds the others' sums to its own: then all have the same. */
template <typename S> __device__ static inline void join_groups(double (&acc)[S::C])
{
#pragma unroll
    for (int c = 0; c < S::C; c++) acc[c] = lanes_sum(acc[c], S::G);
}

/* acc += the group's share of value * source(column, j) over entries begin .. end-1. All lanes come. */
template <typename S, typename Source> __device__ static inline void add_entries(const csr_way &x, int64_t begin,
                                                                                 int64_t end, const Source &source,
                                                                                 int64_t width, double (&acc)[S::C])
{
    constexpr int GROUPS = WARP / S::G;
    const int lane = lane_of_thread(), group = lane / S::G;
    for (int64_t at = begin; at < end; at += WARP) {
        const int count = end - at < WARP ? (int)(end - at) : (int)WARP;
        const bool inside = lane < count;
        const int32_t mine = inside ? x.col[at + lane] : 0;
        const double value = inside ? entry_value(x, at + lane) : 0.0;
#pragma unroll 8
        for (int t = 0; t < S::G; t++) {
            if (t * GROUPS >= count) break; /* the same for all lanes */
            const int from = t * GROUPS + group;
            const int32_t column = __shfl_sync(ALL_LANES, mine, from);
            const double v = __shfl_sync(ALL_LANES, value, from);
            if (from >= count) continue;
#pragma unroll
            for (int c = 0; c < S::C; c++) {
                const int64_t j = lane_column<S>(c);
                if (j < width) acc[c] = fma(v, source(column, j), acc[c]);
            }
        }
    }
}

/* A table of doubles. */
struct dense_source {
    const double *data;
    int64_t ld;
    __device__ double operator()(int32_t row, int64_t j) const { return data[row * ld + j]; }
};

/*
 * A job has: x (csr_way), width, extra (double *, NULL: none), and
 *   template <typename S> double span(int64_t row, int64_t begin, int64_t end, double (&acc)[S::C]) const
 *     adds entries of a row to acc, group by group, and returns the lane's share of an extra sum;
 *   template <typename S> void finish(int64_t row, const double (&acc)[S::C]) const
 *     takes the joined sums of a whole row.
 */
template <typename S, typename Job> __global__ void sweep_rows(Job job)
{
    double extra = 0;
    for (int64_t row = warp_of_grid(); row < job.x.rows; row += warps_in_grid()) {
        int64_t begin = job.x.ptr[row], end = job.x.ptr[row + 1];
        if (end - begin > LONG_ROW) continue;
        double acc[S::C];
        clear<S>(acc);
        extra += job.template span<S>(row, begin, end, acc);
        join_groups<S>(acc);
        job.template finish<S>(row, acc);
    }
    extra = lanes_sum(extra);
    if (job.extra && lane_of_thread() == 0) job.extra[warp_of_grid()] = extra;
}

/* Sums of segments to partial (n_segments x width), their extra sums behind those of sweep_rows. */
template <typename S, typename Job> __global__ void sweep_segments(Job job, double *partial, double *extra_at)
{
    for (int64_t s = warp_of_grid(); s < job.x.n_segments; s += warps_in_grid()) {
        const row_segment part = job.x.segments[s];
        double acc[S::C];
        clear<S>(acc);
        double extra = lanes_sum(job.template span<S>(part.row, part.begin, part.end, acc));
        join_groups<S>(acc);
#pragma unroll
        for (int c = 0; c < S::C; c++)
            if (writes<S>() && lane_column<S>(c) < job.width) partial[s * job.width + lane_column<S>(c)] = acc[c];
        if (job.extra && lane_of_thread() == 0) extra_at[s] = extra;
    }
}

template <typename S, typename Job> __global__ void sweep_longs(Job job, const double *partial)
{
    for (int64_t l = warp_of_grid(); l < job.x.n_long; l += warps_in_grid()) {
        const long_row one = job.x.longs[l];
        double acc[S::C];
        clear<S>(acc);
        for (int64_t s = one.first; s < one.first + one.count; s++) {
#pragma unroll
            for (int c = 0; c < S::C; c++)
                if (lane_column<S>(c) < job.width) acc[c] += partial[s * job.width + lane_column<S>(c)];
        }
        job.template finish<S>(one.row, acc);
    }
}

static inline int64_t sweep_blocks(int64_t rows) { return std::min<int64_t>(MOST_BLOCKS, divide_up(rows, WARPS)); }

/* Runs a job; *extra (host, NULL: not wanted) gets its extra sum. */
template <typename Job> int run_sweep(plx_device *d, const char *what, Job job, double *extra)
{
    int64_t blocks = std::min<int64_t>(SUM_BLOCKS * 16, sweep_blocks(job.x.rows)), segments = job.x.n_segments;
    scratch<double> partial(d), sums(d);
    if (extra) *extra = 0;
    if (blocks == 0) return PLX_DEVICE_OK;
    if (extra) TRY(sums.take(blocks * WARPS + segments + 1));
    if (segments > 0) TRY(partial.take(segments * job.width));
    job.extra = sums.data;
    double *behind = extra ? sums.data + blocks * WARPS : nullptr;
    TRY(with_shape(d, job.width, [&](auto shape) {
        typedef decltype(shape) S;
        TRY(device_launch(d, what, sweep_rows<S, Job>, blocks, THREADS, job));
        TRY(device_launch(d, what, sweep_segments<S, Job>, sweep_blocks(segments), THREADS, job, partial.data, behind));
        return device_launch(d, what, sweep_longs<S, Job>, sweep_blocks(job.x.n_long), THREADS, job,
                             (const double *)partial.data);
    }));
    if (!extra) return PLX_DEVICE_OK;
    double *total = behind + segments;
    TRY(sum_partials(d, sums.data, blocks * WARPS + segments, 1, total));
    return device_fetch(d, extra, total, 1);
}

#endif
