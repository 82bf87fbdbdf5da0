/*
 * Kernel views: columns are samples. They follow their rows through joining, selecting, files, holding out and
 * prediction. A linear kernel given as a matrix must behave like the features it was made from.
 */
#include "fit_helpers.h"

enum { N = 12, D = 3, SEED = 7 };

static const char *const IDS[] = {"q", "w", "e", "r", "t", "z", "u", "i", "o", "p", "a", "s"};
static const char *const OTHER[] = {"c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9", "c10", "c11"};
static const char FLAGS[] = "0\n1\n0\n0\n0\n1\n0\n0\n0\n0\n1\n0\n";
static const plx_index HELD[] = {1, 5, 10}, REST[] = {0, 2, 3, 4, 6, 7, 8, 9, 11};

#include "heldout_desk.h"

static plx_dataset *kernel_data(desk *k, const char *const *ids, const char *const *features, bool sparse)
{
    plx_dataset *d = new_dataset(k->ctx, N);
    if (ids) assert_ok(k->ctx, plx_dataset_set_ids(d, k->ctx, ids));
    if (sparse) add_thin(d, k->ctx, "g", PLX_VIEW_KERNEL, k->gram, N, NULL);
    else
        assert_ok(k->ctx,
                  plx_dataset_add_dense(d, k->ctx, "g", PLX_VIEW_KERNEL, (plx_cmat){k->gram, N, N, N}, features, NULL));
    set_labels(d, k->ctx, k->label);
    return d;
}

static plx_dataset *feature_data(desk *k)
{
    plx_dataset *d = new_dataset(k->ctx, N);
    add_dense(d, k->ctx, "v", PLX_VIEW_REAL, k->x, D, NULL);
    set_labels(d, k->ctx, k->label);
    return d;
}

/* Fit on REST and predict HELD, both parts of d; through files when asked. */
static void fit_and_predict_parts(desk *k, const plx_dataset *d, bool files, double scores[3][2])
{
    plx_dataset *fit = NULL, *rest = NULL;
    plx_model *m = NULL;
    plx_prediction *p = NULL;
    assert_ok(k->ctx, plx_dataset_select(&fit, k->ctx, d, REST, 9));
    assert_ok(k->ctx, plx_dataset_select(&rest, k->ctx, d, HELD, 3));
    if (files) {
        char a[96], b[96];
        snprintf(a, sizeof a, "%s/fit", k->directory);
        snprintf(b, sizeof b, "%s/rest", k->directory);
        assert_ok(k->ctx, plx_dataset_write(k->ctx, fit, a));
        assert_ok(k->ctx, plx_dataset_write(k->ctx, rest, b));
        plx_dataset_destroy(fit);
        plx_dataset_destroy(rest);
        assert_ok(k->ctx, plx_dataset_read(&fit, k->ctx, a, NULL));
        assert_ok(k->ctx, plx_dataset_read(&rest, k->ctx, b, NULL));
        char command[256];
        snprintf(command, sizeof command, "rm -r '%s' '%s'", a, b);
        assert_int_equal(system(command), 0);
    }
    m = fit_model(k->ctx, "rls", fit, NULL);
    assert_ok(k->ctx, plx_predict(&p, k->ctx, m, rest));
    assert_int_equal(plx_prediction_warnings(p), 0);
    plx_cmat s = plx_prediction_scores(p);
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 2; c++) scores[i][c] = s.data[i * s.ld + c];
    plx_prediction_destroy(p);
    plx_model_destroy(m);
    plx_dataset_destroy(fit);
    plx_dataset_destroy(rest);
}

/* With and without ids, with names of their own on the columns, dense and sparse, in memory and through files. */
static void parts_can_be_fitted_and_predicted(void **state)
{
    (void)state;
    desk k;
    open_desk(&k);
    double want[3][2], got[3][2];
    plx_dataset *plain = feature_data(&k);
    fit_and_predict_parts(&k, plain, false, want);
    for (int variant = 0; variant < 12; variant++) {
        const char *const *ids = variant & 1 ? IDS : NULL;
        const char *const *features = variant / 4 == 1 ? OTHER : NULL;
        plx_dataset *d = kernel_data(&k, ids, features, variant / 4 == 2);
        fit_and_predict_parts(&k, d, variant & 2, got);
        for (int i = 0; i < 3; i++)
            for (int c = 0; c < 2; c++) assert_close(got[i][c], want[i][c], 1e-9);
        plx_dataset_destroy(d);
    }
    plx_dataset_destroy(plain);
    close_desk(&k);
}

