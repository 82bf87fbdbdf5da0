/* Naive Bayes against a direct loop over samples, views, classes and features. */
#include "fit_helpers.h"

enum { N = 40, V = 3, K = 3, MAX_COLS = 8 };

typedef struct world {
    int label[N];
    plx_index cols[V];
    double x[V][N * MAX_COLS];
    uint8_t present[V][N];
} world;

static const char *const NAMES[] = {"v0", "v1", "v2"};

static world draw(uint64_t seed)
{
    world w = {.cols = {4, 8, 5}};
    plx__rng rng = plx__rng_start(seed, 9);
    for (int i = 0; i < N; i++)
        w.label[i] = i < K ? i : plx__next_uniform(&rng) < 0.5 ? (int)random_count(&rng, K) : -1;
    for (int v = 0; v < V; v++)
        for (int i = 0; i < N; i++) {
            w.present[v][i] = i < K || plx__next_uniform(&rng) < 0.7;
            for (plx_index f = 0; f < w.cols[v]; f++) w.x[v][i * w.cols[v] + f] = random_count(&rng, 4);
            w.x[v][i * w.cols[v]] += 1; /* a row of zeros would be a missing view */
        }
    return w;
}

static plx_dataset *dataset_of(const world *w, plx_context *ctx, bool sparse)
{
    plx_dataset *d = new_dataset(ctx, N);
    for (int v = 0; v < V; v++) {
        if (sparse) add_thin(d, ctx, NAMES[v], PLX_VIEW_COUNTS, w->x[v], w->cols[v], w->present[v]);
        else add_dense(d, ctx, NAMES[v], PLX_VIEW_COUNTS, w->x[v], w->cols[v], w->present[v]);
    }
    set_labels(d, ctx, w->label);
    return d;
}

/* ---- the direct loop ---- */

typedef struct answer {
    double prior[K], theta[V][K][MAX_COLS], own[V][N][K], joint[N][K];
} answer;

static void normalise_logs(double *p)
{
    double top = p[0], sum = 0;
    for (int c = 1; c < K; c++) top = fmax(top, p[c]);
    for (int c = 0; c < K; c++) sum += p[c] = exp(p[c] - top);
    for (int c = 0; c < K; c++) p[c] /= sum;
}

static void estimate(answer *a, const world *w, double smoothing, double prior_smoothing)
{
    double total = 0;
    for (int c = 0; c < K; c++) {
        double count = prior_smoothing;
        for (int i = 0; i < N; i++) count += w->label[i] == c;
        a->prior[c] = count;
        total += count;
    }
    for (int c = 0; c < K; c++) a->prior[c] /= total;
    for (int v = 0; v < V; v++)
        for (int c = 0; c < K; c++) {
            double all = 0;
            for (plx_index f = 0; f < w->cols[v]; f++) {
                double sum = 0;
                for (int i = 0; i < N; i++)
                    if (w->label[i] == c && w->present[v][i]) sum += w->x[v][i * w->cols[v] + f];
                a->theta[v][c][f] = sum + smoothing;
                all += sum + smoothing;
            }
            for (plx_index f = 0; f < w->cols[v]; f++)
                a->theta[v][c][f] = all > 0 ? a->theta[v][c][f] / all : 1.0 / (double)w->cols[v];
        }
}

static void judge(answer *a, const world *w, bool product)
{
    for (int i = 0; i < N; i++) {
        double logs[K] = {0}, sum[K] = {0};
        int views = 0;
        for (int v = 0; v < V; v++) {
            if (!w->present[v][i]) continue;
            views++;
            for (int c = 0; c < K; c++) {
                double l = 0;
                for (plx_index f = 0; f < w->cols[v]; f++)
                    if (w->x[v][i * w->cols[v] + f] > 0)
                        l += w->x[v][i * w->cols[v] + f] * log(fmax(a->theta[v][c][f], 1e-300));
                logs[c] += l;
                a->own[v][i][c] = l + log(a->prior[c]);
            }
            normalise_logs(a->own[v][i]);
            for (int c = 0; c < K; c++) sum[c] += a->own[v][i][c];
        }
        for (int c = 0; c < K; c++)
            a->joint[i][c] = product ? logs[c] + log(a->prior[c]) : views ? sum[c] / views : a->prior[c];
        if (product) normalise_logs(a->joint[i]);
    }
}

static void compare(const plx_model *m, const world *w, const answer *a)
{
    plx_cmat prior = array_of(m, "prior"), joint = array_of(m, "posterior");
    for (int c = 0; c < K; c++) assert_close(prior.data[c], a->prior[c], 1e-14);
    for (int i = 0; i < N; i++)
        for (int c = 0; c < K; c++) assert_close(joint.data[i * joint.ld + c], a->joint[i][c], 1e-11);
    for (int v = 0; v < V; v++) {
        char name[32];
        snprintf(name, sizeof name, "theta.%s", NAMES[v]);
        plx_cmat theta = array_of(m, name);
        for (int c = 0; c < K; c++)
            for (plx_index f = 0; f < w->cols[v]; f++)
                assert_close(theta.data[c * theta.ld + f], a->theta[v][c][f], 1e-14);
        snprintf(name, sizeof name, "posterior.%s", NAMES[v]);
        plx_cmat own = array_of(m, name);
        for (int i = 0; i < N; i++)
            for (int c = 0; c < K; c++)
                assert_close(own.data[i * own.ld + c], w->present[v][i] ? a->own[v][i][c] : 0.0, 1e-11);
    }
}

