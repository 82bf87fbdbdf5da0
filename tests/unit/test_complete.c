/*
 * Completion against closed forms: ridge by plain elimination, neighbours by hand, entries of rank-one rows, deviations
 * that are as large as the errors.
 */
#include "fit_helpers.h"
#include "gp_helpers.h"
#include "linalg/eigen.h"
#include "parallax/complete.h"

enum { N = 60, P = 3, Q = 2 };

typedef struct pair_of_views {
    double x[N * P], y[N * Q];
    uint8_t has_y[N];
} pair_of_views;

/* y = x B + noise; every fifth sample lacks y. */
static pair_of_views make_pair(double noise)
{
    static const double b[P * Q] = {1, -1, 0.5, 2, -2, 0.3};
    pair_of_views t;
    plx__rng rng = plx__rng_start(3, 99);
    for (int i = 0; i < N; i++) {
        for (int e = 0; e < P; e++) t.x[i * P + e] = plx__next_normal(&rng) * (e + 1) + 4;
        for (int f = 0; f < Q; f++) {
            t.y[i * Q + f] = noise * plx__next_normal(&rng);
            for (int e = 0; e < P; e++) t.y[i * Q + f] += t.x[i * P + e] * b[e * Q + f];
        }
        t.has_y[i] = i % 5 != 4;
    }
    return t;
}

static plx_dataset *pair_data(plx_context *ctx, const pair_of_views *t, bool whole)
{
    plx_dataset *d = new_dataset(ctx, N);
    add_dense(d, ctx, "x", PLX_VIEW_REAL, t->x, P, NULL);
    add_dense(d, ctx, "y", PLX_VIEW_REAL, t->y, Q, whole ? NULL : t->has_y);
    return d;
}

static plx_model *learn(plx_context *ctx, const plx_dataset *d, const char *const *settings)
{
    plx_params *p = NULL;
    plx_model *m = NULL;
    assert_ok(ctx, plx_complete_params_create(&p, ctx));
    for (; settings && *settings; settings++) {
        char key[64];
        const char *equals = strchr(*settings, '=');
        snprintf(key, sizeof key, "%.*s", (int)(equals - *settings), *settings);
        assert_ok(ctx, plx_params_set(p, ctx, key, equals + 1));
    }
    assert_ok(ctx, plx_complete_fit(&m, ctx, d, p));
    plx_params_destroy(p);
    return m;
}

static plx_completion *complete_with(plx_context *ctx, const plx_model *m, const plx_dataset *d, int round)
{
    plx_completion *c = NULL;
    assert_ok(ctx, plx_complete(&c, ctx, m, d, round));
    return c;
}

/* Means and population deviations of the columns over the rows that count. */
static void standardise(double *out, double *mean, double *sd, const double *x, int cols, const uint8_t *rows)
{
    double count = 0;
    for (int i = 0; i < N; i++) count += rows ? rows[i] : 1;
    for (int e = 0; e < cols; e++) {
        mean[e] = sd[e] = 0;
        for (int i = 0; i < N; i++) mean[e] += rows && !rows[i] ? 0 : x[i * cols + e] / count;
        for (int i = 0; i < N; i++) sd[e] += rows && !rows[i] ? 0 : pow(x[i * cols + e] - mean[e], 2) / count;
        sd[e] = sqrt(sd[e]);
        for (int i = 0; i < N; i++) out[i * cols + e] = (x[i * cols + e] - mean[e]) / sd[e];
    }
}

/* With all components ridge does not depend on the basis: (X'X + lambda u I)^-1 X'Y in standardised columns, u their mean
 * variance; moments about the means of the rows that have both, or (by pairs) of all rows that have a view. */
