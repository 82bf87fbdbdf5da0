/*
 * plx__parallel_for on the context's threads: dynamic hand-out of fixed chunks, lowest failure wins.
 */
#include "core/parallel.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/pool.h"

static _Thread_local int loops; /* this thread is inside of */

bool plx__in_loop(void) { return loops > 0; }

typedef struct loop {
    plx_context *ctx;
    plx_index n, grain, chunks;
    plx__range_fn fn;
    void *arg;
    atomic_llong next;    /* first chunk nobody has taken */
    atomic_llong failed;  /* lowest failing chunk; chunks: none */
    pthread_mutex_t lock; /* of what follows */
    plx_status status;
    char text[PLX__ERROR_BYTES];
} loop;

static void note_failure(loop *l, plx_index chunk, plx_status st, const char *text)
{
    pthread_mutex_lock(&l->lock);
    if (chunk < atomic_load(&l->failed)) {
        atomic_store(&l->failed, chunk);
        l->status = st;
        snprintf(l->text, sizeof l->text, "%s", text);
    }
    pthread_mutex_unlock(&l->lock);
}

static plx_status run_chunk(loop *l, plx_index chunk, int worker)
{
    plx_index begin = chunk * l->grain;
    PLX_TRY(plx__poll(l->ctx));
    loops++;
    plx_status st = l->fn(l->arg, l->ctx, begin, plx__min(l->n, begin + l->grain), worker);
    loops--;
    return st;
}

/* Chunks are handed out in rising order, so when chunk c fails every lower one has been started and
 * will finish: leaving the higher ones out still leaves the lowest failure to be reported. */
static void take_chunks(void *loop_, int worker)
{
    loop *l = loop_;
    plx__error_slot slot = {{0}};
    plx__error_redirect(&slot);
    for (;;) {
        plx_index c = atomic_fetch_add(&l->next, 1);
        if (c >= l->chunks || c > atomic_load(&l->failed)) break;
        plx_status st = run_chunk(l, c, worker);
        if (st == PLX_OK) continue;
        note_failure(l, c, st, slot.text);
        slot.text[0] = '\0';
    }
    plx__error_redirect(NULL);
}

static plx_status serial_for(plx_context *ctx, plx_index n, plx_index grain, plx__range_fn fn, void *arg)
{
    int worker = plx__pool_worker() < 0 ? 0 : plx__pool_worker();
    plx_status st = PLX_OK;
    loops++;
    for (plx_index b = 0; b < n && st == PLX_OK; b += grain) {
        st = plx__poll(ctx);
        if (st == PLX_OK) st = fn(arg, ctx, b, plx__min(n, b + grain), worker);
    }
    loops--;
    return st;
}

int plx__workers(const plx_context *ctx) { return ctx->threads; }

plx_status plx__parallel_for(plx_context *ctx, plx_index n, plx_index grain, plx__range_fn fn, void *arg)
{
    if (grain < 1) grain = 1;
    plx_index chunks = n / grain + (n % grain != 0);
    if (chunks <= 1 || ctx->threads <= 1 || plx__pool_worker() >= 0) return serial_for(ctx, n, grain, fn, arg);
    loop l = {.ctx = ctx, .n = n, .grain = grain, .chunks = chunks, .fn = fn, .arg = arg, .status = PLX_OK};
    atomic_init(&l.next, 0);
    atomic_init(&l.failed, chunks);
    pthread_mutex_init(&l.lock, NULL);
    plx__pool_run(ctx->pool, take_chunks, &l);
    pthread_mutex_destroy(&l.lock);
    if (l.status != PLX_OK && l.text[0]) return plx__fail(ctx, l.status, "%s", l.text);
    return l.status;
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

static double sum_in_order(double sum, const double *x, plx_index n)
{
    for (plx_index i = 0; i < n; i++) sum += x[i];
    return sum;
}

/* The four quarters side by side: an addition waits for the one before it, so that one chain alone leaves the adder idle. */
static double sum_quarters(const double *x, plx_index n)
{
    plx_index half = n / 2, a = half / 2, b = (n - half) / 2; /* no quarter is shorter than a */
    const double *y = x + a, *z = x + half, *w = z + b;
    double s = 0, t = 0, u = 0, v = 0;
    for (plx_index i = 0; i < a; i++) {
        s += x[i];
        t += y[i];
        u += z[i];
        v += w[i];
    }
    t = sum_in_order(t, y + a, half - a - a);
    u = sum_in_order(u, z + a, b - a);
    v = sum_in_order(v, w + a, n - half - b - a);
    return (s + t) + (u + v);
}

/* Halves down to pieces of at most LEAF numbers; two halvings at once give the same bytes. */
double plx__sum(const double *x, plx_index n)
{
    enum { LEAF = 128 };
    if (n <= LEAF) return sum_in_order(0, x, n);
    if (n > 2 * LEAF + 1 && n <= 4 * LEAF) return sum_quarters(x, n);
    plx_index half = n / 2;
    return plx__sum(x, half) + plx__sum(x + half, n - half);
}
