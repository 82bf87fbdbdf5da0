/*
 * Rows of divided views on their way from rank to rank: to the cut of a method, or all to all.
 */
#include <string.h>

#include "core/ranks.h"
#include "data/divided.h"

/* ---- another cut ---- */

typedef struct move {
    plx_context *ctx;
    const plx_index *from, *to; /* bounds before and after */
    const char *source;         /* row 0 of what is here now; NULL: by `start` */
    char *target;
    size_t bytes; /* of a row; sparse: of an entry */
    const int64_t *source_start,
        *target_start; /* sparse: where the entries of a row begin; NULL: rows of equal length */
} move;

static size_t place(const int64_t *start, plx_index row, size_t bytes)
{
    return (size_t)(start ? start[row] : row) * bytes;
}

/* Rows that rank a has and rank b wants. */
static void overlap(plx_index *begin, plx_index *end, const move *q, int a, int b)
{
    *begin = plx__max(q->from[a], q->to[b]);
    *end = plx__max(*begin, plx__min(q->from[a + 1], q->to[b + 1]));
}

static plx_status hand_over(const move *q, int a, int b)
{
    plx_index begin = 0, end = 0;
    int rank = plx__rank(q->ctx);
    overlap(&begin, &end, q, a, b);
    if (begin == end || (rank != a && rank != b)) return PLX_OK;
    size_t out = place(q->source_start, begin, q->bytes), in = place(q->target_start, begin, q->bytes);
    size_t out_bytes = place(q->source_start, end, q->bytes) - out,
           in_bytes = place(q->target_start, end, q->bytes) - in;
    if (rank == a && rank == b) {
        if (out_bytes) memcpy(q->target + in, q->source + out, out_bytes);
        return PLX_OK;
    }
    return rank == a ? plx__peers_send(q->ctx, b, q->source + out, out_bytes)
                     : plx__peers_receive(q->ctx, a, q->target + in, in_bytes);
}

/* All ranks go through the pairs in the same order, so nobody waits for one who waits for him. */
static plx_status hand_over_all(const move *q)
{
    int ranks = plx__ranks(q->ctx);
    for (int a = 0; a < ranks; a++)
        for (int b = 0; b < ranks; b++) PLX_TRY(hand_over(q, a, b));
    return PLX_OK;
}

static plx_status regroup_dense(plx__view *v, plx_context *ctx, plx__arena *arena, const plx_index *bound)
{
    plx_index begin = bound[plx__rank(ctx)], end = bound[plx__rank(ctx) + 1], cols = v->cols;
    double *values = NULL;
    const double *here = v->dense.data;
    PLX_ASSERT(v->dense.ld == cols);
    PLX_TRY(plx__arena_bytes((void **)&values, arena, end - begin, (size_t)cols * sizeof *values));
    move q = {.ctx = ctx,
              .from = v->bound,
              .to = bound,
              .source = (const char *)here,
              .target = (char *)plx__rows_at(values, begin, cols),
              .bytes = (size_t)cols * sizeof *values};
    PLX_TRY(hand_over_all(&q));
    v->dense.data = (const double *)(const void *)q.target;
    return PLX_OK;
}

/* Where the entries of the rows to come will begin: from their lengths. */
static plx_status move_starts(int64_t *ptr, const plx__view *v, plx_context *ctx, plx_index n, const plx_index *bound)
{
    plx__arena aside; /* scratch may be where the view goes */
    int64_t *length = NULL, *own = NULL;
    plx_status st = PLX_OK;
    plx__arena_init(&aside, ctx);
    PLX_GOTO(plx__arena_i64(&own, &aside, n));
    PLX_GOTO(plx__arena_i64(&length, &aside, n));
    for (plx_index i = v->begin; i < v->end; i++) own[i] = v->csr.ptr[i + 1] - v->csr.ptr[i];
    move q = {.ctx = ctx, .from = v->bound, .to = bound, .source = (const char *)own, .target = (char *)length};
    q.bytes = sizeof *own;
    PLX_GOTO(hand_over_all(&q));
    for (plx_index i = 0; i < n; i++) ptr[i + 1] = ptr[i] + length[i];
done:
    plx__arena_free(&aside);
    return st;
}

