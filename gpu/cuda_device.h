/*
 * What the files of the CUDA device share: its structures, how calls are checked, kernels launched and scratch taken.
 * The contract is include/parallax/device.h; gpu/README.md tells how the files hang together.
 *
 * All of it also compiles as plain C++ against gpu/emulate (PLX_EMULATED), where a block's threads are fibers on the
 * CPU: that is how the kernels are tested where there is no GPU. Sizes of tiles are small there, so that small tests
 * have several.
 */
#ifndef PLX_CUDA_DEVICE_H
#define PLX_CUDA_DEVICE_H

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include <algorithm>
#include <vector>

#include "parallax/device.h"

enum {
    WARP = 32,
    WARPS = 8, /* of a block */
    THREADS = WARP * WARPS,
    TILE = 32,                     /* rows and columns of a tile of entries */
    CUBLAS_BYTES = 32 << 20,       /* what cuBLAS advises on Hopper */
    MOST_CHANNELS = 16,            /* of a sweep: they travel as parameters of the kernel */
    MOST_WIDTH = 1024,             /* columns of the tables of a sweep */
    STAGE_THREADS = 4,             /* that copy between host and device */
    NEAR_COLUMNS = PLX_DEVICE_FEW, /* of a table that goes with a ranked matrix, at most */
    SPLIT = 4,                     /* columns that a frequent one of the first is split into */
#ifdef PLX_EMULATED
    SMALL_BYTES = 1 << 12,
    MOST_BLOCKS = 7,
    SUM_BLOCKS = 5,
    LONG_ROW = 64,
    LONG_PIECE = 24,
    MOST_RUN = 5,
    RUNS = 3,
    STAGE_BYTES = 640,
    SORT_TILE = 96,
    SLAB_BITS = 4,
    SLAB_ENTRIES = 1,
    TRIANGLE_LEAF = 16,
    TURNED_SHARE = 1 << 20,
    KNN_QUERIES = 40,
    KNN_REFERENCES = 48,
    UPLOAD_CHUNK = 100,
    NEAR_STEP = 4,
    NEAR_WARPS = 4,
    LANE_WARPS = 8,
    RANKED_ENTRIES = 60,
    SLICED_STRETCH = 64,
    LONG_SLICED = 20,
    RANKED_SHARE = 1,
    SHORTEST_PIECE = 1,
    SPLIT_RANKS = 8
#else
    SMALL_BYTES = 1 << 20,    /* scratch of fixed size, which no estimate counts one by one */
    MOST_BLOCKS = 65536,      /* of a launch whose blocks take several tiles or rows each */
    SUM_BLOCKS = 1024,        /* of a pass that adds up: a constant, so that the order of the sums is one too */
    LONG_ROW = 4096,          /* entries one warp takes; longer rows are cut */
    LONG_PIECE = 512,         /* the same of a row of a slab of a transpose */
    MOST_RUN = 31,            /* rows a warp takes that follow each other: below 32 */
    RUNS = 16384,             /* runs of rows, where there are so many rows */
    STAGE_BYTES = 4 << 20,    /* of a thread's part of a copy */
    SORT_TILE = 16384,        /* entries one warp sorts */
    SLAB_BITS = 17,           /* rows of a slab of a transpose: with 16 columns of a table 16 MiB, part of the cache */
    SLAB_ENTRIES = 32,        /* of a column in a slab, on average, at least: a warp looks at each */
    TRIANGLE_LEAF = 512,      /* order of the triangles that recursions end with */
    TURNED_SHARE = 8,         /* scratch of a Cholesky factorisation: this part of the device's memory at most */
    KNN_QUERIES = 8192,       /* products at a time: 8192 x 4096 doubles are 256 MiB, */
    KNN_REFERENCES = 4096,    /*   and a million rows take 30,000 pairs of launches */
    UPLOAD_CHUNK = 1 << 23,   /* values at a time on the way to single precision */
    NEAR_STEP = 64,           /* near_rows is a multiple of it */
    NEAR_WARPS = 32,          /* of a block that has a multiprocessor, with its shared memory, to itself */
    LANE_WARPS = 32,          /* the same of passes over frequent columns: all blocks of a multiprocessor together */
    RANKED_ENTRIES = 1 << 22, /* matrices of fewer are swept as they come */
    RANKED_SHARE = 64,        /*   and those of fewer entries a column */
    SLICED_STRETCH = 1024,    /* rows that are ordered by length; a multiple of 32 */
    LONG_SLICED = 2048,       /* entries of a row that a lane takes */
    SHORTEST_PIECE = 4,       /* entries of a frequent column in a slab of near_rows rows, on average, at least */
    SPLIT_RANKS = 256         /* whose columns are split: those of many entries would keep their warp long */
#endif
};

