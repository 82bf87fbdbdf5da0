#include "fit_helpers.h"
#include "linalg/dense.h"

enum { N = 40, D = 3, E = 2 };

static double x[N * D], y[N * E];
static uint8_t x_there[N], y_there[N];
static int label[N];

/* Two classes; single entries of x and whole views missing; every fourth sample labelled. */
static plx_dataset *holes(plx_context *ctx, bool with_labels)
{
    plx__rng rng = plx__rng_start(3, 4);
    plx_dataset *d = new_dataset(ctx, N);
    for (int i = 0; i < N; i++) {
        double shift = i % 2 ? 1.5 : -1.5;
        for (int j = 0; j < D; j++) x[i * D + j] = shift + plx__next_normal(&rng);
        for (int j = 0; j < E; j++) y[i * E + j] = x[i * D] + 0.5 * plx__next_normal(&rng);
        if (i % 7 == 3) x[i * D + i % D] = NAN;
        x_there[i] = i % 6 != 1;
        y_there[i] = i % 6 != 2;
        label[i] = i % 4 < 2 ? i % 2 : -1;
    }
    add_dense(d, ctx, "x", PLX_VIEW_REAL, x, D, x_there);
    add_dense(d, ctx, "y", PLX_VIEW_REAL, y, E, y_there);
    if (with_labels) set_labels(d, ctx, label);
    return d;
}

static plx_model *fit_with_kernel(plx_context *ctx, const plx_dataset *d, const char *const *settings,
                                  const char *directory)
{
    const char *arrays[] = {"kernel"};
    plx_fit_options o = PLX_FIT_OPTIONS_INIT;
    plx_params *p = settings_of(ctx, "kcomplete", settings);
    plx_model *m = NULL;
    o.arrays = arrays;
    o.n_arrays = 1;
    o.directory = directory;
    assert_ok(ctx, plx_fit(&m, ctx, "kcomplete", d, p, &o));
    plx_params_destroy(p);
    return m;
}

/* What transform gives for the samples of the fit is the kernel of the fit, and any kernel method takes it. */
static void transform_gives_a_kernel_view(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_dataset *d = holes(ctx, false), *other = new_dataset(ctx, N);
    plx_model *m = fit_with_kernel(ctx, d, SETTINGS("classifier=none", "width=2"), NULL);
    plx_prediction *p = NULL, *quick = NULL;
    plx_cmat k;
    assert_ok(ctx, plx_transform(&p, ctx, m, d));
    assert_ok(ctx, plx_prediction_transform(&k, p));
    assert_same_matrix(array_of(m, "kernel"), k, 1e-12);
    assert_ok(ctx, plx_predict(&quick, ctx, m, d)); /* spares the n x n matrix */
    assert_int_equal(plx_prediction_array(&k, quick, "kernel"), PLX_E_ARG);
    assert_string_equal(plx_prediction_label(quick, 0), "?");
    assert_ok(ctx, plx_prediction_transform(&k, p));
    add_dense(other, ctx, "completed", PLX_VIEW_KERNEL, k.data, N, NULL);
    add_dense(other, ctx, "y", PLX_VIEW_REAL, y, E, y_there);
    set_labels(other, ctx, label);
    plx_model *rls = fit_model(ctx, "rls", other, SETTINGS("view=completed"));
    plx_model *kcca = fit_model(ctx, "kcca", other, SETTINGS("dim=2"));
    assert_true(array_of(kcca, "rho").data[0] > 0);
    plx_model_destroy(rls);
    plx_model_destroy(kcca);
    plx_prediction_destroy(p);
    plx_prediction_destroy(quick);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_dataset_destroy(other);
    plx_context_destroy(ctx);
}

