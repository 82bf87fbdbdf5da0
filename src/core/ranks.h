/*
 * The other processes that run the same call (parallax/peers.h): sending, receiving, and sums in the order of the ranks.
 */
#ifndef PLX_CORE_RANKS_H
#define PLX_CORE_RANKS_H

#include "core/ctx.h"

plx_status plx__context_set_peers(plx_context *ctx, const plx_peers *peers);

static inline int plx__rank(const plx_context *ctx) { return ctx->peers.rank; }
static inline int plx__ranks(const plx_context *ctx) { return ctx->peers.ranks; } /* 1: alone */

plx_status plx__context_set_engines(plx_context *ctx, const plx_engines *engines);

/* PLX_E_IO: one of them is gone, nobody knows which. */
plx_status plx__peers_lost(plx_context *ctx);

plx_status plx__peers_send(plx_context *ctx, int to, const void *bytes, size_t count);
plx_status plx__peers_receive(plx_context *ctx, int from, void *bytes, size_t count);

/* What rank `from` has, to all. */
plx_status plx__peers_spread(plx_context *ctx, int from, void *bytes, size_t count);

/* out (width numbers, the same on all ranks) = the sum of all tables, rank by rank and each rank's in order. `tables` are
 * `count` of this rank, which may be none but on rank 0. The running sum goes from rank to rank in segments, as in a
 * pipeline, and the result comes back the same way: every link carries the table once in each direction. */
plx_status plx__peers_sum(plx_context *ctx, const double *tables, plx_index count, plx_index width, double *out);

/* x = the sum over all ranks, in whatever order is fastest: the same on all ranks, but not for any number of them. */
plx_status plx__peers_add(plx_context *ctx, double *x, plx_index width);

/* Rounds of a ring: what this rank has goes to the next one while that of the one before comes; no two ranks wait for
 * each other. */
plx_status plx__peers_pass(plx_context *ctx, const void *out, size_t out_bytes, void *in, size_t in_bytes);

/* Of `bytes`, rank r has offset[r] .. offset[r+1]-1 (as many offsets as ranks, and one more); all get all. By the engines,
 * which know the net, else O(log ranks) messages of a process in a row. */
plx_status plx__peers_share(plx_context *ctx, void *bytes, const size_t *offset);

/* The same of rows of `bytes` each: rank r has rows bound[r] .. bound[r+1]-1. */
plx_status plx__bound_share(plx_context *ctx, const plx_index *bound, void *rows, size_t bytes);

/* A run through the rows of all ranks in their order: add(arg) works on those of this rank and changes `state`, which comes
 * from the rank before and goes to the next; in the end all have the last one. bound NULL: all rows are here. */
plx_status plx__bound_chain(plx_context *ctx, const plx_index *bound, void *state, size_t bytes, void (*add)(void *arg),
                            void *arg);

/* Which rank has a row, where rank r has bound[r] .. bound[r+1]-1. */
int plx__bound_owner(const plx_index *bound, int ranks, plx_index row);

/* All to all: out_offset[r] .. out_offset[r+1]-1 of `out` go to rank r, in_offset[r] .. of `in` come from it. */
plx_status plx__peers_exchange(plx_context *ctx, const void *out, const size_t *out_offset, void *in,
                               const size_t *in_offset);

/* ---- work that a rank may fail at, while the others go on ----
 *
 * Every exchange of such work begins with plx__peers_settle(ctx, PLX_OK), and a rank that has failed goes straight to the
 * end of the work, where all call it with what became of theirs. So whatever the others wait for next, they hear of the
 * failure there, and all end with the message of the lowest rank that failed. */
plx_status plx__peers_settle(plx_context *ctx, plx_status st);

/* `width` numbers of every rank, settled: all[r * width ..] are those of rank r; in scratch memory. */
plx_status plx__peers_tell(plx_context *ctx, const int64_t *mine, plx_index width, int64_t **all);

/* Counts of all ranks added up, on all ranks. */
plx_status plx__peers_total(plx_context *ctx, int64_t *counts, plx_index width);

/* ---- work that a rank does for itself ---- */

/* What the context has of the others, while it is alone. */
typedef struct plx__apart {
    plx_peers peers;
    plx_engines engines;
    struct plx__device *device;
} plx__apart;

/* From here on until plx__peers_return() the context is alone: nothing that is called meanwhile waits for anybody. Where
 * there are others it has no device either, which all of them would want. */
plx__apart plx__peers_leave(plx_context *ctx);
void plx__peers_return(plx_context *ctx, const plx__apart *apart);

#endif
