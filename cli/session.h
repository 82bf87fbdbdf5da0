/*
 * A verb at work: its context, Ctrl-C, warnings, the one line of a failure, and words for people.
 */
#ifndef PARALLAX_CLI_SESSION_H
#define PARALLAX_CLI_SESSION_H

#include "options.h"
#include "progress.h"

typedef struct cli_session {
    const cli_args *args;
    plx_context *ctx;
    bool quiet, verbose;
    bool own_rows; /* of data that several processes read, each keeps the values of its rows */
    cli_progress progress;
    const char *const *outputs; /* options that name files to write, once checked; ended by NULL */
    char **warnings;            /* kept until the outcome is known: a failure is one line only */
    int n_warnings, room;
} cli_session;

/* The other processes of parallax-mpi, for the contexts to come; NULL: there are none. */
extern const plx_peers *cli_peers;
/* Does this process write what was asked for? Of several only the first one; what is computed is the same in all. */
static inline bool cli_writes(void) { return !cli_peers || cli_peers->rank == 0; }
/* What solves systems and spectra with them; NULL: nothing. */
extern const plx_engines *cli_engines;

/* From here on the first Ctrl-C or SIGTERM asks the running call to stop, also one that is yet to start. */
void cli_catch_interrupt(void);

/* Make the context from the options the verb has. On failure nothing is left to close. */
int cli_session_open(cli_session *s, const cli_args *args);
void cli_session_close(cli_session *s);

/* Tell a failed call in one line; the exit code that goes with it. PLX_OK gives CLI_DONE without a word. */
int cli_fail(cli_session *s, plx_status status);
/* A failure of the command itself: one line, CLI_FAILED. */
int cli_fail_text(cli_session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A line for people on stderr; nothing with --quiet. */
void cli_say(cli_session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The warnings so far; nothing with --quiet. */
void cli_say_warnings(cli_session *s);

/* What file parameters are relative to: the data set's directory, "." without a path. The caller frees it. */
char *cli_data_directory(const char *path);

/* "1 sample", "2,500 samples" into a buffer that is returned. */
const char *cli_count(char *buffer, size_t size, long long count, const char *singular, const char *plural);
#define CLI_COUNT(count, one, many) cli_count((char[64]){0}, 64, (count), (one), (many))

#endif
