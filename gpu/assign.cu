/*
 * Assignment of mvkmeans: a warp takes a sample, adds up its row of every channel (sweep.h), joins the scores and
 * picks a class; nothing of width k goes through memory. 8 bytes an entry, 8 k from the caches. Ranked matrices have
 * scores in memory, channel by channel.
 */
#include "near.h"

struct assign_channel {
    csr_way x;
    dense_source table;
    const uint8_t *present;
    const double *factor;
};

struct assign_job {
    int64_t n, k;
    int n_channels, product;
    double tie;
    int32_t fallback;
    const uint8_t *fixed;
    int32_t *label;
    double *own_score;
    double *partial; /* warps x (objective, flips, without) */
    assign_channel channel[MOST_CHANNELS];
};

/* The entries of a run of samples in one channel. */
struct channel_run {
    row_run rows;
    entry_stream ahead;
    __device__ channel_run(const csr_way &x, int64_t first, int run)
        : rows(x, first, run), ahead(stream_from(x, rows.start(0), rows.start(rows.count)))
    {
    }
};

__device__ static inline double joined_score(const assign_job &job, bool any, double score, double x)
{
    if (job.product) return (any ? score : 1.0) * fmax(x, 0.0);
    return any ? score + x : x;
}

/* All lanes: score becomes its sum or product with that of channel c, for row r of the run; `any`: there was one. */
template <typename S> __device__ static void join_channel(const assign_job &job, int c, int64_t i, int r,
                                                          channel_run &run, bool &any, double (&score)[S::C])
{
    const assign_channel &ch = job.channel[c];
    const int64_t begin = run.rows.start(r), end = run.rows.start(r + 1);
    if (ch.present && !ch.present[i]) {
        run.ahead.load(ch.x, end);
        return;
    }
    double acc[S::C], factor = ch.factor ? ch.factor[i] : 1.0;
    clear<S>(acc);
    add_entries<S>(ch.x, begin, end, run.ahead, ch.table, job.k, acc);
    join_groups<S>(acc);
#pragma unroll
    for (int t = 0; t < S::C; t++) score[t] = joined_score(job, any, score[t], factor * acc[t]);
    any = true;
}

/* All lanes: the lowest class whose score is within the tie of the largest; -1: all are 0. */
template <typename S> __device__ static int32_t best_class(const assign_job &job, const double (&score)[S::C])
{
    double best = -INFINITY;
    bool any = false;
    int32_t first = INT32_MAX;
#pragma unroll
    for (int t = 0; t < S::C; t++) {
        if (lane_column<S>(t) >= job.k) continue;
        best = fmax(best, score[t]);
        any |= score[t] != 0;
    }
    best = lanes_max(best, S::G);
    if (__ballot_sync(ALL_LANES, any) == 0) return -1;
#pragma unroll
    for (int t = S::C - 1; t >= 0; t--)
        if (lane_column<S>(t) < job.k && !(score[t] < best - job.tie)) first = (int32_t)lane_column<S>(t);
    for (int s = 1; s < S::G; s *= 2) {
        const int32_t other = __shfl_xor_sync(ALL_LANES, first, s);
        first = other < first ? other : first;
    }
    return first;
}

/* Sums of a lane over samples; whole numbers below 2^53 are exact. */
struct assign_sums {
    double objective = 0, flips = 0, without = 0;
};

/* `best` as best_class says. */
__device__ static inline int32_t settled_label(const assign_job &job, int64_t i, int32_t old, int32_t best)
{
    if (job.fixed && job.fixed[i]) return old;
    return best < 0 ? job.fallback : best;
}

__device__ static inline void count_label(const assign_job &job, int64_t i, int32_t old, int32_t now, int32_t best,
                                          double own, assign_sums *sums)
{
    sums->objective += own;
    sums->flips += now == old ? 0 : old < 0 ? 1 : 2;
    sums->without += best < 0 && !(job.fixed && job.fixed[i]);
}

__device__ static inline void store_label(const assign_job &job, int64_t i, int32_t now, double own)
{
    job.label[i] = now;
    if (job.own_score) job.own_score[i] = own;
}

/* All lanes: the label of sample i from its scores. */
template <typename S>
__device__ static void label_sample(const assign_job &job, int64_t i, const double (&score)[S::C], assign_sums *sums)
{
    double own = 0;
    const int32_t old = job.label[i], best = best_class<S>(job, score), now = settled_label(job, i, old, best);
#pragma unroll
    for (int t = 0; t < S::C; t++)
        if (lane_column<S>(t) == now && now < job.k) own = score[t];
    own = lanes_sum(own, 1, S::G);
    count_label(job, i, old, now, best, own, sums);
    __syncwarp();
    if (lane_of_thread() == 0) store_label(job, i, now, own);
}

