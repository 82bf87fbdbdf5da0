/*
 * Several ranks as threads of one process, joined by pipes.
 */
#ifndef PLX_TESTS_RANK_HELPERS_H
#define PLX_TESTS_RANK_HELPERS_H

#include <pthread.h>

#include "fit_helpers.h"

enum { MOST = 5 };

static int pipes[MOST][MOST][2]; /* from, to */

static inline int send_pipe(int to, const void *bytes, size_t count, void *rank)
{
    const char *p = bytes;
    while (count) {
        ssize_t done = write(pipes[*(int *)rank][to][1], p, count);
        if (done <= 0) return 1;
        p += done;
        count -= (size_t)done;
    }
    return 0;
}

static inline int receive_pipe(int from, void *bytes, size_t count, void *rank)
{
    char *p = bytes;
    while (count) {
        ssize_t done = read(pipes[from][*(int *)rank][0], p, count);
        if (done <= 0) return 1;
        p += done;
        count -= (size_t)done;
    }
    return 0;
}

typedef struct rank_job {
    void (*work)(struct rank_job *job);
    plx_context *ctx;
    int rank, ranks;
    const void *arg;
    char folder[64];
} rank_job;

static inline void *rank_main(void *job_)
{
    rank_job *job = job_;
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    plx_peers peers = PLX_PEERS_INIT;
    o.threads = 1 + job->rank % 2;
    o.seed = 3;
    assert_int_equal(plx_context_create(&job->ctx, &o), PLX_OK);
    peers.rank = job->rank;
    peers.ranks = job->ranks;
    peers.send = send_pipe;
    peers.receive = receive_pipe;
    peers.payload = &job->rank;
    assert_ok(job->ctx, plx_context_set_peers(job->ctx, &peers));
    job->work(job);
    plx_context_destroy(job->ctx);
    return NULL;
}

static inline void together(int ranks, void (*work)(rank_job *job), const void *arg, const char *folder)
{
    pthread_t thread[MOST];
    rank_job job[MOST];
    for (int a = 0; a < ranks; a++)
        for (int b = 0; b < ranks; b++) assert_int_equal(pipe(pipes[a][b]), 0);
    for (int r = 0; r < ranks; r++) {
        job[r] = (rank_job){.work = work, .rank = r, .ranks = ranks, .arg = arg};
        snprintf(job[r].folder, sizeof job[r].folder, "%s", folder);
        assert_int_equal(pthread_create(&thread[r], NULL, rank_main, &job[r]), 0);
    }
    for (int r = 0; r < ranks; r++) pthread_join(thread[r], NULL);
    for (int a = 0; a < ranks; a++)
        for (int b = 0; b < ranks; b++) {
            close(pipes[a][b][0]);
            close(pipes[a][b][1]);
        }
}

#endif
