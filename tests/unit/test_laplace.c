/*
 * The Laplace approximation against its definition: stationarity, the closed form for one sample, derivatives by finite
 * differences, probabilities by a finer integral.
 */
#include "linalg_test.h"
#include "gp/gp_posterior.h"
#include "gp/laplace.h"

enum { N = 9 };

static void alternate(double *y, plx_index n)
{
    for (plx_index i = 0; i < n; i++) y[i] = i % 3 == 0 ? -1.0 : 1.0;
}

static double evidence_of(plx_context *ctx, plx_cmat k, const double *y)
{
    plx__mark mark = plx__arena_mark(plx__scratch(ctx));
    plx__laplace at;
    assert_ok(ctx, plx__laplace_fit(&at, plx__scratch(ctx), ctx, k, y, "test", NULL, NULL));
    assert_true(at.converged);
    plx__arena_rewind(plx__scratch(ctx), mark);
    return at.evidence;
}

/* f = K g at the mode. */
static void mode_is_stationary(void **state)
{
    plx_context *ctx = test_context(1);
    plx_mat k = test_spd(ctx, N, 0.5, 1);
    plx__laplace at;
    double y[N], f[N];
    (void)state;
    alternate(y, N);
    assert_ok(ctx, plx__laplace_fit(&at, plx__scratch(ctx), ctx, plx__cmat(k), y, "test", NULL, NULL));
    assert_ok(ctx, plx__gemv(ctx, 1.0, plx__cmat(k), PLX__N, at.slope, 0.0, f));
    for (plx_index i = 0; i < N; i++) assert_close(f[i], at.mode[i], 1e-9);
    plx_context_destroy(ctx);
}

/* A start elsewhere, good or bad, ends at the same mode. */
static void start_does_not_matter(void **state)
{
    plx_context *ctx = test_context(1);
    plx_mat k = test_spd(ctx, N, 0.5, 1);
    plx__laplace cold, warm;
    double y[N], a[N];
    (void)state;
    alternate(y, N);
    assert_ok(ctx, plx__laplace_fit(&cold, plx__scratch(ctx), ctx, plx__cmat(k), y, "test", NULL, NULL));
    for (int bad = 0; bad < 2; bad++) {
        for (int i = 0; i < N; i++) a[i] = bad ? -50.0 * y[i] : 0.9 * cold.slope[i];
        plx__laplace_start start = {.a = a};
        assert_ok(ctx, plx__laplace_fit(&warm, plx__scratch(ctx), ctx, plx__cmat(k), y, "test", NULL, &start));
        assert_close(warm.evidence, cold.evidence, 1e-11);
        for (int i = 0; i < N; i++) assert_close(warm.mode[i], cold.mode[i], 1e-7);
    }
    plx_context_destroy(ctx);
}

/* One sample: log s(f) - f^2/(2k) - log(1 + k W)/2 where f = k s(-f). */
static void one_sample(void **state)
{
    plx_context *ctx = test_context(1);
    double k = 2.5, y = 1, f = 0;
    (void)state;
    for (int t = 0; t < 200; t++) f += 0.5 * (k / (1 + exp(f)) - f);
    double p = 1 / (1 + exp(-f)), expect = log(p) - f * f / (2 * k) - 0.5 * log(1 + k * p * (1 - p));
    assert_close(evidence_of(ctx, plx__cmat_of(&k, 1, 1), &y), expect, 1e-12);
    plx_context_destroy(ctx);
}

