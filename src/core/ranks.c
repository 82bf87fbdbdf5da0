/*
 * Sums over ranks by a pipeline: while rank 1 adds to the first segment, rank 0 works on the second. The order of the
 * additions is that of the ranks, whatever their number.
 */
#include "core/ranks.h"

#include <string.h>

enum { SEGMENT = 8000 }; /* numbers: just below what MPI sends over TCP without asking the receiver first */

plx_status plx__context_set_peers(plx_context *ctx, const plx_peers *given)
{
    plx_peers peers = PLX_PEERS_INIT;
    PLX_TRY(plx__take_options(&peers, sizeof peers, ctx, given, "PLX_PEERS_INIT"));
    if (peers.ranks < 1 || peers.rank < 0 || peers.rank >= peers.ranks)
        PLX_FAIL(ctx, PLX_E_ARG, "peers: rank %d is none of %d", peers.rank, peers.ranks);
    if (peers.ranks > 1 && (!peers.send || !peers.receive))
        PLX_FAIL(ctx, PLX_E_ARG, "peers: the functions that send and receive must both be given");
    ctx->peers = peers;
    ctx->bytes_sent = 0;
    return PLX_OK;
}

plx_status plx__context_set_engines(plx_context *ctx, const plx_engines *given)
{
    plx_engines engines = PLX_ENGINES_INIT;
    PLX_TRY(plx__take_options(&engines, sizeof engines, ctx, given, "PLX_ENGINES_INIT"));
    ctx->engines = engines;
    return PLX_OK;
}

plx_status plx__peers_lost(plx_context *ctx)
{
    ctx->failure_told = true;
    PLX_FAIL(ctx, PLX_E_IO, "a rank cannot be reached any more; start again, from a checkpoint if there is one");
}

static plx_status lost(plx_context *ctx, int rank)
{
    ctx->failure_told = true; /* nobody is there to hear of it */
    PLX_FAIL(ctx, PLX_E_IO, "rank %d cannot be reached any more; start again, from a checkpoint if there is one", rank);
}

static plx_status send_bytes(plx_context *ctx, int to, const void *bytes, size_t count)
{
    if (!count) return PLX_OK;
    if (ctx->peers.send(to, bytes, count, ctx->peers.payload) != 0) return lost(ctx, to);
    ctx->bytes_sent += (int64_t)count;
    return PLX_OK;
}

static plx_status receive_bytes(plx_context *ctx, int from, void *bytes, size_t count)
{
    if (!count) return PLX_OK;
    return ctx->peers.receive(from, bytes, count, ctx->peers.payload) == 0 ? PLX_OK : lost(ctx, from);
}

plx_status plx__peers_send(plx_context *ctx, int to, const void *bytes, size_t count)
{
    PLX_TRY(plx__poll(ctx));
    return send_bytes(ctx, to, bytes, count);
}

plx_status plx__peers_receive(plx_context *ctx, int from, void *bytes, size_t count)
{
    PLX_TRY(plx__poll(ctx));
    return receive_bytes(ctx, from, bytes, count);
}

plx_status plx__peers_spread(plx_context *ctx, int from, void *bytes, size_t count)
{
    if (plx__rank(ctx) != from) return plx__peers_receive(ctx, from, bytes, count);
    for (int r = 0; r < plx__ranks(ctx); r++)
        if (r != from) PLX_TRY(plx__peers_send(ctx, r, bytes, count));
    return PLX_OK;
}

/* Sending may wait for the receiver: every second rank receives first. Where the ring is odd, its last rank and rank 0
 * both send first, to neighbours that receive in time. */
plx_status plx__peers_pass(plx_context *ctx, const void *out, size_t out_bytes, void *in, size_t in_bytes)
{
    int rank = plx__rank(ctx), ranks = plx__ranks(ctx), next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    if (rank % 2 == 0) PLX_TRY(plx__peers_send(ctx, next, out, out_bytes));
    PLX_TRY(plx__peers_receive(ctx, before, in, in_bytes));
    return rank % 2 ? plx__peers_send(ctx, next, out, out_bytes) : PLX_OK;
}

/* Numbers begin .. end-1 of the running sum: what came from the rank before, and this rank's tables. */
static void add_own(const double *tables, plx_index count, plx_index width, plx_index begin, plx_index end, bool first,
                    double *out)
{
    plx_index t = 0;
    if (first) {
        memcpy(out + begin, tables + begin, (size_t)(end - begin) * sizeof *out);
        t = 1;
    }
    for (; t < count; t++)
        for (plx_index i = begin; i < end; i++) out[i] += tables[t * width + i];
}

static plx_status pass_on(plx_context *ctx, const double *tables, plx_index count, plx_index width, double *out)
{
    int rank = plx__rank(ctx), last = plx__ranks(ctx) - 1;
    for (plx_index begin = 0; begin < width; begin += SEGMENT) {
        plx_index end = plx__min(width, begin + SEGMENT);
        size_t bytes = (size_t)(end - begin) * sizeof *out;
        if (rank > 0) PLX_TRY(plx__peers_receive(ctx, rank - 1, out + begin, bytes));
        add_own(tables, count, width, begin, end, rank == 0, out);
        if (rank < last) PLX_TRY(plx__peers_send(ctx, rank + 1, out + begin, bytes));
    }
    return PLX_OK;
}

