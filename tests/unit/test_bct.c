/*
 * bct against brute force: the joint Gaussian of all f_j and f_c written down as one precision matrix and inverted.
 */
#include "gp_helpers.h"

enum { MOST = TOY_N * (TOY_VIEWS + 1) };

/* Variables: f_j at the samples that have view j, then f_c at all samples. */
typedef struct joint {
    int size, start[TOY_VIEWS + 1], index[TOY_VIEWS + 1][TOY_N]; /* -1: not there */
    double covariance[MOST * MOST];
} joint;

static double rbf(const toy *t, int v, int i, int j, double width)
{
    double d2 = 0;
    for (int d = 0; d < TOY_COLS; d++) {
        double diff = t->x[v][i * TOY_COLS + d] - t->x[v][j * TOY_COLS + d];
        d2 += diff * diff;
    }
    return exp(-0.5 * d2 / (width * width));
}

/* Precision: K_j^-1 + I/s_j, -I/s_j between f_j and f_c, sum 1/s_j on f_c, plus 1/noise where labelled. */
static void brute_force(joint *out, const toy *t, int views, double width, const double *s, double noise)
{
    double *p = out->covariance, k[TOY_N * TOY_N];
    out->size = 0;
    for (int v = 0; v <= views; v++)
        for (int i = 0; i < TOY_N; i++) out->index[v][i] = v == views || t->present[v][i] ? out->size++ : -1;
    memset(p, 0, sizeof out->covariance);
    int n = out->size;
    for (int v = 0; v < views; v++) {
        int who[TOY_N], count = 0;
        for (int i = 0; i < TOY_N; i++)
            if (t->present[v][i]) who[count++] = i;
        for (int i = 0; i < count; i++)
            for (int j = 0; j < count; j++) k[i * count + j] = rbf(t, v, who[i], who[j], width);
        invert(k, count);
        for (int i = 0; i < count; i++) {
            int a = out->index[v][who[i]], c = out->index[views][who[i]];
            for (int j = 0; j < count; j++) p[a * n + out->index[v][who[j]]] += k[i * count + j];
            p[a * n + a] += 1 / s[v];
            p[c * n + c] += 1 / s[v];
            p[a * n + c] -= 1 / s[v];
            p[c * n + a] -= 1 / s[v];
        }
    }
    for (int i = 0; i < TOY_N && noise > 0; i++)
        if (!isnan(t->y[i])) p[out->index[views][i] * (n + 1)] += 1 / noise;
    invert(p, n);
}

static void check_block(plx_cmat got, const joint *j, int v)
{
    for (int a = 0; a < TOY_N; a++)
        for (int b = 0; b < TOY_N; b++) {
            bool there = j->index[v][a] >= 0 && j->index[v][b] >= 0;
            double expect = there ? j->covariance[j->index[v][a] * j->size + j->index[v][b]] : 0;
            assert_close(got.data[a * got.ld + b], expect, 1e-8);
        }
}

static const double variances[] = {0.3, 0.8, 0.5};
#define FIXED                                                                                                          \
    "kernel=rbf", "width=0.7", "amplitude=1", "view_variance.text=0.3", "view_variance.image=0.8",                     \
        "view_variance.audio=0.5"

