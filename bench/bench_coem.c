/*
 * Measures an EM iteration of coem on word counts against the memory bandwidth of a STREAM triad, in one run on the same
 * threads. One line per claim.
 *
 * usage: bench_coem [SAMPLES=100000] [WORDS=50000] [ENTRIES=10000000] [CLASSES=20] [VIEWS=1] [THREADS]
 *        bench_coem write DIRECTORY SAMPLES WORDS ENTRIES VIEWS    the same data as raw arrays, for bench_coem.py
 *
 * Compulsory traffic of an iteration, per view: the entries (12 bytes) twice, once for the likelihoods and once for the
 * sums; the table of log-probabilities and the sums, words x classes; log-likelihoods and responsibilities, samples x
 * classes, each written and read once.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "api/model_impl.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "parallax/model.h"

enum { ITERATIONS = 24, REPEATS = 9 };

static plx_context *ctx;

static void check(plx_status st)
{
    if (st == PLX_OK) return;
    fprintf(stderr, "bench_coem: %s\n", plx_context_error(ctx));
    exit(1);
}

/* ---- STREAM triad: two reads and one write of 8 bytes per element ---- */

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
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    triad t;
    double best = INFINITY;
    check(plx__arena_f64(&t.a, plx__scratch(ctx), n, 1));
    check(plx__arena_f64(&t.b, plx__scratch(ctx), n, 1));
    check(plx__arena_f64(&t.c, plx__scratch(ctx), n, 1));
    for (int r = 0; r <= REPEATS; r++) {
        double start = plx__now();
        check(plx__parallel_for(ctx, n, 1 << 17, triad_range, &t));
        if (r) best = fmin(best, plx__now() - start);
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return 24.0 * (double)n / best;
}

/* ---- data ---- */

static int compare_columns(const void *x, const void *y)
{
    int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
    return (a > b) - (a < b);
}

/* Word floor(words u^3), crowded at the front; a third of a document's words are shifted by its class. Columns are
 * scrambled, so that frequent words are not neighbours. Equal words of a document are counted together. */
static plx_csr word_counts(plx_index n, plx_index words, plx_index entries, plx_index k, uint64_t seed)
{
    plx_csr a;
    plx_index length = entries / n, nnz = 0;
    plx_index drawn = length + length / 40; /* about so many make `length` different ones */
    plx__rng rng = plx__rng_start(seed, PLX__STREAM('c', 'e', 'm', 'b', 0));
    plx_index *place = NULL;
    check(plx__arena_csr(&a, plx__scratch(ctx), n, words, n * drawn));
    check(plx__arena_i64(&place, plx__scratch(ctx), words));
    plx__permutation(&rng, place, words);
    for (plx_index i = 0; i < n; i++) {
        int32_t *row = a.col + nnz;
        for (plx_index p = 0; p < drawn; p++) {
            double u = plx__next_uniform(&rng);
            plx_index w = (plx_index)((double)words * u * u * u);
            if (p % 3 == 0) w = (w + (i % k) * words / k) % words;
            row[p] = (int32_t)place[w];
        }
        qsort(row, (size_t)drawn, sizeof *row, compare_columns);
        plx_index kept = 0;
        for (plx_index p = 0; p < drawn; p++) {
            if (kept && row[kept - 1] == row[p]) a.val[nnz + kept - 1] += 1;
            else {
                row[kept] = row[p];
                a.val[nnz + kept++] = 1;
            }
        }
        nnz += kept;
        a.ptr[i + 1] = nnz;
    }
    return a;
}

static void write_raw(const char *directory, const char *name, plx_index view, const void *data, size_t bytes)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s%lld.bin", directory, name, (long long)view);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, bytes, f) != bytes || fclose(f) != 0) {
        fprintf(stderr, "bench_coem: cannot write %s\n", path);
        exit(1);
    }
}

/* ---- iterations ---- */

typedef struct clock_book {
    double last, best, last_cpu, best_cpu;
    plx_index iteration;
} clock_book;

static double cpu_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static int note_time(const plx_progress *p, void *payload)
{
    clock_book *book = payload;
    double now = plx__now(), cpu = cpu_seconds();
    if (book->iteration > 0 && p->iteration > book->iteration) { /* fast iterations are not all told */
        double count = (double)(p->iteration - book->iteration);
        book->best = fmin(book->best, (now - book->last) / count);
        book->best_cpu = fmin(book->best_cpu, (cpu - book->last_cpu) / count);
    }
    book->last = now;
    book->last_cpu = cpu;
    book->iteration = p->iteration;
    return 0;
}

