#include "plx_test.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "parallax/metrics.h"

static plx_context *ctx;
static char directory[] = "/tmp/plx_eval_XXXXXX";
static char home[4096];

/* ---- scratch files: every test works inside one directory ---- */

static int enter(void **state)
{
    (void)state;
    if (!getcwd(home, sizeof home) || !mkdtemp(directory) || chdir(directory) != 0) return -1;
    return 0;
}

static int leave(void **state)
{
    (void)state;
    DIR *d = opendir(directory);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.') unlink(e->d_name);
    if (d) closedir(d);
    return chdir(home) == 0 && rmdir(directory) == 0 ? 0 : -1;
}

static int fresh(void **state)
{
    (void)state;
    ctx = test_context(1);
    return 0;
}

static int gone(void **state)
{
    (void)state;
    plx_context_destroy(ctx);
    return 0;
}

static const char *put(const char *name, const char *text)
{
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return name;
}

static plx_metrics *evaluate(const plx_eval_options *o)
{
    plx_metrics *m = NULL;
    assert_ok(ctx, plx_eval_files(&m, ctx, o));
    assert_non_null(m);
    return m;
}

static double value_of(const plx_metrics *m, const char *name)
{
    plx_index i = plx_metrics_find(m, name);
    if (i < 0) fail_msg("no metric %s", name);
    return plx_metrics_value(m, i, NULL);
}

/* The call fails with `status` and a message holding `word`, and leaves no object. */
static void refuses(const plx_eval_options *o, plx_status status, const char *word)
{
    plx_metrics *m = (plx_metrics *)ctx;
    assert_fails(ctx, plx_eval_files(&m, ctx, o), status, word);
    assert_null(m);
}

#define OPTIONS(...) (&(plx_eval_options){.struct_size = sizeof(plx_eval_options), .higher_better = 1, __VA_ARGS__})

/* ---- reading ---- */

static void labels_are_read_as_lines(void **state)
{
    (void)state;
    put("t.txt", "\xEF\xBB\xBF"
                 "a, b\r\n \"q\" \r\n?\r\nb");
    put("p.txt", "a, b\n\"q\"\nx\nc\n");
    plx_metrics *m = evaluate(OPTIONS(.truth = "t.txt", .pred = "p.txt"));
    assert_close(value_of(m, "accuracy"), 2.0 / 3, 1e-15);
    assert_true(value_of(m, "f1:a, b") == 1 && value_of(m, "f1:\"q\"") == 1);
    plx_metrics_destroy(m);
}

static void predictions_table_gives_labels_and_scores(void **state)
{
    (void)state;
    put("t.txt", "a,1\nb\nb\n");
    put("predictions.csv",
        "id,label,\"score_a,1\",score_b\r\ns1,\"a,1\",.9,.1\r\ns2,b,.2,.8\r\n\"s\"\"3\n\",\"a,1\",.6,.4\r\n\r\n");
    plx_metrics *m = evaluate(OPTIONS(.truth = "t.txt", .pred = "predictions.csv", .positive = "b"));
    assert_close(value_of(m, "accuracy"), 2.0 / 3, 1e-15);
    assert_true(value_of(m, "auc:a,1") == 1 && value_of(m, "auc") == 1);
    plx_metrics_destroy(m);
    put("other.csv", "b\n1\n2\n1\n");
    m = evaluate(OPTIONS(.truth = "t.txt", .pred = "predictions.csv", .scores = "other.csv"));
    assert_true(value_of(m, "auc") == 0.75);
    assert_int_equal(plx_metrics_find(m, "auc:a,1"), -1);
    plx_metrics_destroy(m);
    m = evaluate(OPTIONS(.truth = "t.txt", .pred = "predictions.csv", .clusters = 1));
    assert_int_equal(plx_metrics_find(m, "auc"), -1);
    assert_close(value_of(m, "purity"), 2.0 / 3, 1e-15);
    plx_metrics_destroy(m);
}

