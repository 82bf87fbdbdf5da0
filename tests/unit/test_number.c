#include "plx_test.h"

#include <locale.h>

#include "core/number.h"
#include "core/rng.h"

static uint64_t bits_of(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static double random_bits(uint64_t i)
{
    uint64_t b = plx__rng_u64(5, PLX__STREAM('b', 'i', 't', 's', 0), i);
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

/* Alone, and with other numbers behind it, where the reader may look at many characters at once. */
static void expect_read(const char *text, double expected)
{
    static char row[8192];
    double x = 123;
    size_t len = strlen(text);
    const char *p = plx__read_double(&x, text, text + len);
    if (p != text + len) fail_msg("'%.60s' was not read to its end", text);
    if (bits_of(x) != bits_of(expected)) fail_msg("'%.60s' -> %.17g, expected %.17g", text, x, expected);
    int size = snprintf(row, sizeof row, "%s,98765432109876543210.98765432109876543210", text);
    p = plx__read_double(&x, row, row + size);
    if (p != row + len) fail_msg("'%.60s' was not read to its end in a row", text);
    if (bits_of(x) != bits_of(expected)) fail_msg("'%.60s' -> %.17g in a row, expected %.17g", text, x, expected);
}

/* The C library of the tests is correctly rounded; the locale here is "C". */
static void expect_as_strtod(const char *text) { expect_read(text, strtod(text, NULL)); }

/* ---- reading ---- */

/* Expected values are exact hexadecimal constants, worked out from the definition of binary64. */
static void hard_decimals_round_correctly(void **state)
{
    (void)state;
    expect_read("0", 0.0);
    expect_read("-0", -0.0);
    expect_read("-0.0e-5", -0.0);
    expect_read("1e23", 0x1.52d02c7e14af6p+76);             /* just below a midpoint */
    expect_read("9007199254740993", 0x1p+53);               /* 2^53 + 1: tie to even, down */
    expect_read("9007199254740995", 0x1.0000000000002p+53); /* 2^53 + 3: tie to even, up */
    expect_read("9007199254740993.00000000000000000000001", 0x1.0000000000001p+53);
    expect_read("9007199254740992.99999999999999999999999", 0x1p+53);
    expect_read("5e-324", 0x1p-1074);
    expect_read("2.4703282292062327e-324", 0.0); /* below half the least double */
    expect_read("2.4703282292062328e-324", 0x1p-1074);
    expect_read("2.2250738585072011e-308", 0x0.fffffffffffffp-1022); /* the greatest subnormal */
    expect_read("2.2250738585072012e-308", 0x1p-1022);
    expect_read("2.2250738585072014e-308", 0x1p-1022);
    expect_read("1.7976931348623157e308", 0x1.fffffffffffffp+1023);
    expect_read("1.7976931348623158e308", 0x1.fffffffffffffp+1023);
    expect_read("1.7976931348623159e308", HUGE_VAL);
    expect_read("-1e400", -HUGE_VAL);
    expect_read("1e-400", 0.0);
    expect_read("1e99999999999999999999999", HUGE_VAL);
    expect_read("-1e-99999999999999999999999", -0.0);
    expect_read("0e99999999999999999999999", 0.0);
    expect_read("0.1", 0x1.999999999999ap-4);
    expect_read("+.5", 0.5);
    expect_read("5.", 5.0);
    expect_read("1E2", 100.0);
    expect_read("00000000000000000000000000000012.5", 12.5);
    expect_read("0.00000000000000000000000000000125e31", 12.5);
    expect_read("-InFinity", -HUGE_VAL);
    expect_read("inf", HUGE_VAL);
}

static void numbers_end_where_they_end(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int used;
        double value;
    } cases[] = {{"1.5,2", 3, 1.5},
                 {"1e", 1, 1},
                 {"1e+", 1, 1},
                 {"1e+x", 1, 1},
                 {"1.2.3", 3, 1.2},
                 {"0x10", 1, 0},
                 {"12345678;", 8, 12345678},
                 {"1 2", 1, 1},
                 {"infinite", 3, HUGE_VAL},
                 {"1-2", 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double x = 0;
        const char *t = cases[i].text, *p = plx__read_double(&x, t, t + strlen(t));
        assert_non_null(p);
        assert_int_equal(p - t, cases[i].used);
        assert_true(x == cases[i].value);
    }
    static const char *const none[] = {"",   "-",   "+",   ".",   "-.", "e5", ".e5",
                                       " 1", "abc", "--1", "+-1", "i",  "na", "\xEF\xBC\x91"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        double x = 0;
        assert_null(plx__read_double(&x, none[i], none[i] + strlen(none[i])));
    }
    double x = 0;
    const char *t = "123456789012345678901234"; /* `end` cuts digits off */
    assert_ptr_equal(plx__read_double(&x, t, t + 3), t + 3);
    assert_true(x == 123);
    assert_ptr_equal(plx__read_double(&x, t, t + 8), t + 8);
    assert_true(x == 12345678);
    assert_true(plx__parse_double(&x, " 2.5\n") && x == 2.5);
    assert_false(plx__parse_double(&x, "2.5 x"));
}

/* The midpoint between two neighbouring doubles has up to 767 digits; one more digit anywhere decides. */
static void long_digit_strings_are_exact(void **state)
{
    (void)state;
    static char text[4096];
    for (uint64_t i = 0; i < 300; i++) {
        double x = fabs(random_bits(i));
        if (!isfinite(x) || x < 1e-300 || x > 1e300) continue;
        double next = nextafter(x, HUGE_VAL);
        long double middle = ((long double)x + (long double)next) / 2; /* exact in 64 bits */
        int len = snprintf(text, 2000, "%.1100Lf", middle);
        expect_read(text, (bits_of(x) & 1) ? next : x); /* tie to even */
        memset(text + len, '0', 1500);
        text[len + 1500] = '\0';
        expect_read(text, (bits_of(x) & 1) ? next : x);
        text[len + 1499] = '1';
        expect_read(text, next);
    }
    memset(text, '9', 4000);
    text[4000] = '\0';
    expect_read(text, HUGE_VAL);
    memcpy(text + 3990, "e-3990", 7);
    expect_read(text, 1.0);
    memset(text, '0', 4000);
    text[1] = '.';
    memcpy(text + 3990, "1e3989", 7);
    expect_read(text, 1.0);
}

static void random_numbers_read_as_strtod_reads_them(void **state)
{
    (void)state;
    enum { N = 300000 };
    char text[80];
    for (uint64_t i = 0; i < N; i++) {
        double x = random_bits(i);
        if (!isfinite(x)) continue;
        snprintf(text, sizeof text, "%.*e", (int)(i % 25), x);
        expect_as_strtod(text);
        uint64_t w = plx__rng_u64(5, 9, i) >> (i % 40);
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)w, (int)(i * 7919 % 700) - 360);
        expect_as_strtod(text);
        snprintf(text, sizeof text, "%.*f", (int)(i % 22), ldexp((double)(w & 0xFFFFFFFFFFFFF), -(int)(i % 60)));
        expect_as_strtod(text);
        snprintf(text, sizeof text, "%s%u.%0*llu", i % 2 ? "-" : "", (unsigned)(w % 1500 >> i % 11), (int)(i % 24) + 1,
                 (unsigned long long)(w >> i % 64));
        expect_as_strtod(text);
    }
}