static void kernel_and_marginals(void **state)
{
    plx_context *ctx = test_context(1);
    static joint j;
    (void)state;
    for (int missing = 0; missing < 2; missing++) {
        toy t = make_toy(2, missing);
        plx_dataset *d = toy_dataset(ctx, &t, 3, false);
        plx_model *m = fit_asking(
            ctx, "bct", d, SETTINGS("task=kernel", FIXED),
            (const char *const[]){"kernel", "precision", "marginal.text", "marginal.image", "marginal.audio", NULL},
            NULL);
        brute_force(&j, &t, 3, 0.7, variances, 0);
        check_block(array_of(m, "kernel"), &j, 3);
        check_block(array_of(m, "marginal.text"), &j, 0);
        check_block(array_of(m, "marginal.image"), &j, 1);
        check_block(array_of(m, "marginal.audio"), &j, 2);
        plx_cmat k = array_of(m, "kernel"), p = array_of(m, "precision");
        for (int a = 0; a < TOY_N; a++)
            for (int b = 0; b < TOY_N; b++) {
                double sum = 0;
                for (int i = 0; i < TOY_N; i++) sum += k.data[a * TOY_N + i] * p.data[i * TOY_N + b];
                assert_close(sum, a == b, 1e-9);
            }
        assert_true(isnan(evidence(m)));
        plx_model_destroy(m);
        plx_dataset_destroy(d);
    }
    plx_context_destroy(ctx);
}

/* Posterior of all f_j and f_c given labels with noise: covariance times (0, y / noise). */
static void regression_posterior(void **state)
{
    plx_context *ctx = test_context(1);
    static joint j;
    toy t = make_toy(2, true);
    plx_dataset *d = toy_dataset(ctx, &t, 3, true);
    plx_model *m = fit_asking(ctx, "bct", d, SETTINGS("task=regression", "center=0", "noise=0.2", FIXED),
                              (const char *const[]){"view_mean", NULL}, NULL);
    plx_cmat mean = array_of(m, "mean"), variance = array_of(m, "variance"), own = array_of(m, "view_mean");
    (void)state;
    brute_force(&j, &t, 3, 0.7, variances, 0.2);
    for (int v = 0; v <= 3; v++)
        for (int i = 0; i < TOY_N; i++) {
            double f = 0;
            int row = j.index[v][i];
            for (int l = 0; l < TOY_N && row >= 0; l++)
                if (!isnan(t.y[l])) f += j.covariance[row * j.size + j.index[3][l]] * t.y[l] / 0.2;
            assert_close(v == 3 ? mean.data[i] : own.data[i * own.ld + v], f, 1e-8);
            if (v == 3) assert_close(variance.data[i], j.covariance[row * j.size + row], 1e-8);
        }
    plx_model_destroy(m);
    plx_dataset_destroy(d);
    plx_context_destroy(ctx);
}

/* Integrating f_c out: the precision of (f_1, ..., f_m) whose (j,j) covariance block is C_j. */
static void coregularised_prior(void **state)
{
    plx_context *ctx = test_context(1);
    static joint j;
    static double p[MOST * MOST];
    toy t = make_toy(2, true);
    int n = 0, at[TOY_VIEWS][TOY_N];
    (void)state;
    brute_force(&j, &t, 3, 0.7, variances, 0);
    for (int v = 0; v < 3; v++)
        for (int i = 0; i < TOY_N; i++) at[v][i] = t.present[v][i] ? n++ : -1;
    memset(p, 0, sizeof p);
    for (int v = 0; v < 3; v++) {
        int who[TOY_N], count = 0;
        double k[TOY_N * TOY_N];
        for (int i = 0; i < TOY_N; i++)
            if (t.present[v][i]) who[count++] = i;
        for (int i = 0; i < count * count; i++) k[i] = rbf(&t, v, who[i / count], who[i % count], 0.7);
        invert(k, count);
        for (int i = 0; i < count * count; i++) p[at[v][who[i / count]] * n + at[v][who[i % count]]] += k[i];
        for (int i = 0; i < count; i++) {
            double total = 0;
            for (int w = 0; w < 3; w++) total += t.present[w][who[i]] ? 1 / variances[w] : 0;
            for (int w = 0; w < 3; w++) {
                if (!t.present[w][who[i]]) continue;
                double own =
                    w == v ? (1 - 1 / variances[v] / total) / variances[v] : -1 / (variances[v] * variances[w] * total);
                p[at[v][who[i]] * n + at[w][who[i]]] += own;
            }
        }
    }
    invert(p, n);
    for (int v = 0; v < 3; v++)
        for (int a = 0; a < TOY_N; a++)
            for (int b = 0; b < TOY_N; b++)
                if (at[v][a] >= 0 && at[v][b] >= 0)
                    assert_close(p[at[v][a] * n + at[v][b]], j.covariance[j.index[v][a] * j.size + j.index[v][b]],
                                 1e-8);
    plx_context_destroy(ctx);
}

