/*
 * Measures the linear algebra layer against its limits, in one run on the same threads: sparse products
 * against the memory bandwidth of a STREAM triad, dense products and factorisations against OpenBLAS with
 * the same number of threads. One line per claim: name, ratio, and the two figures behind it.
 *
 * usage: bench_linalg [THREADS]
 *        bench_linalg knn FILE ROWS COLS K THREADS OUT   (used by bench_knn.py: raw doubles in, indices out)
 */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "core/rng.h"
#include "linalg/csr.h"
#include "linalg/dense.h"
#include "linalg/factor.h"
#include "linalg/knn.h"

enum { REPEATS = 9 };

static plx_context *ctx;

static void check(plx_status st)
{
    if (st == PLX_OK) return;
    fprintf(stderr, "bench_linalg: %s\n", plx_context_error(ctx));
    exit(1);
}

static double time_once(void (*run)(void *), void *arg)
{
    double t = plx__now();
    run(arg);
    return plx__now() - t;
}

/* Best of REPEATS, after one warm-up. */
static double best_time(void (*run)(void *), void *arg)
{
    double best = INFINITY;
    run(arg);
    for (int r = 0; r < REPEATS; r++) best = fmin(best, time_once(run, arg));
    return best;
}

static double *numbers(plx_index count, uint64_t stream)
{
    double *x = NULL;
    check(plx__arena_f64(&x, plx__scratch(ctx), count, 1));
    for (plx_index i = 0; i < count; i++) x[i] = plx__rng_uniform(1, stream, (uint64_t)i) - 0.5;
    return x;
}

/* ---- STREAM triad ---- */

typedef struct triad {
    double *a;
    const double *b, *c;
    plx_index n;
} triad;

static plx_status triad_range(void *arg, plx_context *c, plx_index begin, plx_index end, int worker)
{
    const triad *t = arg;
    (void)c, (void)worker;
    for (plx_index i = begin; i < end; i++) t->a[i] = t->b[i] + 3.0 * t->c[i];
    return PLX_OK;
}

static void run_triad(void *arg)
{
    triad *t = arg;
    check(plx__parallel_for(ctx, t->n, 1 << 17, triad_range, t));
}

/* Bytes per second, counted as STREAM does: two reads and one write of 8 bytes per element. */
static double triad_bandwidth(void)
{
    plx_index n = 1 << 24;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    triad t = {numbers(n, 1), numbers(n, 2), numbers(n, 3), n};
    double seconds = best_time(run_triad, &t);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return 24.0 * (double)n / seconds;
}

/* ---- sparse times dense ---- */

typedef struct spmm_case {
    plx_csr a;
    plx_mat b, c;
} spmm_case;

static int compare_columns(const void *x, const void *y)
{
    int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
    return (a > b) - (a < b);
}

/* `skew` = 1: uniform columns; larger: column floor(cols * u^skew), crowded at the front like words. */
static plx_csr random_csr(plx_index rows, plx_index cols, plx_index per_row, double skew)
{
    plx_csr a;
    plx__rng rng = plx__rng_start(5, PLX__STREAM('b', 'n', 'c', 'h', 0));
    check(plx__arena_csr(&a, plx__scratch(ctx), rows, cols, rows * per_row));
    for (plx_index i = 0; i < rows; i++) {
        int32_t *c = a.col + i * per_row;
        for (plx_index p = 0; p < per_row; p++) {
            c[p] = (int32_t)((double)cols * pow(plx__next_uniform(&rng), skew));
            a.val[i * per_row + p] = 1.0;
        }
        qsort(c, (size_t)per_row, sizeof *c, compare_columns);
        a.ptr[i + 1] = (i + 1) * per_row;
    }
    return a;
}

static void run_spmm(void *arg)
{
    spmm_case *s = arg;
    check(plx__spmm(ctx, 1.0, plx__ccsr(s->a), plx__cmat(s->b), 0.0, s->c));
}

/* 10 million entries in all. */
static void bench_spmm(const char *name, plx_index rows, plx_index cols, double skew, double bandwidth)
{
    plx_index per_row = 10000000 / rows, width = 32;
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    spmm_case s = {.a = random_csr(rows, cols, per_row, skew)};
    check(plx__arena_mat(&s.b, plx__scratch(ctx), cols, width));
    check(plx__arena_mat(&s.c, plx__scratch(ctx), rows, width));
    plx__mat_fill(s.b, 0.5);
    double seconds = best_time(run_spmm, &s);
    double bytes = 12.0 * (double)(rows * per_row) + 8.0 * (double)rows + 8.0 * (double)((rows + cols) * width);
    printf("%-28s %.2f of triad   (%.1f GB/s compulsory, triad %.1f GB/s, %.1f ms)\n", name,
           bytes / seconds / bandwidth, bytes / seconds * 1e-9, bandwidth * 1e-9, seconds * 1e3);
    plx__arena_rewind(plx__scratch(ctx), mark);
}

/* ---- dense products and Cholesky against OpenBLAS on the same number of threads ---- */

typedef struct dense_case {
    plx_mat a, b, c;
} dense_case;

static void our_gemm(void *arg)
{
    dense_case *d = arg;
    check(plx__gemm(ctx, 1.0, plx__cmat(d->a), PLX__N, plx__cmat(d->b), PLX__N, 0.0, d->c));
}

static void blas_gemm(void *arg)
{
    dense_case *d = arg;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)d->c.rows, (int)d->c.cols, (int)d->a.cols, 1.0,
                d->a.data, (int)d->a.ld, d->b.data, (int)d->b.ld, 0.0, d->c.data, (int)d->c.ld);
}

