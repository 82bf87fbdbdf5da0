/*
 * parallax-mpi: the command as several processes, started by mpirun or srun.
 *
 * `fit`, `predict`, `transform` and `data info` run on all ranks together (parallax/peers.h). Rank 0 is the command as
 * one knows it; the others do the same work, write no files and are silent, unless they alone fail. All other verbs are
 * rank 0's alone.
 */
#include <limits.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../dispatch.h"
#include "../kernels.h"
#include "../session.h"
#include "engines.h"
#include "guard.h"

enum { PATIENCE_MS = 3000, MOST_BYTES = 1 << 30 };

/* ---- what MPI takes ---- */

static double spent; /* processor seconds in calls that move bytes, waiting included */

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double processor_time(void) { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }

/* ---- bytes from rank to rank ---- */

static int send_to(int to, const void *bytes, size_t count, void *payload)
{
    double from = processor_time();
    int code = MPI_SUCCESS;
    (void)payload;
    for (size_t at = 0; at < count && code == MPI_SUCCESS; at += MOST_BYTES) {
        int part = (int)(count - at < MOST_BYTES ? count - at : MOST_BYTES);
        code = MPI_Send((const char *)bytes + at, part, MPI_BYTE, to, 0, MPI_COMM_WORLD);
    }
    spent += processor_time() - from;
    return code != MPI_SUCCESS;
}

