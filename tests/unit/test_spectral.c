/*
 * spectral and smd: the eight-node example with its breakdown values, eigenvalues known in closed form on the sparse
 * route, disconnected and asymmetric input, and new samples. Values against an independent implementation are in
 * tests/cases/spectral and tests/cases/smd.
 */
#include "fit_helpers.h"
#include "linalg/dense.h"

static const char *label_of(const plx_model *m, plx_index i) { return m->fitted.outcome.label[i]; }

/* Fit with one array on request. */
static plx_model *fit_asking(plx_context *ctx, const char *method, const plx_dataset *d, const char *const *settings,
                             const char *array)
{
    plx_fit_options o = PLX_FIT_OPTIONS_INIT;
    plx_params *p = settings_of(ctx, method, settings);
    plx_model *m = NULL;
    o.arrays = &array;
    o.n_arrays = 1;
    assert_ok(ctx, plx_fit(&m, ctx, method, d, p, &o));
    plx_params_destroy(p);
    return m;
}

/* ---- eight nodes ---- */

/* Cliques {a,b} of weight 1 and a link of strength m between the second and the third. */
static void fill_eight(double *x, const int (*clique)[2], double m, plx__rng *rng)
{
    memset(x, 0, 64 * sizeof *x);
    for (int c = 0; c < 4; c++)
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++) x[clique[c][a] * 8 + clique[c][b]] = 1.0;
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) x[clique[1][a] * 8 + clique[2][b]] = x[clique[2][b] * 8 + clique[1][a]] = m;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j <= i; j++) {
            double noise = 1e-9 * plx__next_uniform(rng);
            x[i * 8 + j] += noise;
            if (i != j) x[j * 8 + i] += noise;
        }
}

/* {1,2,3,4} | {5,6,7,8}? */
static bool eight_is_right(plx_context *ctx, const char *method, double m, const char *const *settings)
{
    static const int first[4][2] = {{0, 2}, {1, 3}, {4, 6}, {5, 7}}, second[4][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}};
    double x[64];
    plx__rng rng = plx__rng_start(5, PLX__STREAM('e', 'i', 'g', 'h', 0));
    plx_dataset *d = new_dataset(ctx, 8);
    fill_eight(x, first, m, &rng);
    add_dense(d, ctx, "v1", PLX_VIEW_KERNEL, x, 8, NULL);
    fill_eight(x, second, m, &rng);
    add_dense(d, ctx, "v2", PLX_VIEW_KERNEL, x, 8, NULL);
    plx_model *model = fit_model(ctx, method, d, settings);
    bool right = true;
    for (int i = 0; i < 8; i++) right &= strcmp(label_of(model, i), i < 4 ? "c0" : "c1") == 0;
    plx_model_destroy(model);
    plx_dataset_destroy(d);
    return right;
}

/* Breakdown values of the specification: right just below, wrong just above. */
static void eight_nodes_break_down_where_they_should(void **state)
{
    static const struct {
        const char *method;
        double m;
        const char *settings[6];
    } expected[] = {{"smd", 0.9141, {"clusters=2"}},
                    {"smd", 0.8128, {"clusters=2", "use=v1"}},
                    {"spectral", 0.8060, {"clusters=2", "combine=sum", "affinity_k=0", "normalise_views=0"}},
                    {"spectral", 0.7606, {"clusters=2", "affinity_k=0", "normalise_views=0", "zero_diagonal=0"}},
                    {"spectral", 0.7795, {"clusters=2", "combine=sum", "affinity_k=0"}}};
    (void)state;
    plx_context *ctx = test_context(1);
    for (int e = 0; e < 5; e++) {
        assert_true(eight_is_right(ctx, expected[e].method, 0.3, expected[e].settings));
        assert_true(eight_is_right(ctx, expected[e].method, expected[e].m - 5e-4, expected[e].settings));
        assert_false(eight_is_right(ctx, expected[e].method, expected[e].m + 5e-4, expected[e].settings));
    }
    plx_context_destroy(ctx);
}

/* ---- the sparse route ---- */

