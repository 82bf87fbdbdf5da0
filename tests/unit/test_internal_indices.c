/*
 * Internal indices against scikit-learn 1.x (each view by itself: silhouette_score, davies_bouldin_score,
 * calinski_harabasz_score of the standardised rows that are present) and against a plain reading of the definitions over
 * all views, both computed in NumPy.
 */
#include "eval/internal_indices.h"

#include "metrics_helpers.h"
#include "parallax/dataset.h"

enum { N = 12 };

static const double X[N][2] = {{0, 1},   {1, 0.5}, {0.3, 0.2}, {1.2, 1.1}, {5, 5},     {5.5, 4},
                               {6, 5.2}, {4.8, 6}, {9, 1},     {9.5, 0.3}, {8.7, 1.8}, {8, 0.9}};
static const double Y[N][2] = {{3, 1},     {2.5, 1.4}, {0, 0},   {2.2, 0.7}, {3.1, 1.9}, {0.4, 4},
                               {0.2, 3.6}, {1, 4.4},   {6, 6.1}, {5.3, 7},   {0, 0},     {6.6, 5.9}};
static const uint8_t HAS_Y[N] = {1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1};
static const char *const CLUSTERS[N] = {"c0", "c0", "c0", "c0", "c1", "c1", "c1", "c1", "c2", "c2", "c2", "c2"};

static plx_dataset *make_data(bool both)
{
    plx_dataset *data = NULL;
    assert_ok(ctx, plx_dataset_create(&data, ctx, "points", N));
    assert_ok(ctx, plx_dataset_add_dense(data, ctx, "x", PLX_VIEW_REAL, (plx_cmat){&X[0][0], N, 2, 2}, NULL, NULL));
    if (both)
        assert_ok(ctx,
                  plx_dataset_add_dense(data, ctx, "y", PLX_VIEW_REAL, (plx_cmat){&Y[0][0], N, 2, 2}, NULL, HAS_Y));
    return data;
}

static void assert_near(const char *name, double expected)
{
    if (fabs(value_of(name) - expected) > 1e-10 * fabs(expected)) fail_msg("%s is %.17g", name, value_of(name));
}

static void views_and_all(void **state)
{
    plx_dataset *data = make_data(true);
    (void)state;
    assert_ok(ctx, plx_metrics_internal(m, data, CLUSTERS, 0));
    assert_near("silhouette:x", 0.7892909268340166);
    assert_near("davies_bouldin:x", 0.25310192190768643);
    assert_near("calinski_harabasz:x", 90.4926050543372);
    assert_near("silhouette:y", 0.5620126758091946);
    assert_near("davies_bouldin:y", 0.5388479761973844);
    assert_near("calinski_harabasz:y", 26.20129522808967);
    assert_near("silhouette", 0.743904082658687);
    assert_near("davies_bouldin", 0.36258183027931024);
    assert_near("calinski_harabasz", 44.422607130986584);
    plx_dataset_destroy(data);
}

/* With one complete view, all views are that view. */
static void one_view(void **state)
{
    plx_dataset *data = make_data(false);
    (void)state;
    assert_ok(ctx, plx_metrics_internal(m, data, CLUSTERS, 0));
    assert_near("silhouette", 0.7892909268340166);
    assert_near("davies_bouldin", 0.25310192190768643);
    assert_near("calinski_harabasz", 90.4926050543372);
    plx_dataset_destroy(data);
}

static void what_is_not_defined(void **state)
{
    const char *const one[N] = {"c0", "c0", "c0", "c0", "c0", "c0", "c0", "c0", "c0", "c0", "c0", "noise"};
    const char *const none[N] = {0};
    plx_dataset *data = make_data(true);
    (void)state;
    assert_ok(ctx, plx_metrics_internal(m, data, one, 1));
    assert_true(is_null("silhouette") && is_null("davies_bouldin") && is_null("calinski_harabasz:x"));
    assert_ok(ctx, plx_metrics_internal(m, data, one, 0));
    assert_false(is_null("silhouette"));
    assert_int_equal(plx_metrics_internal(m, data, none, 0), PLX_E_ARG);
    plx_dataset_destroy(data);
}

/* Several partitions in one pass are those of one pass each, and some samples stand for all where they are alike. */
static void many_at_once(void **state)
{
    plx_dataset *data = make_data(true);
    plx__index_view *views = NULL;
    plx_index count = 0, k[2] = {3, 2};
    int32_t cluster[2][N];
    double together[6], alone[3];
    (void)state;
    for (int i = 0; i < N; i++) cluster[0][i] = i / 4, cluster[1][i] = i % 2;
    assert_ok(ctx, plx__index_views(&views, &count, ctx, data->views, data->n_views, N));
    assert_int_equal(count, 2);
    assert_ok(ctx, plx__silhouettes(together, ctx, views, 2, N, cluster[0], k, 2, 0));
    for (int p = 0; p < 2; p++) {
        assert_ok(ctx, plx__silhouettes(alone, ctx, views, 2, N, cluster[p], &k[p], 1, 0));
        assert_memory_equal(alone, together + 3 * p, sizeof alone);
    }
    assert_ok(ctx, plx__silhouettes(alone, ctx, views, 2, N, cluster[0], k, 1, 5));
    assert_true(alone[2] > 0.5 && alone[2] < 1);
    plx_dataset_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(views_and_all, fresh, gone),
        cmocka_unit_test_setup_teardown(one_view, fresh, gone),
        cmocka_unit_test_setup_teardown(what_is_not_defined, fresh, gone),
        cmocka_unit_test_setup_teardown(many_at_once, fresh, gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
