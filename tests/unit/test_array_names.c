/*
 * Arrays that every view has are found by either separator, f.VIEW or f_VIEW. (View names hold no dots, so that no two arrays are confused.)
 */
#include "fit_helpers.h"

enum { N = 24, D = 3 };

static plx_dataset *two_views(plx_context *ctx)
{
    static double x[2][N * D];
    int label[N];
    plx__rng rng = plx__rng_start(4, 4);
    for (int v = 0; v < 2; v++)
        for (int i = 0; i < N * D; i++) x[v][i] = random_count(&rng, 1 + 4 * (i / D % 2)) + v;
    for (int i = 0; i < N; i++) label[i] = i < 8 ? i % 2 : -1;
    plx_dataset *d = new_dataset(ctx, N);
    add_dense(d, ctx, "a", PLX_VIEW_REAL, x[0], D, NULL);
    add_dense(d, ctx, "b", PLX_VIEW_REAL, x[1], D, NULL);
    set_labels(d, ctx, label);
    return d;
}

static void either_separator_is_found(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = two_views(ctx);
    plx_model *m = fit_model(ctx, "colaprls", d, NULL);
    plx_cmat one, other;
    assert_int_equal(plx_model_array(&one, m, "f_b"), PLX_OK);
    assert_int_equal(plx_model_array(&other, m, "f.b"), PLX_OK);
    assert_ptr_equal(one.data, other.data);
    assert_int_equal(plx_model_array(&other, m, "f:b"), PLX_E_ARG);
    assert_int_equal(plx_model_array(&other, m, "f.c"), PLX_E_ARG);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(either_separator_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
