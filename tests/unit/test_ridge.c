/* Regularised least squares: three solvers, one answer; the answer is a stationary point; a worked example. */
#include "fit_helpers.h"

#include "kernel/ridge.h"

enum { L = 9, D = 5, C = 2 };

typedef struct sample {
    double x[L * D], y[L * C], k[L * L];
} sample;

static sample draw(uint64_t seed)
{
    sample s;
    plx__rng rng = plx__rng_start(seed, 3);
    for (int i = 0; i < L * D; i++) s.x[i] = plx__next_normal(&rng);
    for (int i = 0; i < L * C; i++) s.y[i] = plx__next_uniform(&rng) < 0.5 ? -1 : 1;
    for (int i = 0; i < L; i++)
        for (int j = 0; j < L; j++) {
            s.k[i * L + j] = 0;
            for (int f = 0; f < D; f++) s.k[i * L + j] += s.x[i * D + f] * s.x[j * D + f];
        }
    return s;
}

/* (1/l) sum (y - Ka - b)^2 + gamma a'Ka for target c. */
static double objective(const sample *s, const double *a, const double *b, int c, double gamma)
{
    double loss = 0, norm = 0;
    for (int i = 0; i < L; i++) {
        double f = 0;
        for (int j = 0; j < L; j++) f += s->k[i * L + j] * a[j * C + c];
        loss += (s->y[i * C + c] - f - b[c]) * (s->y[i * C + c] - f - b[c]);
        norm += a[i * C + c] * f;
    }
    return loss / L + gamma * norm;
}

static void solve_dense(plx_context *ctx, const sample *s, const plx__ridge_options *o, double *a, double *b)
{
    double k[L * L];
    plx__iter_result result = {0};
    memcpy(k, s->k, sizeof k);
    assert_ok(ctx, plx__ridge_dense(ctx, (plx_mat){k, L, L, L}, (plx_cmat){s->y, L, C, C}, o, (plx_mat){a, L, C, C}, b,
                                    &result));
    assert_true(result.converged);
}

static void solvers_agree(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    for (int bias = 0; bias < 2; bias++)
        for (uint64_t seed = 1; seed < 6; seed++) {
            sample s = draw(seed);
            double a[L * C], b[C], a_cg[L * C], b_cg[C], w[D * C], b_primal[C];
            plx__iter_result result = {0};
            plx__ridge_options o = {0.03, bias, 1e-13, "test", false};
            solve_dense(ctx, &s, &o, a, b);
            assert_ok(ctx, plx__ridge_cg(ctx, (plx_cmat){s.k, L, L, L}, (plx_cmat){s.y, L, C, C}, &o,
                                         (plx_mat){a_cg, L, C, C}, b_cg, &result));
            assert_true(result.converged);
            plx__points x = plx__points_dense((plx_cmat){s.x, L, D, D});
            assert_ok(
                ctx, plx__ridge_primal(ctx, x, (plx_cmat){s.y, L, C, C}, &o, (plx_mat){w, D, C, C}, b_primal, &result));
            for (int c = 0; c < C; c++) {
                double sum = 0;
                assert_close(b[c], b_cg[c], 1e-8);
                assert_close(b[c], b_primal[c], 1e-8);
                if (!bias) assert_true(b[c] == 0);
                for (int i = 0; i < L; i++) {
                    assert_close(a[i * C + c], a_cg[i * C + c], 1e-8);
                    sum += a[i * C + c];
                }
                if (bias) assert_close(sum, 0, 1e-10); /* stationary in b */
                for (int f = 0; f < D; f++) {          /* w = X'a */
                    double wf = 0;
                    for (int i = 0; i < L; i++) wf += s.x[i * D + f] * a[i * C + c];
                    assert_close(w[f * C + c], wf, 1e-8);
                }
            }
        }
    plx_context_destroy(ctx);
}

/* Central differences of the objective in every coefficient and in b. */
static void gradient_vanishes(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    sample s = draw(11);
    double a[L * C], b[C], h = 1e-5;
    plx__ridge_options o = {0.1, true, 1e-12, "test", false};
    solve_dense(ctx, &s, &o, a, b);
    for (int c = 0; c < C; c++)
        for (int i = 0; i <= L; i++) {
            double *v = i < L ? &a[i * C + c] : &b[c], keep = *v;
            *v = keep + h;
            double up = objective(&s, a, b, c, 0.1);
            *v = keep - h;
            double down = objective(&s, a, b, c, 0.1);
            *v = keep;
            assert_close((up - down) / (2 * h), 0, 1e-8);
        }
    plx_context_destroy(ctx);
}

