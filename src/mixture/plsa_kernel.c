/*
 * Eight entries at a time: their eight products with c are reduced together, divided and put through one vectorised
 * logarithm, and the rows u_f are still in the nearest cache when they are used the second time. What limits the
 * loop is the random access to the rows of table and scatter, so those of entries to come are fetched into the second-level
 * cache ahead of time.
 */
#include "mixture/plsa_kernel.h"

#include "linalg/clones.h"

typedef int64_t bits8 __attribute__((vector_size(64)));

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

/* log x for normal x > 0: x = 2^e m with m in [sqrt(1/2), sqrt(2)), log m = 2 atanh((m-1)/(m+1)) as a series of which
 * ten terms are below one unit in the last place. */
INLINE void log8(plx__v8 *out, const plx__v8 *x)
{
    static const double LN2_HIGH = 0x1.62e42fee00000p-1, LN2_LOW = 0x1.a39ef35793c76p-33;
    const bits8 bits = (bits8)*x, exponent_only = (bits8){0} + (int64_t)0x7ff0000000000000;
    const bits8 shifted = bits - (int64_t)0x3fe6a09e667f3bcd + (int64_t)0x3ff0000000000000; /* exponent >= 0, biased */
    const bits8 power = shifted & exponent_only;
    const bits8 mantissa = bits - power + (int64_t)0x3ff0000000000000;
    const bits8 magic = (power >> 52) | (int64_t)0x4330000000000000; /* the double 2^52 + biased exponent */
    const plx__v8 e = (plx__v8)magic - (0x1p52 + 1023.0), m = (plx__v8)mantissa;
    const plx__v8 s = (m - 1.0) / (m + 1.0), z = s * s;
    plx__v8 series = z * (1.0 / 21) + 1.0 / 19;
    series = series * z + 1.0 / 17;
    series = series * z + 1.0 / 15;
    series = series * z + 1.0 / 13;
    series = series * z + 1.0 / 11;
    series = series * z + 1.0 / 9;
    series = series * z + 1.0 / 7;
    series = series * z + 1.0 / 5;
    series = series * z + 1.0 / 3;
    *out = e * LN2_HIGH + (2.0 * s + (2.0 * s * z * series + e * LN2_LOW));
}

