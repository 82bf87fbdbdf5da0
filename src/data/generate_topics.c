/*
 * Word distributions and the documents drawn from them.
 *
 * Distributions become alias tables (Vose 1991), so that a token costs one random block and one or two look-ups
 * whatever the size of the vocabulary. Token t of document i is a function of (seed, view, i, t): documents are
 * written in parallel. A document is first written into a slot as long as its number of tokens; merging equal
 * words leaves gaps, which are closed at the end.
 */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "data/generate_impl.h"

enum { DOCUMENT_GRAIN = 1024, TOKEN_BITS = 20 };

/* ---- distributions ---- */

typedef struct draw_job {
    plx_index count, cols, view;
    double concentration;
    const double *zipf;
    double *work; /* per worker: cols probabilities, then 2 x cols words of the two stacks */
    plx__alias_cell *cells;
} draw_job;

/* Vose's construction: every word below the mean borrows the rest of its cell from one above; those left at the end
 * fill their own. p(word w, coin) is p[w] up to 2^-32. */
static void build_alias(plx__alias_cell *cell, double *p, int32_t *stack, plx_index n)
{
    double sum = plx__sum(p, n);
    plx_index small = 0, large = n; /* the two stacks grow towards each other */
    for (plx_index w = 0; w < n; w++) {
        p[w] *= (double)n / sum;
        cell[w] = (plx__alias_cell){UINT32_MAX, (int32_t)w};
        if (p[w] < 1.0) stack[small++] = (int32_t)w;
        else stack[--large] = (int32_t)w;
    }
    while (small > 0 && large < n) {
        int32_t s = stack[--small], l = stack[large];
        cell[s] = (plx__alias_cell){(uint32_t)(p[s] * 4294967295.0), l};
        p[l] -= 1.0 - p[s];
        if (p[l] < 1.0) {
            large++;
            stack[small++] = l;
        }
    }
}

static plx_status draw_topic(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const draw_job *job = job_;
    double *p = job->work + (plx_index)worker * 2 * job->cols;
    int32_t *stack = (int32_t *)(p + job->cols);
    for (plx_index k = begin; k < end; k++) {
        plx__rng r = plx__rng_start(ctx->seed, PLX__STREAM('t', 'p', job->view >> 8, job->view, k));
        for (plx_index w = 0; w < job->cols; w++) p[w] = job->zipf[w] * (k < job->count ? job->concentration : 1.0);
        if (k < job->count) plx__next_dirichlet(&r, p, p, job->cols);
        build_alias(job->cells + k * job->cols, p, stack, job->cols);
    }
    return PLX_OK;
}

plx_status plx__topics_draw(plx__topics *out, plx_context *ctx, plx__arena *arena, plx_index count, plx_index cols,
                            double concentration, plx_index view)
{
    draw_job job = {.count = count, .cols = cols, .view = view, .concentration = concentration};
    double *zipf = NULL, cells = (double)(count + 1) * (double)cols;
    PLX_TRY(plx__need_memory(ctx, 8.0 * cells, "topics of the text", "lower features or the number of classes"));
    PLX_TRY(plx__arena_bytes((void **)&job.cells, arena, (count + 1) * cols, sizeof *job.cells));
    PLX_TRY(plx__arena_f64(&zipf, arena, 1, cols));
    for (plx_index w = 0; w < cols; w++) zipf[w] = 1.0 / (double)(w + 1);
    double sum = plx__sum(zipf, cols);
    for (plx_index w = 0; w < cols; w++) zipf[w] /= sum;
    job.zipf = zipf;
    PLX_TRY(plx__arena_f64(&job.work, arena, (plx_index)plx__workers(ctx) * 2, cols));
    PLX_TRY(plx__parallel_for(ctx, count + 1, 1, draw_topic, &job));
    *out = (plx__topics){count, cols, job.cells};
    return PLX_OK;
}

bool plx__topics_own(double *u, plx_index *topic, const plx__topics *topics, double noise, double overlap)
{
    double common = noise + (1.0 - noise) * overlap;
    if (*u < noise) *topic = PLX__ANY_WORD;
    else if (*u < common || common >= 1.0) *topic = topics->count;
    else {
        *u = (*u - common) / (1.0 - common);
        return true;
    }
    return false;
}

/* ---- documents ---- */

typedef struct write_job {
    const plx__topics *topics;
    plx_index rows, view;
    double length;
    const uint8_t *present;
    plx__topic_fn pick;
    const void *arg;
    int64_t *slot; /* rows + 1: where a document may write */
    int64_t *used; /* rows: distinct words it has */
    int32_t *col;
    double *val;
} write_job;

