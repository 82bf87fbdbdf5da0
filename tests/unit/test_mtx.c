#include "reader_fixture.h"

#include "core/rng.h"
#include "io/mtx.h"

static plx_status parse(const char *text)
{
    char *copy = exact_copy(text, strlen(text));
    plx_status st = plx__mtx_parse(&table, ctx, plx__scratch(ctx), "f.mtx", copy, strlen(text));
    free(copy);
    return st;
}

static double at(plx_index i, plx_index j)
{
    if (!table.sparse) return table.dense.data[i * table.dense.ld + j];
    for (plx_index k = table.csr.ptr[i]; k < table.csr.ptr[i + 1]; k++)
        if (table.csr.col[k] == j) return table.csr.val[k];
    return 0;
}

static void expect_matrix(plx_index rows, plx_index cols, const double *values)
{
    assert_int_equal(table.sparse ? table.csr.rows : table.dense.rows, rows);
    assert_int_equal(table.sparse ? table.csr.cols : table.dense.cols, cols);
    for (plx_index i = 0; i < rows; i++)
        for (plx_index j = 0; j < cols; j++)
            if (at(i, j) != values[i * cols + j]) fail_msg("(%d, %d) is %g", (int)i, (int)j, at(i, j));
}

/* ptr ascends from 0, columns ascend strictly and lie inside. */
static void expect_valid_csr(void)
{
    assert_true(table.sparse);
    assert_int_equal(table.csr.ptr[0], 0);
    for (plx_index i = 0; i < table.csr.rows; i++) {
        assert_true(table.csr.ptr[i] <= table.csr.ptr[i + 1]);
        for (plx_index k = table.csr.ptr[i]; k < table.csr.ptr[i + 1]; k++) {
            assert_true(table.csr.col[k] >= 0 && table.csr.col[k] < table.csr.cols);
            if (k > table.csr.ptr[i]) assert_true(table.csr.col[k] > table.csr.col[k - 1]);
        }
    }
}

static void coordinate_files(void **state)
{
    (void)state;
    assert_ok(
        ctx,
        parse("%%MatrixMarket matrix coordinate real general\n% note\n\n2 3 3\n2 3 -1.5\n1 1 2\n\n% more\n2 1 4e2\n"));
    expect_valid_csr();
    expect_matrix(2, 3, (double[]){2, 0, 0, 400, 0, -1.5});
    assert_int_equal(table.csr.ptr[2], 3);
    assert_ok(ctx, parse("%%matrixmarket MATRIX Coordinate Integer General\r\n2 2 2\r\n1 2 3\r\n  2\t1   4  \r\n"));
    expect_matrix(2, 2, (double[]){0, 3, 4, 0});
    assert_ok(ctx, parse("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 2"));
    expect_matrix(2, 2, (double[]){0, 1, 0, 1});
    assert_ok(ctx, parse("%%MatrixMarket matrix coordinate real general\n3 4 0\n"));
    assert_int_equal(table.csr.ptr[3], 0);
    assert_int_equal(table.csr.cols, 4);
    assert_ok(ctx, parse("%%MatrixMarket matrix coordinate real general\n0 0 0\n"));
    assert_int_equal(table.csr.rows, 0);
}

static void duplicates_are_added(void **state)
{
    (void)state;
    assert_ok(ctx, parse("%%MatrixMarket matrix coordinate real general\n2 3 5\n2 2 1\n1 3 5\n2 2 2\n2 1 9\n2 2 4\n"));
    expect_valid_csr();
    expect_matrix(2, 3, (double[]){0, 0, 5, 9, 7, 0});
    assert_int_equal(table.csr.ptr[2], 3);
}

static void symmetries_are_expanded(void **state)
{
    (void)state;
    assert_ok(ctx, parse("%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1\n2 1 2\n3 2 3\n"));
    expect_valid_csr();
    expect_matrix(3, 3, (double[]){1, 2, 0, 2, 0, 3, 0, 3, 0});
    assert_ok(ctx, parse("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 2\n"));
    expect_matrix(2, 2, (double[]){0, -2, 2, 0});
    assert_ok(ctx, parse("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n"));
    expect_matrix(3, 3, (double[]){1, 2, 3, 2, 4, 5, 3, 5, 6});
    assert_ok(ctx, parse("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n"));
    expect_matrix(3, 3, (double[]){0, -1, -2, 1, 0, -3, 2, 3, 0});
}

