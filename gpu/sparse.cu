/*
 * Products of sparse matrices with dense ones, and sums of rows by class: both are sums over the entries of a row, in
 * the transpose those of a feature.
 */
#include "lanes.h"

enum { CLASS_PANEL = 16, NO_CLASS = 0xffff };

/* What ranked matrices take beside: a table in the order of ranks, sums of frequent columns, scores of an assignment. */
static int64_t ranked_bytes(plx_device *d, int64_t rows, int64_t entries, int64_t width)
{
    return 8 * (NEAR_COLUMNS * (entries / d->ranked.share) + rows * width) + lane_bytes(d);
}

/* Segments of long rows and the extra sums of all warps (sweep.h); sums of the passes over samples (mixture.cu). A class
 * sum has the width of a panel at least. */
int64_t sweep_bytes(plx_device *d, int64_t rows, int64_t entries, int64_t width)
{
    const int64_t warps = (int64_t)SUM_BLOCKS * 16 * WARPS;
    int64_t segments = 2 * (entries / LONG_PIECE + 1);
    return 8 * (segments * (width + 1) + warps) + 8 * (int64_t)SUM_BLOCKS * WARPS * (2 * width + 1 + MOST_CHANNELS) +
           8 * (MOST_CHANNELS + 2) * width + 2 * rows +
           (entries >= d->ranked.entries && width <= NEAR_COLUMNS ? ranked_bytes(d, rows, entries, width) : 0);
}

/* ---- tables of ranked matrices ---- */

__global__ void lay_by_rank(const double *table, int64_t ld, int64_t width, const int32_t *column, int64_t ranks,
                            double *out, int64_t out_ld)
{
    const int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t t = (int64_t)blockIdx.x * THREADS + threadIdx.x; t < ranks * out_ld; t += step) {
        const int64_t j = t % out_ld;
        out[t] = j < width ? table[column[t / out_ld] * ld + j] : 0.0;
    }
}

int table_for(plx_device *d, const plx_device_csr *x, plx_device_mat table, int64_t width, scratch<double> &room,
              dense_source *out)
{
    const int64_t ld = divide_up(width, 2) * 2, numbers = x->cols * ld;
    *out = source_of(table, width);
    if (!x->column) return PLX_DEVICE_OK;
    TRY(room.take(numbers));
    *out = {room.data, ld, true};
    return device_launch(d, "lay_by_rank", lay_by_rank, thread_blocks(numbers), THREADS,
                         (const double *)mat_data(table), table.ld, width, (const int32_t *)x->column, x->cols,
                         room.data, ld);
}

/* ---- product with a matrix ---- */

/* With beta 0 what stands there is not read. */
__device__ static inline void put_product(double *to, double alpha, double sum, double beta)
{
    *to = beta == 0 ? alpha * sum : fma(alpha, sum, beta * *to);
}

struct product_job {
    csr_way x;
    int64_t width;
    double *extra;
    bool more;
    double alpha, beta;
    dense_source table;
    plain_mat c;
    feature_rows place;

    template <typename S> __host__ __device__ static constexpr int resident()
    {
        return S::C == 2 ? 4 : S::C == 1 ? 3 : 1;
    }

    template <typename S>
    __device__ double span(int64_t, int64_t begin, int64_t end, entry_stream &ahead, double (&acc)[S::C]) const
    {
        add_entries<S>(x, begin, end, ahead, table, width, acc);
        return 0;
    }

    template <typename S> __device__ void finish(int64_t row, const double (&acc)[S::C]) const
    {
#pragma unroll
        for (int i = 0; i < S::C; i++) {
            const int64_t j = lane_column<S>(i);
            if (!writes<S>() || j >= width) continue;
            double *to = c.data + place(row) * c.ld + j;
            if (more) *to = fma(alpha, acc[i], *to);
            else put_product(to, alpha, acc[i], beta);
        }
    }

    bool pairs() const { return true; }
    static constexpr bool ALONE = false;
    __host__ __device__ static constexpr int quarters(int C) { return C == 8 ? 3 : 4; }

    template <int C> struct near_step : near_sums<C> {
        __device__ near_step(const product_job &, const int32_t (&)[C / 2]) {}
        __device__ double finish(const product_job &job, const int32_t (&rows)[C / 2]) const
        {
            for_sums<C>(rows, this->sum, job.width, [&](int64_t row, int64_t j, double sum) {
                put_product(job.c.data + row * job.c.ld + j, job.alpha, sum, job.beta);
            });
            return 0;
        }
    };
};