static void our_syrk(void *arg)
{
    dense_case *d = arg;
    check(plx__syrk(ctx, 1.0, plx__cmat(d->a), PLX__T, 0.0, d->c));
}

static void blas_syrk(void *arg)
{
    dense_case *d = arg;
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)d->c.rows, (int)d->a.rows, 1.0, d->a.data, (int)d->a.ld,
                0.0, d->c.data, (int)d->c.ld);
}

static void our_cholesky(void *arg)
{
    dense_case *d = arg;
    plx__mat_copy(d->c, plx__cmat(d->a));
    check(plx__cholesky(ctx, d->c, NULL));
}

static void blas_cholesky(void *arg)
{
    dense_case *d = arg;
    plx__mat_copy(d->c, plx__cmat(d->a));
    LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (int)d->c.rows, d->c.data, (int)d->c.ld);
}

/* In turns, so that a busy moment of the machine hits both. */
static void compare_dense(const char *name, dense_case *d, double flops, void (*ours)(void *), void (*theirs)(void *))
{
    double us = INFINITY, them = INFINITY;
    openblas_set_num_threads(ctx->threads);
    for (int r = 0; r < REPEATS; r++) {
        us = fmin(us, time_once(ours, d));
        them = fmin(them, time_once(theirs, d));
    }
    printf("%-28s %.2f of OpenBLAS (%.1f GF/s against %.1f GF/s)\n", name, them / us, flops / us * 1e-9,
           flops / them * 1e-9);
}

static plx_mat random_mat(plx_index rows, plx_index cols, uint64_t stream)
{
    return plx__mat_of(numbers(rows * cols, stream), rows, cols);
}

static void bench_gemm(const char *name, plx_index m, plx_index n, plx_index k)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    dense_case d = {random_mat(m, k, 1), random_mat(k, n, 2), random_mat(m, n, 3)};
    compare_dense(name, &d, 2.0 * (double)m * (double)n * (double)k, our_gemm, blas_gemm);
    plx__arena_rewind(plx__scratch(ctx), mark);
}

static void bench_syrk(const char *name, plx_index rows, plx_index cols)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    dense_case d = {.a = random_mat(rows, cols, 1), .c = random_mat(cols, cols, 2)};
    compare_dense(name, &d, (double)rows * (double)cols * (double)cols, our_syrk, blas_syrk);
    plx__arena_rewind(plx__scratch(ctx), mark);
}

static void bench_cholesky(plx_index n)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    dense_case d = {.a = random_mat(n, n, 1), .c = random_mat(n, n, 2)};
    for (plx_index i = 0; i < n; i++)
        for (plx_index j = 0; j <= i; j++) d.a.data[j * n + i] = d.a.data[i * n + j] += i == j ? (double)n : 0.0;
    char name[64];
    snprintf(name, sizeof name, "cholesky %d", (int)n);
    compare_dense(name, &d, (double)n * (double)n * (double)n / 3.0, our_cholesky, blas_cholesky);
    plx__arena_rewind(plx__scratch(ctx), mark);
}

/* ---- nearest neighbours, driven by bench_dense.py ---- */

static int run_knn(char **argv)
{
    plx_index rows = atoll(argv[3]), cols = atoll(argv[4]), k = atoll(argv[5]);
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    o.threads = atoi(argv[6]);
    if (plx_context_create(&ctx, &o)) return 1;
    double *x = NULL, *distance = NULL, best = INFINITY, least = INFINITY;
    int64_t *index = NULL;
    check(plx__arena_f64(&x, plx__scratch(ctx), rows, cols));
    check(plx__arena_f64(&distance, plx__scratch(ctx), rows, k));
    check(plx__arena_i64(&index, plx__scratch(ctx), rows * k));
    FILE *in = fopen(argv[2], "rb"), *out = fopen(argv[7], "wb");
    if (!in || !out || fread(x, sizeof *x, (size_t)(rows * cols), in) != (size_t)(rows * cols)) return 1;
    fclose(in);
    plx__points p = plx__points_dense(plx__cmat_of(x, rows, cols));
    plx__knn_options knn = {.k = k, .self = true};
    for (int r = 0; r < 3; r++) {
        double t = plx__now(), worked = plx__processor_time();
        check(plx__knn(ctx, p, p, &knn, index, distance));
        best = fmin(best, plx__now() - t);
        least = fmin(least, plx__processor_time() - worked);
    }
    fwrite(index, sizeof *index, (size_t)(rows * k), out);
    fclose(out);
    printf("%.6f %.6f\n", best, least);
    plx_context_destroy(ctx);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 8 && strcmp(argv[1], "knn") == 0) return run_knn(argv);
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    o.threads = argc > 1 ? atoi(argv[1]) : 2;
    if (plx_context_create(&ctx, &o)) return 1;
    double bandwidth = triad_bandwidth();
    bench_spmm("spmm 32 rhs, uniform", 200000, 50000, 1.0, bandwidth);
    bench_spmm("spmm 32 rhs, word-like", 200000, 50000, 3.0, bandwidth);
    bench_spmm("spmm 32 rhs, short rows", 1000000, 50000, 3.0, bandwidth);
    bench_spmm("spmm 32 rhs, B in L1 (bound)", 200000, 100, 1.0, bandwidth);
    bench_gemm("gemm 2000 x 2000 x 2000", 2000, 2000, 2000);
    bench_gemm("gemm 100000 x 50 x 50", 100000, 50, 50);
    bench_gemm("gemm 60 x 60 x 200000", 60, 60, 200000);
    bench_syrk("syrk A'A 2000 x 2000", 2000, 2000);
    bench_syrk("syrk A'A 200000 x 50", 200000, 50);
    bench_cholesky(1000);
    bench_cholesky(4000);
    plx_context_destroy(ctx);
    return 0;
}
