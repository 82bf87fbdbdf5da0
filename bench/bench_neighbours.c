/*
 * One search for the nearest neighbours of all rows, driven by bench_neighbours.py.
 *
 * usage: bench_neighbours FILE ROWS COLS ENTRIES K METRIC THREADS TARGET OUT
 *        FILE: raw doubles (ENTRIES 0), or ROWS + 1 row starts (64 bit), columns (32 bit) and values of a sparse matrix;
 *        METRIC euclid or cosine; TARGET: recall, or 0 for the exact search; OUT: K indices (64 bit) per row.
 * Prints seconds by the clock, seconds of the processors, and the recall it measured itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "graph/descent.h"

static plx_context *ctx;

static void check(plx_status st)
{
    if (st == PLX_OK) return;
    fprintf(stderr, "bench_neighbours: %s\n", plx_context_error(ctx));
    exit(1);
}

static void must(bool fine, const char *what)
{
    if (fine) return;
    fprintf(stderr, "bench_neighbours: cannot %s\n", what);
    exit(1);
}

static plx__points read_rows(const char *path, plx_index rows, plx_index cols, plx_index entries)
{
    FILE *in = fopen(path, "rb");
    plx_csr csr;
    plx_mat dense;
    must(in != NULL, "open the file of rows");
    if (!entries) {
        check(plx__arena_mat(&dense, plx__scratch(ctx), rows, cols));
        must(fread(dense.data, sizeof(double), (size_t)(rows * cols), in) == (size_t)(rows * cols), "read the rows");
        fclose(in);
        return plx__points_dense(plx__cmat(dense));
    }
    check(plx__arena_csr(&csr, plx__scratch(ctx), rows, cols, entries));
    must(fread(csr.ptr, sizeof *csr.ptr, (size_t)rows + 1, in) == (size_t)rows + 1, "read the row starts");
    must(fread(csr.col, sizeof *csr.col, (size_t)entries, in) == (size_t)entries, "read the columns");
    must(fread(csr.val, sizeof *csr.val, (size_t)entries, in) == (size_t)entries, "read the values");
    fclose(in);
    return plx__points_csr(plx__ccsr(csr));
}

int main(int argc, char **argv)
{
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    plx__descent_report report = {.recall = 1.0};
    int64_t *index = NULL;
    must(argc == 10, "tell what to do: FILE ROWS COLS ENTRIES K METRIC THREADS TARGET OUT");
    plx_index rows = atoll(argv[2]), k = atoll(argv[5]);
    double target = atof(argv[8]);
    o.threads = atoi(argv[7]);
    must(plx_context_create(&ctx, &o) == PLX_OK, "create a context");
    plx__points p = read_rows(argv[1], rows, atoll(argv[3]), atoll(argv[4]));
    plx__knn_options knn = {.k = k, .self = true, .metric = strcmp(argv[6], "cosine") == 0 ? PLX__COSINE : PLX__EUCLID};
    check(plx__arena_i64(&index, plx__scratch(ctx), rows * k));
    double wall = plx__now();
    clock_t used = clock();
    if (target > 0) check(plx__descent_knn(ctx, p, &knn, target, index, NULL, &report));
    else check(plx__knn(ctx, p, p, &knn, index, NULL));
    printf("%.3f %.3f %.4f\n", plx__now() - wall, (double)(clock() - used) / CLOCKS_PER_SEC, report.recall);
    FILE *out = fopen(argv[9], "wb");
    must(out && fwrite(index, sizeof *index, (size_t)(rows * k), out) == (size_t)(rows * k), "write the neighbours");
    fclose(out);
    plx_context_destroy(ctx);
    return 0;
}