static void array_files(void **state)
{
    (void)state;
    assert_ok(ctx, parse("%%MatrixMarket matrix array real general\n%\n2 3\n1\n2\n\n3\n4\n5\n6\n"));
    assert_false(table.sparse);
    expect_matrix(2, 3, (double[]){1, 3, 5, 2, 4, 6});
    assert_ok(ctx, parse("%%MatrixMarket matrix array integer general\n0 3\n"));
    assert_int_equal(table.dense.rows, 0);
}

static void faults_are_named(void **state)
{
    (void)state;
#define COORDINATE "%%MatrixMarket matrix coordinate real general\n"
    static const struct {
        const char *text;
        plx_status status;
        const char *word;
    } cases[] = {
        {"", PLX_E_FORMAT, "f.mtx: the file is empty"},
        {"1 2 3\n", PLX_E_FORMAT, "must start with %%MatrixMarket"},
        {"%%MatrixMarket vector coordinate real general\n", PLX_E_FORMAT, "unknown object 'vector'"},
        {"%%MatrixMarket matrix sparse real general\n", PLX_E_FORMAT, "unknown layout 'sparse'"},
        {"%%MatrixMarket matrix coordinate complex general\n", PLX_E_UNSUPPORTED, "complex"},
        {"%%MatrixMarket matrix coordinate real hermitian\n", PLX_E_FORMAT, "unknown symmetry 'hermitian'"},
        {"%%MatrixMarket matrix coordinate quaternion general\n", PLX_E_FORMAT, "unknown kind of value"},
        {"%%MatrixMarket matrix array pattern general\n", PLX_E_FORMAT, "pattern"},
        {"%%MatrixMarket matrix coordinate real\n1 1 1\n", PLX_E_FORMAT, "unknown symmetry ''"},
        {COORDINATE, PLX_E_FORMAT, "ends before the line of sizes"},
        {COORDINATE "2 3\n", PLX_E_FORMAT, "f.mtx: line 2: expected three whole numbers"},
        {COORDINATE "2 3 x\n", PLX_E_FORMAT, "line 2"},
        {COORDINATE "2 3 1 4\n", PLX_E_FORMAT, "line 2: more than 3 sizes"},
        {COORDINATE "-2 3 1\n1 1 1\n", PLX_E_FORMAT, "negative"},
        {COORDINATE "2000000000 0 0\n", PLX_E_FORMAT, "line 2: the matrix has no columns"},
        {COORDINATE "1000000000000000000 3 1\n1 1 1\n", PLX_E_UNSUPPORTED,
         "line 2: 1000000000000000000 x 3 is too large"},
        {COORDINATE "99999999999999999999999 3 1\n1 1 1\n", PLX_E_FORMAT, "line 2"},
        {COORDINATE "3 3 1000000000000000000\n1 1 1\n", PLX_E_FORMAT, "line 3: the file ends after"},
        {COORDINATE "2 3 2\n1 1 1\n", PLX_E_FORMAT, "line 3: the file ends after at most 1 of the 2 entries"},
        {COORDINATE "2 3 2\n1 1 1\n\n", PLX_E_FORMAT, "line 4: the file ends after 1 of the 2 entries"},
        {COORDINATE "2 3 1\n1 1 1\n%\n\n2 2 2\n1 2 3\n", PLX_E_FORMAT, "line 6: more entries than the 1 announced"},
        {COORDINATE "2 3 1\n3 1 1\n", PLX_E_FORMAT, "line 3: place (3, 1) is outside the 2 x 3 matrix"},
        {COORDINATE "2 3 1\n1 0 1\n", PLX_E_FORMAT, "line 3: place (1, 0) is outside"},
        {COORDINATE "2 3 1\n-1 1 1\n", PLX_E_FORMAT, "line 3: place (-1, 1)"},
        {COORDINATE "2 3 1\n1 1\n", PLX_E_FORMAT, "line 3: '1 1' is not 'row column number'"},
        {COORDINATE "2 3 1\n1 1 1 1\n", PLX_E_FORMAT, "line 3: '1 1 1 1'"},
        {COORDINATE "2 3 1\n1 1 abc\n", PLX_E_FORMAT, "line 3: '1 1 abc'"},
        {COORDINATE "2 3 1\n1 1.5 1\n", PLX_E_FORMAT, "line 3"},
        {COORDINATE "2 3 1\n1\n", PLX_E_FORMAT, "line 3: '1'"},
        {COORDINATE "2 3 1\n1000000000000000000000000 1 1\n", PLX_E_FORMAT, "line 3"},
        {"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n", PLX_E_FORMAT,
         "line 3: '1 1 1.5' is not 'row column integer'"},
        {"%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1 1\n", PLX_E_FORMAT, "is not 'row column'"},
        {"%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n", PLX_E_FORMAT, "square"},
        {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 1\n", PLX_E_FORMAT,
         "no entry on its diagonal"},
        {"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", PLX_E_FORMAT,
         "the file ends after at most 3 of the 4"},
        {"%%MatrixMarket matrix array real general\n1 1\n1\n2\n", PLX_E_FORMAT,
         "line 4: more entries than the 1 announced"},
        {"%%MatrixMarket matrix array real general\n1 1\n1 2\n", PLX_E_FORMAT, "line 3: '1 2' is not one number"},
        {"%%MatrixMarket matrix array real general\n1000000000 1000000000\n1\n", PLX_E_FORMAT,
         "the file ends after at most 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_fails(ctx, parse(cases[i].text), cases[i].status, cases[i].word);
        assert_null(table.csr.ptr);
        assert_null(table.dense.data);
    }
    char nul[] = COORDINATE "1 1 1\n1 1\0 1\n";
    assert_fails(ctx, plx__mtx_parse(&table, ctx, plx__scratch(ctx), "f.mtx", nul, sizeof nul - 1), PLX_E_FORMAT,
                 "line 3");
    assert_fails(ctx, plx__mtx_read(&table, ctx, plx__scratch(ctx), "/nowhere/f.mtx"), PLX_E_IO, "/nowhere/f.mtx");
}

static void sizes_are_checked_against_the_memory_limit(void **state)
{
    (void)state;
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    o.memory_limit = 1 << 24;
    plx_context *c = NULL;
    const char *text = COORDINATE "2000000000 3 1\n1 1 1\n";
    assert_int_equal(plx_context_create(&c, &o), PLX_OK);
    assert_fails(c, plx__mtx_parse(&table, c, plx__scratch(c), "f.mtx", text, strlen(text)), PLX_E_NOMEM,
                 "f.mtx: line 2: a matrix of 2000000000 x 3");
    plx_context_destroy(c);
}

/* ---- against brute force ---- */

enum { ENTRIES = 150000, SIDE = 700 };

/* Random places, many twice; the dense sum is formed in file order, which fixes the rounding. */
static char *random_file(size_t *size, double *dense, plx_index rows, plx_index cols, const char *symmetry)
{
    char *text = malloc((size_t)ENTRIES * 48 + 200), *p = text;
    bool symmetric = strcmp(symmetry, "symmetric") == 0;
    p += sprintf(p, "%%%%MatrixMarket matrix coordinate real %s\n%d %d %d\n", symmetry, (int)rows, (int)cols, ENTRIES);
    for (int k = 0; k < ENTRIES; k++) {
        plx_index i = (plx_index)(plx__rng_u64(1, 2, (uint64_t)k) % (uint64_t)rows),
                  j = (plx_index)(plx__rng_u64(1, 3, (uint64_t)k) % (uint64_t)cols);
        double v = plx__rng_normal(1, 4, (uint64_t)k);
        p += sprintf(p, "%d %d %.17g\n", (int)i + 1, (int)j + 1, v);
        dense[i * cols + j] += v;
        if (symmetric && i != j) dense[j * cols + i] += v;
        if (k % 1000 == 0) p += sprintf(p, "%% comment\n\n");
    }
    *size = (size_t)(p - text);
    return text;
}

static void random_files_equal_brute_force_on_any_threads(void **state)
{
    (void)state;
    static const struct {
        plx_index rows, cols;
        const char *symmetry;
    } shapes[] = {{SIDE, SIDE, "general"}, {SIDE, SIDE, "symmetric"}, {3, 100000, "general"}, {100000, 3, "general"}};
    static const int threads[] = {1, 2, 7};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        plx_index rows = shapes[s].rows, cols = shapes[s].cols;
        double *dense = calloc((size_t)(rows * cols), sizeof *dense);
        size_t size = 0;
        char *text = random_file(&size, dense, rows, cols, shapes[s].symmetry);
        for (int t = 0; t < 3; t++) {
            plx_context *c = test_context(threads[t]);
            assert_ok(c, plx__mtx_parse(&table, c, plx__scratch(c), "r.mtx", text, size));
            expect_valid_csr();
            plx_index nonzeros = 0;
            for (plx_index i = 0; i < rows * cols; i++) nonzeros += dense[i] != 0;
            assert_int_equal(table.csr.ptr[rows], nonzeros);
            for (plx_index i = 0; i < rows; i++)
                for (plx_index k = table.csr.ptr[i]; k < table.csr.ptr[i + 1]; k++)
                    if (table.csr.val[k] != dense[i * cols + table.csr.col[k]])
                        fail_msg("row %d, entry %d", (int)i, (int)k);
            plx_context_destroy(c);
        }
        free(text);
        free(dense);
    }
}

