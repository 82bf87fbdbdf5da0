#include "plx_test.h"

#include "core/rng.h"
#include "data/scale.h"

static plx__view dense_view(const double *x, plx_index n, plx_index d, const uint8_t *present)
{
    plx__view v = {.name = "x", .kind = PLX_VIEW_REAL, .dense = {x, n, d, d}, .cols = d, .present = present, .cost = 1};
    return v;
}

static plx__view sparse_view(const int64_t *ptr, const int32_t *col, const double *val, plx_index n, plx_index d,
                             const uint8_t *present)
{
    plx__view v = {.name = "t",
                   .kind = PLX_VIEW_COUNTS,
                   .sparse = true,
                   .csr = {n, d, ptr, col, val},
                   .cols = d,
                   .present = present,
                   .cost = 1};
    return v;
}

static void fit_apply(plx_context *ctx, plx__view *out, plx__scale_kind kind, const plx__view *fit_on,
                      const uint8_t *rows, const plx__view *apply_to)
{
    plx__scaler s;
    assert_ok(ctx, plx__scaler_fit(&s, ctx, plx__scratch(ctx), kind, fit_on, rows));
    assert_ok(ctx, plx__scaler_apply(out, ctx, plx__scratch(ctx), &s, apply_to));
}

static void names_are_those_of_the_setting(void **state)
{
    (void)state;
    plx__scale_kind k = PLX__SCALE_NONE;
    const char *names[] = {"none", "unit", "zscore", "tfidf"};
    for (int i = 0; i < 4; i++) {
        assert_true(plx__scale_parse(&k, names[i]));
        assert_string_equal(plx__scale_name(k), names[i]);
    }
    assert_false(plx__scale_parse(&k, "zscores"));
    assert_null(plx__scale_name((plx__scale_kind)9));
}

/* 3-4-5 triangle; a zero row stays; huge and tiny rows do not over- or underflow; NaN is no part of the norm. */
static void unit_divides_by_the_norm(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const double x[] = {3, 4, 0, 0, 3e200, 4e200, 3e-200, -4e-200, 5, NAN};
    const uint8_t present[] = {1, 1, 1, 1, 1};
    plx__view v = dense_view(x, 5, 2, present), out;
    fit_apply(ctx, &out, PLX__SCALE_UNIT, &v, NULL, &v);
    const double expected[] = {0.6, 0.8, 0, 0, 0.6, 0.8, 0.6, -0.8, 1};
    for (int i = 0; i < 9; i++) assert_close(out.dense.data[i], expected[i], 1e-15);
    assert_true(isnan(out.dense.data[9]));
    assert_true(x[0] == 3);
    assert_int_equal(out.nonzeros, 7);
    plx_context_destroy(ctx);
}

/* Column 0: fitted values 1, 2, 3, 6: mean 3, variance (4+1+0+9)/4 = 3.5. Column 1: 0.1 everywhere (a computed
 * deviation would be 1.4e-17). Column 2: fitted values 2, 4 (two NaN left out): mean 3, sd 1. Row 4 is masked, row
 * 5 absent. */
static void zscore_uses_fitted_present_rows(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    const double x[] = {1, 0.1, 2, 2, 0.1, NAN, 3, 0.1, 4, 6, 0.1, NAN, 100, 5, 7, 0, 0, 0};
    const uint8_t present[] = {1, 1, 1, 1, 1, 0}, rows[] = {1, 1, 1, 1, 0, 1};
    plx__view v = dense_view(x, 6, 3, present), out;
    fit_apply(ctx, &out, PLX__SCALE_ZSCORE, &v, rows, &v);
    const double *y = out.dense.data, sd = sqrt(3.5);
    assert_close(y[0], -2 / sd, 1e-15);
    assert_close(y[9], 3 / sd, 1e-15);
    assert_close(y[12], 97 / sd, 1e-13);
    for (int i = 0; i < 5; i++) assert_true(y[3 * i + 1] == 0);
    assert_close(y[2], -1, 1e-15);
    assert_true(isnan(y[5]));
    assert_close(y[14], 4, 1e-15);
    for (int j = 0; j < 3; j++) assert_true(y[15 + j] == 0);
    plx_context_destroy(ctx);
}