/* sum M dK against a central difference, for three directions. */
static void gradient_is_a_derivative(void **state)
{
    plx_context *ctx = test_context(1);
    double y[N], h = 1e-5;
    (void)state;
    alternate(y, N);
    for (int direction = 2; direction < 5; direction++) {
        plx_mat k = test_spd(ctx, N, 0.3, 1), d = test_spd(ctx, N, 0.0, direction), m = test_mat(ctx, N, N, 7), up,
                down;
        plx__laplace at;
        double sum = 0;
        plx__mat_fill(m, 0.0);
        assert_ok(ctx, plx__laplace_fit(&at, plx__scratch(ctx), ctx, plx__cmat(k), y, "test", NULL, NULL));
        assert_ok(ctx, plx__laplace_gradient(ctx, &at, plx__cmat(k), false, m, NULL));
        assert_ok(ctx, plx__mat_clone(&up, plx__scratch(ctx), plx__cmat(k)));
        assert_ok(ctx, plx__mat_clone(&down, plx__scratch(ctx), plx__cmat(k)));
        for (plx_index i = 0; i < N * N; i++) {
            sum += m.data[i] * d.data[i];
            up.data[i] += h * d.data[i];
            down.data[i] -= h * d.data[i];
            assert_close(m.data[i], m.data[i % N * N + i / N], 1e-14);
        }
        double slope = (evidence_of(ctx, plx__cmat(up), y) - evidence_of(ctx, plx__cmat(down), y)) / (2 * h);
        assert_close(sum, slope, 1e-6 * (1 + fabs(slope)));
    }
    plx_context_destroy(ctx);
}

/* A covariance so large that plain Newton steps overshoot. */
static void large_covariance(void **state)
{
    plx_context *ctx = test_context(1);
    plx_mat k = test_spd(ctx, N, 0.1, 1);
    double y[N];
    (void)state;
    alternate(y, N);
    plx__mat_scale(k, 1e6);
    assert_true(isfinite(evidence_of(ctx, plx__cmat(k), y)));
    plx_context_destroy(ctx);
}

/* Simpson's rule with 20,001 points on +-14 deviations. */
static double fine_integral(double mean, double variance)
{
    double sd = sqrt(variance), h = 28.0 / 20000, sum = 0;
    for (int i = 0; i <= 20000; i++) {
        double u = -14 + i * h, weight = i == 0 || i == 20000 ? 1 : i % 2 ? 4 : 2;
        sum += weight * exp(-0.5 * u * u) / (1 + exp(-mean - sd * u));
    }
    return sum * h / 3 / sqrt(2 * acos(-1.0));
}

static void probabilities(void **state)
{
    static const double mean[] = {0, 0.3, -2, 7, 40}, variance[] = {0.01, 1, 9, 380, 2500};
    (void)state;
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++)
            assert_close(plx__averaged_probability(PLX__AVERAGE_EXACT, mean[i], variance[j]),
                         fine_integral(mean[i], variance[j]), 1e-10);
    assert_close(plx__averaged_probability(PLX__AVERAGE_MAP, 1.0, 5.0), 1 / (1 + exp(-1.0)), 1e-15);
    assert_close(plx__averaged_probability(PLX__AVERAGE_PROBIT, 1.0, 8 / acos(-1.0)), 1 / (1 + exp(-1 / sqrt(2.0))),
                 1e-15);
    assert_close(plx__averaged_probability(PLX__AVERAGE_EXACT, 1.0, 0.0), 1 / (1 + exp(-1.0)), 1e-15);
}

/* Posterior variance (K^-1 + W)^-1 by a plain inverse: B = K^-1 + W, its diagonal from unit solves. */
static void variance_is_posterior(void **state)
{
    plx_context *ctx = test_context(1);
    plx_mat k = test_spd(ctx, N, 0.5, 1), rows, none = {0}, mean = test_mat(ctx, N, 1, 2),
            variance = test_mat(ctx, N, 1, 3);
    plx__gp_targets t = {.n = N, .q = 1, .y = test_mat(ctx, N, 1, 4), .what = "test"};
    plx__gp_state s;
    double self[N];
    (void)state;
    alternate(t.y.data, N);
    assert_ok(ctx, plx__gp_fit(&s, plx__scratch(ctx), ctx, plx__cmat(k), &t, none));
    assert_ok(ctx, plx__mat_clone(&rows, plx__scratch(ctx), plx__cmat(k)));
    for (plx_index i = 0; i < N; i++) self[i] = at(k, i, i);
    assert_ok(ctx, plx__gp_predict(ctx, &s, rows, self, NULL, mean, variance));
    /* (K^-1 + W)^-1 = (I + K W)^-1 K: solve column by column by Gauss elimination. */
    double a[N][2 * N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double w = s.root.data[j] * s.root.data[j];
            a[i][j] = (i == j) + at(k, i, j) * w;
            a[i][N + j] = at(k, i, j);
        }
    for (int p = 0; p < N; p++)
        for (int i = 0; i < N; i++) {
            if (i == p) continue;
            double f = a[i][p] / a[p][p];
            for (int j = p; j < 2 * N; j++) a[i][j] -= f * a[p][j];
        }
    for (int i = 0; i < N; i++) assert_close(variance.data[i], a[i][N + i] / a[i][i], 1e-9);
    plx_context_destroy(ctx);
}

