/* clusters=auto: every clusterer finds the four groups that both views show; the curve; what is refused. */
#include "fit_helpers.h"

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
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
