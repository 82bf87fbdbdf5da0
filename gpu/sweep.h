/*
 * Sweeps over the rows of a sparse matrix with a table of `width` columns beside it. A warp takes a row. It loads 32
 * entries at a time, one a lane, and divides itself into groups of G lanes: every group works on entries of its own, its
 * lanes on the columns of the table, C for each, V neighbours at a time. Where rows of the table begin at even places V
 * is 2, so that a lane loads 16 bytes: half the instructions for the same bytes.
 *
 * An entry is 8 bytes from memory (12 where values need double precision) and 8 width bytes of the table from the
 * caches: beyond a few columns it is the second-level cache that counts. Entries are read once and do not stay in the
 * first-level cache, which is left to the table; a warp takes some rows that follow each other, so that the next
 * entries are on their way while the table is waited for. For products with the transpose the table has a row for each
 * sample, far more than the cache holds: so the transpose is kept by slabs of samples, and swept slab by slab.
 *
 * Rows of more than `longest` entries (frequent words in a transpose) are cut into segments, whose sums are added in
 * order. Which warp adds what in which order follows from the matrix alone.
 */
#ifndef PLX_CUDA_SWEEP_H
#define PLX_CUDA_SWEEP_H

#include "pairs.h"

template <int LANES, int COLUMNS, int VECTOR> struct sweep_shape {
    static constexpr int G = LANES, C = COLUMNS, V = VECTOR;
    static constexpr int GROUPS = WARP / LANES;
};

/* f(shape) with the smallest shape that holds `width` columns, one at a time. */
template <typename F> int with_single_shape(plx_device *d, int64_t width, F f)
{
    if (width <= 1) return f(sweep_shape<1, 1, 1>());
    if (width <= 2) return f(sweep_shape<2, 1, 1>());
    if (width <= 4) return f(sweep_shape<4, 1, 1>());
    if (width <= 8) return f(sweep_shape<8, 1, 1>());
    if (width <= 16) return f(sweep_shape<16, 1, 1>());
    if (width <= 32) return f(sweep_shape<32, 1, 1>());
    if (width <= 64) return f(sweep_shape<32, 2, 1>());
    if (width <= 128) return f(sweep_shape<32, 4, 1>());
    if (width <= 256) return f(sweep_shape<32, 8, 1>());
    if (width <= MOST_WIDTH) return f(sweep_shape<32, 32, 1>());
    return device_fail(d, PLX_DEVICE_LIMIT, "tables of sweeps have at most %d columns on the device, this one has %lld",
                       MOST_WIDTH, (long long)width);
}

/* The same; `paired`: columns can be had two at a time. */
template <typename F> int with_shape(plx_device *d, int64_t width, bool paired, F f)
{
    if (!paired || width > 256) return with_single_shape(d, width, f);
    if (width <= 2) return f(sweep_shape<1, 2, 2>());
    if (width <= 4) return f(sweep_shape<2, 2, 2>());
    if (width <= 8) return f(sweep_shape<4, 2, 2>());
    if (width <= 16) return f(sweep_shape<8, 2, 2>());
    if (width <= 32) return f(sweep_shape<16, 2, 2>());
    if (width <= 64) return f(sweep_shape<32, 2, 2>());
    if (width <= 128) return f(sweep_shape<32, 4, 2>());
    return f(sweep_shape<32, 8, 2>());
}

/* The column of the table that a lane has as its number c, ascending with c; group 0 writes for all. */
template <typename S> __device__ static inline int64_t lane_column(int c)
{
    return lane_of_thread() % S::G * S::V + c / S::V * (S::G * S::V) + c % S::V;
}

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

/* ---- tables ---- */

/* A table of doubles; `paired`: rows begin at multiples of 16 bytes, and a pair that begins inside of a row may be read. */
struct dense_source {
    const double *data;
    int64_t ld;
    bool paired;
    __device__ double operator()(int32_t row, int64_t j) const { return data[row * ld + j]; }
};

