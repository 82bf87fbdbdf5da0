/*
 * The best of several runs that work in the same memory.
 *
 * The method names the blocks that make up its result (plx__restarts_keep) and how to run once; afterwards the blocks
 * hold what they held after the run with the best objective, the first of equals. The time limit ends the repetition.
 */
#ifndef PLX_RUN_RESTARTS_H
#define PLX_RUN_RESTARTS_H

#include "core/ctx.h"

typedef struct plx__restart_block {
    struct plx__restart_block *next;
    void *data, *copy;
    size_t bytes;
} plx__restart_block;

typedef struct plx__restarts {
    plx_context *ctx;
    plx_index runs;
    bool smallest; /* the smallest objective is best, else the largest */
    plx_status (*run)(void *arg, plx_index restart, double *objective);
    void *arg;
    plx__restart_block *blocks; /* start with NULL */
    bool cut;                   /* after the runs: the time limit left some out */
    plx_index at;               /* the run that is going on; where a fit that is resumed goes on */
    double best;                /* objective of the best run before */
} plx__restarts;

/* A block of the result; data NULL or nothing in it: ignored. With a single run nothing is copied. */
plx_status plx__restarts_keep(plx__restarts *r, void *data, size_t bytes);
plx_status plx__restarts_keep_mat(plx__restarts *r, plx_mat m);

plx_status plx__restarts_run(plx__restarts *r);

/* Where a block of the best run so far is kept; `data` itself with a single run. */
void *plx__restarts_kept(const plx__restarts *r, void *data);

#endif
