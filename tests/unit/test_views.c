/*
 * The report on views: figures that can be worked out otherwise, and advice that follows from them.
 */
#include "api/views_impl.h"
#include "compare_helpers.h"

enum { N = 60 };

/* Column 0 of both views is the same; the others are independent. Classes by the sign of column 0 of view `a`; view
 * `noise` knows nothing. */
static plx_dataset *three_views(plx_context *ctx, bool holes)
{
    double a[N * 3], b[N * 2], noise[N * 2];
    const char *truth[N];
    uint8_t present[N];
    plx_dataset *d = new_dataset(ctx, N);
    plx__rng rng = plx__rng_start(3, 9);
    for (int i = 0; i < N; i++) {
        double shared = (i % 2 ? 2 : -2) + 0.5 * plx__next_normal(&rng);
        a[3 * i] = b[2 * i] = shared;
        a[3 * i + 1] = plx__next_normal(&rng);
        a[3 * i + 2] = plx__next_normal(&rng);
        b[2 * i + 1] = plx__next_normal(&rng);
        for (int j = 0; j < 2; j++) noise[2 * i + j] = plx__next_normal(&rng);
        truth[i] = i % 2 ? "B" : "A";
        present[i] = !(holes && i % 3 == 0);
    }
    add_dense(d, ctx, "a", PLX_VIEW_REAL, a, 3, NULL);
    add_dense(d, ctx, "b", PLX_VIEW_REAL, b, 2, present);
    add_dense(d, ctx, "noise", PLX_VIEW_REAL, noise, 2, NULL);
    assert_ok(ctx, plx_dataset_set_truth(d, ctx, truth));
    return d;
}

static double number(const plx_explanation *e, const char *section, plx_index row, const char *column)
{
    plx_index s = plx_explanation_find(e, section);
    for (plx_index c = 0; c < plx_explanation_columns(e, s); c++)
        if (strcmp(plx_explanation_column(e, s, c), column) == 0) return plx_explanation_number(e, s, row, c);
    fail_msg("no column %s in %s", column, section);
    return NAN;
}

static bool advises(const plx_explanation *e, const char *words)
{
    plx_index s = plx_explanation_find(e, "advice");
    for (plx_index r = 0; r < plx_explanation_rows(e, s); r++)
        if (strstr(plx_explanation_text(e, s, r, 0), words)) return true;
    return false;
}

static void finds_what_is_there(void **state)
{
    plx_context *ctx = test_context(1);
    (void)state;
    for (int holes = 0; holes < 2; holes++) {
        plx_dataset *d = three_views(ctx, holes);
        plx_explanation *e = NULL;
        assert_ok(ctx, plx_views(&e, ctx, d, NULL));
        assert_close(number(e, "views", 0, "accuracy"), 1, 0); /* four deviations between the classes */
        assert_close(number(e, "views", 1, "accuracy"), 1, 0);
        assert_true(number(e, "views", 2, "accuracy") < 0.75);
        assert_int_equal(number(e, "views", 1, "samples"), holes ? 40 : 60);
        assert_close(number(e, "pairs", 0, "correlation"), 1, 1e-9); /* a column is shared */
        assert_true(number(e, "pairs", 1, "correlation") < 0.7);
        assert_close(number(e, "pairs", 0, "agreement"), 1, 0);
        assert_close(number(e, "pairs", 0, "kappa"), 1, 1e-12);
        assert_int_equal(plx_explanation_rows(e, plx_explanation_find(e, "presence")), holes ? 2 : 1);
        assert_int_equal(advises(e, "many views are missing"), holes);
        assert_true(advises(e, "fit auto"));
        plx_explanation_destroy(e);
        plx_dataset_destroy(d);
    }
    plx_context_destroy(ctx);
}

/* Errors by class: wrong by both, a alone, b alone, none. p and pooled odds ratio by
 * the textbook formulas in another language: chi-square 7.0601 with one degree of freedom. */
