/*
 * The parameter `rows`, worked out by hand through nb with smoothing 0, whose theta are the scaled counts over their sum.
 */
#include "fit_helpers.h"

enum { N = 5, D = 2 };

/* Row sums 2, 4, 6, 8 and 100: the median is 6, the cap 18. */
static const double COUNTS[N * D] = {1, 1, 3, 1, 6, 0, 4, 4, 90, 10};

static plx_dataset *one_view(plx_context *ctx, plx_view_kind kind, bool sparse)
{
    plx_dataset *d = new_dataset(ctx, N);
    if (sparse) add_thin(d, ctx, "v", kind, COUNTS, D, NULL);
    else add_dense(d, ctx, "v", kind, COUNTS, D, NULL);
    set_labels(d, ctx, (int[]){0, 1, 1, 0, 0});
    return d;
}

/* theta of class A, whose rows are 0, 3 and 4, times the factors given. */
static void expect_theta(const char *rows, plx_view_kind kind, bool sparse, const double factor[3])
{
    plx_context *ctx = test_context(1);
    plx_dataset *d = one_view(ctx, kind, sparse);
    plx_model *m = fit_model(ctx, "nb", d, SETTINGS("smoothing=0", rows));
    plx_cmat theta = array_of(m, "theta.v");
    double first = factor[0] + 4 * factor[1] + 90 * factor[2], second = factor[0] + 4 * factor[1] + 10 * factor[2];
    assert_close(theta.data[0], first / (first + second), 1e-15);
    assert_close(theta.data[1], second / (first + second), 1e-15);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void rows_are_scaled_as_said(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        expect_theta("rows=cap", PLX_VIEW_COUNTS, sparse, (double[]){1, 1, 0.18});
        expect_theta("rows=raw", PLX_VIEW_COUNTS, sparse, (double[]){1, 1, 1});
        expect_theta("rows=l1", PLX_VIEW_COUNTS, sparse, (double[]){24.0 / 2, 24.0 / 8, 24.0 / 100});
        expect_theta("rows=unit", PLX_VIEW_COUNTS, sparse, (double[]){1 / sqrt(2), 1 / sqrt(32), 1 / sqrt(8200)});
        expect_theta("rows=cap", PLX_VIEW_REAL, sparse, (double[]){1, 1, 1}); /* has no length */
    }
}

/* An even count: the mean of the two middle sums. Missing rows do not count: sums 2, 4, 8, 100 have the median 6. */
static void median_of_the_present_rows(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, N);
    add_dense(d, ctx, "v", PLX_VIEW_COUNTS, COUNTS, D, (uint8_t[]){1, 1, 0, 1, 1});
    set_labels(d, ctx, (int[]){0, 1, 1, 0, 0});
    plx_model *m = fit_model(ctx, "nb", d, SETTINGS("smoothing=0"));
    assert_close(array_of(m, "theta.v").data[0], (5 + 90 * 0.18) / (10 + 100 * 0.18), 1e-15);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* New rows are capped by the fitted median, whatever their own is: (9, 9) and (900, 900) are one row, and a row of the
 * largest doubles is finite. */
static void new_rows_have_the_fitted_cap(void **state)
{
    (void)state;
    static const double fresh[4 * D] = {9, 9, 900, 900, 1.7e308, 1.7e308, 9e-320, 9e-320};
    static const char *const methods[] = {"nb", "cotrain", "coem", "mvplsa"};
    for (int k = 0; k < 4; k++) {
        plx_context *ctx = test_context(1);
        plx_dataset *d = one_view(ctx, PLX_VIEW_COUNTS, true), *more = new_dataset(ctx, 4);
        plx_model *m = fit_model(ctx, methods[k], d, NULL);
        plx_prediction *p = NULL;
        add_dense(more, ctx, "v", PLX_VIEW_COUNTS, fresh, D, NULL);
        assert_ok(ctx, plx_predict(&p, ctx, m, more));
        plx_cmat scores = plx_prediction_scores(p);
        for (plx_index c = 0; c < scores.cols; c++) {
            assert_close(scores.data[scores.ld + c], scores.data[c], 1e-12);
            assert_close(scores.data[2 * scores.ld + c], scores.data[c], 1e-12);
            assert_true(isfinite(scores.data[3 * scores.ld + c]));
        }
        plx_prediction_destroy(p);
        plx_model_destroy(m);
        plx_dataset_destroy(d);
        plx_dataset_destroy(more);
        plx_context_destroy(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_scaled_as_said),
        cmocka_unit_test(median_of_the_present_rows),
        cmocka_unit_test(new_rows_have_the_fitted_cap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
