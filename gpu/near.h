/*
 * Sweeps over the rows of a ranked matrix with a narrow table, of at most NEAR_COLUMNS columns. A block has a
 * multiprocessor to itself and keeps as many rows of the table as fit in its shared memory, those of the most frequent
 * columns: reading these at random goes several times as fast as from any cache.
 *
 * Rows come in slices of 32 of about the same length, whose entries lie as lanes take them (slices.cu): a lane reads the
 * next entry of its row, and a group of G lanes has the sums of a row, two columns each. With two columns a lane has its
 * row to itself; with more, the warp takes 32 / G of the 32 entries at a time, each handed to its group, so that a row of
 * the table is one access of up to 64 bytes. No sums are exchanged between lanes. Jobs that need the whole sum of an entry
 * before they go on leave the row to its lane instead.
 *
 * Banks: lanes that read whole rows at random read 16 bytes at a time. Lane l begins with chunk l mod G and goes on by
 * exclusive or, so that few lanes meet; its sums are in that order, too.
 */
#ifndef PLX_CUDA_NEAR_H
#define PLX_CUDA_NEAR_H

#include "sweep.h"

struct near_table {
    const double2 *all; /* G for each rank */
    int32_t head;       /* ranks kept in shared memory */
};

/* C columns: a lane has two of each of G rows. */
template <int COLUMNS> struct near_shape {
    static constexpr int C = COLUMNS, G = COLUMNS / 2, ROWS = WARP / G;
};

template <int C> __device__ static inline int chunk_of_lane() { return lane_of_thread() % (C / 2); }

/* The place in the slice of the lane's row number q. */
template <int C> __device__ static inline int place_of(int q)
{
    return q * near_shape<C>::ROWS + lane_of_thread() / near_shape<C>::G;
}

template <int C> __global__ void lay_near(const double *table, int64_t ld, int64_t width, const int32_t *column,
                                          int64_t ranks, double *out)
{
    const int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t t = (int64_t)blockIdx.x * THREADS + threadIdx.x; t < ranks * C; t += step)
        out[t] = t % C < width ? table[column[t / C] * ld + t % C] : 0.0;
}

/* Entries that a lane has on their way. */
template <typename V, int N> struct slice_batch {
    int32_t column[N];
    V value[N];
    unsigned alive[N]; /* lanes that have an entry */

    /* The entries number t and on of each row; the slice goes on at `at`. All lanes come. */
    __device__ void load(const int32_t *col, const V *val, int t, int length, int64_t *at)
    {
        const unsigned lower = (1u << lane_of_thread()) - 1u;
#pragma unroll
        for (int u = 0; u < N; u++) {
            alive[u] = __ballot_sync(ALL_LANES, t + u < length);
            const int64_t e = *at + __popc(alive[u] & lower);
            column[u] = t + u < length ? __ldcs(col + e) : 0;
            value[u] = t + u < length ? __ldcs(val + e) : (V)0;
            *at += __popc(alive[u]);
        }
    }
};

/* The chunk of the group's entry from the table; 0 without one. */
template <int C>
__device__ static inline double2 load_chunk(const near_table &table, const double2 *room, int32_t column, bool inside)
{
    double2 u = {0, 0};
    if (inside && column < table.head) u = room[column * (C / 2) + chunk_of_lane<C>()];
    else if (inside) u = table.all[(int64_t)column * (C / 2) + chunk_of_lane<C>()];
    return u;
}

/* 32 entries, one of each lane: the chunks of the rows q, the value of its entry to each, and whether there is one. */
template <int C, typename V> __device__ static inline void hand_round(const near_table &table, const double2 *room,
                                                                      int32_t column, V value, unsigned alive,
                                                                      double2 (&u)[C / 2], double (&v)[C / 2])
{
#pragma unroll
    for (int q = 0; q < C / 2; q++) {
        const int from = place_of<C>(q);
        const int32_t c = C == 2 ? column : __shfl_sync(ALL_LANES, column, from);
        v[q] = (double)(C == 2 ? value : __shfl_sync(ALL_LANES, value, from));
        u[q] = load_chunk<C>(table, room, c, alive >> from & 1);
    }
}

/* Warps of a block: `quarters` of the most there can be, for 64 to 128 registers a thread. */
template <int C, typename Job> __host__ __device__ constexpr int near_warps()
{
    return NEAR_WARPS * Job::quarters(C) / 4;
}

