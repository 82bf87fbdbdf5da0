/*
 * Threads that sleep between parallel loops. One mutex guards the job; `ticket` is also read without it by threads
 * that look for work before they go to sleep.
 */
#include "core/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "core/ctx.h"

#ifdef _OPENMP
#include <omp.h>
#else
static int omp_get_max_threads(void) { return 1; }
static void omp_set_num_threads(int n) { (void)n; }
#endif

enum { LOOKS = 2000 }; /* looks for work before sleeping: about 30 microseconds, the price of waking a thread */

typedef struct helper {
    plx__pool *pool;
    pthread_t thread;
    int worker;
} helper;

struct plx__pool {
    pthread_mutex_t lock;
    pthread_cond_t work, left;
    plx__crew_fn fn; /* NULL: no job to join */
    void *arg;
    atomic_ulong ticket; /* one per job: who has seen it does not join twice */
    atomic_int busy;     /* helpers inside fn */
    bool quit;
    pid_t owner; /* threads do not survive fork(): a child starts its own */
    int n_started, n_helpers;
    size_t bytes;
    helper helpers[];
};

static _Thread_local int this_worker = -1;

int plx__pool_worker(void) { return this_worker; }

static inline void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void look_for_work(plx__pool *pool, unsigned long seen)
{
    for (int i = 0; i < LOOKS && atomic_load_explicit(&pool->ticket, memory_order_relaxed) == seen; i++)
        pause_briefly();
}

/* With the lock held: join the job, leave the lock for its duration. */
static void help(plx__pool *pool, int worker)
{
    plx__crew_fn fn = pool->fn;
    void *arg = pool->arg;
    atomic_fetch_add(&pool->busy, 1);
    pthread_mutex_unlock(&pool->lock);
    fn(arg, worker);
    pthread_mutex_lock(&pool->lock);
    if (atomic_fetch_sub(&pool->busy, 1) == 1) pthread_cond_signal(&pool->left);
}

static void *helper_main(void *self_)
{
    helper *self = self_;
    plx__pool *pool = self->pool;
    unsigned long seen = 0;
    this_worker = self->worker;
    omp_set_num_threads(1); /* this thread's calls of BLAS stay on this thread */
    pthread_mutex_lock(&pool->lock);
    while (!pool->quit) {
        unsigned long ticket = atomic_load(&pool->ticket);
        if (ticket != seen && pool->fn) {
            seen = ticket;
            help(pool, self->worker);
            continue;
        }
        seen = ticket;
        pthread_mutex_unlock(&pool->lock);
        look_for_work(pool, seen);
        pthread_mutex_lock(&pool->lock);
        while (!pool->quit && atomic_load(&pool->ticket) == seen) pthread_cond_wait(&pool->work, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Signals are for the threads of the program, not for ours. */
static void start_helpers(plx__pool *pool)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (int h = pool->n_started; h < pool->n_helpers; h++) {
        pool->helpers[h] = (helper){.pool = pool, .worker = h + 1};
        if (pthread_create(&pool->helpers[h].thread, NULL, helper_main, &pool->helpers[h]) != 0) {
            pool->n_helpers = h; /* no more threads to be had: go on with those we have */
            break;
        }
        pool->n_started = h + 1;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void reset(plx__pool *pool)
{
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->left, NULL);
    pool->fn = NULL;
    atomic_init(&pool->ticket, 0);
    atomic_init(&pool->busy, 0);
    pool->n_started = 0;
    pool->owner = getpid();
}

plx_status plx__pool_open(plx__pool **out, plx_context *ctx, int threads)
{
    int helpers = threads - 1;
    size_t bytes = sizeof(plx__pool) + (size_t)helpers * sizeof(helper);
    plx__pool *pool = plx__alloc(ctx, bytes);
    *out = pool;
    if (!pool) return PLX_E_NOMEM;
    *pool = (plx__pool){.n_helpers = helpers, .bytes = bytes};
    reset(pool);
    return PLX_OK;
}

static void join_helpers(plx__pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->quit = true;
    atomic_fetch_add(&pool->ticket, 1);
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (int h = 0; h < pool->n_started; h++) pthread_join(pool->helpers[h].thread, NULL);
}

void plx__pool_close(plx__pool *pool, plx_context *ctx)
{
    if (!pool) return;
    if (pool->owner == getpid()) {
        join_helpers(pool);
        pthread_cond_destroy(&pool->left);
        pthread_cond_destroy(&pool->work);
        pthread_mutex_destroy(&pool->lock);
    }
    plx__release(ctx, pool, pool->bytes);
}

static void offer(plx__pool *pool, plx__crew_fn fn, void *arg)
{
    pthread_mutex_lock(&pool->lock);
    pool->fn = fn;
    pool->arg = arg;
    atomic_fetch_add(&pool->ticket, 1);
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

/* Nobody joins from here on; wait for those who have, first awake since they are on their last piece. */
static void withdraw(plx__pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->fn = NULL;
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < LOOKS && atomic_load_explicit(&pool->busy, memory_order_relaxed) > 0; i++) pause_briefly();
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&pool->busy) > 0) pthread_cond_wait(&pool->left, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void plx__pool_run(plx__pool *pool, plx__crew_fn fn, void *arg)
{
    if (pool->owner != getpid()) reset(pool);
    if (pool->n_started < pool->n_helpers) start_helpers(pool);
    int blas_threads = omp_get_max_threads();
    omp_set_num_threads(1);
    offer(pool, fn, arg);
    this_worker = 0;
    fn(arg, 0);
    this_worker = -1;
    withdraw(pool);
    omp_set_num_threads(blas_threads);
}