static void lowest_fault_is_reported(void **state)
{
    (void)state;
    double *dense = calloc((size_t)SIDE * SIDE, sizeof *dense);
    size_t size = 0;
    char *text = random_file(&size, dense, SIDE, SIDE, "general");
    const char *place = text;
    int line = 1;
    for (; line < 30000; line++) place = strchr(place, '\n') + 1;
    while (*place == '%' || *place == '\n') {
        place = strchr(place, '\n') + 1;
        line++;
    }
    text[place - text] = 'x';
    text[size - 10] = 'y';
    for (int t = 1; t <= 4; t++) {
        char expected[64];
        plx_context *c = test_context(t);
        sprintf(expected, "r.mtx: line %d: 'x", line);
        assert_fails(c, plx__mtx_parse(&table, c, plx__scratch(c), "r.mtx", text, size), PLX_E_FORMAT, expected);
        plx_context_destroy(c);
    }
    free(text);
    free(dense);
}

/* ---- files ---- */

static void written_matrices_read_back(void **state)
{
    (void)state;
    char path[SCRATCH_PATH];
    int64_t ptr[] = {0, 2, 2, 3};
    int32_t col[] = {0, 3, 1};
    double val[] = {0.1, -1e300, 5e-324}, dense[] = {1, 2, 3, 4, 5.5, NAN};
    plx__table sparse = {.sparse = true, .csr = {3, 4, ptr, col, val}}, full = {.dense = {dense, 2, 3, 3}};
    assert_ok(ctx, plx__mtx_write(ctx, scratch_path(path, ".mtx"), &sparse));
    assert_string_equal(file_text(path), COORDINATE
                        "3 4 3\n1 1 0.10000000000000001\n1 4 -1.0000000000000001e+300\n3 2 4.9406564584124654e-324\n");
    assert_ok(ctx, plx__mtx_read(&table, ctx, plx__scratch(ctx), path));
    assert_memory_equal(table.csr.ptr, ptr, sizeof ptr);
    assert_memory_equal(table.csr.col, col, sizeof col);
    assert_memory_equal(table.csr.val, val, sizeof val);
    assert_ok(ctx, plx__mtx_write(ctx, path, &full));
    assert_string_equal(file_text(path), "%%MatrixMarket matrix array real general\n2 3\n1\n4\n2\n5.5\n3\nnan\n");
    assert_ok(ctx, plx__mtx_read(&table, ctx, plx__scratch(ctx), path));
    assert_memory_equal(table.dense.data, dense, 5 * sizeof(double));
    assert_true(isnan(table.dense.data[5]));
    unlink(path);
    assert_fails(ctx, plx__mtx_write(ctx, "/nowhere/f.mtx", &full), PLX_E_IO, "/nowhere/f.mtx");
}