static const unsigned ALL_LANES = 0xffffffffu;

/* ---- structures ---- */

struct plx_device {
    int number, multiprocessors;
    int near_rows; /* of a table of NEAR_COLUMNS columns that the shared memory of a multiprocessor holds */
    struct {       /* which matrices are laid out for few columns (csr.cu), and which columns are frequent (ranks.cu) */
        int64_t entries, share, slabs, piece;
    } ranked;
    cudaStream_t stream;
    cudaMemPool_t pool;
    cublasHandle_t blas;
    cusolverDnHandle_t solver;
    cusolverDnParams_t params;
    void *blas_room;
    char *stage; /* pinned, a part for each thread that copies; NULL: not yet */
    cudaEvent_t staged[STAGE_THREADS];
    char name[256], driver[128], error[512];
    double flops;
    int64_t memory;
};

struct plx_device_buffer {
    void *data;
    int64_t bytes;
};

/* A row of too many entries is cut into `count` segments from number `first` on. */
struct long_row {
    int64_t row, first, count;
};

struct row_segment {
    int64_t row, begin, end;
};

/* One way of a sparse matrix. Values are kept in single precision where that is exact, as it is for counts: 8 bytes an
 * entry instead of 12. */
struct csr_way {
    int64_t rows, longest; /* rows of more entries are cut */
    int64_t *ptr;
    int32_t *col;
    float *single; /* one of the two is NULL */
    double *wide;
    int64_t n_long, n_segments;
    long_row *longs;
    row_segment *segments;
};

/* The rows of a ranked matrix for groups of lanes (near.h): in stretches of SLICED_STRETCH by their length, the longest
 * first, 32 a slice, whose entries lie together: the first of each row, then the second, ... Rows beyond the longest a
 * lane may take are empty here and kept beside. */
struct sliced_rows {
    int64_t slices;
    int64_t *begin;  /* slices + 1 */
    int32_t *order;  /* the row at each place; -1: none */
    int32_t *length; /* slices x 32, both */
    int32_t *col;
    float *single; /* one of the two is NULL */
    double *wide;
};

/* The transpose of the columns of the lowest ranks, by slabs of near_rows rows, for lanes (lanes.h). Entries of 32
 * columns and a slab, a slice, lie together: the first of each column that has one, then the second of each, ... */
struct frequent_columns {
    int64_t ranks, columns, slabs, slices, entries; /* slices of a slab; ranks 0: none */
    int32_t split; /* ranks that have SPLIT columns each here, for a part of a slab each */
    int32_t slab_rows;
    int64_t *begin;   /* of every slice; slabs x slices + 1 */
    uint16_t *length; /* of a piece; slabs x slices x 32 */
    uint16_t *row;    /* within the slab */
    float *single;    /* one of the two is NULL */
    double *wide;
};

struct plx_device_csr {
    int64_t rows, cols, entries;
    csr_way plain, turned;        /* `turned` owns what the slabs are parts of */
    std::vector<csr_way> flipped; /* by columns, a slab of rows each; empty: not kept */
    /* Ranked matrices (ranks.cu): columns are numbered by how many entries they have, those with most first, and those of
     * the lowest ranks come first in every row. `plain` has long rows alone then, and `flipped` is without the frequent
     * columns. */
    int32_t *column; /* of a rank; NULL: not ranked */
    sliced_rows sliced;
    frequent_columns frequent;
};

/* ---- failures (open.cu) ---- */

int device_fail(plx_device *d, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
int device_cuda(plx_device *d, cudaError_t status, const char *what);
int device_blas(plx_device *d, cublasStatus_t status, const char *what);
int device_solver(plx_device *d, cusolverStatus_t status, const char *what);

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        int try_code = (call);                                                                                         \
        if (try_code != PLX_DEVICE_OK) return try_code;                                                                \
    } while (0)
#define TRY_CUDA(d, call) TRY(device_cuda((d), (call), #call))
#define TRY_BLAS(d, call) TRY(device_blas((d), (call), #call))
#define TRY_SOLVER(d, call) TRY(device_solver((d), (call), #call))

/* Every function of the table begins with it: the thread may be one that has not used this device before. */
static inline int device_enter(plx_device *d) { return device_cuda(d, cudaSetDevice(d->number), "cudaSetDevice"); }

