/*
 * A counting sort by row, then a sort by column inside each row, both stable: entries at one place meet in the order
 * of the file and add up to the same bytes on any number of threads.
 *
 * The rows are cut into a few parts; each part looks at all entries and takes its own. Reading the row numbers several
 * times costs less than the memory and the merging of one histogram per thread.
 */
#include "io/mtx_csr.h"

#include <string.h>

#include "core/parallel.h"

enum { ENTRIES_PER_PART = 1 << 20, MOST_PARTS = 8, ROWS_AT_ONCE = 512, SHORT_ROW = 48 };

typedef struct sort_job {
    const plx__triplets *t;
    plx_csr *out;
    int64_t *next;                  /* per row: where its next entry goes; later its length */
    uint64_t **keys;                /* per worker: 2 x longest row */
    plx_index longest, part_rows;
} sort_job;

/* ---- by row ---- */

static plx_status count_part(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    (void)ctx;
    (void)worker;
    sort_job *job = job_;
    const plx__triplets *t = job->t;
    uint64_t first = (uint64_t)begin, rows = (uint64_t)(end - begin);
    int64_t *count = job->next;
    for (plx_index k = 0; k < t->count; k++) {
        int32_t i = t->row[k];
        if ((uint64_t)i - first < rows) count[i]++;
        if (!t->mirror) continue;
        int32_t j = t->col[k];
        if (i != j && (uint64_t)j - first < rows) count[j]++;
    }
    return PLX_OK;
}

static plx_status scatter_part(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    (void)ctx;
    (void)worker;
    sort_job *job = job_;
    const plx__triplets *t = job->t;
    uint64_t first = (uint64_t)begin, rows = (uint64_t)(end - begin);
    for (plx_index k = 0; k < t->count; k++) {
        int32_t i = t->row[k], j = t->col[k];
        if ((uint64_t)i - first < rows) {
            int64_t to = job->next[i]++;
            job->out->col[to] = j;
            job->out->val[to] = t->val ? t->val[k] : 1.0;
        }
        if (t->mirror && i != j && (uint64_t)j - first < rows) {
            int64_t to = job->next[j]++;
            double value = t->val ? t->val[k] : 1.0;
            job->out->col[to] = i;
            job->out->val[to] = t->mirror < 0 ? -value : value;
        }
    }
    return PLX_OK;
}

static plx_status sort_by_row(sort_job *job, plx_context *ctx)
{
    const plx__triplets *t = job->t;
    plx_csr *out = job->out;
    PLX_TRY(plx__parallel_for(ctx, t->rows, job->part_rows, count_part, job));
    for (plx_index i = 0; i < t->rows; i++) {
        job->longest = plx__max(job->longest, job->next[i]);
        out->ptr[i + 1] = out->ptr[i] + job->next[i];
        job->next[i] = out->ptr[i];
    }
    return plx__parallel_for(ctx, t->rows, job->part_rows, scatter_part, job);
}

/* ---- by column ---- */

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
    for (int shift = 32; shift < 64 && columns >> (shift - 32) != 0; shift += 8) {     /* byte by byte of the column */
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
static plx_index tidy_row(int32_t *col, double *val, plx_index n, uint64_t *keys, plx_index longest, plx_index columns)
{
    double *sorted = (double *)(void *)(keys + longest);
    for (plx_index k = 0; k < n; k++) keys[k] = (uint64_t)(uint32_t)col[k] << 32 | (uint64_t)k;
    sort_keys(keys, keys + longest, (size_t)n, (uint64_t)columns);
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

static plx_status tidy_rows(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    (void)ctx;
    sort_job *job = job_;
    const plx_csr *out = job->out;
    for (plx_index i = begin; i < end; i++) {
        plx_index at = out->ptr[i], n = out->ptr[i + 1] - at;
        job->next[i] = n;
        if (!ascending(out->col + at, n))
            job->next[i] = tidy_row(out->col + at, out->val + at, n, job->keys[worker], job->longest, out->cols);
    }
    return PLX_OK;
}

/* Close the gaps that added-up duplicates left. */
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

static plx_status sort_by_column(sort_job *job, plx_context *ctx)
{
    int workers = plx__workers(ctx);
    if (job->longest > (plx_index)UINT32_MAX)
        PLX_FAIL(ctx, PLX_E_UNSUPPORTED, "a row of %lld entries is too long", (long long)job->longest);
    PLX_TRY(PLX__ARENA_NEW(&job->keys, plx__scratch(ctx), workers));
    for (int w = 0; w < workers; w++)
        PLX_TRY(plx__arena_bytes((void **)&job->keys[w], plx__scratch(ctx), job->longest, 2 * sizeof(uint64_t)));
    PLX_TRY(plx__parallel_for(ctx, job->out->rows, ROWS_AT_ONCE, tidy_rows, job));
    close_gaps(job->out, job->next);
    return PLX_OK;
}

plx_status plx__triplets_to_csr(plx_csr *out, plx_context *ctx, plx__arena *arena, const plx__triplets *t)
{
    plx_index entries = t->count;
    if (t->mirror)
        for (plx_index k = 0; k < t->count; k++) entries += t->row[k] != t->col[k];
    plx_index parts = plx__max(1, plx__min(MOST_PARTS, entries / ENTRIES_PER_PART));
    sort_job job = {.t = t, .out = out, .part_rows = plx__max(1, (t->rows + parts - 1) / parts)};
    PLX_TRY(plx__arena_csr(out, arena, t->rows, t->cols, entries));
    PLX_TRY(plx__arena_i64(&job.next, plx__scratch(ctx), t->rows));
    PLX_TRY(sort_by_row(&job, ctx));
    return sort_by_column(&job, ctx);
}