static clock_book iteration_seconds(const plx_dataset *data, plx_index k)
{
    clock_book book = {.best = INFINITY, .best_cpu = INFINITY};
    plx_params *p = NULL;
    plx_model *m = NULL;
    check(plx_params_create(&p, ctx, "coem"));
    check(plx_params_set_int(p, ctx, "clusters", k));
    check(plx_params_set_int(p, ctx, "max_iter", ITERATIONS));
    check(plx_params_set(p, ctx, "tol", "0"));
    plx_context_set_progress(ctx, note_time, &book);
    check(plx_fit(&m, ctx, "coem", data, p, NULL));
    plx_context_set_progress(ctx, NULL, NULL);
    plx_model_destroy(m);
    plx_params_destroy(p);
    return book;
}

static void bench(plx_index n, plx_index words, plx_index entries, plx_index k, plx_index views)
{
    plx_dataset *data = NULL;
    double bytes = 0, nnz = 0, classes = (double)k;
    check(plx_dataset_create(&data, ctx, "bench", n));
    for (plx_index v = 0; v < views; v++) {
        char name[32];
        plx__mark mark = plx__arena_mark(plx__scratch(ctx));
        plx_csr a = word_counts(n, words, entries / views, k, (uint64_t)v + 1);
        snprintf(name, sizeof name, "v%lld", (long long)v);
        check(plx__dataset_add_sparse(data, ctx, name, PLX_VIEW_COUNTS, plx__ccsr(a), NULL, NULL));
        nnz += (double)a.ptr[n];
        bytes += 2 * (12.0 * (double)a.ptr[n] + 8.0 * (double)n) + 2 * 8.0 * classes * (double)words +
                 4 * 8.0 * classes * (double)n;
        plx__arena_rewind(plx__scratch(ctx), mark);
    }
    double before = triad_bandwidth();
    clock_book book = iteration_seconds(data, k);
    double seconds = book.best, bandwidth = fmax(before, triad_bandwidth());
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf(
        "coem iteration, %.0fk x %.0fk, %lld views, %.1fM entries, %lld classes: %.2f of triad (%.1f GB/s compulsory, "
        "triad %.1f GB/s, %.1f ms, processors %.1f ms, %.2f ns per entry and class; peak memory %.2f GiB)\n",
        (double)n / 1e3, (double)words / 1e3, (long long)views, nnz / 1e6, (long long)k, bytes / seconds / bandwidth,
        bytes / seconds / 1e9, bandwidth / 1e9, seconds * 1e3, book.best_cpu * 1e3, seconds * 1e9 / nnz / classes,
        (double)usage.ru_maxrss / 1048576.0);
    plx_dataset_destroy(data);
}

static void write_data(const char *directory, plx_index n, plx_index words, plx_index entries, plx_index views)
{
    for (plx_index v = 0; v < views; v++) {
        plx_csr a = word_counts(n, words, entries / views, 20, (uint64_t)v + 1);
        write_raw(directory, "ptr", v, a.ptr, (size_t)(n + 1) * sizeof *a.ptr);
        write_raw(directory, "col", v, a.col, (size_t)a.ptr[n] * sizeof *a.col);
        write_raw(directory, "val", v, a.val, (size_t)a.ptr[n] * sizeof *a.val);
    }
}

static plx_index argument(int argc, char **argv, int i, plx_index otherwise)
{
    return argc > i ? (plx_index)strtoll(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    bool writing = argc > 1 && strcmp(argv[1], "write") == 0;
    o.threads = (int)(writing ? 1 : argument(argc, argv, 6, 0));
    if (plx_context_create(&ctx, &o) != PLX_OK) return 1;
    if (writing && argc > 2)
        write_data(argv[2], argument(argc, argv, 3, 100000), argument(argc, argv, 4, 50000),
                   argument(argc, argv, 5, 10000000), argument(argc, argv, 6, 1));
    else
        bench(argument(argc, argv, 1, 100000), argument(argc, argv, 2, 50000), argument(argc, argv, 3, 10000000),
              argument(argc, argv, 4, 20), argument(argc, argv, 5, 1));
    plx_context_destroy(ctx);
    return 0;
}