static void heldout_goes_by_name_or_place(void **state)
{
    (void)state;
    desk k;
    open_desk(&k);
    plx_dataset *plain = feature_data(&k);
    plx_model *want = NULL;
    assert_ok(k.ctx, try_fit(&want, k.ctx, "rls", plain, SETTINGS("heldout=held.txt"), k.directory));
    const char *const *const names[] = {NULL, IDS, OTHER};
    for (int f = 0; f < 3; f++)
        for (int ids = 0; ids < 2; ids++) {
            plx_dataset *d = kernel_data(&k, ids ? IDS : NULL, names[f], false);
            plx_model *m = NULL;
            assert_ok(k.ctx, try_fit(&m, k.ctx, "rls", d, SETTINGS("heldout=held.txt"), k.directory));
            assert_same_matrix(array_of(m, "scores"), array_of(want, "scores"), 1e-9);
            assert_int_equal(plx_model_warnings(m), plx_model_warnings(want));
            plx_model_destroy(m);
            plx_dataset_destroy(d);
        }
    plx_model_destroy(want);
    plx_dataset_destroy(plain);
    close_desk(&k);
}

/* Columns in another order than the rows, told by their names. */
static void named_columns_may_be_shuffled(void **state)
{
    (void)state;
    desk k;
    open_desk(&k);
    double shuffled[N * N];
    const char *names[N];
    for (int j = 0; j < N; j++) {
        int from = (5 * j + 3) % N;
        names[j] = IDS[from];
        for (int i = 0; i < N; i++) shuffled[i * N + j] = k.gram[i * N + from];
    }
    plx_dataset *a = kernel_data(&k, IDS, NULL, false);
    memcpy(k.gram, shuffled, sizeof shuffled);
    plx_dataset *b = kernel_data(&k, IDS, names, false);
    plx_model *x = fit_model(k.ctx, "rls", a, NULL), *y = fit_model(k.ctx, "rls", b, NULL);
    assert_same_matrix(array_of(x, "scores"), array_of(y, "scores"), 0);
    plx_prediction *p = NULL, *q = NULL; /* the data of the fit as new data */
    assert_ok(k.ctx, plx_predict(&p, k.ctx, x, b));
    assert_ok(k.ctx, plx_predict(&q, k.ctx, y, a));
    assert_same_matrix(plx_prediction_scores(p), array_of(x, "scores"), 1e-9);
    assert_same_matrix(plx_prediction_scores(q), array_of(x, "scores"), 1e-9);
    plx_prediction_destroy(p);
    plx_prediction_destroy(q);
    plx_model_destroy(x);
    plx_model_destroy(y);
    plx_dataset_destroy(a);
    plx_dataset_destroy(b);
    close_desk(&k);
}

static void every_sample_needs_its_column(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, 2), *e = new_dataset(ctx, 2);
    const char *ids[] = {"a", "b"}, *names[] = {"c", "a", "d"};
    const double x[] = {1, 2, 3, 4, 5, 6};
    plx_model *m = NULL;
    assert_ok(ctx, plx_dataset_set_ids(d, ctx, ids));
    assert_ok(ctx, plx_dataset_add_dense(d, ctx, "g", PLX_VIEW_KERNEL, (plx_cmat){x, 2, 3, 3}, names, NULL));
    set_labels(d, ctx, (int[]){0, 1});
    assert_fails(ctx, try_fit(&m, ctx, "rls", d, NULL, NULL), PLX_E_DATA,
                 "kernel view 'g' has no column for sample 'b'");
    add_dense(e, ctx, "g", PLX_VIEW_KERNEL, x, 3, NULL);
    set_labels(e, ctx, (int[]){0, 1});
    assert_fails(ctx, try_fit(&m, ctx, "rls", e, NULL, NULL), PLX_E_DATA, "kernel view 'g' is 2 x 3, expected 2 x 2");
    plx_dataset_destroy(d);
    plx_dataset_destroy(e);
    plx_context_destroy(ctx);
}

