/* clusters=auto: every clusterer finds the four groups that both views show; the curve; what is refused. */
#include "fit_helpers.h"

#include "api/cluster_stability.h"
#include "parallax/model.h"

enum { N = 64, GROUPS = 4 };

/* Groups along four axes, some noise; the second view lacks every ninth sample. */
static plx_dataset *make_groups(plx_context *ctx)
{
    static double x[N * 4], y[N * 4];
    uint8_t present[N];
    plx_dataset *d = new_dataset(ctx, N);
    for (uint64_t i = 0; i < N; i++)
        for (uint64_t j = 0; j < 4; j++) {
            double at = i % GROUPS == j ? 6 : 1;
            x[4 * i + j] = at + 0.2 * plx__rng_normal(5, PLX__STREAM('a', 'u', 't', 'o', 1), 4 * i + j);
            y[4 * i + j] = at + 0.3 * plx__rng_normal(6, PLX__STREAM('a', 'u', 't', 'o', 1), 4 * i + j);
            present[i] = i % 9 != 4;
        }
    add_dense(d, ctx, "x", PLX_VIEW_REAL, x, 4, NULL);
    add_dense(d, ctx, "y", PLX_VIEW_REAL, y, 4, present);
    return d;
}

static plx_status fit_auto(plx_model **out, plx_context *ctx, const plx_dataset *d, const char *method, const char *key,
                           const char *value)
{
    plx_params *p = NULL;
    assert_ok(ctx, plx_params_create(&p, ctx, method));
    assert_ok(ctx, plx_params_set(p, ctx, "clusters", "auto"));
    assert_ok(ctx, plx_params_set(p, ctx, "max_clusters", "7"));
    if (key) assert_ok(ctx, plx_params_set(p, ctx, key, value));
    plx_status st = plx_fit(out, ctx, method, d, p, NULL);
    plx_params_destroy(p);
    return st;
}

static void every_clusterer(void **state)
{
    static const struct {
        const char *method, *key, *value;
    } run[] = {{"hybridtree", NULL, NULL}, {"hybridtree", "mode", "hybrid"}, {"spectral", NULL, NULL},
               {"smd", NULL, NULL},        {"mvkmeans", NULL, NULL},         {"mvc", NULL, NULL},
               {"coem", NULL, NULL},       {"mvplsa", NULL, NULL},           {"lapreg", "task", "cluster"},
               {"bct", "task", "cluster"}, {"mvll", "task", "cluster"}};
    (void)state;
    for (size_t r = 0; r < sizeof run / sizeof *run; r++) {
        plx_context *ctx = test_context(2);
        plx_dataset *d = make_groups(ctx);
        plx_model *m = NULL;
        plx_cmat curve;
        assert_ok(ctx, fit_auto(&m, ctx, d, run[r].method, run[r].key, run[r].value));
        if (strcmp(plx_model_param(m, "clusters"), "4") != 0)
            fail_msg("%s chose %s", run[r].method, plx_model_param(m, "clusters"));
        assert_int_equal(plx_model_array(&curve, m, "cluster_curve"), PLX_OK);
        assert_int_equal(curve.rows, 6);
        for (plx_index t = 0; t < 6; t++) {
            assert_true(curve.data[2 * t] == (double)(t + 2));
            if (t != 2) assert_true(!(curve.data[2 * t + 1] > curve.data[5]));
        }
        plx_model_destroy(m);
        plx_dataset_destroy(d);
        plx_context_destroy(ctx);
    }
}

/* Drawn again, the four groups come again; and so with a method whose own rule is another one. */
static void by_stability(void **state)
{
    static const char *const methods[] = {"hybridtree", "mvkmeans", "spectral", "coem"};
    (void)state;
    for (int r = 0; r < 4; r++) {
        double first[12];
        for (int threads = 1; threads < 4; threads += 2) {
            plx_context *ctx = test_context(threads);
            plx_dataset *d = make_groups(ctx);
            plx_model *m = NULL;
            plx_cmat curve;
            assert_ok(ctx, fit_auto(&m, ctx, d, methods[r], "clusters_by", "stability"));
            if (strcmp(plx_model_param(m, "clusters"), "4") != 0)
                fail_msg("%s chose %s", methods[r], plx_model_param(m, "clusters"));
            assert_int_equal(plx_model_array(&curve, m, "cluster_curve"), PLX_OK);
            assert_true(curve.data[5] > 1 - 1e-12 && curve.data[7] < 1);
            if (threads == 1) memcpy(first, curve.data, sizeof first);
            assert_memory_equal(first, curve.data, sizeof first);
            plx_model_destroy(m);
            plx_dataset_destroy(d);
            plx_context_destroy(ctx);
        }
    }
}

/* Samples carry their number as the only feature. Of three "numbers of clusters" one halves them always alike, one by a coin
 * that every draw throws anew, and one is never there. */
static plx_status known_clusters(void *arg, const plx_dataset *part, int32_t *cluster)
{
    uint64_t *draw = arg;
    for (plx_index k = 0; k < part->n; k++) {
        uint64_t sample = (uint64_t)part->views[0].dense.data[k * part->views[0].dense.ld];
        cluster[k] = (int32_t)(sample % 2);
        cluster[part->n + k] = plx__rng_uniform(3, PLX__STREAM('c', 'o', 'i', 'n', *draw), sample) < 0.5;
    }
    ++*draw;
    assert_true(part->n > 0.7 * 2000 && part->n < 0.9 * 2000);
    return PLX_OK;
}

static void stability_of_known_clusters(void **state)
{
    enum { MANY = 2000 };
    static double number[MANY];
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, MANY);
    uint64_t draw = 0;
    double mean[3], error[3];
    for (int i = 0; i < MANY; i++) number[i] = i;
    add_dense(d, ctx, "x", PLX_VIEW_REAL, number, 1, NULL);
    plx__stability s = {ctx, d, 3, known_clusters, &draw, mean, error};
    plx__call_begin(ctx);
    assert_ok(ctx, plx__cluster_stability(&s));
    assert_true(draw > 1 && mean[0] == 1 && error[0] == 0);
    assert_true(fabs(mean[1]) < 0.01 && error[1] > 0 && error[1] < 0.01);
    assert_true(isnan(mean[2]));
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void what_is_refused(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *d = make_groups(ctx), *few = NULL;
    const plx_index two[] = {0, 1};
    int label[N];
    plx_model *m = NULL;
    (void)state;
    assert_ok(ctx, plx_dataset_select(&few, ctx, d, two, 2));
    assert_int_equal(fit_auto(&m, ctx, few, "hybridtree", NULL, NULL), PLX_E_DATA);
    assert_non_null(strstr(plx_context_error(ctx), "three samples"));
    assert_int_equal(fit_auto(&m, ctx, d, "mvkmeans", "clusters_by", "eigengap"), PLX_E_ARG);
    assert_non_null(strstr(plx_context_error(ctx), "no spectrum"));
    assert_int_equal(fit_auto(&m, ctx, d, "spectral", "clusters_by", "bic"), PLX_E_ARG);
    assert_non_null(strstr(plx_context_error(ctx), "no likelihood"));
    for (int i = 0; i < N; i++) label[i] = i % GROUPS;
    set_labels(d, ctx, label);
    assert_int_equal(fit_auto(&m, ctx, d, "mvkmeans", NULL, NULL), PLX_E_ARG);
    assert_non_null(strstr(plx_context_error(ctx), "clusters"));
    plx_dataset_destroy(few);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_clusterer),
        cmocka_unit_test(by_stability),
        cmocka_unit_test(stability_of_known_clusters),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
