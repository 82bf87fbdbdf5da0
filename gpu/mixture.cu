/*
 * The E step of coem. Scores of channels that are refreshed come first, by the product of sparse.cu; then one pass
 * over the samples, G lanes for each, reads n x width scores per channel and writes the weights: 8 width bytes a
 * channel and sample beside 8 an entry. A sample's exponentials are computed a second time instead of being kept, so
 * any number of classes needs few registers. Sums over samples: each lane its own, joined in a fixed order.
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

__device__ static double responsibility(const mixture_job &job, const sample_state &s, double own, double others,
                                        double eta)
{
    if (s.count < 2 || job.joint) return own;
    return (1.0 - eta) * own + eta / ((double)s.count - 1.0) * others;
}

/* One class of one sample: its weight to *weight, the sum of its posteriors is returned. */
__device__ static double take_class(const mixture_job &job, const sample_state &s, int64_t j, double *weight,
                                    double *objective)
{
    double own = 0, others = 0, total = 0;
    for (int c = 0; c < job.n_channels; c++) {
        if (!(s.has >> c & 1)) continue;
        double p = posterior(job, s, c, j);
        total += p;
        if (c == job.target) own = p;
        else others += p;
    }
    *weight = s.has >> job.target & 1 ? responsibility(job, s, own, others, job.eta) : 0.0;
    for (int c = 0; job.measure && c < job.n_channels; c++) {
        if (!(s.has >> c & 1)) continue;
        double p = posterior(job, s, c, j);
        *objective += responsibility(job, s, p, total - p, job.measure_eta) * channel_z(job, s.i, c, j);
    }
    return job.joint && s.count > 0 ? total / s.count : total;
}

template <typename S> __global__ void mixture_pass(const __grid_constant__ mixture_job job)
{
    constexpr int SAMPLES = WARP / S::G;
    const int64_t sums = 2 * job.width + 1 + job.n_channels;
    double prior[S::C], mass[S::C], objective = 0, loglik[MOST_CHANNELS];
    clear<S>(prior);
    clear<S>(mass);
    for (int c = 0; c < MOST_CHANNELS; c++) loglik[c] = 0;
    for (int64_t first = warp_of_grid() * SAMPLES; first < job.n; first += warps_in_grid() * SAMPLES) {
        sample_state s;
        s.i = first + lane_of_thread() / S::G;
        bool inside = s.i < job.n;
        look_at<S>(job, s, inside);
        if (!inside) continue; /* no exchange between lanes from here to the end of the loop */
        for (int c = 0; job.measure && c < job.n_channels; c++)
            if ((s.has >> c & 1) && lane_column<S>(0) == 0) loglik[c] += s.top[c] + log(s.sum[c]);
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
    double *to = job.partial + warp_of_grid() * sums;
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
    for (int c = 0; c < job.n_channels; c++) {
        double total = lanes_sum(loglik[c]);
        if (lane_of_thread() == 0) to[2 * job.width + 1 + c] = total;
    }
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
        TRY(with_shape(d, q->width, [&](auto shape) {
            return device_launch(d, "mixture", mixture_pass<decltype(shape)>, blocks, THREADS, job);
        }));
        double *total = partial.data + blocks * WARPS * sums;
        TRY(sum_partials(d, partial.data, blocks * WARPS, sums, total));
        TRY(device_fetch(d, host, total, sums));
    }
    hand_out(q, host);
    return PLX_DEVICE_OK;
}