static void gradients(void **state)
{
    static const char *const keys[] = {"amplitude.text",      "width.text",          "amplitude.image",
                                       "amplitude.audio",     "width.audio",         "view_variance.text",
                                       "view_variance.image", "view_variance.audio", "noise"};
    static const char *const linear[] = {"amplitude.text", "amplitude.image", "view_variance.text",
                                         "view_variance.image", "noise"};
    plx_context *ctx = test_context(1);
    (void)state;
    for (int classes = 2; classes <= 3; classes++) {
        toy t = make_toy(classes, true);
        for (int regression = 0; regression < 2; regression++) {
            plx_dataset *d = toy_dataset(ctx, &t, 3, regression), *two = toy_dataset(ctx, &t, 2, regression);
            const char *task = regression ? "task=regression" : "task=classification";
            check_gradient(ctx, "bct", d,
                           SETTINGS(task, "kernel=rbf", "kernel.image=linear", "view_variance.image=0.4"), keys);
            check_gradient(ctx, "bct", two, SETTINGS(task, "lowrank=exact"), linear);
            check_gradient(ctx, "bct", two, SETTINGS(task, "lowrank=none"), linear);
            check_gradient(ctx, "bct", two, SETTINGS(task, "kernel=poly", "pivots=4"), linear);
            plx_dataset_destroy(d);
            plx_dataset_destroy(two);
        }
    }
    plx_context_destroy(ctx);
}

/* Dense, weight space, and pivots that keep everything. */
static void forms_agree(void **state)
{
    static const char *const arrays[] = {"kernel",        "precision",      "mean",
                                         "variance",      "view_mean",      "evidence_gradient",
                                         "marginal.text", "marginal.image", NULL};
    static const char *const form[] = {"lowrank=exact", "pivots=6"};
    plx_context *ctx = test_context(1);
    char directory[64];
    (void)state;
    make_directory(directory);
    write_file(directory, "held.txt", "0\n1\n0\n0\n0\n1\n0\n0\n0\n0\n1\n0\n0\n1\n");
    for (int regression = 0; regression < 2; regression++) {
        toy t = make_toy(3, true);
        plx_dataset *d = toy_dataset(ctx, &t, 2, regression);
        const char *task = regression ? "task=regression" : "task=classification";
        plx_model *dense =
            fit_asking(ctx, "bct", d,
                       SETTINGS(task, "view_variance=0.4", "amplitude.text=1.7", "heldout=held.txt", "lowrank=none"),
                       arrays, directory);
        for (int f = 0; f < 2; f++) {
            plx_model *m = fit_asking(
                ctx, "bct", d, SETTINGS(task, "view_variance=0.4", "amplitude.text=1.7", "heldout=held.txt", form[f]),
                arrays, directory);
            for (int a = 0; arrays[a]; a++)
                assert_same_matrix(array_of(dense, arrays[a]), array_of(m, arrays[a]), 1e-8);
            assert_close(evidence(dense), evidence(m), 1e-8);
            plx_model_destroy(m);
        }
        plx_model_destroy(dense);
        plx_dataset_destroy(d);
    }
    remove_directory(directory);
    plx_context_destroy(ctx);
}