/* out[e] = sum of the entries of part[e]. */
INLINE void sums8(plx__v8 *out, const plx__v8 part[BATCH])
{
    plx__v8 two[4], four[2];
    for (int i = 0; i < 4; i++)
        two[i] = __builtin_shufflevector(part[2 * i], part[2 * i + 1], 0, 8, 2, 10, 4, 12, 6, 14) +
                 __builtin_shufflevector(part[2 * i], part[2 * i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    for (int i = 0; i < 2; i++)
        four[i] = __builtin_shufflevector(two[2 * i], two[2 * i + 1], 0, 1, 8, 9, 4, 5, 12, 13) +
                  __builtin_shufflevector(two[2 * i], two[2 * i + 1], 2, 3, 10, 11, 6, 7, 14, 15);
    *out = __builtin_shufflevector(four[0], four[1], 0, 1, 2, 3, 8, 9, 10, 11) +
           __builtin_shufflevector(four[0], four[1], 4, 5, 6, 7, 12, 13, 14, 15);
}

/* ratio = o / m where m counts; likelihood += o log m. */
INLINE void ratios8(plx__v8 *ratio, plx__v8 *likelihood, const plx__v8 *m, const double *o, bool wanted)
{
    const plx__v8 count = *(const plx__v8u *)o;
    const bits8 counts = *m >= TINY;
    const plx__v8 quotient = count / *m;
    *ratio = (plx__v8)((bits8)quotient & counts);
    if (!wanted) return;
    const plx__v8 least = (plx__v8){0} + TINY;
    const plx__v8 floored = (plx__v8)(((bits8)*m & counts) | ((bits8)least & ~counts));
    plx__v8 logs;
    log8(&logs, &floored);
    *likelihood += count * logs;
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

INLINE double total8(const plx__v8 *x)
{
    const double *v = (const double *)x;
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

/* Rows of VECS vectors: c and the gain stay in registers. */
#define DEFINE_WIDE(NAME, VECS)                                                                                        \
    PLX__CLONES static double NAME(const plx__plsa_row *row)                                                           \
    {                                                                                                                  \
        plx__v8 mix[VECS], gain[VECS] = {{0}}, likelihood = {0};                                                       \
        for (int v = 0; v < VECS; v++) mix[v] = ((const plx__v8 *)row->mix)[v];                                        \
        for (plx_index p = 0; p < row->count; p += BATCH) {                                                            \
            batch b;                                                                                                   \
            plx__v8 part[BATCH], m, ratio;                                                                             \
            take_batch(&b, row, p);                                                                                    \
            fetch_batch(row, p, LINE *VECS);                                                                           \
            for (int e = 0; e < BATCH; e++) {                                                                          \
                const plx__v8 *u = (const plx__v8 *)row->table + (plx_index)b.col[e] * VECS;                           \
                part[e] = u[0] * mix[0];                                                                               \
                for (int v = 1; v < VECS; v++) part[e] += u[v] * mix[v];                                               \
            }                                                                                                          \
            sums8(&m, part);                                                                                           \
            ratios8(&ratio, &likelihood, &m, b.val, row->likelihood);                                                  \
            for (int e = 0; row->gain && e < BATCH; e++) {                                                             \
                const plx__v8 *u = (const plx__v8 *)row->table + (plx_index)b.col[e] * VECS;                           \
                for (int v = 0; v < VECS; v++) gain[v] += ratio[e] * u[v];                                             \
            }                                                                                                          \
            for (int e = 0; row->scatter && e < BATCH; e++) {                                                          \
                plx__v8 *g = (plx__v8 *)row->scatter + (plx_index)b.col[e] * VECS;                                     \
                for (int v = 0; v < VECS; v++) g[v] += ratio[e] * mix[v];                                              \
            }                                                                                                          \
        }                                                                                                              \
        for (int v = 0; row->gain && v < VECS; v++) ((plx__v8 *)row->gain)[v] += gain[v];                              \
        return total8(&likelihood);                                                                                    \
    }

DEFINE_WIDE(step8, 1)
DEFINE_WIDE(step16, 2)
DEFINE_WIDE(step24, 3)
DEFINE_WIDE(step32, 4)

/* More vectors than registers: the same sums with the rows in memory. */
PLX__CLONES static double step_many(const plx__plsa_row *row)
{
    const plx_index vecs = row->width / LINE;
    const plx__v8 *mix = (const plx__v8 *)row->mix;
    plx__v8 likelihood = {0}, *gain = (plx__v8 *)row->gain;
    for (plx_index p = 0; p < row->count; p += BATCH) {
        batch b;
        plx__v8 part[BATCH], m, ratio;
        take_batch(&b, row, p);
        fetch_batch(row, p, row->width);
        for (int e = 0; e < BATCH; e++) {
            const plx__v8 *u = (const plx__v8 *)row->table + (plx_index)b.col[e] * vecs;
            part[e] = u[0] * mix[0];
            for (plx_index v = 1; v < vecs; v++) part[e] += u[v] * mix[v];
        }
        sums8(&m, part);
        ratios8(&ratio, &likelihood, &m, b.val, row->likelihood);
        for (int e = 0; gain && e < BATCH; e++) {
            const plx__v8 *u = (const plx__v8 *)row->table + (plx_index)b.col[e] * vecs;
            for (plx_index v = 0; v < vecs; v++) gain[v] += ratio[e] * u[v];
        }
        for (int e = 0; row->scatter && e < BATCH; e++) {
            plx__v8 *g = (plx__v8 *)row->scatter + (plx_index)b.col[e] * vecs;
            for (plx_index v = 0; v < vecs; v++) g[v] += ratio[e] * mix[v];
        }
    }
    return total8(&likelihood);
}

/* Less than a vector. */
#define DEFINE_LOOP(NAME, WIDTH)                                                                                       \
    PLX__CLONES static double NAME(const plx__plsa_row *row)                                                           \
    {                                                                                                                  \
        plx__v8 likelihood = {0};                                                                                      \
        const plx_index width = (WIDTH);                                                                               \
        for (plx_index p = 0; p < row->count; p += BATCH) {                                                            \
            batch b;                                                                                                   \
            plx__v8 m, ratio;                                                                                          \
            take_batch(&b, row, p);                                                                                    \
            fetch_batch(row, p, width);                                                                                \
            for (int e = 0; e < BATCH; e++) {                                                                          \
                const double *u = row->table + (plx_index)b.col[e] * width;                                            \
                double sum = 0;                                                                                        \
                for (plx_index j = 0; j < width; j++) sum += u[j] * row->mix[j];                                       \
                m[e] = sum;                                                                                            \
            }                                                                                                          \
            ratios8(&ratio, &likelihood, &m, b.val, row->likelihood);                                                  \
            for (int e = 0; row->gain && e < BATCH; e++) {                                                             \
                const double *u = row->table + (plx_index)b.col[e] * width;                                            \
                for (plx_index j = 0; j < width; j++) row->gain[j] += ratio[e] * u[j];                                 \
            }                                                                                                          \
            for (int e = 0; row->scatter && e < BATCH; e++) {                                                          \
                double *g = row->scatter + (plx_index)b.col[e] * width;                                                \
                for (plx_index j = 0; j < width; j++) g[j] += ratio[e] * row->mix[j];                                  \
            }                                                                                                          \
        }                                                                                                              \
        return total8(&likelihood);                                                                                    \
    }

DEFINE_LOOP(step1, 1)
DEFINE_LOOP(step2, 2)
DEFINE_LOOP(step4, 4)

double plx__plsa_row_step(const plx__plsa_row *row)
{
    switch (row->width) {
    case 1: return step1(row);
    case 2: return step2(row);
    case 4: return step4(row);
    case 8: return step8(row);
    case 16: return step16(row);
    case 24: return step24(row);
    case 32: return step32(row);
    default: return step_many(row);
    }
}
