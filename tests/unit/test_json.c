/* JSON as it is written: numbers that read back, texts that are valid whatever bytes they hold, one form for all verbs. */
#include <float.h>

#include "core/json.h"
#include "parallax/json_text.h"
#include "plx_test.h"

static void number_is(double value, const char *expected)
{
    char text[64];
    assert_int_equal(plx_json_number(text, sizeof text, value), strlen(expected));
    assert_string_equal(text, expected);
}

static void numbers(void **state)
{
    (void)state;
    number_is(0.1, "0.1");
    number_is(1, "1.0");
    number_is(-3, "-3.0");
    number_is(0, "0.0");
    number_is(1.0 / 3, "0.3333333333333333");
    number_is(NAN, "null");
    const double all[] = {DBL_MAX, DBL_MIN, 5e-324, 1e22, 123456789012345680.0, -2.5e-7, 0.96333333333333337, 1e308};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[64];
        plx_json_number(text, sizeof text, all[i]);
        assert_true(strtod(text, NULL) == all[i]);
        assert_non_null(strpbrk(text, ".e"));
    }
    number_is(INFINITY, "1e308");
    number_is(-INFINITY, "-1e308");
}

static void string_is(const char *value, const char *expected)
{
    char text[64];
    assert_int_equal(plx_json_string(text, sizeof text, value), strlen(expected));
    assert_string_equal(text, expected);
}

static void texts(void **state)
{
    (void)state;
    string_is("plain", "\"plain\"");
    string_is("a\"b\\c", "\"a\\\"b\\\\c\"");
    string_is("\n\t\r\b\f\x01", "\"\\n\\t\\r\\b\\f\\u0001\"");
    string_is("\xC3\xA9", "\"\xC3\xA9\"");
    string_is("\xE9t", "\"\\\\xE9t\"");                     /* Latin-1 */
    string_is("\xC3", "\"\\\\xC3\"");                       /* cut in the middle of a character */
    string_is("\xED\xA0\x80", "\"\\\\xED\\\\xA0\\\\x80\""); /* a surrogate */
    string_is(NULL, "null");
}

/* The length is that of the whole text; what fits is written and ends with a zero. */
static void small_buffers(void **state)
{
    (void)state;
    char text[4] = "zzz";
    assert_int_equal(plx_json_string(text, sizeof text, "abcdef"), 8);
    assert_string_equal(text, "\"ab");
    assert_int_equal(plx_json_number(text, 1, 0.25), 4);
    assert_string_equal(text, "");
    assert_int_equal(plx_json_number(NULL, 0, 0.25), 4);
    assert_int_equal(plx_json_string(NULL, 100, "a"), 3);
    assert_int_equal(plx_json_number(text, -1, 0.25), 0);
}

/* What is printed is the value again when jansson reads it, in the form jansson would print it. */
static void values(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const char *given =
        "{\"a\": [1, 2.5, true, false, null, \"x\"], \"b\": {}, \"c\": [], \"d\": {\"e\": {\"f\": -7}}}";
    json_t *value = NULL, *again = NULL;
    const char *text = NULL;
    assert_ok(ctx, plx__json_read_text(&value, ctx, "given", given, strlen(given)));
    assert_ok(ctx, plx__json_print(&text, plx__scratch(ctx), value));
    char *theirs = json_dumps(value, JSON_INDENT(2));
    assert_string_equal(text, theirs);
    assert_ok(ctx, plx__json_read_text(&again, ctx, "text", text, strlen(text)));
    assert_true(json_equal(value, again));
    free(theirs);
    json_decref(value);
    json_decref(again);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers), cmocka_unit_test(texts),
                                       cmocka_unit_test(small_buffers), cmocka_unit_test(values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
