/*
 * Approximate neighbours: few rows give exactly what plx__knn gives; many rows find what was asked for, ranked right and
 * with the recall told truly, dense and sparse, Euclid and cosine, on any number of threads; ties, zero and absent rows;
 * and what methods tell of it.
 */
#include <jansson.h>

#include "fit_helpers.h"
#include "graph/descent.h"
#include "linalg_test.h"

enum { FEW = 60, MANY = 5200, COLS = 12, K = 8 };

/* Clouds around ten points. `grid`: whole multiples of 1/2, so that there are ties and rows of equal values; one row in
 * 50 is zero. */
static void fill_clouds(double *x, plx_index n, bool grid)
{
    plx__rng rng = plx__rng_start(7, PLX__STREAM('a', 'p', 'p', 'x', 0));
    for (plx_index i = 0; i < n; i++)
        for (plx_index j = 0; j < COLS; j++) {
            double value = plx__next_normal(&rng) + 4.0 * (double)(i % 10 == j);
            x[i * COLS + j] = !grid ? value : i % 50 == 7 ? 0.0 : floor(0.7 * value) / 2;
        }
}

static plx__points points_of(plx_context *ctx, const double *x, plx_index n, bool sparse)
{
    plx_csr thin;
    plx_cmat m = plx__cmat_of(x, n, COLS);
    if (!sparse) return plx__points_dense(m);
    assert_ok(ctx, plx__csr_from_dense(&thin, plx__scratch(ctx), m));
    return plx__points_csr(plx__ccsr(thin));
}

static void few_rows_are_searched_exactly(void **state)
{
    static double x[FEW * COLS], near[2][FEW * K];
    static int64_t index[2][FEW * K];
    (void)state;
    plx_context *ctx = test_context(2);
    fill_clouds(x, FEW, true);
    plx__points p = points_of(ctx, x, FEW, false);
    plx__knn_options o = {.k = K, .self = true};
    plx__descent_report report;
    assert_ok(ctx, plx__knn(ctx, p, p, &o, index[0], near[0]));
    assert_ok(ctx, plx__descent_knn(ctx, p, &o, 0.95, index[1], near[1], &report));
    assert_memory_equal(index[0], index[1], sizeof index[0]);
    assert_memory_equal(near[0], near[1], sizeof near[0]);
    assert_true(report.exact && report.recall == 1.0);
    plx_context_destroy(ctx);
}

/* Every list is in order, of others that are there, with their distances; returns the share of true neighbours. */
static double check_lists(plx__points p, const plx__knn_options *o, const int64_t *index, const double *near,
                          const double *true_near)
{
    plx_index found = 0, places = 0;
    for (plx_index i = 0; i < MANY; i++) {
        const int64_t *row = index + i * K;
        if (o->present && !o->present[i]) {
            for (int j = 0; j < K; j++) assert_true(row[j] == -1 && isnan(near[i * K + j]));
            continue;
        }
        double reach = plx__distance_key(true_near[i * K + K - 1]);
        for (int j = 0; j < K; j++) {
            assert_true(row[j] >= 0 && row[j] != i && (!o->present || o->present[row[j]]));
            assert_true(near[i * K + j] == plx__point_distance(p, i, p, row[j], o->metric));
            double key = plx__distance_key(near[i * K + j]), last = j ? plx__distance_key(near[i * K + j - 1]) : -1;
            assert_true(key > last || (key == last && row[j] > row[j - 1]));
            found += key <= reach;
            places++;
        }
    }
    return (double)found / (double)places;
}

/* t: metric, kind, presence, ties in its bits. */
static void search_case(int t, int threads, int64_t *index, double *near, plx__descent_report *report)
{
    static double x[MANY * COLS], true_near[MANY * K];
    static int64_t truth[MANY * K];
    static uint8_t present[MANY];
    plx_context *ctx = test_context(threads);
    fill_clouds(x, MANY, t & 8);
    for (int i = 0; i < MANY; i++) present[i] = i % 7 != 3;
    plx__points p = points_of(ctx, x, MANY, t & 2);
    plx__knn_options o = {
        .k = K, .metric = t & 1 ? PLX__COSINE : PLX__EUCLID, .present = t & 4 ? present : NULL, .self = true};
    assert_ok(ctx, plx__descent_knn(ctx, p, &o, 0.95, index, near, report));
    assert_false(report->exact);
    if (threads == 1) {
        assert_ok(ctx, plx__knn(ctx, p, p, &o, truth, true_near));
        double recall = check_lists(p, &o, index, near, true_near);
        assert_true(report->recall >= 0.95);
        assert_true(recall > 0.94);
        assert_close(report->recall, recall, 0.015);
    }
    plx_context_destroy(ctx);
}

static void many_rows_find_nearly_all_on_any_number_of_threads(void **state)
{
    static double near[2][MANY * K];
    static int64_t index[2][MANY * K];
    (void)state;
    static const int cases[] = {0, 3, 12,
                                15}; /* dense Euclid and sparse cosine, without and with absent rows and ties */
    for (int c = 0; c < 4; c++) {
        int t = cases[c];
        plx__descent_report report[2];
        search_case(t, 1, index[0], near[0], &report[0]);
        search_case(t, t % 2 ? 7 : 2, index[1], near[1], &report[1]);
        assert_memory_equal(index[0], index[1], sizeof index[0]);
        assert_memory_equal(near[0], near[1], sizeof near[0]);
        assert_true(report[0].recall == report[1].recall);
    }
}