/* Nothing missing: all three ways are the plain kernel, and the mixture does not matter. */
static void complete_data_make_all_ways_equal(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, N), *ignored = holes(ctx, true);
    double full[N * D];
    for (int i = 0; i < N * D; i++) full[i] = isnan(x[i]) ? 0.25 : x[i];
    add_dense(d, ctx, "x", PLX_VIEW_REAL, full, D, NULL);
    set_labels(d, ctx, label);
    for (int kernel = 0; kernel < 3; kernel++) {
        const char *kernels[] = {"kernel=linear", "kernel=rbf", "kernel=poly"};
        plx_model *a = fit_with_kernel(ctx, d, SETTINGS(kernels[kernel], "width=1.2"), NULL);
        plx_model *b = fit_with_kernel(ctx, d, SETTINGS(kernels[kernel], "width=1.2", "completion=mean"), NULL);
        assert_same_matrix(array_of(a, "kernel"), array_of(b, "kernel"), 1e-10);
        assert_same_matrix(array_of(a, "probability"), array_of(b, "probability"), 1e-7);
        assert_true(isnan(plx_model_objective(b)) && plx_model_objective(a) < 0);
        plx_cmat none;
        assert_int_equal(plx_model_array(&none, b, "gmm_mean"), PLX_E_ARG);
        plx_model_destroy(a);
        plx_model_destroy(b);
    }
    plx_dataset_destroy(d);
    plx_dataset_destroy(ignored);
    plx_context_destroy(ctx);
}

/* Held-out samples in the kernel: blocks agree with those between samples that were fitted by the same mixture. */
static void held_out_samples_complete_the_kernel(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = holes(ctx, true);
    char directory[64], flags[2 * N + 1];
    make_directory(directory);
    for (int i = 0; i < N; i++) memcpy(flags + 2 * i, i >= 36 ? "1\n" : "0\n", 2);
    flags[2 * N] = '\0';
    write_file(directory, "heldout.txt", flags);
    plx_model *m = fit_with_kernel(ctx, d, SETTINGS("width=2", "heldout=heldout.txt"), directory);
    plx_prediction *all = NULL;
    plx_cmat k = array_of(m, "kernel"), whole;
    assert_ok(ctx, plx_transform(&all, ctx, m, d));
    assert_ok(ctx, plx_prediction_transform(&whole, all));
    assert_same_matrix(k, whole, 1e-12);
    for (int i = 0; i < N; i++) assert_true(k.data[i * N + i] == 1);
    plx_prediction_destroy(all);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    remove_directory(directory);
    plx_context_destroy(ctx);
}

static void refuses_clearly(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = holes(ctx, true);
    plx_model *m = NULL;
    char directory[64];
    make_directory(directory);
    write_file(directory, "short.csv", "1,0\n0,1\n");
    write_file(directory, "empty.csv", "");
    assert_fails(ctx, try_fit(&m, ctx, "kcomplete", d, SETTINGS("init=file:short.csv", "components=2"), directory),
                 PLX_E_DATA, "the file is 2 x 2, expected 40 samples x 2 components");
    assert_fails(ctx, try_fit(&m, ctx, "kcomplete", d, SETTINGS("init=kmeans"), NULL), PLX_E_ARG, "auto or file:F");
    assert_fails(ctx, try_fit(&m, ctx, "kcomplete", d, SETTINGS("width=1", "gamma=1"), NULL), PLX_E_ARG, "gamma");
    assert_fails(ctx, try_fit(&m, ctx, "kcomplete", d, SETTINGS("components=41"), NULL), PLX_E_DATA, "components = 41");
    for (int i = 0; i < N; i++) x[i * D + 1] = NAN;
    plx_dataset *blind = new_dataset(ctx, N);
    add_dense(blind, ctx, "x", PLX_VIEW_REAL, x, D, NULL);
    assert_fails(ctx, try_fit(&m, ctx, "kcomplete", blind, SETTINGS("classifier=none"), NULL), PLX_E_DATA,
                 "feature 1 of view 'x' is never observed");
    assert_fails(ctx, try_fit(&m, ctx, "kcomplete", blind, NULL, NULL), PLX_E_DATA, "two classes (found 0)");
    plx_dataset_destroy(d);
    plx_dataset_destroy(blind);
    remove_directory(directory);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transform_gives_a_kernel_view),
        cmocka_unit_test(complete_data_make_all_ways_equal),
        cmocka_unit_test(held_out_samples_complete_the_kernel),
        cmocka_unit_test(refuses_clearly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
