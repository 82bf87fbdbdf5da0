#include "reader_fixture.h"

#include "core/rng.h"
#include "io/csv.h"
#include "io/csv_scan.h"

static plx_status parse(const char *text, const plx__csv_options *options)
{
    char *copy = exact_copy(text, strlen(text));
    plx_status st = plx__csv_parse(&table, ctx, plx__scratch(ctx), "f.csv", copy, strlen(text), options);
    free(copy);
    return st;
}

static void expect_values(plx_index rows, plx_index cols, const double *values)
{
    assert_int_equal(table.dense.rows, rows);
    assert_int_equal(table.dense.cols, cols);
    for (plx_index i = 0; i < rows * cols; i++) {
        double x = table.dense.data[i];
        if (isnan(values[i]) ? !isnan(x) : x != values[i])
            fail_msg("value %d is %g, expected %g", (int)i, x, values[i]);
    }
}

/* ---- numbers ---- */

static void plain_numbers(void **state)
{
    (void)state;
    assert_ok(ctx, parse("1,2.5,-3e2\n4,5,6\n", NULL));
    expect_values(2, 3, (double[]){1, 2.5, -300, 4, 5, 6});
    assert_null(table.col_names);
    assert_null(table.row_names);
    assert_null(table.labels);
    assert_ok(ctx, parse("1,2\r\n3,4\r\n\r\n\n", NULL));
    expect_values(2, 2, (double[]){1, 2, 3, 4});
    assert_ok(ctx, parse("\xEF\xBB\xBF"
                         "7,8",
                         NULL));
    expect_values(1, 2, (double[]){7, 8});
    assert_ok(ctx, parse(" 1 , 2\t\n\"3\",\" 4\"\n", NULL));
    expect_values(2, 2, (double[]){1, 2, 3, 4});
}

static void missing_cells_are_nan(void **state)
{
    (void)state;
    assert_ok(ctx, parse("1,,nan\nNA,\"\",5\nna,NaN,-inf\n", NULL));
    expect_values(3, 3, (double[]){1, NAN, NAN, NAN, NAN, 5, NAN, NAN, -HUGE_VAL});
    assert_ok(ctx, parse("1\n\n3\n\n", NULL)); /* in one column an empty line is an empty cell, except at the end */
    expect_values(3, 1, (double[]){1, NAN, 3});
    assert_ok(ctx, parse("1,2,\n3,4,\n", NULL));
    expect_values(2, 3, (double[]){1, 2, NAN, 3, 4, NAN});
}

static void delimiters_are_found(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "1,2\n3,4\n",   "1\t2\n3\t4\n", "1;2\n3;4\n", "1 2\n3 4\n", "  1   2 \n 3\t4  \n   \n",
        "1, 2\n3, 4\n", "1 2",          "1;2"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_ok(ctx, parse(texts[i], NULL));
        assert_int_equal(table.dense.cols, 2);
        assert_true(table.dense.data[0] == 1 && table.dense.data[1] == 2);
        if (strchr(texts[i], '3')) assert_true(table.dense.rows == 2 && table.dense.data[3] == 4);
    }
    plx__csv_options o = {.delimiter = '|'};
    assert_ok(ctx, parse("1|2\n3|4\n", &o));
    expect_values(2, 2, (double[]){1, 2, 3, 4});
    assert_ok(ctx, parse("a b\n1 2\n", NULL));
    expect_values(1, 2, (double[]){1, 2});
    assert_string_equal(table.col_names[1], "b");
}

/* ---- headers and roles ---- */

static void headers_are_found(void **state)
{
    (void)state;
    assert_ok(ctx, parse("x,\"y \"\"q\"\"\"\n1,2\n", NULL));
    expect_values(1, 2, (double[]){1, 2});
    assert_string_equal(table.col_names[0], "x");
    assert_string_equal(table.col_names[1], "y \"q\"");
    plx__csv_options no = {.header = PLX__HEADER_NO}, yes = {.header = PLX__HEADER_YES};
    assert_fails(ctx, parse("x,y\n1,2\n", &no), PLX_E_FORMAT, "f.csv: line 1, column 1: 'x' is not a number");
    assert_ok(ctx, parse("1,2\n3,4\n", &yes));
    expect_values(1, 2, (double[]){3, 4});
    assert_string_equal(table.col_names[1], "2");
    assert_fails(ctx, parse("x,y\n", &yes), PLX_E_FORMAT, "no rows below the header");
    assert_ok(ctx, parse("a,b\n,\n1,2\n", NULL)); /* missing cells do not hide the header */
    expect_values(2, 2, (double[]){NAN, NAN, 1, 2});
}

