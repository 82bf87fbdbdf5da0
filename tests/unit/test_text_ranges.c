/* Text files that several ranks read, each a range of lines: the data set, or the one line that says why there is none,
 * is that of a single process, wherever the ranges begin. */
#include "divided_helpers.h"

#ifdef PLX_CHECKED
enum { PANES = 4, ROUNDS = 60 };
#else
enum { PANES = 0, ROUNDS = 60 }; /* panes are long: see test_divided.c */
#endif
enum { LINES = PANES * PLX__PANE_ROWS + 23, FILES = 400 };

typedef struct sample_file {
    const char *name;
    char *text;
    size_t size;
} sample_file;

static sample_file files[FILES];
static int n_files;

static void add_bytes(const char *name, const char *text, size_t size)
{
    assert_true(n_files < FILES);
    files[n_files] = (sample_file){name, malloc(size + 1), size};
    memcpy(files[n_files++].text, text, size);
}

static void add_text(const char *name, const char *text) { add_bytes(name, text, strlen(text)); }

static void forget_files(void)
{
    while (n_files) free(files[--n_files].text);
}

/* ---- comparing ---- */

static plx_status read_file(plx_dataset **out, plx_context *ctx, const char *path, int own_rows)
{
    plx_read_options o = PLX_READ_OPTIONS_INIT;
    o.own_rows = own_rows;
    return plx_dataset_read(out, ctx, path, &o);
}

static void assert_same_text(const char *a, const char *b)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a) assert_string_equal(a, b);
}

static void assert_same_samples(const plx_dataset *a, const plx_dataset *b)
{
    assert_int_equal(a->ids == NULL, b->ids == NULL);
    assert_int_equal(a->n_classes, b->n_classes);
    for (plx_index c = 0; c < a->n_classes; c++) assert_string_equal(a->classes[c], b->classes[c]);
    for (plx_index i = 0; i < a->n; i++) {
        if (a->ids) assert_string_equal(a->ids[i], b->ids[i]);
        assert_same_text(plx_dataset_label(a, i), plx_dataset_label(b, i));
        assert_same_text(plx_dataset_truth(a, i), plx_dataset_truth(b, i));
    }
}

static void assert_same_views(rank_job *job, const plx_dataset *part, const plx_dataset *whole)
{
    assert_int_equal(part->n, whole->n);
    assert_int_equal(part->n_views, whole->n_views);
    for (plx_index v = 0; v < whole->n_views; v++) {
        assert_string_equal(part->views[v].name, whole->views[v].name);
        assert_part_of(job, &part->views[v], &whole->views[v], whole->n);
        for (plx_index j = 0; whole->views[v].features && j < whole->views[v].cols; j++)
            assert_string_equal(part->views[v].features[j], whole->views[v].features[j]);
    }
}

/* Read together, and by every rank alone. */
static void compare(rank_job *job, const char *path, const char *said)
{
    plx_dataset *part = NULL, *whole = NULL;
    char message[PLX__ERROR_BYTES];
    plx_status expected = read_file(&whole, job->ctx, path, 0);
    snprintf(message, sizeof message, "%s", plx_context_error(job->ctx));
    plx_status st = read_file(&part, job->ctx, path, 1);
    if (st != expected || strcmp(message, plx_context_error(job->ctx)) != 0)
        fail_msg("%s, rank %d of %d: '%s', alone '%s'; the text: %s", path, job->rank, job->ranks,
                 plx_context_error(job->ctx), message, said);
    if (expected == PLX_OK) {
        assert_same_views(job, part, whole);
        assert_same_samples(part, whole);
    }
    plx_dataset_destroy(part);
    plx_dataset_destroy(whole);
}

static void compare_all(rank_job *job)
{
    for (int f = 0; f < n_files; f++) {
        char path[160], shown[200];
        snprintf(path, sizeof path, "%s/%d_%s", job->folder, f, files[f].name);
        snprintf(shown, sizeof shown, "%.*s", (int)files[f].size, files[f].text);
        compare(job, path, shown);
    }
}

static void write_files(const char *folder)
{
    for (int f = 0; f < n_files; f++) {
        char path[160];
        snprintf(path, sizeof path, "%s/%d_%s", folder, f, files[f].name);
        FILE *to = fopen(path, "w");
        assert_non_null(to);
        assert_int_equal(fwrite(files[f].text, 1, files[f].size, to), files[f].size);
        fclose(to);
    }
}

static void read_by_ranks(void)
{
    char folder[64];
    make_directory(folder);
    write_files(folder);
    for (int ranks = 1; ranks <= MOST; ranks += ranks == 3 ? 2 : 1) together(ranks, compare_all, NULL, folder);
    remove_directory(folder);
    forget_files();
}

/* ---- texts ---- */

typedef struct text {
    char *bytes;
    size_t size, room;
} text;