/* Two points x = 1, -1 with y = 1, -1: K = [1 -1; -1 1], b = 0, and a = t (1, -1) with (2 + 2 gamma) t = 1. */
static void two_points_by_hand(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double k[] = {1, -1, -1, 1}, y[] = {1, -1}, a[2], b[1], x[] = {1, -1}, w[1];
    plx__iter_result result = {0};
    plx__ridge_options o = {0.5, true, 1e-12, "test", false};
    assert_ok(ctx, plx__ridge_dense(ctx, (plx_mat){k, 2, 2, 2}, (plx_cmat){y, 2, 1, 1}, &o, (plx_mat){a, 2, 1, 1}, b,
                                    &result));
    assert_close(a[0], 1.0 / 3, 1e-14);
    assert_close(a[1], -1.0 / 3, 1e-14);
    assert_close(b[0], 0, 1e-14);
    plx__points p = plx__points_dense((plx_cmat){x, 2, 1, 1});
    assert_ok(ctx, plx__ridge_primal(ctx, p, (plx_cmat){y, 2, 1, 1}, &o, (plx_mat){w, 1, 1, 1}, b, &result));
    assert_close(w[0], 2.0 / 3, 1e-14);
    plx_context_destroy(ctx);
}

/* K = [0 2; 2 0] has eigenvalues 2 and -2; with gamma l = 1 the system [1 2; 2 1] a = (1, 2) has the answer (1, 0). */
static void indefinite_kernels_are_solved(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double k[] = {0, 2, 2, 0}, y[] = {1, 2}, a[2], b[1];
    plx__iter_result result = {0};
    plx__ridge_options o = {0.5, false, 1e-12, "test", false};
    assert_ok(ctx, plx__ridge_dense(ctx, (plx_mat){k, 2, 2, 2}, (plx_cmat){y, 2, 1, 1}, &o, (plx_mat){a, 2, 1, 1}, b,
                                    &result));
    assert_close(a[0], 1, 1e-14);
    assert_close(a[1], 0, 1e-14);
    double singular[] = {-1, 0, 0, -1}; /* plus gamma l I = 0 */
    assert_fails(ctx,
                 plx__ridge_dense(ctx, (plx_mat){singular, 2, 2, 2}, (plx_cmat){y, 2, 1, 1}, &o, (plx_mat){a, 2, 1, 1},
                                  b, &result),
                 PLX_E_NUMERIC, "test");
    plx_context_destroy(ctx);
}

/* The smallest objective of target c without bias, by elimination in extended precision: w = (X'X/l + gamma I)^-1 X'y/l. */
static double smallest_objective(const sample *s, int c, double gamma)
{
    long double m[D][D + 1] = {{0}}, w[D], loss = 0, norm = 0;
    for (int p = 0; p < D; p++) {
        for (int q = 0; q < D; q++)
            for (int i = 0; i < L; i++) m[p][q] += (long double)s->x[i * D + p] * s->x[i * D + q] / L;
        for (int i = 0; i < L; i++) m[p][D] += (long double)s->x[i * D + p] * s->y[i * C + c] / L;
        m[p][p] += gamma;
    }
    for (int p = 0; p < D; p++) /* positive definite: no pivots needed */
        for (int r = p + 1; r < D; r++)
            for (int q = D; q >= p; q--) m[r][q] -= m[r][p] / m[p][p] * m[p][q];
    for (int p = D - 1; p >= 0; p--) {
        w[p] = m[p][D];
        for (int q = p + 1; q < D; q++) w[p] -= m[p][q] * w[q];
        w[p] /= m[p][p];
        norm += w[p] * w[p];
    }
    for (int i = 0; i < L; i++) {
        long double e = s->y[i * C + c];
        for (int f = 0; f < D; f++) e -= s->x[i * D + f] * w[f];
        loss += e * e / L;
    }
    return (double)(loss + gamma * norm);
}

