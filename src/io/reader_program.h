/*
 * Starting the process that reads, and finding the program for it.
 */
#ifndef PLX_IO_READER_PROGRAM_H
#define PLX_IO_READER_PROGRAM_H

#include <sys/types.h>

#include "core/ctx.h"

enum { PLX__READER_ARGS = 11, PLX__READER_REFUSED = 3 /* exit status: of another version, or called wrongly */ };

/* A process whose standard output is `out`. Its arguments are texts; argv[0] is the program's path. */
typedef struct plx__reader_process {
    pid_t pid;
    int out; /* to be read; -1: none */
} plx__reader_process;

/* The program, as a path in scratch; NULL: it is not installed beside the library. */
plx_status plx__reader_find(const char **out, plx_context *ctx);

/* Start the program. PLX_E_IO when the system refuses. */
plx_status plx__reader_spawn(plx__reader_process *out, plx_context *ctx, char *const *argv);

/* Start a copy of this process that runs body(fd, arg) and ends. */
plx_status plx__reader_fork(plx__reader_process *out, plx_context *ctx, void (*body)(int fd, void *arg), void *arg);

/* Ends the process, at once with `kill_it`. The status as waitpid gives it; -1: we ended it, or another collected it. */
int plx__reader_end(plx__reader_process *process, bool kill_it);

/* Limits for the rest of this process: bytes of address space beyond what it has, seconds of processor time. */
void plx__reader_limit(int64_t bytes, int64_t seconds);

#endif
