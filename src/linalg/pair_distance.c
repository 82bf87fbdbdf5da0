/*
 * Mean, largest and exact median of all pairwise distances, in bounded memory.
 *
 * The median: separations (squared distances, or 1 - cos) are non-negative, so their bit patterns are ordered like their values. A pass over all
 * pairs counts leading bits; the bin that holds the median is refined, eighteen bits at a time, until what
 * it holds fits in memory; a last pass collects it. Distances come from the same fixed blocks in every
 * pass, so they are the same numbers each time.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/distance.h"

enum {
    BLOCK_ROWS = 128,
    LEVELS = 4,
    MAX_BINS = 1 << 18,
    COLLECT = 1 << 21, /* most values collected in the last pass */
    FEW = MAX_BINS     /* so many pairs are collected at once: they take no more than the counts would */
};

/* The 63 bits below the sign, told apart level by level. */
static const int level_bits[LEVELS] = {18, 18, 18, 9};

typedef struct median_job {
    plx_context *ctx;
    plx__points p;
    plx__metric metric;
    plx_index n;
    plx_mat block;    /* distances of some rows to themselves and all later ones */
    int shift, width; /* the bin of a value is (bits >> shift) mod 2^width */
    uint64_t prefix;  /* the higher bits of the values still of interest */
    int64_t *counts;  /* workers x MAX_BINS */
    double *kept;     /* values of the chosen bin; NULL: they are all equal */
    int64_t kept_count;
    double above; /* smallest value above the chosen bin */
} median_job;

static uint64_t bits_of(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static plx_status count_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    median_job *job = arg;
    int64_t *counts = job->counts + (int64_t)worker * MAX_BINS;
    uint64_t mask = ((uint64_t)1 << job->width) - 1;
    (void)ctx;
    for (plx_index r = begin; r < end; r++)
        for (plx_index c = r + 1; c < job->block.cols; c++) {
            uint64_t bits = bits_of(job->block.data[r * job->block.ld + c]);
            if (bits >> (job->shift + job->width) == job->prefix) counts[(bits >> job->shift) & mask]++;
        }
    return PLX_OK;
}

/* Now `prefix` includes the chosen bin. */
static void keep_rows(median_job *job)
{
    for (plx_index r = 0; r < job->block.rows; r++)
        for (plx_index c = r + 1; c < job->block.cols; c++) {
            double value = job->block.data[r * job->block.ld + c];
            uint64_t bin = bits_of(value) >> job->shift;
            if (bin == job->prefix && job->kept) job->kept[job->kept_count++] = value;
            if (bin > job->prefix && value < job->above) job->above = value;
        }
}

/* All pairs i < j, in blocks of rows; `collect`: the last pass. */
static plx_status pass(median_job *job, double *space, bool collect)
{
    for (plx_index i = 0; i < job->n; i += BLOCK_ROWS) {
        plx_index rows = plx__min(BLOCK_ROWS, job->n - i);
        job->block = plx__mat_of(space, rows, job->n - i);
        PLX_TRY(plx__separation_matrix(job->ctx, plx__points_range(job->p, i, i + rows),
                                       plx__points_range(job->p, i, job->n), job->metric, job->block));
        if (collect) keep_rows(job);
        else PLX_TRY(plx__parallel_for(job->ctx, rows, 8, count_rows, job));
        PLX_TRY(plx__report(job->ctx, "median distance", i + rows, job->n, NAN));
    }
    return PLX_OK;
}

/* Bin of rank `*rank` over all workers; *rank becomes the rank inside it, *count its size. -1: none. */
static int64_t find_bin(const median_job *job, int64_t *rank, int64_t *count)
{
    int workers = plx__workers(job->ctx);
    for (int64_t bin = 0; bin < (int64_t)1 << job->width; bin++) {
        *count = 0;
        for (int w = 0; w < workers; w++) *count += job->counts[(int64_t)w * MAX_BINS + bin];
        if (*rank < *count) return bin;
        *rank -= *count;
    }
    return -1;
}

