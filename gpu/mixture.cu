/*
 * The E step of coem. Scores of channels that are refreshed come first, by the product of sparse.cu; then one pass
 * over the samples, G lanes for each, reads n x width scores per channel and writes the weights: 8 width bytes a
 * channel and sample beside 8 an entry. With few channels and classes a sample's posteriors stay in registers
 * (mixture_few); otherwise its exponentials are computed a second time instead of being kept. Sums over samples: each
 * lane its own, joined in a fixed order.
 */
#include "sweep.h"

struct mixture_channel {
    const double *score;
    int64_t ld;
    const uint8_t *present;
    const double *log_prior;
};

struct mixture_job {
    int64_t n, width;
    int n_channels, joint, target, measure;
    double eta, measure_eta;
    const int32_t *label;
    plain_mat weights;
    double *partial; /* warps x (prior, mass, objective, loglik) */
    mixture_channel channel[MOST_CHANNELS];
};

/* What is known of one sample: which channels, and the normaliser of each. */
struct sample_state {
    int64_t i;
    int count, first, label;
    unsigned has; /* bits */
    double top[MOST_CHANNELS], sum[MOST_CHANNELS], joint_top, joint_sum;
};

__device__ static double channel_z(const mixture_job &job, int64_t i, int c, int64_t j)
{
    const mixture_channel &ch = job.channel[c];
    return ch.log_prior[j] + ch.score[i * ch.ld + j];
}

/* log_prior of the first channel and the scores of all, in the order of the channels. */
__device__ static double joint_z(const mixture_job &job, const sample_state &s, int64_t j)
{
    double z = 0;
    for (int c = s.first; c < job.n_channels; c++)
        if (s.has >> c & 1)
            z = c == s.first ? channel_z(job, s.i, c, j) : z + job.channel[c].score[s.i * job.channel[c].ld + j];
    return z;
}

/* All lanes: largest and sum of exp(z - largest) over the group. `wanted`: the sample has it. */
template <typename S, typename Z>
__device__ static void normalise(const mixture_job &job, bool wanted, const Z &z, double *top, double *sum)
{
    double largest = -INFINITY, total = 0;
    for (int64_t j = lane_column<S>(0); wanted && j < job.width; j += S::G) largest = fmax(largest, z(j));
    *top = lanes_max(largest, S::G);
    for (int64_t j = lane_column<S>(0); wanted && j < job.width; j += S::G) total += exp(z(j) - *top);
    *sum = lanes_sum(total, 1, S::G);
}

template <typename S> __device__ static void look_at(const mixture_job &job, sample_state &s, bool inside)
{
    s.count = 0;
    s.has = 0;
    s.first = job.n_channels;
    s.label = inside ? job.label[s.i] : -1;
    for (int c = 0; c < job.n_channels; c++) {
        const mixture_channel &ch = job.channel[c];
        bool has = inside && (!ch.present || ch.present[s.i]);
        if (has && s.count++ == 0) s.first = c;
        s.has |= (unsigned)has << c;
        normalise<S>(
            job, has, [&](int64_t j) { return channel_z(job, s.i, c, j); }, &s.top[c], &s.sum[c]);
    }
    if (job.joint)
        normalise<S>(
            job, s.count > 0, [&](int64_t j) { return joint_z(job, s, j); }, &s.joint_top, &s.joint_sum);
}

__device__ static double posterior(const mixture_job &job, const sample_state &s, int c, int64_t j)
{
    if (s.label >= 0) return j == s.label ? 1.0 : 0.0;
    if (job.joint) return exp(joint_z(job, s, j) - s.joint_top) / s.joint_sum;
    return exp(channel_z(job, s.i, c, j) - s.top[c]) / s.sum[c];
}

/* `alone`: of a sample with one channel, or of one posterior for all. */
__device__ static double responsibility(bool alone, int count, double own, double others, double eta)
{
    return alone ? own : (1.0 - eta) * own + eta / ((double)count - 1.0) * others;
}

/* One class of one sample: its weight to *weight, the sum of its posteriors is returned. */
__device__ static double take_class(const mixture_job &job, const sample_state &s, int64_t j, double *weight,
                                    double *objective)
{
    const bool alone = s.count < 2 || job.joint;
    double own = 0, others = 0, total = 0;
    for (int c = 0; c < job.n_channels; c++) {
        if (!(s.has >> c & 1)) continue;
        double p = posterior(job, s, c, j);
        total += p;
        if (c == job.target) own = p;
        else others += p;
    }
    *weight = s.has >> job.target & 1 ? responsibility(alone, s.count, own, others, job.eta) : 0.0;
    for (int c = 0; job.measure && c < job.n_channels; c++) {
        if (!(s.has >> c & 1)) continue;
        double p = posterior(job, s, c, j);
        *objective += responsibility(alone, s.count, p, total - p, job.measure_eta) * channel_z(job, s.i, c, j);
    }
    return job.joint && s.count > 0 ? total / s.count : total;
}

