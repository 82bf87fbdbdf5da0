/*
 * Two buffers: the block that is searched, and the one that comes next. The best of two lists are taken by the order of
 * plx__knn() (rounded distance, then the smaller row), which does not depend on the order in which blocks arrive.
 */
#include "linalg/knn_ring.h"

#include <math.h>
#include <string.h>

#include "core/ranks.h"

/* ---- blocks ---- */

typedef struct block {
    int owner;
    plx_index begin, rows;
    uint8_t *present; /* NULL: all are */
    double *val;      /* dense: rows x cols; sparse: the entries */
    int64_t *ptr;
    int32_t *col;
} block;

typedef struct ring {
    plx__slabs cut;
    plx__points own;
    const plx__knn_options *o;
    bool sparse;
    plx_index begin, rows, cols; /* of this process */
    int64_t *entries;            /* of every process's rows */
    block now, next;
    int64_t *best, *found, *merged; /* rows x k: neighbours so far, those in a block, the two made one */
    double *best_d, *found_d, *merged_d;
} ring;

static plx_status open_block(block *b, plx_context *ctx, const ring *z, plx_index entries)
{
    plx__arena *scratch = plx__scratch(ctx);
    if (z->o->present) PLX_TRY(plx__arena_u8(&b->present, scratch, z->cut.rows));
    if (!z->sparse) return plx__arena_f64(&b->val, scratch, z->cut.rows, z->cols);
    PLX_TRY(plx__arena_i64(&b->ptr, scratch, z->cut.rows + 1));
    PLX_TRY(plx__arena_i32(&b->col, scratch, entries));
    return plx__arena_f64(&b->val, scratch, entries, 1);
}

static void say_whose(block *b, const plx_context *ctx, const ring *z, int owner)
{
    plx_index end = 0;
    b->owner = owner;
    plx__slabs_of_rank(&b->begin, &end, ctx, z->cut, owner);
    b->rows = end - b->begin;
}

/* This process's rows, close together. */
static void pack(block *b, const ring *z)
{
    if (b->present) memcpy(b->present, z->o->present, (size_t)b->rows);
    for (plx_index i = 0; i < b->rows && !z->sparse; i++)
        memcpy(b->val + i * z->cols, z->own.dense.data + i * z->own.dense.ld, (size_t)z->cols * sizeof *b->val);
    if (!z->sparse || !b->rows) return;
    const plx_ccsr *a = &z->own.csr;
    size_t count = (size_t)(a->ptr[b->rows] - a->ptr[0]);
    for (plx_index i = 0; i <= b->rows; i++) b->ptr[i] = a->ptr[i] - a->ptr[0];
    memcpy(b->col, a->col + a->ptr[0], count * sizeof *b->col);
    memcpy(b->val, a->val + a->ptr[0], count * sizeof *b->val);
}

static plx__points points_of(const block *b, const ring *z)
{
    if (!z->sparse) return plx__points_dense(plx__cmat_of(b->val, b->rows, z->cols));
    return plx__points_csr((plx_ccsr){b->rows, z->cols, b->ptr, b->col, b->val});
}

/* The block goes on to the next process, and that of the one before comes. */
static plx_status pass_block(plx_context *ctx, ring *z)
{
    block *out = &z->now, *in = &z->next;
    size_t rows = (size_t)out->rows, more = 0;
    say_whose(in, ctx, z, (out->owner + plx__ranks(ctx) - 1) % plx__ranks(ctx));
    more = (size_t)in->rows;
    if (out->present) PLX_TRY(plx__peers_pass(ctx, out->present, rows, in->present, more));
    size_t mine = z->sparse ? (size_t)z->entries[out->owner] : rows * (size_t)z->cols;
    size_t theirs = z->sparse ? (size_t)z->entries[in->owner] : more * (size_t)z->cols;
    PLX_TRY(plx__peers_pass(ctx, out->val, mine * sizeof(double), in->val, theirs * sizeof(double)));
    if (z->sparse) {
        PLX_TRY(plx__peers_pass(ctx, out->ptr, (rows + 1) * sizeof(int64_t), in->ptr, (more + 1) * sizeof(int64_t)));
        PLX_TRY(plx__peers_pass(ctx, out->col, mine * sizeof(int32_t), in->col, theirs * sizeof(int32_t)));
    }
    block spare = *out;
    *out = *in;
    *in = spare;
    return PLX_OK;
}

/* ---- lists ---- */

static bool comes_first(double d, int64_t i, double e, int64_t j)
{
    double x = plx__distance_key(d), y = plx__distance_key(e);
    return x != y ? x < y : i < j;
}