/* Values whose squares overflow or vanish; sums that overflow are refused; no fitted row gives zeros. */
static void zscore_survives_extreme_values(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const double x[] = {1e200, 1e-200, 3e200, 3e-200}, huge[] = {1.7e308, 1.7e308, 1e308};
    const uint8_t none[] = {0, 0};
    plx__view v = dense_view(x, 2, 2, NULL), h = dense_view(huge, 3, 1, NULL), out;
    plx__scaler s;
    fit_apply(ctx, &out, PLX__SCALE_ZSCORE, &v, NULL, &v);
    assert_close(out.dense.data[0], -1, 1e-14);
    assert_close(out.dense.data[1], -1, 1e-14);
    assert_close(out.dense.data[3], 1, 1e-14);
    assert_fails(ctx, plx__scaler_fit(&s, ctx, plx__scratch(ctx), PLX__SCALE_ZSCORE, &h, NULL), PLX_E_NUMERIC,
                 "column 0");
    fit_apply(ctx, &out, PLX__SCALE_ZSCORE, &v, none, &v);
    for (int i = 0; i < 4; i++) assert_true(out.dense.data[i] == 0);
    plx_context_destroy(ctx);
}

/* Three times 0.1 sums to 0.30000000000000004, whose third is not 0.1: the mean of a constant column can miss it. */
static void constant_columns_become_zero(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const double x[] = {0.1, 0.1, 0.1}, fresh[] = {0.1, 7};
    plx__view v = dense_view(x, 3, 1, NULL), w = dense_view(fresh, 2, 1, NULL), out;
    fit_apply(ctx, &out, PLX__SCALE_ZSCORE, &v, NULL, &v);
    for (int i = 0; i < 3; i++) assert_true(out.dense.data[i] == 0);
    fit_apply(ctx, &out, PLX__SCALE_ZSCORE, &v, NULL, &w);
    assert_true(out.dense.data[0] == 0 && out.dense.data[1] == 0);
    plx_context_destroy(ctx);
}

static void zscore_refuses_sparse_views(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const int64_t ptr[] = {0, 1};
    const int32_t col[] = {0};
    const double val[] = {1}, mean[] = {0}, sd[] = {1};
    plx__view v = sparse_view(ptr, col, val, 1, 1, NULL), out;
    plx__scaler s = {PLX__SCALE_ZSCORE, 1, mean, sd, NULL};
    assert_int_equal(plx__scaler_apply(&out, ctx, plx__scratch(ctx), &s, &v), PLX_E_DATA);
    plx__clear_error(ctx);
    assert_int_equal(plx__scaler_fit(&s, ctx, plx__scratch(ctx), PLX__SCALE_ZSCORE, &v, NULL), PLX_E_DATA);
    assert_string_equal(plx_context_error(ctx), "zscore would make view 't' dense; use scale=unit");
    plx_context_destroy(ctx);
}

/* Four fitted documents over words a..d: df = 2, 4, 1, 0, so weights ln 2, ln 1 = 0, ln 4, 0. Document 0 =
 * (1,1,0,0) has only a left: (1,0,0,0). Document 2 = (0,3,2,0): (0,0,1,0). The fifth document is masked out: its d
 * does not count and has weight 0. */
static void tfidf_weighs_then_normalises(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    const int64_t ptr[] = {0, 2, 4, 6, 7, 8};
    const int32_t col[] = {0, 1, 0, 1, 1, 2, 1, 3};
    const double val[] = {1, 1, 2, 5, 3, 2, 4, 9};
    const uint8_t rows[] = {1, 1, 1, 1, 0};
    plx__view v = sparse_view(ptr, col, val, 5, 4, NULL), out;
    fit_apply(ctx, &out, PLX__SCALE_TFIDF, &v, rows, &v);
    const double expected[] = {1, 0, 1, 0, 0, 1, 0, 0};
    for (int k = 0; k < 8; k++) assert_close(out.csr.val[k], expected[k], 1e-15);
    assert_true(out.sparse && out.csr.ptr[5] == 8);
    assert_int_equal(out.nonzeros, 3);
    assert_int_equal(out.kind, PLX_VIEW_COUNTS);
    plx_context_destroy(ctx);
}

