/*
 * Predictions against the truth of a data set: of a model in memory, and of a file whose rows carry ids.
 *
 * Six samples on a line; rls on labels a at -2 and b at +2 puts the border at 0, so the predictions are a a a b b b.
 * With the truth a a b b b b, samples 1, 2, 4, 5 are unseen, one of them wrong: 3/4; over all six: 5/6.
 */
#include "plx_test.h"

#include <unistd.h>

#include "parallax/parallax.h"

static const double values[6] = {-2, -1, -3, 2, 1, 3};
static const char *const ids[6] = {"s0", "s1", "s2", "s3", "s4", "s5"};
static const char *const labels[6] = {"a", NULL, NULL, "b", NULL, NULL};
static const char *const truth[6] = {"a", "a", "b", "b", "b", "b"};

static plx_status make_data(plx_dataset **out, plx_context *ctx, bool with_truth)
{
    plx_cmat x = {values, 6, 1, 1};
    plx_status st = plx_dataset_create(out, ctx, "line", 6);
    if (st == PLX_OK) st = plx_dataset_add_dense(*out, ctx, "x", PLX_VIEW_REAL, x, NULL, NULL);
    if (st == PLX_OK) st = plx_dataset_set_ids(*out, ctx, ids);
    if (st == PLX_OK) st = plx_dataset_set_labels(*out, ctx, labels);
    if (st == PLX_OK && with_truth) st = plx_dataset_set_truth(*out, ctx, truth);
    return st;
}

static double metric(const plx_metrics *m, const char *name)
{
    return plx_metrics_value(m, plx_metrics_find(m, name), NULL);
}

/* ---- a model's predictions ---- */

