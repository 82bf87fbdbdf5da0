/*
 * Blocks as mappings of nameless files, and the keeper that bounds how much of them is resident.
 *
 * Letting go is MADV_DONTNEED on shared mappings: it takes pages out of this process, not out of the file, so it is
 * safe at any moment, whatever other threads do with the block; the next access maps the page again, from the system's
 * cache if it is still there, else from the disk.
 */
#include "core/paging.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/ctx.h"

/* The system maps no more than 65,530 regions in a process (vm.max_map_count). */
enum { LOOK_NS = 300000, STEP = 1 << 20, LEAST_RESIDENT = 24 << 20, MOST_BETWEEN = 1 << 30, MOST_REGIONS = 1 << 16 };

typedef struct region {
    void *at;
    size_t bytes;
    bool own;     /* a block of ours; else an input that is only watched */
    bool at_hand; /* let go after all others */
} region;

struct plx__paging {
    plx_context *ctx;     /* whose memory limit counts, and which holds this */
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t end;
    region *regions; /* room for MOST_REGIONS, whose pages come when they are used */
    size_t count;
    int64_t used;
    int64_t elsewhere;   /* resident pages of files that cannot be let go: programs and libraries, or that come back */
    atomic_llong looked; /* when, in nanoseconds */
    bool running, quit;
    pthread_t keeper;
    pid_t owner; /* of the keeper: threads do not survive fork() */
    int statm;   /* of the owner, open: it is read thousands of times per second; -1: not there */
    char directory[];
};

/* ---- files ---- */

const char *plx__temporary_directory(void)
{
    const char *chosen = getenv("TMPDIR");
    return chosen && chosen[0] ? chosen : "/var/tmp";
}

int plx__nameless_file(const char *directory)
{
    char name[4096];
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) return fd;
    int length = snprintf(name, sizeof name, "%s/parallax-XXXXXX", directory); /* where O_TMPFILE is not known */
    if (length < 0 || (size_t)length >= sizeof name) return -1;
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0) unlink(name);
    return fd;
}

static void *map_file(const char *directory, size_t bytes)
{
    int fd = plx__nameless_file(directory);
    if (fd < 0) return NULL;
    void *at = MAP_FAILED;
    if (posix_fallocate(fd, 0, (off_t)bytes) == 0) at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return at == MAP_FAILED ? NULL : at;
}

/* ---- the keeper ---- */

/* Bytes of files that are mapped into this process and resident. */
static int64_t resident_files(const plx__paging *p)
{
    long long total = 0, resident = 0, shared = 0;
    char line[128];
    ssize_t length = p->statm < 0 ? -1 : pread(p->statm, line, sizeof line - 1, 0);
    if (length <= 0) return 0;
    line[length] = '\0';
    if (sscanf(line, "%lld %lld %lld", &total, &resident, &shared) != 3) return 0;
    return (int64_t)shared * (int64_t)sysconf(_SC_PAGESIZE);
}

/* Room is left for what comes in between two looks, and for what is not counted: half of a small limit, 1 GiB of a large
 * one. */
static int64_t allowed(const plx__paging *p)
{
    int64_t limit = p->ctx->memory_limit, room = plx__min(limit / 2, (int64_t)MOST_BETWEEN);
    return plx__max((int64_t)LEAST_RESIDENT, limit - room - (int64_t)atomic_load(&p->ctx->memory_used) - p->elsewhere);
}

/* All but up to `spared` bytes of the blocks that are wanted at hand. */
static void let_go(const plx__paging *p, int64_t spared)
{
    for (size_t i = 0; i < p->count; i++) {
        const region *r = &p->regions[i];
        if (r->at_hand && (int64_t)r->bytes <= spared) spared -= (int64_t)r->bytes;
        else madvise(r->at, r->bytes, MADV_DONTNEED);
    }
}

static bool is_too_much(const plx__paging *p, int64_t most) { return resident_files(p) - p->elsewhere > most; }

/* What is not resident is not resident elsewhere: pages of ours that came back too fast were counted so. */
static void forget_what_left(plx__paging *p)
{
    int64_t resident = resident_files(p); /* 0: cannot be read */
    if (resident > 0) p->elsewhere = plx__min(p->elsewhere, resident);
}

/* With the lock held. */
static void look(plx__paging *p)
{
    forget_what_left(p);
    int64_t most = allowed(p);
    atomic_store_explicit(&p->looked, (long long)(1e9 * plx__now()), memory_order_relaxed);
    if (!p->count || !is_too_much(p, most)) return;
    let_go(p, most - most / 4);
    if (!is_too_much(p, most)) return;
    let_go(p, 0);
    forget_what_left(p);
    if (!is_too_much(p, allowed(p))) return;
    /* What is left then cannot be let go, such as libraries opened since; or came back already, so it counts slowly. */
    p->elsewhere = plx__min(resident_files(p), p->elsewhere + STEP);
}

void plx__paging_look(plx__paging *p)
{
    long long now = (long long)(1e9 * plx__now());
    if (now - atomic_load_explicit(&p->looked, memory_order_relaxed) < LOOK_NS) return;
    if (pthread_mutex_trylock(&p->lock) != 0) return;
    look(p);
    pthread_mutex_unlock(&p->lock);
}

/* A thread that sleeps most of the time and asks for short turns gets them at once (Linux 6.12 and newer), however busy
 * the machine is; elsewhere it has to wait for its turn. */
static void ask_for_short_turns(void)
{
#ifdef SYS_sched_setattr
    enum { TURN_NS = 100000 }; /* the least there is */
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } turns = {.size = sizeof turns, .policy = SCHED_OTHER, .runtime = TURN_NS};
    turns.nice = getpriority(PRIO_PROCESS, 0);
    syscall(SYS_sched_setattr, 0, &turns, 0); /* refused: no harm is done */
