/*
 * Approximate neighbours: few rows are searched completely and give exactly what plx__knn gives; many rows find nearly
 * all, ranked right, on any number of threads; the recall is in the result; and refusals, also of a build without FAISS.
 */
#include "fit_helpers.h"
#include "linalg/faiss_shim.h"
#include "linalg/knn_approx.h"
#include "linalg_test.h"

enum { FEW = 60, MANY = 6000, COLS = 5, K = 8 };

/* Clouds around ten points, whole multiples of 1/8 so that there are ties. */
static void fill_clouds(double *x, plx_index n)
{
    plx__rng rng = plx__rng_start(7, PLX__STREAM('a', 'p', 'p', 'x', 0));
    for (plx_index i = 0; i < n * COLS; i++)
        x[i] = floor(8 * (plx__next_normal(&rng) + 3.0 * (double)((i / COLS) % 10 == (i % COLS) * 2))) / 8;
}

static void few_rows_are_searched_completely(void **state)
{
    static double x[FEW * COLS], near[2][FEW * K];
    static int64_t index[2][FEW * K];
    uint8_t present[FEW];
    (void)state;
    if (!plx__faiss_built()) skip();
    plx_context *ctx = test_context(2);
    fill_clouds(x, FEW);
    for (int i = 0; i < FEW; i++) present[i] = i % 7 != 3;
    for (int t = 0; t < 4; t++) {
        plx__points p = plx__points_dense(plx__cmat_of(x, FEW, COLS));
        double recall = 0;
        plx__knn_options o = {
            .k = K, .metric = t & 1 ? PLX__COSINE : PLX__EUCLID, .present = t & 2 ? present : NULL, .self = true};
        assert_ok(ctx, plx__knn(ctx, p, p, &o, index[0], near[0]));
        assert_ok(ctx, plx__knn_approx(ctx, p, &o, "v", index[1], near[1], &recall));
        assert_memory_equal(index[0], index[1], sizeof index[0]);
        for (int i = 0; i < FEW * K; i++)
            assert_true(near[0][i] == near[1][i] || (isnan(near[0][i]) && isnan(near[1][i])));
        assert_true(recall == 1.0);
    }
    plx_context_destroy(ctx);
}

static void fewer_rows_than_neighbours(void **state)
{
    static const double x[] = {0, 1, 3};
    int64_t index[3 * K];
    double near[3 * K], recall = 0;
    plx__knn_options o = {.k = K, .self = true};
    (void)state;
    if (!plx__faiss_built()) skip();
    plx_context *ctx = test_context(1);
    assert_ok(ctx, plx__knn_approx(ctx, plx__points_dense(plx__cmat_of(x, 3, 1)), &o, "v", index, near, &recall));
    assert_int_equal(index[2 * K], 1);
    assert_int_equal(index[2 * K + 1], 0);
    assert_int_equal(index[2 * K + 2], -1);
    assert_true(near[2 * K + 1] == 3.0 && isnan(near[2 * K + 2]) && recall == 1.0);
    assert_ok(ctx, plx__knn_approx(ctx, plx__points_dense(plx__cmat_of(x, 1, 1)), &o, "v", index, near, &recall));
    assert_true(index[0] == -1 && isnan(recall));
    plx_context_destroy(ctx);
}

/* The share of true neighbours, counted here over all rows, is near 1 and near the recall that was measured. */
static void many_rows_find_nearly_all(void **state)
{
    static double x[MANY * COLS], near[3][MANY * K];
    static int64_t index[3][MANY * K];
    double recall[2] = {0, 0}, found = 0;
    plx__knn_options o = {.k = K, .self = true};
    (void)state;
    if (!plx__faiss_built()) skip();
    fill_clouds(x, MANY);
    plx__points p = plx__points_dense(plx__cmat_of(x, MANY, COLS));
    for (int t = 0; t < 2; t++) {
        plx_context *ctx = test_context(t ? 4 : 1);
        assert_ok(ctx, plx__knn_approx(ctx, p, &o, "v", index[t], near[t], &recall[t]));
        if (!t) assert_ok(ctx, plx__knn(ctx, p, p, &o, index[2], near[2]));
        plx_context_destroy(ctx);
    }
    assert_memory_equal(index[0], index[1], sizeof index[0]);
    assert_memory_equal(near[0], near[1], sizeof near[0]);
    assert_true(recall[0] == recall[1]);
    for (int i = 0; i < MANY; i++)
        for (int j = 0; j < K; j++) {
            assert_true(index[0][i * K + j] >= 0 && index[0][i * K + j] != i);
            assert_true(j == 0 || near[0][i * K + j - 1] <= near[0][i * K + j] + 1e-11);
            found += near[0][i * K + j] <= near[2][i * K + K - 1] * (1 + 1e-11);
        }
    assert_true(found / (MANY * K) > 0.97);
    assert_close(recall[0], found / (MANY * K), 0.02);
}

