/*
 * plx__parallel_for on OpenMP: dynamic hand-out of fixed chunks, lowest failure wins.
 */
#include "core/parallel.h"

#include <stdio.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#else
static int omp_in_parallel(void) { return 0; }
static int omp_get_thread_num(void) { return 0; }
#endif

typedef struct failure {
    plx_index chunk; /* lowest failing chunk; n_chunks: none */
    plx_status status;
    char text[PLX__ERROR_BYTES];
} failure;

static void note_failure(failure *f, plx_index chunk, plx_status st, const char *text)
{
#pragma omp critical(plx_parallel_failure)
    if (chunk < f->chunk) {
        f->chunk = chunk;
        f->status = st;
        snprintf(f->text, sizeof f->text, "%s", text);
    }
}

/* Chunks are handed out in rising order, so when chunk c fails every lower one has been started and
 * will finish: skipping the higher ones still leaves the lowest failure to be reported. */
static bool skip(const failure *f, plx_index chunk)
{
    plx_index first;
#pragma omp atomic read
    first = f->chunk;
    return chunk > first;
}

static plx_status serial_for(plx_context *ctx, plx_index n, plx_index grain, plx__range_fn fn, void *arg)
{
    int worker = omp_in_parallel() ? omp_get_thread_num() : 0;
    for (plx_index b = 0; b < n; b += grain) {
        PLX_TRY(plx__poll(ctx));
        PLX_TRY(fn(arg, ctx, b, plx__min(n, b + grain), worker));
    }
    return PLX_OK;
}

int plx__workers(const plx_context *ctx) { return ctx->threads; }

plx_status plx__parallel_for(plx_context *ctx, plx_index n, plx_index grain, plx__range_fn fn, void *arg)
{
    if (grain < 1) grain = 1;
    plx_index chunks = n / grain + (n % grain != 0);
    if (chunks <= 1 || ctx->threads <= 1 || omp_in_parallel()) return serial_for(ctx, n, grain, fn, arg);
    failure f = {.chunk = chunks, .status = PLX_OK};
#pragma omp parallel num_threads(ctx->threads)
    {
        plx__error_slot slot = {{0}};
        plx__error_redirect(&slot);
#pragma omp for schedule(dynamic, 1)
        for (plx_index c = 0; c < chunks; c++) {
            if (skip(&f, c)) continue;
            plx_index begin = c * grain;
            plx_status st = plx__poll(ctx);
            if (st == PLX_OK) st = fn(arg, ctx, begin, plx__min(n, begin + grain), omp_get_thread_num());
            if (st != PLX_OK) {
                note_failure(&f, c, st, slot.text);
                slot.text[0] = '\0';
            }
        }
        plx__error_redirect(NULL);
    }
    if (f.status != PLX_OK && f.text[0]) return plx__fail(ctx, f.status, "%s", f.text);
    return f.status;
}

typedef struct sum_job {
    plx__sum_fn fn;
    void *arg;
    plx_index grain, width;
    double *partials;
} sum_job;

static plx_status sum_chunk(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    sum_job *job = job_;
    (void)worker;
    return job->fn(job->arg, ctx, begin, end, job->partials + begin / job->grain * job->width);
}

plx_status plx__parallel_sum(plx_context *ctx, plx_index n, plx_index grain, plx_index width, plx__sum_fn fn, void *arg,
                             double *out)
{
    if (grain < 1) grain = 1;
    plx_index chunks = n / grain + (n % grain != 0);
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    sum_job job = {fn, arg, grain, width, NULL};
    PLX_TRY(plx__arena_f64(&job.partials, plx__scratch(ctx), chunks, width));
    PLX_TRY(plx__parallel_for(ctx, n, grain, sum_chunk, &job));
    memset(out, 0, (size_t)width * sizeof *out);
    for (plx_index c = 0; c < chunks; c++)
        for (plx_index j = 0; j < width; j++) out[j] += job.partials[c * width + j];
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

double plx__sum(const double *x, plx_index n)
{
    if (n <= 128) {
        double s = 0;
        for (plx_index i = 0; i < n; i++) s += x[i];
        return s;
    }
    plx_index half = n / 2;
    return plx__sum(x, half) + plx__sum(x + half, n - half);
}
