/*
 * Products with CSR matrices.
 *
 * The hot loop multiplies one sparse row with a panel of right-hand sides kept in registers. What limits it
 * is the random access to the rows of B, so those of coming entries are fetched into the second-level cache
 * ahead of time; a result too large to be of use in a cache is written past it. Each entry of C is a sum in
 * the order of the row, whatever the panels and threads are.
 */
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "core/parallel.h"
#include "linalg/clones.h"
#include "linalg/csr.h"
#include "linalg/dense.h"

enum {
    AHEAD = 32,              /* entries of lookahead; measured best between 8 and 64 */
    TO_L2 = 2,               /* prefetch locality: bypass the small first-level cache */
    LINE = 8,                /* doubles per cache line */
    CHUNK_ENTRIES = 1 << 15, /* entries (plus rows) per parallel chunk, on average */
    STREAM_BYTES = 4 << 20,  /* results from this size on are written past the caches */
    NEAR_BYTES = 1 << 18     /* a B up to this size stays near by itself */
};

typedef struct spmm_job {
    double alpha, beta;
    plx_ccsr a;
    plx_cmat b;
    plx_mat c;
    int64_t last; /* last entry that may be looked at */
    bool stream;  /* write C past the caches */
    bool fetch;   /* B does not fit in the second-level cache */
} spmm_job;

/* Whole 16-byte pairs past the caches; the fence at the end of a chunk makes them visible. */
static void store_past_cache(double *c, double alpha, const double *sum, plx_index width)
{
#ifdef __SSE2__
    __m128d scale = _mm_set1_pd(alpha);
    for (plx_index j = 0; j < width; j += 2) _mm_stream_pd(c + j, _mm_mul_pd(scale, _mm_loadu_pd(sum + j)));
#else
    for (plx_index j = 0; j < width; j++) c[j] = alpha * sum[j];
#endif
}