/* ---- memory (memory.cu) ---- */

int device_take(plx_device *d, void **out, int64_t bytes);
void device_give(plx_device *d, void *data);

/* Scratch of one call, given back when the calls made so far are done. */
template <typename T> struct scratch {
    plx_device *d;
    T *data = nullptr;
    explicit scratch(plx_device *device) : d(device) {}
    scratch(const scratch &) = delete;
    scratch &operator=(const scratch &) = delete;
    ~scratch() { device_give(d, data); }
    int take(int64_t count)
    {
        void *room = nullptr;
        int code = device_take(d, &room, count * (int64_t)sizeof(T));
        data = (T *)room;
        return code;
    }
    T *keep()
    {
        T *out = data;
        data = nullptr;
        return out;
    }
};

/* Copies between host and device, waited for: the host's memory may be used at once (staging.cu). */
int copy_in(plx_device *d, void *to, const void *from, int64_t bytes);
int copy_out(plx_device *d, void *to, const void *from, int64_t bytes);
void close_stage(plx_device *d);

template <typename T> int device_fetch(plx_device *d, T *to, const T *from, int64_t count)
{
    return copy_out(d, to, from, count * (int64_t)sizeof(T));
}

template <typename T> int device_send(plx_device *d, T *to, const T *from, int64_t count)
{
    return copy_in(d, to, from, count * (int64_t)sizeof(T));
}

/* ---- launches ---- */

template <typename... P, typename... A>
int device_launch(plx_device *d, const char *what, void (*kernel)(P...), int64_t blocks, int threads, A... args)
{
    if (blocks <= 0) return PLX_DEVICE_OK;
#ifdef PLX_EMULATED
    emulate_launch(blocks, threads, 0, [&] { kernel(args...); });
#else
    kernel<<<(unsigned)blocks, (unsigned)threads, 0, d->stream>>>(args...);
#endif
    return device_cuda(d, cudaGetLastError(), what);
}

/* The same with `room` bytes of shared memory for each block, which shared_room() hands out. */
template <typename... P, typename... A> int device_launch_room(plx_device *d, const char *what, void (*kernel)(P...),
                                                               int64_t blocks, int threads, int64_t room, A... args)
{
    if (blocks <= 0) return PLX_DEVICE_OK;
#ifdef PLX_EMULATED
    emulate_launch(blocks, threads, room, [&] { kernel(args...); });
#else
    TRY_CUDA(d, cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)room));
    kernel<<<(unsigned)blocks, (unsigned)threads, (size_t)room, d->stream>>>(args...);
#endif
    return device_cuda(d, cudaGetLastError(), what);
}

#ifdef PLX_EMULATED
template <typename T> T *shared_room() { return (T *)emulated_room(); }
#else
template <typename T> __device__ static inline T *shared_room()
{
    extern __shared__ __align__(16) unsigned char plx_shared_room[];
    return (T *)plx_shared_room;
}
#endif

__host__ __device__ static inline int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* Blocks of a launch that has a warp, or a thread, for each of so many. */
static inline int64_t warp_blocks(int64_t warps) { return std::min<int64_t>(MOST_BLOCKS, divide_up(warps, WARPS)); }
static inline int64_t thread_blocks(int64_t threads)
{
    return std::min<int64_t>(MOST_BLOCKS, divide_up(threads, THREADS));
}

/* ---- matrices ---- */

static inline double *mat_data(plx_device_mat m) { return m.buffer ? (double *)m.buffer->data + m.offset : nullptr; }

template <typename T> const T *buffer_of(const plx_device_buffer *b) { return b ? (const T *)b->data : nullptr; }

/* A vector that is a row or a column; without data it is what the kernel says instead. */
struct strided {
    double *data;
    int64_t stride;
};

static inline strided vector_of(plx_device_mat m) { return {mat_data(m), m.cols == 1 ? m.ld : 1}; }

struct plain_mat {
    double *data;
    int64_t rows, cols, ld;
};

static inline plain_mat mat_of(plx_device_mat m) { return {mat_data(m), m.rows, m.cols, m.ld}; }

/* ---- inside kernels ---- */

__device__ static inline int lane_of_thread() { return (int)(threadIdx.x % WARP); }
__device__ static inline int warp_of_block() { return (int)(threadIdx.x / WARP); }
__device__ static inline int64_t warp_of_grid() { return (int64_t)blockIdx.x * WARPS + warp_of_block(); }
__device__ static inline int64_t warps_in_grid() { return (int64_t)gridDim.x * WARPS; }

