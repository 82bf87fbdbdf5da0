/* New data in a model's terms: views and columns by name, never by position. */
#include "fit_helpers.h"

enum { N = 8 };

/* Two views with names, three columns each; the first column tells the classes apart. */
static const char *const F1[] = {"alpha", "beta", "gamma"}, *const F2[] = {"x", "y", "z"};

static void fill(double *x, int seed)
{
    for (int i = 0; i < N; i++)
        for (int f = 0; f < 3; f++) x[i * 3 + f] = 1 + (i * 5 + f * 3 + seed) % 4 + (f == 0 ? 4 * (i % 2) : 0);
}

static plx_dataset *training(plx_context *ctx, plx_view_kind kind)
{
    plx_dataset *d = new_dataset(ctx, N);
    double x[N * 3];
    fill(x, 1);
    assert_ok(ctx, plx_dataset_add_dense(d, ctx, "one", kind, (plx_cmat){x, N, 3, 3}, F1, NULL));
    fill(x, 2);
    assert_ok(ctx, plx_dataset_add_dense(d, ctx, "two", kind, (plx_cmat){x, N, 3, 3}, F2, NULL));
    set_labels(d, ctx, (int[]){0, 1, 0, 1, 0, 1, 0, 1});
    return d;
}

typedef struct desk {
    plx_context *ctx;
    plx_dataset *data;
    plx_model *model;
} desk;

static desk open_desk(plx_view_kind kind)
{
    desk k = {.ctx = test_context(1)};
    k.data = training(k.ctx, kind);
    k.model = fit_model(k.ctx, "nb", k.data, NULL);
    return k;
}

static void close_desk(desk *k)
{
    plx_model_destroy(k->model);
    plx_dataset_destroy(k->data);
    plx_context_destroy(k->ctx);
}

static plx_cmat matched_view(plx_dataset *m, plx_index v)
{
    plx_cmat x = {0};
    assert_int_equal(plx_dataset_dense(&x, m, v), PLX_OK);
    return x;
}

/* ---- tests ---- */

static void columns_find_their_places(void **state)
{
    (void)state;
    desk k = open_desk(PLX_VIEW_COUNTS);
    plx_dataset *d = new_dataset(k.ctx, 2), *m = NULL;
    const char *names[] = {"gamma", "delta", "alpha"};
    const double x[] = {1, 2, 3, 4, 5, 6};
    const uint8_t present[] = {1, 1};
    assert_ok(k.ctx, plx_dataset_add_dense(d, k.ctx, "one", PLX_VIEW_COUNTS, (plx_cmat){x, 2, 3, 3}, names, present));
    assert_ok(k.ctx, plx__match_data(&m, k.ctx, k.model, d));
    const double expected[] = {3, 0, 1, 6, 0, 4};
    assert_same_matrix(matched_view(m, 0), (plx_cmat){expected, 2, 3, 3}, 0);
    assert_string_equal(plx_dataset_feature(m, 0, 0), "alpha");
    assert_int_equal(plx_dataset_views(m), 2); /* the other is there, missing for everybody */
    assert_int_equal(plx_dataset_present(m, 1)[0] + plx_dataset_present(m, 1)[1], 0);
    plx_dataset_destroy(m);
    plx_dataset_destroy(d);
    close_desk(&k);
}

static void unknown_things_are_warned_about(void **state)
{
    (void)state;
    desk k = open_desk(PLX_VIEW_COUNTS);
    plx_dataset *d = training(k.ctx, PLX_VIEW_COUNTS);
    plx_prediction *p = NULL, *plain = NULL;
    const char *names[] = {"x", "y", "z", "w"};
    double x[N * 4] = {0}, old[N * 3];
    fill(old, 2);
    for (int i = 0; i < N; i++) memcpy(x + i * 4, old + i * 3, 3 * sizeof *x);
    for (int i = 0; i < N; i++) x[i * 4 + 3] = i % 3 ? 9 : NAN; /* what nobody knows may hold anything */
    plx_dataset *more = new_dataset(k.ctx, N);
    add_dense(more, k.ctx, "noise", PLX_VIEW_REAL, x, 2, NULL);
    assert_ok(k.ctx, plx_dataset_add_dense(more, k.ctx, "two", PLX_VIEW_REAL, (plx_cmat){x, N, 4, 4}, names, NULL));
    fill(old, 1);
    assert_ok(k.ctx, plx_dataset_add_dense(more, k.ctx, "one", PLX_VIEW_COUNTS, (plx_cmat){old, N, 3, 3}, F1, NULL));
    assert_ok(k.ctx, plx_predict(&plain, k.ctx, k.model, d));
    assert_int_equal(plx_prediction_warnings(plain), 0);
    assert_ok(k.ctx, plx_predict(&p, k.ctx, k.model, more));
    assert_same_matrix(plx_prediction_scores(p), plx_prediction_scores(plain), 0);
    assert_int_equal(plx_prediction_warnings(p), 2);
    assert_non_null(
        strstr(plx_prediction_warning(p, 0), "view 'two': 1 feature is unknown to the model and ignored, e.g. 'w'"));
    assert_non_null(strstr(plx_prediction_warning(p, 1), "view 'noise'"));
    plx_prediction_destroy(p);
    plx_prediction_destroy(plain);
    plx_dataset_destroy(more);
    plx_dataset_destroy(d);
    close_desk(&k);
}