static inline dense_source source_of(plx_device_mat m, int64_t width)
{
    const double *data = mat_data(m);
    const int64_t even = divide_up(width, 2) * 2, end = m.rows > 0 ? m.offset + (m.rows - 1) * m.ld + even : 0;
    bool aligned = m.ld % 2 == 0 && (uintptr_t)data % (2 * sizeof(double)) == 0;
    return {data, m.ld, aligned && m.buffer && end * (int64_t)sizeof(double) <= m.buffer->bytes};
}

/* The row of a table, or of a result, that belongs to a column of the transpose. */
struct feature_rows {
    const int32_t *column; /* NULL: as they are numbered */
    __device__ int64_t operator()(int64_t row) const { return column ? column[row] : row; }
};

/* Those of the columns that are not frequent. */
static inline feature_rows rest_of(const plx_device_csr *x)
{
    return {x->column ? x->column + x->frequent.ranks : nullptr};
}

/* A table for the columns of x as they are numbered: for a ranked matrix a copy. */
int table_for(plx_device *d, const plx_device_csr *x, plx_device_mat table, int64_t width, scratch<double> &room,
              dense_source *out);

/* The lane's columns of a row of a table. Columns beyond the width hold anything. */
template <typename S>
__device__ static inline void load_columns(const dense_source &table, int32_t row, int64_t width, double (&to)[S::C])
{
    const double *from = table.data + row * table.ld;
#pragma unroll
    for (int c = 0; c < S::C; c += S::V) {
        const int64_t j = lane_column<S>(c);
        if constexpr (S::V == 2) {
            double2 pair = {0, 0};
            if (j < width) pair = *(const double2 *)(from + j);
            to[c] = pair.x;
            to[c + 1] = pair.y;
        } else to[c] = j < width ? from[j] : 0.0;
    }
}

/* ---- logarithms ---- */

/* Whether x is between 2^-200 and 2^200. */
__device__ static inline bool is_moderate(double x)
{
    return (unsigned)__double2hiint(x) - (823u << 20) < (400u << 20);
}

/* A sum of logarithms: the logarithm of a product of many. */
struct log_sum {
    double sum = 0, product = 1;

    /* A moderate number up to the fourth power, whose factors are moderate too. */
    __device__ void multiply(double x)
    {
        product *= x;
        if (is_moderate(product)) return;
        sum += log(product);
        product = 1;
    }
    /* top + log(normaliser), which is between 1 and the number of classes or not a number. */
    __device__ void add(double top, double normaliser)
    {
        sum += top;
        multiply(normaliser);
    }
    __device__ double total() const { return sum + log(product); }
};

/* ---- entries ---- */

__device__ static inline double entry_once(const csr_way &m, int64_t at)
{
    return m.single ? (double)__ldcs(m.single + at) : __ldcs(m.wide + at);
}

/* The 32 entries that come next, one a lane; none from `limit` on. */
struct entry_stream {
    int64_t limit;
    int32_t column;
    double value;

    __device__ void load(const csr_way &x, int64_t at)
    {
        const int64_t e = at + lane_of_thread();
        column = e < limit ? __ldcs(x.col + e) : 0;
        value = e < limit ? entry_once(x, e) : 0.0;
    }
};

__device__ static inline entry_stream stream_from(const csr_way &x, int64_t begin, int64_t limit)
{
    entry_stream ahead = {limit, 0, 0.0};
    ahead.load(x, begin);
    return ahead;
}

/* acc += the group's share of value times row `column` of the table over entries begin .. end-1, the first of which are
 * in the stream; behind it those from `end` on are. All lanes come. Rows of the table are loaded some at a time. */