static void integers_are_read_with_their_limits(void **state)
{
    (void)state;
    int64_t v = 0;
    assert_true(plx__parse_int64(&v, "9223372036854775807") && v == INT64_MAX);
    assert_true(plx__parse_int64(&v, "-9223372036854775808") && v == INT64_MIN);
    assert_false(plx__parse_int64(&v, "9223372036854775808"));
    assert_false(plx__parse_int64(&v, "-9223372036854775809"));
    assert_false(plx__parse_int64(&v, ""));
    assert_false(plx__parse_int64(&v, "+"));
    assert_false(plx__parse_int64(&v, "1.5"));
}

/* ---- printing ---- */

static void expect_print(double x)
{
    char ours[PLX__NUMBER_BYTES], theirs[64];
    int len = plx__print_double(ours, x);
    snprintf(theirs, sizeof theirs, "%.17g", x);
    if (strcmp(ours, theirs) != 0) fail_msg("%a printed as %s, expected %s", x, ours, theirs);
    assert_int_equal(len, strlen(ours));
}

static void printing_equals_17g(void **state)
{
    (void)state;
    double cases[] = {0.0,
                      -0.0,
                      1,
                      -1,
                      0.1,
                      0.5,
                      1e23,
                      5e-324,
                      1.7976931348623157e308,
                      2.2250738585072014e-308,
                      1e16,
                      1e17,
                      12345678901234567.0,
                      123456789012345680.0,
                      0.0001,
                      0.00001,
                      9.9999999999999995e-05,
                      1e22,
                      9007199254740993.0,
                      0.30000000000000004,
                      100,
                      1e5,
                      HUGE_VAL,
                      -HUGE_VAL,
                      99999999999999992.0,
                      0x1p-1022,
                      0x1p+1023};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) expect_print(cases[i]);
    for (int e = -1074; e < 1024; e++) expect_print(ldexp(1, e));
    for (int e = -323; e <= 308; e++) { /* around powers of ten, where the number of digits changes */
        char text[16];
        snprintf(text, sizeof text, "1e%d", e);
        double x = strtod(text, NULL);
        expect_print(x);
        expect_print(nextafter(x, 0));
        expect_print(nextafter(x, HUGE_VAL));
    }
    for (uint64_t i = 0; i < 400000; i++) {
        double x = random_bits(i);
        if (isfinite(x)) expect_print(x);
        expect_print((double)(int64_t)(plx__rng_u64(5, 3, i) >> (i % 60)) /
                     (double)(1 << i % 31)); /* many exact ties */
        expect_print(plx__rng_normal(5, 4, i));
    }
    char out[PLX__NUMBER_BYTES];
    plx__print_double(out, -NAN);
    assert_string_equal(out, "nan");
}

