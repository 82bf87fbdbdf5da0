/* Lent values: read where they are, never written, copied only where they cannot stand; kinds guessed; names of arrays;
 * another number of threads. */
#include "plx_test.h"

#include "data/dataset_impl.h"
#include "parallax/model.h"

static plx_dataset *three(plx_context *ctx)
{
    plx_dataset *d = NULL;
    assert_ok(ctx, plx_dataset_create(&d, ctx, "three", 3));
    return d;
}

static const double wide[] = {1, 0, 9, 2, 3, 9, 0, 4, 9}; /* 3 x 2 in rows of 3 */
static const plx_cmat narrow = {wide, 3, 2, 3};

static void dense_values_stay_where_they_are(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = three(ctx), *other = NULL;
    const char *features[] = {"a", "b"};
    plx_cmat seen = {0};
    assert_ok(ctx, plx_dataset_borrow_dense(d, ctx, "v", PLX_VIEW_COUNTS, narrow, features, NULL));
    assert_ok(ctx, plx_dataset_dense(&seen, d, 0));
    assert_ptr_equal(seen.data, wide);
    assert_int_equal(seen.ld, 3);
    assert_string_equal(plx_dataset_feature(d, 0, 1), "b");
    assert_true(plx_dataset_feature(d, 0, 1) != features[1]); /* names are copied */
    plx_view_info info = PLX_VIEW_INFO_INIT;
    assert_int_equal(plx_dataset_view_info(&info, d, 0), PLX_OK);
    assert_int_equal(info.nonzeros, 4);
    assert_int_equal(info.present, 3);
    assert_ok(ctx, plx_dataset_relabel(&other, ctx, d, NULL)); /* made from it: reads the same values */
    assert_ok(ctx, plx_dataset_dense(&seen, other, 0));
    assert_ptr_equal(seen.data, wide);
    plx_dataset_destroy(d);
    plx_dataset_destroy(other);
    plx_context_destroy(ctx);
}

