/*
 * Symmetric matrix times vector from the lower triangle alone.
 *
 * A matrix that does not fit in the cache is read from memory for every product, and reading is all the time it takes:
 * an entry a_ij is used for y_i and for y_j when it comes by. Chunks of rows have sums of their own, added in their order.
 */
#include "core/parallel.h"
#include "linalg/clones.h"
#include "linalg/dense.h"

enum { ROWS = 4, MOST_CHUNKS = 32, LEAST_GRAIN = 256 };

typedef struct symv_job {
    plx_cmat a;
    const double *x;
} symv_job;

/* Columns 0..n-1 of four rows from `a` on, which lie below them: s = A x, y += A' of the rows' own x. */
#define DEFINE_FOUR_ROWS(SUFFIX, TARGET, VEC)                                                                          \
    TARGET static void four_rows##SUFFIX(const double *a, plx_index ld, plx_index n, const double *x,                  \
                                         const double *own, double *y, double *s)                                      \
    {                                                                                                                  \
        VEC sum[ROWS][PLX__VECS(VEC)] = {{{0}}};                                                                       \
        plx_index j = 0;                                                                                               \
        for (; j + 8 <= n; j += 8)                                                                                     \
            for (int v = 0; v < PLX__VECS(VEC); v++) {                                                                 \
                plx_index at = j + v * PLX__LANES(VEC);                                                                \
                VEC factor = *(const VEC##u *)(x + at), below = *(const VEC##u *)(y + at);                             \
                for (int r = 0; r < ROWS; r++) {                                                                       \
                    VEC entry = *(const VEC##u *)(a + r * ld + at);                                                    \
                    sum[r][v] += entry * factor;                                                                       \
                    below += entry * own[r];                                                                           \
                }                                                                                                      \
                *(VEC##u *)(y + at) = below;                                                                           \
            }                                                                                                          \
        for (int r = 0; r < ROWS; r++) {                                                                               \
            const double *lane = (const double *)sum[r];                                                               \
            for (int l = 0; l < 8; l++) s[r] += lane[l];                                                               \
            for (plx_index c = j; c < n; c++) s[r] += a[r * ld + c] * x[c];                                            \
        }                                                                                                              \
        for (; j < n; j++)                                                                                             \
            y[j] += ((a[j] * own[0] + a[ld + j] * own[1]) + a[2 * ld + j] * own[2]) + a[3 * ld + j] * own[3];          \
    }

PLX__EACH_WIDTH(DEFINE_FOUR_ROWS)

static plx_status sum_rows(void *arg, plx_context *ctx, plx_index begin, plx_index end, double *y)
{
    const symv_job *job = arg;
    (void)ctx;
    for (plx_index i = begin; i < end; i += ROWS) {
        plx_index count = plx__min(ROWS, end - i), first = count == ROWS ? i : 0;
        const double *a = job->a.data + i * job->a.ld;
        double s[ROWS] = {0};
        if (count == ROWS) PLX__WIDEST(four_rows)(a, job->a.ld, i, job->x, job->x + i, y, s);
        for (plx_index r = 0; r < count; r++, a += job->a.ld) { /* the triangle at the end of the rows */
            for (plx_index j = first; j < i + r; j++) {
                s[r] += a[j] * job->x[j];
                y[j] += a[j] * job->x[i + r];
            }
            y[i + r] += s[r] + a[i + r] * job->x[i + r];
        }
    }
    return PLX_OK;
}

static plx_index grain_of(plx_index n) { return plx__max(LEAST_GRAIN, n / MOST_CHUNKS + 1); }

plx_status plx__symv(plx_context *ctx, plx_cmat a, const double *x, double *y)
{
    symv_job job = {a, x};
    PLX_ASSERT(a.rows == a.cols);
    return plx__parallel_sum(ctx, a.rows, grain_of(a.rows), a.rows, sum_rows, &job, y);
}

double plx__symv_bytes(plx_index n) { return 8.0 * (double)n * (double)(n / grain_of(n) + 1); }