static plx_status pass_back(plx_context *ctx, plx_index width, double *out)
{
    int rank = plx__rank(ctx), last = plx__ranks(ctx) - 1;
    for (plx_index begin = 0; begin < width; begin += SEGMENT) {
        size_t bytes = (size_t)(plx__min(width, begin + SEGMENT) - begin) * sizeof *out;
        if (rank < last) PLX_TRY(plx__peers_receive(ctx, rank + 1, out + begin, bytes));
        if (rank > 0) PLX_TRY(plx__peers_send(ctx, rank - 1, out + begin, bytes));
    }
    return PLX_OK;
}

plx_status plx__peers_sum(plx_context *ctx, const double *tables, plx_index count, plx_index width, double *out)
{
    PLX_ASSERT(count > 0 || plx__rank(ctx) > 0);
    PLX_TRY(pass_on(ctx, tables, count, width, out));
    return pass_back(ctx, width, out);
}

plx_status plx__peers_add(plx_context *ctx, double *x, plx_index width)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    size_t bytes = (size_t)width * sizeof *x;
    double *own = NULL;
    PLX_TRY(plx__poll(ctx));
    if (ctx->engines.sum) {
        if (ctx->engines.sum(x, width, ctx->engines.payload) != 0) return plx__peers_lost(ctx);
        ctx->bytes_sent += (int64_t)bytes;
        return PLX_OK;
    }
    PLX_TRY(plx__arena_f64(&own, plx__scratch(ctx), width, 1));
    memcpy(own, x, bytes);
    PLX_TRY(plx__peers_sum(ctx, own, 1, width, x));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__peers_total(plx_context *ctx, int64_t *counts, plx_index width)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    size_t bytes = (size_t)width * sizeof *counts;
    int64_t *other = NULL;
    PLX_TRY(plx__arena_i64(&other, plx__scratch(ctx), width));
    if (plx__rank(ctx) > 0) PLX_TRY(plx__peers_send(ctx, 0, counts, bytes));
    for (int r = 1; plx__rank(ctx) == 0 && r < plx__ranks(ctx); r++) {
        PLX_TRY(plx__peers_receive(ctx, r, other, bytes));
        for (plx_index i = 0; i < width; i++) counts[i] += other[i];
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return plx__peers_spread(ctx, 0, counts, bytes);
}

/* In round k ranks a and b with a + b = k (modulo the ranks) exchange what they have for each other, so every rank meets
 * every other once; the lower of the two sends first. */
plx_status plx__peers_exchange(plx_context *ctx, const void *out, const size_t *out_offset, void *in,
                               const size_t *in_offset)
{
    int rank = plx__rank(ctx), ranks = plx__ranks(ctx);
    size_t own = out_offset[rank + 1] - out_offset[rank];
    if (own) memcpy((char *)in + in_offset[rank], (const char *)out + out_offset[rank], own);
    for (int round = 0; round < ranks; round++) {
        int other = (round - rank + ranks) % ranks;
        if (other == rank) continue;
        const char *mine = (const char *)out + out_offset[other];
        size_t count = out_offset[other + 1] - out_offset[other];
        if (rank < other) PLX_TRY(plx__peers_send(ctx, other, mine, count));
        PLX_TRY(plx__peers_receive(ctx, other, (char *)in + in_offset[other], in_offset[other + 1] - in_offset[other]));
        if (rank > other) PLX_TRY(plx__peers_send(ctx, other, mine, count));
    }
    return PLX_OK;
}

int plx__bound_owner(const plx_index *bound, int ranks, plx_index row)
{
    int low = 0, high = ranks - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (row < bound[middle + 1]) high = middle;
        else low = middle + 1;
    }
    return low;
}

/* ---- failures ---- */

/* Rank 0 hears of all, keeps the lowest that failed and tells it. Nobody looks whether the call was cancelled: a rank
 * that was has to say so. */
static plx_status lowest_failure(plx_context *ctx, int64_t word[2])
{
    int64_t other[2];
    if (plx__rank(ctx) > 0) {
        PLX_TRY(send_bytes(ctx, 0, word, sizeof other));
        return receive_bytes(ctx, 0, word, sizeof other);
    }
    for (int r = 1; r < plx__ranks(ctx); r++) {
        PLX_TRY(receive_bytes(ctx, r, other, sizeof other));
        if (word[0] == PLX_OK) memcpy(word, other, sizeof other);
    }
    for (int r = 1; r < plx__ranks(ctx); r++) PLX_TRY(send_bytes(ctx, r, word, sizeof other));
    return PLX_OK;
}

