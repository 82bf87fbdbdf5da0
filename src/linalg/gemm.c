/*
 * Matrix products as fixed tiles of C, each one call of a single-threaded BLAS.
 *
 * The plan depends on the shapes only. Where C has too few tiles but the inner dimension is long, that is
 * cut into slabs whose products are summed in slab order. A tile with a very long inner dimension is computed in pieces of
 * that, one after the other: between two of them the user may stop the call.
 */
#include <cblas.h>

#include "core/parallel.h"
#include "linalg/blas.h"
#include "linalg/dense.h"

enum {
    TILE_ROWS = 384,
    TILE_COLS = 768, /* largest tile: packing costs little beside the arithmetic */
    TILE_FLOOR = 96, /* smallest side a tile is halved to */
    ENOUGH_TILES = 16,
    SLAB_MIN = 2048,
    MAX_SLABS = 16,
    PIECE_WORK = 1 << 30 /* multiplications of one call of BLAS: about a tenth of a second */
};

typedef struct product {
    double alpha, beta;
    plx_cmat a, b;
    plx__trans ta, tb;
    plx_mat c;
    plx_index inner;
    bool symmetric;                     /* b is a transposed: only tiles of the lower triangle */
    plx_index bm, bn, tiles_m, tiles_n; /* plan */
    plx_index slab, slabs;
    double *partial; /* slabs x rows x cols when slabs > 1 */
} product;

static plx_index ceil_div(plx_index a, plx_index b) { return a / b + (a % b != 0); }

static plx_index tile_count(const product *p)
{
    return p->symmetric ? p->tiles_m * (p->tiles_m + 1) / 2 : p->tiles_m * p->tiles_n;
}

/* Tiles of equal size, in whole registers, instead of a small one at the end. */
static plx_index even_tile(plx_index length, plx_index tiles) { return (ceil_div(length, tiles) + 7) / 8 * 8; }

static void plan(product *p)
{
    double work = (double)p->c.rows * (double)p->c.cols * (double)p->inner;
    p->bm = plx__max(1, p->c.rows);
    p->bn = plx__max(1, p->c.cols);
    p->slab = plx__max(1, p->inner);
    p->tiles_m = p->tiles_n = p->slabs = 1;
    if (work < 1 << 18) return;
    p->bm = plx__min(p->bm, TILE_ROWS);
    p->bn = p->symmetric ? p->bm : plx__min(p->bn, TILE_COLS);
    for (;;) {
        p->tiles_m = ceil_div(p->c.rows, p->bm);
        p->tiles_n = ceil_div(p->c.cols, p->bn);
        if (tile_count(p) >= ENOUGH_TILES || (p->bm <= TILE_FLOOR && p->bn <= TILE_FLOOR)) break;
        if (p->symmetric || p->bm >= p->bn) p->bm = plx__max(TILE_FLOOR, p->bm / 2);
        else p->bn = plx__max(TILE_FLOOR, p->bn / 2);
        if (p->symmetric) p->bn = p->bm;
    }
    p->bm = even_tile(p->c.rows, p->tiles_m);
    p->bn = even_tile(p->c.cols, p->tiles_n);
    p->tiles_m = ceil_div(p->c.rows, p->bm);
    p->tiles_n = ceil_div(p->c.cols, p->bn);
    if (tile_count(p) >= 4 || p->inner < 2 * SLAB_MIN) return;
    p->slab = plx__max(SLAB_MIN, ceil_div(p->inner, MAX_SLABS));
    p->slabs = ceil_div(p->inner, p->slab);
}

static const double *slice(plx_cmat m, plx__trans t, plx_index outer, plx_index inner)
{
    return t == PLX__N ? m.data + outer * m.ld + inner : m.data + inner * m.ld + outer;
}

static CBLAS_TRANSPOSE flag(plx__trans t) { return t == PLX__N ? CblasNoTrans : CblasTrans; }

