/*
 * Members are contexts whose `parent` is set: they borrow its pool, and plx__poll() looks at its cancel flag too.
 */
#include "core/crew.h"

#include "core/parallel.h"

/* The parent's allocator need not know of threads. */
static void *locked_alloc(size_t bytes, void *crew_)
{
    plx__crew *crew = crew_;
    pthread_mutex_lock(&crew->lock);
    void *block = crew->parent->mem.alloc(bytes, crew->parent->mem.payload);
    pthread_mutex_unlock(&crew->lock);
    return block;
}

static void locked_release(void *block, void *crew_)
{
    plx__crew *crew = crew_;
    pthread_mutex_lock(&crew->lock);
    crew->parent->mem.release(block, crew->parent->mem.payload);
    pthread_mutex_unlock(&crew->lock);
}

static plx_status open_member(plx_context **out, plx__crew *crew, int64_t limit)
{
    plx_context *parent = crew->parent;
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    o.threads = 1; /* no pool of its own */
    o.seed = parent->seed;
    o.deterministic = parent->deterministic;
    o.memory_limit = limit;
    o.time_limit = parent->time_limit;
    o.arena_block = parent->arena_block;
    if (!parent->system_memory) o.allocator = (plx_allocator){locked_alloc, locked_release, crew};
    if (plx__context_create(out, &o) != PLX_OK) PLX_FAIL(parent, PLX_E_NOMEM, "out of memory");
    (*out)->parent = parent;
    (*out)->threads = parent->threads;
    (*out)->pool = parent->pool;
    (*out)->call_started = parent->call_started;
    return PLX_OK;
}

plx_status plx__crew_open(plx__crew *crew, plx_context *parent, plx_index most)
{
    int count = (int)plx__max(1, plx__min(plx__workers(parent), most));
    *crew = (plx__crew){.parent = parent, .opened = true};
    pthread_mutex_init(&crew->lock, NULL);
    PLX_TRY(PLX__ARENA_NEW(&crew->member, plx__scratch(parent), plx__workers(parent)));
    int64_t left = parent->memory_limit - (int64_t)atomic_load(&parent->memory_used);
    for (int i = 0; i < plx__workers(parent); i++) {
        PLX_TRY(open_member(&crew->member[i], crew, plx__max(left / count, 1)));
        crew->count++;
    }
    return PLX_OK;
}

void plx__crew_close(plx__crew *crew)
{
    if (!crew->opened) return;
    for (int i = 0; i < crew->count; i++) plx__context_destroy(crew->member[i]);
    pthread_mutex_destroy(&crew->lock);
    crew->opened = false;
}

void plx__crew_stop(plx__crew *crew)
{
    for (int i = 0; i < crew->count; i++) atomic_store(&crew->member[i]->cancelled, 1);
}