static int receive_from(int from, void *bytes, size_t count, void *payload)
{
    double begin = processor_time();
    int code = MPI_SUCCESS;
    (void)payload;
    for (size_t at = 0; at < count && code == MPI_SUCCESS; at += MOST_BYTES) {
        int part = (int)(count - at < MOST_BYTES ? count - at : MOST_BYTES);
        code = MPI_Recv((char *)bytes + at, part, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    spent += processor_time() - begin;
    return code != MPI_SUCCESS;
}

static int sum_of_all(double *x, int64_t count, void *payload)
{
    double from = processor_time();
    int code = MPI_SUCCESS;
    (void)payload;
    for (int64_t at = 0; at < count && code == MPI_SUCCESS; at += MOST_BYTES / 8) {
        int part = (int)(count - at < MOST_BYTES / 8 ? count - at : MOST_BYTES / 8);
        code = MPI_Allreduce(MPI_IN_PLACE, x + at, part, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    spent += processor_time() - from;
    return code != MPI_SUCCESS;
}

/* Rank by rank, in parts that MPI can count. */
static int share_by_parts(char *bytes, const size_t *offset, int ranks)
{
    for (int r = 0; r < ranks; r++)
        for (size_t at = offset[r]; at < offset[r + 1]; at += MOST_BYTES) {
            int part = (int)(offset[r + 1] - at < MOST_BYTES ? offset[r + 1] - at : MOST_BYTES);
            if (MPI_Bcast(bytes + at, part, MPI_BYTE, r, MPI_COMM_WORLD) != MPI_SUCCESS) return 1;
        }
    return 0;
}

static int share_by_counts(char *bytes, const size_t *offset, int ranks)
{
    int *counts = malloc(2 * (size_t)ranks * sizeof *counts), *starts = counts + ranks;
    if (!counts) return 1;
    for (int r = 0; r < ranks; r++) {
        starts[r] = (int)offset[r];
        counts[r] = (int)(offset[r + 1] - offset[r]);
    }
    int code = MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, bytes, counts, starts, MPI_BYTE, MPI_COMM_WORLD);
    free(counts);
    return code != MPI_SUCCESS;
}

static int share_with_all(void *bytes, const size_t *offset, void *payload)
{
    int ranks = ((const plx_peers *)payload)->ranks;
    double from = processor_time();
    int code = (offset[ranks] > MOST_BYTES ? share_by_parts : share_by_counts)(bytes, offset, ranks);
    spent += processor_time() - from;
    return code;
}

/* ---- the silent ranks ---- */

/* What a silent rank would have said, kept in memory in case it is the only one to fail. */
static int hush(void)
{
    int said = memfd_create("said", MFD_CLOEXEC), real = dup(STDERR_FILENO);
    if (said >= 0) {
        dup2(said, STDERR_FILENO);
        dup2(said, STDOUT_FILENO);
    }
    return real;
}

static void tell(int real, int rank)
{
    char text[1024];
    ssize_t length = pread(STDERR_FILENO, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    dprintf(real, "parallax-mpi: rank %d: %s\n", rank, text[0] ? text : "failed");
}

/* ---- the end ---- */

/* What starts the ranks ends all of them by SIGTERM when one has died; a rank that waits for another would not hear of it
 * otherwise. Silent: the one that has died was told by the process that stood by. */
static void end_with_the_job(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
}

/* --verbose, when all have done: processor seconds of all ranks together, which rank 0's own say little about. */
static void say_times(const plx_peers *peers)
{
    double mine[2] = {seconds_of(CLOCK_PROCESS_CPUTIME_ID), spent}, all[2] = {0};
    int code = MPI_Reduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (code == MPI_SUCCESS && peers->rank == 0)
        fprintf(stderr, "parallax-mpi: %d ranks took %.2f s of processor time, %.2f s of it moving bytes and waiting\n",
                peers->ranks, all[0], all[1]);
}

/* Every rank ends here. When one fails and the others go on, they wait for it in vain: it ends them. */
static int agree(int code)
{
    int worst = code, done = 0;
    MPI_Request request;
    MPI_Iallreduce(&code, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
    for (int waited = 0; !done && (code == CLI_DONE || waited < PATIENCE_MS); waited++) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done) nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    return done ? worst : -1;
}

/* Takes `--petsc TEXT` or `--petsc=TEXT` out of the arguments, which the command does not know; NULL: there is none. */
static const char *take_petsc(int *argc, char **argv)
{
    const char *options = NULL;
    int kept = 0;
    for (int i = 0; i < *argc; i++) {
        if (strncmp(argv[i], "--petsc=", 8) == 0) options = argv[i] + 8;
        else if (strcmp(argv[i], "--petsc") == 0 && i + 1 < *argc) options = argv[++i];
        else argv[kept++] = argv[i];
    }
    argv[kept] = NULL;
    *argc = kept;
    return options;
}

static bool runs_together(int argc, char **argv)
{
    static const char *const verbs[] = {"fit", "predict", "transform"};
    for (size_t k = 0; argc > 1 && k < sizeof verbs / sizeof *verbs; k++)
        if (strcmp(argv[1], verbs[k]) == 0) return true;
    return argc > 2 && strcmp(argv[1], "data") == 0 && strcmp(argv[2], "info") == 0;
}

static int run_together(int argc, char **argv, plx_peers *peers)
{
    static plx_engines engines = {sizeof engines, NULL, NULL, NULL, sum_of_all, share_with_all};
    if (mpi_has_argument(argc, argv, "--time-limit")) {
        if (peers->rank == 0)
            fprintf(stderr, "parallax-mpi: --time-limit would strike at another moment on every rank; "
                            "set max_iter, or use --checkpoint and the job's own limit\n");
        return CLI_USAGE;
    }
    cli_peers = peers;
    mpi_engines_open(&engines, take_petsc(&argc, argv));
    engines.payload = peers;
    cli_engines = &engines;
    return cli_run(argc, argv);
}

int main(int argc, char **argv)
{
    plx_peers peers = PLX_PEERS_INIT;
    cli_choose_kernels(argv);
    mpi_stand_guard(argc, argv);
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS) return CLI_FAILED;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &peers.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &peers.ranks);
    peers.send = send_to;
    peers.receive = receive_from;
    cli_catch_interrupt();
    int real = peers.rank ? hush() : STDERR_FILENO, code = CLI_DONE;
    bool together = runs_together(argc, argv);
    bool verbose = together && peers.ranks > 1 && mpi_has_argument(argc, argv, "--verbose");
    if (together) end_with_the_job();
    if (together) code = run_together(argc, argv, &peers);
    else if (peers.rank == 0) code = cli_run(argc, argv);
    int worst = agree(code);
    if (worst < 0) {
        if (peers.rank) tell(real, peers.rank);
        MPI_Abort(MPI_COMM_WORLD, CLI_FAILED);
    }
    if (verbose && worst == CLI_DONE) say_times(&peers);
    mpi_engines_close();
    MPI_Finalize();
    return peers.rank == 0 ? worst : CLI_DONE;
}