/* More labels than twice the features: inference in weight space too, which asking for view_mean switches off. */
static void many_labels(void **state)
{
    static const char *const results[] = {"mean", "variance", "alpha", NULL}, *const more[] = {"view_mean", NULL};
    plx_context *ctx = test_context(1);
    char directory[64];
    (void)state;
    make_directory(directory);
    write_file(directory, "held.txt", "0\n0\n1\n0\n0\n0\n0\n0\n0\n0\n0\n1\n0\n0\n");
    for (int variant = 0; variant < 8; variant++) {
        bool regression = variant & 1;
        toy t = make_toy(variant & 2 ? 3 : 2, variant & 4);
        plx_dataset *d = toy_dataset(ctx, &t, 2, regression);
        const char *const settings[] = {regression ? "task=regression" : "task=classification", "lowrank=exact",
                                        "view_variance.text=0.4", "heldout=held.txt", NULL};
        plx_model *thin = fit_asking(ctx, "bct", d, settings, NULL, directory);
        plx_model *wide = fit_asking(ctx, "bct", d, settings, more, directory);
        assert_non_null(plx__store_find(&thin->store, "_posterior_weights"));
        assert_null(plx__store_find(&wide->store, "_posterior_weights"));
        for (int i = 0; results[i]; i++)
            assert_same_matrix(array_of(thin, results[i]), array_of(wide, results[i]), 1e-9);
        assert_close(evidence(thin), evidence(wide), 1e-9);
        plx_model_destroy(thin);
        plx_model_destroy(wide);
        plx_dataset_destroy(d);
    }
    remove_directory(directory);
    plx_context_destroy(ctx);
}

/* Linear views and their Gram matrices as kernel views say the same, of held-out samples too. */
static void kernel_views_are_linear(void **state)
{
    static const char *const arrays[] = {"mean", "variance", "view_mean", "kernel", "evidence_gradient", NULL};
    plx_context *ctx = test_context(1);
    char directory[64];
    (void)state;
    make_directory(directory);
    write_file(directory, "held.txt", "0\n1\n0\n0\n0\n1\n0\n0\n0\n0\n1\n0\n0\n1\n");
    for (int missing = 0; missing < 2; missing++) {
        toy t = make_toy(2, missing);
        plx_dataset *a = toy_dataset(ctx, &t, 2, false), *b = toy_grams(ctx, &t, 2, false);
        plx_model *m = fit_asking(ctx, "bct", a, SETTINGS("heldout=held.txt", "lowrank=none"), arrays, directory);
        plx_model *k = fit_asking(ctx, "bct", b, SETTINGS("heldout=held.txt"), arrays, directory);
        for (int i = 0; arrays[i]; i++) assert_same_matrix(array_of(m, arrays[i]), array_of(k, arrays[i]), 1e-10);
        plx_model_destroy(m);
        plx_model_destroy(k);
        plx_dataset_destroy(a);
        plx_dataset_destroy(b);
    }
    remove_directory(directory);
    plx_context_destroy(ctx);
}

/* Who asks for K_c gets the general road, who does not a shorter one: solves only, and one factorisation for two
 * complete views, whichever has the smaller trace. */
static void roads_agree(void **state)
{
    static const char *const all[] = {"evidence_gradient", "kernel", NULL}, *const few[] = {"evidence_gradient", NULL};
    static const char *const results[] = {"mean", "variance", "alpha", "evidence_gradient", NULL};
    plx_context *ctx = test_context(1);
    (void)state;
    for (int variant = 0; variant < 8; variant++) {
        toy t = make_toy(2, variant & 1);
        bool regression = variant & 2;
        plx_dataset *d = toy_dataset(ctx, &t, 2, regression);
        const char *const settings[] = {regression ? "task=regression" : "task=classification", "kernel=rbf",
                                        "width=1.2", variant & 4 ? "view_variance.text=9" : "view_variance.image=9",
                                        NULL};
        plx_model *a = fit_asking(ctx, "bct", d, settings, all, NULL);
        plx_model *b = fit_asking(ctx, "bct", d, settings, few, NULL);
        for (int i = 0; results[i]; i++) assert_same_matrix(array_of(a, results[i]), array_of(b, results[i]), 1e-11);
        assert_close(evidence(a), evidence(b), 1e-11);
        plx_model_destroy(a);
        plx_model_destroy(b);
        plx_dataset_destroy(d);
    }
    plx_context_destroy(ctx);
}

