/*
 * Assignment of mvkmeans: a warp takes a sample, adds up its row of every channel (sweep.h), joins the scores and
 * picks a class; nothing of width k goes through memory. 8 bytes an entry, 8 k from the caches.
 */
#include "sweep.h"

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
    for (int t = 0; t < S::C; t++) {
        double x = factor * acc[t];
        if (job.product) score[t] = (any ? score[t] : 1.0) * fmax(x, 0.0);
        else score[t] = any ? score[t] + x : x;
    }
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

/* All lanes: the label of sample i from its scores. */
template <typename S>
__device__ static void label_sample(const assign_job &job, int64_t i, const double (&score)[S::C], assign_sums *sums)
{
    double own = 0;
    const int32_t old = job.label[i], best = best_class<S>(job, score);
    const bool stays = job.fixed && job.fixed[i];
    const int32_t now = stays ? old : best < 0 ? job.fallback : best;
#pragma unroll
    for (int t = 0; t < S::C; t++)
        if (lane_column<S>(t) == now && now < job.k) own = score[t];
    own = lanes_sum(own, 1, S::G);
    sums->objective += own;
    sums->flips += now == old ? 0 : old < 0 ? 1 : 2;
    sums->without += !stays && best < 0;
    __syncwarp();
    if (lane_of_thread() != 0) return;
    job.label[i] = now;
    if (job.own_score) job.own_score[i] = own;
}

__device__ static void hand_in(const assign_job &job, const assign_sums &sums)
{
    double *to = job.partial + 3 * warp_of_grid();
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
    hand_in(job, sums);
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
    hand_in(job, sums);
}

template <typename S> static int launch_assign(plx_device *d, const assign_job &job, int64_t blocks, int run)
{
    if (job.n_channels == 1) return device_launch(d, "assign", assign_ahead<S, 1>, blocks, THREADS, job, run);
    if (job.n_channels == 2) return device_launch(d, "assign", assign_ahead<S, 2>, blocks, THREADS, job, run);
    return device_launch(d, "assign", assign_pass<S>, blocks, THREADS, job);
}

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