/* Kernel of points on a line, of an order at which a factor serves several steps: the mode is stationary, the evidence
 * that of a start at the mode, and variances that come with the gradient are those of prediction. */
static void large_order(void **state)
{
    enum { MANY = 400 };
    plx_context *ctx = test_context(2);
    plx_mat k = test_mat(ctx, MANY, MANY, 1), m = test_mat(ctx, MANY, MANY, 2), rows, mean = test_mat(ctx, MANY, 1, 3),
            direct = test_mat(ctx, MANY, 1, 4), known = test_mat(ctx, MANY, 1, 5);
    plx__gp_targets t = {.n = MANY, .q = 1, .y = test_mat(ctx, MANY, 1, 6), .what = "test"};
    plx__gp_state s;
    double self[MANY], f[MANY];
    plx_index own[MANY];
    (void)state;
    for (plx_index i = 0; i < MANY; i++) {
        for (plx_index j = 0; j < MANY; j++) k.data[i * MANY + j] = 9 * exp(-1e-3 * (double)((i - j) * (i - j)));
        k.data[i * MANY + i] += 0.1;
        self[i] = at(k, i, i);
        own[i] = i % 5 ? i : -1;
        t.y.data[i] = sin(0.05 * (double)i) > 0.2 * sin((double)i) ? 1.0 : -1.0;
    }
    assert_ok(ctx, plx__gp_fit(&s, plx__scratch(ctx), ctx, plx__cmat(k), &t, m));
    assert_true(s.converged);
    plx__laplace again;
    plx__laplace_start start = {.a = s.alpha.data};
    assert_ok(ctx, plx__laplace_fit(&again, plx__scratch(ctx), ctx, plx__cmat(k), t.y.data, "test", NULL, &start));
    assert_close(again.evidence, s.evidence, 1e-9 * fabs(s.evidence));
    assert_ok(ctx, plx__gemv(ctx, 1.0, plx__cmat(k), PLX__N, again.slope, 0.0, f));
    for (plx_index i = 0; i < MANY; i++) {
        assert_close(f[i], again.mode[i], 1e-8);
        assert_close(again.slope[i], s.alpha.data[i], 1e-8);
    }
    assert_ok(ctx, plx__mat_clone(&rows, plx__scratch(ctx), plx__cmat(k)));
    assert_ok(ctx, plx__gp_predict(ctx, &s, rows, self, NULL, mean, direct));
    assert_ok(ctx, plx__mat_clone(&rows, plx__scratch(ctx), plx__cmat(k)));
    assert_ok(ctx, plx__gp_predict(ctx, &s, rows, self, own, mean, known));
    for (plx_index i = 0; i < MANY; i++) assert_close(known.data[i], direct.data[i], 1e-9);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(large_order),
                                       cmocka_unit_test(mode_is_stationary),
                                       cmocka_unit_test(start_does_not_matter),
                                       cmocka_unit_test(one_sample),
                                       cmocka_unit_test(gradient_is_a_derivative),
                                       cmocka_unit_test(large_covariance),
                                       cmocka_unit_test(probabilities),
                                       cmocka_unit_test(variance_is_posterior)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
