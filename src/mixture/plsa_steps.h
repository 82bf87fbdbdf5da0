/*
 * The loops of plsa_kernel.c for registers of one width: included once for each, with
 *   VEC     the vector type, BITS and WORDS integers of its size, LANES its doubles
 *   TARGET  the attribute of functions, AS(name) their names
 * Eight doubles are VECS vectors; every sum is taken in the same order whatever the width is.
 */
enum { AS(LINE_VECS) = LINE / LANES };
#define VECS AS(LINE_VECS)

/* log x for normal x > 0: x = 2^e m with m in [sqrt(1/2), sqrt(2)), log m = 2 atanh((m-1)/(m+1)) as a series of which
 * ten terms are below one unit in the last place. */
TARGET INLINE void AS(take_log)(VEC *out, const VEC *x)
{
    static const double LN2_HIGH = 0x1.62e42fee00000p-1, LN2_LOW = 0x1.a39ef35793c76p-33;
    const BITS bits = (BITS)*x, exponent_only = (BITS){0} + (int64_t)0x7ff0000000000000;
    const BITS shifted = bits - (int64_t)0x3fe6a09e667f3bcd + (int64_t)0x3ff0000000000000; /* exponent >= 0, biased */
    const BITS power = shifted & exponent_only;
    const BITS mantissa = bits - power + (int64_t)0x3ff0000000000000;
    const BITS magic = (BITS)((WORDS)power >> 52) | (int64_t)0x4330000000000000; /* the double 2^52 + biased exponent */
    const VEC e = (VEC)magic - (0x1p52 + 1023.0), m = (VEC)mantissa;
    const VEC s = (m - 1.0) / (m + 1.0), z = s * s;
    VEC series = z * (1.0 / 21) + 1.0 / 19;
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

/* out[e] = sum of the eight entries of part[e], ((0+1)+(2+3))+((4+5)+(6+7)). */
TARGET INLINE void AS(take_sums)(VEC out[VECS], VEC (*part)[VECS])
{
#if LANES == 8
    VEC two[4], four[2];
    for (int i = 0; i < 4; i++)
        two[i] = __builtin_shufflevector(part[2 * i][0], part[2 * i + 1][0], 0, 8, 2, 10, 4, 12, 6, 14) +
                 __builtin_shufflevector(part[2 * i][0], part[2 * i + 1][0], 1, 9, 3, 11, 5, 13, 7, 15);
    for (int i = 0; i < 2; i++)
        four[i] = __builtin_shufflevector(two[2 * i], two[2 * i + 1], 0, 1, 8, 9, 4, 5, 12, 13) +
                  __builtin_shufflevector(two[2 * i], two[2 * i + 1], 2, 3, 10, 11, 6, 7, 14, 15);
    out[0] = __builtin_shufflevector(four[0], four[1], 0, 1, 2, 3, 8, 9, 10, 11) +
             __builtin_shufflevector(four[0], four[1], 4, 5, 6, 7, 12, 13, 14, 15);
#elif LANES == 4
    for (int i = 0; i < 2; i++) { /* entries 4i .. 4i+3 */
        VEC half[2];
        for (int h = 0; h < 2; h++) {
            VEC a = part[4 * i][h], b = part[4 * i + 1][h], c = part[4 * i + 2][h], d = part[4 * i + 3][h];
            VEC ab = __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
            VEC cd = __builtin_shufflevector(c, d, 0, 4, 2, 6) + __builtin_shufflevector(c, d, 1, 5, 3, 7);
            half[h] = __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
        }
        out[i] = half[0] + half[1];
    }
#else
    for (int i = 0; i < 4; i++) { /* entries 2i and 2i+1 */
        VEC pair[4];
        for (int h = 0; h < 4; h++)
            pair[h] = __builtin_shufflevector(part[2 * i][h], part[2 * i + 1][h], 0, 2) +
                      __builtin_shufflevector(part[2 * i][h], part[2 * i + 1][h], 1, 3);
        out[i] = (pair[0] + pair[1]) + (pair[2] + pair[3]);
    }
#endif
}

/* ratio = o / m where m counts; likelihood += o log m. */
TARGET INLINE void AS(take_ratios)(double ratio[BATCH], VEC likelihood[VECS], const VEC m[VECS], const double *o,
                                   bool wanted)
{
    for (int h = 0; h < VECS; h++) {
        const VEC count = *(const UNALIGNED *)(o + h * LANES);
        const BITS counts = m[h] >= TINY;
        const VEC quotient = count / m[h];
        *(UNALIGNED *)(ratio + h * LANES) = (VEC)((BITS)quotient & counts);
        if (!wanted) continue;
        const VEC least = (VEC){0} + TINY;
        const VEC floored = (VEC)(((BITS)m[h] & counts) | ((BITS)least & ~counts));
        VEC logs;
        AS(take_log)(&logs, &floored);
        likelihood[h] += count * logs;
    }
}

TARGET INLINE double AS(total)(const VEC x[VECS])
{
    const double *v = (const double *)x;
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

/* Rows of `lines` times eight doubles. With a constant number c and the gain stay in registers. */
TARGET INLINE double AS(step_lines)(const plx__plsa_row *row, plx_index lines, const VEC *mix, VEC *gain)
{
    VEC likelihood[VECS] = {{0}};
    const plx_index vecs = lines * VECS;
    for (plx_index p = 0; p < row->count; p += BATCH) {
        batch b;
        VEC part[BATCH][VECS], m[VECS];
        double ratio[BATCH];
        take_batch(&b, row, p);
        fetch_batch(row, p, LINE * lines);
        for (int e = 0; e < BATCH; e++) {
            const VEC *u = (const VEC *)row->table + (plx_index)b.col[e] * vecs;
            for (int h = 0; h < VECS; h++) part[e][h] = u[h] * mix[h];
            for (plx_index v = VECS; v < vecs; v++) part[e][v % VECS] += u[v] * mix[v];
        }
        AS(take_sums)(m, part);
        AS(take_ratios)(ratio, likelihood, m, b.val, row->likelihood);
        for (int e = 0; row->gain && e < BATCH; e++) {
            const VEC *u = (const VEC *)row->table + (plx_index)b.col[e] * vecs;
            for (plx_index v = 0; v < vecs; v++) gain[v] += ratio[e] * u[v];
        }
        for (int e = 0; row->scatter && e < BATCH; e++) {
            VEC *g = (VEC *)row->scatter + (plx_index)b.col[e] * vecs;
            for (plx_index v = 0; v < vecs; v++) g[v] += ratio[e] * mix[v];
        }
    }
    return AS(total)(likelihood);
}

/* A few lines: copies of c and of the gain, which the compiler keeps in registers. */
#define DEFINE_STEP(NAME, LINES)                                                                                       \
    TARGET static double AS(NAME)(const plx__plsa_row *row)                                                            \
    {                                                                                                                  \
        VEC mix[LINES * VECS], gain[LINES * VECS] = {{0}};                                                             \
        for (int v = 0; v < LINES * VECS; v++) mix[v] = ((const VEC *)row->mix)[v];                                    \
        double likelihood = AS(step_lines)(row, LINES, mix, gain);                                                     \
        for (int v = 0; row->gain && v < LINES * VECS; v++) ((VEC *)row->gain)[v] += gain[v];                          \
        return likelihood;                                                                                             \
    }

DEFINE_STEP(step8, 1)
DEFINE_STEP(step16, 2)
DEFINE_STEP(step24, 3)
DEFINE_STEP(step32, 4)

/* More vectors than registers: the same sums with the rows in memory. */
TARGET static double AS(step_many)(const plx__plsa_row *row)
{
    return AS(step_lines)(row, row->width / LINE, (const VEC *)row->mix, (VEC *)row->gain);
}

/* Less than a line. */
TARGET INLINE double AS(step_short)(const plx__plsa_row *row, plx_index width)
{
    VEC likelihood[VECS] = {{0}};
    for (plx_index p = 0; p < row->count; p += BATCH) {
        batch b;
        VEC m[VECS];
        double ratio[BATCH], sum[BATCH];
        take_batch(&b, row, p);
        fetch_batch(row, p, width);
        for (int e = 0; e < BATCH; e++) {
            const double *u = row->table + (plx_index)b.col[e] * width;
            sum[e] = 0;
            for (plx_index j = 0; j < width; j++) sum[e] += u[j] * row->mix[j];
        }
        for (int h = 0; h < VECS; h++) m[h] = *(const UNALIGNED *)(sum + h * LANES);
        AS(take_ratios)(ratio, likelihood, m, b.val, row->likelihood);
        for (int e = 0; row->gain && e < BATCH; e++) {
            const double *u = row->table + (plx_index)b.col[e] * width;
            for (plx_index j = 0; j < width; j++) row->gain[j] += ratio[e] * u[j];
        }
        for (int e = 0; row->scatter && e < BATCH; e++) {
            double *g = row->scatter + (plx_index)b.col[e] * width;
            for (plx_index j = 0; j < width; j++) g[j] += ratio[e] * row->mix[j];
        }
    }
    return AS(total)(likelihood);
}

TARGET static double AS(step)(const plx__plsa_row *row)
{
    switch (row->width) {
    case 1: return AS(step_short)(row, 1);
    case 2: return AS(step_short)(row, 2);
    case 4: return AS(step_short)(row, 4);
    case 8: return AS(step8)(row);
    case 16: return AS(step16)(row);
    case 24: return AS(step24)(row);
    case 32: return AS(step32)(row);
    default: return AS(step_many)(row);
    }
}

#undef DEFINE_STEP
#undef VECS
#undef VEC
#undef UNALIGNED
#undef BITS
#undef WORDS
#undef LANES
#undef TARGET
#undef AS
