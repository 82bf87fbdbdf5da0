/*
 * Sums over the entries of frequent columns (frequent.cu), a lane for each column. A block takes slabs of samples, has
 * what belongs to a slab's samples in shared memory, and its warps take slices of 32 columns. A lane goes through its
 * piece and adds to the sums its block has of the column; sums of all blocks are added in their order in the end. So
 * nothing is exchanged between lanes, and which entries are added in which order follows from the matrix and the number of
 * multiprocessors.
 * Chunks of a table's row are in the lane's order (near.h).
 */
#ifndef PLX_CUDA_LANES_H
#define PLX_CUDA_LANES_H

#include "near.h"

/* What a block has of its columns: the numbers of a column `ld` apart. */
struct column_sums {
    double *of_column;
    int64_t ld;
    bool fresh; /* nothing yet */
};

/* Entries that a lane has on their way. */
template <typename V, int N> struct lane_batch {
    int row[N];
    V value[N];
    unsigned some = 0; /* lanes that have an entry */

    /* The entries number t and on of a piece; the slice goes on at `at`. All lanes come. */
    __device__ void load(const uint16_t *rows, const V *val, int t, int length, int64_t *at)
    {
        const unsigned lower = (1u << lane_of_thread()) - 1u;
#pragma unroll
        for (int u = 0; u < N; u++) {
            const unsigned alive = __ballot_sync(ALL_LANES, t + u < length);
            if (u == 0) some = alive;
            const int64_t place = *at + __popc(alive & lower);
            row[u] = t + u < length ? (int)__ldcs(rows + place) : 0;
            value[u] = t + u < length ? __ldcs(val + place) : (V)0;
            *at += __popc(alive);
        }
    }
};

/*
 * A job has NUMBERS (a column's, in the sums), TOGETHER (false: the first of all columns come first), THREADS, RESIDENT
 * (blocks of a multiprocessor), and
 *   room_bytes(slab_rows)             shared memory
 *   fill(room, f, slab)               all threads: what belongs to the samples of a slab
 *   struct step (job, f, room, column, sums)  what a lane keeps of its column; goes on from the sums
 *     add(job, room, row, value)              one entry
 *     store(sums)
 */
template <typename V, typename Job> __device__ static void take_slice(const Job &job, const frequent_columns &f,
                                                                      const V *val, int64_t at, int length, void *room,
                                                                      int64_t slice, double *sums, bool fresh)
{
    constexpr int N = 4;
    const int64_t column = slice * WARP + lane_of_thread(), columns = f.slices * WARP;
    lane_batch<V, N> now, next;
    now.load(f.row, val, 0, length, &at);
    const column_sums own = {Job::TOGETHER ? sums + column * Job::NUMBERS : sums + column, Job::TOGETHER ? 1 : columns,
                             fresh};
    if (!fresh && !now.some) return;
    typename Job::step step(job, f, room, column, own);
    for (int t = 0; now.some; t += N) {
        next.load(f.row, val, t + N, length, &at);
#pragma unroll
        for (int u = 0; u < N; u++)
            if (t + u < length) step.add(job, room, now.row[u], (double)now.value[u]);
        now = next;
    }
    step.store(job, own);
}

/* Warps take the next slice that nobody has, those with most entries first; each one ahead, so that it has where that
 * begins in time. */
struct lane_queue {
    int64_t slice, at;
    int length;
    __device__ void take(const frequent_columns &f, int64_t slab, unsigned *next)
    {
        const unsigned mine = lane_of_thread() == 0 ? atomicAdd(next, 1u) : 0u;
        slice = __shfl_sync(ALL_LANES, mine, 0);
        const bool some = slice < f.slices;
        at = some ? f.begin[slab * f.slices + slice] : 0;
        length = some ? f.length[(slab * f.slices + slice) * WARP + lane_of_thread()] : 0;
    }
};

template <typename V, typename Job> __global__ void __launch_bounds__(Job::THREADS, Job::RESIDENT)
    sweep_lanes(Job job, frequent_columns f, const V *val, double *sums)
{
    __shared__ unsigned queue;
    void *room = shared_room<void>();
    bool fresh = true;
    sums += (int64_t)blockIdx.x * f.slices * WARP * Job::NUMBERS;
    for (int64_t slab = blockIdx.x; slab < f.slabs; slab += gridDim.x) {
        if (threadIdx.x == 0) queue = 0;
        job.fill(room, f, slab);
        __syncthreads();
        lane_queue now, next;
        for (now.take(f, slab, &queue); now.slice < f.slices; now = next) {
            next.take(f, slab, &queue);
            take_slice<V, Job>(job, f, val, now.at, now.length, room, now.slice, sums, fresh);
        }
        __syncthreads();
        fresh = false;
    }
}

