/*
 * The E step of mvplsa. Entries o of a row with own vector v: m = u . v for the table's row u of each, r = o/m, and r
 * u is added up. By rows (v = c_i, u = u_f) that is the gain, by columns (v = u_f, u = c_i) the scatter: the same job
 * on the two ways of the matrix.
 *
 * 32 entries at a time: a group of G lanes multiplies G entries with v, lane by lane a column or two, and a butterfly
 * turns the G x G products into one m a lane, its own entry's: G - 1 exchanges for G entries instead of G log G, and
 * division and logarithm run once an entry, on all lanes at a time, not once an entry and lane. The table's values
 * stay in registers for the second use where G x C of them do, and are read again otherwise.
 */
#include "sweep.h"

static const double TINY = 1e-300;

/* One turn of the butterfly: half of the sums go to the lane that differs in bit H, its half is added to ours. Written by
 * recursion, since all indices must be constants for p to stay in registers. */
template <int H> __device__ static inline void exchange_halves(double *p, bool upper)
{
#pragma unroll
    for (int t = 0; t < H; t++) {
        const double low = p[t], high = p[t + H];
        p[t] = (upper ? high : low) + __shfl_xor_sync(ALL_LANES, upper ? low : high, H);
    }
}

/* p[l] summed over the lanes of a group, for l the lane's own number. All lanes come; p is used up. */
template <int G> __device__ static inline double butterfly(double *p)
{
    if constexpr (G > 1) {
        exchange_halves<G / 2>(p, (lane_of_thread() & G / 2) != 0);
        return butterfly<G / 2>(p);
    }
    return p[0];
}

struct plsa_job {
    csr_way x;
    int64_t width;
    double *extra; /* log-likelihood */
    bool more;
    dense_source table, own;
    plain_mat out; /* data NULL: not wanted */
    bool add;

    template <typename S> __host__ __device__ static constexpr int resident()
    {
        return S::C > 2 || S::G > 8 ? 1 : S::G > 4 ? 2 : 3;
    }
    /* Rows of the table a lane holds at a time: all of a group's entries, or one. */
    template <typename S> __host__ __device__ static constexpr int held()
    {
        return S::C <= S::V && S::G <= 16 ? S::G : 1;
    }
    /* Turns of the loops over a group's entries that are written out: with several columns a lane there is work enough
     * in one, and 32 x 32 of them would take the assembler minutes. */
    template <typename S> __host__ __device__ static constexpr int unrolled() { return S::C <= 2 ? S::G : 1; }

    /* Rows of the table for the entries number t and on of the group. */
    template <typename S> __device__ void load_rows(int t, int32_t mine, int count, double (&u)[held<S>()][S::C]) const
    {
        const int base = lane_of_thread() / S::G * S::G;
#pragma unroll
        for (int h = 0; h < held<S>(); h++) {
            const int32_t column = __shfl_sync(ALL_LANES, mine, base + t + h);
            load_columns<S>(table, column, base + t + h < count ? width : 0, u[h]);
        }
    }

    /* Products of the group's G entries with v, turned: the lane's own. `u` has what was loaded last. */
    template <typename S>
    __device__ double own_product(const double (&v)[S::C], int32_t mine, int count, double (&u)[held<S>()][S::C]) const
    {
        double p[S::G];
#pragma unroll(unrolled <S>())
        for (int t = 0; t < S::G; t += held<S>()) {
            load_rows<S>(t, mine, count, u);
#pragma unroll
            for (int h = 0; h < held<S>(); h++) {
                p[t + h] = 0;
#pragma unroll
                for (int c = 0; c < S::C; c++)
                    if (lane_column<S>(c) < width) p[t + h] = fma(u[h][c], v[c], p[t + h]);
            }
        }
        return butterfly<S::G>(p);
    }

