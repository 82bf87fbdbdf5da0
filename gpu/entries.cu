/*
 * What is done entry by entry: tiles of TILE x TILE entries, a warp on 32 neighbouring columns, four rows for each
 * thread. All of it is bound by memory; no sum crosses entries but row norms and partial sums, whose order depends on
 * shapes only.
 */
#include "cuda_device.h"

/* ---- tiles ---- */

static int64_t tile_blocks(int64_t rows, int64_t cols)
{
    return std::min<int64_t>(MOST_BLOCKS, divide_up(rows, TILE) * divide_up(cols, TILE));
}

/* f(i, j) for every entry. */
template <typename F> __global__ void each_entry(int64_t rows, int64_t cols, F f)
{
    int64_t across = divide_up(cols, TILE), tiles = across * divide_up(rows, TILE);
    for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        int64_t j = t % across * TILE + lane_of_thread(), top = t / across * TILE;
        for (int r = warp_of_block(); r < TILE; r += WARPS)
            if (top + r < rows && j < cols) f(top + r, j);
    }
}

template <typename F> static int for_each_entry(plx_device *d, const char *what, int64_t rows, int64_t cols, F f)
{
    return device_launch(d, what, each_entry<F>, tile_blocks(rows, cols), THREADS, rows, cols, f);
}

struct set_value {
    plain_mat to;
    double value;
    __device__ void operator()(int64_t i, int64_t j) const { to.data[i * to.ld + j] = value; }
};

int cuda_fill(plx_device *d, plx_device_mat to, double value)
{
    TRY(device_enter(d));
    return for_each_entry(d, "fill", to.rows, to.cols, set_value{mat_of(to), value});
}

struct set_identity {
    plain_mat to;
    __device__ void operator()(int64_t i, int64_t j) const { to.data[i * to.ld + j] = i == j ? 1.0 : 0.0; }
};

int clear_to_identity(plx_device *d, plain_mat a)
{
    return for_each_entry(d, "identity", a.rows, a.cols, set_identity{a});
}

struct take_lower {
    plain_mat to, from;
    __device__ void operator()(int64_t i, int64_t j) const
    {
        if (j <= i) to.data[i * to.ld + j] = from.data[i * from.ld + j];
    }
};

int copy_lower(plx_device *d, plain_mat to, plain_mat from)
{
    return for_each_entry(d, "copy of a triangle", to.rows, to.cols, take_lower{to, from});
}

struct scaled_lower {
    double beta;
    plain_mat c;
    __device__ void operator()(int64_t i, int64_t j) const
    {
        double *at = c.data + i * c.ld + j;
        if (j <= i) *at = beta == 0 ? 0.0 : beta * *at;
    }
};

int scale_lower(plx_device *d, double beta, plain_mat c)
{
    return for_each_entry(d, "scaling", c.rows, c.cols, scaled_lower{beta, c});
}

/* ---- triangles ---- */

struct clear_above {
    plain_mat a;
    __device__ void operator()(int64_t i, int64_t j) const
    {
        if (j > i) a.data[i * a.ld + j] = 0.0;
    }
};

/* The tile at (top, left) of a triangle goes, transposed, to (left, top): through shared memory, so that both sides are
 * read and written along rows. `diagonal`: it goes, too, as it must where the matrices are not the same. */
__global__ void turn(plain_mat to, plain_mat from, bool from_lower, bool diagonal)
{
    __shared__ double tile[TILE][TILE + 1];
    const int64_t n = from.rows, across = divide_up(n, TILE);
    for (int64_t t = blockIdx.x; t < across * across; t += gridDim.x) {
        int64_t top = t / across * TILE, left = t % across * TILE;
        if (from_lower ? left > top : left < top) continue;
        for (int r = warp_of_block(); r < TILE; r += WARPS) {
            int64_t i = top + r, j = left + lane_of_thread();
            if (i < n && j < n) tile[r][lane_of_thread()] = from.data[i * from.ld + j];
        }
        __syncthreads();
        for (int r = warp_of_block(); r < TILE; r += WARPS) {
            int64_t i = left + r, j = top + lane_of_thread(); /* where (j, i) goes */
            if (i < n && j < n && ((from_lower ? i < j : i > j) || (diagonal && i == j)))
                to.data[i * to.ld + j] = tile[lane_of_thread()][r];
        }
        __syncthreads();
    }
}

/* The transpose of a triangle with its diagonal, to another matrix. */
int turn_triangle(plx_device *d, plain_mat to, plain_mat from, bool lower)
{
    return device_launch(d, "turning a triangle", turn, tile_blocks(from.rows, from.rows), THREADS, to, from, lower,
                         true);
}

int cuda_triangle(plx_device *d, plx_device_mat a, plx_device_triangle how)
{
    TRY(device_enter(d));
    if (how == PLX_DEVICE_CLEAR_UPPER)
        return for_each_entry(d, "clearing a triangle", a.rows, a.rows, clear_above{mat_of(a)});
    return device_launch(d, "mirror", turn, tile_blocks(a.rows, a.rows), THREADS, mat_of(a), mat_of(a),
                         how == PLX_DEVICE_MIRROR_LOWER, false);
}

/* ---- combinations ---- */

__device__ static inline double item(strided v, int64_t i, double otherwise)
{
    return v.data ? v.data[i * v.stride] : otherwise;
}

struct combined {
    double beta, alpha, gamma, shift;
    plain_mat c, a;
    strided l, r, u, v;
    __device__ void operator()(int64_t i, int64_t j) const
    {
        double *to = c.data + i * c.ld + j, sum = i == j ? shift : 0.0;
        if (a.data) sum += alpha * item(l, i, 1.0) * a.data[i * a.ld + j] * item(r, j, 1.0);
        if (u.data) sum += gamma * (item(u, i, 0) * item(v, j, 0) + item(v, i, 0) * item(u, j, 0));
        *to = beta == 0 ? sum : beta * *to + sum;
    }
};

