/*
 * colr against brute force: gradients by differences, the two solvers against each other, and information of candidates
 * by determinants of whole matrices.
 */
#include "acquire_helpers.h"
#include "linalg/factor.h"

#define FIXED "hyper=fixed", "lambda_ridge=0.5", "lambda_co=0.2", "scale=none", "balance=none"

static double logdet_of(plx_context *ctx, const double *a, plx_index n)
{
    double *copy = malloc((size_t)(n * n) * sizeof *copy);
    memcpy(copy, a, (size_t)(n * n) * sizeof *copy);
    assert_ok(ctx, plx__cholesky(ctx, plx__mat_of(copy, n, n), NULL));
    double value = plx__chol_logdet(plx__cmat_of(copy, n, n));
    free(copy);
    return value;
}

static plx_model *fit_with(plx_context *ctx, const plx_dataset *d, const char *const *settings, const char *array)
{
    plx_fit_options o = PLX_FIT_OPTIONS_INIT;
    const char *const arrays[] = {array, NULL};
    plx_params *p = settings_of(ctx, "colr", settings);
    plx_model *m = NULL;
    o.arrays = arrays;
    o.n_arrays = array ? 1 : 0;
    assert_ok(ctx, plx_fit(&m, ctx, "colr", d, p, &o));
    plx_params_destroy(p);
    return m;
}

/* The log posterior of the gamma form at w, from the definition, for two views of two columns and bias. */
static double log_posterior(const toy *t, const double *w, double beta_co, double rank)
{
    double sum = 0, quadratic = 0;
    for (int i = 0; i < TOY_N; i++) {
        double s[2];
        for (int v = 0; v < 2; v++) s[v] = w[v * 3] * t->x[v][i * 2] + w[v * 3 + 1] * t->x[v][i * 2 + 1] + w[v * 3 + 2];
        if (t->label[i] < 0) quadratic += (s[0] - s[1]) * (s[0] - s[1]);
        for (int v = 0; v < 2 && t->label[i] >= 0; v++) sum -= log1p(exp(t->label[i] == 1 ? -s[v] : s[v]));
    }
    for (int e = 0; e < 6; e++) sum -= 1.5 * log(100 + 0.5 * w[e] * w[e]);
    return sum - (1 + rank / 2) * log(beta_co + 0.5 * quadratic);
}

/* Four unlabelled samples with generic values: the agreement has rank 4 and four terms. At the end no direction gains. */
static void gamma_reaches_a_maximum(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    toy t = make_toy(2, false);
    plx_dataset *d = toy_dataset(ctx, &t, 2, false);
    plx_model *m = fit_with(ctx, d, SETTINGS("scale=none", "balance=none", "gem_iter=100000", "gem_tol=1e-15"), NULL);
    plx_cmat w = array_of(m, "weights");
    double at[6], best = 0;
    for (int e = 0; e < 6; e++) at[e] = w.data[e * w.ld];
    best = log_posterior(&t, at, 200, 4);
    assert_close(best, plx_model_objective(m), 1e-8);
    for (int e = 0; e < 6; e++)
        for (int side = -1; side <= 1; side += 2) {
            double keep = at[e];
            at[e] += side * 1e-4;
            assert_true(log_posterior(&t, at, 200, 4) < best + 1e-11);
            at[e] = keep;
        }
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* More weights than matrices are formed for: conjugate gradients; asking for the precision forces Cholesky. */
static void solvers_agree(void **state)
{
    enum { N = 24, D = 260 };
    static double x[2][N * D];
    int label[N];
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        plx_context *ctx = test_context(2);
        plx__rng rng = plx__rng_start(11, 3);
        for (int i = 0; i < N; i++) {
            label[i] = i % 3 == 2 ? -1 : i % 2;
            for (int v = 0; v < 2; v++)
                for (int j = 0; j < D; j++)
                    x[v][i * D + j] = j % 7 == i % 7 ? plx__next_normal(&rng) + (j < 40 ? i % 2 : 0) : 0;
        }
        plx_dataset *d = new_dataset(ctx, N);
        for (int v = 0; v < 2; v++) (sparse ? add_thin : add_dense)(d, ctx, toy_names[v], PLX_VIEW_REAL, x[v], D, NULL);
        set_labels(d, ctx, label);
        const char *const *both[] = {
            SETTINGS("scale=none", "gem_iter=25", "gem_tol=0"), SETTINGS(FIXED, "graph=rbf", "lambda_graph=0.01"),
            SETTINGS("scale=none", "gem_iter=20", "gem_tol=0", "graph=rbf", "tie_graph=false")};
        for (int s = 0; s < 3; s++) {
            plx_model *cg = fit_with(ctx, d, both[s], NULL);
            plx_model *dense = fit_with(ctx, d, both[s], "posterior_precision");
            assert_same_matrix(array_of(cg, "weights"), array_of(dense, "weights"), 1e-7);
            assert_same_matrix(array_of(cg, "lambda"), array_of(dense, "lambda"), 1e-7);
            assert_close(plx_model_objective(cg), plx_model_objective(dense), 1e-8);
            plx_model_destroy(cg);
            plx_model_destroy(dense);
        }
        plx_dataset_destroy(d);
        plx_context_destroy(ctx);
    }
}