/* Weights ln 2 and ln 4 = 2 ln 2: a new document (2, 7, 1, 5) becomes (2, 0, 2, 0) / sqrt 8, dense and sparse alike. */
static void tfidf_is_applied_unchanged_to_new_rows(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const double fit[] = {1, 1, 0, 0, 2, 5, 0, 0, 0, 3, 2, 0, 0, 4, 0, 0}, fresh[] = {2, 7, 1, 5};
    const int64_t ptr[] = {0, 4};
    const int32_t col[] = {0, 1, 2, 3};
    plx__view f = dense_view(fit, 4, 4, NULL), d = dense_view(fresh, 1, 4, NULL),
              s = sparse_view(ptr, col, fresh, 1, 4, NULL), out;
    const double expected[] = {M_SQRT1_2, 0, M_SQRT1_2, 0};
    fit_apply(ctx, &out, PLX__SCALE_TFIDF, &f, NULL, &d);
    for (int j = 0; j < 4; j++) assert_close(out.dense.data[j], expected[j], 1e-15);
    fit_apply(ctx, &out, PLX__SCALE_TFIDF, &f, NULL, &s);
    for (int j = 0; j < 4; j++) assert_close(out.csr.val[j], expected[j], 1e-15);
    plx_context_destroy(ctx);
}

static void none_copies_and_wrong_width_is_refused(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const double x[] = {1, 2, 3, 4};
    plx__view v = dense_view(x, 2, 2, NULL), w = dense_view(x, 1, 4, NULL), out;
    plx__scaler s;
    fit_apply(ctx, &out, PLX__SCALE_NONE, &v, NULL, &v);
    assert_memory_equal(out.dense.data, x, sizeof x);
    assert_ptr_not_equal(out.dense.data, x);
    assert_ok(ctx, plx__scaler_fit(&s, ctx, plx__scratch(ctx), PLX__SCALE_UNIT, &v, NULL));
    assert_fails(ctx, plx__scaler_apply(&out, ctx, plx__scratch(ctx), &s, &w), PLX_E_DATA, "fitted on 2");
    plx_context_destroy(ctx);
}

static void state_goes_through_plain_arrays(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const double x[] = {1, 5, 2, 5, 4, 5};
    plx__view v = dense_view(x, 3, 2, NULL), a, b;
    plx__scale_kind kinds[] = {PLX__SCALE_NONE, PLX__SCALE_UNIT, PLX__SCALE_ZSCORE, PLX__SCALE_TFIDF};
    int counts[] = {0, 0, 2, 1};
    for (int k = 0; k < 4; k++) {
        plx__scaler s, back;
        plx__scaler_array arrays[PLX__SCALER_ARRAYS], turned[PLX__SCALER_ARRAYS];
        assert_ok(ctx, plx__scaler_fit(&s, ctx, plx__scratch(ctx), kinds[k], &v, NULL));
        int n = plx__scaler_export(arrays, &s);
        assert_int_equal(n, counts[k]);
        for (int i = 0; i < n; i++) turned[i] = arrays[n - 1 - i];
        assert_ok(ctx, plx__scaler_import(&back, ctx, plx__scratch(ctx), kinds[k], 2, turned, n));
        assert_ok(ctx, plx__scaler_apply(&a, ctx, plx__scratch(ctx), &s, &v));
        assert_ok(ctx, plx__scaler_apply(&b, ctx, plx__scratch(ctx), &back, &v));
        assert_memory_equal(a.dense.data, b.dense.data, sizeof x);
    }
    plx_context_destroy(ctx);
}

