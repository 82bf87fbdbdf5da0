/* The SVM dual: worked examples, the optimality conditions, LIBSVM's answer, the bias rules, bad input. */
#include "plx_test.h"

#ifdef PLX_HAVE_REFERENCES
#include <libsvm/svm.h>
#endif

#include "core/rng.h"
#include "optim/svm_dual.h"

enum { L = 24 };

typedef struct sample {
    double k[L * L], y[L];
} sample;

/* Gaussian kernel of points in the plane, labels by a noisy line. */
static sample draw(uint64_t seed, double width)
{
    sample s;
    double x[L][2];
    plx__rng rng = plx__rng_start(seed, 5);
    for (int i = 0; i < L; i++) {
        x[i][0] = plx__next_normal(&rng);
        x[i][1] = plx__next_normal(&rng);
        s.y[i] = x[i][0] + 0.5 * plx__next_normal(&rng) > 0 ? 1 : -1;
    }
    s.y[0] = 1, s.y[1] = -1;
    for (int i = 0; i < L; i++)
        for (int j = 0; j < L; j++) {
            double d0 = x[i][0] - x[j][0], d1 = x[i][1] - x[j][1];
            s.k[i * L + j] = exp(-(d0 * d0 + d1 * d1) / (2 * width * width));
        }
    return s;
}

static plx_cmat square(const double *k, plx_index l) { return (plx_cmat){k, l, l, l}; }

static double value_at(const sample *s, const double *a, double b, int i)
{
    double f = b;
    for (int j = 0; j < L; j++) f += a[j] * s->y[j] * s->k[i * L + j];
    return f;
}

/* y f >= 1 where a = 0, = 1 where 0 < a < C, <= 1 where a = C, all to `tol`. */
static void check_conditions(const sample *s, const double *a, double b, double cost, double tol)
{
    for (int i = 0; i < L; i++) {
        double margin = s->y[i] * value_at(s, a, b, i);
        assert_true(a[i] >= 0 && a[i] <= cost);
        if (a[i] < cost) assert_true(margin >= 1 - tol);
        if (a[i] > 0) assert_true(margin <= 1 + tol);
    }
}

/* Points +1 and -1 on a line: a = 1/2 each, f(x) = x; with C = 1/4 both stop at C, f(x) = x/2, and b is the midpoint
 * of [-1/2, 1/2]. Moved by 3 the answer moves with them: f(x) = x - 3. */
static void two_points(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const double y[] = {1, -1}, k[] = {1, -1, -1, 1}, moved[] = {16, 8, 8, 4};
    double a[2];
    plx__svm_result r;
    plx__svm_options o = {.cost = 1, .bias = true, .what = "test"};
    assert_ok(ctx, plx__svm_dual(ctx, square(k, 2), y, &o, a, &r));
    assert_true(r.converged);
    assert_close(a[0], 0.5, 1e-9);
    assert_close(a[1], 0.5, 1e-9);
    assert_close(r.bias, 0, 1e-9);
    assert_close(r.dual, 0.5, 1e-9);
    assert_close(r.primal, 0.5, 1e-9);
    o.cost = 0.25;
    assert_ok(ctx, plx__svm_dual(ctx, square(k, 2), y, &o, a, &r));
    assert_close(a[0], 0.25, 0);
    assert_close(a[1], 0.25, 0);
    assert_close(r.bias, 0, 1e-12);
    o.cost = 1;
    assert_ok(ctx, plx__svm_dual(ctx, square(moved, 2), y, &o, a, &r));
    assert_close(a[0], 0.5, 1e-9);
    assert_close(r.bias, -3, 1e-8);
    plx_context_destroy(ctx);
}

/* Without bias and with C = 1, points 4 (+) and 2 (-): max a1 + a2 - (4 a1 - 2 a2)^2 / 2. For a2 = 1 the optimum is
 * 4 (4 a1 - 2) = 1, a1 = 9/16, where the slope in a2 is 1 + 2 (9/4 - 2) > 0: a2 stays at C. */
static void two_points_without_bias(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const double y[] = {1, -1}, k[] = {16, 8, 8, 4};
    double a[2];
    plx__svm_result r;
    plx__svm_options o = {.cost = 1, .bias = false, .what = "test"};
    assert_ok(ctx, plx__svm_dual(ctx, square(k, 2), y, &o, a, &r));
    assert_true(r.converged);
    assert_close(a[0], 9.0 / 16, 1e-9);
    assert_close(a[1], 1, 0);
    assert_close(r.bias, 0, 0);
    plx_context_destroy(ctx);
}

/* Easy and hard costs, wide (nearly singular) and narrow kernels: the conditions hold and the duality gap closes. */
static void optimality(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const double costs[] = {1e-3, 0.1, 1, 30, 1e4};
    for (uint64_t seed = 1; seed < 9; seed++)
        for (int c = 0; c < 5; c++)
            for (int bias = 0; bias < 2; bias++) {
                sample s = draw(seed, seed % 2 ? 0.7 : 5.0);
                double a[L], sum = 0;
                plx__svm_result r;
                plx__svm_options o = {.cost = costs[c], .bias = bias, .gap = 1e-8, .what = "test"};
                assert_ok(ctx, plx__svm_dual(ctx, square(s.k, L), s.y, &o, a, &r));
                assert_true(r.converged);
                assert_true(r.primal - r.dual <= 1e-8 * r.primal);
                check_conditions(&s, a, r.bias, costs[c], 1e-7);
                for (int i = 0; i < L; i++) sum += a[i] * s.y[i];
                if (bias) assert_close(sum, 0, 1e-12 * costs[c] * L);
            }
    plx_context_destroy(ctx);
}

