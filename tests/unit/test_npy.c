#include "reader_fixture.h"

#include "io/npy.h"

/* A file as the format's description has it: magic, version, header length, header, values. */
static size_t make_file(char *out, int version, const char *dictionary, const void *values, size_t bytes)
{
    size_t len = strlen(dictionary), prefix = version == 1 ? 10 : 12;
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (char)version;
    out[7] = 0;
    for (size_t i = 8; i < prefix; i++) out[i] = (char)(len >> (8 * (i - 8)) & 0xFF);
    memcpy(out + prefix, dictionary, len);
    if (bytes) memcpy(out + prefix + len, values, bytes);
    return prefix + len + bytes;
}

static plx_status parse_file(int version, const char *dictionary, const void *values, size_t bytes)
{
    char file[2048];
    size_t size = make_file(file, version, dictionary, values, bytes);
    char *copy = exact_copy(file, size);
    plx_status st = plx__npy_parse(&table, ctx, plx__scratch(ctx), "f.npy", copy, size);
    free(copy);
    return st;
}

#define HEADER(type, order, shape) "{'descr': '" type "', 'fortran_order': " order ", 'shape': " shape ", }  \n"

static void expect_values(plx_index rows, plx_index cols, const double *values)
{
    assert_int_equal(table.dense.rows, rows);
    assert_int_equal(table.dense.cols, cols);
    for (plx_index i = 0; i < rows * cols; i++) assert_true(table.dense.data[i] == values[i]);
}

/* The value bytes below are what numpy.save of NumPy 2.4 writes for the arrays named. */
static void types_and_orders(void **state)
{
    (void)state;
    /* [[1.5, -2], [3, 4e300]] */
    static const unsigned char f8[] = {0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0,    0,    0,    0,    0,    0,    0,    0xc0,
                                       0, 0, 0, 0, 0, 0, 0x08, 0x40, 0x9c, 0x75, 0x00, 0x88, 0x3c, 0xe4, 0x57, 0x7e};
    for (int version = 1; version <= 3; version++) {
        assert_ok(ctx, parse_file(version, HEADER("<f8", "False", "(2, 2)"), f8, sizeof f8));
        expect_values(2, 2, (double[]){1.5, -2, 3, 4e300});
    }
    /* asfortranarray([[1, -2, 300], [-32768, 32767, 5]], '>i2') */
    static const unsigned char i2[] = {0x00, 0x01, 0x80, 0x00, 0xff, 0xfe, 0x7f, 0xff, 0x01, 0x2c, 0x00, 0x05};
    assert_ok(ctx, parse_file(1, HEADER(">i2", "True", "(2, 3)"), i2, sizeof i2));
    expect_values(2, 3, (double[]){1, -2, 300, -32768, 32767, 5});
    /* float32 [[0.1, -1]], bool [1, 0, 1], uint64 [[2^64 - 1, 7]] */
    static const unsigned char f4[] = {0xcd, 0xcc, 0xcc, 0x3d, 0x00, 0x00, 0x80, 0xbf}, b1[] = {1, 0, 1};
    static const unsigned char u8[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 7, 0, 0, 0, 0, 0, 0, 0};
    assert_ok(ctx, parse_file(1, HEADER("<f4", "False", "(1, 2)"), f4, sizeof f4));
    expect_values(1, 2, (double[]){(double)0.1f, -1});
    assert_ok(ctx, parse_file(1, HEADER("|b1", "False", "(3,)"), b1, sizeof b1));
    expect_values(3, 1, (double[]){1, 0, 1});
    assert_ok(ctx, parse_file(1, HEADER("<u8", "False", "(1, 2)"), u8, sizeof u8));
    expect_values(1, 2, (double[]){18446744073709551616.0, 7});
}

/* Every integer type in both byte orders: -1 in two's complement is the greatest unsigned value. */
static void every_integer_type(void **state)
{
    (void)state;
    static const unsigned char ones[8] = {255, 255, 255, 255, 255, 255, 255, 255};
    for (int bytes = 1; bytes <= 8; bytes *= 2) {
        for (int big = 0; big < 2; big++) {
            unsigned char two[8] = {0};
            char dictionary[128];
            two[big ? bytes - 1 : 0] = 2;
            for (const char *kind = "iu"; *kind; kind++) {
                snprintf(dictionary, sizeof dictionary, "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (1,), }",
                         big ? '>' : '<', *kind, bytes);
                assert_ok(ctx, parse_file(1, dictionary, two, (size_t)bytes));
                expect_values(1, 1, (double[]){2});
                assert_ok(ctx, parse_file(1, dictionary, ones, (size_t)bytes));
                expect_values(1, 1, (double[]){*kind == 'i' ? -1.0 : ldexp(1, 8 * bytes) - (bytes < 8)});
            }
        }
    }
}