static void regression_gives_rmse(void **state)
{
    (void)state;
    put("t.txt", "1\n2\n");
    put("p.csv", "id,label,score_mean,score_variance\n0,1,1,.1\n1,4,4,.1\n");
    plx_metrics *m = evaluate(OPTIONS(.truth = "t.txt", .pred = "p.csv"));
    assert_int_equal(plx_metrics_count(m), 1);
    assert_close(value_of(m, "rmse"), sqrt(2), 1e-15);
    plx_metrics_destroy(m);
}

static void noise_and_gold_and_defaults(void **state)
{
    (void)state;
    put("t.txt", "a\na\nb\n");
    put("p.txt", "c0\nnoise\nnoise\n");
    plx_metrics *m = evaluate(OPTIONS(.truth = "t.txt", .pred = "p.txt", .clusters = 1, .noise = "drop"));
    assert_true(value_of(m, "cluster_entropy") == 0);
    plx_metrics_destroy(m);
    m = evaluate(OPTIONS(.truth = "t.txt", .pred = "p.txt", .clusters = 1, .noise = "keep"));
    assert_close(value_of(m, "cluster_entropy"), 2.0 / 3, 1e-15);
    plx_metrics_destroy(m);
    put("s.csv", "x,y\n1,2\n2,1\n1,1\n");
    put("g.txt", "0\n?\n1\n");
    m = evaluate(OPTIONS(.topn = "s.csv", .gold = "g.txt"));
    assert_true(value_of(m, "top:1") == 0 && value_of(m, "top:5") == 1 && value_of(m, "top:10") == 1);
    assert_close(value_of(m, "median_rank"), 1.75, 0);
    plx_metrics_destroy(m);
}

static void all_inputs_at_once(void **state)
{
    (void)state;
    put("t.txt", "a\nb\n");
    put("v.csv", "A,B\na,a\nb,?\n");
    put("s.csv", "a,b\n1,0\n0,1\n");
    put("g.txt", "0\n1\n");
    put("tab.csv", "dataset,M,N\nd1,1,2\nd2,3,5\n");
    plx_metrics *m = evaluate(OPTIONS(.truth = "t.txt", .pred = "t.txt", .scores = "s.csv", .topn = "s.csv",
                                      .gold = "g.txt", .views = "v.csv", .table = "tab.csv"));
    assert_true(value_of(m, "accuracy") == 1 && value_of(m, "macro_auc") == 1 && value_of(m, "mrr") == 1);
    assert_true(value_of(m, "view_accuracy:B") == 1 && value_of(m, "win:M|N") == 0);
    plx_metrics_destroy(m);
    m = evaluate(OPTIONS(.views = "v.csv"));
    assert_true(value_of(m, "agreement") == 1);
    plx_metrics_destroy(m);
    plx_eval_options errors = PLX_EVAL_OPTIONS_INIT;
    errors.table = "tab.csv";
    errors.higher_better = 0;
    m = evaluate(&errors);
    assert_true(value_of(m, "win:M|N") == 2);
    plx_metrics_destroy(m);
}

/* ---- refusing ---- */

static void lengths_must_agree(void **state)
{
    (void)state;
    put("t.txt", "a\nb\nc\n");
    put("p.txt", "a\nb\n");
    put("s.csv", "a\n1\n");
    refuses(OPTIONS(.truth = "t.txt", .pred = "p.txt"), PLX_E_DATA, "t.txt has 3 labels but p.txt has 2 labels");
    refuses(OPTIONS(.truth = "t.txt", .scores = "s.csv"), PLX_E_DATA, "s.csv has 1 rows of scores");
    refuses(OPTIONS(.truth = "t.txt", .views = "s.csv"), PLX_E_DATA, "s.csv has 1 rows");
    put("g.txt", "0\n0\n");
    refuses(OPTIONS(.topn = "s.csv", .gold = "g.txt"), PLX_E_DATA, "g.txt has 2 lines");
}

