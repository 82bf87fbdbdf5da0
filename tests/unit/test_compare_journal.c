/*
 * Journals of comparisons: what was written comes back bit by bit, other files are refused and left alone, and
 * predictions made elsewhere are measured like ours.
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "compare_helpers.h"
#include "core/file.h"

static char folder[] = "/tmp/plx_journal_XXXXXX";

static int enter_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    (void)state;
    plx__remove_tree(folder);
    return 0;
}

static plx__journal_key some_key(uint64_t hash)
{
    return (plx__journal_key){.hash = hash,
                              .dataset = "it's \"cora\"'); DROP TABLE run; --",
                              .labels = "10%",
                              .entry = "nb:alpha=1",
                              .repeat = 3,
                              .fold = -1,
                              .seed = UINT64_MAX,
                              .seconds_limit = 10,
                              .memory_limit = 1e9};
}

static void returns_what_was_written(void **state)
{
    static const char *const names[] = {"accuracy", "auc:'x'", "rate"};
    const double values[] = {0.1 + 0.2, NAN, -INFINITY};
    plx_context *ctx = test_context(1);
    plx__journal *j = NULL;
    plx__journal_key key = some_key(UINT64_MAX - 1), other = some_key(5);
    plx__measured in = {.done = true, .seconds = 1.0 / 3, .cpu = NAN, .memory = 12, .count = 3, .name = names}, out;
    bool found = false;
    (void)state;
    in.value = values;
    assert_ok(ctx, plx__journal_open(&j, ctx, ":memory:", false)); /* a file of that name */
    assert_ok(ctx, plx__journal_add(j, &key, &in));
    plx__journal_close(j);
    assert_true(plx__file_exists(":memory:"));
    assert_fails(ctx, plx__journal_open(&j, ctx, ":memory:", false), PLX_E_ARG, "holds 1 finished run");
    assert_ok(ctx, plx__journal_open(&j, ctx, ":memory:", true));
    assert_ok(ctx, plx__journal_find(&found, &out, j, plx__scratch(ctx), &other));
    assert_false(found);
    assert_ok(ctx, plx__journal_find(&found, &out, j, plx__scratch(ctx), &key));
    assert_true(found && out.done && out.resumed && !out.reason);
    assert_true(out.seconds == in.seconds && isnan(out.cpu) && out.memory == 12);
    assert_int_equal(out.count, 3);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(out.name[i], names[i]); /* in the order of their names */
        assert_memory_equal(&out.value[i], &values[i], isnan(values[i]) ? 0 : sizeof(double));
    }
    assert_true(isnan(out.value[1]));
    plx__journal_close(j);
    plx_context_destroy(ctx);
}

