/* Data sets: what is refused and with which words, what is copied, what is derived. */
#include "plx_test.h"

#include "data/dataset_impl.h"

static const double X[] = {1, 0, 2, 3, 0, 0}; /* 3 x 2 */

static plx_cmat dense3(const double *x, plx_index cols) { return (plx_cmat){x, 3, cols, cols}; }

static plx_dataset *three(plx_context *ctx)
{
    plx_dataset *d = NULL;
    assert_ok(ctx, plx_dataset_create(&d, ctx, "three", 3));
    return d;
}

/* ---- views ---- */

static void bad_views_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"",    "a.b", "a,b", "a:b",  "a|b",    "a+b",
                                        "a/b", "a=b", "a b", "a\tb", "concat", "label"};
    plx_context *ctx = test_context(1);
    plx_dataset *d = three(ctx);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_fails(ctx, plx_dataset_add_dense(d, ctx, names[i], PLX_VIEW_REAL, dense3(X, 2), NULL, NULL), PLX_E_DATA,
                     "name");
    assert_fails(ctx, plx_dataset_add_dense(d, ctx, "v", PLX_VIEW_REAL, (plx_cmat){X, 2, 2, 2}, NULL, NULL), PLX_E_DATA,
                 "2 rows, expected 3");
    assert_fails(ctx, plx_dataset_add_dense(d, ctx, "v", PLX_VIEW_REAL, (plx_cmat){X, 3, 0, 0}, NULL, NULL), PLX_E_DATA,
                 "no columns");
    assert_fails(ctx, plx_dataset_add_dense(d, ctx, "v", (plx_view_kind)9, dense3(X, 2), NULL, NULL), PLX_E_ARG,
                 "kind");
    assert_int_equal(plx_dataset_views(d), 0);
    assert_ok(ctx, plx_dataset_add_dense(d, ctx, "v", PLX_VIEW_COUNTS, dense3(X, 2), NULL, NULL));
    assert_fails(ctx, plx_dataset_add_dense(d, ctx, "v", PLX_VIEW_COUNTS, dense3(X, 2), NULL, NULL), PLX_E_DATA,
                 "duplicate view name");
    plx_dataset_destroy(d);
    assert_fails(ctx, plx_dataset_create(&d, ctx, "none", 0), PLX_E_DATA, "at least one");
    plx_context_destroy(ctx);
}