static void missing_features_depend_on_the_kind(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3, 4};
    const char *names[] = {"gamma", "alpha"}, *others[] = {"u", "v"};
    for (int real = 0; real < 2; real++) {
        desk k = open_desk(real ? PLX_VIEW_REAL : PLX_VIEW_COUNTS);
        plx_dataset *d = new_dataset(k.ctx, 2), *other = new_dataset(k.ctx, 2), *m = NULL;
        assert_ok(k.ctx, plx_dataset_add_dense(d, k.ctx, "one", PLX_VIEW_REAL, (plx_cmat){x, 2, 2, 2}, names, NULL));
        if (real)
            assert_fails(k.ctx, plx__match_data(&m, k.ctx, k.model, d), PLX_E_DATA,
                         "view 'one' lacks 1 of the 3 features the model was fitted with: 'beta'");
        else assert_ok(k.ctx, plx__match_data(&m, k.ctx, k.model, d));
        plx_dataset_destroy(m);
        assert_ok(k.ctx,
                  plx_dataset_add_dense(other, k.ctx, "one", PLX_VIEW_REAL, (plx_cmat){x, 2, 2, 2}, others, NULL));
        m = NULL;
        if (real) {
            assert_fails(k.ctx, plx__match_data(&m, k.ctx, k.model, other), PLX_E_DATA, "none of its 2 features");
            assert_null(m);
        } else { /* words the model has never seen: nothing occurs that it knows */
            plx_prediction *p = NULL;
            assert_ok(k.ctx, plx_predict(&p, k.ctx, k.model, other));
            assert_non_null(strstr(plx_prediction_warning(p, 0), "view 'one': none of its 2 features is known"));
            plx_prediction_destroy(p);
        }
        plx_dataset_destroy(other);
        plx_dataset_destroy(d);
        close_desk(&k);
    }
}

/* The first five are named. */
static void missing_features_are_listed(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    double x[16];
    plx_dataset *d = new_dataset(ctx, 2), *fresh = new_dataset(ctx, 2), *m = NULL;
    for (int i = 0; i < 16; i++) x[i] = 1 + i % 5;
    assert_ok(ctx, plx_dataset_add_dense(d, ctx, "v", PLX_VIEW_REAL, (plx_cmat){x, 2, 8, 8}, names, NULL));
    assert_ok(ctx, plx_dataset_add_dense(fresh, ctx, "v", PLX_VIEW_REAL, (plx_cmat){x, 2, 1, 1}, names + 1, NULL));
    set_labels(d, ctx, (int[]){0, 1});
    plx_model *model = fit_model(ctx, "rls", d, NULL);
    assert_fails(ctx, plx__match_data(&m, ctx, model, fresh), PLX_E_DATA,
                 "view 'v' lacks 7 of the 8 features the model was fitted with: 'a', 'c', 'd', 'e', 'f' and 2 more");
    plx_model_destroy(model);
    plx_dataset_destroy(d);
    plx_dataset_destroy(fresh);
    plx_context_destroy(ctx);
}

