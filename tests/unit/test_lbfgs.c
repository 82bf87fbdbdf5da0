#include "linalg_test.h"

#include "optim/lbfgs_run.h"

/* Rosenbrock's valley in n variables: minimum 0 at (1, ..., 1). */
static plx_status rosenbrock(void *arg, plx_context *ctx, const double *x, plx_index n, double *value, double *g)
{
    (void)arg, (void)ctx;
    *value = 0;
    for (plx_index i = 0; i < n; i++) g[i] = 0;
    for (plx_index i = 0; i + 1 < n; i++) {
        double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
        *value += 100 * a * a + b * b;
        g[i] += -400 * a * x[i] - 2 * b;
        g[i + 1] += 200 * a;
    }
    return PLX_OK;
}

/* sum (x_i - c_i)^2 (i + 1), c_i = i - 2. */
static plx_status bowl(void *arg, plx_context *ctx, const double *x, plx_index n, double *value, double *g)
{
    (void)arg, (void)ctx;
    *value = 0;
    for (plx_index i = 0; i < n; i++) {
        double d = x[i] - (double)(i - 2);
        *value += d * d * (double)(i + 1);
        g[i] = 2 * d * (double)(i + 1);
    }
    return PLX_OK;
}

static void finds_the_bottom_of_the_valley(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double x[] = {-1.2, 1, -1.2, 1}, low[] = {-5, -5, -5, -5}, high[] = {5, 5, 5, 5};
    plx__lbfgs_result r;
    plx__lbfgs_options o = {.gradient_tol = 1e-7, .change_tol = -1};
    for (int boxed = 0; boxed < 2; boxed++) {
        double start[] = {x[0], x[1], x[2], x[3]};
        if (boxed) o.lower = low, o.upper = high;
        assert_ok(ctx, plx__lbfgs(ctx, 4, start, rosenbrock, NULL, &o, &r));
        assert_true(r.converged && r.gradient_max <= 1e-7 && r.iterations > 5 && r.evaluations >= r.iterations);
        for (int i = 0; i < 4; i++) assert_close(start[i], 1.0, 1e-5);
        assert_close(r.value, 0.0, 1e-10);
    }
    plx_context_destroy(ctx);
}

/* The bowl is separable: the constrained minimum is the clipped centre. */
static void keeps_to_the_box(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double x[] = {9, 9, 9, 9, 9, -9}, low[] = {-1, -1, -INFINITY, 2, -3, 0}, high[] = {0, 0, INFINITY, 4, 1.5, 1};
    static const double want[] = {-1, -1, 0, 2, 1.5, 1};
    plx__lbfgs_options o = {.gradient_tol = 1e-9, .lower = low, .upper = high};
    plx__lbfgs_result r;
    assert_ok(ctx, plx__lbfgs(ctx, 6, x, bowl, NULL, &o, &r));
    assert_true(r.converged);
    for (int i = 0; i < 6; i++) assert_close(x[i], want[i], 1e-6);
    /* Rosenbrock with x0 <= 0.5: then x1 = x0^2 and f = (1 - 0.5)^2. */
    double y[] = {-1.2, 1}, ylow[] = {-2, -2}, yhigh[] = {0.5, 2};
    plx__lbfgs_options oy = {.gradient_tol = 1e-8, .change_tol = -1, .lower = ylow, .upper = yhigh};
    assert_ok(ctx, plx__lbfgs(ctx, 2, y, rosenbrock, NULL, &oy, &r));
    assert_true(y[0] == 0.5);
    assert_close(y[1], 0.25, 1e-7);
    assert_close(r.value, 0.25, 1e-10);
    plx_context_destroy(ctx);
}

/* sum of log(1 + (x_i - c_i)^2): concave but for a neighbourhood of 1 around each c_i, as log evidences are far out. */
static plx_status pits(void *arg, plx_context *ctx, const double *x, plx_index n, double *value, double *g)
{
    const double *c = arg;
    (void)ctx;
    *value = 0;
    for (plx_index i = 0; i < n; i++) {
        double d = x[i] - c[i];
        *value += log1p(d * d);
        g[i] = 2 * d / (1 + d * d);
    }
    return PLX_OK;
}

/* One variable runs into its bound at once, the other has a long way to go over ground that curves downwards. */
static void crosses_concave_ground_after_a_clipped_step(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double c[] = {1000, -30}, x[] = {0, 0.5}, low[] = {-10000, -0.5}, high[] = {10000, 1};
    plx__lbfgs_options o = {.lower = low, .upper = high};
    plx__lbfgs_result r;
    assert_ok(ctx, plx__lbfgs(ctx, 2, x, pits, c, &o, &r));
    assert_true(r.converged && r.iterations <= 40);
    assert_close(x[0], 1000.0, 1e-4);
    assert_true(x[1] == -0.5);
    plx_context_destroy(ctx);
}

