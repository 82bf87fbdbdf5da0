/* rls against brute force: the bordered normal equations solved by Gaussian elimination. */
#include "fit_helpers.h"
#include "pivot_helpers.h"

enum { N = 24, D1 = 4, D2 = 3, K = 3 };

typedef struct world {
    int label[N];
    double x1[N * D1], x2[N * D2];
    uint8_t p1[N], p2[N];
} world;

static world draw(uint64_t seed)
{
    world w;
    plx__rng rng = plx__rng_start(seed, 4);
    for (int i = 0; i < N; i++) {
        w.label[i] = i < 2 * K ? i % K : plx__next_uniform(&rng) < 0.4 ? (int)random_count(&rng, K) : -1;
        w.p1[i] = w.p2[i] = 1;
        for (int f = 0; f < D1; f++) w.x1[i * D1 + f] = plx__next_normal(&rng) + (f == w.label[i]);
        for (int f = 0; f < D2; f++) w.x2[i * D2 + f] = plx__next_normal(&rng) + (f == w.label[i]);
    }
    return w;
}

static plx_dataset *dataset_of(const world *w, plx_context *ctx, bool sparse)
{
    plx_dataset *d = new_dataset(ctx, N);
    if (sparse) add_thin(d, ctx, "one", PLX_VIEW_REAL, w->x1, D1, w->p1);
    else add_dense(d, ctx, "one", PLX_VIEW_REAL, w->x1, D1, w->p1);
    if (sparse) add_thin(d, ctx, "two", PLX_VIEW_REAL, w->x2, D2, w->p2);
    else add_dense(d, ctx, "two", PLX_VIEW_REAL, w->x2, D2, w->p2);
    set_labels(d, ctx, w->label);
    return d;
}

/* ---- brute force ---- */

/* Gaussian elimination with row exchange, in place; n <= N + 1. */
static void eliminate(double *m, double *rhs, int n)
{
    for (int c = 0; c < n; c++) {
        int best = c;
        for (int r = c + 1; r < n; r++)
            if (fabs(m[r * n + c]) > fabs(m[best * n + c])) best = r;
        for (int j = 0; j < n; j++) {
            double keep = m[c * n + j];
            m[c * n + j] = m[best * n + j];
            m[best * n + j] = keep;
        }
        double keep = rhs[c];
        rhs[c] = rhs[best];
        rhs[best] = keep;
        for (int r = 0; r < n; r++) {
            if (r == c) continue;
            double factor = m[r * n + c] / m[c * n + c];
            for (int j = c; j < n; j++) m[r * n + j] -= factor * m[c * n + j];
            rhs[r] -= factor * rhs[c];
        }
    }
    for (int c = 0; c < n; c++) rhs[c] /= m[c * n + c];
}

/* [K + gamma l I, 1; 1', 0] [a; b] = [y; 0] over the labelled samples that have the view; scores of everybody. */
static void brute(double *scores, const world *w, const double *gram, const uint8_t *present, double gamma, bool bias)
{
    int at[N], l = 0;
    for (int i = 0; i < N; i++)
        if (w->label[i] >= 0 && present[i]) at[l++] = i;
    for (int c = 0; c < K; c++) {
        double m[(N + 1) * (N + 1)] = {0}, rhs[N + 1] = {0};
        int size = l + (bias ? 1 : 0);
        for (int i = 0; i < l; i++) {
            for (int j = 0; j < l; j++) m[i * size + j] = gram[at[i] * N + at[j]] + (i == j ? gamma * l : 0);
            if (bias) m[i * size + l] = m[l * size + i] = 1;
            rhs[i] = w->label[at[i]] == c ? 1 : -1;
        }
        eliminate(m, rhs, size);
        for (int i = 0; i < N; i++) {
            double f = bias ? rhs[l] : 0;
            for (int j = 0; j < l; j++) f += gram[i * N + at[j]] * rhs[j];
            scores[i * K + c] = present[i] ? f : 0;
        }
    }
}

static void inner(double *gram, const double *x, int d)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int f = 0; f < d; f++) s += x[i * d + f] * x[j * d + f];
            gram[i * N + j] = s;
        }
}

static void distances(double *gram, const double *x, int d, double width)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int f = 0; f < d; f++) s += (x[i * d + f] - x[j * d + f]) * (x[i * d + f] - x[j * d + f]);
            gram[i * N + j] = exp(-s / (2 * width * width));
        }
}