struct emit_product {
    double alpha, beta;
    const int32_t *column;
    plain_mat c;
    __device__ void operator()(int64_t rank, int64_t j, double sum) const
    {
        put_product(c.data + column[rank] * c.ld + j, alpha, sum, beta);
    }
};

static int frequent_product(plx_device *d, double alpha, const plx_device_csr *a, plx_device_mat b, double beta,
                            plx_device_mat c)
{
    return with_near_columns(c.cols, [&](auto columns) {
        lane_product<decltype(columns)::value> job;
        job.table = source_of(b, c.cols);
        job.samples = a->rows;
        job.width = c.cols;
        return run_lanes(d, "spmm", job, a->frequent, c.cols, emit_product{alpha, beta, a->column, mat_of(c)});
    });
}

static int ranked_product(plx_device *d, double alpha, const plx_device_csr *a, plx_device_mat b, double beta,
                          plx_device_mat c)
{
    const product_job job = {a->plain, c.cols, nullptr, false, alpha, beta, {}, mat_of(c), {}};
    return run_slices(d, "spmm", job, a, b, c.cols, nullptr);
}

/* Any number of columns: panels of at most 256 each. */
int cuda_spmm(plx_device *d, double alpha, const plx_device_csr *a, plx_device_trans ta, plx_device_mat b, double beta,
              plx_device_mat c)
{
    const int64_t panel = 256;
    TRY(device_enter(d));
    if (c.rows == 0 || c.cols == 0) return PLX_DEVICE_OK;
    if (ta == PLX_DEVICE_TRANSPOSED && a->flipped.empty()) return lacks_transpose(d);
    TRY(check_width(d, a, c.cols));
    if (ta == PLX_DEVICE_PLAIN && a->column) return ranked_product(d, alpha, a, b, beta, c);
    if (ta == PLX_DEVICE_TRANSPOSED) TRY(frequent_product(d, alpha, a, b, beta, c));
    for (int64_t j = 0; j < c.cols; j += panel) {
        plain_mat to = {mat_data(c) + j, c.rows, std::min(panel, c.cols - j), c.ld};
        plx_device_mat part = b;
        part.offset += j;
        product_job job = {a->plain, to.cols, nullptr, false, alpha, beta, source_of(part, to.cols), to, {}};
        if (ta == PLX_DEVICE_TRANSPOSED) job.place = rest_of(a);
        if (ta == PLX_DEVICE_TRANSPOSED) TRY(run_slabs(d, "spmm", job, a, job.table.paired));
        else TRY(run_sweep(d, "spmm", job, job.table.paired, nullptr));
    }
    return PLX_DEVICE_OK;
}

/* ---- sums by class ---- */

/*
 * A warp takes a feature and keeps sums for every class of a panel in shared memory, one a lane, so that lanes do not
 * meet: a lane adds its entries in their order, and the lanes are added up in a fixed order in the end.
 */
struct class_job {
    csr_way x; /* by columns: rows are features */
    int64_t width;
    bool more;
    const uint16_t *label; /* NO_CLASS: none */
    const double *factor;
    int first; /* class of column 0 */
    plain_mat out;
    feature_rows place;
};

typedef double lane_sums[WARP];

__device__ static void add_classes(const class_job &job, int64_t begin, int64_t end, entry_stream &ahead,
                                   lane_sums *sums)
{
    const int lane = lane_of_thread();
    for (int64_t at = begin; at < end; at += WARP) {
        const int count = end - at < WARP ? (int)(end - at) : (int)WARP;
        const int32_t row = ahead.column;
        double value = ahead.value;
        ahead.load(job.x, at + count);
        if (lane >= count) continue; /* no exchange between lanes */
        const int c = (int)job.label[row] - job.first;
        if (c < 0 || c >= job.width) continue;
        if (job.factor) value *= job.factor[row];
        sums[c][lane] += value;
    }
    __syncwarp();
}

/* The sum of class lane % PANEL over the lanes, which are 0 afterwards. Several lanes share a class, each adds up PANEL
 * of its numbers, beginning at different ones, so that they do not meet in a bank. */