static void options_must_fit(void **state)
{
    (void)state;
    put("t.txt", "a\n");
    refuses(OPTIONS(.metrics = "accuracy"), PLX_E_ARG, "nothing to evaluate");
    refuses(OPTIONS(.pred = "t.txt"), PLX_E_ARG, "pred needs truth");
    refuses(OPTIONS(.scores = "t.txt"), PLX_E_ARG, "scores needs truth");
    refuses(OPTIONS(.truth = "t.txt"), PLX_E_ARG, "truth needs pred, scores or views");
    refuses(OPTIONS(.topn = "t.txt"), PLX_E_ARG, "topn needs gold");
    refuses(OPTIONS(.gold = "t.txt"), PLX_E_ARG, "gold needs topn");
    refuses(OPTIONS(.table = "t.txt", .top = "1"), PLX_E_ARG, "top needs topn");
    refuses(OPTIONS(.truth = "t.txt", .pred = "t.txt", .hierarchy = "h"), PLX_E_ARG, "hierarchy needs multilabel");
    refuses(OPTIONS(.truth = "t.txt", .pred = "t.txt", .noise = "drop"), PLX_E_ARG, "noise needs clusters");
    refuses(OPTIONS(.truth = "t.txt", .pred = "t.txt", .clusters = 1, .noise = "dorp"), PLX_E_ARG,
            "did you mean 'drop'");
    refuses(OPTIONS(.truth = "t.txt", .pred = "t.txt", .clusters = 1, .multilabel = 1), PLX_E_ARG, "exclude");
    refuses(OPTIONS(.truth = "t.txt", .pred = "t.txt", .positive = "a"), PLX_E_ARG, "no score_ columns");
    plx_eval_options unknown = PLX_EVAL_OPTIONS_INIT;
    unknown.table = "t.txt";
    unknown.higher_better = 2;
    refuses(&unknown, PLX_E_ARG, "must be 0 or 1");
    unknown.struct_size = sizeof unknown + 8;
    refuses(&unknown, PLX_E_ARG, "struct_size");
    refuses(NULL, PLX_E_ARG, "NULL");
    plx_eval_options early = PLX_EVAL_OPTIONS_INIT; /* a caller built when there were fewer options */
    early.struct_size = offsetof(plx_eval_options, scores);
    early.truth = early.pred = "t.txt";
    early.scores = "garbage";
    plx_metrics_destroy(evaluate(&early));
}

