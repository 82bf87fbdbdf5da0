#include "metrics_helpers.h"

#include "eval/fit_metrics.h"

static const char *const classes[] = {"no", "yes"};

/* Samples 0, 1 were seen, 5 has no truth: 2, 3, 4 count. */
static const char *const truth[] = {"yes", "no", "yes", "no", "yes", NULL};
static const char *const pred[] = {"no", "yes", "yes", "yes", "yes", "no"};
static const uint8_t seen[] = {1, 1, 0, 0, 0, 0};
static const double scores[] = {9, 0, 0, 9, 1, 4, 2, 3, 5, 2, 0, 0};

static plx__fit_outcome classifier(void)
{
    plx__fit_outcome o = {.kind = PLX__FIT_CLASSIFIER,
                          .n = 6,
                          .truth = truth,
                          .pred = pred,
                          .seen = seen,
                          .scores = {scores, 6, 2, 2},
                          .classes = classes,
                          .n_classes = 2};
    return o;
}

static void classifier_is_measured_on_unseen(void **state)
{
    (void)state;
    plx__fit_outcome o = classifier();
    assert_ok(ctx, plx__metrics_for_fit(m, &o));
    assert_close(value_or_nan("accuracy"), 2.0 / 3, 1e-15);
    assert_close(value_or_nan("micro_f1"), 2.0 / 3, 1e-15);
    assert_close(value_or_nan("macro_f1"), (0.8 + 0) / 2, 1e-15);
    /* yes scores 4, 3, 2 of truth yes, no, yes */
    assert_close(value_or_nan("auc"), 0.5, 0);
    assert_close(value_or_nan("auc:yes"), 0.5, 0);
    assert_close(value_or_nan("prbep"), 0.5, 0);
    assert_close(value_or_nan("auc:no"), 0.5, 0); /* no scores 1, 2, 5 */
    assert_close(value_or_nan("prbep:no"), 0, 0);
    assert_int_equal(plx_metrics_count(m), 9);
}

static void everything_counts_when_all_was_seen(void **state)
{
    (void)state;
    const uint8_t all[] = {1, 1, 1, 1, 1, 1};
    plx__fit_outcome o = classifier();
    o.seen = all;
    o.scores.data = NULL;
    assert_ok(ctx, plx__metrics_for_fit(m, &o));
    assert_close(value_or_nan("accuracy"), 2.0 / 5, 1e-15);
    assert_int_equal(plx_metrics_count(m), 3);
    o.seen = NULL;
    assert_ok(ctx, plx__metrics_for_fit(m, &o));
    assert_close(value_or_nan("accuracy"), 2.0 / 5, 1e-15);
}

static void without_truth_nothing_is_added(void **state)
{
    (void)state;
    const char *const unknown[] = {"?", NULL, "?", "?", "?", "?"};
    plx__fit_outcome o = classifier();
    o.truth = NULL;
    assert_ok(ctx, plx__metrics_for_fit(m, &o));
    assert_ok(ctx, plx__metrics_for_view(m, &o, "v", o.scores, NULL));
    o.truth = unknown;
    assert_ok(ctx, plx__metrics_for_fit(m, &o));
    assert_ok(ctx, plx__metrics_for_view(m, &o, "v", o.scores, NULL));
    assert_int_equal(plx_metrics_count(m), 0);
}

static void nan_scores_are_undefined(void **state)
{
    (void)state;
    const double holes[] = {0, 0, 0, 0, 1, NAN, 2, 3, 5, 2, 0, 0};
    plx__fit_outcome o = classifier();
    o.scores.data = holes;
    assert_ok(ctx, plx__metrics_for_fit(m, &o));
    assert_true(isnan(value_or_nan("auc")) && isnan(value_or_nan("prbep:yes")));
    assert_close(value_or_nan("auc:no"), 0.5, 0);
    assert_true(plx_metrics_warning_count(m) > 0);
    o.scores.cols = 1;
    assert_fails(ctx, plx__metrics_for_fit(m, &o), PLX_E_INTERNAL, "expected 6 x 2");
}

