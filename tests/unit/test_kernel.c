/* Kernels: values by hand, exact symmetry, the median width, given Gram matrices. */
#include "fit_helpers.h"

#include "kernel/prepared.h"

/* Rows (3,4), (1,0), (0,0): inner products 25, 3, 0; squared distances 20, 25, 1. */
static const double ROWS[] = {3, 4, 1, 0, 0, 0};

static plx__points rows3(void) { return plx__points_dense((plx_cmat){ROWS, 3, 2, 2}); }

static void assert_kernel(plx__kernel k, const double *expected)
{
    plx_context *ctx = test_context(1);
    double g[9];
    assert_ok(ctx, plx__kernel_matrix(ctx, &k, rows3(), rows3(), (plx_mat){g, 3, 3, 3}));
    for (int i = 0; i < 9; i++) assert_close(g[i], expected[i], 1e-15 * fmax(1, fabs(expected[i])));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) assert_true(g[i * 3 + j] == g[j * 3 + i]);
    plx_context_destroy(ctx);
}

static void values_by_hand(void **state)
{
    (void)state;
    const double linear[] = {25, 3, 0, 3, 1, 0, 0, 0, 0}, poly[] = {676, 16, 1, 16, 4, 1, 1, 1, 1};
    const double cosine[] = {1, 0.6, 0, 0.6, 1, 0, 0, 0, 0};
    const double rbf[] = {1, exp(-2.5), exp(-3.125), exp(-2.5), 1, exp(-0.125), exp(-3.125), exp(-0.125), 1};
    assert_kernel((plx__kernel){.kind = PLX__KERNEL_LINEAR}, linear);
    assert_kernel((plx__kernel){.kind = PLX__KERNEL_POLY, .degree = 2, .coef0 = 1}, poly);
    assert_kernel((plx__kernel){.kind = PLX__KERNEL_COSINE}, cosine);
    assert_kernel((plx__kernel){.kind = PLX__KERNEL_RBF, .width = 2}, rbf);
}

/* Distances sqrt(20), 5, 1: the middle one is sqrt(20). Without the last row only sqrt(20) is left. */
static void median_width(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx__kernel k = {.kind = PLX__KERNEL_RBF, .width = NAN}, fixed = {.kind = PLX__KERNEL_RBF, .width = 3};
    const uint8_t some[] = {0, 1, 1};
    const double equal[] = {1, 1, 1, 1};
    assert_ok(ctx, plx__kernel_set_width(&k, ctx, rows3(), NULL, "m", "v"));
    assert_close(k.width, sqrt(20), 1e-14);
    k.width = NAN;
    assert_ok(ctx, plx__kernel_set_width(&k, ctx, rows3(), some, "m", "v"));
    assert_close(k.width, 1, 1e-14);
    assert_ok(ctx, plx__kernel_set_width(&fixed, ctx, rows3(), NULL, "m", "v"));
    assert_true(fixed.width == 3);
    k.width = NAN;
    assert_fails(ctx, plx__kernel_set_width(&k, ctx, plx__points_dense((plx_cmat){equal, 2, 2, 2}), NULL, "m", "v"),
                 PLX_E_DATA, "view 'v'");
    k.width = NAN;
    assert_fails(ctx, plx__kernel_set_width(&k, ctx, plx__points_dense((plx_cmat){equal, 1, 2, 2}), NULL, "m", "v"),
                 PLX_E_DATA, "fewer than two");
    plx_context_destroy(ctx);
}

