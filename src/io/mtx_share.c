/*
 * Entries of a matrix on their way to the ranks that keep their rows. Every rank sends what it has for another in the order
 * of the file, and takes what comes in the order of the ranks, so that entries at one place meet in the order of the file.
 */
#include <string.h>

#include "core/ranks.h"
#include "data/divided.h"
#include "io/mtx_csr.h"

typedef struct shipment {
    plx_index *bound;       /* ranks + 1: the rows of every rank */
    size_t *out_at, *in_at; /* ranks + 1: bytes */
    plx__entry *out, *in;
    plx__arena packed; /* of `out`, unless the entries lie as they are sent */
} shipment;

/* Entry k, and its mirror image unless it is its own: how many. */
static int copies_of(plx__entry copy[2], const plx__entries *own, plx_index k)
{
    plx__entry e = own->entry[k];
    copy[0] = e;
    copy[1] = (plx__entry){e.col, e.row, own->mirror * e.val};
    return own->mirror && e.row != e.col ? 2 : 1;
}

/* Files mostly have their rows in order: then nothing needs to be packed. */
static bool in_order(const plx__entries *own)
{
    for (plx_index k = 1; k < own->count; k++)
        if (own->entry[k].row < own->entry[k - 1].row) return false;
    return !own->mirror;
}

static plx_status pack(shipment *s, plx_context *ctx, const plx__entries *own)
{
    int ranks = plx__ranks(ctx);
    plx__entry copy[2];
    plx_index *next = NULL;
    PLX_TRY(plx__arena_i64(&next, plx__scratch(ctx), ranks + 1));
    for (plx_index k = 0; k < own->count; k++)
        for (int c = copies_of(copy, own, k); c > 0; c--)
            next[plx__bound_owner(s->bound, ranks, copy[c - 1].row) + 1]++;
    for (int r = 0; r < ranks; r++) next[r + 1] += next[r];
    for (int r = 0; r <= ranks; r++) s->out_at[r] = (size_t)next[r] * sizeof *s->out;
    s->out = own->entry;
    if (in_order(own)) return PLX_OK;
    PLX_TRY(plx__arena_bytes((void **)&s->out, &s->packed, next[ranks], sizeof *s->out));
    for (plx_index k = 0; k < own->count; k++) {
        int count = copies_of(copy, own, k);
        for (int c = 0; c < count; c++) s->out[next[plx__bound_owner(s->bound, ranks, copy[c].row)]++] = copy[c];
    }
    return PLX_OK;
}

/* How much will come from every rank. */
static plx_status announce(shipment *s, plx_context *ctx)
{
    int ranks = plx__ranks(ctx);
    size_t *place = NULL, *out = NULL, *in = NULL;
    PLX_TRY(PLX__ARENA_NEW(&place, plx__scratch(ctx), ranks + 1));
    PLX_TRY(PLX__ARENA_NEW(&out, plx__scratch(ctx), ranks));
    PLX_TRY(PLX__ARENA_NEW(&in, plx__scratch(ctx), ranks));
    for (int r = 0; r <= ranks; r++) place[r] = (size_t)r * sizeof *out;
    for (int r = 0; r < ranks; r++) out[r] = s->out_at[r + 1] - s->out_at[r];
    PLX_TRY(plx__peers_settle(ctx, PLX_OK));
    PLX_TRY(plx__peers_exchange(ctx, out, place, in, place));
    for (int r = 0; r < ranks; r++) s->in_at[r + 1] = s->in_at[r] + in[r];
    return PLX_OK;
}

/* The entries of this rank's rows, which count from its first one, into `come`. */
static plx_status ship(plx__entries *out, plx_context *ctx, plx__arena *come, plx__arena *aside, shipment *s,
                       const plx__entries *own)
{
    int rank = plx__rank(ctx), ranks = plx__ranks(ctx);
    PLX_TRY(plx__arena_i64(&s->bound, plx__scratch(ctx), ranks + 1));
    PLX_TRY(PLX__ARENA_NEW(&s->out_at, plx__scratch(ctx), ranks + 1));
    PLX_TRY(PLX__ARENA_NEW(&s->in_at, plx__scratch(ctx), ranks + 1));
    plx__slabs_bounds(s->bound, ctx, plx__slabs_cut(own->rows, PLX__PANE_ROWS));
    PLX_TRY(pack(s, ctx, own));
    if (s->out != own->entry) plx__arena_free(aside);
    PLX_TRY(announce(s, ctx));
    plx_index count = (plx_index)(s->in_at[ranks] / sizeof *s->in), first = s->bound[rank];
    PLX_TRY(plx__arena_bytes((void **)&s->in, come, count, sizeof *s->in));
    PLX_TRY(plx__peers_settle(ctx, PLX_OK));
    PLX_TRY(plx__peers_exchange(ctx, s->out, s->out_at, s->in, s->in_at));
    for (plx_index k = 0; k < count; k++) s->in[k].row = (int32_t)(s->in[k].row - first);
    *out = (plx__entries){s->bound[rank + 1] - first, own->cols, count, s->in, 0};
    return PLX_OK;
}

plx_status plx__entries_to_share(plx__table *out, plx_context *ctx, plx__arena *arena, plx__arena *aside,
                                 const plx__entries *own)
{
    shipment s = {0};
    plx__entries here = {0};
    plx__arena come;
    plx_csr part = {0};
    out->divided = plx__share_wanted(&out->begin, &out->end, ctx, own->rows);
    plx__arena_init(&s.packed, ctx);
    plx__arena_init(&come, ctx);
    plx_status st = ship(&here, ctx, &come, aside, &s, own);
    plx__arena_free(&s.packed);
    plx__arena_free(aside);
    if (st == PLX_OK) st = plx__entries_to_csr(&part, ctx, arena, &here);
    plx__arena_free(&come);
    PLX_TRY(st);
    return plx__pad_rows(&out->csr, arena, part, out->begin, own->rows);
}
