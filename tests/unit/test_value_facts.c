/*
 * What is among values, against a loop that asks one after the other.
 */
#include "data/value_facts.h"

#include <math.h>

#include "plx_test.h"

static plx__value_facts one_by_one(const double *x, plx_index count)
{
    plx__value_facts f = {0};
    for (plx_index i = 0; i < count; i++) {
        f.zero |= x[i] == 0;
        f.nan |= isnan(x[i]);
        f.infinite |= isinf(x[i]);
        f.negative |= x[i] < 0;
        f.other |= !isnan(x[i]) && x[i] != 0 && x[i] != 1;
        f.fraction |= x[i] > 0 && floor(x[i]) != x[i];
    }
    return f;
}

static void assert_same(const double *x, plx_index count)
{
    plx__value_facts found = {0}, expected = one_by_one(x, count);
    plx__value_facts_add(&found, x, count);
    assert_int_equal(found.zero, expected.zero);
    assert_int_equal(found.nan, expected.nan);
    assert_int_equal(found.infinite, expected.infinite);
    assert_int_equal(found.negative, expected.negative);
    assert_int_equal(found.other, expected.other);
    assert_int_equal(found.fraction, expected.fraction);
}

static const double odd[] = {0,      -0.0,    1,         NAN,   INFINITY,    -INFINITY,    -1,
                             0.5,    2,       1 - 1e-16, 1e300, 0x1p52,      0x1p52 - 0.5, 0x1p53 + 2,
                             1e-320, -1e-320, 3.0000001, 4e15,  0x1p51 + 0.5};
enum { ODD = sizeof odd / sizeof *odd };

/* Every odd value alone, at every place of runs of every length, among ones. */
static void sees_every_value_at_every_place(void **state)
{
    double x[13];
    (void)state;
    for (int v = 0; v < ODD; v++)
        for (int count = 0; count <= 13; count++)
            for (int at = 0; at < count || at == 0; at++) {
                for (int i = 0; i < 13; i++) x[i] = 1;
                x[at] = odd[v];
                assert_same(x, count);
            }
}

static void adds_to_what_is_known(void **state)
{
    const double first[] = {0, 1}, second[] = {2.5};
    plx__value_facts f = {0};
    (void)state;
    plx__value_facts_add(&f, first, 2);
    assert_true(f.zero && !f.other);
    plx__value_facts_add(&f, second, 1);
    assert_true(f.zero && f.other && f.fraction && !f.negative);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sees_every_value_at_every_place),
        cmocka_unit_test(adds_to_what_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