static void ridge_by_elimination(void **state)
{
    (void)state;
    plx_context *ctx = test_context(2);
    pair_of_views t = make_pair(0.3);
    plx_dataset *d = pair_data(ctx, &t, false);
    plx_model *m = learn(ctx, d, SETTINGS("with=ridge"));
    plx_completion *c = complete_with(ctx, m, d, 0);
    double x[N * P], y[N * Q], mx[P], sx[P], my[Q], sy[Q], a[P * P] = {0}, b[P * Q] = {0}, lambda = 0, both = 0;
    plx_cmat choice;
    assert_ok(ctx, plx__store_dense(&choice, ctx, &m->store, "_choice.y"));
    lambda = choice.data[1];
    assert_true(choice.data[0] == 2 && lambda > 0);
    standardise(x, mx, sx, t.x, P, NULL);
    standardise(y, my, sy, t.y, Q, t.has_y);
    bool pairs = choice.data[3] != 0;
    double middle[P] = {0}, unit = 0;
    for (int i = 0; i < N; i++) both += t.has_y[i];
    for (int i = 0; i < N; i++)
        for (int e = 0; e < P && !pairs; e++) middle[e] += t.has_y[i] * x[i * P + e] / both;
    for (int i = 0; i < N; i++)
        for (int e = 0; e < P; e++) {
            double share = pairs ? 1.0 / N : t.has_y[i] / both;
            for (int f = 0; f < P; f++) a[e * P + f] += (x[i * P + e] - middle[e]) * (x[i * P + f] - middle[f]) * share;
            for (int f = 0; f < Q && t.has_y[i]; f++) b[e * Q + f] += (x[i * P + e] - middle[e]) * y[i * Q + f] / both;
        }
    for (int e = 0; e < P; e++) unit += a[e * (P + 1)] / P;
    for (int e = 0; e < P; e++) a[e * (P + 1)] += lambda * unit;
    invert(a, P);
    assert_int_equal(plx_completion_filled(c, 0), 0);
    assert_int_equal(plx_completion_filled(c, 1), N / 5 * Q);
    plx_cmat dense;
    assert_int_equal(plx_dataset_dense(&dense, plx_completion_data(c), 1), PLX_OK);
    for (plx_index k = 0; k < plx_completion_filled(c, 1); k++) {
        plx_filled f = PLX_FILLED_INIT;
        double want = 0;
        assert_int_equal(plx_completion_get(&f, c, 1, k), PLX_OK);
        assert_true(f.sample == k / Q * 5 + 4 && f.column == k % Q && f.deviation > 0);
        for (int e = 0; e < P; e++)
            for (int g = 0; g < P; g++) want += (x[f.sample * P + e] - middle[e]) * a[e * P + g] * b[g * Q + f.column];
        assert_close(f.value, my[f.column] + sy[f.column] * want, 1e-8);
        assert_true(dense.data[f.sample * dense.ld + f.column] == f.value);
    }
    for (int i = 0; i < N; i++) assert_int_equal(plx_dataset_present(plx_completion_data(c), 1)[i], 1);
    plx_completion_destroy(c);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* The mean of the y of the nearest samples by standardised x. */
static void neighbours_by_hand(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    pair_of_views t = make_pair(0.3);
    plx_dataset *d = pair_data(ctx, &t, false);
    plx_model *m = learn(ctx, d, SETTINGS("with=knn", "neighbours=3"));
    plx_completion *c = complete_with(ctx, m, d, 0);
    double x[N * P], mx[P], sx[P];
    plx_cmat choice;
    standardise(x, mx, sx, t.x, P, NULL);
    assert_ok(ctx, plx__store_dense(&choice, ctx, &m->store, "_choice.y"));
    int near = (int)choice.data[3];
    assert_true(near == 1 || near == 3 || near == 6 || near == 12);
    for (plx_index k = 0; k < plx_completion_filled(c, 1); k++) {
        plx_filled f = PLX_FILLED_INIT;
        double sum = 0;
        bool used[N] = {0};
        assert_int_equal(plx_completion_get(&f, c, 1, k), PLX_OK);
        for (int h = 0; h < near; h++) {
            int best = -1;
            double least = INFINITY;
            for (int l = 0; l < N; l++) {
                double square = 0;
                for (int e = 0; e < P; e++) square += pow(x[f.sample * P + e] - x[l * P + e], 2);
                if (t.has_y[l] && !used[l] && square < least) least = square, best = l;
            }
            used[best] = true;
            sum += t.y[best * Q + f.column] / near;
        }
        assert_close(f.value, sum, 1e-9);
    }
    plx_completion_destroy(c);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Every method but the mean finds y from x; auto takes the least error; deviations are of the errors' size. */
static void finds_what_is_there(void **state)
{
    (void)state;
    static const char *const with[] = {"with=mean", "with=knn", "with=ridge", "with=cca", "with=mixture", "with=auto"};
    pair_of_views t = make_pair(0.3);
    for (int w = 0; w < 6; w++) {
        plx_context *ctx = test_context(2);
        plx_dataset *d = pair_data(ctx, &t, false);
        plx_model *m = learn(ctx, d, SETTINGS(with[w]));
        plx_completion *c = complete_with(ctx, m, d, 0);
        double square = 0, ratio = 0, spread = 0, count = (double)plx_completion_filled(c, 1);
        for (plx_index k = 0; k < plx_completion_filled(c, 1); k++) {
            plx_filled f = PLX_FILLED_INIT;
            assert_int_equal(plx_completion_get(&f, c, 1, k), PLX_OK);
            double truth = t.y[f.sample * Q + f.column];
            square += pow(f.value - truth, 2) / count;
            ratio += pow((f.value - truth) / f.deviation, 2) / count;
            spread += truth * truth / count;
        }
        plx_cmat error = array_of(m, "error");
        assert_close(error.data[error.ld], 1, 1e-12);
        if (w) assert_true(sqrt(square) < (w == 1 || w == 4 ? 4.0 : 1.2));
        else assert_true(sqrt(square) > 4.0);
        if (!(ratio > 0.1 && ratio < 6)) fail_msg("%s: ratio %g", with[w], ratio);
        if (w == 5)
            for (int k = 0; k < 5; k++) assert_true(error.data[error.ld + k] >= error.data[error.ld + 2] || k == 3);
        plx_completion_destroy(c);
        plx_model_destroy(m);
        plx_dataset_destroy(d);
        plx_context_destroy(ctx);
    }
}

/* Columns that are multiples of one another: an entry follows from its neighbours in the row. */
static void single_entries(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double x[N * P], other[N];
    plx__rng rng = plx__rng_start(8, 1);
    for (int i = 0; i < N; i++) {
        double z = plx__next_normal(&rng);
        for (int e = 0; e < P; e++) x[i * P + e] = (e + 1) * z + e;
        other[i] = plx__next_normal(&rng);
    }
    double truth[3] = {x[2 * P + 1], x[7 * P], x[9 * P + 2]};
    x[2 * P + 1] = x[7 * P] = x[9 * P + 2] = NAN;
    plx_dataset *d = new_dataset(ctx, N);
    add_dense(d, ctx, "x", PLX_VIEW_REAL, x, P, NULL);
    add_dense(d, ctx, "other", PLX_VIEW_REAL, other, 1, NULL);
    plx_model *m = learn(ctx, d, SETTINGS("with=ridge"));
    plx_completion *c = complete_with(ctx, m, d, 0);
    assert_int_equal(plx_completion_filled(c, 0), 3);
    for (plx_index k = 0; k < 3; k++) {
        plx_filled f = PLX_FILLED_INIT;
        assert_int_equal(plx_completion_get(&f, c, 0, k), PLX_OK);
        assert_close(f.value, truth[k], 0.1);
        assert_true(f.deviation < 1);
    }
    plx_completion_destroy(c);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Errors of single entries: nothing where the view lacks none, 1 by the means themselves, little where they follow from the
 * rest of the row; neighbours by a view of noise see less of it. */
static void errors_of_single_entries(void **state)
{
    (void)state;
    static const char *const with[] = {"with=mean", "with=ridge", "with=knn"};
    double x[N * P], other[N];
    plx__rng rng = plx__rng_start(8, 2);
    for (int i = 0; i < N; i++) {
        double z = plx__next_normal(&rng);
        for (int e = 0; e < P; e++) x[i * P + e] = (e + 1) * z + e;
        other[i] = plx__next_normal(&rng);
    }
    x[2 * P + 1] = x[7 * P] = NAN;
    for (int w = 0; w < 3; w++) {
        plx_context *ctx = test_context(2);
        plx_dataset *d = new_dataset(ctx, N);
        add_dense(d, ctx, "x", PLX_VIEW_REAL, x, P, NULL);
        add_dense(d, ctx, "other", PLX_VIEW_REAL, other, 1, NULL);
        plx_model *m = learn(ctx, d, SETTINGS(with[w]));
        plx_cmat error = array_of(m, "entry_error");
        assert_true(isnan(error.data[1]));
        if (w == 0) assert_close(error.data[0], 1, 1e-12);
        else if (!(error.data[0] < (w == 1 ? 0.4 : 1.0))) fail_msg("%s: %g", with[w], error.data[0]);
        plx_model_destroy(m);
        plx_dataset_destroy(d);
        plx_context_destroy(ctx);
    }
}

enum { MANY = 200, VIEWS = 6, WIDE = 10, LATENT = 8 };

/* Six views of the same eight numbers, more than half of the rows missing: covariances by pairs of views are those of
 * different rows. Together they must be a covariance with the variances of the views, or regressions on parts of them
 * go anywhere. */
static void covariances_by_pairs(void **state)
{
    (void)state;
    static double x[VIEWS][MANY * WIDE];
    static uint8_t there[VIEWS][MANY];
    static const char *const names[VIEWS] = {"a", "b", "c", "d", "e", "f"};
    plx_context *ctx = test_context(2);
    plx_dataset *d = new_dataset(ctx, MANY);
    plx__rng rng = plx__rng_start(11, 3);
    double weight[VIEWS][LATENT * WIDE], square = 0, spread = 0;
    for (int v = 0; v < VIEWS; v++)
        for (int k = 0; k < LATENT * WIDE; k++) weight[v][k] = plx__next_normal(&rng);
    for (int i = 0; i < MANY; i++) {
        double z[LATENT];
        for (int k = 0; k < LATENT; k++) z[k] = plx__next_normal(&rng);
        for (int v = 0; v < VIEWS; v++) {
            there[v][i] = v == i % VIEWS || plx__next_uniform(&rng) > 0.6;
            for (int e = 0; e < WIDE; e++) {
                x[v][i * WIDE + e] = 0.01 * plx__next_normal(&rng);
                for (int k = 0; k < LATENT; k++) x[v][i * WIDE + e] += z[k] * weight[v][k * WIDE + e];
            }
        }
    }
    for (int v = 0; v < VIEWS; v++) add_dense(d, ctx, names[v], PLX_VIEW_REAL, x[v], WIDE, there[v]);
    plx_model *m = learn(ctx, d, SETTINGS("with=ridge"));
    plx_completion *c = complete_with(ctx, m, d, 0);
    for (int v = 0; v < VIEWS; v++)
        for (plx_index k = 0; k < plx_completion_filled(c, v); k++) {
            plx_filled f = PLX_FILLED_INIT;
            assert_int_equal(plx_completion_get(&f, c, v, k), PLX_OK);
            double truth = x[v][f.sample * WIDE + f.column];
            square += (f.value - truth) * (f.value - truth);
            spread += truth * truth;
        }
    if (!(sqrt(square / spread) < 0.4)) fail_msg("error %g", sqrt(square / spread));
    plx_cmat cov, z;
    plx_mat copy;
    double value[VIEWS * WIDE];
    assert_ok(ctx, plx__store_dense(&cov, ctx, &m->store, "_cov"));
    assert_ok(ctx, plx__store_dense(&z, ctx, &m->store, "_z"));
    assert_int_equal(cov.rows, VIEWS * WIDE);
    for (int k = 0; k < VIEWS * WIDE; k++) {
        double variance = 0, count = 0;
        for (int i = 0; i < MANY; i++) {
            variance += z.data[i * z.ld + k] * z.data[i * z.ld + k] * there[k / WIDE][i];
            count += there[k / WIDE][i];
        }
        assert_close(cov.data[k * (cov.ld + 1)], variance / count, 1e-9);
    }
    assert_ok(ctx, plx__mat_clone(&copy, plx__scratch(ctx), cov));
    assert_ok(ctx, plx__sym_eigen(ctx, copy, value, (plx_mat){0}));
    assert_true(value[0] > -1e-9 * value[VIEWS * WIDE - 1]);
    plx_completion_destroy(c);
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* A model from a file fills new samples, also without the view, to the same bytes; for any number of threads. */
static void files_threads_and_new_samples(void **state)
{
    (void)state;
    char path[] = "/tmp/plx_fill_XXXXXX";
    close(mkstemp(path));
    static const char *const with[] = {"with=knn", "with=ridge", "with=cca", "with=mixture"};
    pair_of_views t = make_pair(0.3), other = make_pair(0.1);
    for (int w = 0; w < 4; w++) {
        double first[N * Q];
        for (int threads = 1; threads <= 4; threads += 3) {
            plx_context *ctx = test_context(threads);
            plx_dataset *d = pair_data(ctx, &t, false), *fresh = new_dataset(ctx, N);
            plx_model *m = learn(ctx, d, SETTINGS(with[w])), *loaded = NULL;
            add_dense(fresh, ctx, "x", PLX_VIEW_REAL, other.x, P, NULL);
            assert_ok(ctx, plx_model_save(ctx, m, path));
            assert_ok(ctx, plx_model_load(&loaded, ctx, path));
            plx_completion *a = complete_with(ctx, m, fresh, 0), *b = complete_with(ctx, loaded, fresh, 0);
            assert_int_equal(plx_completion_filled(a, 1), N * Q);
            for (plx_index k = 0; k < N * Q; k++) {
                plx_filled f = PLX_FILLED_INIT, g = PLX_FILLED_INIT;
                assert_int_equal(plx_completion_get(&f, a, 1, k), PLX_OK);
                assert_int_equal(plx_completion_get(&g, b, 1, k), PLX_OK);
                assert_true(f.value == g.value && f.deviation == g.deviation);
                if (threads == 1) first[k] = f.value;
                assert_true(first[k] == f.value);
            }
            plx_completion_destroy(a);
            plx_completion_destroy(b);
            plx_model_destroy(m);
            plx_model_destroy(loaded);
            plx_dataset_destroy(d);
            plx_dataset_destroy(fresh);
            plx_context_destroy(ctx);
        }
    }
    unlink(path);
}

/* Counts are not below 0, whole when asked for; sparse views stay sparse and binary ones become probabilities. */
static void counts_stay_counts(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    double x[N * 4], y[N * 2];
    uint8_t there[N];
    plx__rng rng = plx__rng_start(4, 4);
    for (int i = 0; i < N; i++) {
        for (int e = 0; e < 4; e++) x[i * 4 + e] = random_count(&rng, 4) * (i % 2 == e % 2);
        for (int e = 0; e < 2; e++) y[i * 2 + e] = i % 2 == e;
        there[i] = i % 4 != 3;
    }
    plx_dataset *d = new_dataset(ctx, N);
    add_thin(d, ctx, "words", PLX_VIEW_COUNTS, x, 4, there);
    add_dense(d, ctx, "links", PLX_VIEW_BINARY, y, 2, NULL);
    plx_model *m = learn(ctx, d, NULL);
    for (int round = 0; round < 2; round++) {
        plx_completion *c = complete_with(ctx, m, d, round);
        plx_view_info info = PLX_VIEW_INFO_INIT;
        bool fraction = false;
        assert_int_equal(plx_completion_filled(c, 0), N / 4 * 4);
        assert_int_equal(plx_dataset_view_info(&info, plx_completion_data(c), 0), PLX_OK);
        assert_true(info.kind == PLX_VIEW_COUNTS && info.sparse && info.present == N);
        for (plx_index k = 0; k < plx_completion_filled(c, 0); k++) {
            plx_filled f = PLX_FILLED_INIT;
            assert_int_equal(plx_completion_get(&f, c, 0, k), PLX_OK);
            assert_true(f.value >= 0);
            fraction |= f.value != floor(f.value);
        }
        assert_true(fraction == !round);
        plx_completion_destroy(c);
    }
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void refusals(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    pair_of_views t = make_pair(0.3);
    static const uint8_t none[N] = {0};
    plx_dataset *d = new_dataset(ctx, N);
    plx_model *m = NULL, *other = NULL;
    plx_completion *c = NULL;
    add_dense(d, ctx, "x", PLX_VIEW_REAL, t.x, P, NULL);
    assert_ok(ctx, plx_complete_fit(&m, ctx, d, NULL)); /* one view: nothing to compare with, and nothing to fill */
    c = complete_with(ctx, m, d, 0);
    assert_int_equal(plx_completion_filled(c, 0), 0);
    plx_completion_destroy(c);
    plx_model_destroy(m);
    add_dense(d, ctx, "y", PLX_VIEW_REAL, t.y, Q, none);
    assert_fails(ctx, plx_complete_fit(&m, ctx, d, NULL), PLX_E_DATA, "no sample has view 'y'");
    other = fit_model(ctx, "mvkmeans", d, SETTINGS("clusters=2"));
    assert_fails(ctx, plx_complete(&c, ctx, other, d, 0), PLX_E_ARG, "plx_complete_fit");
    plx_model_destroy(other);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void memory_refused(void **state)
{
    (void)state;
    pair_of_views t = make_pair(0.3);
    plx_status st = PLX_E_NOMEM;
    for (long k = 1; st != PLX_OK && k < 60000; k += k < 60 ? 1 : k / 4) {
        meter m = {0, 0, 0};
        plx_context *ctx = metered_context(&m, 1);
        plx_dataset *d = pair_data(ctx, &t, false);
        plx_model *model = NULL;
        plx_completion *c = NULL;
        long before = m.live;
        m.fail_at = m.calls + k;
        st = plx_complete_fit(&model, ctx, d, NULL);
        if (st == PLX_OK) st = plx_complete(&c, ctx, model, d, 0);
        assert_true(st == PLX_OK || st == PLX_E_NOMEM);
        plx_completion_destroy(c);
        plx_model_destroy(model);
        assert_int_equal(m.live, before);
        plx_dataset_destroy(d);
        plx_context_destroy(ctx);
    }
    assert_int_equal(st, PLX_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ridge_by_elimination),
                                       cmocka_unit_test(neighbours_by_hand),
                                       cmocka_unit_test(finds_what_is_there),
                                       cmocka_unit_test(single_entries),
                                       cmocka_unit_test(errors_of_single_entries),
                                       cmocka_unit_test(covariances_by_pairs),
                                       cmocka_unit_test(files_threads_and_new_samples),
                                       cmocka_unit_test(counts_stay_counts),
                                       cmocka_unit_test(refusals),
                                       cmocka_unit_test(memory_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