static void row_names_are_found(void **state)
{
    (void)state;
    assert_ok(ctx, parse("who,x\nann,1\nbob,2\n", NULL));
    expect_values(2, 1, (double[]){1, 2});
    assert_string_equal(table.row_names[1], "bob");
    assert_string_equal(table.col_names[0], "x");
    assert_ok(ctx, parse("ann,1\nbob,2\n", NULL));
    assert_string_equal(table.row_names[0], "ann");
    assert_null(table.col_names);
    assert_ok(ctx, parse(",x\n7,1\n8,2\n", NULL)); /* an index column, as pandas writes it */
    assert_string_equal(table.row_names[1], "8");
    assert_ok(ctx, parse("x,y\nr1,1,2\nr2,3,4\n", NULL)); /* row names without a name, as R writes them */
    expect_values(2, 2, (double[]){1, 2, 3, 4});
    assert_string_equal(table.row_names[1], "r2");
    assert_string_equal(table.col_names[0], "x");
    assert_fails(ctx, parse("who,x\nann,1\nann,2\n", NULL), PLX_E_FORMAT,
                 "f.csv: line 3, column 1 ('who'): 'ann' is not a number, and as a row name it occurs twice");
}

static void columns_have_roles(void **state)
{
    (void)state;
    const char *text = "x,class,doc,key,y\n1,a,\"one, two\",k1,2\n3,?,three,k2,4\n5,NA,,k3,6\n";
    plx__csv_options o = {.id = "key", .label = "class", .text = "doc"};
    assert_ok(ctx, parse(text, &o));
    expect_values(3, 2, (double[]){1, 2, 3, 4, 5, 6});
    assert_string_equal(table.row_names[2], "k3");
    assert_string_equal(table.labels[0], "a");
    assert_null(table.labels[1]);
    assert_null(table.labels[2]);
    assert_string_equal(table.texts[0][0], "one, two");
    assert_string_equal(table.texts[0][2], "");
    assert_string_equal(table.col_names[1], "y");
    plx__csv_options by_number = {.id = "4", .label = "2", .text = "-3"};
    assert_ok(ctx, parse(text, &by_number));
    assert_string_equal(table.texts[0][1], "three");
    assert_string_equal(table.row_names[0], "k1");
    plx__csv_options wrong = {.label = "clas"}, twice = {.label = "class", .id = "2"}, far = {.label = "9"};
    assert_fails(ctx, parse(text, &wrong), PLX_E_DATA, "did you mean 'class'");
    assert_fails(ctx, parse(text, &twice), PLX_E_ARG, "asked for twice");
    assert_fails(ctx, parse("1,2\n", &far), PLX_E_DATA, "no column '9' among the 2 columns");
    plx__csv_options id = {.id = "key"};
    assert_fails(ctx, parse("key,x\n,1\n", &id), PLX_E_FORMAT, "line 2, column 1 ('key'): the row has no name");
}

/* ---- bad files ---- */