static void allocation_failures(void **state)
{
    (void)state;
    char path[SCRATCH_PATH];
    const char *text = COORDINATE "3 3 4\n3 1 1\n2 2 2\n3 1 4\n1 3 2\n",
               *array = "%%MatrixMarket matrix array real general\n2 1\n1\n2\n";
    write_gzip(scratch_path(path, ".mtx.gz"), text, strlen(text));
    refuse_every_allocation(plx__mtx_read, path);
    write_bytes(path, array, strlen(array));
    refuse_every_allocation(plx__mtx_read, path);
    unlink(path);
}

/* ---- the format by name and content ---- */

static void formats_are_recognised(void **state)
{
    (void)state;
    static const struct {
        const char *ending, *text;
        bool sparse;
        plx_index rows, cols;
    } cases[] = {{".mtx", COORDINATE "2 3 1\n1 1 1\n", true, 2, 3},
                 {".MTX.gz", COORDINATE "2 3 1\n1 1 1\n", true, 2, 3},
                 {"", COORDINATE "2 3 1\n1 1 1\n", true, 2, 3},
                 {".csv", "1,2\n3,4\n", false, 2, 2},
                 {".tsv.gz", "1\t2\n3\t4\n", false, 2, 2},
                 {".txt", "1 2 3\n3 4 5\n", false, 2, 3},
                 {".dat", "# note\n+1 1:2 3:4\n-1 2:1\n", true, 2, 3},
                 {".svm", "+1 1:2 3:4\n", true, 1, 3},
                 {".libsvm.gz", "+1 1:2 3:4\n", true, 1, 3},
                 {".svmlight", "a 1:1\n", true, 1, 1},
                 {".data", "a;1;2\nb;3;4\n", false, 2, 2}};
    char path[SCRATCH_PATH];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scratch_path(path, cases[i].ending);
        if (strstr(cases[i].ending, ".gz")) write_gzip(path, cases[i].text, strlen(cases[i].text));
        else write_bytes(path, cases[i].text, strlen(cases[i].text));
        assert_ok(ctx, plx__matrix_file_read(&table, ctx, plx__scratch(ctx), path, NULL));
        assert_int_equal(table.sparse, cases[i].sparse);
        assert_int_equal(table.sparse ? table.csr.rows : table.dense.rows, cases[i].rows);
        assert_int_equal(table.sparse ? table.csr.cols : table.dense.cols, cases[i].cols);
        unlink(path);
    }
    write_bytes(scratch_path(path, ".parquet"), "PAR1\0\1\2\3", 8);
    assert_fails(ctx, plx__matrix_file_read(&table, ctx, plx__scratch(ctx), path, NULL), PLX_E_FORMAT,
                 "known are .csv .tsv .mtx .npy");
    write_bytes(path, "", 0);
    assert_fails(ctx, plx__matrix_file_read(&table, ctx, plx__scratch(ctx), path, NULL), PLX_E_FORMAT, "empty");
    write_bytes(path, "4\n1,2,3\n", 8); /* 1,2 would be a number with a decimal comma */
    plx__matrix_options mtx = {.format = "mtx"}, unknown = {.format = "xls"}, tsv = {.format = "tsv"};
    assert_fails(ctx, plx__matrix_file_read(&table, ctx, plx__scratch(ctx), path, &mtx), PLX_E_FORMAT, "Matrix Market");
    assert_fails(ctx, plx__matrix_file_read(&table, ctx, plx__scratch(ctx), path, &unknown), PLX_E_ARG, "format 'xls'");
    assert_fails(ctx, plx__matrix_file_read(&table, ctx, plx__scratch(ctx), path, &tsv), PLX_E_FORMAT,
                 "'1,2,3' is not a number");
    unlink(path);
}

