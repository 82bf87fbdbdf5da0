/*
 * Between the files of the device layer.
 */
#ifndef PLX_DEVICE_DEVICE_IMPL_H
#define PLX_DEVICE_DEVICE_IMPL_H

#include <pthread.h>
#include <sys/types.h>

#include "device/device_session.h"

enum { PLX__DEVICE_NAME = 32 };

typedef struct plx__held { /* something on the device that goes with its session */
    struct plx__held *before;
    plx_device_buffer *buffer;
    plx_device_csr *csr;
    int64_t bytes;
} plx__held;

enum { PLX__DEVICE_TIMED = 48 };

typedef struct plx__device_time {
    const char *operation;
    int64_t calls;
    double seconds;
} plx__device_time;

typedef struct plx__device_times {
    bool on;
    int count;
    double mark, elsewhere; /* when the last operation ended; seconds between operations */
    plx__device_time entry[PLX__DEVICE_TIMED];
} plx__device_times;

/* What opening a device needs and leaves; while `running` it is the thread's. */
typedef struct plx__device_opening {
    char name[PLX__DEVICE_NAME];
    const plx_device_table *table; /* NULL: not looked for yet */
    plx_device_table found;        /* of a shared object */
    plx_device *opened;            /* NULL: not yet */
    char why[768];                 /* ... it cannot be */
    pthread_t thread;
    pid_t owner; /* of the thread */
    bool running;
} plx__device_opening;

struct plx__device {
    plx_context *ctx;
    bool insist; /* asked for by name; else auto */
    bool eager;  /* all work pays */
    bool lost;   /* cannot be opened, or failed: not asked again */
    plx__device_opening at;
    bool known; /* open, and its facts are */
    plx_device_facts facts;
    int64_t memory;   /* most bytes to take; 0: what there is */
    int64_t used;     /* taken */
    int64_t failures; /* calls that failed, and needs that were too large */
    int64_t sessions, told;
    plx__held *held;
    plx__device_times times;
};

/* device_times.c: of the outermost session, where diagnostics are wanted. What is not between begin and end is the CPU's. */
void plx__device_times_start(plx__device *dev);
void plx__device_times_begin(plx__device *dev);
void plx__device_times_end(plx__device *dev, const char *operation);
void plx__device_times_tell(plx__device *dev, const char *what);

/* The table of libparallax_NAME.so, which stays loaded; or false and the reason. */
bool plx__device_find(plx_device_table *out, const char *name, char *why, size_t size);

/* Open it now, in a thread of its own; wait for that (false: there was none); open it if that is not done yet: false with
 * the reason in `why`. */
void plx__device_open_ahead(plx__device_opening *o);
bool plx__device_open_wait(plx__device_opening *o);
bool plx__device_open_done(plx__device_opening *o);

#endif
