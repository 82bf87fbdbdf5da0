/*
 * posix_spawn where the program is found: it is safe in any program, whatever its threads hold. Without it a fork: the
 * lock of the HDF5 library is taken first, so that no other thread of ours is inside it, and the copy does nothing
 * but read and send.
 */
#include "io/reader_program.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/text.h"
#include "io/h5.h"

static const char PROGRAM[] = "parallax-reader";

/* ---- finding ---- */

/* In the directory itself (a build tree, a package that keeps all in one place), or in libexec one or two levels up
 * (lib/, lib/x86_64-linux-gnu/). */
static plx_status look_near(const char **out, plx_context *ctx, const char *file)
{
    static const char *const places[] = {"", "../libexec/parallax/", "../../libexec/parallax/"};
    const char *slash = strrchr(file, '/');
    for (size_t i = 0; slash && !*out && i < sizeof places / sizeof *places; i++) {
        const char *path = NULL;
        PLX_TRY(
            plx__arena_printf(&path, plx__scratch(ctx), "%.*s/%s%s", (int)(slash - file), file, places[i], PROGRAM));
        if (access(path, X_OK) == 0) *out = path;
    }
    return PLX_OK;
}

plx_status plx__reader_find(const char **out, plx_context *ctx)
{
    Dl_info info;
    char program[PATH_MAX];
    *out = NULL;
    if (dladdr((const void *)(uintptr_t)plx__reader_find, &info) && info.dli_fname)
        PLX_TRY(look_near(out, ctx, info.dli_fname));
    ssize_t len = *out ? -1 : readlink("/proc/self/exe", program, sizeof program - 1); /* linked statically */
    if (len > 0) {
        program[len] = '\0';
        PLX_TRY(look_near(out, ctx, program));
    }
    if (!*out && access(PLX_READER_INSTALLED, X_OK) == 0) *out = PLX_READER_INSTALLED;
    return PLX_OK;
}

/* ---- starting ---- */

static plx_status open_pipe(int ends[2], plx_context *ctx)
{
    if (pipe2(ends, O_CLOEXEC) == 0) return PLX_OK;
    PLX_FAIL(ctx, PLX_E_IO, "cannot make a pipe to the reading process: %s", strerror(errno));
}

/* The environment with one thread for the numeric libraries: the reader computes nothing. */
static plx_status single_threaded(char ***out, plx_context *ctx)
{
    static const char *const settings[] = {"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"};
    extern char **environ;
    plx_index count = 0, kept = 0;
    while (environ && environ[count]) count++;
    PLX_TRY(plx__arena_ptrs((void ***)out, plx__scratch(ctx), count + 3));
    for (plx_index i = 0; i < count; i++)
        if (!plx__starts_with(environ[i], "OMP_NUM_THREADS=") && !plx__starts_with(environ[i], "OPENBLAS_NUM_THREADS="))
            (*out)[kept++] = environ[i];
    for (size_t i = 0; i < 2; i++) (*out)[kept++] = (char *)(uintptr_t)settings[i];
    return PLX_OK;
}

/* Own process group: Ctrl-C is for the program that called us, which ends the reader itself. */
static int spawn_with(pid_t *pid, char *const *argv, char *const *environment, int out)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    if (posix_spawn_file_actions_init(&files) != 0) return ENOMEM;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return ENOMEM;
    }
    int failed = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!failed) failed = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    if (!failed) failed = posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    if (!failed) failed = posix_spawn(pid, argv[0], &files, &attributes, argv, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

plx_status plx__reader_spawn(plx__reader_process *out, plx_context *ctx, char *const *argv)
{
    char **environment = NULL;
    int ends[2];
    *out = (plx__reader_process){0, -1};
    PLX_TRY(single_threaded(&environment, ctx));
    PLX_TRY(open_pipe(ends, ctx));
    int failed = spawn_with(&out->pid, argv, environment, ends[1]);
    close(ends[1]);
    if (!failed) {
        out->out = ends[0];
        return PLX_OK;
    }
    close(ends[0]);
    PLX_FAIL(ctx, PLX_E_IO, "%s: cannot be started: %s", argv[0], strerror(failed));
}

/* The copy: quiet, in a group of its own, and gone when the program is. */
static void be_reader(int fd, void (*body)(int fd, void *arg), void *arg)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDERR_FILENO);
    }
    plx__h5_forked();
    body(fd, arg);
    _Exit(0); /* nothing of the program this is a copy of may run: no atexit handlers, no flushed buffers */
}

plx_status plx__reader_fork(plx__reader_process *out, plx_context *ctx, void (*body)(int fd, void *arg), void *arg)
{
    int ends[2];
    *out = (plx__reader_process){0, -1};
    PLX_TRY(open_pipe(ends, ctx));
    plx__h5_lock();
    pid_t pid = fork();
    if (pid == 0) be_reader(ends[1], body, arg);
    plx__h5_unlock();
    close(ends[1]);
    if (pid > 0) {
        *out = (plx__reader_process){pid, ends[0]};
        return PLX_OK;
    }
    close(ends[0]);
    PLX_FAIL(ctx, PLX_E_IO, "cannot start a process to read with: %s", strerror(errno));
}

/* ---- ending ---- */

int plx__reader_end(plx__reader_process *process, bool kill_it)
{
    enum { PATIENCE = 200 }; /* times 10 ms: it has said its last word, or died */
    int status = -1;
    pid_t got = 0;
    if (process->out >= 0) close(process->out);
    process->out = -1;
    if (process->pid <= 0) return -1;
    for (int i = 0; !kill_it && got == 0 && i < PATIENCE; i++) {
        got = waitpid(process->pid, &status, WNOHANG);
        if (got == 0) nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    if (got == 0) {
        kill(process->pid, SIGKILL);
        do got = waitpid(process->pid, NULL, 0);
        while (got < 0 && errno == EINTR);
        status = -1;
    }
    process->pid = 0;
    return got < 0 ? -1 : status;
}

/* ---- limits ---- */

static int64_t address_space(void)
{
    long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%lld", &pages) != 1) pages = 0;
    if (f) fclose(f);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

/* A build with AddressSanitizer reserves terabytes of addresses: there the arenas' limit has to do. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { LIMIT_ADDRESSES = 0 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { LIMIT_ADDRESSES = 0 };
#else
enum { LIMIT_ADDRESSES = 1 };
#endif
#else
enum { LIMIT_ADDRESSES = 1 };
#endif

void plx__reader_limit(int64_t bytes, int64_t seconds)
{
    struct rlimit time = {(rlim_t)seconds, (rlim_t)seconds + 1}, none = {0, 0};
    rlim_t room = (rlim_t)(address_space() + bytes);
    struct rlimit memory = {room, room};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CPU, &time);
    if (LIMIT_ADDRESSES) setrlimit(RLIMIT_AS, &memory);
}
