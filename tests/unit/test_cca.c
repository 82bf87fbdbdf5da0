#include "fit_helpers.h"
#include "linalg/csr.h"
#include "linalg/dense.h"

enum { N = 60, D = 5, E = 4, F = 3 };

static double x[N * D], y[N * E], z[N * F];
static uint8_t x_there[N], y_there[N], z_there[N];

/* Three views of two hidden variables; a fifth of each view missing. */
static void make_views(void)
{
    plx__rng rng = plx__rng_start(3, 4);
    for (int i = 0; i < N; i++) {
        double h[2] = {plx__next_normal(&rng), plx__next_normal(&rng)};
        for (int j = 0; j < D; j++) x[i * D + j] = 3 + h[j % 2] * (j + 1) + plx__next_normal(&rng);
        for (int j = 0; j < E; j++) y[i * E + j] = -1 + h[j % 2] - h[1] + plx__next_normal(&rng);
        for (int j = 0; j < F; j++) z[i * F + j] = h[0] * j + plx__next_normal(&rng);
        x_there[i] = i % 5 != 1;
        y_there[i] = i % 5 != 2;
        z_there[i] = i % 5 != 3;
    }
}

static plx_dataset *two_views(plx_context *ctx, bool thin)
{
    plx_dataset *d = new_dataset(ctx, N);
    make_views();
    (thin ? add_thin : add_dense)(d, ctx, "x", PLX_VIEW_REAL, x, D, NULL);
    (thin ? add_thin : add_dense)(d, ctx, "y", PLX_VIEW_REAL, y, E, NULL);
    return d;
}

static plx_dataset *three_views(plx_context *ctx, bool thin)
{
    plx_dataset *d = new_dataset(ctx, N);
    make_views();
    (thin ? add_thin : add_dense)(d, ctx, "x", PLX_VIEW_REAL, x, D, x_there);
    add_dense(d, ctx, "y", PLX_VIEW_REAL, y, E, y_there);
    (thin ? add_thin : add_dense)(d, ctx, "z", PLX_VIEW_REAL, z, F, z_there);
    return d;
}

static double product(plx_cmat a, plx_index i, plx_cmat b, plx_index j)
{
    double sum = 0;
    for (plx_index r = 0; r < a.rows; r++) sum += a.data[r * a.ld + i] * b.data[r * b.ld + j];
    return sum;
}

/* The defining conditions: (1-tau) p'p + tau w'w = I in every view, p_x'p_y = diag(rho). */
static void solution_satisfies_its_conditions(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_dataset *d = two_views(ctx, false);
    plx_model *m = fit_model(ctx, "cca", d, SETTINGS("dim=3", "tau=0.3"));
    plx_cmat p = array_of(m, "projection.x"), q = array_of(m, "projection.y"), rho = array_of(m, "rho");
    plx_cmat w = array_of(m, "weights.x"), v = array_of(m, "weights.y");
    for (plx_index i = 0; i < 3; i++)
        for (plx_index j = 0; j < 3; j++) {
            assert_close(0.7 * product(p, i, p, j) + 0.3 * product(w, i, w, j), i == j, 1e-9);
            assert_close(0.7 * product(q, i, q, j) + 0.3 * product(v, i, v, j), i == j, 1e-9);
            assert_close(product(p, i, q, j), i == j ? rho.data[i] : 0.0, 1e-9);
        }
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* More features than samples: the exact solution from n x n matrices is that of the kernel method. */
static void wide_views_are_solved_by_samples(void **state)
{
    enum { WIDE = 90 };
    static double wide[N * WIDE];
    static const char *const stored[] = {"dense", "sparse"};
    (void)state;
    plx_context *ctx = test_context(2);
    make_views();
    plx__rng rng = plx__rng_start(8, 1);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < WIDE; j++)
            wide[i * WIDE + j] = j % 3 == i % 3 ? 0.0 : 1 + y[i * E + j % E] + plx__next_normal(&rng);
    for (int t = 0; t < 2; t++) {
        print_message("%s\n", stored[t]);
        plx_dataset *d = new_dataset(ctx, N);
        (t ? add_thin : add_dense)(d, ctx, "wide", PLX_VIEW_REAL, wide, WIDE, NULL);
        add_dense(d, ctx, "x", PLX_VIEW_REAL, x, D, NULL);
        plx_model *m = fit_model(ctx, "cca", d, SETTINGS("dim=3", "tau=0.3", "scale=none", "solver=exact"));
        plx_model *k = fit_model(ctx, "kcca", d, SETTINGS("dim=3", "tau=0.3", "scale=none", "gs_threshold=1e-14"));
        assert_same_matrix(array_of(m, "rho"), array_of(k, "rho"), 1e-8);
        assert_same_matrix(array_of(m, "projection.wide"), array_of(k, "projection.wide"), 1e-6);
        assert_int_equal(array_of(m, "weights.wide").rows, WIDE);
        plx_model_destroy(m);
        plx_model_destroy(k);
        plx_dataset_destroy(d);
    }
    plx_context_destroy(ctx);
}