/* What a warp has summed up goes to its row of the partial sums. All lanes come. */
template <typename S>
__device__ static void hand_in(const mixture_job &job, double (&prior)[S::C], double (&mass)[S::C], double objective)
{
    double *to = job.partial + warp_of_grid() * (2 * job.width + 1 + job.n_channels);
    join_groups<S>(prior);
    join_groups<S>(mass);
#pragma unroll
    for (int c = 0; c < S::C; c++) {
        const int64_t j = lane_column<S>(c);
        if (!writes<S>() || j >= job.width) continue;
        to[j] = prior[c];
        to[job.width + j] = mass[c];
    }
    objective = lanes_sum(objective);
    if (lane_of_thread() == 0) to[2 * job.width] = objective;
}

__device__ static void hand_in_loglik(const mixture_job &job, int c, double loglik)
{
    const int64_t sums = 2 * job.width + 1 + job.n_channels;
    loglik = lanes_sum(loglik);
    if (lane_of_thread() == 0) job.partial[warp_of_grid() * sums + 2 * job.width + 1 + c] = loglik;
}

template <typename S> __global__ void mixture_pass(const __grid_constant__ mixture_job job)
{
    double prior[S::C], mass[S::C], objective = 0;
    log_sum loglik[MOST_CHANNELS];
    clear<S>(prior);
    clear<S>(mass);
    for (int64_t first = warp_of_grid() * S::GROUPS; first < job.n; first += warps_in_grid() * S::GROUPS) {
        sample_state s;
        s.i = first + lane_of_thread() / S::G;
        bool inside = s.i < job.n;
        look_at<S>(job, s, inside);
        if (!inside) continue; /* no exchange between lanes from here to the end of the loop */
        for (int c = 0; job.measure && c < job.n_channels; c++)
            if ((s.has >> c & 1) && lane_column<S>(0) == 0) loglik[c].add(s.top[c], s.sum[c]);
#pragma unroll
        for (int c = 0; c < S::C; c++) {
            const int64_t j = lane_column<S>(c);
            if (j >= job.width) continue;
            double weight;
            prior[c] += take_class(job, s, j, &weight, &objective);
            mass[c] += weight;
            job.weights.data[s.i * job.weights.ld + j] = weight;
        }
    }
    hand_in<S>(job, prior, mass, objective);
    for (int c = 0; c < job.n_channels; c++) hand_in_loglik(job, c, loglik[c].total());
}

/* ---- few channels and classes ---- */

enum { FEW_CHANNELS = 4, FEW_CLASSES = 64 };

/* z and the posteriors of one channel; *top and *sum its normaliser. All lanes come. */
template <typename S> __device__ static void channel_posteriors(const mixture_job &job, int c, int64_t i, bool there,
                                                                int label, double (&z)[S::C], double (&p)[S::C],
                                                                double *top, double *sum)
{
    double total = 0;
    *top = -INFINITY;
#pragma unroll
    for (int t = 0; t < S::C; t++) {
        const int64_t j = lane_column<S>(t);
        z[t] = there && j < job.width ? channel_z(job, i, c, j) : -INFINITY;
        *top = fmax(*top, z[t]);
    }
    *top = lanes_max(*top, S::G);
#pragma unroll
    for (int t = 0; t < S::C; t++) {
        p[t] = there && lane_column<S>(t) < job.width ? exp(z[t] - *top) : 0.0;
        total += p[t];
    }
    *sum = lanes_sum(total, 1, S::G);
#pragma unroll
    for (int t = 0; t < S::C; t++) p[t] = label < 0 ? p[t] / *sum : there && lane_column<S>(t) == label ? 1.0 : 0.0;
}

