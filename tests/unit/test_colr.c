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

/* What a label does to the precision. */
static void label_change(double a[81], const toy *t, int i, const double *w)
{
    double z[9], u[9];
    row_of(z, t, i);
    for (int v = 0; v < 3; v++) {
        double s = 0;
        memset(u, 0, sizeof u);
        for (int e = v * 3; e < v * 3 + 3; e++) s += (u[e] = z[e]) * w[e];
        if (t->present[v][i]) add_outer(a, sigmoid(s) * sigmoid(-s), u);
    }
}

/* Mean and covariance of the one component, cov_reg included. */
static void view_moments(double mean[2], double cov[4], const toy *t, int v)
{
    double count = 0;
    memset(mean, 0, 2 * sizeof *mean);
    memset(cov, 0, 4 * sizeof *cov);
    for (int l = 0; l < TOY_N; l++) count += t->present[v][l];
    for (int l = 0; l < TOY_N; l++)
        for (int e = 0; e < 2 && t->present[v][l]; e++) mean[e] += t->x[v][l * 2 + e] / count;
    for (int l = 0; l < TOY_N; l++)
        for (int e = 0; e < 4 && t->present[v][l]; e++)
            cov[e] += (t->x[v][l * 2 + e / 2] - mean[e / 2]) * (t->x[v][l * 2 + e % 2] - mean[e % 2]) / count;
    double spread = 1e-3 * (cov[0] + cov[3]) / 2;
    cov[0] += spread;
    cov[3] += spread;
}

/* E[p(1-p) x x'] with p(1-p) taken as N(z | 0, 8/pi), the spec's formula with matrices of two features inverted. */
static void add_likely(double a[81], int v, const double mean[2], const double cov[4], const double *w)
{
    const double pi = 3.14159265358979323846;
    double det = cov[0] * cov[3] - cov[1] * cov[2];
    double p[4] = {cov[3] / det, -cov[1] / det, -cov[2] / det, cov[0] / det}, q[4], u[3] = {0, 0, 1};
    for (int e = 0; e < 4; e++) q[e] = p[e] + pi / 8 * w[e / 2] * w[e % 2];
    double deter = q[0] * q[3] - q[1] * q[2];
    double back[4] = {q[3] / deter, -q[1] / deter, -q[2] / deter, q[0] / deter}, right[2];
    for (int e = 0; e < 2; e++) right[e] = p[e * 2] * mean[0] + p[e * 2 + 1] * mean[1] - pi / 8 * w[2] * w[e];
    for (int e = 0; e < 2; e++) u[e] = back[e * 2] * right[0] + back[e * 2 + 1] * right[1];
    double z = w[0] * mean[0] + w[1] * mean[1] + w[2];
    double variance = 8 / pi + w[0] * (cov[0] * w[0] + cov[1] * w[1]) + w[1] * (cov[2] * w[0] + cov[3] * w[1]);
    double likely = exp(-0.5 * z * z / variance) / sqrt(2 * pi * variance);
    for (int e = 0; e < 3; e++)
        for (int f = 0; f < 3; f++)
            a[(v * 3 + e) * 9 + v * 3 + f] += likely * (u[e] * u[f] + (e < 2 && f < 2 ? back[e * 2 + f] : 0));
}

/* What measuring a view does, in the mean or (exact) with expectations; one component. */
static void view_change(double a[81], const toy *t, int i, int v, const double *w, bool exact)
{
    double z[9], u[9], mean[2], cov[4], s = w[v * 3 + 2];
    row_of(z, t, i);
    view_moments(mean, cov, t, v);
    for (int k = 0; k < 3; k++) { /* agreement with every view that is there */
        if (!t->present[k][i] || t->label[i] >= 0) continue;
        memset(u, 0, sizeof u);
        for (int e = 0; e < 3; e++) u[k * 3 + e] = z[k * 3 + e], u[v * 3 + e] = e < 2 ? -mean[e] : -1;
        add_outer(a, 0.2, u);
        for (int e = 0; e < 4 && exact; e++) a[(v * 3 + e / 2) * 9 + v * 3 + e % 2] += 0.2 * cov[e];
    }
    if (t->label[i] < 0) return;
    if (exact) add_likely(a, v, mean, cov, w + v * 3);
    memset(u, 0, sizeof u);
    for (int e = 0; e < 2; e++) s += (u[v * 3 + e] = mean[e]) * w[v * 3 + e];
    u[v * 3 + 2] = 1;
    if (!exact) add_outer(a, sigmoid(s) * sigmoid(-s), u);
}

static double gain_of(plx_context *ctx, const double *precision, const toy *t, int i, int v, const double *w,
                      bool exact)
{
    double a[81];
    memcpy(a, precision, sizeof a);
    if (v < 0) label_change(a, t, i, w);
    else view_change(a, t, i, v, w, exact);
    return 0.5 * (logdet_of(ctx, a, 9) - logdet_of(ctx, precision, 9));
}

