/*
 * A process that stands by while another one works as a rank.
 *
 * What starts the ranks ends a job with the exit code of the first rank that fails, and that of one that was killed (by
 * the system, because memory ran out) is a number of a signal. Here the rank is a child, whose end its parent sees: a
 * killed one is told in a line, with exit code 1 as after any other failure.
 */
#include "guard.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cli.h"

static volatile sig_atomic_t worker, stopped;

static void pass_on(int number)
{
    stopped = 1;
    if (worker > 0) kill((pid_t)worker, number);
}

static void pass_on_signals(void)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT};
    struct sigaction action = {.sa_handler = pass_on};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaction(numbers[i], &action, NULL);
}

/* Before MPI has told it: as OpenMPI, MPICH and Slurm call it. */
static const char *rank_text(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i])) return getenv(names[i]);
    return "?";
}

bool mpi_has_argument(int argc, char **argv, const char *name)
{
    size_t length = strlen(name);
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], name, length) == 0 && (!argv[i][length] || argv[i][length] == '=')) return true;
    return false;
}

/* Of a rank that was ended with the job nothing is to be said: the one that was the reason is told elsewhere. */
static _Noreturn void stand_by(pid_t child, bool resumes)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
    int number = WTERMSIG(status);
    if (!stopped)
        fprintf(stderr, "parallax-mpi: rank %s was killed by signal %d (%s)%s%s\n", rank_text(), number,
                strsignal(number), number == SIGKILL ? ", perhaps for lack of memory (--stream takes less)" : "",
                resumes ? "; the same command with --resume goes on from the checkpoint" : "");
    _exit(CLI_FAILED);
}

void mpi_stand_guard(int argc, char **argv)
{
    sigset_t all, before;
    pid_t parent = getpid();
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* a signal that comes now waits until it is known who gets it */
    pid_t child = fork();
    if (child > 0) {
        worker = child;
        pass_on_signals();
    } else if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody is left to tell it that the job has ended */
        if (getppid() != parent) _exit(CLI_FAILED);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (child > 0) stand_by(child, mpi_has_argument(argc, argv, "--checkpoint"));
}