/* What was given up counts as long as no more time or memory is offered. */
static void tries_again_with_wider_limits(void **state)
{
    plx_context *ctx = test_context(1);
    plx__journal *j = NULL;
    plx__journal_key late = some_key(1), large = some_key(2), bad = some_key(3);
    plx__measured run = {.done = true, .status = PLX_E_CANCELLED, .reason = "given up", .seconds = 10}, out;
    bool found = false;
    (void)state;
    assert_ok(ctx, plx__journal_open(&j, ctx, "limits", false));
    assert_ok(ctx, plx__journal_add(j, &late, &run));
    run.status = PLX_E_NOMEM;
    assert_ok(ctx, plx__journal_add(j, &large, &run));
    run.status = PLX_E_DATA;
    assert_ok(ctx, plx__journal_add(j, &bad, &run));
    const struct {
        plx__journal_key *key;
        double seconds, memory;
        bool found;
    } cases[] = {{&late, 10, 1e9, true},  {&late, 5, 9e9, true},  {&late, 11, 1e9, false},  {&late, 0, 1e9, false},
                 {&large, 99, 1e9, true}, {&large, 0, 1e8, true}, {&large, 10, 2e9, false}, {&bad, 0, 9e9, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cases[i].key->seconds_limit = cases[i].seconds;
        cases[i].key->memory_limit = cases[i].memory;
        assert_ok(ctx, plx__journal_find(&found, &out, j, plx__scratch(ctx), cases[i].key));
        assert_int_equal(found, cases[i].found);
    }
    run = (plx__measured){.done = true, .seconds = 1};
    assert_ok(ctx, plx__journal_add(j, &late, &run)); /* replaced, not doubled */
    assert_ok(ctx, plx__journal_find(&found, &out, j, plx__scratch(ctx), &late));
    assert_true(found && !out.reason);
    plx__journal_close(j);
    plx_context_destroy(ctx);
}

static void write_bytes(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void refuses_other_files(void **state)
{
    plx_context *ctx = test_context(1);
    plx__journal *j = NULL, *second = NULL;
    sqlite3 *db = NULL;
    (void)state;
    write_bytes("letter.txt", "Dear journal, this is a text that is long enough to be looked at as a data base file.");
    assert_fails(ctx, plx__journal_open(&j, ctx, "letter.txt", true), PLX_E_FORMAT, "no journal of comparisons");
    assert_int_equal(sqlite3_open("foreign.db", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE precious (x)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_fails(ctx, plx__journal_open(&j, ctx, "foreign.db", true), PLX_E_FORMAT, "no journal of comparisons");
    assert_fails(ctx, plx__journal_open(&j, ctx, ".", true), PLX_E_IO, "directory");
    assert_fails(ctx, plx__journal_open(&j, ctx, "nowhere/x", true), PLX_E_IO, "nowhere/x");
    assert_ok(ctx, plx__journal_open(&j, ctx, "held", false));
    assert_fails(ctx, plx__journal_open(&second, ctx, "held", true), PLX_E_IO, "another program");
    plx__journal_close(j);
    assert_null(second);
    plx_context_destroy(ctx);
}

/* Any byte of a journal may be damaged: an error, or runs that are not found; never a crash. */
static void survives_damage(void **state)
{
    static const char *const names[] = {"accuracy"};
    const double value = 0.5;
    plx_context *ctx = test_context(1);
    plx__journal *j = NULL;
    plx__journal_key key = some_key(9);
    plx__measured run = {.done = true, .seconds = 1, .count = 1, .name = names, .value = &value}, out;
    char bytes[65536];
    (void)state;
    assert_ok(ctx, plx__journal_open(&j, ctx, "whole", false));
    assert_ok(ctx, plx__journal_add(j, &key, &run));
    plx__journal_close(j);
    FILE *f = fopen("whole", "r");
    size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    for (size_t at = 0; at < size; at += at < 200 ? 7 : 97) {
        bool found = false;
        f = fopen("damaged", "w");
        bytes[at] = (char)(bytes[at] ^ 0x5a);
        assert_int_equal(fwrite(bytes, 1, size, f), size);
        bytes[at] = (char)(bytes[at] ^ 0x5a);
        fclose(f);
        remove("damaged-journal");
        if (plx__journal_open(&j, ctx, "damaged", true) != PLX_OK) {
            plx__clear_error(ctx);
            continue;
        }
        if (plx__journal_find(&found, &out, j, plx__scratch(ctx), &key) != PLX_OK) plx__clear_error(ctx);
        if (plx__journal_add(j, &key, &run) != PLX_OK) plx__clear_error(ctx);
        plx__journal_close(j);
    }
    plx_context_destroy(ctx);
}

/* ---- resuming ---- */

static char *file_text(const char *path)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char *text = calloc(1, 1 << 20);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

static int stop_after(const plx_progress *progress, void *limit) { return progress->iteration >= *(int *)limit; }

static void goes_on_with_the_same_bytes(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *data = toy_data(ctx, "toy", 1);
    plx_compare_options o = toy_options(6);
    plx_comparison *c = NULL;
    plx_index resumed = 0;
    int limit = 1; /* the first report always comes; later ones are rationed by time */
    (void)state;
    METHODS(&o, "nb", "coem", "rls:view=nowhere");
    assert_ok(ctx, compare_one(&c, ctx, data, &o));
    assert_ok(ctx, plx_comparison_write(ctx, c, PLX_COMPARE_JSON, PLX_COMPARE_RESULTS, "unbroken.json"));
    plx_comparison_destroy(c);
    o.journal = "broken.db";
    o.resume = 1;
    plx_context_set_progress(ctx, stop_after, &limit);
    assert_int_equal(compare_one(&c, ctx, data, &o), PLX_E_CANCELLED);
    plx_context_set_progress(ctx, NULL, NULL);
    assert_ok(ctx, compare_one(&c, ctx, data, &o));
    resumed = plx_comparison_resumed(c);
    assert_true(resumed >= 1 && resumed < 18);
    assert_ok(ctx, plx_comparison_write(ctx, c, PLX_COMPARE_JSON, PLX_COMPARE_RESULTS, "resumed.json"));
    plx_comparison_destroy(c);
    char *a = file_text("unbroken.json"), *b = file_text("resumed.json");
    assert_string_equal(a, b);
    free(a);
    free(b);
    METHODS(&o, "nb", "svm"); /* another comparison takes what it can use */
    o.repeats = 8;
    assert_ok(ctx, compare_one(&c, ctx, data, &o));
    assert_int_equal(plx_comparison_resumed(c), 6);
    plx_comparison_destroy(c);
    plx_context_set_seed(ctx, 99); /* other splits: nothing fits */
    assert_ok(ctx, compare_one(&c, ctx, data, &o));
    assert_int_equal(plx_comparison_resumed(c), 0);
    plx_comparison_destroy(c);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

/* ---- predictions made elsewhere ---- */

/* Reads our splits and answers every scored sample: right, but for those whose number divides by `wrong_every`. */
static void answer(const char *from, const char *to, int wrong_every)
{
    FILE *in = fopen(from, "r"), *out = fopen(to, "w");
    char line[400], run[200], id[40], role[40];
    assert_true(in && out);
    fputs("run,id,label\n", out);
    assert_non_null(fgets(line, sizeof line, in));
    while (fgets(line, sizeof line, in)) {
        assert_int_equal(sscanf(line, "%199[^,],%*[^,],%*[^,],%*[^,],,%*[^,],%39[^,],%39[^,],", run, id, role), 3);
        int number = atoi(id + 1);
        if (strcmp(role, "unlabelled") != 0) continue;
        fprintf(out, "%s,%s,%c\n", run, id, "abc"[(number + (number % wrong_every == 0)) % 3]);
    }
    fclose(in);
    fclose(out);
}

static void measures_other_programs(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *data = toy_data(ctx, "toy", 1);
    const plx_dataset *list[] = {data};
    plx_compare_options o = toy_options(2);
    plx_comparison *c = NULL;
    uint8_t chosen[TOY_N];
    plx_compared got = PLX_COMPARED_INIT;
    (void)state;
    LABELS(&o, "25%");
    METHODS(&o, "nb");
    assert_ok(ctx, plx_compare_splits(ctx, list, 1, &o, "splits"));
    answer("splits/splits.csv", "oracle.csv", 1000);
    answer("splits/splits.csv", "other.csv", 4);
    o.predictions = NAMES("oracle.csv", "mine=other.csv");
    o.n_predictions = 2;
    assert_ok(ctx, compare_one(&c, ctx, data, &o));
    assert_string_equal(plx_comparison_entry(c, 1), "oracle");
    assert_string_equal(plx_comparison_entry(c, 2), "mine");
    for (plx_index r = 0; r < 2; r++) {
        int right = 0, scored = 0;
        plx_context_set_seed(ctx, (uint64_t)r);
        assert_ok(ctx, plx_split_labels(chosen, ctx, data, "25%"));
        for (int i = 0; i < TOY_N; i++) {
            scored += !chosen[i];
            right += !chosen[i] && i % 4 != 0;
        }
        assert_close(plx_comparison_value(c, 0, 0, 2, r), (double)right / scored, 0);
    }
    plx_context_set_seed(ctx, 0);
    plx_comparison_destroy(c);
    plx_context_set_seed(ctx, 1); /* run 0 is what run 1 was, run 1 is new: the hash of the split tells */
    assert_ok(ctx, compare_one(&c, ctx, data, &o));
    assert_ok(ctx, plx_comparison_get(&got, c, 0, 0, 1));
    assert_int_equal(got.runs, 0);
    assert_non_null(strstr(got.reason, "were they made on these splits"));
    plx_comparison_destroy(c);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

static void refuses_wrong_predictions(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *data = toy_data(ctx, "toy", 1);
    const plx_dataset *list[] = {data};
    plx_compare_options o = toy_options(1);
    plx_comparison *c = NULL;
    char text[300], run[200];
    (void)state;
    LABELS(&o, "25%");
    METHODS(&o, "nb");
    assert_ok(ctx, plx_compare_splits(ctx, list, 1, &o, "splits"));
    char *splits = file_text("splits/splits.csv");
    assert_int_equal(sscanf(strchr(splits, '\n') + 1, "%199[^,]", run), 1);
    free(splits);
    o.predictions = NAMES("p.csv");
    o.n_predictions = 1;
    const struct {
        const char *rows, *message;
        plx_status status;
    } cases[] = {{"id,label\ns1,a\n", "no column 'run'", PLX_E_FORMAT},
                 {"run,id,label\n%s,s99,a\n", "no sample 's99'", PLX_E_DATA},
                 {"run,id,label\n%s,s1,a\n%s,s1,b\n", "twice", PLX_E_DATA},
                 {"run,id,label\n%s,s1,a\n", "has no prediction", PLX_E_DATA},
                 {"run,id,label,score_a\n%s,s1,a,high\n", "not a number", PLX_E_FORMAT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(text, sizeof text, cases[i].rows, run, run);
#pragma GCC diagnostic pop
        write_bytes("p.csv", text);
        assert_fails(ctx, compare_one(&c, ctx, data, &o), cases[i].status, cases[i].message);
    }
    o.predictions = NAMES("absent.csv");
    assert_fails(ctx, compare_one(&c, ctx, data, &o), PLX_E_IO, "absent.csv");
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(returns_what_was_written),    cmocka_unit_test(tries_again_with_wider_limits),
        cmocka_unit_test(refuses_other_files),         cmocka_unit_test(survives_damage),
        cmocka_unit_test(goes_on_with_the_same_bytes), cmocka_unit_test(measures_other_programs),
        cmocka_unit_test(refuses_wrong_predictions),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
