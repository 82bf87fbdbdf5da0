#include "reader_fixture.h"

#include "core/rng.h"
#include "io/svmlight.h"

static plx_status parse(const char *text, const plx__svmlight_options *options)
{
    char *copy = exact_copy(text, strlen(text));
    plx_status st = plx__svmlight_parse(&table, ctx, plx__scratch(ctx), "f.svm", copy, strlen(text), options);
    free(copy);
    return st;
}

static void expect_row(plx_index row, plx_index n, const int32_t *col, const double *val)
{
    plx_index at = table.csr.ptr[row];
    assert_int_equal(table.csr.ptr[row + 1] - at, n);
    for (plx_index k = 0; k < n; k++) {
        assert_int_equal(table.csr.col[at + k], col[k]);
        assert_true(table.csr.val[at + k] == val[k]);
    }
}

static void rows_and_labels(void **state)
{
    (void)state;
    assert_ok(ctx, parse("# head\n+1 1:2.5 3:-1 # tail\n\n-1 qid:7 2:1e3\r\ncat,dog 4:1\n? 1:1\n 2:5\nbird\n", NULL));
    assert_true(table.sparse);
    assert_int_equal(table.csr.rows, 6);
    assert_int_equal(table.csr.cols, 4);
    expect_row(0, 2, (int32_t[]){0, 2}, (double[]){2.5, -1});
    expect_row(1, 1, (int32_t[]){1}, (double[]){1000});
    expect_row(4, 1, (int32_t[]){1}, (double[]){5});
    expect_row(5, 0, NULL, NULL);
    assert_string_equal(table.labels[0], "+1");
    assert_string_equal(table.labels[1], "-1");
    assert_string_equal(table.labels[2], "cat|dog");
    assert_null(table.labels[3]);
    assert_null(table.labels[4]);
    assert_string_equal(table.labels[5], "bird");
}

static void index_base(void **state)
{
    (void)state;
    plx__svmlight_options one = {.base = PLX__BASE_ONE}, zero = {.base = PLX__BASE_ZERO}, wide = {.columns = 10};
    assert_ok(ctx, parse("a 1:1 5:2\nb 0:3\n", NULL));
    assert_int_equal(table.csr.cols, 6);
    expect_row(0, 2, (int32_t[]){1, 5}, (double[]){1, 2});
    expect_row(1, 1, (int32_t[]){0}, (double[]){3});
    assert_fails(ctx, parse("a 1:1 5:2\nb 0:3\n", &one), PLX_E_FORMAT, "f.svm: line 2: '0:3': index 0");
    assert_ok(ctx, parse("a 1:1\n", &zero));
    expect_row(0, 1, (int32_t[]){1}, (double[]){1});
    assert_ok(ctx, parse("a 1:1\n", &wide));
    assert_int_equal(table.csr.cols, 10);
    assert_ok(ctx, parse("a\nb\n", NULL));
    assert_int_equal(table.csr.cols, 0);
}

static void faults_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *word;
    } cases[] = {{"", "f.svm: the file has no rows"},
                 {"\n# only\n", "no rows"},
                 {"1 2:1\n1 3:1 2:1\n", "f.svm: line 2: '2:1': indices must ascend"},
                 {"1 2:1 2:3\n", "line 1: '2:3': the index occurs twice"},
                 {"1 2:x\n", "line 1: '2:x': the value is not a number"},
                 {"1 2:\n", "line 1: '2:': the value is not a number"},
                 {"1 2:1x\n", "the value is not a number"},
                 {"1 2\n", "line 1: '2': expected index:value"},
                 {"1 a:1\n", "expected index:value"},
                 {"1 -1:1\n", "negative"},
                 {"1 2147483647:1\n", "too large"},
                 {"1 99999999999999999999:1\n", "expected index:value"},
                 {"1 1 :2\n", "expected index:value"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_fails(ctx, parse(cases[i].text, NULL), PLX_E_FORMAT, cases[i].word);
        assert_null(table.csr.ptr);
    }
    char nul[] = "a\0b 1:1\n";
    assert_fails(ctx, plx__svmlight_parse(&table, ctx, plx__scratch(ctx), "f.svm", nul, sizeof nul - 1, NULL),
                 PLX_E_FORMAT, "NUL byte");
    assert_fails(ctx, plx__svmlight_read(&table, ctx, plx__scratch(ctx), "/nowhere/f.svm", NULL), PLX_E_IO,
                 "/nowhere/f.svm");
}