static double pearson_of(plx_cmat a, plx_cmat b, plx_index j, plx_index begin, plx_index end)
{
    double n = (double)(end - begin), ma = 0, mb = 0, ab = 0, aa = 0, bb = 0;
    for (plx_index i = begin; i < end; i++) ma += a.data[i * a.ld + j] / n, mb += b.data[i * b.ld + j] / n;
    for (plx_index i = begin; i < end; i++) {
        double p = a.data[i * a.ld + j] - ma, q = b.data[i * b.ld + j] - mb;
        ab += p * q;
        aa += p * p;
        bb += q * q;
    }
    return ab / sqrt(aa * bb);
}

/* Views x and y on the first half, x and z on the second: y and z share no sample, and their pair does not count. */
static void undefined_correlations_do_not_count(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, N);
    uint8_t first[N], second[N];
    make_views();
    for (int i = 0; i < N; i++) first[i] = i < N / 2, second[i] = i >= N / 2;
    add_dense(d, ctx, "x", PLX_VIEW_REAL, x, D, NULL);
    add_dense(d, ctx, "y", PLX_VIEW_REAL, y, E, first);
    add_dense(d, ctx, "z", PLX_VIEW_REAL, z, F, second);
    plx_model *m = fit_model(ctx, "cca", d, SETTINGS("dim=2", "missing=pairwise"));
    plx_cmat px = array_of(m, "projection.x"), py = array_of(m, "projection.y"), pz = array_of(m, "projection.z");
    for (plx_index j = 0; j < 2; j++) {
        double mean = 0.5 * (pearson_of(px, py, j, 0, N / 2) + pearson_of(px, pz, j, N / 2, N));
        assert_close(array_of(m, "correlation").data[j], mean, 1e-12);
    }
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* y is constant where x has samples: whatever rounding leaves of its projections there correlates with nothing. */
static void constant_projections_do_not_correlate(void **state)
{
    static const char *const methods[] = {"cca", "kcca"};
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, N);
    uint8_t first[N];
    make_views();
    for (int i = 0; i < N; i++) first[i] = i < N / 2;
    for (int i = 0; i < N / 2 * E; i++) y[i] = 0.1 + i % E;
    add_dense(d, ctx, "x", PLX_VIEW_REAL, x, D, first);
    add_dense(d, ctx, "y", PLX_VIEW_REAL, y, E, NULL);
    add_dense(d, ctx, "z", PLX_VIEW_REAL, z, F, NULL);
    for (int t = 0; t < 2; t++) {
        plx_model *m = fit_model(ctx, methods[t], d, SETTINGS("dim=2", "missing=pairwise"));
        plx_cmat px = array_of(m, "projection.x"), py = array_of(m, "projection.y"), pz = array_of(m, "projection.z");
        for (plx_index j = 0; j < 2; j++) {
            double mean = 0.5 * (pearson_of(px, pz, j, 0, N / 2) + pearson_of(py, pz, j, 0, N));
            assert_close(array_of(m, "correlation").data[j], mean, 1e-10);
        }
        plx_model_destroy(m);
    }
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void compare_projections(const plx_model *a, const plx_model *b, const char *const *arrays, double tolerance)
{
    for (; *arrays; arrays++) assert_same_matrix(array_of(a, *arrays), array_of(b, *arrays), tolerance);
}

