/*
 * One round of the descent: every row draws some of those it knows or is known by, and compares them with each other.
 *
 * A draw is decided by a random number per pair of rows and round, so which ones are drawn does not depend on the order
 * in which threads meet them. Pairs of which both were known before the last round have met already and are left out.
 */
#include <math.h>
#include <string.h>

#include "graph/descent_impl.h"

enum { GRAIN = 256 };

/* ---- draws ---- */

/* 32 random bits of an unordered pair in this round (the finaliser of splitmix64), above the position of `other`. */
static uint64_t draw_of(const plx__descent_round *round, uint32_t a, uint32_t b, uint32_t other)
{
    uint64_t low = a < b ? a : b, high = a < b ? b : a, z = (high << 32 | low) ^ round->seed;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (z & 0xffffffff00000000u) | other;
}

/* Keeps the `room` smallest; one that is there already (known in both directions) is not put twice. */
static void put_draw(plx__draws *draws, atomic_uchar *lock, uint32_t position, uint64_t draw)
{
    uint64_t *slot = draws->slot + (plx_index)position * draws->room;
    plx__descent_lock(&lock[position]);
    plx_index count = draws->count[position], at = count;
    while (at > 0 && slot[at - 1] > draw) at--;
    if (at < draws->room && !(at > 0 && slot[at - 1] == draw)) {
        plx_index moved = plx__min(count, draws->room - 1) - at;
        memmove(slot + at + 1, slot + at, (size_t)moved * sizeof *slot);
        slot[at] = draw;
        draws->count[position] = (uint16_t)plx__min(count + 1, draws->room);
    }
    plx__descent_unlock(&lock[position]);
}

static plx_status draw_range(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    plx__descent_round *round = arg;
    plx__descent_lists *lists = round->lists;
    (void)worker;
    PLX_TRY(plx__poll(ctx));
    for (plx_index i = begin; i < end; i++)
        for (plx_index t = 0; t < lists->length; t++) {
            plx__found f = lists->item[i * lists->length + t];
            if (f.tag == PLX__NOBODY) break;
            uint32_t own = (uint32_t)i, other = plx__found_position(f);
            plx__draws *draws = f.tag & 1u ? &round->fresh : &round->known;
            put_draw(draws, lists->lock, own, draw_of(round, own, other, other));
            put_draw(draws, lists->lock, other, draw_of(round, own, other, own));
        }
    return PLX_OK;
}

/* What was drawn is seen from now on. */
static plx_status mark_range(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    plx__descent_round *round = arg;
    plx__descent_lists *lists = round->lists;
    (void)ctx, (void)worker;
    for (plx_index i = begin; i < end; i++) {
        plx_index drawn = round->fresh.count[i];
        uint64_t last = drawn ? round->fresh.slot[i * round->fresh.room + drawn - 1] : 0;
        for (plx_index t = 0; t < lists->length; t++) {
            plx__found *f = &lists->item[i * lists->length + t];
            if (f->tag == PLX__NOBODY || !(f->tag & 1u)) continue;
            uint32_t other = plx__found_position(*f);
            if (draw_of(round, (uint32_t)i, other, other) <= last) f->tag &= ~1u;
        }
    }
    return PLX_OK;
}

/* ---- joins ---- */

static plx_status join_range(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    plx__descent_round *round = arg;
    uint32_t *group = round->group[worker];
    PLX_TRY(plx__poll(ctx));
    for (plx_index i = begin; i < end; i++) {
        plx_index fresh = round->fresh.count[i], known = round->known.count[i];
        for (plx_index t = 0; t < fresh; t++) group[t] = (uint32_t)round->fresh.slot[i * round->fresh.room + t];
        for (plx_index t = 0; t < known; t++) group[fresh + t] = (uint32_t)round->known.slot[i * round->known.room + t];
        if (fresh) plx__join(round->rows, round->lists, group, fresh + known, fresh, &round->space[worker]);
    }
    return PLX_OK;
}

plx_status plx__descent_run_round(plx__descent_round *round, plx_context *ctx, uint64_t number)
{
    plx_index n = round->rows->n;
    round->seed = (ctx->seed + 1) * 0x9e3779b97f4a7c15u + number * 0xd1b54a32d192ed03u;
    memset(round->fresh.count, 0, (size_t)n * sizeof *round->fresh.count);
    memset(round->known.count, 0, (size_t)n * sizeof *round->known.count);
    PLX_TRY(plx__parallel_for(ctx, n, GRAIN, draw_range, round));
    PLX_TRY(plx__parallel_for(ctx, n, GRAIN, mark_range, round));
    return plx__parallel_for(ctx, n, GRAIN, join_range, round);
}

/* ---- memory ---- */

static plx_status open_draws(plx__draws *out, plx_context *ctx, plx_index n, plx_index room)
{
    plx_index count = 0;
    if (__builtin_mul_overflow(n, room, &count)) count = -1;
    out->room = room;
    PLX_TRY(plx__arena_bytes((void **)&out->slot, plx__scratch(ctx), count, sizeof *out->slot));
    return plx__arena_bytes((void **)&out->count, plx__scratch(ctx), n, sizeof *out->count);
}

plx_status plx__descent_round_open(plx__descent_round *out, plx_context *ctx, const plx__descent_rows *rows,
                                   plx__descent_lists *lists, plx_index room)
{
    plx__arena *scratch = plx__scratch(ctx);
    *out = (plx__descent_round){.rows = rows, .lists = lists};
    PLX_TRY(open_draws(&out->fresh, ctx, rows->n, room));
    PLX_TRY(open_draws(&out->known, ctx, rows->n, room));
    PLX_TRY(PLX__ARENA_NEW(&out->space, scratch, plx__workers(ctx)));
    PLX_TRY(plx__arena_ptrs((void ***)&out->group, scratch, plx__workers(ctx)));
    for (int t = 0; t < plx__workers(ctx); t++) {
        PLX_TRY(plx__join_space_open(&out->space[t], ctx, rows, 2 * room));
        PLX_TRY(plx__arena_bytes((void **)&out->group[t], scratch, 2 * room, sizeof **out->group));
    }
    return PLX_OK;
}

double plx__descent_round_bytes(plx_index n, plx_index cols, bool sparse, plx_index room, int workers)
{
    double worker = plx__join_space_bytes(cols, sparse, 2 * room) + 8.0 * (double)room + sizeof(plx__join_space) + 64;
    return 2.0 * (double)n * (8.0 * (double)room + 2) + worker * workers;
}