    template <typename S> __device__ void add_scaled(double r, int32_t mine, int count, double (&u)[held<S>()][S::C],
                                                     double (&acc)[S::C]) const
    {
        const int base = lane_of_thread() / S::G * S::G;
#pragma unroll(unrolled <S>())
        for (int t = 0; t < S::G; t += held<S>()) {
            if (held<S>() < S::G) load_rows<S>(t, mine, count, u);
#pragma unroll
            for (int h = 0; h < held<S>(); h++) {
                const double factor = __shfl_sync(ALL_LANES, r, base + t + h);
#pragma unroll
                for (int c = 0; c < S::C; c++) acc[c] = fma(factor, u[h][c], acc[c]);
            }
        }
    }

    template <typename S>
    __device__ double span(int64_t row, int64_t begin, int64_t end, entry_stream &ahead, double (&acc)[S::C]) const
    {
        const int lane = lane_of_thread();
        double v[S::C], likelihood = 0;
        load_columns<S>(own, (int32_t)row, width, v);
        for (int64_t at = begin; at < end; at += WARP) {
            const int count = end - at < WARP ? (int)(end - at) : (int)WARP;
            const bool inside = lane < count;
            const int32_t mine = ahead.column;
            const double o = ahead.value;
            ahead.load(x, at + count);
            double u[held<S>()][S::C];
            const double m = own_product<S>(v, mine, count, u);
            const double r = inside && !(m < TINY) ? o / m : 0.0;
            if (inside && extra) likelihood += o * log(fmax(m, TINY));
            if (out.data) add_scaled<S>(r, mine, count, u, acc);
        }
        return likelihood;
    }

    template <typename S> __device__ void finish(int64_t row, const double (&acc)[S::C]) const
    {
#pragma unroll
        for (int c = 0; c < S::C; c++) {
            const int64_t j = lane_column<S>(c);
            if (!out.data || !writes<S>() || j >= width) continue;
            double *to = out.data + row * out.ld + j;
            *to = add || more ? *to + acc[c] : acc[c];
        }
    }
};

int cuda_plsa(plx_device *d, const plx_device_plsa *step)
{
    const int64_t width = step->table.cols;
    dense_source u = source_of(step->table, width), c = source_of(step->mix, width);
    const bool paired = u.paired && c.paired;
    TRY(device_enter(d));
    if (step->gain.buffer || step->likelihood) {
        plsa_job rows = {step->counts->plain, width, nullptr, false, u, c, mat_of(step->gain), true};
        TRY(run_sweep(d, "plsa by rows", rows, paired, step->likelihood));
    }
    if (!step->scatter.buffer) return PLX_DEVICE_OK;
    if (step->counts->flipped.empty()) return lacks_transpose(d);
    plsa_job columns = {{}, width, nullptr, false, c, u, mat_of(step->scatter), false};
    return run_slabs(d, "plsa by columns", columns, step->counts, paired);
}

/* ---- the mixtures of the samples ---- */

struct next_job {
    plain_mat next, mix, gain;
    const int32_t *label;
    double flush;
};

/* A warp for each row. */
__global__ void next_mixture(next_job q)
{
    for (int64_t i = warp_of_grid(); i < q.next.rows; i += warps_in_grid()) {
        const double *c = q.mix.data + i * q.mix.ld, *g = q.gain.data + i * q.gain.ld;
        double *to = q.next.data + i * q.next.ld, sum = 0;
        for (int64_t j = lane_of_thread(); j < q.next.cols; j += WARP) sum += c[j] * g[j];
        sum = lanes_sum(sum);
        const bool keeps = (q.label && q.label[i] >= 0) || !(sum > 0);
        for (int64_t j = lane_of_thread(); j < q.next.cols; j += WARP) {
            double value = keeps ? c[j] : c[j] * g[j] / sum;
            to[j] = !keeps && value < q.flush ? 0.0 : value;
        }
    }
}

int cuda_plsa_mixture(plx_device *d, plx_device_mat next, plx_device_mat mix, plx_device_mat gain,
                      const plx_device_buffer *label, double flush)
{
    TRY(device_enter(d));
    next_job q = {mat_of(next), mat_of(mix), mat_of(gain), buffer_of<int32_t>(label), flush};
    return device_launch(d, "plsa_mixture", next_mixture, sweep_blocks(next.rows), THREADS, q);
}