/* Single files name their view after themselves: one view on either side is found by its columns. */
static void one_view_may_have_another_name(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const double x[] = {1, 2, 3, 6, 5, 4};
    static const char *const mixed[] = {"gamma", "alpha", "beta"}, *const others[] = {"alpha", "beta", "delta"};
    for (int named = 0; named < 2; named++) {
        plx_dataset *d = new_dataset(ctx, 2), *fresh = new_dataset(ctx, 2), *bad = new_dataset(ctx, 2), *m = NULL;
        assert_ok(ctx, plx_dataset_add_dense(d, ctx, "table", PLX_VIEW_REAL, (plx_cmat){x, 2, 3, 3}, named ? F1 : NULL,
                                             NULL));
        set_labels(d, ctx, (int[]){0, 1});
        plx_model *model = fit_model(ctx, "rls", d, NULL);
        assert_ok(ctx, plx_dataset_add_dense(fresh, ctx, "new", PLX_VIEW_COUNTS, (plx_cmat){x, 2, 3, 3},
                                             named ? mixed : NULL, NULL));
        assert_ok(ctx, plx__match_data(&m, ctx, model, fresh));
        const double by_name[] = {2, 3, 1, 5, 4, 6};
        assert_same_matrix(matched_view(m, 0), (plx_cmat){named ? by_name : x, 2, 3, 3}, 0);
        plx_dataset_destroy(m);
        assert_ok(ctx, plx_dataset_add_dense(bad, ctx, "new", PLX_VIEW_REAL,
                                             named ? (plx_cmat){x, 2, 3, 3} : (plx_cmat){x, 2, 2, 3},
                                             named ? others : NULL, NULL));
        assert_fails(ctx, plx__match_data(&m, ctx, model, bad), PLX_E_DATA,
                     "none of the model's views: it has new, the model knows table");
        plx_model_destroy(model);
        plx_dataset_destroy(d);
        plx_dataset_destroy(fresh);
        plx_dataset_destroy(bad);
    }
    plx_context_destroy(ctx);
}

/* A model says which views it uses: the others of new data are not looked at. */
static void unused_views_do_not_block(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = training(ctx, PLX_VIEW_REAL), *fresh = new_dataset(ctx, 2), *alone = new_dataset(ctx, 2);
    plx_model *model = fit_model(ctx, "rls", d, SETTINGS("view=one"));
    const double x[] = {1, 2, 3, 4, 5, 6}, odd[] = {1, NAN, 2, 3};
    plx_prediction *p = NULL;
    assert_ok(ctx, plx_dataset_add_dense(fresh, ctx, "one", PLX_VIEW_REAL, (plx_cmat){x, 2, 3, 3}, F1, NULL));
    assert_ok(ctx, plx_dataset_add_dense(fresh, ctx, "two", PLX_VIEW_REAL, (plx_cmat){odd, 2, 2, 2}, F2, NULL));
    assert_ok(ctx, plx_predict(&p, ctx, model, fresh));
    assert_int_equal(plx_prediction_warnings(p), 0);
    plx_prediction_destroy(p);
    assert_ok(ctx, plx_dataset_add_dense(alone, ctx, "two", PLX_VIEW_REAL, (plx_cmat){x, 2, 3, 3}, F2, NULL));
    assert_ok(ctx,
              plx_predict(&p, ctx, model, alone)); /* samples without the view that counts: the most frequent class */
    assert_int_equal(plx_prediction_warnings(p), 1);
    plx_prediction_destroy(p);
    plx_model_destroy(model);
    plx_dataset_destroy(d);
    plx_dataset_destroy(fresh);
    plx_dataset_destroy(alone);
    plx_context_destroy(ctx);
}

/* Many entries per row in the reverse order, against a dense copy. */
static void long_sparse_rows_are_reordered(void **state)
{
    (void)state;
    enum { COLS = 500 };
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, 2), *fresh = new_dataset(ctx, 2), *m = NULL;
    static char text[COLS][16];
    const char *names[COLS], *reverse[COLS];
    static double x[2 * COLS], back[2 * COLS];
    for (int j = 0; j < COLS; j++) {
        snprintf(text[j], sizeof text[j], "f%d", j);
        names[j] = reverse[COLS - 1 - j] = text[j];
        for (int i = 0; i < 2; i++) x[i * COLS + j] = back[i * COLS + COLS - 1 - j] = (i + 3 * j) % 7;
    }
    int64_t ptr[] = {0, 0, 0}, nnz = 0;
    static int32_t col[2 * COLS];
    static double val[2 * COLS];
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < COLS; j++)
            if (back[i * COLS + j] != 0) {
                col[nnz] = j;
                val[nnz++] = back[i * COLS + j];
            }
        ptr[i + 1] = nnz;
    }
    assert_ok(ctx, plx_dataset_add_dense(d, ctx, "v", PLX_VIEW_COUNTS, (plx_cmat){x, 2, COLS, COLS}, names, NULL));
    set_labels(d, ctx, (int[]){0, 1});
    plx_model *model = fit_model(ctx, "nb", d, NULL);
    assert_ok(ctx, plx_dataset_add_sparse(fresh, ctx, "v", PLX_VIEW_COUNTS, (plx_ccsr){2, COLS, ptr, col, val}, reverse,
                                          NULL));
    assert_ok(ctx, plx__match_data(&m, ctx, model, fresh));
    assert_same_matrix(matched_view(m, 0), (plx_cmat){x, 2, COLS, COLS}, 0);
    plx_dataset_destroy(m);
    plx_model_destroy(model);
    plx_dataset_destroy(d);
    plx_dataset_destroy(fresh);
    plx_context_destroy(ctx);
}

