/*
 * The inner loop of PLSA against plain sums, for every width it has a version of, and its logarithm against libm.
 */
#include "mixture/plsa_kernel.h"

#include <math.h>
#include <stdlib.h>

#include "core/rng.h"
#include "plx_test.h"

enum { FEATURES = 37, MOST = 48 };

typedef struct fixture {
    double *table, *mix, *gain, *scatter;
    int32_t col[MOST];
    double val[MOST];
} fixture;

static double *aligned(plx_index count)
{
    double *p = aligned_alloc(64, (size_t)(count * 8 + 63) / 64 * 64);
    assert_non_null(p);
    for (plx_index i = 0; i < count; i++) p[i] = 0;
    return p;
}

static fixture make(plx_index k, plx_index width, plx_index count)
{
    fixture f = {aligned(FEATURES * width), aligned(width), aligned(width), aligned(FEATURES * width), {0}, {0}};
    plx__rng r = plx__rng_start(3, PLX__STREAM('k', 'e', 'r', 'n', k));
    for (plx_index i = 0; i < FEATURES; i++)
        for (plx_index j = 0; j < k; j++) f.table[i * width + j] = plx__next_uniform(&r);
    for (plx_index j = 0; j < k; j++) f.mix[j] = plx__next_uniform(&r);
    for (plx_index e = 0; e < count; e++) {
        f.col[e] = (int32_t)((5 * e + 2) % FEATURES);
        f.val[e] = 0.5 + floor(4 * plx__next_uniform(&r));
    }
    return f;
}

static void release(fixture *f)
{
    free(f->table);
    free(f->mix);
    free(f->gain);
    free(f->scatter);
}

static void check_width(plx_index k, plx_index count)
{
    plx_index width = plx__plsa_width(k);
    fixture f = make(k, width, count);
    double gain[64] = {0}, likelihood = 0, *scatter = aligned(FEATURES * width);
    for (plx_index e = 0; e < count; e++) {
        const double *u = f.table + f.col[e] * width;
        double m = 0;
        for (plx_index j = 0; j < k; j++) m += u[j] * f.mix[j];
        for (plx_index j = 0; j < k; j++) {
            gain[j] += f.val[e] / m * u[j];
            scatter[f.col[e] * width + j] += f.val[e] / m * f.mix[j];
        }
        likelihood += f.val[e] * log(m);
    }
    plx__plsa_row row = {f.col, f.val, count, 0, width, f.table, f.mix, f.gain, f.scatter, true};
    assert_close(plx__plsa_row_step(&row), likelihood, 1e-12 * (1 + fabs(likelihood)));
    for (plx_index j = 0; j < width; j++) assert_close(f.gain[j], gain[j], 1e-12 * (1 + gain[j]));
    for (plx_index i = 0; i < FEATURES * width; i++) assert_close(f.scatter[i], scatter[i], 1e-12 * (1 + scatter[i]));
    row.gain = row.scatter = NULL; /* the likelihood alone: the same bytes */
    double alone = plx__plsa_row_step(&row);
    row.gain = f.gain;
    row.scatter = f.scatter;
    assert_true(alone == plx__plsa_row_step(&row));
    row.likelihood = false;
    assert_true(plx__plsa_row_step(&row) == 0);
    release(&f);
    free(scatter);
}

static void agrees_with_plain_sums(void **state)
{
    static const plx_index widths[] = {1, 2, 3, 4, 5, 8, 12, 16, 20, 24, 31, 32, 40, 56};
    (void)state;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (plx_index count = 0; count <= 19; count++) check_width(widths[w], count);
}

static void widths_are_padded(void **state)
{
    (void)state;
    assert_int_equal(plx__plsa_width(1), 1);
    assert_int_equal(plx__plsa_width(2), 2);
    assert_int_equal(plx__plsa_width(3), 4);
    assert_int_equal(plx__plsa_width(5), 8);
    assert_int_equal(plx__plsa_width(20), 24);
}

/* One feature of probability p: the likelihood of one token is log p, over the whole range of doubles. */
static void logarithm(void **state)
{
    (void)state;
    for (int e = -996; e <= 40; e++)
        for (int i = 0; i < 25; i++) {
            double p = ldexp(1 + i / 25.0, e), one = 1;
            int32_t col = 0;
            plx__plsa_row row = {&col, &one, 1, 0, 1, &p, &one, NULL, NULL, true};
            assert_close(plx__plsa_row_step(&row), log(p), 4e-16 * fabs(log(p)) + 2e-17);
        }
}

/* An entry the model gives no probability adds log 1e-300 per token and moves nothing. */
static void impossible_entries(void **state)
{
    (void)state;
    double *table = aligned(16), *mix = aligned(8), *gain = aligned(8), *scatter = aligned(16), val[2] = {3, 1};
    int32_t col[2] = {0, 1};
    table[0] = 0;
    table[8] = 0.5;
    mix[0] = 1;
    mix[1] = 0.25;
    table[1] = 1e-310; /* less than counts */
    plx__plsa_row row = {col, val, 2, 0, 8, table, mix, gain, scatter, true};
    assert_close(plx__plsa_row_step(&row), 3 * log(1e-300) + log(0.5), 1e-9);
    assert_close(gain[0], 1.0, 1e-15); /* 1 / 0.5 * 0.5 */
    assert_true(scatter[0] == 0 && scatter[1] == 0);
    assert_close(scatter[8], 2.0, 1e-15);
    free(table);
    free(mix);
    free(gain);
    free(scatter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_plain_sums),
        cmocka_unit_test(widths_are_padded),
        cmocka_unit_test(logarithm),
        cmocka_unit_test(impossible_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