/* Features of sizes 1 to 1e4 and nearly one direction: the normal equations forget gamma = 1e-9 (rounding of entries of 1e8
 * is 1e-8), so the primal has to go another way, and whoever says converged has the smallest objective. */
static void ill_conditioned_rows(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const double gamma = 1e-9, size[D] = {1e4, 1e3, 1e2, 10, 1};
    for (uint64_t seed = 1; seed < 6; seed++) {
        sample s = draw(seed);
        double w[D * C], b[C], total = 0, best = 0;
        plx__iter_result result = {0};
        for (int i = 0; i < L; i++)
            for (int f = D - 1; f >= 0; f--) s.x[i * D + f] = size[f] * (s.x[i * D] + 1e-4 * s.x[i * D + f]);
        plx__ridge_options o = {gamma, false, 1e-13, "test", false};
        plx__points x = plx__points_dense((plx_cmat){s.x, L, D, D});
        assert_ok(ctx, plx__ridge_primal(ctx, x, (plx_cmat){s.y, L, C, C}, &o, (plx_mat){w, D, C, C}, b, &result));
        assert_true(result.converged);
        for (int c = 0; c < C; c++) {
            best += smallest_objective(&s, c, gamma);
            for (int i = 0; i < L; i++) {
                double e = s.y[i * C + c];
                for (int f = 0; f < D; f++) e -= s.x[i * D + f] * w[f * C + c];
                total += e * e / L;
            }
            for (int f = 0; f < D; f++) total += gamma * w[f * C + c] * w[f * C + c];
        }
        assert_close(total / best, 1.0, 1e-6);
    }
    plx_context_destroy(ctx);
}

static void sparse_rows_give_the_same_weights(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    sample s = draw(5);
    int64_t ptr[L + 1] = {0};
    int32_t col[L * D];
    double val[L * D], w[D * C], thin[D * C], b[C], b_thin[C];
    int64_t nnz = 0;
    plx__iter_result result = {0};
    for (int i = 0; i < L; i++) {
        for (int f = 0; f < D; f++) {
            if ((i + f) % 3 == 0) s.x[i * D + f] = 0;
            if (s.x[i * D + f] == 0) continue;
            col[nnz] = f;
            val[nnz++] = s.x[i * D + f];
        }
        ptr[i + 1] = nnz;
    }
    plx__ridge_options o = {0.2, true, 1e-13, "test", false};
    plx_cmat y = {s.y, L, C, C};
    assert_ok(ctx, plx__ridge_primal(ctx, plx__points_dense((plx_cmat){s.x, L, D, D}), y, &o, (plx_mat){w, D, C, C}, b,
                                     &result));
    assert_ok(ctx, plx__ridge_primal(ctx, plx__points_csr((plx_ccsr){L, D, ptr, col, val}), y, &o,
                                     (plx_mat){thin, D, C, C}, b_thin, &result));
    for (int i = 0; i < D * C; i++) assert_close(w[i], thin[i], 1e-10);
    for (int c = 0; c < C; c++) assert_close(b[c], b_thin[c], 1e-10);
    plx_context_destroy(ctx);
}

/* Running out of time is not an error: the iterate stands, not converged. */
static void time_may_run_out(void **state)
{
    (void)state;
    plx_context_options co = PLX_CONTEXT_OPTIONS_INIT;
    plx_context *ctx = NULL;
    sample s = draw(2);
    double a[L * C], b[C];
    plx__iter_result result = {0};
    co.time_limit = 1e-9;
    assert_int_equal(plx_context_create(&ctx, &co), PLX_OK);
    plx__ridge_options o = {0.1, true, 1e-12, "test", false};
    assert_ok(ctx, plx__ridge_cg(ctx, (plx_cmat){s.k, L, L, L}, (plx_cmat){s.y, L, C, C}, &o, (plx_mat){a, L, C, C}, b,
                                 &result));
    assert_false(result.converged);
    for (int i = 0; i < L * C; i++) assert_true(isfinite(a[i]));
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solvers_agree),        cmocka_unit_test(gradient_vanishes),
        cmocka_unit_test(two_points_by_hand),   cmocka_unit_test(indefinite_kernels_are_solved),
        cmocka_unit_test(ill_conditioned_rows), cmocka_unit_test(sparse_rows_give_the_same_weights),
        cmocka_unit_test(time_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
