/*
 * Contexts for whole computations side by side: each worker of a parallel loop gets one of its own, with scratch memory,
 * notes and a seed of its own, and calls what it likes with it. They share the threads of the parent (loops inside run
 * on the worker that started them), its allocator behind a lock, its time limit, and stop when it is cancelled. What is
 * made with a member goes back before the crew is closed.
 */
#ifndef PLX_CORE_CREW_H
#define PLX_CORE_CREW_H

#include <pthread.h>

#include "core/ctx.h"

typedef struct plx__crew {
    plx_context *parent;
    plx_context **member; /* count */
    int count;
    plx_allocator below;  /* the parent's, */
    pthread_mutex_t lock; /* which need not know of threads */
    bool opened;
} plx__crew;

/* What a member does on a thread of its own. */
typedef void (*plx__member_fn)(void *arg, plx_context *member, int number);

/* One member per worker of the parent, each allowed an equal share of the memory that is left; fewer loops than workers:
 * `most` members are enough. Close it whether or not it could be opened. */
plx_status plx__crew_open(plx__crew *crew, plx_context *parent, plx_index most);
void plx__crew_close(plx__crew *crew);

/* The same for computations that take long enough to have threads of their own, which stand beside those of the parent:
 * `count` members with `threads` threads each for their loops. */
plx_status plx__crew_open_apart(plx__crew *crew, plx_context *parent, int count, int threads);

/* Calls `fn` once for every member, each on a thread of its own, and `watch` on the caller's thread, which returns when
 * nothing is left to be watched for: when it was told so by the members, or with a failure that it has told them of.
 * Returns what `watch` gave when all members have left `fn`; members for whom no thread can be had are done without. */
plx_status plx__crew_run_apart(plx__crew *crew, plx__member_fn fn, plx_status (*watch)(void *arg, int started),
                               void *arg);

/* Ask all members to stop. Any thread. */
void plx__crew_stop(plx__crew *crew);

#endif