/* One tile of C over inner indices k0..k1-1. B is addressed by (column of op(B), inner). */
static void tile_product(const product *p, plx_index i0, plx_index j0, plx_index k0, plx_index k1, double beta,
                         double *c, plx_index ldc)
{
    int rows = plx__blas_int(plx__min(p->bm, p->c.rows - i0)), cols = plx__blas_int(plx__min(p->bn, p->c.cols - j0));
    int inner = plx__blas_int(k1 - k0), lda = plx__blas_int(p->a.ld), ld_c = plx__blas_int(ldc);
    const double *a = slice(p->a, p->ta, i0, k0);
    if (p->symmetric && i0 == j0) {
        cblas_dsyrk(CblasRowMajor, CblasLower, flag(p->ta), rows, inner, p->alpha, a, lda, beta, c, ld_c);
        return;
    }
    const double *b = slice(p->b, p->tb == PLX__N ? PLX__T : PLX__N, j0, k0);
    cblas_dgemm(CblasRowMajor, flag(p->ta), flag(p->tb), rows, cols, inner, p->alpha, a, lda, b, plx__blas_int(p->b.ld),
                beta, c, ld_c);
}

/* Tile number -> position; symmetric products count the lower triangle row by row. */
static void tile_place(const product *p, plx_index t, plx_index *i0, plx_index *j0)
{
    plx_index i = 0;
    if (!p->symmetric) {
        *i0 = t / p->tiles_n * p->bm;
        *j0 = t % p->tiles_n * p->bn;
        return;
    }
    while ((i + 1) * (i + 2) / 2 <= t) i++;
    *i0 = i * p->bm;
    *j0 = (t - i * (i + 1) / 2) * p->bm;
}

/* The plan, and so the bytes of the result, depends on the shapes only. */
static plx_status tile_in_pieces(const product *p, plx_context *ctx, plx_index i0, plx_index j0)
{
    double *c = p->c.data + i0 * p->c.ld + j0, beta = p->beta;
    plx_index piece = plx__max(1024, PIECE_WORK / (p->bm * p->bn));
    for (plx_index k = 0; k < p->inner; k += piece) {
        if (k) PLX_TRY(plx__poll(ctx));
        tile_product(p, i0, j0, k, plx__min(p->inner, k + piece), beta, c, p->c.ld);
        beta = 1.0;
    }
    return PLX_OK;
}

static plx_status run_tiles(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const product *p = arg;
    plx_index tiles = tile_count(p);
    (void)worker;
    for (plx_index t = begin; t < end; t++) {
        plx_index i0, j0, s = t / tiles;
        tile_place(p, t % tiles, &i0, &j0);
        if (p->slabs == 1) {
            PLX_TRY(tile_in_pieces(p, ctx, i0, j0));
            continue;
        }
        double *own = p->partial + (s * p->c.rows + i0) * p->c.cols + j0;
        tile_product(p, i0, j0, s * p->slab, plx__min(p->inner, (s + 1) * p->slab), 0.0, own, p->c.cols);
    }
    return PLX_OK;
}

static plx_status add_slabs(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const product *p = arg;
    plx_index step = p->c.rows * p->c.cols;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++) {
        double *row = p->c.data + i * p->c.ld;
        plx_index width = p->symmetric ? i + 1 : p->c.cols;
        for (plx_index j = 0; j < width; j++) {
            double sum = 0;
            for (plx_index s = 0; s < p->slabs; s++) sum += p->partial[s * step + i * p->c.cols + j];
            row[j] = p->beta == 0 ? sum : sum + p->beta * row[j];
        }
    }
    return PLX_OK;
}