/* Sum over the lanes that differ in the bits from `low` up to below `high`; the same order always. */
template <typename T> __device__ static inline T lanes_sum(T x, int low = 1, int high = WARP)
{
    for (int s = low; s < high; s *= 2) x += __shfl_xor_sync(ALL_LANES, x, s);
    return x;
}

__device__ static inline double lanes_max(double x, int high)
{
    for (int s = 1; s < high; s *= 2) x = fmax(x, __shfl_xor_sync(ALL_LANES, x, s));
    return x;
}

/* Things of the lanes of a warp, `length` of each, lie from `at` on as the lanes take them: the first of every lane that
 * has one, then the second, ... put(t, place) for number t of the lane's own. All lanes come. */
template <typename Put> __device__ static inline void in_turn(int length, int64_t at, Put put)
{
    const unsigned lower = (1u << lane_of_thread()) - 1u;
    for (int t = 0;; t++) {
        const unsigned alive = __ballot_sync(ALL_LANES, t < length);
        if (!alive) break;
        if (t < length) put(t, at + __popc(alive & lower));
        at += __popc(alive);
    }
}

/* ---- between the files ---- */

/* Row-major products without checks of sizes 0 (dense.cu). */
struct operand {
    const double *data;
    int64_t ld;
    plx_device_trans trans;
};
int row_gemm(plx_device *d, int64_t m, int64_t n, int64_t k, double alpha, operand a, operand b, double beta, double *c,
             int64_t ldc);
int row_syrk(plx_device *d, int64_t n, int64_t k, double alpha, operand a, double beta, double *c, int64_t ldc);
static inline cublasOperation_t blas_op(plx_device_trans t)
{
    return t == PLX_DEVICE_TRANSPOSED ? CUBLAS_OP_T : CUBLAS_OP_N;
}

/* A lower triangle [first 0; below second] of order `half` and the rest (triangles.cu). */
struct halves {
    int64_t half, rest, ld;
    double *first, *below, *second;
};
halves halve(double *l, int64_t n, int64_t ld);
/* B = alpha op(L)^-1 B or alpha B op(L)^-1, and the same with op(L); in place, L a lower triangle, B m x n. */
int solve_triangle(plx_device *d, bool right, operand l, int64_t m, int64_t n, double alpha, double *b, int64_t ldb);
int multiply_triangle(plx_device *d, bool right, operand l, int64_t m, int64_t n, double alpha, double *b, int64_t ldb);

/* out[i] = sum of squares of row i (entries.cu). */
int dense_norms(plx_device *d, plain_mat a, strided out);
/* out[c] = sum over the rows of a matrix of partial sums, in a fixed order (entries.cu). */
int sum_partials(plx_device *d, const double *partial, int64_t rows, int64_t cols, double *out);
/* The rows meant: dense ones, or those of a sparse matrix (csr.cu). */
struct point_rows {
    plain_mat dense; /* data NULL for sparse rows */
    csr_way csr;     /* ptr moved to the first row */
    int64_t count, cols;
    bool sparse;
};
int check_points(plx_device *d, plx_device_rows rows);
point_rows points_of(plx_device_rows rows);
bool same_points(plx_device_rows a, plx_device_rows b);
int points_norms(plx_device *d, point_rows p, double *out);

/* ---- the table ---- */

int cuda_alloc(plx_device *d, int64_t bytes, plx_device_buffer **out);
void cuda_release(plx_device *d, plx_device_buffer *buffer);
int cuda_write_bytes(plx_device *d, plx_device_buffer *to, int64_t offset, const void *from, int64_t bytes);
int cuda_read_bytes(plx_device *d, void *to, const plx_device_buffer *from, int64_t offset, int64_t bytes);
int cuda_write(plx_device *d, plx_device_mat to, const double *from, int64_t ld);
int cuda_read(plx_device *d, double *to, int64_t ld, plx_device_mat from);
int cuda_copy(plx_device *d, plx_device_mat to, plx_device_mat from);
int cuda_fill(plx_device *d, plx_device_mat to, double value);

int cuda_gemm(plx_device *d, double alpha, plx_device_mat a, plx_device_trans ta, plx_device_mat b, plx_device_trans tb,
              double beta, plx_device_mat c);
