/*
 * Ranking labels by the scores of any classifier: criteria against sums over the scores the model itself tells.
 */
#include "acquire_helpers.h"

static double scores_of(plx_acquisition *a, plx_index i, plx_index c)
{
    plx_cmat s = plx_prediction_scores(plx_model_prediction(plx_acquisition_model(a)));
    return s.data[i * s.ld + c];
}

static plx_acquisition *rank_labels(plx_context *ctx, const char *method, const plx_dataset *d,
                                    const char *const *settings)
{
    plx_acquisition *a = NULL;
    assert_ok(ctx, try_acquire_with(&a, ctx, PLX_ACQUIRE_LABELS, method, d, settings));
    return a;
}

static double entropy_of(const double *p, int n)
{
    double sum = 0;
    for (int c = 0; c < n; c++) sum -= p[c] > 0 ? p[c] * log(p[c]) : 0;
    return sum;
}

/* gp tells probabilities: every criterion is a sum over them. */
static void criteria_are_sums_over_probabilities(void **state)
{
    enum { CLASSES = 4 };
    static const char *const criteria[] = {"criterion=confidence", "criterion=margin", "criterion=entropy"};
    (void)state;
    for (int k = 0; k < 3; k++) {
        plx_context *ctx = test_context(1);
        toy t = make_toy(CLASSES, false);
        plx_dataset *d = toy_dataset(ctx, &t, 2, false);
        plx_acquisition *a = rank_labels(ctx, "gp", d, SETTINGS(criteria[k], "optimize=none", "cost.label=2"));
        plx_cmat gain = array_of(plx_acquisition_model(a), "label_gain");
        plx_index unlabelled = 0;
        for (int i = 0; i < TOY_N; i++) {
            double p[CLASSES], first = 0, second = 0;
            for (int c = 0; c < CLASSES; c++) first = fmax(first, p[c] = scores_of(a, i, c));
            for (int c = 0; c < CLASSES; c++)
                if (p[c] < first) second = fmax(second, p[c]);
            double want = k == 0 ? 1 - first : k == 1 ? 1 - (first - second) : entropy_of(p, CLASSES);
            unlabelled += t.label[i] < 0;
            assert_close(gain.data[i], t.label[i] < 0 ? want : 0.0, 1e-12);
        }
        assert_int_equal(plx_acquisition_count(a), unlabelled);
        plx_acquired first = PLX_ACQUIRED_INIT, next = PLX_ACQUIRED_INIT;
        assert_int_equal(plx_acquisition_get(&first, a, 0), PLX_OK);
        assert_int_equal(plx_acquisition_get(&next, a, 1), PLX_OK);
        assert_true(first.view == -1 && first.score >= next.score && first.cost == 2);
        assert_close(first.score, gain.data[first.sample] / 2, 1e-12);
        plx_acquisition_destroy(a);
        plx_dataset_destroy(d);
        plx_context_destroy(ctx);
    }
}