/* Information from determinants of whole 9 x 9 matrices. One component: the conditional mean of a view is its mean. */
static void gains_by_whole_determinants(void **state)
{
    (void)state;
    plx_context *ctx = test_context(3);
    toy t = make_toy(2, true);
    plx_dataset *d = toy_dataset(ctx, &t, 3, false);
    plx_model *m = fit_with(ctx, d, SETTINGS(FIXED), "posterior_precision");
    plx_cmat precision = array_of(m, "posterior_precision"), w = array_of(m, "weights");
    for (int exact = 0; exact < 2; exact++) {
        plx_acquisition *any = NULL;
        plx_index candidates = 0;
        assert_ok(ctx,
                  try_acquire_with(&any, ctx, PLX_ACQUIRE_ANY, "colr", d,
                                   SETTINGS(FIXED, "components=1", exact ? "expectation=exact" : "expectation=mean")));
        plx_cmat label_gain = array_of(plx_acquisition_model(any), "label_gain");
        plx_cmat gain = array_of(plx_acquisition_model(any), "gain");
        for (int i = 0; i < TOY_N; i++) {
            double want = t.label[i] < 0 ? gain_of(ctx, precision.data, &t, i, -1, w.data, exact) : 0;
            candidates += t.label[i] < 0;
            assert_close(label_gain.data[i], want, 1e-9);
            for (int v = 0; v < 3; v++) {
                if (t.present[v][i]) continue;
                want = gain_of(ctx, precision.data, &t, i, v, w.data, exact);
                assert_close(gain.data[i * gain.ld + v], want, 1e-9);
                candidates++;
            }
        }
        assert_int_equal(plx_acquisition_count(any), candidates);
        plx_acquisition_destroy(any);
    }
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* A batch: greedy by whole determinants, the precision changed by everything that was taken, and by costs. */
static void batches_by_whole_determinants(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    toy t = make_toy(2, true);
    plx_dataset *d = toy_dataset(ctx, &t, 3, false);
    plx_model *m = fit_with(ctx, d, SETTINGS(FIXED), "posterior_precision");
    plx_cmat w = array_of(m, "weights");
    for (int exact = 0; exact < 2; exact++) {
        double a[81];
        bool taken[TOY_N][4] = {{0}};
        plx_acquisition *any = NULL;
        plx_index views = 0;
        memcpy(a, array_of(m, "posterior_precision").data, sizeof a);
        assert_ok(ctx, try_acquire_with(&any, ctx, PLX_ACQUIRE_ANY, "colr", d,
                                        SETTINGS(FIXED, "components=1", "batch=9", "cost.label=2",
                                                 exact ? "expectation=exact" : "expectation=mean")));
        assert_int_equal(plx_acquisition_count(any), 9);
        for (plx_index k = 0; k < 9; k++) {
            plx_acquired row = PLX_ACQUIRED_INIT;
            double best = 0, own = 0;
            assert_int_equal(plx_acquisition_get(&row, any, k), PLX_OK);
            for (int i = 0; i < TOY_N; i++)
                for (int v = -1; v < 3; v++) {
                    if (taken[i][v + 1] || (v < 0 ? t.label[i] >= 0 : t.present[v][i])) continue;
                    double score = gain_of(ctx, a, &t, i, v, w.data, exact) / (v < 0 ? 2 : 1);
                    best = fmax(best, score);
                    if (i == row.sample && v == row.view) own = score;
                }
            assert_close(own, best, 1e-9);
            assert_close(row.score, best, 1e-9);
            assert_close(row.gain, best * row.cost, 1e-9);
            taken[row.sample][row.view + 1] = true;
            views += row.view >= 0;
            if (row.view < 0) label_change(a, &t, (int)row.sample, w.data);
            else view_change(a, &t, (int)row.sample, (int)row.view, w.data, exact);
        }
        assert_true(views > 0 && views < 9);
        plx_acquisition_destroy(any);
    }
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

/* One entry per row; all samples have the first view, every 400th, which is not labelled, also the second. */
static void add_single(plx_dataset *d, plx_context *ctx, const char *name, plx_index every, const int *label)
{
    enum { COLS = 1600 };
    plx_index n = plx_dataset_samples(d);
    int64_t *ptr = calloc((size_t)n + 1, sizeof *ptr);
    int32_t *col = calloc((size_t)n, sizeof *col);
    double *val = calloc((size_t)n, sizeof *val);
    uint8_t *present = calloc((size_t)n, 1);
    for (plx_index i = 0, at = 0; i < n; i++) {
        present[i] = i % every == 0;
        if (present[i]) col[at] = (int32_t)((i / every * 2 + label[i] + 2) % COLS), val[at++] = 1;
        ptr[i + 1] = at;
    }
    assert_ok(ctx,
              plx_dataset_add_sparse(d, ctx, name, PLX_VIEW_REAL, (plx_ccsr){n, COLS, ptr, col, val}, NULL, present));
    free(ptr);
    free(col);
    free(val);
    free(present);
}

/* Memory goes with the samples that agree across views, not with the square of all: 3.2 GB here, and two values each. */
static void many_samples_fit(void **state)
{
    enum { N = 20000, EVERY = 400 };
    (void)state;
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    plx_context *ctx = NULL;
    o.memory_limit = 64 << 20;
    o.threads = 2;
    assert_int_equal(plx_context_create(&ctx, &o), PLX_OK);
    int *label = malloc(N * sizeof *label);
    for (int i = 0; i < N; i++) label[i] = i % EVERY == 0 ? -1 : i % 2;
    plx_dataset *d = new_dataset(ctx, N);
    add_single(d, ctx, "a", 1, label);
    add_single(d, ctx, "b", EVERY, label);
    set_labels(d, ctx, label);
    plx_model *m = fit_with(ctx, d, SETTINGS("gem_iter=2"), NULL);
    assert_true(plx_model_objective(m) < 0);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
    free(label);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gamma_reaches_a_maximum),        cmocka_unit_test(solvers_agree),
        cmocka_unit_test(gains_by_whole_determinants),    cmocka_unit_test(batches_by_whole_determinants),
        cmocka_unit_test(balance_makes_units_irrelevant), cmocka_unit_test(many_samples_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
