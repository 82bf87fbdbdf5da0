/*
 * Expectations over an unseen view against draws, against numerical integration, and against each other.
 */
#include "acquire_helpers.h"
#include "methods/bct/sense.h"

enum { ROWS = 4, DRAWS = 200000 };

static const double rows[ROWS * 2] = {0.5, -1, 1.2, 0.3, -0.7, 0.9, 0, 1.5};
static const double mean[2] = {0.4, 0.2}, full[4] = {0.5, 0.2, 0.2, 0.3}, diagonal[2] = {0.6, 0.25};

static sense_reference reference(plx__kernel kernel, bool diag)
{
    plx_cmat cov = diag ? (plx_cmat){diagonal, 1, 2, 2} : (plx_cmat){full, 2, 2, 2};
    return (sense_reference){{rows, ROWS, 2, 2}, kernel, mean, cov};
}

static const plx__kernel RBF = {PLX__KERNEL_RBF, 0.8, 0, 0, 1.3}, LINEAR = {PLX__KERNEL_LINEAR, 1, 0, 0, 0.7};

/* Draws have the mean and covariance asked for, kernel values the moments of the closed form. */
static void against_draws(void **state)
{
    (void)state;
    for (int which = 0; which < 4; which++) {
        plx_context *ctx = test_context(1);
        sense_reference of = reference(which % 2 ? RBF : LINEAR, which / 2);
        plx_mat x, values, moments;
        double self = 0, diagonal_mean = 0, *diag = NULL;
        assert_ok(ctx, plx__arena_mat(&x, plx__scratch(ctx), DRAWS, 2));
        assert_ok(ctx, plx__arena_mat(&values, plx__scratch(ctx), DRAWS, ROWS));
        assert_ok(ctx, plx__arena_f64(&diag, plx__scratch(ctx), DRAWS, 1));
        assert_ok(ctx, plx__sense_draw(x, ctx, &of, 7));
        assert_ok(ctx, plx__sense_moments(&moments, &self, ctx, &of));
        assert_ok(ctx, plx__kernel_matrix(ctx, &of.kernel, plx__points_dense(plx__cmat(x)), plx__points_dense(of.rows),
                                          values));
        assert_ok(ctx, plx__kernel_diagonal(ctx, &of.kernel, plx__points_dense(plx__cmat(x)), diag));
        for (plx_index i = 0; i < DRAWS; i++) diagonal_mean += diag[i] / DRAWS;
        assert_close(self, diagonal_mean, 0.01);
        for (int l = 0; l < ROWS; l++) {
            double sum = 0;
            for (plx_index i = 0; i < DRAWS; i++) sum += values.data[i * ROWS + l] / DRAWS;
            assert_close(moments.data[l * moments.ld], sum, 0.01);
            for (int k = 0; k < ROWS; k++) {
                double product = 0, closed = 0;
                for (plx_index i = 0; i < DRAWS; i++)
                    product += values.data[i * ROWS + l] * values.data[i * ROWS + k] / DRAWS;
                for (plx_index r = 0; r < moments.cols; r++)
                    closed += moments.data[l * moments.ld + r] * moments.data[k * moments.ld + r];
                assert_close(closed, product, 0.01);
            }
        }
        plx_context_destroy(ctx);
    }
}

/* q = 1/(s + Q x^2) of a linear kernel with one feature: draws against the integral of exp(-ts) E[exp(-t Q x^2)]. */
static void reciprocal_as_an_integral(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    const double x_known[3] = {0.4, -1.1, 0.8}, mu = 0.6, variance = 0.5, amplitude = 0.9, s = 0.3;
    double cov = variance, sum_sq = 0, integral = 0, drawn = 0, step = 1e-3;
    for (int i = 0; i < 3; i++) sum_sq += x_known[i] * x_known[i];
    double q = amplitude / (1 + amplitude / s * sum_sq);
    for (double t = 0.5 * step; t < 120; t += step) {
        double spread = 1 + 2 * t * q * variance;
        integral += step * exp(-t * s) / sqrt(spread) * exp(-t * q * mu * mu / spread);
    }
    sense_reference of = {{x_known, 3, 1, 1}, {PLX__KERNEL_LINEAR, 1, 0, 0, amplitude}, &mu, {&cov, 1, 1, 1}};
    plx_mat x;
    assert_ok(ctx, plx__arena_mat(&x, plx__scratch(ctx), DRAWS, 1));
    assert_ok(ctx, plx__sense_draw(x, ctx, &of, 3));
    for (plx_index i = 0; i < DRAWS; i++) {
        /* kappa(x,x) - b' S^-1 b with S = a X X' + s I is Q x^2 */
        double b[3], inverse[9], self = amplitude * x.data[i] * x.data[i];
        for (int l = 0; l < 3; l++) b[l] = amplitude * x_known[l] * x.data[i];
        for (int k = 0; k < 9; k++) inverse[k] = amplitude * x_known[k / 3] * x_known[k % 3] + (k % 4 == 0 ? s : 0);
        if (i < 5) { /* the identity itself, for a few */
            invert(inverse, 3);
            for (int k = 0; k < 9; k++) self -= b[k / 3] * inverse[k] * b[k % 3];
            assert_close(self, q * x.data[i] * x.data[i], 1e-12);
        }
        drawn += 1 / (s + q * x.data[i] * x.data[i]) / DRAWS;
    }
    assert_close(drawn, integral, 0.01);
    plx_context_destroy(ctx);
}

