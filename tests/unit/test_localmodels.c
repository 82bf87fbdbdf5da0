/*
 * localmodels: elimination against retraining on every subset chain, Platt's curve and the logistic optimum by their
 * gradients, the threshold by trying every cut, medoids by all cosines, and the promises about the region.
 */
#include "fit_helpers.h"
#include "methods/localmodels/localmodels.h"
#include "optim/klr.h"
#include "optim/linear_models.h"

enum { L = 12 };

static const int32_t LABEL3[L] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2};

static plx_mat random_rows(plx_context *ctx, plx_index d, uint64_t seed)
{
    plx_mat x;
    plx__rng r = plx__rng_start(seed, PLX__STREAM('l', 'm', 't', 's', 0));
    assert_ok(ctx, plx__arena_mat(&x, plx__scratch(ctx), L, d));
    for (plx_index i = 0; i < L; i++)
        for (plx_index j = 0; j < d; j++)
            x.data[i * d + j] = plx__next_normal(&r) + (j % 4 == LABEL3[i] ? 1.5 : 0) / (double)(1 + j);
    return x;
}

/* ---- elimination ---- */

/* Retrains on the columns left, every time from nothing. */
static void eliminate_plainly(plx_index *cols, plx_index *count, plx_context *ctx, const plx__linear_task *t,
                              plx_index wanted)
{
    plx_index functions = plx__linear_functions(t->classes);
    while (*count > wanted) {
        plx_mat w;
        plx_index least = 0;
        double smallest = INFINITY;
        assert_ok(ctx, plx__arena_mat(&w, plx__scratch(ctx), functions, *count + 1));
        assert_ok(ctx, plx__linear_task_fit(ctx, t, cols, *count, w));
        for (plx_index j = 0; j < *count; j++) {
            double sum = 0;
            for (plx_index f = 0; f < functions; f++) sum += w.data[f * w.ld + j] * w.data[f * w.ld + j];
            if (sum < smallest) smallest = sum, least = j;
        }
        for (plx_index j = least; j + 1 < *count; j++) cols[j] = cols[j + 1];
        --*count;
    }
}

static void check_elimination(plx_index d, plx_index classes, plx__linear_learner learner)
{
    plx_context *ctx = test_context(1);
    int32_t label[L];
    plx_index cols[64], count = d, *kept = NULL, wanted = 4;
    for (int i = 0; i < L; i++) label[i] = LABEL3[i] % (int32_t)classes;
    plx__linear_task t = {plx__cmat(random_rows(ctx, d, 3)), label, classes, learner, 0.7, "test"};
    for (plx_index j = 0; j < d; j++) cols[j] = j;
    eliminate_plainly(cols, &count, ctx, &t, wanted);
    assert_ok(ctx, plx__eliminate(&kept, ctx, &t, wanted, 0.0));
    for (plx_index j = 0; j < wanted; j++) assert_int_equal(kept[j], cols[j]);
    plx_context_destroy(ctx);
}

/* With fewer columns than rows and with more, where rounds go by the Gram matrix. */
static void elimination_is_what_retraining_gives(void **state)
{
    (void)state;
    for (plx_index classes = 2; classes <= 3; classes++) {
        check_elimination(9, classes, PLX__LEARN_SVM);
        check_elimination(40, classes, PLX__LEARN_SVM);
        check_elimination(9, classes, PLX__LEARN_LOGISTIC);
        check_elimination(40, classes, PLX__LEARN_LOGISTIC);
    }
}

static void equal_columns_go_by_index(void **state)
{
    plx_context *ctx = test_context(1);
    double x[L][5];
    plx_index *kept = NULL;
    (void)state;
    for (int i = 0; i < L; i++)
        for (int j = 0; j < 5; j++) x[i][j] = j == 3 ? LABEL3[i] % 2 - 0.5 : 0;
    int32_t label[L];
    for (int i = 0; i < L; i++) label[i] = LABEL3[i] % 2;
    plx__linear_task t = {{&x[0][0], L, 5, 5}, label, 2, PLX__LEARN_SVM, 1, "test"};
    assert_ok(ctx, plx__eliminate(&kept, ctx, &t, 2, 0.0));
    assert_true(kept[0] == 3 && kept[1] == 4);
    assert_ok(ctx, plx__eliminate(&kept, ctx, &t, 2, 0.5));
    assert_true(kept[0] == 3 && kept[1] == 4);
    plx_context_destroy(ctx);
}