/* rbf with as many pivots as samples is the dense form, for new samples too. */
static void all_pivots_are_dense(void **state)
{
    plx_context *ctx = test_context(1);
    char directory[64];
    toy t = make_toy(2, true);
    plx_dataset *d = toy_dataset(ctx, &t, 3, false);
    (void)state;
    make_directory(directory);
    write_file(directory, "held.txt", "0\n1\n0\n0\n0\n1\n0\n0\n0\n0\n1\n0\n0\n1\n");
    plx_model *a = fit_asking(ctx, "bct", d, SETTINGS(FIXED, "heldout=held.txt"), NULL, directory);
    plx_model *b = fit_asking(ctx, "bct", d, SETTINGS(FIXED, "heldout=held.txt", "pivots=14"), NULL, directory);
    assert_same_matrix(array_of(a, "mean"), array_of(b, "mean"), 1e-7);
    assert_same_matrix(array_of(a, "variance"), array_of(b, "variance"), 1e-7);
    plx_model_destroy(a);
    plx_model_destroy(b);
    plx_dataset_destroy(d);
    remove_directory(directory);
    plx_context_destroy(ctx);
}

/* A new sample with one view is predicted as if it had been there, unlabelled, all along. */
static void one_view_is_exact(void **state)
{
    plx_context *ctx = test_context(1);
    char directory[64];
    (void)state;
    make_directory(directory);
    write_file(directory, "held.txt", "0\n0\n0\n0\n0\n1\n0\n0\n0\n0\n0\n0\n0\n0\n");
    for (int regression = 0; regression < 2; regression++) {
        toy t = make_toy(2, true);
        t.present[0][5] = t.present[2][5] = 0;
        t.present[1][5] = 1;
        plx_dataset *d = toy_dataset(ctx, &t, 3, regression);
        const char *task = regression ? "task=regression" : "task=classification";
        plx_model *with = fit_model(ctx, "bct", d, SETTINGS(task, FIXED));
        plx_model *without = fit_asking(ctx, "bct", d, SETTINGS(task, FIXED, "heldout=held.txt"), NULL, directory);
        assert_same_matrix(array_of(with, "mean"), array_of(without, "mean"), 1e-9);
        assert_same_matrix(array_of(with, "variance"), array_of(without, "variance"), 1e-9);
        plx_model_destroy(with);
        plx_model_destroy(without);
        plx_dataset_destroy(d);
    }
    remove_directory(directory);
    plx_context_destroy(ctx);
}

/* s_j -> infinity, or a view nobody has: the view drops out. */
static void distrusted_views_drop_out(void **state)
{
    plx_context *ctx = test_context(1);
    toy t = make_toy(2, false), empty = t;
    (void)state;
    memset(empty.present[2], 0, TOY_N);
    plx_dataset *two = toy_dataset(ctx, &t, 2, false), *three = toy_dataset(ctx, &t, 3, false);
    plx_dataset *gone = toy_dataset(ctx, &empty, 3, false);
    plx_model *a = fit_model(ctx, "bct", two, SETTINGS("kernel=rbf", "width=0.7"));
    plx_model *b = fit_model(ctx, "bct", three, SETTINGS("kernel=rbf", "width=0.7", "view_variance.audio=1e12"));
    plx_model *c = fit_model(ctx, "bct", gone, SETTINGS("kernel=rbf", "width=0.7"));
    assert_same_matrix(array_of(a, "mean"), array_of(b, "mean"), 1e-9);
    assert_same_matrix(array_of(a, "mean"), array_of(c, "mean"), 0);
    assert_int_equal(array_of(c, "view_weight").rows, 2);
    plx_model_destroy(a);
    plx_model_destroy(b);
    plx_model_destroy(c);
    plx_dataset_destroy(two);
    plx_dataset_destroy(three);
    plx_dataset_destroy(gone);
    plx_context_destroy(ctx);
}

