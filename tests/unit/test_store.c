/* Named arrays: kept in order, copied, found, refused by name when a model lacks them. */
#include "plx_test.h"

#include "run/store.h"

static void arrays_are_copied_and_kept_in_order(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx__store store;
    plx_mat fresh;
    double x[] = {1, 2, -1, 3, 4, -1};
    int64_t ptr[] = {0, 1, 1};
    int32_t col[] = {2};
    double val[] = {5};
    plx__store_init(&store, plx__scratch(ctx));
    assert_ok(ctx, plx__store_put(&store, "a", (plx_cmat){x, 2, 2, 3}));
    assert_ok(ctx, plx__store_put_csr(&store, "b", (plx_ccsr){2, 3, ptr, col, val}));
    assert_ok(ctx, plx__store_new(&fresh, &store, "c", 1, 4));
    fresh.data[3] = 9;
    x[0] = val[0] = 77;
    assert_int_equal(store.count, 3);
    assert_string_equal(store.first->name, "a");
    assert_string_equal(store.first->next->next->name, "c");
    const plx__array *a = plx__store_find(&store, "a"), *b = plx__store_find(&store, "b");
    assert_true(!a->sparse && a->dense.data[0] == 1 && a->dense.data[a->dense.ld + 1] == 4);
    assert_true(b->sparse && b->csr.ptr[2] == 1 && b->csr.col[0] == 2 && b->csr.val[0] == 5);
    assert_true(plx__store_find(&store, "c")->dense.data[3] == 9);
    assert_null(plx__store_find(&store, "d"));
    plx_context_destroy(ctx);
}

static void missing_arrays_are_named(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx__store store;
    plx_cmat m;
    const char *key = NULL;
    double x[] = {3, 4}, one = 0;
    plx__store_init(&store, plx__scratch(ctx));
    assert_ok(ctx, plx__store_put(&store, "pair", (plx_cmat){x, 1, 2, 2}));
    assert_ok(ctx, plx__store_put(&store, "one", (plx_cmat){x, 1, 1, 1}));
    assert_ok(ctx, plx__store_put_csr(&store, "thin", (plx_ccsr){1, 1, (int64_t[]){0, 0}, NULL, NULL}));
    assert_ok(ctx, plx__store_scalar(&one, ctx, &store, "one"));
    assert_true(one == 3);
    assert_fails(ctx, plx__store_scalar(&one, ctx, &store, "pair"), PLX_E_FORMAT, "pair");
    assert_fails(ctx, plx__store_dense(&m, ctx, &store, "none"), PLX_E_FORMAT, "none");
    assert_fails(ctx, plx__store_dense(&m, ctx, &store, "thin"), PLX_E_FORMAT, "thin");
    assert_ok(ctx, plx__view_key(&key, ctx, "theta", "text"));
    assert_string_equal(key, "theta.text");
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_copied_and_kept_in_order),
        cmocka_unit_test(missing_arrays_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