/* ---- learners ---- */

/* Slope of a loss at a margin, from its definition. */
static double slope_of(plx__linear_learner learner, double lambda, double margin)
{
    return learner == PLX__LEARN_SVM ? -2 * fmax(0, 1 - margin) / lambda : -1 / (1 + exp(margin));
}

static void check_weights(plx_index d, plx__linear_learner learner)
{
    plx_context *ctx = test_context(1);
    plx_index cols[64];
    plx_mat x = random_rows(ctx, d, 8), w;
    plx__linear_task t = {plx__cmat(x), LABEL3, 3, learner, 0.3, "test"};
    for (plx_index j = 0; j < d; j++) cols[j] = j;
    assert_ok(ctx, plx__arena_mat(&w, plx__scratch(ctx), 3, d + 1));
    assert_ok(ctx, plx__linear_task_fit(ctx, &t, cols, d, w));
    for (int f = 0; f < 3; f++)
        for (plx_index j = 0; j <= d; j++) {
            double g = (learner == PLX__LEARN_SVM ? 1 : t.lambda) * w.data[f * w.ld + j];
            for (int i = 0; i < L; i++) {
                double sign = LABEL3[i] == f ? 1 : -1, s = w.data[f * w.ld + d];
                for (plx_index k = 0; k < d; k++) s += x.data[i * d + k] * w.data[f * w.ld + k];
                g += sign * (j < d ? x.data[i * d + j] : 1) * slope_of(learner, t.lambda, sign * s);
            }
            if (!(fabs(g) < 1e-9)) fail_msg("%g with %lld columns, learner %d", g, (long long)d, (int)learner);
        }
    plx_context_destroy(ctx);
}

/* By columns, and by the Gram matrix where there are more columns than rows. */
static void weights_are_optimal(void **state)
{
    (void)state;
    for (int learner = 0; learner < 2; learner++) {
        check_weights(5, (plx__linear_learner)learner);
        check_weights(30, (plx__linear_learner)learner);
    }
}

static double platt_loss(const double *s, const uint8_t *positive, double a, double b)
{
    double plus = 0, sum = 0;
    for (int i = 0; i < L; i++) plus += positive[i];
    for (int i = 0; i < L; i++) {
        double t = positive[i] ? (plus + 1) / (plus + 2) : 1 / (L - plus + 2), p = 1 / (1 + exp(a * s[i] + b));
        sum -= t * log(p) + (1 - t) * log(1 - p);
    }
    return sum;
}

static void platt_curves_are_optimal(void **state)
{
    double s[L], h = 1e-5;
    uint8_t positive[L];
    (void)state;
    for (int separable = 0; separable < 2; separable++) {
        for (int i = 0; i < L; i++) {
            positive[i] = i >= 5;
            s[i] = separable ? (positive[i] ? 1 + 0.1 * i : -1 - 0.2 * i) : sin(3.0 * i) + 0.5 * positive[i];
        }
        plx__platt p = plx__platt_fit(s, positive, L);
        double da = platt_loss(s, positive, p.a + h, p.b) - platt_loss(s, positive, p.a - h, p.b);
        double db = platt_loss(s, positive, p.a, p.b + h) - platt_loss(s, positive, p.a, p.b - h);
        assert_true(fabs(da / (2 * h)) < 1e-6 && fabs(db / (2 * h)) < 1e-6);
        assert_true(plx__platt_probability(p, 3.0) > plx__platt_probability(p, -3.0));
    }
    for (int i = 0; i < L; i++) s[i] = 2; /* all alike: the mean of the targets, (7 x 8/9 + 5 x 1/7) / 12 */
    assert_close(plx__platt_probability(plx__platt_fit(s, positive, L), 2), (7 * 8.0 / 9 + 5.0 / 7) / 12, 1e-8);
}