static void damaged_state_is_refused(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx__arena *m = plx__scratch(ctx);
    const double fine[] = {1, 2}, minus[] = {1, -2}, nan[] = {NAN, 1};
    plx__scaler s;
    plx__scaler_array only_mean = {"mean", fine, 2}, bad_sd[] = {{"mean", fine, 2}, {"sd", minus, 2}},
                      short_sd[] = {{"mean", fine, 2}, {"sd", fine, 1}}, bad_idf = {"idf", nan, 2};
    assert_fails(ctx, plx__scaler_import(&s, ctx, m, PLX__SCALE_ZSCORE, 2, &only_mean, 1), PLX_E_FORMAT, "'sd'");
    assert_fails(ctx, plx__scaler_import(&s, ctx, m, PLX__SCALE_ZSCORE, 2, bad_sd, 2), PLX_E_FORMAT, "column 1");
    assert_fails(ctx, plx__scaler_import(&s, ctx, m, PLX__SCALE_ZSCORE, 2, short_sd, 2), PLX_E_FORMAT, "expected 2");
    assert_fails(ctx, plx__scaler_import(&s, ctx, m, PLX__SCALE_TFIDF, 2, &bad_idf, 1), PLX_E_FORMAT, "column 0");
    assert_fails(ctx, plx__scaler_import(&s, ctx, m, (plx__scale_kind)7, 2, NULL, 0), PLX_E_FORMAT, "unknown kind");
    plx_context_destroy(ctx);
}

/* df = 2, 3, 1, 1 over the three fitted rows: min_df = 2 keeps columns 0 and 1. */
static void min_df_keeps_frequent_columns(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const int64_t ptr[] = {0, 3, 5, 6, 7};
    const int32_t col[] = {0, 1, 2, 0, 1, 1, 3};
    const double val[] = {1, 2, 3, 4, 5, 6, 7}, x[] = {1, 2, 0, 3, 0, 1, 2, 5, 0};
    const uint8_t rows[] = {1, 1, 1, 1};
    const char *const features[] = {"a", "b", "c", "d"};
    plx__view v = sparse_view(ptr, col, val, 4, 4, NULL), d = dense_view(x, 3, 3, NULL), out;
    v.features = features;
    plx__min_df f, back;
    assert_ok(ctx, plx__min_df_fit(&f, ctx, plx__scratch(ctx), 2, &v, rows));
    assert_int_equal(f.kept, 2);
    assert_ok(ctx, plx__min_df_import(&back, ctx, plx__scratch(ctx), f.cols, f.column, f.kept));
    assert_ok(ctx, plx__min_df_apply(&out, ctx, plx__scratch(ctx), &back, &v));
    const int64_t new_ptr[] = {0, 2, 4, 5, 5};
    const double new_val[] = {1, 2, 4, 5, 6};
    assert_memory_equal(out.csr.ptr, new_ptr, sizeof new_ptr);
    assert_memory_equal(out.csr.val, new_val, sizeof new_val);
    assert_int_equal(out.cols, 2);
    assert_int_equal(out.nonzeros, 5);
    assert_string_equal(out.features[1], "b");
    assert_fails(ctx, plx__min_df_apply(&out, ctx, plx__scratch(ctx), &f, &d), PLX_E_DATA, "fitted on 4");
    assert_ok(ctx, plx__min_df_fit(&f, ctx, plx__scratch(ctx), 2, &d, NULL)); /* df = 3, 2, 1 */
    assert_ok(ctx, plx__min_df_apply(&out, ctx, plx__scratch(ctx), &f, &d));
    const double kept[] = {1, 2, 3, 0, 2, 5};
    assert_memory_equal(out.dense.data, kept, sizeof kept);
    const int32_t unsorted[] = {2, 1}, outside[] = {4};
    assert_fails(ctx, plx__min_df_import(&back, ctx, plx__scratch(ctx), 4, unsorted, 2), PLX_E_FORMAT, "place 1");
    assert_fails(ctx, plx__min_df_import(&back, ctx, plx__scratch(ctx), 4, outside, 1), PLX_E_FORMAT, "place 0");
    assert_fails(ctx, plx__min_df_import(&back, ctx, plx__scratch(ctx), 4, outside, 5), PLX_E_FORMAT, "5 of 4");
    plx_context_destroy(ctx);
}

