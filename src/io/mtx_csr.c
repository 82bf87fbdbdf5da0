/*
 * A stable sort in two steps, both on all threads. First every block of entries, small enough for the cache, is put into
 * the order of a few hundred buckets of neighbouring rows, in place. Then every bucket collects its part of all blocks
 * and sorts it by column and by row. Blocks and buckets depend on the matrix alone, and entries at one place meet in the
 * order of the file: the sums have the same bytes on any number of threads.
 */
#include "io/mtx_csr.h"

#include <string.h>

#include "core/parallel.h"

enum { MOST_BUCKETS = 512, MOST_BLOCKS = 4096, BLOCK_LEAST = 1 << 15, MOST_DIGIT_BITS = 11 };

typedef struct sort_job {
    const plx__entries *all;
    plx_csr *out;
    plx__entry *sorted; /* by bucket inside every block: the entries themselves, or a new array with their mirrors */
    plx_index block_size, blocks, buckets;
    int copies;         /* entries in `sorted` per entry: at most 2 */
    int shift;          /* bucket = row >> shift */
    int digits, bits;   /* of a column, and bits of a digit */
    uint32_t *start;    /* blocks x (buckets + 1): where a bucket begins in its block */
    int64_t *bucket_at; /* buckets + 1 */
    int64_t *length;    /* per row: entries after duplicates are added up */
    plx__entry **work;  /* per worker: a block with its mirrors, or twice the longest bucket */
    plx_index longest;
} sort_job;

/* ---- into buckets ---- */

static void place(const sort_job *job, plx__entry *to, uint32_t *next, plx__entry e)
{
    to[next[e.row >> job->shift]++] = e;
}

static void count_block(const sort_job *job, const plx__entry *entry, plx_index n, uint32_t *count)
{
    for (plx_index k = 0; k < n; k++) count[entry[k].row >> job->shift]++;
    for (plx_index k = 0; job->all->mirror && k < n; k++)
        if (entry[k].row != entry[k].col) count[entry[k].col >> job->shift]++;
}

/* Entries begin..end-1, one block, in the order of their buckets. */
static plx_status sort_block(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    (void)ctx;
    sort_job *job = job_;
    uint32_t *start = job->start + begin / job->block_size * (job->buckets + 1), next[MOST_BUCKETS];
    const plx__entry *entry = job->all->entry + begin;
    plx__entry *to = job->work[worker];
    double sign = job->all->mirror;
    count_block(job, entry, end - begin, start + 1);
    for (plx_index b = 0; b < job->buckets; b++) start[b + 1] += start[b];
    memcpy(next, start, (size_t)job->buckets * sizeof *next);
    for (plx_index k = 0; k < end - begin; k++) {
        plx__entry e = entry[k];
        place(job, to, next, e);
        if (sign != 0 && e.row != e.col) place(job, to, next, (plx__entry){e.col, e.row, sign * e.val});
    }
    memcpy(job->sorted + begin * job->copies, to, start[job->buckets] * sizeof *to);
    return PLX_OK;
}

/* Where the buckets begin in the matrix; returns the number of all entries. */
static plx_index add_buckets(sort_job *job)
{
    for (plx_index k = 0; k < job->blocks; k++) {
        const uint32_t *start = job->start + k * (job->buckets + 1);
        for (plx_index b = 0; b < job->buckets; b++) job->bucket_at[b + 1] += start[b + 1] - start[b];
    }
    for (plx_index b = 0; b < job->buckets; b++) {
        job->longest = plx__max(job->longest, job->bucket_at[b + 1]);
        job->bucket_at[b + 1] += job->bucket_at[b];
    }
    return job->bucket_at[job->buckets];
}

/* ---- inside a bucket ---- */

/* The bucket's parts of all blocks, one after the other. */
static void collect(const sort_job *job, plx_index b, plx__entry *to)
{
    for (plx_index k = 0; k < job->blocks; k++) {
        const uint32_t *start = job->start + k * (job->buckets + 1) + b;
        size_t n = start[1] - start[0];
        if (n) memcpy(to, job->sorted + k * job->block_size * job->copies + start[0], n * sizeof *to);
        to += n;
    }
}

/* Columns, or rows and in them columns, ascend: nothing is to be sorted by column. */
static bool ascending(const plx__entry *e, plx_index n)
{
    bool columns = true, places = true;
    for (plx_index k = 1; k < n && (columns || places); k++) {
        columns &= e[k].col >= e[k - 1].col;
        places &= e[k].row > e[k - 1].row || (e[k].row == e[k - 1].row && e[k].col >= e[k - 1].col);
    }
    return columns || places;
}