__device__ static void hand_in(const assign_job &job, int64_t warp, const assign_sums &sums)
{
    double *to = job.partial + 3 * warp;
    if (lane_of_thread() != 0) return;
    to[0] = sums.objective;
    to[1] = sums.flips;
    to[2] = sums.without;
}

/* Up to two channels, each read ahead. */
template <typename S, int CHANNELS> __global__ void assign_ahead(const __grid_constant__ assign_job job, int run)
{
    assign_sums sums;
    for (int64_t first = warp_of_grid() * run; first < job.n; first += warps_in_grid() * run) {
        channel_run one(job.channel[0].x, first, run), two(job.channel[CHANNELS - 1].x, first, run);
        for (int r = 0; r < one.rows.count; r++) {
            bool any = false;
            double score[S::C];
            clear<S>(score);
            join_channel<S>(job, 0, first + r, r, one, any, score);
            if (CHANNELS > 1) join_channel<S>(job, 1, first + r, r, two, any, score);
            label_sample<S>(job, first + r, score, &sums);
        }
    }
    hand_in(job, warp_of_grid(), sums);
}

template <typename S> __global__ void assign_pass(const __grid_constant__ assign_job job)
{
    assign_sums sums;
    for (int64_t i = warp_of_grid(); i < job.n; i += warps_in_grid()) {
        bool any = false;
        double score[S::C];
        clear<S>(score);
        for (int c = 0; c < job.n_channels; c++) {
            channel_run one(job.channel[c].x, i, 1);
            join_channel<S>(job, c, i, 0, one, any, score);
        }
        label_sample<S>(job, i, score, &sums);
    }
    hand_in(job, warp_of_grid(), sums);
}

template <typename S> static int launch_assign(plx_device *d, const assign_job &job, int64_t blocks, int run)
{
    if (job.n_channels == 1) return device_launch(d, "assign", assign_ahead<S, 1>, blocks, THREADS, job, run);
    if (job.n_channels == 2) return device_launch(d, "assign", assign_ahead<S, 2>, blocks, THREADS, job, run);
    return device_launch(d, "assign", assign_pass<S>, blocks, THREADS, job);
}

/* ---- ranked matrices ---- */

/* Scores of one channel, joined with those of the channels before it in n x k numbers. */
struct score_job {
    csr_way x;
    int64_t width;
    double *extra;
    dense_source table;
    const assign_job *all; /* on the device */
    int channel;
    plain_mat score;

    bool pairs() const { return true; }
    static constexpr bool ALONE = false;
    __host__ __device__ static constexpr int quarters(int C) { return C == 8 ? 3 : 4; }
    template <typename S> __host__ __device__ static constexpr int resident() { return S::C <= 2 ? 3 : 1; }

    template <typename S>
    __device__ double span(int64_t, int64_t begin, int64_t end, entry_stream &ahead, double (&acc)[S::C]) const
    {
        add_entries<S>(x, begin, end, ahead, table, width, acc);
        return 0;
    }
    /* Whether there is a channel before. */
    __device__ bool any_before(int64_t row) const
    {
        for (int c = 0; c < channel; c++)
            if (!all->channel[c].present || all->channel[c].present[row]) return true;
        return false;
    }
    __device__ bool counts(int64_t row) const
    {
        const uint8_t *present = all->channel[channel].present;
        return !present || present[row];
    }
    __device__ void join(int64_t row, int64_t j, double sum, bool any) const
    {
        const double *factor = all->channel[channel].factor;
        double *to = score.data + row * score.ld + j;
        *to = joined_score(*all, any, any ? *to : 0.0, factor ? factor[row] * sum : sum);
    }
    template <typename S> __device__ void finish(int64_t row, const double (&acc)[S::C]) const
    {
        if (!counts(row)) return;
        const bool any = any_before(row);
#pragma unroll
        for (int c = 0; c < S::C; c++)
            if (writes<S>() && lane_column<S>(c) < width) join(row, lane_column<S>(c), acc[c], any);
    }

    template <int C> struct near_step : near_sums<C> {
        __device__ near_step(const score_job &, const int32_t (&)[C / 2]) {}
        __device__ double finish(const score_job &job, const int32_t (&rows)[C / 2]) const
        {
            for_sums<C>(rows, this->sum, job.width, [&](int64_t row, int64_t j, double sum) {
                if (job.counts(row)) job.join(row, j, sum, job.any_before(row));
            });
            return 0;
        }
    };
};