static void tests_errors_given_the_class(void **state)
{
    static const int cells[2][4] = {{4, 2, 3, 11}, {3, 1, 2, 14}};
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, 40);
    const char *truth[40], *right[40], *left[40];
    double x[40] = {0};
    plx__view_facts facts[2] = {{.answer = left}, {.answer = right}};
    plx__pair_facts pair = {.a = 0, .b = 1};
    int i = 0;
    (void)state;
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < 4; k++)
            for (int m = 0; m < cells[c][k]; m++, i++) {
                truth[i] = c ? "B" : "A";
                left[i] = (k < 2) == (c == 0) ? "B" : "A";
                right[i] = (k % 2 == 0) == (c == 0) ? "B" : "A";
            }
    add_dense(d, ctx, "u", PLX_VIEW_REAL, x, 1, NULL);
    add_dense(d, ctx, "v", PLX_VIEW_REAL, x, 1, NULL);
    assert_ok(ctx, plx_dataset_set_truth(d, ctx, truth));
    for (i = 0; i < 40; i++) { /* as the report has them: texts of the data set */
        left[i] = d->classes[left[i][0] == 'B'];
        right[i] = d->classes[right[i][0] == 'B'];
    }
    plx__view_report r = {.ctx = ctx, .data = d, .classes = d->truth, .labelled = 40, .n_classes = 2, .facts = facts};
    assert_ok(ctx, plx__view_pair(&r, &pair));
    assert_close(pair.p, 0.007881918909630789, 1e-12);
    assert_close(pair.odds, 10.75, 1e-12);
    assert_close(pair.agreement, 32.0 / 40, 1e-15); /* 4 + 11 + 3 + 14 */
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void does_without_classes(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *d = three_views(ctx, false);
    plx_explanation *e = NULL;
    plx_views_options o = PLX_VIEWS_OPTIONS_INIT;
    (void)state;
    assert_ok(ctx, plx_dataset_set_truth(d, ctx, NULL));
    assert_ok(ctx, plx_views(&e, ctx, d, NULL));
    assert_true(isnan(number(e, "views", 0, "accuracy")));
    assert_close(number(e, "pairs", 0, "correlation"), 1, 1e-9);
    assert_true(advises(e, "group the samples"));
    assert_false(advises(e, "fit auto"));
    plx_explanation_destroy(e);
    o.folds = 1;
    assert_fails(ctx, plx_views(&e, ctx, d, &o), PLX_E_ARG, "folds");
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void tells_of_missing_values(void **state)
{
    enum { ROWS = 8 };
    plx_context *ctx = test_context(1);
    plx_dataset *d = NULL;
    plx_explanation *e = NULL;
    double x[ROWS];
    (void)state;
    for (int i = 0; i < ROWS; i++) x[i] = i % 2 + i / 10.0;
    assert_ok(ctx, plx_dataset_create(&d, ctx, "holes", ROWS));
    assert_ok(ctx, plx_dataset_add_dense(d, ctx, "whole", PLX_VIEW_REAL, (plx_cmat){x, ROWS, 1, 1}, NULL, NULL));
    double wide[2 * ROWS];
    for (int i = 0; i < ROWS; i++) wide[2 * i] = wide[2 * i + 1] = x[i];
    wide[3] = wide[8] = NAN;
    assert_ok(ctx, plx_dataset_add_dense(d, ctx, "holed", PLX_VIEW_REAL, (plx_cmat){wide, ROWS, 2, 2}, NULL, NULL));
    assert_ok(ctx, plx_views(&e, ctx, d, NULL));
    assert_true(advises(e, "single values are missing"));
    plx_index s = plx_explanation_find(e, "advice"), last = plx_explanation_rows(e, s) - 1;
    assert_string_equal(plx_explanation_text(e, s, last, 1), "2 in view holed");
    plx_explanation_destroy(e);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void survives_refused_memory(void **state)
{
    bool whole = false;
    (void)state;
    for (long at = 1; !whole && at < 200000; at += 1 + at / 5) {
        meter m = {0};
        plx_context *ctx = metered_context(&m, 1);
        plx_dataset *d = three_views(ctx, true);
        plx_explanation *e = NULL;
        m.fail_at = m.calls + at;
        plx_status st = plx_views(&e, ctx, d, NULL);
        whole = m.calls < m.fail_at;
        m.fail_at = 0;
        assert_true(st == PLX_OK || st == PLX_E_NOMEM);
        plx_explanation_destroy(e);
        plx_dataset_destroy(d);
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
    }
    assert_true(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_is_there),     cmocka_unit_test(tests_errors_given_the_class),
        cmocka_unit_test(does_without_classes),    cmocka_unit_test(tells_of_missing_values),
        cmocka_unit_test(survives_refused_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
