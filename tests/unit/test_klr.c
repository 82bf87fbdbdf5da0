#include "linalg_test.h"

#include "optim/klr.h"

enum { L = 30 };

static double penalised(plx_mat k, const double *y, double ridge, const double *w)
{
    double sum = 0;
    for (plx_index i = 0; i < L; i++) {
        double f = w[0];
        for (plx_index j = 0; j < L; j++) f += at(k, i, j) * w[j + 1];
        sum -= log1p(exp(-y[i] * f));
    }
    for (int a = 1; a <= L; a++) sum -= 0.5 * ridge * w[a] * w[a];
    return sum;
}

/* At the result every directional change lowers the objective, computed by plain sums. */
static void finds_the_maximum(void **state)
{
    (void)state;
    const double ridges[] = {1e-4, 0.01, 3};
    for (int r = 0; r < 3; r++) {
        plx_context *ctx = test_context(2);
        plx_mat k = test_spd(ctx, L, 0.1, 1);
        double y[L], w[L + 1], moved[L + 1];
        plx__klr_result result;
        for (int i = 0; i < L; i++) y[i] = at(k, i, 0) > 0 ? 1 : -1;
        assert_ok(ctx, plx__klr_fit(ctx, plx__cmat(k), y, ridges[r], w, &result));
        assert_true(result.converged && result.gradient <= 1e-10 * (1 + L));
        double best = penalised(k, y, ridges[r], w);
        assert_close(best, result.objective, 1e-9);
        for (int a = 0; a <= L; a++)
            for (int side = -1; side <= 1; side += 2) {
                memcpy(moved, w, sizeof w);
                moved[a] += side * 1e-4;
                assert_true(penalised(k, y, ridges[r], moved) < best + 1e-12);
            }
        plx_context_destroy(ctx);
    }
}

/* Kernels of any size: the gradient, summed here, vanishes as far as rounding lets it, and "converged" says so. */
static void large_kernels(void **state)
{
    (void)state;
    const double sizes[] = {1e3, 1e6, 1e8};
    for (int size = 0; size < 3; size++)
        for (int separable = 0; separable < 2; separable++) {
            plx_context *ctx = test_context(2);
            plx_mat k = test_mat(ctx, L, L, 1);
            double x[L][3], y[L], w[L + 1], error[L];
            plx__klr_result result;
            for (int i = 0; i < L; i++) {
                for (int e = 0; e < 3; e++) x[i][e] = sin(7 * i + 3 * e + 1);
                y[i] = x[i][0] + (separable ? 0 : 1.5 * cos(11 * i)) > 0 ? 1 : -1;
            }
            for (int i = 0; i < L; i++)
                for (int j = 0; j < L; j++) {
                    double dot = 1 + x[i][0] * x[j][0] + x[i][1] * x[j][1] + x[i][2] * x[j][2];
                    k.data[i * L + j] = sizes[size] * dot * dot * dot / 16;
                }
            assert_ok(ctx, plx__klr_fit(ctx, plx__cmat(k), y, 0.01, w, &result));
            assert_true(result.converged);
            for (int i = 0; i < L; i++) {
                double f = w[0];
                for (int j = 0; j < L; j++) f += at(k, i, j) * w[j + 1];
                error[i] = y[i] / (1 + exp(y[i] * f));
            }
            for (int a = 0; a < L; a++) {
                double gradient = -0.01 * w[a + 1], terms = 0;
                for (int i = 0; i < L; i++) {
                    gradient += at(k, i, a) * error[i];
                    terms += fabs(at(k, i, a) * error[i]);
                }
                assert_true(fabs(gradient) <= 1e-8 + 1e-13 * terms);
            }
            plx_context_destroy(ctx);
        }
}

/* K = 0: only the bias is left, log(positives / negatives). */
static void bias_alone_is_the_log_odds(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_mat k = test_mat(ctx, L, L, 1);
    double y[L], w[L + 1], f[L];
    plx__klr_result result;
    plx__mat_fill(k, 0.0);
    for (int i = 0; i < L; i++) y[i] = i < 20 ? 1 : -1;
    assert_ok(ctx, plx__klr_fit(ctx, plx__cmat(k), y, 1, w, &result));
    assert_close(w[0], log(2.0), 1e-10);
    assert_ok(ctx, plx__klr_apply(ctx, plx__cmat(k), w, f));
    assert_close(plx__sigmoid(f[3]), 2.0 / 3, 1e-10);
    plx_context_destroy(ctx);
}

static void sigmoid_does_not_overflow(void **state)
{
    (void)state;
    assert_true(plx__sigmoid(1000) == 1 && plx__sigmoid(-1000) == 0 && plx__sigmoid(0) == 0.5);
    assert_true(plx__log_sigmoid(-1000) == -1000 && plx__log_sigmoid(1000) == 0);
    assert_close(plx__log_sigmoid(0), -log(2.0), 1e-16);
}

static plx_status fit_once(plx_context *ctx)
{
    const double k[] = {2, 1, 1, 3}, y[] = {1, -1};
    double w[3];
    plx__klr_result r;
    return plx__klr_fit(ctx, plx__cmat_of(k, 2, 2), y, 0.1, w, &r);
}

static void survives_allocation_failures(void **state)
{
    (void)state;
    sweep_allocations(fit_once, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_maximum),
        cmocka_unit_test(large_kernels),
        cmocka_unit_test(bias_alone_is_the_log_odds),
        cmocka_unit_test(sigmoid_does_not_overflow),
        cmocka_unit_test(survives_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