static const char *const TWO[] = {"rho", "correlation", "projection.x", "projection.y", "shared", "retrieval", NULL};
static const char *const THREE[] = {"rho",    "correlation", "projection.x", "projection.y", "projection.z",
                                    "shared", NULL};

/* Dense or sparse, primal or dual, factored, reduced or iterated: one answer. */
static void all_roads_lead_to_one_answer(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_dataset *dense = two_views(ctx, false), *thin = two_views(ctx, true);
    plx_model *exact = fit_model(ctx, "cca", dense, SETTINGS("dim=3"));
    const char *const *const settings[] = {SETTINGS("dim=3"), SETTINGS("dim=3", "solver=svd", "rank=5"),
                                           SETTINGS("dim=3", "solver=iterative")};
    for (int s = 0; s < 3; s++)
        for (int t = 0; t < 2; t++) {
            plx_model *m = fit_model(ctx, "cca", t ? thin : dense, settings[s]);
            compare_projections(exact, m, TWO, 1e-6);
            plx_model_destroy(m);
        }
    plx_model *dual = fit_model(ctx, "kcca", dense, SETTINGS("dim=3"));
    compare_projections(exact, dual, TWO, 1e-7);
    plx_model_destroy(dual);
    dual = fit_model(ctx, "kcca", thin, SETTINGS("dim=3", "gs_max=9"));
    compare_projections(exact, dual, TWO, 1e-7);
    plx_model_destroy(dual);
    plx_model_destroy(exact);
    plx_dataset_destroy(dense);
    plx_dataset_destroy(thin);
    plx_context_destroy(ctx);
}

static void the_same_with_three_views_and_holes(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_dataset *dense = three_views(ctx, false), *thin = three_views(ctx, true);
    const char *modes[] = {"missing=complete", "missing=pairwise"};
    for (int mode = 0; mode < 2; mode++) {
        plx_model *exact = fit_model(ctx, "cca", dense, SETTINGS("dim=2", modes[mode]));
        plx_model *iterated = fit_model(ctx, "cca", thin, SETTINGS("dim=2", modes[mode], "solver=iterative"));
        plx_model *dual = fit_model(ctx, "kcca", thin, SETTINGS("dim=2", modes[mode]));
        compare_projections(exact, iterated, THREE, 1e-6);
        compare_projections(exact, dual, THREE, 1e-7);
        assert_int_equal(plx_model_converged(iterated), 1);
        plx_model_destroy(exact);
        plx_model_destroy(iterated);
        plx_model_destroy(dual);
    }
    plx_dataset_destroy(dense);
    plx_dataset_destroy(thin);
    plx_context_destroy(ctx);
}