/* As mixture_pass, one posterior per channel. */
template <typename S, int CHANNELS> __global__ void mixture_few(const __grid_constant__ mixture_job job)
{
    double prior[S::C], mass[S::C], objective = 0;
    log_sum loglik[CHANNELS];
    clear<S>(prior);
    clear<S>(mass);
    for (int64_t first = warp_of_grid() * S::GROUPS; first < job.n; first += warps_in_grid() * S::GROUPS) {
        const int64_t i = first + lane_of_thread() / S::G;
        const int label = i < job.n ? job.label[i] : -1;
        double z[CHANNELS][S::C], p[CHANNELS][S::C];
        bool has[CHANNELS];
        int count = 0;
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            const mixture_channel &ch = job.channel[c];
            double top, sum;
            has[c] = i < job.n && c < job.n_channels && (!ch.present || ch.present[i]);
            channel_posteriors<S>(job, c, i, has[c], label, z[c], p[c], &top, &sum);
            count += has[c];
            if (has[c] && job.measure && lane_column<S>(0) == 0) loglik[c].add(top, sum);
        }
#pragma unroll
        for (int t = 0; t < S::C; t++) {
            const int64_t j = lane_column<S>(t);
            double own = 0, others = 0, total = 0, weight = 0;
            bool targeted = false;
            if (i >= job.n || j >= job.width) continue;
#pragma unroll
            for (int c = 0; c < CHANNELS; c++) {
                if (!has[c]) continue;
                total += p[c][t];
                if (c == job.target) own = p[c][t];
                else others += p[c][t];
                targeted |= c == job.target;
            }
            if (targeted) weight = responsibility(count < 2, count, own, others, job.eta);
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                if (has[c] && job.measure)
                    objective += responsibility(count < 2, count, p[c][t], total - p[c][t], job.measure_eta) * z[c][t];
            prior[t] += total;
            mass[t] += weight;
            job.weights.data[i * job.weights.ld + j] = weight;
        }
    }
    hand_in<S>(job, prior, mass, objective);
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
        if (c < job.n_channels) hand_in_loglik(job, c, loglik[c].total());
}

template <typename S> static int launch_mixture(plx_device *d, int64_t blocks, const mixture_job &job)
{
    if constexpr (S::G * S::C <= FEW_CLASSES) {
        if (!job.joint && job.n_channels <= 2)
            return device_launch(d, "mixture", mixture_few<S, 2>, blocks, THREADS, job);
        if (!job.joint && job.n_channels <= FEW_CHANNELS)
            return device_launch(d, "mixture", mixture_few<S, FEW_CHANNELS>, blocks, THREADS, job);
    }
    return device_launch(d, "mixture", mixture_pass<S>, blocks, THREADS, job);
}

/* ---- the operation ---- */

static int refresh_scores(plx_device *d, const plx_device_mixture *q)
{
    for (int64_t c = 0; c < q->n_channels; c++) {
        const plx_device_channel *ch = &q->channel[c];
        if (ch->refresh) TRY(cuda_spmm(d, 1.0, ch->x, PLX_DEVICE_PLAIN, ch->table, 0.0, ch->score));
    }
    return PLX_DEVICE_OK;
}

static int send_priors(plx_device *d, mixture_job *job, const plx_device_mixture *q, double *priors)
{
    for (int64_t c = 0; c < q->n_channels; c++) {
        const plx_device_channel *ch = &q->channel[c];
        TRY(device_send(d, priors + c * q->width, ch->log_prior, q->width));
        job->channel[c] = {mat_data(ch->score), ch->score.ld, buffer_of<uint8_t>(ch->present), priors + c * q->width};
    }
    return PLX_DEVICE_OK;
}

static void hand_out(const plx_device_mixture *q, const double *sums)
{
    for (int64_t j = 0; j < q->width; j++) {
        q->prior[j] = sums[j];
        q->mass[j] = sums[q->width + j];
    }
    *q->objective = sums[2 * q->width];
    for (int64_t c = 0; c < q->n_channels; c++) q->loglik[c] = sums[2 * q->width + 1 + c];
}

int cuda_mixture(plx_device *d, const plx_device_mixture *q)
{
    const int64_t sums = 2 * q->width + 1 + q->n_channels;
    double host[2 * MOST_WIDTH + 1 + MOST_CHANNELS] = {0};
    scratch<double> priors(d), partial(d);
    TRY(device_enter(d));
    if (q->n_channels > MOST_CHANNELS || q->width > MOST_WIDTH)
        return device_fail(d, PLX_DEVICE_LIMIT, "a mixture on the device has at most %d channels and %d classes",
                           MOST_CHANNELS, MOST_WIDTH);
    TRY(refresh_scores(d, q));
    int64_t blocks = std::min<int64_t>(SUM_BLOCKS, divide_up(q->n, WARPS));
    if (q->n > 0 && q->width > 0) {
        mixture_job job = {
            q->n,   q->width,       (int)q->n_channels,           q->joint,           (int)q->target, q->measure,
            q->eta, q->measure_eta, buffer_of<int32_t>(q->label), mat_of(q->weights), nullptr,        {}};
        TRY(priors.take(q->n_channels * q->width));
        TRY(partial.take((blocks * WARPS + 1) * sums));
        TRY(send_priors(d, &job, q, priors.data));
        job.partial = partial.data;
        TRY(with_single_shape(d, q->width,
                              [&](auto shape) { return launch_mixture<decltype(shape)>(d, blocks, job); }));
        double *total = partial.data + blocks * WARPS * sums;
        TRY(sum_partials(d, partial.data, blocks * WARPS, sums, total));
        TRY(device_fetch(d, host, total, sums));
    }
    hand_out(q, host);
    return PLX_DEVICE_OK;
}
