/*
 * Rows of samples and of those they are joined with, where every process has rows of its own (data/divided.h): a few
 * samples of each process at a time, so that no more than half as many rows come here as a process has.
 *
 *     PLX_TRY(plx__near_rows_open(&near, ctx, joined));
 *     while (plx__near_rows_next(&near, ctx)) {
 *         PLX_TRY(plx__near_rows_fetch(&rows, ctx, &near, from, bound));
 *         ... row near.at[i] of `rows` is that of sample i, for near.begin <= i < near.end and all that i is joined with
 *     }
 *
 * All processes make these calls together.
 */
#ifndef PLX_GRAPH_NEAR_ROWS_H
#define PLX_GRAPH_NEAR_ROWS_H

#include "core/slabs.h"
#include "linalg/distance.h"

typedef struct plx__near_rows {
    plx__slabs cut;  /* whose samples are whose: plx__slabs_even() */
    plx_ccsr joined; /* row i: the samples that sample i is joined with; the same on all processes */
    plx_index step, round;

    /* this round */
    plx_index begin, end; /* samples of this process */
    const plx_index *sample;
    plx_index count;      /* the samples whose rows come here, ascending: those, and what they are joined with */
    const int32_t *at;    /* n: where one of them stands among them */
    plx_index first;      /* where sample `begin` does; the others up to `end` stand behind it */
    plx_index *list, *to; /* the samples of all processes, one process after the other */

    int32_t *place; /* the memory of `at` */
    uint8_t *taken; /* n flags, all down between uses */
} plx__near_rows;

plx_status plx__near_rows_open(plx__near_rows *out, plx_context *ctx, plx_ccsr joined);

/* The next round; false: there is none. */
bool plx__near_rows_next(plx__near_rows *z, const plx_context *ctx);

/* Their rows, of `from`, which is divided by `bound`; in scratch. */
plx_status plx__near_rows_fetch(plx__points *out, plx_context *ctx, const plx__near_rows *z, plx__points from,
                                const plx_index *bound);

/* Values of the rows of `a` that each process has worked on, to all of them. */
plx_status plx__near_rows_share(plx_context *ctx, plx__slabs cut, plx_csr a);

/* Most bytes of it for n samples that are joined with k each at most, whose rows have so many bytes in all. */
double plx__near_rows_bytes(const plx_context *ctx, plx_index n, plx_index k, double bytes);

#endif