static void put(text *t, const char *format, ...) PLX_PRINTF(2, 3);
static void put(text *t, const char *format, ...)
{
    va_list args;
    if (t->room - t->size < 400) t->bytes = realloc(t->bytes, t->room = 2 * t->room + 4096);
    va_start(args, format);
    t->size += (size_t)vsnprintf(t->bytes + t->size, t->room - t->size, format, args);
    va_end(args);
}

static void add_made(const char *name, text *t)
{
    add_bytes(name, t->bytes ? t->bytes : "", t->size);
    free(t->bytes);
    *t = (text){0};
}

/* Rows that differ in length, so that ranges begin anywhere. */
static void make_svmlight(const char *end, bool last_end, int zero_at, int fault_at)
{
    text t = {0};
    put(&t, "# made%s", end);
    for (int i = 0; i < LINES; i++) {
        put(&t, i % 7 == 3 ? "?" : i % 11 == 4 ? "a,b" : "c%d", i % 3);
        for (int k = 0; k < i % 5; k++) put(&t, " %d:%s%d", 2 * k + 1 + (i % 4), k % 2 ? "-0.5e" : "", k);
        if (i == zero_at) put(&t, "\n1 0:4 3:1 900:2");
        if (i == fault_at) put(&t, "\n1 7:1 7:2");
        put(&t, "%s%s", i % 13 == 2 ? " # why" : "", i + 1 < LINES || last_end ? end : "");
        if (i % 17 == 5) put(&t, "%s", end);
    }
    add_made("made.svm", &t);
}

static void svmlight_is_that_of_one_process(void **state)
{
    (void)state;
    make_svmlight("\n", true, -1, -1);
    make_svmlight("\r\n", false, LINES - 2, -1);
    make_svmlight("\n", false, 1, -1);
    make_svmlight("\n", true, -1, LINES / 2);
    make_svmlight("\r\n", true, -1, LINES - 1);
    add_text("one.svm", "x 1:1");
    add_text("two.svm", "1 1:1\n2 3:4");
    add_text("empty.svm", "\n\n# nothing\n");
    add_text("none.svm", "");
    add_text("late.svm", "1 1:1\n1 2:1\n\n\n\n\n\n\n\n\n\n\n\n1 x\n");
    add_text("first.svm", "1 x\n1 1:1\n1 2:1\n1 2:1\n1 2:1\n1 y\n");
    add_text("infinite.svm", "1 1:1\n1 2:1\n1 2:1\n1 2:1\n1 2:inf\n1 3:1\n");
    read_by_ranks();
}

static void make_csv(const char *end, bool quoted, int twice, int fault_at)
{
    text t = {0};
    put(&t, "id,x,y,label,truth%s", end);
    for (int i = 0; i < LINES; i++) {
        if (quoted && i % 6 == 1) put(&t, "\"s%d %s \"\"so\"\",%s\",", i, end, end);
        else put(&t, "s%d,", i == twice ? 0 : i);
        put(&t, "%s,", i == fault_at ? "many" : i % 9 == 4 ? "nan" : i % 2 ? "1" : "0");
        if (quoted && i % 8 == 3) put(&t, "\"%d\",", i);
        else put(&t, "%.*f,", i % 7, i / 3.0);
        put(&t, quoted && i % 10 == 1 ? "\"k%s,%d\"," : i % 5 ? "%.0sk%d," : "%.0s?%.0d,", end, i % 3);
        put(&t, "t%d%s", i % 4, i + 1 < LINES ? end : "");
    }
    add_made("made.csv", &t);
}

static void csv_is_that_of_one_process(void **state)
{
    (void)state;
    make_csv("\n", false, -1, -1);
    make_csv("\r\n", true, -1, -1);
    make_csv("\n", true, -1, -1);
    make_csv("\n", true, LINES - 2, -1);
    make_csv("\n", true, -1, LINES - 2);
    make_csv("\n", false, -1, LINES / 2);
    add_text("one.csv", "1,2");
    add_text("header.csv", "a,b\n");
    add_text("numbers.csv", "1,2\n3,4\n5,6\n7,8\n9,10\n11,12\n\n\n");
    add_text("short.csv", "1,2\n3,4\n5,6\n7,8\n9\n11,12\n");
    add_text("mark.csv", "\xEF\xBB\xBF"
                         "a;b\n1,5;2\n3;4\n5;6\n");
    add_text("words.csv", "id,text\na,\"the cat sat on\nthe mat\"\nb,a dog ran to it\nc,some more words here\n");
    add_text("open.csv", "a,b\n1,2\n3,4\n\"5,6\n7,8\n9,1\n1,2\n3,4\n5,6\n7,8\n");
    add_text("behind.csv", "a,b\n1,2\n3,4\n5,6\n7,8\n9,1\n1,\"2\"3\n3,4\n5,6\n7,8\n");
    add_text("long.csv", "a,label\n1,\"a\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\"\n2,b\n3,c\n");
    add_text("lines.csv", "label,b\n\"x\n,\"\",1\n\"\",\",2\n\"\n\",\"3\"\ny,4\n\"z\n\"\"\n\",5\n");
    read_by_ranks();
}