/* Digit by digit, the lowest first; returns the one of the two arrays that holds the result. */
static plx__entry *by_column(const sort_job *job, plx__entry *from, plx__entry *to, plx_index n)
{
    const uint32_t mask = (1U << job->bits) - 1;
    for (int d = 0; d < job->digits; d++) {
        uint32_t next[1 << MOST_DIGIT_BITS] = {0}, at = 0;
        int shift = d * job->bits;
        for (plx_index k = 0; k < n; k++) next[(uint32_t)from[k].col >> shift & mask]++;
        for (uint32_t v = 0; v <= mask; v++) {
            uint32_t count = next[v];
            next[v] = at;
            at += count;
        }
        for (plx_index k = 0; k < n; k++) to[next[(uint32_t)from[k].col >> shift & mask]++] = from[k];
        plx__entry *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

/* Add up the duplicates of a row whose columns ascend; returns how many entries are left. */
static plx_index add_duplicates(int32_t *col, double *val, plx_index n)
{
    plx_index kept = 1;
    while (kept < n && col[kept] != col[kept - 1]) kept++;
    for (plx_index k = kept; k < n; k++) {
        if (col[k] == col[kept - 1]) {
            val[kept - 1] += val[k];
        } else {
            col[kept] = col[k];
            val[kept++] = val[k];
        }
    }
    return plx__min(kept, n);
}

static void sort_bucket(sort_job *job, plx_index b, plx__entry *work)
{
    plx_csr *out = job->out;
    int64_t first = b << job->shift, stop = plx__min(out->rows, (b + 1) << job->shift), at = job->bucket_at[b];
    int64_t *next = job->length, n = job->bucket_at[b + 1] - at;
    collect(job, b, work);
    const plx__entry *entry = ascending(work, n) ? work : by_column(job, work, work + job->longest, n);
    for (int64_t k = 0; k < n; k++) next[entry[k].row]++;
    for (int64_t i = first; i < stop; i++) {
        int64_t count = next[i];
        out->ptr[i] = next[i] = at;
        at += count;
    }
    for (int64_t k = 0; k < n; k++) {
        int64_t to = next[entry[k].row]++;
        out->col[to] = entry[k].col;
        out->val[to] = entry[k].val;
    }
    for (int64_t i = first; i < stop; i++) { /* next[i] stands at the end of row i now */
        int64_t from = out->ptr[i];
        job->length[i] = add_duplicates(out->col + from, out->val + from, next[i] - from);
    }
}

static plx_status sort_buckets(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    (void)ctx;
    sort_job *job = job_;
    for (plx_index b = begin; b < end; b++) sort_bucket(job, b, job->work[worker]);
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
    int bits = 0;
    while (all->rows > 0 && (all->rows - 1) >> job->shift >= MOST_BUCKETS) job->shift++;
    while (all->cols > 0 && (all->cols - 1) >> bits != 0) bits++;
    job->digits = (bits + MOST_DIGIT_BITS - 1) / MOST_DIGIT_BITS;
    job->bits = job->digits ? (bits + job->digits - 1) / job->digits : 0;
    job->buckets = all->rows > 0 ? ((all->rows - 1) >> job->shift) + 1 : 0;
    job->block_size = plx__max(BLOCK_LEAST, (all->count + MOST_BLOCKS - 1) / MOST_BLOCKS);
    job->blocks = (all->count + job->block_size - 1) / job->block_size;
    job->copies = all->mirror ? 2 : 1;
    job->sorted = all->entry;
    if (all->mirror) PLX_TRY(plx__arena_bytes((void **)&job->sorted, scratch, all->count, 2 * sizeof *job->sorted));
    PLX_TRY(PLX__ARENA_NEW(&job->start, scratch, job->blocks * (job->buckets + 1)));
    PLX_TRY(plx__arena_i64(&job->bucket_at, scratch, job->buckets + 1));
    return plx__arena_i64(&job->length, scratch, all->rows);
}

/* Room for `count` entries for every worker. */
static plx_status make_room(sort_job *job, plx_context *ctx, plx_index count)
{
    int workers = plx__workers(ctx);
    if (count > (plx_index)UINT32_MAX)
        PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "%lld entries in neighbouring rows are too many", (long long)count);
    PLX_TRY(PLX__ARENA_NEW(&job->work, plx__scratch(ctx), workers));
    for (int w = 0; w < workers; w++)
        PLX_TRY(plx__arena_bytes((void **)&job->work[w], plx__scratch(ctx), count, sizeof **job->work));
    return PLX_OK;
}

plx_status plx__entries_to_csr(plx_csr *out, plx_context *ctx, plx__arena *arena, const plx__entries *all)
{
    sort_job job = {.all = all, .out = out};
    PLX_TRY(prepare(&job, ctx));
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    PLX_TRY(make_room(&job, ctx, plx__min(job.block_size, all->count) * job.copies));
    PLX_TRY(plx__parallel_for(ctx, all->count, job.block_size, sort_block, &job));
    plx__arena_rewind(plx__scratch(ctx), mark);
    PLX_TRY(plx__arena_csr(out, arena, all->rows, all->cols, add_buckets(&job)));
    PLX_TRY(make_room(&job, ctx, 2 * job.longest));
    PLX_TRY(plx__parallel_for(ctx, job.buckets, 1, sort_buckets, &job));
    close_gaps(out, job.length);
    return PLX_OK;
}
