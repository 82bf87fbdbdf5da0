/*
 * Measures one EM iteration of mvplsa on random counts with crowded columns, like words: seconds, the share of the
 * memory bandwidth of a STREAM triad (same run, same threads) its compulsory traffic reaches, and bytes held.
 *
 * usage: bench_mvplsa ROWS COLS PER_ROW CLASSES TOPICS THREADS [DIRECTORY [MANY REPEATS]]
 *
 * With a directory (- for none) the data are left there as ptr.bin (int64), col.bin (int32) and val.bin (float64) for the peers of
 * bench_mvplsa.py. The time of an iteration is the difference between runs of MANY (12) and of two iterations, best of
 * REPEATS (3) each, so that reading, starting and writing do not count.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "core/parallel.h"
#include "core/rng.h"
#include "parallax/parallax.h"

enum { FEW = 2 };

static plx_context *ctx;
static int threads, many = 12, repeats = 3;
static double peak; /* bytes of the process */

/* One thread: time on the processor, which other programs on the machine do not inflate. */
static double seconds_now(void)
{
    struct timespec t;
    if (threads != 1) return plx__now();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(plx_status st)
{
    if (st == PLX_OK) return;
    fprintf(stderr, "bench_mvplsa: %s\n", plx_context_error(ctx));
    exit(1);
}

static void *room(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p) {
        fprintf(stderr, "bench_mvplsa: out of memory\n");
        exit(1);
    }
    return p;
}

/* ---- STREAM triad ---- */

typedef struct triad {
    double *a, *b, *c;
} triad;

static plx_status triad_range(void *arg, plx_context *c, plx_index begin, plx_index end, int worker)
{
    const triad *t = arg;
    (void)c, (void)worker;
    for (plx_index i = begin; i < end; i++) t->a[i] = t->b[i] + 3.0 * t->c[i];
    return PLX_OK;
}

static double triad_bandwidth(void)
{
    plx_index n = 1 << 24;
    size_t bytes = (size_t)n * sizeof(double);
    triad t = {room(bytes), room(bytes), room(bytes)};
    double best = INFINITY;
    for (plx_index i = 0; i < n; i++) t.a[i] = t.b[i] = t.c[i] = 1.0;
    for (int r = 0; r < 9; r++) {
        double begin = seconds_now();
        check(plx__parallel_for(ctx, n, 1 << 17, triad_range, &t));
        best = fmin(best, seconds_now() - begin);
    }
    free(t.a);
    free(t.b);
    free(t.c);
    return 24.0 * (double)n / best;
}

/* ---- data ---- */

static int compare_columns(const void *x, const void *y)
{
    int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
    return (a > b) - (a < b);
}

/* Word number r with probability about 1 / (r + 50) (Zipf and Mandelbrot); every second draw is shifted by the document's
 * class. Equal draws are counted together. */
static plx_csr random_counts(plx_index rows, plx_index cols, plx_index per_row, plx_index classes)
{
    plx_csr x = {rows, cols, room((size_t)(rows + 1) * 8), room((size_t)(rows * per_row) * 4),
                 room((size_t)(rows * per_row) * 8)};
    plx__rng rng = plx__rng_start(5, PLX__STREAM('b', 'n', 'c', 'h', 0));
    int32_t *draw = room((size_t)per_row * 4);
    x.ptr[0] = 0;
    for (plx_index i = 0; i < rows; i++) {
        int64_t at = x.ptr[i];
        for (plx_index p = 0; p < per_row; p++) {
            double rank = 50.0 * (pow((double)cols / 50.0 + 1.0, plx__next_uniform(&rng)) - 1.0);
            plx_index shift = p % 2 ? (i % classes) * (cols / classes) : 0;
            draw[p] = (int32_t)(((plx_index)rank + shift) % cols);
        }
        qsort(draw, (size_t)per_row, sizeof *draw, compare_columns);
        for (plx_index p = 0; p < per_row; p++) {
            if (p && draw[p] == draw[p - 1]) {
                x.val[at - 1] += 1;
                continue;
            }
            x.col[at] = draw[p];
            x.val[at++] = 1;
        }
        x.ptr[i + 1] = at;
    }
    free(draw);
    return x;
}

static void write_raw(const char *directory, const char *name, const void *data, size_t size, size_t count)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, size, count, f) != count || fclose(f) != 0) {
        fprintf(stderr, "bench_mvplsa: cannot write %s\n", path);
        exit(1);
    }
}