/* The k best of two lists of the same row, best first; -1 ends a list. */
static void merge_lists(ring *z, plx_index row, plx_index first)
{
    plx_index k = z->o->k, a = 0, b = 0;
    const int64_t *x = z->best + row * k, *y = z->found + row * k;
    const double *dx = z->best_d + row * k, *dy = z->found_d + row * k;
    for (plx_index t = 0; t < k; t++) {
        bool left = x[a] >= 0, right = b < k && y[b] >= 0;
        int64_t other = right ? y[b] + first : -1;
        if (right && (!left || comes_first(dy[b], other, dx[a], x[a]))) {
            z->merged[t] = other;
            z->merged_d[t] = dy[b++];
        } else {
            z->merged[t] = left ? x[a] : -1;
            z->merged_d[t] = left ? dx[a++] : NAN;
        }
    }
    memcpy(z->best + row * k, z->merged, (size_t)k * sizeof *z->best);
    memcpy(z->best_d + row * k, z->merged_d, (size_t)k * sizeof *z->best_d);
}

static plx_status search_block(plx_context *ctx, ring *z)
{
    bool self = z->now.owner == plx__rank(ctx);
    plx__points rows = points_of(&z->now, z);
    plx__knn_options o = *z->o;
    if (!z->rows || !z->now.rows) return PLX_OK;
    o.self = self;
    o.query_present = self ? NULL : z->o->present;
    o.present = z->now.present;
    PLX_TRY(plx__knn(ctx, self ? rows : z->own, rows, &o, z->found, z->found_d));
    for (plx_index i = 0; i < z->rows; i++) merge_lists(z, i, z->now.begin);
    return PLX_OK;
}

/* ---- the ring ---- */

static plx_status open_ring(ring *z, plx_context *ctx)
{
    plx__arena *scratch = plx__scratch(ctx);
    plx_index end = 0, most = 0, k = z->o->k;
    plx__slabs_mine(&z->begin, &end, ctx, z->cut);
    z->rows = end - z->begin;
    PLX_TRY(plx__arena_i64(&z->entries, scratch, plx__ranks(ctx)));
    if (z->sparse && z->rows) z->entries[plx__rank(ctx)] = z->own.csr.ptr[z->rows] - z->own.csr.ptr[0];
    PLX_TRY(plx__peers_total(ctx, z->entries, plx__ranks(ctx)));
    for (int r = 0; r < plx__ranks(ctx); r++) most = plx__max(most, z->entries[r]);
    PLX_TRY(open_block(&z->now, ctx, z, most));
    PLX_TRY(open_block(&z->next, ctx, z, most));
    PLX_TRY(plx__arena_i64(&z->best, scratch, z->rows * k + k));
    PLX_TRY(plx__arena_f64(&z->best_d, scratch, z->rows + 1, k));
    PLX_TRY(plx__arena_i64(&z->found, scratch, z->rows * k));
    PLX_TRY(plx__arena_f64(&z->found_d, scratch, z->rows, k));
    for (plx_index p = 0; p < z->rows * k; p++) z->best[p] = -1;
    z->merged = z->best + z->rows * k;
    z->merged_d = z->best_d + z->rows * k;
    return PLX_OK;
}

plx_status plx__knn_ring(plx_context *ctx, plx__slabs cut, plx__points own, const plx__knn_options *options,
                         int64_t *index, double *distance)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    ring z = {.cut = cut, .own = own, .o = options, .sparse = plx__points_sparse(own), .cols = plx__points_cols(own)};
    size_t k = (size_t)options->k;
    PLX_ASSERT(options->self && options->k >= 1);
    PLX_TRY(open_ring(&z, ctx));
    say_whose(&z.now, ctx, &z, plx__rank(ctx));
    pack(&z.now, &z);
    for (int step = 0; step < plx__ranks(ctx); step++) {
        if (step) PLX_TRY(pass_block(ctx, &z));
        PLX_TRY(search_block(ctx, &z));
    }
    memcpy(index + z.begin * options->k, z.best, (size_t)z.rows * k * sizeof *index);
    PLX_TRY(plx__slabs_share(ctx, cut, index, k * sizeof *index, 1));
    if (distance) {
        memcpy(distance + z.begin * options->k, z.best_d, (size_t)z.rows * k * sizeof *distance);
        PLX_TRY(plx__slabs_share(ctx, cut, distance, k * sizeof *distance, 1));
    }
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

double plx__knn_ring_bytes(const plx_context *ctx, plx_index n, plx_index k, double entries, bool sparse)
{
    plx_index rows = plx__slabs_even(ctx, n).rows;
    double share = entries * (double)rows / (double)plx__max(1, n), list = 32.0 * (double)k;
    /* queries and references are made ready separately, hence twice */
    return 2 * plx__knn_bytes(ctx, rows, k, share, sparse) + 2 * (sparse ? 12.0 : 8.0) * share +
           (double)rows * (list + 18.0);
}