/* Sparse kernel view from `parts` circulant graphs of n nodes each, with steps 1, 7, 49, 343 to both sides. */
static plx_dataset *circulants(plx_context *ctx, plx_index n, plx_index parts)
{
    static const plx_index steps[4] = {1, 7, 49, 343};
    plx_index all = n * parts;
    int64_t *ptr = calloc((size_t)all + 1, sizeof *ptr);
    int32_t *col = calloc((size_t)all * 8, sizeof *col);
    double *val = calloc((size_t)all * 8, sizeof *val);
    for (plx_index i = 0; i < all; i++) {
        plx_index base = i / n * n, at = 8 * i;
        for (int s = 0; s < 4; s++) {
            col[at++] = (int32_t)(base + (i - base + steps[s]) % n);
            col[at++] = (int32_t)(base + (i - base + n - steps[s]) % n);
        }
        for (plx_index a = 8 * i + 1; a < at; a++) /* sort the row */
            for (plx_index b = a; b > 8 * i && col[b] < col[b - 1]; b--) {
                int32_t t = col[b];
                col[b] = col[b - 1];
                col[b - 1] = t;
            }
        for (plx_index a = 8 * i; a < at; a++) val[a] = 1.0;
        ptr[i + 1] = at;
    }
    plx_dataset *d = new_dataset(ctx, all);
    assert_ok(ctx,
              plx_dataset_add_sparse(d, ctx, "g", PLX_VIEW_KERNEL, (plx_ccsr){all, all, ptr, col, val}, NULL, NULL));
    free(ptr);
    free(col);
    free(val);
    return d;
}

static int descending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a < b) - (a > b);
}

/* Eigenvalues of a circulant: mean over the steps s of cos(2 pi j s / n), each but the first twice. */
static void sparse_eigenvalues_are_the_known_ones(void **state)
{
    enum { N = 1201 };
    static const double steps[4] = {1, 7, 49, 343};
    double *known = calloc(N, sizeof *known);
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = circulants(ctx, N, 1);
    plx_model *m = fit_model(ctx, "spectral", d, SETTINGS("clusters=5", "starts=2"));
    for (int j = 0; j < N; j++)
        for (int s = 0; s < 4; s++) known[j] += 0.25 * cos(2 * 3.14159265358979323846 * j * steps[s] / N);
    qsort(known, N, sizeof *known, descending);
    plx_cmat values = array_of(m, "eigenvalues");
    for (int j = 0; j < 5; j++) assert_close(values.data[j], known[j], 1e-9);
    free(known);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Three components, three clusters: eigenvalue 1 three times, which Lanczos alone may not find. */
static void components_are_the_clusters(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    plx_dataset *d = circulants(ctx, 700, 3);
    plx_model *m = fit_model(ctx, "spectral", d, SETTINGS("clusters=3", "starts=2"));
    plx_cmat values = array_of(m, "eigenvalues");
    for (int j = 0; j < 3; j++) assert_close(values.data[j], 1.0, 1e-12);
    for (plx_index i = 0; i < 2100; i++) assert_string_equal(label_of(m, i), i < 700 ? "c0" : i < 1400 ? "c1" : "c2");
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- given matrices ---- */

static void asymmetric_matrices(void **state)
{
    static const double a[9] = {1, 0.5, 0.1, 0.3, 1, 0.2, 0.1, 0.4, 1}, b[9] = {1, 0.2, 0, 0.1, 1, 0.6, 0.3, 0.2, 1};
    static const double negative[9] = {1, -0.5, 0, -0.5, 1, 0, 0, 0, 1};
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, 3), *bad = new_dataset(ctx, 3);
    add_dense(d, ctx, "a", PLX_VIEW_KERNEL, a, 3, NULL);
    add_dense(d, ctx, "b", PLX_VIEW_KERNEL, b, 3, NULL);
    plx_model *m = fit_asking(ctx, "spectral", d, SETTINGS("clusters=2", "combine=single:a"), "affinity");
    plx_cmat mean = array_of(m, "affinity");
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            assert_close(mean.data[i * 3 + j], i == j ? 0.0 : 0.5 * (a[i * 3 + j] + a[j * 3 + i]), 1e-15);
    plx_model_destroy(m);
    m = fit_asking(ctx, "smd", d, SETTINGS("clusters=2"), "affinity");
    plx_cmat w = array_of(m, "affinity");
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double product = 0;
            for (int p = 0; p < 3; p++) product += a[i * 3 + p] * b[p * 3 + j];
            assert_close(w.data[i * 3 + j], product, 1e-14);
        }
    plx_model_destroy(m);
    add_dense(bad, ctx, "a", PLX_VIEW_KERNEL, negative, 3, NULL);
    add_dense(bad, ctx, "b", PLX_VIEW_KERNEL, b, 3, NULL);
    assert_fails(ctx, try_fit(&m, ctx, "spectral", bad, SETTINGS("clusters=2"), NULL), PLX_E_DATA, "negative");
    assert_fails(ctx, try_fit(&m, ctx, "smd", bad, SETTINGS("clusters=2"), NULL), PLX_E_DATA, "negative");
    plx_dataset_destroy(d);
    plx_dataset_destroy(bad);
    plx_context_destroy(ctx);
}