/* Row i has the indices 1, 1 + s, 1 + 2s, ... with s = i % 5 + 1 and values drawn from the counter. */
static void big_files_on_any_threads(void **state)
{
    (void)state;
    enum { ROWS = 20000 };
    char *text = malloc(ROWS * 300), *p = text;
    for (int i = 0; i < ROWS; i++) {
        if (i % 100 == 0) p += sprintf(p, "# comment: with colons: here\n");
        p += sprintf(p, "l%d", i % 3);
        for (int k = 0; k < i % 9; k++)
            p += sprintf(p, " %d:%.17g", 1 + k * (i % 5 + 1), plx__rng_normal(1, (uint64_t)i, (uint64_t)k));
        *p++ = '\n';
    }
    for (int t = 1; t <= 3; t++) {
        plx_context *c = test_context(t);
        assert_ok(c, plx__svmlight_parse(&table, c, plx__scratch(c), "f.svm", text, (size_t)(p - text), NULL));
        assert_int_equal(table.csr.rows, ROWS);
        for (int i = 0; i < ROWS; i++) {
            plx_index at = table.csr.ptr[i];
            assert_int_equal(table.csr.ptr[i + 1] - at, i % 9);
            assert_int_equal(table.labels[i][1] - '0', i % 3);
            for (int k = 0; k < i % 9; k++) {
                assert_int_equal(table.csr.col[at + k], k * (i % 5 + 1));
                assert_true(table.csr.val[at + k] == plx__rng_normal(1, (uint64_t)i, (uint64_t)k));
            }
        }
        plx_context_destroy(c);
    }
    free(text);
}

static void written_files_read_back(void **state)
{
    (void)state;
    char path[SCRATCH_PATH];
    double values[] = {0, 0.1, -3, 0};
    const char *labels[] = {"a|b", NULL}, *bad[] = {"a b", "c"};
    plx__table t = {.dense = {values, 2, 2, 2}, .labels = labels};
    assert_ok(ctx, plx__svmlight_write(ctx, scratch_path(path, ".svm"), &t));
    assert_string_equal(file_text(path), "a,b 2:0.10000000000000001\n? 1:-3\n");
    assert_ok(ctx, plx__svmlight_read(&table, ctx, plx__scratch(ctx), path, NULL));
    assert_string_equal(table.labels[0], "a|b");
    assert_null(table.labels[1]);
    expect_row(0, 1, (int32_t[]){1}, (double[]){0.1});
    unlink(path);
    t.labels = bad;
    assert_fails(ctx, plx__svmlight_write(ctx, path, &t), PLX_E_DATA, "row 1: label 'a b'");
    assert_false(plx__file_exists(path));
    assert_fails(ctx, plx__svmlight_write(ctx, "/nowhere/f.svm", &t), PLX_E_IO, "/nowhere/f.svm");
}

static plx_status read_plain(plx__table *out, plx_context *c, plx__arena *arena, const char *path)
{
    return plx__svmlight_read(out, c, arena, path, NULL);
}

static void allocation_failures(void **state)
{
    (void)state;
    char path[SCRATCH_PATH];
    const char *text = "+1 1:2.5 3:-1\n-1 2:1\n";
    write_gzip(scratch_path(path, ".svm.gz"), text, strlen(text));
    refuse_every_allocation(read_plain, path);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_and_labels, setup, teardown),
        cmocka_unit_test_setup_teardown(index_base, setup, teardown),
        cmocka_unit_test_setup_teardown(faults_are_named, setup, teardown),
        cmocka_unit_test(big_files_on_any_threads),
        cmocka_unit_test_setup_teardown(written_files_read_back, setup, teardown),
        cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