/* Sample 1 lacks the view: nan in its row and its column. */
static void nan_may_stand_for_a_missing_sample(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const double x[] = {4, NAN, 2, NAN, NAN, NAN, 2, NAN, 5};
    for (int sparse = 0; sparse < 2; sparse++) {
        plx_dataset *d = new_dataset(ctx, 3);
        plx_view_info info = PLX_VIEW_INFO_INIT;
        if (sparse) add_thin(d, ctx, "g", PLX_VIEW_KERNEL, x, 3, NULL);
        else add_dense(d, ctx, "g", PLX_VIEW_KERNEL, x, 3, NULL);
        add_dense(d, ctx, "v", PLX_VIEW_REAL, (double[]){1, 2, 3}, 1, NULL);
        set_labels(d, ctx, (int[]){0, 1, 1});
        assert_int_equal(plx_dataset_view_info(&info, d, 0), PLX_OK);
        assert_true(info.present == 2 && info.missing_values == 0 && info.nonzeros == 4);
        plx_model *m = fit_model(ctx, "rls", d, SETTINGS("view=g"));
        plx_model_destroy(m);
        plx_dataset_destroy(d);
    }
    plx_dataset *d = new_dataset(ctx, 3); /* nan between two that have it */
    plx_model *m = NULL;
    add_dense(d, ctx, "g", PLX_VIEW_KERNEL, (double[]){4, 1, NAN, 1, 3, 0, NAN, 0, 5}, 3, NULL);
    set_labels(d, ctx, (int[]){0, 1, 1});
    assert_fails(ctx, try_fit(&m, ctx, "rls", d, NULL, NULL), PLX_E_DATA, "view 'g' row 0, column 2 ('2'): nan");
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- joining ---- */

/* Rows and columns r p s of a symmetric matrix, samples p q r s:
 * (p,p)=3, (p,r)=1, (p,s)=2, (r,r)=4, (r,s)=5, (s,s)=6. */
static const double JOINED[] = {3, 0, 1, 2, 0, 0, 0, 0, 1, 0, 4, 5, 2, 0, 5, 6};

static void columns_are_joined_with_their_rows(void **state)
{
    (void)state;
    static const char *const views[] = {
        "{\"name\": \"g\", \"file\": \"g.csv\", \"kind\": \"kernel\", \"ids\": \"g.ids\"}",
        "{\"name\": \"g\", \"file\": \"g.mtx\", \"kind\": \"kernel\", \"ids\": \"g.ids\"}",
        "{\"name\": \"g\", \"file\": \"g.csv\", \"kind\": \"kernel\", \"ids\": \"g.ids\", \"features\": \"g.names\"}"};
    desk k;
    open_desk(&k);
    write_file(k.directory, "a.csv", "1\n2\n3\n4\n");
    write_file(k.directory, "a.ids", "p\nq\nr\ns\n");
    write_file(k.directory, "g.csv", "4,1,5\n1,3,2\n5,2,6\n");
    write_file(k.directory, "g.mtx",
               "%%MatrixMarket matrix coordinate real symmetric\n3 3 6\n"
               "1 1 4\n2 1 1\n2 2 3\n3 1 5\n3 2 2\n3 3 6\n");
    write_file(k.directory, "g.ids", "r\np\ns\n");
    write_file(k.directory, "g.names", "x\ny\nz\n");
    for (int v = 0; v < 3; v++) {
        char json[512];
        snprintf(json, sizeof json,
                 "{\"parallax\": 1, \"name\": \"j\", \"views\": [{\"name\": \"a\", \"file\": \"a.csv\", "
                 "\"kind\": \"real\", \"ids\": \"a.ids\"}, %s]}",
                 views[v]);
        write_file(k.directory, "dataset.json", json);
        plx_dataset *d = NULL;
        plx_cmat g;
        plx_ccsr s;
        double full[16] = {0};
        assert_ok(k.ctx, plx_dataset_read(&d, k.ctx, k.directory, NULL));
        if (v == 1) {
            assert_ok(k.ctx, plx_dataset_sparse(&s, d, 1));
            for (int i = 0; i < 4; i++)
                for (int64_t e = s.ptr[i]; e < s.ptr[i + 1]; e++) full[i * 4 + s.col[e]] = s.val[e];
            g = (plx_cmat){full, s.rows, s.cols, 4};
        } else {
            assert_ok(k.ctx, plx_dataset_dense(&g, d, 1));
        }
        assert_same_matrix(g, (plx_cmat){JOINED, 4, 4, 4}, 0);
        assert_int_equal(plx_dataset_present(d, 1)[1], 0);
        plx_dataset_destroy(d);
    }
    close_desk(&k);
}

/* ---- refused memory ---- */

static void refusals_leave_nothing_behind(void **state)
{
    (void)state;
    const double x[] = {4, 1, 2, 1, 3, 0, 2, 0, 5};
    bool done = false;
    for (long fail_at = 1; !done; fail_at++) {
        meter m = {0, 0, 0};
        plx_context *ctx = metered_context(&m, 1);
        assert_non_null(ctx);
        plx_dataset *d = new_dataset(ctx, 3), *part = NULL;
        add_dense(d, ctx, "g", PLX_VIEW_KERNEL, x, 3, NULL);
        m.calls = 0;
        m.fail_at = fail_at;
        plx_status st = plx_dataset_select(&part, ctx, d, (plx_index[]){2, 0}, 2);
        m.fail_at = 0;
        if (st != PLX_OK) {
            assert_int_equal(st, PLX_E_NOMEM);
            assert_true(plx_context_error(ctx)[0] != '\0');
        } else {
            assert_string_equal(plx_dataset_feature(part, 0, 1), "1");
            assert_string_equal(plx_dataset_id(part, 0), "2");
            done = true;
        }
        plx_dataset_destroy(part);
        plx_dataset_destroy(d);
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_can_be_fitted_and_predicted),  cmocka_unit_test(heldout_goes_by_name_or_place),
        cmocka_unit_test(named_columns_may_be_shuffled),      cmocka_unit_test(every_sample_needs_its_column),
        cmocka_unit_test(nan_may_stand_for_a_missing_sample), cmocka_unit_test(columns_are_joined_with_their_rows),
        cmocka_unit_test(refusals_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