/* New samples go through their kernel values: those of the fit land where the fit put them, in any single view too. */
static void training_samples_are_projected_alike(void **state)
{
    (void)state;
    const char *const *const settings[] = {
        SETTINGS("dim=2", "kernel=rbf", "width=4"), SETTINGS("dim=2", "kernel=poly", "degree=2", "gs_threshold=1e-6"),
        SETTINGS("dim=2", "kernel=cosine"), SETTINGS("dim=2", "kernel=rbf", "gamma=0.05", "center=false"),
        SETTINGS("dim=2", "amplitude=auto", "gs_stop=sum", "gs_threshold=0.01")};
    for (int s = 0; s < 5; s++) {
        plx_context *ctx = test_context(1);
        plx_dataset *d = three_views(ctx, s % 2), *only = new_dataset(ctx, N);
        plx_model *m = fit_model(ctx, "kcca", d, settings[s]);
        plx_prediction *all = NULL, *one = NULL;
        plx_cmat again, shared;
        add_dense(only, ctx, "y", PLX_VIEW_REAL, y, E, y_there);
        assert_ok(ctx, plx_predict(&all, ctx, m, d));
        assert_ok(ctx, plx_transform(&one, ctx, m, only));
        assert_ok(ctx, plx_prediction_array(&again, all, "projection.y"));
        assert_ok(ctx, plx_prediction_transform(&shared, one));
        assert_same_matrix(array_of(m, "projection.y"), again, 1e-7);
        assert_same_matrix(again, shared, 1e-12); /* the only view there is */
        plx_prediction_destroy(all);
        plx_prediction_destroy(one);
        plx_model_destroy(m);
        plx_dataset_destroy(d);
        plx_dataset_destroy(only);
        plx_context_destroy(ctx);
    }
}

