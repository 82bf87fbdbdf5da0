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

/* All lanes: the scores of sample i joined over its channels; 0 without any. */
template <typename S> __device__ static void joined_scores(const assign_job &job, int64_t i, double (&score)[S::C])
{
    bool any = false;
    clear<S>(score);
    for (int c = 0; c < job.n_channels; c++) {
        const assign_channel &ch = job.channel[c];
        if (ch.present && !ch.present[i]) continue;
        double acc[S::C], factor = ch.factor ? ch.factor[i] : 1.0;
        clear<S>(acc);
        add_entries<S>(ch.x, ch.x.ptr[i], ch.x.ptr[i + 1], ch.table, job.k, acc);
        join_groups<S>(acc);
#pragma unroll
        for (int t = 0; t < S::C; t++) {
            double x = factor * acc[t];
            if (job.product) score[t] = (any ? score[t] : 1.0) * fmax(x, 0.0);
            else score[t] = any ? score[t] + x : x;
        }
        any = true;
    }
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
        int32_t other = __shfl_xor_sync(ALL_LANES, first, s);
        first = other < first ? other : first;
    }
    return first;
}

template <typename S> __global__ void assign_pass(const __grid_constant__ assign_job job)
{
    double objective = 0, flips = 0, without = 0; /* whole numbers below 2^53 are exact */
    for (int64_t i = warp_of_grid(); i < job.n; i += warps_in_grid()) {
        double score[S::C], own = 0;
        joined_scores<S>(job, i, score);
        const int32_t old = job.label[i], best = best_class<S>(job, score);
        const bool stays = job.fixed && job.fixed[i];
        const int32_t now = stays ? old : best < 0 ? job.fallback : best;
#pragma unroll
        for (int t = 0; t < S::C; t++)
            if (lane_column<S>(t) == now && now < job.k) own = score[t];
        own = lanes_sum(own, 1, S::G);
        objective += own;
        flips += now == old ? 0 : old < 0 ? 1 : 2;
        without += !stays && best < 0;
        __syncwarp();
        if (lane_of_thread() == 0) {
            job.label[i] = now;
            if (job.own_score) job.own_score[i] = own;
        }
    }
    if (lane_of_thread() == 0) {
        double *to = job.partial + 3 * warp_of_grid();
        to[0] = objective;
        to[1] = flips;
        to[2] = without;
    }
}

static void describe(assign_job *job, const plx_device_assign *q)
{
    for (int64_t c = 0; c < q->n_channels; c++) {
        const plx_device_channel *ch = &q->channel[c];
        job->channel[c] = {ch->x->plain,
                           {mat_data(ch->table), ch->table.ld},
                           buffer_of<uint8_t>(ch->present),
                           buffer_of<double>(q->factor ? q->factor[c] : nullptr)};
    }
}

int cuda_assign(plx_device *d, const plx_device_assign *q)
{
    double sums[3] = {0, 0, 0};
    scratch<double> partial(d);
    TRY(device_enter(d));
    if (q->n_channels > MOST_CHANNELS)
        return device_fail(d, PLX_DEVICE_LIMIT, "an assignment on the device has at most %d channels", MOST_CHANNELS);
    int64_t blocks = std::min<int64_t>(SUM_BLOCKS * 4, divide_up(q->n, WARPS));
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
        describe(&job, q);
        TRY(with_shape(d, q->k, [&](auto shape) {
            return device_launch(d, "assign", assign_pass<decltype(shape)>, blocks, THREADS, job);
        }));
        double *total = partial.data + 3 * blocks * WARPS;
        TRY(sum_partials(d, partial.data, blocks * WARPS, 3, total));
        TRY(device_fetch(d, sums, total, 3));
    }
    *q->objective = sums[0];
    *q->flips = (int64_t)sums[1];
    *q->without = (int64_t)sums[2];
    return PLX_DEVICE_OK;
}