template <int PANEL> __device__ static double take_class_sum(lane_sums *sums)
{
    const int lane = lane_of_thread(), c = lane % PANEL, part = lane / PANEL;
    double sum = 0;
#pragma unroll
    for (int t = 0; t < PANEL; t++) {
        double *at = &sums[c][part * PANEL + (t + lane) % PANEL];
        sum += *at;
        *at = 0;
    }
    __syncwarp();
    return lanes_sum(sum, PANEL);
}

/* Whole features go to `out`; PLACED: where job.place says. */
template <int PANEL, bool PLACED> __global__ void class_rows(class_job job, int run)
{
    __shared__ double room[WARPS][PANEL][WARP];
    lane_sums *sums = room[warp_of_block()];
    const int lane = lane_of_thread();
    for (int c = 0; c < PANEL; c++) sums[c][lane] = 0;
    __syncwarp();
    for (int64_t first = warp_of_grid() * run; first < job.x.rows; first += warps_in_grid() * run) {
        const row_run rows(job.x, first, run);
        entry_stream ahead = stream_from(job.x, rows.start(0), rows.start(rows.count));
        for (int r = 0; r < rows.count; r++) {
            const int64_t begin = rows.start(r), end = rows.start(r + 1);
            if (end - begin > job.x.longest) {
                ahead.load(job.x, end);
                continue;
            }
            add_classes(job, begin, end, ahead, sums);
            const double sum = take_class_sum<PANEL>(sums);
            double *to = job.out.data + (job.first + lane) * job.out.ld + (PLACED ? job.place(first + r) : first + r);
            if (lane < job.width) *to = job.more ? *to + sum : sum;
        }
    }
}

/* Segments of long ones to partial. */
template <int PANEL> __global__ void class_segments(class_job job, double *partial)
{
    __shared__ double room[WARPS][PANEL][WARP];
    lane_sums *sums = room[warp_of_block()];
    const int lane = lane_of_thread();
    for (int c = 0; c < PANEL; c++) sums[c][lane] = 0;
    __syncwarp();
    for (int64_t s = warp_of_grid(); s < job.x.n_segments; s += warps_in_grid()) {
        const row_segment part = job.x.segments[s];
        entry_stream ahead = stream_from(job.x, part.begin, part.end);
        add_classes(job, part.begin, part.end, ahead, sums);
        const double sum = take_class_sum<PANEL>(sums);
        if (lane < job.width) partial[s * job.width + lane] = sum;
    }
}

__global__ void class_longs(class_job job, const double *partial)
{
    for (int64_t l = warp_of_grid(); l < job.x.n_long; l += warps_in_grid()) {
        const long_row one = job.x.longs[l];
        for (int64_t j = lane_of_thread(); j < job.width; j += WARP) {
            double sum = 0, *to = job.out.data + (job.first + j) * job.out.ld + job.place(one.row);
            for (int64_t s = one.first; s < one.first + one.count; s++) sum += partial[s * job.width + j];
            *to = job.more ? *to + sum : sum;
        }
    }
}

/* Two bytes a sample: those of a slab stay in the first-level cache. */
__global__ void short_labels(const int32_t *label, uint16_t *to, int64_t n, int64_t k)
{
    const int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += step)
        to[i] = label[i] >= 0 && label[i] < k ? (uint16_t)label[i] : (uint16_t)NO_CLASS;
}

template <int PANEL, bool PLACED> static int class_slab(plx_device *d, const class_job &job)
{
    scratch<double> partial(d);
    const int run = rows_in_run(job.x.rows);
    const int64_t segments = job.x.n_segments;
    TRY(device_launch(d, "class_sums", class_rows<PANEL, PLACED>, warp_blocks(divide_up(job.x.rows, run)), THREADS, job,
                      run));
    if (segments == 0) return PLX_DEVICE_OK;
    TRY(partial.take(segments * job.width));
    TRY(device_launch(d, "class_sums", class_segments<PANEL>, warp_blocks(segments), THREADS, job, partial.data));
    return device_launch(d, "class_sums", class_longs, warp_blocks(job.x.n_long), THREADS, job,
                         (const double *)partial.data);
}

/* Frequent columns: the labels of a slab's samples are in shared memory, behind their factors, and before both the sums of
 * every lane, one for each class. */
struct lane_class {
    static constexpr int NUMBERS = NEAR_COLUMNS, RESIDENT = 1, THREADS = LANE_WARPS * WARP;
    static constexpr bool TOGETHER = false;
    const uint16_t *label;
    const double *factor;
    int64_t samples, width;
    int first;