static void limits_and_starts(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double x[] = {-1.2, 1}, at_minimum[] = {1, 1};
    plx__lbfgs_options o = {.max_iter = 3};
    plx__lbfgs_result r;
    assert_ok(ctx, plx__lbfgs(ctx, 2, x, rosenbrock, NULL, &o, &r));
    assert_true(!r.converged && r.iterations == 3 && r.value < 24.2);
    assert_ok(ctx, plx__lbfgs(ctx, 2, at_minimum, rosenbrock, NULL, NULL, &r));
    assert_true(r.converged && r.iterations == 0 && at_minimum[0] == 1);
    assert_ok(ctx, plx__lbfgs(ctx, 0, NULL, rosenbrock, NULL, NULL, &r));
    double inf_start[] = {NAN, 1}, low[] = {0, 0}, high[] = {1, 1};
    assert_fails(ctx, plx__lbfgs(ctx, 2, inf_start, rosenbrock, NULL, NULL, &r), PLX_E_NUMERIC,
                 "not finite at the starting point");
    inf_start[0] = NAN;
    plx__lbfgs_options boxed = {.lower = low, .upper = high};
    assert_fails(ctx, plx__lbfgs(ctx, 2, inf_start, rosenbrock, NULL, &boxed, &r), PLX_E_NUMERIC,
                 "not finite at the starting point");
    plx_context_destroy(ctx);
}

/* -log(x) + x: infinite for x <= 0, minimum 1 at 1; the first step overshoots. */
static plx_status barrier(void *arg, plx_context *ctx, const double *x, plx_index n, double *value, double *g)
{
    (void)arg, (void)ctx, (void)n;
    *value = x[0] > 0 ? x[0] - log(x[0]) : INFINITY;
    g[0] = 1 - 1 / x[0];
    return PLX_OK;
}

static void steps_back_from_infinity(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double low[] = {-10}, high[] = {1000};
    for (int boxed = 0; boxed < 2; boxed++) {
        double x[] = {30};
        plx__lbfgs_options o = {.gradient_tol = 1e-9};
        plx__lbfgs_result r;
        if (boxed) o.lower = low, o.upper = high;
        assert_ok(ctx, plx__lbfgs(ctx, 1, x, barrier, NULL, &o, &r));
        assert_close(x[0], 1.0, 1e-5);
    }
    plx_context_destroy(ctx);
}

static plx_status fails_at_third(void *arg, plx_context *ctx, const double *x, plx_index n, double *value, double *g)
{
    if (++*(int *)arg == 3) PLX_FAIL(ctx, PLX_E_DATA, "third time");
    return rosenbrock(NULL, ctx, x, n, value, g);
}

static int stop_at_once(const plx_progress *p, void *payload)
{
    (void)p, (void)payload;
    return 1;
}

static void failures_and_cancelling_pass_through(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double low[] = {-5, -5}, high[] = {5, 5};
    for (int boxed = 0; boxed < 2; boxed++) {
        double x[] = {-1.2, 1};
        int calls = 0;
        plx__lbfgs_options o = {0};
        if (boxed) o.lower = low, o.upper = high;
        plx_context_set_progress(ctx, NULL, NULL);
        assert_fails(ctx, plx__lbfgs(ctx, 2, x, fails_at_third, &calls, &o, NULL), PLX_E_DATA, "third time");
        assert_int_equal(calls, 3);
        plx_context_set_progress(ctx, stop_at_once, NULL);
        assert_fails(ctx, plx__lbfgs(ctx, 2, x, rosenbrock, NULL, &o, NULL), PLX_E_CANCELLED, "cancelled");
    }
    plx_context_destroy(ctx);
}

static plx_status many_allocations(plx_context *ctx)
{
    double x[] = {-1.2, 1}, low[] = {-5, -5}, high[] = {5, 5};
    plx__lbfgs_options o = {.lower = low, .upper = high};
    PLX_TRY(plx__lbfgs(ctx, 2, x, rosenbrock, NULL, NULL, NULL));
    return plx__lbfgs(ctx, 2, x, rosenbrock, NULL, &o, NULL);
}

static void survives_allocation_failures(void **state)
{
    (void)state;
    sweep_allocations(many_allocations, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_bottom_of_the_valley),
        cmocka_unit_test(keeps_to_the_box),
        cmocka_unit_test(crosses_concave_ground_after_a_clipped_step),
        cmocka_unit_test(limits_and_starts),
        cmocka_unit_test(steps_back_from_infinity),
        cmocka_unit_test(failures_and_cancelling_pass_through),
        cmocka_unit_test(survives_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