static void missing_rows_are_copied(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = three(ctx);
    const double gaps[] = {1, NAN, NAN, NAN, 5, 6};
    const uint8_t present[] = {1, 1, 0};
    plx_cmat seen = {0}, x = {gaps, 3, 2, 2};
    assert_ok(ctx, plx_dataset_borrow_dense(d, ctx, "nan", PLX_VIEW_REAL, x, NULL, NULL));
    assert_ok(ctx, plx_dataset_dense(&seen, d, 0));
    assert_true(seen.data != gaps);
    assert_true(seen.data[2] == 0 && seen.data[3] == 0 && isnan(seen.data[1]));
    assert_int_equal(plx_dataset_present(d, 0)[1], 0);
    assert_ok(ctx, plx_dataset_borrow_dense(d, ctx, "flags", PLX_VIEW_REAL, narrow, NULL, present));
    assert_ok(ctx, plx_dataset_dense(&seen, d, 1));
    assert_true(seen.data != wide && seen.data[5] == 0);
    assert_true(isnan(gaps[2]) && wide[7] == 4); /* the lender's stay as they are */
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* In read-only memory: a write would be a crash. */
static const int64_t ptr[] = {0, 2, 2, 3};
static const int32_t col[] = {0, 2, 1};
static const double val[] = {1, 2, 3}, zero[] = {1, 0, 3};

static void sparse_values_stay_where_they_are(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = three(ctx);
    plx_ccsr seen = {0};
    assert_ok(ctx,
              plx_dataset_borrow_sparse(d, ctx, "v", PLX_VIEW_COUNTS, (plx_ccsr){3, 4, ptr, col, val}, NULL, NULL));
    assert_ok(ctx, plx_dataset_sparse(&seen, d, 0));
    assert_ptr_equal(seen.ptr, ptr);
    assert_ptr_equal(seen.col, col);
    assert_ptr_equal(seen.val, val);
    assert_ok(ctx,
              plx_dataset_borrow_sparse(d, ctx, "zero", PLX_VIEW_REAL, (plx_ccsr){3, 4, ptr, col, zero}, NULL, NULL));
    assert_ok(ctx, plx_dataset_sparse(&seen, d, 1));
    assert_true(seen.val != zero);
    assert_int_equal(seen.ptr[3], 2);
    const int32_t unsorted[] = {2, 0, 1};
    assert_fails(
        ctx, plx_dataset_borrow_sparse(d, ctx, "w", PLX_VIEW_REAL, (plx_ccsr){3, 4, ptr, unsorted, val}, NULL, NULL),
        PLX_E_DATA, "row 0");
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void lent_values_are_checked(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = three(ctx);
    const double bad[] = {1, 0, 2, -1, 0, INFINITY};
    plx_cmat x = {bad, 3, 2, 2};
    assert_fails(ctx, plx_dataset_borrow_dense(d, ctx, "v", PLX_VIEW_COUNTS, x, NULL, NULL), PLX_E_DATA,
                 "row 1, column 1: negative");
    assert_fails(ctx, plx_dataset_borrow_dense(d, ctx, "v", PLX_VIEW_REAL, x, NULL, NULL), PLX_E_DATA, "row 2");
    assert_fails(ctx, plx_dataset_borrow_dense(d, ctx, "v.w", PLX_VIEW_REAL, narrow, NULL, NULL), PLX_E_DATA, "name");
    assert_fails(ctx, plx_dataset_borrow_dense(d, ctx, "v", PLX_VIEW_REAL, (plx_cmat){wide, 3, 3, 2}, NULL, NULL),
                 PLX_E_ARG, "leading dimension");
    assert_int_equal(plx_dataset_views(d), 0);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void refused_memory_leaves_nothing(void **state)
{
    (void)state;
    for (long k = 1; k < 100; k++) {
        meter m = {0, k, 0};
        const char *features[] = {"a", "b"};
        plx_context *ctx = metered_context(&m, 1);
        if (!ctx) continue;
        plx_dataset *d = NULL;
        plx_status st = plx_dataset_create(&d, ctx, NULL, 3);
        if (st == PLX_OK) st = plx_dataset_borrow_dense(d, ctx, "v", PLX_VIEW_REAL, narrow, features, NULL);
        assert_true(st == PLX_OK || st == PLX_E_NOMEM);
        plx_dataset_destroy(d);
        bool reached = m.calls >= k;
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
        if (!reached) return;
    }
    fail();
}

static void kinds_are_guessed(void **state)
{
    (void)state;
    plx_view_kind kind = PLX_VIEW_KERNEL;
    const double half[] = {1, 2, 0.5};
    assert_int_equal(plx_view_kind_guess_dense(&kind, narrow), PLX_OK);
    assert_int_equal(kind, PLX_VIEW_COUNTS);
    assert_int_equal(plx_view_kind_guess_dense(&kind, (plx_cmat){wide, 1, 2, 3}), PLX_OK); /* 9 is between the rows */
    assert_int_equal(kind, PLX_VIEW_BINARY);
    assert_int_equal(plx_view_kind_guess_sparse(&kind, (plx_ccsr){3, 4, ptr, col, half}), PLX_OK);
    assert_int_equal(kind, PLX_VIEW_REAL);
    assert_int_equal(plx_view_kind_guess_sparse(&kind, (plx_ccsr){3, 4, ptr, col, val}), PLX_OK);
    assert_int_equal(kind, PLX_VIEW_COUNTS);
    assert_int_equal(plx_view_kind_guess_dense(&kind, (plx_cmat){NULL, 1, 1, 1}), PLX_E_ARG);
}

/* ---- models ---- */

static plx_model *fitted(plx_context *ctx)
{
    static const double x[] = {1, 0, 2, 0, 0, 3, 0, 1};
    const char *labels[] = {"p", NULL, "q", NULL}, *features[] = {"left", "right"};
    plx_dataset *d = NULL;
    plx_model *m = NULL;
    assert_ok(ctx, plx_dataset_create(&d, ctx, "four", 4));
    assert_ok(ctx, plx_dataset_borrow_dense(d, ctx, "words", PLX_VIEW_COUNTS, (plx_cmat){x, 4, 2, 2}, features, NULL));
    assert_ok(ctx, plx_dataset_set_labels(d, ctx, labels));
    assert_ok(ctx, plx_fit(&m, ctx, "nb", d, NULL, NULL));
    plx_dataset_destroy(d);
    return m;
}

static void arrays_have_names(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_model *m = fitted(ctx);
    const char *const *names = NULL;
    plx_index count = 0;
    assert_ok(ctx, plx_model_array_names(&names, &count, ctx, m, NULL, "theta.words", 0));
    assert_int_equal(count, 2);
    assert_string_equal(names[1], "q");
    assert_ok(ctx, plx_model_array_names(&names, &count, ctx, m, NULL, "theta.words", 1));
    assert_string_equal(names[0], "left");
    assert_ok(ctx, plx_model_array_names(&names, &count, ctx, m, NULL, "posterior", 0));
    assert_int_equal(count, 4);
    assert_string_equal(names[3], "3");
    assert_fails(ctx, plx_model_array_names(&names, &count, ctx, m, NULL, "theta", 0), PLX_E_ARG, "no array 'theta'");
    assert_null(names);
    assert_fails(ctx, plx_model_array_names(&names, &count, ctx, m, NULL, "posterior", 2), PLX_E_ARG, "dimension = 2");
    plx_model_destroy(m);
    plx_context_destroy(ctx);
}

static void the_number_of_threads_changes_no_byte(void **state)
{
    (void)state;
    plx_context *ctx = test_context(3);
    plx_model *before = fitted(ctx);
    assert_ok(ctx, plx_context_set_threads(ctx, 1));
    assert_int_equal(plx_context_threads(ctx), 1);
    plx_model *after = fitted(ctx);
    plx_cmat a = {0}, b = {0};
    assert_ok(ctx, plx_model_array(&a, before, "posterior"));
    assert_ok(ctx, plx_model_array(&b, after, "posterior"));
    assert_memory_equal(a.data, b.data, (size_t)(a.rows * a.cols) * sizeof(double));
    assert_ok(ctx, plx_context_set_threads(ctx, 2));
    assert_ok(ctx, plx_context_set_threads(ctx, 0));
    assert_true(plx_context_threads(ctx) >= 1);
    assert_fails(ctx, plx_context_set_threads(ctx, -1), PLX_E_ARG, "threads");
    plx_model_destroy(before);
    plx_model_destroy(after);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_values_stay_where_they_are),
        cmocka_unit_test(missing_rows_are_copied),
        cmocka_unit_test(sparse_values_stay_where_they_are),
        cmocka_unit_test(lent_values_are_checked),
        cmocka_unit_test(refused_memory_leaves_nothing),
        cmocka_unit_test(kinds_are_guessed),
        cmocka_unit_test(arrays_have_names),
        cmocka_unit_test(the_number_of_threads_changes_no_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
