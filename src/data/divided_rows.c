/*
 * A few rows of other ranks: chosen ones to whoever works on them, or one at a time to all.
 *
 * Entries of sparse rows are of any number, so lengths travel first; then columns and values, each like rows of bytes.
 */
#include <string.h>

#include "core/ranks.h"
#include "data/divided.h"

/* ---- chosen rows ---- */

typedef struct fetch {
    plx_context *ctx;
    const plx_index *bound, *row, *to;
    plx_index count, begin, end; /* of the list, and what of it comes here */
    plx_index *staged, *first;   /* places in the list by the rank they come from: staged[first[r]] .. are of rank r */
    plx__arena aside;            /* work, while scratch gets the result */
} fetch;

/* Things of one kind that belong to the rows: `bytes` each, one per row or as many as the starts tell. */
typedef struct things {
    const char *source;     /* of row source_first of those that are divided */
    plx_index source_first; /* 0 with starts */
    size_t stride;          /* from one of its rows to the next; not used with starts */
    size_t bytes;
    const int64_t *source_start, *target_start; /* NULL: one per row; the target's by place in the list */
    char *target;                               /* of the first place that comes here */
} things;

static int owner_of(const fetch *q, plx_index place)
{
    return plx__bound_owner(q->bound, plx__ranks(q->ctx), q->row[place]);
}

static size_t size_here(const things *t, plx_index place)
{
    return t->bytes * (t->target_start ? (size_t)(t->target_start[place + 1] - t->target_start[place]) : 1);
}

static char *target_of(const fetch *q, const things *t, plx_index place)
{
    if (!t->target_start) return t->target + (size_t)(place - q->begin) * t->bytes;
    return t->target + (size_t)(t->target_start[place] - t->target_start[q->begin]) * t->bytes;
}

static const char *source_of(const things *t, plx_index row)
{
    if (t->source_start) return t->source + (size_t)t->source_start[row] * t->bytes;
    return t->source + (size_t)(row - t->source_first) * t->stride;
}

static size_t size_there(const things *t, plx_index row)
{
    return t->bytes * (t->source_start ? (size_t)(t->source_start[row + 1] - t->source_start[row]) : 1);
}

static plx_status open_fetch(fetch *q)
{
    int ranks = plx__ranks(q->ctx);
    plx_index *at = NULL;
    plx__arena_init(&q->aside, q->ctx);
    PLX_TRY(plx__arena_i64(&q->staged, &q->aside, q->end - q->begin));
    PLX_TRY(plx__arena_i64(&q->first, &q->aside, ranks + 1));
    PLX_TRY(plx__arena_i64(&at, &q->aside, ranks));
    for (plx_index i = q->begin; i < q->end; i++) q->first[owner_of(q, i) + 1]++;
    for (int r = 0; r < ranks; r++) q->first[r + 1] += q->first[r];
    memcpy(at, q->first, (size_t)ranks * sizeof *at);
    for (plx_index i = q->begin; i < q->end; i++) q->staged[at[owner_of(q, i)]++] = i;
    return PLX_OK;
}

static bool in_order(const fetch *q)
{
    for (plx_index k = q->begin; k < q->end; k++)
        if (q->staged[k - q->begin] != k) return false;
    return true;
}

/* What other ranks want of this one, rank by rank. */
static plx_status pack(char **out, size_t **offset, fetch *q, const things *t)
{
    int rank = plx__rank(q->ctx), ranks = plx__ranks(q->ctx);
    PLX_TRY(PLX__ARENA_NEW(offset, &q->aside, ranks + 1));
    for (int pass = 0; pass < 2; pass++) {
        size_t at = 0;
        for (int r = 0; r < ranks; r++) {
            for (plx_index i = q->to[r]; r != rank && i < q->to[r + 1]; i++) {
                if (owner_of(q, i) != rank) continue;
                size_t size = size_there(t, q->row[i]);
                if (pass && size) memcpy(*out + at, source_of(t, q->row[i]), size);
                at += size;
            }
            (*offset)[r + 1] = at;
        }
        if (!pass) PLX_TRY(plx__arena_bytes((void **)out, &q->aside, (plx_index)at, 1));
    }
    return PLX_OK;
}