/* ---- through a method ---- */

static plx_dataset *clouds(plx_context *ctx, bool sparse)
{
    static double x[FEW * COLS];
    static int label[FEW];
    plx_dataset *d = new_dataset(ctx, FEW);
    fill_clouds(x, FEW);
    for (int i = 0; i < FEW; i++) label[i] = i % 3 ? -1 : i / 3 % 2;
    if (sparse) add_thin(d, ctx, "v", PLX_VIEW_REAL, x, COLS, NULL);
    else add_dense(d, ctx, "v", PLX_VIEW_REAL, x, COLS, NULL);
    set_labels(d, ctx, label);
    return d;
}

static void methods_give_the_same_and_report_recall(void **state)
{
    static const char *const methods[] = {"laprls",  "lapsvm", "colaprls", "colapsvm", "lapreg",
                                          "nlapreg", "llereg", "llreg",    "mvll"};
    (void)state;
    if (!plx__faiss_built()) skip();
    plx_context *ctx = test_context(1);
    plx_dataset *d = clouds(ctx, false);
    for (size_t t = 0; t < sizeof methods / sizeof *methods; t++) {
        plx_model *exact = fit_model(ctx, methods[t], d, NULL);
        plx_model *approx = fit_model(ctx, methods[t], d, SETTINGS("knn=approx"));
        assert_same_matrix(array_of(exact, "scores"), array_of(approx, "scores"), 0.0);
        assert_null(json_object_get(exact->facts.extra, "knn_recall"));
        json_t *recall = json_object_get(json_object_get(approx->facts.extra, "knn_recall"), "v");
        assert_true(json_is_real(recall) && json_real_value(recall) == 1.0);
        plx_model_destroy(exact);
        plx_model_destroy(approx);
    }
    const char *const *sparse_affinity = SETTINGS("clusters=2", "affinity_k=6", "combine=single:v", "knn=approx");
    plx_model *m = fit_model(ctx, "spectral", d, sparse_affinity);
    assert_non_null(json_object_get(json_object_get(m->facts.extra, "knn_recall"), "v"));
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void refusals_name_the_remedy(void **state)
{
    plx_model *m = NULL;
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *thin = clouds(ctx, true), *d = clouds(ctx, false);
    assert_fails(ctx, try_fit(&m, ctx, "laprls", thin, SETTINGS("knn=approx"), NULL), PLX_E_ARG,
                 plx__faiss_built() ? "view 'v' is sparse" : "libfaiss-dev");
    if (!plx__faiss_built())
        assert_fails(ctx, try_fit(&m, ctx, "laprls", d, SETTINGS("knn=approx"), NULL), PLX_E_ARG, "knn=exact");
    plx_params *p = settings_of(ctx, "laprls", NULL);
    assert_fails(ctx, plx_params_set(p, ctx, "knn", "fast"), PLX_E_ARG, "exact|approx");
    plx_params_destroy(p);
    plx_dataset_destroy(thin);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static plx_status some_allocations(plx_context *ctx)
{
    static double x[FEW * COLS], near[FEW * K];
    static int64_t index[FEW * K];
    double recall = 0;
    plx__knn_options o = {.k = K, .self = true};
    fill_clouds(x, FEW);
    return plx__knn_approx(ctx, plx__points_dense(plx__cmat_of(x, FEW, COLS)), &o, "v", index, near, &recall);
}

static void survives_allocation_failures(void **state)
{
    (void)state;
    if (!plx__faiss_built()) skip();
    sweep_allocations(some_allocations, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_rows_are_searched_completely), cmocka_unit_test(fewer_rows_than_neighbours),
        cmocka_unit_test(many_rows_find_nearly_all),        cmocka_unit_test(methods_give_the_same_and_report_recall),
        cmocka_unit_test(refusals_name_the_remedy),         cmocka_unit_test(survives_allocation_failures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