/* ---- new samples ---- */

/* Three groups of n/3 in two views, samples 3, 13, ... without the first view, 8, 18, ... without the second. */
static plx_dataset *three_groups(plx_context *ctx, plx_index n, bool holes)
{
    plx_dataset *d = new_dataset(ctx, n);
    plx__rng rng = plx__rng_start(9, PLX__STREAM('g', 'r', 'o', 'u', 0));
    double *x = calloc((size_t)(n * 3), sizeof *x);
    uint8_t *present = calloc((size_t)n, 1);
    for (int v = 0; v < 2; v++) {
        for (plx_index i = 0; i < n; i++) {
            present[i] = !holes || i % 10 != 3 + 5 * v;
            for (int j = 0; j < 3; j++) x[3 * i + j] = plx__next_normal(&rng) + (i % 3 == j ? 5.0 : 0.0);
        }
        add_dense(d, ctx, v ? "b" : "a", PLX_VIEW_REAL, x, 3, present);
    }
    free(x);
    free(present);
    return d;
}

static void check_fed_back(plx_context *ctx, const char *method, const char *const *settings, bool rows)
{
    plx_dataset *d = three_groups(ctx, 45, true);
    plx_model *m = fit_model(ctx, method, d, settings);
    plx_prediction *p = NULL;
    plx_cmat z;
    assert_ok(ctx, plx_predict(&p, ctx, m, d));
    for (plx_index i = 0; i < 45; i++) assert_string_equal(p->outcome.label[i], label_of(m, i));
    if (rows) {
        assert_ok(ctx, plx_prediction_transform(&z, p));
        assert_same_matrix(z, array_of(m, "embedding"), 1e-8);
    }
    plx_prediction_destroy(p);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
}

static void fitted_samples_fed_back_are_recognised(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    check_fed_back(ctx, "smd", SETTINGS("clusters=3"), true);
    check_fed_back(ctx, "smd", SETTINGS("clusters=3", "affinity_k=6"), true);
    check_fed_back(ctx, "smd", SETTINGS("clusters=3", "width=local", "use=b"), true);
    check_fed_back(ctx, "spectral", SETTINGS("clusters=3"), false);
    check_fed_back(ctx, "spectral", SETTINGS("clusters=3", "combine=sum", "affinity_k=6", "width=local"), false);
    plx_context_destroy(ctx);
}

/* ---- structure and errors ---- */

/* With every pair kept, the sparse affinity is the dense one, and so are the eigenvalues of its operator: here some
 * samples have no view in common with others. */