/* Own rows are put where they belong; the others come from their ranks, straight there where the list goes up. What is
 * made for the way is given back. */
static plx_status move_things(fetch *q, const things *t)
{
    plx__mark mark = plx__arena_mark(&q->aside);
    int rank = plx__rank(q->ctx), ranks = plx__ranks(q->ctx);
    bool straight = in_order(q);
    size_t *in = NULL, *out = NULL;
    char *arrived = t->target, *sent = NULL;
    PLX_TRY(PLX__ARENA_NEW(&in, &q->aside, ranks + 1));
    for (int r = 0; r < ranks; r++) {
        in[r + 1] = in[r];
        for (plx_index k = q->first[r]; k < q->first[r + 1]; k++) in[r + 1] += size_here(t, q->staged[k]);
    }
    if (!straight) PLX_TRY(plx__arena_bytes((void **)&arrived, &q->aside, (plx_index)in[ranks], 1));
    char *own = arrived + in[rank];
    for (plx_index k = q->first[rank]; k < q->first[rank + 1]; k++) {
        size_t size = size_here(t, q->staged[k]);
        if (size) memcpy(own, source_of(t, q->row[q->staged[k]]), size);
        own += size;
    }
    if (q->to) {
        PLX_TRY(pack(&sent, &out, q, t));
        PLX_TRY(plx__peers_exchange(q->ctx, sent, out, arrived, in));
    } else {
        PLX_TRY(plx__peers_share(q->ctx, arrived, in));
    }
    for (plx_index k = 0; !straight && k < q->end - q->begin; k++) {
        size_t size = size_here(t, q->staged[k]);
        if (size) memcpy(target_of(q, t, q->staged[k]), arrived, size);
        arrived += size;
    }
    plx__arena_rewind(&q->aside, mark);
    return PLX_OK;
}

static plx_status fetch_dense(plx__points *out, fetch *q, plx_cmat from)
{
    size_t row = (size_t)from.cols * sizeof(double);
    double *values = NULL;
    PLX_TRY(plx__arena_bytes((void **)&values, plx__scratch(q->ctx), q->end - q->begin, row));
    things t = {.source = (const char *)from.data,
                .stride = (size_t)from.ld * sizeof(double),
                .bytes = row,
                .target = (char *)values};
    if (q->begin) values = plx__rows_at(values, q->begin, from.cols);
    *out = plx__points_dense((plx_cmat){values, q->count, from.cols, from.cols});
    return move_things(q, &t);
}

static plx_status fetch_sparse(plx__points *out, fetch *q, plx_ccsr from)
{
    int rank = plx__rank(q->ctx);
    int64_t *length = NULL, *ptr = NULL;
    plx_csr part = {.rows = q->count, .cols = from.cols};
    plx_index begin = q->bound[rank], end = q->bound[rank + 1];
    PLX_TRY(plx__arena_i64(&length, &q->aside, end - begin));
    PLX_TRY(plx__arena_i64(&ptr, plx__scratch(q->ctx), q->count + 1));
    for (plx_index i = begin; i < end; i++) length[i - begin] = from.ptr[i + 1] - from.ptr[i];
    things t = {.source = (const char *)length,
                .source_first = begin,
                .stride = sizeof *length,
                .bytes = sizeof *length,
                .target = (char *)(ptr + q->begin + 1)};
    PLX_TRY(move_things(q, &t));
    for (plx_index i = 0; i < q->count; i++) ptr[i + 1] += ptr[i];
    part.ptr = ptr;
    PLX_TRY(plx__arena_bytes((void **)&part.col, plx__scratch(q->ctx), ptr[q->count], sizeof *part.col));
    PLX_TRY(plx__arena_bytes((void **)&part.val, plx__scratch(q->ctx), ptr[q->count], sizeof *part.val));
    t = (things){.source = (const char *)from.col,
                 .bytes = sizeof *part.col,
                 .source_start = from.ptr,
                 .target_start = ptr,
                 .target = (char *)part.col};
    PLX_TRY(move_things(q, &t));
    t.source = (const char *)from.val;
    t.bytes = sizeof *part.val;
    t.target = (char *)part.val;
    PLX_TRY(move_things(q, &t));
    *out = plx__points_csr(plx__ccsr(part));
    return PLX_OK;
}