/* Zero rows of a real view under the linear kernel count as missing, and do not under the rbf kernel. */
static void zero_rows(void **state)
{
    plx_context *ctx = test_context(1);
    toy t = make_toy(2, false), absent = t;
    (void)state;
    t.x[0][6] = t.x[0][7] = 0;
    absent.present[0][3] = 0;
    plx_dataset *zero = toy_dataset(ctx, &t, 2, false), *missing = toy_dataset(ctx, &absent, 2, false);
    plx_model *a = fit_model(ctx, "bct", zero, SETTINGS("view_variance=1")),
              *b = fit_model(ctx, "bct", missing, SETTINGS("view_variance=1"));
    plx_model *c = fit_model(ctx, "bct", zero, SETTINGS("view_variance=1", "zero_rows=present"));
    assert_same_matrix(array_of(a, "mean"), array_of(b, "mean"), 1e-14);
    assert_true(fabs(array_of(a, "mean").data[3] - array_of(c, "mean").data[3]) > 1e-6);
    plx_model_destroy(a);
    plx_model_destroy(b);
    plx_model_destroy(c);
    a = fit_model(ctx, "bct", zero, SETTINGS("kernel=rbf", "width=1"));
    b = fit_model(ctx, "bct", zero, SETTINGS("kernel=rbf", "width=1", "zero_rows=present"));
    assert_same_matrix(array_of(a, "mean"), array_of(b, "mean"), 0);
    plx_model_destroy(a);
    plx_model_destroy(b);
    plx_dataset_destroy(zero);
    plx_dataset_destroy(missing);
    plx_context_destroy(ctx);
}

/* Samples without any view: mean 0, uniform probabilities, the most frequent class; regression: the mean target. */
/* After centring zero is an ordinary value: a constant added to a feature changes nothing, whoever has a row of zeros. */
static void constants_do_not_matter_under_zscore(void **state)
{
    (void)state;
    plx_context *ctx = test_context(1);
    plx_cmat p[2];
    plx_model *m[2];
    for (int moved = 0; moved < 2; moved++) {
        toy t = make_toy(2, false);
        t.x[0][6] = t.x[0][7] = 0;
        for (int i = 0; i < TOY_N; i++) t.x[0][i * TOY_COLS] += 5 * moved;
        plx_dataset *d = toy_dataset(ctx, &t, 2, false);
        m[moved] = fit_model(ctx, "bct", d, SETTINGS("scale=zscore"));
        p[moved] = array_of(m[moved], "probability");
        plx_dataset_destroy(d);
    }
    assert_same_matrix(p[0], p[1], 1e-9);
    plx_model_destroy(m[0]);
    plx_model_destroy(m[1]);
    plx_context_destroy(ctx);
}

static void uncovered(void **state)
{
    plx_context *ctx = test_context(1);
    (void)state;
    for (int regression = 0; regression < 2; regression++) {
        toy t = make_toy(2, false);
        double sum = 0, count = 0;
        for (int v = 0; v < 3; v++) t.present[v][2] = t.present[v][4] = 0;
        plx_dataset *d = toy_dataset(ctx, &t, 3, regression);
        plx_model *m =
            fit_model(ctx, "bct", d, SETTINGS(regression ? "task=regression" : "task=classification", "kernel=rbf"));
        assert_close(array_of(m, "mean").data[2], 0, 0);
        assert_close(array_of(m, "covered").data[2], 0, 0);
        assert_close(array_of(m, "covered").data[3], 1, 0);
        assert_int_equal(m->fitted.n_warnings, 2);
        assert_non_null(strstr(plx_model_warning(m, 0), "2 samples have no view, e.g. 2;"));
        for (int i = 0; i < TOY_N; i++) {
            if (isnan(t.y[i]) || i == 4) continue;
            sum += t.y[i];
            count++;
        }
        if (regression) assert_close(m->fitted.outcome.scores.data[4], sum / count, 1e-14);
        else assert_close(array_of(m, "probability").data[4], 0.5, 0);
        plx_model_destroy(m);
        plx_dataset_destroy(d);
    }
    plx_context_destroy(ctx);
}