static void compare(plx_context *ctx, const plx_dataset *d, const char *const *settings, const double *expected,
                    double tolerance)
{
    plx_model *m = fit_model(ctx, "rls", d, settings);
    assert_same_matrix(array_of(m, "scores"), (plx_cmat){expected, N, K, K}, tolerance);
    plx_model_destroy(m);
}

/* ---- tests ---- */

static void linear_solvers_agree_with_brute_force(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    double gram[N * N], expected[N * K];
    for (uint64_t seed = 1; seed < 4; seed++)
        for (int bias = 0; bias < 2; bias++) {
            world w = draw(seed);
            const char *b = bias ? "bias=1" : "bias=0";
            inner(gram, w.x1, D1);
            brute(expected, &w, gram, w.p1, 0.05, bias);
            for (int sparse = 0; sparse < 2; sparse++) {
                plx_dataset *d = dataset_of(&w, ctx, sparse);
                compare(ctx, d, SETTINGS("gamma_a=0.05", b), expected, 1e-10);
                compare(ctx, d, SETTINGS("gamma_a=0.05", b, "solver=dense"), expected, 1e-10);
                compare(ctx, d, SETTINGS("gamma_a=0.05", b, "solver=primal", "tol=1e-13"), expected, 1e-8);
                compare(ctx, d, SETTINGS("gamma_a=0.05", b, "solver=cg", "tol=1e-13"), expected, 1e-8);
                plx_dataset_destroy(d);
            }
        }
    plx_context_destroy(ctx);
}

