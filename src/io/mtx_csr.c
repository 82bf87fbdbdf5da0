/*
 * A stable sort in two steps, both on all threads. First the entries go into a few hundred buckets of neighbouring
 * rows: every block of entries counts what it has for each bucket, which fixes where it writes. Then every bucket,
 * now small enough for the cache, is sorted by row and each row by column. Blocks and buckets depend on the matrix
 * alone, and entries at one place meet in the order of the file: the sums have the same bytes on any number of threads.
 */
#include "io/mtx_csr.h"

#include <string.h>

#include "core/parallel.h"

enum { MOST_BUCKETS = 512, MOST_BLOCKS = 64, BLOCK_LEAST = 1 << 16, SHORT_ROW = 48 };

typedef struct sort_job {
    const plx__entries *all;
    plx_csr *out;
    plx__entry *sorted; /* by bucket */
    plx_index block_size, blocks, buckets;
    int shift;          /* bucket = row >> shift */
    int64_t *start;     /* blocks x buckets: counts, then where the block writes next */
    int64_t *bucket_at; /* buckets + 1 */
    int64_t *length;    /* per row: entries after duplicates are added up */
    uint64_t **keys;    /* per worker: 2 x longest bucket */
    plx_index longest;
} sort_job;

/* ---- into buckets ---- */

static plx_status count_block(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    (void)ctx;
    (void)worker;
    sort_job *job = job_;
    const plx__entry *entry = job->all->entry;
    int64_t *count = job->start + begin / job->block_size * job->buckets;
    for (plx_index k = begin; k < end; k++) count[entry[k].row >> job->shift]++;
    for (plx_index k = begin; job->all->mirror && k < end; k++)
        if (entry[k].row != entry[k].col) count[entry[k].col >> job->shift]++;
    return PLX_OK;
}

static plx_status scatter_block(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    (void)ctx;
    (void)worker;
    sort_job *job = job_;
    int mirror = job->all->mirror;
    int64_t *next = job->start + begin / job->block_size * job->buckets;
    for (plx_index k = begin; k < end; k++) {
        plx__entry e = job->all->entry[k];
        job->sorted[next[e.row >> job->shift]++] = e;
        if (!mirror || e.row == e.col) continue;
        plx__entry m = {e.col, e.row, mirror < 0 ? -e.val : e.val};
        job->sorted[next[m.row >> job->shift]++] = m;
    }
    return PLX_OK;
}

/* Counts to places: bucket by bucket, in each block after block. */
static plx_index place_blocks(sort_job *job)
{
    int64_t at = 0;
    for (plx_index b = 0; b < job->buckets; b++) {
        job->bucket_at[b] = at;
        for (plx_index k = 0; k < job->blocks; k++) {
            int64_t *cell = &job->start[k * job->buckets + b], count = *cell;
            *cell = at;
            at += count;
        }
        job->longest = plx__max(job->longest, at - job->bucket_at[b]);
    }
    job->bucket_at[job->buckets] = at;
    return at;
}

/* ---- inside a bucket ---- */

/* Keys are column << 32 | place in the row: all different, so that any correct sort is stable. */
static void sort_keys(uint64_t *keys, uint64_t *other, size_t n, uint64_t columns)
{
    if (n <= SHORT_ROW) {
        for (size_t i = 1; i < n; i++) {
            uint64_t key = keys[i];
            size_t j = i;
            for (; j > 0 && keys[j - 1] > key; j--) keys[j] = keys[j - 1];
            keys[j] = key;
        }
        return;
    }
    uint64_t *from = keys, *to = other;
    for (int shift = 32; shift < 64 && columns >> (shift - 32) != 0; shift += 8) { /* byte by byte of the column */
        size_t start[257] = {0};
        for (size_t i = 0; i < n; i++) start[(from[i] >> shift & 0xFF) + 1]++;
        for (int b = 0; b < 256; b++) start[b + 1] += start[b];
        for (size_t i = 0; i < n; i++) to[start[from[i] >> shift & 0xFF]++] = from[i];
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != keys) memcpy(keys, from, n * sizeof *keys);
}

static bool ascending(const int32_t *col, plx_index n)
{
    for (plx_index k = 1; k < n; k++)
        if (col[k] <= col[k - 1]) return false;
    return true;
}

/* Sort a row of n entries and add up duplicates; returns how many entries are left. */
static plx_index tidy_row(int32_t *col, double *val, plx_index n, uint64_t *keys, uint64_t *other, plx_index columns)
{
    if (ascending(col, n)) return n;
    double *sorted = (double *)(void *)other;
    for (plx_index k = 0; k < n; k++) keys[k] = (uint64_t)(uint32_t)col[k] << 32 | (uint64_t)k;
    sort_keys(keys, other, (size_t)n, (uint64_t)columns);
    for (plx_index k = 0; k < n; k++) sorted[k] = val[keys[k] & UINT32_MAX];
    plx_index kept = 0;
    for (plx_index k = 0; k < n; k++) {
        int32_t j = (int32_t)(keys[k] >> 32);
        if (kept && col[kept - 1] == j) {
            val[kept - 1] += sorted[k];
        } else {
            col[kept] = j;
            val[kept++] = sorted[k];
        }
    }
    return kept;
}