static int joined_scores(plx_device *d, const plx_device_assign *q, const assign_job *all, plain_mat score)
{
    for (int64_t c = 0; c < q->n_channels; c++) {
        const plx_device_channel *ch = &q->channel[c];
        const score_job job = {ch->x->plain, q->k, nullptr, source_of(ch->table, q->k), all, (int)c, score};
        if (ch->x->column) TRY(run_slices(d, "assign", job, ch->x, ch->table, q->k, nullptr));
        else TRY(run_sweep(d, "assign", job, job.table.paired, nullptr));
    }
    return PLX_DEVICE_OK;
}

/* A thread for each sample, its k scores one after the other. */
__global__ void label_by_scores(const __grid_constant__ assign_job job, plain_mat score)
{
    assign_sums sums;
    const int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < job.n; i += step) {
        const double *own = score.data + i * score.ld;
        double best = -INFINITY;
        bool any = false;
        int32_t first = -1;
        for (int64_t j = 0; j < job.k; j++) {
            best = fmax(best, own[j]);
            any |= own[j] != 0;
        }
        for (int64_t j = job.k - 1; any && j >= 0; j--)
            if (!(own[j] < best - job.tie)) first = (int32_t)j;
        const int32_t old = job.label[i], now = settled_label(job, i, old, first);
        const double score_of_it = now >= 0 && now < job.k ? own[now] : 0.0;
        count_label(job, i, old, now, first, score_of_it, &sums);
        store_label(job, i, now, score_of_it);
    }
    hand_in(job, warp_of_grid(), {lanes_sum(sums.objective), lanes_sum(sums.flips), lanes_sum(sums.without)});
}

static int assign_by_scores(plx_device *d, const plx_device_assign *q, const assign_job &job, int64_t blocks)
{
    scratch<double> room(d);
    scratch<assign_job> all(d);
    TRY(room.take(q->n * q->k));
    TRY(all.take(1));
    TRY(device_send(d, all.data, &job, 1));
    TRY_CUDA(d, cudaMemsetAsync(room.data, 0, (size_t)(q->n * q->k) * sizeof(double), d->stream));
    const plain_mat score = {room.data, q->n, q->k, q->k};
    TRY(joined_scores(d, q, all.data, score));
    return device_launch(d, "assign", label_by_scores, blocks, THREADS, job, score);
}

static bool some_ranked(const plx_device_assign *q)
{
    for (int64_t c = 0; c < q->n_channels; c++)
        if (q->channel[c].x->column) return true;
    return false;
}

/* ---- the operation ---- */

/* Whether all tables can be read by pairs. */
static bool describe(assign_job *job, const plx_device_assign *q)
{
    bool paired = true;
    for (int64_t c = 0; c < q->n_channels; c++) {
        const plx_device_channel *ch = &q->channel[c];
        job->channel[c] = {ch->x->plain, source_of(ch->table, q->k), buffer_of<uint8_t>(ch->present),
                           buffer_of<double>(q->factor ? q->factor[c] : nullptr)};
        paired &= job->channel[c].table.paired;
    }
    return paired;
}

int cuda_assign(plx_device *d, const plx_device_assign *q)
{
    double sums[3] = {0, 0, 0};
    scratch<double> partial(d);
    TRY(device_enter(d));
    if (q->n_channels > MOST_CHANNELS)
        return device_fail(d, PLX_DEVICE_LIMIT, "an assignment on the device has at most %d channels", MOST_CHANNELS);
    for (int64_t c = 0; c < q->n_channels; c++) TRY(check_width(d, q->channel[c].x, q->k));
    const int run = q->n_channels <= 2 ? rows_in_run(q->n) : 1;
    int64_t blocks = std::min<int64_t>(SUM_BLOCKS * 16, divide_up(divide_up(q->n, run), WARPS));
    if (q->n > 0) {
        TRY(partial.take(3 * (blocks * WARPS + 1)));
        assign_job job = {q->n,
                          q->k,
                          (int)q->n_channels,
                          q->product,
                          q->tie,
                          q->fallback,
                          buffer_of<uint8_t>(q->fixed),
                          (int32_t *)q->label->data,
                          q->own_score ? (double *)q->own_score->data : nullptr,
                          partial.data,
                          {}};
        const bool paired = describe(&job, q);
        if (some_ranked(q)) TRY(assign_by_scores(d, q, job, blocks));
        else
            TRY(with_shape(d, q->k, paired,
                           [&](auto shape) { return launch_assign<decltype(shape)>(d, job, blocks, run); }));
        double *total = partial.data + 3 * blocks * WARPS;
        TRY(sum_partials(d, partial.data, blocks * WARPS, 3, total));
        TRY(device_fetch(d, sums, total, 3));
    }
    *q->objective = sums[0];
    *q->flips = (int64_t)sums[1];
    *q->without = (int64_t)sums[2];
    return PLX_DEVICE_OK;
}