int cuda_combine(plx_device *d, double beta, plx_device_mat c, double alpha, plx_device_mat a, plx_device_mat l,
                 plx_device_mat r, double gamma, plx_device_mat u, plx_device_mat v, double shift)
{
    TRY(device_enter(d));
    combined f = {beta,      alpha,        gamma,        shift,        mat_of(c),
                  mat_of(a), vector_of(l), vector_of(r), vector_of(u), vector_of(v)};
    return for_each_entry(d, "combine", c.rows, c.cols, f);
}

struct diagonal_copy {
    plain_mat a;
    strided v;
    bool set;
    __device__ void operator()(int64_t, int64_t i) const
    {
        if (set) a.data[i * a.ld + i] = v.data[i * v.stride];
        else v.data[i * v.stride] = a.data[i * a.ld + i];
    }
};

int cuda_diagonal(plx_device *d, plx_device_mat a, plx_device_mat out, int set)
{
    TRY(device_enter(d));
    return for_each_entry(d, "diagonal", 1, std::min(a.rows, a.cols),
                          diagonal_copy{mat_of(a), vector_of(out), set != 0});
}

struct gathered {
    plain_mat to, from;
    const int64_t *row, *col;
    __device__ void operator()(int64_t i, int64_t j) const
    {
        to.data[i * to.ld + j] = from.data[(row ? row[i] : i) * from.ld + (col ? col[j] : j)];
    }
};

int cuda_gather(plx_device *d, plx_device_mat out, plx_device_mat a, const plx_device_buffer *row,
                const plx_device_buffer *col)
{
    TRY(device_enter(d));
    return for_each_entry(d, "gather", out.rows, out.cols,
                          gathered{mat_of(out), mat_of(a), buffer_of<int64_t>(row), buffer_of<int64_t>(col)});
}

/* Rows are distinct: every entry of `to` has one writer. */
struct scattered {
    plain_mat to, from;
    const int64_t *row;
    __device__ void operator()(int64_t i, int64_t j) const
    {
        if (j <= i) to.data[row[i] * to.ld + row[j]] += from.data[i * from.ld + j];
    }
};

int cuda_scatter_add(plx_device *d, plx_device_mat out, const plx_device_buffer *row, plx_device_mat a)
{
    TRY(device_enter(d));
    return for_each_entry(d, "scatter_add", a.rows, a.cols, scattered{mat_of(out), mat_of(a), buffer_of<int64_t>(row)});
}

/* ---- sums ---- */

/* A warp for each row. */
__global__ void row_norms(plain_mat a, strided out)
{
    for (int64_t i = warp_of_grid(); i < a.rows; i += warps_in_grid()) {
        double sum = 0;
        for (int64_t j = lane_of_thread(); j < a.cols; j += WARP) {
            double x = a.data[i * a.ld + j];
            sum = fma(x, x, sum);
        }
        sum = lanes_sum(sum);
        if (lane_of_thread() == 0) out.data[i * out.stride] = sum;
    }
}

int dense_norms(plx_device *d, plain_mat a, strided out)
{
    return device_launch(d, "row_norms", row_norms, warp_blocks(a.rows), THREADS, a, out);
}

int cuda_row_norms_sq(plx_device *d, plx_device_mat a, plx_device_mat out)
{
    TRY(device_enter(d));
    return dense_norms(d, mat_of(a), vector_of(out));
}

/* One block for each column; threads take every THREADS-th row, then a tree. */
__global__ void column_sums(const double *partial, int64_t rows, int64_t cols, double *out)
{
    __shared__ double part[THREADS];
    double sum = 0;
    for (int64_t i = threadIdx.x; i < rows; i += THREADS) sum += partial[i * cols + blockIdx.x];
    part[threadIdx.x] = sum;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

int sum_partials(plx_device *d, const double *partial, int64_t rows, int64_t cols, double *out)
{
    return device_launch(d, "column_sums", column_sums, cols, THREADS, partial, rows, cols, out);
}

/* A partial sum for each warp. */
__global__ void dot_partials(plain_mat a, plain_mat b, double *partial)
{
    int64_t across = divide_up(a.cols, TILE), tiles = across * divide_up(a.rows, TILE);
    double sum = 0;
    for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        int64_t j = t % across * TILE + lane_of_thread(), top = t / across * TILE;
        for (int64_t i = top + warp_of_block(); i < top + TILE && i < a.rows; i += WARPS)
            if (j < a.cols) sum = fma(a.data[i * a.ld + j], b.data[i * b.ld + j], sum);
    }
    sum = lanes_sum(sum);
    if (lane_of_thread() == 0) partial[warp_of_grid()] = sum;
}

int cuda_dot(plx_device *d, plx_device_mat a, plx_device_mat b, double *sum)
{
    scratch<double> partial(d);
    const int64_t warps = (int64_t)SUM_BLOCKS * WARPS;
    TRY(device_enter(d));
    *sum = 0;
    if (a.rows == 0 || a.cols == 0) return PLX_DEVICE_OK;
    TRY(partial.take(warps + 1));
    TRY(device_launch(d, "dot", dot_partials, SUM_BLOCKS, THREADS, mat_of(a), mat_of(b), partial.data));
    TRY(sum_partials(d, partial.data, warps, 1, partial.data + warps));
    return device_fetch(d, sum, (const double *)partial.data + warps, 1);
}
