/*
 * Exact median of all pairwise distances in bounded memory.
 *
 * Squared distances are non-negative, so their bit patterns are ordered like their values. A pass over all
 * pairs counts leading bits; the bin that holds the median is refined, eighteen bits at a time, until
 * what it holds fits in memory; a last pass collects it. Distances come from the same fixed blocks in every
 * pass, so they are the same numbers each time.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "linalg/distance.h"

enum {
    BLOCK_ROWS = 128,
    LEVEL_BITS = 18,            /* bits told apart per counting pass */
    TOP_SHIFT = 63 - LEVEL_BITS,
    COLLECT = 1 << 21           /* most values collected in the last pass */
};

typedef struct median_job {
    plx_context *ctx;
    plx__points p;
    plx_index n;
    plx_mat block;
    plx_index block_begin;
    int shift;                  /* the bin of a value is its bits >> shift */
    uint64_t prefix;            /* only values whose bits >> (shift + LEVEL_BITS) equal this are counted */
    int64_t *counts;            /* workers x 2^LEVEL_BITS */
    double *kept;               /* values of the chosen bin */
    int64_t kept_count;
    double above;               /* smallest value above the chosen bin */
} median_job;

static uint64_t bits_of(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static bool in_prefix(const median_job *job, uint64_t bits)
{
    int above = job->shift + LEVEL_BITS;
    return above > 62 || bits >> above == job->prefix;
}

static plx_status count_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    median_job *job = arg;
    int64_t *counts = job->counts + ((int64_t)worker << LEVEL_BITS);
    (void)ctx;
    for (plx_index r = begin; r < end; r++)
        for (plx_index c = r + 1; c < job->block.cols; c++) {       /* column 0 of the block is its first row */
            uint64_t bits = bits_of(job->block.data[r * job->block.ld + c]);
            if (in_prefix(job, bits)) counts[(bits >> job->shift) & ((1u << LEVEL_BITS) - 1)]++;
        }
    return PLX_OK;
}

/* Values of the chosen bin (in `prefix`, at `shift`) in row order; serial, so their order is fixed. */
static plx_status keep_rows(median_job *job)
{
    for (plx_index r = 0; r < job->block.rows; r++)
        for (plx_index c = r + 1; c < job->block.cols; c++) {
            double value = job->block.data[r * job->block.ld + c];
            uint64_t bin = bits_of(value) >> job->shift;
            if (bin == job->prefix) job->kept[job->kept_count++] = value;
            else if (bin > job->prefix && value < job->above) job->above = value;
        }
    return PLX_OK;
}

/* All pairs i < j, in blocks of rows; `collect`: the last pass. */
static plx_status pass(median_job *job, double *space, bool collect)
{
    for (plx_index i = 0; i < job->n; i += BLOCK_ROWS) {
        plx_index rows = plx__min(BLOCK_ROWS, job->n - i);
        job->block = plx__mat_of(space, rows, job->n - i);
        PLX_TRY(plx__dist_sq_matrix(job->ctx, plx__points_range(job->p, i, i + rows),
                                    plx__points_range(job->p, i, job->n), job->block));
        if (collect) PLX_TRY(keep_rows(job));
        else PLX_TRY(plx__parallel_for(job->ctx, rows, 8, count_rows, job));
        PLX_TRY(plx__report(job->ctx, "median distance", i + rows, job->n, NAN));
    }
    return PLX_OK;
}

/* Bin of rank `*rank` over all workers; *rank becomes the rank inside it, *count its size. */
static uint64_t find_bin(const median_job *job, int64_t *rank, int64_t *count)
{
    int workers = plx__workers(job->ctx);
    for (uint64_t bin = 0; bin < (uint64_t)1 << LEVEL_BITS; bin++) {
        int64_t in_bin = 0;
        for (int w = 0; w < workers; w++) in_bin += job->counts[((int64_t)w << LEVEL_BITS) + (int64_t)bin];
        *count = in_bin;
        if (*rank < in_bin) return bin;
        *rank -= in_bin;
    }
    return 0;
}

static int compare_values(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static plx_status narrow(median_job *job, double *space, int64_t *rank, int64_t *count)
{
    int64_t cells = (int64_t)plx__workers(job->ctx) << LEVEL_BITS;
    PLX_TRY(plx__arena_i64(&job->counts, plx__scratch(job->ctx), cells));
    job->shift = TOP_SHIFT;
    for (;;) {
        memset(job->counts, 0, (size_t)cells * sizeof *job->counts);
        PLX_TRY(pass(job, space, false));
        uint64_t bin = find_bin(job, rank, count);
        job->prefix = (job->shift + LEVEL_BITS > 62 ? 0 : job->prefix << LEVEL_BITS) | bin;
        if (*count <= COLLECT || job->shift == 0) return PLX_OK;
        int next = job->shift > LEVEL_BITS ? job->shift - LEVEL_BITS : 0;
        if (next == 0) {                                 /* last level: fewer bits than a full one */
            job->prefix >>= LEVEL_BITS - job->shift;
            next = 0;
        }
        job->shift = next;
    }
}

/* The two middle values (the same one twice for an odd count). */
static plx_status middle_values(median_job *job, double *space, int64_t pairs, double *low, double *high)
{
    int64_t rank = (pairs - 1) / 2, count = 0;
    PLX_TRY(narrow(job, space, &rank, &count));
    PLX_TRY(plx__arena_f64(&job->kept, plx__scratch(job->ctx), count, 1));
    job->above = INFINITY;
    PLX_TRY(pass(job, space, true));
    qsort(job->kept, (size_t)count, sizeof *job->kept, compare_values);
    *low = job->kept[rank];
    *high = pairs % 2 ? *low : rank + 1 < count ? job->kept[rank + 1] : job->above;
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

plx_status plx__median_distance(plx_context *ctx, plx__points p, const uint8_t *present, double *out,
                                const char *what)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    double *space = NULL, low = 0, high = 0;
    *out = 0;
    if (present) PLX_TRY(present_rows(ctx, &p, present));
    plx_index n = plx__points_rows(p);
    if (n < 2) PLX_FAIL(ctx, PLX_E_DATA, "%s has fewer than two rows: no median distance", what);
    PLX_TRY(plx__arena_f64(&space, plx__scratch(ctx), plx__min(n, BLOCK_ROWS), n));
    median_job job = {.ctx = ctx, .p = p, .n = n};
    PLX_TRY(middle_values(&job, space, n * (n - 1) / 2, &low, &high));
    *out = 0.5 * (sqrt(low) + sqrt(high));
    plx__arena_rewind(plx__scratch(ctx), mark);
    return PLX_OK;
}