static void bad_values_name_row_and_column(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = three(ctx);
    const double inf[] = {1, 0, 2, -INFINITY, 0, 0}, neg[] = {1, 0, 2, 3, 0, -2}, two[] = {1, 0, 1, 0, 2, 0};
    assert_fails(ctx, plx_dataset_add_dense(d, ctx, "v", PLX_VIEW_REAL, dense3(inf, 2), NULL, NULL), PLX_E_DATA,
                 "row 1, column 1: infinite");
    assert_fails(ctx, plx_dataset_add_dense(d, ctx, "v", PLX_VIEW_COUNTS, dense3(neg, 2), NULL, NULL), PLX_E_DATA,
                 "row 2, column 1: negative value -2");
    assert_fails(ctx, plx_dataset_add_dense(d, ctx, "v", PLX_VIEW_PROBABILITY, dense3(neg, 2), NULL, NULL), PLX_E_DATA,
                 "probability");
    assert_fails(ctx, plx_dataset_add_dense(d, ctx, "v", PLX_VIEW_BINARY, dense3(two, 2), NULL, NULL), PLX_E_DATA,
                 "row 2, column 0");
    assert_ok(ctx, plx_dataset_add_dense(d, ctx, "v", PLX_VIEW_REAL, dense3(neg, 2), NULL, NULL));
    const uint8_t absent[] = {1, 0, 1};
    assert_ok(ctx,
              plx_dataset_add_dense(d, ctx, "w", PLX_VIEW_REAL, dense3(inf, 2), NULL, absent)); /* nobody reads row 1 */
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void feature_names_are_distinct(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = three(ctx);
    const char *same[] = {"a", "a"}, *empty[] = {"a", ""}, *good[] = {"a", "b"};
    assert_fails(ctx, plx_dataset_add_dense(d, ctx, "v", PLX_VIEW_REAL, dense3(X, 2), same, NULL), PLX_E_DATA,
                 "'a' stands for columns 0 and 1");
    assert_fails(ctx, plx_dataset_add_dense(d, ctx, "v", PLX_VIEW_REAL, dense3(X, 2), empty, NULL), PLX_E_DATA,
                 "column 1");
    assert_ok(ctx, plx_dataset_add_dense(d, ctx, "v", PLX_VIEW_REAL, dense3(X, 2), good, NULL));
    assert_string_equal(plx_dataset_feature(d, 0, 1), "b");
    assert_null(plx_dataset_feature(d, 0, 2));
    assert_null(plx_dataset_feature(d, 1, 0));
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void absent_rows_read_as_zero(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = three(ctx);
    const double x[] = {1, NAN, NAN, NAN, 5, 6};
    const uint8_t present[] = {1, 1, 0};
    plx_view_info info = PLX_VIEW_INFO_INIT;
    plx_cmat m;
    plx_ccsr s;
    assert_ok(ctx, plx_dataset_add_dense(d, ctx, "v", PLX_VIEW_REAL, dense3(x, 2), NULL, present));
    assert_ok(ctx, plx_dataset_view_info(&info, d, 0));
    assert_int_equal(info.present, 1);
    assert_int_equal(info.missing_values, 1);
    assert_int_equal(info.nonzeros, 1);
    assert_int_equal(plx_dataset_present(d, 0)[1], 0);
    assert_ok(ctx, plx_dataset_dense(&m, d, 0));
    for (int i = 2; i < 6; i++) assert_true(m.data[i] == 0);
    assert_int_equal(plx_dataset_sparse(&s, d, 0), PLX_E_ARG);
    assert_int_equal(plx_dataset_dense(&m, d, 1), PLX_E_ARG);
    assert_int_equal(plx_dataset_view_info(&info, d, 7), PLX_E_ARG);
    assert_null(plx_dataset_present(d, 7));
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void sparse_views_are_checked(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = three(ctx);
    int64_t ptr[] = {0, 2, 2, 3}, late[] = {1, 2, 2, 3}, down[] = {0, 2, 1, 3};
    int32_t col[] = {0, 2, 1}, order[] = {2, 0, 1}, far[] = {0, 3, 1}, twice[] = {1, 1, 1};
    double val[] = {1, 0, 3};
    plx_ccsr m;
    plx_view_info info = PLX_VIEW_INFO_INIT;
    assert_fails(ctx,
                 plx_dataset_add_sparse(d, ctx, "v", PLX_VIEW_COUNTS, (plx_ccsr){3, 3, late, col, val}, NULL, NULL),
                 PLX_E_DATA, "view 'v': the first row offset");
    assert_fails(ctx,
                 plx_dataset_add_sparse(d, ctx, "v", PLX_VIEW_COUNTS, (plx_ccsr){3, 3, down, col, val}, NULL, NULL),
                 PLX_E_DATA, "decrease");
    assert_fails(ctx,
                 plx_dataset_add_sparse(d, ctx, "v", PLX_VIEW_COUNTS, (plx_ccsr){3, 3, ptr, order, val}, NULL, NULL),
                 PLX_E_DATA, "view 'v' row 0: column 0 comes after a larger one");
    assert_fails(ctx, plx_dataset_add_sparse(d, ctx, "v", PLX_VIEW_COUNTS, (plx_ccsr){3, 3, ptr, far, val}, NULL, NULL),
                 PLX_E_DATA, "column 3 is outside 0..2");
    assert_fails(ctx,
                 plx_dataset_add_sparse(d, ctx, "v", PLX_VIEW_COUNTS, (plx_ccsr){3, 3, ptr, twice, val}, NULL, NULL),
                 PLX_E_DATA, "twice");
    assert_fails(ctx,
                 plx_dataset_add_sparse(d, ctx, "v", PLX_VIEW_COUNTS, (plx_ccsr){3, 3, ptr, NULL, val}, NULL, NULL),
                 PLX_E_ARG, "NULL");
    assert_ok(ctx, plx_dataset_add_sparse(d, ctx, "v", PLX_VIEW_COUNTS, (plx_ccsr){3, 3, ptr, col, val}, NULL, NULL));
    assert_ok(ctx, plx_dataset_sparse(&m, d, 0));
    assert_int_equal(m.ptr[3], 2); /* the stored zero is gone */
    assert_int_equal(m.col[1], 1);
    assert_ok(ctx, plx_dataset_view_info(&info, d, 0));
    assert_true(info.sparse && info.nonzeros == 2 && info.present == 3);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- ids, labels, hierarchy, costs ---- */

static void ids_and_labels(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = three(ctx);
    const char *same[] = {"a", "b", "a"}, *empty[] = {"a", "", "c"}, *ids[] = {"a", "b", "c"};
    const char *labels[] = {"y|x", "?", NULL}, *truth[] = {"z", "", "-"}, *hollow[] = {"x", "", "y"};
    assert_fails(ctx, plx_dataset_set_ids(d, ctx, same), PLX_E_DATA, "'a' (samples 0 and 2)");
    assert_fails(ctx, plx_dataset_set_ids(d, ctx, empty), PLX_E_DATA, "sample 1");
    assert_null(plx_dataset_id(d, 0));
    assert_ok(ctx, plx_dataset_set_ids(d, ctx, ids));
    assert_string_equal(plx_dataset_id(d, 2), "c");
    assert_null(plx_dataset_id(d, 3));
    assert_fails(ctx, plx_dataset_set_labels(d, ctx, hollow), PLX_E_DATA, "sample 1");
    assert_false(plx_dataset_has_labels(d));
    assert_ok(ctx, plx_dataset_set_labels(d, ctx, labels));
    assert_null(plx_dataset_label(d, 1));
    assert_ok(ctx, plx_dataset_set_truth(d, ctx, truth));
    assert_int_equal(plx_dataset_classes(d), 3);
    assert_string_equal(plx_dataset_class(d, 0), "x");
    assert_string_equal(plx_dataset_class(d, 2), "z");
    assert_null(plx_dataset_class(d, 3));
    assert_ok(ctx, plx_dataset_set_labels(d, ctx, NULL));
    assert_false(plx_dataset_has_labels(d));
    assert_int_equal(plx_dataset_classes(d), 1);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void hierarchies_have_no_cycles(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = three(ctx);
    const char *classes[] = {"food", "fruit", "apple", "org"}, *twice[] = {"a", "a"}, *bar[] = {"a|b"};
    const int32_t chain[] = {1, 0, 2, 1}, cycle[] = {1, 0, 2, 1, 0, 2}, self[] = {1, 1}, far[] = {1, 4},
                  mutex[] = {0, 3};
    const char *unknown[] = {"apple", "appel", NULL}, *good[] = {"apple", "food|fruit", NULL};
    const int32_t *pairs = NULL;
    assert_fails(ctx, plx_dataset_set_hierarchy(d, ctx, classes, 4, cycle, 3, mutex, 1), PLX_E_DATA, "cycle");
    assert_fails(ctx, plx_dataset_set_hierarchy(d, ctx, classes, 4, self, 1, NULL, 0), PLX_E_DATA,
                 "'fruit' with itself");
    assert_fails(ctx, plx_dataset_set_hierarchy(d, ctx, classes, 4, NULL, 0, far, 1), PLX_E_DATA,
                 "mutex pair 0 names class 4 of 4");
    assert_fails(ctx, plx_dataset_set_hierarchy(d, ctx, twice, 2, NULL, 0, NULL, 0), PLX_E_DATA, "'a' is listed twice");
    assert_fails(ctx, plx_dataset_set_hierarchy(d, ctx, bar, 1, NULL, 0, NULL, 0), PLX_E_DATA, "'|'");
    assert_fails(ctx, plx_dataset_set_hierarchy(d, ctx, classes, 0, NULL, 0, NULL, 0), PLX_E_DATA, "no classes");
    assert_int_equal(plx_dataset_subset(&pairs, d), 0);
    assert_null(pairs);
    assert_ok(ctx, plx_dataset_set_hierarchy(d, ctx, classes, 4, chain, 2, mutex, 1));
    assert_int_equal(plx_dataset_subset(&pairs, d), 2);
    assert_int_equal(pairs[2], 2);
    assert_fails(ctx, plx_dataset_set_labels(d, ctx, unknown), PLX_E_DATA,
                 "class 'appel' is not in the hierarchy; did you mean 'apple'?");
    assert_ok(ctx, plx_dataset_set_labels(d, ctx, good));
    assert_fails(ctx, plx_dataset_set_hierarchy(d, ctx, classes, 2, NULL, 0, NULL, 0), PLX_E_DATA, "apple");
    assert_int_equal(plx_dataset_classes(d), 4); /* the old hierarchy stays */
    assert_string_equal(plx_dataset_class(d, 0), "food");
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void costs_are_positive(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = three(ctx);
    const double bad[] = {1, 0, 1}, good[] = {1, 2, 3};
    assert_ok(ctx, plx_dataset_add_dense(d, ctx, "v", PLX_VIEW_REAL, dense3(X, 2), NULL, NULL));
    assert_fails(ctx, plx_dataset_set_label_cost(d, ctx, 0), PLX_E_DATA, "label");
    assert_fails(ctx, plx_dataset_set_label_cost(d, ctx, NAN), PLX_E_DATA, "label");
    assert_fails(ctx, plx_dataset_set_view_cost(d, ctx, 0, -1), PLX_E_DATA, "v");
    assert_fails(ctx, plx_dataset_set_view_cost(d, ctx, 1, 1), PLX_E_ARG, "1");
    assert_fails(ctx, plx_dataset_set_sample_costs(d, ctx, bad), PLX_E_DATA, "sample 1");
    assert_ok(ctx, plx_dataset_set_sample_costs(d, ctx, good));
    assert_true(plx_dataset_sample_cost(d, 2) == 3 && plx_dataset_label_cost(d) == 1);
    assert_ok(ctx, plx_dataset_set_sample_costs(d, ctx, NULL));
    assert_true(plx_dataset_sample_cost(d, 2) == 1);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- deriving ---- */

static plx_dataset *rich(plx_context *ctx)
{
    plx_dataset *d = three(ctx);
    const char *ids[] = {"a", "b", "c"}, *labels[] = {"x", NULL, "y"}, *truth[] = {"x", "y", "y"};
    const double gram[] = {1, 2, 3, 2, 5, 6, 3, 6, 9}, costs[] = {1, 2, 3};
    const uint8_t present[] = {1, 0, 1};
    int64_t ptr[] = {0, 1, 1, 2};
    int32_t col[] = {1, 0};
    double val[] = {4, 5};
    assert_ok(ctx, plx_dataset_set_ids(d, ctx, ids));
    assert_ok(ctx, plx_dataset_add_dense(d, ctx, "v", PLX_VIEW_COUNTS, dense3(X, 2), NULL, NULL));
    assert_ok(ctx,
              plx_dataset_add_sparse(d, ctx, "s", PLX_VIEW_COUNTS, (plx_ccsr){3, 2, ptr, col, val}, NULL, present));
    assert_ok(ctx, plx_dataset_add_dense(d, ctx, "g", PLX_VIEW_KERNEL, dense3(gram, 3), NULL, NULL));
    assert_ok(ctx, plx_dataset_set_labels(d, ctx, labels));
    assert_ok(ctx, plx_dataset_set_truth(d, ctx, truth));
    assert_ok(ctx, plx_dataset_set_sample_costs(d, ctx, costs));
    assert_ok(ctx, plx_dataset_set_view_cost(d, ctx, 1, 7));
    return d;
}

static void select_takes_samples_in_order(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = rich(ctx), *s = NULL;
    const plx_index rows[] = {2, 0}, twice[] = {0, 0}, far[] = {0, 3};
    plx_view_info info = PLX_VIEW_INFO_INIT;
    plx_cmat m;
    plx_ccsr c;
    assert_ok(ctx, plx_dataset_select(&s, ctx, d, rows, 2));
    assert_string_equal(plx_dataset_id(s, 0), "c");
    assert_string_equal(plx_dataset_label(s, 0), "y");
    assert_string_equal(plx_dataset_truth(s, 1), "x");
    assert_true(plx_dataset_sample_cost(s, 0) == 3);
    assert_ok(ctx, plx_dataset_view_info(&info, s, 1));
    assert_true(info.cost == 7 && info.rows == 2 && info.present == 2);
    assert_ok(ctx, plx_dataset_sparse(&c, s, 1));
    assert_true(c.ptr[2] == 2 && c.col[0] == 0 && c.val[0] == 5 && c.col[1] == 1);
    assert_ok(ctx, plx_dataset_dense(&m, s, 2)); /* a kernel view keeps its columns */
    assert_true(m.rows == 2 && m.cols == 3 && m.data[0] == 3 && m.data[m.ld + 2] == 3);
    plx_dataset_destroy(s);
    assert_fails(ctx, plx_dataset_select(&s, ctx, d, far, 2), PLX_E_ARG, "sample 3");
    assert_null(s);
    assert_fails(ctx, plx_dataset_select(&s, ctx, d, twice, 2), PLX_E_DATA, "duplicate id");
    assert_fails(ctx, plx_dataset_select(&s, ctx, d, rows, 0), PLX_E_DATA, "at least one");
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void mask_only_takes_away(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = rich(ctx), *s = NULL;
    const uint8_t fewer[] = {0, 1, 1, 1, 0, 0, 1, 1, 1}, more[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    plx_cmat m;
    assert_ok(ctx, plx_dataset_mask(&s, ctx, d, fewer));
    assert_ok(ctx, plx_dataset_dense(&m, s, 0));
    assert_true(m.data[0] == 0 && m.data[2] == 2);
    assert_int_equal(plx_dataset_present(s, 1)[2], 0);
    plx_dataset_destroy(s);
    assert_fails(ctx, plx_dataset_mask(&s, ctx, d, more), PLX_E_ARG, "view 's' is missing for sample 1");
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void relabel_leaves_the_rest(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = rich(ctx), *s = NULL;
    const char *labels[] = {NULL, "w", NULL};
    assert_ok(ctx, plx_dataset_relabel(&s, ctx, d, labels));
    assert_null(plx_dataset_label(s, 0));
    assert_string_equal(plx_dataset_label(s, 1), "w");
    assert_string_equal(plx_dataset_label(d, 0), "x");
    assert_string_equal(plx_dataset_truth(s, 0), "x");
    plx_dataset_destroy(s);
    assert_ok(ctx, plx_dataset_relabel(&s, ctx, d, NULL));
    assert_false(plx_dataset_has_labels(s));
    plx_dataset_destroy(s);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void refused_memory_leaves_nothing(void **state)
{
    (void)state;
    plx_context *owner = test_context(1);
    plx_dataset *d = rich(owner);
    const plx_index rows[] = {2, 1, 0};
    for (long k = 1;; k++) {
        meter m = {0, 0, 0};
        plx_context *ctx = metered_context(&m, 1);
        plx_dataset *s = NULL;
        long before = m.live;
        m.calls = 0;
        m.fail_at = k;
        plx_status st = plx_dataset_select(&s, ctx, d, rows, 3);
        bool reached = m.calls >= k;
        assert_int_equal(st, reached ? PLX_E_NOMEM : PLX_OK);
        if (reached) assert_true(!s && m.live == before && plx_context_error(ctx)[0]);
        plx_dataset_destroy(s);
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
        if (!reached) break;
    }
    plx_dataset_destroy(d);
    plx_context_destroy(owner);
}

static void kinds_have_names(void **state)
{
    (void)state;
    plx_view_kind k = PLX_VIEW_REAL;
    for (int i = 0; i <= PLX_VIEW_KERNEL; i++) {
        assert_int_equal(plx_view_kind_parse(&k, plx_view_kind_name((plx_view_kind)i)), PLX_OK);
        assert_int_equal(k, i);
    }
    assert_null(plx_view_kind_name((plx_view_kind)5));
    assert_int_equal(plx_view_kind_parse(&k, "Counts"), PLX_E_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_views_are_refused),
        cmocka_unit_test(bad_values_name_row_and_column),
        cmocka_unit_test(feature_names_are_distinct),
        cmocka_unit_test(absent_rows_read_as_zero),
        cmocka_unit_test(sparse_views_are_checked),
        cmocka_unit_test(ids_and_labels),
        cmocka_unit_test(hierarchies_have_no_cycles),
        cmocka_unit_test(costs_are_positive),
        cmocka_unit_test(select_takes_samples_in_order),
        cmocka_unit_test(mask_only_takes_away),
        cmocka_unit_test(relabel_leaves_the_rest),
        cmocka_unit_test(refused_memory_leaves_nothing),
        cmocka_unit_test(kinds_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