static void run(const world *w, double smoothing, double prior_smoothing, bool product)
{
    char s[64], p[64];
    plx_context *ctx = test_context(2);
    static answer a;
    a = (answer){0};
    estimate(&a, w, smoothing, prior_smoothing);
    judge(&a, w, product);
    snprintf(s, sizeof s, "smoothing=%g", smoothing);
    snprintf(p, sizeof p, "prior_smoothing=%g", prior_smoothing);
    for (int sparse = 0; sparse < 2; sparse++) {
        plx_dataset *d = dataset_of(w, ctx, sparse);
        plx_model *m = fit_model(ctx, "nb", d, SETTINGS(s, p, product ? "combine=product" : "combine=mean"));
        compare(m, w, &a);
        plx_model_destroy(m);
        plx_dataset_destroy(d);
    }
    plx_context_destroy(ctx);
}

static void agrees_with_the_direct_loop(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 9; seed++) {
        world w = draw(seed);
        run(&w, 1, 0, false);
        run(&w, 0.3, 2, true);
    }
}

/* Words a class never used get log 1e-300: sure, but finite. */
static void no_smoothing_is_finite(void **state)
{
    (void)state;
    world w = draw(77);
    for (int i = 0; i < N; i++)
        if (w.label[i] == 1) w.x[0][i * w.cols[0] + 2] = 0;
    run(&w, 0, 0, false);
    run(&w, 0, 0, true);
}

/* A class whose labelled samples all miss a view is uniform there, and a warning says so. */
static void a_class_without_a_view_is_uniform(void **state)
{
    (void)state;
    world w = draw(5);
    plx_context *ctx = test_context(1);
    for (int i = 0; i < N; i++)
        if (w.label[i] == 2) w.present[1][i] = 0;
    run(&w, 0, 0, false);
    run(&w, 1, 0, true);
    plx_dataset *d = dataset_of(&w, ctx, false);
    plx_model *m = fit_model(ctx, "nb", d, NULL);
    plx_cmat theta = array_of(m, "theta.v1");
    for (plx_index f = 0; f < w.cols[1]; f++)
        assert_close(theta.data[2 * theta.ld + f], 1.0 / (double)w.cols[1], 1e-15);
    assert_int_equal(plx_model_warnings(m), 2);
    assert_non_null(strstr(plx_model_warning(m, 0), "no view"));
    assert_non_null(strstr(plx_model_warning(m, 1), "'C'"));
    assert_non_null(strstr(plx_model_warning(m, 1), "'v1'"));
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Without any view a sample gets the prior; a zero row counts as missing. */
static void uncovered_samples_get_the_prior(void **state)
{
    (void)state;
    world w = draw(6);
    plx_context *ctx = test_context(1);
    for (int v = 0; v < V; v++) {
        w.present[v][30] = 0;
        memset(&w.x[v][31 * w.cols[v]], 0, (size_t)w.cols[v] * sizeof(double));
    }
    plx_dataset *d = dataset_of(&w, ctx, false);
    plx_model *m = fit_model(ctx, "nb", d, NULL);
    plx_cmat prior = array_of(m, "prior"), joint = array_of(m, "posterior");
    for (int c = 0; c < K; c++) {
        assert_true(joint.data[30 * joint.ld + c] == prior.data[c]);
        assert_true(joint.data[31 * joint.ld + c] == prior.data[c]);
    }
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void negative_values_are_refused(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, 2);
    plx_model *m = NULL;
    add_dense(d, ctx, "v", PLX_VIEW_REAL, (double[]){1, 2, 3, -4}, 2, NULL);
    set_labels(d, ctx, (int[]){0, 1});
    assert_fails(ctx, try_fit(&m, ctx, "nb", d, NULL, NULL), PLX_E_DATA, "view 'v' row 1, column 1: negative value -4");
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* New samples are checked like fitted ones. */
static void negative_values_of_new_samples_are_refused(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, 2), *fresh = new_dataset(ctx, 1);
    plx_prediction *found = NULL;
    add_dense(d, ctx, "v", PLX_VIEW_REAL, (double[]){1, 2, 3, 4}, 2, NULL);
    set_labels(d, ctx, (int[]){0, 1});
    add_dense(fresh, ctx, "v", PLX_VIEW_REAL, (double[]){1, -1}, 2, NULL);
    plx_model *m = fit_model(ctx, "nb", d, NULL);
    assert_fails(ctx, plx_predict(&found, ctx, m, fresh), PLX_E_DATA, "negative value -1");
    assert_null(found);
    plx_model_destroy(m);
    plx_dataset_destroy(fresh);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Sums beyond the largest double are a failure, not a silent NaN. */
static void huge_counts_are_refused(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, 3);
    plx_model *m = NULL;
    add_dense(d, ctx, "v", PLX_VIEW_COUNTS, (double[]){1e308, 2, 1e308, 4, 1, 1}, 2, NULL);
    set_labels(d, ctx, (int[]){0, 0, 1});
    assert_fails(ctx, try_fit(&m, ctx, "nb", d, SETTINGS("rows=raw"), NULL), PLX_E_NUMERIC, "class 'A' in view 'v'");
    assert_fails(ctx, try_fit(&m, ctx, "nb", d, NULL, NULL), PLX_E_NUMERIC, "view 'v': the sums of its rows");
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_direct_loop),
        cmocka_unit_test(no_smoothing_is_finite),
        cmocka_unit_test(a_class_without_a_view_is_uniform),
        cmocka_unit_test(uncovered_samples_get_the_prior),
        cmocka_unit_test(negative_values_are_refused),
        cmocka_unit_test(negative_values_of_new_samples_are_refused),
        cmocka_unit_test(huge_counts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