static void odd_but_legal_headers(void **state)
{
    (void)state;
    double one = 1;
    assert_ok(ctx, parse_file(1, "{\"shape\":(1L,1L),\"fortran_order\":True,\"descr\":\"<f8\"}", &one, 8));
    expect_values(1, 1, &one);
    assert_ok(ctx, parse_file(1, HEADER("<f8", "False", "(0, 5)"), NULL, 0));
    assert_int_equal(table.dense.cols, 5);
    assert_ok(ctx, parse_file(1, HEADER("=f8", "False", "(1,)"), &one, 8));
}

static void faults_are_named(void **state)
{
    (void)state;
    double x[2] = {1, 2};
    assert_fails(ctx, parse_file(4, HEADER("<f8", "False", "(2,)"), x, 16), PLX_E_UNSUPPORTED, "version 4");
    assert_fails(ctx, parse_file(1, HEADER("<f8", "False", "(3,)"), x, 16), PLX_E_FORMAT,
                 "f.npy: 3 x 1 values of 8 bytes need 24 bytes, the file has 16");
    assert_fails(ctx, parse_file(1, HEADER("<f8", "False", "(1,)"), x, 16), PLX_E_FORMAT, "the file has 16");
    assert_fails(ctx, parse_file(1, HEADER("<f8", "False", "(1000000000000000000, 1000000000000000000)"), x, 16),
                 PLX_E_FORMAT, "too large");
    assert_fails(ctx, parse_file(1, HEADER("<f8", "False", "(1000000000000000000,)"), x, 16), PLX_E_FORMAT,
                 "1000000000000000000");
    assert_fails(ctx, parse_file(1, HEADER("<f8", "False", "(99999999999999999999,)"), x, 16), PLX_E_FORMAT, "shape");
    assert_fails(ctx, parse_file(1, HEADER("<f8", "False", "(-1,)"), x, 16), PLX_E_FORMAT, "shape");
    assert_fails(ctx, parse_file(1, HEADER("<f8", "False", "(1, 1, 2)"), x, 16), PLX_E_UNSUPPORTED,
                 "more than two dimensions");
    assert_fails(ctx, parse_file(1, HEADER("<f8", "False", "()"), x, 8), PLX_E_UNSUPPORTED, "single number");
    assert_fails(ctx, parse_file(1, HEADER("<f8", "False", "(9000000000000000000, 0)"), x, 0), PLX_E_FORMAT,
                 "no columns");
    assert_fails(ctx, parse_file(1, HEADER("<f8", "False", "(1"), x, 8), PLX_E_FORMAT, "'shape'");
    assert_fails(ctx, parse_file(1, HEADER("<f8", "False", "1"), x, 8), PLX_E_FORMAT, "'shape' is not a tuple");
    assert_fails(ctx, parse_file(1, HEADER("<f8", "Maybe", "(2,)"), x, 16), PLX_E_FORMAT, "fortran_order");
    assert_fails(ctx, parse_file(1, HEADER("<c16", "False", "(1,)"), x, 16), PLX_E_UNSUPPORTED, "'<c16'");
    assert_fails(ctx, parse_file(1, HEADER("|O", "False", "(1,)"), x, 16), PLX_E_UNSUPPORTED, "'|O'");
    assert_fails(ctx, parse_file(1, HEADER("<f2", "False", "(1,)"), x, 2), PLX_E_UNSUPPORTED, "'<f2'");
    assert_fails(ctx, parse_file(1, "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,)}", x, 16),
                 PLX_E_UNSUPPORTED, "structured");
    assert_fails(ctx, parse_file(1, "{'descr': '<f8', 'shape': (2,)}", x, 16), PLX_E_FORMAT, "lacks");
    assert_fails(ctx, parse_file(1, "{'descr': '<f8", x, 0), PLX_E_FORMAT, "header");
    assert_fails(ctx, plx__npy_parse(&table, ctx, plx__scratch(ctx), "f.npy", "", 0), PLX_E_FORMAT, "not a .npy file");
    assert_fails(ctx, plx__npy_parse(&table, ctx, plx__scratch(ctx), "f.npy", "\x93NUMPY\2\0\0\0", 10), PLX_E_FORMAT,
                 "ends inside");
    assert_fails(ctx, plx__npy_parse(&table, ctx, plx__scratch(ctx), "f.npy", "\x93NUMPY\1\0\xff\xff{}", 12),
                 PLX_E_FORMAT, "ends inside");
    assert_fails(ctx, plx__npy_read(&table, ctx, plx__scratch(ctx), "/nowhere/f.npy"), PLX_E_IO, "/nowhere/f.npy");
}

