/*
 * Patterns of present views, and the matrix of the pairs of samples that share none of them.
 */
#include "methods/spectral/presence.h"

#include <string.h>

#include "core/parallel.h"
#include "core/ranks.h"
#include "graph/components.h"

enum { WORD = 64, PATTERN_GRAIN = 64 };

/* ---- patterns ---- */

/* Splits every set of samples by one more view: (set, has the view) becomes a set of its own, numbered by first member.
 * `table` has two places per set. */
static plx_index split_sets(plx__presence *p, const uint8_t *present, const plx_index *sample, plx_index sets,
                            int32_t *table)
{
    plx_index next = 0;
    memset(table, -1, 2 * (size_t)sets * sizeof *table);
    for (plx_index i = 0; i < p->n; i++) {
        int32_t *number = &table[2 * p->pattern[i] + (present[sample ? sample[i] : i] != 0)];
        if (*number < 0) *number = (int32_t)next++;
        p->pattern[i] = *number;
    }
    return next;
}

/* Bits and counts of the patterns, from their members. */
static plx_status describe(plx__presence *p, plx_context *ctx, const plx__affinity *views, const plx_index *sample)
{
    p->words = (p->n_views + WORD - 1) / WORD;
    PLX_TRY(PLX__ARENA_NEW(&p->bits, plx__scratch(ctx), p->n_patterns * p->words));
    PLX_TRY(plx__arena_i64(&p->count, plx__scratch(ctx), p->n_patterns));
    PLX_TRY(plx__arena_i64(&p->first, plx__scratch(ctx), p->n_patterns));
    for (plx_index i = 0; i < p->n; i++) {
        uint64_t *bits = p->bits + p->pattern[i] * p->words;
        if (p->count[p->pattern[i]]++) continue;
        p->first[p->pattern[i]] = i;
        for (plx_index v = 0; v < p->n_views; v++)
            if (views[v].present[sample ? sample[i] : i]) bits[v / WORD] |= (uint64_t)1 << (v % WORD);
    }
    return PLX_OK;
}

plx_status plx__presence_build(plx__presence *p, plx_context *ctx, const plx__affinity *views, plx_index n_views,
                               const plx_index *sample, plx_index n)
{
    int32_t *table = NULL;
    *p = (plx__presence){.n = n, .n_views = n_views, .n_patterns = n > 0};
    PLX_TRY(plx__arena_i32(&p->pattern, plx__scratch(ctx), n));
    PLX_TRY(plx__arena_i32(&table, plx__scratch(ctx), 2 * n));
    for (plx_index v = 0; v < n_views; v++)
        p->n_patterns = split_sets(p, views[v].present, sample, p->n_patterns, table);
    return describe(p, ctx, views, sample);
}

/* ---- pairs ---- */

static bool apart(const plx__presence *p, plx_index a, plx_index b)
{
    const uint64_t *x = p->bits + a * p->words, *y = p->bits + b * p->words;
    for (plx_index w = 0; w < p->words; w++)
        if (x[w] & y[w]) return false;
    return true;
}

static plx_index count_bits(uint64_t x)
{
    plx_index count = 0;
    for (; x; x &= x - 1) count++;
    return count;
}

plx_index plx__presence_common(const plx__presence *a, plx_index i, const plx__presence *b, plx_index j)
{
    const uint64_t *x = a->bits + a->pattern[i] * a->words, *y = b->bits + b->pattern[j] * b->words;
    plx_index common = 0;
    for (plx_index w = 0; w < a->words; w++) common += count_bits(x[w] & y[w]);
    return common;
}

double plx__presence_apart(const plx__presence *p)
{
    double pairs = 0;
    for (plx_index a = 0; a < p->n_patterns; a++)
        for (plx_index b = 0; b < a; b++)
            if (apart(p, a, b)) pairs += (double)p->count[a] * (double)p->count[b];
    return pairs;
}

/* ---- the matrix of pairs apart ---- */

typedef struct apart_job {
    const plx__presence *p;
    const double *sum; /* of x over each pattern */
    double *total;     /* of x over all samples apart from each pattern */
} apart_job;

static plx_status add_apart(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const apart_job *job = arg;
    (void)ctx;
    (void)worker;
    for (plx_index a = begin; a < end; a++)
        for (plx_index b = 0; b < job->p->n_patterns; b++)
            if (apart(job->p, a, b)) job->total[a] += job->sum[b];
    return PLX_OK;
}

/* y += factor U x on rows begin .. begin+rows-1, given the sums of x over each pattern. */
static plx_status add_totals(plx_context *ctx, const plx__presence *p, double factor, const double *sum, double *y,
                             plx_index begin, plx_index rows)
{
    double *total = NULL;
    PLX_TRY(plx__arena_f64(&total, plx__scratch(ctx), p->n_patterns, 1));
    apart_job job = {p, sum, total};
    PLX_TRY(plx__parallel_for(ctx, p->n_patterns, PATTERN_GRAIN, add_apart, &job));
    for (plx_index i = 0; i < rows; i++) y[i] += factor * total[p->pattern[begin + i]];
    return PLX_OK;
}

plx_status plx__presence_add(plx_context *ctx, const plx__presence *p, double factor, const double *x, double *y)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *sum = NULL;
    PLX_TRY(plx__arena_f64(&sum, plx__scratch(ctx), p->n_patterns, 1));
    for (plx_index i = 0; i < p->n; i++) sum[p->pattern[i]] += x[i];
    PLX_TRY(add_totals(ctx, p, factor, sum, y, 0, p->n));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

plx_status plx__presence_add_rows(plx_context *ctx, const plx__presence *p, double factor, plx__slabs cut,
                                  const double *x, double *y)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx_index begin = 0, end = 0;
    double *sum = NULL;
    plx__slabs_mine(&begin, &end, ctx, cut);
    PLX_TRY(plx__arena_f64(&sum, plx__scratch(ctx), p->n_patterns, 1));
    for (plx_index i = begin; i < end; i++) sum[p->pattern[i]] += x[i - begin];
    PLX_TRY(plx__peers_add(ctx, sum, p->n_patterns));
    PLX_TRY(add_totals(ctx, p, factor, sum, y, begin, end - begin));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}

/* A pattern that is apart from another hangs together through it. */
plx_status plx__presence_join(plx_context *ctx, const plx__presence *p, int32_t *parent)
{
    uint8_t *joined = NULL;
    PLX_TRY(plx__arena_u8(&joined, plx__scratch(ctx), p->n_patterns));
    for (plx_index a = 0; a < p->n_patterns; a++)
        for (plx_index b = 0; b < a; b++) {
            if (!apart(p, a, b)) continue;
            joined[a] = joined[b] = 1;
            plx__disjoint_join(parent, p->first[a], p->first[b]);
        }
    for (plx_index i = 0; i < p->n; i++)
        if (joined[p->pattern[i]]) plx__disjoint_join(parent, p->first[p->pattern[i]], i);
    return PLX_OK;
}
