/*
 * Eight entries at a time: their eight products with c are reduced together, divided and put through one vectorised
 * logarithm, and the rows u_f are still in the nearest cache when they are used the second time. What limits the
 * loop is the random access to the rows of table and scatter, so those of entries to come are fetched into the second-level
 * cache ahead of time.
 */
#include "mixture/plsa_kernel.h"

#include "linalg/clones.h"

enum {
    BATCH = 8,
    LINE = 8,   /* doubles per cache line */
    AHEAD = 32, /* entries of lookahead; measured alike from 16 to 48 */
    TO_L2 = 2   /* prefetch locality: past the small first-level cache */
};

static const double TINY = 1e-300;

#define INLINE static inline __attribute__((always_inline))

plx_index plx__plsa_width(plx_index k)
{
    if (k <= 2) return k;
    return k <= 4 ? 4 : (k + LINE - 1) / LINE * LINE;
}

/* The entries p .. p+7 of the row; past its end the last column again, with nothing in it. */
typedef struct batch {
    const int32_t *col;
    const double *val;
    int32_t spare_col[BATCH];
    double spare_val[BATCH];
} batch;

INLINE void take_batch(batch *b, const plx__plsa_row *row, plx_index p)
{
    b->col = row->col + p;
    b->val = row->val + p;
    if (p + BATCH <= row->count) return;
    for (int e = 0; e < BATCH; e++) {
        bool inside = p + e < row->count;
        b->spare_col[e] = row->col[inside ? p + e : row->count - 1];
        b->spare_val[e] = inside ? row->val[p + e] : 0.0;
    }
    b->col = b->spare_col;
    b->val = b->spare_val;
}

INLINE void fetch_batch(const plx__plsa_row *row, plx_index p, plx_index width)
{
    plx_index end = row->count + row->beyond, first = p + AHEAD < end ? p + AHEAD : end;
    end = first + BATCH < end ? first + BATCH : end;
    for (plx_index q = first; q < end; q++) {
        plx_index at = (plx_index)row->col[q] * width;
        for (plx_index j = 0; j < width; j += LINE) __builtin_prefetch(row->table + at + j, 0, TO_L2);
        if (row->scatter)
            for (plx_index j = 0; j < width; j += LINE) __builtin_prefetch(row->scatter + at + j, 1, TO_L2);
    }
}

#ifdef PLX__TARGETS
#define VEC plx__v8
#define UNALIGNED plx__v8u
#define BITS plx__v8bits
#define WORDS plx__v8words
#define LANES 8
#define TARGET __attribute__((target("avx512f")))
#define AS(name) name##_512
#include "mixture/plsa_steps.h"
#define VEC plx__v4
#define UNALIGNED plx__v4u
#define BITS plx__v4bits
#define WORDS plx__v4words
#define LANES 4
#define TARGET __attribute__((target("avx2")))
#define AS(name) name##_256
#include "mixture/plsa_steps.h"
#endif
#define VEC plx__v2
#define UNALIGNED plx__v2u
#define BITS plx__v2bits
#define WORDS plx__v2words
#define LANES 2
#define TARGET
#define AS(name) name##_128
#include "mixture/plsa_steps.h"

double plx__plsa_row_step(const plx__plsa_row *row) { return PLX__WIDEST(step)(row); }