/* Texts of few letters, so that every turn a quote can take is met at every place a range can begin at. */
static void any_quotes_are_those_of_one_process(void **state)
{
    static const char *const pieces[] = {"\"", "\"", "\n",   "\r\n",   ",",     "1",     "1,2\n",
                                         "x",  " ",  "\"\"", "\"\n\"", "2,3\n", "\"4\"", "5,\"6\"\n"};
    plx__rng rng = plx__rng_start(3, PLX__STREAM('q', 'u', 'o', 't', 0));
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        for (int f = 0; f < 6; f++) {
            text t = {0};
            int count = 2 + (int)random_count(&rng, 40);
            put(&t, f % 2 ? "label,b\n" : "1,2\n3,4\n");
            for (int k = 0; k < count; k++) put(&t, "%s", pieces[(int)random_count(&rng, f < 3 ? 14 : 7)]);
            for (int k = 0; k < f * 3; k++) put(&t, "1,%d\n", k);
            add_made("any.csv", &t);
        }
        if (n_files > FILES - 6 || round == ROUNDS - 1) read_by_ranks();
    }
}

static void make_mtx(const char *kind, const char *end, bool sorted, int surplus, int fault_at)
{
    text t = {0};
    bool general = strcmp(kind, "general") == 0;
    int cols = general ? 9 : LINES, entries = 3 * LINES;
    put(&t, "%%%%MatrixMarket matrix coordinate real %s%s%% why%s%d %d %d%s", kind, end, end, LINES, cols,
        entries - surplus, end);
    for (int k = 0; k < entries; k++) {
        int i = sorted ? k / 3 : (k * 7 + k / LINES) % LINES, j = (k * 5 + i) % cols;
        if (!general && j >= i) j = i ? j % i : 0;
        if (!general && i == 0) i = 1;
        if (k == fault_at) put(&t, "%d 0 1%s", i + 1, end);
        else put(&t, "%d %d %d.%d%s", i + 1, j + 1, k, k % 10, k + 1 < entries ? end : "");
        if (k % 20 == 3) put(&t, "%% more%s%s", end, end);
    }
    add_made("made.mtx", &t);
}

static void mtx_is_that_of_one_process(void **state)
{
    (void)state;
    make_mtx("general", "\n", true, 0, -1);
    make_mtx("general", "\r\n", false, 0, -1);
    make_mtx("symmetric", "\n", false, 0, -1);
    make_mtx("skew-symmetric", "\n", false, 0, -1);
    make_mtx("general", "\n", false, 1, -1);
    make_mtx("general", "\n", false, 2 * LINES, -1);
    make_mtx("general", "\n", false, -1, -1);
    make_mtx("general", "\n", false, -9 * LINES, -1);
    make_mtx("general", "\n", false, 0, LINES);
    add_text("twice.mtx", "%%MatrixMarket matrix coordinate real general\n3 2 6\n1 1 1e16\n2 1 1\n1 1 1\n"
                          "3 2 4\n1 1 -1e16\n1 1 1\n");
    add_text("flags.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 2 2\n1 1\n3 2\n");
    add_text("array.mtx", "%%MatrixMarket matrix array real general\n3 2\n1\n2\n3\n4\n5\n6\n");
    add_text("none.mtx", "%%MatrixMarket matrix coordinate real general\n3 2 0\n");
    add_text("wrong.mtx", "%%MatrixMarket matrix of numbers\n3 2 0\n");
    read_by_ranks();
}

/* ---- memory ---- */

static void refuse_memory(rank_job *job)
{
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    plx_context *small = NULL;
    plx_dataset *d = NULL;
    o.memory_limit = job->rank == job->ranks - 1 ? 1 << 16 : 0;
    o.threads = 1;
    assert_int_equal(plx_context_create(&small, &o), PLX_OK);
    assert_ok(small, plx_context_set_peers(small, &job->ctx->peers));
    assert_fails(small, read_file(&d, small, job->arg, 1), PLX_E_NOMEM, "memory");
    plx_context_destroy(small);
}

/* One rank has not enough of it: all say so, none waits. */
static void one_rank_that_fails_fails_for_all(void **state)
{
    char folder[64], path[96];
    text t = {0};
    (void)state;
    make_directory(folder);
    snprintf(path, sizeof path, "%s/big.csv", folder);
    for (int i = 0; i < 20000; i++) put(&t, "%d,%d,%d\n", i, i + 1, i % 3);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fwrite(t.bytes, 1, t.size, f);
    fclose(f);
    free(t.bytes);
    for (int ranks = 2; ranks <= 3; ranks++) together(ranks, refuse_memory, path, folder);
    remove_directory(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(svmlight_is_that_of_one_process),     cmocka_unit_test(csv_is_that_of_one_process),
        cmocka_unit_test(any_quotes_are_those_of_one_process), cmocka_unit_test(mtx_is_that_of_one_process),
        cmocka_unit_test(one_rank_that_fails_fails_for_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
