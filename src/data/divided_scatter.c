/*
 * Rows of a divided view on their way to the samples they belong to. Where every row goes is known to all ranks, so each
 * knows what will come from whom; only the lengths of sparse rows are told.
 */
#include <string.h>

#include "core/ranks.h"
#include "data/divided.h"

/* Rows that this rank sends, by the rank they go to, and rows that come, by the rank they come from. */
typedef struct traffic {
    plx_context *ctx;
    const plx_index *target;
    plx_index *out_row, *out_at; /* rows of the source; ranks + 1: where those for a rank begin */
    plx_index *in_row, *in_at;
    size_t *out_bytes, *in_bytes; /* ranks + 1, for an exchange */
} traffic;

static plx_status list_rows(traffic *t, const plx_index *from, const plx_index *to)
{
    int rank = plx__rank(t->ctx), ranks = plx__ranks(t->ctx);
    plx__arena *scratch = plx__scratch(t->ctx);
    plx_index count = 0, *next = NULL;
    PLX_TRY(plx__arena_i64(&t->out_row, scratch, from[rank + 1] - from[rank]));
    PLX_TRY(plx__arena_i64(&t->in_row, scratch, to[rank + 1] - to[rank]));
    PLX_TRY(plx__arena_i64(&t->out_at, scratch, ranks + 1));
    PLX_TRY(plx__arena_i64(&t->in_at, scratch, ranks + 1));
    PLX_TRY(plx__arena_i64(&next, scratch, ranks + 1));
    PLX_TRY(PLX__ARENA_NEW(&t->out_bytes, scratch, ranks + 1));
    PLX_TRY(PLX__ARENA_NEW(&t->in_bytes, scratch, ranks + 1));
    for (plx_index i = from[rank]; i < from[rank + 1]; i++)
        if (t->target[i] >= 0) t->out_at[plx__bound_owner(to, ranks, t->target[i]) + 1]++;
    for (int r = 0; r < ranks; r++) t->out_at[r + 1] += t->out_at[r];
    memcpy(next, t->out_at, ((size_t)ranks + 1) * sizeof *next);
    for (plx_index i = from[rank]; i < from[rank + 1]; i++)
        if (t->target[i] >= 0) t->out_row[next[plx__bound_owner(to, ranks, t->target[i])]++] = i;
    for (int r = 0; r < ranks; r++) {
        for (plx_index i = from[r]; i < from[r + 1]; i++)
            if (t->target[i] >= to[rank] && t->target[i] < to[rank + 1]) t->in_row[count++] = i;
        t->in_at[r + 1] = count;
    }
    return PLX_OK;
}

/* `bytes` for every row; or, with `out_start` and `in_start`, for every entry of the rows, which begin there. */
static plx_status swap(const traffic *t, const void *out, void *in, size_t bytes, const int64_t *out_start,
                       const int64_t *in_start)
{
    for (int r = 0; r <= plx__ranks(t->ctx); r++) {
        t->out_bytes[r] = (size_t)(out_start ? out_start[t->out_at[r]] : t->out_at[r]) * bytes;
        t->in_bytes[r] = (size_t)(in_start ? in_start[t->in_at[r]] : t->in_at[r]) * bytes;
    }
    return plx__peers_exchange(t->ctx, out, t->out_bytes, in, t->in_bytes);
}

static plx_status scatter_dense(plx_mat *out, plx__arena *arena, const traffic *t, plx_mat x, plx_index n,
                                const plx_index *to)
{
    int rank = plx__rank(t->ctx), ranks = plx__ranks(t->ctx);
    plx_index sent = t->out_at[ranks], come = t->in_at[ranks], cols = x.cols;
    size_t row = (size_t)cols * sizeof(double);
    double *packed = NULL, *coming = NULL, *values = NULL;
    PLX_TRY(plx__arena_bytes((void **)&packed, plx__scratch(t->ctx), sent, row));
    PLX_TRY(plx__arena_bytes((void **)&coming, plx__scratch(t->ctx), come, row));
    PLX_TRY(plx__arena_f64(&values, arena, to[rank + 1] - to[rank], cols));
    *out = (plx_mat){plx__rows_at(values, to[rank], cols), n, cols, cols};
    for (plx_index k = 0; k < sent; k++) memcpy(packed + k * cols, x.data + t->out_row[k] * x.ld, row);
    PLX_TRY(plx__peers_settle(t->ctx, PLX_OK));
    PLX_TRY(swap(t, packed, coming, row, NULL, NULL));
    for (plx_index k = 0; k < come; k++) memcpy(out->data + t->target[t->in_row[k]] * cols, coming + k * cols, row);
    return PLX_OK;
}

