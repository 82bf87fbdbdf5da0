/*
 * Comparisons: who sees and who is scored, results beside single fits, failures as rows, cancelling, memory.
 */
#include "compare_helpers.h"

/* ---- roles ---- */

static plx_comparison *planned(plx_context *ctx, const plx_dataset *data, const plx_compare_options *o)
{
    plx_comparison *c = NULL;
    assert_ok(ctx, plx__comparison_create(&c, ctx, &data, 1, o));
    return c;
}

/* Without anything set aside the labels are those a fit of the same seed sees. */
static void labels_are_those_of_a_fit(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *data = toy_data(ctx, "toy", 1);
    plx_compare_options o = toy_options(3);
    uint8_t role[TOY_N], chosen[TOY_N];
    (void)state;
    plx_context_set_seed(ctx, 11);
    METHODS(&o, "nb");
    LABELS(&o, "25%");
    plx_comparison *c = planned(ctx, data, &o);
    for (plx_index r = 0; r < 3; r++) {
        assert_ok(ctx, plx__run_roles(role, ctx, c, data, 0, r));
        assert_int_equal(plx_context_seed(ctx), 11);
        plx_context_set_seed(ctx, 11 + (uint64_t)r);
        assert_ok(ctx, plx_split_labels(chosen, ctx, data, "25%"));
        plx_context_set_seed(ctx, 11);
        for (int i = 0; i < TOY_N; i++)
            assert_int_equal(role[i], chosen[i] ? PLX__ROLE_LABELLED : PLX__ROLE_UNLABELLED);
    }
    plx_comparison_destroy(c);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

/* Every sample is set aside in exactly one fold of a repeat, and never labelled there. */
static void folds_partition_the_samples(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *data = toy_data(ctx, "toy", 1);
    plx_compare_options o = toy_options(2);
    uint8_t role[TOY_N];
    (void)state;
    o.folds = 4;
    METHODS(&o, "nb");
    LABELS(&o, "all", "2");
    plx_comparison *c = planned(ctx, data, &o);
    for (plx_index b = 0; b < 2; b++)
        for (plx_index repeat = 0; repeat < 2; repeat++) {
            int times[TOY_N] = {0};
            for (plx_index f = 0; f < 4; f++) {
                int labelled = 0;
                assert_ok(ctx, plx__run_roles(role, ctx, c, data, b, repeat * 4 + f));
                for (int i = 0; i < TOY_N; i++) {
                    times[i] += role[i] == PLX__ROLE_TEST;
                    labelled += role[i] == PLX__ROLE_LABELLED;
                }
                assert_int_equal(labelled, b == 0 ? 36 : 6);
            }
            for (int i = 0; i < TOY_N; i++) assert_int_equal(times[i], 1);
        }
    plx_comparison_destroy(c);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

static void sets_a_share_aside(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *data = toy_data(ctx, "toy", 1);
    plx_compare_options o = toy_options(1);
    uint8_t role[TOY_N];
    int test = 0, labelled = 0;
    (void)state;
    o.inductive = 1;
    o.test = 0.25;
    METHODS(&o, "nb");
    LABELS(&o, "50%");
    plx_comparison *c = planned(ctx, data, &o);
    assert_ok(ctx, plx__run_roles(role, ctx, c, data, 0, 0));
    for (int i = 0; i < TOY_N; i++) {
        test += role[i] == PLX__ROLE_TEST;
        labelled += role[i] == PLX__ROLE_LABELLED;
    }
    assert_int_equal(test, 12);
    assert_int_equal(labelled, 18); /* half of 12 in each of three classes */
    assert_true(plx__role_scored(c, PLX__ROLE_TEST) && !plx__role_scored(c, PLX__ROLE_UNLABELLED));
    plx_comparison_destroy(c);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

/* ---- results ---- */

/* The accuracy of a fit by hand: labels of that seed, everyone else scored. */
static double by_hand(plx_context *ctx, const plx_dataset *data, const char *method, uint64_t seed)
{
    uint8_t chosen[TOY_N];
    const char *texts[TOY_N];
    plx_dataset *seen = NULL;
    plx_model *model = NULL;
    int right = 0, scored = 0;
    uint64_t before = plx_context_seed(ctx);
    plx_context_set_seed(ctx, seed);
    assert_ok(ctx, plx_split_labels(chosen, ctx, data, "25%"));
    plx_split_label_texts(texts, data, chosen);
    assert_ok(ctx, plx_dataset_relabel(&seen, ctx, data, texts));
    assert_ok(ctx, plx_fit(&model, ctx, method, seen, NULL, NULL));
    for (int i = 0; i < TOY_N; i++) {
        if (chosen[i]) continue;
        right += strcmp(plx_prediction_label(plx_model_prediction(model), i), plx_dataset_truth(data, i)) == 0;
        scored++;
    }
    plx_model_destroy(model);
    plx_dataset_destroy(seen);
    plx_context_set_seed(ctx, before);
    return (double)right / scored;
}

static void agrees_with_single_fits(void **state)
{
    plx_context *ctx = test_context(2);
    plx_dataset *data = toy_data(ctx, "toy", 1);
    plx_compare_options o = toy_options(3);
    plx_comparison *c = NULL;
    (void)state;
    plx_context_set_seed(ctx, 5);
    METHODS(&o, "nb", "coem", "svm");
    LABELS(&o, "25%");
    for (o.jobs = 1; o.jobs <= 2; o.jobs++) {
        assert_ok(ctx, compare_one(&c, ctx, data, &o));
        for (plx_index e = 0; e < 3; e++)
            for (plx_index r = 0; r < 3; r++)
                assert_close(plx_comparison_value(c, 0, 0, e, r),
                             by_hand(ctx, data, plx_comparison_entry(c, e), 5 + (uint64_t)r), 0);
        plx_comparison_destroy(c);
    }
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

/* What is set aside plays no part: other values there change nothing about a method that cannot see them. */
static void inductive_runs_do_not_see_the_scored(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *data = toy_data(ctx, "toy", 1);
    plx_compare_options o = toy_options(1);
    plx_comparison *c = NULL;
    plx_compared got = PLX_COMPARED_INIT;
    (void)state;
    o.inductive = 1;
    METHODS(&o, "nb", "lapreg"); /* lapreg labels only the samples of the fit */
    LABELS(&o, "all");
    assert_ok(ctx, compare_one(&c, ctx, data, &o));
    assert_ok(ctx, plx_comparison_get(&got, c, 0, 0, 0));
    assert_int_equal(got.runs, 1);
    assert_ok(ctx, plx_comparison_get(&got, c, 0, 0, 1));
    assert_int_equal(got.failed, 1);
    assert_non_null(strstr(got.reason, "took no part in the fit"));
    plx_comparison_destroy(c);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

static void clusterers_are_told_the_number_of_classes(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *data = toy_data(ctx, "toy", 1);
    plx_compare_options o = toy_options(2);
    plx_comparison *c = NULL;
    plx_compared got = PLX_COMPARED_INIT;
    (void)state;
    o.task = PLX_TASK_CLUSTER;
    METHODS(&o, "coem", "spectral", "mvll");
    assert_ok(ctx, compare_one(&c, ctx, data, &o));
    for (plx_index e = 0; e < 3; e++) {
        assert_ok(ctx, plx_comparison_get(&got, c, 0, 0, e));
        assert_int_equal(got.runs, 2);
        assert_true(got.mean >= 0 && got.mean <= 1);
    }
    assert_string_equal(plx_comparison_metric(c, 0), "nmi");
    plx_comparison_destroy(c);
    LABELS(&o, "5");
    assert_fails(ctx, compare_one(&c, ctx, data, &o), PLX_E_ARG, "see no labels");
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

/* ---- failures ---- */

static void a_refused_method_is_a_row(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *data = toy_data(ctx, "toy", 1);
    plx_compare_options o = toy_options(2);
    plx_comparison *c = NULL;
    plx_compared got = PLX_COMPARED_INIT;
    (void)state;
    METHODS(&o, "nb", "rls:view=nowhere");
    assert_ok(ctx, compare_one(&c, ctx, data, &o));
    assert_ok(ctx, plx_comparison_get(&got, c, 0, 0, 1));
    assert_int_equal(got.failed, 2);
    assert_non_null(strstr(got.reason, "nowhere"));
    assert_true(isnan(got.mean) && !got.best);
    assert_ok(ctx, plx_comparison_get(&got, c, 0, 0, 0));
    assert_true(got.best && got.level);
    assert_int_equal(plx_comparison_failed(c), 2);
    plx_comparison_destroy(c);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

static void refuses_what_cannot_be(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *data = toy_data(ctx, "toy", 1);
    const plx_dataset *twice[] = {data, data};
    plx_compare_options o = toy_options(1);
    plx_comparison *c = NULL;
    (void)state;
    METHODS(&o, "nb", "nb");
    assert_fails(ctx, compare_one(&c, ctx, data, &o), PLX_E_ARG, "given twice");
    METHODS(&o, "nbb");
    assert_fails(ctx, compare_one(&c, ctx, data, &o), PLX_E_ARG, "nb");
    METHODS(&o, "nb:alpha");
    assert_fails(ctx, compare_one(&c, ctx, data, &o), PLX_E_ARG, "KEY=VALUE");
    METHODS(&o, "svm:c=-1");
    assert_fails(ctx, compare_one(&c, ctx, data, &o), PLX_E_ARG, "c");
    METHODS(&o, "nb");
    METRICS(&o, "acuracy");
    assert_fails(ctx, compare_one(&c, ctx, data, &o), PLX_E_ARG, "did you mean 'accuracy'");
    o.n_metrics = 0;
    LABELS(&o, "all");
    assert_fails(ctx, compare_one(&c, ctx, data, &o), PLX_E_DATA, "no sample is left");
    o.n_labels = 0;
    assert_fails(ctx, plx_compare(&c, ctx, twice, 2, &o), PLX_E_ARG, "given twice");
    o.folds = TOY_N + 1;
    assert_fails(ctx, compare_one(&c, ctx, data, &o), PLX_E_ARG, "folds");
    assert_null(c);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
}

static int stop_at_once(const plx_progress *progress, void *payload)
{
    (void)progress, (void)payload;
    return 1;
}

static void stops_when_asked(void **state)
{
    meter m = {0};
    plx_context *ctx = metered_context(&m, 1);
    plx_dataset *data = toy_data(ctx, "toy", 1);
    plx_compare_options o = toy_options(50);
    plx_comparison *c = NULL;
    (void)state;
    o.jobs = 2;
    METHODS(&o, "nb", "coem");
    plx_context_set_progress(ctx, stop_at_once, NULL);
    long before = m.live;
    assert_int_equal(compare_one(&c, ctx, data, &o), PLX_E_CANCELLED);
    assert_null(c);
    assert_int_equal(m.live, before);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
    assert_int_equal(m.live, 0);
}

/* A run that is refused memory is a row like any other; outside of runs the comparison ends. Nothing stays behind. */
static void survives_refused_memory(void **state)
{
    bool whole = false;
    (void)state;
    for (long at = 1; !whole && at < 4000; at += 3) {
        meter m = {0};
        plx_context *ctx = metered_context(&m, 1);
        plx_dataset *data = toy_data(ctx, "toy", 1);
        plx_compare_options o = toy_options(1);
        plx_comparison *c = NULL;
        METHODS(&o, "nb");
        m.fail_at = m.calls + at;
        plx_status st = compare_one(&c, ctx, data, &o);
        whole = m.calls < m.fail_at;
        m.fail_at = 0;
        assert_true(st == PLX_OK || st == PLX_E_NOMEM);
        assert_true((st == PLX_OK) == (c != NULL));
        plx_comparison_destroy(c);
        plx_dataset_destroy(data);
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
    }
    assert_true(whole);
}

/* A comparison of one method under a limit of `spare` bytes beyond the data; the memory of a run, its answers in *runs. */
static double run_within(int64_t spare, plx_index jobs, plx_index *runs)
{
    plx_context_options co = PLX_CONTEXT_OPTIONS_INIT;
    plx_context *ctx = NULL;
    plx_compare_options o = toy_options(4);
    plx_comparison *c = NULL;
    plx_compared got = PLX_COMPARED_INIT;
    co.threads = 1;
    co.arena_block = 1; /* exact sizes */
    co.memory_limit = (int64_t)1 << 30;
    assert_int_equal(plx_context_create(&ctx, &co), PLX_OK);
    plx_dataset *data = toy_data(ctx, "toy", 1);
    if (spare) ctx->memory_limit = plx_context_memory_used(ctx) + spare;
    METHODS(&o, "lapsvm");
    o.jobs = jobs;
    assert_ok(ctx, compare_one(&c, ctx, data, &o));
    assert_ok(ctx, plx_comparison_get(&got, c, 0, 0, 0));
    *runs = got.runs;
    plx_comparison_destroy(c);
    plx_dataset_destroy(data);
    plx_context_destroy(ctx);
    return got.memory;
}

/* A share of the limit is too small for a run; alone it has enough, and less than that is a reason. */
static void tries_again_alone(void **state)
{
    plx_index runs = 0;
    (void)state;
    double need = run_within(0, 1, &runs);
    assert_int_equal(runs, 4);
    run_within((int64_t)(1.7 * need), 2, &runs);
    assert_int_equal(runs, 4);
    run_within((int64_t)(0.5 * need), 1, &runs);
    assert_int_equal(runs, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_those_of_a_fit),
        cmocka_unit_test(folds_partition_the_samples),
        cmocka_unit_test(sets_a_share_aside),
        cmocka_unit_test(agrees_with_single_fits),
        cmocka_unit_test(inductive_runs_do_not_see_the_scored),
        cmocka_unit_test(clusterers_are_told_the_number_of_classes),
        cmocka_unit_test(a_refused_method_is_a_row),
        cmocka_unit_test(refuses_what_cannot_be),
        cmocka_unit_test(stops_when_asked),
        cmocka_unit_test(survives_refused_memory),
        cmocka_unit_test(tries_again_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