/* rls tells margins: the softmax makes probabilities of them. */
static void margins_become_probabilities(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    toy t = make_toy(2, false);
    plx_dataset *d = toy_dataset(ctx, &t, 2, false);
    plx_acquisition *a = rank_labels(ctx, "rls", d, SETTINGS("criterion=entropy"));
    plx_cmat gain = array_of(plx_acquisition_model(a), "label_gain");
    for (int i = 2; i < TOY_N; i += 3) {
        double e0 = exp(scores_of(a, i, 0)), e1 = exp(scores_of(a, i, 1)), p[2] = {e0 / (e0 + e1), e1 / (e0 + e1)};
        assert_close(gain.data[i], entropy_of(p, 2), 1e-10);
    }
    plx_acquisition_destroy(a);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

static plx_dataset *counts(plx_context *ctx, int n, const int *label, double *x, double *y)
{
    plx_dataset *d = new_dataset(ctx, n);
    plx__rng rng = plx__rng_start(3, 4);
    for (int i = 0; i < n * 3; i++) {
        x[i] = random_count(&rng, 4) + 1;
        y[i] = random_count(&rng, 4) + 1;
    }
    add_dense(d, ctx, "x", PLX_VIEW_COUNTS, x, 3, NULL);
    add_dense(d, ctx, "y", PLX_VIEW_COUNTS, y, 3, NULL);
    set_labels(d, ctx, label);
    return d;
}

/* Jensen-Shannon divergence of the two posteriors of naive Bayes, written out. */
static void views_that_disagree(void **state)
{
    enum { N = 8 };
    const int label[N] = {0, 1, 0, 1, -1, -1, -1, -1};
    double x[N * 3], y[N * 3];
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = counts(ctx, N, label, x, y);
    plx_acquisition *a = rank_labels(ctx, "nb", d, SETTINGS("criterion=disagreement"));
    plx_cmat gain = array_of(plx_acquisition_model(a), "label_gain");
    plx_cmat px = array_of(plx_acquisition_model(a), "posterior.x"),
             py = array_of(plx_acquisition_model(a), "posterior.y");
    for (int i = 4; i < N; i++) {
        double mean[2];
        for (int c = 0; c < 2; c++) mean[c] = 0.5 * (px.data[i * px.ld + c] + py.data[i * py.ld + c]);
        double want =
            entropy_of(mean, 2) - 0.5 * (entropy_of(px.data + i * px.ld, 2) + entropy_of(py.data + i * py.ld, 2));
        assert_close(gain.data[i], want, 1e-12);
    }
    plx_acquisition_destroy(a);
    a = NULL;
    plx_params *p = settings_to_acquire(ctx, "gp", SETTINGS("criterion=disagreement"));
    assert_fails(ctx, plx_acquire(&a, ctx, PLX_ACQUIRE_LABELS, "gp", d, p, NULL), PLX_E_ARG,
                 "no classifiers of single");
    plx_params_destroy(p);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Mean cosine with all samples, summed pair by pair. */
static void typical_samples_first(void **state)
{
    enum { N = 8 };
    const int label[N] = {0, 1, 0, 1, -1, -1, -1, -1};
    double x[N * 3], y[N * 3], *views[] = {x, y};
    (void)state;
    plx_context *ctx = test_context(1);
    plx_dataset *d = counts(ctx, N, label, x, y);
    plx_acquisition *plain = rank_labels(ctx, "nb", d, SETTINGS("criterion=entropy"));
    plx_acquisition *a = rank_labels(ctx, "nb", d, SETTINGS("criterion=entropy", "density_weight=2"));
    plx_cmat gain = array_of(plx_acquisition_model(a), "label_gain");
    plx_cmat base = array_of(plx_acquisition_model(plain), "label_gain");
    for (int i = 4; i < N; i++) {
        double typical = 0;
        for (int v = 0; v < 2; v++)
            for (int j = 0; j < N; j++) {
                double dot = 0, a2 = 0, b2 = 0;
                for (int e = 0; e < 3; e++) {
                    double p = views[v][i * 3 + e], q = views[v][j * 3 + e];
                    dot += p * q;
                    a2 += p * p;
                    b2 += q * q;
                }
                typical += dot / sqrt(a2 * b2) / (2 * N);
            }
        assert_close(gain.data[i], base.data[i] * typical * typical, 1e-12);
    }
    plx_acquisition_destroy(a);
    plx_acquisition_destroy(plain);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Every classifier of the library ranks labels; others say why not. */
static void everybody_who_classifies(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    for (plx_index i = 0; i < plx__method_count(); i++) {
        const plx__method *m = plx__method_at(i);
        plx_params *p = NULL;
        assert_int_equal(plx_acquirer_ranks(m->name, PLX_ACQUIRE_LABELS), m->task == PLX_TASK_CLASSIFY);
        if (m->task != PLX_TASK_CLASSIFY) continue;
        assert_ok(ctx, plx_acquire_params_create(&p, ctx, m->name));
        assert_ok(ctx, plx_params_set(p, ctx, "criterion", "entropy"));
        assert_ok(ctx, plx_params_set(p, ctx, "cost.label", "3"));
        plx_params_destroy(p);
    }
    assert_int_equal(plx_acquirer_ranks("nobody", PLX_ACQUIRE_LABELS), 0);
    assert_int_equal(plx_acquirer_ranks(NULL, PLX_ACQUIRE_LABELS), 0);
    assert_int_equal(plx_acquirer_ranks("bct", (plx_acquire_kind)9), 0);
    plx_context_destroy(ctx);
}

/* A regression has no classes to be unsure of. */
static void numbers_are_refused(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    toy t = make_toy(2, false);
    plx_acquisition *a = NULL;
    plx_dataset *d = toy_dataset(ctx, &t, 2, true);
    plx_params *p = settings_to_acquire(ctx, "gp", SETTINGS("task=regression"));
    assert_fails(ctx, plx_acquire(&a, ctx, PLX_ACQUIRE_LABELS, "gp", d, p, NULL), PLX_E_ARG, "no scores of classes");
    plx_params_destroy(p);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Two pairs of twins and single samples, all equally unsure: a batch takes no twin of what it has while others are
 * left, and its gains are worth times conditional variance, by the inverse of the kernel of those taken. */
static void batches_do_not_repeat_themselves(void **state)
{
    (void)state;
    enum { N = 8 };
    static const double x[N * 2] = {-1, 0, 1, 0, 0.1, 2, 0.1, 2, -0.1, -2, -0.1, -2, 0.3, 5, -0.2, -4};
    static const int label[N] = {0, 1, -1, -1, -1, -1, -1, -1};
    plx_context *ctx = test_context(1);
    plx_dataset *d = new_dataset(ctx, N);
    plx_acquisition *a = NULL, *one = NULL;
    add_dense(d, ctx, "v", PLX_VIEW_REAL, x, 2, NULL);
    set_labels(d, ctx, label);
    assert_ok(ctx, try_acquire_with(&one, ctx, PLX_ACQUIRE_LABELS, "svm", d, NULL));
    assert_ok(ctx, try_acquire_with(&a, ctx, PLX_ACQUIRE_LABELS, "svm", d, SETTINGS("batch=4")));
    plx_cmat alone = array_of(plx_acquisition_model(one), "label_gain");
    double z[N * 2], gram[16], right[4];
    for (int e = 0; e < 2; e++) {
        double mean = 0, square = 0;
        for (int i = 0; i < N; i++) mean += x[i * 2 + e] / N;
        for (int i = 0; i < N; i++) square += pow(x[i * 2 + e] - mean, 2) / N;
        for (int i = 0; i < N; i++) z[i * 2 + e] = (x[i * 2 + e] - mean) / sqrt(square);
    }
    plx_index taken[4];
    assert_int_equal(plx_acquisition_count(a), 4);
    for (int k = 0; k < 4; k++) {
        plx_acquired row = PLX_ACQUIRED_INIT;
        assert_int_equal(plx_acquisition_get(&row, a, k), PLX_OK);
        taken[k] = row.sample;
        for (int l = 0; l < k; l++) assert_true(taken[l] / 2 != taken[k] / 2 || taken[k] >= 6);
        double left = 1;
#define K(i, l) exp(-(pow(z[(i)*2] - z[(l)*2], 2) + pow(z[(i)*2 + 1] - z[(l)*2 + 1], 2)) / 2)
        for (int l = 0; l < k; l++)
            for (int h = 0; h < k; h++) gram[l * k + h] = K(taken[l], taken[h]);
        for (int l = 0; l < k; l++) right[l] = K(taken[l], taken[k]);
        if (k) invert(gram, k);
        for (int l = 0; l < k; l++)
            for (int h = 0; h < k; h++) left -= right[l] * gram[l * k + h] * right[h];
        assert_close(row.gain, alone.data[row.sample] * left, 1e-9);
        assert_true(row.guess && row.probability >= 0.5 && row.probability <= 1);
    }
    plx_acquisition_destroy(a);
    plx_acquisition_destroy(one);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(criteria_are_sums_over_probabilities),
        cmocka_unit_test(margins_become_probabilities),
        cmocka_unit_test(views_that_disagree),
        cmocka_unit_test(typical_samples_first),
        cmocka_unit_test(batches_do_not_repeat_themselves),
        cmocka_unit_test(everybody_who_classifies),
        cmocka_unit_test(numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