/* The place of a nan is told in the terms of the caller: row and column from 0, feature name. */
static void nan_is_placed(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = training(ctx, PLX_VIEW_REAL), *fresh = new_dataset(ctx, 2), *plain = new_dataset(ctx, 2);
    plx_model *model = fit_model(ctx, "rls", d, NULL), *none = NULL;
    plx_prediction *p = NULL;
    const double x[] = {1, 2, 3, 4, NAN, NAN};
    static const char *const mixed[] = {"gamma", "alpha", "beta"};
    assert_ok(ctx, plx_dataset_add_dense(fresh, ctx, "one", PLX_VIEW_REAL, (plx_cmat){x, 2, 3, 3}, mixed, NULL));
    assert_fails(ctx, plx_predict(&p, ctx, model, fresh), PLX_E_DATA,
                 "rls: view 'one' row 1, column 0 ('alpha'): nan; this method accepts missing views, not missing "
                 "values");
    add_thin(plain, ctx, "w", PLX_VIEW_REAL, x, 3, NULL);
    set_labels(plain, ctx, (int[]){0, 1});
    assert_fails(ctx, try_fit(&none, ctx, "rls", plain, NULL, NULL), PLX_E_DATA, "view 'w' row 1, column 1: nan;");
    plx_model_destroy(model);
    plx_dataset_destroy(d);
    plx_dataset_destroy(fresh);
    plx_dataset_destroy(plain);
    plx_context_destroy(ctx);
}

/* Columns without names are called 0, 1, 2, ...: names that are numbers match them. */
static void numbers_are_names(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, 2), *fresh = new_dataset(ctx, 1), *named = new_dataset(ctx, 1), *m = NULL;
    const char *names[] = {"2", "0", "1"};
    add_dense(d, ctx, "v", PLX_VIEW_REAL, (double[]){1, 2, 3, 4, 5, 6}, 3, NULL);
    set_labels(d, ctx, (int[]){0, 1});
    plx_model *model = fit_model(ctx, "nb", d, NULL);
    assert_ok(ctx, plx_dataset_add_dense(fresh, ctx, "v", PLX_VIEW_REAL, (plx_cmat){(double[]){7, 8, 9}, 1, 3, 3},
                                         names, NULL));
    assert_ok(ctx, plx__match_data(&m, ctx, model, fresh));
    assert_same_matrix(matched_view(m, 0), (plx_cmat){(double[]){8, 9, 7}, 1, 3, 3}, 0);
    plx_dataset_destroy(m);
    assert_ok(
        ctx, plx_dataset_add_dense(named, ctx, "v", PLX_VIEW_REAL, (plx_cmat){(double[]){7, 8, 9}, 1, 3, 3}, F1, NULL));
    assert_fails(ctx, plx__match_data(&m, ctx, model, named), PLX_E_DATA, "give the features the same names");
    plx_model_destroy(model);
    plx_dataset_destroy(d);
    plx_dataset_destroy(fresh);
    plx_dataset_destroy(named);
    plx_context_destroy(ctx);
}

static void storage_follows_the_model(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const double x[] = {1, 0, 2, 0, 3, 4};
    for (int sparse = 0; sparse < 2; sparse++) {
        plx_dataset *d = new_dataset(ctx, 2), *fresh = new_dataset(ctx, 2), *m = NULL;
        if (sparse) add_thin(d, ctx, "v", PLX_VIEW_COUNTS, x, 3, NULL);
        else add_dense(d, ctx, "v", PLX_VIEW_COUNTS, x, 3, NULL);
        if (sparse) add_dense(fresh, ctx, "v", PLX_VIEW_COUNTS, x, 3, NULL);
        else add_thin(fresh, ctx, "v", PLX_VIEW_COUNTS, x, 3, NULL);
        set_labels(d, ctx, (int[]){0, 1});
        plx_model *model = fit_model(ctx, "nb", d, NULL);
        assert_ok(ctx, plx__match_data(&m, ctx, model, fresh));
        plx_ccsr s;
        if (sparse) {
            assert_ok(ctx, plx_dataset_sparse(&s, m, 0));
            assert_true(s.ptr[2] == 4 && s.col[1] == 2 && s.val[1] == 2);
        } else {
            assert_same_matrix(matched_view(m, 0), (plx_cmat){x, 2, 3, 3}, 0);
        }
        plx_dataset_destroy(m);
        plx_model_destroy(model);
        plx_dataset_destroy(d);
        plx_dataset_destroy(fresh);
    }
    plx_context_destroy(ctx);
}