template <int C> __device__ static inline int twisted_chunk(int t) { return t ^ chunk_of_lane<C>(); }

/* All chunks of a row, in the lane's order. */
template <int C> __device__ static inline void load_chunks(const double2 *row, double2 (&u)[C / 2])
{
#pragma unroll
    for (int t = 0; t < C / 2; t++) u[t] = row[twisted_chunk<C>(t)];
}

template <int C> __device__ static inline void load_row(const near_table &table, const double2 *room, int32_t column,
                                                        double2 (&u)[C / 2])
{
    if (column < table.head) load_chunks<C>(room + column * (C / 2), u);
    else load_chunks<C>(table.all + (int64_t)column * (C / 2), u);
}

/*
 * A job has quarters(C), see near_warps, and, besides what sweep.h asks for,
 *   template <int C> struct near_step, made of the job and the lane's rows (-1: none), with
 *     take(job, u, v)     entries of its rows: chunks and values, 0 where there is none;
 *                         if ALONE, an entry of its first row, which is its alone: all chunks in the lane's order
 *     finish(job, rows)   writes the sums; returns the lane's share of an extra sum
 */
template <int C, typename V, typename Job> __global__ void __launch_bounds__(near_warps<C, Job>() * WARP, 1)
    sweep_slices(Job job, sliced_rows x, const V *val, near_table table)
{
    constexpr int G = near_shape<C>::G, N = C == 2 ? 4 : 2, WARPS_HERE = near_warps<C, Job>();
    typedef typename Job::template near_step<C> near_step;
    double2 *room = shared_room<double2>();
    double extra = 0;
    for (int64_t t = threadIdx.x; t < (int64_t)table.head * G; t += WARPS_HERE * WARP) room[t] = table.all[t];
    __syncthreads();
    const int64_t step = (int64_t)gridDim.x * WARPS_HERE, warp = (int64_t)warp_of_block() * gridDim.x + blockIdx.x;
    for (int64_t s = warp; s < x.slices; s += step) {
        const int length = x.length[s * WARP + lane_of_thread()];
        const int32_t own = x.order[s * WARP + lane_of_thread()];
        int64_t at = x.begin[s];
        slice_batch<V, N> now, next;
        now.load(x.col, val, 0, length, &at);
        int32_t rows[G];
#pragma unroll
        for (int q = 0; q < G; q++) rows[q] = C == 2 || Job::ALONE ? own : __shfl_sync(ALL_LANES, own, place_of<C>(q));
        near_step sums(job, rows);
        for (int t = 0; now.alive[0]; t += N) {
            next.load(x.col, val, t + N, length, &at);
#pragma unroll
            for (int u = 0; u < N; u++) {
                double2 chunk[G];
                double value[G];
                if constexpr (Job::ALONE) {
                    if (t + u >= length) continue;
                    load_row<C>(table, room, now.column[u], chunk);
                    sums.take(job, chunk, (double)now.value[u]);
                } else {
                    hand_round<C, V>(table, room, now.column[u], now.value[u], now.alive[u], chunk, value);
                    sums.take(job, chunk, value);
                }
            }
            now = next;
        }
        extra += sums.finish(job, rows);
    }
    extra = lanes_sum(extra);
    if (job.extra && lane_of_thread() == 0) job.extra[warp] = extra;
}

/* f(row, j, sum) for the numbers of the lane's rows within the width. */
template <int C, typename F>
__device__ static inline void for_sums(const int32_t (&rows)[C / 2], const double2 (&sum)[C / 2], int64_t width, F f)
{
    const int64_t j = 2 * chunk_of_lane<C>();
#pragma unroll
    for (int q = 0; q < C / 2; q++) {
        if (rows[q] < 0) continue;
        if (j < width) f(rows[q], j, sum[q].x);
        if (j + 1 < width) f(rows[q], j + 1, sum[q].y);
    }
}

/* Sums of products: what most jobs do with entries. */
template <int C> struct near_sums {
    double2 sum[C / 2];
    __device__ near_sums()
    {
#pragma unroll
        for (int q = 0; q < C / 2; q++) sum[q] = {0, 0};
    }
    __device__ void add_scaled(double value, const double2 (&u)[C / 2])
    {
#pragma unroll
        for (int t = 0; t < C / 2; t++) {
            sum[t].x = fma(value, u[t].x, sum[t].x);
            sum[t].y = fma(value, u[t].y, sum[t].y);
        }
    }
    template <typename Job> __device__ void take(const Job &, const double2 (&u)[C / 2], const double (&v)[C / 2])
    {
#pragma unroll
        for (int q = 0; q < C / 2; q++) {
            sum[q].x = fma(v[q], u[q].x, sum[q].x);
            sum[q].y = fma(v[q], u[q].y, sum[q].y);
        }
    }
};