#ifdef PLX_HAVE_REFERENCES
static void silent(const char *text) { (void)text; }

/* LIBSVM with a precomputed kernel and a small eps gives the same decision values, to what its single precision Gram matrix allows. */
static void agrees_with_libsvm(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    svm_set_print_string_function(silent);
    for (uint64_t seed = 1; seed < 7; seed++) {
        sample s = draw(seed, 1.0);
        struct svm_node nodes[L][L + 2], *rows[L];
        for (int i = 0; i < L; i++) {
            nodes[i][0] = (struct svm_node){0, i + 1};
            for (int j = 0; j < L; j++) nodes[i][j + 1] = (struct svm_node){j + 1, s.k[i * L + j]};
            nodes[i][L + 1].index = -1;
            rows[i] = nodes[i];
        }
        double cost = seed % 2 ? 1.0 : 25.0, a[L], value;
        struct svm_problem problem = {L, s.y, rows};
        struct svm_parameter p = {
            .svm_type = C_SVC, .kernel_type = PRECOMPUTED, .cache_size = 1, .eps = 1e-10, .C = cost};
        struct svm_model *model = svm_train(&problem, &p);
        plx__svm_result r;
        plx__svm_options o = {.cost = cost, .bias = true, .what = "test"};
        assert_ok(ctx, plx__svm_dual(ctx, square(s.k, L), s.y, &o, a, &r));
        for (int i = 0; i < L; i++) {
            svm_predict_values(model, nodes[i], &value);
            assert_close(value_at(&s, a, r.bias, i), value * model->label[0], 2e-5);
        }
        svm_free_and_destroy_model(&model);
    }
    plx_context_destroy(ctx);
}
#endif

/* With a bias, a constant added to the kernel changes neither a nor f. */
static void constants_do_not_matter(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    sample s = draw(3, 1.0), t = s;
    double a[L], moved[L];
    plx__svm_result r, q;
    plx__svm_options o = {.cost = 5, .bias = true, .tol = 1e-10, .what = "test"};
    for (int i = 0; i < L * L; i++) t.k[i] += 100;
    assert_ok(ctx, plx__svm_dual(ctx, square(s.k, L), s.y, &o, a, &r));
    assert_ok(ctx, plx__svm_dual(ctx, square(t.k, L), t.y, &o, moved, &q));
    for (int i = 0; i < L; i++) {
        assert_close(a[i], moved[i], 1e-6);
        assert_close(value_at(&s, a, r.bias, i), value_at(&t, moved, q.bias, i), 1e-7);
    }
    plx_context_destroy(ctx);
}

static void one_sign_is_refused(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const double y[] = {-1, -1}, k[] = {1, 0, 0, 1};
    double a[2];
    plx__svm_result r;
    plx__svm_options o = {.cost = 1, .bias = true, .what = "svm: class 'a'"};
    assert_fails(ctx, plx__svm_dual(ctx, square(k, 2), y, &o, a, &r), PLX_E_DATA, "class 'a'");
    plx_context_destroy(ctx);
}

static void stops_at_the_limit(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    sample s = draw(2, 5.0);
    double a[L];
    plx__svm_result r;
    plx__svm_options o = {.cost = 1e4, .bias = true, .max_iter = 3, .what = "test"};
    assert_ok(ctx, plx__svm_dual(ctx, square(s.k, L), s.y, &o, a, &r));
    assert_false(r.converged);
    assert_int_equal(r.iterations, 3);
    plx_context_destroy(ctx);
}

static void survives_every_allocation_failure(void **state)
{
    (void)state;
    sample s = draw(2, 5.0);
    plx_status st = PLX_E_NOMEM;
    for (long k = 1; st != PLX_OK; k++) {
        meter m = {0, k, 0};
        plx_context *ctx = metered_context(&m, 1);
        if (!ctx) continue;
        double a[L];
        plx__svm_result r;
        plx__svm_options o = {.cost = 1e4, .bias = true, .what = "test"};
        st = plx__svm_dual(ctx, square(s.k, L), s.y, &o, a, &r);
        assert_true(st == PLX_OK || (st == PLX_E_NOMEM && plx_context_error(ctx)[0]));
        plx_context_destroy(ctx);
        assert_int_equal(m.live, 0);
        assert_true(k < 10000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_points),
        cmocka_unit_test(two_points_without_bias),
        cmocka_unit_test(optimality),
#ifdef PLX_HAVE_REFERENCES
        cmocka_unit_test(agrees_with_libsvm),
#endif
        cmocka_unit_test(constants_do_not_matter),
        cmocka_unit_test(one_sign_is_refused),
        cmocka_unit_test(stops_at_the_limit),
        cmocka_unit_test(survives_every_allocation_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