/* Expected texts: repr() of CPython, which is the shortest decimal nearest to the value. */
static void short_numbers_are_shortest(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.1, "0.1"},
                 {1e23, "1e+23"},
                 {5e-324, "5e-324"},
                 {1.7976931348623157e308, "1.7976931348623157e+308"},
                 {1000000, "1000000"},
                 {1e15, "1000000000000000"},
                 {1e16, "1e+16"},
                 {0.0001, "0.0001"},
                 {0.00001, "1e-05"},
                 {2.2250738585072014e-308, "2.2250738585072014e-308"},
                 {0x1p-44, "5.684341886080802e-14"},
                 {9007199254740993.0, "9007199254740992"},
                 {-2.5, "-2.5"},
                 {1.0 / 3, "0.3333333333333333"},
                 {0, "0"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {NAN, "nan"},
                 {0x1p+122, "5.316911983139664e+36"},
                 {9.5367431640625e-07, "9.5367431640625e-07"},
                 {1e-323, "1e-323"},
                 {4.35e-322, "4.35e-322"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[PLX__NUMBER_BYTES];
        assert_int_equal(plx__print_short(out, cases[i].value), strlen(cases[i].text));
        assert_string_equal(out, cases[i].text);
    }
}

/* One digit fewer, rounded by the C library, must not read back. */
static void short_numbers_round_trip_and_cannot_be_shorter(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 100000; i++) {
        double x = i % 2 ? random_bits(i) : round(plx__rng_normal(5, 6, i) * 1e4) / 1e3;
        if (!isfinite(x) || x == 0) continue;
        char out[PLX__NUMBER_BYTES], shorter[64];
        plx__print_short(out, x);
        assert_true(bits_of(strtod(out, NULL)) == bits_of(x));
        int digits = 0;
        const char *stop = out + strcspn(out, "e");
        bool started = false;
        int zeros = 0;
        for (const char *p = out; p < stop; p++) {
            if (*p < '0' || *p > '9') continue;
            started = started || *p != '0';
            digits += started;
            zeros = *p == '0' ? zeros + 1 : 0;
        }
        digits -= zeros;
        if (digits < 2) continue;
        snprintf(shorter, sizeof shorter, "%.*e", digits - 2, x);
        assert_true(strtod(shorter, NULL) != x);
    }
}

/* ---- locale ---- */

/* Build a comma locale in a scratch directory when the sources are there; "" when it cannot be had. */
static const char *comma_locale(char *dir)
{
    static const char *const installed[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    for (size_t i = 0; i < sizeof installed / sizeof *installed; i++)
        if (setlocale(LC_ALL, installed[i])) return installed[i];
    char command[256];
    if (!mkdtemp(dir)) return "";
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", dir);
    if (system(command) != 0) return "";
    setenv("LOCPATH", dir, 1);
    return setlocale(LC_ALL, "de_DE.UTF-8") ? "de_DE.UTF-8" : "";
}

static void comma_locale_changes_nothing(void **state)
{
    (void)state;
    char dir[] = "/tmp/plx_locale_XXXXXX", command[128], out[PLX__NUMBER_BYTES], theirs[64];
    bool have = comma_locale(dir)[0] != '\0';
    if (have) {
        snprintf(theirs, sizeof theirs, "%.1f", 1.5);
        assert_string_equal(theirs, "1,5"); /* the locale is in force */
        expect_read("1.5", 1.5);
        expect_read("9007199254740993.00000000000000000000001", 0x1.0000000000001p+53); /* through strtod */
        plx__print_double(out, 0.1);
        assert_string_equal(out, "0.10000000000000001");
        plx__print_double(out, 5e-324); /* through snprintf */
        assert_string_equal(out, "4.9406564584124654e-324");
        plx__print_short(out, 2.5);
        assert_string_equal(out, "2.5");
        double x = 0;
        const char *t = "1,5";
        assert_ptr_equal(plx__read_double(&x, t, t + 3), t + 1);
    }
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    if (strstr(dir, "XXXXXX") == NULL) {
        snprintf(command, sizeof command, "rm -rf %s", dir);
        if (system(command) != 0) print_message("could not remove %s\n", dir);
    }
    if (!have) {
        print_message("no comma locale and no sources to build one\n");
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hard_decimals_round_correctly),
        cmocka_unit_test(numbers_end_where_they_end),
        cmocka_unit_test(long_digit_strings_are_exact),
        cmocka_unit_test(random_numbers_read_as_strtod_reads_them),
        cmocka_unit_test(integers_are_read_with_their_limits),
        cmocka_unit_test(printing_equals_17g),
        cmocka_unit_test(short_numbers_are_shortest),
        cmocka_unit_test(short_numbers_round_trip_and_cannot_be_shorter),
        cmocka_unit_test(comma_locale_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