static void rbf_and_given_kernels_agree(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(8);
    double gram[N * N], expected[N * K];
    distances(gram, w.x2, D2, 1.5);
    brute(expected, &w, gram, w.p2, 0.02, true);
    plx_dataset *d = dataset_of(&w, ctx, false);
    add_dense(d, ctx, "given", PLX_VIEW_KERNEL, gram, N, NULL);
    compare(ctx, d, SETTINGS("view=two", "kernel=rbf", "width=1.5", "gamma_a=0.02"), expected, 1e-10);
    compare(ctx, d, SETTINGS("view=two", "kernel.two=rbf", "width.two=1.5", "gamma_a=0.02", "solver=cg", "tol=1e-13"),
            expected, 1e-8);
    compare(ctx, d, SETTINGS("view=given", "gamma_a=0.02"), expected, 1e-10);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Pivots among the labelled samples: the reduced kernel, and with as many pivots as labels the kernel itself. The
 * factor leaves 1e-12 of the diagonal, and K + gamma l I has a condition below 1e3. */
static void pivots_reduce_the_kernel(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    double gram[N * N], reduced[N * N], expected[N * K];
    for (uint64_t seed = 3; seed < 6; seed++) {
        world w = draw(seed);
        uint8_t labelled[N];
        w.p2[2] = w.p2[9] = 0;
        for (int i = 0; i < N; i++) labelled[i] = w.label[i] >= 0 && w.p2[i];
        distances(gram, w.x2, D2, 1.5);
        reduce_gram(reduced, gram, N, labelled, 4);
        brute(expected, &w, reduced, w.p2, 0.02, true);
        for (int sparse = 0; sparse < 2; sparse++) {
            plx_dataset *d = dataset_of(&w, ctx, sparse);
            add_dense(d, ctx, "given", PLX_VIEW_KERNEL, gram, N, w.p2);
            compare(ctx, d, SETTINGS("view=two", "kernel=rbf", "width=1.5", "gamma_a=0.02", "pivots=4"), expected,
                    1e-9);
            compare(ctx, d, SETTINGS("view=given", "gamma_a=0.02", "pivots=4"), expected, 1e-9);
            plx_dataset_destroy(d);
        }
        for (int bias = 0; bias < 2; bias++) {
            plx_dataset *d = dataset_of(&w, ctx, false);
            const char *b = bias ? "bias=1" : "bias=0";
            brute(expected, &w, gram, w.p2, 0.02, bias);
            compare(ctx, d, SETTINGS("view=two", "kernel=rbf", "width=1.5", "gamma_a=0.02", b, "pivots=100"), expected,
                    1e-9);
            plx_dataset_destroy(d);
        }
        plx_dataset *d = dataset_of(&w, ctx, false);
        inner(gram, w.x1, D1);
        brute(expected, &w, gram, w.p1, 0.05, true);
        compare(ctx, d, SETTINGS("gamma_a=0.05", "pivots=100"), expected, 1e-9); /* linear: four pivots are all */
        plx_dataset_destroy(d);
    }
    plx_context_destroy(ctx);
}

/* Concatenation is the sum of the linear kernels. */
static void concatenation_sums_linear_kernels(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(9);
    double gram[N * N], more[N * N], expected[N * K];
    inner(gram, w.x1, D1);
    inner(more, w.x2, D2);
    for (int i = 0; i < N * N; i++) gram[i] += more[i];
    brute(expected, &w, gram, w.p1, 0.1, false);
    for (int sparse = 0; sparse < 2; sparse++) {
        plx_dataset *d = dataset_of(&w, ctx, sparse);
        compare(ctx, d, SETTINGS("view=concat", "gamma_a=0.1", "bias=0"), expected, 1e-10);
        plx_dataset_destroy(d);
    }
    plx_context_destroy(ctx);
}

/* Samples without the view: zero scores, the most frequent class, a warning that counts them. */
static void missing_views_get_the_majority(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(10);
    double gram[N * N], expected[N * K];
    for (int i = 0; i < N; i++) w.label[i] = i < 10 ? (i < 4 ? i % 2 : 2) : -1; /* C is the most frequent */
    w.p1[3] = w.p1[12] = w.p1[20] = 0;
    inner(gram, w.x1, D1);
    brute(expected, &w, gram, w.p1, 0.05, true);
    plx_dataset *d = dataset_of(&w, ctx, false);
    plx_model *m = fit_model(ctx, "rls", d, SETTINGS("gamma_a=0.05"));
    plx_cmat scores = array_of(m, "scores"), alpha = array_of(m, "alpha");
    assert_same_matrix(scores, (plx_cmat){expected, N, K, K}, 1e-10);
    for (int c = 0; c < K; c++) assert_true(alpha.data[3 * alpha.ld + c] == 0);
    assert_string_equal(plx_prediction_label(plx_model_prediction(m), 12), "C");
    assert_string_equal(plx_prediction_label(plx_model_prediction(m), 3), "C");
    assert_int_equal(plx_model_warnings(m), 1);
    assert_non_null(strstr(plx_model_warning(m, 0), "3 samples lack view 'one'"));
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* alpha and the Gram matrix give the scores back: f = G alpha + b. */
static void arrays_fit_together(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(12);
    w.p1[5] = 0;
    plx_dataset *d = dataset_of(&w, ctx, false);
    plx_params *p = settings_of(ctx, "rls", SETTINGS("kernel=poly", "degree=3"));
    choose_first_view(ctx, p, d, NULL);
    plx_fit_options o = PLX_FIT_OPTIONS_INIT;
    plx_model *m = NULL;
    o.arrays = (const char *const[]){"gram"};
    o.n_arrays = 1;
    assert_ok(ctx, plx_fit(&m, ctx, "rls", d, p, &o));
    plx_cmat g = array_of(m, "gram"), a = array_of(m, "alpha"), b = array_of(m, "bias"), s = array_of(m, "scores");
    for (int i = 0; i < N; i++)
        for (int c = 0; c < K; c++) {
            double f = b.data[c];
            for (int j = 0; j < N; j++) f += g.data[i * N + j] * a.data[j * K + c];
            assert_close(s.data[i * K + c], w.p1[i] ? f : 0, 1e-8);
        }
    plx_model_destroy(m);
    plx_params_destroy(p);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void refusals(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(13);
    plx_model *m = NULL;
    plx_dataset *d = dataset_of(&w, ctx, false);
    assert_fails(ctx, try_fit(&m, ctx, "rls", d, SETTINGS("view=sound"), NULL), PLX_E_ARG,
                 "there is no view 'sound' (the views are one, two)");
    assert_fails(ctx, try_fit(&m, ctx, "rls", d, SETTINGS("kernel=rbf", "solver=primal"), NULL), PLX_E_ARG, "primal");
    assert_fails(ctx, try_fit(&m, ctx, "rls", d, SETTINGS("pivots=3", "solver=cg"), NULL), PLX_E_ARG,
                 "pivots = 3: solver = cg works on the whole kernel");
    assert_fails(ctx, try_fit(&m, ctx, "rls", d, SETTINGS("view=concat", "scale.concat=unit"), NULL), PLX_E_ARG,
                 "scale.concat");
    plx_dataset_destroy(d);
    for (int i = 0; i < N; i++) w.p1[i] = w.label[i] < 0;
    d = dataset_of(&w, ctx, false);
    assert_fails(ctx, try_fit(&m, ctx, "rls", d, NULL, NULL), PLX_E_DATA, "no labelled sample has view 'one'");
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* A solver that runs out of time says so in the model. */
static void unfinished_solvers_are_not_converged(void **state)
{
    (void)state;
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    plx_context *ctx = NULL;
    world w = draw(14);
    o.time_limit = 1e-9;
    assert_int_equal(plx_context_create(&ctx, &o), PLX_OK);
    plx_dataset *d = dataset_of(&w, ctx, false);
    plx_model *m = fit_model(ctx, "rls", d, SETTINGS("solver=cg"));
    assert_int_equal(plx_model_converged(m), 0);
    bool told = false;
    for (plx_index i = 0; i < plx_model_warnings(m); i++)
        told |= strstr(plx_model_warning(m, i), "the time limit ended the solver") != NULL;
    assert_true(told);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Rows of 1e300 and of 1e-300 have a direction all the same: only that counts for the cosine. */
static void cosine_of_extreme_rows(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double scale[] = {1, 1e300, 1e-300};
    plx_model *m[3];
    for (int s = 0; s < 3; s++) {
        plx_dataset *d = new_dataset(ctx, 3);
        double x[] = {1, 2, 3, 1, 2, 2};
        for (int i = 0; i < 6; i++) x[i] *= scale[s];
        add_dense(d, ctx, "v", PLX_VIEW_REAL, x, 2, NULL);
        set_labels(d, ctx, (int[]){0, 1, -1});
        m[s] = fit_model(ctx, "rls", d, SETTINGS("kernel=cosine"));
        assert_same_matrix(array_of(m[s], "scores"), array_of(m[0], "scores"), 1e-12);
        plx_dataset_destroy(d);
    }
    assert_true(fabs(array_of(m[0], "scores").data[0]) > 0.1);
    for (int s = 0; s < 3; s++) plx_model_destroy(m[s]);
    plx_context_destroy(ctx);
}

/* An iterative solver says how many steps it took. */
static void iterations_are_reported(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    world w = draw(15);
    plx_dataset *d = dataset_of(&w, ctx, false);
    plx_model *m = fit_model(ctx, "rls", d, SETTINGS("solver=cg"));
    assert_true(plx_model_iterations(m) > 0);
    assert_int_equal(plx_model_converged(m), 1);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* The prepared copies count in the estimate: refused before anything is allocated, with a remedy. */
static void memory_is_stated_first(void **state)
{
    (void)state;
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    plx_context *ctx = NULL;
    plx_model *m = NULL;
    o.memory_limit = 4 << 20;
    assert_int_equal(plx_context_create(&ctx, &o), PLX_OK);
    plx_dataset *d = new_dataset(ctx, 2000);
    double *x = calloc(2000 * 100, sizeof *x);
    int *label = calloc(2000, sizeof *label);
    for (int i = 0; i < 2000; i++) label[i] = i < 5 ? i % 2 : -1;
    for (int i = 0; i < 200000; i++) x[i] = i % 7;
    add_dense(d, ctx, "v", PLX_VIEW_REAL, x, 100, NULL);
    set_labels(d, ctx, label);
    assert_fails(ctx, try_fit(&m, ctx, "rls", d, SETTINGS("view=concat", "scale=zscore"), NULL), PLX_E_NOMEM,
                 "rls needs about");
    free(x);
    free(label);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_solvers_agree_with_brute_force),
        cmocka_unit_test(rbf_and_given_kernels_agree),
        cmocka_unit_test(pivots_reduce_the_kernel),
        cmocka_unit_test(concatenation_sums_linear_kernels),
        cmocka_unit_test(missing_views_get_the_majority),
        cmocka_unit_test(arrays_fit_together),
        cmocka_unit_test(refusals),
        cmocka_unit_test(unfinished_solvers_are_not_converged),
        cmocka_unit_test(cosine_of_extreme_rows),
        cmocka_unit_test(iterations_are_reported),
        cmocka_unit_test(memory_is_stated_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
