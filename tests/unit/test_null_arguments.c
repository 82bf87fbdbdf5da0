/* NULL where a value is needed: PLX_E_ARG and a sentence that names the argument, never a crash. */
#include "fit_helpers.h"

#include "parallax/acquire.h"
#include "parallax/metrics.h"

typedef struct desk {
    plx_context *ctx;
    plx_dataset *data;
    plx_model *model;
    plx_params *params;
} desk;

static desk open_desk(void)
{
    desk k = {.ctx = test_context(1)};
    k.data = new_dataset(k.ctx, 2);
    add_dense(k.data, k.ctx, "v", PLX_VIEW_REAL, (double[]){1, 2}, 1, NULL);
    set_labels(k.data, k.ctx, (int[]){0, 1});
    k.model = fit_model(k.ctx, "rls", k.data, NULL);
    k.params = settings_of(k.ctx, "rls", NULL);
    return k;
}

static void close_desk(desk *k)
{
    plx_params_destroy(k->params);
    plx_model_destroy(k->model);
    plx_dataset_destroy(k->data);
    plx_context_destroy(k->ctx);
}

static void models(void **state)
{
    (void)state;
    desk k = open_desk();
    plx_model *m = NULL;
    plx_prediction *p = NULL;
    plx_metrics *metrics = NULL;
    const char *text = NULL;
    assert_fails(k.ctx, plx_fit(&m, k.ctx, NULL, k.data, NULL, NULL), PLX_E_ARG,
                 "plx_fit: the argument 'method' is NULL");
    assert_fails(k.ctx, plx_fit(&m, k.ctx, "rls", NULL, NULL, NULL), PLX_E_ARG, "'data'");
    assert_fails(k.ctx, plx_fit(NULL, k.ctx, "rls", k.data, NULL, NULL), PLX_E_ARG, "'out'");
    assert_int_equal(plx_fit(&m, NULL, "rls", k.data, NULL, NULL), PLX_E_ARG);
    assert_fails(k.ctx, plx_predict(&p, k.ctx, NULL, k.data), PLX_E_ARG, "'model'");
    assert_fails(k.ctx, plx_predict(&p, k.ctx, k.model, NULL), PLX_E_ARG, "'data'");
    assert_fails(k.ctx, plx_predict(NULL, k.ctx, k.model, k.data), PLX_E_ARG, "'out'");
    assert_fails(k.ctx, plx_model_load(&m, k.ctx, NULL), PLX_E_ARG, "'path'");
    assert_fails(k.ctx, plx_model_load(NULL, k.ctx, "x.plx"), PLX_E_ARG, "'out'");
    assert_fails(k.ctx, plx_model_save(k.ctx, NULL, "x.plx"), PLX_E_ARG, "'model'");
    assert_fails(k.ctx, plx_model_save(k.ctx, k.model, NULL), PLX_E_ARG, "'path'");
    assert_fails(k.ctx, plx_model_json(&text, k.ctx, NULL, NULL), PLX_E_ARG, "NULL");
    assert_fails(k.ctx, plx_prediction_write(k.ctx, NULL, NULL, "x.csv"), PLX_E_ARG, "'prediction'");
    assert_fails(k.ctx, plx_prediction_metrics(&metrics, k.ctx, NULL, k.model, k.data), PLX_E_ARG, "'prediction'");
    assert_null(m);
    assert_null(p);
    close_desk(&k);
}

static void acquisitions(void **state)
{
    (void)state;
    desk k = open_desk();
    plx_acquisition *a = NULL;
    plx_params *p = NULL;
    plx_param_info param = PLX_PARAM_INFO_INIT;
    plx_acquired row = PLX_ACQUIRED_INIT;
    plx_curves *c = NULL;
    plx_acquire_kind kind = PLX_ACQUIRE_FEATURES;
    assert_fails(k.ctx, plx_acquire(&a, k.ctx, kind, NULL, k.data, NULL, NULL), PLX_E_ARG, "'method'");
    assert_fails(k.ctx, plx_acquire(&a, k.ctx, kind, "bct", NULL, NULL, NULL), PLX_E_ARG, "'data'");
    assert_fails(k.ctx, plx_acquire(NULL, k.ctx, kind, "bct", k.data, NULL, NULL), PLX_E_ARG, "'out'");
    assert_int_equal(plx_acquire(&a, NULL, kind, "bct", k.data, NULL, NULL), PLX_E_ARG);
    assert_fails(k.ctx, plx_acquire_params_create(&p, k.ctx, NULL), PLX_E_ARG, "'method'");
    assert_fails(k.ctx, plx_acquire_params_create(NULL, k.ctx, "bct"), PLX_E_ARG, "'out'");
    assert_fails(k.ctx, plx_acquisition_write(k.ctx, NULL, k.data, 0, "x.csv"), PLX_E_ARG, "'acquisition'");
    assert_fails(k.ctx, plx_acquire_simulate(NULL, k.ctx, kind, "bct", k.data, NULL, NULL), PLX_E_ARG, "'out'");
    assert_fails(k.ctx, plx_acquire_simulate(&c, k.ctx, kind, "bct", NULL, NULL, NULL), PLX_E_ARG, "'data'");
    assert_fails(k.ctx, plx_curves_write(k.ctx, NULL, k.data, "x.csv"), PLX_E_ARG, "'curves'");
    assert_int_equal(plx_acquisition_get(&row, NULL, 0), PLX_E_ARG);
    assert_int_equal(plx_acquirer_param(&param, NULL, 0), PLX_E_ARG);
    assert_int_equal(plx_acquirer_param(&param, "nothing", 0), PLX_E_ARG);
    assert_null(plx_acquirer_name(99));
    assert_null(a);
    assert_null(p);
    close_desk(&k);
}