static void gram_matrices_are_symmetrised(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const uint8_t all[] = {1, 1, 1}, some[] = {1, 0, 1};
    double slight[] = {1, 2, 3, 2 + 1e-9, 5, 6, 3, 6, 9}, wrong[] = {1, 2, 3, 2, 5, 6, 4, 6, 9},
           odd[] = {1, 7, 3, NAN, NAN, 8, 3, 9, 9};
    assert_ok(ctx, plx__kernel_symmetrise(ctx, (plx_mat){slight, 3, 3, 3}, all, "g"));
    assert_true(slight[1] == slight[3]);
    assert_close(slight[1], 2 + 0.5e-9, 1e-15);
    assert_fails(ctx, plx__kernel_symmetrise(ctx, (plx_mat){wrong, 3, 3, 3}, all, "g"), PLX_E_DATA,
                 "'g' is not symmetric: entries (2, 0) = 4 and (0, 2) = 3");
    assert_ok(ctx, plx__kernel_symmetrise(ctx, (plx_mat){odd, 3, 3, 3}, some, "g")); /* sample 1 is not looked at */
    assert_true(odd[1] == 0 && odd[4] == 0 && odd[2] == 3 && odd[8] == 9);
    double bad[] = {1, 7, 3, NAN, 2, 8, 3, 9, 9};
    assert_fails(ctx, plx__kernel_symmetrise(ctx, (plx_mat){bad, 3, 3, 3}, all, "g"), PLX_E_DATA, "row 1, column 0");
    plx_context_destroy(ctx);
}

static void unit_rows_make_the_cosine_linear(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx__points unit;
    assert_ok(ctx, plx__points_unit(&unit, ctx, rows3(), NULL));
    assert_close(unit.dense.data[0], 0.6, 1e-15);
    assert_close(unit.dense.data[1], 0.8, 1e-15);
    assert_true(unit.dense.data[4] == 0);
    const plx_index order[] = {2, 0};
    assert_ok(ctx, plx__points_select(&unit, ctx, rows3(), order, 2));
    assert_true(unit.dense.data[0] == 0 && unit.dense.data[2] == 3);
    plx_context_destroy(ctx);
}

/* Which kernel a view gets, seen through rls. */
static void settings_by_view(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, 3);
    const double gram[] = {25, 3, 0, 3, 1, 0, 0, 0, 0};
    plx_model *m = NULL;
    add_dense(d, ctx, "v", PLX_VIEW_REAL, ROWS, 2, NULL);
    add_dense(d, ctx, "g", PLX_VIEW_KERNEL, gram, 3, NULL);
    set_labels(d, ctx, (int[]){0, 1, -1});
    assert_fails(ctx, try_fit(&m, ctx, "rls", d, SETTINGS("kernel=precomputed"), NULL), PLX_E_ARG, "view 'v'");
    assert_fails(ctx, try_fit(&m, ctx, "rls", d, SETTINGS("view=g", "kernel.g=rbf"), NULL), PLX_E_ARG,
                 "kernel.g = rbf");
    plx_model *linear = fit_model(ctx, "rls", d, SETTINGS("view=v", "solver=dense"));
    plx_model *given =
        fit_model(ctx, "rls", d, SETTINGS("view=g", "kernel=rbf")); /* plain kernel= passes the Gram matrix over */
    assert_same_matrix(array_of(linear, "scores"), array_of(given, "scores"), 1e-10);
    plx_model_destroy(linear);
    plx_model_destroy(given);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Eight at a time, and what is left over, are exp to a unit in the last place or so. */
static void rbf_values(void **state)
{
    plx__kernel kernel = {.kind = PLX__KERNEL_RBF, .width = 1.3, .amplitude = 2.5};
    double d2[21], out[21];
    (void)state;
    for (plx_index n = 1; n <= 21; n++) {
        for (plx_index i = 0; i < n; i++) d2[i] = i == 0 ? 0 : pow(1.9, (double)i) * 1e-3;
        d2[n - 1] = n == 21 ? 1e300 : d2[n - 1];
        plx__rbf_values(&kernel, d2, n, out);
        for (plx_index i = 0; i < n; i++) {
            double expect = 2.5 * exp(-d2[i] / (2 * 1.3 * 1.3));
            assert_true(fabs(out[i] - expect) <= 1e-13 * expect + 1e-300);
        }
        assert_true(out[0] == 2.5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rbf_values),
        cmocka_unit_test(values_by_hand),
        cmocka_unit_test(median_width),
        cmocka_unit_test(gram_matrices_are_symmetrised),
        cmocka_unit_test(unit_rows_make_the_cosine_linear),
        cmocka_unit_test(settings_by_view),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