static void faults_are_named(void **state)
{
    (void)state;
    assert_fails(ctx, parse("", NULL), PLX_E_FORMAT, "f.csv: the file is empty");
    assert_fails(ctx, parse("\n\r\n\n", NULL), PLX_E_FORMAT, "empty");
    assert_fails(ctx, parse("   \n  ", NULL), PLX_E_FORMAT, "empty");
    assert_fails(ctx, parse("a,b\n1,2\n3,abc\n", NULL), PLX_E_FORMAT,
                 "f.csv: line 3, column 2 ('b'): 'abc' is not a number");
    assert_fails(ctx, parse("1,2\n3,4x\n", NULL), PLX_E_FORMAT, "line 2, column 2: '4x' is not a number");
    assert_fails(ctx, parse("1,2\n3,0x10\n", NULL), PLX_E_FORMAT, "'0x10' is not a number");
    plx__csv_options comma = {.delimiter = ','};
    assert_fails(ctx, parse("1,2,3\n4,5\n", &comma), PLX_E_FORMAT, "f.csv: line 2: found 2 fields, expected 3");
    assert_fails(ctx, parse("1,2\n3,4,5,6\n", &comma), PLX_E_FORMAT, "line 2: found 4 fields, expected 2");
    assert_fails(ctx, parse("1,2\n\n3,4\n", &comma), PLX_E_FORMAT, "line 2: found 1 field, expected 2");
    assert_fails(ctx, parse("1,2\n\"3,4\n5,6\n", &comma), PLX_E_FORMAT,
                 "line 2, column 1: a quoted cell is not closed");
    assert_fails(ctx, parse("1,2\n\"3\"x,4\n5,6\n", &comma), PLX_E_FORMAT, "line 2, column 1: a quoted cell");
    assert_fails(ctx, parse("\"a\nb\",c\n1,2\n3,x\n", &comma), PLX_E_FORMAT, "line 4, column 2 ('c'): 'x'");
    char nul[] = "1,2\n3,4\0\n";
    assert_fails(ctx, plx__csv_parse(&table, ctx, plx__scratch(ctx), "f.csv", nul, 9, NULL), PLX_E_FORMAT,
                 "line 2, column 2");
    char nul_name[] = "a\0,b\n1,2\n";
    assert_fails(ctx, plx__csv_parse(&table, ctx, plx__scratch(ctx), "f.csv", nul_name, 9, NULL), PLX_E_FORMAT,
                 "NUL byte");
    assert_fails(ctx, plx__csv_read(&table, ctx, plx__scratch(ctx), "/nowhere/x.csv", NULL), PLX_E_IO,
                 "/nowhere/x.csv");
    plx__csv_options label = {.label = "b"};
    char nul_label[] = "a,b\n1,x\0\n";
    assert_fails(ctx, plx__csv_parse(&table, ctx, plx__scratch(ctx), "f.csv", nul_label, 9, &label), PLX_E_FORMAT,
                 "NUL byte");
}

/* ---- many chunks ---- */

enum { ROWS = 30000, COLS = 7 };

static double value_at(plx_index i, plx_index j) { return plx__rng_normal(3, 1, (uint64_t)(i * COLS + j)); }

/* The text of a table large enough for many chunks; `fault` (row) gets a word in place of a number; -1: none. */
static char *big_text(size_t *size, plx_index fault, bool quoted)
{
    char *text = malloc((size_t)ROWS * COLS * 32), *p = text;
    for (plx_index i = 0; i < ROWS; i++)
        for (plx_index j = 0; j < COLS; j++) {
            const char *quote = quoted && (i + j) % 5 == 0 ? "\"" : "";
            if (i == fault && j == 3) p += sprintf(p, "oops");
            else p += sprintf(p, "%s%.17g%s", quote, value_at(i, j), quote);
            *p++ = j + 1 < COLS ? ',' : '\n';
        }
    *size = (size_t)(p - text);
    return text;
}

static void big_files_are_the_same_on_any_threads(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 7};
    for (int quoted = 0; quoted < 2; quoted++) {
        size_t size = 0;
        char *text = big_text(&size, -1, quoted);
        for (int t = 0; t < 3; t++) {
            plx_context *c = test_context(threads[t]);
            assert_ok(c, plx__csv_parse(&table, c, plx__scratch(c), "big.csv", text, size, NULL));
            assert_int_equal(table.dense.rows, ROWS);
            assert_int_equal(table.dense.cols, COLS);
            for (plx_index i = 0; i < ROWS; i++)
                for (plx_index j = 0; j < COLS; j++)
                    if (table.dense.data[i * COLS + j] != value_at(i, j)) fail_msg("(%d, %d)", (int)i, (int)j);
            plx_context_destroy(c);
        }
        free(text);
    }
}

static void lowest_fault_is_reported(void **state)
{
    (void)state;
    for (int quoted = 0; quoted < 2; quoted++) {
        size_t size = 0;
        char *text = big_text(&size, 12345, quoted);
        char *late = strstr(text + size - 1000, ",");
        *late = 'x'; /* a second fault further down */
        for (int t = 1; t <= 4; t++) {
            plx_context *c = test_context(t);
            assert_fails(c, plx__csv_parse(&table, c, plx__scratch(c), "big.csv", text, size, NULL), PLX_E_FORMAT,
                         "big.csv: line 12346, column 4: 'oops' is not a number");
            plx_context_destroy(c);
        }
        free(text);
    }
}