static void parameters(void **state)
{
    (void)state;
    desk k = open_desk();
    plx_params *p = NULL;
    plx_method_info info = {.struct_size = sizeof info};
    assert_fails(k.ctx, plx_params_create(&p, k.ctx, NULL), PLX_E_ARG, "'method'");
    assert_fails(k.ctx, plx_params_set(k.params, k.ctx, NULL, "1"), PLX_E_ARG, "'key'");
    assert_fails(k.ctx, plx_params_set(k.params, k.ctx, "gamma_a", NULL), PLX_E_ARG, "'value'");
    assert_fails(k.ctx, plx_params_set(NULL, k.ctx, "gamma_a", "1"), PLX_E_ARG, "'params'");
    assert_fails(k.ctx, plx_params_set_real(k.params, k.ctx, NULL, 1), PLX_E_ARG, "'key'");
    assert_fails(k.ctx, plx_params_set_int(k.params, k.ctx, NULL, 1), PLX_E_ARG, "'key'");
    assert_null(plx_params_get(k.params, NULL));
    assert_int_equal(plx_method_describe(&info, NULL), PLX_E_ARG);
    close_desk(&k);
}

static void data_sets(void **state)
{
    (void)state;
    desk k = open_desk();
    plx_dataset *d = NULL;
    plx_cmat none = {NULL, 2, 1, 1};
    assert_fails(k.ctx, plx_dataset_create(NULL, k.ctx, "x", 1), PLX_E_ARG, "'out'");
    assert_fails(k.ctx, plx_dataset_read(&d, k.ctx, NULL, NULL), PLX_E_ARG, "neither a path nor views were given");
    assert_fails(k.ctx, plx_dataset_write(k.ctx, NULL, "x"), PLX_E_ARG, "'data'");
    assert_fails(k.ctx, plx_dataset_write(k.ctx, k.data, NULL), PLX_E_ARG, "'path'");
    assert_fails(k.ctx, plx_dataset_set_ids(k.data, k.ctx, NULL), PLX_E_ARG, "'ids'");
    assert_fails(k.ctx, plx_dataset_add_dense(k.data, k.ctx, NULL, PLX_VIEW_REAL, none, NULL, NULL), PLX_E_ARG,
                 "'name'");
    assert_fails(k.ctx, plx_dataset_add_dense(k.data, k.ctx, "w", PLX_VIEW_REAL, none, NULL, NULL), PLX_E_ARG,
                 "'values.data'");
    assert_fails(
        k.ctx,
        plx_dataset_add_sparse(k.data, k.ctx, "w", PLX_VIEW_REAL, (plx_ccsr){2, 1, NULL, NULL, NULL}, NULL, NULL),
        PLX_E_ARG, "'values.ptr'");
    assert_fails(k.ctx, plx_dataset_set_hierarchy(k.data, k.ctx, NULL, 1, NULL, 0, NULL, 0), PLX_E_ARG, "'classes'");
    assert_fails(k.ctx, plx_dataset_set_hierarchy(k.data, k.ctx, (const char *[]){"A", "B"}, 2, NULL, 1, NULL, 0),
                 PLX_E_ARG, "'subset' is NULL");
    assert_fails(k.ctx, plx_dataset_select(&d, k.ctx, k.data, NULL, 1), PLX_E_ARG, "'samples'");
    assert_fails(k.ctx, plx_dataset_mask(&d, k.ctx, k.data, NULL), PLX_E_ARG, "'present'");
    assert_fails(k.ctx, plx_dataset_relabel(&d, k.ctx, NULL, NULL), PLX_E_ARG, "'data'");
    assert_fails(k.ctx, plx_matrix_write(k.ctx, none, "x.csv"), PLX_E_ARG, "values NULL is no matrix");
    assert_null(d);
    close_desk(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(models), cmocka_unit_test(acquisitions),
                                       cmocka_unit_test(parameters), cmocka_unit_test(data_sets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
