#include "linalg_test.h"

#include "linalg/factor.h"
#include "linalg/iterative.h"

static plx_status dense_apply(void *arg, plx_context *ctx, double *y, const double *x)
{
    return plx__gemv(ctx, 1.0, *(plx_cmat *)arg, PLX__N, x, 0.0, y);
}

static plx_status dense_adjoint(void *arg, plx_context *ctx, double *y, const double *x)
{
    return plx__gemv(ctx, 1.0, *(plx_cmat *)arg, PLX__T, x, 0.0, y);
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
    plx__iter_result result;
    for (int jacobi = 0; jacobi < 2; jacobi++) {
        plx__iter_options o = {.tol = 1e-12, .diagonal = jacobi ? diagonal : NULL};
        plx_mat y;
        assert_ok(ctx, plx__mat_clone(&y, plx__scratch(ctx), plx__cmat(start)));
        assert_ok(ctx, plx__cg_many(ctx, op, plx__cmat(b), y, &o, &result));
        assert_true(result.converged && result.iterations > 0 && result.residual <= 1e-12);
        for (plx_index i = 0; i < 2 * n; i++) assert_close(y.data[i], x.data[i], 1e-8);
    }
    plx__iter_options short_run = {.tol = 1e-12, .max_iter = 2};
    assert_ok(ctx, plx__cg_many(ctx, op, plx__cmat(b), start, &short_run, &result));
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

/* Against the normal equations (A'A + damp^2 I) x = A'b. */
static void lsqr_solves_least_squares(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    for (int t = 0; t < 4; t++) {
        plx_index rows = t & 1 ? 40 : 90, cols = t & 1 ? 70 : 25;
        double damp = t & 2 ? 0.7 : 0.0;
        if (t == 1) damp = 0.3;
        plx_mat a = test_mat(ctx, rows, cols, 1), b = test_mat(ctx, rows, 1, 2), g = test_mat(ctx, cols, cols, 3),
                want = test_mat(ctx, cols, 1, 4), x = test_mat(ctx, cols, 1, 5);
        plx_cmat arg = plx__cmat(a);
        assert_ok(ctx, plx__syrk(ctx, 1.0, arg, PLX__T, 0.0, g));
        plx__mat_add_diag(g, damp * damp);
        assert_ok(ctx, plx__cholesky(ctx, g, NULL));
        assert_ok(ctx, plx__gemv(ctx, 1.0, arg, PLX__T, b.data, 0.0, want.data));
        assert_ok(ctx, plx__chol_solve_vec(ctx, plx__cmat(g), want.data));
        plx__operator2 op = {rows, cols, dense_apply, dense_adjoint, &arg};
        plx__iter_options o = {.tol = 1e-13};
        plx__iter_result result;
        assert_ok(ctx, plx__lsqr(ctx, op, b.data, damp, x.data, &o, &result));
        assert_true(result.converged);
        for (plx_index j = 0; j < cols; j++) assert_close(x.data[j], want.data[j], 1e-8);
    }
    plx_context_destroy(ctx);
}

/* b orthogonal to the range of A, and b = 0: the answer is 0 at once. */
static void lsqr_of_nothing_is_zero(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double a[] = {1, 2, 0, 0}, b[] = {0, 5}, x[] = {9, 9};
    plx_cmat arg = plx__cmat_of(a, 2, 2);
    plx__operator2 op = {2, 2, dense_apply, dense_adjoint, &arg};
    plx__iter_result result;
    assert_ok(ctx, plx__lsqr(ctx, op, b, 0.0, x, NULL, &result));
    assert_true(result.converged && x[0] == 0 && x[1] == 0 && result.iterations == 0);
    b[1] = 0;
    assert_ok(ctx, plx__lsqr(ctx, op, b, 0.0, x, NULL, &result));
    assert_true(result.converged && x[0] == 0);
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
    plx__operator2 op2 = {30, 30, dense_apply, dense_adjoint, &arg};
    plx_context_set_progress(ctx, stop_at_second, NULL);
    assert_fails(ctx, plx__cg(ctx, op, b.data, x.data, NULL, NULL), PLX_E_CANCELLED, "cancelled");
    assert_fails(ctx, plx__lsqr(ctx, op2, b.data, 0.0, x.data, NULL, NULL), PLX_E_CANCELLED, "cancelled");
    plx_context_destroy(ctx);
}

static plx_status many_allocations(plx_context *ctx)
{
    double a[] = {2, 0, 0, 3}, b[] = {1, 1}, x[] = {0, 0}, d[] = {2, 3};
    plx_cmat arg = plx__cmat_of(a, 2, 2);
    plx__iter_options o = {.diagonal = d};
    PLX_TRY(plx__cg_many(ctx, (plx__operator){2, dense_apply, &arg}, plx__cmat_of(b, 2, 1), plx__mat_of(x, 2, 1), &o,
                         NULL));
    return plx__lsqr(ctx, (plx__operator2){2, 2, dense_apply, dense_adjoint, &arg}, b, 0.0, x, NULL, NULL);
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
        cmocka_unit_test(lsqr_solves_least_squares),
        cmocka_unit_test(lsqr_of_nothing_is_zero),
        cmocka_unit_test(runs_can_be_cancelled),
        cmocka_unit_test(survives_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