static uint64_t first_counter(plx_index row) { return (uint64_t)row << TOKEN_BITS; }

static plx_status draw_lengths(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    write_job *job = job_;
    (void)worker;
    for (plx_index i = begin; i < end; i++) {
        plx__rng r = {ctx->seed, PLX__STREAM('t', 'l', 'e', 'n', job->view), first_counter(i)};
        bool empty = job->present && !job->present[i];
        job->slot[i + 1] = empty ? 0 : (int64_t)fmax(1.0, plx__next_poisson(&r, job->length));
    }
    return PLX_OK;
}

/* Shell sort with Ciura's gaps: in place, and quick for the tens of words a document has. */
static void sort_words(int32_t *words, int64_t n)
{
    static const int64_t gaps[] = {90927, 40412, 17961, 7983, 3548, 1577, 701, 301, 132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (int64_t gap = gaps[g], i = gap; i < n; i++) {
            int32_t w = words[i];
            int64_t j = i;
            for (; j >= gap && words[j - gap] > w; j -= gap) words[j] = words[j - gap];
            words[j] = w;
        }
}

static int32_t draw_word(const write_job *job, uint64_t seed, plx_index row, int64_t token)
{
    const plx__topics *t = job->topics;
    uint32_t b[4];
    plx__philox(b, seed, PLX__STREAM('t', 't', 'o', 'k', job->view), first_counter(row) | (uint64_t)token);
    plx_index k = job->pick(job->arg, row, ((double)b[0] + 0.5) * 0x1p-32);
    plx_index w = (plx_index)((double)(((uint64_t)b[1] << 32 | b[2]) >> 11) * 0x1p-53 * (double)t->cols);
    if (k == PLX__ANY_WORD) return (int32_t)w;
    plx__alias_cell cell = t->cells[k * t->cols + w];
    int32_t keep = -(int32_t)(b[3] <= cell.cut); /* no branch: the processor goes on while a cell is fetched */
    return ((int32_t)w & keep) | (cell.other & ~keep);
}

static plx_status write_documents(void *job_, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    write_job *job = job_;
    (void)worker;
    for (plx_index i = begin; i < end; i++) {
        int32_t *word = job->col + job->slot[i];
        double *count = job->val + job->slot[i];
        int64_t tokens = job->slot[i + 1] - job->slot[i], distinct = 0;
        for (int64_t t = 0; t < tokens; t++) word[t] = draw_word(job, ctx->seed, i, t);
        sort_words(word, tokens);
        for (int64_t t = 0; t < tokens; t++) {
            if (distinct && word[distinct - 1] == word[t]) {
                count[distinct - 1]++;
                continue;
            }
            word[distinct] = word[t];
            count[distinct++] = 1;
        }
        job->used[i] = distinct;
    }
    return PLX_OK;
}

static void close_gaps(write_job *job)
{
    int64_t to = 0;
    for (plx_index i = 0; i < job->rows; i++) {
        int64_t from = job->slot[i], n = job->used[i];
        if (to != from) {
            memmove(job->col + to, job->col + from, (size_t)n * sizeof *job->col);
            memmove(job->val + to, job->val + from, (size_t)n * sizeof *job->val);
        }
        job->slot[i] = to;
        to += n;
    }
    job->slot[job->rows] = to;
}

plx_status plx__topics_write(plx_csr *out, plx_context *ctx, plx__arena *arena, const plx__topics *topics,
                             plx_index rows, double length, plx_index view, const uint8_t *present, plx__topic_fn pick,
                             const void *arg)
{
    write_job job = {
        .topics = topics, .rows = rows, .view = view, .length = length, .present = present, .pick = pick, .arg = arg};
    PLX_TRY(plx__need_memory(ctx, 24.0 * length * (double)rows, "a generated text view", "lower n or length"));
    PLX_TRY(plx__arena_i64(&job.slot, arena, rows + 1));
    PLX_TRY(plx__arena_i64(&job.used, arena, rows));
    PLX_TRY(plx__parallel_for(ctx, rows, DOCUMENT_GRAIN, draw_lengths, &job));
    for (plx_index i = 0; i < rows; i++) job.slot[i + 1] += job.slot[i];
    PLX_TRY(plx__arena_bytes((void **)&job.col, arena, job.slot[rows], sizeof *job.col));
    PLX_TRY(plx__arena_bytes((void **)&job.val, arena, job.slot[rows], sizeof *job.val));
    PLX_TRY(plx__parallel_for(ctx, rows, DOCUMENT_GRAIN, write_documents, &job));
    close_gaps(&job);
    *out = (plx_csr){rows, topics->cols, job.slot, job.col, job.val};
    return PLX_OK;
}
