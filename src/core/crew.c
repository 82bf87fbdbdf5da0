/*
 * Members are contexts whose `parent` is set: they borrow its pool, and plx__poll() looks at its cancel flag too.
 */
#include "core/crew.h"

#include <signal.h>

#include "core/parallel.h"

#ifdef _OPENMP
#include <omp.h>
#else
static void omp_set_num_threads(int n) { (void)n; }
#endif

/* The parent's allocator need not know of threads. */
static void *locked_alloc(size_t bytes, void *crew_)
{
    plx__crew *crew = crew_;
    pthread_mutex_lock(&crew->lock);
    void *block = crew->below.alloc(bytes, crew->below.payload);
    pthread_mutex_unlock(&crew->lock);
    return block;
}

static void locked_release(void *block, void *crew_)
{
    plx__crew *crew = crew_;
    pthread_mutex_lock(&crew->lock);
    crew->below.release(block, crew->below.payload);
    pthread_mutex_unlock(&crew->lock);
}

static plx_status open_member(plx_context **out, plx__crew *crew, int64_t limit, int threads)
{
    plx_context *parent = crew->parent;
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    o.threads = threads;
    o.seed = parent->seed;
    o.deterministic = parent->deterministic;
    o.memory_limit = limit;
    o.time_limit = parent->time_limit;
    o.arena_block = parent->arena_block;
    if (!parent->system_memory) o.allocator = (plx_allocator){locked_alloc, locked_release, crew};
    if (plx__context_create(out, &o) != PLX_OK) PLX_FAIL(parent, PLX_E_NOMEM, "out of memory");
    (*out)->parent = parent;
    (*out)->paging = parent->paging;
    (*out)->call_started = parent->call_started;
    return PLX_OK;
}

static plx_status open_crew(plx__crew *crew, plx_context *parent, int members)
{
    *crew = (plx__crew){.parent = parent, .below = parent->mem, .opened = true};
    pthread_mutex_init(&crew->lock, NULL);
    return PLX__ARENA_NEW(&crew->member, plx__scratch(parent), members);
}

static int64_t share_of_memory(const plx_context *parent, int count)
{
    return plx__max((parent->memory_limit - (int64_t)atomic_load(&parent->memory_used)) / count, 1);
}

plx_status plx__crew_open(plx__crew *crew, plx_context *parent, plx_index most)
{
    int count = (int)plx__max(1, plx__min(plx__workers(parent), most));
    PLX_TRY(open_crew(crew, parent, plx__workers(parent)));
    int64_t share = share_of_memory(parent, count);
    for (int i = 0; i < plx__workers(parent); i++) {
        PLX_TRY(open_member(&crew->member[i], crew, share, 1)); /* no pool of its own: the parent's */
        crew->member[i]->threads = parent->threads;
        crew->member[i]->pool = parent->pool;
        crew->count++;
    }
    return PLX_OK;
}

void plx__crew_close(plx__crew *crew)
{
    if (!crew->opened) return;
    for (int i = 0; i < crew->count; i++) plx__context_destroy(crew->member[i]);
    crew->parent->mem = crew->below;
    pthread_mutex_destroy(&crew->lock);
    crew->opened = false;
}

void plx__crew_stop(plx__crew *crew)
{
    for (int i = 0; i < crew->count; i++) atomic_store(&crew->member[i]->cancelled, 1);
}

/* ---- on threads of their own ---- */

plx_status plx__crew_open_apart(plx__crew *crew, plx_context *parent, int count, int threads)
{
    PLX_TRY(open_crew(crew, parent, count));
    /* The caller's thread works too, while the members do. */
    if (!parent->system_memory) parent->mem = (plx_allocator){locked_alloc, locked_release, crew};
    int64_t share = share_of_memory(parent, count);
    for (int i = 0; i < count; i++) {
        PLX_TRY(open_member(&crew->member[i], crew, share, threads));
        crew->count++;
    }
    return PLX_OK;
}

typedef struct seat {
    pthread_t thread;
    plx__member_fn fn;
    void *arg;
    plx_context *member;
    int number;
} seat;

static void *sit_down(void *seat_)
{
    seat *s = seat_;
    omp_set_num_threads(1); /* this thread's calls of BLAS stay on this thread */
    s->fn(s->arg, s->member, s->number);
    return NULL;
}

/* Signals are for the threads of the program, not for ours. Returns how many could be started. */
static int start_members(seat *seats, int count)
{
    sigset_t all, before;
    int started = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (started < count && pthread_create(&seats[started].thread, NULL, sit_down, &seats[started]) == 0) started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

plx_status plx__crew_run_apart(plx__crew *crew, plx__member_fn fn, plx_status (*watch)(void *arg, int started),
                               void *arg)
{
    seat *seats = NULL;
    PLX_TRY(PLX__ARENA_NEW(&seats, plx__scratch(crew->parent), crew->count));
    for (int i = 0; i < crew->count; i++)
        seats[i] = (seat){.fn = fn, .arg = arg, .member = crew->member[i], .number = i};
    int started = start_members(seats, crew->count);
    if (started == 0) PLX_FAIL(crew->parent, PLX_E_NOMEM, "no thread can be started; the system's limit is reached");
    plx_status st = watch(arg, started);
    if (st != PLX_OK) plx__crew_stop(crew);
    for (int i = 0; i < started; i++) pthread_join(seats[i].thread, NULL);
    return st;
}