/* Quoted cells with line ends in them, across chunks: line numbers still count lines. */
static void line_ends_inside_quotes(void **state)
{
    (void)state;
    enum { N = 20000 };
    char *text = malloc(N * 40), *p = text;
    p += sprintf(p, "note,x\n");
    for (int i = 0; i < N; i++) p += sprintf(p, "\"line %d\nand \"\"more\"\"\",%d\n", i, i);
    plx__csv_options o = {.text = "note"};
    assert_ok(ctx, plx__csv_parse(&table, ctx, plx__scratch(ctx), "f.csv", text, (size_t)(p - text), &o));
    assert_int_equal(table.dense.rows, N);
    for (int i = 0; i < N; i++) assert_true(table.dense.data[i] == i);
    assert_string_equal(table.texts[0][N - 1], "line 19999\nand \"more\"");
    p[-2] = 'z';
    assert_fails(ctx, plx__csv_parse(&table, ctx, plx__scratch(ctx), "f.csv", text, (size_t)(p - text), &o),
                 PLX_E_FORMAT, "line 40000, column 2 ('x'): '1999z'");
    free(text);
}

/* ---- strings ---- */

static plx_status parse_strings(plx__strings *out, const char *text, const plx__csv_options *options)
{
    char *copy = exact_copy(text, strlen(text));
    plx_status st = plx__csv_parse_strings(out, ctx, plx__scratch(ctx), "f.csv", copy, strlen(text), options);
    free(copy);
    return st;
}

static void string_tables(void **state)
{
    (void)state;
    plx__strings s;
    plx__csv_options yes = {.header = PLX__HEADER_YES};
    assert_ok(ctx, parse_strings(&s, "id,label,score\na,\"x,\"\"y\"\"\",0.50\nb,,1\n", NULL));
    assert_int_equal(s.rows, 2);
    assert_int_equal(s.cols, 3);
    assert_string_equal(s.header[1], "label");
    assert_int_equal(plx__strings_column(&s, "score"), 2);
    assert_int_equal(plx__strings_column(&s, "no"), -1);
    assert_string_equal(s.cells[1], "x,\"y\"");
    assert_string_equal(s.cells[2], "0.50");
    assert_string_equal(s.cells[4], "");
    assert_ok(ctx, parse_strings(&s, "cat\ndog\n?\n", NULL));
    assert_int_equal(s.rows, 3);
    assert_null(s.header);
    assert_string_equal(s.cells[1], "dog");
    assert_int_equal(plx__strings_column(&s, "cat"), -1);
    assert_ok(ctx, parse_strings(&s, "cat food\ndog\n", NULL)); /* blanks are no delimiter of texts */
    assert_string_equal(s.cells[0], "cat food");
    assert_ok(ctx, parse_strings(&s, "name\ndog\n", &yes));
    assert_string_equal(s.header[0], "name");
    assert_fails(ctx, parse_strings(&s, "a,b\nc\n", NULL), PLX_E_FORMAT, "line 2: found 1 field, expected 2");
    assert_fails(ctx, parse_strings(&s, "a,b\nc,d,e\n", NULL), PLX_E_FORMAT, "line 2: found 3 fields, expected 2");
    assert_fails(ctx, parse_strings(&s, "", NULL), PLX_E_FORMAT, "empty");
}

static void big_string_tables(void **state)
{
    (void)state;
    enum { N = 50000 };
    char *text = malloc(N * 40), *p = text;
    for (int i = 0; i < N; i++) p += sprintf(p, i % 7 ? "row %d,%d\n" : "\"row %d\",\"%d\"\n", i, i * 3);
    plx__strings s;
    assert_ok(ctx, plx__csv_parse_strings(&s, ctx, plx__scratch(ctx), "f.csv", text, (size_t)(p - text), NULL));
    assert_int_equal(s.rows, N);
    for (int i = 0; i < N; i++) {
        char expected[40];
        sprintf(expected, "row %d", i);
        assert_string_equal(s.cells[2 * i], expected);
        assert_int_equal(atoi(s.cells[2 * i + 1]), i * 3);
    }
    free(text);
}

/* ---- files, gzip, writing, memory ---- */

