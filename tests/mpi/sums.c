/*
 * What sums in the order of the ranks cost beside MPI_Allreduce: mpirun -n R plx-mpi-sums [REPETITIONS [NUMBERS ...]]
 *
 * Prints a line per size: median and least wall time of a sum (of the slowest rank each), and the bytes that a rank in
 * the middle sends: counted for the ordered sum, 2 (R-1)/R of the table for a ring of MPI_Allreduce. With PLX_WIRE set,
 * what the busiest host put on its net devices per sum, headers and barriers included, for one rank per host. Ends with 1
 * when the ordered sum is not that of one process, to the bit.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ranks.h"

static int send_to(int to, const void *bytes, size_t count, void *payload)
{
    (void)payload;
    return MPI_Send(bytes, (int)count, MPI_BYTE, to, 0, MPI_COMM_WORLD) != MPI_SUCCESS;
}

static int receive_from(int from, void *bytes, size_t count, void *payload)
{
    (void)payload;
    return MPI_Recv(bytes, (int)count, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS;
}

static int by_size(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Numbers whose sum depends on the order. */
static double value(int rank, int64_t i) { return (rank % 2 ? 1e8 : 1.0) / (double)(i % 977 + rank + 3); }

static bool is_ordered(const double *x, int64_t width, int ranks)
{
    for (int64_t i = 0; i < width; i++) {
        double sum = value(0, i);
        for (int r = 1; r < ranks; r++) sum += value(r, i);
        if (memcmp(&sum, &x[i], sizeof sum) != 0) return false;
    }
    return true;
}

/* Bytes that went out through the net devices of this host. */
static double wire_bytes(void)
{
    FILE *f = fopen("/proc/self/net/dev", "r");
    char line[512], name[64];
    double sum = 0, out = 0;
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, " %63[^:]: %*s %*s %*s %*s %*s %*s %*s %*s %lf", name, &out) == 2 && strcmp(name, "lo") != 0)
            sum += out;
    if (f) fclose(f);
    return sum;
}

typedef struct trial {
    plx_context *ctx;
    int rank, ranks;
    int64_t width;
    double *own, *sum;
} trial;

static void sum_once(const trial *t, bool ordered)
{
    if (ordered && plx__peers_sum(t->ctx, t->own, 1, t->width, t->sum) != PLX_OK) MPI_Abort(MPI_COMM_WORLD, 1);
    if (!ordered) MPI_Allreduce(t->own, t->sum, (int)t->width, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Milliseconds of each repetition, of the slowest rank, ascending. Returns the bytes on the wire per sum. */
static double measure(const trial *t, bool ordered, int repetitions, double *ms)
{
    sum_once(t, ordered); /* connections */
    double before = wire_bytes(), sent = 0, most = 0;
    for (int i = 0; i < repetitions; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double from = MPI_Wtime(), took = 0;
        sum_once(t, ordered);
        took = 1e3 * (MPI_Wtime() - from);
        MPI_Allreduce(&took, &ms[i], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    sent = (wire_bytes() - before) / repetitions;
    MPI_Allreduce(&sent, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    qsort(ms, (size_t)repetitions, sizeof *ms, by_size);
    return most;
}

static bool compare(trial *t, int repetitions)
{
    double *ms[2] = {calloc((size_t)repetitions, sizeof(double)), calloc((size_t)repetitions, sizeof(double))};
    size_t bytes = (size_t)t->width * sizeof(double);
    t->own = malloc(bytes);
    t->sum = malloc(bytes);
    for (int64_t i = 0; i < t->width; i++) t->own[i] = value(t->rank, i);
    int64_t before = plx_context_bytes_sent(t->ctx), most = 0;
    double wire = measure(t, true, repetitions, ms[0]);
    int64_t sent = (plx_context_bytes_sent(t->ctx) - before) / (repetitions + 1);
    MPI_Allreduce(&sent, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    bool same = is_ordered(t->sum, t->width, t->ranks);
    double other_wire = measure(t, false, repetitions, ms[1]);
    if (t->rank == 0 && getenv("PLX_WIRE")) printf("on the wire %.0f and %.0f: ", wire, other_wire);
    if (t->rank == 0)
        printf(
            "%d ranks, %9lld bytes: ordered %8.3f ms (least %8.3f), sends %9lld; MPI_Allreduce %8.3f ms (least %8.3f), "
            "ring %9.0f%s\n",
            t->ranks, (long long)bytes, ms[0][repetitions / 2], ms[0][0], (long long)most, ms[1][repetitions / 2],
            ms[1][0], 2.0 * (t->ranks - 1) / t->ranks * (double)bytes, same ? "" : "; NOT IN ORDER");
    free(t->own);
    free(t->sum);
    free(ms[0]);
    free(ms[1]);
    return same;
}

int main(int argc, char **argv)
{
    static const int64_t usual[] = {100, 10000, 120000, 1000000};
    plx_peers peers = PLX_PEERS_INIT;
    trial t = {0};
    bool same = true;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &peers.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &peers.ranks);
    peers.send = send_to;
    peers.receive = receive_from;
    int repetitions = argc > 1 ? atoi(argv[1]) : 21, sizes = argc > 2 ? argc - 2 : 4;
    if (repetitions < 1 || plx_context_create(&t.ctx, NULL) != PLX_OK ||
        plx_context_set_peers(t.ctx, &peers) != PLX_OK) {
        fprintf(stderr, "usage: plx-mpi-sums [REPETITIONS [NUMBERS ...]]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    t.rank = peers.rank;
    t.ranks = peers.ranks;
    for (int k = 0; k < sizes; k++) {
        t.width = argc > 2 ? atoll(argv[k + 2]) : usual[k];
        if (t.width < 1) break;
        same = compare(&t, repetitions) && same;
    }
    plx_context_destroy(t.ctx);
    MPI_Finalize();
    return !same;
}