#define REFUSES(data, word, ...)                                                                                       \
    do {                                                                                                               \
        plx_model *refused = NULL;                                                                                     \
        plx_status got = try_fit(&refused, ctx, "bct", data, SETTINGS(__VA_ARGS__), NULL);                             \
        assert_true(got != PLX_OK);                                                                                    \
        if (!strstr(plx_context_error(ctx), word)) fail_msg("'%s' lacks '%s'", plx_context_error(ctx), word);          \
        assert_null(refused);                                                                                          \
    } while (0)

static void refusals(void **state)
{
    plx_context *ctx = test_context(1);
    toy t = make_toy(2, false), nobody = t, bare = t;
    (void)state;
    memset(nobody.present, 0, sizeof nobody.present);
    for (int i = 0; i < TOY_N; i++)
        for (int v = 0; v < 3; v++) bare.present[v][i] = bare.label[i] < 0;
    plx_dataset *d = toy_dataset(ctx, &t, 2, false), *none = toy_dataset(ctx, &nobody, 2, false);
    plx_dataset *unlabelled = toy_dataset(ctx, &bare, 2, false);
    REFUSES(none, "bct: no sample has any view", "kernel=rbf");
    REFUSES(unlabelled, "bct: no labelled sample has any view", "kernel=rbf");
    REFUSES(d, "set pivots", "kernel=rbf", "lowrank=exact");
    REFUSES(d, "clusters", "task=cluster");
    REFUSES(d, "clusters", "task=cluster", "clusters=15");
    plx_dataset_destroy(d);
    plx_dataset_destroy(none);
    plx_dataset_destroy(unlabelled);
    plx_context_destroy(ctx);
}

/* 60,000 samples are refused before any n x n matrix is asked for, with the way out. */
static void too_many_samples(void **state)
{
    plx_context_options o = PLX_CONTEXT_OPTIONS_INIT;
    plx_context *ctx = NULL;
    plx_index n = 60000;
    (void)state;
    o.memory_limit = INT64_C(24) << 30;
    assert_int_equal(plx_context_create(&ctx, &o), PLX_OK);
    double *x = calloc((size_t)n, sizeof *x);
    const char **label = calloc((size_t)n, sizeof *label);
    for (plx_index i = 0; i < n; i++) x[i] = (double)i;
    label[0] = "a";
    label[1] = "b";
    plx_dataset *d = new_dataset(ctx, n);
    add_dense(d, ctx, "x", PLX_VIEW_REAL, x, 1, NULL);
    add_dense(d, ctx, "y", PLX_VIEW_REAL, x, 1, NULL);
    assert_ok(ctx, plx_dataset_set_labels(d, ctx, label));
    REFUSES(d, "pivots=300", "kernel=rbf", "width=1");
    plx_dataset_destroy(d);
    free(x);
    free(label);
    plx_context_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernel_and_marginals),
                                       cmocka_unit_test(regression_posterior),
                                       cmocka_unit_test(coregularised_prior),
                                       cmocka_unit_test(gradients),
                                       cmocka_unit_test(forms_agree),
                                       cmocka_unit_test(many_labels),
                                       cmocka_unit_test(kernel_views_are_linear),
                                       cmocka_unit_test(roads_agree),
                                       cmocka_unit_test(all_pivots_are_dense),
                                       cmocka_unit_test(one_view_is_exact),
                                       cmocka_unit_test(distrusted_views_drop_out),
                                       cmocka_unit_test(zero_rows),
                                       cmocka_unit_test(constants_do_not_matter_under_zscore),
                                       cmocka_unit_test(uncovered),
                                       cmocka_unit_test(refusals),
                                       cmocka_unit_test(too_many_samples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