static void sort_bucket(sort_job *job, plx_index b, uint64_t *keys)
{
    plx_csr *out = job->out;
    int64_t first = b << job->shift, stop = plx__min(out->rows, (b + 1) << job->shift), at = job->bucket_at[b];
    int64_t *next = job->length;
    for (int64_t k = at; k < job->bucket_at[b + 1]; k++) next[job->sorted[k].row]++;
    for (int64_t i = first; i < stop; i++) {
        int64_t count = next[i];
        out->ptr[i] = next[i] = at;
        at += count;
    }
    for (int64_t k = job->bucket_at[b]; k < job->bucket_at[b + 1]; k++) {
        const plx__entry *e = &job->sorted[k];
        int64_t to = next[e->row]++;
        out->col[to] = e->col;
        out->val[to] = e->val;
    }
    for (int64_t i = first; i < stop; i++) { /* next[i] stands at the end of row i now */
        int64_t from = out->ptr[i];
        job->length[i] =
            tidy_row(out->col + from, out->val + from, next[i] - from, keys, keys + job->longest, out->cols);
    }
}

static plx_status sort_buckets(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    (void)ctx;
    sort_job *job = job_;
    for (plx_index b = begin; b < end; b++) sort_bucket(job, b, job->keys[worker]);
    return PLX_OK;
}

/* Close the gaps that added-up duplicates left, and end the row pointers. */
static void close_gaps(plx_csr *out, const int64_t *length)
{
    int64_t to = 0;
    for (plx_index i = 0; i < out->rows; i++) {
        int64_t from = out->ptr[i];
        if (to != from) {
            memmove(out->col + to, out->col + from, (size_t)length[i] * sizeof *out->col);
            memmove(out->val + to, out->val + from, (size_t)length[i] * sizeof *out->val);
        }
        out->ptr[i] = to;
        to += length[i];
    }
    out->ptr[out->rows] = to;
}

/* ---- all together ---- */

static plx_status prepare(sort_job *job, plx_context *ctx)
{
    const plx__entries *all = job->all;
    plx__arena *scratch = plx__scratch(ctx);
    while (all->rows > 0 && (all->rows - 1) >> job->shift >= MOST_BUCKETS) job->shift++;
    job->buckets = all->rows > 0 ? ((all->rows - 1) >> job->shift) + 1 : 0;
    job->block_size = plx__max(BLOCK_LEAST, (all->count + MOST_BLOCKS - 1) / MOST_BLOCKS);
    job->blocks = (all->count + job->block_size - 1) / job->block_size;
    PLX_TRY(plx__arena_i64(&job->start, scratch, job->blocks * job->buckets));
    PLX_TRY(plx__arena_i64(&job->bucket_at, scratch, job->buckets + 1));
    return plx__arena_i64(&job->length, scratch, all->rows);
}

static plx_status make_keys(sort_job *job, plx_context *ctx)
{
    int workers = plx__workers(ctx);
    if (job->longest > (plx_index)UINT32_MAX)
        PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "%lld entries in neighbouring rows are too many", (long long)job->longest);
    PLX_TRY(PLX__ARENA_NEW(&job->keys, plx__scratch(ctx), workers));
    for (int w = 0; w < workers; w++)
        PLX_TRY(plx__arena_bytes((void **)&job->keys[w], plx__scratch(ctx), job->longest, 2 * sizeof(uint64_t)));
    return PLX_OK;
}

plx_status plx__entries_to_csr(plx_csr *out, plx_context *ctx, plx__arena *arena, const plx__entries *all)
{
    sort_job job = {.all = all, .out = out};
    PLX_TRY(prepare(&job, ctx));
    PLX_TRY(plx__parallel_for(ctx, all->count, job.block_size, count_block, &job));
    plx_index total = place_blocks(&job);
    PLX_TRY(plx__arena_csr(out, arena, all->rows, all->cols, total));
    PLX_TRY(plx__arena_bytes((void **)&job.sorted, plx__scratch(ctx), total, sizeof *job.sorted));
    PLX_TRY(make_keys(&job, ctx));
    PLX_TRY(plx__parallel_for(ctx, all->count, job.block_size, scatter_block, &job));
    PLX_TRY(plx__parallel_for(ctx, job.buckets, 1, sort_buckets, &job));
    close_gaps(out, job.length);
    return PLX_OK;
}
