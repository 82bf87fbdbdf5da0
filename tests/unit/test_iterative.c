#include "linalg_test.h"

#include "linalg/factor.h"
#include "linalg/iterative.h"

static plx_status dense_apply(void *arg, plx_context *ctx, double *y, const double *x)
{
    return plx__gemv(ctx, 1.0, *(plx_cmat *)arg, PLX__N, x, 0.0, y);
}

static plx_status dense_apply_block(void *arg, plx_context *ctx, plx_cmat x, plx_mat y)
{
    return plx__gemm(ctx, 1.0, *(plx_cmat *)arg, PLX__N, x, PLX__N, 0.0, y);
}

static void cg_solves(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_index n = 60;
    plx_mat a = test_spd(ctx, n, 5.0, 1), x = test_mat(ctx, n, 2, 2), b = test_mat(ctx, n, 2, 3),
            start = test_mat(ctx, n, 2, 4);
    plx_cmat arg = plx__cmat(a);
    double diagonal[60];
    for (plx_index i = 0; i < n; i++) diagonal[i] = at(a, i, i);
    assert_ok(ctx, plx__gemm(ctx, 1.0, arg, PLX__N, plx__cmat(x), PLX__N, 0.0, b));
    plx__operator op = {n, dense_apply, &arg};
    plx__block_operator block = {n, dense_apply_block, &arg};
    plx__iter_result result;
    for (int jacobi = 0; jacobi < 2; jacobi++) {
        plx__iter_options o = {.tol = 1e-12, .diagonal = jacobi ? diagonal : NULL};
        plx_mat y;
        assert_ok(ctx, plx__mat_clone(&y, plx__scratch(ctx), plx__cmat(start)));
        assert_ok(ctx, plx__cg_block(ctx, block, plx__cmat(b), y, &o, &result));
        assert_true(result.converged && result.iterations > 0 && result.residual <= 1e-12);
        for (plx_index i = 0; i < 2 * n; i++) assert_close(y.data[i], x.data[i], 1e-8);
    }
    plx__iter_options short_run = {.tol = 1e-12, .max_iter = 2};
    assert_ok(ctx, plx__cg_block(ctx, block, plx__cmat(b), start, &short_run, &result));
    assert_true(!result.converged && result.iterations == 2 && result.residual > 1e-12);
    double zero[60] = {0}, y[60] = {1, 2, 3};
    assert_ok(ctx, plx__cg(ctx, op, zero, y, NULL, &result));
    assert_true(result.converged && y[0] == 0 && result.iterations == 0);
    plx_context_destroy(ctx);
}

/* diag(1, 0): singular but consistent; the null space component of the start stays. */
static void cg_on_a_singular_consistent_system(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double a[] = {1, 0, 0, 0}, b[] = {3, 0}, x[] = {0, 7};
    plx_cmat arg = plx__cmat_of(a, 2, 2);
    plx__iter_result result;
    assert_ok(ctx, plx__cg(ctx, (plx__operator){2, dense_apply, &arg}, b, x, NULL, &result));
    assert_true(result.converged && x[0] == 3 && x[1] == 7);
    b[1] = 1; /* no solution: stops without claiming one */
    assert_ok(ctx, plx__cg(ctx, (plx__operator){2, dense_apply, &arg}, b, x, NULL, &result));
    assert_false(result.converged);
    plx_context_destroy(ctx);
}