/* Row i of all views with their constants, 0 where missing: 3 views of 2 columns. */
static void row_of(double z[9], const toy *t, int i)
{
    for (int v = 0; v < 3; v++) {
        z[v * 3] = t->present[v][i] ? t->x[v][i * 2] : 0;
        z[v * 3 + 1] = t->present[v][i] ? t->x[v][i * 2 + 1] : 0;
        z[v * 3 + 2] = t->present[v][i] ? 1 : 0;
    }
}

static double sigmoid(double s) { return 1 / (1 + exp(-s)); }

/* a += scale u u' on the nine weights. */
static void add_outer(double a[81], double scale, const double u[9])
{
    for (int e = 0; e < 9; e++)
        for (int f = 0; f < 9; f++) a[e * 9 + f] += scale * u[e] * u[f];
}

/* Information from determinants of whole 9 x 9 matrices. One component: the conditional mean of a view is its mean. */
static void gains_by_whole_determinants(void **state)
{
    (void)state;
    plx_context *ctx = test_context(3);
    toy t = make_toy(2, true);
    plx_acquisition *any = NULL;
    plx_dataset *d = toy_dataset(ctx, &t, 3, false);
    plx_model *m = fit_with(ctx, d, SETTINGS(FIXED), "posterior_precision");
    assert_ok(ctx, try_acquire_with(&any, ctx, PLX_ACQUIRE_ANY, "colr", d, SETTINGS(FIXED, "components=1")));
    plx_cmat precision = array_of(m, "posterior_precision"), w = array_of(m, "weights");
    plx_cmat label_gain = array_of(plx_acquisition_model(any), "label_gain");
    plx_cmat gain = array_of(plx_acquisition_model(any), "gain");
    double before = logdet_of(ctx, precision.data, 9);
    plx_index candidates = 0;
    for (int i = 0; i < TOY_N; i++) {
        double z[9], a[81], u[9];
        row_of(z, &t, i);
        memcpy(a, precision.data, sizeof a);
        for (int v = 0; v < 3; v++) {
            double s = 0;
            memset(u, 0, sizeof u);
            for (int e = v * 3; e < v * 3 + 3; e++) s += (u[e] = z[e]) * w.data[e];
            if (t.present[v][i]) add_outer(a, sigmoid(s) * sigmoid(-s), u);
        }
        double want = t.label[i] < 0 ? 0.5 * (logdet_of(ctx, a, 9) - before) : 0;
        candidates += t.label[i] < 0;
        assert_close(label_gain.data[i], want, 1e-9);
        for (int v = 0; v < 3; v++) {
            double mean[3] = {0, 0, 1}, count = 0, s = 0;
            if (t.present[v][i]) continue;
            for (int l = 0; l < TOY_N; l++)
                for (int e = 0; e < 2 && t.present[v][l]; e++) mean[e] += t.x[v][l * 2 + e], count += 0.5;
            for (int e = 0; e < 2; e++) mean[e] /= count;
            memcpy(a, precision.data, sizeof a);
            for (int k = 0; k < 3; k++) { /* agreement with every view that is there */
                if (!t.present[k][i] || t.label[i] >= 0) continue;
                memset(u, 0, sizeof u);
                for (int e = 0; e < 3; e++) u[k * 3 + e] = z[k * 3 + e], u[v * 3 + e] = -mean[e];
                add_outer(a, 0.2, u);
            }
            memset(u, 0, sizeof u);
            for (int e = 0; e < 3; e++) s += (u[v * 3 + e] = mean[e]) * w.data[v * 3 + e];
            if (t.label[i] >= 0) add_outer(a, sigmoid(s) * sigmoid(-s), u);
            assert_close(gain.data[i * gain.ld + v], 0.5 * (logdet_of(ctx, a, 9) - before), 1e-9);
            candidates++;
        }
    }
    assert_int_equal(plx_acquisition_count(any), candidates);
    plx_acquisition_destroy(any);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* A view of mean squared spread t counts as if divided by sqrt(t): so does the same view in another unit. */
static void balance_makes_units_irrelevant(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    toy t = make_toy(3, true), large = make_toy(3, true);
    for (int i = 0; i < TOY_N * TOY_COLS; i++) large.x[1][i] *= 1e5;
    plx_dataset *d = toy_dataset(ctx, &t, 2, false), *e = toy_dataset(ctx, &large, 2, false);
    plx_model *m = fit_with(ctx, d, SETTINGS("scale=none"), NULL), *o = fit_with(ctx, e, SETTINGS("scale=none"), NULL);
    assert_same_matrix(array_of(m, "probability"), array_of(o, "probability"), 1e-9);
    plx_model_destroy(m);
    plx_model_destroy(o);
    plx_dataset_destroy(d);
    plx_dataset_destroy(e);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gamma_reaches_a_maximum),
        cmocka_unit_test(solvers_agree),
        cmocka_unit_test(gains_by_whole_determinants),
        cmocka_unit_test(balance_makes_units_irrelevant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