static int compare_values(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static plx_status narrow(median_job *job, double *space, int64_t *rank, int64_t *count, const char *what)
{
    int64_t cells = (int64_t)plx__workers(job->ctx) * MAX_BINS;
    if (*count <= FEW) { /* prefix 0 of no bits: every value */
        job->shift = 63;
        return PLX_OK;
    }
    PLX_TRY(plx__arena_i64(&job->counts, plx__scratch(job->ctx), cells));
    job->shift = 63;
    *count = INT64_MAX;
    for (int level = 0; level<LEVELS && * count> COLLECT; level++) {
        job->width = level_bits[level];
        job->shift -= job->width;
        if (level) memset(job->counts, 0, (size_t)cells * sizeof *job->counts);
        PLX_TRY(pass(job, space, false));
        int64_t bin = find_bin(job, rank, count);
        if (bin < 0) PLX_FAIL(job->ctx, PLX_E_DATA, "%s holds values that are not finite", what);
        job->prefix = job->prefix << job->width | (uint64_t)bin;
    }
    return PLX_OK;
}

/* The two middle values (the same one twice for an odd count). */
static plx_status middle_values(median_job *job, double *space, int64_t pairs, double *low, double *high,
                                const char *what)
{
    int64_t rank = (pairs - 1) / 2, count = pairs;
    PLX_TRY(narrow(job, space, &rank, &count, what));
    if (count <= COLLECT) PLX_TRY(plx__arena_f64(&job->kept, plx__scratch(job->ctx), count, 1));
    else memcpy(low, &job->prefix, sizeof *low); /* every bit is settled: one value, many times */
    job->above = INFINITY;
    PLX_TRY(pass(job, space, true));
    if (job->kept) {
        if (job->kept_count < count) PLX_FAIL(job->ctx, PLX_E_DATA, "%s holds values that are not finite", what);
        qsort(job->kept, (size_t)count, sizeof *job->kept, compare_values);
        *low = job->kept[rank];
    }
    *high = pairs % 2 ? *low : rank + 1 >= count ? job->above : job->kept ? job->kept[rank + 1] : *low;
    return PLX_OK;
}

static plx_status present_rows(plx_context *ctx, plx__points *p, const uint8_t *present)
{
    plx_index n = plx__points_rows(*p), count = 0, *rows = NULL;
    plx__arena *scratch = plx__scratch(ctx);
    PLX_TRY(plx__arena_i64(&rows, scratch, n));
    for (plx_index i = 0; i < n; i++)
        if (present[i]) rows[count++] = i;
    if (plx__points_sparse(*p)) {
        plx_csr some;
        PLX_TRY(plx__csr_select_rows(&some, scratch, p->csr, rows, count));
        *p = plx__points_csr(plx__ccsr(some));
        return PLX_OK;
    }
    plx_mat some;
    PLX_TRY(plx__arena_mat(&some, scratch, count, p->dense.cols));
    for (plx_index i = 0; i < count; i++)
        plx__mat_copy(plx__sub(some, i, 0, 1, some.cols), plx__csub(p->dense, rows[i], 0, 1, some.cols));
    *p = plx__points_dense(plx__cmat(some));
    return PLX_OK;
}

double plx__pair_distance_bytes(const plx_context *ctx, plx_index n, double row_bytes)
{
    double pairs = 0.5 * (double)n * (double)n, block = 8.0 * (double)plx__min(n, BLOCK_ROWS) * (double)n;
    double counts = pairs > FEW ? 8.0 * MAX_BINS * plx__workers(ctx) : 0;
    return block + counts + 8.0 * (pairs < COLLECT ? pairs : COLLECT) + row_bytes;
}

static plx_status median(median_job *job, double *space, double *out, const char *what)
{
    double low = 0, high = 0;
    PLX_TRY(middle_values(job, space, job->n * (job->n - 1) / 2, &low, &high, what));
    *out = 0.5 * (plx__separation_distance(job->metric, low) + plx__separation_distance(job->metric, high));
    return PLX_OK;
}

/* ---- mean and largest ---- */

typedef struct row_job {
    plx_mat block; /* as in median_job */
    plx__metric metric;
    double *sum, *largest; /* of every row of the block */
} row_job;

static plx_status sum_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const row_job *job = arg;
    (void)ctx, (void)worker;
    for (plx_index r = begin; r < end; r++) {
        const double *row = job->block.data + r * job->block.ld;
        double sum = 0, largest = 0;
        for (plx_index c = r + 1; c < job->block.cols; c++) {
            double d = plx__separation_distance(job->metric, row[c]);
            sum += d;
            largest = d > largest ? d : largest;
        }
        job->sum[r] = sum;
        job->largest[r] = largest;
    }
    return PLX_OK;
}

static plx_status mean_or_largest(const median_job *from, double *space, bool mean, double *out)
{
    double total = 0, most = 0, sum[BLOCK_ROWS], largest[BLOCK_ROWS];
    plx_index n = from->n;
    for (plx_index i = 0; i < n; i += BLOCK_ROWS) {
        plx_index rows = plx__min(BLOCK_ROWS, n - i);
        row_job job = {plx__mat_of(space, rows, n - i), from->metric, sum, largest};
        PLX_TRY(plx__separation_matrix(from->ctx, plx__points_range(from->p, i, i + rows),
                                       plx__points_range(from->p, i, n), from->metric, job.block));
        PLX_TRY(plx__parallel_for(from->ctx, rows, 8, sum_rows, &job));
        total += plx__sum(sum, rows);
        for (plx_index r = 0; r < rows; r++) most = fmax(most, largest[r]);
        PLX_TRY(plx__report(from->ctx, "pair distances", i + rows, n, NAN));
    }
    *out = mean ? total / (0.5 * (double)n * (double)(n - 1)) : most;
    return PLX_OK;
}

plx_status plx__pair_distance(plx_context *ctx, plx__points p, const uint8_t *present, plx__metric metric,
                              plx__pair_statistic statistic, double *out, const char *what)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *space = NULL;
    *out = 0;
    if (present) PLX_TRY(present_rows(ctx, &p, present));
    plx_index n = plx__points_rows(p);
    if (n < 2) PLX_FAIL(ctx, PLX_E_DATA, "%s has fewer than two rows: there are no distances between them", what);
    PLX_TRY(plx__arena_f64(&space, plx__scratch(ctx), plx__min(n, BLOCK_ROWS), n));
    median_job job = {.ctx = ctx, .p = p, .metric = metric, .n = n};
    if (statistic == PLX__PAIR_MEDIAN) PLX_TRY(median(&job, space, out, what));
    else PLX_TRY(mean_or_largest(&job, space, statistic == PLX__PAIR_MEAN, out));
    if (!isfinite(*out))
        PLX_FAIL(ctx, PLX_E_NUMERIC, "%s: distances between its rows are not finite; divide its values by a constant",
                 what);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