/* 3000 x 21 normals: same bytes on 1, 2 and 7 threads; columns come out with mean 0 and variance 1. */
static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    enum { N = 3000, D = 21 };
    double *x = malloc(N * D * sizeof *x), *first = malloc(N * D * sizeof *x);
    for (int i = 0; i < N * D; i++) x[i] = 5.0 + plx__rng_normal(3, 1, (uint64_t)i) * (1 + i % D);
    plx__view v = dense_view(x, N, D, NULL);
    for (int kind = PLX__SCALE_UNIT; kind <= PLX__SCALE_TFIDF; kind++)
        for (int threads = 1; threads <= 7; threads += threads == 1 ? 1 : 5) {
            plx_context *ctx = test_context(threads);
            plx__view out;
            fit_apply(ctx, &out, (plx__scale_kind)kind, &v, NULL, &v);
            if (threads == 1) memcpy(first, out.dense.data, N * D * sizeof *x);
            else assert_memory_equal(first, out.dense.data, N * D * sizeof *x);
            plx_context_destroy(ctx);
            if (kind != PLX__SCALE_ZSCORE) continue;
            for (int j = 0; j < D; j++) {
                double s = 0, q = 0;
                for (int i = 0; i < N; i++) s += first[i * D + j], q += first[i * D + j] * first[i * D + j];
                assert_close(s / N, 0, 1e-13);
                assert_close(q / N, 1, 1e-12);
            }
        }
    free(x);
    free(first);
}

static plx_status scale_once(plx_context *ctx)
{
    const double x[] = {1, 2, 3, 5, 0, 1};
    plx__view v = dense_view(x, 3, 2, NULL), out;
    plx__arena own;
    plx__arena_init(&own, ctx);
    plx_status st = PLX_OK;
    plx__scale_kind kinds[] = {PLX__SCALE_ZSCORE, PLX__SCALE_TFIDF};
    for (int k = 0; k < 2 && st == PLX_OK; k++) {
        plx__scaler s;
        plx__min_df f;
        st = plx__scaler_fit(&s, ctx, &own, kinds[k], &v, NULL);
        if (st == PLX_OK) st = plx__scaler_apply(&out, ctx, &own, &s, &v);
        if (st == PLX_OK) st = plx__min_df_fit(&f, ctx, &own, 2, &v, NULL);
        if (st == PLX_OK) st = plx__min_df_apply(&out, ctx, &own, &f, &v);
    }
    plx__arena_free(&own);
    return plx__call_end(ctx, st);
}

static void every_refused_allocation_is_reported(void **state)
{
    (void)state;
    plx_status st = PLX_E_NOMEM;
    long k = 1; /* request 1 is the context itself */
    while (st != PLX_OK && k < 1000) {
        meter m = {0, ++k, 0};
        plx_context *ctx = metered_context(&m, 1);
        st = scale_once(ctx);
        assert_true(st == PLX_OK || st == PLX_E_NOMEM);
        if (st != PLX_OK) assert_true(plx_context_error(ctx)[0]);
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
    }
    assert_true(k > 8 && k < 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_those_of_the_setting),
        cmocka_unit_test(unit_divides_by_the_norm),
        cmocka_unit_test(zscore_uses_fitted_present_rows),
        cmocka_unit_test(zscore_survives_extreme_values),
        cmocka_unit_test(constant_columns_become_zero),
        cmocka_unit_test(zscore_refuses_sparse_views),
        cmocka_unit_test(tfidf_weighs_then_normalises),
        cmocka_unit_test(tfidf_is_applied_unchanged_to_new_rows),
        cmocka_unit_test(none_copies_and_wrong_width_is_refused),
        cmocka_unit_test(state_goes_through_plain_arrays),
        cmocka_unit_test(damaged_state_is_refused),
        cmocka_unit_test(min_df_keeps_frequent_columns),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(every_refused_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
