/*
 * The E step of mvplsa. Entries o of a row with own vector v: m = u . v for the table's row u of each, r = o/m, and r
 * u is added up. By rows (v = c_i, u = u_f) that is the gain, by columns (v = u_f, u = c_i) the scatter: the same job
 * on the two ways of the matrix.
 *
 * 32 entries at a time: a group of G lanes multiplies G entries with v, lane by lane a column or two, and a butterfly
 * turns the G x G products into one m a lane, its own entry's: G - 1 exchanges for G entries instead of G log G, and
 * division and logarithm run once an entry, on all lanes at a time, not once an entry and lane. The table's values
 * stay in registers for the second use where G x C of them do, and are read again otherwise. In ranked matrices a row is
 * a lane's alone (near.h, lanes.h).
 */
#include "lanes.h"

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

/* o / m, 0 for m below TINY: for moderate m by the hardware's estimate, two steps of Newton's and one for the quotient. */
__device__ static inline double ratio_of(double o, double m)
{
#ifdef PLX_EMULATED
    return m < TINY ? 0.0 : o / m;
#else
    if (!is_moderate(m) || !(fabs(o) < 0x1p200)) return m < TINY ? 0.0 : o / m;
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(m));
    y = fma(y, fma(-m, y, 1.0), y);
    y = fma(y, fma(-m, y, 1.0), y);
    const double q = o * y;
    return fma(fma(-m, q, o), y, q);
#endif
}

/* o log(m): counts up to four become factors of a product. Their words are compared, since comparing doubles takes as
 * long as multiplying them. */
__device__ static inline void add_log(log_sum &sum, double o, double m)
{
    const int high = __double2loint(o) == 0 ? __double2hiint(o) : 0;
    const bool two = high == 0x40000000, three = high == 0x40080000, four = high == 0x40100000;
    const double square = m * m, power = two ? square : three ? square * m : four ? square * square : m;
    if ((two || three || four || high == 0x3ff00000) && is_moderate(m)) sum.multiply(power);
    else sum.sum += o * log(fmax(m, TINY));
}

/* Columns 2 chunk and 2 chunk + 1 of a row; 0 beyond the width. */
__device__ static inline double2 pair_of(const dense_source &from, int64_t row, int chunk, int64_t width)
{
    const int64_t j = 2 * chunk;
    double2 pair = {0, 0};
    if (j < width) pair.x = from.data[row * from.ld + j];
    if (j + 1 < width) pair.y = from.data[row * from.ld + j + 1];
    return pair;
}

__device__ static inline double pair_product(double2 a, double2 b) { return fma(a.y, b.y, a.x * b.x); }

/* The vector of a lane's own row, in the order of its chunks (near.h). */
template <int C>
__device__ static inline void load_own(const dense_source &own, int64_t row, int64_t width, double2 (&v)[C / 2])
{
#pragma unroll
    for (int t = 0; t < C / 2; t++) v[t] = pair_of(own, row, twisted_chunk<C>(t), width);
}

template <int C> __device__ static inline double chunks_product(const double2 (&u)[C / 2], const double2 (&v)[C / 2])
{
    double sum = 0;
#pragma unroll
    for (int t = 0; t < C / 2; t++) sum += pair_product(u[t], v[t]);
    return sum;
}

struct plsa_job {
    csr_way x;
    int64_t width;
    double *extra; /* log-likelihood */
    bool more;
    dense_source table, own;
    plain_mat out; /* data NULL: not wanted */
    bool add;
    feature_rows place; /* of own and out */

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
        load_columns<S>(own, (int32_t)place(row), width, v);
        for (int64_t at = begin; at < end; at += WARP) {
            const int count = end - at < WARP ? (int)(end - at) : (int)WARP;
            const bool inside = lane < count;
            const int32_t mine = ahead.column;
            const double o = ahead.value;
            ahead.load(x, at + count);
            double u[held<S>()][S::C];
            const double m = own_product<S>(v, mine, count, u);
            const double r = inside ? ratio_of(o, m) : 0.0;
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
            double *to = out.data + place(row) * out.ld + j;
            *to = add || more ? *to + acc[c] : acc[c];
        }
    }

    bool pairs() const { return own.paired; }
    __host__ __device__ static constexpr int quarters(int C) { return C == 8 ? 2 : 3; }

    /* By rows of a ranked matrix. */
    static constexpr bool ALONE = true;
    template <int C> struct near_step : near_sums<C> {
        double2 v[C / 2];
        log_sum likelihood;
        __device__ near_step(const plsa_job &job, const int32_t (&rows)[C / 2])
        {
            load_own<C>(job.own, rows[0] < 0 ? 0 : rows[0], job.width, v);
        }
        __device__ void take(const plsa_job &job, const double2 (&u)[C / 2], double o)
        {
            const double m = chunks_product<C>(u, v);
            if (job.extra) add_log(likelihood, o, m);
            if (job.out.data) this->add_scaled(ratio_of(o, m), u);
        }
        __device__ double finish(const plsa_job &job, const int32_t (&rows)[C / 2]) const
        {
            if (rows[0] < 0 || !job.out.data) return likelihood.total();
            double *to = job.out.data + rows[0] * job.out.ld;
#pragma unroll
            for (int t = 0; t < C / 2; t++) {
                const int64_t j = 2 * twisted_chunk<C>(t);
                if (j >= job.width) continue;
                to[j] += this->sum[t].x;
                if (j + 1 < job.width) to[j + 1] += this->sum[t].y;
            }
            return likelihood.total();
        }
    };
};