int cuda_syrk(plx_device *d, double alpha, plx_device_mat a, plx_device_trans ta, double beta, plx_device_mat c);
int cuda_potrf(plx_device *d, plx_device_mat a, int64_t *pivot);
int cuda_potrs(plx_device *d, plx_device_mat l, plx_device_mat b);
int cuda_potri(plx_device *d, plx_device_mat l);
int cuda_trsm(plx_device *d, int right, plx_device_mat l, plx_device_trans tl, plx_device_mat b);
int cuda_sym_eigen(plx_device *d, plx_device_mat a, int64_t first, int64_t count, double *values,
                   plx_device_mat vectors);
int64_t potrf_bytes(plx_device *d, int64_t n);
int64_t eigen_bytes(plx_device *d, int64_t n, int64_t count);

int cuda_triangle(plx_device *d, plx_device_mat a, plx_device_triangle how);
int cuda_combine(plx_device *d, double beta, plx_device_mat c, double alpha, plx_device_mat a, plx_device_mat l,
                 plx_device_mat r, double gamma, plx_device_mat u, plx_device_mat v, double shift);
int cuda_diagonal(plx_device *d, plx_device_mat a, plx_device_mat out, int set);
int cuda_row_norms_sq(plx_device *d, plx_device_mat a, plx_device_mat out);
int cuda_gather(plx_device *d, plx_device_mat out, plx_device_mat a, const plx_device_buffer *row,
                const plx_device_buffer *col);
int cuda_scatter_add(plx_device *d, plx_device_mat out, const plx_device_buffer *row, plx_device_mat a);
int cuda_dot(plx_device *d, plx_device_mat a, plx_device_mat b, double *sum);
int cuda_pivots(plx_device *d, const plx_device_pivots *step);
int scale_lower(plx_device *d, double beta, plain_mat c);
int clear_to_identity(plx_device *d, plain_mat a);
int copy_lower(plx_device *d, plain_mat to, plain_mat from);
int turn_triangle(plx_device *d, plain_mat to, plain_mat from, bool lower);

int cuda_kernel(plx_device *d, const plx_device_kernel *kernel, plx_device_rows a, plx_device_rows b,
                const plx_device_buffer *present_a, const plx_device_buffer *present_b, plx_device_mat out);
int cuda_kernel_of_base(plx_device *d, const plx_device_kernel *kernel, plx_device_mat base, double beta,
                        plx_device_mat out);
int cuda_kernel_gradient(plx_device *d, const plx_device_kernel *kernel, plx_device_mat base, plx_device_mat m,
                         double *sums);
int cuda_knn(plx_device *d, const plx_device_knn *step);
int64_t knn_bytes(int64_t queries, int64_t references);

int cuda_csr_create(plx_device *d, int64_t rows, int64_t cols, const int64_t *ptr, const int32_t *col,
                    const double *val, int flags, plx_device_csr **out);
void cuda_csr_release(plx_device *d, plx_device_csr *csr);
int64_t cuda_csr_bytes(plx_device *d, int64_t rows, int64_t cols, int64_t entries, int flags);
int cuda_spmm(plx_device *d, double alpha, const plx_device_csr *a, plx_device_trans ta, plx_device_mat b, double beta,
              plx_device_mat c);
int cuda_class_sums(plx_device *d, const plx_device_csr *x, const plx_device_buffer *label,
                    const plx_device_buffer *factor, int64_t k, plx_device_mat out);
int cuda_mixture(plx_device *d, const plx_device_mixture *pass);
int cuda_assign(plx_device *d, const plx_device_assign *pass);
int cuda_plsa(plx_device *d, const plx_device_plsa *step);
int cuda_plsa_mixture(plx_device *d, plx_device_mat next, plx_device_mat mix, plx_device_mat gain,
                      const plx_device_buffer *label, double flush);
int64_t sweep_bytes(plx_device *d, int64_t rows, int64_t entries, int64_t width);

/* Matrices for few columns (ranks.cu, slices.cu, frequent.cu). */
int rank_columns(plx_device *d, plx_device_csr *csr);
int slice_rows(plx_device *d, plx_device_csr *csr);
void release_sliced(plx_device *d, sliced_rows *s);
int gather_frequent(plx_device *d, plx_device_csr *csr, const int32_t *row);
void release_frequent(plx_device *d, frequent_columns *f);
int64_t frequent_bytes(plx_device *d, int64_t rows, int64_t cols);
void learn_ranked(plx_device *d);
/* Numbers become the sums of those before them (csr.cu). */
int scan_in_place(plx_device *d, int64_t *counts, int64_t n);

#endif