/* All rows, each where it is: a list of so many different ones that goes up has them all. */
static bool stays(const fetch *q, plx_index rows)
{
    if (!q->to || q->count != rows) return false;
    for (plx_index i = 1; i < q->count; i++)
        if (q->row[i] <= q->row[i - 1]) return false;
    return memcmp(q->to, q->bound, ((size_t)plx__ranks(q->ctx) + 1) * sizeof *q->to) == 0;
}

plx_status plx__rows_fetch(plx__points *out, plx_context *ctx, plx__points from, const plx_index *bound,
                           const plx_index *row, plx_index count, const plx_index *to)
{
    fetch q = {.ctx = ctx, .bound = bound, .row = row, .to = to, .count = count, .end = count};
    plx_status st = PLX_OK;
    if (to) {
        q.begin = to[plx__rank(ctx)];
        q.end = to[plx__rank(ctx) + 1];
    }
    *out = from;
    if (stays(&q, plx__points_rows(from))) return PLX_OK;
    PLX_GOTO(open_fetch(&q));
    PLX_GOTO(plx__points_sparse(from) ? fetch_sparse(out, &q, from.csr) : fetch_dense(out, &q, from.dense));
done:
    plx__arena_free(&q.aside);
    return st;
}

/* ---- one row at a time ---- */

plx_status plx__row_round_open(plx__row_round *out, plx_context *ctx, plx__points from)
{
    plx_index cols = plx__points_cols(from);
    *out = (plx__row_round){0};
    if (plx__points_sparse(from)) return plx__arena_csr(&out->csr, plx__scratch(ctx), 1, cols, cols);
    return plx__arena_mat(&out->dense, plx__scratch(ctx), 1, cols);
}

plx_status plx__row_round_take(plx__row_round *r, plx_context *ctx, plx__points from, plx_index row, int owner)
{
    bool here = plx__rank(ctx) == owner;
    plx_csr to = r->csr;
    if (!to.ptr) {
        size_t bytes = (size_t)r->dense.cols * sizeof(double);
        if (here && bytes) memcpy(r->dense.data, from.dense.data + row * from.dense.ld, bytes);
        return plx__peers_spread(ctx, owner, r->dense.data, bytes);
    }
    if (here) {
        int64_t first = from.csr.ptr[row], count = from.csr.ptr[row + 1] - first;
        to.ptr[1] = count;
        if (count) memcpy(to.col, from.csr.col + first, (size_t)count * sizeof *to.col);
        if (count) memcpy(to.val, from.csr.val + first, (size_t)count * sizeof *to.val);
    }
    PLX_TRY(plx__peers_spread(ctx, owner, to.ptr + 1, sizeof *to.ptr));
    PLX_TRY(plx__peers_spread(ctx, owner, to.col, (size_t)to.ptr[1] * sizeof *to.col));
    return plx__peers_spread(ctx, owner, to.val, (size_t)to.ptr[1] * sizeof *to.val);
}

plx__points plx__row_round_points(const plx__row_round *r)
{
    return r->csr.ptr ? plx__points_csr(plx__ccsr(r->csr)) : plx__points_dense(plx__cmat(r->dense));
}