/* (I + A K) x = b with singular K, against LU of the matrix itself. */
static void cg_in_an_inner_product(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_index n = 50, rank = 30, m = 3;
    plx_mat a = test_spd(ctx, n, 0.5, 1), z = test_mat(ctx, n, rank, 2), k = test_mat(ctx, n, n, 3),
            whole = test_mat(ctx, n, n, 4), want = test_mat(ctx, n, m, 5), b = test_mat(ctx, n, m, 6), x;
    assert_ok(ctx, plx__gemm(ctx, 1.0, plx__cmat(z), PLX__N, plx__cmat(z), PLX__T, 0.0, k));
    assert_ok(ctx, plx__gemm(ctx, 1.0, plx__cmat(a), PLX__N, plx__cmat(k), PLX__N, 0.0, whole));
    plx__mat_add_diag(whole, 1.0);
    plx__mat_copy(want, plx__cmat(b));
    assert_ok(ctx, plx__lu_solve(ctx, whole, want, "test"));
    plx_cmat left = plx__cmat(a), inner = plx__cmat(k);
    plx__iter_options o = {.tol = 1e-13, .max_iter = 2000, .inner = {n, dense_apply_block, &inner}};
    plx__iter_result result;
    assert_ok(ctx, plx__arena_mat(&x, plx__scratch(ctx), n, m));
    assert_ok(ctx,
              plx__cg_block(ctx, (plx__block_operator){n, dense_apply_block, &left}, plx__cmat(b), x, &o, &result));
    assert_true(result.converged);
    plx_mat seen = test_mat(ctx, n, m, 7), kx = test_mat(ctx, n, m, 8); /* K x is unique; x too, up to what K sees */
    assert_ok(ctx, plx__gemm(ctx, 1.0, inner, PLX__N, plx__cmat(want), PLX__N, 0.0, seen));
    assert_ok(ctx, plx__gemm(ctx, 1.0, inner, PLX__N, plx__cmat(x), PLX__N, 0.0, kx));
    for (plx_index i = 0; i < n * m; i++) assert_close(kx.data[i], seen.data[i], 1e-8);
    plx_context_destroy(ctx);
}

/* Columns of very different difficulty: those that are done rest, and none disturbs another. */
static void columns_do_not_disturb_each_other(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_index n = 40;
    plx_mat a = test_spd(ctx, n, 1e-3, 1), b = test_mat(ctx, n, 3, 2), x, alone;
    plx_cmat arg = plx__cmat(a);
    for (plx_index i = 0; i < n; i++) b.data[3 * i] = 0, b.data[3 * i + 2] = 1e8 * at(a, i, 0);
    plx__iter_options o = {.tol = 1e-9};
    plx__iter_result result, one;
    assert_ok(ctx, plx__arena_mat(&x, plx__scratch(ctx), n, 3));
    assert_ok(ctx, plx__cg_block(ctx, (plx__block_operator){n, dense_apply_block, &arg}, plx__cmat(b), x, &o, &result));
    for (int c = 0; c < 3; c++) {
        assert_ok(ctx, plx__arena_mat(&alone, plx__scratch(ctx), n, 1));
        plx_mat given = test_mat(ctx, n, 1, 9);
        double scale = c == 2 ? 1e8 : 1; /* the solution of the last is 1e8 in one place */
        for (plx_index i = 0; i < n; i++) given.data[i] = b.data[3 * i + c];
        assert_ok(ctx, plx__cg(ctx, (plx__operator){n, dense_apply, &arg}, given.data, alone.data, &o, &one));
        for (plx_index i = 0; i < n; i++) assert_close(x.data[3 * i + c] / scale, alone.data[i] / scale, 1e-5);
    }
    plx_context_destroy(ctx);
}

static int stop_at_second(const plx_progress *p, void *payload)
{
    (void)payload;
    return p->iteration >= 1;
}

static void runs_can_be_cancelled(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_mat a = test_spd(ctx, 30, 1.0, 1), b = test_mat(ctx, 30, 1, 2), x = test_mat(ctx, 30, 1, 3);
    plx_cmat arg = plx__cmat(a);
    plx__operator op = {30, dense_apply, &arg};
    plx_context_set_progress(ctx, stop_at_second, NULL);
    assert_fails(ctx, plx__cg(ctx, op, b.data, x.data, NULL, NULL), PLX_E_CANCELLED, "cancelled");
    plx_context_destroy(ctx);
}

static plx_status many_allocations(plx_context *ctx)
{
    double a[] = {2, 0, 0, 3}, b[] = {1, 1}, x[] = {0, 0}, d[] = {2, 3};
    plx_cmat arg = plx__cmat_of(a, 2, 2);
    plx__iter_options o = {.diagonal = d};
    return plx__cg_block(ctx, (plx__block_operator){2, dense_apply_block, &arg}, plx__cmat_of(b, 2, 1),
                         plx__mat_of(x, 2, 1), &o, NULL);
}

static void survives_allocation_failures(void **state)
{
    (void)state;
    sweep_allocations(many_allocations, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cg_solves),
        cmocka_unit_test(cg_on_a_singular_consistent_system),
        cmocka_unit_test(cg_in_an_inner_product),
        cmocka_unit_test(columns_do_not_disturb_each_other),
        cmocka_unit_test(runs_can_be_cancelled),
        cmocka_unit_test(survives_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