/* ---- threshold ---- */

/* Accuracy gained and samples inside for a threshold. */
static void count_inside(const double *s, const uint8_t *f, const uint8_t *g, double t, int *gain, int *inside)
{
    *gain = *inside = 0;
    for (int i = 0; i < L; i++)
        if (s[i] > t) *gain += g[i] - f[i], ++*inside;
}

static void thresholds_are_the_best_of_all_cuts(void **state)
{
    plx__rng r = plx__rng_start(4, PLX__STREAM('t', 'h', 'r', 's', 0));
    (void)state;
    for (int trial = 0; trial < 300; trial++) {
        double s[L];
        uint8_t f[L], g[L];
        plx_index order[L], room = (plx_index)(plx__next_uniform(&r) * (L + 1));
        int best_gain = 0, best_inside = 0, gain = 0, inside = 0;
        for (int i = 0; i < L; i++) {
            s[i] = floor(plx__next_uniform(&r) * 6); /* with ties */
            f[i] = plx__next_uniform(&r) < 0.5;
            g[i] = plx__next_uniform(&r) < 0.6;
            order[i] = i;
        }
        for (int i = 0; i < L; i++)
            for (int j = i + 1; j < L; j++)
                if (s[order[j]] > s[order[i]]) {
                    plx_index swap = order[i];
                    order[i] = order[j];
                    order[j] = swap;
                }
        for (double t = 6.5; t > -1; t -= 1) {
            count_inside(s, f, g, t, &gain, &inside);
            if (inside <= room && gain > best_gain) best_gain = gain, best_inside = inside;
        }
        double t = plx__lm_threshold(s, f, g, L, room, order);
        count_inside(s, f, g, t, &gain, &inside);
        assert_int_equal(gain, best_gain);
        assert_int_equal(inside, best_inside);
        assert_true(inside > 0 || t == INFINITY);
    }
}

static void counts_and_shares_of_features(void **state)
{
    (void)state;
    assert_int_equal(plx__lm_wanted(3, 20), 3);
    assert_int_equal(plx__lm_wanted(30, 20), 20);
    assert_int_equal(plx__lm_wanted(0.1, 200), 20);
    assert_int_equal(plx__lm_wanted(0.1, 205), 21);
    assert_int_equal(plx__lm_wanted(0.1, 50), 10);
    assert_int_equal(plx__lm_wanted(0.1, 6), 6);
    assert_int_equal(plx__lm_room(0.05, 100), 5);
    assert_int_equal(plx__lm_room(0.29, 100), 29);
    assert_int_equal(plx__lm_room(0.05, 10), 1);
    assert_int_equal(plx__lm_room(0, 10), 0);
}

/* ---- through the door ---- */

enum { N = 40, D = 6 };

/* The first column tells the class, but for samples with a large second column, where the third does. */
static plx_dataset *patterned(plx_context *ctx)
{
    plx_dataset *d = new_dataset(ctx, N);
    double x[N * D];
    int label[N];
    plx__rng r = plx__rng_start(2, PLX__STREAM('p', 'a', 't', 't', 0));
    for (int i = 0; i < N; i++) {
        bool odd = i % 5 == 0;
        label[i] = i % 2;
        for (int j = 0; j < D; j++) x[i * D + j] = 3 + 0.2 * plx__next_normal(&r);
        x[i * D] += (label[i] != odd) - 0.5;
        x[i * D + 1] = odd ? 9 : 1;
        x[i * D + 2] += 4 * (label[i] - 0.5);
        if (i >= N - 4) label[i] = -1;
    }
    add_dense(d, ctx, "v", PLX_VIEW_REAL, x, D, NULL);
    set_labels(d, ctx, label);
    return d;
}