/* f(C) with the number of columns that holds `width`. */
template <typename F> int with_near_columns(int64_t width, F f)
{
    if (width <= 2) return f(std::integral_constant<int, 2>());
    if (width <= 4) return f(std::integral_constant<int, 4>());
    return f(std::integral_constant<int, 8>());
}

/* The rows of a table in the order of ranks. */
template <int C> static int lay_table(plx_device *d, const plx_device_csr *x, plx_device_mat table, int64_t width,
                                      scratch<double> &room, near_table *out)
{
    const int64_t numbers = x->cols * C;
    TRY(room.take(numbers));
    out->all = (const double2 *)room.data;
    out->head = (int32_t)std::min<int64_t>(x->cols, (int64_t)d->near_rows * NEAR_COLUMNS / C);
    return device_launch(d, "lay_near", lay_near<C>, thread_blocks(numbers), THREADS, (const double *)mat_data(table),
                         table.ld, width, (const int32_t *)x->column, x->cols, room.data);
}

template <int C, typename V, typename Job> static int launch_slices(plx_device *d, const char *what, const Job &job,
                                                                    const plx_device_csr *x, const V *val,
                                                                    plx_device_mat table, int64_t width, int64_t blocks)
{
    scratch<double> room(d);
    near_table near;
    TRY((lay_table<C>(d, x, table, width, room, &near)));
    return device_launch_room(d, what, sweep_slices<C, V, Job>, blocks, near_warps<C, Job>() * WARP,
                              (int64_t)near.head * C * (int64_t)sizeof(double), job, x->sliced, val, near);
}

/* Rows too long for a lane, by the way of sweep.h. */
template <typename Job> int run_long_rows(plx_device *d, const char *what, Job job, const plx_device_csr *x,
                                          plx_device_mat table, int64_t width, double *extra)
{
    scratch<double> room(d);
    if (extra) *extra = 0;
    if (x->plain.n_long == 0) return PLX_DEVICE_OK;
    job.x = x->plain;
    TRY(table_for(d, x, table, width, room, &job.table));
    return run_sweep(d, what, job, job.table.paired && job.pairs(), extra);
}

/* Runs a job over the rows of a ranked matrix with `width` columns of the table; *extra as in run_sweep. */
template <typename Job> int run_slices(plx_device *d, const char *what, Job job, const plx_device_csr *x,
                                       plx_device_mat table, int64_t width, double *extra)
{
    const sliced_rows &s = x->sliced;
    const int64_t blocks = std::min<int64_t>(d->multiprocessors, s.slices);
    const int64_t warps = blocks * NEAR_WARPS;
    double rest = 0;
    scratch<double> sums(d);
    if (extra) *extra = 0;
    if (blocks == 0) return PLX_DEVICE_OK;
    if (extra) { /* zeros, since blocks may have fewer warps */
        TRY(sums.take(warps + 1));
        TRY_CUDA(d, cudaMemsetAsync(sums.data, 0, (size_t)(warps + 1) * sizeof(double), d->stream));
    }
    job.extra = sums.data;
    TRY(with_near_columns(width, [&](auto columns) {
        constexpr int C = decltype(columns)::value;
        if (s.single) return launch_slices<C>(d, what, job, x, (const float *)s.single, table, width, blocks);
        return launch_slices<C>(d, what, job, x, (const double *)s.wide, table, width, blocks);
    }));
    if (extra) {
        TRY(sum_partials(d, sums.data, warps, 1, sums.data + warps));
        TRY(device_fetch(d, extra, sums.data + warps, 1));
    }
    TRY(run_long_rows(d, what, job, x, table, width, extra ? &rest : nullptr));
    if (extra) *extra += rest;
    return PLX_DEVICE_OK;
}

/* Whether sweeps with so many columns can be made with this matrix. */
static inline int check_width(plx_device *d, const plx_device_csr *x, int64_t width)
{
    if (!x->column || width <= NEAR_COLUMNS) return PLX_DEVICE_OK;
    return device_fail(d, PLX_DEVICE_LIMIT, "this matrix was made for tables of at most %d columns, not %lld",
                       NEAR_COLUMNS, (long long)width);
}

#endif