static void files_must_be_good(void **state)
{
    (void)state;
    put("t.txt", "a\nb\n");
    refuses(OPTIONS(.truth = "none.txt", .pred = "t.txt"), PLX_E_IO, "none.txt");
    put("e.txt", "");
    refuses(OPTIONS(.truth = "e.txt", .pred = "t.txt"), PLX_E_FORMAT, "holds no labels");
    put("e.txt", "a\n\nb\n");
    refuses(OPTIONS(.truth = "t.txt", .pred = "e.txt"), PLX_E_FORMAT, "e.txt: line 2 is empty");
    FILE *f = fopen("z.txt", "wb");
    fwrite("a\nb\0c\n", 1, 6, f);
    fclose(f);
    refuses(OPTIONS(.truth = "z.txt", .pred = "t.txt"), PLX_E_FORMAT, "z.txt: line 2 holds a zero byte");
    put("s.csv", "a,b\n1,x\n1,2\n");
    refuses(OPTIONS(.truth = "t.txt", .scores = "s.csv"), PLX_E_FORMAT,
            "s.csv: line 2, column 'b': 'x' is not a number");
    put("s.csv", "a,b\n1,2\n1\n");
    refuses(OPTIONS(.truth = "t.txt", .scores = "s.csv"), PLX_E_FORMAT, "s.csv: line 3: found 1 field, expected 2");
    put("s.csv", "a,b\n1,2\n\n1,2\n");
    refuses(OPTIONS(.truth = "t.txt", .scores = "s.csv"), PLX_E_FORMAT, "line 3: found 1 field");
    put("s.csv", "a,\"b\n1,2\n");
    refuses(OPTIONS(.truth = "t.txt", .scores = "s.csv"), PLX_E_FORMAT, "line 1");
    put("s.csv", "a,\"b\"c\n1,2\n");
    refuses(OPTIONS(.truth = "t.txt", .scores = "s.csv"), PLX_E_FORMAT, "line 1");
    put("s.csv", "a,\n1,2\n");
    refuses(OPTIONS(.truth = "t.txt", .scores = "s.csv"), PLX_E_FORMAT, "column 2 has no name");
    put("s.csv", "\n\n");
    refuses(OPTIONS(.truth = "t.txt", .scores = "s.csv"), PLX_E_FORMAT, "s.csv: the file is empty");
    put("s.csv", "a,b\n1,2\nnan,1\n");
    refuses(OPTIONS(.truth = "t.txt", .scores = "s.csv"), PLX_E_DATA, "s.csv: row 2, class 'a'");
    put("v.csv", "A,B\na,\nb,b\n");
    refuses(OPTIONS(.truth = "t.txt", .views = "v.csv"), PLX_E_FORMAT, "v.csv: line 2, column 'B' is empty");
    put("p.csv", "id,label\n");
    refuses(OPTIONS(.truth = "t.txt", .pred = "p.csv"), PLX_E_FORMAT, "p.csv: no rows below the header");
    put("p.csv", "id,label\n1,\n2,b\n");
    refuses(OPTIONS(.truth = "t.txt", .pred = "p.csv"), PLX_E_FORMAT, "p.csv: line 2, column 'label' is empty");
    put("tab.csv", "d1,1,2\nd2,3,4\n");
    refuses(OPTIONS(.table = "tab.csv"), PLX_E_FORMAT, "holds numbers");
    put("tab.csv", "dataset\nd1\n");
    refuses(OPTIONS(.table = "tab.csv"), PLX_E_FORMAT, "one field");
    put("tab.csv", "dataset,A\nd1,nan\n");
    refuses(OPTIONS(.table = "tab.csv"), PLX_E_DATA, "tab.csv: row 1, data set d1, method 'A'");
    put("s.csv", "a,b\n1,2\n");
    put("g.txt", "2\n");
    refuses(OPTIONS(.topn = "s.csv", .gold = "g.txt"), PLX_E_DATA, "g.txt: line 1: '2'");
    put("g.txt", "1\n");
    refuses(OPTIONS(.topn = "s.csv", .gold = "g.txt", .top = "1,x"), PLX_E_ARG, "'x'");
    refuses(OPTIONS(.topn = "s.csv", .gold = "g.txt", .top = "0"), PLX_E_ARG, "'0'");
}

static void hierarchies_must_be_good(void **state)
{
    (void)state;
    put("t.txt", "a\n\n");
    put("h.json", "[]");
    const plx_eval_options *o = OPTIONS(.truth = "t.txt", .pred = "t.txt", .multilabel = 1, .hierarchy = "h.json");
    refuses(o, PLX_E_FORMAT, "\"classes\"");
    put("h.json", "{\"classes\": [1]}");
    refuses(o, PLX_E_FORMAT, "entry 1 must be a class name");
    put("h.json", "{\"classes\": [\"a\"], \"subset\": 3}");
    refuses(o, PLX_E_FORMAT, "list of pairs");
    put("h.json", "{\"classes\": [\"a\"], \"subset\": [[\"a\"]]}");
    refuses(o, PLX_E_FORMAT, "pair of class names");
    put("h.json", "{\"classes\": [\"a\"], \"subset\": [[\"a\", \"b\"]]}");
    refuses(o, PLX_E_DATA, "'b'");
    put("h.json", "{\"classes\": [\"a\"]}");
    plx_metrics *m = evaluate(o);
    assert_true(value_of(m, "h_f1") == 1);
    plx_metrics_destroy(m);
}

/* ---- choosing metrics ---- */