    int64_t own_bytes() const { return width * THREADS * (int64_t)sizeof(double); }
    int64_t room_bytes(int64_t rows) const
    {
        return own_bytes() + rows * (int64_t)(sizeof(uint16_t) + (factor ? sizeof(double) : 0));
    }
    __device__ double *factors(void *room) const { return (double *)room + width * THREADS; }
    __device__ uint16_t *labels(void *room, int32_t rows) const
    {
        return (uint16_t *)(factors(room) + (factor ? rows : 0));
    }
    __device__ void fill(void *room, const frequent_columns &f, int64_t slab) const
    {
        const int64_t at = slab * f.slab_rows;
        uint16_t *own = labels(room, f.slab_rows);
        for (int t = threadIdx.x; t < f.slab_rows && at + t < samples; t += THREADS) {
            const int c = (int)label[at + t] - first;
            own[t] = c >= 0 && c < width ? (uint16_t)c : (uint16_t)NO_CLASS;
            if (factor) factors(room)[t] = factor[at + t];
        }
    }
    struct step {
        double *own; /* THREADS apart */
        const uint16_t *labels;
        const double *factors;

        __device__ step(const lane_class &job, const frequent_columns &f, void *room, int64_t, const column_sums &sums)
            : own((double *)room + threadIdx.x), labels(job.labels(room, f.slab_rows)), factors(job.factors(room))
        {
            for (int j = 0; j < job.width; j++) own[j * THREADS] = sums.fresh ? 0.0 : sums.of_column[j * sums.ld];
        }
        __device__ void add(const lane_class &job, const void *, int row, double value)
        {
            const int c = labels[row];
            if (job.factor) value *= factors[row];
            if (c != NO_CLASS) own[c * THREADS] += value;
        }
        __device__ void store(const lane_class &job, const column_sums &sums) const
        {
            for (int j = 0; j < job.width; j++) sums.of_column[j * sums.ld] = own[j * THREADS];
        }
    };
};

struct emit_class {
    const int32_t *column;
    plain_mat out; /* from the first class on */
    __device__ void operator()(int64_t rank, int64_t j, double sum) const { out.data[j * out.ld + column[rank]] = sum; }
};

static int frequent_classes(plx_device *d, const plx_device_csr *x, const class_job &rest)
{
    const lane_class job = {rest.label, rest.factor, x->rows, rest.width, rest.first};
    plain_mat out = rest.out;
    out.data += rest.first * out.ld;
    return run_lanes(d, "class_sums", job, x->frequent, rest.width, emit_class{x->column, out});
}

/* One panel of classes. */
static int class_panel(plx_device *d, const plx_device_csr *x, class_job job)
{
    constexpr int SMALL = CLASS_PANEL / 2;
    const auto slab = x->column            ? class_slab<SMALL, true>
                      : job.width <= SMALL ? class_slab<SMALL, false>
                                           : class_slab<CLASS_PANEL, false>;
    TRY(frequent_classes(d, x, job));
    for (size_t s = 0; s < x->flipped.size(); s++) {
        job.x = x->flipped[s];
        job.more = s > 0;
        TRY(slab(d, job));
    }
    return PLX_DEVICE_OK;
}

int cuda_class_sums(plx_device *d, const plx_device_csr *x, const plx_device_buffer *label,
                    const plx_device_buffer *factor, int64_t k, plx_device_mat out)
{
    scratch<uint16_t> labels(d);
    TRY(device_enter(d));
    if (k == 0 || out.cols == 0) return PLX_DEVICE_OK;
    if (x->flipped.empty()) return lacks_transpose(d);
    if (k >= NO_CLASS)
        return device_fail(d, PLX_DEVICE_LIMIT, "sums by class on the device have at most %d classes", NO_CLASS - 1);
    TRY(labels.take(x->rows));
    TRY(device_launch(d, "short_labels", short_labels, thread_blocks(x->rows), THREADS, buffer_of<int32_t>(label),
                      labels.data, x->rows, k));
    TRY(check_width(d, x, k));
    for (int64_t j = 0; j < k; j += CLASS_PANEL)
        TRY(class_panel(d, x,
                        {{},
                         std::min<int64_t>(CLASS_PANEL, k - j),
                         false,
                         labels.data,
                         buffer_of<double>(factor),
                         (int)j,
                         mat_of(out),
                         rest_of(x)}));
    return PLX_DEVICE_OK;
}