/* rho of 2 views is bounded by 1/(1-tau); with tau = 0 it is the correlation; with tau = 1 a covariance. */
static void tau_means_what_it_says(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = two_views(ctx, false);
    plx_model *free_of = fit_model(ctx, "cca", d, SETTINGS("dim=3", "tau=0"));
    assert_same_matrix(array_of(free_of, "rho"), array_of(free_of, "correlation"), 1e-10);
    plx_model *half = fit_model(ctx, "cca", d, SETTINGS("dim=3", "tau=0.5"));
    assert_true(array_of(half, "rho").data[0] <= 2.0);
    plx_model *full = fit_model(ctx, "cca", d, SETTINGS("dim=1", "tau=1"));
    assert_close(product(array_of(full, "weights.x"), 0, array_of(full, "weights.x"), 0), 1, 1e-10);
    plx_model_destroy(free_of);
    plx_model_destroy(half);
    plx_model_destroy(full);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* A view nobody has is left out with a warning; too few views are an error. */
static void empty_views(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = two_views(ctx, false), *poor = new_dataset(ctx, N);
    uint8_t none[N] = {0};
    plx_model *m = NULL;
    add_dense(d, ctx, "z", PLX_VIEW_REAL, z, F, none);
    add_dense(poor, ctx, "x", PLX_VIEW_REAL, x, D, NULL);
    add_dense(poor, ctx, "y", PLX_VIEW_REAL, y, E, none);
    m = fit_model(ctx, "kcca", d, SETTINGS("dim=2"));
    assert_non_null(strstr(plx_model_warning(m, 0), "no sample has view"));
    assert_int_equal(array_of(m, "retrieval").rows, 2);
    plx_model_destroy(m);
    assert_fails(ctx, try_fit(&m, ctx, "cca", poor, NULL, NULL), PLX_E_DATA, "needs at least two views");
    plx_dataset_destroy(d);
    plx_dataset_destroy(poor);
    plx_context_destroy(ctx);
}

static void settings_that_contradict(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = two_views(ctx, false);
    plx_model *m = NULL;
    plx_params *p = NULL;
    assert_fails(ctx, try_fit(&m, ctx, "kcca", d, SETTINGS("width=1", "gamma=1"), NULL), PLX_E_ARG, "gamma");
    assert_fails(ctx, try_fit(&m, ctx, "kcca", d, SETTINGS("width.x=1", "gamma.x=1"), NULL), PLX_E_ARG, "view x");
    assert_fails(ctx, try_fit(&m, ctx, "kcca", d, SETTINGS("classifier=svm"), NULL), PLX_E_DATA, "two classes");
    assert_ok(ctx, plx_params_create(&p, ctx, "cca"));
    assert_fails(ctx, plx_params_set(p, ctx, "kernel", "rbf"), PLX_E_ARG, "kernel");
    assert_fails(ctx, plx_params_set(p, ctx, "gs_max", "3"), PLX_E_ARG, "gs_max");
    assert_ok(ctx, plx_params_set(p, ctx, "kernel", "linear"));
    plx_params_destroy(p);
    /* the setting for a view wins over the plain one of the same meaning */
    plx_model *a = fit_model(ctx, "kcca", d, SETTINGS("dim=1", "kernel=rbf", "width=5", "gamma.x=0.02"));
    plx_model *b = fit_model(ctx, "kcca", d, SETTINGS("dim=1", "kernel=rbf", "width=5"));
    assert_same_matrix(array_of(a, "projection.x"), array_of(b, "projection.x"), 1e-9); /* 1/(2 5^2) = 0.02 */
    plx_model_destroy(a);
    plx_model_destroy(b);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Constant views, trivial correlations, and dim beyond what there is. */
static void degenerate_views(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double flat[N], wide[N * N];
    plx__rng rng = plx__rng_start(1, 2);
    for (int i = 0; i < N; i++) flat[i] = 0.1;
    for (int i = 0; i < N * N; i++) wide[i] = plx__next_normal(&rng);
    plx_dataset *d = two_views(ctx, false), *full = new_dataset(ctx, N);
    plx_model *m = NULL;
    add_dense(d, ctx, "flat", PLX_VIEW_REAL, flat, 1, NULL);
    add_dense(full, ctx, "a", PLX_VIEW_REAL, wide, N, NULL);
    for (int i = 0; i < N * N; i++) wide[i] = plx__next_normal(&rng);
    add_dense(full, ctx, "b", PLX_VIEW_REAL, wide, N, NULL);
    for (int k = 0; k < 2; k++)
        assert_fails(ctx, try_fit(&m, ctx, k ? "kcca" : "cca", d, NULL, NULL), PLX_E_DATA,
                     "view 'flat' has no variance");
    m = fit_model(ctx, "kcca", full, SETTINGS("tau=0"));
    assert_non_null(strstr(plx_model_warning(m, 0), "59 directions"));
    assert_non_null(strstr(plx_model_warning(m, 1), "trivially 1; use tau > 0"));
    assert_close(array_of(m, "rho").data[0], 1, 1e-6);
    plx_model_destroy(m);
    m = fit_model(ctx, "cca", full, SETTINGS("tau=0", "solver=iterative", "dim=2"));
    assert_non_null(strstr(plx_model_warning(m, 0), "trivially 1; use tau > 0"));
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_dataset_destroy(full);
    plx_context_destroy(ctx);
}

/* top1, top10 and the reciprocal rank by counting; without a truth they are still in the result. */
static void retrieval_by_counting(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = two_views(ctx, false);
    plx_model *m = fit_model(ctx, "cca", d, SETTINGS("dim=2"));
    plx_cmat p = array_of(m, "projection.x"), q = array_of(m, "projection.y"), r = array_of(m, "retrieval");
    double top1 = 0, top10 = 0, reciprocal = 0;
    for (int i = 0; i < N; i++) {
        double rank = 1, own = 0;
        for (int j = -1; j < N; j++) {
            const double *a = p.data + i * p.ld, *b = q.data + (j < 0 ? i : j) * q.ld;
            double cosine = plx__dot(a, b, 2) / (plx__norm(a, 2) * plx__norm(b, 2));
            if (j < 0) own = cosine;
            else rank += cosine > own + 1e-12;
        }
        top1 += rank == 1;
        top10 += rank <= 10;
        reciprocal += 1 / rank;
    }
    assert_close(r.data[2], top1 / N, 1e-12);
    assert_close(r.data[3], top10 / N, 1e-12);
    assert_close(r.data[4], reciprocal / N, 1e-12);
    const char *json = NULL;
    assert_ok(ctx, plx_model_json(&json, ctx, m, d));
    assert_non_null(strstr(json, "\"top1\"") ? strstr(json, "\"top10\"") : NULL);
    assert_null(strstr(json, "accuracy"));
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Two rbf views of many samples, whose kernels have nearly full rank. */
enum { MANY = 520 };

static plx_dataset *many_samples(plx_context *ctx)
{
    static double a[MANY * D], b[MANY * E];
    plx_dataset *d = new_dataset(ctx, MANY);
    plx__rng rng = plx__rng_start(5, 6);
    for (int i = 0; i < MANY; i++) {
        double h[3] = {plx__next_normal(&rng), plx__next_normal(&rng), plx__next_normal(&rng)};
        for (int j = 0; j < D; j++) a[i * D + j] = h[j % 3] + 0.5 * plx__next_normal(&rng);
        for (int j = 0; j < E; j++) b[i * E + j] = h[(j + 1) % 3] + 0.5 * plx__next_normal(&rng);
    }
    add_dense(d, ctx, "a", PLX_VIEW_REAL, a, D, NULL);
    add_dense(d, ctx, "b", PLX_VIEW_REAL, b, E, NULL);
    return d;
}

/* A few directions are found in the space of the samples, most of them in that of the columns: they must be the same. In
 * the last two rows the former gives up, for a matrix conditioned too badly and for values too small. */
static void few_directions_of_full_rank_kernels(void **state)
{
    static const struct {
        const char *tau, *width, *columns;
        double tolerance;
    } rows[] = {{"tau=0.5", "width=1", "gs_max=0", 1e-10},
                {"tau=0.2", "width=1", "gs_max=430", 1e-10},
                {"tau=0.9", "center=false", "gs_max=0", 1e-10},
                {"tau=1e-4", "width=1", "gs_max=0", 1e-7},
                {"tau=0.99999", "width=1", "gs_max=0", 1e-10}};
    static const char *const arrays[] = {"rho",       "correlation", "projection.a", "projection.b",
                                         "weights.a", "weights.b",   "shared"};
    (void)state;
    for (size_t t = 0; t < sizeof rows / sizeof *rows; t++) {
        plx_context *one = test_context(1), *ctx = test_context(3);
        plx_dataset *d = many_samples(ctx), *same = many_samples(one);
        print_message("%s\n", rows[t].tau);
        plx_model *few =
            fit_model(ctx, "kcca", d, SETTINGS("dim=6", "kernel=rbf", rows[t].tau, rows[t].width, rows[t].columns));
        plx_model *alone =
            fit_model(one, "kcca", same, SETTINGS("dim=6", "kernel=rbf", rows[t].tau, rows[t].width, rows[t].columns));
        plx_model *most =
            fit_model(ctx, "kcca", d, SETTINGS("dim=300", "kernel=rbf", rows[t].tau, rows[t].width, rows[t].columns));
        for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
            plx_cmat got = array_of(few, arrays[a]), all = array_of(most, arrays[a]);
            plx_cmat leading = {all.data, got.rows, got.cols, all.ld};
            assert_same_matrix(got, leading, rows[t].tolerance);
            assert_same_matrix(got, array_of(alone, arrays[a]), 0);
        }
        plx_model_destroy(few);
        plx_model_destroy(alone);
        plx_model_destroy(most);
        plx_dataset_destroy(d);
        plx_dataset_destroy(same);
        plx_context_destroy(one);
        plx_context_destroy(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solution_satisfies_its_conditions),
        cmocka_unit_test(wide_views_are_solved_by_samples),
        cmocka_unit_test(undefined_correlations_do_not_count),
        cmocka_unit_test(constant_projections_do_not_correlate),
        cmocka_unit_test(all_roads_lead_to_one_answer),
        cmocka_unit_test(the_same_with_three_views_and_holes),
        cmocka_unit_test(training_samples_are_projected_alike),
        cmocka_unit_test(tau_means_what_it_says),
        cmocka_unit_test(empty_views),
        cmocka_unit_test(settings_that_contradict),
        cmocka_unit_test(degenerate_views),
        cmocka_unit_test(retrieval_by_counting),
        cmocka_unit_test(few_directions_of_full_rank_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