static plx_status run(plx_context *ctx, product *p)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    if (p->slabs > 1)
        PLX_TRY(plx__arena_bytes((void **)&p->partial, plx__scratch(ctx), p->slabs * p->c.rows * p->c.cols,
                                 sizeof(double)));
    plx__blas_scope scope = plx__blas_enter();
    plx_status st = plx__parallel_for(ctx, tile_count(p) * p->slabs, 1, run_tiles, p);
    plx__blas_leave(scope);
    PLX_TRY(st);
    if (p->slabs > 1) PLX_TRY(plx__parallel_for(ctx, p->c.rows, 64, add_slabs, p));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

static plx_status check_sizes(plx_context *ctx, const product *p)
{
    PLX_TRY(plx__blas_fits(ctx, p->inner, p->a.cols, p->a.ld));
    PLX_TRY(plx__blas_fits(ctx, p->inner, p->b.cols, p->b.ld));
    return plx__blas_fits(ctx, 0, p->c.cols, p->c.ld);
}

static product gemm_product(double alpha, plx_cmat a, plx__trans ta, plx_cmat b, plx__trans tb, double beta, plx_mat c)
{
    product p = {.alpha = alpha, .beta = beta, .a = a, .b = b, .ta = ta, .tb = tb, .c = c};
    p.inner = ta == PLX__N ? a.cols : a.rows;
    PLX_ASSERT(c.rows == (ta == PLX__N ? a.rows : a.cols) && c.cols == (tb == PLX__N ? b.cols : b.rows));
    PLX_ASSERT(p.inner == (tb == PLX__N ? b.rows : b.cols));
    return p;
}

/* Without an inner dimension BLAS may leave C as it is: scale it here. */
static bool nothing_to_multiply(const product *p)
{
    if (p->c.rows == 0 || p->c.cols == 0) return true;
    if (p->inner > 0) return false;
    for (plx_index i = 0; i < p->c.rows; i++) {
        plx_index written = p->symmetric ? i + 1 : p->c.cols;
        plx_mat row = plx__sub(p->c, i, 0, 1, written);
        if (p->beta == 0) plx__mat_fill(row, 0.0);
        else plx__mat_scale(row, p->beta);
    }
    return true;
}

plx_status plx__gemm_serial(plx_context *ctx, double alpha, plx_cmat a, plx__trans ta, plx_cmat b, plx__trans tb,
                            double beta, plx_mat c)
{
    product p = gemm_product(alpha, a, ta, b, tb, beta, c);
    if (nothing_to_multiply(&p)) return PLX_OK;
    PLX_TRY(check_sizes(ctx, &p));
    PLX_TRY(plx__blas_fits(ctx, c.rows, c.cols, c.ld));
    p.bm = c.rows;
    p.bn = c.cols;
    plx__blas_scope scope = plx__blas_enter();
    tile_product(&p, 0, 0, 0, p.inner, beta, c.data, c.ld);
    plx__blas_leave(scope);
    return PLX_OK;
}

plx_status plx__syrk_lower(plx_context *ctx, double alpha, plx_cmat a, plx__trans ta, double beta, plx_mat c)
{
    product p = gemm_product(alpha, a, ta, a, ta == PLX__N ? PLX__T : PLX__N, beta, c);
    p.symmetric = true;
    if (nothing_to_multiply(&p)) return PLX_OK;
    PLX_TRY(check_sizes(ctx, &p));
    plan(&p);
    return run(ctx, &p);
}

plx_status plx__syrk(plx_context *ctx, double alpha, plx_cmat a, plx__trans ta, double beta, plx_mat c)
{
    PLX_TRY(plx__syrk_lower(ctx, alpha, a, ta, beta, c));
    plx__mirror_lower(c);
    return PLX_OK;
}

/* ---- matrix times vector ---- */

enum { GEMV_ROWS = 512, GEMV_COLS = 512, GEMV_SUM_ROWS = 8192 };

typedef struct gemv_job {
    double alpha, beta;
    plx_cmat a;
    const double *x;
    double *y;
} gemv_job;

static double combine(const gemv_job *job, double value, double old)
{
    return job->beta == 0 ? job->alpha * value : job->alpha * value + job->beta * old;
}