static void files_plain_and_gzipped(void **state)
{
    (void)state;
    char path[SCRATCH_PATH];
    plx__strings s;
    const char *text = "a,b\n1,2\n3,4\n";
    for (int gz = 0; gz < 2; gz++) {
        scratch_path(path, gz ? ".csv.gz" : ".csv");
        if (gz) write_gzip(path, text, strlen(text));
        else write_bytes(path, text, strlen(text));
        assert_ok(ctx, plx__csv_read(&table, ctx, plx__scratch(ctx), path, NULL));
        expect_values(2, 2, (double[]){1, 2, 3, 4});
        assert_ok(ctx, plx__csv_read_strings(&s, ctx, plx__scratch(ctx), path, NULL));
        assert_string_equal(s.cells[3], "4");
        unlink(path);
    }
}

static void written_tables_read_back(void **state)
{
    (void)state;
    char path[SCRATCH_PATH];
    double values[] = {0.1, -0.0, NAN, 1e300, 5e-324, 1.0 / 3};
    const char *rows[] = {"a,b", "c \"d\""}, *cols[] = {"x", "y\nz", " w"}, *labels[] = {"l1", NULL};
    plx__table t = {.dense = {values, 2, 3, 3}, .row_names = rows, .col_names = cols, .labels = labels};
    assert_ok(ctx, plx__csv_write_table(ctx, scratch_path(path, ".csv"), &t, ','));
    assert_string_equal(file_text(path),
                        "id,x,\"y\nz\",\" w\",label\n"
                        "\"a,b\",0.10000000000000001,-0,nan,l1\n"
                        "\"c \"\"d\"\"\",1.0000000000000001e+300,4.9406564584124654e-324,0.33333333333333331,?\n");
    plx__csv_options o = {.id = "id", .label = "label"};
    assert_ok(ctx, plx__csv_read(&table, ctx, plx__scratch(ctx), path, &o));
    assert_memory_equal(&table.dense.data[0], &values[0], 2 * sizeof(double));
    assert_memory_equal(&table.dense.data[3], &values[3], 3 * sizeof(double));
    assert_string_equal(table.row_names[1], rows[1]);
    assert_string_equal(table.col_names[2], " w");
    assert_null(table.labels[1]);
    unlink(path);
    plx_cmat m = {values, 2, 2, 3};
    assert_ok(ctx, plx__csv_write(ctx, scratch_path(path, ".tsv"), m, NULL, NULL));
    assert_string_equal(file_text(path), "0.10000000000000001\t-0\n1.0000000000000001e+300\t4.9406564584124654e-324\n");
    unlink(path);
    int64_t ptr[] = {0, 1, 1};
    int32_t col[] = {1};
    double val[] = {2.5};
    plx__table sparse = {.sparse = true, .csr = {2, 3, ptr, col, val}, .labels = labels};
    assert_ok(ctx, plx__csv_write_table(ctx, scratch_path(path, ".csv"), &sparse, ','));
    assert_string_equal(file_text(path), "x1,x2,x3,label\n0,2.5,0,l1\n0,0,0,?\n");
    unlink(path);
    assert_fails(ctx, plx__csv_write(ctx, "/nowhere/x.csv", m, NULL, NULL), PLX_E_IO, "/nowhere/x.csv");
}

static void big_tables_round_trip(void **state)
{
    (void)state;
    char path[SCRATCH_PATH];
    enum { R = 120000, C = 8 };
    double *x = malloc(sizeof(double) * R * C);
    for (int i = 0; i < R * C; i++) x[i] = plx__rng_normal(9, 9, (uint64_t)i);
    plx_cmat m = {x, R, C, C};
    assert_ok(ctx, plx__csv_write(ctx, scratch_path(path, ".csv"), m, NULL, NULL));
    assert_ok(ctx, plx__csv_read(&table, ctx, plx__scratch(ctx), path, NULL));
    assert_int_equal(table.dense.rows, R);
    assert_memory_equal(table.dense.data, x, sizeof(double) * R * C);
    unlink(path);
    free(x);
}

static int stop_at_once(const plx_progress *p, void *payload)
{
    (void)p;
    (*(int *)payload)++;
    return 1;
}