static void fence(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

static void store(const spmm_job *job, double *c, const double *sum, plx_index width)
{
    if (job->stream && width % LINE == 0) store_past_cache(c, job->alpha, sum, width);
    else if (job->beta == 0)
        for (plx_index j = 0; j < width; j++) c[j] = job->alpha * sum[j];
    else
        for (plx_index j = 0; j < width; j++) c[j] = job->alpha * sum[j] + job->beta * c[j];
}

typedef void panel_fn(const spmm_job *job, plx_index begin, plx_index end, plx_index j0);

/* Rows begin..end-1, columns j0..j0+8*LINES-1 of C; FETCH: look ahead. */
#define DEFINE_PANEL(NAME, TARGET, VEC, LINES, FETCH)                                                                  \
    TARGET static void NAME(const spmm_job *job, plx_index begin, plx_index end, plx_index j0)                         \
    {                                                                                                                  \
        const double *b = job->b.data + j0;                                                                            \
        const int32_t *col = job->a.col;                                                                               \
        plx_index ld = job->b.ld;                                                                                      \
        int64_t last = job->last;                                                                                      \
        for (plx_index i = begin; i < end; i++) {                                                                      \
            VEC sum[PLX__VECS(VEC) * (LINES)] = {{0}};                                                                 \
            for (int64_t p = job->a.ptr[i]; p < job->a.ptr[i + 1]; p++) {                                              \
                const double *soon = b + (plx_index)col[p + AHEAD <= last ? p + AHEAD : last] * ld;                    \
                for (int v = 0; FETCH && v < (LINES); v++) __builtin_prefetch(soon + v * LINE, 0, TO_L2);              \
                const double *row = b + (plx_index)col[p] * ld;                                                        \
                double x = job->a.val[p];                                                                              \
                for (int v = 0; v < PLX__VECS(VEC) * (LINES); v++)                                                     \
                    sum[v] += x * *(const VEC##u *)(row + v * PLX__LANES(VEC));                                        \
            }                                                                                                          \
            store(job, job->c.data + i * job->c.ld + j0, (const double *)sum, 8 * (LINES));                            \
        }                                                                                                              \
    }

enum { MOST_LINES = 4 };

/* Panels of one to four lines, without and with a look ahead. */
#define DEFINE_PANELS(SUFFIX, TARGET, VEC)                                                                             \
    DEFINE_PANEL(near1##SUFFIX, TARGET, VEC, 1, 0)                                                                     \
    DEFINE_PANEL(near2##SUFFIX, TARGET, VEC, 2, 0)                                                                     \
    DEFINE_PANEL(near3##SUFFIX, TARGET, VEC, 3, 0)                                                                     \
    DEFINE_PANEL(near4##SUFFIX, TARGET, VEC, 4, 0)                                                                     \
    DEFINE_PANEL(far1##SUFFIX, TARGET, VEC, 1, 1)                                                                      \
    DEFINE_PANEL(far2##SUFFIX, TARGET, VEC, 2, 1)                                                                      \
    DEFINE_PANEL(far3##SUFFIX, TARGET, VEC, 3, 1)                                                                      \
    DEFINE_PANEL(far4##SUFFIX, TARGET, VEC, 4, 1)                                                                      \
    static panel_fn *const panels##SUFFIX[2][MOST_LINES] = {                                                           \
        {near1##SUFFIX, near2##SUFFIX, near3##SUFFIX, near4##SUFFIX},                                                  \
        {far1##SUFFIX, far2##SUFFIX, far3##SUFFIX, far4##SUFFIX}};

PLX__EACH_WIDTH(DEFINE_PANELS)

/* Fewer than eight columns. */
PLX__CLONES static void panel_rest(const spmm_job *job, plx_index begin, plx_index end, plx_index j0)
{
    plx_index width = job->b.cols - j0;
    for (plx_index i = begin; i < end; i++) {
        double sum[LINE] = {0};
        for (int64_t p = job->a.ptr[i]; p < job->a.ptr[i + 1]; p++) {
            const double *row = job->b.data + (plx_index)job->a.col[p] * job->b.ld + j0;
            for (plx_index j = 0; j < width; j++) sum[j] += job->a.val[p] * row[j];
        }
        store(job, job->c.data + i * job->c.ld + j0, sum, width);
    }
}

static plx_status spmm_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const spmm_job *job = arg;
    panel_fn *const *panel = PLX__WIDEST(panels)[job->fetch];
    plx_index j = 0, m = job->b.cols;
    (void)ctx, (void)worker;
    for (plx_index lines = MOST_LINES; lines > 0; lines--)
        for (; j + LINE * lines <= m; j += LINE * lines) panel[lines - 1](job, begin, end, j);
    if (j < m && m >= LINE && job->beta == 0) { /* the last eight columns: some once more, to the same bytes */
        spmm_job last = *job;
        last.stream = false; /* they may start anywhere */
        panel[0](&last, begin, end, m - LINE);
    } else if (j < m) {
        panel_rest(job, begin, end, j);
    }
    if (job->stream) fence();
    return PLX_OK;
}

static plx_index row_grain(plx_ccsr a)
{
    plx_index entries = a.ptr[a.rows] - a.ptr[0];
    double per_row = a.rows ? (double)entries / (double)a.rows + 1.0 : 1.0;
    return plx__max(16, (plx_index)(CHUNK_ENTRIES / per_row));
}

static bool worth_streaming(plx_mat c, double beta)
{
    return beta == 0 && (uintptr_t)c.data % 64 == 0 && c.ld % LINE == 0 &&
           (double)c.rows * (double)c.cols * (double)sizeof(double) >= STREAM_BYTES;
}

plx_status plx__spmm(plx_context *ctx, double alpha, plx_ccsr a, plx_cmat b, double beta, plx_mat c)
{
    PLX_ASSERT(a.cols == b.rows && a.rows == c.rows && b.cols == c.cols);
    double panel_bytes = (double)b.rows * (double)plx__min(b.cols, 32) * (double)sizeof(double);
    spmm_job job = {alpha, beta, a, b, c, a.ptr[a.rows] - 1, worth_streaming(c, beta), panel_bytes > NEAR_BYTES};
    return plx__parallel_for(ctx, a.rows, row_grain(a), spmm_rows, &job);
}

/* ---- one right-hand side ---- */

typedef struct spmv_job {
    double alpha, beta;
    plx_ccsr a;
    const double *x;
    double *y;
} spmv_job;

static plx_status spmv_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const spmv_job *job = arg;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++) {
        double even = 0, odd = 0;
        int64_t p = job->a.ptr[i], end_p = job->a.ptr[i + 1];
        for (; p + 1 < end_p; p += 2) {
            even += job->a.val[p] * job->x[job->a.col[p]];
            odd += job->a.val[p + 1] * job->x[job->a.col[p + 1]];
        }
        if (p < end_p) even += job->a.val[p] * job->x[job->a.col[p]];
        double value = job->alpha * (even + odd);
        job->y[i] = job->beta == 0 ? value : value + job->beta * job->y[i];
    }
    return PLX_OK;
}

plx_status plx__spmv(plx_context *ctx, double alpha, plx_ccsr a, const double *x, double beta, double *y)
{
    spmv_job job = {alpha, beta, a, x, y};
    return plx__parallel_for(ctx, a.rows, row_grain(a), spmv_rows, &job);
}

plx_status plx__spmv_t(plx_context *ctx, double alpha, plx_ccsr a, const double *x, double beta, double *y)
{
    return plx__spmm_t(ctx, alpha, a, plx__cmat_of(x, a.rows, 1), beta, plx__mat_of(y, a.cols, 1));
}