/* ---- frequent columns ---- */

/* Blocks of fewer threads than those of products have, where a lane's own vector takes more registers. */
template <int C> struct lane_plsa : lane_product<C> { /* table: mixtures of samples */
    static constexpr int THREADS = lane_product<C>::THREADS * (C == 8 ? 2 : C == 4 ? 3 : 4) / 4;
    dense_source own; /* the features' vectors */
    const int32_t *column;

    struct step : lane_product<C>::step {
        double2 v[C / 2];
        __device__ step(const lane_plsa &job, const frequent_columns &f, void *room, int64_t column,
                        const column_sums &sums)
            : lane_product<C>::step(job, f, room, column, sums)
        {
            const int64_t rank = rank_of(f, column);
            load_own<C>(job.own, job.column[rank < f.ranks ? rank : 0], job.width, v);
        }
        __device__ void add(const lane_plsa &, const void *room, int row, double o)
        {
            double2 u[C / 2];
            load_chunks<C>((const double2 *)room + row * (C / 2), u);
            this->add_scaled(ratio_of(o, chunks_product<C>(u, v)), u);
        }
    };
};

struct emit_scatter {
    const int32_t *column;
    plain_mat out;
    __device__ void operator()(int64_t rank, int64_t j, double sum) const { out.data[column[rank] * out.ld + j] = sum; }
};

static int frequent_scatter(plx_device *d, const plx_device_plsa *step)
{
    const plx_device_csr *x = step->counts;
    const int64_t width = step->table.cols;
    return with_near_columns(width, [&](auto columns) {
        lane_plsa<decltype(columns)::value> job;
        job.table = source_of(step->mix, width);
        job.own = source_of(step->table, width);
        job.samples = x->rows;
        job.width = width;
        job.column = x->column;
        return run_lanes(d, "plsa by columns", job, x->frequent, width, emit_scatter{x->column, mat_of(step->scatter)});
    });
}

/* ---- the operation ---- */

static int gain_by_rows(plx_device *d, const plx_device_plsa *step)
{
    const plx_device_csr *x = step->counts;
    const int64_t width = step->table.cols;
    plsa_job job = {x->plain, width, nullptr, false, {}, source_of(step->mix, width), mat_of(step->gain), true, {}};
    if (x->column) return run_slices(d, "plsa by rows", job, x, step->table, width, step->likelihood);
    job.table = source_of(step->table, width);
    return run_sweep(d, "plsa by rows", job, job.table.paired && job.own.paired, step->likelihood);
}

int cuda_plsa(plx_device *d, const plx_device_plsa *step)
{
    const int64_t width = step->table.cols;
    const dense_source u = source_of(step->table, width), c = source_of(step->mix, width);
    TRY(device_enter(d));
    TRY(check_width(d, step->counts, width));
    if (step->gain.buffer || step->likelihood) TRY(gain_by_rows(d, step));
    if (!step->scatter.buffer) return PLX_DEVICE_OK;
    if (step->counts->flipped.empty()) return lacks_transpose(d);
    if (step->counts->frequent.ranks > 0) TRY(frequent_scatter(d, step));
    plsa_job rest = {{}, width, nullptr, false, c, u, mat_of(step->scatter), false, rest_of(step->counts)};
    return run_slabs(d, "plsa by columns", rest, step->counts, u.paired && c.paired);
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
    return device_launch(d, "plsa_mixture", next_mixture, warp_blocks(next.rows), THREADS, q);
}