template <typename S> __device__ static inline void add_entries(const csr_way &x, int64_t begin, int64_t end,
                                                                entry_stream &ahead, const dense_source &table,
                                                                int64_t width, double (&acc)[S::C])
{
    constexpr int AHEAD = S::C >= 8 ? 1 : S::G * S::C < 8 ? S::G : 8 / S::C;
    const int lane = lane_of_thread(), group = lane / S::G;
    for (int64_t at = begin; at < end; at += WARP) {
        const int count = end - at < WARP ? (int)(end - at) : (int)WARP;
        const int32_t mine = ahead.column;
        const double value = lane < count ? ahead.value : 0.0;
        ahead.load(x, at + count);
#pragma unroll
        for (int t = 0; t < S::G; t += AHEAD) {
            if (t * S::GROUPS >= count) break; /* the same for all lanes */
            double row[AHEAD][S::C], v[AHEAD];
#pragma unroll
            for (int u = 0; u < AHEAD; u++) {
                const int from = (t + u) * S::GROUPS + group;
                const int32_t column = __shfl_sync(ALL_LANES, mine, from);
                v[u] = __shfl_sync(ALL_LANES, value, from);
                load_columns<S>(table, column, from < count ? width : 0, row[u]);
            }
#pragma unroll
            for (int u = 0; u < AHEAD; u++)
#pragma unroll
                for (int c = 0; c < S::C; c++) acc[c] = fma(v[u], row[u][c], acc[c]);
        }
    }
}

/* ---- jobs ---- */

/* Rows that follow each other, at most MOST_RUN, and where they begin: a lane keeps one place each. All lanes come. */
struct row_run {
    int count;
    int64_t mine;
    __device__ row_run(const csr_way &x, int64_t first, int run)
    {
        const int lane = lane_of_thread();
        count = x.rows - first < run ? (int)(x.rows - first) : run;
        mine = x.ptr[first + (lane < count ? lane : count)];
    }
    __device__ int64_t start(int r) const { return __shfl_sync(ALL_LANES, mine, r); }
};

/* Many enough that a warp has work ahead, few enough that all warps of a device have some. */
static inline int rows_in_run(int64_t rows)
{
    return (int)std::max<int64_t>(1, std::min<int64_t>(MOST_RUN, rows / RUNS));
}

/*
 * A job has: x (csr_way), width, extra (double *, NULL: none), more (true: the results of an earlier slab are added to),
 * and
 *   template <typename S> double span(int64_t row, int64_t begin, int64_t end, entry_stream &ahead,
 *                                     double (&acc)[S::C]) const
 *     adds entries of a row to acc, group by group, and returns the lane's share of an extra sum;
 *   template <typename S> void finish(int64_t row, const double (&acc)[S::C]) const
 *     takes the joined sums of a whole row,
 *   template <typename S> static constexpr int resident()
 *     blocks that a multiprocessor should hold at a time, which bounds the registers of a thread: 64 with 4 blocks.
 */
template <typename S, typename Job> __global__ void __launch_bounds__(THREADS, (Job::template resident<S>()))
    sweep_rows(Job job, int run)
{
    double extra = 0;
    for (int64_t first = warp_of_grid() * run; first < job.x.rows; first += warps_in_grid() * run) {
        const row_run rows(job.x, first, run);
        entry_stream ahead = stream_from(job.x, rows.start(0), rows.start(rows.count));
        for (int r = 0; r < rows.count; r++) {
            const int64_t begin = rows.start(r), end = rows.start(r + 1);
            if (end - begin > job.x.longest) {
                ahead.load(job.x, end);
                continue;
            }
            double acc[S::C];
            clear<S>(acc);
            extra += job.template span<S>(first + r, begin, end, ahead, acc);
            join_groups<S>(acc);
            job.template finish<S>(first + r, acc);
        }
    }
    extra = lanes_sum(extra);
    if (job.extra && lane_of_thread() == 0) job.extra[warp_of_grid()] = extra;
}