static plx_status regroup_sparse(plx__view *v, plx_context *ctx, plx__arena *arena, plx_index n, const plx_index *bound)
{
    int64_t *ptr = NULL;
    int32_t *col = NULL;
    double *val = NULL;
    PLX_TRY(plx__arena_i64(&ptr, arena, n + 1));
    PLX_TRY(move_starts(ptr, v, ctx, n, bound));
    PLX_TRY(plx__arena_bytes((void **)&col, arena, ptr[n], sizeof *col));
    PLX_TRY(plx__arena_bytes((void **)&val, arena, ptr[n], sizeof *val));
    move q = {.ctx = ctx, .from = v->bound, .to = bound, .source_start = v->csr.ptr, .target_start = ptr};
    q.source = (const char *)v->csr.col;
    q.target = (char *)col;
    q.bytes = sizeof *col;
    PLX_TRY(hand_over_all(&q));
    q.source = (const char *)v->csr.val;
    q.target = (char *)val;
    q.bytes = sizeof *val;
    PLX_TRY(hand_over_all(&q));
    v->csr = (plx_ccsr){n, v->cols, ptr, col, val};
    return PLX_OK;
}

plx_status plx__view_regroup(plx__view *v, plx_context *ctx, plx__arena *arena, plx_index n, const plx_index *bound)
{
    plx_index *kept = NULL;
    size_t bytes = ((size_t)plx__ranks(ctx) + 1) * sizeof *bound;
    if (!v->divided || memcmp(v->bound, bound, bytes) == 0) return PLX_OK;
    PLX_TRY(plx__arena_i64(&kept, arena, plx__ranks(ctx) + 1));
    memcpy(kept, bound, bytes);
    if (v->sparse) PLX_TRY(regroup_sparse(v, ctx, arena, n, bound));
    else PLX_TRY(regroup_dense(v, ctx, arena, bound));
    v->bound = kept;
    v->begin = kept[plx__rank(ctx)];
    v->end = kept[plx__rank(ctx) + 1];
    return PLX_OK;
}

/* ---- all to all ---- */

static plx_status gather_entries(plx_context *ctx, const plx__view *v, const int64_t *ptr, void *to, const void *own,
                                 size_t bytes)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    size_t *offset = NULL, count = (size_t)v->csr.ptr[v->csr.rows] * bytes;
    PLX_TRY(PLX__ARENA_NEW(&offset, plx__scratch(ctx), plx__ranks(ctx) + 1));
    for (int r = 0; r <= plx__ranks(ctx); r++) offset[r] = (size_t)ptr[v->bound[r]] * bytes;
    if (count) memcpy((char *)to + offset[plx__rank(ctx)], own, count);
    PLX_TRY(plx__peers_share(ctx, to, offset));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

static plx_status gather_sparse(plx_csr *out, plx_context *ctx, plx__arena *arena, const plx__view *v, plx_index n)
{
    int64_t *ptr = NULL;
    *out = (plx_csr){.rows = n, .cols = v->cols};
    PLX_TRY(plx__arena_i64(&ptr, arena, n + 1));
    for (plx_index i = v->begin; i < v->end; i++) ptr[i + 1] = v->csr.ptr[i + 1] - v->csr.ptr[i];
    PLX_TRY(plx__held_share(ctx, v, ptr + 1, sizeof *ptr));
    for (plx_index i = 0; i < n; i++) ptr[i + 1] += ptr[i];
    out->ptr = ptr;
    PLX_TRY(plx__arena_bytes((void **)&out->col, arena, ptr[n], sizeof *out->col));
    PLX_TRY(plx__arena_bytes((void **)&out->val, arena, ptr[n], sizeof *out->val));
    PLX_TRY(gather_entries(ctx, v, ptr, out->col, v->csr.col, sizeof *out->col));
    return gather_entries(ctx, v, ptr, out->val, v->csr.val, sizeof *out->val);
}

static plx_status gather_dense(plx_mat *out, plx_context *ctx, plx__arena *arena, const plx__view *v, plx_index n)
{
    size_t row = (size_t)v->cols * sizeof(double);
    *out = (plx_mat){NULL, n, v->cols, v->cols};
    PLX_TRY(plx__arena_bytes((void **)&out->data, arena, n, row));
    for (plx_index i = v->begin; i < v->end; i++) memcpy(out->data + i * out->ld, v->dense.data + i * v->dense.ld, row);
    return plx__held_share(ctx, v, out->data, row);
}

plx_status plx__view_gather(plx__view_source *out, plx_context *ctx, plx__arena *arena, const plx__view *v, plx_index n)
{
    *out = (plx__view_source){
        .name = v->name, .kind = v->kind, .sparse = v->sparse, .features = v->features, .present = v->present};
    return v->sparse ? gather_sparse(&out->csr, ctx, arena, v, n) : gather_dense(&out->dense, ctx, arena, v, n);
}
