/*
 * Neighbours of rows among themselves: the product of two rows serves both.
 *
 * Blocks of rows meet in pairs, in the rounds of a tournament (the circle method): no block takes part twice in a round,
 * so that no list is touched by two workers. What the lists hold in the end does not depend on who met first.
 */
#include <cblas.h>
#include <float.h>
#include <math.h>

#include "core/parallel.h"
#include "linalg/blas.h"
#include "linalg/clones.h"
#include "linalg/knn_impl.h"

enum { SCAN = 32, MOST_MEBIBYTES = 256 };

typedef struct tournament {
    plx__knn_job *job;
    plx_index blocks, seats, round; /* seats: blocks, made even by one that is nobody's; round 0: each with itself */
    plx__shortlist *list;           /* n */
    float *reach; /* n: a bound of the score from which on a reference is of no use, own error included */
} tournament;

/* ---- one meeting ---- */

static float own_error(const plx__knn_job *job, plx_index query) { return (float)(job->c * job->x_sq[query]); }

/* First of the columns from `from` on, in steps of SCAN, that the row may be of use to. */
PLX__CLONES static plx_index next_use(const float *reach, const float *dot, plx_index from, plx_index count, float half)
{
    for (; from + SCAN <= count; from += SCAN) {
        int uses = 0;
        for (int l = 0; l < SCAN; l++) uses += half - dot[from + l] <= reach[from + l];
        if (uses) return from;
    }
    return from;
}

/* The row as a reference for the queries first..first+count-1. */
static void scan_column(const tournament *t, plx__knn_space *w, plx_index row, const float *dot, plx_index first,
                        plx_index count)
{
    const plx__knn_job *job = t->job;
    float half = job->low_half[row], *reach = t->reach + first;
    for (plx_index j = 0; j < count; j += SCAN) {
        j = next_use(reach, dot, j, count, half);
        for (plx_index q = j; q < plx__min(count, j + SCAN); q++) {
            if (!(half - dot[q] <= reach[q])) continue;
            float own = own_error(job, first + q);
            plx__knn_offer(job, first + q, &t->list[first + q], w->ranks, half - dot[q] - own, row);
            reach[q] = t->list[first + q].limit + own;
        }
    }
}

static void meet(const tournament *t, plx__knn_space *w, plx_index a, plx_index b)
{
    const plx__knn_job *job = t->job;
    plx_index d = job->x.dense.cols, i = a * PLX__KNN_BLOCK, j = b * PLX__KNN_BLOCK;
    plx_index rows = plx__min(PLX__KNN_BLOCK, job->n - i), cols = plx__min(PLX__KNN_BLOCK, job->n - j);
    int ld = plx__blas_int(plx__max(1, d));
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, plx__blas_int(rows), plx__blas_int(cols), plx__blas_int(d),
                1.0f, job->xf + i * d, ld, job->xf + j * d, ld, 0.0f, w->products, PLX__KNN_BLOCK);
    for (plx_index r = 0; r < rows; r++) {
        const float *dot = w->products + r * PLX__KNN_BLOCK;
        plx__knn_scan(job, w, i + r, &t->list[i + r], dot, j, cols);
        t->reach[i + r] = t->list[i + r].limit + own_error(job, i + r);
        if (a != b) scan_column(t, w, i + r, dot, j, cols);
    }
}

/* ---- rounds ---- */

/* Who sits opposite at table s of round r > 0: one seat stays, the others move on by one. */
static void seats_of(const tournament *t, plx_index s, plx_index *a, plx_index *b)
{
    plx_index moving = t->seats - 1;
    *a = s == 0 ? moving : (t->round + s) % moving;
    *b = s == 0 ? t->round % moving : (t->round + moving - s) % moving;
}

static plx_status play(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const tournament *t = arg;
    PLX_TRY(plx__poll(ctx));
    for (plx_index s = begin; s < end; s++) {
        plx_index a = s, b = s;
        if (t->round > 0) seats_of(t, s, &a, &b);
        if (a < t->blocks && b < t->blocks) meet(t, &t->job->space[worker], a, b);
    }
    return PLX_OK;
}

static plx_status write_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, int worker)
{
    const tournament *t = arg;
    (void)ctx;
    for (plx_index q = begin; q < end; q++) plx__knn_write(t->job, &t->job->space[worker], q, &t->list[q]);
    return PLX_OK;
}

/* ---- all rows ---- */

static plx_status open_lists(tournament *t, plx_context *ctx)
{
    plx__knn_job *job = t->job;
    plx__arena *scratch = plx__scratch(ctx);
    plx__candidate *items = NULL;
    float *best = NULL;
    PLX_TRY(PLX__ARENA_NEW(&t->list, scratch, job->n));
    PLX_TRY(plx__arena_bytes((void **)&t->reach, scratch, job->n, sizeof *t->reach));
    PLX_TRY(plx__arena_bytes((void **)&items, scratch, job->n * job->capacity, sizeof *items));
    if (job->k <= PLX__KNN_FEW) PLX_TRY(plx__arena_bytes((void **)&best, scratch, job->n * job->k, sizeof *best));
    for (plx_index q = 0; q < job->n; q++) {
        bool present = !job->query_present || job->query_present[q];
        plx__knn_start_list(job, &t->list[q], items + q * job->capacity, best ? best + q * job->k : NULL);
        if (!present) t->list[q].limit = -INFINITY; /* asks for nobody */
        t->reach[q] = t->list[q].limit;
    }
    return PLX_OK;
}

static double row_bytes(plx_index k)
{
    double capacity = 4.0 * (double)k + 32.0;
    return capacity * sizeof(plx__candidate) + sizeof(plx__shortlist) +
           sizeof(float) * (k <= PLX__KNN_FEW ? (double)k + 1.0 : 1.0);
}

double plx__knn_pair_bytes(plx_index n, plx_index k) { return (double)n * row_bytes(k); }

bool plx__knn_can_pair(plx_index n, plx_index k)
{
    return n >= 2 * PLX__KNN_BLOCK && plx__knn_pair_bytes(n, k) <= MOST_MEBIBYTES * 1048576.0;
}

plx_status plx__knn_pairs(plx_context *ctx, plx__knn_job *job)
{
    tournament t = {.job = job, .blocks = (job->n + PLX__KNN_BLOCK - 1) / PLX__KNN_BLOCK};
    t.seats = t.blocks + t.blocks % 2;
    PLX_TRY(open_lists(&t, ctx));
    for (; t.round < t.seats; t.round++)
        PLX_TRY(plx__parallel_for(ctx, t.round == 0 ? t.blocks : t.seats / 2, 1, play, &t));
    return plx__parallel_for(ctx, job->n, PLX__KNN_BLOCK, write_rows, &t);
}