static void big_arrays_on_any_threads(void **state)
{
    (void)state;
    enum { R = 3000, C = 41 };
    size_t bytes = sizeof(double) * R * C;
    double *x = malloc(bytes);
    char *file = malloc(bytes + 256);
    for (int fortran = 0; fortran < 2; fortran++)
        for (int threads = 1; threads <= 3; threads++) {
            for (int i = 0; i < R; i++)
                for (int j = 0; j < C; j++) x[fortran ? j * R + i : i * C + j] = i * 1000 + j;
            plx_context *c = test_context(threads);
            size_t size =
                make_file(file, 1, fortran ? HEADER("<f8", "True", "(3000, 41)") : HEADER("<f8", "False", "(3000, 41)"),
                          x, bytes);
            assert_ok(c, plx__npy_parse(&table, c, plx__scratch(c), "f.npy", file, size));
            for (int i = 0; i < R; i++)
                for (int j = 0; j < C; j++) assert_true(table.dense.data[i * C + j] == i * 1000 + j);
            plx_context_destroy(c);
        }
    free(file);
    free(x);
}

static void written_arrays_read_back(void **state)
{
    (void)state;
    char path[SCRATCH_PATH];
    double values[] = {0.1, -0.0, 5e-324, HUGE_VAL, 3, 4};
    plx__table t = {.dense = {values, 2, 2, 3}};
    assert_ok(ctx, plx__npy_write(ctx, scratch_path(path, ".npy"), &t));
    const char *text = file_text(path);
    static const char head[] = "\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }";
    assert_memory_equal(text, head, sizeof head - 1);
    assert_int_equal(text[127], '\n');
    assert_memory_equal(text + 128, values, 16);
    assert_memory_equal(text + 144, values + 3, 16);
    assert_ok(ctx, plx__npy_read(&table, ctx, plx__scratch(ctx), path));
    expect_values(2, 2, (double[]){0.1, -0.0, HUGE_VAL, 3});
    unlink(path);
    assert_fails(ctx, plx__npy_write(ctx, "/nowhere/f.npy", &t), PLX_E_IO, "/nowhere/f.npy");
}

static plx_status write_sparse(plx__table *out, plx_context *c, plx__arena *arena, const char *path)
{
    (void)arena;
    int64_t ptr[] = {0, 1};
    int32_t col[] = {1};
    double val[] = {2};
    plx__table t = {.sparse = true, .csr = {1, 2, ptr, col, val}};
    char target[SCRATCH_PATH + 8];
    *out = (plx__table){0};
    snprintf(target, sizeof target, "%s.out", path);
    plx_status st = plx__npy_write(c, target, &t);
    assert_int_equal(plx__file_exists(target), st == PLX_OK);
    unlink(target);
    return st;
}

static void allocation_failures(void **state)
{
    (void)state;
    char path[SCRATCH_PATH], file[512];
    double x[2] = {1, 2};
    size_t size = make_file(file, 1, HEADER("<f8", "False", "(2,)"), x, sizeof x);
    write_gzip(scratch_path(path, ".npy.gz"), file, size);
    refuse_every_allocation(plx__npy_read, path);
    refuse_every_allocation(write_sparse, path);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(types_and_orders, setup, teardown),
        cmocka_unit_test_setup_teardown(every_integer_type, setup, teardown),
        cmocka_unit_test_setup_teardown(odd_but_legal_headers, setup, teardown),
        cmocka_unit_test_setup_teardown(faults_are_named, setup, teardown),
        cmocka_unit_test(big_arrays_on_any_threads),
        cmocka_unit_test_setup_teardown(written_arrays_read_back, setup, teardown),
        cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