static void regions_stay_within_tau(void **state)
{
    static const char *const patterns[] = {"pattern=classification", "pattern=ib", "pattern=cib"};
    (void)state;
    for (int p = 0; p < 3; p++) {
        plx_context *ctx = test_context(1);
        plx_dataset *d = patterned(ctx);
        plx_model *m = fit_model(ctx, "localmodels", d,
                                 SETTINGS(patterns[p], "tau=0.25", "global_features=1", "pattern_features=2"));
        plx_cmat rates = array_of(m, "rates"), said = array_of(m, "predictions"), inside = array_of(m, "inside");
        plx_cmat score = array_of(m, "score"), threshold = array_of(m, "threshold");
        assert_true(rates.data[3] <= rates.data[4] && rates.data[4] <= 0.25);
        assert_true(rates.data[2] >= rates.data[0]);
        for (plx_index i = 0; i < N; i++) {
            assert_true(inside.data[i] == (score.data[i] > threshold.data[0]));
            assert_true(said.data[3 * i + 2] == said.data[3 * i + (inside.data[i] > 0)]);
        }
        plx_model_destroy(m);
        plx_dataset_destroy(d);
        plx_context_destroy(ctx);
    }
}

/* cos(x_u, medoid) summed with weights must beat every other labelled sample. */
static void medoids_are_nearest_to_their_cluster(void **state)
{
    plx_context *ctx = test_context(1);
    plx_dataset *d = patterned(ctx);
    plx_model *m = fit_model(ctx, "localmodels", d, SETTINGS("pattern=ib", "outputs=fit", "pattern_features=6"));
    plx_cmat pcu = array_of(m, "pcu"), prob = array_of(m, "prob_global"), medoid = array_of(m, "medoids");
    plx_cmat x = d->views[0].dense;
    double n[N][D], lo[D], hi[D];
    (void)state;
    for (int j = 0; j < D; j++) {
        lo[j] = INFINITY, hi[j] = -INFINITY;
        for (int i = 0; i < N - 4; i++)
            lo[j] = fmin(lo[j], x.data[i * x.ld + j]), hi[j] = fmax(hi[j], x.data[i * x.ld + j]);
        for (int i = 0; i < N - 4; i++) n[i][j] = (x.data[i * x.ld + j] - lo[j]) / (hi[j] - lo[j]);
    }
    for (plx_index c = 0; c < pcu.cols; c++) {
        double best = INFINITY;
        int nearest = -1;
        for (int k = 0; k < N - 4; k++) {
            double cost = 0;
            for (int u = 0; u < N - 4; u++) {
                double weight = 1 - fmax(prob.data[u * prob.ld], prob.data[u * prob.ld + 1]);
                double cosine = plx__dot(n[u], n[k], D) / (plx__norm(n[u], D) * plx__norm(n[k], D));
                cost += weight * pcu.data[u * pcu.ld + c] * (1 - cosine);
            }
            if (cost < best - 1e-13) best = cost, nearest = k;
        }
        assert_int_equal((int)medoid.data[c], nearest);
    }
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static void bad_settings_are_named(void **state)
{
    static const char *const bad[][3] = {{"elsewhere", "global_view=elsewhere"},
                                         {"pattern_view", "pattern_view=v+v"},
                                         {"ib_init", "ib_init=best"},
                                         {"bg_init", "irrelevant=clustering", "bg_init=file:nothing.csv"}};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        plx_context *ctx = test_context(1);
        plx_dataset *d = patterned(ctx);
        plx_model *m = NULL;
        const char *const settings[] = {bad[i][1], bad[i][2], NULL};
        assert_int_not_equal(try_fit(&m, ctx, "localmodels", d, settings, "/tmp"), PLX_OK);
        if (i != 3) assert_non_null(strstr(plx_context_error(ctx), bad[i][0]));
        plx_dataset_destroy(d);
        plx_context_destroy(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elimination_is_what_retraining_gives),
        cmocka_unit_test(equal_columns_go_by_index),
        cmocka_unit_test(weights_are_optimal),
        cmocka_unit_test(platt_curves_are_optimal),
        cmocka_unit_test(thresholds_are_the_best_of_all_cuts),
        cmocka_unit_test(counts_and_shares_of_features),
        cmocka_unit_test(regions_stay_within_tau),
        cmocka_unit_test(medoids_are_nearest_to_their_cluster),
        cmocka_unit_test(bad_settings_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