#endif
}

static void *keep(void *paging_)
{
    plx__paging *p = paging_;
    ask_for_short_turns();
    pthread_mutex_lock(&p->lock);
    while (!p->quit) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += LOOK_NS;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&p->end, &p->lock, &until);
        look(p);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* With the lock held. Signals are for the threads of the program; without a keeper the blocks work as well, but the
 * system alone decides what is resident. */
static void start_keeper(plx__paging *p)
{
    sigset_t all, before;
    if (p->running && p->owner == getpid()) return;
    if (p->statm >= 0) close(p->statm); /* of the process that was forked */
    p->statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    p->elsewhere = resident_files(p);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    p->running = pthread_create(&p->keeper, NULL, keep, p) == 0;
    p->owner = getpid();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- life ---- */

static region *regions_room(void)
{
    void *room = mmap(NULL, MOST_REGIONS * sizeof(region), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return room == MAP_FAILED ? NULL : room;
}

plx_status plx__paging_open(plx__paging **out, plx_context *ctx, const char *directory)
{
    plx__paging *p = NULL;
    pthread_condattr_t monotonic;
    *out = NULL;
    if (!directory) directory = plx__temporary_directory();
    int fd = plx__nameless_file(directory);
    if (fd < 0)
        PLX_FAIL(ctx, PLX_E_IO, "%s: no file can be made there to stream through: %s; name another directory (TMPDIR)",
                 directory, strerror(errno));
    close(fd);
    size_t length = strlen(directory) + 1;
    p = ctx->mem.alloc(sizeof *p + length, ctx->mem.payload);
    if (!p) PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory");
    *p = (plx__paging){.ctx = ctx, .regions = regions_room(), .statm = -1};
    if (!p->regions) {
        ctx->mem.release(p, ctx->mem.payload);
        PLX_FAIL(ctx, PLX_E_NOMEM, "out of memory");
    }
    memcpy(p->directory, directory, length);
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&p->end, &monotonic);
    pthread_condattr_destroy(&monotonic);
    *out = p;
    return PLX_OK;
}

void plx__paging_close(plx__paging *p)
{
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    p->quit = true;
    pthread_cond_signal(&p->end);
    pthread_mutex_unlock(&p->lock);
    if (p->running && p->owner == getpid()) pthread_join(p->keeper, NULL);
    for (size_t i = 0; i < p->count; i++)
        if (p->regions[i].own) munmap(p->regions[i].at, p->regions[i].bytes);
    if (p->statm >= 0) close(p->statm);
    pthread_cond_destroy(&p->end);
    pthread_mutex_destroy(&p->lock);
    munmap(p->regions, MOST_REGIONS * sizeof *p->regions);
    p->ctx->mem.release(p, p->ctx->mem.payload);
}

const char *plx__paging_directory(const plx__paging *p) { return p->directory; }

/* ---- blocks ---- */

static bool add_region(plx__paging *p, void *at, size_t bytes, bool own)
{
    if (p->count == MOST_REGIONS) return false;
    p->regions[p->count++] = (region){at, bytes, own, false};
    if (own) p->used += (int64_t)bytes;
    start_keeper(p);
    return true;
}

/* The newest are given back first. */
static bool take_out(region *out, plx__paging *p, const void *at)
{
    for (size_t i = p->count; i > 0; i--) {
        if (p->regions[i - 1].at != at) continue;
        *out = p->regions[i - 1];
        p->regions[i - 1] = p->regions[--p->count];
        if (out->own) p->used -= (int64_t)out->bytes;
        return true;
    }
    return false;
}

void *plx__paging_take(plx__paging *p, size_t bytes)
{
    void *at = map_file(p->directory, bytes);
    if (!at) return NULL;
    pthread_mutex_lock(&p->lock);
    bool kept = add_region(p, at, bytes, true);
    pthread_mutex_unlock(&p->lock);
    if (kept) return at;
    munmap(at, bytes);
    return NULL;
}

bool plx__paging_give(plx__paging *p, void *block)
{
    region r;
    pthread_mutex_lock(&p->lock);
    bool found = take_out(&r, p, block);
    if (found) munmap(r.at, r.bytes); /* under the lock: the keeper must not advise on what somebody maps next */
    pthread_mutex_unlock(&p->lock);
    return found;
}

void plx__paging_watch(plx__paging *p, void *mapping, size_t bytes)
{
    pthread_mutex_lock(&p->lock);
    (void)add_region(p, mapping, bytes, false); /* no room for the note: its pages stay until it is unmapped */
    pthread_mutex_unlock(&p->lock);
}

void plx__paging_forget(plx__paging *p, void *mapping)
{
    region r;
    pthread_mutex_lock(&p->lock);
    (void)take_out(&r, p, mapping);
    pthread_mutex_unlock(&p->lock);
}

void plx__paging_at_hand(plx__paging *p, const void *inside, bool wanted)
{
    pthread_mutex_lock(&p->lock);
    for (size_t i = p->count; i > 0; i--) {
        region *r = &p->regions[i - 1];
        if ((uintptr_t)inside - (uintptr_t)r->at >= r->bytes) continue;
        r->at_hand = wanted;
        break;
    }
    pthread_mutex_unlock(&p->lock);
}

int64_t plx__paging_used(const plx__paging *paging)
{
    plx__paging *p = (plx__paging *)(uintptr_t)paging;
    pthread_mutex_lock(&p->lock);
    int64_t used = p->used;
    pthread_mutex_unlock(&p->lock);
    return used;
}

int64_t plx__paging_room(const plx__paging *p)
{
    struct statvfs info;
    if (statvfs(p->directory, &info) != 0) return 0;
    return (int64_t)info.f_bavail * (int64_t)info.f_frsize;
}