static void big_files_report_and_stop(void **state)
{
    (void)state;
    size_t size = 0;
    char *text = big_text(&size, -1, false);
    size_t copies = 20;
    char *more = malloc(size * copies);
    for (size_t i = 0; i < copies; i++) memcpy(more + i * size, text, size);
    int calls = 0;
    plx_context_set_progress(ctx, stop_at_once, &calls);
    assert_fails(ctx, plx__csv_parse(&table, ctx, plx__scratch(ctx), "big.csv", more, size * copies, NULL),
                 PLX_E_CANCELLED, "cancelled");
    assert_int_equal(calls, 1);
    assert_null(table.dense.data);
    free(more);
    free(text);
}

static plx_status read_with_roles(plx__table *out, plx_context *c, plx__arena *arena, const char *path)
{
    plx__csv_options o = {.id = "key", .label = "class", .text = "doc"};
    return plx__csv_read(out, c, arena, path, &o);
}

static plx_status read_plain(plx__table *out, plx_context *c, plx__arena *arena, const char *path)
{
    return plx__csv_read(out, c, arena, path, NULL);
}

static plx_status read_as_strings(plx__table *out, plx_context *c, plx__arena *arena, const char *path)
{
    plx__strings s;
    *out = (plx__table){0};
    return plx__csv_read_strings(&s, c, arena, path, NULL);
}

static plx_status write_table(plx__table *out, plx_context *c, plx__arena *arena, const char *path)
{
    (void)arena;
    char target[SCRATCH_PATH + 8];
    static const char *const names[] = {"a", "b"};
    double values[] = {1, 2, 3, 4};
    plx__table t = {.dense = {values, 2, 2, 2}, .row_names = names, .col_names = names};
    *out = (plx__table){0};
    snprintf(target, sizeof target, "%s.out", path);
    plx_status st = plx__csv_write_table(c, target, &t, ',');
    assert_int_equal(plx__file_exists(target), st == PLX_OK);
    unlink(target);
    return st;
}

static void allocation_failures(void **state)
{
    (void)state;
    char path[SCRATCH_PATH];
    const char *text = "x,class,doc,key\n1,a,\"one, two\",k1\n3,?,three,k2\n", *named = "who,x\nann,1\nbob,2\n";
    write_gzip(scratch_path(path, ".csv.gz"), text, strlen(text));
    refuse_every_allocation(read_with_roles, path);
    refuse_every_allocation(read_as_strings, path);
    refuse_every_allocation(write_table, path);
    write_bytes(path, named, strlen(named));
    refuse_every_allocation(read_plain, path);
    unlink(path);
}

static void memory_limit_is_told_before_reading(void **state)
{
    (void)state;
    size_t size = 0;
    char *text = big_text(&size, -1, false);
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    o.memory_limit = 1 << 19;
    plx_context *c = NULL;
    assert_int_equal(plx_context_create(&c, &o), PLX_OK);
    assert_fails(c, plx__csv_parse(&table, c, plx__scratch(c), "big.csv", text, size, NULL), PLX_E_NOMEM,
                 "big.csv: a matrix of 30000 x 7");
    plx_context_destroy(c);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(plain_numbers, setup, teardown),
        cmocka_unit_test_setup_teardown(missing_cells_are_nan, setup, teardown),
        cmocka_unit_test_setup_teardown(delimiters_are_found, setup, teardown),
        cmocka_unit_test_setup_teardown(headers_are_found, setup, teardown),
        cmocka_unit_test_setup_teardown(row_names_are_found, setup, teardown),
        cmocka_unit_test_setup_teardown(columns_have_roles, setup, teardown),
        cmocka_unit_test_setup_teardown(faults_are_named, setup, teardown),
        cmocka_unit_test_setup_teardown(big_files_are_the_same_on_any_threads, setup, teardown),
        cmocka_unit_test_setup_teardown(lowest_fault_is_reported, setup, teardown),
        cmocka_unit_test_setup_teardown(line_ends_inside_quotes, setup, teardown),
        cmocka_unit_test_setup_teardown(string_tables, setup, teardown),
        cmocka_unit_test_setup_teardown(big_string_tables, setup, teardown),
        cmocka_unit_test_setup_teardown(files_plain_and_gzipped, setup, teardown),
        cmocka_unit_test_setup_teardown(written_tables_read_back, setup, teardown),
        cmocka_unit_test_setup_teardown(big_tables_round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(big_files_report_and_stop, setup, teardown),
        cmocka_unit_test(allocation_failures),
        cmocka_unit_test(memory_limit_is_told_before_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