plx_status plx__peers_settle(plx_context *ctx, plx_status st)
{
    int64_t word[2] = {st, plx__rank(ctx)};
    char text[PLX__ERROR_BYTES];
    if (plx__ranks(ctx) == 1 || ctx->failure_told) return st;
    PLX_TRY(lowest_failure(ctx, word));
    if (word[0] == PLX_OK) return PLX_OK;
    ctx->failure_told = true;
    int whose = (int)word[1];
    memcpy(text, ctx->error, sizeof text);
    for (int r = 0; whose == plx__rank(ctx) && r < plx__ranks(ctx); r++)
        if (r != whose) PLX_TRY(send_bytes(ctx, r, text, sizeof text));
    if (whose == plx__rank(ctx)) return st;
    PLX_TRY(receive_bytes(ctx, whose, text, sizeof text));
    plx__clear_error(ctx);
    return plx__fail(ctx, (plx_status)word[0], "%s", text);
}

plx_status plx__peers_tell(plx_context *ctx, const int64_t *mine, plx_index width, int64_t **all)
{
    int ranks = plx__ranks(ctx);
    size_t *offset = NULL;
    PLX_TRY(plx__arena_i64(all, plx__scratch(ctx), ranks * width));
    PLX_TRY(PLX__ARENA_NEW(&offset, plx__scratch(ctx), ranks + 1));
    for (int r = 0; r <= ranks; r++) offset[r] = (size_t)(r * width) * sizeof *mine;
    memcpy(*all + plx__rank(ctx) * width, mine, (size_t)width * sizeof *mine);
    PLX_TRY(plx__peers_settle(ctx, PLX_OK));
    return plx__peers_share(ctx, *all, offset);
}

/* Up and down a binomial tree: in round d, ranks with an odd multiple of d hand what they have gathered, the bytes of d
 * ranks, to the one d before them; at the root all of it is there and goes back the same way. */
static plx_status share_by_tree(plx_context *ctx, char *bytes, const size_t *offset)
{
    int rank = plx__rank(ctx), ranks = plx__ranks(ctx), d = 1;
    for (; d < ranks && rank % (2 * d) == 0; d *= 2) {
        int first = rank + d, last = rank + 2 * d < ranks ? rank + 2 * d : ranks;
        if (first < ranks) PLX_TRY(plx__peers_receive(ctx, first, bytes + offset[first], offset[last] - offset[first]));
    }
    if (rank > 0) {
        int last = rank + d < ranks ? rank + d : ranks;
        PLX_TRY(plx__peers_send(ctx, rank - d, bytes + offset[rank], offset[last] - offset[rank]));
        PLX_TRY(plx__peers_receive(ctx, rank - d, bytes + offset[0], offset[ranks] - offset[0]));
    }
    for (d /= 2; d > 0; d /= 2)
        if (rank + d < ranks) PLX_TRY(plx__peers_send(ctx, rank + d, bytes + offset[0], offset[ranks] - offset[0]));
    return PLX_OK;
}

plx_status plx__peers_share(plx_context *ctx, void *bytes, const size_t *offset)
{
    int rank = plx__rank(ctx);
    if (plx__ranks(ctx) == 1) return PLX_OK;
    if (!ctx->engines.share) return share_by_tree(ctx, bytes, offset);
    PLX_TRY(plx__poll(ctx));
    ctx->bytes_sent += (int64_t)(offset[rank + 1] - offset[rank]);
    return ctx->engines.share(bytes, offset, ctx->engines.payload) == 0 ? PLX_OK : plx__peers_lost(ctx);
}

plx_status plx__bound_share(plx_context *ctx, const plx_index *bound, void *rows, size_t bytes)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    size_t *offset = NULL;
    PLX_TRY(PLX__ARENA_NEW(&offset, plx__scratch(ctx), plx__ranks(ctx) + 1));
    for (int r = 0; r <= plx__ranks(ctx); r++) offset[r] = (size_t)bound[r] * bytes;
    PLX_TRY(plx__peers_share(ctx, rows, offset));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__bound_chain(plx_context *ctx, const plx_index *bound, void *state, size_t bytes, void (*add)(void *arg),
                            void *arg)
{
    int rank = bound ? plx__rank(ctx) : 0, last = bound ? plx__ranks(ctx) - 1 : 0;
    if (rank > 0) PLX_TRY(plx__peers_receive(ctx, rank - 1, state, bytes));
    add(arg);
    if (rank < last) PLX_TRY(plx__peers_send(ctx, rank + 1, state, bytes));
    return last ? plx__peers_spread(ctx, last, state, bytes) : PLX_OK;
}

/* ---- alone for a while ---- */

plx__apart plx__peers_leave(plx_context *ctx)
{
    plx__apart apart = {ctx->peers, ctx->engines, ctx->device};
    if (ctx->peers.ranks > 1) ctx->device = NULL;
    ctx->peers = (plx_peers)PLX_PEERS_INIT;
    ctx->engines = (plx_engines)PLX_ENGINES_INIT;
    return apart;
}

void plx__peers_return(plx_context *ctx, const plx__apart *apart)
{
    ctx->peers = apart->peers;
    ctx->engines = apart->engines;
    ctx->device = apart->device;
}