static void metrics_are_chosen(void **state)
{
    (void)state;
    put("t.txt", "a\nb\na,b\n");
    put("s.csv", "a,b,z\n2,0,0\n0,2,0\n1,1,0\n");
    plx_metrics *m = evaluate(OPTIONS(.truth = "t.txt", .pred = "t.txt", .scores = "s.csv", .positive = "a",
                                      .metrics = "f1, \"recall:a,b\",auc,accuracy,f1:a,prbep:*"));
    const char *expected[] = {"f1:a",     "f1:a,b",  "f1:b",    "recall:a,b", "auc",
                              "accuracy", "prbep:a", "prbep:b", "prbep:z"};
    assert_int_equal(plx_metrics_count(m), 9);
    for (int i = 0; i < 9; i++) assert_string_equal(plx_metrics_name(m, i), expected[i]);
    assert_int_equal(plx_metrics_find(m, "accuracy"), 5);
    assert_int_equal(plx_metrics_find(m, "error"), -1);
    assert_int_equal(plx_metrics_warning_count(m), 1); /* of prbep:z; that of auc:z went with it */
    plx_metrics_destroy(m);
    plx_eval_options o = PLX_EVAL_OPTIONS_INIT;
    o.truth = o.pred = "t.txt";
    o.metrics = "acuracy";
    refuses(&o, PLX_E_ARG, "'acuracy' is not known; did you mean 'accuracy'");
    o.metrics = "f1:c";
    refuses(&o, PLX_E_ARG, "did you mean 'f1:a'");
    o.metrics = "accuracy,nmi";
    refuses(&o, PLX_E_ARG, "needs truth and pred with clusters");
    o.metrics = "auc:a";
    refuses(&o, PLX_E_ARG, "needs truth and scores");
    o.metrics = ",";
    refuses(&o, PLX_E_ARG, "names no metric");
    o.metrics = "\"f1";
    refuses(&o, PLX_E_FORMAT, "quote");
}

/* ---- allocation failure ---- */

static void survives_every_allocation_failure(void **state)
{
    (void)state;
    put("t.txt", "a|b\nb\n?\n");
    put("p.csv", "id,label,score_a,score_b\n1,a,1,2\n2,b,2,3\n3,-,0,0\n");
    put("h.json", "{\"classes\": [\"a\", \"b\"], \"subset\": [[\"a\", \"b\"]]}");
    put("v.csv", "A,B\na,a\nb,?\nb,b\n");
    put("g.txt", "0\n1\n");
    put("s.csv", "x,y\n1,2\n2,1\n");
    put("tab.csv", "dataset,M,N\nd1,1,2\nd2,3,5\n");
    const plx_eval_options *o =
        OPTIONS(.truth = "t.txt", .pred = "p.csv", .multilabel = 1, .hierarchy = "h.json", .views = "v.csv",
                .topn = "s.csv", .gold = "g.txt", .table = "tab.csv", .metrics = "h_f1,auc,top,win,agreement");
    plx_status st = PLX_E_NOMEM;
    long k = 0;
    while (st != PLX_OK && k < 5000) {
        meter count = {0, ++k, 0};
        plx_context *c = metered_context(&count, 1);
        plx_metrics *m = NULL;
        st = c ? plx_eval_files(&m, c, o) : PLX_E_NOMEM;
        assert_true(st == PLX_OK || st == PLX_E_NOMEM);
        assert_true((st == PLX_OK) == (m != NULL));
        if (c && st != PLX_OK) {
            assert_true(plx_context_error(c)[0] != '\0');
            assert_int_equal(count.live, 1); /* nothing but the context is left */
        }
        plx_metrics_destroy(m);
        plx_context_destroy(c);
        assert_int_equal(count.live, 0);
    }
    assert_int_equal(st, PLX_OK);
    assert_true(k > 100);
}

/* ---- golden cases ---- */

static void set_option(plx_eval_options *o, const char *flag, const char *value)
{
    const struct {
        const char *flag;
        const char **where;
    } texts[] = {{"--truth", &o->truth},         {"--pred", &o->pred},   {"--scores", &o->scores},
                 {"--positive", &o->positive},   {"--topn", &o->topn},   {"--gold", &o->gold},
                 {"--hierarchy", &o->hierarchy}, {"--noise", &o->noise}, {"--top", &o->top},
                 {"--views", &o->views},         {"--table", &o->table}, {"--metrics", &o->metrics}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(flag, texts[i].flag) == 0) {
            *texts[i].where = value;
            return;
        }
    if (strcmp(flag, "--higher-better") == 0) o->higher_better = atoi(value);
    else fail_msg("unknown flag %s in a case", flag);
}

