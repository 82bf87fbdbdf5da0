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
    pthread_mutex_t lock; /* of the parent's allocator */
    bool opened;
} plx__crew;

/* One member per worker of the parent, each allowed an equal share of the memory that is left; fewer loops than workers:
 * `most` members are enough. Close it whether or not it could be opened. */
plx_status plx__crew_open(plx__crew *crew, plx_context *parent, plx_index most);
void plx__crew_close(plx__crew *crew);

/* Ask all members to stop. Any thread. */
void plx__crew_stop(plx__crew *crew);

#endif