static void clusterer_counts_all_samples(void **state)
{
    (void)state;
    plx__fit_outcome o = {.kind = PLX__FIT_CLUSTERER, .n = 6, .truth = truth, .pred = pred, .seen = seen};
    assert_ok(ctx, plx__metrics_for_fit(m, &o));
    static const char *const names[] = {"nmi", "ari", "cluster_accuracy", "cluster_entropy", "pair_f"};
    assert_int_equal(plx_metrics_count(m), 5);
    for (int i = 0; i < 5; i++) assert_string_equal(plx_metrics_name(m, i), names[i]);
    assert_close(value_or_nan("cluster_accuracy"), 3.0 / 5, 1e-15); /* {no: yes}, {yes: no yes no yes}: 1 + 2 */
    /* tp = 1 + 1, clusters put 6 pairs together, classes 4. */
    assert_close(value_or_nan("pair_f"), 2 * 2.0 / (6 + 4), 1e-15);
}

static void regressor_has_rmse(void **state)
{
    (void)state;
    const char *const y[] = {"1", "2", "3"}, *const f[] = {"9", "2.5", "1"};
    const uint8_t first[] = {1, 0, 0};
    plx__fit_outcome o = {.kind = PLX__FIT_REGRESSOR, .n = 3, .truth = y, .pred = f, .seen = first};
    assert_ok(ctx, plx__metrics_for_fit(m, &o));
    assert_close(value_or_nan("rmse"), sqrt((0.25 + 4) / 2), 1e-15);
}

static void sets_are_found_by_their_bar(void **state)
{
    (void)state;
    const char *const t[] = {"a|b", "a"}, *const p[] = {"a", "a"}, *const names[] = {"a", "b"},
                      *const up[] = {"a", "b"};
    plx_metrics_hierarchy h = {sizeof h, names, 2, up, 1, NULL, 0};
    plx__fit_outcome o = {.kind = PLX__FIT_CLASSIFIER, .n = 2, .truth = t, .pred = p};
    assert_ok(ctx, plx__metrics_for_fit(m, &o));
    assert_close(value_or_nan("micro_f1"), 0.8, 1e-15);
    assert_close(value_or_nan("macro_f1"), 0.5, 0);
    assert_close(value_or_nan("subset_accuracy"), 0.5, 0);
    assert_close(value_or_nan("hamming_loss"), 0.25, 0);
    assert_int_equal(plx_metrics_count(m), 4);
    o.hierarchy = &h;
    assert_ok(ctx, plx__metrics_for_fit(m, &o));
    assert_close(value_or_nan("h_f1"), 1, 0); /* a is a kind of b: every set closes to {a,b} */
}

/* The view predicts samples 2 (yes, right) and 4 (no, wrong); 3 is missing. */
static void one_view(void **state)
{
    (void)state;
    const uint8_t present[] = {1, 1, 1, 0, 1, 1};
    plx__fit_outcome o = classifier();
    assert_ok(ctx, plx__metrics_for_view(m, &o, "text", o.scores, present));
    assert_close(value_or_nan("view_accuracy:text"), 0.5, 0);
    assert_close(value_or_nan("prbep:yes@text"), 1, 0);
    assert_true(isnan(value_or_nan("prbep:no@text")));
    const uint8_t never[] = {0, 0, 0, 0, 0, 0};
    assert_ok(ctx, plx__metrics_for_view(m, &o, "link", o.scores, never));
    assert_true(isnan(value_or_nan("view_accuracy:link")));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, fresh, gone)
    const struct CMUnitTest tests[] = {
        TEST(classifier_is_measured_on_unseen), TEST(everything_counts_when_all_was_seen),
        TEST(without_truth_nothing_is_added),   TEST(nan_scores_are_undefined),
        TEST(clusterer_counts_all_samples),     TEST(regressor_has_rmse),
        TEST(sets_are_found_by_their_bar),      TEST(one_view),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