static void options_from_argv(plx_eval_options *o, const json_t *argv)
{
    for (size_t i = 1; i < json_array_size(argv); i++) {
        const char *flag = json_string_value(json_array_get(argv, i));
        if (strcmp(flag, "--multilabel") == 0) o->multilabel = 1;
        else if (strcmp(flag, "--clusters") == 0) o->clusters = 1;
        else set_option(o, flag, json_string_value(json_array_get(argv, ++i)));
    }
}

static void check_values(const plx_metrics *m, json_t *expected, const char *name)
{
    const char *key;
    json_t *entry;
    json_object_foreach(expected, key, entry)
    {
        plx_index i = plx_metrics_find(m, key);
        if (i < 0) fail_msg("case %s: no metric %s", name, key);
        json_t *value = json_object_get(entry, "value");
        int defined = 0;
        double found = plx_metrics_value(m, i, &defined), wanted = json_number_value(value);
        if (defined != !json_is_null(value)) fail_msg("case %s: %s should %sbe null", name, key, defined ? "" : "not ");
        double tolerance = json_number_value(json_object_get(entry, "atol")) +
                           json_number_value(json_object_get(entry, "rtol")) * fabs(wanted);
        if (defined && !(fabs(found - wanted) <= tolerance))
            fail_msg("case %s: %s = %.17g, expected %.17g", name, key, found, wanted);
    }
}

static void run_case(const char *name)
{
    json_error_t error;
    json_t *json = json_load_file("case.json", 0, &error);
    if (!json) fail_msg("case %s: %s", name, error.text);
    plx_eval_options o = PLX_EVAL_OPTIONS_INIT;
    plx_metrics *m = NULL;
    options_from_argv(&o, json_object_get(json, "argv"));
    plx_status st = plx_eval_files(&m, ctx, &o);
    json_t *words = json_object_get(json, "error_contains");
    if (words) assert_int_not_equal(st, PLX_OK);
    else assert_ok(ctx, st);
    for (size_t i = 0; i < json_array_size(words); i++)
        assert_non_null(strstr(plx_context_error(ctx), json_string_value(json_array_get(words, i))));
    if (m) check_values(m, json_object_get(json, "json"), name);
    plx_metrics_destroy(m);
    json_decref(json);
}

/* Every case below `path`, relative to the source tree; returns their number, -1 when there is no such folder. */
static int run_cases(const char *path)
{
    char back[4096], full[8192];
    int count = 0;
    assert_non_null(getcwd(back, sizeof back));
    snprintf(full, sizeof full, "%s/%s", home, path);
    DIR *d = opendir(full);
    if (!d) return -1;
    for (struct dirent *e; (e = readdir(d));) {
        char folder[9000];
        if (e->d_name[0] == '.') continue;
        snprintf(folder, sizeof folder, "%s/%s", full, e->d_name);
        assert_int_equal(chdir(folder), 0);
        run_case(e->d_name);
        count++;
    }
    closedir(d);
    assert_int_equal(chdir(back), 0);
    return count;
}

static void golden_cases(void **state)
{
    (void)state;
    assert_true(run_cases("tests/cases/metrics") >= 10);
    if (run_cases("../shared/vectors/metrics") < 0) print_message("../shared/vectors/metrics is not there: skipped\n");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, fresh, gone)
    const struct CMUnitTest tests[] = {
        TEST(labels_are_read_as_lines),
        TEST(predictions_table_gives_labels_and_scores),
        TEST(regression_gives_rmse),
        TEST(noise_and_gold_and_defaults),
        TEST(all_inputs_at_once),
        TEST(lengths_must_agree),
        TEST(options_must_fit),
        TEST(files_must_be_good),
        TEST(hierarchies_must_be_good),
        TEST(metrics_are_chosen),
        TEST(survives_every_allocation_failure),
        TEST(golden_cases),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