/* ---- timing ---- */

static double fit_seconds(const plx_dataset *data, plx_index classes, plx_index topics, int iterations)
{
    plx_params *p = NULL;
    plx_model *model = NULL;
    check(plx_params_create(&p, ctx, "mvplsa"));
    check(plx_params_set_int(p, ctx, "clusters", classes));
    check(plx_params_set_int(p, ctx, "topics", topics));
    check(plx_params_set_int(p, ctx, "max_iter", iterations));
    check(plx_params_set(p, ctx, "init_z", "random"));
    double begin = seconds_now();
    check(plx_fit(&model, ctx, "mvplsa", data, p, NULL));
    double seconds = seconds_now() - begin;
    plx_model_destroy(model);
    plx_params_destroy(p);
    return seconds;
}

static double iteration_seconds(const plx_dataset *data, plx_index classes, plx_index topics)
{
    double short_run = INFINITY, long_run = INFINITY;
    struct rusage usage;
    for (int r = 0; r < repeats; r++) {
        short_run = fmin(short_run, fit_seconds(data, classes, topics, FEW));
        long_run = fmin(long_run, fit_seconds(data, classes, topics, many));
    }
    getrusage(RUSAGE_SELF, &usage);
    peak = 1024.0 * (double)usage.ru_maxrss;
    return (long_run - short_run) / (many - FEW);
}

/* Every array once: the entries, C and its successor, A read twice and written once. */
static double compulsory_bytes(double rows, double cols, double entries, double classes, double topics)
{
    return 12 * entries + 8 * rows * (2 * classes + 1) + 24 * cols * topics;
}

/* The same, and for every entry the rows of U (read) and G (read and written) it needs: what a pass moves when these two
 * tables are larger than the caches. */
static double row_bytes(double rows, double cols, double entries, double classes, double topics)
{
    return compulsory_bytes(rows, cols, entries, classes, topics) + 24 * entries * classes;
}

int main(int argc, char **argv)
{
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    plx_dataset *data = NULL;
    if (argc < 7) {
        fprintf(stderr, "usage: bench_mvplsa ROWS COLS PER_ROW CLASSES TOPICS THREADS [DIRECTORY [MANY REPEATS]]\n");
        return 2;
    }
    plx_index rows = atoll(argv[1]), cols = atoll(argv[2]), classes = atoll(argv[4]), topics = atoll(argv[5]);
    o.threads = threads = atoi(argv[6]);
    if (plx_context_create(&ctx, &o) != PLX_OK) return 1;
    plx_csr x = random_counts(rows, cols, atoll(argv[3]), classes);
    double entries = (double)x.ptr[rows];
    if (argc > 9) {
        many = atoi(argv[8]);
        repeats = atoi(argv[9]);
    }
    if (argc > 7 && strcmp(argv[7], "-") != 0) {
        write_raw(argv[7], "ptr.bin", x.ptr, 8, (size_t)rows + 1);
        write_raw(argv[7], "col.bin", x.col, 4, (size_t)entries);
        write_raw(argv[7], "val.bin", x.val, 8, (size_t)entries);
    }
    check(plx_dataset_create(&data, ctx, "bench", rows));
    check(plx_dataset_add_sparse(data, ctx, "text", PLX_VIEW_COUNTS, plx__ccsr(x), NULL, NULL));
    free(x.ptr);
    free(x.col);
    free(x.val);
    double bandwidth = triad_bandwidth(), seconds = iteration_seconds(data, classes, topics);
    double n = (double)rows, d = (double)cols, z = (double)classes, y = (double)topics;
    double once = compulsory_bytes(n, d, entries, z, y), rowwise = row_bytes(n, d, entries, z, y);
    printf("mvplsa EM iteration, %lld x %lld, %.0f entries, %lld classes, %lld topics: %.4f s, %.1f ns per entry; "
           "triad %.1f "
           "GB/s; %.0f MB with every array once: %.2f of it; %.0f MB with the rows every entry needs: %.2f of it; peak "
           "%.2f GB\n",
           (long long)rows, (long long)cols, entries, (long long)classes, (long long)topics, seconds,
           1e9 * seconds / entries, 1e-9 * bandwidth, 1e-6 * once, once / bandwidth / seconds, 1e-6 * rowwise,
           rowwise / bandwidth / seconds, 1e-9 * peak);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
    return 0;
}