static void test_prediction_metrics(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *data = NULL, *bare = NULL, *part = NULL;
    plx_model *model = NULL;
    plx_prediction *again = NULL;
    plx_metrics *m = NULL;
    plx_index first = 0;
    assert_ok(ctx, make_data(&data, ctx, true));
    assert_ok(ctx, make_data(&bare, ctx, false));
    assert_ok(ctx, plx_dataset_select(&part, ctx, data, &first, 1));
    assert_ok(ctx, plx_fit(&model, ctx, "rls", data, NULL, NULL));
    assert_ok(ctx, plx_prediction_metrics(&m, ctx, plx_model_prediction(model), model, data));
    assert_close(metric(m, "accuracy"), 0.75, 0);
    plx_metrics_destroy(m);
    assert_ok(ctx, plx_predict(&again, ctx, model, data));
    assert_ok(ctx, plx_prediction_metrics(&m, ctx, again, model, data));
    assert_close(metric(m, "accuracy"), 5.0 / 6.0, 1e-15);
    plx_metrics_destroy(m);
    assert_ok(ctx, plx_prediction_metrics(&m, ctx, again, model, bare));
    assert_close(metric(m, "accuracy"), 1.0, 0); /* without a truth the labels s0 = a and s3 = b count */
    plx_metrics_destroy(m);
    assert_ok(ctx, plx_prediction_metrics(&m, ctx, plx_model_prediction(model), model, bare));
    assert_int_equal(plx_metrics_count(m), 0); /* but not those the model was fitted to */
    plx_metrics_destroy(m);
    assert_fails(ctx, plx_prediction_metrics(&m, ctx, again, model, part), PLX_E_ARG, "1 samples");
    assert_null(m);
    plx_prediction_destroy(again);
    plx_model_destroy(model);
    plx_dataset_destroy(part);
    plx_dataset_destroy(bare);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

/* ---- files ---- */

static char path[] = "/tmp/plx_eval_XXXXXX";

static int make_file(void **state)
{
    (void)state;
    int handle = mkstemp(path);
    return handle < 0 ? -1 : close(handle);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_file(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static plx_status eval_text(plx_metrics **out, plx_context *ctx, const plx_dataset *data, const char *text,
                            int unlabelled_only)
{
    plx_eval_options o = PLX_EVAL_OPTIONS_INIT;
    write_file(text);
    o.pred = path;
    return plx_eval_dataset(out, ctx, data, &o, unlabelled_only);
}

static void expect_accuracy(plx_context *ctx, const plx_dataset *data, const char *text, int unlabelled_only,
                            double expected)
{
    plx_metrics *m = NULL;
    assert_ok(ctx, eval_text(&m, ctx, data, text, unlabelled_only));
    assert_close(metric(m, "accuracy"), expected, 1e-15);
    plx_metrics_destroy(m);
}

static void test_rows_find_their_sample(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *data = NULL;
    assert_ok(ctx, make_data(&data, ctx, true));
    const char *reversed = "id,label\ns5,b\ns4,b\ns3,b\ns2,a\ns1,a\ns0,a\n";
    expect_accuracy(ctx, data, reversed, 0, 5.0 / 6.0);
    expect_accuracy(ctx, data, reversed, 1, 0.75);
    expect_accuracy(ctx, data, "id,label\ns2,b\ns1,b\n", 0, 0.5);
    expect_accuracy(ctx, data, "a\na\na\nb\nb\nb\n", 0, 5.0 / 6.0);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

static void count_warning(plx_log_level level, const char *text, void *payload)
{
    if (level == PLX_LOG_WARNING && strstr(text, "in the order of the samples")) ++*(int *)payload;
}

/* However the table is written, rows find their sample by id; without ids the order counts, and that is said. */
static void test_spellings_of_the_header(void **state)
{
    (void)state;
    static const char *const files[] = {
        "\"id\",\"label\"\ns5,b\ns4,b\ns3,b\ns2,a\ns1,a\ns0,a\n",
        "\xEF\xBB\xBFid,label\r\ns5,b\r\ns4,b\r\ns3,b\r\ns2,a\r\ns1,a\r\ns0,a\r\n",
        "\xEF\xBB\xBF\"id\",label\ns5,b\ns4,b\ns3,b\ns2,a\ns1,a\ns0,a\n",
        "label,id\nb,s5\nb,s4\nb,s3\na,s2\na,s1\na,s0\n",
        "score_a,label,score_b,id\n0,b,1,s5\n0,b,1,s4\n0,b,1,s3\n1,a,0,s2\n1,a,0,s1\n1,a,0,s0\n"};
    plx_context *ctx = test_context(1);
    plx_dataset *data = NULL;
    int warned = 0;
    plx_context_set_log(ctx, PLX_LOG_WARNING, count_warning, &warned);
    assert_ok(ctx, make_data(&data, ctx, true));
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) expect_accuracy(ctx, data, files[f], 0, 5.0 / 6.0);
    assert_int_equal(warned, 0);
    expect_accuracy(ctx, data, "a\na\na\nb\nb\nb\n", 0, 5.0 / 6.0);
    assert_int_equal(warned, 1);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

static void test_bad_files(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *data = NULL, *bare = NULL;
    plx_metrics *m = NULL;
    plx_eval_options o = PLX_EVAL_OPTIONS_INIT;
    assert_ok(ctx, make_data(&data, ctx, true));
    assert_ok(ctx, make_data(&bare, ctx, false));
    assert_fails(ctx, eval_text(&m, ctx, data, "id,label\nnobody,a\n", 0), PLX_E_DATA, "'nobody'");
    assert_fails(ctx, eval_text(&m, ctx, data, "id,label\ns1,a\ns1,a\n", 0), PLX_E_DATA, "duplicate sample");
    assert_fails(ctx, eval_text(&m, ctx, data, "a\nb\n", 0), PLX_E_DATA, "2 labels");
    assert_fails(ctx, eval_text(&m, ctx, data, "id,label\ns0,a\n", 1), PLX_E_DATA, "no label");
    assert_fails(ctx, eval_text(&m, ctx, bare, "id,label\ns0,a\n", 0), PLX_E_DATA, "no truth");
    assert_null(m);
    assert_fails(ctx, plx_eval_dataset(&m, ctx, data, &o, 0), PLX_E_ARG, "missing");
    o.pred = "/nowhere/at/all";
    assert_fails(ctx, plx_eval_dataset(&m, ctx, data, &o, 0), PLX_E_IO, "/nowhere/at/all");
    o.truth = path;
    assert_fails(ctx, plx_eval_dataset(&m, ctx, data, &o, 0), PLX_E_ARG, "its own truth");
    plx_dataset_destroy(bare);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

/* {a} against {a} and {a,b} against {b}: of three true and two predicted pairs two agree, so micro F1 = 4/5. Closed
 * upwards under b < top they are {a}, {a,b,top} against {a}, {b,top}: h_f1 = 2*3/(4+3). */
static void test_sets_and_hierarchy(void **state)
{
    (void)state;
    static const char *const classes[] = {"a", "b", "top"}, *const sets[] = {"a", "a|b"};
    static const int32_t subset[] = {1, 2};
    static const double x[] = {1, 2};
    plx_context *ctx = test_context(1);
    plx_dataset *data = NULL;
    plx_metrics *m = NULL;
    assert_ok(ctx, plx_dataset_create(&data, ctx, "sets", 2));
    assert_ok(ctx, plx_dataset_add_dense(data, ctx, "x", PLX_VIEW_REAL, (plx_cmat){x, 2, 1, 1}, NULL, NULL));
    assert_ok(ctx, plx_dataset_set_truth(data, ctx, sets));
    assert_ok(ctx, plx_dataset_set_hierarchy(data, ctx, classes, 3, subset, 1, NULL, 0));
    assert_ok(ctx, eval_text(&m, ctx, data, "id,label\n1,b\n0,a\n", 0));
    assert_close(metric(m, "micro_f1"), 0.8, 1e-15);
    assert_close(metric(m, "h_f1"), 6.0 / 7.0, 1e-15);
    plx_metrics_destroy(m);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

/* Errors 1 and -2: rmse = sqrt((1 + 4) / 2). */
static void test_regression(void **state)
{
    (void)state;
    static const char *const numbers[] = {"1", "5"};
    static const double x[] = {1, 2};
    plx_context *ctx = test_context(1);
    plx_dataset *data = NULL;
    plx_metrics *m = NULL;
    assert_ok(ctx, plx_dataset_create(&data, ctx, "numbers", 2));
    assert_ok(ctx, plx_dataset_add_dense(data, ctx, "x", PLX_VIEW_REAL, (plx_cmat){x, 2, 1, 1}, NULL, NULL));
    assert_ok(ctx, plx_dataset_set_truth(data, ctx, numbers));
    assert_ok(ctx, eval_text(&m, ctx, data, "id,label,score_mean,score_variance\n0,2,2,1\n1,3,3,1\n", 0));
    assert_close(metric(m, "rmse"), sqrt(2.5), 1e-15);
    plx_metrics_destroy(m);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

static void test_no_memory(void **state)
{
    (void)state;
    plx_status st = PLX_E_NOMEM;
    write_file("id,label,score_a,score_b\ns5,b,0,1\ns0,a,1,0\ns1,a,1,0\n");
    for (long fail_at = 1; st != PLX_OK; fail_at++) {
        meter used = {0};
        plx_context *ctx = metered_context(&used, 1);
        plx_dataset *data = NULL;
        plx_metrics *m = NULL;
        plx_eval_options o = PLX_EVAL_OPTIONS_INIT;
        o.pred = path;
        assert_non_null(ctx);
        assert_ok(ctx, make_data(&data, ctx, true));
        long before = used.live;
        used.fail_at = used.calls + fail_at;
        st = plx_eval_dataset(&m, ctx, data, &o, 0);
        used.fail_at = 0;
        if (st != PLX_OK) {
            assert_int_equal(st, PLX_E_NOMEM);
            assert_true(plx_context_error(ctx)[0] != '\0');
            assert_null(m);
            assert_int_equal(used.live, before);
        }
        plx_metrics_destroy(m);
        plx_dataset_destroy(data);
        plx_context_destroy(ctx);
        assert_int_equal(used.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prediction_metrics),
        cmocka_unit_test(test_rows_find_their_sample),
        cmocka_unit_test(test_spellings_of_the_header),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_sets_and_hierarchy),
        cmocka_unit_test(test_regression),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