static void all_neighbours_are_the_dense_affinity(void **state)
{
    static const char *const rules[] = {"combine=joint", "combine=sum"}, *const unknown[] = {"unknown=mean",
                                                                                             "unknown=zero"};
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = three_groups(ctx, 30, true);
    for (int r = 0; r < 4; r++) {
        const char *rule = rules[r / 2], *fill = unknown[r % 2];
        plx_model *dense =
            fit_asking(ctx, "spectral", d, SETTINGS("clusters=3", rule, fill, "affinity_k=0"), "affinity");
        plx_model *sparse =
            fit_asking(ctx, "spectral", d, SETTINGS("clusters=3", rule, fill, "affinity_k=100"), "affinity");
        assert_same_matrix(array_of(dense, "affinity"), array_of(sparse, "affinity"), 1e-12);
        assert_same_matrix(array_of(dense, "eigenvalues"), array_of(sparse, "eigenvalues"), 1e-10);
        plx_model_destroy(dense);
        plx_model_destroy(sparse);
    }
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- combining views by hand ---- */

enum { BLENDED = 30 };

static bool lacks(plx_index i, int v) { return i % 10 == 3 + 5 * v; }

/* Affinity of one view of three_groups as it is before combination, from a fit on that view alone. */
static void one_view(plx_context *ctx, const plx_dataset *d, int v, double *out)
{
    plx_model *m =
        fit_asking(ctx, "spectral", d,
                   SETTINGS("clusters=3", v ? "combine=single:b" : "combine=single:a", "affinity_k=0"), "affinity");
    plx_cmat a = array_of(m, "affinity");
    memcpy(out, a.data, sizeof(double) * BLENDED * BLENDED);
    plx_model_destroy(m);
}

static void divide_by_degrees(double *a)
{
    double degree[BLENDED] = {0};
    for (int i = 0; i < BLENDED; i++)
        for (int j = 0; j < BLENDED; j++) degree[i] += a[i * BLENDED + j];
    for (int i = 0; i < BLENDED; i++)
        for (int j = 0; j < BLENDED; j++)
            if (a[i * BLENDED + j] > 0) a[i * BLENDED + j] /= sqrt(degree[i] * degree[j]);
}

/* The rules of combine, normalise_views and unknown, written out: sums and products over the common views brought to
 * two views, and the mean over the pairs that have one for those that have none. */
static void blend_by_hand(double a[2][BLENDED * BLENDED], bool sum, double *out)
{
    double total = 0, pairs = 0;
    for (int i = 0; i < BLENDED; i++)
        for (int j = 0; j < BLENDED; j++) {
            int common = 0;
            double *to = &out[i * BLENDED + j], added = 0, product = 1;
            for (int v = 0; v < 2; v++) {
                if (lacks(i, v) || lacks(j, v)) continue;
                common++;
                added += a[v][i * BLENDED + j];
                product *= a[v][i * BLENDED + j];
            }
            *to = !common ? -1 : i == j ? 0 : sum ? added * 2 / common : pow(product, 2.0 / common);
            if (common && i < j) total += *to, pairs++;
        }
    for (int q = 0; q < BLENDED * BLENDED; q++)
        if (out[q] < 0) out[q] = total / pairs;
}

static void views_are_combined_as_told(void **state)
{
    static double a[2][BLENDED * BLENDED], expected[BLENDED * BLENDED];
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = three_groups(ctx, BLENDED, true);
    for (int rule = 0; rule < 3; rule++) {
        for (int v = 0; v < 2; v++) one_view(ctx, d, v, a[v]);
        for (int v = 0; v < 2 && rule == 0; v++) divide_by_degrees(a[v]);
        blend_by_hand(a, rule < 2, expected);
        plx_model *m = fit_asking(ctx, "spectral", d,
                                  SETTINGS("clusters=3", rule < 2 ? "combine=sum" : "combine=joint", "affinity_k=0",
                                           rule ? "normalise_views=0" : "normalise_views=1"),
                                  "affinity");
        assert_same_matrix(array_of(m, "affinity"), plx__cmat_of(expected, BLENDED, BLENDED), 1e-12);
        plx_model_destroy(m);
    }
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* A product of sparse affinities needs neighbours in every view at once. */
static void sparse_products_are_warned_of(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = three_groups(ctx, 30, false);
    plx_model *m = fit_model(ctx, "spectral", d, SETTINGS("clusters=3", "combine=joint"));
    assert_true(plx_model_warnings(m) > 0);
    assert_non_null(strstr(plx_model_warning(m, 0), "combine=joint"));
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* A limit that is over at once: an answer all the same, and never "converged". */
static void time_limits_end_the_search(void **state)
{
    static const char *const methods[] = {"spectral", "smd"};
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = three_groups(ctx, 1500, false);
    ctx->time_limit = 1e-6;
    for (int t = 0; t < 2; t++) {
        plx_model *m = fit_model(ctx, methods[t], d, SETTINGS("clusters=3"));
        assert_int_equal(plx_model_converged(m), 0);
        assert_non_null(label_of(m, 0));
        plx_model_destroy(m);
    }
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Samples 0-9 have a and b, 10-19 have c and d: two graphs. */
static void islands_are_told(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, 20);
    plx__rng rng = plx__rng_start(2, PLX__STREAM('i', 's', 'l', 'e', 0));
    for (int v = 0; v < 4; v++) {
        static const char *const names[] = {"a", "b", "c", "d"};
        double x[40];
        uint8_t present[20];
        for (int i = 0; i < 20; i++) {
            present[i] = (i < 10) == (v < 2);
            x[2 * i] = plx__next_normal(&rng);
            x[2 * i + 1] = plx__next_normal(&rng);
        }
        add_dense(d, ctx, names[v], PLX_VIEW_REAL, x, 2, present);
    }
    plx_model *m = fit_model(ctx, "smd", d, SETTINGS("clusters=2"));
    assert_true(plx_model_warnings(m) > 0);
    assert_non_null(strstr(plx_model_warning(m, 0), "share no sample"));
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void errors_name_the_culprit(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = three_groups(ctx, 12, false);
    plx_model *m = NULL;
    assert_fails(ctx, try_fit(&m, ctx, "spectral", d, NULL, NULL), PLX_E_ARG, "clusters");
    assert_fails(ctx, try_fit(&m, ctx, "smd", d, NULL, NULL), PLX_E_ARG, "clusters");
    assert_fails(ctx, try_fit(&m, ctx, "spectral", d, SETTINGS("clusters=13"), NULL), PLX_E_ARG, "12 samples");
    assert_fails(ctx, try_fit(&m, ctx, "spectral", d, SETTINGS("clusters=2", "combine=best"), NULL), PLX_E_ARG, "best");
    assert_fails(ctx, try_fit(&m, ctx, "spectral", d, SETTINGS("clusters=2", "combine=single:c"), NULL), PLX_E_ARG,
                 "'c'");
    assert_fails(ctx, try_fit(&m, ctx, "smd", d, SETTINGS("clusters=2", "use=c"), NULL), PLX_E_ARG, "'c'");
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* ---- samples with hardly any affinity ---- */

/* A path 0 - 1 - 2 - 3 whose ends hang on by weights far below rounding: affinities w = 1e-40 to the first pair and to
 * the last. Row 0 of every eigenvector is sqrt(w) times that of its only neighbour, to first order: the same direction.
 * (Eigenvectors themselves are precise to 1e-16 only, so that the row of a naive solution is noise.) */
static void faint_samples_go_with_their_neighbours(void **state)
{
    enum { NODES = 8 };
    static const int edge[][2] = {{1, 2}, {2, 3}, {1, 3}, {4, 5}, {5, 6}, {4, 6}};
    double a[NODES * NODES] = {0};
    (void)state;
    for (int e = 0; e < 6; e++) a[edge[e][0] * NODES + edge[e][1]] = a[edge[e][1] * NODES + edge[e][0]] = 1.0;
    a[3 * NODES + 4] = a[4 * NODES + 3] = 0.2;
    a[0 * NODES + 1] = a[1 * NODES + 0] = 1e-40;
    a[6 * NODES + 7] = a[7 * NODES + 6] = 1e-40;
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, NODES);
    add_dense(d, ctx, "g", PLX_VIEW_KERNEL, a, NODES, NULL);
    plx_model *m = fit_asking(ctx, "spectral", d, SETTINGS("clusters=2", "combine=single:g"), "gram_embedding");
    plx_cmat gram = array_of(m, "gram_embedding"), values = array_of(m, "eigenvalues"), y = array_of(m, "embedding");
    for (int end = 0; end < 2; end++) {
        int faint = end ? 7 : 0, near = end ? 6 : 1;
        double expected[2], length = 0;
        for (int j = 0; j < 2; j++) expected[j] = y.data[near * 2 + j] / values.data[j];
        length = hypot(expected[0], expected[1]);
        for (int j = 0; j < 2; j++) assert_close(y.data[faint * 2 + j], expected[j] / length, 1e-9);
        assert_close(gram.data[faint * NODES + faint], 1.0, 1e-12);
        assert_string_equal(label_of(m, faint), label_of(m, near));
    }
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(eight_nodes_break_down_where_they_should),
                                       cmocka_unit_test(sparse_eigenvalues_are_the_known_ones),
                                       cmocka_unit_test(components_are_the_clusters),
                                       cmocka_unit_test(asymmetric_matrices),
                                       cmocka_unit_test(fitted_samples_fed_back_are_recognised),
                                       cmocka_unit_test(all_neighbours_are_the_dense_affinity),
                                       cmocka_unit_test(views_are_combined_as_told),
                                       cmocka_unit_test(sparse_products_are_warned_of),
                                       cmocka_unit_test(time_limits_end_the_search),
                                       cmocka_unit_test(islands_are_told),
                                       cmocka_unit_test(faint_samples_go_with_their_neighbours),
                                       cmocka_unit_test(errors_name_the_culprit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