/* Nothing is near anything in so many dimensions: all stages are gone through, and the result is still told truly. */
static void hard_data_take_longer_lists(void **state)
{
    enum { WIDE = 60 };
    static double near[MANY * K], true_near[MANY * K];
    static int64_t index[MANY * K], truth[MANY * K];
    (void)state;
    plx_context *ctx = test_context(2);
    plx_mat x = test_mat(ctx, MANY, WIDE, 3);
    plx__points p = plx__points_dense(plx__cmat(x));
    plx__knn_options o = {.k = K, .self = true};
    plx__descent_report easy, hard;
    assert_ok(ctx, plx__descent_knn(ctx, p, &o, 0.5, index, near, &easy));
    assert_ok(ctx, plx__descent_knn(ctx, p, &o, 0.999, index, near, &hard));
    assert_true(easy.recall >= 0.5 && easy.length <= hard.length && easy.rounds < hard.rounds);
    assert_true(hard.recall > 0.9);
    assert_ok(ctx, plx__knn(ctx, p, p, &o, truth, true_near));
    assert_close(hard.recall, check_lists(p, &o, index, near, true_near), 0.015);
    plx_context_destroy(ctx);
}

/* ---- ends ---- */

static plx_status some_search(plx_context *ctx)
{
    enum { ROWS = 4100, WIDE = 3, NEAR = 2 };
    static double x[ROWS * WIDE], near[ROWS * NEAR];
    static int64_t index[ROWS * NEAR];
    plx__knn_options o = {.k = NEAR, .self = true};
    plx__descent_report report;
    const double never = 2.0; /* all stages */
    for (int i = 0; i < ROWS * WIDE; i++) x[i] = plx__rng_uniform(3, 1, (uint64_t)i);
    return plx__descent_knn(ctx, plx__points_dense(plx__cmat_of(x, ROWS, WIDE)), &o, never, index, near, &report);
}

static void survives_allocation_failures(void **state)
{
    (void)state;
    sweep_allocations(some_search, 20);
}

static void can_be_cancelled(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_context_cancel(ctx);
    assert_fails(ctx, some_search(ctx), PLX_E_CANCELLED, "cancelled");
    plx_context_destroy(ctx);
}

/* ---- through a method ---- */

static plx_dataset *clouds(plx_context *ctx, plx_index n)
{
    static double x[MANY * COLS];
    static int label[MANY];
    plx_dataset *d = new_dataset(ctx, n);
    fill_clouds(x, n, false);
    for (int i = 0; i < n; i++) label[i] = i % 3 ? -1 : i % 2;
    add_dense(d, ctx, "v", PLX_VIEW_REAL, x, COLS, NULL);
    set_labels(d, ctx, label);
    return d;
}

static json_t *recall_of(const plx_model *m)
{
    return json_object_get(json_object_get(m->facts.extra, "knn_recall"), "v");
}

static void methods_take_the_parameter(void **state)
{
    static const char *const methods[] = {"laprls",  "lapsvm", "colaprls", "colapsvm", "lapreg",
                                          "nlapreg", "llereg", "llreg",    "mvll"};
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *few = clouds(ctx, FEW), *many = clouds(ctx, MANY);
    for (size_t t = 0; t < sizeof methods / sizeof *methods; t++) {
        plx_model *exact = fit_model(ctx, methods[t], few, SETTINGS("knn=exact"));
        plx_model *approx = fit_model(ctx, methods[t], few, SETTINGS("knn=approx"));
        assert_same_matrix(array_of(exact, "scores"), array_of(approx, "scores"), 0.0);
        assert_null(recall_of(approx));
        plx_model_destroy(exact);
        plx_model_destroy(approx);
    }
    plx_model *m = fit_model(ctx, "nlapreg", many, SETTINGS("knn=approx", "c_u=1e-6"));
    assert_true(json_real_value(recall_of(m)) >= 0.95);
    plx_model_destroy(m);
    m = fit_model(ctx, "llereg", many, SETTINGS("knn.v=approx", "knn_recall=0.6"));
    assert_true(json_real_value(recall_of(m)) >= 0.6);
    plx_model_destroy(m);
    m = fit_model(ctx, "nlapreg", many, SETTINGS("c_u=1e-6"));
    assert_null(recall_of(m));
    plx_model_destroy(m);
    plx_dataset_destroy(few);
    plx_dataset_destroy(many);
    plx_context_destroy(ctx);
}

static void warns_below_the_target(void **state)
{
    enum { WIDE = 100, ROWS = 9000 };
    static double x[ROWS * WIDE];
    static int label[ROWS];
    (void)state;
    plx_context *ctx = test_context(2);
    plx_dataset *d = new_dataset(ctx, ROWS);
    for (plx_index i = 0; i < ROWS * WIDE; i++) x[i] = plx__rng_normal(4, 1, (uint64_t)i);
    for (int i = 0; i < ROWS; i++) label[i] = i % 3 ? -1 : i % 2;
    add_dense(d, ctx, "v", PLX_VIEW_REAL, x, WIDE, NULL);
    set_labels(d, ctx, label);
    plx_model *m = fit_model(ctx, "nlapreg", d, SETTINGS("knn=approx", "knn_recall=1", "graph_k=1", "c_u=1e-6"));
    bool told = false;
    for (plx_index i = 0; i < plx_model_warnings(m); i++) told |= strstr(plx_model_warning(m, i), "knn=exact") != NULL;
    assert_true(told == (json_real_value(recall_of(m)) < 1.0));
    assert_true(told);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(few_rows_are_searched_exactly),
                                       cmocka_unit_test(many_rows_find_nearly_all_on_any_number_of_threads),
                                       cmocka_unit_test(hard_data_take_longer_lists),
                                       cmocka_unit_test(survives_allocation_failures),
                                       cmocka_unit_test(can_be_cancelled),
                                       cmocka_unit_test(methods_take_the_parameter),
                                       cmocka_unit_test(warns_below_the_target)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