/* Sums of segments to partial (n_segments x width), their extra sums behind those of sweep_rows. */
template <typename S, typename Job> __global__ void __launch_bounds__(THREADS, (Job::template resident<S>()))
    sweep_segments(Job job, double *partial, double *extra_at)
{
    for (int64_t s = warp_of_grid(); s < job.x.n_segments; s += warps_in_grid()) {
        const row_segment part = job.x.segments[s];
        double acc[S::C];
        clear<S>(acc);
        entry_stream ahead = stream_from(job.x, part.begin, part.end);
        double extra = lanes_sum(job.template span<S>(part.row, part.begin, part.end, ahead, acc));
        join_groups<S>(acc);
#pragma unroll
        for (int c = 0; c < S::C; c++)
            if (writes<S>() && lane_column<S>(c) < job.width) partial[s * job.width + lane_column<S>(c)] = acc[c];
        if (job.extra && lane_of_thread() == 0) extra_at[s] = extra;
    }
}

/* Sums of the segments of a long row, in their order within each group, then of the groups. */
template <typename S, typename Job> __global__ void sweep_longs(Job job, const double *partial)
{
    constexpr int AHEAD = S::C <= 2 ? 8 : 1;
    for (int64_t l = warp_of_grid(); l < job.x.n_long; l += warps_in_grid()) {
        const long_row one = job.x.longs[l];
        const int64_t end = one.first + one.count;
        double acc[S::C];
        clear<S>(acc);
        for (int64_t s = one.first + lane_of_thread() / S::G; s < end; s += AHEAD * S::GROUPS) {
#pragma unroll
            for (int u = 0; u < AHEAD; u++)
#pragma unroll
                for (int c = 0; c < S::C; c++) {
                    const int64_t at = s + u * S::GROUPS, j = lane_column<S>(c);
                    acc[c] += at < end && j < job.width ? partial[at * job.width + j] : 0.0;
                }
        }
        join_groups<S>(acc);
        job.template finish<S>(one.row, acc);
    }
}

/* Runs a job; *extra (host, NULL: not wanted) gets its extra sum. */
template <typename Job> int run_sweep(plx_device *d, const char *what, Job job, bool paired, double *extra)
{
    const int run = rows_in_run(job.x.rows);
    int64_t blocks = std::min<int64_t>(SUM_BLOCKS * 16, warp_blocks(divide_up(job.x.rows, run)));
    int64_t segments = job.x.n_segments;
    scratch<double> partial(d), sums(d);
    if (extra) *extra = 0;
    if (blocks == 0 && segments == 0) return PLX_DEVICE_OK;
    if (extra) TRY(sums.take(blocks * WARPS + segments + 1));
    if (segments > 0) TRY(partial.take(segments * job.width));
    job.extra = sums.data;
    double *behind = extra ? sums.data + blocks * WARPS : nullptr;
    TRY(with_shape(d, job.width, paired, [&](auto shape) {
        typedef decltype(shape) S;
        TRY(device_launch(d, what, sweep_rows<S, Job>, blocks, THREADS, job, run));
        TRY(device_launch(d, what, sweep_segments<S, Job>, warp_blocks(segments), THREADS, job, partial.data, behind));
        return device_launch(d, what, sweep_longs<S, Job>, warp_blocks(job.x.n_long), THREADS, job,
                             (const double *)partial.data);
    }));
    if (!extra) return PLX_DEVICE_OK;
    double *total = behind + segments;
    TRY(sum_partials(d, sums.data, blocks * WARPS + segments, 1, total));
    return device_fetch(d, extra, total, 1);
}

/* Runs a job over the transpose, slab by slab. */
template <typename Job> int run_slabs(plx_device *d, const char *what, Job job, const plx_device_csr *x, bool paired)
{
    for (size_t s = 0; s < x->flipped.size(); s++) {
        job.x = x->flipped[s];
        job.more = s > 0;
        TRY(run_sweep(d, what, job, paired, nullptr));
    }
    return PLX_DEVICE_OK;
}

static inline int lacks_transpose(plx_device *d)
{
    return device_fail(d, PLX_DEVICE_FAILED, "the sparse matrix was made without its transpose");
}

#endif