static void strange_data_are_refused(void **state)
{
    (void)state;
    desk k = open_desk(PLX_VIEW_COUNTS);
    plx_dataset *d = new_dataset(k.ctx, 3), *other = new_dataset(k.ctx, 2);
    plx_prediction *p = NULL;
    const double x[] = {1, 2, 3, 2, 1, 4, 3, 4, 1};
    add_dense(d, k.ctx, "one", PLX_VIEW_KERNEL, x, 3, NULL);
    assert_fails(k.ctx, plx_predict(&p, k.ctx, k.model, d), PLX_E_DATA,
                 "view 'one' is of kind kernel, the model was fitted with kind counts");
    add_dense(other, k.ctx, "three", PLX_VIEW_COUNTS, x, 2, NULL);
    assert_fails(k.ctx, plx_predict(&p, k.ctx, k.model, other), PLX_E_DATA,
                 "none of the model's views: it has three, the model knows one, two; name the view so");
    assert_null(p);
    plx_dataset_destroy(other);
    plx_dataset_destroy(d);
    close_desk(&k);
}

/* Kernel views: columns are the fitted samples, found by their ids. */
static void kernel_columns_go_by_id(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, 3), *a = new_dataset(ctx, 1), *b = new_dataset(ctx, 1);
    const char *ids[] = {"p", "q", "r"}, *mixed[] = {"r", "p", "q"}, *less[] = {"r", "p"};
    plx_prediction *x = NULL, *y = NULL;
    assert_ok(ctx, plx_dataset_set_ids(d, ctx, ids));
    add_dense(d, ctx, "g", PLX_VIEW_KERNEL, (double[]){4, 1, 2, 1, 3, 0, 2, 0, 5}, 3, NULL);
    set_labels(d, ctx, (int[]){0, 1, 0});
    plx_model *m = fit_model(ctx, "rls", d, NULL);
    assert_ok(ctx,
              plx_dataset_add_dense(a, ctx, "g", PLX_VIEW_KERNEL, (plx_cmat){(double[]){1, 2, 3}, 1, 3, 3}, ids, NULL));
    assert_ok(ctx, plx_dataset_add_dense(b, ctx, "g", PLX_VIEW_KERNEL, (plx_cmat){(double[]){3, 1, 2}, 1, 3, 3}, mixed,
                                         NULL));
    assert_ok(ctx, plx_predict(&x, ctx, m, a));
    assert_ok(ctx, plx_predict(&y, ctx, m, b));
    assert_same_matrix(plx_prediction_scores(x), plx_prediction_scores(y), 0);
    plx_prediction_destroy(y);
    plx_dataset_destroy(b);
    b = new_dataset(ctx, 1);
    assert_ok(ctx,
              plx_dataset_add_dense(b, ctx, "g", PLX_VIEW_KERNEL, (plx_cmat){(double[]){3, 1}, 1, 2, 2}, less, NULL));
    assert_fails(ctx, plx_predict(&y, ctx, m, b), PLX_E_DATA, "'q'");
    plx_prediction_destroy(x);
    plx_model_destroy(m);
    plx_dataset_destroy(a);
    plx_dataset_destroy(b);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_find_their_places),
        cmocka_unit_test(unknown_things_are_warned_about),
        cmocka_unit_test(missing_features_depend_on_the_kind),
        cmocka_unit_test(numbers_are_names),
        cmocka_unit_test(storage_follows_the_model),
        cmocka_unit_test(strange_data_are_refused),
        cmocka_unit_test(kernel_columns_go_by_id),
        cmocka_unit_test(missing_features_are_listed),
        cmocka_unit_test(one_view_may_have_another_name),
        cmocka_unit_test(unused_views_do_not_block),
        cmocka_unit_test(long_sparse_rows_are_reordered),
        cmocka_unit_test(nan_is_placed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