static void compress_keeps_the_product(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double f[5 * 40];
    plx_mat few;
    plx__rng rng = plx__rng_start(1, 2);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 40; j++) f[i * 40 + j] = i < 3 ? plx__next_normal(&rng) : f[j] + (i == 4 ? f[40 + j] : 0);
    assert_ok(ctx, plx__sense_compress(&few, ctx, (plx_cmat){f, 5, 40, 40}));
    assert_int_equal(few.cols, 3);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            assert_close(plx__dot(few.data + i * few.ld, few.data + j * few.ld, few.cols),
                         plx__dot(f + i * 40, f + j * 40, 40), 1e-9);
    plx_context_destroy(ctx);
}

/* Gains by draws tend to the exact expectation, which for one feature is an integral over a grid. */
static void samples_tend_to_the_integral(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    enum { N = 6 };
    const double x[N] = {1, 1.3, -0.8, -1.2, 0.2, 0}, y[N] = {0.5, 1.1, -1, -0.4, 0.3, -0.2}, s = 0.4, width = 0.8;
    const uint8_t has_y[N] = {1, 1, 1, 1, 1, 0};
    const int label[N] = {0, 0, 1, 1, -1, -1};
    plx_dataset *d = new_dataset(ctx, N);
    add_dense(d, ctx, "x", PLX_VIEW_REAL, x, 1, NULL);
    add_dense(d, ctx, "y", PLX_VIEW_REAL, y, 1, has_y);
    set_labels(d, ctx, label);
    const char *const settings[] = {"kernel=rbf",        "width=0.8",          "amplitude=1",
                                    "view_variance=0.4", "expectation=sample", "samples=20000",
                                    "components=1",      "scale=none",         NULL};
    plx_acquisition *a = acquire(ctx, d, settings, (const char *const[]){"gmm_cov.y", NULL});
    plx_model *m = fit_asking(ctx, "bct", d, SETTINGS("kernel=rbf", "width=0.8", "amplitude=1", "view_variance=0.4"),
                              (const char *const[]){"precision", NULL}, NULL);
    plx_cmat lambda = array_of(m, "precision"), f = array_of(m, "mean");
    double mu = array_of(a->model, "gmm_mean.y").data[0], sd = sqrt(array_of(a->model, "gmm_cov.y").data[0]);
    double inverse[25], change[N * N] = {0}, p[N * N];
    for (int i = 0; i < 25; i++) inverse[i] = exp(-0.5 * pow((y[i / 5] - y[i % 5]) / width, 2)) + (i % 6 == 0 ? s : 0);
    invert(inverse, 5);
    for (double z = -8; z <= 8; z += 0.01) { /* trapezoid rule for a smooth integrand that vanishes at the ends */
        double b[5], u[N] = {0, 0, 0, 0, 0, 1}, told = 0, weight = 0.01 * exp(-0.5 * z * z) / sqrt(2 * acos(-1.0));
        for (int l = 0; l < 5; l++) b[l] = exp(-0.5 * pow((y[l] - mu - sd * z) / width, 2));
        for (int k = 0; k < 25; k++) {
            u[k / 5] -= inverse[k] * b[k % 5];
            told += b[k / 5] * inverse[k] * b[k % 5];
        }
        for (int k = 0; k < N * N; k++) change[k] += weight * u[k / N] * u[k % N] / (1 + s - told);
    }
    /* log det(I + Delta^-1 change) by elimination without symmetry */
    double delta[N * N];
    memcpy(delta, lambda.data, sizeof delta);
    for (int i = 0; i < N; i++) {
        double pi = 1 / (1 + exp(-f.data[i]));
        if (label[i] >= 0) delta[i * (N + 1)] += pi * (1 - pi);
    }
    invert(delta, N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            p[i * N + j] = i == j;
            for (int k = 0; k < N; k++) p[i * N + j] += delta[i * N + k] * change[k * N + j];
        }
    double log_det = 0;
    for (int k = 0; k < N; k++) {
        log_det += log(p[k * (N + 1)]);
        for (int i = k + 1; i < N; i++) {
            double factor = p[i * N + k] / p[k * (N + 1)];
            for (int j = k; j < N; j++) p[i * N + j] -= factor * p[k * N + j];
        }
    }
    assert_close(array_of(a->model, "gain").data[5 * 2 + 1], 0.5 * log_det, 0.004);
    plx_model_destroy(m);
    plx_acquisition_destroy(a);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_draws), cmocka_unit_test(reciprocal_as_an_integral),
                                       cmocka_unit_test(compress_keeps_the_product),
                                       cmocka_unit_test(samples_tend_to_the_integral)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