static plx_status gemv_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const gemv_job *job = arg;
    (void)ctx, (void)worker;
    plx_index i = begin;
    for (; i + 4 <= end; i += 4) {
        double sum[4];
        plx__dot4(sum, job->a.data + i * job->a.ld, job->a.ld, job->x, job->a.cols);
        for (int r = 0; r < 4; r++) job->y[i + r] = combine(job, sum[r], job->y[i + r]);
    }
    for (; i < end; i++)
        job->y[i] = combine(job, plx__dot(job->a.data + i * job->a.ld, job->x, job->a.cols), job->y[i]);
    return PLX_OK;
}

/* y += sum of x_i times row i of a, begin <= i < end. */
static void add_rows(double *y, const double *x, const double *a, plx_index ld, plx_index begin, plx_index end,
                     plx_index cols)
{
    plx_index i = begin;
    for (; i + 4 <= end; i += 4) plx__axpy4(y, x + i, a + i * ld, ld, cols);
    for (; i < end; i++) plx__axpy(y, x[i], a + i * ld, cols);
}

static plx_status gemv_cols(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const gemv_job *job = arg;
    double sum[GEMV_COLS] = {0};
    (void)ctx, (void)worker;
    add_rows(sum, job->x, job->a.data + begin, job->a.ld, 0, job->a.rows, end - begin);
    for (plx_index j = begin; j < end; j++) job->y[j] = combine(job, sum[j - begin], job->y[j]);
    return PLX_OK;
}

static plx_status gemv_slab(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *partial)
{
    const gemv_job *job = arg;
    (void)ctx;
    add_rows(partial, job->x, job->a.data, job->a.ld, begin, end, job->a.cols);
    return PLX_OK;
}

static plx_status gemv_tall_t(plx_context *ctx, gemv_job *job)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *sum = NULL;
    PLX_TRY(plx__arena_f64(&sum, plx__scratch(ctx), job->a.cols, 1));
    PLX_TRY(plx__parallel_sum(ctx, job->a.rows, GEMV_SUM_ROWS, job->a.cols, gemv_slab, job, sum));
    for (plx_index j = 0; j < job->a.cols; j++) job->y[j] = combine(job, sum[j], job->y[j]);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__gemv(plx_context *ctx, double alpha, plx_cmat a, plx__trans ta, const double *x, double beta, double *y)
{
    gemv_job job = {alpha, beta, a, x, y};
    if (ta == PLX__N) return plx__parallel_for(ctx, a.rows, GEMV_ROWS, gemv_rows, &job);
    if (a.cols <= GEMV_COLS && a.rows >= 2 * GEMV_SUM_ROWS) return gemv_tall_t(ctx, &job);
    return plx__parallel_for(ctx, a.cols, GEMV_COLS, gemv_cols, &job);
}

/* ---- any product ---- */

/* The vector's entries one after the other. */
static bool contiguous(plx_cmat m) { return m.rows == 1 || (m.cols == 1 && m.ld == 1); }

static plx__trans other(plx__trans t) { return t == PLX__N ? PLX__T : PLX__N; }

plx_status plx__gemm(plx_context *ctx, double alpha, plx_cmat a, plx__trans ta, plx_cmat b, plx__trans tb, double beta,
                     plx_mat c)
{
    product p = gemm_product(alpha, a, ta, b, tb, beta, c);
    if (nothing_to_multiply(&p)) return PLX_OK;
    /* BLAS would pack the whole matrix for the sake of one vector. */
    if (c.cols == 1 && contiguous(b) && contiguous(plx__cmat(c)))
        return plx__gemv(ctx, alpha, a, ta, b.data, beta, c.data);
    if (c.rows == 1 && contiguous(a)) return plx__gemv(ctx, alpha, b, other(tb), a.data, beta, c.data);
    PLX_TRY(check_sizes(ctx, &p));
    plan(&p);
    return run(ctx, &p);
}