static void every_written_format_reads_back(void **state)
{
    (void)state;
    static const char *const endings[] = {".csv", ".tsv", ".mtx", ".npy", ".svm", ".svmlight", ".libsvm", ""};
    double values[] = {1, 0, 2.5, 0, 0, -3};
    int64_t ptr[] = {0, 2, 3};
    int32_t col[] = {0, 2, 2};
    double val[] = {1, 2.5, -3};
    char path[SCRATCH_PATH];
    plx__table tables[] = {{.dense = {values, 2, 3, 3}}, {.sparse = true, .csr = {2, 3, ptr, col, val}}};
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
            assert_ok(ctx, plx__matrix_file_write(ctx, scratch_path(path, endings[i]), &tables[t]));
            assert_ok(ctx, plx__matrix_file_read(&table, ctx, plx__scratch(ctx), path, NULL));
            expect_matrix(2, 3, values);
            unlink(path);
        }
    assert_fails(ctx, plx__matrix_file_write(ctx, "/tmp/x.csv.gz", &tables[0]), PLX_E_UNSUPPORTED, "gzip");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(coordinate_files, setup, teardown),
        cmocka_unit_test_setup_teardown(duplicates_are_added, setup, teardown),
        cmocka_unit_test_setup_teardown(symmetries_are_expanded, setup, teardown),
        cmocka_unit_test_setup_teardown(array_files, setup, teardown),
        cmocka_unit_test_setup_teardown(faults_are_named, setup, teardown),
        cmocka_unit_test(sizes_are_checked_against_the_memory_limit),
        cmocka_unit_test(random_files_equal_brute_force_on_any_threads),
        cmocka_unit_test(lowest_fault_is_reported),
        cmocka_unit_test_setup_teardown(written_matrices_read_back, setup, teardown),
        cmocka_unit_test(allocation_failures),
        cmocka_unit_test_setup_teardown(formats_are_recognised, setup, teardown),
        cmocka_unit_test_setup_teardown(every_written_format_reads_back, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