/* emit(rank, j, sum) for the numbers j < width of every rank, by the sums of all blocks. */
template <typename Job, typename Emit>
__global__ void join_blocks(Emit emit, frequent_columns f, const double *sums, int64_t blocks, int64_t width)
{
    const int64_t step = (int64_t)gridDim.x * THREADS, columns = f.slices * WARP, all = columns * Job::NUMBERS;
    for (int64_t t = (int64_t)blockIdx.x * THREADS + threadIdx.x; t < f.ranks * Job::NUMBERS; t += step) {
        const int64_t rank = Job::TOGETHER ? t / Job::NUMBERS : t % f.ranks,
                      j = Job::TOGETHER ? t % Job::NUMBERS : t / f.ranks;
        const int64_t first = rank < f.split ? rank * SPLIT : rank + f.split * (SPLIT - 1);
        double sum = 0;
        if (j >= width) continue;
        for (int64_t b = 0; b < blocks; b++)
            for (int64_t c = first; c < first + (rank < f.split ? SPLIT : 1); c++)
                sum += sums[b * all + (Job::TOGETHER ? c * Job::NUMBERS + j : j * columns + c)];
        emit(rank, j, sum);
    }
}

/* The rank of a column here; beyond all ranks where there is no such column. */
__device__ static inline int64_t rank_of(const frequent_columns &f, int64_t column)
{
    return column < f.split * SPLIT ? column / SPLIT : column - f.split * (SPLIT - 1);
}

/* Runs a job over the frequent columns; emit as in join_blocks. */
template <typename Job, typename Emit>
int run_lanes(plx_device *d, const char *what, const Job &job, const frequent_columns &f, int64_t width, Emit emit)
{
    scratch<double> sums(d);
    const int64_t blocks = std::min<int64_t>(f.slabs, (int64_t)d->multiprocessors * Job::RESIDENT);
    const int64_t numbers = f.slices * WARP * Job::NUMBERS, room = job.room_bytes(f.slab_rows);
    if (f.ranks == 0) return PLX_DEVICE_OK;
    TRY(sums.take(blocks * numbers));
    if (f.single)
        TRY(device_launch_room(d, what, sweep_lanes<float, Job>, blocks, Job::THREADS, room, job, f,
                               (const float *)f.single, sums.data));
    else
        TRY(device_launch_room(d, what, sweep_lanes<double, Job>, blocks, Job::THREADS, room, job, f,
                               (const double *)f.wide, sums.data));
    return device_launch(d, what, join_blocks<Job, Emit>, thread_blocks(numbers), THREADS, emit, f,
                         (const double *)sums.data, blocks, width);
}

/* Bytes of the sums of all blocks, at most. */
static inline int64_t lane_bytes(const plx_device *d)
{
    const int64_t columns = divide_up(4 * (int64_t)d->near_rows + SPLIT_RANKS * SPLIT, WARP) * WARP;
    return (int64_t)sizeof(double) * columns * d->multiprocessors * NEAR_COLUMNS;
}

/* ---- rows of a table as what belongs to samples ---- */

/* Sums of products for a table of C columns, some blocks to a multiprocessor, whose rooms fill its shared memory. */
template <int C> struct lane_product {
    static constexpr int NUMBERS = C, RESIDENT = NEAR_COLUMNS / C, THREADS = LANE_WARPS * WARP / RESIDENT;
    static constexpr bool TOGETHER = true;
    dense_source table;
    int64_t samples, width;

    int64_t room_bytes(int64_t rows) const { return rows * C * (int64_t)sizeof(double); }

    /* 0 beyond the width. */
    __device__ void fill(void *room, const frequent_columns &f, int64_t slab) const
    {
        const int64_t first = slab * f.slab_rows;
        const int count = (int)(samples - first < f.slab_rows ? samples - first : f.slab_rows);
        for (int t = threadIdx.x; t < count * C; t += blockDim.x)
            ((double *)room)[t] = t % C < width ? table.data[(first + t / C) * table.ld + t % C] : 0.0;
    }

    struct step : near_sums<C> {
        __device__ step(const lane_product &, const frequent_columns &, void *, int64_t, const column_sums &sums)
        {
            if (!sums.fresh) load_chunks<C>((const double2 *)sums.of_column, this->sum);
        }
        __device__ void add(const lane_product &, const void *room, int row, double value)
        {
            double2 u[C / 2];
            load_chunks<C>((const double2 *)room + row * (C / 2), u);
            this->add_scaled(value, u);
        }
        __device__ void store(const lane_product &, const column_sums &sums) const
        {
#pragma unroll
            for (int t = 0; t < C / 2; t++) ((double2 *)sums.of_column)[twisted_chunk<C>(t)] = this->sum[t];
        }
    };
};

#endif