/* Sparse rows one after the other, as they are sent or come. */
typedef struct parcel {
    plx_index rows;
    int64_t *length, *start; /* rows; rows + 1 */
    int32_t *col;
    double *val;
} parcel;

static plx_status make_parcel(parcel *p, plx_context *ctx, plx_index rows)
{
    p->rows = rows;
    PLX_TRY(plx__arena_i64(&p->length, plx__scratch(ctx), rows));
    return plx__arena_i64(&p->start, plx__scratch(ctx), rows + 1);
}

static plx_status make_room(parcel *p, plx_context *ctx)
{
    for (plx_index k = 0; k < p->rows; k++) p->start[k + 1] = p->start[k] + p->length[k];
    PLX_TRY(plx__arena_bytes((void **)&p->col, plx__scratch(ctx), p->start[p->rows], sizeof *p->col));
    return plx__arena_bytes((void **)&p->val, plx__scratch(ctx), p->start[p->rows], sizeof *p->val);
}

static plx_status pack_sparse(parcel *p, const traffic *t, plx_csr x)
{
    PLX_TRY(make_parcel(p, t->ctx, t->out_at[plx__ranks(t->ctx)]));
    for (plx_index k = 0; k < p->rows; k++) p->length[k] = x.ptr[t->out_row[k] + 1] - x.ptr[t->out_row[k]];
    PLX_TRY(make_room(p, t->ctx));
    for (plx_index k = 0; k < p->rows; k++) {
        int64_t from = x.ptr[t->out_row[k]];
        size_t count = (size_t)p->length[k];
        if (count) memcpy(p->col + p->start[k], x.col + from, count * sizeof *p->col);
        if (count) memcpy(p->val + p->start[k], x.val + from, count * sizeof *p->val);
    }
    return PLX_OK;
}

static void place_sparse(plx_csr *out, const traffic *t, const parcel *p)
{
    for (plx_index k = 0; k < p->rows; k++) out->ptr[t->target[t->in_row[k]] + 1] = p->length[k];
    for (plx_index i = 0; i < out->rows; i++) out->ptr[i + 1] += out->ptr[i];
    for (plx_index k = 0; k < p->rows; k++) {
        int64_t at = out->ptr[t->target[t->in_row[k]]];
        size_t count = (size_t)p->length[k];
        if (count) memcpy(out->col + at, p->col + p->start[k], count * sizeof *p->col);
        if (count) memcpy(out->val + at, p->val + p->start[k], count * sizeof *p->val);
    }
}

static plx_status scatter_sparse(plx_csr *out, plx__arena *arena, const traffic *t, plx_csr x, plx_index n)
{
    parcel sent = {0}, come = {0};
    PLX_TRY(pack_sparse(&sent, t, x));
    PLX_TRY(make_parcel(&come, t->ctx, t->in_at[plx__ranks(t->ctx)]));
    PLX_TRY(plx__peers_settle(t->ctx, PLX_OK));
    PLX_TRY(swap(t, sent.length, come.length, sizeof *come.length, NULL, NULL));
    PLX_TRY(make_room(&come, t->ctx));
    PLX_TRY(plx__arena_csr(out, arena, n, x.cols, come.start[come.rows]));
    PLX_TRY(plx__peers_settle(t->ctx, PLX_OK));
    PLX_TRY(swap(t, sent.col, come.col, sizeof *come.col, sent.start, come.start));
    PLX_TRY(swap(t, sent.val, come.val, sizeof *come.val, sent.start, come.start));
    place_sparse(out, t, &come);
    return PLX_OK;
}

plx_status plx__share_scatter(plx__view_source *out, plx_context *ctx, plx__arena *arena, const plx__view_source *from,
                              const plx_index *target, plx_index n)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index rows = from->sparse ? from->csr.rows : from->dense.rows, *held = NULL, *wanted = NULL;
    traffic t = {.ctx = ctx, .target = target};
    PLX_TRY(plx__arena_i64(&held, plx__scratch(ctx), plx__ranks(ctx) + 1));
    PLX_TRY(plx__arena_i64(&wanted, plx__scratch(ctx), plx__ranks(ctx) + 1));
    plx__slabs_bounds(held, ctx, plx__slabs_cut(rows, PLX__PANE_ROWS));
    plx__slabs_bounds(wanted, ctx, plx__slabs_cut(n, PLX__PANE_ROWS));
    PLX_TRY(list_rows(&t, held, wanted));
    *out = *from;
    out->begin = wanted[plx__rank(ctx)];
    out->end = wanted[plx__rank(ctx) + 1];
    if (from->sparse) PLX_TRY(scatter_sparse(&out->csr, arena, &t, from->csr, n));
    else PLX_TRY(scatter_dense(&out->dense, arena, &t, from->dense, n, wanted));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
