/*
 * Time of reading one matrix file: bench_read FILE THREADS REPEATS prints the best of so many runs in seconds, elapsed
 * and as processor time of all threads, and the sum of what was read, so that the caller can see that another reader
 * found the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "io/matrix_file.h"

static double checksum(const plx__table *t)
{
    double sum = 0;
    plx_index count = t->sparse ? t->csr.ptr[t->csr.rows] : t->dense.rows * t->dense.cols;
    const double *x = t->sparse ? t->csr.val : t->dense.data;
    for (plx_index i = 0; i < count; i++) sum += x[i];
    return sum;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: bench_read FILE THREADS REPEATS\n");
        return 2;
    }
    double best = 1e300, cpu = 1e300;
    for (int i = 0; i < atoi(argv[3]); i++) {
        plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
        o.threads = atoi(argv[2]);
        plx_context *ctx = NULL;
        plx__table t;
        plx__arena arena;
        if (plx_context_create(&ctx, &o) != PLX_OK) return 1;
        plx__arena_init(&arena, ctx);
        double start = plx__now();
        clock_t worked = clock();
        if (plx__matrix_file_read(&t, ctx, &arena, argv[1], NULL) != PLX_OK) {
            fprintf(stderr, "%s\n", plx_context_error(ctx));
            return 1;
        }
        double seconds = plx__now() - start;
        double processor = (double)(clock() - worked) / CLOCKS_PER_SEC;
        if (seconds < best) best = seconds;
        if (processor < cpu) cpu = processor;
        if (i == 0)
            printf("rows %lld cols %lld sum %.17g\n", (long long)(t.sparse ? t.csr.rows : t.dense.rows),
                   (long long)(t.sparse ? t.csr.cols : t.dense.cols), checksum(&t));
        plx__arena_free(&arena);
        plx_context_destroy(ctx);
    }
    printf("seconds %.4f cpu %.4f\n", best, cpu);
    return 0;
}
